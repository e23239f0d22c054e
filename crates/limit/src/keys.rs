//! Caps for each of many: an address, an API key, a session.
//!
//! An admission holds what all may have together; here, nobody takes all of it. Each key has a cap
//! on its rate, on how many of its requests are there at once (those that wait included), and on
//! how many of them wait. What is above is refused at once: who asks too much is not made to wait
//! in front of the others.
//!
//! The rate is the generic cell rate algorithm with a tolerance (ITU-T I.371): B requests at once,
//! and one more each T = 1/rate. So in any time t at most B + t/T, for one moment a key.
//!
//! Keys are kept as long as they have requests here or have used some of their rate. Their number
//! is bounded: beyond it, a key that is new is let through and counted.

use std::collections::HashMap;
use std::time::Duration;

use crate::moment::Moment;
use crate::rules::Rate;

/// Keys that are kept at once.
const KEYS_MAX: usize = 100_000;
/// When requests of a key that has too many at once may come again; nobody knows when one ends.
const AGAIN: Duration = Duration::from_secs(1);

/// What is held of each key; `None`: as many as come.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct KeyRules {
    /// Most requests a second over a long time, and at once.
    pub rate: Option<(Rate, u32)>,
    /// Most requests at once, those that wait included.
    pub concurrency: Option<u32>,
    /// Most requests that wait.
    pub max_queue: Option<u32>,
}

/// Why a request of a key is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyWhy {
    /// The key has used up its rate.
    Rate,
    /// It has as many requests here as it may.
    Concurrency,
    /// As many of them wait as may.
    Queue,
}

/// A request of a key is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyRefusal {
    /// Why.
    pub why: KeyWhy,
    /// When it would not be, if none of the key's came meanwhile.
    pub retry_after: Duration,
}

/// What is counted since the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KeyCounts {
    /// Refused for each reason.
    pub rate: u64,
    /// As above.
    pub concurrency: u64,
    /// As above.
    pub queue: u64,
    /// Let through without a look, as there was no room for another key.
    pub unkept: u64,
}

/// The keys that there are, and what each has.
#[derive(Debug)]
pub struct Keys {
    rules: KeyRules,
    known: HashMap<u64, Key>,
    counts: KeyCounts,
    /// When there was no room, and keys were looked through: not more often than every second.
    looked_through: Option<Moment>,
}

#[derive(Debug, Clone, Copy)]
struct Key {
    /// When the rate would be unused again.
    due: Moment,
    here: u32,
    waiting: u32,
}

impl Key {
    fn is_idle(self, now: Moment) -> bool {
        self.here == 0 && self.due <= now
    }
}

impl Keys {
    /// None yet.
    pub fn new(rules: KeyRules) -> Self {
        Self {
            rules,
            known: HashMap::new(),
            counts: KeyCounts::default(),
            looked_through: None,
        }
    }

    /// A request of a key arrives. If it may go on and is kept (`true`), [`Self::leave`] is called
    /// once when it is over.
    pub fn arrive(&mut self, key: u64, now: Moment) -> Result<bool, KeyRefusal> {
        if !self.known.contains_key(&key) && !self.has_room(now) {
            self.counts.unkept += 1;
            return Ok(false);
        }
        let held = self.known.entry(key).or_insert(Key {
            due: now,
            here: 0,
            waiting: 0,
        });
        if let Some(most) = self.rules.concurrency
            && held.here >= most
        {
            self.counts.concurrency += 1;
            return Err(KeyRefusal {
                why: KeyWhy::Concurrency,
                retry_after: AGAIN,
            });
        }
        if let Some((rate, burst)) = self.rules.rate {
            let interval = rate.interval();
            let tolerance = interval.saturating_mul(burst.saturating_sub(1));
            let early = held.due.since(now).saturating_sub(tolerance);
            if !early.is_zero() {
                self.counts.rate += 1;
                return Err(KeyRefusal {
                    why: KeyWhy::Rate,
                    retry_after: early,
                });
            }
            held.due = held.due.max(now) + interval;
        }
        held.here += 1;
        Ok(true)
    }

    /// A request that is here has to wait for its turn. If it may, [`Self::waits_no_more`] is
    /// called once.
    pub fn waits(&mut self, key: u64) -> Result<(), KeyRefusal> {
        let Some(held) = self.known.get_mut(&key) else {
            return Ok(());
        };
        if self
            .rules
            .max_queue
            .is_some_and(|most| held.waiting >= most)
        {
            self.counts.queue += 1;
            return Err(KeyRefusal {
                why: KeyWhy::Queue,
                retry_after: AGAIN,
            });
        }
        held.waiting += 1;
        Ok(())
    }

    /// A request that waited has its turn, or waits no longer.
    pub fn waits_no_more(&mut self, key: u64) {
        if let Some(held) = self.known.get_mut(&key) {
            held.waiting -= 1;
        }
    }

