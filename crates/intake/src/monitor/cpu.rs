//! The shares of CPU time that a monitor tells, under Weir's names.

use weir_record::{Reading, names};

/// What one row says of all CPUs together, in the file's own unit.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CpuTimes {
    pub(super) user: Option<f64>,
    pub(super) system: Option<f64>,
    pub(super) iowait: Option<f64>,
    pub(super) steal: Option<f64>,
    pub(super) idle: Option<f64>,
}

/// One kind of CPU time; a row may tell several of one kind (`%user`, `%nice`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CpuTime {
    User,
    System,
    Iowait,
    Steal,
    Idle,
}

impl CpuTimes {
    /// Adds one column.
    pub(super) fn add(&mut self, kind: CpuTime, value: f64) {
        let place = match kind {
            CpuTime::User => &mut self.user,
            CpuTime::System => &mut self.system,
            CpuTime::Iowait => &mut self.iowait,
            CpuTime::Steal => &mut self.steal,
            CpuTime::Idle => &mut self.idle,
        };
        *place = Some(place.unwrap_or(0.0) + value);
    }

    /// Whether the row told of steal.
    pub(super) fn has_steal(&self) -> bool {
        self.steal.is_some()
    }

    /// Puts the shares into a reading; nothing when user, system or idle time is missing. Steal
    /// that is not told is taken as none, which whoever reads the file has to say.
    pub(super) fn put(&self, reading: &mut Reading) {
        let (Some(user), Some(system), Some(idle)) = (self.user, self.system, self.idle) else {
            return;
        };
        let steal = self.steal.unwrap_or(0.0);
        let total = user + system + idle + self.iowait.unwrap_or(0.0) + steal;
        if total <= steal {
            return;
        }
        let mut set = |name: &str, share: f64| reading.insert(name.to_owned(), share);
        set(names::CPU, (user + system) / (total - steal));
        for prefix in ["", "machine."] {
            set(&format!("{prefix}cpu.user"), user / total);
            set(&format!("{prefix}cpu.system"), system / total);
            set(&format!("{prefix}cpu.steal"), steal / total);
            if let Some(iowait) = self.iowait {
                set(&format!("{prefix}cpu.iowait"), iowait / total);
            }
        }
        set("machine.cpu.idle", idle / total);
    }
}
