//! Groups that keep so many users at a time: whoever ends is replaced, and the level rises along a
//! ramp and may change while the test runs.
//!
//! The rules are those of the bzm Concurrency Thread Group (read from its source,
//! `ConcurrencyThreadStarter`): the level is looked at whenever a user ends, else once a second; a
//! user that is one too many ends after its iteration. Each runtime keeps its share of the level.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use weir_script::{ResolvedLevel, Scope};

use crate::clock::Moment;

/// A group with a level, as all runtimes share it.
#[derive(Debug)]
pub(crate) struct LevelGroup {
    plan: ResolvedLevel,
    /// It goes on until it is stopped.
    is_endless: bool,
    /// Users at a time that Weir allows.
    pub(crate) users_max: u32,
    begin: OnceLock<Moment>,
    next_user: AtomicU32,
}

impl LevelGroup {
    /// A group in which nobody has started.
    pub(crate) fn new(plan: ResolvedLevel, is_endless: bool, users_max: u32) -> Self {
        Self {
            plan,
            is_endless,
            users_max,
            begin: OnceLock::new(),
            next_user: AtomicU32::new(0),
        }
    }

    /// From the start of the group to its end.
    pub(crate) fn end(&self) -> Option<Duration> {
        let end = self.plan.ramp_up.saturating_add(self.plan.hold);
        (!self.is_endless).then_some(end)
    }

    /// Begins, unless another runtime has begun it.
    pub(crate) fn begins(&self, at: Moment) {
        let _ = self.begin.set(at);
    }

    /// The place of the next user, from 0.
    pub(crate) fn next_user(&self) -> u32 {
        self.next_user.fetch_add(1, Ordering::Relaxed)
    }

    /// Iterations of each user.
    pub(crate) fn iterations_max(&self) -> Option<u64> {
        self.plan.iterations_max
    }

    /// When it began.
    pub(crate) fn begin(&self) -> Moment {
        self.begin.get().copied().unwrap_or(Moment::ORIGIN)
    }

    /// The full level as it is now.
    pub(crate) fn target(&self, scope: &mut Scope) -> u32 {
        let users = match self.plan.users.constant() {
            Some(text) => text.trim().parse().unwrap_or(0),
            None => self.plan.users.rendered(scope).trim().parse().unwrap_or(0),
        };
        u32::min(users, self.users_max)
    }

    /// The level so long after the start.
    pub(crate) fn planned(&self, elapsed: Duration, target: u32) -> u32 {
        planned(&self.plan, elapsed.as_secs_f64(), f64::from(target)) as u32
    }
}

/// What a level is after so many seconds; whole numbers, halves up.
fn planned(plan: &ResolvedLevel, elapsed_s: f64, target: f64) -> f64 {
    let ramp_s = plan.ramp_up.as_secs_f64();
    let level = if ramp_s <= 0.0 || elapsed_s > ramp_s {
        target
    } else if plan.steps > 0 {
        let steps = plan.steps as f64;
        let step = (elapsed_s / (ramp_s / steps)).floor() + 1.0;
        target / steps * step
    } else {
        target / ramp_s * elapsed_s
    };
    (level + 0.5).floor()
}

/// The part of a level that one of several runtimes keeps; all parts together are the level.
pub(crate) fn share(level: u32, index: usize, of: usize) -> u32 {
    let (level, index, of) = (u64::from(level), index as u64, of.max(1) as u64);
    // The first runtimes take what does not divide.
    (level / of + u64::from(index < level % of)) as u32
}

#[cfg(test)]
mod tests {
    use weir_script::Text;

    use super::*;

    fn level(ramp_s: u64, steps: u64) -> ResolvedLevel {
        ResolvedLevel {
            users: Text::literal("10"),
            ramp_up: Duration::from_secs(ramp_s),
            steps,
            hold: Duration::from_secs(5),
            iterations_max: None,
        }
    }

    /// By hand from the plugin's formula.
    #[test]
    fn a_level_rises_along_its_ramp() {
        let at = |ramp_s, steps, elapsed_s| planned(&level(ramp_s, steps), elapsed_s, 10.0) as u32;
        let linear = [0.0, 0.5, 4.9, 5.0, 10.0, 11.0].map(|elapsed_s| at(10, 0, elapsed_s));
        assert_eq!(linear, [0, 1, 5, 5, 10, 10]);
        let stepped = [0.0, 2.4, 2.5, 5.0, 9.9, 10.1].map(|elapsed_s| at(10, 4, elapsed_s));
        assert_eq!(stepped, [3, 3, 5, 8, 10, 10]);
        assert_eq!(at(0, 4, 0.0), 10);
    }

    #[test]
    fn runtimes_share_a_level() {
        for level in 0..50 {
            for of in 1..9 {
                let shares: Vec<u32> = (0..of).map(|index| share(level, index, of)).collect();
                assert_eq!(shares.iter().sum::<u32>(), level);
                assert!(shares.iter().max().unwrap_or(&0) - shares.iter().min().unwrap_or(&0) <= 1);
            }
        }
    }
}
