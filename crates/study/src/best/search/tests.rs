//! Made curves with noise and a drift between trials: how often what the search says is wrong.

use rand::{RngExt as _, SeedableRng as _};
use rand_distr::StandardNormal;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;

const MARGIN: f64 = 0.05;
const WITHIN: (u32, u32) = (1, 400);
/// The machine is so much slower at the end of a study than at its beginning.
const DRIFT: f64 = 0.05;
const SEEDS: u64 = 150;

/// A curve of throughput.
type Truth = fn(f64) -> f64;

/// Rises up to 8 and stays.
fn plateau(level: f64) -> f64 {
    (level / 8.0).min(1.0) * 60.0
}

/// The published facts of a bulletin board as a curve of the universal scalability law: best at
/// about 10, and a third of it at 200.
fn peak(level: f64) -> f64 {
    let (alpha, beta, one) = (0.2554, 0.007_446, 25.7);
    one * level / (1.0 + alpha * (level - 1.0) + beta * level * (level - 1.0))
}

/// Rises ever more slowly, up to the end of the range.
fn saturating(level: f64) -> f64 {
    level / (level + 12.0) * 100.0
}

/// What a search ended with.
struct Ended {
    compared: Option<Compared>,
    trials: usize,
    ahead_of: f64,
}

fn searched(truth: Truth, aim: Aim, sigma: f64, seed: u64) -> Ended {
    let mut noise = Xoshiro256PlusPlus::seed_from_u64(seed ^ 0x5eed);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut search = Search::new(aim, WITHIN, -(-MARGIN).ln_1p());
    let mut trials = 0;
    let mut measure = |asked: Try| -> Result<Option<f64>, ()> {
        trials += 1;
        let slower = DRIFT * (f64::from(trials) / 40.0).min(1.0);
        let noisy = sigma * noise.sample::<f64, _>(StandardNormal);
        Ok(Some(truth(f64::from(asked.level)).ln() - slower + noisy))
    };
    search.run(&mut random, &mut measure).unwrap();
    let best = (WITHIN.0..=WITHIN.1).map(|level| truth(f64::from(level)));
    Ended {
        compared: search.compared(),
        trials: trials as usize,
        ahead_of: best.fold(0.0, f64::max),
    }
}

/// Loss of a level against the best of the whole range.
fn true_loss(truth: Truth, level: u32, best: f64) -> f64 {
    1.0 - truth(f64::from(level)) / best
}

/// Of so many searches.
#[derive(Debug, Default)]
struct Rates {
    answered: f64,
    /// An answer that loses more than the margin.
    too_small: f64,
    /// A statement about contenders that is not true.
    untrue: f64,
    alone: f64,
    trials: f64,
    largest: u32,
}

fn rates(truth: Truth, aim: Aim, sigma: f64) -> Rates {
    let mut rates = Rates::default();
    let each = 1.0 / SEEDS as f64;
    for seed in 0..SEEDS {
        let ended = searched(truth, aim, sigma, seed);
        rates.trials += each * ended.trials as f64;
        let compared = ended.compared.unwrap();
        let contenders = compared
            .standings
            .iter()
            .map(|one| f64::from(one.contender));
        let best = contenders.map(truth).fold(0.0, f64::max);
        let untrue = compared.standings.iter().any(|one| {
            let loss = -(truth(f64::from(one.contender)) / best).ln();
            !one.loss.contains(loss)
        });
        rates.untrue += if untrue { each } else { 0.0 };
        rates.alone += if compared.leads_alone() { each } else { 0.0 };
        if let Some(answer) = compared.smallest_as_good() {
            rates.answered += each;
            rates.largest = rates.largest.max(answer.contender);
            let loss = true_loss(truth, answer.contender, ended.ahead_of);
            rates.too_small += if loss > MARGIN { each } else { 0.0 };
        }
    }
    rates
}

/// 5 % and three standard deviations of a share of so many.
fn allowed() -> f64 {
    0.05 + 3.0 * (0.05 * 0.95 / SEEDS as f64).sqrt()
}

