//! What a watch without load has seen: `watch.json`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::timeline::Reading;

/// The name of the format.
pub const WATCH_SCHEMA: &str = "weir/watch/1";

/// The result of `weir watch`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WatchResult {
    /// `weir/watch/1`.
    pub schema: String,
    /// Version of Weir.
    pub weir: String,
    /// Name of the run directory.
    pub run: String,
    /// What was watched, in words.
    pub target: String,
    /// Seconds from the start to the end, missed ones included.
    pub seconds: u64,
    /// Seconds that the watch missed.
    pub missed: u64,
    /// Whether it was to go on when this was written.
    pub running: bool,
    /// Every signal that was read, by name.
    pub signals: BTreeMap<String, SignalSummary>,
    /// Signals that were asked for and could not be read, each with the reason and what to do
    /// about it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub not_read: BTreeMap<String, String>,
}

/// A signal over a whole watch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SignalSummary {
    /// Seconds in which it was read.
    pub read: u64,
    /// Mean over these.
    pub mean: f64,
    /// The lowest second.
    pub min: f64,
    /// The highest second.
    pub max: f64,
    /// Where it came from.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub origin: String,
}

impl WatchResult {
    /// Takes one second; `None` when it was missed.
    pub fn add(&mut self, reading: Option<&Reading>) {
        self.seconds += 1;
        let Some(reading) = reading else {
            self.missed += 1;
            return;
        };
        for (name, &value) in reading {
            if let Some(summary) = self.signals.get_mut(name) {
                summary.add(value);
                continue;
            }
            let first = SignalSummary {
                read: 1,
                mean: value,
                min: value,
                max: value,
                origin: String::new(),
            };
            self.signals.insert(name.clone(), first);
        }
    }
}

impl SignalSummary {
    fn add(&mut self, value: f64) {
        self.read += 1;
        self.mean += (value - self.mean) / self.read as f64;
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_is_summed_up_over_the_seconds_in_which_it_was_read() {
        let mut watch = WatchResult {
            schema: WATCH_SCHEMA.to_owned(),
            weir: "0".to_owned(),
            run: "watch".to_owned(),
            target: "process 1".to_owned(),
            seconds: 0,
            missed: 0,
            running: true,
            signals: BTreeMap::new(),
            not_read: BTreeMap::new(),
        };
        let cpu = |value| BTreeMap::from([("cpu".to_owned(), value)]);
        for second in [Some(cpu(0.5)), None, Some(BTreeMap::new()), Some(cpu(0.25))] {
            watch.add(second.as_ref());
        }
        assert_eq!((watch.seconds, watch.missed), (4, 1));
        let expected = SignalSummary {
            read: 2,
            mean: 0.375,
            min: 0.25,
            max: 0.5,
            origin: String::new(),
        };
        assert_eq!(watch.signals["cpu"], expected);
    }
}
