//! How well a goal for the CPU holds at twice the capacity.
//!
//! `weir gate` with `goal = "cpu <= 80 %"` finds the server by its port. What the CPU did is read here from `/proc`, by nobody whom the
//! gateway knows of: CPU time of the server's process over the time that the hypervisor left to its CPU, once a second.

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use crate::bench::gate::SERVER_CPU;
use crate::bench::gate::backend::{Backend, WORK};
use crate::bench::gate::clients::{Load, Phase, poisson};
use crate::bench::gate::figures::spread;
use crate::bench::gate::peers::{Hold, Peer, Peers, Subject};
use crate::bench::gate::scenario::{CLIENTS, Capacity, PATIENCE, Turn};
use crate::bench::load::cost::cpu_times;
use crate::error::TaskError;

/// The goal, in percent.
const GOAL: u32 = 80;
/// Seconds until the limit has been found.
const SETTLES: usize = 10;
/// Seconds that are judged, and those of a part that is judged by itself.
const JUDGED: usize = 30;
const PART: usize = 5;

/// What one round has shown; shares in percent.
#[derive(Debug, Clone, Copy)]
struct Held {
    mean: f64,
    least: f64,
    most: f64,
    /// Good answers a second, of the goal's part of the capacity.
    goodput: f64,
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
    let capacity = backend.capacity_per_s(WORK);
    let subject = Subject {
        peer: Peer::Weir,
        hold: Hold::Cpu(GOAL),
    };
    let gateway = peers.start(subject, backend.port())?;
    let settles = Duration::from_secs(SETTLES as u64);
    let length = settles + Duration::from_secs(JUDGED as u64);
    let phase = Phase {
        per_s: 2.0 * capacity,
        length,
    };
    let load = Load {
        port: gateway.port(),
        arrivals: poisson(WORK, &[phase], 11 + round),
        clients: CLIENTS,
        patience: PATIENCE,
        retries: 0,
    };
    let (shares, answers) = thread::scope(|scope| {
        let watched = scope.spawn(|| watch(backend.pid(), SETTLES + JUDGED));
        let answers = load.send();
        (watched.join().expect("it does not panic"), answers)
    });
    let turn = Turn {
        capacity: Capacity {
            work: capacity,
            light: 0.0,
            heavy: 0.0,
        },
        answers,
    };
    let goal = f64::from(GOAL) / 100.0 * capacity;
    let goodput = turn.between(settles, length).goodput() / goal * 100.0;
    Ok(Held::of(&shares?[SETTLES..], goodput))
}

/// The busy share of each second, in percent of what the hypervisor left of the server's CPU.
fn watch(pid: u32, seconds: usize) -> Result<Vec<f64>, TaskError> {
    let spent_s = || {
        let (user, system) = cpu_times(pid);
        user + system
    };
    let begun = Instant::now();
    let mut before = (begun, spent_s(), cpu_ticks()?);
    let mut shares = Vec::new();
    for second in 1..=seconds {
        let due = begun + Duration::from_secs(second as u64);
        thread::sleep(due.saturating_duration_since(Instant::now()));
        let now = (Instant::now(), spent_s(), cpu_ticks()?);
        let (stolen, total) = (now.2.0 - before.2.0, now.2.1 - before.2.1);
        let left_s = (now.0 - before.0).as_secs_f64() * (1.0 - stolen / total.max(1.0));
        shares.push((now.1 - before.1) / left_s * 100.0);
        before = now;
    }
    Ok(shares)
}

/// Stolen ticks of the server's CPU, and all of them: `proc_stat(5)`, guest time being part of user time.
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

impl Held {
    fn of(shares: &[f64], goodput: f64) -> Self {
        let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
        let parts = || shares.windows(PART).map(mean);
        Self {
            mean: mean(shares),
            least: parts().fold(f64::INFINITY, f64::min),
            most: parts().fold(0.0, f64::max),
            goodput,
        }
    }
}

/// Medians with the range over all rounds.
fn table(held: &[Held]) -> String {
    let of = |figure: fn(&Held) -> f64| spread(held.iter().map(figure).collect());
    format!(
        "`cpu <= {GOAL} %` at twice the capacity\n\n| figure | asked | measured |\n|:--|--:|--:|\n\
         | mean over {JUDGED} s, % | {GOAL} ± 2 | {} |\n\
         | least {PART} s, % | ≥ {} | {} |\n\
         | most {PART} s, % | ≤ {} | {} |\n\
         | goodput, % of {GOAL} % of the capacity | ≥ 98 | {} |\n",
        of(|one| one.mean),
        GOAL - 5,
        of(|one| one.least),
        GOAL + 5,
        of(|one| one.most),
        of(|one| one.goodput)
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
        let held = Held::of(&shares, 99.0);
        assert!((held.mean - 79.833_333).abs() < 1e-5, "{held:?}");
        assert!(
            (held.least - 76.0).abs() < 1e-9 && (held.most - 83.0).abs() < 1e-9,
            "{held:?}"
        );
    }
}
