//! Timers by which users keep a schedule together or wait for each other.
//!
//! What a Constant Throughput Timer says of one user is the user's own ([`Paces`]); everything else
//! is shared by all users of the load ([`Pacing`]), on whatever runtime. The rules are JMeter's:
//! each is named where it is followed, and docs/reference/open-workloads.md says how it was found.

mod barrier;
mod precise;
mod shaping;
mod throughput;

use std::sync::Arc;
use std::time::Duration;

use weir_plan::{Timer, TimerKind};
use weir_script::Text;

pub(crate) use self::throughput::Paces;
use crate::clock::Moment;
use crate::user::User;
use crate::work::{Group, Step};

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
    throughput: throughput::Shared,
    precise: precise::Shared,
    barriers: barrier::Shared,
    shaping: shaping::Shared,
}

impl Pacing {
    /// Whether the group was stopped by a timer whose schedule has ended.
    pub(crate) fn has_stopped(&self, group: usize) -> bool {
        self.shaping.has_stopped(group)
    }
}

impl User {
    /// How long the user has to sleep for its schedules; it waits for other users here. `None`: the
    /// user ends.
    pub(crate) async fn keep_pace(&mut self, group: &Group, step: &Step) -> Option<Duration> {
        let work = Arc::clone(&self.core.work);
        let pacing = &work.shared.pacing;
        let mut sleep = Duration::ZERO;
        for timer in &step.source.timers {
            sleep += match &timer.kind {
                TimerKind::ConstantThroughput { per_minute, shared } => {
                    let per_minute = number(&per_minute.rendered(&mut self.scope));
                    self.constant_throughput(timer.id, per_minute, *shared)
                }
                TimerKind::PreciseThroughput(timer) => {
                    let scope = &mut self.scope;
                    let due = pacing.precise.next(timer, self.group, work.seed, scope);
                    due.map_or(Duration::ZERO, |due| self.until_due(due))
                }
                TimerKind::Synchronizing { users, timeout_ms } => {
                    let users = number(&users.rendered(&mut self.scope)) as u32;
                    let timeout = number(&timeout_ms.rendered(&mut self.scope));
                    // JMeter: all users of the group, as many as it is to have.
                    let users = if users == 0 { group.users } else { users };
                    let barrier = pacing.barriers.of(timer.id, self.group);
                    let timeout = Duration::try_from_secs_f64(timeout / 1e3).ok();
                    let timeout = timeout.filter(|timeout| !timeout.is_zero());
                    self.wait_at(&barrier, users, timeout).await;
                    Duration::ZERO
                }
                TimerKind::Shaping { name, rows } => {
                    self.shape(timer.id, name, rows).await?;
                    Duration::ZERO
                }
                _ => Duration::ZERO,
            };
        }
        Some(sleep)
    }

    fn until_due(&self, due: Duration) -> Duration {
        let due = Moment::ORIGIN.after(due);
        Duration::from_nanos(due.nanos_since(self.core.clock.now()))
    }
}

/// What is no number is 0, as in JMeter.
fn number(text: &str) -> f64 {
    text.trim().parse().unwrap_or(0.0)
}
