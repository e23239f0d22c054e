//! From the arrival of requests to their being read by a thread of the server: one figure of each
//! over a window.
//!
//! The watch tells them request by request. Percentiles of a window come from all its requests, not
//! from those of its seconds.

use std::collections::BTreeMap;
use std::ops::Range;

use hdrhistogram::Histogram;

use weir_metric::names;

use crate::response_histogram::response_histogram;

/// The requests of each second's sample.
#[derive(Debug, Clone, Default)]
pub(crate) struct RequestArrivals {
    /// By second: nanoseconds until read.
    seconds: BTreeMap<usize, Histogram<u64>>,
}

impl RequestArrivals {
    /// Adds a second's requests, each with the nanoseconds from its arrival until it was read.
    pub(crate) fn add(&mut self, second: usize, until_read_ns: impl IntoIterator<Item = u64>) {
        let mut requests = until_read_ns.into_iter().peekable();
        if requests.peek().is_none() {
            return;
        }
        let histogram = self
            .seconds
            .entry(second)
            .or_insert_with(response_histogram);
        for ns in requests {
            histogram.record(ns).expect("it resizes by itself");
        }
    }

    /// Puts the figures of a window in the place of the means over its seconds.
    pub(crate) fn put(&self, window: Range<usize>, signals: &mut BTreeMap<String, f64>) {
        let mut all = response_histogram();
        for second in self.seconds.range(window).map(|(_, second)| second) {
            all.add(second).expect("the sum resizes by itself");
        }
        if all.is_empty() {
            return;
        }
        let mut put = |name: &str, value: f64| signals.insert(name.to_owned(), value);
        let seconds = |ns: u64| ns as f64 / 1e9;
        put(
            names::ARRIVAL_TO_READ_P50,
            seconds(all.value_at_quantile(0.5)),
        );
        put(
            names::ARRIVAL_TO_READ_P99,
            seconds(all.value_at_quantile(0.99)),
        );
        put(names::ARRIVAL_TO_READ_MAX, seconds(all.max()));
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "the figures are read from a histogram")]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_all_requests_of_the_window() {
        let mut arrivals = RequestArrivals::default();
        arrivals.add(0, [9_000_000_000; 50]);
        arrivals.add(3, [1_000; 98]);
        arrivals.add(4, []);
        arrivals.add(5, [1_000_000; 2]);
        let mut signals = BTreeMap::new();
        arrivals.put(1..9, &mut signals);
        assert_eq!(signals[names::ARRIVAL_TO_READ_P50], 1e-6);
        let longest = signals[names::ARRIVAL_TO_READ_MAX];
        assert!((longest / 1e-3 - 1.0).abs() < 1e-3, "{longest}");
        assert_eq!(signals[names::ARRIVAL_TO_READ_P99], longest);
    }

    #[test]
    fn a_window_without_requests_has_no_figures() {
        let mut signals = BTreeMap::new();
        RequestArrivals::default().put(0..10, &mut signals);
        assert!(signals.is_empty());
    }
}
