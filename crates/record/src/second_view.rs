//! A running trial as whoever follows it sees it.

use std::collections::BTreeMap;
use std::ops::Range;

use weir_metric::{is_stage, names, stage_place};

use crate::Recording;
use crate::timeline::Reading;

/// How many seconds a line of a log sums up.
pub const STRETCH_S: u64 = 10;

/// What is quicker counts as this.
const LEAST_MS: f64 = 1.0 / 16.0;

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
    /// Response times of the last [`STRETCH_S`] seconds: how many from so many milliseconds up to
    /// twice that.
    pub response: Vec<(f64, u64)>,
    /// The server's stages, outermost first, as far as they are told.
    pub stages: Vec<StageNow>,
}

/// A stage of the server in a second.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StageNow {
    /// Its name.
    pub name: String,
    /// Requests or connections that are in it.
    pub in_use: f64,
    /// The most that may be, where that is told.
    pub limit: Option<f64>,
    /// Those that wait for it, where that is told.
    pub waiting: Option<f64>,
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
            response: doublings(recording),
            stages: row.map(stages).unwrap_or_default(),
            ..Self::default()
        }
    }
}

/// The response times of the last seconds by doublings, from the first that occurs to the last.
fn doublings(recording: &Recording) -> Vec<(f64, u64)> {
    let end = recording.seconds();
    let begin = end.saturating_sub(STRETCH_S as usize);
    // What cannot be read again is not shown.
    let Ok(response) = recording.histograms.merged(begin..end, None) else {
        return Vec::new();
    };
    let mut counts: BTreeMap<i32, u64> = BTreeMap::new();
    for recorded in response.iter_recorded() {
        let ms = recorded.value_iterated_to() as f64 / 1e3;
        let doubling = ms.max(LEAST_MS).log2().floor() as i32;
        *counts.entry(doubling).or_default() += recorded.count_at_value();
    }
    let (Some(first), Some(last)) = (counts.keys().next(), counts.keys().next_back()) else {
        return Vec::new();
    };
    (*first..=*last)
        .map(|doubling| {
            let count = counts.get(&doubling).copied().unwrap_or(0);
            (2.0_f64.powi(doubling), count)
        })
        .collect()
}

/// The stages that a second tells of.
fn stages(row: &Reading) -> Vec<StageNow> {
    let read = |name: String| row.get(name.as_str()).copied();
    let mut stages: Vec<StageNow> = row
        .iter()
        .filter_map(|(name, in_use)| {
            let stage = name
                .strip_suffix(".occupancy")
                .filter(|stage| is_stage(stage))?;
            let queue = if stage == "threads" {
                "request-queue"
            } else {
                stage
            };
            Some(StageNow {
                name: stage.to_owned(),
                in_use: *in_use,
                limit: read(format!("{stage}.limit")),
                waiting: read(format!("{queue}.waiting")),
            })
        })
        .collect();
    stages.sort_by(|a, b| (stage_place(&a.name), &a.name).cmp(&(stage_place(&b.name), &b.name)));
    stages
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
