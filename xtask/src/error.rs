//! Why a task did not go well.

use std::path::{Path, PathBuf};
use std::{error, io};

impl TaskError {
    /// What becomes of an error of a file: what was done with it, and which it is.
    pub(crate) fn file(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::File {
            doing,
            path,
            source,
        }
    }
}

/// Why a task did not go well. Messages fit after "failed to".
#[derive(Debug, thiserror::Error)]
pub(crate) enum TaskError {
    /// A program is not there or cannot be started.
    #[error("start `{command}`")]
    Start {
        /// The command as one would type it.
        command: String,
        /// What the system says.
        source: io::Error,
    },
    /// A program ran and ended badly.
    #[error("run `{command}`: {status}")]
    Ended {
        /// The command as one would type it.
        command: String,
        /// How it ended.
        status: String,
    },
    /// A file cannot be read or written.
    #[error("{doing} {}", path.display())]
    File {
        /// `read` or `write`.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Something has another form than expected.
    #[error("understand {what}: {why}")]
    Form {
        /// What was read.
        what: String,
        /// What is wrong with it.
        why: String,
    },
    /// Programs that the tests need are not there.
    #[error(
        "find {what}\n  install the Debian package(s) {packages} and start again, or leave the system profile out with \
         `cargo xtask test --fast`"
    )]
    Missing {
        /// What is missing and for what.
        what: String,
        /// The packages that hold it.
        packages: String,
    },
    /// What a case needs of the machine cannot be had.
    #[error("make {0}")]
    Unavailable(String),
    /// Tests failed.
    #[error("pass every test: {0} failed")]
    Tests(u64),
    /// Rules are broken.
    #[error("keep the rules: {0} problem(s)")]
    Rules(usize),
    /// Files on disk are not what the code generates.
    #[error("find the generated files up to date: {0}\n  write them with `cargo xtask generate`")]
    Stale(String),
    /// Some checks failed.
    #[error("pass: {0}")]
    Checks(String),
}

/// The error and what caused it, in one line.
pub(crate) fn chain(error: &dyn error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text.push_str(": ");
        text.push_str(&inner.to_string());
        cause = inner.source();
    }
    text
}
