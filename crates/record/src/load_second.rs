//! What the load engine counted in one second.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;

use crate::response_histogram::response_histogram;

/// The longest response time that is counted as it is: a day.
const ELAPSED_MS_MAX: u64 = 86_400_000;

/// One second of load, all runtimes together, counted from the time origin of the trial.
#[derive(Debug, Clone)]
pub struct LoadSecond {
    /// Which second: 0 is the first after the origin.
    pub second: u64,
    /// What was finished in this second, by sample label, in the plan's order.
    pub classes: Vec<ClassSecond>,
    /// Users that were running at the end of the second.
    pub users: u32,
    /// Samples that were in flight at the end of the second; `None` when the load generator does
    /// not tell.
    pub in_flight: Option<u32>,
    /// Sockets open at the end of the second; `None` when the load generator does not tell.
    pub sockets: Option<u32>,
    /// How late users woke from their timers, in microseconds; empty when none woke.
    pub lateness_us: Histogram<u64>,
    /// Samples that were answered with a redirect or by way of one; `None` when the load generator
    /// does not tell.
    pub redirected: Option<u64>,
    /// Requests that were sent again, on a fresh connection, because the one that was kept took no
    /// byte of them; `None` when the load generator does not tell.
    pub resent: Option<u64>,
    /// Connections that were made; `None` when the load generator does not tell.
    pub connects: Option<Connects>,
    /// What only an open workload has; `None` when the load is closed.
    pub open: Option<OpenSecond>,
}

/// The connections that the load made in one second.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Connects {
    /// How many; `None` when only the time is known.
    pub made: Option<u64>,
    /// How long all of them took, in seconds, with the names that were looked up and the handshakes
    /// of TLS; those that failed count.
    pub took_s: f64,
}

/// Samples of an open workload that ended in one second: those of which it was known before when
/// they should start. Their response times count from then.
#[derive(Debug, Clone)]
pub struct OpenSecond {
    /// From the start to the end, in microseconds: what the server and the network took.
    pub service_us: Histogram<u64>,
    /// From the moment a sample should have started to its start, in microseconds: it waited for a
    /// user to be free, or the load generator was late.
    pub start_delay_us: Histogram<u64>,
}

impl OpenSecond {
    /// No sample.
    pub fn new() -> Self {
        Self {
            service_us: response_histogram(),
            start_delay_us: response_histogram(),
        }
    }
}

impl Default for OpenSecond {
    fn default() -> Self {
        Self::new()
    }
}

/// The samples of one label that ended in one second.
#[derive(Debug, Clone)]
pub struct ClassSecond {
    /// The label of the samples.
    pub label: String,
    /// Samples that succeeded.
    pub succeeded: u64,
    /// Samples that failed.
    pub failed: u64,
    /// Those by response code (`200`, `204`); empty when the load generator does not tell.
    pub succeeded_by_code: BTreeMap<String, u64>,
    /// Failed samples by response code (`503`, `Non HTTP response code: …`).
    pub failed_by_code: BTreeMap<String, u64>,
    /// Response times of all samples, failed ones included, in microseconds.
    pub response_us: Histogram<u64>,
}

impl LoadSecond {
    /// A second in which nothing ended.
    pub fn empty(second: u64) -> Self {
        Self {
            second,
            classes: Vec::new(),
            users: 0,
            in_flight: None,
            sockets: None,
            lateness_us: response_histogram(),
            redirected: None,
            resent: None,
            connects: None,
            open: None,
        }
    }

    /// Samples that ended in the second, whatever their outcome.
    pub fn completed(&self) -> u64 {
        self.classes.iter().map(ClassSecond::completed).sum()
    }

    /// Samples that failed in the second.
    pub fn failed(&self) -> u64 {
        self.classes.iter().map(|class| class.failed).sum()
    }
}

impl ClassSecond {
    /// No sample of this label.
    pub fn empty(label: &str) -> Self {
        Self {
            label: label.to_owned(),
            succeeded: 0,
            failed: 0,
            succeeded_by_code: BTreeMap::new(),
            failed_by_code: BTreeMap::new(),
            response_us: response_histogram(),
        }
    }

    /// Counts a sample from a result file.
    pub fn count(&mut self, elapsed_ms: u64, code: &str, success: bool) {
        self.response_us
            .record(elapsed_ms.min(ELAPSED_MS_MAX) * 1_000)
            .expect("the histogram grows to any number of microseconds");
        let (all, by_code) = if success {
            (&mut self.succeeded, &mut self.succeeded_by_code)
        } else {
            (&mut self.failed, &mut self.failed_by_code)
        };
        *all += 1;
        match by_code.get_mut(code) {
            Some(count) => *count += 1,
            None => {
                by_code.insert(code.to_owned(), 1);
            }
        }
    }

    /// Samples that ended in the second, whatever their outcome.
    pub fn completed(&self) -> u64 {
        self.succeeded + self.failed
    }
}
