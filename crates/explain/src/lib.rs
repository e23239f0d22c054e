//! Why a run was as slow as it was: rival hypotheses, each tested on the figures that were
//! recorded.
//!
//! Performance work goes wrong where the first explanation is the last. [`diagnose`] therefore puts
//! the same questions to every run, in the way of a physician's differential diagnosis: network,
//! garbage collection, scheduler, locks, limits, disk, a neighbour, the CPU itself, its frequency
//! and steal, the load generator. Each hypothesis has tests ([`Test`]) with a figure, a threshold
//! and the reason of the threshold; each gets a [`Verdict`]. What was not recorded is *not
//! measured*, never *not supported*.
//!
//! The yardstick is common to all: the share of the requests' time. By Little's law, of so many
//! requests in flight on average those that wait for a CPU, a connection or the disk are in the
//! same proportion to all as the time spent there is to the response time. What takes less than a
//! tenth cannot make a request more than a tenth faster.
//!
//! [`diagnose_difference`] does the same for two runs that differ: which hypothesis' time grew by
//! as much as the response time did.
//!
//! No I/O, no clock. What it cannot know stands in `docs/concepts/why-is-it-slow.md`.

mod agreement;
mod arrival;
mod decision;
mod diagnosis;
mod difference;
mod evidence;
mod hypotheses;
mod hypothesis;
mod rank;
mod room;
mod threads;
mod threshold;
mod time;
mod without;
mod words;

pub use agreement::{contradicted, disagreement};
pub use decision::{
    ByHand, Decision, Decisive, GarbageFree, NotRun, Planned, Response, Started, Starter,
    TrialFigures,
};
pub use diagnosis::{Diagnosis, diagnose};
pub use difference::{ChangedTime, DifferenceDiagnosis, diagnose_difference};
pub use evidence::{Evidence, MachineCpus};
pub use hypothesis::{
    Change, Hypothesis, Is, LevelChange, StartChange, Test, TrialIdea, Unit, Verdict,
};
pub use time::TimePart;
pub use without::{Ends, Without};
pub use words::figure as figure_text;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The name of the format.
pub const EXPLAIN_SCHEMA: &str = "weir/explain/1";

/// What `weir explain` says: of one run, or of two that differ.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Explanation {
    /// `weir/explain/1`.
    pub schema: String,
    /// Version of Weir.
    pub weir: String,
    /// The one run, or both.
    pub runs: Vec<Diagnosis>,
    /// What makes the second differ from the first; null for one run.
    pub difference: Option<DifferenceDiagnosis>,
    /// What the trials that decide said, when they were run.
    pub decisions: Vec<Decision>,
    /// Those that were asked for and could not be run, each with the reason.
    pub not_run: Vec<NotRun>,
}
