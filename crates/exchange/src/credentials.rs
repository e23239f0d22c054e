//! Who asks, where a server wants to know.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// A user and a password, for basic authentication (RFC 7617).
///
/// They reach the server and nobody else: neither [`Debug`] nor any message shows the password.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    user: String,
    password: String,
}

impl Credentials {
    /// The origin that is sent with them. A server that is told to answer this one alone refuses
    /// what a page in somebody's browser asks; nothing is ever served under a name that ends in
    /// `.invalid` (RFC 6761).
    pub const ORIGIN: &str = "http://weir.invalid";

    /// A user and the password.
    pub fn new(user: impl Into<String>, password: impl Into<String>) -> Self {
        Self {
            user: user.into(),
            password: password.into(),
        }
    }

    /// The user.
    pub fn user(&self) -> &str {
        &self.user
    }

    /// The password, for whoever has to hand it on.
    pub fn password(&self) -> &str {
        &self.password
    }

    /// The lines of a request's head that carry them.
    pub(crate) fn head_lines(&self) -> String {
        let both = STANDARD.encode(format!("{}:{}", self.user, self.password));
        format!(
            "Authorization: Basic {both}\r\nOrigin: {}\r\n",
            Self::ORIGIN
        )
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials")
            .field("user", &self.user)
            .finish_non_exhaustive()
    }
}
