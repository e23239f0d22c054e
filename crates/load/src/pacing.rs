//! Timers by which users keep a schedule together or wait for each other.
//!
//! What a Constant Throughput Timer says of one user is the user's own ([`Paces`]); everything else
//! is shared by all users of the load ([`Pacing`]), on whatever runtime. The rules are JMeter's:
//! each is named where it is followed, and docs/reference/open-workloads.md says how it was found.

mod barrier;
mod precise;
mod shaping;
mod throughput;

use weir_plan::{Timer, TimerKind};
use weir_script::Text;

pub(crate) use self::barrier::Barrier;
pub(crate) use self::shaping::Published;
pub(crate) use self::throughput::{Paces, spacing};

/// Whether one of these timers keeps a schedule or waits for others.
pub(crate) fn paces(timers: &[Timer<Text>]) -> bool {
    timers.iter().any(|timer| {
        matches!(
            timer.kind,
            TimerKind::ConstantThroughput { .. }
                | TimerKind::PreciseThroughput(_)
                | TimerKind::Synchronizing { .. }
                | TimerKind::Shaping { .. }
        )
    })
}

/// What users share.
#[derive(Debug, Default)]
pub(crate) struct Pacing {
    pub(crate) throughput: throughput::Shared,
    pub(crate) precise: precise::Shared,
    pub(crate) barriers: barrier::Shared,
    pub(crate) shaping: shaping::Shared,
}

impl Pacing {
    /// Whether the group was stopped by a timer whose schedule has ended.
    pub(crate) fn has_stopped(&self, group: usize) -> bool {
        self.shaping.has_stopped(group)
    }
}

/// What is no number is 0, as in JMeter.
pub(crate) fn number(text: &str) -> f64 {
    text.trim().parse().unwrap_or(0.0)
}
