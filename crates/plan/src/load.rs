//! A load plan: who sends what, when, for how long.
//!
//! The shape follows JMeter's thread groups, because that is what users have: every virtual user
//! of a group runs the group's steps in order, again and again, and before each step waits for the
//! sum of the step's timers.

use std::path::PathBuf;

/// A place in the file that the user wrote; both numbers count from one.
///
/// Plans built from a URL have no file: they say line 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The line.
    pub line: u32,
    /// The column, in characters.
    pub column: u32,
}

/// Text in which `${name}` and `${__function(…)}` may stand, as the user wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Template {
    /// The text.
    pub text: String,
    /// Where it stands.
    pub at: Position,
}

impl Template {
    /// Text that is not from a file.
    pub fn literal(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            at: Position::default(),
        }
    }
}

/// A whole plan.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LoadPlan {
    /// What the plan calls itself; not empty.
    pub name: String,
    /// The file it was read from.
    pub source: Option<PathBuf>,
    /// User-defined variables: one list per element that defines some, in file order.
    ///
    /// Within a list the first of a name counts and none sees the others; a later list replaces
    /// what an earlier one defined and may use it.
    pub variables: Vec<Vec<Variable>>,
    /// The thread groups that are enabled, in file order.
    pub groups: Vec<ThreadGroup>,
}

/// One user-defined variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: Template,
    /// Its value, evaluated once before any user starts.
    pub value: Template,
}

/// A group of virtual users that all do the same.
#[derive(Debug, Clone, PartialEq)]
pub struct ThreadGroup {
    /// The group's name; users are named `<name> <group>-<user>`.
    pub name: Template,
    /// How many users.
    pub users: Template,
    /// Seconds over which the users start: user i of n (from 0) starts at i × ramp-up / n.
    pub ramp_up_s: Template,
    /// How often each user goes through the steps.
    pub iterations: Iterations,
    /// When the group starts and ends; `None`: at once, until the iterations are done.
    pub schedule: Option<Schedule>,
    /// What a failed sample does to the user or the test.
    pub on_error: OnSampleError,
    /// What each user does, in order.
    pub steps: Vec<Step>,
    /// Where the group stands.
    pub at: Position,
}

/// How often a user goes through the steps of its group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Iterations {
    /// Until the group's time is over or the test is stopped.
    Forever,
    /// This many times.
    Count(Template),
}

/// The time of a group, in seconds from the start of the test; empty text counts as 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    /// Seconds from the start of the group's users to its end; the ramp-up is inside.
    pub duration_s: Template,
    /// Seconds before the first user starts.
    pub delay_s: Template,
}

/// What happens after a sample that did not succeed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnSampleError {
    /// The user goes on with the next step.
    #[default]
    Continue,
    /// The user goes on with the next iteration of the group.
    StartNextLoop,
    /// The user ends.
    StopThread,
    /// No user starts another sample; running samples finish.
    StopTest,
    /// Running samples are cut off too.
    StopTestNow,
}

/// One sample and the timers that are waited for before it.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// The label of the sample in results.
    pub label: Template,
    /// What is sent.
    pub request: HttpRequest,
    /// All timers in scope; the user sleeps their sum before the sample.
    pub timers: Vec<Timer>,
    /// Where the sample stands.
    pub at: Position,
}

/// An HTTP request, as text that may hold variables.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HttpRequest {
    /// `http` when empty.
    pub protocol: Template,
    /// Host name or address.
    pub host: Template,
    /// The protocol's default port when empty.
    pub port: Template,
    /// Path, or a whole URL that overrides protocol, host and port.
    pub path: Template,
    /// `GET` when empty.
    pub method: Template,
    /// Query or form fields, or the parts of a raw body when all names are empty.
    pub arguments: Vec<Argument>,
    /// The arguments' values are the body, as they are.
    pub raw_body: bool,
    /// Character set of the arguments; UTF-8 when empty.
    pub encoding: Template,
    /// Header fields, in order, beside those that the engine sends by itself.
    pub headers: Vec<(Template, Template)>,
    /// Whether the connection is kept for the user's next sample.
    pub keep_alive: bool,
    /// Milliseconds to connect; empty: no limit.
    pub connect_timeout_ms: Template,
    /// Milliseconds without a byte while waiting for the response; empty: no limit.
    pub response_timeout_ms: Template,
}

/// One query or form field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argument {
    /// Its name.
    pub name: Template,
    /// Its value.
    pub value: Template,
    /// Encode name and value; otherwise the text is taken as already encoded.
    pub always_encode: bool,
    /// Write `=` between name and value in a query; a form always has it.
    pub use_equals: bool,
}

/// A pause before a sample; all delays in milliseconds.
#[derive(Debug, Clone, PartialEq)]
pub enum Timer {
    /// Always the same.
    Constant {
        /// The delay.
        delay_ms: Template,
    },
    /// |N(0,1) × deviation + delay|, cut to whole milliseconds.
    Gaussian {
        /// The mean before folding.
        delay_ms: Template,
        /// The standard deviation before folding.
        deviation_ms: Template,
    },
}
