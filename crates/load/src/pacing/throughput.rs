//! The Constant Throughput Timer: one sample in so many milliseconds.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use weir_plan::ElementId;

use crate::clock::Moment;

/// When users' timers let samples go, by element.
#[derive(Debug, Default)]
pub(crate) struct Paces(Vec<(ElementId, Pace)>);

/// When the last sample was to go; nothing before the first.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Pace(Option<Moment>);

impl Pace {
    /// The user's own rule: the next sample goes so long after the last one was to go; one that is
    /// late goes at once, and the next counts from it, so that nothing is made up for.
    pub(crate) fn next(&mut self, now: Moment, spacing: Duration) -> Moment {
        let target = self.0.map_or(now, |last| last.after(spacing));
        let target = target.max(now);
        self.0 = Some(target);
        target
    }
}

/// Schedules that users share: one of all users, one of each group. Timers with this mode share
/// them, whichever element they are.
#[derive(Debug, Default)]
pub(crate) struct Shared(Mutex<HashMap<Option<usize>, Pace>>);

impl Shared {
    /// How far away the next place in the schedule is; it is taken.
    pub(crate) fn take(&self, group: Option<usize>, now: Moment, spacing: Duration) -> Duration {
        let mut paces = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = paces.entry(group).or_default().next(now, spacing);
        Duration::from_nanos(place.nanos_since(now))
    }
}

/// JMeter rounds to whole milliseconds, halves up; a throughput of 0 has no spacing, and is taken
/// for one that never ends.
pub(crate) fn spacing(per_minute: f64, users: u32) -> Duration {
    let ms = 60_000.0 / per_minute * f64::from(users);
    if ms.is_finite() && ms >= 0.0 {
        Duration::from_millis((ms + 0.5).floor() as u64)
    } else {
        Duration::from_secs(u64::from(u32::MAX))
    }
}

impl Paces {
    /// That of one timer.
    pub(crate) fn pace(&mut self, id: ElementId) -> &mut Pace {
        let known = self.0.iter().position(|(known, _)| *known == id);
        let at = known.unwrap_or_else(|| {
            self.0.push((id, Pace::default()));
            self.0.len() - 1
        });
        &mut self.0[at].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: i64) -> Moment {
        Moment(ms * 1_000_000)
    }

    /// JMeter 5.6.3: 600 a minute gives 100 ms; the first sample is not delayed, a late one goes at
    /// once and is not made up for.
    #[test]
    fn late_samples_are_not_made_up_for() {
        let spacing = spacing(600.0, 1);
        assert_eq!(spacing, Duration::from_millis(100));
        let mut pace = Pace::default();
        let nexts = [5, 15, 110, 390, 400].map(|now| pace.next(ms(now), spacing));
        assert_eq!(nexts, [ms(5), ms(105), ms(205), ms(390), ms(490)]);
    }

    #[test]
    fn spacings_are_whole_milliseconds() {
        let spacings = [(7_000.0, 1), (7_000.0, 3), (60_000.0, 1), (1e6, 1)];
        let spacings = spacings.map(|(per_minute, users)| spacing(per_minute, users).as_millis());
        assert_eq!(spacings, [9, 26, 1, 0]);
        assert!(spacing(0.0, 1) > Duration::from_secs(3_600));
    }

    #[test]
    fn a_shared_schedule_is_one_for_all() {
        let shared = Shared::default();
        let spacing = Duration::from_millis(100);
        let take = |group, now| shared.take(group, ms(now), spacing).as_millis();
        assert_eq!([take(None, 0), take(None, 1), take(None, 2)], [0, 99, 198]);
        assert_eq!([take(Some(1), 3), take(Some(2), 4)], [0, 0]);
        assert_eq!(take(None, 1_000), 0);
    }

    /// Three users whose samples take 30 ms, as JMeter 5.6.3 sent them (mode "all active threads
    /// (shared)", 600 a minute, starts to some milliseconds): all at 0, then 270, 370, 470, then
    /// 570 …
    #[test]
    fn shared_places_are_reached_as_in_jmeter() {
        let shared = Shared::default();
        let spacing = Duration::from_millis(100);
        let mut users = [Pace::default(); 3];
        let mut at = [0; 3];
        let mut sent = Vec::new();
        for _ in 0..9 {
            let user = (0..3).min_by_key(|user| at[*user]).unwrap_or(0);
            let now = ms(at[user]);
            let start = users[user].next(now, shared.take(None, now, spacing));
            sent.push(start.0 / 1_000_000);
            at[user] = start.0 / 1_000_000 + 30;
        }
        assert_eq!(sent, [0, 0, 0, 270, 370, 470, 570, 670, 770]);
    }
}
