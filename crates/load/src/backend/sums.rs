//! What a Backend Listener adds up of samples, whatever words it is sent in: as JMeter 5.6.3 does,
//! measured.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use fancy_regex::Regex;
use weir_plan::Backend as Element;
use weir_record::{LABELS_MAX, OTHER_LABELS};

use super::{Heard, argument};

/// How many values percentiles and means are taken of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window {
    values: usize,
    /// Each interval begins without any.
    is_timed: bool,
}

impl Window {
    /// JMeter's defaults are the last 100 values, and 5,000 for windows of one interval.
    pub(super) fn of(is_timed: bool, fixed: Option<u64>, timed: Option<u64>) -> Self {
        let values = if is_timed {
            timed.unwrap_or(5_000)
        } else {
            fixed.unwrap_or(100)
        };
        Self {
            values: usize::try_from(values).unwrap_or(usize::MAX).max(1),
            is_timed,
        }
    }
}

/// The last values.
#[derive(Debug, Default)]
pub(super) struct Values(VecDeque<f64>);

impl Values {
    pub(super) fn add(&mut self, value: f64, window: Window) {
        if self.0.len() == window.values {
            self.0.pop_front();
        }
        self.0.push_back(value);
    }

    /// Mean, least and greatest; nothing if there is none.
    pub(super) fn summary(&self) -> Option<[f64; 3]> {
        let values = || self.0.iter().copied();
        let mean = values().sum::<f64>() / self.0.len() as f64;
        Some([mean, values().reduce(f64::min)?, values().reduce(f64::max)?])
    }

    pub(super) fn ordered(&self) -> Vec<f64> {
        let mut ordered: Vec<f64> = self.0.iter().copied().collect();
        ordered.sort_by(f64::total_cmp);
        ordered
    }
}

/// A percentile of ordered values as Apache Commons Math estimates it: at `p (n + 1)`, between two
/// of them along a line.
pub(super) fn percentile(ordered: &[f64], percent: f64) -> Option<f64> {
    let place = percent / 100.0 * (ordered.len() as f64 + 1.0);
    let (first, last) = (ordered.first()?, ordered.last()?);
    if place < 1.0 {
        return Some(*first);
    }
    let below = place.floor();
    let lower = ordered.get(below as usize - 1).unwrap_or(last);
    let upper = ordered.get(below as usize);
    Some(upper.map_or(*last, |upper| lower + (place - below) * (upper - lower)))
}

/// What was heard of the samples of one name, or of all.
#[derive(Debug, Default)]
pub(super) struct Metric {
    pub(super) succeeded: u64,
    pub(super) failed: u64,
    pub(super) hits: u64,
    pub(super) sent_bytes: u64,
    pub(super) received_bytes: u64,
    /// By code and message.
    pub(super) errors: BTreeMap<(String, String), u64>,
    pub(super) of_all: Values,
    pub(super) of_succeeded: Values,
    pub(super) of_failed: Values,
}

impl Metric {
    fn add(&mut self, heard: &Heard, is_sum: bool, window: Window) {
        let elapsed = heard.elapsed_ms as f64;
        self.of_all.add(elapsed, window);
        if heard.success {
            self.succeeded += 1;
            self.of_succeeded.add(elapsed, window);
        } else {
            self.failed += 1;
            self.of_failed.add(elapsed, window);
            *self.errors.entry(error_of(heard)).or_default() += 1;
        }
        if is_sum && heard.is_repeated {
            return;
        }
        self.hits += heard.hits;
        self.sent_bytes += heard.sent_bytes;
        self.received_bytes += heard.received_bytes;
    }

    /// Begins the next interval.
    fn reset(&mut self, window: Window) {
        (self.succeeded, self.failed, self.hits) = (0, 0, 0);
        (self.sent_bytes, self.received_bytes) = (0, 0);
        self.errors.clear();
        if window.is_timed {
            for values in [
                &mut self.of_all,
                &mut self.of_succeeded,
                &mut self.of_failed,
            ] {
                values.0.clear();
            }
        }
    }
}

/// The code and message that an error is counted under.
fn error_of(heard: &Heard) -> (String, String) {
    if !heard.failure_message.is_empty() {
        return (
            "Assertion failed".to_owned(),
            heard.failure_message.to_string(),
        );
    }
    let or = |text: &str, other: &str| if text.is_empty() { other } else { text }.to_owned();
    (or(&heard.code, "0"), or(&heard.message, "None"))
}

