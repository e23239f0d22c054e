//! Made servers with a known answer: what the searches are measured against.
//!
//! Averages come from formulas, every figure of a trial has its own noise, and everything is drawn
//! from a seed. The tests take a few of them; the example `search-accuracy` takes hundreds.

#![allow(dead_code, reason = "the tests need less of it than the example")]

pub(crate) mod arrivals;
pub(crate) mod closed;
pub(crate) mod curve;
pub(crate) mod pairs;
pub(crate) mod record;

use rand::RngExt as _;
use rand_distr::StandardNormal;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Uniform between two numbers on a logarithmic scale.
pub(crate) fn log_uniform(random: &mut Xoshiro256PlusPlus, low: f64, high: f64) -> f64 {
    low * (high / low).powf(random.random::<f64>())
}

/// Uniform between two numbers.
pub(crate) fn uniform(random: &mut Xoshiro256PlusPlus, low: f64, high: f64) -> f64 {
    low + (high - low) * random.random::<f64>()
}

/// A figure with relative normal noise.
pub(crate) fn noisy(value: f64, sigma: f64, random: &mut Xoshiro256PlusPlus) -> f64 {
    value * (1.0 + sigma * random.sample::<f64, _>(StandardNormal))
}
