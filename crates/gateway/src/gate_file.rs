//! The file that a gateway's settings came from: read again on request, and what that changes.

use std::ops::Range;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::de::DeTable;
use weir_userfile::{Problem, cannot};

use crate::error::GatewayError;
use crate::settings::Settings;

mod difference;
mod learning;

pub(crate) use difference::differences;
pub(crate) use learning::with_learnt;
pub use learning::{Keep, Lasting};

/// A gateway's file, as it was last read.
#[derive(Debug, Clone)]
pub struct GateFile {
    path: PathBuf,
    text: String,
    /// Whether the limit is to be learnt, and not only held.
    learns: bool,
}

/// Why a file cannot be put in force.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The gateway's settings came from no file.
    #[error("read the settings again: they came from no file")]
    None,
    /// It cannot be read.
    #[error("read {path}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: std::io::Error,
    },
    /// Something in it is wrong.
    #[error("read {path}: {} mistakes", mistakes.len())]
    Mistakes {
        /// The file.
        path: PathBuf,
        /// What was read.
        text: String,
        /// All that is wrong with it, in its order.
        mistakes: Vec<Problem>,
    },
    /// The gateway cannot do what it says.
    #[error("put {path} in force")]
    Gateway {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: GatewayError,
    },
}

/// What reading the file again has come to, as the admin port tells it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reload {
    /// Whether the file is in force; if not, everything is as it was.
    pub reloaded: bool,
    /// What differs from the file as it was read before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<Changed>,
    /// Limits that had been changed through `POST /limits` since, and are the file's again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undone: Vec<String>,
    /// Why the file is not in force.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mistakes: Vec<Mistake>,
}

/// A key whose value differs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Changed {
    /// The key with its table, such as `limit.rate`; that of a class has the class's name:
    /// `class.heavy.concurrency`.
    pub key: String,
    /// Its value before; absent if it was not there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<serde_json::Value>,
    /// Its value now; absent if it is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<serde_json::Value>,
}

/// Something that is wrong with a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Mistake {
    /// Its line, from 1; absent if it is about the file as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// Its column, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
    /// What is wrong.
    pub says: String,
    /// What to write instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

impl GateFile {
    /// Reads a file, and the settings in it.
    pub fn read(path: &Path) -> Result<(Self, Settings), FileError> {
        Self::read_for(path, false)
    }

    /// As `read`, of a file by which a limit is to be learnt: it has to say within which bounds.
    pub fn read_to_learn(path: &Path) -> Result<(Self, Settings), FileError> {
        Self::read_for(path, true)
    }

    fn read_for(path: &Path, learns: bool) -> Result<(Self, Settings), FileError> {
        let text = std::fs::read_to_string(path).map_err(|source| FileError::Unreadable {
            path: path.to_owned(),
            source,
        })?;
        let file = Self {
            path: path.to_owned(),
            text,
            learns,
        };
        let mut settings = match Settings::parse(&file.text) {
            Ok(settings) => settings,
            Err(mistakes) => return Err(file.wrong(mistakes)),
        };
        if learns && let Some(problem) = learning::prepare(&mut settings, file.key("limit")) {
            return Err(file.wrong(vec![problem]));
        }
        Ok((file, settings))
    }

    /// This file as it is now.
    pub(crate) fn again(&self) -> Result<(Self, Settings), FileError> {
        Self::read_for(&self.path, self.learns)
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// What is different in a file that was read later.
    pub(crate) fn changed_to(&self, later: &Self) -> Vec<Changed> {
        differences(&self.text, &later.text)
    }

    /// Why the gateway does not take this file.
    pub(crate) fn refused(&self, error: GatewayError) -> FileError {
        let GatewayError::Fixed(key) = error else {
            return FileError::Gateway {
                path: self.path.clone(),
                source: error,
            };
        };
        let name = key.trim_matches(['[', ']']);
        self.wrong(vec![Problem {
            span: self.key(name),
            says: format!("`{key}` cannot change while the gateway runs"),
            help: Some("write what it was, or start the gateway anew".to_owned()),
        }])
    }

    /// Where a key stands at the top of the file; no bytes if it is not there.
    fn key(&self, name: &str) -> Range<usize> {
        let (root, _) = DeTable::parse_recoverable(&self.text);
        let found = root.get_ref().iter().find(|(key, _)| key.get_ref() == name);
        found.map_or(0..0, |(key, _)| key.span())
    }

    fn wrong(&self, mistakes: Vec<Problem>) -> FileError {
        FileError::Mistakes {
            path: self.path.clone(),
            text: self.text.clone(),
            mistakes,
        }
    }
}

impl Reload {
    /// That a file is not in force, and why.
    pub(crate) fn failed(error: &FileError) -> Self {
        let mistakes = match error {
            FileError::Mistakes { text, mistakes, .. } => mistakes
                .iter()
                .map(|problem| Mistake::at(text, problem))
                .collect(),
            error => vec![Mistake {
                line: None,
                column: None,
                says: cannot(error),
                help: None,
            }],
        };
        Self {
            mistakes,
            ..Self::default()
        }
    }
}

impl Mistake {
    fn at(text: &str, problem: &Problem) -> Self {
        let before = text.get(..problem.span.start).unwrap_or_default();
        // A span without bytes stands for the whole file.
        let place = (!problem.span.is_empty()).then(|| {
            let line = before.matches('\n').count() + 1;
            let begun = before.rfind('\n').map_or(0, |at| at + 1);
            (line, before[begun..].chars().count() + 1)
        });
        Self {
            line: place.map(|(line, _)| line),
            column: place.map(|(_, column)| column),
            says: problem.says.clone(),
            help: problem.help.clone(),
        }
    }
}

/// For a terminal: `limit.rate: "50/s" → "60/s"`.
impl std::fmt::Display for Changed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let value = |value: &Option<serde_json::Value>| {
            value
                .as_ref()
                .map_or_else(|| "not there".to_owned(), ToString::to_string)
        };
        write!(
            f,
            "{}: {} → {}",
            self.key,
            value(&self.from),
            value(&self.to)
        )
    }
}
