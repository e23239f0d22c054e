//! The seam between deciding and measuring.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::load_second::LoadSecond;
use crate::second_view::SecondView;
use crate::treatment::{Levels, Treatment};
use crate::trial::TrialRecord;

/// Runs trials: the real rig, the simulator, or the replay of a stored run.
pub trait TrialRunner {
    /// What is known about the target before any trial.
    fn facts(&self) -> &TargetFacts;

    /// How many virtual users these levels make, all thread groups together.
    fn population(&self, levels: &Levels) -> u32;

    /// Runs one trial to its end. Blocks; the observer hears from it once a second.
    fn run(
        &mut self,
        treatment: &Treatment,
        observer: &mut dyn TrialObserver,
    ) -> Result<TrialRecord, TrialError>;
}

/// The target as a search sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TargetFacts {
    /// Name of the target in the study.
    pub name: String,
    /// What kind of target it is.
    pub kind: String,
    /// Of a server that runs already: what kind of server it was recognised as.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recognised: Option<String>,
    /// CPUs that the target may use.
    pub cpus: u32,
    /// What the figure `cpu` counts.
    pub cpu_scope: CpuScope,
    /// The funnel, outermost stage first, with the limits as found.
    pub stages: Vec<Stage>,
}

impl TargetFacts {
    /// The kind of server, as far as it is known.
    pub fn server_kind(&self) -> &str {
        self.recognised.as_deref().unwrap_or(&self.kind)
    }

    /// The stage of this name.
    pub fn stage(&self, name: &str) -> Option<&Stage> {
        self.stages.iter().find(|stage| stage.name == name)
    }
}

/// What the figure `cpu` counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CpuScope {
    /// CPUs that only the target uses.
    OwnCpus,
    /// CPUs that the load generator uses too: figures hold by ratio only.
    SharedCpus,
    /// It cannot be read.
    Unknown,
}

/// One stage of the funnel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Stage {
    /// `gate` (a gateway in front), `backlog`, `connections`, `request-queue`, `threads`,
    /// `pool.NAME`, `database`.
    pub name: String,
    /// The server's own word for the limit, when it has one.
    pub native: Option<String>,
    /// The limit as found; absent when there is none or it is not known.
    pub limit: Option<f64>,
    /// Whether Weir can set the limit.
    pub settable: bool,
    /// What happens to a request that finds the stage full.
    pub when_full: WhenFull,
}

/// What happens to a request that finds a stage full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WhenFull {
    /// It waits in the stage before.
    Wait,
    /// It is refused.
    Refuse,
    /// It waits while it holds what it has (a thread waits for a connection).
    Block,
}

/// Why a trial gave no record.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    /// The user asked to stop.
    #[error("finish the trial: interrupted")]
    Interrupted,
    /// The levels or the plan cannot be run.
    #[error("run the trial: {0}")]
    Input(String),
    /// The target does not start, has died, or cannot be set.
    #[error("run the trial: {0}")]
    Environment(String),
    /// What was measured could not be stored.
    #[error("store the trial: {0}")]
    Storage(String),
    /// A replay holds no trial of these levels.
    #[error("replay a trial that the stored run does not hold: {0}")]
    NotStored(String),
}

/// Hears from a running trial.
pub trait TrialObserver {
    /// One more second has passed.
    fn second(&mut self, view: &SecondView);

    /// What ended in the second that has passed, for those who want more than a line of it.
    fn load(&mut self, _: &LoadSecond) {}

    /// Something that the user should read now (a trial is repeated, a second was missed).
    fn note(&mut self, text: &str);
}

/// An observer that listens to nothing.
#[derive(Debug, Default)]
pub struct NoObserver;

impl TrialObserver for NoObserver {
    fn second(&mut self, _: &SecondView) {}

    fn note(&mut self, _: &str) {}
}
