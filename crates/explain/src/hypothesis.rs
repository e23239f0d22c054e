//! A hypothesis, its tests, its verdict.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::without::Without;

/// What the figures say of a hypothesis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The figures are as they would be if it were so.
    Supported,
    /// The figures are as they would not be.
    NotSupported,
    /// A figure that would decide was not recorded.
    NotMeasured,
}

/// What a figure is measured in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// A share of one.
    Share,
    /// Seconds.
    Seconds,
    /// A number of something, on average.
    Count,
    /// A number per second.
    PerSecond,
    /// A number per request.
    PerRequest,
}

/// On which side of its threshold a figure speaks for the hypothesis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Is {
    /// At it or above.
    AtLeast,
    /// Below it.
    Below,
}

/// One test of a hypothesis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Test {
    /// What was measured, in words.
    pub what: String,
    /// The signals and figures that it rests on.
    pub from: Vec<String>,
    /// The figure; null when it was not recorded.
    pub figure: Option<f64>,
    /// Its unit.
    pub unit: Unit,
    /// On which side of the threshold it speaks for the hypothesis.
    pub is: Is,
    /// The threshold; null for a figure that is told only to be read with the others.
    pub threshold: Option<f64>,
    /// Whether it speaks for the hypothesis; null when not measured, or without a threshold.
    pub speaks_for: Option<bool>,
    /// Why the threshold is where it is.
    pub because: String,
}

impl Test {
    /// A test that speaks for the hypothesis from a threshold on.
    pub(crate) fn at_least(
        what: impl Into<String>,
        figure: Option<f64>,
        unit: Unit,
        (threshold, because): (f64, &str),
    ) -> Self {
        Self {
            what: what.into(),
            from: Vec::new(),
            figure,
            unit,
            is: Is::AtLeast,
            threshold: Some(threshold),
            speaks_for: figure.map(|figure| figure >= threshold),
            because: because.to_owned(),
        }
    }

    /// A test that speaks for the hypothesis below a threshold.
    pub(crate) fn below(
        what: impl Into<String>,
        figure: Option<f64>,
        unit: Unit,
        (threshold, because): (f64, &str),
    ) -> Self {
        Self {
            is: Is::Below,
            speaks_for: figure.map(|figure| figure < threshold),
            ..Self::at_least(what, figure, unit, (threshold, because))
        }
    }

    /// A figure without a threshold, to be read with the others.
    pub(crate) fn figure(what: impl Into<String>, figure: Option<f64>, unit: Unit) -> Self {
        Self {
            threshold: None,
            speaks_for: None,
            ..Self::at_least(what, figure, unit, (0.0, ""))
        }
    }

    /// Names what it rests on.
    pub(crate) fn from(mut self, names: &[&str]) -> Self {
        self.from = names.iter().map(|name| (*name).to_owned()).collect();
        self
    }

    /// Whether it speaks for the hypothesis.
    pub(crate) fn speaks(&self) -> bool {
        self.speaks_for == Some(true)
    }
}

/// A cheap further trial that would decide.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrialIdea {
    /// A stable short name.
    pub id: String,
    /// What to do, and what it would show.
    pub how: String,
    /// What is different in it, where a study could say so: `weir explain --run` does it where it
    /// can.
    pub change: Option<Change>,
}

/// What is different in a trial that would decide.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// The level of a factor.
    Level(LevelChange),
    /// How the server is started.
    Start(StartChange),
    /// Other requests, which only those who know the application can name.
    Requests,
}

/// How a server is started otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StartChange {
    /// With the Serial collector.
    Serial,
    /// Without a collector: the heap is used once.
    Epsilon,
    /// Under the policy `SCHED_BATCH`; under the usual one, where that was the policy.
    Batch,
    /// On CPUs that the load generator does not use.
    OwnCpus,
}

/// A factor that is set to so many times its level.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LevelChange {
    /// The factor: `users`, or a stage.
    pub factor: String,
    /// The new level over the old one; 0: one of it.
    pub times: f64,
}

