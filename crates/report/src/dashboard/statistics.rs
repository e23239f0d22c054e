//! The figures of one label.

use std::collections::VecDeque;

use weir_record::SampleRow;

const KILOBYTE: f64 = 1024.0;

/// Sums over the samples of one label.
#[derive(Debug)]
pub(super) struct Statistics {
    pub(super) count: u64,
    pub(super) failed: u64,
    sum_ms: u64,
    min_ms: u64,
    max_ms: u64,
    received_bytes: u64,
    sent_bytes: u64,
    first_start_ms: u64,
    last_end_ms: u64,
    /// Response times of the last samples.
    window: VecDeque<u64>,
    window_max: usize,
}

impl Statistics {
    pub(super) fn new(window_max: usize) -> Self {
        Self {
            count: 0,
            failed: 0,
            sum_ms: 0,
            min_ms: u64::MAX,
            max_ms: 0,
            received_bytes: 0,
            sent_bytes: 0,
            first_start_ms: u64::MAX,
            last_end_ms: 0,
            window: VecDeque::new(),
            window_max: window_max.max(1),
        }
    }

    pub(super) fn add(&mut self, row: &SampleRow) {
        self.count += 1;
        self.failed += u64::from(!row.success);
        self.sum_ms += row.elapsed_ms;
        self.min_ms = self.min_ms.min(row.elapsed_ms);
        self.max_ms = self.max_ms.max(row.elapsed_ms);
        self.received_bytes += row.received_bytes;
        self.sent_bytes += row.sent_bytes;
        self.first_start_ms = self.first_start_ms.min(row.timestamp_ms);
        self.last_end_ms = self.last_end_ms.max(end_ms(row));
        if self.window.len() == self.window_max {
            self.window.pop_front();
        }
        self.window.push_back(row.elapsed_ms);
    }

    /// The figures, as `statistics.json` and the table have them.
    pub(super) fn figures(&self) -> Figures {
        let mut sorted: Vec<u64> = self.window.iter().copied().collect();
        sorted.sort_unstable();
        let count = self.count as f64;
        let seconds = self.last_end_ms.saturating_sub(self.first_start_ms) as f64 / 1e3;
        let per_second = |sum: f64| if seconds > 0.0 { sum / seconds } else { sum };
        Figures {
            sample_count: self.count,
            error_count: self.failed,
            error_percent: self.failed as f64 / count * 100.0,
            mean_ms: self.sum_ms as f64 / count,
            median_ms: percentile(&sorted, 50.0),
            // What is left when nothing was counted is what JMeter writes then.
            min_ms: if self.count == 0 {
                i64::MAX as f64
            } else {
                self.min_ms as f64
            },
            max_ms: if self.count == 0 {
                i64::MIN as f64
            } else {
                self.max_ms as f64
            },
            p90_ms: percentile(&sorted, 90.0),
            p95_ms: percentile(&sorted, 95.0),
            p99_ms: percentile(&sorted, 99.0),
            throughput_per_s: per_second(count),
            received_kb_per_s: per_second(self.received_bytes as f64 / KILOBYTE),
            sent_kb_per_s: per_second(self.sent_bytes as f64 / KILOBYTE),
        }
    }

    /// From the first start to the last end, in milliseconds since 1970.
    pub(super) fn span_ms(&self) -> Option<(u64, u64)> {
        (self.count > 0).then_some((self.first_start_ms, self.last_end_ms))
    }
}

/// When a sample ended, in milliseconds since 1970.
pub(super) fn end_ms(row: &SampleRow) -> u64 {
    row.timestamp_ms.saturating_add(row.elapsed_ms)
}

/// The figures of one label; not a number where nothing was counted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Figures {
    pub(super) sample_count: u64,
    pub(super) error_count: u64,
    pub(super) error_percent: f64,
    pub(super) mean_ms: f64,
    pub(super) median_ms: f64,
    pub(super) min_ms: f64,
    pub(super) max_ms: f64,
    pub(super) p90_ms: f64,
    pub(super) p95_ms: f64,
    pub(super) p99_ms: f64,
    pub(super) throughput_per_s: f64,
    pub(super) received_kb_per_s: f64,
    pub(super) sent_kb_per_s: f64,
}

/// Percentile of sorted values by rank p(n + 1)/100 with linear interpolation, the lowest and the
/// highest value outside (Hyndman and Fan, "Sample Quantiles in Statistical Packages", 1996,
/// definition 6; what JMeter's library calls `LEGACY`).
pub(super) fn percentile(sorted: &[u64], percent: f64) -> f64 {
    let (Some(first), Some(last)) = (sorted.first(), sorted.last()) else {
        return f64::NAN;
    };
    let rank = percent * (sorted.len() as f64 + 1.0) / 100.0;
    if rank < 1.0 {
        return *first as f64;
    }
    if rank >= sorted.len() as f64 {
        return *last as f64;
    }
    let below = sorted[rank as usize - 1] as f64;
    let above = sorted[rank as usize] as f64;
    below + rank.fract() * (above - below)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_interpolate_between_ranks() {
        let values: Vec<u64> = (1..=10).map(|value| value * 10).collect();
        for (percent, expected) in [(50.0, 55.0), (90.0, 99.0), (95.0, 100.0), (5.0, 10.0)] {
            assert!(
                (percentile(&values, percent) - expected).abs() < 1e-9,
                "{percent}"
            );
        }
        assert!(percentile(&[], 50.0).is_nan());
    }

    #[test]
    fn percentiles_are_of_the_last_samples() {
        let mut statistics = Statistics::new(3);
        for elapsed_ms in [1_000, 1, 2, 3] {
            statistics.add(&SampleRow {
                elapsed_ms,
                ..SampleRow::default()
            });
        }
        let figures = statistics.figures();
        let found = (figures.sample_count, figures.median_ms, figures.max_ms);
        assert_eq!(found, (4, 2.0, 1_000.0));
    }
}
