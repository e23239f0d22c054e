//! Markov chains of any shape: found state by state, kept sparse, solved by iteration.
//!
//! For what has no closed form, and as the judge of approximations. The steady state is found by
//! Gauss-Seidel sweeps in both directions (Stewart 1994, "Introduction to the Numerical Solution of
//! Markov Chains", chapter 3), each pair followed by an exact solution of the chain of levels
//! (aggregation and disaggregation: Stewart and others 1984). All terms are positive, so the result
//! is as exact as the iteration is long. Bounded: an exploration that finds more states than it may
//! keep is an error.

use std::collections::HashMap;
use std::hash::Hash;

use crate::ModelError;
use crate::birth_death::steady_state;
use crate::error::Check;

/// The iteration ends when the probabilities change by less than this in sum.
const CHANGE_MAX: f64 = 1e-14;
/// … or, where rounding keeps them moving, by less than this after all rounds.
const CHANGE_TOLERATED: f64 = 1e-11;
const ROUNDS_MAX: u32 = 20_000;

/// A chain in continuous time; moves change the level of a state by at most one.
#[derive(Debug)]
pub(crate) struct Chain<S> {
    model: &'static str,
    states: Vec<S>,
    levels: Vec<u32>,
    /// Rate out of each state.
    leaving: Vec<f64>,
    /// Of each state, where its moves into it begin in `sources`.
    first: Vec<u32>,
    /// State that a move comes from, and the move's rate.
    sources: Vec<(u32, f64)>,
}

impl<S: Copy + Eq + Hash> Chain<S> {
    /// Finds all states that can be reached from `start`, and their moves.
    pub(crate) fn explore(
        model: &'static str,
        start: S,
        states_max: usize,
        level: impl Fn(&S) -> u32,
        moves: impl Fn(&S, &mut Vec<(S, f64)>),
    ) -> Result<Self, ModelError> {
        let mut index = HashMap::from([(start, 0_u32)]);
        let mut states = vec![start];
        let mut leaving = Vec::new();
        let mut arcs: Vec<(u32, u32, f64)> = Vec::new();
        let mut found = Vec::new();
        let mut at = 0;
        while at < states.len() {
            found.clear();
            let from = states[at];
            moves(&from, &mut found);
            let mut rate_out = 0.0;
            for &(to, rate) in found.iter().filter(|(to, _)| *to != from) {
                let next = states.len() as u32;
                let target = *index.entry(to).or_insert(next);
                if target == next {
                    states.push(to);
                }
                rate_out += rate;
                arcs.push((target, at as u32, rate));
            }
            Check(model).fits("states", states.len() as f64, states_max as u64)?;
            leaving.push(rate_out);
            at += 1;
        }
        arcs.sort_unstable_by_key(|&(target, source, _)| (target, source));
        let mut first = vec![0_u32; states.len() + 1];
        for &(target, _, _) in &arcs {
            first[target as usize + 1] += 1;
        }
        for state in 0..states.len() {
            first[state + 1] += first[state];
        }
        Ok(Self {
            model,
            levels: states.iter().map(level).collect(),
            states,
            leaving,
            first,
            sources: arcs
                .into_iter()
                .map(|(_, source, rate)| (source, rate))
                .collect(),
        })
    }

    /// The states, in the order of their probabilities in [`Self::steady_state`].
    pub(crate) fn states(&self) -> &[S] {
        &self.states
    }

    /// Probability of each state in the long run.
    pub(crate) fn steady_state(&self) -> Result<Vec<f64>, ModelError> {
        let count = self.states.len();
        if count == 1 {
            return Ok(vec![1.0]);
        }
        let mut shares = vec![1.0 / count as f64; count];
        let mut before = shares.clone();
        let mut change = f64::INFINITY;
        for _ in 0..ROUNDS_MAX {
            self.balance_levels(&mut shares);
            (0..count).for_each(|state| self.balance(state, &mut shares));
            (0..count)
                .rev()
                .for_each(|state| self.balance(state, &mut shares));
            normalize(&mut shares);
            change = distance(&shares, &before);
            if change < CHANGE_MAX {
                return Ok(shares);
            }
            before.copy_from_slice(&shares);
        }
        if change < CHANGE_TOLERATED {
            return Ok(shares);
        }
        Err(ModelError::NotConverged {
            model: self.model,
            rounds: ROUNDS_MAX,
            change,
        })
    }

