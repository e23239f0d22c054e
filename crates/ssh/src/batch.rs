//! Many files in one script.
//!
//! `head` prints several files with the name of each above it (POSIX), so that one process there
//! reads them all. A file that cannot be read is not in the answer.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::host::quoted;
use crate::shell::Output;

/// Lines of a file that are read: more than any file of `/proc` has.
const LINES: u32 = 10_000_000;
/// Divides the parts of an answer; no file of `/proc` has a line that is a form feed.
const PART: &[u8] = b"\n\x0c\n";

/// What is to be read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Batch {
    files: BTreeSet<String>,
    /// By file: the expression that the second column has to fit.
    lines: BTreeMap<String, String>,
    /// Directories, and names of files that are read in each directory below.
    each: BTreeSet<(String, String)>,
    names: BTreeSet<String>,
}

/// What was read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BatchAnswer {
    files: BTreeMap<String, Vec<u8>>,
    names: BTreeMap<String, Vec<String>>,
}

impl Batch {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether there is nothing to read.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// A text file, whole.
    pub fn file(&mut self, path: impl Into<String>) {
        self.files.insert(path.into());
    }

    /// Of a file at least the first line and those whose second column fits a regular expression of
    /// `awk`; all of them where there is no `awk`.
    pub fn lines(&mut self, path: impl Into<String>, second_column: impl Into<String>) {
        self.lines.insert(path.into(), second_column.into());
    }

    /// The file `name` in every directory below `directory` whose name begins with a digit.
    pub fn each(&mut self, directory: impl Into<String>, name: impl Into<String>) {
        self.each.insert((directory.into(), name.into()));
    }

    /// The names of what is in a directory and begins with a digit.
    pub fn numbers(&mut self, directory: impl Into<String>) {
        self.names.insert(directory.into());
    }

    /// Takes in what another batch asks for.
    pub fn add(&mut self, other: Self) {
        self.files.extend(other.files);
        self.lines.extend(other.lines);
        self.each.extend(other.each);
        self.names.extend(other.names);
    }

    /// Whether another batch asks for all of this one.
    pub fn is_part_of(&self, other: &Self) -> bool {
        self.files.is_subset(&other.files)
            && self.names.is_subset(&other.names)
            && self.each.is_subset(&other.each)
            && self
                .lines
                .iter()
                .all(|(path, wanted)| other.lines.get(path) == Some(wanted))
    }

    /// The script that reads it.
    pub fn script(&self) -> String {
        // Names stand above files only where there are several; the first is empty.
        let mut script = format!("head -n {LINES} /dev/null");
        for path in &self.files {
            script.push(' ');
            script.push_str(&quoted(path));
        }
        for (directory, name) in &self.each {
            let _ = write!(script, " {}/[0-9]*/{}", quoted(directory), quoted(name));
        }
        let part = "; printf '\\n\\f\\n'";
        for (path, column) in &self.lines {
            let (path, column) = (quoted(path), quoted(&format!("NR == 1 || $2 ~ /{column}/")));
            let _ = write!(script, "{part}; awk {column} {path} || cat {path}");
        }
        let _ = write!(script, "{part}; echo");
        for directory in &self.names {
            let _ = write!(script, " {}/[0-9]*", quoted(directory));
        }
        script
    }

    /// What an answer to the script holds.
    pub fn answer(&self, output: &Output) -> BatchAnswer {
        let mut answer = BatchAnswer::default();
        let mut parts = parts(&output.stdout).into_iter();
        let of_each = |path: &str| {
            self.each.iter().any(|(directory, name)| {
                let below = path.strip_prefix(directory.as_str());
                let below = below.and_then(|rest| rest.strip_prefix('/'));
                let inner = below.and_then(|rest| rest.split_once('/'));
                inner.is_some_and(|(_, rest)| rest == name)
            })
        };
        let wanted = |path: &str| self.files.contains(path) || of_each(path);
        add_files(parts.next().unwrap_or_default(), wanted, &mut answer.files);
        for path in self.lines.keys() {
            if let Some(text) = parts.next().filter(|text| !text.is_empty()) {
                answer.files.insert(path.clone(), text.to_vec());
            }
        }
        let listed = String::from_utf8_lossy(parts.next().unwrap_or_default());
        for directory in &self.names {
            let below = |path: &str| {
                let name = path.strip_prefix(directory.as_str())?.strip_prefix('/')?;
                // Where nothing fits, the pattern stands for itself.
                let is_name = name.starts_with(|c: char| c.is_ascii_digit()) && !name.contains('/');
                is_name.then(|| name.to_owned())
            };
            let names = listed.split_whitespace().filter_map(below).collect();
            answer.names.insert(directory.clone(), names);
        }
        answer
    }
}

impl BatchAnswer {
    /// The text of a file; `None` when it could not be read.
    pub fn file(&self, path: &str) -> Option<&[u8]> {
        self.files.get(path).map(Vec::as_slice)
    }

    /// What is in a directory; `None` when it was not asked for.
    pub fn numbers(&self, directory: &str) -> Option<&[String]> {
        self.names.get(directory).map(Vec::as_slice)
    }

    /// Takes in what another answer holds.
    pub fn add(&mut self, other: Self) {
        self.files.extend(other.files);
        self.names.extend(other.names);
    }
}

