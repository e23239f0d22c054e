//! Files of `/proc` that are opened once and read again each second.
//!
//! Opening costs several times what reading costs, and a file of `/proc` that is read again from
//! its start shows the present.

use std::fs::File;
use std::os::unix::fs::FileExt;

use crate::files::Files;

/// Space that is read into, used again for every file.
#[derive(Debug)]
pub(crate) struct Scratch(Vec<u8>);

/// Most that is read of one file; no file read here comes near it.
const LARGEST_FILE_BYTES: usize = 16 * 1024 * 1024;

impl Scratch {
    /// Space for the usual files; it grows when one is larger.
    pub(crate) fn new() -> Self {
        Self(vec![0; 16 * 1024])
    }

    /// The whole file from its start, or `None` when it cannot be read (any more).
    pub(crate) fn whole(&mut self, file: &File) -> Option<&[u8]> {
        let mut filled = 0;
        loop {
            if filled == self.0.len() {
                if filled >= LARGEST_FILE_BYTES {
                    return None;
                }
                self.0.resize(2 * filled, 0);
            }
            match file.read_at(&mut self.0[filled..], filled as u64) {
                Ok(0) => return Some(&self.0[..filled]),
                Ok(read) => filled += read,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => return None,
            }
        }
    }

    /// What one read from the start gives: for files that are known to be one short line.
    pub(crate) fn start(&mut self, file: &File) -> Option<&[u8]> {
        let read = file.read_at(&mut self.0, 0).ok()?;
        Some(&self.0[..read])
    }
}

/// A file that stays open between readings, when it is one of this machine.
#[derive(Debug)]
pub(crate) struct KeptFile {
    path: String,
    /// Of a table of another machine: the lines whose second column fits this are enough.
    second_column: Option<String>,
    file: Option<File>,
}

impl KeptFile {
    /// A file that is opened when it is first read.
    pub(crate) fn new(path: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            second_column: None,
            file: None,
        }
    }

    /// A table of which only those lines are needed whose second column fits an expression of
    /// `awk`.
    pub(crate) fn table(path: impl Into<String>, second_column: impl Into<String>) -> Self {
        Self {
            second_column: Some(second_column.into()),
            ..Self::new(path)
        }
    }

    /// The present content, or `None` when it cannot be read. It is opened anew the next time then.
    pub(crate) fn read<'s>(&mut self, files: &'s mut Files) -> Option<&'s [u8]> {
        if !files.are_here() {
            let far = files.far()?;
            return match &self.second_column {
                Some(column) => far.table(&self.path, column),
                None => far.text(&self.path),
            };
        }
        if self.file.is_none() {
            self.file = File::open(&self.path).ok();
        }
        let content = files.scratch().whole(self.file.as_ref()?);
        if content.is_none() {
            self.file = None;
        }
        content
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn a_kept_file_shows_the_present() {
        let mut files = Files::here();
        let mut stat = KeptFile::new("/proc/thread-self/schedstat");
        let first = stat.read(&mut files).unwrap().to_vec();
        // This loop itself moves the first number, nanoseconds on a CPU.
        while stat.read(&mut files).unwrap() == first {}
    }

    #[test]
    fn a_file_larger_than_the_space_is_read_whole() {
        let mut scratch = Scratch(vec![0; 7]);
        let file = File::open("/proc/self/status").unwrap();
        let text = scratch.whole(&file).unwrap();
        assert!(text.starts_with(b"Name:"));
        assert!(text.ends_with(b"\n"));
        assert!(text.len() > 500);
    }

    #[test]
    fn a_file_that_is_not_there_is_absent() {
        let mut file = KeptFile::new("/proc/self/no-such-file");
        assert_eq!(file.read(&mut Files::here()), None);
    }
}
