//! What becomes of a request.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::moment::Moment;

/// What becomes of a request that arrives.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub enum Decision {
    /// It goes on at once.
    Admitted(Permit),
    /// It waits: a [`Verdict`] follows, within the longest wait.
    Queued(Ticket),
    /// It is rejected.
    Refused(Refusal),
}

/// What became of a request that waited.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub struct Verdict {
    /// The request.
    pub ticket: Ticket,
    /// What became of it.
    pub decision: Waited,
}

/// How a wait ends.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub enum Waited {
    /// It goes on now.
    Granted(Permit),
    /// It is rejected.
    Refused(Refusal),
}

/// The right to be in flight. It is given back by [`Admission::finish`](crate::Admission::finish),
/// once: it can be neither copied nor made.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a permit that is not finished keeps its slot for ever"]
pub struct Permit {
    /// The class by the admission's own count, which stays when rules change.
    pub(crate) class: usize,
    pub(crate) admitted: Moment,
    pub(crate) waited: Duration,
    /// Requests in flight when it was admitted, itself included.
    pub(crate) in_flight: u32,
    /// Requests of its class that are in flight.
    pub(crate) class_in_flight: u32,
}

impl Permit {
    /// How long it waited to be admitted.
    pub fn waited(&self) -> Duration {
        self.waited
    }

    /// When it was admitted.
    pub fn admitted(&self) -> Moment {
        self.admitted
    }
}

/// The place of a request that waits. It is good until the verdict; after that it means nobody.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ticket {
    pub(crate) place: u32,
    pub(crate) generation: u32,
}

/// That, and why, a request is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refusal {
    /// Why.
    pub why: Why,
    /// How long until it would be admitted at once if nobody else came. Exact for a rate; for
    /// concurrency, expected from the mean response time, and the longest wait as long as no
    /// response has been seen.
    pub retry_after: Duration,
}

/// Why a request is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// Its slot under a rate cap would open too late. Said at once.
    Rate,
    /// All slots are taken and waiting is not allowed. Said at once.
    Concurrency,
    /// As many wait as may. Said at once.
    QueueFull,
    /// It has waited as long as requests may.
    WaitTooLong,
    /// It was among the oldest in a queue that had been standing for too long.
    Expired,
}

impl Why {
    /// All of them, in the order of [`Seen`](crate::Seen)'s counters.
    pub const ALL: [Self; 5] = [
        Self::Rate,
        Self::Concurrency,
        Self::QueueFull,
        Self::WaitTooLong,
        Self::Expired,
    ];
}

/// How an admitted request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// From admission to the last byte of the response, or to whatever ended it.
    pub response_time: Duration,
    /// How.
    pub kind: Kind,
}

/// How an admitted request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// With a response.
    Completed,
    /// The server refused it, broke off, or took too long.
    Failed,
    /// Its client left.
    Abandoned,
}
