//! How much of its CPUs a control group may use, and how much it has used.
//!
//! After `scheduler/sched-bwc.rst`, `cgroup-v1/cpuacct.rst` and `cgroup-v2.rst` of the kernel's
//! documentation.

use std::path::Path;
use std::time::Instant;

use crate::files::Files;
use crate::kept_file::KeptFile;
use crate::kernel_text::{number, number_after, words};

use super::{Named, ROOT, announce, directories, groups_of, there};

/// Directories in which the hierarchy with the quotas can be mounted, below the root.
pub(crate) const LIMITS: [&str; 3] = ["cpu", "cpu,cpuacct", "cpuacct,cpu"];
/// Those in which the hierarchy that counts time can be mounted.
pub(crate) const TIME: [&str; 3] = ["cpuacct", "cpu,cpuacct", "cpuacct,cpu"];
const FILES: [&str; 5] = [
    "cpu.max",
    "cpu.cfs_quota_us",
    "cpu.cfs_period_us",
    "cpu.stat",
    "cpuacct.usage",
];

/// How many CPUs' time a group may use at most, by its own quota and those of the groups around it.
#[derive(Debug, Default)]
pub(crate) struct Quota(Vec<Bandwidth>);

/// The least quota that a process is under.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Tightest {
    pub(crate) cpus: f64,
    /// CPUs that all processes of its group have used since the call before; `None` in the first.
    pub(crate) used_cpus: Option<f64>,
}

/// The quota of one group.
#[derive(Debug)]
struct Bandwidth {
    quota: Written,
    /// `cpu.stat`: how often the quota was used up.
    stat: Option<KeptFile>,
    last: Option<(Instant, Stopped)>,
    used: Option<Used>,
    last_used: Option<(Instant, f64)>,
}

/// Where a quota stands.
#[derive(Debug)]
enum Written {
    /// `cpu.cfs_quota_us` and `cpu.cfs_period_us`; −1 is none.
    V1(KeptFile, KeptFile),
    /// `cpu.max`: quota (or `max`) and period.
    V2(KeptFile),
}

/// The file that counts what a group has used.
#[derive(Debug)]
pub(crate) enum Used {
    /// `cpuacct.usage`, in nanoseconds.
    V1(KeptFile),
    /// `usage_usec` of `cpu.stat`.
    V2(KeptFile),
}

/// What a group's `cpu.stat` has counted.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Stopped {
    periods: u64,
    throttled: u64,
    /// Seconds that it stood still, those of each CPU on which it had work.
    stood_still_s: Option<f64>,
}

/// How a quota has stopped a group since the call before.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Throttled {
    /// Share of its periods in which the quota was used up.
    pub(crate) periods: f64,
    /// CPUs on which it stood still on average.
    pub(crate) cpus: Option<f64>,
}

impl Throttled {
    const NEVER: Self = Self {
        periods: 0.0,
        cpus: Some(0.0),
    };

    fn or_more(self, other: Self) -> Self {
        Self {
            periods: self.periods.max(other.periods),
            cpus: self.cpus.zip(other.cpus).map(|(a, b)| a.max(b)),
        }
    }
}

impl Quota {
    /// Those that a process is under.
    pub(crate) fn of_process(pid: u32, files: &mut Files) -> Self {
        let named = groups_of(pid, files);
        Self::of(Path::new(ROOT), &named, files)
    }

    /// Those of a group and of the groups around it.
    pub(crate) fn of(root: &Path, named: &Named, files: &mut Files) -> Self {
        let limits = directories(root, &LIMITS, named.cpu.as_ref());
        announce(&limits, &FILES, files);
        // The same groups stand in another hierarchy where time is counted apart.
        let times = directories(root, &TIME, named.cpuacct.as_ref());
        announce(&times, &FILES[4..], files);
        let each = limits.iter().filter_map(|directory| {
            let quota = Written::of(directory, files)?;
            let beside = LIMITS.iter().find_map(|place| {
                let group = directory.strip_prefix(root.join(place)).ok()?;
                let mut times = TIME.iter().map(|place| root.join(place).join(group));
                times.find_map(|directory| Used::in_directory(&directory, files))
            });
            Some(Bandwidth {
                quota,
                stat: there(&directory.join("cpu.stat"), files),
                last: None,
                used: beside.or_else(|| Used::in_directory(directory, files)),
                last_used: None,
            })
        });
        Self(each.collect())
    }

    /// The least of them; infinite without any.
    pub(crate) fn cpus(&mut self, files: &mut Files) -> f64 {
        let each = self.0.iter_mut().filter_map(|one| one.quota.cpus(files));
        each.fold(f64::INFINITY, f64::min)
    }

