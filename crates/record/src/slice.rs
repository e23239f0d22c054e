//! A part of what was recorded: means over some of the seconds.

use std::collections::BTreeMap;
use std::ops::Range;

use weir_metric::figure;

use crate::evaluate::response_times;
use crate::histograms::{HistogramError, IntervalHistograms};
use crate::timeline::{Reading, Timeline};
use crate::trial::ResponseTime;
use crate::watch::SignalSummary;

/// The seconds from one moment to another.
#[derive(Debug)]
pub struct Slice {
    /// How many seconds it has, missed ones included.
    pub seconds: usize,
    /// Those that the watch missed.
    pub missed: usize,
    /// Every signal that was read. The mean of a figure of events (a wait, a time) is over events.
    pub signals: BTreeMap<String, SignalSummary>,
    /// Responses that ended in it.
    pub responses: u64,
    /// Their times, all of them together.
    pub response_time_ms: ResponseTime,
}

impl Slice {
    /// These seconds of a timeline, as far as it has them.
    pub fn of(
        timeline: &Timeline,
        histograms: &IntervalHistograms,
        seconds: Range<usize>,
    ) -> Result<Self, HistogramError> {
        let seconds = seconds.start.min(timeline.len())..seconds.end.min(timeline.len());
        let read: Vec<&Reading> = seconds
            .clone()
            .filter(|second| !timeline.missed(*second))
            .filter_map(|second| timeline.second(second))
            .collect();
        let mut names: Vec<&String> = read.iter().flat_map(|second| second.keys()).collect();
        names.sort_unstable();
        names.dedup();
        let summed = names
            .into_iter()
            .filter_map(|name| Some((name.clone(), summary(name, &read)?)));
        let response_us = histograms.merged(seconds.clone(), None)?;
        Ok(Self {
            seconds: seconds.len(),
            missed: seconds
                .clone()
                .filter(|second| timeline.missed(*second))
                .count(),
            signals: summed.collect(),
            responses: response_us.len(),
            response_time_ms: response_times(&response_us),
        })
    }
}

/// Whether a signal is a percentile of each second: no mean of them is a percentile.
fn is_percentile(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or_default();
    last.strip_prefix('p')
        .is_some_and(|digits| digits.parse::<u32>().is_ok())
}

/// `None` of a percentile, and where it was never read.
fn summary(name: &str, read: &[&Reading]) -> Option<SignalSummary> {
    if is_percentile(name) {
        return None;
    }
    let weight = figure(name).and_then(|known| known.weighted_by(name));
    let weight_in = |second: &Reading| {
        let weight = weight.as_ref();
        weight.map_or(1.0, |weight| second.get(weight).copied().unwrap_or(0.0))
    };
    let values: Vec<(f64, f64)> = read
        .iter()
        .filter_map(|second| Some((*second.get(name)?, weight_in(second))))
        .collect();
    let total: f64 = values.iter().map(|(_, weight)| weight).sum();
    // Of events of which there were none, every second counts alike.
    let mean = if total > 0.0 {
        values
            .iter()
            .map(|(value, weight)| value * weight)
            .sum::<f64>()
            / total
    } else {
        values.iter().map(|(value, _)| value).sum::<f64>() / values.len() as f64
    };
    let only = || values.iter().map(|(value, _)| *value);
    (!values.is_empty()).then(|| SignalSummary {
        read: values.len() as u64,
        mean,
        min: only().fold(f64::INFINITY, f64::min),
        max: only().fold(f64::NEG_INFINITY, f64::max),
        origin: String::new(),
    })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    fn timeline() -> Timeline {
        let mut timeline = Timeline::new();
        for (second, (cpu, entries, wait)) in [
            (0.2, 10.0, 0.1),
            (0.4, 30.0, 0.3),
            (0.6, 0.0, 0.0),
            (0.8, 1.0, 9.0),
        ]
        .into_iter()
        .enumerate()
        {
            let reading = [
                ("cpu", cpu),
                ("pool.db.entries", entries),
                ("pool.db.wait", wait),
                ("response.p99", wait),
            ];
            let reading = reading.map(|(name, value)| (name.to_owned(), value));
            timeline.add(second as u64, reading.into());
        }
        // The fifth second is missed.
        timeline.add(5, Reading::new());
        timeline
    }

    #[test]
    fn a_slice_has_the_means_of_its_seconds_alone() {
        let histograms = IntervalHistograms::default();
        let slice = Slice::of(&timeline(), &histograms, 0..3).unwrap();
        assert_eq!((slice.seconds, slice.missed), (3, 0));
        let cpu = &slice.signals["cpu"];
        assert!((cpu.mean - 0.4).abs() < 1e-12, "{cpu:?}");
        assert_eq!((cpu.min, cpu.max, cpu.read), (0.2, 0.6, 3));
        // Ten waited 0.1 s and thirty 0.3 s.
        assert!((slice.signals["pool.db.wait"].mean - 0.25).abs() < 1e-12);
        assert!(
            !slice.signals.contains_key("response.p99"),
            "no mean of percentiles"
        );
        let rest = Slice::of(&timeline(), &histograms, 3..99).unwrap();
        assert_eq!((rest.seconds, rest.missed), (3, 1));
    }
}
