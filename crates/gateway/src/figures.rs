//! What became of the requests of a class: the status codes that clients got, and how long it took.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use http::StatusCode;

/// Upper bounds of the buckets, in seconds: those that OpenTelemetry advises for requests of HTTP
/// (semantic conventions, `http.server.request.duration`), and some around them.
const BOUNDS_S: [f64; 16] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 25.0, 60.0, 300.0,
];
const BUCKETS: usize = BOUNDS_S.len() + 1;
/// Codes of HTTP have three digits, and the first is from 1 to 5.
const FIRST_CODE: u16 = 100;
const CODES: usize = 500;

/// Of one class, since the gateway began.
#[derive(Debug)]
pub(crate) struct Figures {
    codes: Box<[AtomicU64]>,
    /// From the arrival of the head to the last byte of the answer.
    pub(crate) response: Times,
    /// For its turn.
    pub(crate) wait: Times,
    /// At the backend.
    pub(crate) backend: Times,
}

/// Times, counted in buckets.
#[derive(Debug, Default)]
pub(crate) struct Times {
    buckets: [AtomicU64; BUCKETS],
    sum_us: AtomicU64,
}

impl Default for Figures {
    fn default() -> Self {
        Self {
            codes: (0..CODES).map(|_| AtomicU64::new(0)).collect(),
            response: Times::default(),
            wait: Times::default(),
            backend: Times::default(),
        }
    }
}

impl Figures {
    /// A client got a head with this code.
    pub(crate) fn answered(&self, status: StatusCode) {
        let at = usize::from(status.as_u16() - FIRST_CODE);
        if let Some(count) = self.codes.get(at) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A request that was admitted is over.
    pub(crate) fn ended(&self, waited: Duration, backend: Duration, not_taken: Duration) {
        self.wait.add(waited);
        self.backend.add(backend);
        self.response.add(waited + backend + not_taken);
    }

    /// How often clients got which code.
    pub(crate) fn codes(&self) -> BTreeMap<u16, u64> {
        let codes = (FIRST_CODE..).zip(&self.codes);
        codes
            .map(|(code, count)| (code, count.load(Ordering::Relaxed)))
            .filter(|(_, count)| *count > 0)
            .collect()
    }
}

impl Times {
    fn add(&self, time: Duration) {
        let seconds = time.as_secs_f64();
        let at = BOUNDS_S.partition_point(|bound| *bound < seconds);
        self.buckets[at].fetch_add(1, Ordering::Relaxed);
        let us = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        self.sum_us.fetch_add(us, Ordering::Relaxed);
    }

    /// How many are in each bucket, with its upper bound in seconds; the last has none.
    pub(crate) fn buckets(&self) -> Vec<(Option<f64>, u64)> {
        let bounds = BOUNDS_S.into_iter().map(Some).chain([None]);
        let counts = self.buckets.iter();
        bounds
            .zip(counts.map(|count| count.load(Ordering::Relaxed)))
            .collect()
    }

    /// Their sum in seconds.
    pub(crate) fn sum_s(&self) -> f64 {
        self.sum_us.load(Ordering::Relaxed) as f64 / 1e6
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_in_the_first_bucket_that_holds_it() {
        let times = Times::default();
        for ms in [0, 1, 2, 1000, 1001, 400_000] {
            times.add(Duration::from_millis(ms));
        }
        let buckets = times.buckets();
        let count: u64 = buckets.iter().map(|(_, count)| count).sum();
        assert_eq!((count, times.sum_s()), (6, 402.004));
        let filled: Vec<_> = buckets.into_iter().filter(|(_, n)| *n > 0).collect();
        let expected = [
            (Some(0.001), 2),
            (Some(0.0025), 1),
            (Some(1.0), 1),
            (Some(2.5), 1),
            (None, 1),
        ];
        assert_eq!(filled, expected);
    }

    #[test]
    fn codes_are_counted_each_by_itself() {
        let figures = Figures::default();
        for code in [200, 200, 404, 599] {
            figures.answered(StatusCode::from_u16(code).expect("a code"));
        }
        let odd = StatusCode::from_u16(999).expect("http knows it");
        figures.answered(odd);
        assert_eq!(figures.codes(), [(200, 2), (404, 1), (599, 1)].into());
    }
}
