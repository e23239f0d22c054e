//! The plan as the load engine runs it: numbers as numbers, texts compiled.
//!
//! Everything that can be known before the first user starts is known here and has been checked;
//! what may differ from sample to sample is left as a [`Text`], which the engine renders through
//! [`write_request`](crate::write_request) and [`ResolvedTimer::delay_ms`].

use std::path::PathBuf;
use std::time::Duration;

use weir_plan::{OnSampleError, Position};

use crate::{GlobalVariables, Problem, Text};

/// A whole plan, ready to run.
#[derive(Debug, Clone)]
pub struct ResolvedPlan {
    /// What the plan calls itself.
    pub name: String,
    /// The file it was read from.
    pub source: Option<PathBuf>,
    /// What every user's variables start from.
    pub variables: GlobalVariables,
    /// The groups, in file order; all start together.
    pub groups: Vec<ResolvedGroup>,
    /// What can be run but deserves a second look.
    pub warnings: Vec<Problem>,
}

/// A group of virtual users that all do the same.
#[derive(Debug, Clone)]
pub struct ResolvedGroup {
    /// The group's name; user n (from 1) of group g (from 1) is called `<name> <g>-<n>`.
    pub name: String,
    /// How many users.
    pub users: u32,
    /// Time over which the users start: user i of n (from 0) starts at i × ramp-up / n.
    pub ramp_up: Duration,
    /// How often each user goes through the steps; `None`: for ever.
    pub iterations: Option<u64>,
    /// From the start of the group's first user to its end, for all users; `None`: no end.
    pub duration: Option<Duration>,
    /// From the start of the test to the start of the group's first user.
    pub delay: Duration,
    /// What a failed sample does to the user or the test.
    pub on_error: OnSampleError,
    /// What each user does, in order.
    pub steps: Vec<ResolvedStep>,
    /// Where the group stands.
    pub at: Position,
}

/// One sample and the timers that are waited for before it.
#[derive(Debug, Clone)]
pub struct ResolvedStep {
    /// The label of the sample in results; render it once for each sample, after the request, as
    /// JMeter does: functions of the request may set variables that it shows.
    pub label: Text,
    /// What is sent.
    pub request: ResolvedRequest,
    /// All timers in scope; the user sleeps the sum of their [`ResolvedTimer::delay_ms`].
    pub timers: Vec<ResolvedTimer>,
    /// Where the sample stands.
    pub at: Position,
}

/// An HTTP request whose texts may differ from sample to sample.
#[derive(Debug, Clone)]
pub struct ResolvedRequest {
    /// `http` when empty.
    pub protocol: Text,
    /// Host name or address.
    pub host: Text,
    /// The protocol's default port when empty.
    pub port: Text,
    /// Path, or a whole URL that overrides protocol, host and port.
    pub path: Text,
    /// The request method.
    pub method: Text,
    /// Query or form fields, or the parts of a raw body.
    pub arguments: Vec<ResolvedArgument>,
    /// The values are the body, as they are.
    pub raw_body: bool,
    /// Header fields, in order, beside those that are always sent.
    pub headers: Vec<(Text, Text)>,
    /// Whether the connection is kept for the user's next sample.
    pub keep_alive: bool,
    /// Longest time to connect.
    pub connect_timeout: Option<Duration>,
    /// Longest time without a byte while waiting for the response.
    pub response_timeout: Option<Duration>,
    /// Where the request stands.
    pub at: Position,
}

/// One query or form field.
#[derive(Debug, Clone)]
pub struct ResolvedArgument {
    /// Its name.
    pub name: Text,
    /// Its value.
    pub value: Text,
    /// Encode name and value; otherwise the text is taken as already encoded.
    pub always_encode: bool,
    /// Write `=` between name and value in a query; a form always has it.
    pub use_equals: bool,
}

/// A pause before a sample.
#[derive(Debug, Clone)]
pub enum ResolvedTimer {
    /// Always what the text says.
    Constant {
        /// The delay in milliseconds.
        delay_ms: Text,
    },
    /// |N(0,1) × deviation + delay|, cut to whole milliseconds, times the factor.
    Gaussian {
        /// The mean before folding.
        delay_ms: Text,
        /// The standard deviation before folding.
        deviation_ms: Text,
        /// JMeter's property `timer.factor`, 1 when it is not set.
        factor: f32,
    },
}
