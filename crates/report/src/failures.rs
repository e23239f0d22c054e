//! Why requests failed, in words: rows and results have JMeter's codes, which are classes of Java.

use std::borrow::Cow;

use weir_record::NO_ANSWER;

/// What the classes say that JMeter's HTTP client and Weir report.
const WORDS: [(&str, &str); 19] = [
    ("java.net.UnknownHostException", "host not known"),
    (
        "org.apache.http.conn.HttpHostConnectException",
        "connection refused",
    ),
    (
        "org.apache.http.conn.ConnectTimeoutException",
        "no connection in time",
    ),
    ("java.net.NoRouteToHostException", "no route to the host"),
    ("java.net.BindException", "no local port was free"),
    (
        "java.net.SocketException",
        "connection reset, or it could not be made",
    ),
    (
        "org.apache.http.NoHttpResponseException",
        "connection closed without an answer",
    ),
    ("java.net.SocketTimeoutException", "no answer in time"),
    (
        "org.apache.http.ConnectionClosedException",
        "answer cut short",
    ),
    (
        "org.apache.http.TruncatedChunkException",
        "answer cut short within a chunk",
    ),
    (
        "org.apache.http.MalformedChunkCodingException",
        "answer with a broken chunk",
    ),
    (
        "org.apache.http.client.ClientProtocolException",
        "no HTTP answer, or too many redirects",
    ),
    (
        "org.apache.http.MessageConstraintException",
        "head of the answer too long",
    ),
    ("javax.net.ssl.SSLException", "TLS failed"),
    (
        "javax.net.ssl.SSLHandshakeException",
        "TLS handshake failed",
    ),
    ("java.io.IOException", "HTTP/2 failed"),
    ("java.util.zip.ZipException", "answer cannot be unpacked"),
    ("java.io.EOFException", "packed answer cut short"),
    ("weir.NotAllowed", "host not allowed"),
];

/// A code in words; one of HTTP, or one that has none, as it is.
pub(crate) fn in_words(code: &str) -> Cow<'_, str> {
    let Some(class) = code.strip_prefix(NO_ANSWER) else {
        return code.into();
    };
    let found = WORDS.iter().find(|(known, _)| *known == class);
    found.map_or(class, |(_, words)| words).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_have_words_and_codes_stay() {
        let of = |class: &str| in_words(&format!("{NO_ANSWER}{class}")).into_owned();
        assert_eq!(of("java.net.SocketTimeoutException"), "no answer in time");
        assert_eq!(of("org.example.Other"), "org.example.Other");
        assert_eq!(in_words("503"), "503");
    }
}
