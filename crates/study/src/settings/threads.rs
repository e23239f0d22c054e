//! The largest number of threads at which the CPU stays within its goal with all of them busy.
//!
//! A closed network of CPU and delay says so first, and trials correct it. It knows one class of
//! requests. Where a full limit shifts the mix of several, the CPU grows with the threads in a way
//! that no offset makes good. Trials that contradict it on both sides of the goal are then
//! interpolated without it; from those below the goal alone a power of the threads leads on.

use std::collections::BTreeMap;

use weir_queueing::{LargestThreads, ThreadLimited};
use weir_record::TrialRecord;
use weir_stats::Estimate;

use super::Demand;
use crate::search::cpu::disturbed_by;

/// The most threads that are considered.
const THREADS_MAX: u32 = 2_000;
/// How far the model's CPU may be off, and how far a trial's, as standard deviations of the CPU
/// share. With them the first trial outweighs the model four to one.
const MODEL_DOUBT: f64 = 0.03;
const TRIAL_DOUBT: f64 = 0.015;
/// Trials contradict the model when one is off by so many of its standard deviations after the fit.
const CONTRADICTS: f64 = 3.0;
/// The power of the threads with which the CPU grows where trials contradict the model and nothing
/// else is known: about 3 on Tomcat and Liberty with requests of 1 and 10 s (docs/studies/e1.md).
const POWER: f64 = 3.0;
/// Between which it is taken from two trials, whose CPUs are known to several points only.
const POWERS: (f64, f64) = (2.0, 6.0);
/// The CPU may exceed its goal by so much as fitted, if otherwise the throughput of the answer
/// would be missed: one thread moves the CPU by several points, and the check cannot tell less than
/// a point.
const NEARLY: f64 = 0.0075;

/// A closed network of CPU and delay with as many requests as threads, and trials that correct it.
#[derive(Debug, Clone)]
pub(crate) struct ThreadSearch {
    model: ThreadLimited,
    goal: f64,
    /// Trials with all threads busy.
    seen: Vec<Seen>,
}

/// A trial with all threads busy.
#[derive(Debug, Clone, Copy)]
struct Seen {
    threads: u32,
    cpu: f64,
    /// One over the variance of the CPU.
    weight: f64,
}

impl ThreadSearch {
    /// `None` when no number of threads keeps the CPU at the goal.
    pub(crate) fn new(demand: &Demand, goal: f64) -> Option<Self> {
        let model = ThreadLimited {
            users: 1,
            think_s: 1.0,
            threads: 1,
            cpu_demand_s: demand.cpu_s,
            servers: demand.servers,
            delay_in_thread_s: demand.delay_in_thread_s,
            pool: None,
            room: None,
        };
        match model.largest_threads(goal, THREADS_MAX) {
            LargestThreads::Threads { .. } => Some(Self {
                model,
                goal,
                seen: Vec::new(),
            }),
            LargestThreads::Any { .. } | LargestThreads::Beyond { .. } => None,
        }
    }

    /// Adds a trial with this limit and all threads busy.
    pub(crate) fn add(&mut self, threads: u32, trial: &TrialRecord) {
        let Some(cpu) = trial.cpu else {
            return;
        };
        let disturbed = disturbed_by(trial, self.model.servers) / 2.0;
        let within = trial.intervals.get("cpu").map_or(0.0, Estimate::half_width) / 2.0;
        self.seen.push(Seen {
            threads,
            cpu: cpu.total,
            weight: TRIAL_DOUBT.hypot(disturbed).hypot(within).powi(-2),
        });
    }

    /// How much higher the CPU is than the model says: the mean of the trials, drawn towards 0 by
    /// the model's own weight (posterior mean of a normal offset).
    fn offset(&self) -> f64 {
        let of_trial =
            |seen: &Seen| seen.weight * (seen.cpu - self.model.utilization_all_busy(seen.threads));
        let weights: f64 = self.seen.iter().map(|seen| seen.weight).sum();
        self.seen.iter().map(of_trial).sum::<f64>() / (weights + MODEL_DOUBT.powi(-2))
    }

    /// The CPU with all of `threads` busy, as fitted.
    pub(crate) fn cpu(&self, threads: u32) -> f64 {
        match self.curve() {
            Some(curve) => curve.cpu(threads),
            None => self.by_model(threads),
        }
    }

    /// Whether the CPU is read from the trials instead of from the model.
    pub(crate) fn contradicts_its_model(&self) -> bool {
        self.curve().is_some()
    }

    fn by_model(&self, threads: u32) -> f64 {
        self.model.utilization_all_busy(threads) + self.offset()
    }

    /// What leads to the goal where trials contradict the model: the line between those next to it,
    /// or a power of the threads where all are below it.
    fn curve(&self) -> Option<Curve> {
        let off = |seen: &Seen| (seen.cpu - self.by_model(seen.threads)).abs() * seen.weight.sqrt();
        if !self.seen.iter().any(|seen| off(seen) > CONTRADICTS) {
            return None;
        }
        let points = self.points();
        let (low, cpu_low) = *points.iter().rev().find(|(_, cpu)| *cpu <= self.goal)?;
        let above = points
            .iter()
            .find(|(at, cpu)| *at > low && *cpu > self.goal);
        Some(match above {
            Some((high, cpu_high)) => Curve::Line {
                from: low,
                cpu: cpu_low,
                slope: (cpu_high - cpu_low) / f64::from(high - low),
            },
            None => Curve::Power {
                from: low,
                cpu: cpu_low,
                power: power(&points, low),
            },
        })
    }

