//! What a user does in one step, with everything that has to happen before and after it.

use crate::assertions::Assertion;
use crate::http::HttpRequest;
use crate::processors::{FailureHandler, PostProcessor, PreProcessor, Script};
use crate::timer::Timer;
use crate::variable::Variable;
use crate::{Position, Template};

/// One step and all that is in scope for it.
///
/// Order of one sample: pre-processors, timers (the user sleeps their sum), the sampler,
/// post-processors, assertions, then listeners and what failure does. Pre-processors,
/// post-processors and assertions are outermost level first, the rest innermost first, all in
/// file order within a level. A thread group and the test plan above it are one level, the
/// group's elements first.
#[derive(Debug, Clone, PartialEq)]
pub struct Sampler<T = Template> {
    /// The label of the sample in results.
    pub label: T,
    /// What is done.
    pub kind: SamplerKind<T>,
    /// Run before the timers.
    pub before: Vec<PreProcessor<T>>,
    /// All timers in scope.
    pub timers: Vec<Timer<T>>,
    /// Run after the sample.
    pub after: Vec<PostProcessor<T>>,
    /// Judge the sample.
    pub assertions: Vec<Assertion<T>>,
    /// What its failure does.
    pub on_failure: Vec<FailureHandler>,
    /// Places of its listeners in [`crate::LoadPlan::listeners`].
    pub listeners: Vec<usize>,
    /// Places in [`crate::LoadPlan::auto_stops`].
    pub auto_stops: Vec<usize>,
    /// Places of those that are scripts in [`crate::LoadPlan::script_listeners`], innermost first.
    pub script_listeners: Vec<usize>,
    /// Where the sampler stands.
    pub at: Position,
}

/// What a sampler does.
#[derive(Debug, Clone, PartialEq)]
pub enum SamplerKind<T = Template> {
    /// Sends an HTTP request.
    Http(Box<HttpRequest<T>>),
    /// Flow Control Action: no sample.
    FlowControl(FlowControl<T>),
    /// The plugin's Set Variables Action: no sample. All values are taken before the first is set,
    /// and of one name the first counts.
    SetVariables(Vec<Variable<T>>),
    /// Debug Sampler: the user's variables and the properties as a response.
    Debug {
        /// Show the user's variables.
        variables: bool,
        /// Show the properties.
        properties: bool,
    },
    /// The Java test `JavaTest` or `SleepTest`: sleeps and answers what it is told.
    JavaTest(Box<JavaTest<T>>),
    /// A sample that is made up: the plugin's Dummy Sampler.
    Dummy(Box<Dummy<T>>),
    /// A script whose value is the response.
    Script(Box<Script<T>>),
    /// Runs the children of its controller at once.
    Parallel(Parallel<T>),
}

/// The Parallel Controller of the bzm plugins, which is a sampler.
#[derive(Debug, Clone, PartialEq)]
pub struct Parallel<T = Template> {
    /// It is a sample with those of its children inside; else it gives none itself.
    pub is_parent: bool,
    /// How many children run at a time; `None`: all.
    pub at_once: Option<T>,
    /// The names of its children.
    pub items: Vec<T>,
}

/// A Flow Control Action.
#[derive(Debug, Clone, PartialEq)]
pub struct FlowControl<T = Template> {
    /// What it does.
    pub action: FlowAction,
    /// It does it to the whole test, not only to the user.
    pub whole_test: bool,
    /// How long a pause is, in milliseconds.
    pub pause_ms: T,
}

/// What a Flow Control Action does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlowAction {
    /// Ends the user or, gracefully, the test.
    Stop,
    /// Waits.
    Pause,
    /// Ends the user or the test at once.
    StopNow,
    /// Goes on with the next iteration of the group.
    StartNextGroupLoop,
    /// Goes on with the next iteration of the innermost loop.
    StartNextLoop,
    /// Leaves the innermost loop.
    BreakLoop,
}

/// JMeter's Java Request with one of its two own test classes.
///
/// `JavaTest` sleeps `sleep_ms + (now mod (mask + 1))` milliseconds and answers with the texts;
/// `SleepTest` is the same without them.
#[derive(Debug, Clone, PartialEq)]
pub struct JavaTest<T = Template> {
    /// Least time, in milliseconds.
    pub sleep_ms: T,
    /// Mask of the random part.
    pub sleep_mask: T,
    /// The sample's label when not empty.
    pub label: T,
    /// Response code.
    pub response_code: T,
    /// Response message.
    pub response_message: T,
    /// `OK` for success, anything else for failure.
    pub status: T,
    /// Request text.
    pub sampler_data: T,
    /// Response text.
    pub result_data: T,
    /// Whether it is `SleepTest`, which answers nothing.
    pub is_sleep_test: bool,
}

