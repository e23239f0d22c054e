//! The target's processes: their CPU, memory, threads, waiting for a CPU, context switches.

pub(crate) mod family;
pub(crate) mod groups;
pub(crate) mod process;
pub(crate) mod rotation;
mod storage;
pub(crate) mod threads;

use std::time::Instant;

use rustix::process::Pid;
use rustix::thread::sched_getaffinity;
use weir_metric::CpuSet;

use crate::control_group::{ControlGroups, quota_of};
use crate::files::{Files, numbered};
use crate::reading::{Reading, put};

use family::Family;
use process::ProcessUnits;
use storage::Storage;
use threads::Threads;

/// The target's processes and all that is followed of them.
#[derive(Debug)]
pub(crate) struct Target {
    roots: Vec<u32>,
    family: Family,
    threads: Threads,
    storage: Storage,
    /// The control groups of the first of the processes.
    groups: Option<ControlGroups>,
}

impl Target {
    /// The processes with these ids and all that descend from them.
    pub(crate) fn new(roots: &[u32], units: ProcessUnits) -> Self {
        Self {
            roots: roots.to_vec(),
            family: Family::new(roots, units),
            threads: Threads::new(),
            storage: Storage::default(),
            groups: roots.first().copied().map(ControlGroups::of),
        }
    }

    /// The CPUs that the first of the processes may use, when it runs on this machine.
    pub(crate) fn allowed_cpus(&self) -> Option<CpuSet> {
        affinity(*self.roots.first()?)
    }

    /// Reads everything; `forks` is the machine's count of started processes and threads, which
    /// tells whether new ones have to be looked for at all.
    pub(crate) fn sample(
        &mut self,
        now: Instant,
        forks: Option<u64>,
        files: &mut Files,
        reading: &mut Reading,
    ) {
        let Some(spent) = self.family.sample(now, forks, files) else {
            self.threads.forget();
            self.storage = Storage::default();
            return;
        };
        put(reading, "target.cpu.user", spent.user_cpus);
        put(reading, "target.cpu.system", spent.system_cpus);
        let used = spent.user_cpus.zip(spent.system_cpus);
        if let Some(groups) = &mut self.groups {
            let used_cpus = used.map(|(user, system)| user + system);
            groups.sample(now, used_cpus, files, reading);
        }
        put(
            reading,
            "target.memory.rss",
            Some(spent.resident_bytes as f64),
        );
        put(
            reading,
            "target.page-faults.major",
            spent.major_faults_per_s,
        );
        put(reading, "target.processes", Some(spent.processes as f64));
        put(reading, "target.threads", Some(spent.threads as f64));
        self.threads
            .sample(now, forks, self.family.thread_counts(), files, reading);
        let processes = self.family.thread_counts().map(|(pid, _)| pid);
        self.storage.sample(now, processes, files, reading);
    }
}

/// How many CPUs' time the control group of a process of this machine may use; nothing without a
/// quota.
pub fn quota_of_process(pid: u32) -> Option<f64> {
    let cpus = quota_of(pid);
    cpus.is_finite().then_some(cpus)
}

/// The CPUs that a process of this machine, its threads and the processes that descend from it may
/// use, any of them; nothing when there is no such process.
pub fn cpus_of_process(pid: u32) -> Option<CpuSet> {
    let mut family = Family::new(&[pid], ProcessUnits::here());
    family.sample(Instant::now(), None, &mut Files::here())?;
    let mut cpus: Vec<usize> = Vec::new();
    for (pid, _) in family.thread_counts() {
        for thread in numbered(&format!("/proc/{pid}/task")) {
            cpus.extend(affinity(thread).iter().flat_map(CpuSet::iter));
        }
    }
    CpuSet::new(cpus)
}

/// The CPUs that a process of this machine may use.
pub(crate) fn affinity(pid: u32) -> Option<CpuSet> {
    let pid = Pid::from_raw(i32::try_from(pid).ok()?)?;
    let mask = sched_getaffinity(Some(pid)).ok()?;
    CpuSet::new((0..rustix::thread::CpuSet::MAX_CPU).filter(|&cpu| mask.is_set(cpu)))
}
