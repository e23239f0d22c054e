//! The result of a run: what `result.json` holds.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_stats::{Estimate, Verdict};

use crate::answer_cost::AnswerCost;
use crate::before_and_after::BeforeAndAfter;
use crate::raised_limit::RaisedLimit;
use crate::runner::TargetFacts;
use crate::treatment::{Level, Levels};
use crate::trial::TrialRecord;

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// There is an answer, and all that was asked holds.
    Answered,
    /// There is an answer, but a requirement or the check is not met.
    NotMet,
    /// The goal cannot be reached, whatever the level.
    Never,
    /// A comparison found no difference that matters.
    Same,
    /// The trials do not decide it.
    Undecided,
    /// What was measured cannot be used.
    Invalid,
    /// The user stopped it.
    Interrupted,
}

/// Schema of a result that a study wrote.
pub const RESULT_SCHEMA: &str = "weir/result/1";
/// Schema of a result that a single load test wrote.
pub const RUN_SCHEMA: &str = "weir/run/1";

/// The result of `weir tune` and `weir sweep`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StudyResult {
    /// `weir/result/1`.
    pub schema: String,
    /// Version of Weir.
    pub weir: String,
    /// Name of the run directory.
    pub run: String,
    /// Exit code of the program.
    pub exit_code: u8,
    /// How the run ended.
    pub status: Status,
    /// The study's question.
    pub question: String,
    /// The target as it was found.
    pub target: TargetFacts,
    /// The answer in one sentence.
    pub summary: String,
    /// The answer; null for a sweep and when there is none.
    pub answer: Option<Answer>,
    /// Limits that kept the goal from being reached as the server was found, in the order in which
    /// they were raised: the answer is that of the server with them raised.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub raised: Vec<RaisedLimit>,
    /// The setting of every stage that was derived.
    pub settings: BTreeMap<String, f64>,
    /// Where each setting comes from.
    pub settings_detail: Vec<SettingDetail>,
    /// The settings as changes of the server's own configuration files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub configuration: Vec<ConfigurationDiff>,
    /// The check that the settings hold under more users than the answer.
    pub held: Option<Held>,
    /// The table of a sweep, or of the levels among which the best was looked for.
    pub table: Option<SweepTable>,
    /// The levels that contended for the best; null where the study did not ask for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comparison: Option<LevelComparison>,
    /// Several settings that were searched together; null where the study did not ask for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub joint: Option<JointSettings>,
    /// What two levels that ran as pairs differ in; null where the study did not ask for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<Difference>,
    /// What else the run showed.
    pub findings: Vec<Finding>,
    /// Every trial, in the order in which they ran.
    pub trials: Vec<TrialRecord>,
    /// What finding out took.
    #[serde(default)]
    pub spent: Spent,
    /// What of the server could not be put back, and why; absent when everything is as it was.
    /// Then `exit_code` is 3, whatever the answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_put_back: Vec<String>,
}

/// What a study took.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Spent {
    /// Seconds under load: warm-ups and windows of all trials. A trial that was thrown away and
    /// run again counts as long as the one that took its place.
    pub load_s: f64,
    /// Seconds from the start of the run to its result, with starting and setting the server; of a
    /// run that was continued, since then. 0 where nothing was run.
    pub wall_s: f64,
    /// Number of trials, those that were thrown away and run again among them.
    pub trials: u32,
}

impl Spent {
    /// What these trials took, in so much time altogether.
    pub fn on(trials: &[TrialRecord], wall: Duration) -> Self {
        let attempts = |trial: &TrialRecord| trial.repeats + 1;
        Self {
            load_s: trials
                .iter()
                .map(|trial| f64::from(attempts(trial)) * (trial.warm_up_s + trial.window_s))
                .sum(),
            wall_s: wall.as_secs_f64(),
            trials: trials.iter().map(attempts).sum(),
        }
    }
}

/// What the settings change in one of the server's configuration files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConfigurationDiff {
    /// The file.
    pub file: String,
    /// A unified diff, as `patch` takes it.
    pub diff: String,
}

/// The result of `weir run`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunResult {
    /// `weir/run/1`.
    pub schema: String,
    /// Version of Weir.
    pub weir: String,
    /// Name of the run directory, when one was written.
    pub run: Option<String>,
    /// Exit code of the program.
    pub exit_code: u8,
    /// How the run ended.
    pub status: Status,
    /// What was required of it and what was found; a figure that was not read is not among them.
    #[serde(default)]
    pub requirements: Vec<RequirementCheck>,
    /// The one trial.
    pub trial: TrialRecord,
}

