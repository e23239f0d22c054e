//! Whether the limit that Weir finds stays where it is: minutes at 120 % of the capacity, and then
//! one request a second.
//!
//! A limit that follows response times alone grows under an overload that lasts. So the limit is
//! read once a second, and its median in an early part of the load is set beside that in the last
//! one. After the load comes what keeps a limit from being found at all: a request a second, and
//! now and then one that takes longer than that, so that two are in flight. None of them may be
//! held back.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::bench::gate::backend::{Backend, WORK};
use crate::bench::gate::clients::{Arrival, Phase, poisson};
use crate::bench::gate::figures::quantile;
use crate::bench::gate::peers::{Peers, Running, free_port};
use crate::bench::gate::scenario::{CLIENTS, Turn, load};
use crate::bench::gate::status::status;
use crate::bench::gate::{GATE_CPU, SERVER_CPU};
use crate::bench::spread::spread;
use crate::error::TaskError;

/// What of the capacity is asked for.
const LOAD: f64 = 1.2;
/// Seconds of it, where nothing else is asked for.
pub(crate) const SECONDS: u32 = 600;
/// Part of the load after which the limit counts as found, and the part over which it is compared.
const SETTLES: f64 = 0.1;
const PART: f64 = 0.2;
/// Seconds with one request each, at most.
const SPARSE: u32 = 120;
/// So often one of them sleeps in the server for longer than a second, without taking its CPU.
const LONG_EVERY: u32 = 10;
const LONG: &str = "/heavy?walks=1&pause-ms=1500";
/// After the load, until nobody waits any more.
const QUIET: Duration = Duration::from_secs(3);
/// How often the limit is told while it is watched.
const TELL_EVERY: usize = 60;

/// What one round has shown.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Seen {
    early: Part,
    late: Part,
    /// Good answers a second after it had settled, in percent of the capacity.
    goodput: f64,
    /// Of the requests that came one a second: how many were rejected, and had to wait.
    refused: f64,
    waited: f64,
}

/// A part of the load.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Part {
    limit: f64,
    p99_ms: f64,
}

/// Plays all rounds and gives back the table.
pub(crate) fn play(peers: &Peers, rounds: u32, seconds: u32) -> Result<String, TaskError> {
    let mut seen = Vec::new();
    for round in 0..rounds {
        let one = turn(peers, u64::from(round), seconds)?;
        println!("drift, round {}: {one:.1?}", round + 1);
        seen.push(one);
    }
    Ok(table(&seen, seconds))
}

fn turn(peers: &Peers, round: u64, seconds: u32) -> Result<Seen, TaskError> {
    let backend = Backend::of(peers, SERVER_CPU)?;
    let capacity = backend.capacity_per_s(WORK);
    let admin = free_port()?;
    let gateway = start(peers, backend.port(), admin)?;
    let length = Duration::from_secs(u64::from(seconds));
    let phase = Phase {
        per_s: LOAD * capacity,
        length,
    };
    let load = load(&gateway, poisson(WORK, &[phase], 11 + round), CLIENTS);
    let ended = AtomicBool::new(false);
    let (limits, answers) = thread::scope(|scope| {
        let watching = scope.spawn(|| watch(&ended, admin));
        let answers = load.send();
        ended.store(true, Ordering::Relaxed);
        (watching.join().expect("it does not panic"), answers)
    });
    let turn = Turn::of_work(capacity, answers);
    let (refused, waited) = sparse(&gateway, admin, seconds.min(SPARSE))?;
    Ok(Seen {
        refused,
        waited,
        ..Seen::of(&limits?, &turn, length)
    })
}

/// With an admin side, whose `/status` says the limit.
fn start(peers: &Peers, backend: u16, admin: u16) -> Result<Running, TaskError> {
    let port = free_port()?;
    let text = format!(
        "listen = \"127.0.0.1:{port}\"\nadmin = \"127.0.0.1:{admin}\"\nbackends = [\"http://127.0.0.1:{backend}\"]\nthreads = 1\n\
         [limit]\nmax-wait = \"200ms\"\n[limit.adaptive]\ngoal = \"best throughput\"\n"
    );
    let file = peers.write("drift.toml", &text)?;
    let words = [
        peers.weir.to_string_lossy().into_owned(),
        "gate".to_owned(),
        file,
    ];
    peers.run(&words, GATE_CPU, port)
}

/// The limit, once a second, until the load has ended; a reading belongs to the second that it
/// stands in.
fn watch(ended: &AtomicBool, admin: u16) -> Result<Vec<f64>, TaskError> {
    let begun = Instant::now();
    let mut limits = Vec::new();
    while !ended.load(Ordering::Relaxed) {
        let due = begun + Duration::from_secs(limits.len() as u64 + 1);
        thread::sleep(due.saturating_duration_since(Instant::now()));
        let all = status(admin)?.all;
        let limit = all.limit.unwrap_or(f64::NAN);
        limits.push(limit);
        if limits.len().is_multiple_of(TELL_EVERY) {
            let (refused, offered) = (all.refused.total(), all.offered);
            println!(
                "  {} s: limit {limit:.2}, {refused} of {offered} rejected",
                limits.len()
            );
        }
    }
    Ok(limits)
}

