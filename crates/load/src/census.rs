//! Who is alive, in the whole test.

use std::sync::atomic::{AtomicU32, Ordering};

/// Users of a test at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UserCounts {
    /// Users that run.
    pub active: u32,
    /// Users that have started, those that ended included.
    pub started: u32,
}

impl UserCounts {
    /// Users that have ended.
    pub fn finished(self) -> u32 {
        self.started.saturating_sub(self.active)
    }
}

/// Users that are alive in the whole test, for the columns of a sample's row.
#[derive(Debug)]
pub(crate) struct Census {
    all: AtomicU32,
    started: AtomicU32,
    groups: Vec<AtomicU32>,
    /// Users of each phase that have not ended.
    phases: Vec<AtomicU32>,
}

impl Census {
    /// Nobody alive yet.
    pub(crate) fn new(groups: usize, users_of_phases: Vec<u32>) -> Self {
        Self {
            phases: users_of_phases.into_iter().map(AtomicU32::new).collect(),
            all: AtomicU32::new(0),
            started: AtomicU32::new(0),
            groups: (0..groups).map(|_| AtomicU32::new(0)).collect(),
        }
    }

    /// Users of a group and users of all groups.
    pub(crate) fn alive(&self, group: usize) -> (u32, u32) {
        let group = self.groups[group].load(Ordering::Relaxed);
        (group, self.all.load(Ordering::Relaxed))
    }

    /// Users of the whole test.
    pub(crate) fn counts(&self) -> UserCounts {
        UserCounts {
            active: self.all.load(Ordering::Relaxed),
            started: self.started.load(Ordering::Relaxed),
        }
    }

    /// A user of a phase has ended, or will not start.
    pub(crate) fn leave_phase(&self, phase: usize) {
        self.phases[phase].fetch_sub(1, Ordering::AcqRel);
    }

    /// One more user of a phase that nobody counted beforehand.
    pub(crate) fn join_phase(&self, phase: usize) {
        self.phases[phase].fetch_add(1, Ordering::AcqRel);
    }

    /// Users of a phase were cut off, and groups that would have started more.
    pub(crate) fn cut(&self, phase: usize, users: u32, supplies: u32) {
        self.all.fetch_sub(users, Ordering::Relaxed);
        self.phases[phase].fetch_sub(users + supplies, Ordering::AcqRel);
    }

    /// How many phases there are.
    pub(crate) fn phases(&self) -> usize {
        self.phases.len()
    }

    /// Whether all users of the phases before this one have ended.
    pub(crate) fn has_begun(&self, phase: usize) -> bool {
        let before = self.phases.iter().take(phase);
        before
            .into_iter()
            .all(|left| left.load(Ordering::Acquire) == 0)
    }

    /// A user of a group begins.
    pub(crate) fn enter(&self, group: usize) {
        self.started.fetch_add(1, Ordering::Relaxed);
        self.groups[group].fetch_add(1, Ordering::Relaxed);
        self.all.fetch_add(1, Ordering::Relaxed);
    }

    /// A user of a group has come to its end.
    pub(crate) fn leave(&self, group: usize) {
        self.groups[group].fetch_sub(1, Ordering::Relaxed);
        self.all.fetch_sub(1, Ordering::Relaxed);
    }
}
