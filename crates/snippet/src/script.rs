//! A script in any of the languages.

use crate::host::{Bindings, Host};
use crate::program::{Failure, Program, State, SyntaxError, Unknown};
use crate::touched::{self, ScriptFile};
use crate::{Language, Value, javascript};

/// A script that was read.
#[derive(Debug)]
pub enum Script {
    /// Of the Java family.
    Program(Program),
    /// JavaScript, as its text.
    JavaScript(String),
}

impl Script {
    /// Reads a script.
    ///
    /// # Errors
    /// It is not of the part of the language that is known. What is wrong with JavaScript shows
    /// when it runs.
    pub fn read(text: &str, language: Language) -> Result<Self, SyntaxError> {
        match language {
            Language::JavaScript => Ok(Self::JavaScript(text.to_owned())),
            language => Program::parse(text, language).map(Self::Program),
        }
    }

    /// What is not known of what the script uses, as far as that shows before it runs.
    pub fn unknown(&self) -> Vec<Unknown> {
        match self {
            Self::Program(program) => program.unknown(),
            Self::JavaScript(text) => javascript::unknown(text),
        }
    }

    /// The files that it names; JavaScript reaches none.
    pub fn files(&self) -> Vec<ScriptFile> {
        match self {
            Self::Program(program) => touched::files(program),
            Self::JavaScript(_) => Vec::new(),
        }
    }

    /// Whether the script may see what an earlier run of it left in its names.
    pub fn keeps_state(&self) -> bool {
        matches!(self, Self::Program(program) if program.keeps_state())
    }

    /// Whether a name stands in the script.
    pub fn mentions(&self, name: &str) -> bool {
        match self {
            Self::Program(program) => program.mentions(name),
            Self::JavaScript(text) => text.contains(name),
        }
    }

    /// Runs the script; the answer is its value.
    ///
    /// # Errors
    /// Why there is no answer.
    pub fn run(
        &self,
        host: &mut dyn Host,
        bindings: &mut Bindings,
        state: &mut State,
    ) -> Result<Value, Failure> {
        match self {
            Self::Program(program) => program.run(host, bindings, state),
            Self::JavaScript(text) => javascript::run(text, host, bindings),
        }
    }
}
