//! The Throughput Shaping Timer (jp@gc): so many samples in each second of the wall clock.
//!
//! In a second with n samples, sample k (from 0) goes k/n of the second after its beginning or
//! later. A second makes up for what it was late with, but not for the seconds before. When the
//! profile is over, the users of the group end. Read from the plugin's source
//! (`VariableThroughputTimer`).

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use weir_plan::{ElementId, ShapingRow};
use weir_script::Text;

/// One schedule for each timer, and the groups that one has stopped.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    schedules: Mutex<HashMap<ElementId, Schedule>>,
    stopped: Mutex<HashSet<usize>>,
    /// Some group has been stopped; users look at this before each sample.
    any_stopped: AtomicBool,
}

impl Shared {
    fn schedules(&self) -> MutexGuard<'_, HashMap<ElementId, Schedule>> {
        self.schedules
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn stopped(&self) -> MutexGuard<'_, HashSet<usize>> {
        self.stopped.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn has_stopped(&self, group: usize) -> bool {
        self.any_stopped.load(Ordering::Relaxed) && self.stopped().contains(&group)
    }

    /// A sample wants to go: when it may, in milliseconds of the wall clock (`None`: the profile is
    /// over), and what is to be published.
    pub(crate) fn claim(
        &self,
        id: ElementId,
        rows: &[ShapingRow<Text>],
        now_ms: u64,
    ) -> (Option<u64>, Option<Published>) {
        let mut schedules = self.schedules();
        let schedule = schedules.entry(id).or_default();
        if schedule.rows.is_empty() {
            schedule.rows = rows.iter().map(row).collect();
        }
        let due_ms = schedule.claim(now_ms);
        let published = schedule.look(now_ms);
        schedule.waiting += 1;
        (due_ms, published)
    }

    /// A sample that has waited goes, or ends with the profile; what is to be published.
    pub(crate) fn leave(&self, id: ElementId, now_ms: u64, goes: bool) -> Option<Published> {
        let mut schedules = self.schedules();
        let schedule = schedules.entry(id).or_default();
        schedule.waiting -= 1;
        let published = schedule.look(now_ms);
        schedule.sent += u64::from(goes);
        published
    }

    /// Ends the users of a group.
    pub(crate) fn stop(&self, group: usize) {
        self.stopped().insert(group);
        self.any_stopped.store(true, Ordering::Relaxed);
    }
}

/// A row of a profile.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Row {
    from_per_s: f64,
    to_per_s: f64,
    seconds: f64,
}

#[derive(Debug, Default)]
struct Schedule {
    rows: Vec<Row>,
    /// The second of the first sample.
    first: Option<u64>,
    /// The second that samples are given out of, which may be in the future.
    second: u64,
    /// Samples given out of it.
    given: u64,
    /// The second that runs, as far as anybody has looked.
    running: u64,
    /// Samples that have gone in it.
    sent: u64,
    /// Users that wait.
    waiting: u64,
}

/// What the timer says of a second that has begun, in properties.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Published {
    pub(crate) total_s: f64,
    pub(crate) waiting: u64,
    /// Of the second before.
    pub(crate) sent: u64,
    pub(crate) per_s: f64,
}

impl Schedule {
    /// The rate of a second; `None` after the end of the profile.
    fn rate(&self, second: u64) -> Option<f64> {
        let mut into = second.saturating_sub(self.first.unwrap_or(second)) as f64;
        for row in &self.rows {
            if into <= row.seconds {
                let share = if row.seconds > 0.0 {
                    into / row.seconds
                } else {
                    0.0
                };
                return Some(row.from_per_s + share * (row.to_per_s - row.from_per_s));
            }
            into -= row.seconds;
        }
        None
    }

    /// When the next sample may go, in milliseconds of the wall clock; `None`: never.
    fn claim(&mut self, now_ms: u64) -> Option<u64> {
        let now_s = now_ms / 1_000;
        if self.first.is_none() {
            self.first = Some(now_s);
        }
        if now_s > self.second {
            self.second = now_s;
            self.given = 0;
        }
        loop {
            let per_s = self.rate(self.second)?;
            let offset_ms = (self.given as f64 * 1_000.0 / per_s).ceil();
            if per_s > 0.0 && offset_ms < 1_000.0 {
                self.given += 1;
                return Some(self.second * 1_000 + offset_ms as u64);
            }
            self.second += 1;
            self.given = 0;
        }
    }

    /// Looks whether another second has begun.
    fn look(&mut self, now_ms: u64) -> Option<Published> {
        let now_s = now_ms / 1_000;
        if now_s <= self.running {
            return None;
        }
        self.running = now_s;
        Some(Published {
            total_s: self.rows.iter().map(|row| row.seconds).sum(),
            waiting: self.waiting,
            sent: std::mem::take(&mut self.sent),
            per_s: self.rate(now_s).unwrap_or(0.0),
        })
    }
}

fn row(row: &ShapingRow<Text>) -> Row {
    // They are known before the test, which was checked.
    let number = |text: &Text| text.constant().and_then(|text| text.trim().parse().ok());
    Row {
        from_per_s: number(&row.from_per_s).unwrap_or(0.0),
        to_per_s: number(&row.to_per_s).unwrap_or(0.0),
        seconds: number(&row.seconds).unwrap_or(0.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedule(rows: &[(f64, f64, f64)]) -> Schedule {
        let rows = rows.iter().map(|(from_per_s, to_per_s, seconds)| Row {
            from_per_s: *from_per_s,
            to_per_s: *to_per_s,
            seconds: *seconds,
        });
        Schedule {
            rows: rows.collect(),
            ..Schedule::default()
        }
    }

    /// By hand from the plugin's rule.
    #[test]
    fn seconds_have_their_numbers() {
        let mut schedule = schedule(&[(2.0, 4.0, 2.0), (1.0, 1.0, 1.0)]);
        let all: Vec<u64> = std::iter::from_fn(|| schedule.claim(100_300)).collect();
        // 2 and 3 a second, then the end of the first row is still inside it, then 1 a second.
        let expected = [
            100_000, 100_500, 101_000, 101_334, 101_667, 102_000, 102_250, 102_500, 102_750,
            103_000,
        ];
        assert_eq!(all, expected);
    }

    #[test]
    fn a_second_does_not_make_up_for_those_before() {
        let mut schedule = schedule(&[(2.0, 2.0, 10.0)]);
        assert_eq!(schedule.claim(100_900), Some(100_000));
        assert_eq!(schedule.claim(100_910), Some(100_500));
        assert_eq!(schedule.claim(100_920), Some(101_000));
        assert_eq!(schedule.claim(105_700), Some(105_000));
        assert_eq!(schedule.claim(105_700), Some(105_500));
        assert_eq!(schedule.claim(111_000), None);
    }

    #[test]
    fn what_a_second_was_is_said_in_the_next() {
        let mut schedule = schedule(&[(10.0, 20.0, 10.0)]);
        schedule.claim(100_000);
        schedule.look(100_000);
        (schedule.sent, schedule.waiting) = (7, 3);
        assert_eq!(schedule.look(100_999), None);
        let expected = Published {
            total_s: 10.0,
            waiting: 3,
            sent: 7,
            per_s: 11.0,
        };
        assert_eq!(schedule.look(101_000), Some(expected));
    }
}
