//! The trial that decides: which one a hypothesis asks for, and what its outcome says.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::diagnosis::Diagnosis;
use crate::hypothesis::{Hypothesis, LevelChange, TrialIdea};
use crate::threshold::MATTERS;
use crate::words::{number, percent, time};

/// Part of the time that a hypothesis accounts for which has to go for it to be the cause. Half: what held requests up
/// there may hold some of them up in the next place.
const GONE: f64 = 0.5;

/// A trial that can be run, and what is expected of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Decisive<'d> {
    /// What it decides on.
    pub hypothesis: &'d Hypothesis,
    /// What is done.
    pub idea: &'d TrialIdea,
    /// The level that is changed.
    pub change: &'d LevelChange,
}

/// The response of a case: means over its trials.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Response {
    /// Requests answered per second.
    pub throughput_per_s: f64,
    /// Mean time of a request, in milliseconds.
    pub mean_ms: f64,
}

/// What a decisive trial said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Decision {
    /// The hypothesis.
    pub hypothesis: String,
    /// The trial's short name.
    pub idea: String,
    /// The factor that was changed.
    pub factor: String,
    /// Its level as it was, and changed.
    pub levels: [f64; 2],
    /// The responses as it was, and changed.
    pub responses: [Response; 2],
    /// Whether the hypothesis held.
    pub holds: bool,
    /// The same in a sentence.
    pub says: String,
    /// Where the trials lie.
    pub run: String,
}

impl<'d> Decisive<'d> {
    /// The trial for the hypothesis that explains most; `None` when it names none that a study can run.
    pub fn of(diagnosis: &'d Diagnosis) -> Option<Self> {
        let hypothesis = diagnosis.hypothesis(diagnosis.first.as_deref()?)?;
        let mut ideas = hypothesis.would_decide.iter();
        ideas.find_map(|idea| {
            Some(Self {
                hypothesis,
                idea,
                change: idea.change.as_ref()?,
            })
        })
    }

    /// The level to set, from the one that was.
    pub fn level(&self, was: f64) -> f64 {
        (was * self.change.times).round().max(1.0)
    }

    /// What the outcome says.
    pub fn decide(&self, levels: [f64; 2], responses: [Response; 2], run: &str) -> Decision {
        let [was, changed] = responses;
        let (holds, why) = if self.idea.id == "fewer-users" {
            let kept = changed.throughput_per_s / was.throughput_per_s;
            (
                kept >= 1.0 - MATTERS,
                format!("{} of the throughput were kept", percent(kept)),
            )
        } else {
            let fell_ms = was.mean_ms - changed.mean_ms;
            let expected_ms = self.hypothesis.share.unwrap_or(MATTERS) * was.mean_ms;
            let why = format!(
                "requests took {} instead of {}; {} of that were to go",
                time(changed.mean_ms / 1e3),
                time(was.mean_ms / 1e3),
                time(expected_ms / 1e3)
            );
            (fell_ms >= GONE * expected_ms, why)
        };
        let word = if holds { "holds" } else { "does not hold" };
        Decision {
            hypothesis: self.hypothesis.id.clone(),
            idea: self.idea.id.clone(),
            factor: self.change.factor.clone(),
            levels,
            responses,
            holds,
            says: format!(
                "`{}` {word}: with {} {} instead of {}, {why}.",
                self.hypothesis.id,
                self.change.factor,
                number(levels[1]),
                number(levels[0])
            ),
            run: run.to_owned(),
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;
    use crate::diagnosis::diagnose;
    use crate::evidence::made::evidence;

    fn response(throughput_per_s: f64, mean_ms: f64) -> Response {
        Response {
            throughput_per_s,
            mean_ms,
        }
    }

    #[test]
    fn a_limit_is_doubled_and_holds_when_half_of_the_wait_goes() {
        let small = [
            ("pool.db.waiting", 6.0),
            ("pool.db.occupancy", 2.0),
            ("pool.db.limit", 2.0),
        ];
        let found = diagnose(&evidence(&small));
        let decisive = Decisive::of(&found).unwrap();
        assert_eq!(
            (decisive.idea.id.as_str(), decisive.change.factor.as_str()),
            ("twice", "pool.db")
        );
        assert!((decisive.level(2.0) - 4.0).abs() < 1e-12);
        let with = |mean_ms| {
            decisive
                .decide(
                    [2.0, 4.0],
                    [response(100.0, 100.0), response(150.0, mean_ms)],
                    "r",
                )
                .holds
        };
        assert!(with(65.0), "35 ms of the 60 went");
        assert!(!with(90.0));
    }

    #[test]
    fn a_cpu_that_is_full_keeps_its_throughput_with_half_the_users() {
        let full = [
            ("cpu", 0.98),
            ("target.cpu.user", 1.9),
            ("target.cpu.system", 0.0),
            ("target.run-queue-wait", 7.0),
        ];
        let found = diagnose(&evidence(&full));
        let decisive = Decisive::of(&found).unwrap();
        assert_eq!(decisive.idea.id, "fewer-users");
        let with = |rate| {
            decisive
                .decide(
                    [10.0, 5.0],
                    [response(100.0, 100.0), response(rate, 50.0)],
                    "r",
                )
                .holds
        };
        assert!(with(97.0) && !with(60.0));
    }

    #[test]
    fn one_user_is_one_and_nothing_supported_asks_for_nothing() {
        let held = [
            ("target.cpu.user", 1.0),
            ("target.cpu.system", 0.0),
            ("target.run-queue-wait", 0.1),
            ("locks.contended", 90.0),
        ];
        let found = diagnose(&evidence(&held));
        let decisive = Decisive::of(&found).unwrap();
        assert!((decisive.level(16.0) - 1.0).abs() < 1e-12);
        assert_eq!(Decisive::of(&diagnose(&evidence(&[]))), None);
    }
}
