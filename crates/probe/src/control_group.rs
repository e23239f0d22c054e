//! How much of its CPUs a control group may use.
//!
//! After `scheduler/sched-bwc.rst` and `cgroup-v2.rst` of the kernel's documentation.

use std::fs;
use std::path::{Path, PathBuf};

use crate::files::Files;
use crate::kept_file::KeptFile;
use crate::kernel_text::{lines, number, number_after, words};

/// Where distributions mount the hierarchies of control groups.
pub(crate) const ROOT: &str = "/sys/fs/cgroup";
/// Directories in which the hierarchy with the quotas can be mounted, below [`ROOT`].
pub(crate) const LIMITS: [&str; 3] = ["cpu", "cpu,cpuacct", "cpuacct,cpu"];
/// Those of version 2, which alone has none of its own.
pub(crate) const UNIFIED: [&str; 2] = ["", "unified"];

/// How many CPUs' time a group may use at most, by its own quota and those of the groups around it.
#[derive(Debug, Default)]
pub(crate) struct Quota(Vec<Bandwidth>);

/// The quota of one group.
#[derive(Debug)]
struct Bandwidth {
    quota: Written,
    /// `cpu.stat`: how often the quota was used up.
    stat: KeptFile,
    last: Option<Stopped>,
}

/// Where a quota stands.
#[derive(Debug)]
enum Written {
    /// `cpu.cfs_quota_us` and `cpu.cfs_period_us`; −1 is none.
    V1(KeptFile, KeptFile),
    /// `cpu.max`: quota (or `max`) and period.
    V2(KeptFile),
}

/// What a group's `cpu.stat` has counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stopped {
    periods: u64,
    throttled: u64,
}

impl Quota {
    /// The quotas that a process is under.
    pub(crate) fn of_process(pid: u32) -> Self {
        let text = fs::read(format!("/proc/{pid}/cgroup")).unwrap_or_default();
        let name = cpu_group(&text);
        name.map_or_else(Self::default, |name| Self::below(Path::new(ROOT), &name))
    }

    /// Those of a group and of the groups around it.
    pub(crate) fn below(root: &Path, name: &Path) -> Self {
        let places = LIMITS.iter().chain(&UNIFIED).map(|place| root.join(place));
        let directories = places.flat_map(|place| {
            let groups = name.ancestors().map(move |group| place.join(group));
            groups.collect::<Vec<_>>()
        });
        Self(
            directories
                .filter_map(|directory| Bandwidth::of(&directory))
                .collect(),
        )
    }

    /// The least of them; infinite without any.
    pub(crate) fn cpus(&mut self, files: &mut Files) -> f64 {
        let each = self.0.iter_mut().filter_map(|one| one.cpus(files));
        each.fold(f64::INFINITY, f64::min)
    }
}

impl Quota {
    /// The share of its periods in which a group was stopped since the call before, because its
    /// quota was used up: that of the group that was stopped most. 0 without a quota; `None` in the
    /// first call.
    pub(crate) fn throttled(&mut self, files: &mut Files) -> Option<f64> {
        // All of them are read, so that each has something to compare with in the next call.
        let each: Vec<Option<f64>> = self.0.iter_mut().map(|one| one.throttled(files)).collect();
        each.into_iter()
            .try_fold(0.0, |most, one| Some(f64::max(most, one?)))
    }
}

impl Bandwidth {
    fn of(directory: &Path) -> Option<Self> {
        Some(Self {
            quota: Written::of(directory)?,
            stat: kept(&directory.join("cpu.stat")),
            last: None,
        })
    }

    fn cpus(&mut self, files: &mut Files) -> Option<f64> {
        self.quota.cpus(files)
    }

    /// A group that does not run has no periods, and was not stopped. The root has no such file.
    fn throttled(&mut self, files: &mut Files) -> Option<f64> {
        let Some(now) = self.stat.read(files).and_then(Stopped::parse) else {
            return Some(0.0);
        };
        let before = self.last.replace(now)?;
        let periods = now.periods.saturating_sub(before.periods);
        let throttled = now.throttled.saturating_sub(before.throttled);
        Some(throttled as f64 / periods.max(1) as f64)
    }
}

impl Stopped {
    fn parse(text: &[u8]) -> Option<Self> {
        Some(Self {
            periods: number_after(text, b"nr_periods")?,
            throttled: number_after(text, b"nr_throttled")?,
        })
    }
}

impl Written {
    fn of(directory: &Path) -> Option<Self> {
        let [v2, quota, period] =
            ["cpu.max", "cpu.cfs_quota_us", "cpu.cfs_period_us"].map(|name| directory.join(name));
        if v2.is_file() {
            return Some(Self::V2(kept(&v2)));
        }
        quota
            .is_file()
            .then(|| Self::V1(kept(&quota), kept(&period)))
    }

    fn cpus(&mut self, files: &mut Files) -> Option<f64> {
        let first = |text: &[u8]| words(text).next().and_then(number);
        let (quota, period) = match self {
            Self::V1(quota, period) => (first(quota.read(files)?)?, first(period.read(files)?)?),
            Self::V2(max) => {
                let mut columns = words(max.read(files)?).map(number);
                (columns.next()??, columns.next()??)
            }
        };
        (period > 0).then(|| quota as f64 / period as f64)
    }
}

/// The path of the group that limits a process's CPU, as `/proc/PID/cgroup` tells it: of the
/// controller `cpu`, or of version 2.
pub(crate) fn cpu_group(text: &[u8]) -> Option<PathBuf> {
    let groups = lines(text).filter_map(|line| {
        let mut columns = std::str::from_utf8(line).ok()?.splitn(3, ':').skip(1);
        Some((columns.next()?, columns.next()?))
    });
    let mut groups: Vec<(&str, &str)> = groups.collect();
    groups.retain(|(controllers, _)| {
        controllers.is_empty() || controllers.split(',').any(|one| one == "cpu")
    });
    // In a system with both versions, a controller is in one of them.
    let group = groups
        .iter()
        .find(|(controllers, _)| !controllers.is_empty())
        .or(groups.first());
    group.map(|(_, path)| PathBuf::from(path.trim_start_matches('/')))
}

/// A file of a group, opened once.
pub(crate) fn kept(path: &Path) -> KeptFile {
    KeptFile::new(path.to_string_lossy())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_stopped_in_the_periods_in_which_its_quota_was_used_up() {
        let root = tempfile::tempdir().unwrap();
        let group = root.path().join("cpu/app");
        fs::create_dir_all(&group).unwrap();
        let write = |name: &str, text: &str| fs::write(group.join(name), text).unwrap();
        write("cpu.cfs_quota_us", "50000\n");
        write("cpu.cfs_period_us", "100000\n");
        write(
            "cpu.stat",
            "nr_periods 10\nnr_throttled 4\nthrottled_time 7\n",
        );
        let mut files = Files::here();
        let mut quota = Quota::below(root.path(), Path::new("app"));
        assert_eq!(quota.throttled(&mut files), None, "nothing to compare with");
        write(
            "cpu.stat",
            "nr_periods 20\nnr_throttled 12\nthrottled_time 9\n",
        );
        assert_eq!(quota.throttled(&mut files), Some(0.8));
        assert_eq!(quota.throttled(&mut files), Some(0.0), "it does not run");
        let mut none = Quota::below(root.path(), Path::new("other"));
        assert_eq!(none.throttled(&mut files), Some(0.0));
    }
}
