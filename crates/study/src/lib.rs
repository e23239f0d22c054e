//! What is asked of a server, and what the trials answer: searches, designs, settings, findings.
//!
//! A study file ([`StudyFile`]) asks for the largest number of users that meets the requirements
//! ([`find()`]), for the best level of one limit and the smallest that is not worse ([`best()`]),
//! for the best levels of several limits together ([`several()`]), whether a setting matters at all
//! ([`matters()`]), or for a table of cases ([`sweep()`]). All run trials through the seam
//! `TrialRunner` - the real rig, the simulator, the replay of a stored run - and end with an
//! [`Outcome`].
//!
//! A search for the largest number of users goes three steps:
//!
//! 1. *search*: a model of users, think time and CPU proposes levels, the trials near the goal
//!    decide where it is met, and how sure that is;
//! 2. *settings*: the largest thread limit at which the goal holds with all threads busy, the pool
//!    behind it, connections and backlog in front of it;
//! 3. *check*: half as many users again with the settings applied.
//!
//! Invariants: nothing here does I/O, reads a clock or draws an unseeded random number; every
//! decision follows from the study and the records so far, so that the replay of a stored run asks
//! for the same trials; a number leaves with its interval or with the trials it rests on.
//!
//! ```
//! use weir_queueing::{ClosedCpu, LargestUsers};
//! use weir_record::NoObserver;
//! use weir_sim::*;
//! use weir_study::{FindSpec, find};
//!
//! // One CPU, 10 ms of CPU and 200 ms of waiting per request, users who think for 200 ms.
//! let network = Network {
//!     centers: vec![Center::new("cpu", CenterKind::Shared { cores: 1 })],
//!     classes: vec![Class::new(
//!         "request",
//!         Source::Users { users: 1, think: Distribution::exponential(0.2), ramp_s: 1.0 },
//!         vec![
//!             Step::Use(0, Distribution::exponential(0.01)),
//!             Step::Sleep(Distribution::constant(0.2)),
//!         ],
//!     )],
//!     ..Network::default()
//! };
//! let mut server = SimulatedServer::new(network, Disturbances::default());
//! let truth = ClosedCpu { think_s: 0.4, demand_s: 0.01, servers: 1 };
//! let LargestUsers::Users { users, .. } = truth.largest_users(0.8) else {
//!     unreachable!("enough users fill any CPU");
//! };
//!
//! let outcome = find(&FindSpec::default(), &mut server, &mut NoObserver);
//! let answer = outcome.answer.expect("the CPU reaches 80 %");
//! assert!(answer.low <= f64::from(users) && f64::from(users) <= answer.high);
//! ```

mod answer;
mod at_answer;
mod at_rate;
mod beside;
mod best;
mod check;
mod commands;
mod compare;
mod confirm;
mod contest;
mod dry_run;
mod figure;
mod file;
mod find;
mod findings;
mod fullness;
mod hold_by_gate;
mod learned;
mod matters;
mod observer;
mod outcome;
mod raise;
mod requirement;
mod search;
mod settings;
mod several;
mod summary;
mod sweep;
mod taken_in;
mod trials;

pub use best::best;
pub use commands::{StudyCommand, study_commands};
pub use compare::{CompareAsk, CompareError, RunSide, RunTrial, compare};
pub use dry_run::{DryRun, PlannedTrials, plan_of_trials};
pub use file::{
    Across, Arrivals, Ask, BehindSpec, BestGoal, BestSpec, BuiltinSpec, CaseSpec, ChoiceSpec,
    ColumnSpec, CommandApp, CommandSpec, CompareSpec, DEFAULT_REQUIREMENTS, DatabaseSpec, Design,
    EngineKind, EnvironmentSpec, ExternalSpec, Factor, FindSpec, GateClassSpec, GateSpec,
    HttpdSpec, JolokiaSpec, LibertyApp, LibertyServerSpec, LibertySpec, LimitSetter, LimitSpec,
    LoadSource, LoadSpec, MattersSpec, MetricName, MetricWords, MetricsSpec, MpmKind,
    OverviewColumnSpec, OverviewSpec, PictureSpec, PoolWord, Problem, RaiseSpec, SeveralSpec,
    Shown, SpreadSpec, SpringBootApp, SpringBootSpec, StopSignal, StudyFile, SweepSpec, TargetKind,
    TargetSpec, TomcatApp, TomcatServer, TomcatSpec, Varied, auto_window,
};
pub use find::find;
pub use matters::matters;
pub use observer::StudyObserver;
pub use outcome::{Outcome, exit_code};
pub use requirement::{check_requirement, is_recorded, is_recorded_of};
pub use several::several;
pub use sweep::sweep;
pub use taken_in::of_files;
