//! The new lines of a log while somebody else writes it.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

/// What is taken in at one time, at most; the lines of a second that wrote more are lost.
const BYTES_MAX: u64 = 1024 * 1024;

/// A log that is followed from where it ended when following began.
#[derive(Debug)]
pub(crate) struct FollowedLog {
    path: PathBuf,
    read_to: Option<u64>,
    /// The beginning of a line whose end was not written yet.
    begun: String,
}

impl FollowedLog {
    /// Begins at the end that the log has now; at its beginning when it is not there yet.
    pub(crate) fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            read_to: std::fs::metadata(path).ok().map(|facts| facts.len()),
            begun: String::new(),
        }
    }

    /// The lines that were finished since the last time; `None` when the log cannot be read.
    pub(crate) fn new_lines(&mut self) -> Option<Vec<String>> {
        let mut file = File::open(&self.path).ok()?;
        let length = file.metadata().ok()?.len();
        // A log that is shorter than before was begun anew.
        let mut from = self.read_to.filter(|from| *from <= length).unwrap_or(0);
        if length - from > BYTES_MAX {
            self.begun.clear();
            from = length;
        }
        file.seek(SeekFrom::Start(from)).ok()?;
        let mut bytes = Vec::new();
        file.take(BYTES_MAX).read_to_end(&mut bytes).ok()?;
        self.read_to = Some(from + bytes.len() as u64);
        self.begun.push_str(&String::from_utf8_lossy(&bytes));
        let whole = self.begun.rfind('\n').map_or(0, |end| end + 1);
        let rest = self.begun.split_off(whole);
        let lines = std::mem::replace(&mut self.begun, rest);
        Some(lines.lines().map(str::to_owned).collect())
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;
    use std::fs::OpenOptions;
    use std::io::Write as _;

    fn append(path: &Path, text: &str) {
        let mut options = OpenOptions::new();
        let mut file = options.append(true).create(true).open(path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    #[test]
    fn lines_come_once_and_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("error.log");
        append(&path, "before\n");
        let mut log = FollowedLog::new(&path);
        assert_eq!(log.new_lines().unwrap(), [""; 0]);
        append(&path, "one\ntw");
        assert_eq!(log.new_lines().unwrap(), ["one"]);
        assert_eq!(log.new_lines().unwrap(), [""; 0]);
        append(&path, "o\nthree\n");
        assert_eq!(log.new_lines().unwrap(), ["two", "three"]);
    }

    #[test]
    fn a_log_that_comes_later_or_is_begun_anew_is_read_from_its_beginning() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("error.log");
        let mut log = FollowedLog::new(&path);
        assert_eq!(log.new_lines(), None);
        append(&path, "first line\n");
        assert_eq!(log.new_lines().unwrap(), ["first line"]);
        std::fs::write(&path, "new\n").unwrap();
        assert_eq!(log.new_lines().unwrap(), ["new"]);
    }

    #[test]
    fn a_flood_is_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("error.log");
        append(&path, "");
        let mut log = FollowedLog::new(&path);
        append(&path, &"x\n".repeat(BYTES_MAX as usize));
        assert_eq!(log.new_lines().unwrap(), [""; 0]);
        append(&path, "after\n");
        assert_eq!(log.new_lines().unwrap(), ["after"]);
    }
}
