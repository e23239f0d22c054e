//! How well a goal for the CPU holds at twice the capacity.
//!
//! `weir gate` with `goal = "cpu <= 80 %"` finds the server by its port. What the CPU did is read
//! here from `/proc`, by nobody whom the gateway knows of: CPU time of the server's process over
//! the time that the hypervisor left to its CPU, once a second.
//!
//! Good answers are compared with those of a fixed limit that keeps the server busy all the time,
//! under the same load, right before and right after: a request costs the server more CPU time
//! while much goes on beside it than when nothing does, and how much more is told too.

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use crate::bench::gate::SERVER_CPU;
use crate::bench::gate::backend::{Backend, WORK};
use crate::bench::gate::clients::{Phase, poisson};
use crate::bench::gate::peers::{Hold, Peer, Peers, Subject};
use crate::bench::gate::scenario::{self, CLIENTS, Turn};
use crate::bench::load::cost::cpu_times;
use crate::bench::spread::spread;
use crate::error::TaskError;

/// The goal, in percent.
const GOAL: u32 = 80;
/// Seconds until the limit has been found.
const SETTLES: usize = 10;
/// Seconds that are judged, and those of a part that is judged by itself.
const JUDGED: usize = 30;
const PART: usize = 5;
/// What the goal's answers are compared with: a limit that never lets the server's one CPU rest,
/// and the longest wait for it.
const FULL: Hold = Hold::Concurrency(FULL_IN_FLIGHT, Duration::from_millis(200));
const FULL_IN_FLIGHT: u32 = 4;
/// Seconds until it is in its stride, and those that are judged, before and after.
const FULL_SETTLES: usize = 2;
const FULL_JUDGED: usize = 12;

/// Shares of the CPU that were busy, in percent: in all that was judged, and in the parts of it.
#[derive(Debug, Clone, Copy)]
struct Shares {
    mean: f64,
    least: f64,
    most: f64,
}

/// What one round has shown, in percent.
#[derive(Debug, Clone, Copy)]
struct Held {
    shares: Shares,
    /// Good answers a second, of the goal's part of those with the fixed limit.
    goodput: f64,
    /// CPU time of an answer, of that of one when nothing goes on beside it: with the goal, and
    /// with the fixed limit.
    cost: f64,
    full_cost: f64,
}

/// What a load has shown.
#[derive(Debug)]
struct Played {
    /// The busy share of each judged second, in percent.
    shares: Vec<f64>,
    /// Good answers a second.
    per_s: f64,
    /// CPU time of the server for each of them, in seconds.
    cost_s: f64,
}

/// Plays all rounds and gives back the table.
pub(crate) fn play(peers: &Peers, rounds: u32) -> Result<String, TaskError> {
    let mut held = Vec::new();
    for round in 0..rounds {
        let one = turn(peers, u64::from(round))?;
        println!("cpu <= {GOAL} %, round {}: {one:.1?}", round + 1);
        held.push(one);
    }
    Ok(table(&held))
}

fn turn(peers: &Peers, round: u64) -> Result<Held, TaskError> {
    let backend = Backend::of(peers, SERVER_CPU)?;
    let before_s = spent_s(&backend);
    let capacity = backend.capacity_per_s(WORK);
    let alone_s = (spent_s(&backend) - before_s) / f64::from(Backend::CALIBRATED);
    let seed = 11 + round;
    let full = || {
        load(
            peers,
            &backend,
            FULL,
            (FULL_SETTLES, FULL_JUDGED),
            capacity,
            seed,
        )
    };
    let before = full()?;
    let goal = load(
        peers,
        &backend,
        Hold::Cpu(GOAL),
        (SETTLES, JUDGED),
        capacity,
        seed,
    )?;
    let after = full()?;
    let part = f64::from(GOAL) / 100.0 * f64::midpoint(before.per_s, after.per_s);
    let full_s = f64::midpoint(before.cost_s, after.cost_s);
    Ok(Held {
        goodput: goal.per_s / part * 100.0,
        cost: goal.cost_s / alone_s * 100.0,
        full_cost: full_s / alone_s * 100.0,
        shares: Shares::of(&goal.shares),
    })
}

