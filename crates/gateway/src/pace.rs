//! The least pace at which a client sends a body, or takes one.
//!
//! A byte every now and then satisfies every bound on the time without one, and holds a slot for
//! hours. So the time in which a client was waited for may be no longer than the first wait, and a
//! second for each so many bytes (as `MinRate` of Apache's `mod_reqtimeout` has it).

use std::time::Duration;

#[derive(Debug)]
pub(crate) struct Pace {
    /// Bytes a second; 0: any pace will do.
    least_per_s: u32,
    grace: Duration,
    waited: Duration,
    bytes: u64,
}

impl Pace {
    /// Bytes a second, after a first wait.
    pub(crate) fn new(least_per_s: u32, grace: Duration) -> Self {
        Self {
            least_per_s,
            grace,
            waited: Duration::ZERO,
            bytes: 0,
        }
    }

    /// So many bytes came or went, after so long a wait; whether that is still enough.
    pub(crate) fn passed(&mut self, bytes: u64, after: Duration) -> bool {
        self.waited += after;
        self.bytes += bytes;
        let earned = self.bytes as f64 / f64::from(self.least_per_s.max(1));
        self.least_per_s == 0 || self.waited.saturating_sub(self.grace).as_secs_f64() <= earned
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn bytes_earn_time_and_drops_do_not() {
        let mut pace = Pace::new(100, 10 * SECOND);
        assert!((0..10).all(|_| pace.passed(1, SECOND)));
        assert!(!pace.passed(1, SECOND), "11 s for 11 bytes");
        let mut pace = Pace::new(100, 10 * SECOND);
        assert!((0..1000).all(|_| pace.passed(100, SECOND)));
        let mut none = Pace::new(0, Duration::ZERO);
        assert!((0..1000).all(|_| none.passed(1, SECOND)));
    }
}
