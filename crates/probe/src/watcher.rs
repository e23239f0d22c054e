//! One reading of everything that a watch is about.

use std::time::Instant;

use weir_units::CpuSet;

use crate::counters::Counters;
use crate::cpu::CpuStat;
use crate::kept_file::{KeptFile, Scratch};
use crate::own::OwnProcess;
use crate::pressure::Pressure;
use crate::reading::Reading;
use crate::source::{Source, SourceReader};
use crate::target::Target;
use crate::tcp::Tcp;

/// What is watched beside the machine itself.
#[derive(Debug, Clone, Default)]
pub struct WatchPlan {
    /// The target's processes; those that descend from them are found. When one of these ends, all
    /// signals of the target's processes are absent.
    pub target_pids: Vec<u32>,
    /// The CPUs that the target may use. When none are given: those that the first process of the
    /// target may use, or all of the machine's.
    pub target_cpus: Option<CpuSet>,
    /// Ports on which the target listens on this machine.
    pub ports: Vec<u16>,
    /// Where the target tells about its stages.
    pub sources: Vec<Source>,
    /// Whether this process is watched too, as the load tool.
    pub own_process: bool,
    /// Processes that send the load for this one, and count as the load tool with it.
    pub load_pids: Vec<u32>,
}

/// Reads all signals of a [`WatchPlan`], each time against the time before.
#[derive(Debug)]
pub struct Watcher {
    scratch: Scratch,
    target_cpus: Option<CpuSet>,
    cpu: KeptFile,
    cpu_last: Option<(Instant, CpuStat)>,
    pressure: Pressure,
    counters: Counters,
    target: Option<Target>,
    tcp: Option<Tcp>,
    sources: Vec<SourceReader>,
    own: Option<OwnProcess>,
}

impl Watcher {
    /// A watcher that has read nothing yet.
    pub fn new(plan: WatchPlan) -> Self {
        Self {
            scratch: Scratch::new(),
            target_cpus: plan.target_cpus,
            cpu: KeptFile::new("/proc/stat"),
            cpu_last: None,
            pressure: Pressure::new(),
            counters: Counters::new(),
            target: (!plan.target_pids.is_empty()).then(|| Target::new(&plan.target_pids)),
            tcp: (!plan.ports.is_empty()).then(|| Tcp::new(&plan.ports)),
            sources: plan.sources.into_iter().map(SourceReader::new).collect(),
            own: plan.own_process.then(|| OwnProcess::new(&plan.load_pids)),
        }
    }

    /// Reads everything. `now` is the moment of the reading: rates are over the time since the
    /// `now` of the call before, and the first call gives only what is not a rate.
    ///
    /// Takes some milliseconds; up to 300 ms when the target is slow to tell its metrics, during
    /// which nothing is read that the wait could falsify.
    pub fn sample(&mut self, now: Instant) -> Reading {
        let mut reading = Reading::new();
        let asked: Vec<_> = self.sources.iter_mut().map(SourceReader::ask).collect();
        let forks = self.sample_cpu(now, &mut reading);
        self.pressure.sample(now, &mut self.scratch, &mut reading);
        self.counters.sample(now, &mut self.scratch, &mut reading);
        if let Some(target) = &mut self.target {
            target.sample(now, forks, &mut self.scratch, &mut reading);
        }
        if let Some(tcp) = &mut self.tcp {
            tcp.sample(&mut self.scratch, &mut reading);
        }
        if let Some(own) = &mut self.own {
            own.sample(now, forks, &mut self.scratch, &mut reading);
        }
        for (source, asked) in self.sources.iter_mut().zip(asked) {
            source.read(&asked, now, &mut reading);
        }
        reading
    }

    /// Reads the CPUs; gives the machine's count of started processes and threads.
    fn sample_cpu(&mut self, now: Instant, reading: &mut Reading) -> Option<u64> {
        let stat = self.cpu.read(&mut self.scratch).and_then(CpuStat::parse);
        if let (Some(stat), Some((then, before))) = (&stat, &self.cpu_last) {
            let allowed = || self.target.as_ref().and_then(Target::allowed_cpus);
            let target_cpus = self.target_cpus.clone().or_else(allowed);
            let elapsed_s = now.duration_since(*then).as_secs_f64();
            stat.signals(before, target_cpus.as_ref(), elapsed_s, reading);
        }
        let forks = stat.as_ref().map(|stat| stat.forks);
        self.cpu_last = stat.map(|stat| (now, stat));
        forks
    }
}