/// Sends twice the capacity, and judges so many seconds after so many others.
fn load(
    peers: &Peers,
    backend: &Backend,
    hold: Hold,
    (settles, judged): (usize, usize),
    capacity: f64,
    seed: u64,
) -> Result<Played, TaskError> {
    let peer = Peer::Weir;
    let gateway = peers.start(Subject { peer, hold }, backend.port())?;
    let from = Duration::from_secs(settles as u64);
    let to = from + Duration::from_secs(judged as u64);
    let phase = Phase {
        per_s: 2.0 * capacity,
        length: to,
    };
    let load = scenario::load(&gateway, poisson(WORK, &[phase], seed), CLIENTS);
    let (seconds, answers) = thread::scope(|scope| {
        let watched = scope.spawn(|| watch(backend, settles + judged));
        let answers = load.send();
        (watched.join().expect("it does not panic"), answers)
    });
    let turn = Turn::of_work(capacity, answers);
    let per_s = turn.between(from, to).goodput();
    let seconds = &seconds?[settles..];
    let spent_s: f64 = seconds.iter().map(|one| one.spent_s).sum();
    Ok(Played {
        shares: seconds.iter().map(|one| one.share).collect(),
        per_s,
        cost_s: spent_s / (per_s * judged as f64).max(1.0),
    })
}

/// What the server did in a second.
#[derive(Debug)]
struct Second {
    /// CPU time.
    spent_s: f64,
    /// In percent of what the hypervisor left of its CPU.
    share: f64,
}

/// CPU time of the server since it began.
fn spent_s(backend: &Backend) -> f64 {
    let (user, system) = cpu_times(backend.pid());
    user + system
}

fn watch(backend: &Backend, seconds: usize) -> Result<Vec<Second>, TaskError> {
    let begun = Instant::now();
    let mut before = (begun, spent_s(backend), cpu_ticks()?);
    let mut seen = Vec::new();
    for second in 1..=seconds {
        let due = begun + Duration::from_secs(second as u64);
        thread::sleep(due.saturating_duration_since(Instant::now()));
        let now = (Instant::now(), spent_s(backend), cpu_ticks()?);
        let (stolen, total) = (now.2.0 - before.2.0, now.2.1 - before.2.1);
        let left_s = (now.0 - before.0).as_secs_f64() * (1.0 - stolen / total.max(1.0));
        let spent_s = now.1 - before.1;
        seen.push(Second {
            spent_s,
            share: spent_s / left_s * 100.0,
        });
        before = now;
    }
    Ok(seen)
}

/// Stolen ticks of the server's CPU, and all of them: `proc_stat(5)`, guest time being part of user
/// time.
fn cpu_ticks() -> Result<(f64, f64), TaskError> {
    let path = PathBuf::from("/proc/stat");
    let text = fs::read_to_string(&path).map_err(|source| TaskError::File {
        doing: "read",
        path: path.clone(),
        source,
    })?;
    let name = format!("cpu{SERVER_CPU} ");
    let line = text.lines().find_map(|line| line.strip_prefix(&name));
    let ticks = line.unwrap_or_default().split_whitespace().take(8);
    let ticks: Vec<f64> = ticks.filter_map(|word| word.parse().ok()).collect();
    let stolen = ticks.get(7).ok_or_else(|| TaskError::Form {
        what: path.display().to_string(),
        why: format!("it has no line of {} with eight times", name.trim()),
    })?;
    Ok((*stolen, ticks.iter().sum()))
}

impl Shares {
    fn of(shares: &[f64]) -> Self {
        let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
        let parts = || shares.windows(PART).map(mean);
        Self {
            mean: mean(shares),
            least: parts().fold(f64::INFINITY, f64::min),
            most: parts().fold(0.0, f64::max),
        }
    }
}

/// Medians with the range over all rounds.
fn table(held: &[Held]) -> String {
    let of = |figure: fn(&Held) -> f64| spread(held.iter().map(figure).collect(), 2);
    format!(
        "`cpu <= {GOAL} %` at twice the capacity\n\n| figure | asked | measured |\n|:--|--:|--:|\n\
         | mean over {JUDGED} s, % | {GOAL} ± 2 | {} |\n\
         | least {PART} s, % | ≥ {} | {} |\n\
         | most {PART} s, % | ≤ {} | {} |\n\
         | good answers, % of {GOAL} % of those with {} in flight | ≥ 98 | {} |\n\
         | CPU time of an answer, % of that of one alone | | {} |\n\
         | the same with {} in flight | | {} |\n",
        of(|one| one.shares.mean),
        GOAL - 5,
        of(|one| one.shares.least),
        GOAL + 5,
        of(|one| one.shares.most),
        FULL_IN_FLIGHT,
        of(|one| one.goodput),
        of(|one| one.cost),
        FULL_IN_FLIGHT,
        of(|one| one.full_cost)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_five_seconds_count() {
        let mut shares = vec![80.0; 30];
        shares[10] = 70.0;
        shares[11] = 70.0;
        shares[20] = 95.0;
        let held = Shares::of(&shares);
        assert!((held.mean - 79.833_333).abs() < 1e-5, "{held:?}");
        assert!(
            (held.least - 76.0).abs() < 1e-9 && (held.most - 83.0).abs() < 1e-9,
            "{held:?}"
        );
    }
}
