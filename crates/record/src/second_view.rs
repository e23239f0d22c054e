//! A running trial as whoever follows it sees it.

use std::ops::Range;

use weir_metric::names;

use crate::Recording;

/// How many seconds a line of a log sums up.
pub const STRETCH_S: u64 = 10;

/// A running trial as it looks after one more second.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SecondView {
    /// Seconds since the load started.
    pub elapsed_s: u64,
    /// Seconds until the trial ends, as far as is known now.
    pub remaining_s: Option<u64>,
    /// Users that are running.
    pub users: u32,
    /// Requests of an open load that are in flight; absent when the load is closed.
    pub in_flight: Option<u32>,
    /// This second.
    pub now: Figures,
    /// The last [`STRETCH_S`] seconds together, whenever so many more have passed.
    pub stretch: Option<Figures>,
    /// Samples that have failed so far.
    pub failed: u64,
}

/// What was measured in a second, or in several together.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Figures {
    /// Samples that ended, a second.
    pub throughput_per_s: f64,
    /// Median response time, in milliseconds; absent when nothing ended.
    pub p50_ms: Option<f64>,
    /// 99th percentile of the response time, in milliseconds.
    pub p99_ms: Option<f64>,
    /// CPU of the target, as a share; absent when it was not read.
    pub cpu: Option<f64>,
}

impl SecondView {
    /// The view after the last second that was recorded, without users, time left and stretch.
    pub fn of(recording: &Recording) -> Self {
        let end = recording.seconds();
        let row = end.checked_sub(1);
        let row = row.and_then(|last| recording.timeline.second(last));
        let read = |name: &str| row.and_then(|row| row.get(name)).copied();
        let in_ms = |name: &str| read(name).map(|seconds| seconds * 1e3);
        Self {
            elapsed_s: end as u64,
            now: Figures {
                throughput_per_s: read(names::THROUGHPUT).unwrap_or(0.0),
                p50_ms: in_ms(names::RESPONSE_P50),
                p99_ms: in_ms(names::RESPONSE_P99),
                cpu: read(names::CPU),
            },
            ..Self::default()
        }
    }
}

impl Figures {
    /// The last [`STRETCH_S`] seconds together, when so many more have passed.
    pub fn of_stretch(recording: &Recording) -> Option<Self> {
        let end = recording.seconds();
        let is_full = end > 0 && (end as u64).is_multiple_of(STRETCH_S);
        is_full.then(|| Self::together(recording, end - STRETCH_S as usize..end))
    }

    fn together(recording: &Recording, seconds: Range<usize>) -> Self {
        let mean = |name: &str| {
            let series = recording.timeline.series(name, seconds.clone());
            let read: Vec<f64> = series.into_iter().flatten().collect();
            (!read.is_empty()).then(|| read.iter().sum::<f64>() / read.len() as f64)
        };
        // What cannot be read again is not shown.
        let response = recording.histograms.merged(seconds.clone(), None);
        let response = response.ok().filter(|response| !response.is_empty());
        let quantile = |at: f64| {
            let response = response.as_ref()?;
            Some(response.value_at_quantile(at) as f64 / 1e3)
        };
        Self {
            throughput_per_s: mean(names::THROUGHPUT).unwrap_or(0.0),
            p50_ms: quantile(0.5),
            p99_ms: quantile(0.99),
            cpu: mean(names::CPU),
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;
    use crate::{ClassSecond, LoadSecond};

    /// So many samples of so many milliseconds.
    fn load(second: u64, count: u64, ms: u64) -> LoadSecond {
        let mut class = ClassSecond::empty("/");
        class.succeeded = count;
        class.response_us.record_n(ms * 1_000, count).unwrap();
        let mut load = LoadSecond::empty(second);
        load.classes.push(class);
        load
    }

    #[test]
    fn ten_seconds_are_one_line() {
        let mut recording = Recording::new();
        for second in 0..10 {
            let (count, ms) = if second == 9 { (100, 5) } else { (200, 20) };
            recording.add_load(&load(second, count, ms)).unwrap();
            let view = SecondView::of(&recording);
            assert_eq!(view.elapsed_s, second + 1);
            assert_eq!(Figures::of_stretch(&recording).is_some(), second == 9);
        }
        let view = SecondView::of(&recording);
        assert!((view.now.throughput_per_s - 100.0).abs() < 1e-9);
        assert!((view.now.p50_ms.unwrap() - 5.0).abs() < 0.1);
        let stretch = Figures::of_stretch(&recording).unwrap();
        assert!((stretch.throughput_per_s - 190.0).abs() < 1e-9);
        assert!((stretch.p50_ms.unwrap() - 20.0).abs() < 0.1);
        assert_eq!(stretch.cpu, None);
    }
}
