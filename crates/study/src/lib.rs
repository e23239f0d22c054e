//! What is asked of a server, and what the trials answer: searches, designs, settings, findings.
//!
//! A study file ([`StudyFile`]) asks for the largest number of users that meets the requirements
//! ([`find()`]), for the best level of one limit and the smallest that is not worse ([`best()`]), for the best
//! levels of several limits together ([`several()`]), whether a setting matters at all ([`matters()`]), or for a table of cases ([`sweep()`]). All run trials through the seam
//! `TrialRunner` - the real rig, the simulator, the replay of a stored run - and end with an
//! [`Outcome`].
//!
//! A search for the largest number of users goes three steps:
//!
//! 1. *search*: a model of users, think time and CPU proposes levels, the trials near the goal decide
//!    where it is met, and how sure that is;
//! 2. *settings*: the largest thread limit at which the goal holds with all threads busy, the pool
//!    behind it, connections and backlog in front of it;
//! 3. *check*: half as many users again with the settings applied.
//!
//! Invariants: nothing here does I/O, reads a clock or draws an unseeded random number; every
//! decision follows from the study and the records so far, so that the replay of a stored run asks
//! for the same trials; a number leaves with its interval or with the trials it rests on.
//!
//! ```
//! use weir_queueing::SimulatedServer;
//! use weir_queueing::sim::*;
//! use weir_record::NoObserver;
//! use weir_study::{FindSpec, find};
//!
//! // One CPU, 10 ms of CPU and 200 ms of waiting per request, users who think for 200 ms.
//! let mut server = SimulatedServer::new(Scenario {
//!     server: ServerModel {
//!         cores: 1,
//!         discipline: Discipline::ProcessorSharing,
//!         connections: None,
//!         threads: None,
//!         pools: Vec::new(),
//!     },
//!     classes: vec![UserClass {
//!         label: "request".to_owned(),
//!         users: 1,
//!         think: Duration::Exponential(0.2),
//!         request: vec![
//!             Phase::Cpu(Duration::Exponential(0.01)),
//!             Phase::Sleep(Duration::Constant(0.2)),
//!         ],
//!     }],
//!     ramp: Ramp { seconds: 1.0 },
//!     disturbances: Disturbances::default(),
//! });
//! let truth = server.largest_level("users", &Default::default(), 0.8, 1..=200)?;
//!
//! let outcome = find(&FindSpec::default(), &mut server, &mut NoObserver);
//! let answer = outcome.answer.expect("the CPU reaches 80 %");
//! assert!(answer.low <= f64::from(truth.unwrap()) && f64::from(truth.unwrap()) <= answer.high);
//! # Ok::<(), weir_record::TrialError>(())
//! ```

mod answer;
mod best;
mod check;
mod compare;
mod confirm;
mod contest;
mod dry_run;
mod figure;
mod find;
mod findings;
mod learned;
mod matters;
mod observer;
mod outcome;
mod requirement;
mod search;
mod settings;
mod several;
mod spec;
mod summary;
mod sweep;
mod taken_in;
mod trials;

pub use best::best;
pub use compare::{CompareAsk, CompareError, RunSide, RunTrial, compare};
pub use dry_run::{DryRun, PlannedTrials, plan_of_trials};
pub use find::find;
pub use matters::matters;
pub use observer::StudyObserver;
pub use outcome::{Outcome, exit_code};
pub use requirement::{check_requirement, is_recorded, is_recorded_of};
pub use several::several;
pub use spec::{
    Ask, BestGoal, BestSpec, BuiltinSpec, CaseSpec, ColumnSpec, CommandSpec, CompareSpec,
    DEFAULT_REQUIREMENTS, DatabaseSpec, Design, EngineKind, ExternalSpec, Factor, FindSpec,
    HttpdSpec, JolokiaSpec, LibertyApp, LibertyServerSpec, LibertySpec, LimitSetter, LimitSpec,
    LoadSource, LoadSpec, MattersSpec, MetricName, MetricWords, MetricsSpec, MpmKind, PoolWord,
    Problem, SeveralSpec, SpringBootApp, SpringBootSpec, StopSignal, StudyFile, SweepSpec,
    TargetKind, TargetSpec, TomcatApp, TomcatServer, TomcatSpec, auto_window,
};
pub use sweep::sweep;
pub use taken_in::of_files;