    /// A request that was here is over.
    pub fn leave(&mut self, key: u64, now: Moment) {
        if let Some(held) = self.known.get_mut(&key) {
            held.here -= 1;
            if held.is_idle(now) {
                self.known.remove(&key);
            }
        }
    }

    /// Lets go of keys that have nothing here and all of their rate again.
    pub fn tidy(&mut self, now: Moment) {
        self.known.retain(|_, key| !key.is_idle(now));
    }

    /// How many keys are kept.
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// What happened since the start.
    pub fn counts(&self) -> KeyCounts {
        self.counts
    }

    fn has_room(&mut self, now: Moment) -> bool {
        if self.known.len() < KEYS_MAX {
            return true;
        }
        let is_due = self
            .looked_through
            .is_none_or(|at| now.since(at) >= Duration::from_secs(1));
        if is_due {
            self.looked_through = Some(now);
            self.tidy(now);
        }
        self.known.len() < KEYS_MAX
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn ten_per_s(burst: u32) -> KeyRules {
        KeyRules {
            rate: Some((Rate::per_second(10.0).unwrap(), burst)),
            ..KeyRules::default()
        }
    }

    fn why(answer: Result<bool, KeyRefusal>) -> Option<KeyWhy> {
        answer.err().map(|refusal| refusal.why)
    }

    /// Three at once, then one each 100 ms, whatever another key does.
    #[test]
    fn a_rate_has_its_burst_and_no_more() {
        let mut keys = Keys::new(ten_per_s(3));
        let admitted = |keys: &mut Keys, key, at: u64| keys.arrive(key, Moment(at * MS)).is_ok();
        assert_eq!(
            [0; 4].map(|at| admitted(&mut keys, 1, at)),
            [true, true, true, false]
        );
        assert!(admitted(&mut keys, 2, 0));
        let refusal = keys.arrive(1, Moment(30 * MS)).unwrap_err();
        assert_eq!(refusal.retry_after, Duration::from_millis(70));
        let often: Vec<u64> = (1..=2000)
            .filter(|at| admitted(&mut keys, 1, *at))
            .collect();
        assert_eq!(often, (1..=20).map(|tenth| tenth * 100).collect::<Vec<_>>());
        assert_eq!(keys.counts().rate, 1 + 1 + 1980);
    }

    #[test]
    fn a_key_has_so_many_at_once() {
        let mut keys = Keys::new(KeyRules {
            concurrency: Some(2),
            max_queue: Some(1),
            ..KeyRules::default()
        });
        let now = Moment(0);
        assert_eq!(
            (keys.arrive(1, now), keys.arrive(1, now)),
            (Ok(true), Ok(true))
        );
        assert_eq!(why(keys.arrive(1, now)), Some(KeyWhy::Concurrency));
        assert_eq!(keys.arrive(2, now), Ok(true));
        assert_eq!(keys.waits(1), Ok(()));
        assert_eq!(keys.waits(1).unwrap_err().why, KeyWhy::Queue);
        keys.waits_no_more(1);
        assert_eq!(keys.waits(1), Ok(()));
        keys.waits_no_more(1);
        keys.leave(1, now);
        assert_eq!(keys.arrive(1, now), Ok(true));
    }

    /// What has nothing here is forgotten, what has used its rate not before it has it again.
    #[test]
    fn only_keys_that_matter_are_kept() {
        let mut keys = Keys::new(KeyRules {
            concurrency: Some(2),
            ..KeyRules::default()
        });
        keys.arrive(1, Moment(0)).unwrap();
        keys.leave(1, Moment(1));
        assert!(keys.is_empty());
        let mut keys = Keys::new(ten_per_s(1));
        keys.arrive(1, Moment(0)).unwrap();
        keys.leave(1, Moment(1));
        keys.tidy(Moment(99 * MS));
        assert_eq!(keys.len(), 1);
        keys.tidy(Moment(100 * MS));
        assert!(keys.is_empty());
    }

    /// More keys than there is room for: those that are known are held, the others pass.
    #[test]
    fn their_number_is_bounded() {
        let mut keys = Keys::new(ten_per_s(1));
        for key in 0..KEYS_MAX as u64 {
            assert_eq!(keys.arrive(key, Moment(0)), Ok(true));
        }
        let one_more = KEYS_MAX as u64;
        assert_eq!(keys.arrive(one_more, Moment(MS)), Ok(false));
        assert_eq!(why(keys.arrive(7, Moment(MS))), Some(KeyWhy::Rate));
        assert_eq!((keys.len(), keys.counts().unkept), (KEYS_MAX, 1));
        // Half a second later all are still here: they are looked through once a second, and their
        // requests are not over.
        assert_eq!(keys.arrive(one_more, Moment(500 * MS)), Ok(false));
        for key in 0..KEYS_MAX as u64 {
            keys.leave(key, Moment(600 * MS));
        }
        assert_eq!(keys.arrive(one_more, Moment(600 * MS)), Ok(true));
    }
}
