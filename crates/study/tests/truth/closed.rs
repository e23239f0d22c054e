//! Closed workloads on a few CPUs, of the family that the search's model knows and of others.

use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use weir_queueing::ClosedCpu;
use weir_record::{
    CpuScope, Levels, Stage, TargetFacts, Treatment, TrialError, TrialObserver, TrialRecord,
    TrialRunner, WhenFull,
};

use super::record::{Seen, record};
use super::{log_uniform, noisy, uniform};

/// The goal of every study.
pub(crate) const GOAL: f64 = 0.8;
/// Systems are drawn until the answer lies in this range.
const ANSWERS: std::ops::RangeInclusive<u32> = 4..=600;
/// No search looks further.
pub(crate) const USERS_MAX: u32 = 5_000;
/// The limit of the watched stage that keeps the CPU below its goal.
const STAGE: &str = "threads";
const STAGE_LIMIT: f64 = 20.0;

/// How a system differs from users, time spent elsewhere and CPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Not at all.
    Family,
    /// A lock that nothing shows: the CPU stays at 83 to 95 %.
    Plateau,
    /// 20 to 50 % of the users send requests that cost 3 to 10 times as much and think 0.5 to 3
    /// times as long.
    TwoClasses,
    /// From 50, 80, 95 and 110 % of the answer on a request costs 2 to 4 % more each (a collector
    /// that runs more often).
    Steps,
    /// What a request costs grows with the square of the users, by 10 to 40 % up to the answer:
    /// throughput falls behind its peak.
    Retrograde,
    /// From trial to trial a request costs 0.3 to 0.6 % more, or less.
    Drift,
    /// One trial of twenty is disturbed: its figures are 15 to 35 % off.
    Outliers,
    /// A lock that nothing shows keeps the CPU at 30 to 70 %.
    NeverByLock,
    /// A stage that is watched does.
    NeverByStage,
}

impl Kind {
    /// Those outside the family that have an answer.
    pub(crate) const OUTSIDE: [Self; 6] = [
        Self::Plateau,
        Self::TwoClasses,
        Self::Steps,
        Self::Retrograde,
        Self::Drift,
        Self::Outliers,
    ];
    /// Those that never reach the goal.
    pub(crate) const NEVER: [Self; 2] = [Self::NeverByLock, Self::NeverByStage];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Family => "in the family",
            Self::Plateau => "plateau above the goal",
            Self::TwoClasses => "two classes",
            Self::Steps => "steps of the collector",
            Self::Retrograde => "retrograde",
            Self::Drift => "drift",
            Self::Outliers => "outlier trials",
            Self::NeverByLock => "never, nothing shows why",
            Self::NeverByStage => "never, a stage is full",
        }
    }
}

/// What makes the difference, in numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Departure {
    None,
    Ceiling { cpu: f64 },
    TwoClasses(TwoClasses),
    Steps { by: f64 },
    Retrograde { by: f64 },
    Drift { per_trial: f64 },
    Outliers { share: f64 },
}

/// A second class of users.
#[derive(Debug, Clone, Copy, PartialEq)]
struct TwoClasses {
    /// Share of the users that belong to it.
    share: f64,
    cost_times: f64,
    elsewhere_times: f64,
}

/// Averages at a number of users.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Averages {
    pub(crate) cpu: f64,
    pub(crate) throughput_per_s: f64,
    pub(crate) response_s: f64,
}

/// A system without noise.
#[derive(Debug, Clone)]
pub(crate) struct System {
    pub(crate) cpus: u32,
    /// CPU time of a request.
    cpu_s: f64,
    /// The rest of a user's cycle but for waiting for the CPU.
    elsewhere_s: f64,
    departure: Departure,
    kind: Kind,
    /// The answer that the system would have in the family.
    plain_answer: f64,
}

