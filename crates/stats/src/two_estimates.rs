//! How much two estimates differ, from their intervals alone.
//!
//! The interval of a quantile reaches further up than down, and that of a small share too; a
//! symmetric standard error would lose that. The method of variance estimates recovery (MOVER; Zou
//! and Donner 2008, "Construction of confidence limits about effect measures: a general approach";
//! for two shares it is Newcombe's hybrid of 1998) takes each end of the difference from the two
//! ends that lead there:
//!
//! `low = b − a − sqrt((b − b_low)² + (a_high − a)²)`, `high = b − a + sqrt((b_high − b)² + (a −
//! a_low)²)`.
//!
//! Assumed: the two estimates do not depend on each other, and each interval holds. Of two trials,
//! one of each treatment, it says how far these two are apart, not how far the next two would be:
//! the spread between trials is in neither.

use crate::{Estimate, Method, StatsError};

/// `b / a`, both above 0 with intervals above 0; done with logarithms.
pub fn ratio_of_estimates(a: &Estimate, b: &Estimate) -> Result<Estimate, StatsError> {
    let logarithm = |of: &Estimate| -> Result<Estimate, StatsError> {
        for (index, value) in [of.low, of.value, of.high].into_iter().enumerate() {
            if value <= 0.0 {
                return Err(StatsError::NotPositive { index, value });
            }
        }
        Ok(Estimate {
            value: of.value.ln(),
            low: of.low.ln(),
            high: of.high.ln(),
            ..*of
        })
    };
    let difference = difference_of_estimates(&logarithm(a)?, &logarithm(b)?);
    Ok(Estimate {
        value: difference.value.exp(),
        low: difference.low.exp(),
        high: difference.high.exp(),
        ..difference
    })
}

/// `b − a`.
pub fn difference_of_estimates(a: &Estimate, b: &Estimate) -> Estimate {
    let value = b.value - a.value;
    let down = (b.value - b.low).hypot(a.high - a.value);
    let up = (b.high - b.value).hypot(a.value - a.low);
    Estimate {
        value,
        low: value - down,
        high: value + up,
        confidence: a.confidence.min(b.confidence),
        count: a.count + b.count,
        method: Method::Mover,
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use crate::proportion;

    fn estimate(low: f64, value: f64, high: f64) -> Estimate {
        Estimate {
            value,
            low,
            high,
            confidence: 0.95,
            count: 10,
            method: Method::BatchMeans,
        }
    }

    /// Newcombe (1998), "Interval estimation for the difference between independent proportions",
    /// table II, case (a): 56/70 and 48/80 differ by 0.2; his method 10, which takes Wilson's
    /// intervals, gives 0.0524 to 0.3339.
    #[test]
    fn two_shares_differ_as_newcombe_says() {
        let wilson = |hits: f64, count: f64| {
            let z: f64 = 1.959_963_985;
            let share = hits / count;
            let centre = 2.0 * hits + z * z;
            let reach = z * (z * z + 4.0 * hits * (1.0 - share)).sqrt();
            let whole = 2.0 * (count + z * z);
            estimate((centre - reach) / whole, share, (centre + reach) / whole)
        };
        let found = difference_of_estimates(&wilson(48.0, 80.0), &wilson(56.0, 70.0));
        assert!((found.value - 0.2).abs() < 1e-12);
        assert!((found.low - 0.0524).abs() < 5e-5, "{found:?}");
        assert!((found.high - 0.3339).abs() < 5e-5, "{found:?}");
    }

    #[test]
    fn symmetric_intervals_add_up_as_standard_errors_do() {
        let found =
            difference_of_estimates(&estimate(7.0, 10.0, 13.0), &estimate(16.0, 20.0, 24.0));
        assert!((found.low - 5.0).abs() < 1e-12 && (found.high - 15.0).abs() < 1e-12);
    }

    #[test]
    fn a_ratio_keeps_its_lean() {
        let found =
            ratio_of_estimates(&estimate(10.0, 10.0, 10.0), &estimate(9.0, 10.0, 20.0)).unwrap();
        assert!((found.low - 0.9).abs() < 1e-12 && (found.high - 2.0).abs() < 1e-12);
        let swapped =
            ratio_of_estimates(&estimate(9.0, 10.0, 20.0), &estimate(10.0, 10.0, 10.0)).unwrap();
        assert!((swapped.low * found.high - 1.0).abs() < 1e-12);
    }

    #[test]
    fn what_may_be_zero_has_no_ratio() {
        let none = proportion(0, 100, 0.95).unwrap();
        let refused = ratio_of_estimates(&none, &none);
        assert!(matches!(refused, Err(StatsError::NotPositive { .. })));
        assert!(difference_of_estimates(&none, &none).contains(0.0));
    }
}
