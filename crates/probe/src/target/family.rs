//! The target's processes: those named and all that descend from them.
//!
//! Looking for new children means listing `/proc`. It is done only when the machine has started a
//! process or thread since, and opens only what was not there before. A child whose parent ended
//! before the next reading (a daemon that forks twice) cannot be traced to the target and is not
//! counted.
//!
//! CPU time is conserved: what a child used moves into its parent's account for ended children
//! when the parent waits for it, so children that live for less than a second are counted too.

use std::collections::{BTreeMap, HashSet};
use std::time::Instant;

use crate::files::Files;
use crate::kept_file::KeptFile;

use super::process::{ProcessStat, ProcessUnits};

/// What the processes spent since the last reading, and what they hold now.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Spent {
    /// CPUs in use in user mode; `None` in the first reading.
    pub(crate) user_cpus: Option<f64>,
    /// CPUs in use in the kernel; `None` in the first reading.
    pub(crate) system_cpus: Option<f64>,
    /// Page faults per second that had to fetch something from storage; `None` in the first
    /// reading.
    pub(crate) major_faults_per_s: Option<f64>,
    pub(crate) resident_bytes: u64,
    pub(crate) threads: u64,
    pub(crate) processes: u64,
}

/// The processes that belong to the target.
#[derive(Debug)]
pub(crate) struct Family {
    roots: Vec<u32>,
    members: BTreeMap<u32, Member>,
    /// Processes known not to belong to it.
    strangers: HashSet<u32>,
    forks: Option<u64>,
    last: Option<Instant>,
    units: ProcessUnits,
}

#[derive(Debug)]
struct Member {
    file: KeptFile,
    last: Option<ProcessStat>,
}

/// Clock ticks of user and system time, and page faults that had to fetch something.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Counted {
    user: u64,
    system: u64,
    major_faults: u64,
}

impl Family {
    pub(crate) fn new(roots: &[u32], units: ProcessUnits) -> Self {
        Self {
            roots: roots.to_vec(),
            members: roots.iter().map(|&pid| (pid, Member::new(pid))).collect(),
            strangers: HashSet::new(),
            forks: None,
            last: None,
            units,
        }
    }

    /// Reads every process. `None` when one of the named processes is gone: a sum over the others
    /// would pass for the whole.
    pub(crate) fn sample(
        &mut self,
        now: Instant,
        forks: Option<u64>,
        files: &mut Files,
    ) -> Option<Spent> {
        if forks.is_none() || forks != self.forks {
            self.find_children(files);
            self.forks = forks;
        }
        let elapsed_s = self.last.map(|then| now.duration_since(then).as_secs_f64());
        let spent = self.read_all(files);
        self.last = Some(now);
        let roots_live = self.roots.iter().all(|pid| {
            let last = self.members.get(pid).and_then(|root| root.last);
            last.is_some_and(|stat| !stat.has_ended())
        });
        if !roots_live {
            self.last = None;
            return None;
        }
        let per_s = |count: u64| {
            let elapsed_s = elapsed_s.filter(|&elapsed_s| elapsed_s > 0.0)?;
            Some(count as f64 / elapsed_s)
        };
        let cpus = |ticks: u64| Some(per_s(ticks)? / self.units.ticks_per_s);
        let live = || self.live().map(|(_, stat)| stat);
        Some(Spent {
            user_cpus: cpus(spent.user),
            system_cpus: cpus(spent.system),
            major_faults_per_s: per_s(spent.major_faults),
            resident_bytes: live().map(|stat| stat.resident_pages).sum::<u64>()
                * self.units.page_bytes,
            threads: live().map(|stat| stat.threads).sum(),
            processes: live().count() as u64,
        })
    }

    /// Id and number of threads of every process.
    pub(crate) fn thread_counts(&self) -> impl Iterator<Item = (u32, u64)> {
        self.live().map(|(pid, stat)| (pid, stat.threads))
    }

    fn live(&self) -> impl Iterator<Item = (u32, ProcessStat)> {
        let stats = self
            .members
            .iter()
            .filter_map(|(&pid, m)| Some((pid, m.last?)));
        stats.filter(|(_, stat)| !stat.has_ended())
    }

    /// Reads all members, drops those that are gone, and returns what was spent since the last
    /// time.
    fn read_all(&mut self, files: &mut Files) -> Counted {
        let first = self.last.is_none();
        let mut own = Counted::default();
        let mut inherited = Counted::default();
        let mut departed = Counted::default();
        self.members.retain(|_, member| {
            let before = member.last;
            let stat = member.file.read(files).and_then(ProcessStat::parse);
            // Another process may have the id by now.
            let same = |stat: &ProcessStat| before.is_none_or(|before| before.start == stat.start);
            let [own_before, children_before] = before.map_or_else(Default::default, counted);
            let Some(stat) = stat.filter(same) else {
                departed = departed.plus(own_before).plus(children_before);
                return false;
            };
            let [own_now, children_now] = counted(stat);
            own = own.plus(own_now.since(own_before));
            inherited = inherited.plus(children_now.since(children_before));
            member.last = Some(stat);
            true
        });
        if first {
            return Counted::default();
        }
        own.plus(inherited.since(departed))
    }

    /// Takes in the processes that have come since and have a member as parent.
    fn find_children(&mut self, files: &mut Files) {
        let present = files.numbered("/proc");
        let present_set: HashSet<u32> = present.iter().copied().collect();
        self.strangers.retain(|pid| present_set.contains(pid));
        let mut come = present;
        come.retain(|pid| !self.members.contains_key(pid) && !self.strangers.contains(pid));
        files.prepare(come.iter().map(|pid| stat_path(*pid)));
        let mut unknown: Vec<(u32, u32)> = come
            .into_iter()
            .filter_map(|pid| {
                let stat = stat_file(pid).read(files).and_then(ProcessStat::parse)?;
                Some((pid, stat.parent))
            })
            .collect();
        // A new process may descend from another new one, so until nothing is added.
        loop {
            let before = unknown.len();
            unknown.retain(|&(pid, parent)| {
                let belongs = self.members.contains_key(&parent);
                if belongs {
                    self.members.insert(pid, Member::new(pid));
                }
                !belongs
            });
            if unknown.len() == before {
                break;
            }
        }
        self.strangers
            .extend(unknown.into_iter().map(|(pid, _)| pid));
    }
}

impl Member {
    fn new(pid: u32) -> Self {
        Self {
            file: stat_file(pid),
            last: None,
        }
    }
}

/// What a process has counted itself, and of its children that have ended.
fn counted(stat: ProcessStat) -> [Counted; 2] {
    [
        Counted {
            user: stat.user,
            system: stat.system,
            major_faults: stat.major_faults,
        },
        Counted {
            user: stat.children_user,
            system: stat.children_system,
            major_faults: stat.children_major_faults,
        },
    ]
}

impl Counted {
    fn with(self, other: Self, figure: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            user: figure(self.user, other.user),
            system: figure(self.system, other.system),
            major_faults: figure(self.major_faults, other.major_faults),
        }
    }

    fn plus(self, other: Self) -> Self {
        self.with(other, u64::saturating_add)
    }

    fn since(self, before: Self) -> Self {
        self.with(before, u64::saturating_sub)
    }
}

fn stat_file(pid: u32) -> KeptFile {
    KeptFile::new(stat_path(pid))
}

fn stat_path(pid: u32) -> String {
    format!("/proc/{pid}/stat")
}
