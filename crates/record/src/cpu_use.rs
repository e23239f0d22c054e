//! Who used the CPUs of a server: itself, others of its control group, the load generator, or
//! anybody else.

use weir_metric::names;

/// CPUs that were used on those of a server, on average.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CpuUse {
    server: f64,
    /// By all processes of the control group whose quota they share, the server among them.
    group: Option<f64>,
    /// By the load generator, where it may run on CPUs of the server.
    load: f64,
}

impl CpuUse {
    /// From the signals of a trial; `None` where the server's own use was not read. All that the
    /// load generator used counts as used on the server's CPUs when it may run there, so that
    /// nobody is blamed for the load's own work.
    pub fn of(signal: impl Fn(&str) -> Option<f64>, load_is_there: bool) -> Option<Self> {
        let load = signal(names::LOAD_CPU).filter(|_| load_is_there);
        Some(Self {
            server: signal("target.cpu.user")? + signal("target.cpu.system")?,
            group: signal("target.group.cpu"),
            load: load.unwrap_or(0.0),
        })
    }

    /// Of so many busy CPUs, what none of them used; below zero by what clocks are off. Who shares
    /// a quota with the server is none of the others: it is there in production as well.
    pub fn others(&self, busy: f64) -> f64 {
        busy - self.server.max(self.group.unwrap_or(self.server)) - self.load
    }

    /// What other processes of the control group used of its quota.
    pub fn group_beside_server(&self) -> Option<f64> {
        Some(self.group? - self.server)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(group: Option<f64>, load_is_there: bool) -> Option<CpuUse> {
        let signal = |name: &str| match name {
            "target.cpu.user" | names::LOAD_CPU => Some(0.5),
            "target.cpu.system" => Some(0.25),
            "target.group.cpu" => group,
            _ => None,
        };
        CpuUse::of(signal, load_is_there)
    }

    #[test]
    fn the_load_is_nobody_else_where_it_may_run() {
        assert_eq!(used(None, true).map(|used| used.others(1.5)), Some(0.25));
        assert_eq!(used(None, false).map(|used| used.others(1.5)), Some(0.75));
    }

    #[test]
    fn who_shares_the_quota_is_nobody_else() {
        let used = used(Some(1.0), false);
        assert_eq!(used.map(|used| used.others(1.0)), Some(0.0));
        let beside = used.and_then(|used| used.group_beside_server());
        assert_eq!(beside, Some(0.25));
    }

    #[test]
    fn without_the_servers_own_use_nobody_is_told_apart() {
        assert_eq!(CpuUse::of(|_| None, true), None);
    }
}
