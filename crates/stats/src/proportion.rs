//! A share of successes or failures with its exact binomial interval.

use statrs::distribution::{Beta, ContinuousCDF};

use crate::error::check_probability;
use crate::{Estimate, Method, StatsError};

/// Share of `hits` in `count` independent attempts, with the interval of Clopper and Pearson
/// (1934).
///
/// The interval never covers less than it says, also for 0 hits: with 0 errors in 1,000 requests
/// the 95 % interval ends at 0.37 %. Errors that come in bursts are not independent; then it is too
/// narrow.
pub fn proportion(hits: u64, count: u64, confidence: f64) -> Result<Estimate, StatsError> {
    check_probability(confidence)?;
    assert!(hits <= count, "{hits} hits in {count} attempts");
    if count == 0 {
        return Err(StatsError::TooFew { count, needed: 1 });
    }
    let tail = (1.0 - confidence) / 2.0;
    let (hit, missed) = (hits as f64, (count - hits) as f64);
    let low = if hits == 0 {
        0.0
    } else {
        beta_quantile(tail, hit, missed + 1.0)
    };
    let high = if hits == count {
        1.0
    } else {
        beta_quantile(1.0 - tail, hit + 1.0, missed)
    };
    Ok(Estimate {
        value: hit / count as f64,
        low,
        high,
        confidence,
        count,
        method: Method::ClopperPearson,
    })
}

/// By bisection on the distribution function, which is exact to more digits than an interval needs.
fn beta_quantile(p: f64, a: f64, b: f64) -> f64 {
    let beta = Beta::new(a, b).expect("both shape parameters are at least 1");
    let (mut low, mut high) = (0.0, 1.0);
    // Halving 60 times leaves less than one unit in the last place of a share.
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if beta.cdf(middle) < p {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn no_error_in_a_thousand_follows_the_closed_form() {
        // With 0 hits the upper end is 1 - (alpha/2)^(1/n).
        let none = proportion(0, 1000, 0.95).unwrap();
        assert!(none.low.abs() < 1e-15);
        assert!((none.high - (1.0 - 0.025_f64.powf(1e-3))).abs() < 1e-12);
        let all = proportion(1000, 1000, 0.95).unwrap();
        assert!((all.low - 0.025_f64.powf(1e-3)).abs() < 1e-12);
    }

    /// The ends solve the binomial equations they are defined by, summed here by hand for 2 of 10.
    #[test]
    fn two_in_ten_solves_its_equations() {
        let found = proportion(2, 10, 0.95).unwrap();
        let term = |k: i32, choose: f64, p: f64| choose * p.powi(k) * (1.0 - p).powi(10 - k);
        let at_most_2 = |p: f64| term(0, 1.0, p) + term(1, 10.0, p) + term(2, 45.0, p);
        let at_least_2 = |p: f64| 1.0 - term(0, 1.0, p) - term(1, 10.0, p);
        assert!((at_most_2(found.high) - 0.025).abs() < 1e-9);
        assert!((at_least_2(found.low) - 0.025).abs() < 1e-9);
    }
}
