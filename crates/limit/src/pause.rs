//! Pauses: work of low importance that steps back when it is in the way.
//!
//! Progress-based regulation (Douceur and Bolosky 1999, "Progress-based regulation of
//! low-importance processes", SOSP). The work reports its progress at test points. If it makes less
//! than it makes usually, somebody else needs what it uses, whatever that is, and it pauses. One
//! slow stretch says nothing, so a sign test judges: of n stretches since the last verdict, r were
//! slower than usual. With P(Bin(n, 1/2) ≥ r) ≤ α the progress is *poor*: pause, twice as long as
//! the last time, up to a maximum. With as few as P(Bin(n, 1/2) ≥ n − r) ≤ β it is *good*: the next
//! pause is the shortest again. Otherwise it is not decided yet.
//!
//! What is usual is the ratio of the exponential means of progress and time. α is looked at after
//! every stretch, so work that nobody disturbs is judged poor more often than once in 1/α verdicts:
//! with α = 0.01 and β = 0.2 about once in 1,000 stretches, which costs 0.07 % of the time with
//! stretches of 3 ms (both from the test below).
//!
//! It assumes that contention hurts both sides alike, and that a stretch of the same progress takes
//! the same time: work of which the progress cannot be counted, or whose units differ by their
//! place in the work, must not use it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::moment::Moment;
use crate::rules::as_nanos;

/// Most stretches that one verdict looks at; after those without one, it begins anew.
const STRETCHES_MAX: usize = 64;
/// Stretches before the first verdict, in which only what is usual is learnt.
const CALIBRATION: f64 = 100.0;
/// Stretches over which what is usual is taken.
const MEMORY: f64 = 10_000.0;

/// How work pauses.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PauseRules {
    /// Test points that come earlier than this after the last are added to the next.
    #[serde(rename = "stretch_min_ns", with = "as_nanos")]
    pub stretch_min: Duration,
    /// The shortest pause.
    #[serde(rename = "pause_min_ns", with = "as_nanos")]
    pub pause_min: Duration,
    /// The longest.
    #[serde(rename = "pause_max_ns", with = "as_nanos")]
    pub pause_max: Duration,
    /// How likely undisturbed work may be judged poor, at one look.
    pub alpha: f64,
    /// How likely work that is disturbed half of the time may be judged good, at one look.
    pub beta: f64,
}

impl Default for PauseRules {
    fn default() -> Self {
        Self {
            stretch_min: Duration::from_millis(2),
            pause_min: Duration::from_millis(2),
            pause_max: Duration::from_millis(500),
            alpha: 0.01,
            beta: 0.2,
        }
    }
}

/// The control of one kind of work.
#[derive(Debug, Clone, PartialEq)]
pub struct PauseControl {
    rules: PauseRules,
    /// Of n − 1: from how many slow ones of n stretches on progress is poor, and up to how many it
    /// is good.
    thresholds: Vec<(usize, Option<usize>)>,
    since: Moment,
    /// Progress and pauses since then that no stretch has counted yet.
    done: f64,
    paused: Duration,
    /// What is usual: means of progress and seconds, and of how many stretches.
    mean_done: f64,
    mean_s: f64,
    stretches: f64,
    /// Since the last verdict.
    looked_at: usize,
    slow: usize,
    next_pause: Duration,
}

impl PauseControl {
    /// Work that begins.
    pub fn new(rules: PauseRules, now: Moment) -> Self {
        let thresholds = (1..=STRETCHES_MAX)
            .map(|n| {
                let good = least(n, rules.beta).filter(|least| *least <= n);
                (
                    least(n, rules.alpha).unwrap_or(n + 1),
                    good.map(|least| n - least),
                )
            })
            .collect();
        Self {
            rules,
            thresholds,
            since: now,
            done: 0.0,
            paused: Duration::ZERO,
            mean_done: 0.0,
            mean_s: 0.0,
            stretches: 0.0,
            looked_at: 0,
            slow: 0,
            next_pause: rules.pause_min,
        }
    }

    /// A test point: so much has been done since the last one, during which the work stood still
    /// for `paused` on its own account (pauses it was told to make, collections of garbage).
    /// Says for how long it is to pause now, if at all.
    pub fn test_point(&mut self, done: f64, paused: Duration, now: Moment) -> Option<Duration> {
        self.done += done;
        self.paused += paused;
        let took = now.since(self.since).saturating_sub(self.paused);
        if took < self.rules.stretch_min || self.done <= 0.0 {
            return None;
        }
        let (done, took_s) = (self.done, took.as_secs_f64());
        (self.since, self.done, self.paused) = (now, 0.0, Duration::ZERO);
        let is_slow = took_s * self.mean_done > done * self.mean_s;
        let calibrated = self.stretches >= CALIBRATION;
        self.learn(done, took_s);
        if calibrated {
            self.judge(is_slow)
        } else {
            None
        }
    }

