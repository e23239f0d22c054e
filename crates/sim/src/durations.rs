//! Counting durations where every request passes: a thousandth exact, and a few instructions each.

use hdrhistogram::Histogram;
use weir_record::response_histogram;

/// Bits of the mantissa that tell buckets apart: 1,024 to each doubling, as a histogram of three
/// digits has.
const BITS: u32 = 10;
const MANTISSA: u32 = 52;
/// Durations below a microsecond fall into the first bucket; reports round to microseconds anyway.
const SHORTEST_S: f64 = 1e-6;

/// A histogram whose buckets are the leading bits of the number itself.
#[derive(Debug, Clone, Default)]
pub(crate) struct Durations {
    counts: Vec<u64>,
}

impl Durations {
    #[inline]
    pub(crate) fn record(&mut self, seconds: f64) {
        let bucket = bucket(seconds);
        match self.counts.get_mut(bucket) {
            Some(count) => *count += 1,
            None => self.grow(bucket),
        }
    }

    #[cold]
    fn grow(&mut self, bucket: usize) {
        self.counts.resize(bucket + 1, 0);
        self.counts[bucket] += 1;
    }

    pub(crate) fn reset(&mut self) {
        self.counts.fill(0);
    }

    /// The durations in microseconds.
    pub(crate) fn histogram_us(&self) -> Histogram<u64> {
        let mut histogram = response_histogram();
        let counts = self.counts.iter().enumerate();
        for (bucket, &count) in counts.filter(|(_, count)| **count > 0) {
            let micros = (middle_s(bucket) * 1e6).round() as u64;
            histogram
                .record_n(micros, count)
                .expect("the histogram resizes by itself");
        }
        histogram
    }
}

/// Positive numbers order as their bits do, so their leading bits are a logarithmic scale.
fn leading_bits(seconds: f64) -> usize {
    (seconds.to_bits() >> (MANTISSA - BITS)) as usize
}

#[inline]
fn bucket(seconds: f64) -> usize {
    leading_bits(seconds.max(SHORTEST_S)) - leading_bits(SHORTEST_S)
}

/// The middle of a bucket.
fn middle_s(bucket: usize) -> f64 {
    let bits = (leading_bits(SHORTEST_S) + bucket) as u64;
    let half = 1 << (MANTISSA - BITS - 1);
    f64::from_bits(bits << (MANTISSA - BITS) | half)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_known_to_a_thousandth() {
        for seconds in [1e-6, 3.3e-5, 0.001, 0.25, 1.0, 59.9, 3600.0, 1e5] {
            let found = middle_s(bucket(seconds));
            assert!((found / seconds - 1.0).abs() < 1e-3, "{seconds} {found}");
        }
        assert_eq!(bucket(0.0), 0);
    }

    #[test]
    fn counts_and_quantiles_come_back() {
        let mut durations = Durations::default();
        for milliseconds in 1..=1000 {
            durations.record(f64::from(milliseconds) / 1e3);
        }
        let histogram = durations.histogram_us();
        assert_eq!(histogram.len(), 1000);
        let median = histogram.value_at_quantile(0.5) as f64 / 1e6;
        assert!((median / 0.5 - 1.0).abs() < 3e-3, "{median}");
        durations.reset();
        assert!(durations.histogram_us().is_empty());
    }
}
