//! What a trial is asked to do.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The value of one factor in one trial.
///
/// A number for counts and limits, text for anything else (`as-published`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Level {
    /// A count, a limit, a length.
    Number(f64),
    /// Anything else.
    Text(String),
}

impl Level {
    /// The number, when it is one.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Text(_) => None,
        }
    }
}

impl From<f64> for Level {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// The factors of a trial and their levels: `users`, the stages' limits, `param.NAME`.
pub type Levels = BTreeMap<String, Level>;

/// Factors with this prefix say how the server's process is started.
pub const START: &str = "start.";

/// The levels that say how the server's process is started.
pub fn start_levels(levels: &Levels) -> impl Iterator<Item = (&String, &Level)> {
    levels.iter().filter(|(name, _)| name.starts_with(START))
}

/// Why a trial is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Equal levels again and again, to see spread and drift.
    Reference,
    /// A step of a search.
    Search,
    /// The proof that a setting holds.
    Check,
    /// The load of the proof, with the limits as found.
    Control,
    /// A case of a designed experiment.
    Case,
}

/// How long a trial measures, after its warm-up.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Window {
    /// Seconds that are never counted, at the start.
    pub warm_up_min: Duration,
    /// The shortest measured window.
    pub min: Duration,
    /// The longest measured window; equal to `min` for a fixed one.
    pub max: Duration,
    /// Instead of a length: the whole load of so many requests, from its start to the last answer.
    pub requests: Option<u64>,
    /// The window ends early once throughput and CPU are known to this relative half-width.
    pub precision: f64,
}

impl Window {
    /// A window of exactly this length after this warm-up.
    pub fn fixed(warm_up: Duration, length: Duration) -> Self {
        Self {
            warm_up_min: warm_up,
            min: length,
            max: length,
            requests: None,
            precision: 0.0,
        }
    }

    /// This window after a warm-up of at least this length.
    #[must_use]
    pub fn warmed_up_for(self, warm_up: Duration) -> Self {
        Self {
            warm_up_min: self.warm_up_min.max(warm_up),
            ..self
        }
    }

    /// A load of so many requests, all of which counts.
    pub fn of_requests(requests: u64) -> Self {
        Self {
            requests: Some(requests),
            ..Self::fixed(Duration::ZERO, Duration::ZERO)
        }
    }
}

/// One trial to run.
#[derive(Debug, Clone, PartialEq)]
pub struct Treatment {
    /// Number of the trial in its run, from 1.
    pub id: u32,
    /// Why it is run.
    pub role: Role,
    /// The case of the design that it belongs to.
    pub case: Option<String>,
    /// The block of a sweep, from 1.
    pub block: Option<u32>,
    /// The level of every factor that is set; factors not named stay as found.
    pub levels: Levels,
    /// How long to measure.
    pub window: Window,
    /// Seed of the load's randomness.
    pub seed: u64,
}

impl Treatment {
    /// Whether it is a load of which nothing is used, before the cases of an environment.
    pub fn is_warm_up(&self) -> bool {
        self.role == Role::Case && self.case.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_longer_warm_up_changes_nothing_else_and_a_shorter_one_nothing() {
        let s = Duration::from_secs;
        let window = Window::fixed(s(10), s(20));
        assert_eq!(window.warmed_up_for(s(90)), Window::fixed(s(90), s(20)));
        assert_eq!(window.warmed_up_for(s(5)), window);
    }
}
