//! The lock of a journal: who holds it is the Weir that the journal belongs to, or the one that
//! restores it.

use std::fs::File;
use std::io::{self, Write as _};

use rustix::fs::{FlockOperation, flock};

/// A file that is locked until this is dropped, or its process ends (see flock(2)).
#[derive(Debug)]
pub(super) struct Locked(File);

impl Locked {
    /// Locks a file.
    ///
    /// # Errors
    /// [`WouldBlock`](io::ErrorKind::WouldBlock) when somebody else holds its lock; or it cannot be
    /// locked.
    pub(super) fn new(file: File) -> io::Result<Self> {
        flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        Ok(Self(file))
    }

    /// Adds to the file, and has it written to the disk.
    ///
    /// # Errors
    /// As of the file.
    pub(super) fn append(&mut self, text: &str) -> io::Result<()> {
        self.0.write_all(text.as_bytes())?;
        self.0.sync_data()
    }
}

/// Closing the file would not do: a process that another thread is just starting has it open, too,
/// until it runs a program of its own.
impl Drop for Locked {
    fn drop(&mut self) {
        // Nothing is left to try; the kernel unlocks it when the process ends.
        let _ = flock(&self.0, FlockOperation::Unlock);
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests state what must hold")]

    use super::*;

    #[test]
    fn one_holds_it_until_it_is_dropped_whoever_else_has_the_file_open() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("entries");
        let file = File::create_new(&path).unwrap();
        let inherited = file.try_clone().unwrap();
        let mut held = Locked::new(file).unwrap();
        held.append("a line\n").unwrap();
        let other = Locked::new(File::open(&path).unwrap()).unwrap_err();
        assert_eq!(other.kind(), io::ErrorKind::WouldBlock);
        drop(held);
        Locked::new(File::open(&path).unwrap()).unwrap();
        drop(inherited);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "a line\n");
    }
}
