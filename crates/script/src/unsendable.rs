//! Why a request is not sent, in JMeter's words.

use weir_charset::NoCharset;

/// A request that JMeter does not send either: the sample fails with this outcome.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("send the request: {message}")]
pub struct Unsendable {
    class: &'static str,
    message: String,
}

impl Unsendable {
    /// The response code in results.
    pub fn response_code(&self) -> String {
        format!("Non HTTP response code: {}", self.class)
    }

    /// The response message in results.
    pub fn response_message(&self) -> String {
        format!("Non HTTP response message: {}", self.message)
    }

    /// The exception that JMeter names.
    pub fn class(&self) -> &'static str {
        self.class
    }

    /// What it says.
    pub fn message(&self) -> &str {
        &self.message
    }

    pub(crate) fn malformed_url(message: String) -> Self {
        Self {
            class: "java.net.MalformedURLException",
            message,
        }
    }

    pub(crate) fn unsupported_scheme(scheme: &str) -> Self {
        Self {
            class: "org.apache.http.conn.UnsupportedSchemeException",
            message: format!("{scheme} protocol is not supported"),
        }
    }

    pub(crate) fn uri_syntax(message: String) -> Self {
        Self {
            class: "java.net.URISyntaxException",
            message,
        }
    }

    pub(crate) fn parse(message: String) -> Self {
        Self {
            class: "org.apache.http.ParseException",
            message,
        }
    }

    pub(crate) fn illegal_state(message: String) -> Self {
        Self {
            class: "java.lang.IllegalStateException",
            message,
        }
    }

    pub(crate) fn file_not_found(message: String) -> Self {
        Self {
            class: "java.io.FileNotFoundException",
            message,
        }
    }

    pub(crate) fn client_protocol(message: String) -> Self {
        Self {
            class: "org.apache.http.client.ClientProtocolException",
            message,
        }
    }

    pub(crate) fn no_charset(why: NoCharset, name: &str) -> Self {
        let class = match why {
            NoCharset::Illegal => "java.nio.charset.IllegalCharsetNameException",
            NoCharset::Unsupported => "java.nio.charset.UnsupportedCharsetException",
        };
        Self {
            class,
            message: name.to_owned(),
        }
    }

    pub(crate) fn illegal_argument(message: String) -> Self {
        Self {
            class: "java.lang.IllegalArgumentException",
            message,
        }
    }
}