impl System {
    /// A system of this kind, drawn from a seed: 1 to 8 CPUs, an answer of 4 to 600 users.
    pub(crate) fn drawn(kind: Kind, seed: u64) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        loop {
            let mut system = Self::plain(&mut random, kind);
            let Some(plain) = system.largest(1) else {
                continue;
            };
            system.plain_answer = f64::from(plain);
            system.departure = departure(kind, &mut random);
            // What never reaches the goal is asked about as large a server as the others.
            let answer = system.largest(1).unwrap_or(plain);
            if ANSWERS.contains(&answer) {
                return system;
            }
        }
    }

    fn plain(random: &mut Xoshiro256PlusPlus, kind: Kind) -> Self {
        let cpus = random.random_range(1..=8);
        let cpu_s = log_uniform(random, 0.002, 0.2);
        Self {
            cpus,
            cpu_s,
            elsewhere_s: cpu_s * log_uniform(random, 4.0, 80.0),
            departure: Departure::None,
            kind,
            plain_answer: 0.0,
        }
    }

    /// The largest number of users with a CPU of at most the goal in the trial of this number;
    /// nothing when the CPU never exceeds it.
    pub(crate) fn largest(&self, trial: u32) -> Option<u32> {
        let fits = |users: u32| self.averages(users, trial).cpu <= GOAL;
        let (mut low, mut high) = (0, 1);
        while fits(high) {
            if high >= USERS_MAX {
                return None;
            }
            (low, high) = (high, 2 * high);
        }
        while high - low > 1 {
            let middle = u32::midpoint(low, high);
            if fits(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        Some(low)
    }

    /// True averages in the trial of this number, from 1.
    pub(crate) fn averages(&self, users: u32, trial: u32) -> Averages {
        if let Departure::TwoClasses(classes) = self.departure {
            return self.two_classes(&classes, f64::from(users));
        }
        let demand_s = self.demand_s(f64::from(users), trial);
        let model = ClosedCpu {
            think_s: self.elsewhere_s,
            demand_s,
            servers: self.cpus,
        };
        let solved = model.solve(users);
        let mut averages = Averages {
            cpu: solved.utilization,
            throughput_per_s: solved.throughput_per_s,
            response_s: solved.response_time_s,
        };
        if let Departure::Ceiling { cpu } = self.departure
            && averages.cpu > cpu
        {
            averages.cpu = cpu;
            averages.throughput_per_s = cpu * f64::from(self.cpus) / demand_s;
            averages.response_s = f64::from(users) / averages.throughput_per_s - self.elsewhere_s;
        }
        averages
    }

    fn demand_s(&self, users: f64, trial: u32) -> f64 {
        let load = users / self.plain_answer.max(1.0);
        let factor = match self.departure {
            Departure::Steps { by } => {
                let passed = [0.5, 0.8, 0.95, 1.1].iter().filter(|from| load >= **from);
                passed.map(|_| 1.0 + by).product::<f64>()
            }
            Departure::Retrograde { by } => 1.0 + by * load * load,
            Departure::Drift { per_trial } => 1.0 + per_trial * (f64::from(trial) - 1.0),
            _ => 1.0,
        };
        self.cpu_s * factor
    }

    /// Two classes at one station by Schweitzer's fixed point (1979), with Seidmann's (1987)
    /// replacement of several servers by a faster one and a delay.
    fn two_classes(&self, classes: &TwoClasses, users: f64) -> Averages {
        let servers = f64::from(self.cpus);
        let heavy = classes.share * users;
        let population = [users - heavy, heavy];
        let cpu_s = [self.cpu_s, classes.cost_times * self.cpu_s];
        let elsewhere_s = [self.elsewhere_s, classes.elsewhere_times * self.elsewhere_s];
        let (mut queue, mut throughput) = ([0.0, 0.0], [0.0, 0.0]);
        for _ in 0..500 {
            let before = queue;
            for class in 0..2 {
                let own = before[class] * ((population[class] - 1.0) / population[class]).max(0.0);
                let found = own + before[1 - class];
                let residence = cpu_s[class] / servers * (1.0 + found);
                let delay = elsewhere_s[class] + cpu_s[class] * (servers - 1.0) / servers;
                throughput[class] = population[class] / (delay + residence);
                queue[class] = f64::midpoint(before[class], throughput[class] * residence);
            }
        }
        let total = throughput[0] + throughput[1];
        let thinking = throughput[0] * elsewhere_s[0] + throughput[1] * elsewhere_s[1];
        Averages {
            cpu: (throughput[0] * cpu_s[0] + throughput[1] * cpu_s[1]) / servers,
            throughput_per_s: total,
            response_s: (users - thinking) / total,
        }
    }
}

fn departure(kind: Kind, random: &mut Xoshiro256PlusPlus) -> Departure {
    match kind {
        Kind::Family => Departure::None,
        Kind::Plateau => Departure::Ceiling {
            cpu: uniform(random, 0.83, 0.95),
        },
        Kind::NeverByLock | Kind::NeverByStage => Departure::Ceiling {
            cpu: uniform(random, 0.3, 0.7),
        },
        Kind::TwoClasses => Departure::TwoClasses(TwoClasses {
            share: uniform(random, 0.2, 0.5),
            cost_times: uniform(random, 3.0, 10.0),
            elsewhere_times: log_uniform(random, 0.5, 3.0),
        }),
        Kind::Steps => Departure::Steps {
            by: uniform(random, 0.02, 0.04),
        },
        Kind::Retrograde => Departure::Retrograde {
            by: uniform(random, 0.1, 0.4),
        },
        Kind::Drift => {
            let size = uniform(random, 0.003, 0.006);
            let per_trial = if random.random() { size } else { -size };
            Departure::Drift { per_trial }
        }
        Kind::Outliers => Departure::Outliers { share: 0.05 },
    }
}

/// A system that is measured: with noise, trial by trial.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) system: System,
    /// Relative standard deviation of each figure between trials.
    sigma: f64,
    facts: TargetFacts,
    /// How many trials there were.
    pub(crate) trials: u32,
}

