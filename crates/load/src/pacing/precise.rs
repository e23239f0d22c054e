//! The Precise Throughput Timer: exactly so many samples in each stretch of time, at random
//! moments.
//!
//! Samples of a batch go together: JMeter 5.6.3 lets them, whatever delay between them the timer
//! asks for (tried with 40 ms and 1 s).

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use weir_plan::{ArrivalProcess, ArrivalStep, PreciseThroughput, RatePiece};
use weir_script::{Scope, Text};

use super::number;
use crate::groups::arrival_times::ArrivalTimes;

/// One schedule for each group: all its timers share it, as in JMeter.
#[derive(Debug, Default)]
pub(crate) struct Shared(Mutex<HashMap<usize, Schedule>>);

/// What a timer asks for now.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Asked {
    /// Samples a second.
    per_s: f64,
    /// Length of a stretch in seconds.
    stretch_s: f64,
    /// Samples at a moment.
    batch: u32,
}

/// One stretch after the other.
#[derive(Debug)]
struct Schedule {
    seed: u64,
    stretch: u64,
    begin_s: f64,
    stretch_s: f64,
    times: ArrivalTimes,
    /// The moment of the batch that is being given out, and how many of it were.
    batch: Option<(f64, u32)>,
}

impl Shared {
    /// When the next sample of a group is to go, from the start of the test; `None` without a
    /// throughput.
    pub(crate) fn next(
        &self,
        timer: &PreciseThroughput<Text>,
        group: usize,
        seed: u64,
        scope: &mut Scope,
    ) -> Option<Duration> {
        let mut read = |text: &Text| number(&text.rendered(scope));
        let period_s = read(&timer.period_s);
        let asked = Asked {
            per_s: read(&timer.throughput) / if period_s > 0.0 { period_s } else { 1.0 },
            stretch_s: read(&timer.duration_s).max(1.0),
            batch: (read(&timer.batch) as u32).max(1),
        };
        let own_seed = read(&timer.seed) as i64;
        if asked.per_s <= 0.0 {
            return None;
        }
        let mut schedules = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let schedule = schedules.entry(group).or_insert_with(|| {
            let run = SplitMix64::seed_from_u64(seed ^ ((group as u64) << 32)).next_u64();
            Schedule::new(if own_seed == 0 {
                run
            } else {
                own_seed.cast_unsigned()
            })
        });
        Duration::try_from_secs_f64(schedule.next(asked)).ok()
    }
}

impl Schedule {
    fn new(seed: u64) -> Self {
        Self {
            seed,
            stretch: 0,
            begin_s: 0.0,
            stretch_s: 0.0,
            times: ArrivalTimes::new(Vec::new(), 0),
            batch: None,
        }
    }

    fn next(&mut self, asked: Asked) -> f64 {
        if let Some((moment, given)) = self.batch.filter(|(_, given)| *given < asked.batch) {
            self.batch = Some((moment, given + 1));
            return moment;
        }
        loop {
            if let Some(time) = self.times.next() {
                let moment = self.begin_s + time.as_secs_f64();
                self.batch = Some((moment, 1));
                return moment;
            }
            self.begin_s += self.stretch_s;
            self.stretch_s = asked.stretch_s;
            self.stretch += 1;
            let moments = (asked.per_s * asked.stretch_s / f64::from(asked.batch)).ceil();
            let rate = moments.max(1.0) / asked.stretch_s;
            let step = ArrivalStep {
                rate: RatePiece {
                    from_per_s: rate,
                    to_per_s: rate,
                    seconds: asked.stretch_s,
                },
                process: ArrivalProcess::FixedRandom,
            };
            let seed = SplitMix64::seed_from_u64(self.seed ^ self.stretch).next_u64();
            self.times = ArrivalTimes::new(vec![step], seed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(asked: Asked, seed: u64, count: usize) -> Vec<f64> {
        let mut schedule = Schedule::new(seed);
        (0..count).map(|_| schedule.next(asked)).collect()
    }

    const ASKED: Asked = Asked {
        per_s: 2.5,
        stretch_s: 10.0,
        batch: 1,
    };

    #[test]
    fn every_stretch_has_its_number() {
        for seed in 1..50 {
            let all = times(ASKED, seed, 100);
            assert!(all.is_sorted());
            for stretch in 0..4 {
                let within = all.iter().filter(|time| (**time / 10.0) as u32 == stretch);
                assert_eq!(within.count(), 25, "seed {seed}, stretch {stretch}");
            }
        }
    }

    #[test]
    fn batches_come_together() {
        let asked = Asked { batch: 3, ..ASKED };
        let all = times(asked, 1, 60);
        for batch in all.chunks(3) {
            assert!(batch.iter().all(|moment| *moment <= batch[0]), "{batch:?}");
        }
        // 25 samples in 10 s make 9 batches.
        let moments: Vec<f64> = all.iter().step_by(3).copied().collect();
        assert_eq!(moments.iter().filter(|moment| **moment < 10.0).count(), 9);
    }

    #[test]
    fn stretches_differ() {
        let all = times(ASKED, 7, 50);
        let shifted: Vec<f64> = all[25..].iter().map(|time| time - 10.0).collect();
        assert_ne!(all[..25], shifted[..]);
        assert_eq!(times(ASKED, 7, 50), all);
        assert_ne!(times(ASKED, 8, 50), all);
    }
}
