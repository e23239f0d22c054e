//! Whether the gateway's file has changed since it was read.
//!
//! It is asked for once a second. Files that are mounted change by a link that leads elsewhere
//! (Kubernetes), editors put another file in the place of the first: both are seen by what is at
//! the end of the path. Notices of the kernel would be about the file that was there before.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// A file that is watched.
pub(super) struct Watched {
    path: PathBuf,
    read: Option<Seen>,
    /// What was seen last: a file that is just being written is waited for.
    last: Option<Seen>,
}

/// What is at the end of the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Seen {
    device: u64,
    inode: u64,
    length: u64,
    written: (i64, i64),
}

impl Watched {
    /// One that has just been read.
    pub(super) fn new(path: &Path) -> Self {
        let read = see(path);
        Self {
            path: path.to_owned(),
            read,
            last: read,
        }
    }

    /// It is read now.
    pub(super) fn is_read(&mut self) {
        self.read = see(&self.path);
        self.last = self.read;
    }

    /// Whether it is another one than was read, and has been so for as long as from one time that
    /// this is called to the next; told once. One that is not there has not changed.
    pub(super) fn has_changed(&mut self) -> bool {
        let now = see(&self.path);
        let is_at_rest = now == std::mem::replace(&mut self.last, now);
        let has_changed = now.is_some() && now != self.read && is_at_rest;
        if has_changed {
            self.read = now;
        }
        has_changed
    }
}

fn see(path: &Path) -> Option<Seen> {
    let metadata = path.metadata().ok()?;
    Some(Seen {
        device: metadata.dev(),
        inode: metadata.ino(),
        length: metadata.len(),
        written: (metadata.mtime(), metadata.mtime_nsec()),
    })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    /// As the kubelet does it: a link to a link to a folder with the file.
    #[test]
    fn a_link_that_leads_elsewhere_is_a_change() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["one", "two"] {
            fs::create_dir(at(name)).unwrap();
            fs::write(at(name).join("gate.toml"), "same").unwrap();
        }
        symlink("one", at("..data")).unwrap();
        symlink("..data/gate.toml", at("gate.toml")).unwrap();
        let mut watched = Watched::new(&at("gate.toml"));
        assert!(!watched.has_changed());
        symlink("two", at("..data_tmp")).unwrap();
        fs::rename(at("..data_tmp"), at("..data")).unwrap();
        assert!(!watched.has_changed(), "it may not be whole yet");
        assert!(watched.has_changed());
        assert!(!watched.has_changed(), "it is told once");
    }

    #[test]
    fn what_is_gone_or_read_already_has_not_changed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gate.toml");
        fs::write(&path, "one").unwrap();
        let mut watched = Watched::new(&path);
        fs::remove_file(&path).unwrap();
        assert!(!watched.has_changed() && !watched.has_changed());
        fs::write(&path, "another").unwrap();
        watched.is_read();
        assert!(!watched.has_changed() && !watched.has_changed());
    }
}
