//! One reading of everything that a watch is about.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use weir_metric::CpuSet;

use crate::arrivals::{ArrivalWatch, Arrivals};
use crate::counters::{LoadCounters, is_apart};
use crate::far_files::FarFiles;
use crate::far_machine::FarMachine;
use crate::far_watch::FarWatch;
use crate::files::Files;
use crate::origin::{of_system, over_ssh};
use crate::own::OwnProcess;
use crate::reading::{Reading, SignalName};
use crate::source::{Moment, Origins, Source, SourceReader, full_pools};
use crate::system::System;
use crate::target::Target;
use crate::target::process::ProcessUnits;
use crate::tcp::Tcp;

/// How long an answer may take, from the question: well below the second that it has to fit in.
const PATIENCE: Duration = Duration::from_millis(300);

/// How long that of another machine may take: what it tells bears its own time, so that it is right
/// however late it comes, and a machine that is saturated has to be seen too.
const FAR_PATIENCE: Duration = Duration::from_millis(750);

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
    /// The machine on which the target runs, and whose processes and ports these are.
    pub machine: WatchedMachine,
    /// Whether this process is watched too, as the load generator.
    pub own_process: bool,
    /// What those threads of this process are called that send the load, without their number.
    pub load_threads: Option<&'static str>,
    /// Processes that send the load for this one, and count as the load generator with it.
    pub load_pids: Vec<u32>,
    /// A gateway between load generator and target.
    pub gate: Option<WatchedGate>,
    /// Whether the kernel's tracepoints are read, where they can be: how long requests wait until
    /// a thread of the target reads them. The target's processes and ports have to be known,
    /// and on this machine.
    pub arrivals: bool,
}

/// A gateway on this machine between load generator and target, which shares the load generator's
/// CPUs and counts as part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WatchedGate {
    /// Its process.
    pub pid: u32,
    /// Where the load connects; its connections are the signals `tcp.gate.*`.
    pub port: u16,
}

/// Whose operating system is read.
#[derive(Debug, Clone, Default)]
pub enum WatchedMachine {
    /// That of this machine.
    #[default]
    This,
    /// That of another one, over ssh; of this one only the load generator is read.
    Far(FarMachine),
    /// Nobody's, because the target runs on another machine that cannot be read; the sources may
    /// tell of that one's CPUs.
    Unseen,
}

/// Reads all signals of a [`WatchPlan`], each time against the time before.
#[derive(Debug)]
pub struct Watcher {
    here: Files,
    system: System,
    machine: Machine,
    sources: Vec<SourceReader>,
    own: Option<OwnProcess>,
    /// What this side of the network sends again, where the target is not in the same.
    own_network: Option<LoadCounters>,
    arrivals: Option<ArrivalWatch>,
    /// What the last reading has told of arrivals.
    arrived: Arrivals,
    /// Signals that the operating system has told.
    system_told: BTreeSet<SignalName>,
}

/// The machine while it is watched.
#[derive(Debug)]
enum Machine {
    This,
    Far(Box<FarWatch>),
    Unseen,
}

/// The readers of the watched ports' connections; `network` is the process whose network namespace
/// they are in, when that is not this process's. The gateway is on this machine, and so are its.
fn connections(plan: &WatchPlan, network: Option<u32>) -> Vec<Tcp> {
    let gate = plan.gate.map(|gate| gate.port);
    let here = |ports: Vec<u16>| -> Option<Tcp> {
        (!ports.is_empty()).then(|| Tcp::new(&ports).naming_gate(gate))
    };
    let ports = (!plan.ports.is_empty()).then_some(&plan.ports);
    let readers = match (&plan.machine, network) {
        (WatchedMachine::Far(_), _) => [ports.map(|ports| Tcp::of_tables(ports)), None],
        (_, Some(pid)) => [
            ports.map(|ports| Tcp::of_namespace(ports, pid)),
            here(gate.into_iter().collect()),
        ],
        (_, None) => [here(plan.ports.iter().copied().chain(gate).collect()), None],
    };
    readers.into_iter().flatten().collect()
}

impl Watcher {
    /// A watcher that has read nothing yet.
    pub fn new(plan: WatchPlan) -> Self {
        let (pids, ports) = (&plan.target_pids, &plan.ports);
        let units = match &plan.machine {
            WatchedMachine::Far(far) => far.units(),
            WatchedMachine::This | WatchedMachine::Unseen => ProcessUnits::here(),
        };
        let target = (!pids.is_empty()).then(|| Target::new(pids, units));
        let is_here = matches!(plan.machine, WatchedMachine::This);
        let network = pids
            .first()
            .copied()
            .filter(|&pid| is_here && is_apart(pid));
        let tcp = connections(&plan, network);
        let is_same_network = is_here && network.is_none();
        let has_arrivals = plan.arrivals && is_here && !pids.is_empty() && !ports.is_empty();
        let arrivals = has_arrivals.then(|| ArrivalWatch::start(pids, ports));
        let machine = match plan.machine {
            WatchedMachine::This => Machine::This,
            WatchedMachine::Far(far) => {
                let files = FarFiles::new(far.connection().clone());
                Machine::Far(Box::new(FarWatch::new(files)))
            }
            WatchedMachine::Unseen => Machine::Unseen,
        };
        Self {
            here: Files::here(),
            system: System::new(plan.target_cpus, units, target, tcp, network),
            machine,
            sources: readers(plan.sources),
            own: plan
                .own_process
                .then(|| OwnProcess::new(&plan.load_pids, plan.load_threads, plan.gate)),
            own_network: (plan.own_process && !is_same_network).then(LoadCounters::of_load),
            arrivals,
            arrived: Arrivals::NotWatched,
            system_told: BTreeSet::new(),
        }
    }

