//! One reading of everything that a watch is about.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use weir_units::CpuSet;

use crate::counters::Counters;
use crate::cpu::CpuStat;
use crate::kept_file::{KeptFile, Scratch};
use crate::origin::of_system;
use crate::own::OwnProcess;
use crate::pressure::Pressure;
use crate::reading::{Reading, SignalName};
use crate::source::{Moment, Origins, Source, SourceReader};
use crate::target::Target;
use crate::tcp::Tcp;

/// How long an answer may take, from the question: well below the second that it has to fit in.
const PATIENCE: Duration = Duration::from_millis(300);

/// How long an answer may still take when everything else took longer than the patience: it has
/// come by then, or it does not come.
const GRACE: Duration = Duration::from_millis(20);

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
    /// Where more is told of the target.
    pub sources: Vec<Source>,
    /// Whether the target runs on another machine: then nothing of this one is read but the load tool, and the sources
    /// may tell of that one's CPUs.
    pub elsewhere: bool,
    /// Whether this process is watched too, as the load tool.
    pub own_process: bool,
    /// Processes that send the load for this one, and count as the load tool with it.
    pub load_pids: Vec<u32>,
}

/// Reads all signals of a [`WatchPlan`], each time against the time before.
#[derive(Debug)]
pub struct Watcher {
    scratch: Scratch,
    elsewhere: bool,
    target_cpus: Option<CpuSet>,
    cpu: KeptFile,
    cpu_last: Option<(Instant, CpuStat)>,
    pressure: Pressure,
    counters: Counters,
    target: Option<Target>,
    tcp: Option<Tcp>,
    sources: Vec<SourceReader>,
    own: Option<OwnProcess>,
    /// Signals that the operating system has told.
    system_told: BTreeSet<SignalName>,
}

impl Watcher {
    /// A watcher that has read nothing yet.
    pub fn new(plan: WatchPlan) -> Self {
        Self {
            scratch: Scratch::new(),
            elsewhere: plan.elsewhere,
            target_cpus: plan.target_cpus,
            cpu: KeptFile::new("/proc/stat"),
            cpu_last: None,
            pressure: Pressure::new(),
            counters: Counters::new(),
            target: (!plan.target_pids.is_empty()).then(|| Target::new(&plan.target_pids)),
            tcp: (!plan.ports.is_empty()).then(|| Tcp::new(&plan.ports)),
            sources: readers(plan.sources),
            own: plan.own_process.then(|| OwnProcess::new(&plan.load_pids)),
            system_told: BTreeSet::new(),
        }
    }

    /// Reads everything. `now` is the moment of the reading: rates are over the time since the
    /// `now` of the call before, and the first call gives only what is not a rate.
    ///
    /// Takes some milliseconds; up to 300 ms when the target is slow to tell its metrics, during
    /// which nothing is read that the wait could falsify.
    pub fn sample(&mut self, now: Instant) -> Reading {
        let mut reading = Reading::new();
        let deadline = Instant::now() + PATIENCE;
        for source in &mut self.sources {
            source.ask(now, deadline);
        }
        let forks = self.sample_system(now, &mut reading);
        if let Some(own) = &mut self.own {
            own.sample(now, forks, &mut self.scratch, &mut reading);
        }
        for name in reading.keys() {
            if !self.system_told.contains(name) {
                self.system_told.insert(name.clone());
            }
        }
        self.sample_sources(now, deadline, &mut reading);
        reading
    }

    /// Where every signal came from that has been read so far.
    pub fn origins(&self) -> Origins {
        let system = self
            .system_told
            .iter()
            .filter_map(|name| Some((name.to_string(), of_system(name.as_str())?.to_owned())));
        let mut origins: Origins = system.collect();
        for source in &self.sources {
            source.add_origins(&mut origins);
        }
        origins
    }

    /// Reads this machine; gives its count of started processes and threads.
    fn sample_system(&mut self, now: Instant, reading: &mut Reading) -> Option<u64> {
        if self.elsewhere {
            return None;
        }
        let forks = self.sample_cpu(now, reading);
        self.pressure.sample(now, &mut self.scratch, reading);
        self.counters.sample(now, &mut self.scratch, reading);
        if let Some(target) = &mut self.target {
            target.sample(now, forks, &mut self.scratch, reading);
        }
        if let Some(tcp) = &mut self.tcp {
            tcp.sample(&mut self.scratch, reading);
        }
        forks
    }

    /// Reads the answers. What an earlier source has told, a later one does not tell again.
    fn sample_sources(&mut self, now: Instant, deadline: Instant, reading: &mut Reading) {
        let here = !self.elsewhere;
        let has_target = here && self.target.is_some();
        // A figure of the machine that is missing must not come from another machine.
        let is_read_here = |name: &str| {
            let of_machine = ["cpu", "machine.", "pressure.", "tcp."];
            here && of_machine.iter().any(|start| name.starts_with(start))
                || has_target && name.starts_with("target.")
        };
        for source in &mut self.sources {
            let mut moment = Moment {
                now,
                deadline: deadline.max(Instant::now() + GRACE),
                scratch: &mut self.scratch,
            };
            if source.is_derived() {
                source.read(&mut moment, reading);
                continue;
            }
            let mut told = Reading::new();
            source.read(&mut moment, &mut told);
            for (name, figure) in told {
                if !is_read_here(name.as_str()) {
                    reading.entry(name).or_insert(figure);
                }
            }
        }
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

/// Readers of the sources in their order, those that derive something last.
fn readers(sources: Vec<Source>) -> Vec<SourceReader> {
    let readers = sources.into_iter().map(SourceReader::new);
    let (derived, mut readers): (Vec<_>, Vec<_>) = readers.partition(SourceReader::is_derived);
    readers.extend(derived);
    readers
}
