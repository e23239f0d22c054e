//! A control group for the server of a case, of either version.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::TaskError;

/// Where distributions mount the hierarchies.
const ROOT: &str = "/sys/fs/cgroup";
/// Which files the group has in version 2, which has one hierarchy.
const UNIFIED: &str = "/sys/fs/cgroup/cgroup.controllers";
/// The group's name.
const NAME: &str = "weir-bench-explain";
/// The variable in which a study's command finds its folder.
pub(super) const VARIABLE: &str = "WEIR_BENCH_GROUP";

/// What the group may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bound {
    /// Hundredths of a CPU.
    Cpu(u32),
    /// Megabytes of memory.
    Memory(u32),
}

/// A group that is removed when this is dropped.
#[derive(Debug)]
pub(super) struct Group(PathBuf);

impl Group {
    /// Makes it; where the kernel does not have it or the user may not, that is said.
    pub(super) fn make(bound: Bound) -> Result<Self, TaskError> {
        let unified = Path::new(UNIFIED).exists();
        let (hierarchy, file, limit) = match bound {
            Bound::Cpu(hundredths) if unified => ("", "cpu.max", format!("{hundredths}000 100000")),
            Bound::Cpu(hundredths) => ("cpu", "cpu.cfs_quota_us", format!("{hundredths}000")),
            Bound::Memory(megabytes) => (
                if unified { "" } else { "memory" },
                if unified {
                    "memory.max"
                } else {
                    "memory.limit_in_bytes"
                },
                (u64::from(megabytes) << 20).to_string(),
            ),
        };
        let folder = Path::new(ROOT).join(hierarchy).join(NAME);
        let made = fs::create_dir_all(&folder);
        // Dropped, it goes again, whatever comes of the limit.
        let group = Self(folder);
        made.and_then(|()| fs::write(group.0.join(file), &limit))
            .map_err(|why| {
                TaskError::Unavailable(format!("a control group ({}: {why})", group.0.display()))
            })?;
        Ok(group)
    }

    /// Puts a process that runs already into it.
    pub(super) fn take(&self, process: u32) -> Result<(), TaskError> {
        let file = self.0.join("cgroup.procs");
        fs::write(&file, process.to_string()).map_err(TaskError::file("write", &file))
    }

    /// Its folder.
    pub(super) fn folder(&self) -> &Path {
        &self.0
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // Its processes have been ended, and leave it in a moment.
        for _ in 0..50 {
            if fs::remove_dir(&self.0).is_ok() || !self.0.exists() {
                return;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}
