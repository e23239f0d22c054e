//! The CPU time of processes and of all that descend from them, of the CPUs that they may use.

use std::time::Instant;

use weir_metric::CpuSet;

use crate::control_group::Quota;
use crate::target::affinity;
use crate::target::family::Family;
use crate::target::process::ProcessUnits;

use super::kernel::Kernel;
use super::{Busy, BusyError};

#[derive(Debug)]
pub(super) struct ProcessesReader {
    pids: Vec<u32>,
    family: Family,
    quota: Quota,
    kernel: Kernel,
}

impl ProcessesReader {
    pub(super) fn new(pids: Vec<u32>) -> Self {
        let units = ProcessUnits::here();
        let mut kernel = Kernel::new();
        let first = pids.first();
        Self {
            family: Family::new(&pids, units),
            quota: first.map_or_else(Quota::default, |pid| {
                Quota::of_process(*pid, kernel.files())
            }),
            kernel,
            pids,
        }
    }

    pub(super) fn read(&mut self, now: Instant) -> Result<Option<Busy>, BusyError> {
        let since = self.kernel.read(now)?;
        let forks = self.kernel.forks();
        let spent = self.family.sample(now, forks, self.kernel.files());
        let Some(spent) = spent else {
            self.kernel.forget();
            return Err(BusyError::Gone(self.pids.clone()));
        };
        let in_use = spent.user_cpus.zip(spent.system_cpus);
        let allowed = self.allowed();
        let quota = self.quota.tightest(now, self.kernel.files());
        Ok(since
            .zip(in_use)
            .zip(allowed)
            .and_then(|((since, (user, system)), allowed)| {
                let own = user + system;
                let cpus = since.available(&allowed);
                // Whoever is in the same group uses the same quota.
                match quota.filter(|quota| quota.cpus < cpus) {
                    Some(quota) => Busy::of(own.max(quota.used_cpus.unwrap_or(own)), quota.cpus),
                    None => Busy::of(own, cpus),
                }
            }))
    }

    /// The CPUs that one of the named processes may use.
    fn allowed(&self) -> Option<CpuSet> {
        let each = self.pids.iter().filter_map(|&pid| affinity(pid));
        let all: Vec<usize> = each
            .flat_map(|set| set.iter().collect::<Vec<_>>())
            .collect();
        CpuSet::new(all).or_else(|| self.kernel.online())
    }
}
