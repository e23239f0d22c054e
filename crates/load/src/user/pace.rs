//! How a user keeps to its timers' schedules, and waits for other users.

use std::sync::Arc;
use std::time::Duration;

use weir_plan::{ElementId, ShapingRow, ThroughputShare, TimerKind};
use weir_script::Text;

use crate::clock::Moment;
use crate::pacing::{Barrier, Published, number, spacing};
use crate::user::User;
use crate::work::{Group, Step};

/// How often a user that waits looks whether the test has been stopped, of which it hears no
/// sooner.
const LOOK: Duration = Duration::from_millis(50);

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

    /// How long a sample has to wait for its throughput.
    fn constant_throughput(
        &mut self,
        id: ElementId,
        per_minute: f64,
        shared: ThroughputShare,
    ) -> Duration {
        let now = self.core.clock.now();
        let (group, all) = self.alive();
        let users = match shared {
            ThroughputShare::AllUsers => all,
            ThroughputShare::GroupUsers => group,
            _ => 1,
        };
        let spacing = spacing(per_minute, users);
        let schedules = &self.core.work.shared.pacing.throughput;
        // JMeter counts the way to the shared place from when the user's last sample was to go, not
        // from now: a user's first sample never waits, and the others go early by what the one
        // before took. The places, and so the throughput, are the same.
        let spacing = match shared {
            ThroughputShare::AllShared => schedules.take(None, now, spacing),
            ThroughputShare::GroupShared => schedules.take(Some(self.group), now, spacing),
            _ => spacing,
        };
        let due = self.paces().pace(id).next(now, spacing);
        Duration::from_nanos(due.nanos_since(now))
    }

    /// Waits until so many users do. After the time-out of one of them all that wait go on, as in
    /// JMeter.
    async fn wait_at(&mut self, barrier: &Barrier, users: u32, timeout: Option<Duration>) {
        let Some(mut opened) = barrier.arrive(users) else {
            return;
        };
        let until = timeout.map(|timeout| self.core.clock.now().after(timeout));
        while self.runs() {
            let now = self.core.clock.now();
            if until.is_some_and(|until| now >= until) {
                return barrier.open();
            }
            let look = now.after(LOOK);
            let look = until.map_or(look, |until| until.min(look));
            if self.within(look, opened.changed()).await.is_some() {
                return;
            }
        }
    }

    /// Waits until the timer lets the sample go; `None`: the profile is over, and the user ends.
    async fn shape(&mut self, id: ElementId, name: &Text, rows: &[ShapingRow<Text>]) -> Option<()> {
        let work = Arc::clone(&self.core.work);
        let shaping = &work.shared.pacing.shaping;
        let now = self.core.clock.now();
        let now_ms = self.core.clock.epoch_ms(now);
        let (due_ms, published) = shaping.claim(id, rows, now_ms);
        self.publish(name, published);
        if let Some(due_ms) = due_ms {
            let wait = Duration::from_millis(due_ms.saturating_sub(now_ms));
            if !wait.is_zero() {
                self.sleep_until(now.after(wait)).await;
            }
        }
        let now_ms = self.core.clock.epoch_ms(self.core.clock.now());
        let published = shaping.leave(id, now_ms, due_ms.is_some());
        self.publish(name, published);
        if due_ms.is_none() {
            shaping.stop(self.group);
        }
        due_ms.map(|_| ())
    }

    fn publish(&mut self, name: &Text, published: Option<Published>) {
        let Some(published) = published else {
            return;
        };
        let name = name.rendered(&mut self.scope);
        let properties = self.scope.variables.globals();
        let set = |what: &str, value: String| {
            properties.set_property(&format!("{name}_{what}"), &value);
        };
        set("totalDuration", (published.total_s as u64).to_string());
        set("cntDelayed", published.waiting.to_string());
        set("cntSent", published.sent.to_string());
        set("rps", format!("{:?}", published.per_s));
    }
}
