//! CPU time of the machine and of the target's CPUs, context switches and forks: `/proc/stat`.
//!
//! Columns as in `proc_stat(5)`. Time in interrupts is counted as system time; guest time is
//! already part of user time and is not counted twice.
//!
//! Linux without `CONFIG_VIRT_CPU_ACCOUNTING` measures idle time and iowait by the clock, but user
//! and system time by what it finds running at its timer's ticks (`account_process_tick` in
//! `kernel/sched/cputime.c`). Work that comes as often as the ticks, or so many times as often, is
//! met at each of them or at none: 4,000 requests a second at even distances showed a busy CPU as 3
//! %. So a CPU is busy in all time that has passed and was not idle, and the ticks tell only how
//! user and system share it.

use weir_metric::CpuSet;

use crate::kernel_text::{lines, number, words};
use crate::reading::{Reading, put, rate};

/// Clock ticks that the kernel has counted, since boot or between two readings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct CpuTicks {
    user: u64,
    system: u64,
    idle: u64,
    iowait: u64,
    steal: u64,
}

impl CpuTicks {
    fn parse<'t>(mut columns: impl Iterator<Item = &'t [u8]>) -> Option<Self> {
        let mut column = || columns.next().and_then(number);
        let (user, nice, system, idle) = (column()?, column()?, column()?, column()?);
        let iowait = column()?;
        let (interrupts, soft_interrupts) = (column()?, column()?);
        Some(Self {
            user: user + nice,
            system: system + interrupts + soft_interrupts,
            idle,
            iowait,
            steal: column().unwrap_or(0),
        })
    }

    /// What was spent since `earlier`. The kernel lets idle and iowait run backwards by a little
    /// (`proc_stat(5)`); that counts as nothing.
    fn since(self, earlier: Self) -> Self {
        Self {
            user: self.user.saturating_sub(earlier.user),
            system: self.system.saturating_sub(earlier.system),
            idle: self.idle.saturating_sub(earlier.idle),
            iowait: self.iowait.saturating_sub(earlier.iowait),
            steal: self.steal.saturating_sub(earlier.steal),
        }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            user: self.user + other.user,
            system: self.system + other.system,
            idle: self.idle + other.idle,
            iowait: self.iowait + other.iowait,
            steal: self.steal + other.steal,
        }
    }
}

/// What CPUs spent between two readings, in clock ticks.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Spent {
    user: f64,
    system: f64,
    idle: f64,
    iowait: f64,
    steal: f64,
}

impl Spent {
    /// From the columns' growth and the ticks that have passed on all of the CPUs.
    fn of(columns: CpuTicks, passed: f64) -> Self {
        let (idle, iowait) = (columns.idle as f64, columns.iowait as f64);
        let steal = columns.steal as f64;
        let busy = (passed - idle - iowait - steal).max(0.0);
        // As the kernel shares out the time of a process: all to the user where no tick met the
        // system.
        let met = columns.user + columns.system;
        let system = if met > 0 {
            busy * columns.system as f64 / met as f64
        } else {
            0.0
        };
        Self {
            user: busy - system,
            system,
            idle,
            iowait,
            steal,
        }
    }

    fn total(self) -> f64 {
        self.user + self.system + self.idle + self.iowait + self.steal
    }

    /// Busy share of the time that the hypervisor left: busy / (total − steal).
    pub(crate) fn busy_share(self) -> Option<f64> {
        let own = self.total() - self.steal;
        (own > 0.0).then(|| (self.user + self.system) / own)
    }

    /// Share of the time in which the hypervisor ran something else.
    pub(crate) fn steal_share(self) -> Option<f64> {
        self.share(self.steal)
    }

    fn share(self, part: f64) -> Option<f64> {
        let total = self.total();
        (total > 0.0).then(|| part / total)
    }
}

/// One reading of `/proc/stat`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CpuStat {
    each: Vec<(usize, CpuTicks)>,
    context_switches: u64,
    /// Processes and threads started since boot.
    pub(crate) forks: u64,
}

