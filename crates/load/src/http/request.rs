//! What goes out and what came of it.

use std::time::Duration;

use weir_script::Upload;

use crate::clock::Moment;
use crate::http::outcome::Failure;
use crate::http::response::{Asked, Head, Kept};

/// The most that is kept of a body. JMeter keeps all of it by default
/// (`httpsampler.max_bytes_to_store_per_sample`), which lets one server fill the memory of its
/// client.
pub(crate) const BODY_MAX: usize = 16 * 1024 * 1024;

/// What is sent, to whom, and how long each part may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Request<'a> {
    pub(crate) bytes: &'a [u8],
    /// The files after the bytes.
    pub(crate) uploads: &'a [Upload],
    /// Place of the server among [`Servers`](super::servers::Servers).
    pub(crate) server: usize,
    pub(crate) is_head: bool,
    pub(crate) keep_alive: bool,
    pub(crate) connect_timeout: Option<Duration>,
    /// Longest time without a byte sent or received.
    pub(crate) response_timeout: Option<Duration>,
    /// Head and body are kept, the body up to this many bytes ([`BODY_MAX`] unless the caller
    /// knows better; 0: the head alone). `None`: nothing is kept.
    pub(crate) keep_body: Option<usize>,
}

impl Request<'_> {
    /// What its answer may hold.
    pub(super) fn asked(&self) -> Asked {
        if self.is_head {
            Asked::Head
        } else {
            Asked::Body
        }
    }

    /// How many bytes it has, files included.
    pub(super) fn length(&self) -> u64 {
        let files = self.uploads.iter();
        let files: u64 = files.map(|u| u.length + u.after.len() as u64).sum();
        self.bytes.len() as u64 + files
    }
}

/// What became of a request.
#[derive(Debug)]
pub(crate) struct Exchange {
    /// Before anything is connected.
    pub(crate) started: Moment,
    /// When connecting ended, in whatever way; `None` on a connection that was kept.
    pub(crate) connected: Option<Moment>,
    /// When the first byte of the body was there; `None` without one.
    pub(crate) first_body: Option<Moment>,
    /// When the last byte was there, or the failure.
    pub(crate) ended: Moment,
    /// Bytes of head and body, as they were on the wire.
    pub(crate) received: u64,
    /// Bytes of a request that was answered, head and body.
    pub(crate) sent: u64,
    /// The response's head, or why there is no complete response.
    pub(crate) outcome: Result<Head, Failure>,
    /// Redirects were followed out of sight.
    pub(crate) redirected: bool,
    /// What was kept of a complete response. Hand it back with
    /// [`Client::give_back`](crate::http::client::Client::give_back).
    pub(crate) kept: Option<Box<Kept>>,
}

impl Exchange {
    /// Nothing was sent, for this reason.
    pub(crate) fn unsent(now: Moment, failure: Failure) -> Self {
        Self {
            started: now,
            connected: None,
            first_body: None,
            ended: now,
            received: 0,
            sent: 0,
            outcome: Err(failure),
            redirected: false,
            kept: None,
        }
    }

    /// Whether the answer was a redirect, or came by way of one.
    pub(crate) fn is_redirected(&self) -> bool {
        let leads = |head: &Head| matches!(head.status.number, 301..=303 | 307 | 308);
        self.redirected || self.outcome.as_ref().is_ok_and(leads)
    }

    /// What is seen of two exchanges of which only the last one shows.
    pub(crate) fn then(self, last: Self) -> Self {
        Self {
            started: self.started,
            connected: last.connected.or(self.connected),
            ..last
        }
    }
}