    /// The mean CPU of each number of threads that was tried, fewest first.
    fn points(&self) -> Vec<(u32, f64)> {
        let mut sums: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
        for seen in &self.seen {
            let (sum, weights) = sums.entry(seen.threads).or_default();
            *sum += seen.weight * seen.cpu;
            *weights += seen.weight;
        }
        let means = sums.into_iter();
        means
            .map(|(threads, (sum, weights))| (threads, sum / weights))
            .collect()
    }

    /// The largest limit at which the fitted CPU is within the goal. `wanted` is the CPU that keeps
    /// the throughput of the answer; when the limit misses it and one thread more exceeds the goal
    /// by less than the check can tell, it is that.
    pub(crate) fn largest(&self, wanted: f64) -> u32 {
        if let Some(curve) = self.curve() {
            return curve.largest(self.goal).min(THREADS_MAX);
        }
        let target = (self.goal - self.offset()).clamp(0.01, 0.995);
        let threads = match self.model.largest_threads(target, THREADS_MAX) {
            LargestThreads::Threads { threads, .. } => threads.max(1),
            LargestThreads::Any { .. } | LargestThreads::Beyond { .. } => THREADS_MAX,
        };
        let next = threads + 1;
        if self.cpu(threads) < wanted && self.cpu(next) <= self.goal + NEARLY {
            return next;
        }
        threads
    }
}

/// With what power of the threads the CPU grows up to a trial, by the one with next fewer threads.
fn power(points: &[(u32, f64)], up_to: u32) -> f64 {
    let mut below = points.iter().rev().skip_while(|(at, _)| *at > up_to);
    let (Some((at, cpu)), Some((fewer, less))) = (below.next(), below.next()) else {
        return POWER;
    };
    let power = (cpu / less).ln() / (f64::from(*at) / f64::from(*fewer)).ln();
    if power.is_finite() {
        power.clamp(POWERS.0, POWERS.1)
    } else {
        POWER
    }
}

/// The CPU by the trials next to the goal.
#[derive(Debug, Clone, Copy)]
enum Curve {
    /// Between two of them.
    Line {
        /// The number of threads of the lower one, and its CPU.
        from: u32,
        cpu: f64,
        /// CPU share per thread; above 0, because the CPUs lie on both sides of the goal.
        slope: f64,
    },
    /// Beyond the last of them.
    Power {
        /// Its number of threads, and its CPU.
        from: u32,
        cpu: f64,
        /// Above 0, too.
        power: f64,
    },
}

impl Curve {
    fn cpu(self, threads: u32) -> f64 {
        let threads = f64::from(threads);
        match self {
            Self::Line { from, cpu, slope } => cpu + (threads - f64::from(from)) * slope,
            Self::Power { from, cpu, power } => cpu * (threads / f64::from(from)).powf(power),
        }
    }

    /// The most threads at which the CPU is within the goal.
    fn largest(self, goal: f64) -> u32 {
        match self {
            Self::Line { from, cpu, slope } => from + ((goal - cpu) / slope).floor() as u32,
            Self::Power { from, cpu, power } => {
                (f64::from(from) * (goal / cpu).powf(power.recip())).floor() as u32
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A model by which 61 threads make 80 %.
    fn search(seen: &[(u32, f64, f64)]) -> ThreadSearch {
        let model = ThreadLimited {
            users: 1,
            think_s: 1.0,
            threads: 1,
            cpu_demand_s: 0.05,
            servers: 1,
            delay_in_thread_s: 2.3,
            pool: None,
            room: None,
        };
        let seen = seen.iter().map(|&(threads, cpu, doubt)| Seen {
            threads,
            cpu,
            weight: f64::powi(doubt, -2),
        });
        ThreadSearch {
            model,
            goal: 0.8,
            seen: seen.collect(),
        }
    }

    #[test]
    fn trials_that_agree_with_the_model_move_it() {
        let model = search(&[]);
        let threads = model.largest(0.78);
        let slow = search(&[(threads, model.cpu(threads) + 0.02, 0.015)]);
        let fewer = slow.largest(0.78);
        assert!((threads - 3..threads).contains(&fewer), "{threads} {fewer}");
    }

    // Two classes behind one limit: it holds less CPU than the model says below the goal, and more
    // above.
    #[test]
    fn trials_that_contradict_the_model_are_interpolated() {
        let model = search(&[]);
        let threads = model.largest(0.78);
        let agrees = search(&[(threads, model.cpu(threads) - 0.1, 0.062)]);
        assert!(!agrees.contradicts_its_model());
        let both = search(&[(40, 0.47, 0.062), (61, 0.993, 0.016)]);
        assert_eq!(both.largest(0.78), 53);
        assert!((both.cpu(53) - 0.794).abs() < 0.001, "{}", both.cpu(53));
        let nearer = search(&[(40, 0.47, 0.062), (53, 0.76, 0.03), (61, 0.993, 0.016)]);
        assert_eq!(nearer.largest(0.78), 54);
    }

    /// Liberty, where the model says that 39 threads make 80 %: they made 38 %, and 48 made 79 %.
    #[test]
    fn trials_below_the_goal_lead_on_by_a_power_of_the_threads() {
        let one = search(&[(40, 0.38, 0.062)]);
        assert_eq!(one.largest(0.78), 51, "40 · (0.80 / 0.38)^(1/3)");
        assert!((one.cpu(51) - 0.788).abs() < 0.001, "{}", one.cpu(51));
        let two = search(&[(40, 0.38, 0.062), (48, 0.70, 0.03)]);
        assert_eq!(two.largest(0.78), 49, "a power of 3.4");
        // Trials that hardly differ, or the wrong way round, still lead on.
        let noisy = search(&[(40, 0.40, 0.062), (41, 0.38, 0.03)]);
        assert_eq!(noisy.largest(0.78), 59, "a power of 2");
    }
}