impl CpuStat {
    pub(crate) fn parse(text: &[u8]) -> Option<Self> {
        let mut each = Vec::new();
        let mut context_switches = None;
        let mut forks = None;
        for line in lines(text) {
            let mut columns = words(line);
            match columns.next()? {
                b"ctxt" => context_switches = columns.next().and_then(number),
                b"processes" => forks = columns.next().and_then(number),
                key => {
                    if let Some(cpu) = key.strip_prefix(b"cpu").and_then(number) {
                        each.push((cpu as usize, CpuTicks::parse(columns)?));
                    }
                }
            }
        }
        Some(Self {
            each,
            context_switches: context_switches?,
            forks: forks?,
        })
    }

    /// The CPUs that are online.
    pub(crate) fn cpus(&self) -> impl Iterator<Item = usize> {
        self.each.iter().map(|(cpu, _)| *cpu)
    }

    /// What the CPUs of a set spent since `earlier`, or all of them without a set, of so many ticks
    /// of a clock; a CPU that was not online both times is left out.
    pub(crate) fn spent_by(&self, earlier: &Self, cpus: Option<&CpuSet>, ticks: f64) -> Spent {
        let is_theirs = |cpu: usize| cpus.is_none_or(|cpus| cpus.contains(cpu));
        let mut columns = CpuTicks::default();
        let mut count = 0;
        for (cpu, now) in self.each.iter().filter(|(cpu, _)| is_theirs(*cpu)) {
            if let Some((_, before)) = earlier.each.iter().find(|(other, _)| other == cpu) {
                columns = columns.plus(now.since(*before));
                count += 1;
            }
        }
        Spent::of(columns, ticks * f64::from(count))
    }

    /// The busy share of the fullest CPU of a set.
    fn fullest(&self, earlier: &Self, cpus: Option<&CpuSet>, ticks: f64) -> Option<f64> {
        let theirs = self
            .cpus()
            .filter(|cpu| cpus.is_none_or(|cpus| cpus.contains(*cpu)));
        let each = theirs.filter_map(|cpu| {
            let alone = CpuSet::new([cpu]);
            self.spent_by(earlier, alone.as_ref(), ticks).busy_share()
        });
        each.reduce(f64::max)
    }

