//! What clients have that a key tells apart.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::keys::KeyTable;

/// What a `[[key]]` holds. Counts are since the start, or since it was last changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeyStatus {
    /// Its name.
    pub name: String,
    /// Clients that have something here, or have used some of their rate.
    pub known: usize,
    /// Requests that were rejected.
    pub refused: KeyRefused,
    /// Connections that were closed at once, as their address had as many as it may.
    pub connections_refused: u64,
    /// Requests that were let through without a look: there was no room for another client.
    pub unkept: u64,
}

/// Requests that were rejected for what their client has, by why.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeyRefused {
    /// It had used up its rate.
    pub rate: u64,
    /// It had as many here as it may.
    pub concurrency: u64,
    /// As many of them waited as may.
    pub queue: u64,
}

impl KeyRefused {
    /// Each with its name.
    pub fn by_why(&self) -> [(&'static str, u64); 3] {
        [
            ("rate", self.rate),
            ("concurrency", self.concurrency),
            ("queue", self.queue),
        ]
    }
}

impl KeyStatus {
    pub(super) fn of(table: &KeyTable) -> Self {
        let (known, counts) = table.seen();
        Self {
            name: table.settings.name.clone(),
            known,
            refused: KeyRefused {
                rate: counts.rate,
                concurrency: counts.concurrency,
                queue: counts.queue,
            },
            connections_refused: table.connections_refused(),
            unkept: counts.unkept,
        }
    }
}

/// For a terminal.
impl fmt::Display for KeyStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "key {}: {} known", self.name, self.known)?;
        let connections = ("connections", self.connections_refused);
        let mut whys = self.refused.by_why().into_iter().chain([connections]);
        whys.try_for_each(|(why, count)| match count {
            0 => Ok(()),
            _ => write!(f, ", refused for {why}: {count}"),
        })?;
        match self.unkept {
            0 => Ok(()),
            unkept => write!(f, ", {unkept} requests let through without a look"),
        }
    }
}
