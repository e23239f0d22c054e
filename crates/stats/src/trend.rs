//! Whether a series still drifts: Mann and Kendall's test with Theil and Sen's slope.
//!
//! Both use only the order of the values (Mann 1945; Sen 1968, "Estimates of the regression
//! coefficient based on Kendall's tau"), so a single stall does not look like a drift.

use statrs::distribution::{ContinuousCDF, Normal};

use crate::StatsError;
use crate::autocorrelation::autocorrelation;
use crate::error::check_finite;
use crate::student::mean;

/// The series is compared as the means of at most this many batches.
const BATCHES_MAX: usize = 20;
/// Fewer batches than this cannot reach a small probability: with 5, the smallest possible one is
/// about 0.03.
const BATCHES_MIN: usize = 6;

/// The drift of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trend {
    /// Kendall's tau between time and value, from -1 to 1.
    pub tau: f64,
    /// Probability of such a tau or a larger one without any drift (two-sided).
    pub probability: f64,
    /// Change from the first to the last batch along the Theil-Sen line, relative to the median
    /// batch.
    pub relative_change: f64,
}

/// Tests `series` for drift on (at most 20) batch means.
///
/// The variance of Mann and Kendall's statistic is multiplied by `(1 + r) / (1 - r)`, r being the
/// lag-1 correlation of what is left of the batch means after the line is taken out, plus 1/n for
/// its bias (only if positive): correlated noise drifts by itself.
pub fn trend(series: &[f64]) -> Result<Trend, StatsError> {
    check_finite(series)?;
    if series.len() < BATCHES_MIN {
        return Err(StatsError::TooFew {
            count: series.len() as u64,
            needed: BATCHES_MIN as u64,
        });
    }
    let size = series.len().div_ceil(BATCHES_MAX);
    // The remainder is dropped at the start, where a rest of the warm-up would be.
    let batches: Vec<f64> = series[series.len() % size..]
        .chunks_exact(size)
        .map(mean)
        .collect();
    let slope = theil_sen_slope(&batches);
    let residuals: Vec<f64> = batches
        .iter()
        .enumerate()
        .map(|(i, value)| value - slope * i as f64)
        .collect();
    let inflation = correlation_inflation(&residuals);
    let count = batches.len() as f64;
    let score = mann_kendall_score(&batches);
    let deviation = (mann_kendall_variance(&batches) * inflation).sqrt();
    let z = if deviation > 0.0 {
        (score.abs() - 1.0).max(0.0) / deviation
    } else {
        0.0
    };
    let normal = Normal::standard();
    Ok(Trend {
        tau: score / (count * (count - 1.0) / 2.0),
        probability: (2.0 * normal.sf(z)).min(1.0),
        relative_change: relative(slope * (count - 1.0), median(batches)),
    })
}

fn correlation_inflation(residuals: &[f64]) -> f64 {
    let r = (autocorrelation(residuals, 1) + 1.0 / residuals.len() as f64).clamp(0.0, 0.9);
    (1.0 + r) / (1.0 - r)
}

fn relative(change: f64, centre: f64) -> f64 {
    if change == 0.0 {
        0.0
    } else {
        change / centre.abs()
    }
}

/// Number of pairs that rise minus number of pairs that fall.
fn mann_kendall_score(values: &[f64]) -> f64 {
    let pairs = values
        .iter()
        .enumerate()
        .flat_map(|(i, early)| values[i + 1..].iter().map(move |late| late - early));
    pairs
        .map(|rise| if rise == 0.0 { 0.0 } else { rise.signum() })
        .sum()
}

/// Variance of the score without drift, corrected for groups of equal values (Kendall 1975).
fn mann_kendall_variance(values: &[f64]) -> f64 {
    let term = |n: f64| n * (n - 1.0) * (2.0 * n + 5.0);
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let ties: f64 = sorted
        .chunk_by(|a, b| a.total_cmp(b).is_eq())
        .map(|group| term(group.len() as f64))
        .sum();
    (term(values.len() as f64) - ties) / 18.0
}

/// Median slope of all pairs, per batch.
fn theil_sen_slope(values: &[f64]) -> f64 {
    let slopes = values.iter().enumerate().flat_map(|(i, early)| {
        values[i + 1..]
            .iter()
            .enumerate()
            .map(move |(gap, late)| (late - early) / (gap + 1) as f64)
    });
    median(slopes.collect())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 {
        values[middle]
    } else {
        f64::midpoint(values[middle - 1], values[middle])
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn ten_rising_values_by_hand() {
        // All 45 pairs rise; variance 10*9*25/18 = 125, times (1 + 0.1)/(1 - 0.1) for the bias 1/n
        // of the lag-1 correlation; z = 44/sqrt(152.78) = 3.5598; two-sided p = 3.712e-4.
        let found = trend(&(0..10).map(|i| 100.0 + f64::from(i)).collect::<Vec<_>>()).unwrap();
        assert!((found.tau - 1.0).abs() < 1e-12);
        assert!(
            (found.probability - 3.712e-4).abs() < 1e-7,
            "{}",
            found.probability
        );
        assert!((found.relative_change - 9.0 / 104.5).abs() < 1e-12);
    }

    #[test]
    fn one_stall_is_no_drift() {
        let mut series: Vec<f64> = (0..60).map(|i| 50.0 + f64::from(i * 7 % 5)).collect();
        series[58] = 0.0;
        assert!(trend(&series).unwrap().probability > 0.05);
    }

    #[test]
    fn a_constant_series_has_no_drift() {
        let found = trend(&[0.0; 20]).unwrap();
        assert!((found.probability - 1.0).abs() < 1e-12);
        assert!(found.relative_change.abs() < 1e-12);
    }
}
