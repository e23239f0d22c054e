//! The moments of an arrival process, as a function of its rate and its seed alone.
//!
//! Everything here is drawn on the scale of expected arrivals, Λ, on which the rate is 1, and then
//! taken to time by Λ⁻¹. That a Poisson process with any rate becomes one with rate 1 on this scale
//! is Çinlar, Introduction to Stochastic Processes (1975), section 4.7; the load engine's users see
//! nothing of it but the times.

use std::time::Duration;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng as _};
use weir_plan::{ArrivalProcess, ArrivalStep};

/// Times from the start of the process, in order.
#[derive(Debug, Clone)]
pub(crate) struct ArrivalTimes {
    steps: Vec<ArrivalStep>,
    /// The stretch that the next arrival may be in.
    at: usize,
    /// Where it begins, in seconds.
    begin_s: f64,
    /// Expected arrivals from there to the next one.
    ahead: f64,
    /// Arrivals left in a stretch whose number of them is fixed.
    left: Option<u64>,
    /// The last one of a stretch with random moments, as a share of all that are expected.
    uniform: f64,
    random: Xoshiro256PlusPlus,
}

impl ArrivalTimes {
    /// The process of these stretches, drawn from this seed.
    pub(crate) fn new(steps: Vec<ArrivalStep>, seed: u64) -> Self {
        let mut times = Self {
            steps,
            at: 0,
            begin_s: 0.0,
            ahead: 0.0,
            left: None,
            uniform: 0.0,
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
        };
        times.enter();
        times
    }

    /// Begins a stretch.
    fn enter(&mut self) {
        let Some(step) = self.steps.get(self.at).copied() else {
            return;
        };
        let before = self.at.checked_sub(1).map(|at| self.steps[at].process);
        self.left = None;
        match step.process {
            ArrivalProcess::FixedRandom | ArrivalProcess::FixedEven => {
                // A rate that makes a whole number may be a bit off.
                self.left = Some((step.rate.total() + 1e-9).floor() as u64);
                (self.uniform, self.ahead) = (0.0, 0.0);
            }
            // What is left of the gap goes on at the new rate.
            process if before == Some(process) => {}
            ArrivalProcess::Poisson => self.ahead = exponential(&mut self.random),
            ArrivalProcess::Constant => self.ahead = 0.0,
        }
    }

    /// Expected arrivals from the beginning of the stretch to the next one in it.
    fn draw(&mut self, step: ArrivalStep) -> Option<f64> {
        let total = step.rate.total();
        if let Some(left) = self.left {
            self.left = Some(left.checked_sub(1)?);
            if step.process == ArrivalProcess::FixedEven {
                self.ahead += 1.0;
                return Some(self.ahead - 1.0);
            }
            // Bentley and Saxe, Generating Sorted Lists of Random Numbers, ACM TOMS 6 (1980): the
            // smallest of n that are above u is 1 − (1 − u)·V^(1/n).
            let rest = uniform(&mut self.random).powf(1.0 / left as f64);
            self.uniform = 1.0 - (1.0 - self.uniform) * rest;
            return Some(self.uniform * total);
        }
        if self.ahead >= total {
            self.ahead -= total;
            return None;
        }
        let here = self.ahead;
        self.ahead += match step.process {
            ArrivalProcess::Poisson => exponential(&mut self.random),
            _ => 1.0,
        };
        Some(here)
    }
}

impl Iterator for ArrivalTimes {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        loop {
            let step = *self.steps.get(self.at)?;
            if let Some(count) = self.draw(step) {
                let seconds = self.begin_s + step.rate.time_of(count);
                return Duration::try_from_secs_f64(seconds).ok();
            }
            self.begin_s += step.rate.seconds;
            self.at += 1;
            self.enter();
        }
    }
}

