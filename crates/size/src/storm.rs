//! A stop of all CPUs, and clients that give up and try again: does it end, or keep itself alive?
//!
//! Trigger and sustaining effect are those of metastable failures (Bronson, Charapko, Aghayev and
//! Zhu 2021): the stop goes away, the work that nobody waits for any more stays, and retries make
//! more of it.

use weir_sim::{
    AbandonedWork, Distribution, Happening, Jitter, Network, Planned, Retry, Simulation, Timeout,
};

use crate::SizeError;
use crate::answer::{Storm, StormCase};
use crate::capacity::Problem;
use crate::fleet::{CPU, REQUEST, Share};
use crate::goal::Required;

/// All times are in units of a second, or of the mean response time where that is longer.
const WARM_UP: u32 = 20;
const BEFORE: u32 = 20;
const STOP: u32 = 10;
const AFTER: u32 = 120;
/// Clients wait for so many times the time that is required …
const TIMEOUT_OF_BOUND: f64 = 2.0;
/// … or, where none is, for so many mean response times.
const TIMEOUT_OF_MEAN: f64 = 10.0;
/// What it costs at most: attempts, each with some events.
const ATTEMPTS_MAX: f64 = 1e6;
/// It is over when so large a share of the answers before is there again, averaged over so many
/// units.
const RECOVERED: f64 = 0.9;
const AVERAGED: usize = 5;
/// Attempts and budgets that are tried.
const CASES: [(u8, Option<f64>); 3] = [(1, None), (3, None), (3, Some(0.1))];

/// Tries all cases on servers with so many users each.
pub(crate) fn storm(
    problem: &Problem<'_>,
    users_each: f64,
    mean_s: f64,
) -> Result<Storm, SizeError> {
    let unit_s = mean_s.max(1.0);
    let bound = problem.required.iter().filter_map(Required::time_s);
    let timeout_s = bound.fold(0.0, f64::max) * TIMEOUT_OF_BOUND;
    let timeout_s = if timeout_s > 0.0 {
        timeout_s
    } else {
        mean_s * TIMEOUT_OF_MEAN
    };
    let share = share(problem, users_each, unit_s, mean_s);
    let server = problem.server(problem.fitted().parameters);
    let (network, _) = server.network(share);
    let cases = problem.cores.map(&CASES, |(attempts, budget)| {
        let case = Case {
            attempts: *attempts,
            budget: *budget,
            timeout_s,
            unit_s,
        };
        let seen = case.play(network.clone(), problem.ask.seed);
        if problem.cores.watcher.simulated() {
            Ok(seen)
        } else {
            Err(SizeError::Stopped)
        }
    })?;
    Ok(Storm {
        stop_s: f64::from(STOP) * unit_s,
        timeout_s,
        watched_s: f64::from(AFTER) * unit_s,
        cases,
    })
}

/// As much of the fleet as the costs allow.
fn share(problem: &Problem<'_>, users_each: f64, unit_s: f64, mean_s: f64) -> Share {
    let mut share = problem
        .play(problem.server(problem.fitted().parameters), users_each)
        .share;
    let length_s = f64::from(WARM_UP + BEFORE + STOP + AFTER) * unit_s;
    let cycle_s = problem.model.parameters.think_s + mean_s;
    let attempts_each = users_each / cycle_s * length_s;
    let servers = (ATTEMPTS_MAX / attempts_each) as u32;
    share.servers = share.servers.min(servers).max(1);
    share.users = ((f64::from(share.servers) * users_each).round() as u32).max(1);
    share
}

struct Case {
    attempts: u8,
    budget: Option<f64>,
    timeout_s: f64,
    unit_s: f64,
}

impl Case {
    fn play(&self, mut network: Network, seed: u64) -> StormCase {
        let class = &mut network.classes[REQUEST];
        class.timeout = Some(Timeout {
            after: Distribution::constant(self.timeout_s),
            work: AbandonedWork::GoesOn,
        });
        class.retry = (self.attempts > 1).then_some(Retry {
            attempts: self.attempts,
            back_off_s: self.timeout_s / 10.0,
            factor: 2.0,
            back_off_max_s: self.timeout_s,
            jitter: Jitter::Full,
            budget: self.budget,
        });
        network.planned.push(Planned {
            at_s: f64::from(WARM_UP + BEFORE) * self.unit_s,
            what: Happening::Speed {
                center: CPU,
                speed: 0.0,
                for_s: Some(f64::from(STOP) * self.unit_s),
            },
        });
        let mut simulation = Simulation::new(&network, seed);
        let at = |units: u32| f64::from(units) * self.unit_s;
        simulation.run_until(at(WARM_UP));
        simulation.forget();
        simulation.run_until(at(WARM_UP + BEFORE));
        let before = simulation.totals().classes[REQUEST].answered as f64 / f64::from(BEFORE);
        simulation.forget();
        let mut answered = Vec::new();
        let mut so_far = 0;
        for unit in 1..=STOP + AFTER {
            simulation.run_until(at(WARM_UP + BEFORE + unit));
            let now = simulation.totals().classes[REQUEST].answered;
            answered.push((now - so_far) as f64);
            so_far = now;
        }
        let class = &simulation.totals().classes[REQUEST];
        let after = &answered[STOP as usize..];
        let last = &after[after.len() - BEFORE as usize..];
        StormCase {
            attempts: self.attempts,
            budget: self.budget,
            recovered_after_s: recovered(after, before).map(|units| units as f64 * self.unit_s),
            answered_in_the_end: mean(last) / before,
            attempts_per_request: 1.0 + class.retries as f64 / class.fresh.max(1) as f64,
        }
    }
}

/// After how many units as much is answered as before, and stays so.
fn recovered(after: &[f64], before: f64) -> Option<usize> {
    let low = after
        .windows(AVERAGED)
        .rposition(|window| mean(window) < RECOVERED * before);
    match low {
        None => Some(0),
        Some(window) if window + AVERAGED < after.len() => Some(window + 1),
        Some(_) => None,
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_storm_is_over_when_answers_come_back_for_good() {
        let mut after = vec![10.0; 60];
        assert_eq!(recovered(&after, 10.0), Some(0));
        after[..12].fill(0.0);
        // The last window of five that holds one second of silence begins at 11: its mean is 8.
        assert_eq!(recovered(&after, 10.0), Some(12));
        assert_eq!(recovered(&[5.0; 60], 10.0), None);
        after[58] = 0.0;
        assert_eq!(recovered(&after, 10.0), None);
    }
}
