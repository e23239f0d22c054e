//! What the CPUs had to give between two readings, and what was taken of it.

use std::time::Instant;

use weir_metric::CpuSet;

use crate::cpu::{CpuStat, Spent};
use crate::files::Files;
use crate::kept_file::KeptFile;
use crate::target::process::ProcessUnits;

use super::BusyError;

/// `/proc/stat`, and what it said last.
#[derive(Debug)]
pub(super) struct Kernel {
    file: KeptFile,
    files: Files,
    last: Option<(Instant, CpuStat)>,
}

/// The time between two readings.
#[derive(Debug)]
pub(super) struct Since {
    pub(super) elapsed_s: f64,
    before: CpuStat,
    now: CpuStat,
}

impl Kernel {
    pub(super) fn new() -> Self {
        Self {
            file: KeptFile::new("/proc/stat"),
            files: Files::here(),
            last: None,
        }
    }

    /// Reads; `None` the first time, and when no time has passed.
    pub(super) fn read(&mut self, at: Instant) -> Result<Option<Since>, BusyError> {
        let stat = self.file.read(&mut self.files).and_then(CpuStat::parse);
        let Some(now) = stat else {
            self.last = None;
            return Err(BusyError::Kernel);
        };
        let before = self.last.replace((at, now.clone()));
        Ok(before.and_then(|(then, before)| {
            let elapsed_s = at.saturating_duration_since(then).as_secs_f64();
            (elapsed_s > 0.0).then_some(Since {
                elapsed_s,
                before,
                now,
            })
        }))
    }

    /// The next reading is a first one.
    pub(super) fn forget(&mut self) {
        self.last = None;
    }

    /// Whether one of the CPUs is online, as of the last reading.
    pub(super) fn is_online(&self, cpus: &CpuSet) -> bool {
        let last = self.last.as_ref();
        last.is_some_and(|(_, stat)| stat.cpus().any(|cpu| cpus.contains(cpu)))
    }

    /// All CPUs that are online, as of the last reading.
    pub(super) fn online(&self) -> Option<CpuSet> {
        let (_, stat) = self.last.as_ref()?;
        CpuSet::new(stat.cpus())
    }

    /// Processes and threads started since boot, as of the last reading.
    pub(super) fn forks(&self) -> Option<u64> {
        self.last.as_ref().map(|(_, stat)| stat.forks)
    }

    /// The other files of this machine.
    pub(super) fn files(&mut self) -> &mut Files {
        &mut self.files
    }
}

impl Since {
    /// How many of these CPUs there were to be used, without what the hypervisor took from them.
    pub(super) fn available(&self, cpus: &CpuSet) -> f64 {
        let both = self
            .now
            .cpus()
            .filter(|cpu| cpus.contains(*cpu) && self.before.cpus().any(|before| before == *cpu));
        let stolen = self.spent_by(cpus).steal_share();
        both.count() as f64 * (1.0 - stolen.unwrap_or(0.0))
    }

    /// The busy share of these CPUs, of the time that was not stolen.
    pub(super) fn busy_share(&self, cpus: &CpuSet) -> Option<f64> {
        self.spent_by(cpus).busy_share()
    }

    fn spent_by(&self, cpus: &CpuSet) -> Spent {
        let ticks = self.elapsed_s * ProcessUnits::here().ticks_per_s;
        self.now.spent_by(&self.before, Some(cpus), ticks)
    }
}
