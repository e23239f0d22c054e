//! How much a series repeats itself, and how many independent values it is worth.

use crate::student::mean;

/// A lag-1 correlation above this is that of a series that hardly moves; its time is as good as
/// infinite.
const LAG_1_MAX: f64 = 0.999;

/// Autocorrelation of `series` at `lag`, with the divisor n at every lag; 0 for a constant or too
/// short series.
pub fn autocorrelation(series: &[f64], lag: usize) -> f64 {
    if lag >= series.len() {
        return 0.0;
    }
    let centre = mean(series);
    let total: f64 = series.iter().map(|value| (value - centre).powi(2)).sum();
    if total <= 0.0 {
        return 0.0;
    }
    let shared: f64 = series
        .iter()
        .zip(&series[lag..])
        .map(|(early, late)| (early - centre) * (late - centre))
        .sum();
    shared / total
}

/// Integrated autocorrelation time `1 + 2 * (rho_1 + rho_2 + ...)`, in bins and at least 1.
///
/// `series.len() / autocorrelation_time(series)` is the number of independent values with the same
/// spread of the mean. The sum ends before the first pair of neighbouring lags whose sum is not
/// positive: for a reversible process such pairs are positive, so what follows is noise (Geyer
/// 1992, "Practical Markov chain Monte Carlo", initial positive sequence). Each lag is first
/// corrected for the bias of about `-1/n` that comes from using the sample's own mean, and
/// a pair has to exceed one standard error `sqrt(2/n)`: without that, every second short series of
/// independent values would look correlated.
pub fn autocorrelation_time(series: &[f64]) -> f64 {
    let count = series.len();
    if count < 4 {
        return 1.0;
    }
    let bias = 1.0 / count as f64;
    let noise = (2.0 / count as f64).sqrt();
    let mut time = 1.0;
    for lag in (1..count / 2).step_by(2) {
        let pair = autocorrelation(series, lag) + autocorrelation(series, lag + 1) + 2.0 * bias;
        if pair <= noise {
            break;
        }
        time += 2.0 * pair;
    }
    time
}

/// An autocorrelation time that is seldom too small; for the question whether a series is long
/// enough.
///
/// The time above is the best single value, and of a strongly correlated series it is too small in
/// every second case: just such a case would pass for a long series. So the time of a first-order
/// autoregressive series is worked out with the lag-1 correlation corrected for its bias of `-(1 +
/// 3 r) / n` (Kendall 1954, "Note on bias in the estimation of autocorrelation") and raised by one
/// standard error `sqrt((1 - r^2) / n)`, `(1 + r) / (1 - r)`, and the larger of the two counts.
pub(crate) fn autocorrelation_time_at_most(series: &[f64]) -> f64 {
    let count = series.len() as f64;
    let found = autocorrelation(series, 1);
    let unbiased = (found + (1.0 + 3.0 * found) / count).clamp(-1.0, 1.0);
    let raised = (unbiased + ((1.0 - unbiased.powi(2)) / count).sqrt()).clamp(0.0, LAG_1_MAX);
    autocorrelation_time(series).max((1.0 + raised) / (1.0 - raised))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alternating_series_is_anticorrelated() {
        let series: Vec<f64> = (0..100)
            .map(|i| if i % 2 == 0 { 1.0 } else { -1.0 })
            .collect();
        assert!((autocorrelation(&series, 1) + 0.99).abs() < 1e-12);
        assert!((autocorrelation_time(&series) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_constant_or_empty_series_has_none() {
        assert!(autocorrelation(&[3.0; 10], 1).abs() < 1e-12);
        assert!(autocorrelation(&[], 1).abs() < 1e-12);
        assert!((autocorrelation_time(&[3.0; 10]) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn blocks_of_ten_equal_values_are_worth_a_tenth() {
        // A fixed sequence of 200 values in 0..1 (multiples of the golden ratio), each repeated ten
        // times.
        let series: Vec<f64> = (0..2000)
            .map(|i| (f64::from(i / 10) * 0.618_033_988_75).fract())
            .collect();
        let time = autocorrelation_time(&series);
        assert!((5.0..15.0).contains(&time), "{time}");
    }
}
