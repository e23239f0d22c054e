//! What can go wrong in ways that a user can mend, and the exit code of each.

use std::fmt;

use miette::{Diagnostic, LabeledSpan, NamedSource, Severity, SourceCode};

/// An error that the program expects; anything else is a bug and may panic.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ExpectedError {
    /// Something typed or a file that the user wrote is wrong.
    #[error("{0}")]
    Input(String),
    /// A file that the user wrote has problems at known places.
    #[error("{0}")]
    File(FileProblems),
    /// A letter of the other grammar of `weir run`.
    #[error(
        "`{letter}` with {form}: with a .jmx plan it means {with_plan}; with a URL it means {with_url}"
    )]
    Mixed {
        /// The letter with its dash.
        letter: String,
        /// Its meaning with a plan.
        with_plan: &'static str,
        /// Its meaning with a URL.
        with_url: &'static str,
        /// What it was used with.
        form: &'static str,
    },
    /// The target, the machine or a file system does not play along.
    #[error("{0}")]
    Environment(String),
    /// What was measured cannot be used.
    #[error("{0}")]
    Invalid(String),
    /// The user stopped it before there was anything to tell.
    #[error("interrupted")]
    Interrupted,
}

impl ExpectedError {
    /// The program's exit code.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Input(_) | Self::File(_) | Self::Mixed { .. } => 2,
            Self::Environment(_) => 3,
            Self::Invalid(_) => 4,
            Self::Interrupted => 130,
        }
    }
}

/// Something that the machine refuses or lacks: `what` says what could not be done.
pub(crate) fn environment(what: &str) -> ExpectedError {
    ExpectedError::Environment(format!("failed to {what}"))
}

/// All problems of one file, each with the place where it stands.
#[derive(Debug)]
pub(crate) struct FileProblems {
    source: NamedSource<String>,
    problems: Vec<FileProblem>,
}

/// One problem of a file.
#[derive(Debug, Clone)]
pub(crate) struct FileProblem {
    /// Bytes of the file that are wrong.
    pub(crate) span: std::ops::Range<usize>,
    /// What is wrong.
    pub(crate) says: String,
    /// What to write instead.
    pub(crate) help: Option<String>,
}

impl FileProblem {
    /// With nothing in it that a terminal would obey: styling stands around it later.
    fn shown(self) -> Self {
        Self {
            span: self.span,
            says: weir_shown::text(&self.says).into_owned(),
            help: self.help.map(|help| weir_shown::text(&help).into_owned()),
        }
    }
}

impl From<weir_study::Problem> for FileProblem {
    fn from(problem: weir_study::Problem) -> Self {
        Self {
            span: problem.span,
            says: problem.says,
            help: problem.help,
        }
    }
}

impl FileProblems {
    /// Problems of a file with this name and text.
    pub(crate) fn new(name: &str, text: &str, problems: Vec<FileProblem>) -> Self {
        Self {
            source: NamedSource::new(
                weir_shown::line(name),
                weir_shown::in_place(text).into_owned(),
            ),
            problems: problems.into_iter().map(FileProblem::shown).collect(),
        }
    }

    /// Each problem as something that can be shown with the lines around it.
    pub(crate) fn diagnostics(&self) -> impl Iterator<Item = ProblemAt<'_>> {
        self.problems.iter().map(|problem| ProblemAt {
            file: self,
            problem,
        })
    }
}

impl fmt::Display for FileProblems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.problems.len();
        let problems = if count == 1 { "problem" } else { "problems" };
        write!(f, "{count} {problems} in {}", self.source.name())
    }
}

/// One problem with the file around it.
#[derive(Debug)]
pub(crate) struct ProblemAt<'a> {
    file: &'a FileProblems,
    problem: &'a FileProblem,
}

impl fmt::Display for ProblemAt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problem.says)
    }
}

impl std::error::Error for ProblemAt<'_> {}

impl Diagnostic for ProblemAt<'_> {
    fn severity(&self) -> Option<Severity> {
        Some(Severity::Error)
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        let help = self.problem.help.as_ref()?;
        Some(Box::new(help))
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.file.source)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let span = self.problem.span.clone();
        Some(Box::new(std::iter::once(LabeledSpan::new_with_span(
            None, span,
        ))))
    }
}