/// The parts of an answer.
fn parts(text: &[u8]) -> Vec<&[u8]> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(end) = rest.windows(PART.len()).position(|window| window == PART) {
        parts.push(&rest[..end]);
        rest = &rest[end + PART.len()..];
    }
    parts.push(rest);
    parts
}

/// Takes apart what `head` prints: `==> PATH <==`, the text, and an empty line before the next.
fn add_files(text: &[u8], wanted: impl Fn(&str) -> bool, files: &mut BTreeMap<String, Vec<u8>>) {
    let mut current: Option<(String, usize)> = None;
    let mut line_start = 0;
    let mut close = |current: Option<(String, usize)>, end: usize| {
        if let Some((path, from)) = current {
            files.insert(path, text[from..end.max(from)].to_vec());
        }
    };
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        let next = line_start + line.len();
        if let Some(path) = heading(line).filter(|path| wanted(path) || *path == "/dev/null") {
            // The empty line before it belongs to no file.
            close(current.take(), line_start.saturating_sub(1));
            current = wanted(path).then(|| (path.to_owned(), next));
        }
        line_start = next;
    }
    close(current, text.len());
}

fn heading(line: &[u8]) -> Option<&str> {
    let line = std::str::from_utf8(line).ok()?;
    line.strip_prefix("==> ")?.strip_suffix(" <==\n")
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::process::Command;

    fn read(batch: &Batch) -> BatchAnswer {
        let output = Command::new("/bin/sh")
            .args(["-c", &batch.script()])
            .output()
            .unwrap();
        batch.answer(&Output {
            stdout: output.stdout,
            status: 0,
        })
    }

    #[test]
    fn files_lines_and_names_come_back_as_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        let texts = [
            ("plain", "one\ntwo\n"),
            ("empty", ""),
            ("unended", "no line break"),
            ("blank lines", "\n\n"),
            ("it's", "==> not a heading <==\nx\n"),
        ];
        let mut batch = Batch::new();
        for (name, text) in texts {
            std::fs::write(path(name), text).unwrap();
            batch.file(path(name));
        }
        batch.file(path("missing"));
        std::fs::write(path("table"), "sl local\na x:50 1\nb x:51 2\nc y:50 3\n").unwrap();
        batch.lines(path("table"), ":(50)$");
        batch.lines(path("no table"), ":(50)$");
        for (thread, wait) in [("11", "5 6 7\n"), ("12", "8 9 10\n")] {
            std::fs::create_dir_all(path(&format!("task/{thread}"))).unwrap();
            std::fs::write(path(&format!("task/{thread}/schedstat")), wait).unwrap();
        }
        batch.each(path("task"), "schedstat");
        batch.numbers(path("task"));
        batch.numbers(path("nowhere"));
        let answer = read(&batch);
        for (name, text) in texts {
            let read = answer.file(&path(name)).map(String::from_utf8_lossy);
            assert_eq!(read.as_deref(), Some(text), "{name}");
        }
        assert_eq!(answer.file(&path("missing")), None);
        assert_eq!(
            answer.file(&path("table")),
            Some(&b"sl local\na x:50 1\nc y:50 3\n"[..])
        );
        assert_eq!(answer.file(&path("no table")), None);
        let first = answer.file(&path("task/11/schedstat"));
        assert_eq!(first, Some(&b"5 6 7\n"[..]));
        assert_eq!(
            answer.file(&path("task/12/schedstat")),
            Some(&b"8 9 10\n"[..])
        );
        assert_eq!(answer.numbers(&path("task")).unwrap(), ["11", "12"]);
        assert_eq!(answer.numbers(&path("nowhere")).unwrap(), [""; 0]);
        assert_eq!(answer.numbers(&path("never asked")), None);
    }

    #[test]
    fn files_of_proc_are_read_whole() {
        let mut batch = Batch::new();
        for path in [
            "/proc/self/stat",
            "/proc/stat",
            "/proc/net/snmp",
            "/proc/uptime",
        ] {
            batch.file(path);
        }
        batch.numbers("/proc");
        let answer = read(&batch);
        assert!(answer.file("/proc/stat").unwrap().starts_with(b"cpu "));
        assert!(answer.file("/proc/net/snmp").unwrap().starts_with(b"Ip: "));
        let uptime = std::str::from_utf8(answer.file("/proc/uptime").unwrap()).unwrap();
        assert!(uptime.split(' ').next().unwrap().parse::<f64>().unwrap() > 0.0);
        let own = std::process::id().to_string();
        assert!(answer.numbers("/proc").unwrap().contains(&own));
    }

    #[test]
    fn what_is_asked_for_already_need_not_be_asked_again() {
        let mut one = Batch::new();
        one.file("/proc/stat");
        let mut other = one.clone();
        assert!(one.is_part_of(&other));
        other.lines("/proc/net/tcp", ":1F90$");
        assert!(one.is_part_of(&other));
        assert!(!other.is_part_of(&one));
        one.lines("/proc/net/tcp", ":1F91$");
        assert!(!one.is_part_of(&other));
    }

    proptest! {
        #[test]
        fn any_answer_is_taken(stdout: Vec<u8>) {
            let mut batch = Batch::new();
            batch.file("/proc/stat");
            batch.lines("/proc/net/tcp", "x");
            batch.each("/proc/1/task", "schedstat");
            batch.numbers("/proc");
            let _ = batch.answer(&Output { stdout, status: 0 });
        }
    }
}
