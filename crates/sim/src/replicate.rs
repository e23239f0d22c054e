//! Replications over cores: the same figures whatever the number of cores.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc;

use crate::engine::{Second, Simulation};
use crate::network::Network;
use crate::totals::Totals;

/// Into how many parts the time of a replication is cut, so that its watcher hears of it.
const PARTS: f64 = 500.0;

/// How long and how often a network is simulated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plan {
    /// Seconds that count, behind the warm-up.
    pub seconds: f64,
    /// Seconds that do not.
    pub warm_up_s: f64,
    /// How often.
    pub replications: u32,
    /// Of the first replication; the others follow from it.
    pub seed: u64,
    /// Of how many replications, from the first on, every second is kept.
    pub timelines: u32,
}

/// One replication as it went.
#[derive(Debug, Clone)]
pub struct Replication {
    /// Its number, from 0.
    pub number: u32,
    /// The figures from the end of the warm-up on.
    pub totals: Totals,
    /// Every whole second from the start on; empty unless the plan asks for it.
    pub timeline: Vec<Second>,
    /// Bytes that requests and events took at its end.
    pub bytes: usize,
}

/// Hears how far the replications are, from whatever thread they run on.
pub trait Watcher: Sync {
    /// So many simulated seconds more have passed, in one of the replications, and its requests
    /// take so many bytes. Says whether to go on.
    fn passed(&self, seconds: f64, bytes: usize) -> bool;
}

/// A watcher that lets everything go on.
#[derive(Debug, Default)]
pub struct Unwatched;

impl Watcher for Unwatched {
    fn passed(&self, _: f64, _: usize) -> bool {
        true
    }
}

/// The seed of a replication: the golden-ratio sequence that `SplitMix64` steps through, so that
/// neighbouring ones have nothing in common once they are mixed (Steele, Lea and Flood 2014).
pub fn seed_of(seed: u64, replication: u32) -> u64 {
    let mut z = seed.wrapping_add(u64::from(replication).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Runs all replications on `threads` threads and gives what `finish` makes of each, in the order
/// of their numbers. `None` when the watcher said to stop.
///
/// `finish` runs on the replication's thread, so that what it does not keep, such as the timeline
/// of a long replication, takes memory for no longer than that.
pub fn replicate<T: Send>(
    network: &Network,
    plan: &Plan,
    threads: usize,
    finish: &(dyn Fn(Replication) -> T + Sync),
    watcher: &dyn Watcher,
) -> Option<Vec<T>> {
    let next = AtomicU32::new(0);
    let stopped = AtomicBool::new(false);
    let (sender, finished) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, plan.replications.max(1) as usize) {
            let sender = sender.clone();
            let (next, stopped) = (&next, &stopped);
            scope.spawn(move || {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= plan.replications || stopped.load(Ordering::Relaxed) {
                        return;
                    }
                    let replication = run(network, plan, number, &|seconds, bytes| {
                        watcher.passed(seconds, bytes) && !stopped.load(Ordering::Relaxed)
                    });
                    match replication {
                        // The receiver lives until all threads have ended.
                        Some(replication) => {
                            drop(sender.send((number, finish(replication))));
                        }
                        None => stopped.store(true, Ordering::Relaxed),
                    }
                }
            });
        }
    });
    drop(sender);
    let mut replications: Vec<(u32, T)> = finished.into_iter().collect();
    replications.sort_unstable_by_key(|(number, _)| *number);
    let in_order = replications.into_iter().map(|(_, finished)| finished);
    (!stopped.into_inner()).then(|| in_order.collect())
}

fn run(
    network: &Network,
    plan: &Plan,
    number: u32,
    passed: &dyn Fn(f64, usize) -> bool,
) -> Option<Replication> {
    let mut simulation = Simulation::new(network, seed_of(plan.seed, number));
    let timeline = number < plan.timelines;
    if timeline {
        simulation.watch_seconds();
    }
    let end = plan.warm_up_s + plan.seconds;
    let mut seconds = Vec::new();
    let mut warm = plan.warm_up_s > 0.0;
    let part = (end / PARTS).max(1.0);
    let mut at: f64 = 0.0;
    while at < end {
        let warm_up_ends = if warm { plan.warm_up_s } else { end };
        let next = if timeline {
            at.floor() + 1.0
        } else {
            at + part
        };
        let next = next.min(end).min(warm_up_ends);
        simulation.run_until(next);
        // A part of a second says nothing about a rate.
        if timeline && next.fract() == 0.0 {
            seconds.extend(simulation.take_second());
        }
        if warm && next >= plan.warm_up_s {
            warm = false;
            simulation.forget();
        }
        if !passed(next - at, simulation.bytes()) {
            return None;
        }
        at = next;
    }
    Some(Replication {
        number,
        totals: simulation.totals(),
        timeline: seconds,
        bytes: simulation.bytes(),
    })
}
