//! What the gateway says of itself.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::time::Duration;

use serde::Deserialize;

use crate::error::TaskError;

/// The part of `/status` that is checked.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Status {
    pub(crate) all: All,
    #[serde(default)]
    pub(crate) classes: Vec<Class>,
}

/// One class.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Class {
    pub(crate) name: String,
    pub(crate) standing: All,
}

/// Over all classes, or of one.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct All {
    /// The limit on requests in flight; none where there is none.
    #[serde(default)]
    pub(crate) limit: Option<f64>,
    pub(crate) in_flight: u32,
    pub(crate) queued: u32,
    pub(crate) offered: u64,
    pub(crate) admitted: u64,
    pub(crate) waited: u64,
    pub(crate) left: u64,
    pub(crate) finished: u64,
    pub(crate) refused: Refused,
}

/// By why.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Refused {
    rate: u64,
    concurrency: u64,
    queue_full: u64,
    wait_too_long: u64,
    expired: u64,
}

impl Refused {
    /// For whatever reason.
    pub(crate) fn total(&self) -> u64 {
        self.rate + self.concurrency + self.queue_full + self.wait_too_long + self.expired
    }
}

/// Asks the admin port.
pub(crate) fn status(admin: u16) -> Result<Status, TaskError> {
    let ask = || {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, admin))?;
        stream.set_read_timeout(Some(Duration::from_secs(10)))?;
        stream
            .write_all(b"GET /status HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    };
    let answer = ask().map_err(|source| TaskError::Start {
        command: "GET /status of the gateway".to_owned(),
        source,
    })?;
    let (_, body) = answer.split_once("\r\n\r\n").unwrap_or_default();
    serde_json::from_str(body).map_err(|error| TaskError::Form {
        what: "the gateway's /status".to_owned(),
        why: error.to_string(),
    })
}