    /// The signals between two readings; the target's CPUs are all when none are named.
    pub(crate) fn signals(
        &self,
        earlier: &Self,
        target_cpus: Option<&CpuSet>,
        elapsed_s: f64,
        ticks_per_s: f64,
        reading: &mut Reading,
    ) {
        let ticks = elapsed_s * ticks_per_s;
        let machine = self.spent_by(earlier, None, ticks);
        put(reading, "machine.cpu.user", machine.share(machine.user));
        put(reading, "machine.cpu.system", machine.share(machine.system));
        put(reading, "machine.cpu.iowait", machine.share(machine.iowait));
        put(reading, "machine.cpu.steal", machine.share(machine.steal));
        put(reading, "machine.cpu.idle", machine.share(machine.idle));
        let target = self.spent_by(earlier, target_cpus, ticks);
        put(reading, "cpu", target.busy_share());
        let is_targets = |cpu: usize| target_cpus.is_none_or(|cpus| cpus.contains(cpu));
        let cpus = self.each.iter().filter(|(cpu, _)| is_targets(*cpu)).count();
        put(reading, "target.cpus", Some(cpus as f64));
        put(
            reading,
            "cpu.fullest",
            self.fullest(earlier, target_cpus, ticks),
        );
        put(reading, "cpu.user", target.share(target.user));
        put(reading, "cpu.system", target.share(target.system));
        put(reading, "cpu.iowait", target.share(target.iowait));
        put(reading, "cpu.steal", target.share(target.steal));
        put(
            reading,
            "machine.context-switches",
            rate(earlier.context_switches, self.context_switches, elapsed_s),
        );
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#[expect(clippy::float_cmp, reason = "the figures are exact in binary")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const EARLIER: &[u8] = b"cpu  1000 0 500 8000 100 10 20 40 0 0\n\
        cpu0 600 0 300 4000 60 10 10 20 0 0\n\
        cpu1 400 0 200 4000 40 0 10 20 0 0\n\
        intr 98765 0 0 17 0\n\
        ctxt 500000\nbtime 1700000000\nprocesses 4000\nprocs_running 2\nprocs_blocked 0\n";
    // CPU 0: 50 user (10 of them nice), 15 system, 5 in interrupts, 10 idle, 20 stolen.
    // CPU 1: 10 user, 90 idle; its iowait has run backwards by 2.
    const LATER: &[u8] = b"cpu  1050 10 515 8100 98 13 22 60 0 0\n\
        cpu0 640 10 315 4010 60 13 12 40 0 0\n\
        cpu1 410 0 200 4090 38 0 10 20 0 0\n\
        intr 99765 0 0 17 0\n\
        ctxt 501000\nbtime 1700000000\nprocesses 4003\nprocs_running 2\nprocs_blocked 0\n";

    fn signals(cpus: Option<&str>) -> Reading {
        let mut reading = Reading::new();
        let cpus = cpus.map(|text| text.parse().unwrap());
        CpuStat::parse(LATER).unwrap().signals(
            &CpuStat::parse(EARLIER).unwrap(),
            cpus.as_ref(),
            1.0,
            100.0,
            &mut reading,
        );
        reading
    }

    #[test]
    fn the_targets_cpu_leaves_out_what_was_stolen() {
        let reading = signals(Some("0"));
        assert_eq!(reading["cpu"], 70.0 / 80.0);
        assert_eq!(reading["cpu.user"], 0.5);
        assert_eq!(reading["cpu.system"], 0.2);
        assert_eq!(reading["cpu.steal"], 0.2);
        assert_eq!(reading["cpu.iowait"], 0.0);
    }

    #[test]
    fn a_column_that_runs_backwards_counts_as_nothing() {
        let reading = signals(Some("1"));
        assert_eq!(reading["cpu"], 0.1);
        assert_eq!(reading["cpu.iowait"], 0.0);
    }

    #[test]
    fn without_a_set_the_target_has_all_cpus() {
        let reading = signals(None);
        assert_eq!(reading["cpu"], 80.0 / 180.0);
        assert_eq!(reading["cpu.fullest"], 70.0 / 80.0);
        assert_eq!(reading["machine.cpu.idle"], 0.5);
        assert_eq!(reading["machine.cpu.user"], 0.3);
        assert_eq!(reading["machine.context-switches"], 1000.0);
    }

    /// Work that comes as often as the kernel's ticks is met at none of them; what was not idle was
    /// busy.
    #[test]
    fn a_cpu_is_busy_when_it_is_not_idle_whatever_the_ticks_have_met() {
        let columns = |user, system| CpuTicks {
            user,
            system,
            idle: 55,
            ..CpuTicks::default()
        };
        let spent = Spent::of(columns(1, 1), 100.0);
        assert_eq!(spent.busy_share(), Some(0.45));
        assert_eq!((spent.user, spent.system), (22.5, 22.5));
        let unmet = Spent::of(columns(0, 0), 100.0);
        assert_eq!((unmet.user, unmet.system), (45.0, 0.0));
        let all_met = Spent::of(columns(90, 10), 100.0);
        assert_eq!(all_met.busy_share(), Some(0.45));
    }

    #[test]
    fn cpus_that_are_not_there_make_the_signal_absent() {
        let reading = signals(Some("7"));
        assert!(!reading.contains_key("cpu"));
        assert!(!reading.contains_key("cpu.steal"));
        assert!(reading.contains_key("machine.cpu.user"));
    }

    #[test]
    fn a_file_that_is_cut_short_is_no_reading() {
        assert_eq!(CpuStat::parse(b"cpu  1 2 3\n"), None);
        assert_eq!(CpuStat::parse(b""), None);
        assert_eq!(CpuStat::parse(b"cpu  1 2 3 4 5 6 7 8\n"), None);
        assert_eq!(CpuStat::parse(LATER).unwrap().forks, 4003);
    }

    proptest! {
        #[test]
        fn shares_are_shares(before in prop::array::uniform5(0_u64..1000), spent in prop::array::uniform5(0_u64..200), passed in 0.0..2000.0) {
            let ticks = |v: [u64; 5]| CpuTicks { user: v[0], system: v[1], idle: v[2], iowait: v[3], steal: v[4] };
            let delta = ticks(before).plus(ticks(spent)).since(ticks(before));
            prop_assert_eq!(delta, ticks(spent));
            if let Some(busy) = Spent::of(delta, passed).busy_share() {
                prop_assert!((0.0..=1.0).contains(&busy), "{}", busy);
            }
        }

        #[test]
        fn any_text_is_taken(text: Vec<u8>) {
            let _ = CpuStat::parse(&text);
        }
    }
}