    /// The least of them, and what its group has used; nothing without a quota.
    pub(crate) fn tightest(&mut self, now: Instant, files: &mut Files) -> Option<Tightest> {
        // All of them are read, so that each has something to compare with in the next call.
        let each: Vec<Tightest> = self
            .0
            .iter_mut()
            .filter_map(|one| {
                Some(Tightest {
                    cpus: one.quota.cpus(files)?,
                    used_cpus: one.used_cpus(now, files),
                })
            })
            .collect();
        each.into_iter().min_by(|a, b| a.cpus.total_cmp(&b.cpus))
    }

    /// How a group was stopped since the call before, because its quota was used up: the one that
    /// was stopped most. Never without a quota; `None` in the first call.
    pub(crate) fn throttled(&mut self, now: Instant, files: &mut Files) -> Option<Throttled> {
        // All of them are read, so that each has something to compare with in the next call.
        let each = self.0.iter_mut().map(|one| one.throttled(now, files));
        let each: Vec<Option<Throttled>> = each.collect();
        each.into_iter()
            .try_fold(Throttled::NEVER, |most, one| Some(most.or_more(one?)))
    }
}

impl Bandwidth {
    fn used_cpus(&mut self, now: Instant, files: &mut Files) -> Option<f64> {
        let used_s = self.used.as_mut()?.seconds(files)?;
        let (then, before_s) = self.last_used.replace((now, used_s))?;
        let elapsed_s = now.saturating_duration_since(then).as_secs_f64();
        (elapsed_s > 0.0).then(|| (used_s - before_s).max(0.0) / elapsed_s)
    }

    /// A group that does not run has no periods, and was not stopped. The root has no such file.
    fn throttled(&mut self, now: Instant, files: &mut Files) -> Option<Throttled> {
        let text = self.stat.as_mut().and_then(|stat| stat.read(files));
        let Some(stat) = text.and_then(Stopped::parse) else {
            return Some(Throttled::NEVER);
        };
        let (then, before) = self.last.replace((now, stat))?;
        let periods = stat.periods.saturating_sub(before.periods);
        let throttled = stat.throttled.saturating_sub(before.throttled);
        let elapsed_s = now.saturating_duration_since(then).as_secs_f64();
        let stood_still_s = stat.stood_still_s.zip(before.stood_still_s);
        let stood_still_s = stood_still_s.map(|(now, before)| (now - before).max(0.0));
        Some(Throttled {
            periods: throttled as f64 / periods.max(1) as f64,
            cpus: stood_still_s
                .filter(|_| elapsed_s > 0.0)
                .map(|seconds| seconds / elapsed_s),
        })
    }
}

impl Stopped {
    fn parse(text: &[u8]) -> Option<Self> {
        Some(Self {
            periods: number_after(text, b"nr_periods")?,
            throttled: number_after(text, b"nr_throttled")?,
            stood_still_s: number_after(text, b"throttled_usec")
                .map(|micros| micros as f64 * 1e-6)
                .or_else(|| Some(number_after(text, b"throttled_time")? as f64 * 1e-9)),
        })
    }
}

impl Written {
    fn of(directory: &Path, files: &mut Files) -> Option<Self> {
        if let Some(v2) = there(&directory.join("cpu.max"), files) {
            return Some(Self::V2(v2));
        }
        let quota = there(&directory.join("cpu.cfs_quota_us"), files)?;
        let period = there(&directory.join("cpu.cfs_period_us"), files)?;
        Some(Self::V1(quota, period))
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

impl Used {
    /// The file of a group's directory that counts its time.
    pub(crate) fn in_directory(directory: &Path, files: &mut Files) -> Option<Self> {
        if let Some(v1) = there(&directory.join("cpuacct.usage"), files) {
            return Some(Self::V1(v1));
        }
        let mut v2 = there(&directory.join("cpu.stat"), files)?;
        // The same name in version 1 counts how often the quota was used up.
        number_after(v2.read(files)?, b"usage_usec")?;
        Some(Self::V2(v2))
    }

    /// CPU seconds that the group has used.
    pub(crate) fn seconds(&mut self, files: &mut Files) -> Option<f64> {
        match self {
            Self::V1(file) => {
                let nanos = words(file.read(files)?).next().and_then(number)?;
                Some(nanos as f64 * 1e-9)
            }
            Self::V2(file) => {
                let micros = number_after(file.read(files)?, b"usage_usec")?;
                Some(micros as f64 * 1e-6)
            }
        }
    }
}
