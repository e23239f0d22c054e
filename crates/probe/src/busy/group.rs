//! The CPU time of a control group, and what it may use: its set of CPUs and its quota.
//!
//! After `cgroup-v1/cpuacct.rst`, `cgroup-v1/cpusets.rst`, `scheduler/sched-bwc.rst` and
//! `cgroup-v2.rst` of the kernel's documentation. Version 1 has a hierarchy of directories for each
//! controller, in which a group has the same path as a rule; version 2 has one for all.

use std::path::{Path, PathBuf};
use std::time::Instant;

use weir_metric::CpuSet;

use crate::control_group::{LIMITS, Named, Quota, ROOT, TIME, UNIFIED, Used, kept};
use crate::files::Files;
use crate::kept_file::KeptFile;

use super::kernel::Kernel;
use super::{Busy, BusyError};

const SETS: &str = "cpuset";

/// Reads a group. One that is not there yet, or not any more, is looked for in each reading.
#[derive(Debug)]
pub(super) struct GroupReader {
    path: PathBuf,
    found: Option<Group>,
    kernel: Kernel,
}

/// A group that was found.
#[derive(Debug)]
struct Group {
    used: Used,
    cpus: Vec<KeptFile>,
    quota: Quota,
    last_s: Option<f64>,
}

impl GroupReader {
    pub(super) fn new(path: PathBuf) -> Self {
        Self {
            path,
            found: None,
            kernel: Kernel::new(),
        }
    }

    pub(super) fn read(&mut self, now: Instant) -> Result<Option<Busy>, BusyError> {
        if self.found.is_none() {
            self.found = Group::find(Path::new(ROOT), &self.path, self.kernel.files());
        }
        let since = self.kernel.read(now)?;
        let used = match &mut self.found {
            Some(group) => group.used.seconds(self.kernel.files()),
            None => None,
        };
        let Some((group, used_s)) = self.found.as_mut().zip(used) else {
            self.found = None;
            self.kernel.forget();
            return Err(BusyError::NoGroup(self.path.clone()));
        };
        let before = group.last_s.replace(used_s);
        let set = group
            .set(self.kernel.files())
            .or_else(|| self.kernel.online());
        let quota = group.quota.cpus(self.kernel.files());
        Ok(since
            .zip(before)
            .zip(set)
            .and_then(|((since, before), set)| {
                let in_use = (used_s - before).max(0.0) / since.elapsed_s;
                Busy::of(in_use, since.available(&set).min(quota))
            }))
    }
}

impl Group {
    /// A group by its directory, or by its path in the hierarchies below `root`.
    fn find(root: &Path, path: &Path, files: &mut Files) -> Option<Self> {
        let name = name_of(root, path);
        let itself = path.is_absolute().then(|| path.to_owned());
        let places = TIME.iter().chain(&UNIFIED);
        let directories = places.map(|place| root.join(place).join(&name));
        let used = itself
            .into_iter()
            .chain(directories)
            .find_map(|directory| Used::in_directory(&directory, files))?;
        let sets = [
            root.join(SETS).join(&name).join("cpuset.effective_cpus"),
            root.join(&name).join("cpuset.cpus.effective"),
            path.join("cpuset.cpus.effective"),
        ];
        Some(Self {
            used,
            cpus: sets
                .into_iter()
                .filter(|file| file.is_file())
                .map(|file| kept(&file))
                .collect(),
            quota: Quota::of(root, &Named::everywhere(&name), files),
            last_s: None,
        })
    }

    /// The CPUs of its set; `None`: it has none of its own.
    fn set(&mut self, files: &mut Files) -> Option<CpuSet> {
        let mut sets = self.cpus.iter_mut();
        sets.find_map(|file| std::str::from_utf8(file.read(files)?).ok()?.parse().ok())
    }
}

/// The path of a group within its hierarchy, wherever that is mounted.
fn name_of(root: &Path, path: &Path) -> PathBuf {
    let below = path.strip_prefix(root).unwrap_or(path);
    let below = below.strip_prefix("/").unwrap_or(below);
    let controller = TIME
        .iter()
        .chain(&LIMITS)
        .chain(&UNIFIED[1..])
        .chain([&SETS]);
    let mut inside = controller.filter_map(|place| below.strip_prefix(place).ok());
    inside.next().unwrap_or(below).to_owned()
}

#[cfg(test)]
mod tests;
