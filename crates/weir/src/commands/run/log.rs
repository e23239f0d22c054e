//! The log of `-j`: what the console says, and what scripts and `__log` of the plan say.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Zoned;

use crate::error::ExpectedError;

/// Most bytes of what the plan says; a script that logs each response would fill the disk.
const OF_PLAN_BYTES_MAX: usize = 64 << 20;

/// A log that the console and all users share.
#[derive(Debug, Clone)]
pub(crate) struct Log(Arc<Mutex<Open>>);

#[derive(Debug)]
struct Open {
    file: File,
    of_plan_bytes: usize,
}

impl Log {
    /// Starts an empty log.
    pub(crate) fn create(path: &Path) -> Result<Self, ExpectedError> {
        let file = File::create(path).map_err(|error| {
            ExpectedError::Environment(format!("-j {}: {error}", path.display()))
        })?;
        Ok(Self(Arc::new(Mutex::new(Open {
            file,
            of_plan_bytes: 0,
        }))))
    }

    /// Writes a line.
    pub(crate) fn line(&self, level: &str, who: &str, text: &str) {
        self.write(&shown(level, who, text), 0);
    }

    /// Writes what the plan says, as long as that is not too much.
    pub(crate) fn line_of_plan(&self, level: &str, text: &str) {
        let line = shown(level, "o.a.j.plan", text);
        self.write(&line, line.len());
    }

    fn write(&self, line: &str, of_plan: usize) {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = open.of_plan_bytes;
        open.of_plan_bytes = before.saturating_add(of_plan);
        // A log on a full disk may not end a run that is measuring.
        if of_plan == 0 || open.of_plan_bytes <= OF_PLAN_BYTES_MAX {
            drop(open.file.write_all(line.as_bytes()));
        } else if before <= OF_PLAN_BYTES_MAX {
            let says = format!("the plan has said {OF_PLAN_BYTES_MAX} bytes; no more are written");
            let last = shown("WARN", "weir", &says);
            drop(open.file.write_all(last.as_bytes()));
        }
    }
}

fn shown(level: &str, who: &str, text: &str) -> String {
    let now = Zoned::now().strftime("%Y-%m-%d %H:%M:%S,%3f");
    format!("{now} {level} {who}: {text}\n")
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    #[test]
    fn what_the_plan_says_is_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let log = Log::create(&path).unwrap();
        log.line_of_plan("INFO", "hello");
        let half = "x".repeat(OF_PLAN_BYTES_MAX / 2);
        for _ in 0..4 {
            log.line_of_plan("WARN", &half);
        }
        log.line("INFO", "o.a.j.JMeter", "bye");
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 4);
        assert!(lines[0].ends_with(" INFO o.a.j.plan: hello"));
        assert!(lines[2].contains("no more are written"));
        assert!(lines[3].ends_with(" INFO o.a.j.JMeter: bye"));
        assert!(text.len() < OF_PLAN_BYTES_MAX);
    }
}
