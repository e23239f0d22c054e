//! The steady state of a birth-death process, kept in logarithms.
//!
//! All terms are products of ratios of rates. Summing their logarithms keeps every digit and never
//! leaves the range of numbers; finding the empty state by subtraction from 1, as textbook
//! multi-server MVA does, loses all digits near saturation.

/// Probabilities of the states 0..=`last`; `birth(n)` is the rate from n to n + 1, `death(n)` from
/// n to n - 1.
///
/// States behind a birth rate of 0 are never reached. Death rates are positive.
pub(crate) fn steady_state(
    last: usize,
    birth: impl Fn(usize) -> f64,
    death: impl Fn(usize) -> f64,
) -> Vec<f64> {
    let mut logarithms = Vec::with_capacity(last + 1);
    let mut logarithm = 0.0_f64;
    logarithms.push(logarithm);
    for n in 1..=last {
        logarithm += birth(n - 1).ln() - death(n).ln();
        logarithms.push(logarithm);
    }
    let norm = log_sum_exp(&logarithms);
    logarithms
        .iter()
        .map(|value| (value - norm).exp())
        .collect()
}

/// `ln(sum(exp(x)))` without leaving the range of numbers.
pub(crate) fn log_sum_exp(logarithms: &[f64]) -> f64 {
    let largest = logarithms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if largest == f64::NEG_INFINITY {
        return largest;
    }
    largest
        + logarithms
            .iter()
            .map(|value| (value - largest).exp())
            .sum::<f64>()
            .ln()
}

/// `ln(exp(a) + exp(b))`.
pub(crate) fn log_add(a: f64, b: f64) -> f64 {
    let (high, low) = if a >= b { (a, b) } else { (b, a) };
    if high == f64::NEG_INFINITY {
        return high;
    }
    high + (low - high).exp().ln_1p()
}

/// Mean of `of(n)` over the states.
pub(crate) fn average(probabilities: &[f64], of: impl Fn(usize) -> f64) -> f64 {
    probabilities
        .iter()
        .enumerate()
        .map(|(n, p)| p * of(n))
        .sum()
}
