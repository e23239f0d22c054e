//! Limiters and limit algorithms: who is admitted, who waits, who is refused.
//!
//! [`Admission`] decides on requests by [`Rules`]: an exact cap on their rate, a cap on how many
//! are in flight, fixed or found by an algorithm, a queue that is bounded in length and in time,
//! and classes that go before others. [`Keys`] hold what each of many clients may have. Both are
//! state machines without input or output: time is an argument, and what a call leads to for those
//! who wait is fetched from it.
//!
//! ```
//! use std::time::Duration;
//! use weir_limit::{Admission, Decision, Moment, Rate, Rules, Waited};
//!
//! // 50 requests per second, and nobody waits for longer than 200 ms.
//! let rules = Rules { rate: Some(Rate::per_second(50.0)?), ..Rules::default() };
//! let mut admission = Admission::new(&rules, Moment(0));
//! let Decision::Admitted(first) = admission.arrive(0, Moment(0)) else { panic!("the first slot is open") };
//! let Decision::Queued(second) = admission.arrive(0, Moment(0)) else { panic!("the next one opens 20 ms later") };
//! let due = admission.next_wake().expect("somebody waits");
//! assert_eq!(due.since(Moment(0)), Duration::from_millis(20));
//! let verdict = admission.poll(due).expect("its slot is open");
//! assert_eq!(verdict.ticket, second);
//! assert!(matches!(verdict.decision, Waited::Granted(_)));
//! # let _ = first;
//! # Ok::<(), weir_limit::RulesError>(())
//! ```
//!
//! Nothing here reads a clock, sends anything, or knows what a request is.

mod admission;
mod cap;
mod class;
mod decision;
mod gcra;
mod keys;
mod limits;
mod moment;
mod pause;
mod promise;
pub mod replay;
mod rules;
mod seen;
mod slots;
mod standing;
mod waiting;

pub use admission::Admission;
pub use decision::{Decision, Kind, Outcome, Permit, Refusal, Ticket, Verdict, Waited, Why};
pub use keys::{KeyCounts, KeyRefusal, KeyRules, KeyWhy, Keys};
pub use limits::{Adaptive, Aimd, Goal, Gradient2, Learnt, Vegas};
pub use moment::Moment;
pub use pause::{PauseControl, PauseRules};
pub use promise::{PromiseSeen, PromiseState};
pub use rules::{
    ClassRules, Concurrency, MAX_QUEUE_DEFAULT, MAX_WAIT_DEFAULT, Promise, Rate, Rules, RulesError,
};
pub use seen::{ClassSeen, Counts, Seen, Spent};
