//! What the tune and the explanation say, as far as it is compared.

use serde::Deserialize;
use std::collections::BTreeMap;

use super::servers::Limits;
use crate::error::TaskError;

/// What a tune found.
#[derive(Debug, Deserialize)]
pub(in crate::bench) struct Tuned {
    summary: String,
    answer: Option<Answer>,
    #[serde(default)]
    raised: Vec<Raised>,
    settings: BTreeMap<String, f64>,
}

#[derive(Debug, Deserialize)]
struct Answer {
    value: f64,
    low: f64,
    high: f64,
    binding: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Raised {
    stage: String,
    trials: Vec<u32>,
}

impl Tuned {
    pub(in crate::bench) fn of(json: &str) -> Result<Self, TaskError> {
        parsed("the result of the tune", json)
    }

    /// What limits the server as it was found: a stage, what binds, or `none` that is seen.
    pub(in crate::bench) fn limit(&self) -> String {
        if let Some(raised) = self.raised.first() {
            return raised.stage.clone();
        }
        if let Some((before, _)) = self.summary.split_once("` is the limit") {
            let stage = before.rsplit('`').next();
            return stage.unwrap_or_default().to_owned();
        }
        match &self.answer {
            Some(answer) => {
                let binding = answer.binding.as_deref().unwrap_or("nothing");
                binding
                    .split_whitespace()
                    .next()
                    .unwrap_or_default()
                    .to_owned()
            }
            None if self.summary.contains("No stage that was watched is full") => "none".to_owned(),
            // Not even one user keeps the requirement.
            None if self.summary.starts_with("Never within the range: `") => {
                let requirement = self.summary.split('`').nth(1).unwrap_or_default();
                let figure = requirement.split_whitespace().next();
                figure.unwrap_or_default().to_owned()
            }
            None => "undecided".to_owned(),
        }
    }

    /// The trial that shows the limit as found, where one was raised.
    pub(in crate::bench) fn trial_as_found(&self) -> Option<u32> {
        self.raised.first()?.trials.last().copied()
    }

    /// The answer with its interval, or that there is none.
    pub(in crate::bench) fn answer(&self) -> String {
        self.answer.as_ref().map_or("never".to_owned(), |answer| {
            format!("{} users ({}–{})", answer.value, answer.low, answer.high)
        })
    }

    pub(in crate::bench) fn users(&self) -> Option<u32> {
        self.answer.as_ref().map(|answer| answer.value as u32)
    }

    /// The limits with the settings, where any of them was set.
    pub(in crate::bench) fn settings(&self, made: Limits) -> Option<Limits> {
        let set = |name: &str| self.settings.get(name).map(|limit| *limit as u32);
        let after = Limits {
            threads: set("threads").or(made.threads),
            pool: set("pool.db").or(made.pool),
            connections: set("connections").or(made.connections),
        };
        (after != made).then_some(after)
    }
}

/// What an explanation has first.
#[derive(Debug)]
pub(in crate::bench) struct Explained {
    /// The hypothesis; of a limit with its stage; `none` when nothing is supported.
    pub(in crate::bench) first: String,
}

#[derive(Debug, Deserialize)]
struct Explanation {
    runs: Vec<Diagnosis>,
}

#[derive(Debug, Deserialize)]
struct Diagnosis {
    hypotheses: Vec<Hypothesis>,
    first: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Hypothesis {
    id: String,
    says: String,
}

impl Explained {
    pub(in crate::bench) fn of(json: &str) -> Result<Self, TaskError> {
        let explanation: Explanation = parsed("the explanation", json)?;
        let run = explanation.runs.into_iter().next();
        let first = run.and_then(|run| {
            let first = run.first?;
            run.hypotheses
                .into_iter()
                .find(|hypothesis| hypothesis.id == first)
        });
        let first = first.map_or("none".to_owned(), |hypothesis| {
            let stage = hypothesis.says.split('`').nth(1).unwrap_or_default();
            if hypothesis.id == "limit" {
                format!("limit {stage}")
            } else {
                hypothesis.id
            }
        });
        Ok(Self { first })
    }
}

#[derive(Debug, Deserialize)]
struct RunResult {
    trial: Trial,
}

#[derive(Debug, Deserialize)]
struct Trial {
    throughput_per_s: f64,
}

/// Requests a second of a load.
pub(in crate::bench) fn throughput(json: &str) -> Result<f64, TaskError> {
    let result: RunResult = parsed("the result of a load", json)?;
    Ok(result.trial.throughput_per_s)
}

fn parsed<T: serde::de::DeserializeOwned>(what: &str, json: &str) -> Result<T, TaskError> {
    serde_json::from_str(json).map_err(|error| TaskError::Form {
        what: what.to_owned(),
        why: error.to_string(),
    })
}
