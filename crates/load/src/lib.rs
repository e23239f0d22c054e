//! The load engine: virtual users, their pacing, the HTTP client, and the tool's own lateness.
//!
//! [`start`] runs a [`ResolvedPlan`](weir_script::ResolvedPlan): one single-threaded runtime per
//! load CPU, one task per virtual user, one loop for all of them. What differs between users is
//! data: when a user starts, what it waits before a sample, how often it goes round and when it
//! ends are values that the loop reads. The caller hears once a second what all runtimes counted
//! ([`RunningLoad::seconds`]) and gets the sums at the end ([`RunningLoad::join`]).
//!
//! Why not an existing client: a load generator that is late, or that spends the CPU it is meant to
//! measure, spoils the figures it reports. Timers here are exact to tens of microseconds, what a
//! user sends is built before the test where it can be, a response is read into one buffer that
//! the whole runtime shares, and every wake that came late is counted.
//!
//! Definitions:
//! - The *response time* of a sample runs from its start (the user is awake, nothing is connected
//!   yet) to the last byte of the response. Timers are not part of it. That is JMeter's `elapsed`;
//!   in a closed workload the user has nothing to wait for before that moment.
//! - In an open workload (`groups/open.rs`) it runs from the moment that the arrival was due: from
//!   the *intended* start. What lies between the two, because all users were busy or the engine was
//!   late, is the *start delay*; from the actual start to the last byte is the *service time*.
//! - The *lateness* of a wake is the time from the moment a user was meant to wake to the moment it
//!   runs. It is the engine's self-check: it is not part of any response time.
//! - What a request did (time-out, 503, reset) is an outcome under JMeter's name, never an error.
//!
//! One rule is not JMeter's: when a connection that was kept from an earlier sample turns out to be
//! closed before a byte of the request was written, a fresh one is opened. JMeter looks whether a
//! connection is closed only when it has been idle for 4.9 seconds, and reports
//! `NoHttpResponseException` otherwise: a failure of its own making, which says nothing of the
//! server's capacity. What was written may have been done, so a request that is not answered after
//! that has failed, as in JMeter. Requests that a kept connection refused to take are counted
//! ([`LoadSummary::resent`]).
//!
//! From the bottom: `http` (one user's client), `work` (the plan, prepared), `core` (what the users
//! of one runtime share), `user` (one loop and the samples on it), `starts` (who begins when),
//! `runtime` and `start` (threads). Each knows only those before it.
//!
//! Deliberately absent: studies, targets, conclusions.

mod across_users;
mod audience;
mod auto_stop;
mod backend;
mod budget;
mod census;
mod clock;
mod control;
mod core;
mod counts;
mod crash;
mod data_file;
mod details;
mod ending;
mod error;
mod executions;
mod groups;
mod http;
mod iterations;
mod java_random;
mod kin;
mod left_by_scripts;
mod listener_files;
mod listening;
mod next;
mod open_files;
mod pacing;
mod parallel;
mod quoted;
mod running;
mod runtime;
mod samples;
mod session;
mod set_variables;
mod settings;
mod start;
mod starts;
mod tally;
mod timers;
mod transaction;
mod tree;
mod user;
mod walk;
mod work;

pub use across_users::UnreadFile;
pub use backend::SentFigures;
pub use census::UserCounts;
pub use error::LoadError;
pub use groups::open::ArrivalCounts;
pub use running::{LoadSummary, RunningLoad};
pub use samples::{SampleObserver, SampleSink};
pub use settings::{Length, LoadSettings};
pub use start::{THREADS, start};