/// The names of samples that have figures of their own.
#[derive(Debug)]
pub(super) enum Names {
    None,
    Found(Box<Regex>),
    Listed(BTreeSet<String>),
}

impl Names {
    /// Those in which a pattern is found; the error says what is wrong with the argument.
    pub(super) fn found(argument: &str, pattern: &str) -> Result<Self, String> {
        let names = Regex::new(pattern)
            .map_err(|error| format!("{argument} \"{pattern}\" cannot be read: {error}"))?;
        Ok(Self::Found(Box::new(names)))
    }

    fn has(&self, name: &str) -> bool {
        match self {
            Self::None => false,
            Self::Found(pattern) => pattern.is_match(name).unwrap_or(false),
            Self::Listed(names) => names.contains(name),
        }
    }
}

/// The percentiles of an element, as they are written; the error says what is wrong.
pub(super) fn percentiles(element: &Element<String>) -> Result<Vec<(String, f64)>, String> {
    let listed = argument(element, "percentiles").unwrap_or_default();
    let texts = listed.split(';').map(str::trim);
    let texts = texts.filter(|text| !text.is_empty());
    let percentiles = texts.map(|text| {
        let number = text.parse().ok();
        let percent = number.filter(|percent| (0.0..=100.0).contains(percent));
        let percent = percent.ok_or_else(|| format!("percentiles: \"{text}\" is none"))?;
        Ok((text.to_owned(), percent))
    });
    percentiles.collect()
}

/// All that is added up for one Backend Listener.
#[derive(Debug)]
pub(super) struct Sums {
    names: Names,
    window: Window,
    pub(super) all: Metric,
    pub(super) by_name: BTreeMap<String, Metric>,
    users: Values,
    pub(super) started: u32,
    pub(super) ended: u32,
}

impl Sums {
    /// Nothing yet.
    pub(super) fn new(names: Names, window: Window) -> Self {
        Self {
            names,
            window,
            all: Metric::default(),
            by_name: BTreeMap::new(),
            users: Values::default(),
            started: 0,
            ended: 0,
        }
    }

    /// Adds a sample.
    pub(super) fn add(&mut self, heard: &Heard) {
        self.users.add(f64::from(heard.active), self.window);
        self.started = self.started.max(heard.users.started);
        self.ended = self.ended.max(heard.users.finished());
        self.all.add(heard, true, self.window);
        if !self.names.has(&heard.label) {
            return;
        }
        if let Some(metric) = self.by_name.get_mut(&*heard.label) {
            metric.add(heard, false, self.window);
            return;
        }
        let is_full = self.by_name.len() >= LABELS_MAX;
        let name = if is_full { OTHER_LABELS } else { &heard.label };
        let metric = self.by_name.entry(name.to_owned()).or_default();
        metric.add(heard, false, self.window);
    }

    /// All users have ended.
    pub(super) fn end(&mut self) {
        self.ended = self.started;
    }

    /// Least, greatest and mean of the users that ran.
    pub(super) fn users(&self) -> [u64; 3] {
        let [mean, least, most] = self.users.summary().unwrap_or_default();
        [least as u64, most as u64, mean as u64]
    }

    /// Begins the next interval.
    pub(super) fn reset(&mut self) {
        self.all.reset(self.window);
        for metric in self.by_name.values_mut() {
            metric.reset(self.window);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(of: &[f64], window: Window) -> Values {
        let mut values = Values::default();
        for value in of {
            values.add(*value, window);
        }
        values
    }

    /// JMeter wrote these of the same values.
    #[test]
    fn percentiles_are_those_of_commons_math() {
        let window = Window::of(false, None, None);
        let of = [
            1.0, 15.0, 43.0, 43.0, 43.0, 45.0, 45.0, 46.0, 47.0, 47.0, 84.0, 87.0, 1201.0, 1686.0,
        ];
        let all = values(&of, window);
        assert_eq!(percentile(&all.ordered(), 90.0), Some(1443.5));
        assert_eq!(percentile(&all.ordered(), 95.0), Some(1686.0));
        assert_eq!(percentile(&all.ordered(), 1.0), Some(1.0));
        assert_eq!(percentile(&[7.0], 50.0), Some(7.0));
        assert_eq!(percentile(&[], 50.0), None);
    }

    #[test]
    fn only_the_last_values_count() {
        let window = Window::of(false, Some(2), None);
        let summary = values(&[100.0, 1.0, 2.5], window).summary();
        assert_eq!(summary, Some([1.75, 1.0, 2.5]));
    }
}
