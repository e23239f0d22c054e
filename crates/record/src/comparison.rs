//! The comparison of two runs: what `weir compare --json` writes.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_stats::{Estimate, Verdict};

use crate::result::{RequirementCheck, Status};
use crate::treatment::Levels;

/// The name of the format.
pub const COMPARE_SCHEMA: &str = "weir/compare/1";

/// The result of `weir compare`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunComparison {
    /// `weir/compare/1`.
    pub schema: String,
    /// Version of Weir.
    pub weir: String,
    /// Exit code of the program.
    pub exit_code: u8,
    /// How it ended: `answered` when they differ, `same`, `undecided`, `not-met` when a
    /// requirement is not met.
    pub status: Status,
    /// What all figures together say.
    pub outcome: Verdict,
    /// The answer in one sentence.
    pub summary: String,
    /// The run that is compared with.
    pub a: ComparedSide,
    /// The run that is compared.
    pub b: ComparedSide,
    /// The smallest relative difference that matters.
    pub margin: f64,
    /// The smallest difference between shares of errors that matters, as a share of one.
    pub errors_margin: f64,
    /// What the intervals of the changes rest on.
    pub basis: Basis,
    /// What differs in what was measured, so that a change may have another cause.
    pub differs: Vec<String>,
    /// What is to be known of the claims.
    pub notes: Vec<String>,
    /// The trials that were held against each other.
    pub matched: Vec<MatchedTrials>,
    /// Throughput, response times, errors, CPU; each change with 95 % confidence of its own.
    pub figures: Vec<FigureComparison>,
    /// The figures for each label that both have; the intervals hold together.
    pub labels: BTreeMap<String, Vec<FigureComparison>>,
    /// Signals that both have; the intervals hold together.
    pub signals: Vec<FigureComparison>,
    /// What was required of B, and what was found.
    pub requirements: Vec<RequirementCheck>,
}

/// One of the two runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedSide {
    /// The run or file as it was named.
    pub name: String,
    /// Its valid trials.
    pub trials: Vec<u32>,
    /// Those that cannot be used.
    pub invalid: Vec<u32>,
    /// What the trials themselves say against their figures.
    pub notes: Vec<String>,
}

/// What the intervals of the changes rest on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// The seconds and samples within one trial each: nothing is known of the spread between
    /// trials.
    WithinTrial,
    /// Trials of one treatment that were repeated on both sides.
    Replicates,
    /// Pairs of trials of the same treatments.
    MatchedTrials,
}

/// Trials of one treatment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MatchedTrials {
    /// The treatment in words.
    pub name: String,
    /// Its levels in A.
    pub levels: Levels,
    /// The trials of A.
    pub a: Vec<u32>,
    /// The trials of B.
    pub b: Vec<u32>,
}

/// One figure in both runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FigureComparison {
    /// The figure by its name in a trial's record: `throughput_per_s`, `response_time_ms.p99` …
    pub figure: String,
    /// In A, with its interval where it has one.
    pub a: Option<f64>,
    /// The interval in A.
    pub a_interval: Option<Estimate>,
    /// In B.
    pub b: Option<f64>,
    /// The interval in B.
    pub b_interval: Option<Estimate>,
    /// From A to B; null where the trials cannot bound it.
    pub change: Option<Change>,
    /// What follows for a difference that matters.
    pub outcome: Verdict,
    /// Why nothing can be told, where that is so.
    pub why: Option<String>,
}

/// From A to B, with the interval that decides.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    /// What it is counted in.
    pub scale: Scale,
    /// The change: −0.03 is 3 % less.
    pub value: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end of its interval.
    pub high: f64,
    /// Confidence of the interval.
    pub confidence: f64,
}

/// What a change is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// A share of A's value.
    Relative,
    /// A difference of shares: 0.01 is one percentage point.
    Points,
}