/// The level that was asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The factor that was varied.
    pub factor: String,
    /// The answer.
    pub value: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end of its interval.
    pub high: f64,
    /// Confidence of the interval.
    pub confidence: f64,
    /// Virtual users of all thread groups together at the answer.
    pub population: u32,
    /// The stage or the range that stopped the search before the goal did; null otherwise.
    pub limited_by: Option<String>,
    /// The limiting requirement at the answer.
    pub binding: Option<String>,
    /// Figures at the answer: `cpu`, `throughput_per_s` …, fitted over the trials.
    pub at_value: BTreeMap<String, f64>,
    /// Whether these figures are read off the trials beside the answer instead, on the straight
    /// line between them: no curve fits those trials.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub interpolated: bool,
    /// These figures at the next level.
    pub at_next: BTreeMap<String, f64>,
    /// The fitted curves, for drawing and for reading the answer off: figure name → points.
    pub curves: BTreeMap<String, Vec<(f64, f64)>>,
}

/// Levels of one factor that were compared, on a logarithmic scale: within blocks for the best, by
/// all trials for the smallest that is as good.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LevelComparison {
    /// The factor that was varied.
    pub factor: String,
    /// The figure by which levels were compared.
    pub figure: String,
    /// The difference that matters, as a share.
    pub margin: f64,
    /// Probability that what is said of the levels is true.
    pub confidence: f64,
    /// How many complete blocks there are, trials of each level; for the smallest that is as good,
    /// trials of the level in question.
    pub blocks: u32,
    /// Spread between trials of one level within a block, as a share.
    pub noise: f64,
    /// The levels, ascending.
    pub levels: Vec<LevelStanding>,
}

/// A level against the best of those that were compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LevelStanding {
    /// The level.
    pub level: f64,
    /// Geometric mean of the figure over the level's trials.
    pub value: f64,
    /// What it loses against the best, as a share; an interval that begins at 0 says that it may
    /// be the best.
    pub loss: Estimate,
    /// What follows for the difference that matters.
    pub verdict: LevelVerdict,
}

/// What a level is against the best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LevelVerdict {
    /// Not worse than the best by the difference that matters.
    AsGood,
    /// Worse by more than that.
    Worse,
    /// The trials do not tell.
    Open,
}

/// Several settings that were searched together, and the levels that contended, compared within
/// blocks on a logarithmic scale.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JointSettings {
    /// The figure by which levels were compared.
    pub figure: String,
    /// The difference that matters, as a share.
    pub margin: f64,
    /// Probability that all losses lie in their intervals.
    pub confidence: f64,
    /// How many complete blocks there are: trials of each contender.
    pub blocks: u32,
    /// Spread between trials of one contender within a block, as a share; null without two blocks.
    pub noise: Option<f64>,
    /// Every setting that was varied, in the order in which they were searched.
    pub settings: Vec<JointSetting>,
    /// The levels that contended together.
    pub contenders: Vec<JointStanding>,
}

/// One of several settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JointSetting {
    /// The setting.
    pub stage: String,
    /// The limit as found; null when there is none or it is not known.
    pub found: Option<f64>,
    /// What it should be; null where nothing was decided.
    pub value: Option<f64>,
    /// Lower end of the interval of the value, the other settings being as they should; null where
    /// it was not searched.
    pub low: Option<f64>,
    /// Upper end of the interval.
    pub high: Option<f64>,
    /// What the value rests on.
    pub evidence: SettingEvidence,
    /// Why, in words with figures.
    pub because: String,
    /// The trials that speak for it.
    pub trials: Vec<u32>,
}

/// What the value of a setting rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SettingEvidence {
    /// Trials with other levels.
    Searched,
    /// A model of what the trials show a request to need.
    Derived,
    /// It stays as found: it cannot act as a limit at this load.
    CannotBind,
    /// It stays as found: Weir cannot set it.
    NotSettable,
}

/// A combination of levels against the best of those that were compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JointStanding {
    /// The levels of the settings that were searched.
    pub levels: Levels,
    /// Geometric mean of the figure over the blocks.
    pub value: f64,
    /// What it loses against the best, as a share; an interval that begins at 0 says that it may
    /// be the best.
    pub loss: Estimate,
    /// What follows for the difference that matters.
    pub verdict: LevelVerdict,
}

/// Two levels of one factor that ran as pairs: whether they make a difference that matters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// The factor that was varied.
    pub factor: String,
    /// Its two levels; `as-found` where it was left alone.
    pub levels: [Level; 2],
    /// Complete pairs of valid trials.
    pub pairs: u32,
    /// Spread between trials of one level, as a share of the figure that was asked for.
    pub noise: f64,
    /// What follows from all figures together.
    pub verdict: Verdict,
    /// The figures that were compared; the first is the one that was asked for.
    pub figures: Vec<FigureDifference>,
    /// The trial in which the setting acted as a limit; null where none did.
    pub binds: Option<Binding>,
}