impl Server {
    pub(crate) fn new(system: System, sigma: f64) -> Self {
        let stage = Stage {
            name: STAGE.to_owned(),
            native: None,
            limit: Some(STAGE_LIMIT),
            settable: false,
            when_full: WhenFull::Wait,
        };
        let watched = system.kind == Kind::NeverByStage;
        let facts = TargetFacts {
            name: "made".to_owned(),
            kind: "made".to_owned(),
            recognised: None,
            cpus: system.cpus,
            cpu_scope: CpuScope::OwnCpus,
            stages: if watched { vec![stage] } else { Vec::new() },
        };
        Self {
            system,
            sigma,
            facts,
            trials: 0,
        }
    }

    /// What one more trial measures.
    pub(crate) fn measure(&mut self, users: u32, seed: u64) -> Averages {
        self.trials += 1;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let averages = self.system.averages(users, self.trials);
        let mut seen = Averages {
            cpu: noisy(averages.cpu, self.sigma, &mut random),
            throughput_per_s: noisy(averages.throughput_per_s, self.sigma, &mut random),
            response_s: noisy(averages.response_s, self.sigma, &mut random),
        };
        if let Departure::Outliers { share } = self.system.departure
            && random.random::<f64>() < share
        {
            disturb(&mut seen, &mut random);
        }
        seen.cpu = seen.cpu.min(1.0);
        seen
    }
}

/// Somebody else used the machine: requests were held up, and the CPU figure misses them or holds
/// the other's work.
fn disturb(seen: &mut Averages, random: &mut Xoshiro256PlusPlus) {
    let left = uniform(random, 0.65, 0.85);
    seen.throughput_per_s *= left;
    seen.response_s /= left;
    if random.random() {
        seen.cpu *= left;
    } else {
        seen.cpu /= left;
    }
}

impl TrialRunner for Server {
    fn facts(&self) -> &TargetFacts {
        &self.facts
    }

    fn population(&self, levels: &Levels) -> u32 {
        let users = levels.get("users").and_then(weir_record::Level::number);
        users.map_or(1, |users| users as u32)
    }

    fn run(
        &mut self,
        treatment: &Treatment,
        _: &mut dyn TrialObserver,
    ) -> Result<TrialRecord, TrialError> {
        let users = self.population(&treatment.levels);
        let seen = self.measure(users, treatment.seed);
        let mut record = record(
            treatment,
            users,
            &Seen {
                throughput_per_s: seen.throughput_per_s,
                response_s: seen.response_s,
                cpu: Some(seen.cpu),
            },
        );
        if let (Kind::NeverByStage, Departure::Ceiling { cpu }) =
            (self.system.kind, self.system.departure)
        {
            let averages = self.system.averages(users, self.trials);
            let occupancy = STAGE_LIMIT * averages.cpu / cpu;
            record
                .signals
                .insert(format!("{STAGE}.occupancy"), occupancy);
        }
        Ok(record)
    }
}
