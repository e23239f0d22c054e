//! Lines that cannot be read: counted, the first of them named.

use weir_record::{Adjustment, AdjustmentKind};

use crate::IntakeError;

/// How many are named.
const NAMED_MAX: usize = 3;
/// A file may have this many broken lines whatever its length: the last one, and a few that two
/// writers mixed up …
const ALWAYS_FORGIVEN: u64 = 3;
/// … and this share of all. Above it, what is left is not the test that was run.
const SHARE_MAX: f64 = 0.01;

/// Lines of one file that could not be read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Broken {
    /// How many.
    pub count: u64,
    /// The first of them, each with its line.
    pub first: Vec<String>,
}

impl Broken {
    /// Counts one.
    pub(crate) fn add(&mut self, says: impl FnOnce() -> String) {
        self.count += 1;
        if self.first.len() < NAMED_MAX {
            self.first.push(says());
        }
    }

    /// An error when these are too many beside what could be read.
    pub(crate) fn check(&self, file: &str, read: u64) -> Result<(), IntakeError> {
        let allowed = ((read + self.count) as f64 * SHARE_MAX) as u64;
        if self.count <= allowed.max(ALWAYS_FORGIVEN) && read > 0 {
            return Ok(());
        }
        Err(IntakeError::Broken {
            file: file.to_owned(),
            broken: self.count,
            lines: read + self.count,
            first: self.first.join("; "),
        })
    }

    /// What a reader should know of them.
    pub(crate) fn adjustment(&self, file: &str) -> Option<Adjustment> {
        Adjustment::counted(AdjustmentKind::RowsUnreadable, self.count, || {
            let lines = match self.count {
                1 => "1 line that cannot be read was".to_owned(),
                count => format!("{count} lines that cannot be read were"),
            };
            format!("{file}: {lines} left out: {}", self.first.join("; "))
        })
    }
}
