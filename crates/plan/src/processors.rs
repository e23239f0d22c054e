//! What runs before and after a sampler.

use crate::config::UserParameters;
use crate::extractors::Extractor;
use crate::on_sample_error::OnSampleError;
use crate::{ElementId, Position, Template};

/// Runs before a sampler.
#[derive(Debug, Clone, PartialEq)]
pub enum PreProcessor<T = Template> {
    /// Takes the place of the request's patterns from a link or form of the response before.
    Link,
    /// Variables that differ by user; only those that change before each sample.
    UserParameters(UserParameters<T>),
    /// Gives the request's parameters the values that an extractor found for their names.
    FoundParameters(Box<FoundParameters<T>>),
    /// Gives the request the session's id that stands in the response before.
    UrlRewriting(Box<UrlRewriting<T>>),
    /// A script.
    Script(Box<Script<T>>),
}

/// A `RegEx User Parameters`: which groups of an extractor's matches are names and values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundParameters<T = Template> {
    /// The extractor's variable.
    pub variable: T,
    /// The group that is the name.
    pub name_group: T,
    /// The group that is the value.
    pub value_group: T,
}

/// An `HTTP URL Re-writing Modifier`: where the session's id stands in the response before, and
/// where the request has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UrlRewriting<T = Template> {
    /// The name of the session's id.
    pub argument: T,
    /// Where the request has it.
    pub place: SessionIdPlace,
    /// Without an id in the response the last one that was found is taken.
    pub keeps: bool,
    /// What is found is encoded as it is; otherwise it is decoded before.
    pub encodes: bool,
    /// Which element it is: of each a user keeps one id.
    pub id: ElementId,
}

/// Where a request has the session's id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionIdPlace {
    /// It is an argument.
    Argument,
    /// It follows the path, after a semicolon.
    Path {
        /// `=` stands between its name and the id.
        equals: bool,
        /// The id ends in front of a question mark.
        ends_at_query: bool,
    },
}

/// Runs after a sampler that produced a result.
#[derive(Debug, Clone, PartialEq)]
pub enum PostProcessor<T = Template> {
    /// Takes something out of the response into variables.
    Extractor(Box<Extractor<T>>),
    /// Adds a part to the sample that shows what is known.
    Debug(Box<DebugPostProcessor<T>>),
    /// A script.
    Script(Box<Script<T>>),
}

/// A Debug `PostProcessor`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DebugPostProcessor<T = Template> {
    /// Its name.
    pub name: T,
    /// What it shows.
    pub parts: DebugParts,
}

/// What a Debug `PostProcessor` shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DebugParts {
    /// The sampler's settings.
    pub sampler: bool,
    /// The user's variables.
    pub variables: bool,
    /// JMeter's properties.
    pub properties: bool,
}

/// A Result Status Action Handler.
///
/// It is told like a listener: after the assertions, of the samples that listeners are told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FailureHandler {
    /// What it does when the sample failed.
    pub action: ResultAction,
    /// So many listeners that are scripts hear of the sample after it: what they change is nothing
    /// to it.
    pub scripts_after: usize,
}

/// What a Result Status Action Handler does when the sample failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultAction {
    /// As a thread group's setting.
    As(OnSampleError),
    /// Goes on with the next iteration of the innermost loop.
    StartNextLoop,
    /// Leaves the innermost loop.
    BreakLoop,
}

/// A script in a language that JMeter would hand to an engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script<T = Template> {
    /// The element's name.
    pub name: T,
    /// `groovy`, `javascript`, `beanshell` …, in lower case.
    pub language: String,
    /// The script.
    pub text: T,
    /// Its parameters, `args` and `Parameters` in the script.
    pub parameters: T,
    /// A file with the script; empty: none.
    pub file: T,
    /// The text as it is first stays for the user: JMeter compiles it once.
    pub first_text_stays: bool,
    /// JMeter fills its fields in once when the test starts, before there is a user.
    pub filled_in_at_start: bool,
    /// Each run has names of its own, also in a language whose interpreter would keep them.
    pub resets: bool,
    /// Which element it is, of which all samplers in whose scope it stands have a copy.
    pub id: ElementId,
    /// Where it stands.
    pub at: Position,
}

impl<T> PreProcessor<T> {
    /// Replaces every text.
    pub fn map<U>(&self, f: &mut impl FnMut(&T) -> U) -> PreProcessor<U> {
        match self {
            Self::Link => PreProcessor::Link,
            Self::UserParameters(parameters) => PreProcessor::UserParameters(parameters.map(f)),
            Self::FoundParameters(found) => {
                PreProcessor::FoundParameters(Box::new(FoundParameters {
                    variable: f(&found.variable),
                    name_group: f(&found.name_group),
                    value_group: f(&found.value_group),
                }))
            }
            Self::UrlRewriting(rewriting) => PreProcessor::UrlRewriting(Box::new(UrlRewriting {
                argument: f(&rewriting.argument),
                place: rewriting.place,
                keeps: rewriting.keeps,
                encodes: rewriting.encodes,
                id: rewriting.id,
            })),
            Self::Script(script) => PreProcessor::Script(Box::new(script.map(f))),
        }
    }
}

impl<T> PostProcessor<T> {
    /// Replaces every text.
    pub fn map<U>(&self, f: &mut impl FnMut(&T) -> U) -> PostProcessor<U> {
        match self {
            Self::Extractor(extractor) => PostProcessor::Extractor(Box::new(extractor.map(f))),
            Self::Debug(debug) => PostProcessor::Debug(Box::new(DebugPostProcessor {
                name: f(&debug.name),
                parts: debug.parts,
            })),
            Self::Script(script) => PostProcessor::Script(Box::new(script.map(f))),
        }
    }
}

impl<T> Script<T> {
    /// Replaces every text.
    pub fn map<U>(&self, f: &mut impl FnMut(&T) -> U) -> Script<U> {
        Script {
            name: f(&self.name),
            language: self.language.clone(),
            text: f(&self.text),
            parameters: f(&self.parameters),
            file: f(&self.file),
            first_text_stays: self.first_text_stays,
            filled_in_at_start: self.filled_in_at_start,
            resets: self.resets,
            id: self.id,
            at: self.at,
        }
    }
}