    fn moves_into(&self, state: usize) -> &[(u32, f64)] {
        &self.sources[self.first[state] as usize..self.first[state + 1] as usize]
    }

    /// Makes what flows into a state flow out of it.
    fn balance(&self, state: usize, shares: &mut [f64]) {
        let into: f64 = self
            .moves_into(state)
            .iter()
            .map(|&(source, rate)| rate * shares[source as usize])
            .sum();
        shares[state] = into / self.leaving[state];
    }

    /// Scales the states of each level so that the flows between levels balance.
    fn balance_levels(&self, shares: &mut [f64]) {
        let last = self.levels.iter().copied().max().unwrap_or(0) as usize;
        let mut mass = vec![0.0; last + 1];
        let (mut up, mut down) = (vec![0.0; last + 1], vec![0.0; last + 1]);
        for (state, &level) in self.levels.iter().enumerate() {
            mass[level as usize] += shares[state];
            for &(source, rate) in self.moves_into(state) {
                let from = self.levels[source as usize];
                let flow = rate * shares[source as usize];
                if from < level {
                    up[from as usize] += flow;
                } else if from > level {
                    down[from as usize] += flow;
                }
            }
        }
        // Levels that are not there or not connected are left alone.
        let Some(lowest) = mass.iter().position(|&mass| mass > 0.0) else {
            return;
        };
        let connected = (lowest..last).all(|level| up[level] > 0.0 && down[level + 1] > 0.0);
        if lowest == last || !connected {
            return;
        }
        let rate = |flow: f64, level: usize| flow / mass[level];
        let levels = steady_state(
            last - lowest,
            |n| rate(up[lowest + n], lowest + n),
            |n| rate(down[lowest + n], lowest + n),
        );
        for (state, &level) in self.levels.iter().enumerate() {
            shares[state] *= levels[level as usize - lowest] / mass[level as usize];
        }
    }
}

fn normalize(shares: &mut [f64]) {
    let total: f64 = shares.iter().sum();
    for share in shares.iter_mut() {
        *share /= total;
    }
}

fn distance(left: &[f64], right: &[f64]) -> f64 {
    left.iter()
        .zip(right)
        .map(|(left, right)| (left - right).abs())
        .sum()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn a_queue_with_four_places_by_hand() {
        // M/M/1/3 at load 1/2: shares 8, 4, 2, 1 of 15.
        let moves = |&n: &u32, out: &mut Vec<(u32, f64)>| {
            if n < 3 {
                out.push((n + 1, 1.0));
            }
            if n > 0 {
                out.push((n - 1, 2.0));
            }
        };
        let chain = Chain::explore("a test", 0, 10, |&n| n, moves).unwrap();
        let shares = chain.steady_state().unwrap();
        for (n, share) in chain.states().iter().zip(&shares) {
            assert!((share - f64::from(8 >> n) / 15.0).abs() < 1e-13, "{n}");
        }
        let refused = Chain::explore("a test", 0, 3, |&n| n, moves).unwrap_err();
        assert!(matches!(refused, ModelError::TooLarge { limit: 3, .. }));
    }

    #[test]
    fn a_ring_has_no_levels() {
        let moves = |&n: &u32, out: &mut Vec<(u32, f64)>| out.push(((n + 1) % 3, f64::from(n + 1)));
        let chain = Chain::explore("a ring", 0, 3, |_| 0, moves).unwrap();
        let shares = chain.steady_state().unwrap();
        // Shares are as the mean times in the states: 1, 1/2, 1/3.
        let total = 11.0 / 6.0;
        for (n, share) in chain.states().iter().zip(&shares) {
            assert!((share - 1.0 / f64::from(n + 1) / total).abs() < 1e-13);
        }
    }
}