/// One request a second, and how many of them were rejected and had to wait.
fn sparse(gateway: &Running, admin: u16, seconds: u32) -> Result<(f64, f64), TaskError> {
    thread::sleep(QUIET);
    let before = status(admin)?.all;
    load(gateway, one_a_second(seconds), 4).send();
    let after = status(admin)?.all;
    let refused = after.refused.total() - before.refused.total();
    Ok((refused as f64, (after.waited - before.waited) as f64))
}

fn one_a_second(seconds: u32) -> Vec<Arrival> {
    let arrival = |second: u32| Arrival {
        at: Duration::from_secs(u64::from(second)),
        path: if second.is_multiple_of(LONG_EVERY) {
            LONG
        } else {
            WORK
        },
    };
    (0..seconds).map(arrival).collect()
}

impl Seen {
    /// Of the load; what came after it is not known here.
    fn of(limits: &[f64], turn: &Turn, length: Duration) -> Self {
        let settled = length.mul_f64(SETTLES);
        let part = length.mul_f64(PART);
        let of = |from: Duration, to: Duration| {
            let at = |moment: Duration| (moment.as_secs() as usize).min(limits.len());
            let mut within = limits[at(from)..at(to)].to_vec();
            within.sort_by(f64::total_cmp);
            Part {
                limit: quantile(&within, 0.5),
                p99_ms: turn.between(from, to).p99_ms(),
            }
        };
        Self {
            early: of(settled, settled + part),
            late: of(length.saturating_sub(part), length),
            goodput: turn.between(settled, length).goodput() * 100.0 / turn.capacity.work,
            refused: 0.0,
            waited: 0.0,
        }
    }
}

/// Medians with the range over all rounds.
fn table(seen: &[Seen], seconds: u32) -> String {
    let of = |figure: fn(&Seen) -> f64| spread(seen.iter().map(figure).collect(), 2);
    let share = |part: f64| f64::from(seconds) * part;
    format!(
        "{seconds} s at {:.0} % of the capacity; the last {:.0} s beside {:.0} s from second {:.0} on\n\n\
         | figure | asked | measured |\n|:--|--:|--:|\n\
         | limit, last to first, % | 90 to 110 | {} |\n\
         | limit at first | | {} |\n\
         | limit at last | | {} |\n\
         | p99, last to first, % | | {} |\n\
         | goodput, % of the capacity | | {} |\n\
         | then {} s with one request each: rejected | 0 | {} |\n\
         | had to wait | 0 | {} |\n",
        LOAD * 100.0,
        share(PART),
        share(PART),
        share(SETTLES),
        of(|one| one.late.limit / one.early.limit * 100.0),
        of(|one| one.early.limit),
        of(|one| one.late.limit),
        of(|one| one.late.p99_ms / one.early.p99_ms * 100.0),
        of(|one| one.goodput),
        seconds.min(SPARSE),
        of(|one| one.refused),
        of(|one| one.waited),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::gate::clients::Answer;

    /// 100 s: from the tenth to the thirtieth beside the last twenty.
    #[test]
    fn the_last_part_is_set_beside_an_early_one() {
        let limits: Vec<f64> = (0..100)
            .map(|second| match second {
                0..10 => 8.0,
                10..80 => 4.0,
                _ => 5.0,
            })
            .collect();
        let answer = |second: u64| Answer {
            arrival: Arrival {
                at: Duration::from_secs(second),
                path: WORK,
            },
            status: 200,
            took: Duration::from_millis(if second < 50 { 100 } else { 110 }),
            late: Duration::ZERO,
            is_cut: false,
            is_second: false,
        };
        let turn = Turn::of_work(2.0, (0..100).map(answer).collect());
        let seen = Seen::of(&limits, &turn, Duration::from_secs(100));
        assert!((seen.early.limit - 4.0).abs() < 1e-9, "{seen:?}");
        assert!((seen.late.limit - 5.0).abs() < 1e-9, "{seen:?}");
        assert!((seen.late.p99_ms / seen.early.p99_ms - 1.1).abs() < 1e-9);
        assert!((seen.goodput - 50.0).abs() < 1e-9, "{seen:?}");
        assert!(table(&[seen], 100).contains("125.00"));
    }

    #[test]
    fn two_are_in_flight_now_and_then() {
        let arrivals = one_a_second(20);
        assert_eq!(arrivals.len(), 20);
        let long = arrivals.iter().filter(|arrival| arrival.path == LONG);
        assert_eq!(long.count(), 2);
    }
}