/// One of the rivals.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Hypothesis {
    /// A stable short name: `network`, `garbage-collection` …
    pub id: String,
    /// The hypothesis as a sentence.
    pub claim: String,
    /// What the figures say.
    pub verdict: Verdict,
    /// The verdict in a sentence, with its figures.
    pub says: String,
    /// Share of the requests' time that it accounts for; null when that cannot be told.
    pub share: Option<f64>,
    /// What the requests would get without it, or with twice the limit; of a wait that is
    /// supported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub without: Option<Without>,
    /// Its tests.
    pub tests: Vec<Test>,
    /// What would decide.
    pub would_decide: Vec<TrialIdea>,
}

impl Hypothesis {
    /// A hypothesis whose tests follow.
    pub(crate) fn new(id: &str, claim: &str) -> Self {
        Self {
            id: id.to_owned(),
            claim: claim.to_owned(),
            verdict: Verdict::NotMeasured,
            says: String::new(),
            share: None,
            without: None,
            tests: Vec::new(),
            would_decide: Vec::new(),
        }
    }

    /// Adds a test.
    pub(crate) fn test(mut self, test: Test) -> Self {
        self.tests.push(test);
        self
    }

    /// Adds a trial that would decide.
    pub(crate) fn idea(mut self, id: &str, how: &str) -> Self {
        self.would_decide.push(TrialIdea {
            id: id.to_owned(),
            how: how.to_owned(),
            change: None,
        });
        self
    }

    /// Adds a trial with one difference that a study could name.
    pub(crate) fn changed(mut self, id: &str, how: &str, change: Change) -> Self {
        self.would_decide.push(TrialIdea {
            id: id.to_owned(),
            how: how.to_owned(),
            change: Some(change),
        });
        self
    }

    /// Adds a trial with a factor at so many times its level.
    pub(crate) fn trial(self, id: &str, how: &str, (factor, times): (&str, f64)) -> Self {
        let factor = factor.to_owned();
        self.changed(id, how, Change::Level(LevelChange { factor, times }))
    }

    /// Adds a trial with the server started otherwise.
    pub(crate) fn start(self, id: &str, how: &str, change: StartChange) -> Self {
        self.changed(id, how, Change::Start(change))
    }

    /// Sets the share of the requests' time.
    pub(crate) fn share(mut self, share: Option<f64>) -> Self {
        self.share = share.map(|share| share.clamp(0.0, 1.0));
        self
    }

    /// Closes with a verdict.
    pub(crate) fn verdict(mut self, verdict: Verdict, says: impl Into<String>) -> Self {
        self.verdict = verdict;
        self.says = says.into();
        self
    }

    /// Whether it is supported.
    pub fn is_supported(&self) -> bool {
        self.verdict == Verdict::Supported
    }
}

/// The verdict where any of several tests is enough: supported when one speaks for it, not measured
/// when none does and one that could was not measured.
pub(crate) fn any_of(answers: &[Option<bool>]) -> Verdict {
    if answers.contains(&Some(true)) {
        Verdict::Supported
    } else if answers.contains(&None) {
        Verdict::NotMeasured
    } else {
        Verdict::NotSupported
    }
}

/// Whether all of several hold, as far as that is known: one that does not hold is enough to say
/// no.
pub(crate) fn all_of(answers: &[Option<bool>]) -> Option<bool> {
    if answers.contains(&Some(false)) {
        Some(false)
    } else if answers.contains(&None) {
        None
    } else {
        Some(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_measured_is_neither_for_nor_against() {
        let (yes, no) = (Some(true), Some(false));
        assert_eq!(any_of(&[no, None, yes]), Verdict::Supported);
        assert_eq!(any_of(&[no, None]), Verdict::NotMeasured);
        assert_eq!(any_of(&[no, no]), Verdict::NotSupported);
        assert_eq!(all_of(&[yes, None, no]), no);
        assert_eq!(all_of(&[yes, None]), None);
        assert_eq!(all_of(&[yes, yes]), yes);
    }

    #[test]
    fn a_figure_at_its_threshold_speaks_for_what_starts_there() {
        let at = |figure| Test::at_least("x", Some(figure), Unit::Share, (0.1, "")).speaks_for;
        assert_eq!((at(0.1), at(0.0999)), (Some(true), Some(false)));
        let below = |figure| Test::below("x", Some(figure), Unit::Share, (0.9, "")).speaks_for;
        assert_eq!((below(0.9), below(0.89)), (Some(false), Some(true)));
        assert_eq!(Test::figure("x", Some(1.0), Unit::Count).speaks_for, None);
    }
}
