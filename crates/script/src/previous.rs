//! The response before, as functions see it.

/// What `__regexFunction` may search.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PreviousResponse {
    /// The decoded body.
    pub body: String,
    /// The head of the response.
    pub headers: String,
    /// The response code.
    pub code: String,
    /// The response message.
    pub message: String,
    /// The URL.
    pub url: String,
}
