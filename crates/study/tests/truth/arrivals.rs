//! Open workloads: Poisson arrivals at a server of a few CPUs, with the response times of M/M/c.

use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use weir_record::{
    InvalidReason, Levels, OpenRecord, TargetFacts, Treatment, TrialError, TrialObserver,
    TrialRecord, TrialRunner,
};

use super::record::{Seen, facts, record};
use super::{log_uniform, noisy, uniform};

/// What ends the range of rates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ends {
    /// The CPU, at 80 %.
    Cpu,
    /// The 99th percentile, at what it is with 50 to 90 % of the CPU, where it is a fifth longer
    /// than that of a server that nobody else uses.
    P99,
    /// Where it is less than 3 % longer: no trial can tell.
    FlatP99,
    /// A lock that nothing shows, at 30 to 70 % of the CPU: what is due piles up.
    Lock,
}

impl Ends {
    pub(crate) const ALL: [Self; 4] = [Self::Cpu, Self::P99, Self::FlatP99, Self::Lock];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Cpu => "CPU of at most 80 %",
            Self::P99 => "p99 of at most so many ms",
            Self::FlatP99 => "the same, hardly above that of an idle server",
            Self::Lock => "CPU of at most 80 %, a hidden lock before it",
        }
    }
}

/// The server, and the requirement that ends its range.
#[derive(Debug, Clone)]
pub(crate) struct OpenServer {
    facts: TargetFacts,
    cpu_s: f64,
    /// Requests a second that it answers at most.
    capacity: f64,
    /// The requirement in the words of a study.
    pub(crate) asked: String,
    /// The largest rate at which it holds.
    pub(crate) truth: f64,
    /// Relative standard deviation of each figure between trials.
    sigma: f64,
    pub(crate) trials: u32,
}

impl OpenServer {
    pub(crate) fn drawn(ends: Ends, sigma: f64, seed: u64) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        loop {
            let server = Self::any(ends, sigma, &mut random);
            let rise = server.quantile_s(server.truth.min(0.99 * server.capacity), 0.99)
                / server.quantile_s(1e-6 * server.capacity, 0.99);
            let is_it = match ends {
                Ends::P99 => rise >= 1.2,
                Ends::FlatP99 => rise < 1.03,
                Ends::Cpu | Ends::Lock => true,
            };
            if is_it {
                return server;
            }
        }
    }

    fn any(ends: Ends, sigma: f64, random: &mut Xoshiro256PlusPlus) -> Self {
        let cpus: u32 = random.random_range(1..=8);
        let cpu_s = log_uniform(random, 0.000_5, 0.05);
        let full = f64::from(cpus) / cpu_s;
        let mut server = Self {
            facts: TargetFacts {
                cpus,
                ..facts(Vec::new())
            },
            cpu_s,
            capacity: full,
            asked: "cpu <= 80 %".to_owned(),
            truth: 0.8 * full,
            sigma,
            trials: 0,
        };
        match ends {
            Ends::Cpu => {}
            Ends::P99 | Ends::FlatP99 => {
                server.truth = full * uniform(random, 0.5, 0.9);
                let p99_ms = 1e3 * server.quantile_s(server.truth, 0.99);
                server.asked = format!("p99 <= {p99_ms:.3} ms");
            }
            Ends::Lock => {
                server.capacity = full * uniform(random, 0.3, 0.7);
                // Up to 2 % may be missed.
                server.truth = server.capacity / 0.98;
            }
        }
        server
    }

    /// The probability of waiting (Erlang C).
    fn waits(&self, load: f64) -> f64 {
        let servers = f64::from(self.facts.cpus);
        let blocked = (1..=self.facts.cpus).fold(1.0, |blocked, count| {
            load * blocked / (f64::from(count) + load * blocked)
        });
        blocked / (1.0 - load / servers * (1.0 - blocked))
    }

    /// Mean response time of M/M/c.
    fn mean_s(&self, rate: f64) -> f64 {
        let load = rate * self.cpu_s;
        self.cpu_s * (1.0 + self.waits(load) / (f64::from(self.facts.cpus) - load))
    }

    /// Where the distribution of its response times reaches a share (Gross and Harris,
    /// Fundamentals of Queueing Theory, 2.3.2).
    fn quantile_s(&self, rate: f64, share: f64) -> f64 {
        let load = rate * self.cpu_s;
        let (waits, spare) = (self.waits(load), f64::from(self.facts.cpus) - load);
        let above = |t: f64| {
            let own = (-t / self.cpu_s).exp();
            let excess = spare - 1.0;
            let waited = if excess.abs() < 1e-9 {
                t / self.cpu_s
            } else {
                (1.0 - (-excess * t / self.cpu_s).exp()) / excess
            };
            own * (1.0 + waits * waited)
        };
        let (mut low, mut high) = (0.0, self.cpu_s);
        while above(high) > 1.0 - share {
            high *= 2.0;
        }
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            if above(middle) > 1.0 - share {
                low = middle;
            } else {
                high = middle;
            }
        }
        high
    }
}

impl TrialRunner for OpenServer {
    fn facts(&self) -> &TargetFacts {
        &self.facts
    }

    fn population(&self, _: &Levels) -> u32 {
        1_000
    }

    fn run(
        &mut self,
        treatment: &Treatment,
        _: &mut dyn TrialObserver,
    ) -> Result<TrialRecord, TrialError> {
        self.trials += 1;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(treatment.seed);
        let rate = treatment.levels["rate"]
            .number()
            .expect("a rate is a number");
        let window_s = treatment.window.max.as_secs_f64();
        let capacity = noisy(self.capacity, self.sigma / 3.0, &mut random);
        let answered = rate.min(capacity);
        // Of what keeps up, as many end as are due, but for those in flight at both ends.
        // Beyond what chance makes of it, of which twice the deviation is taken off.
        let in_flight = answered * self.mean_s(answered.min(0.98 * capacity));
        let deviation = (2.0 * in_flight).sqrt() / (rate * window_s);
        let by_chance = noisy(1.0, deviation, &mut random) - 1.0 - 2.0 * deviation;
        let missed = (1.0 - answered / rate + by_chance).max(0.0);
        let (mean_s, p99_s) = if answered < 0.98 * capacity {
            // What waits for the lock is short until it is the limit.
            (self.mean_s(answered), self.quantile_s(answered, 0.99))
        } else {
            let piled_s = window_s * (missed + 0.02);
            (piled_s / 2.0, piled_s)
        };
        let cpu = answered * self.cpu_s / f64::from(self.facts.cpus);
        let seen = Seen {
            throughput_per_s: answered,
            response_s: noisy(mean_s, self.sigma, &mut random),
            cpu: Some(noisy(cpu, self.sigma, &mut random).min(1.0)),
        };
        let mut record = record(treatment, 1_000, &seen);
        record.response_time_ms.p99 = 1e3 * noisy(p99_s, 2.0 * self.sigma, &mut random);
        record.signals.insert("load.missed".to_owned(), missed);
        record.open = Some(OpenRecord::default());
        if missed > 0.05 {
            // As a trial whose response times grow for as long as it lasts.
            let why = weir_stats::NotSteady::TooShort { bins: 1, needed: 2 };
            let reason = InvalidReason::NotSteady { why };
            record.valid = false;
            record.invalid_because = vec![reason.to_string()];
            record.invalid = vec![reason.into()];
        }
        Ok(record)
    }
}
