//! Fuzzing without a special compiler: seeds that are changed at random, for a number of rounds in
//! a test and for as long as anyone likes with `cargo xtask fuzz`.
//!
//! Why not `cargo fuzz`: it needs a nightly toolchain, and this project must build and be checked
//! with a stable one. What is lost is the feedback from coverage; seeds that already hold every
//! construct, and a dictionary of what parsers look for, make up for a part of it.
//!
//! Each input follows from the name of the target and the number of the round alone, so that a
//! failure names all that is needed to see it again.
//!
//! ```
//! let target = weir_fuzz::Target {
//!     name: "numbers",
//!     seeds: &[b"1,2,3"],
//!     words: &[b",", b"-"],
//!     length_max: 100,
//! };
//! target.run(|bytes| {
//!     let text = String::from_utf8_lossy(bytes);
//!     let _ = text.split(',').map(str::parse::<i64>).count();
//! });
//! ```
//!
//! Deliberately absent: anything that a shipped program uses. Only tests depend on this crate.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{Duration, Instant};

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

/// How many seconds each target runs; without it, [`ROUNDS`] rounds.
pub const SECONDS: &str = "WEIR_FUZZ_SECONDS";
/// The first round; a failure names its own.
pub const FIRST_ROUND: &str = "WEIR_FUZZ_ROUND";
/// Rounds of a target in an ordinary test.
pub const ROUNDS: u64 = 300;
/// No input of a few kilobytes may keep a parser busy for longer.
const INPUT_TIME_MAX: Duration = Duration::from_secs(20);
/// Changes to one input.
const CHANGES_MAX: usize = 8;

/// Something that takes bytes from outside.
#[derive(Debug, Clone, Copy)]
pub struct Target<'a> {
    /// Its name; other names give other inputs.
    pub name: &'a str,
    /// What inputs are made of; at least one.
    pub seeds: &'a [&'a [u8]],
    /// What the parser looks for.
    pub words: &'a [&'a [u8]],
    /// The longest input.
    pub length_max: usize,
}

impl Target<'_> {
    /// Gives inputs to a check that panics when something is wrong.
    ///
    /// # Panics
    /// When the check does, or takes too long; the message names the round and shows the input.
    pub fn run(&self, check: impl Fn(&[u8])) {
        let number = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok();
        let end = number(SECONDS).map(|seconds| Instant::now() + Duration::from_secs(seconds));
        let first = number(FIRST_ROUND).unwrap_or(0);
        for round in first.. {
            let is_over = match end {
                Some(end) => Instant::now() >= end,
                None => round >= first + ROUNDS,
            };
            if is_over {
                return;
            }
            self.round(round, &check);
        }
    }

    fn round(&self, round: u64, check: &impl Fn(&[u8])) {
        let input = self.input(round);
        let begun = Instant::now();
        let ended = catch_unwind(AssertUnwindSafe(|| check(&input)));
        let took = begun.elapsed();
        if ended.is_ok() && took <= INPUT_TIME_MAX {
            return;
        }
        let shown = input.escape_ascii();
        let says = format!(
            "{} fails in round {round} ({FIRST_ROUND}={round}) after {took:?} with \"{shown}\"",
            self.name
        );
        match ended {
            Ok(()) => panic!("{says}"),
            Err(panic) => {
                let why = panic.downcast_ref::<String>().map(String::as_str);
                let why = why.or_else(|| panic.downcast_ref::<&str>().copied());
                resume_unwind(Box::new(format!("{says}: {}", why.unwrap_or("a panic"))))
            }
        }
    }

    /// The input of a round.
    pub fn input(&self, round: u64) -> Vec<u8> {
        let of_name = self.name.bytes().fold(0_u64, |sum, byte| {
            sum.wrapping_mul(31).wrapping_add(u64::from(byte))
        });
        let mut dice = Dice(Xoshiro256PlusPlus::seed_from_u64(of_name ^ round));
        let mut bytes = dice.one_of(self.seeds).to_vec();
        for _ in 0..=dice.below(CHANGES_MAX) {
            self.change(&mut bytes, &mut dice);
        }
        bytes.truncate(self.length_max);
        bytes
    }

    fn change(&self, bytes: &mut Vec<u8>, dice: &mut Dice) {
        let at = dice.below(bytes.len() + 1);
        let end = (at + 1 + dice.below(32)).min(bytes.len());
        match dice.below(8) {
            0 => {
                bytes.drain(at.min(end)..end);
            }
            1 => bytes.truncate(at),
            2 => {
                let piece = bytes[at.min(end)..end].to_vec();
                let to = dice.below(bytes.len() + 1);
                bytes.splice(to..to, piece);
            }
            3 => {
                let piece = bytes[at.min(end)..end].repeat(1 + dice.below(64));
                bytes.splice(at..at, piece);
            }
            4 if at < bytes.len() => bytes[at] ^= 1 << dice.below(8),
            5 => {
                let other = dice.one_of(self.seeds);
                let from = dice.below(other.len() + 1);
                bytes.truncate(at);
                bytes.extend_from_slice(&other[from..]);
            }
            6 => bytes.insert(at, dice.below(256) as u8),
            _ if !self.words.is_empty() => {
                let word = dice.one_of(self.words).to_vec();
                bytes.splice(at..at, word);
            }
            _ => {}
        }
    }
}

struct Dice(Xoshiro256PlusPlus);

impl Dice {
    /// A number below this one; 0 when there is none.
    fn below(&mut self, limit: usize) -> usize {
        (self.0.next_u64() % limit.max(1) as u64) as usize
    }

    fn one_of<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        all[self.below(all.len())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TARGET: Target<'_> = Target {
        name: "test",
        seeds: &[b"one two", b"three"],
        words: &[b"word"],
        length_max: 1000,
    };

    #[test]
    fn rounds_can_be_seen_again_and_differ() {
        assert_eq!(TARGET.input(7), TARGET.input(7));
        let inputs: std::collections::BTreeSet<_> = (0..100).map(|n| TARGET.input(n)).collect();
        assert!(inputs.len() > 50, "{}", inputs.len());
        assert!(
            inputs
                .iter()
                .any(|input| input.windows(4).any(|w| w == b"word"))
        );
    }

    #[test]
    fn what_fails_is_named_and_shown() {
        let failed = catch_unwind(|| TARGET.run(|bytes| assert!(!bytes.contains(&b'w'), "a w")));
        let panic = failed.expect_err("a seed has a w");
        let says = panic.downcast_ref::<String>().expect("it is said in words");
        assert!(says.starts_with("test fails in round "), "{says}");
        assert!(says.ends_with("a w"), "{says}");
    }
}
