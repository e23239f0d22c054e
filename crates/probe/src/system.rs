//! What the operating system of the watched machine tells, from whichever machine its files come.

use std::time::Instant;

use weir_metric::CpuSet;

use crate::counters::TargetCounters;
use crate::cpu::CpuStat;
use crate::files::Files;
use crate::frequency::Frequency;
use crate::kept_file::KeptFile;
use crate::paging::Paging;
use crate::pressure::Pressure;
use crate::reading::Reading;
use crate::target::Target;
use crate::target::process::ProcessUnits;
use crate::tcp::Tcp;

/// The readers of one machine's signals.
#[derive(Debug)]
pub(crate) struct System {
    target_cpus: Option<CpuSet>,
    units: ProcessUnits,
    cpu: KeptFile,
    cpu_last: Option<(Instant, CpuStat)>,
    pressure: Pressure,
    paging: Paging,
    frequency: Frequency,
    counters: TargetCounters,
    target: Option<Target>,
    tcp: Vec<Tcp>,
}

impl System {
    /// The readers of a machine on which these processes and ports are watched; `network` is the
    /// process whose network namespace it is about, when that is not this process's.
    pub(crate) fn new(
        target_cpus: Option<CpuSet>,
        units: ProcessUnits,
        target: Option<Target>,
        tcp: Vec<Tcp>,
        network: Option<u32>,
    ) -> Self {
        Self {
            target_cpus,
            units,
            cpu: KeptFile::new("/proc/stat"),
            cpu_last: None,
            pressure: Pressure::new(),
            paging: Paging::new(units.page_bytes),
            frequency: Frequency::new(),
            counters: TargetCounters::of(network),
            target,
            tcp,
        }
    }

    /// Whether processes are watched.
    pub(crate) fn has_target(&self) -> bool {
        self.target.is_some()
    }

    /// Reads everything; gives the machine's count of started processes and threads.
    pub(crate) fn sample(
        &mut self,
        now: Instant,
        files: &mut Files,
        reading: &mut Reading,
    ) -> Option<u64> {
        let forks = self.sample_cpu(now, files, reading);
        self.pressure.sample(now, files, reading);
        self.paging.sample(now, files, reading);
        self.frequency.sample(files, reading);
        self.counters.sample(now, files, reading);
        if let Some(target) = &mut self.target {
            target.sample(now, forks, files, reading);
        }
        for tcp in &mut self.tcp {
            tcp.sample(files, reading);
        }
        forks
    }

    fn sample_cpu(
        &mut self,
        now: Instant,
        files: &mut Files,
        reading: &mut Reading,
    ) -> Option<u64> {
        // The time that has passed is taken from the CPUs' own: as exact as it can be had.
        let now = if files.are_here() {
            Instant::now()
        } else {
            now
        };
        let stat = self.cpu.read(files).and_then(CpuStat::parse);
        if let (Some(stat), Some((then, before))) = (&stat, &self.cpu_last) {
            // The other machine's CPUs are told with the plan.
            let target = self.target.as_ref().filter(|_| files.are_here());
            let allowed = || target.and_then(Target::allowed_cpus);
            let target_cpus = self.target_cpus.clone().or_else(allowed);
            let elapsed_s = now.duration_since(*then).as_secs_f64();
            let ticks_per_s = self.units.ticks_per_s;
            stat.signals(
                before,
                target_cpus.as_ref(),
                elapsed_s,
                ticks_per_s,
                reading,
            );
        }
        let forks = stat.as_ref().map(|stat| stat.forks);
        self.cpu_last = stat.map(|stat| (now, stat));
        forks
    }
}
