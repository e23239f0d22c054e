//! The CPU time of a control group, and what it may use: its set of CPUs and its quota.
//!
//! After `cgroup-v1/cpuacct.rst`, `cgroup-v1/cpusets.rst`, `scheduler/sched-bwc.rst` and
//! `cgroup-v2.rst` of the kernel's documentation. Version 1 has a hierarchy of directories for each
//! controller, in which a group has the same path as a rule; version 2 has one for all.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use weir_metric::CpuSet;

use crate::files::Files;
use crate::kept_file::KeptFile;
use crate::kernel_text::{number, number_after, words};
use crate::quota::{LIMITS, Quota, ROOT, UNIFIED, kept};

use super::kernel::Kernel;
use super::{Busy, BusyError};

/// Directories in which the hierarchy that counts time can be mounted, below [`ROOT`].
const TIME: [&str; 3] = ["cpuacct", "cpu,cpuacct", "cpuacct,cpu"];
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
    usage: Usage,
    cpus: Vec<KeptFile>,
    quota: Quota,
    last_s: Option<f64>,
}

/// The file that counts what the group has used.
#[derive(Debug)]
enum Usage {
    /// `cpuacct.usage`, in nanoseconds.
    V1(KeptFile),
    /// `usage_usec` of `cpu.stat`.
    V2(KeptFile),
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
            self.found = Group::find(Path::new(ROOT), &self.path);
        }
        let since = self.kernel.read(now)?;
        let used = match &mut self.found {
            Some(group) => group.used_s(self.kernel.files()),
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
    fn find(root: &Path, path: &Path) -> Option<Self> {
        let name = name_of(root, path);
        let itself = path.is_absolute().then(|| Usage::in_directory(path));
        let usage = itself.flatten().or_else(|| {
            let places = TIME.iter().chain(&UNIFIED);
            places
                .map(|place| root.join(place).join(&name))
                .find_map(|directory| Usage::in_directory(&directory))
        })?;
        let sets = [
            root.join(SETS).join(&name).join("cpuset.effective_cpus"),
            root.join(&name).join("cpuset.cpus.effective"),
            path.join("cpuset.cpus.effective"),
        ];
        Some(Self {
            usage,
            cpus: sets
                .into_iter()
                .filter(|file| file.is_file())
                .map(|file| kept(&file))
                .collect(),
            quota: Quota::below(root, &name),
            last_s: None,
        })
    }

    /// CPU seconds that it has used.
    fn used_s(&mut self, files: &mut Files) -> Option<f64> {
        match &mut self.usage {
            Usage::V1(file) => {
                let nanos = words(file.read(files)?).next().and_then(number)?;
                Some(nanos as f64 * 1e-9)
            }
            Usage::V2(file) => {
                let micros = number_after(file.read(files)?, b"usage_usec")?;
                Some(micros as f64 * 1e-6)
            }
        }
    }

    /// The CPUs of its set; `None`: it has none of its own.
    fn set(&mut self, files: &mut Files) -> Option<CpuSet> {
        let mut sets = self.cpus.iter_mut();
        sets.find_map(|file| std::str::from_utf8(file.read(files)?).ok()?.parse().ok())
    }
}

impl Usage {
    fn in_directory(directory: &Path) -> Option<Self> {
        let v1 = directory.join("cpuacct.usage");
        if v1.is_file() {
            return Some(Self::V1(kept(&v1)));
        }
        let v2 = directory.join("cpu.stat");
        // The same name in version 1 counts how often the quota was used up.
        let counts = fs::read(&v2).is_ok_and(|text| number_after(&text, b"usage_usec").is_some());
        counts.then(|| Self::V2(kept(&v2)))
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