/// One figure of two levels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FigureDifference {
    /// The figure.
    pub figure: String,
    /// Its mean at each level, in the figure's own unit.
    pub means: [f64; 2],
    /// The second level over the first, as a share of the first: 0.02 is 2 % more. Of a share
    /// (errors), the difference of the two.
    pub change: Estimate,
    /// The smallest change that matters, to either side.
    pub margin: f64,
    /// What follows for this figure.
    pub verdict: Verdict,
}

/// A trial in which a setting acted as a limit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Binding {
    /// The trial.
    pub trial: u32,
    /// Its levels.
    pub levels: Levels,
    /// How that was seen, with the figure.
    pub says: String,
}

/// Where one setting comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SettingDetail {
    /// The stage.
    pub stage: String,
    /// The server's own word for it.
    pub native: Option<String>,
    /// The limit as found.
    pub from: Option<f64>,
    /// The limit to set.
    pub to: f64,
    /// Why.
    pub because: String,
    /// The trials that speak for it.
    pub trials: Vec<u32>,
}

/// The check that the settings hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Held {
    /// Virtual users in the check.
    pub population: u32,
    /// Whether all of it holds.
    pub passed: bool,
    /// The trials of the check.
    pub trials: Vec<u32>,
    /// What was asked and what was found.
    pub requirements: Vec<RequirementCheck>,
    /// Time-averaged waiting requests by stage.
    pub waiting: BTreeMap<String, f64>,
    /// Mean wait by stage, in milliseconds.
    pub wait_ms: BTreeMap<String, f64>,
    /// What the limits cost at the answer itself, in words with figures; null when not measured.
    pub cost_at_answer: Option<String>,
    /// Its figures as numbers; absent when not measured, and in runs of versions that told
    /// them in words only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<AnswerCost>,
    /// That load with the limits as found beside it; absent when not measured, or nothing was to
    /// be set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before_and_after: Option<BeforeAndAfter>,
}

/// One thing that was asked of the check.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RequirementCheck {
    /// The requirement, as text.
    pub says: String,
    /// What was measured, in the requirement's base unit.
    pub value: f64,
    /// The unit of the value: `%` is kept as a share of one, `s`, `/s`, `B`; empty for plain
    /// numbers, and in runs of versions that did not say it.
    #[serde(default)]
    pub unit: String,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end of its interval.
    pub high: f64,
    /// Whether it is met.
    pub met: bool,
    /// What the value was compared with, in its unit; absent in runs of versions that said it in
    /// words only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bounds: Vec<f64>,
}

impl RequirementCheck {
    /// Whether it is missed by less than its interval tells: nobody knows whether it holds.
    pub fn is_open(&self) -> bool {
        let interval = self.low..=self.high;
        let reaches = self.bounds.iter().any(|bound| interval.contains(bound));
        !self.met && self.low < self.high && reaches
    }
}

impl Held {
    /// Whether all that is missed is missed by less than the trials tell.
    pub fn is_open(&self) -> bool {
        let mut asked = self.requirements.iter();
        !self.passed && asked.all(|asked| asked.met || asked.is_open())
    }
}

/// Something that the run showed beside its answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// A stable short name: `pool-waits`, `refused-by-connections`.
    pub id: String,
    /// The finding in a sentence, with figures.
    pub says: String,
    /// The trials it rests on.
    pub trials: Vec<u32>,
    /// The stage of the funnel that it is about, where it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<String>,
    /// What to change, where something has to be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
    /// Explanations that the figures speak against, each with the figure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub was_not: Vec<String>,
    /// The figures it rests on, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub evidence: BTreeMap<String, f64>,
}

impl Finding {
    /// A finding with the trials that it rests on.
    pub fn new(id: &str, says: impl Into<String>, trials: &[u32]) -> Self {
        Self {
            id: id.to_owned(),
            says: says.into(),
            trials: trials.to_vec(),
            stage: None,
            change: None,
            was_not: Vec::new(),
            evidence: BTreeMap::new(),
        }
    }

    /// Names the stage.
    #[must_use]
    pub fn of_stage(mut self, stage: &str) -> Self {
        self.stage = Some(stage.to_owned());
        self
    }

    /// Says what to change.
    #[must_use]
    pub fn change(mut self, change: impl Into<String>) -> Self {
        self.change = Some(change.into());
        self
    }