    /// Reads everything. `now` is the moment of the reading: rates are over the time since the
    /// `now` of the call before, and the first call gives only what is not a rate.
    ///
    /// Takes some milliseconds; up to 300 ms when the target is slow to tell its metrics, during
    /// which nothing is read that the wait could falsify; up to 750 ms when it is another machine
    /// that is slow.
    pub fn sample(&mut self, now: Instant) -> Reading {
        let mut reading = Reading::new();
        if let Machine::Far(far) = &mut self.machine {
            far.ask(&mut self.system);
        }
        let asked = Instant::now();
        let deadline = asked + PATIENCE;
        for source in &mut self.sources {
            source.ask(now, deadline);
        }
        // What another machine has started says nothing of this one.
        let forks = match self.machine {
            Machine::This => self.system.sample(now, &mut self.here, &mut reading),
            Machine::Far(_) | Machine::Unseen => None,
        };
        if let Some(own) = &mut self.own {
            own.sample(now, forks, &mut self.here, &mut reading);
        }
        if let Some(network) = &mut self.own_network {
            network.sample(now, &mut self.here, &mut reading);
        }
        if let Machine::Far(far) = &mut self.machine {
            far.sample(&mut self.system, asked + FAR_PATIENCE, &mut reading);
        }
        if let Some(arrivals) = &mut self.arrivals {
            self.arrived = arrivals.sample(&mut reading);
        }
        for name in reading.keys() {
            if !self.system_told.contains(name) {
                self.system_told.insert(name.clone());
            }
        }
        self.sample_sources(now, deadline, &mut reading);
        reading
    }

    /// What the last reading has told of the arrivals of requests.
    pub fn take_arrivals(&mut self) -> Arrivals {
        std::mem::take(&mut self.arrived)
    }

    /// Signals that cannot be read for now, and why. A trial in which they were read all the same
    /// has them.
    pub fn why_not_read(&self) -> BTreeMap<&'static str, String> {
        self.sources
            .iter()
            .filter_map(SourceReader::why_not_read)
            .collect()
    }

    /// CPU time of threads that watch for this one.
    pub(crate) fn helpers_cpu(&self) -> Duration {
        let arrivals = self.arrivals.as_ref();
        arrivals.map_or(Duration::ZERO, ArrivalWatch::cpu)
    }

    /// Where every signal came from that has been read so far.
    pub fn origins(&self) -> Origins {
        let origin = |name: &str| match self.machine {
            Machine::Far(_) => over_ssh(name),
            Machine::This | Machine::Unseen => of_system(name).map(str::to_owned),
        };
        let told = self.system_told.iter();
        let system = told.filter_map(|name| Some((name.to_string(), origin(name.as_str())?)));
        let mut origins: Origins = system.collect();
        for source in &self.sources {
            source.add_origins(&mut origins);
        }
        full_pools::add_origins(&mut origins);
        origins
    }

    /// Reads the answers. What an earlier source has told, a later one does not tell again.
    fn sample_sources(&mut self, now: Instant, deadline: Instant, reading: &mut Reading) {
        let is_seen = !matches!(self.machine, Machine::Unseen);
        let has_target = is_seen && self.system.has_target();
        // A figure of the machine that is missing must not come from another machine.
        let is_read = |name: &str| {
            let of_machine = ["cpu", "machine.", "pressure.", "tcp."];
            is_seen && of_machine.iter().any(|start| name.starts_with(start))
                || has_target && name.starts_with("target.")
        };
        for source in &mut self.sources {
            let mut moment = Moment {
                now,
                deadline: deadline.max(Instant::now() + GRACE),
                scratch: self.here.scratch(),
            };
            if source.is_derived() {
                source.read(&mut moment, reading);
                continue;
            }
            let is_own = source.reads_processes();
            let mut told = Reading::new();
            source.read(&mut moment, &mut told);
            for (name, figure) in told {
                if is_own || !is_read(name.as_str()) {
                    reading.entry(name).or_insert(figure);
                }
            }
        }
        full_pools::put_full(reading);
    }
}

/// Readers of the sources in their order, those that derive something last.
fn readers(sources: Vec<Source>) -> Vec<SourceReader> {
    let readers = sources.into_iter().map(SourceReader::new);
    let (derived, mut readers): (Vec<_>, Vec<_>) = readers.partition(SourceReader::is_derived);
    readers.extend(derived);
    readers
}
