//! What a limit that is found has learnt: the number that could stand in its place.
//!
//! Only times in which somebody waits for the limit say anything of it: otherwise the traffic is
//! what it is whatever the limit. The limit that was in force then, averaged over time, is where
//! the goals have led it; its spread says whether it has come to rest.

use std::time::Duration;

/// Weight of the past: what is a minute of waiting ago counts a third.
const MEMORY_S: f64 = 60.0;
/// It has come to rest after so long …
const SETTLED_AFTER: Duration = Duration::from_secs(30);
/// … with no more spread than this share of it.
const SETTLED_SPREAD: f64 = 0.1;

/// What a limit has learnt of the traffic that it has held.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Learnt {
    /// The limit that was in force while somebody waited for it: a mean over time, the last minute
    /// of waiting counting most.
    pub limit: f64,
    /// Standard deviation of the limit over the same time.
    pub spread: f64,
    /// The busy share of the server's CPUs in that time; `None` where it was not read.
    pub busy: Option<f64>,
    /// For how long somebody has waited for it.
    pub pressed: Duration,
    /// The least and the largest value that this mean has had while it was at rest; `None` as long
    /// as it never was.
    pub range: Option<(f64, f64)>,
    /// Whether it stands at the largest limit that it may have: more was not tried.
    pub is_at_max: bool,
}

impl Learnt {
    /// Whether it has come to rest: half a minute of waiting, and a spread of at most a tenth.
    pub fn is_settled(&self) -> bool {
        rests(self.limit, self.spread, self.pressed)
    }
}

fn rests(limit: f64, spread: f64, pressed: Duration) -> bool {
    pressed >= SETTLED_AFTER && spread <= SETTLED_SPREAD * limit
}

/// A limit while it is learnt.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Lesson {
    pressed_s: f64,
    mean: f64,
    variance: f64,
    busy: Option<f64>,
    range: Option<(f64, f64)>,
}

impl Lesson {
    /// For so many seconds somebody waited for this limit.
    pub(super) fn held(&mut self, limit: f64, seconds: f64, busy: Option<f64>) {
        if seconds <= 0.0 {
            return;
        }
        self.pressed_s += seconds;
        // As long as there is less than the memory holds, all counts alike.
        let weight = (1.0 - (-seconds / MEMORY_S).exp()).max(seconds / self.pressed_s);
        let away = limit - self.mean;
        self.mean += weight * away;
        self.variance = (1.0 - weight) * (self.variance + weight * away * away);
        self.busy = match (self.busy, busy) {
            (Some(mean), Some(busy)) => Some(mean + weight * (busy - mean)),
            (mean, busy) => busy.or(mean),
        };
        if rests(self.mean, self.spread(), self.pressed()) {
            let (least, most) = self.range.unwrap_or((self.mean, self.mean));
            self.range = Some((least.min(self.mean), most.max(self.mean)));
        }
    }

    fn spread(&self) -> f64 {
        self.variance.max(0.0).sqrt()
    }

    fn pressed(&self) -> Duration {
        Duration::from_secs_f64(self.pressed_s)
    }

    /// What has been learnt under the largest limit that there may be; nothing before anybody has
    /// waited.
    pub(super) fn learnt(&self, max: f64) -> Option<Learnt> {
        (self.pressed_s > 0.0).then(|| Learnt {
            limit: self.mean,
            spread: self.spread(),
            busy: self.busy,
            pressed: self.pressed(),
            range: self.range,
            is_at_max: self.mean >= 0.99 * max,
        })
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    fn taught(limits: impl IntoIterator<Item = f64>) -> Learnt {
        let mut lesson = Lesson::default();
        for limit in limits {
            lesson.held(limit, 0.5, Some(0.8));
        }
        lesson.learnt(100.0).unwrap()
    }

    #[test]
    fn what_is_long_ago_is_forgotten() {
        let way = (0..60).map(|step| 8.0 + f64::from(step) / 2.0);
        let rest = std::iter::repeat_n(40.0, 1200);
        let learnt = taught(way.clone().chain(rest));
        assert!((learnt.limit - 40.0).abs() < 0.01, "{learnt:?}");
        assert!(learnt.is_settled() && !learnt.is_at_max);
        assert!((learnt.busy.unwrap() - 0.8).abs() < 1e-9);
        let (least, most) = learnt.range.unwrap();
        assert!(
            30.0 < least && least < most,
            "where it had come to rest: {learnt:?}"
        );
        let underway = taught(way);
        assert!(!underway.is_settled() && underway.range.is_none());
    }

    #[test]
    fn a_mean_and_a_spread_of_what_goes_to_and_fro() {
        let learnt = taught((0..20).map(|at| if at % 2 == 0 { 10.0 } else { 12.0 }));
        assert!((learnt.limit - 11.0).abs() < 0.1, "{learnt:?}");
        assert!((learnt.spread - 1.0).abs() < 0.1, "{learnt:?}");
        assert!(!learnt.is_settled(), "ten seconds are too few");
        assert!(taught([100.0; 80]).is_at_max);
        assert_eq!(Lesson::default().learnt(100.0), None);
    }
}