#[test]
fn what_is_said_is_true_as_often_as_promised() {
    for (name, truth) in [
        ("plateau", plateau as Truth),
        ("peak", peak),
        ("saturating", saturating),
    ] {
        for sigma in [0.01, 0.03, 0.06] {
            let rates = rates(truth, Aim::SmallestNearBest, sigma);
            assert!(rates.untrue <= allowed(), "{name} {sigma}: {rates:?}");
            assert!(rates.too_small <= allowed(), "{name} {sigma}: {rates:?}");
        }
    }
}

#[test]
fn a_quiet_machine_gets_an_answer_near_the_smallest() {
    // The smallest that lose less than the margin are 8, 6 and 146; of the last one, the next loses
    // hardly less.
    for (truth, most) in [(plateau as Truth, 8), (peak, 11), (saturating, 400)] {
        let rates = rates(truth, Aim::SmallestNearBest, 0.01);
        assert!(rates.answered > 0.97, "{rates:?}");
        assert!(rates.largest <= most, "{rates:?}");
        assert!(rates.trials < 40.0, "{rates:?}");
    }
}

#[test]
fn a_plateau_is_not_called_an_optimum() {
    for sigma in [0.01, 0.03, 0.06] {
        let rates = rates(plateau, Aim::Best, sigma);
        assert!(rates.alone <= allowed(), "{sigma}: {rates:?}");
    }
}

#[test]
fn noise_is_not_taken_for_an_answer() {
    let quiet = rates(peak, Aim::SmallestNearBest, 0.02);
    let loud = rates(peak, Aim::SmallestNearBest, 0.15);
    assert!(
        loud.answered < 0.1 && quiet.answered > 0.8,
        "{loud:?} {quiet:?}"
    );
}

#[test]
fn a_level_that_drops_out_leaves_the_others() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
    let mut search = Search::new(Aim::Best, WITHIN, MARGIN);
    let mut trials = 0;
    let mut measure = |asked: Try| -> Result<Option<f64>, ()> {
        trials += 1;
        let out = trials > 20 && asked.level > 100;
        let value = plateau(f64::from(asked.level)).ln() + 1e-3 * f64::from(trials % 3);
        Ok((!out).then_some(value))
    };
    search.run(&mut random, &mut measure).unwrap();
    let compared = search.compared().unwrap();
    assert!(compared.standings.iter().all(|one| one.contender <= 100));
    assert_eq!(compared.smallest_as_good().unwrap().contender, 8);
}

#[test]
fn a_rival_that_drops_out_leaves_the_smallest_that_is_as_good() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
    let mut search = Search::new(Aim::SmallestNearBest, WITHIN, MARGIN);
    let (mut trials, mut dropped) = (0, Vec::new());
    let mut measure = |asked: Try| -> Result<Option<f64>, ()> {
        trials += 1;
        if trials > 14 && asked.level != 8 {
            dropped.push(asked.level);
            return Ok(None);
        }
        let value = plateau(f64::from(asked.level)).ln() + 1e-3 * f64::from(trials % 3);
        Ok(Some(value))
    };
    search.run(&mut random, &mut measure).unwrap();
    let compared = search.compared().unwrap();
    assert!(!dropped.is_empty());
    assert!(
        compared
            .standings
            .iter()
            .all(|one| !dropped.contains(&one.contender))
    );
    assert_eq!(compared.smallest_as_good().unwrap().contender, 8);
}

#[test]
fn what_ends_a_search_leaves_what_it_knows() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut search = Search::new(Aim::Best, WITHIN, MARGIN);
    let mut left = 11;
    let mut measure = |asked: Try| {
        left -= 1;
        if left == 0 {
            Err("the budget")
        } else {
            Ok(Some(peak(f64::from(asked.level)).ln()))
        }
    };
    assert_eq!(search.run(&mut random, &mut measure), Err("the budget"));
    assert!(search.compared().is_none());
    assert_eq!(search.curve().unwrap().points().count(), 10);
}