    /// Adds an explanation that the figures speak against.
    #[must_use]
    pub fn was_not(mut self, what: impl Into<String>) -> Self {
        self.was_not.push(what.into());
        self
    }

    /// Adds a figure.
    #[must_use]
    pub fn with(mut self, name: &str, value: f64) -> Self {
        self.evidence.insert(name.to_owned(), value);
        self
    }

    /// Everything that a reader should know of it, in sentences: what was seen, what it was not,
    /// what to change.
    pub fn in_full(&self) -> String {
        let was_not = (!self.was_not.is_empty())
            .then(|| format!("It was not {}.", self.was_not.join(", nor ")));
        let change = self
            .change
            .as_ref()
            .map(|change| format!("To change: {change}."));
        let sentences = std::iter::once(self.says.clone())
            .chain(was_not)
            .chain(change);
        sentences.collect::<Vec<_>>().join(" ")
    }
}

/// The table of a designed experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SweepTable {
    /// The columns behind the case's name and levels.
    pub columns: Vec<Column>,
    /// One row per case, in the study's order; where there are environments, all cases of one
    /// after those of another.
    pub rows: Vec<SweepRow>,
    /// How the trials of a case become one figure.
    #[serde(default)]
    pub statistic: Statistic,
    /// A figure against a level, a line for each environment.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pictures: Vec<SweepPicture>,
    /// What was found in each environment, side by side.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overviews: Vec<SweepOverview>,
}

impl SweepTable {
    /// The table cut into one for each environment, in order, with the environment's name.
    pub fn by_environment(&self) -> Vec<(Option<&str>, Self)> {
        let mut parts: Vec<(Option<&str>, Self)> = Vec::new();
        for row in &self.rows {
            let environment = row.environment.as_deref();
            let at = parts.iter().position(|(name, _)| *name == environment);
            let at = at.unwrap_or_else(|| {
                let empty = Self {
                    rows: Vec::new(),
                    pictures: Vec::new(),
                    overviews: Vec::new(),
                    ..self.clone()
                };
                parts.push((environment, empty));
                parts.len() - 1
            });
            parts[at].1.rows.push(row.clone());
        }
        parts
    }
}

/// How the trials of a case become one figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Statistic {
    /// Their mean, with an interval by Student's t.
    #[default]
    Mean,
    /// Their median, with the interval from the smallest to the largest.
    Median,
}

/// A figure of cases against the level of one factor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SweepPicture {
    /// What stands above it.
    pub title: String,
    /// The factor along the axis.
    pub x: String,
    /// The signal or figure.
    pub signal: String,
    /// Its unit, for people.
    pub unit: String,
    /// A line for each environment.
    pub lines: Vec<PictureLine>,
}

/// The cases of one environment in a picture.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PictureLine {
    /// The environment; empty for a sweep without any.
    pub name: String,
    /// Levels, ascending, and the figure there.
    pub points: Vec<(f64, Figure)>,
}

/// A table with a row for each environment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SweepOverview {
    /// What stands above it.
    pub title: String,
    /// The columns behind the environment's name.
    pub columns: Vec<Column>,
    /// One row for each environment, in the study's order.
    pub rows: Vec<OverviewRow>,
}

/// What was found in one environment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OverviewRow {
    /// The environment; empty for a sweep without any.
    pub environment: String,
    /// One cell per column; null where nothing was read or no case was chosen.
    pub cells: Vec<Option<Figure>>,
}

/// One column of a sweep's table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Column {
    /// What stands above it.
    pub title: String,
    /// The signal or figure it shows.
    pub signal: String,
    /// The unit of its values: `%` is kept as a share of one, `s`, `ms`, `/s`, `B`, `B/s`,
    /// `times`; empty for plain numbers.
    pub unit: String,
    /// Which way it gets better: `more`, `less` or `neither`; empty in runs of versions that did
    /// not say it.
    #[serde(default)]
    pub better: String,
}

/// One case of a sweep.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SweepRow {
    /// The case's name.
    pub case: String,
    /// The environment in which it ran; null for a sweep without any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<String>,
    /// Its levels.
    pub levels: Levels,
    /// The trials of the case.
    pub trials: Vec<u32>,
    /// One cell per column; null where nothing was read.
    pub cells: Vec<Option<Figure>>,
    /// What was published for each column, as written in the study; null where nothing was.
    pub published: Vec<Option<String>>,
}

/// A figure over the replicates of a case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Figure {
    /// Mean or median over the replicates, as the table says.
    pub value: f64,
    /// How sure it is; null where a single trial gives no interval for it.
    pub interval: Option<Estimate>,
}