/// In [0, 1), of 53 bits.
fn uniform(random: &mut impl Rng) -> f64 {
    (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// With mean 1.
fn exponential(random: &mut impl Rng) -> f64 {
    -(-uniform(random)).ln_1p()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use proptest::prelude::*;
    use statrs::distribution::{ContinuousCDF as _, Exp, Normal};
    use weir_plan::{RatePiece, RateProfile};

    use super::*;

    fn steps(rate: &str, process: ArrivalProcess) -> Vec<ArrivalStep> {
        let rate: RateProfile = rate.parse().unwrap();
        let step = |rate: &RatePiece| ArrivalStep {
            rate: *rate,
            process,
        };
        rate.pieces().iter().map(step).collect()
    }

    fn times(rate: &str, process: ArrivalProcess, seed: u64, until_s: f64) -> Vec<f64> {
        ArrivalTimes::new(steps(rate, process), seed)
            .map(|time| time.as_secs_f64())
            .take_while(|time| *time < until_s)
            .collect()
    }

    /// The largest distance between the sample and a distribution on [0, 1] that it should have.
    fn kolmogorov_smirnov(mut sample: Vec<f64>) -> f64 {
        sample.sort_by(f64::total_cmp);
        let count = sample.len() as f64;
        let distance = |(rank, value): (usize, &f64)| {
            let rank = rank as f64;
            (value - rank / count).max((rank + 1.0) / count - value)
        };
        sample.iter().enumerate().map(distance).fold(0.0, f64::max)
    }

    /// Critical value at 1 in 1,000 for large samples.
    fn critical(count: usize) -> f64 {
        1.95 / (count as f64).sqrt()
    }

    #[test]
    fn a_constant_rate_is_kept_to_the_request() {
        let all = times("5000", ArrivalProcess::Constant, 1, 10.0);
        assert_eq!(all.len(), 50_000);
        assert_eq!(all[0].to_bits(), 0.0_f64.to_bits());
        assert!((all[49_999] - 9.9998).abs() < 1e-9);
        let mut gaps = all.windows(2).map(|pair| pair[1] - pair[0]);
        assert!(gaps.all(|gap| (gap - 0.0002).abs() < 2e-9));
    }

    /// By hand: 100 to 2,000 a second in 60 s are 63,000, then 2,000 a second; a spike of 5 s.
    #[test]
    fn ramps_steps_and_spikes_have_their_numbers() {
        let constant = |rate, until| times(rate, ArrivalProcess::Constant, 1, until).len();
        assert_eq!(constant("100..2000/60s", 60.0), 63_000);
        assert_eq!(constant("100..2000/60s", 70.0), 83_000);
        assert_eq!(constant("10/10s,20/10s,30/10s", 30.0), 600);
        assert_eq!(
            constant("500/1min,5000/5s,500", 75.0),
            30_000 + 25_000 + 5_000
        );
        let spike = times("500/1min,5000/5s,500", ArrivalProcess::Constant, 1, 75.0);
        let in_spike = spike.iter().filter(|time| (60.0..65.0).contains(*time));
        assert_eq!(in_spike.count(), 25_000);
    }

    /// A gap that begins before a change of the rate ends after it: nothing is lost or doubled.
    #[test]
    fn gaps_go_on_across_a_change() {
        let all = times("1/1500ms,10", ArrivalProcess::Constant, 1, 2.0);
        let expected = [0.0, 1.0, 1.55, 1.65, 1.75, 1.85, 1.95];
        assert_eq!(all.len(), expected.len(), "{all:?}");
        for (found, expected) in all.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-6, "{all:?}");
        }
    }

    #[test]
    fn a_seed_makes_the_times() {
        let of_seed = |seed| times("100", ArrivalProcess::Poisson, seed, 10.0);
        assert_eq!(of_seed(1), of_seed(1));
        assert_ne!(of_seed(1), of_seed(2));
    }

    /// Gaps of a Poisson process are exponential. The seeds are fixed; each would fail by chance
    /// once in 1,000.
    #[test]
    fn gaps_are_exponential() {
        let exponential = Exp::new(200.0).unwrap();
        for seed in 1..=20 {
            let all = times("200", ArrivalProcess::Poisson, seed, 50.0);
            let gaps = all
                .windows(2)
                .map(|pair| exponential.cdf(pair[1] - pair[0]));
            let distance = kolmogorov_smirnov(gaps.collect());
            assert!(
                distance < critical(all.len() - 1),
                "seed {seed}: {distance}"
            );
        }
    }

    /// Counts of a Poisson process have their mean as variance: over 400 seeds the index of
    /// dispersion is within four standard errors of 1, and the standardised counts look normal.
    #[test]
    fn counts_are_poisson() {
        let counts: Vec<f64> = (0..400)
            .map(|seed| times("0..40/10s", ArrivalProcess::Poisson, seed, 10.0).len() as f64)
            .collect();
        let count = counts.len() as f64;
        let mean = counts.iter().sum::<f64>() / count;
        assert!(
            (mean - 200.0).abs() < 4.0 * (200.0 / count).sqrt(),
            "{mean}"
        );
        let squares = counts.iter().map(|n| (n - mean).powi(2)).sum::<f64>();
        let dispersion = squares / (count - 1.0) / mean;
        assert!(
            (dispersion - 1.0).abs() < 4.0 * (2.0 / (count - 1.0)).sqrt(),
            "{dispersion}"
        );
        let normal = Normal::new(200.0, 200.0_f64.sqrt()).unwrap();
        let within = counts
            .iter()
            .filter(|n| (normal.cdf(**n) - 0.5).abs() < 0.45);
        let share = within.count() as f64 / count;
        assert!((share - 0.9).abs() < 0.06, "{share}");
    }

    /// On the scale of expected arrivals a process with a ramp is uniform, whatever its kind.
    #[test]
    fn arrivals_follow_a_ramp() {
        for process in [ArrivalProcess::Poisson, ArrivalProcess::FixedRandom] {
            for seed in 1..=20 {
                let mut piece = steps("10..300/60s", process);
                piece.truncate(1);
                let all: Vec<f64> = ArrivalTimes::new(piece, seed)
                    .map(|time| {
                        let t = time.as_secs_f64();
                        (10.0 * t + 290.0 / 120.0 * t * t) / 9_300.0
                    })
                    .collect();
                let critical = critical(all.len());
                let distance = kolmogorov_smirnov(all);
                assert!(distance < critical, "{process:?}, seed {seed}: {distance}");
            }
        }
    }

    #[test]
    fn a_fixed_count_is_fixed() {
        for seed in 0..50 {
            let mut piece = steps("7/10s", ArrivalProcess::FixedRandom);
            piece.truncate(1);
            assert_eq!(ArrivalTimes::new(piece, seed).count(), 70);
        }
    }

    /// Printed by JMeter 5.6.3's own generator for these schedules, six digits.
    #[test]
    fn even_arrivals_are_those_of_jmeter() {
        for (schedule, expected) in [
            (
                "rate(10/sec) even_arrivals(1.05 sec) even_arrivals(1.04 sec)",
                "0.000000 0.100000 0.200000 0.300000 0.400000 0.500000 0.600000 0.700000 0.800000 0.900000 \
                 1.050000 1.150000 1.250000 1.350000 1.450000 1.550000 1.650000 1.750000 1.850000 1.950000",
            ),
            (
                "rate(0/sec) even_arrivals(2 sec) rate(10/sec)",
                "0.000000 0.632456 0.894427 1.095445 1.264911 1.414214 1.549193 1.673320 1.788854 1.897367",
            ),
            (
                "rate(10/sec) even_arrivals(2 sec) rate(0/sec)",
                "0.000000 0.102633 0.211146 0.326680 0.450807 0.585786 0.735089 0.904555 1.105573 1.367544",
            ),
            (
                "rate(10/sec) even_arrivals(500 ms) pause(1 s) even_arrivals(500 ms)",
                "0.000000 0.100000 0.200000 0.300000 0.400000 1.500000 1.600000 1.700000 1.800000 1.900000",
            ),
            (
                "rate(3.5/s) even_arrivals(1 s)",
                "0.000000 0.285714 0.571429",
            ),
            ("rate(1/sec) random_arrivals(0.6 sec)", ""),
        ] {
            let steps = weir_plan::open_model_steps(schedule).unwrap();
            let times: Vec<String> = ArrivalTimes::new(steps, 42)
                .map(|time| format!("{:.6}", time.as_secs_f64()))
                .collect();
            assert_eq!(times.join(" "), expected, "{schedule}");
        }
    }

    proptest! {
        #[test]
        fn times_never_go_back(
            rates in proptest::collection::vec((0.0_f64..500.0, 0.0_f64..500.0, 0.1_f64..3.0), 1..6),
            kinds in proptest::collection::vec(0_u8..4, 6), seed in any::<u64>(),
        ) {
            let steps: Vec<ArrivalStep> = rates.iter().zip(kinds).map(|(rate, kind)| ArrivalStep {
                rate: RatePiece { from_per_s: rate.0, to_per_s: rate.1, seconds: rate.2 },
                process: match kind {
                    0 => ArrivalProcess::Constant,
                    1 => ArrivalProcess::Poisson,
                    2 => ArrivalProcess::FixedRandom,
                    _ => ArrivalProcess::FixedEven,
                },
            }).collect();
            let end_s: f64 = steps.iter().map(|step| step.rate.seconds).sum();
            let all: Vec<Duration> = ArrivalTimes::new(steps, seed).collect();
            prop_assert!(all.is_sorted());
            prop_assert!(all.last().is_none_or(|last| last.as_secs_f64() <= end_s + 1e-6));
        }
    }
}
