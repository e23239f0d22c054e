//! What people do without a model: halving, walking up, trying at random, and grids.
//!
//! Two of them need a range to begin with. They get one that was made from the true answer, which
//! flatters them.

use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::truth::closed::{GOAL, Server, USERS_MAX};

/// The range of a sweep and of random levels, in true answers.
const RANGE: f64 = 3.0;
const STEPS: u32 = 20;
/// Levels that are tried at random: as many as a search takes.
const RANDOM: u32 = 10;
/// Halving ends when the gap is so small a share of the answer.
const GAP: f64 = 0.025;

/// How people look for the largest number of users.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Peer {
    Bisection,
    Sweep,
    Random,
}

impl Peer {
    pub(crate) const ALL: [Self; 3] = [Self::Bisection, Self::Sweep, Self::Random];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Bisection => "bisection, one trial a level",
            Self::Sweep => "sweep in 20 steps",
            Self::Random => "10 random levels",
        }
    }
}

/// The answer, if the CPU was ever above its goal.
pub(crate) fn largest(peer: Peer, server: &mut Server, seed: u64) -> Option<u32> {
    let truth = server.system.largest(1).unwrap_or(USERS_MAX);
    let range = RANGE * f64::from(truth);
    let start = server.system.cpus;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed ^ 0x9e37_79b9);
    let mut cpu = |users: u32| server.measure(users, random.random()).cpu;
    match peer {
        Peer::Bisection => bisected(start, &mut cpu),
        Peer::Sweep => swept(range, &mut cpu),
        Peer::Random => {
            let mut levels = Xoshiro256PlusPlus::seed_from_u64(seed);
            Some(tried(range, &mut levels, &mut cpu))
        }
    }
}

/// Doubles from as many users as CPUs until the goal is broken, then halves.
fn bisected(start: u32, cpu: &mut dyn FnMut(u32) -> f64) -> Option<u32> {
    let (mut low, mut high) = (0, start);
    while cpu(high) <= GOAL {
        if high > USERS_MAX {
            return None;
        }
        (low, high) = (high, 2 * high);
    }
    while f64::from(high - low) > (GAP * f64::from(low)).max(1.0) {
        let middle = u32::midpoint(low, high);
        if cpu(middle) <= GOAL {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(low.max(1))
}

/// Walks up until the goal is broken, and puts a line between the last two.
fn swept(range: f64, cpu: &mut dyn FnMut(u32) -> f64) -> Option<u32> {
    let (mut level_before, mut cpu_before) = (0.0, 0.0);
    for step in 1..=STEPS {
        let level = (range * f64::from(step) / f64::from(STEPS))
            .round()
            .max(1.0);
        let seen = cpu(level as u32);
        if seen > GOAL {
            let share = ((GOAL - cpu_before) / (seen - cpu_before)).clamp(0.0, 1.0);
            let answer = level_before + share * (level - level_before);
            return Some((answer as u32).max(1));
        }
        (level_before, cpu_before) = (level, seen);
    }
    None
}

/// The largest of some random levels at which the goal held.
fn tried(range: f64, levels: &mut Xoshiro256PlusPlus, cpu: &mut dyn FnMut(u32) -> f64) -> u32 {
    let largest = (range as u32).max(1);
    let levels = (0..RANDOM).map(|_| levels.random_range(1..=largest));
    let held = levels.filter(|level| cpu(*level) <= GOAL);
    held.max().unwrap_or(1)
}
