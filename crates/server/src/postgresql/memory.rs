//! A bound on the memory of a private server: its buffers, its processes, and what the kernel keeps
//! of its files. With less than its tables take, it reads them from the disk again and again.
//!
//! It is a control group of either version, which root may make.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::cluster::left_behind;
use crate::error::TargetError;

/// Where distributions mount the hierarchies.
const ROOT: &str = "/sys/fs/cgroup";
/// Which version 2 has, whose one hierarchy is mounted there.
const UNIFIED: &str = "cgroup.controllers";
/// How often it is tried to remove a group whose processes are on their way out, and how far apart.
const TRIES: (u32, Duration) = (50, Duration::from_millis(100));

/// A control group with so much memory. It goes with this.
#[derive(Debug)]
pub(super) struct MemoryBound(PathBuf);

impl MemoryBound {
    /// Makes it, after removing those whose Weir is gone. `name` is that of the server's directory.
    pub(super) fn make(name: &str, bytes: u64) -> Result<Self, TargetError> {
        Self::make_in(Path::new(ROOT), name, bytes)
    }

    fn make_in(root: &Path, name: &str, bytes: u64) -> Result<Self, TargetError> {
        let (parent, limit) = if root.join(UNIFIED).exists() {
            (root.to_owned(), "memory.max")
        } else {
            (root.join("memory"), "memory.limit_in_bytes")
        };
        remove_left_behind(&parent);
        let folder = parent.join(name);
        let made = fs::create_dir(&folder);
        // Dropped, it goes again, whatever comes of the limit.
        let group = Self(folder);
        made.and_then(|()| write(&group.0.join(limit), bytes))
            .map_err(|error| group.failed(&error))?;
        Ok(group)
    }

    /// Puts a process into it that has just been started; those that it starts are in it, too.
    pub(super) fn take(&self, pid: u32) -> Result<(), TargetError> {
        write(&self.0.join("cgroup.procs"), u64::from(pid)).map_err(|error| self.failed(&error))
    }

    fn failed(&self, error: &io::Error) -> TargetError {
        TargetError::Setting {
            name: "database.memory".to_owned(),
            says: format!(
                "the kernel gives no control group for it ({}: {error}); run as root where control groups of memory are \
                 mounted, or leave `memory` out",
                self.0.display()
            ),
        }
    }
}

/// The kernel's files are there already: one that is not must not come of this.
fn write(file: &Path, number: u64) -> io::Result<()> {
    let mut file = fs::OpenOptions::new().write(true).open(file)?;
    io::Write::write_all(&mut file, number.to_string().as_bytes())
}

impl Drop for MemoryBound {
    fn drop(&mut self) {
        let (times, apart) = TRIES;
        for _ in 0..times {
            if fs::remove_dir(&self.0).is_ok() || !self.0.exists() {
                return;
            }
            std::thread::sleep(apart);
        }
    }
}

/// Removes the groups of Weirs that were killed; the kernel keeps those that have processes.
fn remove_left_behind(parent: &Path) {
    for group in left_behind(parent) {
        // One that is not empty stays.
        let _ = fs::remove_dir(group);
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::super::cluster::PREFIX;
    use super::*;

    #[test]
    fn where_no_group_can_be_made_the_way_out_is_said() {
        let root = tempfile::tempdir().unwrap();
        let error = MemoryBound::make_in(root.path(), "weir-postgresql-1-0", 1).unwrap_err();
        let says = error.to_string();
        assert!(says.contains("database.memory"), "{says}");
        assert!(says.contains("leave `memory` out"), "{says}");
        // A hierarchy without its files takes no limit, and keeps no folder.
        fs::create_dir(root.path().join("memory")).unwrap();
        assert!(MemoryBound::make_in(root.path(), "weir-postgresql-1-0", 1).is_err());
        assert!(!root.path().join("memory/weir-postgresql-1-0").exists());
    }

    #[test]
    fn groups_of_weirs_that_were_killed_are_removed() {
        let root = tempfile::tempdir().unwrap();
        // Ids end below 2^22 (proc(5), pid_max).
        let gone = root.path().join(format!("{PREFIX}4194305-0"));
        let running = root
            .path()
            .join(format!("{PREFIX}{}-0", std::process::id()));
        let other = root.path().join("other");
        for folder in [&gone, &running, &other] {
            fs::create_dir(folder).unwrap();
        }
        remove_left_behind(root.path());
        assert!(!gone.exists());
        assert!(running.exists() && other.exists());
    }
}
