//! What each client may have.

use http::header::HeaderName;
use weir_limit::{KeyRules, Rate};

use crate::error::GatewayError;

/// What each of those may have whom a key tells apart.
#[derive(Debug, Clone, PartialEq)]
pub struct KeySettings {
    /// Its name in logs and metrics.
    pub name: String,
    /// What tells clients apart.
    pub by: KeyedBy,
    /// The class whose requests count; `None`: all.
    pub class: Option<String>,
    /// Most requests a second over a long time.
    pub rate_per_s: Option<f64>,
    /// Most requests at once under the rate; `None`: those of a second.
    pub burst: Option<u32>,
    /// Most requests at once in the gateway, those that wait included.
    pub concurrency: Option<u32>,
    /// Most requests that wait.
    pub max_queue: Option<u32>,
    /// Most connections of an address.
    pub connections: Option<u32>,
}

/// What tells clients apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyedBy {
    /// The address that connects; of IPv6, its network of 64 bits.
    Address,
    /// The value of a header field.
    Header(HeaderName),
    /// The value of a cookie.
    Cookie(String),
    /// So many first segments of the path.
    Path(usize),
}

impl KeySettings {
    /// With nothing held yet.
    pub fn new(name: String, by: KeyedBy) -> Self {
        Self {
            name,
            by,
            class: None,
            rate_per_s: None,
            burst: None,
            concurrency: None,
            max_queue: None,
            connections: None,
        }
    }

    /// Whether anything is held but connections.
    pub(crate) fn holds_requests(&self) -> bool {
        self.rate_per_s.is_some() || self.concurrency.is_some() || self.max_queue.is_some()
    }

    /// What is held of each key's requests.
    pub(crate) fn rules(&self) -> Result<KeyRules, GatewayError> {
        let rate = match self.rate_per_s {
            Some(per_s) => {
                // As many as come in a second; a number of requests that large is no burst.
                let burst = self.burst.unwrap_or(per_s.ceil().max(1.0) as u32);
                Some((Rate::per_second(per_s)?, burst))
            }
            None => None,
        };
        Ok(KeyRules {
            rate,
            concurrency: self.concurrency,
            max_queue: self.max_queue,
        })
    }
}