    fn learn(&mut self, done: f64, took_s: f64) {
        self.stretches = (self.stretches + 1.0).min(MEMORY);
        self.mean_done += (done - self.mean_done) / self.stretches;
        self.mean_s += (took_s - self.mean_s) / self.stretches;
    }

    fn judge(&mut self, is_slow: bool) -> Option<Duration> {
        self.looked_at += 1;
        self.slow += usize::from(is_slow);
        let (poor, good) = self.thresholds[self.looked_at - 1];
        if self.slow >= poor {
            let pause = self.next_pause;
            self.next_pause = (pause * 2).min(self.rules.pause_max);
            self.begin();
            return Some(pause);
        }
        if good.is_some_and(|good| self.slow <= good) {
            self.next_pause = self.rules.pause_min;
            self.begin();
        } else if self.looked_at == STRETCHES_MAX {
            self.begin();
        }
        None
    }

    fn begin(&mut self) {
        (self.looked_at, self.slow) = (0, 0);
    }
}

/// The least r with P(Bin(n, 1/2) ≥ r) ≤ `chance`; `None` if even all n are likelier.
fn least(n: usize, chance: f64) -> Option<usize> {
    let all = (0..n).fold(1.0, |all, _| all / 2.0);
    let (mut tail, mut ways) = (0.0, 1.0);
    let mut found = None;
    for r in (0..=n).rev() {
        tail += ways * all;
        if tail > chance {
            break;
        }
        found = Some(r);
        // From n over r to n over r − 1.
        ways *= r as f64 / (n - r + 1) as f64;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The thresholds of the exact binomial.
    #[test]
    fn poor_is_so_many_of_so_many() {
        for (n, r) in [
            (6, None),
            (7, Some(7)),
            (8, Some(8)),
            (10, Some(10)),
            (11, Some(10)),
            (12, Some(11)),
            (20, Some(16)),
            (30, Some(22)),
        ] {
            assert_eq!(least(n, 0.01), r, "{n}");
        }
        for (n, r) in [(5, Some(5)), (8, Some(7)), (15, Some(12)), (30, Some(20))] {
            assert_eq!(least(n, 0.05), r, "{n}");
        }
    }

    /// Stretches of 3 ms that vary by a tenth, of which these are slower by half; gives when it was
    /// told to pause, and how long.
    fn work(stretches: u64, is_disturbed: impl Fn(u64) -> bool) -> Vec<(u64, Duration)> {
        let mut control = PauseControl::new(PauseRules::default(), Moment(0));
        let (mut now, mut weyl) = (Moment(0), 0_u64);
        let mut pauses = Vec::new();
        let mut paused = Duration::ZERO;
        for stretch in 0..stretches {
            weyl = weyl.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (weyl ^ (weyl >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let varied = 3_000_000 + (mixed >> 11) % 300_000;
            let took = if is_disturbed(stretch) {
                varied * 3 / 2
            } else {
                varied
            };
            now = now + Duration::from_nanos(took) + paused;
            let pause = control.test_point(1.0, paused, now);
            paused = pause.unwrap_or_default();
            pauses.extend(pause.map(|pause| (stretch, pause)));
        }
        pauses
    }

    #[test]
    fn work_that_is_disturbed_pauses_soon_and_ever_longer() {
        let pauses = work(1200, |stretch| stretch >= 1000);
        let (first, pause) = pauses[pauses.len() - 1];
        assert!(pause >= Duration::from_millis(64), "{first}: {pause:?}");
        let after: Vec<_> = pauses.iter().filter(|(at, _)| *at >= 1000).collect();
        // Seven slow ones in a row are enough, and more where a verdict was on its way when they
        // began.
        assert!(after[0].0 <= 1020, "{after:?}");
        assert!(
            after.windows(2).all(|pair| pair[1].0 - pair[0].0 == 7),
            "{after:?}"
        );
        assert!(
            after.windows(2).all(|pair| pair[1].1 >= pair[0].1),
            "{after:?}"
        );
    }

    #[test]
    fn work_that_nobody_disturbs_hardly_pauses() {
        let pauses = work(100_000, |_| false);
        let lost: Duration = pauses.iter().map(|(_, pause)| *pause).sum();
        let share = lost.as_secs_f64() / (100_000.0 * 0.00315);
        assert!(pauses.len() < 130, "{} pauses", pauses.len());
        assert!(share < 0.002, "{share} of the time");
    }

    #[test]
    fn points_that_come_too_early_are_added_up() {
        let mut control = PauseControl::new(PauseRules::default(), Moment(0));
        for step in 1..=10 {
            assert_eq!(
                control.test_point(1.0, Duration::ZERO, Moment(step * 500_000)),
                None
            );
        }
        // Ten points of half a millisecond are two stretches of four points, and two points over.
        assert!((control.stretches - 2.0).abs() < 1e-12);
        assert!((control.mean_done - 4.0).abs() < 1e-12);
        assert!((control.done - 2.0).abs() < 1e-12);
    }
}
