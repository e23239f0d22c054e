//! What a trial leaves behind: its record, its seconds, its histograms, the run directory.
//!
//! One trial is one measured run of one [`Treatment`]. While it runs, the load engine delivers one
//! [`LoadSecond`] a second and the probe one reading of signals; both land in a [`Timeline`], the
//! response times in [`IntervalHistograms`]. [`evaluate()`] turns the seconds
//! that count into a [`TrialRecord`]: every figure with its interval. Records, results and
//! timelines are stored in a [`RunDirectory`] that can be read without Weir.
//!
//! [`TrialRunner`] is the seam of the whole program: searches ask for treatments and get records,
//! whether the runner is the real rig, the simulator, or the [`Replay`] of a stored run.
//!
//! Invariants: no wall clock is read here (moments are arguments); a signal that was not read is
//! absent, never 0; a second that was not watched is missed, never interpolated.

mod adjustment;
mod answer_cost;
mod background_threads;
mod before_and_after;
mod comparison;
mod cpu_use;
mod decide;
mod evaluate;
mod failed_to;
mod fullness;
#[cfg(test)]
mod fuzz;
mod histograms;
mod idle_threads;
mod invalid;
mod jtl;
mod load_second;
mod plan_check;
mod raised_limit;
mod recording;
mod replay;
mod request_arrivals;
mod request_threads;
mod response_histogram;
mod result;
mod run_dir;
mod runner;
mod sample;
mod second_view;
mod slice;
mod spawn_rate;
mod steady;
mod stored_seconds;
mod throttled;
mod timeline;
mod timeline_file;
mod treatment;
mod trial;
mod watch;

pub use adjustment::{Adjustment, AdjustmentKind, LABELS_MAX, OTHER_LABELS};
pub use answer_cost::AnswerCost;
pub use background_threads::{compilers_cpu, is_collector, is_compiler};
pub use before_and_after::{BeforeAndAfter, Seen, Side};
pub use comparison::{
    Basis, COMPARE_SCHEMA, Change, ComparedSide, FigureComparison, MatchedTrials, RunComparison,
    Scale,
};
pub use cpu_use::CpuUse;
pub use decide::{Decision, WindowProgress, decide};
pub use evaluate::{
    Context, EvaluateError, FOREIGN_MAX, LATE_SHARE_MAX, LOAD_CPU_MAX, LoadCpus, STEAL_MAX,
    disturbance, evaluate, used_by_others,
};
pub use failed_to::failed_to;
pub use fullness::{CPU_FULL, CPU_SATURATED, STAGE_FULL, is_full};
pub use histograms::{HistogramError, IntervalHistograms};
pub use idle_threads::{IdleThreads, KERNEL_OF_OWN_MIN, RAN_PER_REQUEST_MIN, RAN_WITHOUT_MIN};
pub use invalid::{Invalid, InvalidReason};
pub use jtl::{
    Field, JtlError, JtlFormat, JtlReader, JtlWriter, Parts, SaveConfiguration, TimestampFormat,
    continue_jtl, open_jtl,
};
pub use load_second::{ClassSecond, Connects, LoadSecond, OpenSecond};
pub use plan_check::{
    CHECK_SCHEMA, CheckResult, CheckedCall, CheckedFile, CheckedName, CheckedScript, CheckedServer,
};
pub use raised_limit::{AnswerBefore, RaisedLimit};
pub use recording::Recording;
pub use replay::Replay;
pub use request_threads::{Doing, are_most, requests_doing};
pub use response_histogram::response_histogram;
pub use result::{
    Answer, Binding, Column, ConfigurationDiff, Difference, Figure, FigureDifference, Finding,
    Held, JointSetting, JointSettings, JointStanding, LevelComparison, LevelStanding, LevelVerdict,
    OverviewRow, PictureLine, RESULT_SCHEMA, RUN_SCHEMA, RequirementCheck, RunResult,
    SettingDetail, SettingEvidence, Spent, Statistic, Status, StudyResult, SweepOverview,
    SweepPicture, SweepRow, SweepTable,
};
pub use run_dir::{
    RUNS, Readers, RunDirectory, RunDirectoryError, RunManifest, TrialFiles, json_text, write_json,
    write_whole,
};
pub use runner::{
    CpuScope, NoObserver, Stage, TargetFacts, TrialError, TrialObserver, TrialRunner, WhenFull,
};
pub use sample::{AssertionResult, DataType, SampleDetails, SampleRow};
pub use second_view::{Figures, STRETCH_S, SecondView, StageNow};
pub use slice::Slice;
pub use spawn_rate::{
    SPAWN_AGREES, SPAWN_CPU_MAX, SPAWN_OCCUPIED_MAX, SPAWN_WAIT_MIN_S, SpawnRate,
};
pub use steady::steady_rate;
pub use throttled::THROTTLED_MIN;
pub use timeline::{Reading, Timeline, TimelineError};
pub use timeline_file::TimelineFile;
pub use treatment::{Level, Levels, Role, START, Treatment, Window, start_levels};
pub use trial::{ClassRecord, CpuRecord, Errors, NO_ANSWER, OpenRecord, ResponseTime, TrialRecord};
pub use watch::{SignalSummary, WATCH_SCHEMA, WatchResult};
pub use weir_metric::names;
pub use weir_stats::NotSteady;
