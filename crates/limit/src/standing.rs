//! Whether a queue stands, and what order it is then served in.
//!
//! A queue that comes and goes takes up what is irregular in the arrivals. One that stands adds its
//! length to everybody's response time and gains nothing (Nichols and Jacobson 2012, "Controlling
//! queue delay"). In a standing queue those who came last are taken first, and the oldest are sent
//! away early, because whoever has waited longest is most likely to have gone (Maurer 2015, "Fail
//! at scale"; the rule is that of the `Codel` class in folly: a target, an interval of 20 targets,
//! and expiry after 2).
//!
//! Here the longest wait is the user's. A queue stands when its oldest has been older than a
//! quarter of it for twice as long as it and is older than half of it still: what a server that
//! stood still has to catch up with lasts as long, but is soon younger. The oldest then go after
//! half of the longest wait. It is calm again when none had to go for the same time.

use std::time::Duration;

use crate::moment::Moment;

/// The age at which the oldest begins to count, as a part of the longest wait.
const TARGET_PARTS: u32 = 4;
/// How many longest waits it has to last.
const INTERVAL: u32 = 2;
/// When the oldest are sent away, as a part of the longest wait.
const EXPIRY_PARTS: u32 = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Standing {
    /// Since when the oldest has been too old.
    since: Option<Moment>,
    /// When somebody was last sent away.
    expired: Moment,
    stands: bool,
}

impl Standing {
    /// Whether those who came last go first.
    pub(crate) fn newest_first(self) -> bool {
        self.stands
    }

    /// How long the oldest may wait.
    pub(crate) fn patience(self, max_wait: Duration) -> Duration {
        if self.stands {
            max_wait / EXPIRY_PARTS
        } else {
            max_wait
        }
    }

    /// Somebody is sent away.
    pub(crate) fn expire(&mut self, now: Moment) {
        self.expired = now;
    }

    /// The age of the oldest in the queue; `None` without any, and while a rate and not the server
    /// is what they wait for.
    pub(crate) fn observe(&mut self, oldest: Option<Duration>, max_wait: Duration, now: Moment) {
        let interval = max_wait * INTERVAL;
        if let Some(age) = oldest.filter(|age| *age > max_wait / TARGET_PARTS) {
            let since = *self.since.get_or_insert(now);
            self.stands |= now.since(since) >= interval && age > max_wait / EXPIRY_PARTS;
        } else {
            self.since = None;
            self.stands &= now.since(self.expired) < interval;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WAIT: Duration = Duration::from_millis(200);

    fn at(ms: u64) -> Moment {
        Moment(ms * 1_000_000)
    }

    #[test]
    fn a_queue_stands_when_its_oldest_has_been_old_for_two_waits() {
        let mut standing = Standing::default();
        let old = Some(Duration::from_millis(101));
        standing.observe(old, WAIT, at(1000));
        standing.observe(old, WAIT, at(1399));
        assert!(!standing.newest_first());
        standing.observe(old, WAIT, at(1400));
        assert!(standing.newest_first());
        assert_eq!(standing.patience(WAIT), WAIT / 2);
    }

    #[test]
    fn one_that_is_nearly_caught_up_with_does_not_stand() {
        let mut standing = Standing::default();
        for (ms, age) in [
            (1000, 51),
            (1100, 150),
            (1200, 199),
            (1300, 140),
            (1400, 100),
        ] {
            standing.observe(Some(Duration::from_millis(age)), WAIT, at(ms));
        }
        assert!(!standing.newest_first());
        standing.observe(Some(Duration::from_millis(101)), WAIT, at(1401));
        assert!(standing.newest_first());
    }

    #[test]
    fn one_look_at_a_young_queue_begins_anew() {
        let mut standing = Standing::default();
        let old = Some(Duration::from_millis(51));
        standing.observe(old, WAIT, at(1000));
        standing.observe(Some(Duration::from_millis(50)), WAIT, at(1200));
        standing.observe(old, WAIT, at(1400));
        standing.observe(Some(Duration::from_millis(150)), WAIT, at(1799));
        assert!(!standing.newest_first());
    }

    #[test]
    fn it_is_calm_again_when_nobody_was_sent_away_for_two_waits() {
        let mut standing = Standing::default();
        let old = Some(Duration::from_millis(150));
        standing.observe(old, WAIT, at(1000));
        standing.observe(old, WAIT, at(1400));
        standing.expire(at(1450));
        standing.observe(None, WAIT, at(1500));
        assert!(standing.newest_first());
        standing.observe(None, WAIT, at(1850));
        assert!(!standing.newest_first());
    }
}