/// The Dummy Sampler of the jp@gc plugins.
#[derive(Debug, Clone, PartialEq)]
pub struct Dummy<T = Template> {
    /// Really waits for the response time.
    pub waiting: bool,
    /// Whether the sample succeeds.
    pub successful: T,
    /// Response code.
    pub response_code: T,
    /// Response message.
    pub response_message: T,
    /// Request text.
    pub request_data: T,
    /// Response text.
    pub response_data: T,
    /// Milliseconds.
    pub response_time_ms: T,
    /// Milliseconds.
    pub latency_ms: T,
    /// Milliseconds.
    pub connect_ms: T,
    /// URL of the sample; empty: none.
    pub url: T,
}

impl<T> Sampler<T> {
    /// A sampler with nothing else in scope; it stands where its request stands.
    pub fn http(label: T, request: HttpRequest<T>) -> Self {
        Self {
            label,
            at: request.at,
            kind: SamplerKind::Http(Box::new(request)),
            before: Vec::new(),
            timers: Vec::new(),
            after: Vec::new(),
            assertions: Vec::new(),
            on_failure: Vec::new(),
            listeners: Vec::new(),
            auto_stops: Vec::new(),
            script_listeners: Vec::new(),
        }
    }

    /// Replaces every text.
    pub fn map<U>(&self, f: &mut impl FnMut(&T) -> U) -> Sampler<U> {
        Sampler {
            label: f(&self.label),
            kind: self.kind.map(f),
            before: self.before.iter().map(|p| p.map(f)).collect(),
            timers: self.timers.iter().map(|t| t.map(f)).collect(),
            after: self.after.iter().map(|p| p.map(f)).collect(),
            assertions: self.assertions.iter().map(|a| a.map(&mut *f)).collect(),
            on_failure: self.on_failure.clone(),
            listeners: self.listeners.clone(),
            auto_stops: self.auto_stops.clone(),
            script_listeners: self.script_listeners.clone(),
            at: self.at,
        }
    }
}

impl<T> SamplerKind<T> {
    /// Replaces every text.
    pub fn map<U>(&self, f: &mut impl FnMut(&T) -> U) -> SamplerKind<U> {
        match self {
            Self::Http(request) => SamplerKind::Http(Box::new(request.map(f))),
            Self::FlowControl(flow) => SamplerKind::FlowControl(FlowControl {
                action: flow.action,
                whole_test: flow.whole_test,
                pause_ms: f(&flow.pause_ms),
            }),
            Self::SetVariables(variables) => SamplerKind::SetVariables(
                variables
                    .iter()
                    .map(|variable| Variable {
                        name: f(&variable.name),
                        value: f(&variable.value),
                    })
                    .collect(),
            ),
            Self::Debug {
                variables,
                properties,
            } => SamplerKind::Debug {
                variables: *variables,
                properties: *properties,
            },
            Self::JavaTest(test) => SamplerKind::JavaTest(Box::new(JavaTest {
                sleep_ms: f(&test.sleep_ms),
                sleep_mask: f(&test.sleep_mask),
                label: f(&test.label),
                response_code: f(&test.response_code),
                response_message: f(&test.response_message),
                status: f(&test.status),
                sampler_data: f(&test.sampler_data),
                result_data: f(&test.result_data),
                is_sleep_test: test.is_sleep_test,
            })),
            Self::Dummy(dummy) => SamplerKind::Dummy(Box::new(Dummy {
                waiting: dummy.waiting,
                successful: f(&dummy.successful),
                response_code: f(&dummy.response_code),
                response_message: f(&dummy.response_message),
                request_data: f(&dummy.request_data),
                response_data: f(&dummy.response_data),
                response_time_ms: f(&dummy.response_time_ms),
                latency_ms: f(&dummy.latency_ms),
                connect_ms: f(&dummy.connect_ms),
                url: f(&dummy.url),
            })),
            Self::Script(script) => SamplerKind::Script(Box::new(script.map(f))),
            Self::Parallel(parallel) => SamplerKind::Parallel(Parallel {
                is_parent: parallel.is_parent,
                at_once: parallel.at_once.as_ref().map(&mut *f),
                items: parallel.items.iter().map(f).collect(),
            }),
        }
    }
}
