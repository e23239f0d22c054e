//! What a runtime adds up over its life.

use std::time::Duration;

use hdrhistogram::Histogram;
use weir_record::response_histogram;

use crate::counts::add;

/// Sums over the life of a runtime.
#[derive(Debug, Clone)]
pub(crate) struct Tally {
    pub(crate) users_started: u64,
    pub(crate) users_finished: u64,
    pub(crate) samples: u64,
    pub(crate) failed: u64,
    pub(crate) received_bytes: u64,
    pub(crate) sent_bytes: u64,
    pub(crate) cut: u64,
    /// Samples that were given up, because an extractor or a script failed.
    pub(crate) lost: u64,
    /// Why the first of them was.
    pub(crate) lost_by: Option<String>,
    /// Samples of which scripts had nobody hear.
    pub(crate) ignored: u64,
    pub(crate) resent: u64,
    pub(crate) blocked_sends: u64,
    pub(crate) local_failures: u64,
    pub(crate) waited_for_rows: Duration,
    pub(crate) lateness_us: Histogram<u64>,
    /// What a task has panicked with.
    pub(crate) crash: Option<String>,
}

impl Default for Tally {
    fn default() -> Self {
        Self {
            users_started: 0,
            users_finished: 0,
            samples: 0,
            failed: 0,
            received_bytes: 0,
            sent_bytes: 0,
            cut: 0,
            lost: 0,
            lost_by: None,
            ignored: 0,
            resent: 0,
            blocked_sends: 0,
            local_failures: 0,
            waited_for_rows: Duration::ZERO,
            lateness_us: response_histogram(),
            crash: None,
        }
    }
}

impl Tally {
    /// Adds another runtime's sums.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.users_started += other.users_started;
        self.users_finished += other.users_finished;
        self.samples += other.samples;
        self.failed += other.failed;
        self.received_bytes += other.received_bytes;
        self.sent_bytes += other.sent_bytes;
        self.cut += other.cut;
        self.lost += other.lost;
        if self.lost_by.is_none() {
            self.lost_by.clone_from(&other.lost_by);
        }
        self.ignored += other.ignored;
        self.resent += other.resent;
        self.blocked_sends += other.blocked_sends;
        self.local_failures += other.local_failures;
        self.waited_for_rows += other.waited_for_rows;
        add(&mut self.lateness_us, &other.lateness_us);
        if self.crash.is_none() {
            self.crash.clone_from(&other.crash);
        }
    }
}
