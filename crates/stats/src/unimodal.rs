//! The curve that rises to one peak and falls behind it, as close to the trials as such a curve
//! comes.

use crate::StatsError;
use crate::error::check_finite;
use crate::isotonic::isotonic_regression;

/// A sequence that rises up to its peak and falls from there; flat stretches are allowed.
#[derive(Debug, Clone, PartialEq)]
pub struct UnimodalFit {
    /// The fitted values, in the order of the measured ones.
    pub fitted: Vec<f64>,
    /// Where the largest is; within a flat top where the largest value was measured.
    pub peak: usize,
}

/// Weighted least-squares fit of a sequence with one peak: of all ways to cut the sequence in two,
/// a rising fit before the cut and a falling one behind it, the closest (Frisén 1986, "Unimodal
/// regression"). Weights are positive.
///
/// ```
/// use weir_stats::unimodal_regression;
///
/// let fit = unimodal_regression(&[1.0, 3.0, 2.5, 4.0, 2.0], &[1.0; 5])?;
/// assert_eq!(fit.fitted, [1.0, 2.75, 2.75, 4.0, 2.0]);
/// assert_eq!(fit.peak, 3);
/// # Ok::<(), weir_stats::StatsError>(())
/// ```
pub fn unimodal_regression(values: &[f64], weights: &[f64]) -> Result<UnimodalFit, StatsError> {
    check_finite(values)?;
    if values.is_empty() {
        return Err(StatsError::TooFew {
            count: 0,
            needed: 1,
        });
    }
    let distance = |fitted: &[f64]| -> f64 {
        let terms = fitted.iter().zip(values).zip(weights);
        terms
            .map(|((fitted, value), weight)| weight * (fitted - value).powi(2))
            .sum()
    };
    let mut closest: Option<(f64, Vec<f64>)> = None;
    for cut in 0..=values.len() {
        let fitted = rising_then_falling(values, weights, cut)?;
        let away = distance(&fitted);
        if closest.as_ref().is_none_or(|(least, _)| away < *least) {
            closest = Some((away, fitted));
        }
    }
    let (_, fitted) = closest.expect("there is at least one cut");
    let peak = (0..values.len())
        .max_by(|&a, &b| {
            let by_fit = fitted[a].total_cmp(&fitted[b]);
            by_fit.then(values[a].total_cmp(&values[b]))
        })
        .expect("there is at least one value");
    Ok(UnimodalFit { fitted, peak })
}

fn rising_then_falling(
    values: &[f64],
    weights: &[f64],
    cut: usize,
) -> Result<Vec<f64>, StatsError> {
    let mut fitted = isotonic_regression(&values[..cut], &weights[..cut])?;
    let negated: Vec<f64> = values[cut..].iter().map(|value| -value).collect();
    let falling = isotonic_regression(&negated, &weights[cut..])?;
    fitted.extend(falling.iter().map(|value| -value));
    Ok(fitted)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn has_one_peak(fitted: &[f64]) -> bool {
        let top = (0..fitted.len())
            .max_by(|&a, &b| fitted[a].total_cmp(&fitted[b]))
            .unwrap();
        fitted[..=top].is_sorted() && fitted[top..].is_sorted_by(|a, b| a >= b)
    }

    #[test]
    fn what_has_one_peak_is_its_own_fit() {
        for values in [
            &[1.0, 2.0, 5.0, 4.0, 4.0][..],
            &[1.0, 2.0],
            &[3.0, 1.0],
            &[7.0],
        ] {
            let fit = unimodal_regression(values, &vec![1.0; values.len()]).unwrap();
            assert_eq!(fit.fitted, values);
        }
        unimodal_regression(&[], &[]).unwrap_err();
    }

    #[test]
    fn the_lower_of_two_peaks_is_levelled() {
        let fit = unimodal_regression(&[1.0, 4.0, 2.0, 9.0, 3.0], &[1.0; 5]).unwrap();
        assert_eq!(fit.fitted, [1.0, 3.0, 3.0, 9.0, 3.0]);
        // A weight says how often a value was seen: now the valley counts more.
        let fit = unimodal_regression(&[1.0, 4.0, 2.0, 9.0, 3.0], &[1.0, 1.0, 3.0, 1.0, 1.0]);
        assert_eq!(fit.unwrap().fitted, [1.0, 2.5, 2.5, 9.0, 3.0]);
    }

    #[test]
    fn a_flat_top_peaks_where_most_was_measured() {
        let fit = unimodal_regression(&[1.0, 5.0, 4.0, 6.0, 5.0, 5.5], &[1.0; 6]).unwrap();
        assert_eq!(fit.peak, 3);
    }

    proptest! {
        #[test]
        fn every_fit_has_one_peak_and_none_such_is_closer(
            values in prop::collection::vec(-10.0..10.0_f64, 1..9),
            mut other in prop::collection::vec(-10.0..10.0_f64, 9),
            top in 0..9_usize,
        ) {
            let fit = unimodal_regression(&values, &vec![1.0; values.len()]).unwrap();
            prop_assert!(has_one_peak(&fit.fitted));
            other.truncate(values.len());
            let top = top.min(values.len() - 1);
            other[..=top].sort_by(f64::total_cmp);
            other[top..].sort_by(|a, b| b.total_cmp(a));
            prop_assume!(has_one_peak(&other));
            let loss = |series: &[f64]| series.iter().zip(&values).map(|(s, v)| (s - v).powi(2)).sum::<f64>();
            prop_assert!(loss(&fit.fitted) <= loss(&other) + 1e-9);
        }
    }
}
