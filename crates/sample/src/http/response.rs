//! One answer, and how it looks on the wire.

use super::{BadParameter, Method};

/// An answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Response {
    pub(crate) status: u16,
    content_type: &'static str,
    allow: &'static [Method],
    body: Vec<u8>,
}

impl Response {
    pub(crate) fn text(body: impl Into<Vec<u8>>) -> Self {
        Self {
            status: 200,
            content_type: "text/plain; charset=utf-8",
            allow: &[],
            body: body.into(),
        }
    }

    pub(crate) fn json(value: &impl serde::Serialize) -> Self {
        let mut body =
            serde_json::to_vec(value).expect("our answers have string keys and finite numbers");
        body.push(b'\n');
        Self {
            content_type: "application/json",
            ..Self::text(body)
        }
    }

    /// Prometheus text, format 0.0.4.
    pub(crate) fn metrics(body: String) -> Self {
        Self {
            content_type: "text/plain; version=0.0.4; charset=utf-8",
            ..Self::text(body)
        }
    }

    /// An answer that says why there is no other.
    pub(crate) fn refusal(status: u16, why: impl std::fmt::Display) -> Self {
        Self {
            status,
            ..Self::text(format!("{why}\n"))
        }
    }

    pub(crate) fn bad_request(why: impl std::fmt::Display) -> Self {
        Self::refusal(400, why)
    }

    pub(crate) fn method_not_allowed(allowed: &'static [Method]) -> Self {
        let names: Vec<&str> = allowed.iter().map(|method| name(*method)).collect();
        Self {
            allow: allowed,
            ..Self::refusal(405, format!("use {}", names.join(" or ")))
        }
    }

    /// Head and body, ready to be sent in one piece.
    pub(super) fn encode(&self, keep_alive: bool) -> Vec<u8> {
        let mut allow = String::new();
        if !self.allow.is_empty() {
            let names: Vec<&str> = self.allow.iter().map(|method| name(*method)).collect();
            allow = format!("Allow: {}\r\n", names.join(", "));
        }
        let head = format!(
            "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n{allow}Connection: {}\r\n\r\n",
            self.status,
            reason(self.status),
            self.content_type,
            self.body.len(),
            if keep_alive { "keep-alive" } else { "close" },
        );
        let mut bytes = head.into_bytes();
        bytes.extend_from_slice(&self.body);
        bytes
    }
}

impl From<BadParameter> for Response {
    fn from(error: BadParameter) -> Self {
        Self::bad_request(error)
    }
}

fn name(method: Method) -> &'static str {
    match method {
        Method::Get => "GET",
        Method::Post => "POST",
        Method::Put => "PUT",
        Method::Other => "OTHER",
    }
}

/// The reason phrases of RFC 9110 (431: RFC 6585) for the statuses sent here.
fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        411 => "Length Required",
        413 => "Content Too Large",
        415 => "Unsupported Media Type",
        431 => "Request Header Fields Too Large",
        503 => "Service Unavailable",
        _ => "Internal Server Error",
    }
}
