//! The smallest level that is not worse than the best by 5 %.

use std::collections::BTreeMap;
use std::time::Duration;

use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use weir_record::{Levels, NoObserver, Status, Window};
use weir_study::{BestGoal, BestSpec, best};

use crate::SIGMAS;
use crate::runs::{mean, of_seeds, percent, quantile, seeds};
use crate::truth::curve::{Curve, FACTOR, Server, USERS, WITHIN, any_level};

/// Curves of each noise: a third of each form.
const CURVES: u64 = 300;
/// The difference that matters.
const MARGIN: f64 = 0.05;
/// A grid of so many levels, each so often.
const GRID: u32 = 33;
const REPEATS: u32 = 3;
/// Levels that are tried at random.
const RANDOM: u32 = 25;

/// One search against the truth.
#[derive(Debug, Clone, Copy)]
struct Study {
    answered: bool,
    /// Share that the answer loses against the best of the range; of no answer 0.
    loss: f64,
    /// The answer over the smallest level that loses at most the margin.
    times: f64,
    trials: f64,
}

impl Study {
    fn of(curve: &Curve, level: Option<f64>, trials: usize) -> Self {
        Self {
            answered: level.is_some(),
            loss: level.map_or(0.0, |level| curve.loss(level)),
            times: level.map_or(f64::NAN, |level| level / curve.smallest_within(MARGIN)),
            trials: trials as f64,
        }
    }
}

fn searched(sigma: f64, seed: u64) -> Study {
    let curve = Curve::drawn(seed);
    let spec = BestSpec {
        question: "How many threads?".to_owned(),
        goal: BestGoal::SmallestNearBest,
        vary: FACTOR.to_owned(),
        within: WITHIN,
        set: Levels::from([("users".to_owned(), USERS.into())]),
        of: "throughput".to_owned(),
        margin: MARGIN,
        requirements: vec!["errors <= 0.1 %".parse().unwrap()],
        window: Window::fixed(Duration::from_secs(5), Duration::from_secs(20)),
        budget: None,
        seed,
    };
    let outcome = best(&spec, &mut Server::new(curve, sigma), &mut NoObserver);
    let answer = outcome
        .answer
        .filter(|_| outcome.status == Status::Answered);
    let level = answer.map(|answer| answer.value);
    Study::of(&curve, level, outcome.trials.len())
}

/// All levels of a geometric grid, three times; the smallest whose mean is within the margin of the
/// highest.
fn on_a_grid(sigma: f64, seed: u64) -> Study {
    let curve = Curve::drawn(seed);
    let server = Server::new(curve, sigma);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed ^ 0x6d);
    let mut means = BTreeMap::new();
    let ratio = f64::from(WITHIN.1) / f64::from(WITHIN.0);
    for step in 0..GRID {
        let level = ratio.powf(f64::from(step) / f64::from(GRID - 1)).round();
        let trials = (0..REPEATS).map(|_| server.measure(level, random.random()));
        means.insert(level as u32, trials.sum::<f64>() / f64::from(REPEATS));
    }
    let highest = means.values().copied().fold(0.0, f64::max);
    let smallest = means
        .iter()
        .find(|(_, mean)| **mean >= (1.0 - MARGIN) * highest);
    let trials = means.len() * REPEATS as usize;
    Study::of(&curve, smallest.map(|(level, _)| f64::from(*level)), trials)
}

/// The best single trial of some random levels.
fn at_random(sigma: f64, seed: u64) -> Study {
    let curve = Curve::drawn(seed);
    let server = Server::new(curve, sigma);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed ^ 0x72);
    let trials = (0..RANDOM).map(|_| {
        let level = any_level(&mut random);
        (level, server.measure(level, random.random()))
    });
    let best = trials.max_by(|a, b| a.1.total_cmp(&b.1));
    Study::of(&curve, best.map(|(level, _)| level), RANDOM as usize)
}

fn row(noise: f64, name: &str, studies: &[Study]) {
    let answered: Vec<Study> = studies
        .iter()
        .copied()
        .filter(|study| study.answered)
        .collect();
    let of = |value: fn(&Study) -> f64| answered.iter().map(value).collect::<Vec<f64>>();
    let (losses, times) = (of(|study| 100.0 * study.loss), of(|study| study.times));
    let trials: Vec<f64> = studies.iter().map(|study| study.trials).collect();
    println!(
        "| {:.0} % | {name} | {:.1} % | {:.1} % | {:.1} % | {:.1} % | {:.2} | {:.1} ({:.0}) |",
        100.0 * noise,
        percent(studies, |study| study.answered),
        mean(&losses),
        quantile(&losses, 0.95),
        percent(studies, |study| study.loss > MARGIN),
        quantile(&times, 0.5),
        mean(&trials),
        quantile(&trials, 0.9),
    );
}

/// Weir next to a grid and to random levels.
pub(crate) fn tables() {
    println!(
        "\n**Smallest level not worse than the best by 5 %**, of {} to {}, {CURVES} curves for each noise (scalability law, plateau with \
         decay, saturation), {}.\n\n| noise | method | answered | loss, mean | p95 | loss > 5 % | level over the smallest \
         within 5 %, median | trials, mean (p90) |\n|---|---|---|---|---|---|---|---|",
        WITHIN.0,
        WITHIN.1,
        seeds(CURVES)
    );
    for sigma in SIGMAS {
        row(
            sigma,
            "Weir",
            &of_seeds(CURVES, |seed| searched(sigma, seed)),
        );
        let grid = of_seeds(CURVES, |seed| on_a_grid(sigma, seed));
        row(sigma, "grid of 33 levels, three times", &grid);
        let random = of_seeds(CURVES, |seed| at_random(sigma, seed));
        row(sigma, "best of 25 random levels", &random);
    }
}
