//! Mean of a correlated series, from the spread of the means of batches.
//!
//! Neighbouring seconds of a trial resemble each other, so the plain standard error of their mean
//! is too small. Means of long enough batches are nearly independent; how long is found from the
//! series itself.
//!
//! **Measured coverage** of the nominal 95 % interval of [`mean_of_series`] over 4,000 first-order
//! autoregressive series each, from `cargo run -p weir-stats --release --example coverage`:
//!
//! | lag-1 correlation | 15 bins | 20 | 30 | 60 | 120 | 300 | 900 |
//! |---|---|---|---|---|---|---|---|
//! | 0 | 96.5 % | 96.1 | 96.1 | 96.6 | 96.4 | 95.8 | 95.8 |
//! | 0.3 | 92.0 | 92.5 | 93.4 | 95.0 | 95.4 | 95.2 | 95.5 |
//! | 0.5 | 87.8 | 90.4 | 91.8 | 93.5 | 94.6 | 95.0 | 95.3 |
//! | 0.8 | 75.2 | 80.9 | 84.7 | 90.2 | 92.8 | 93.3 | 94.7 |
//! | 0.95 | 49.6 | 58.0 | 63.6 | 74.3 | 84.0 | 89.1 | 93.5 |
//!
//! and the share of these that [`Support::Refused`] marks:
//!
//! | lag-1 correlation | 15 bins | 20 | 30 | 60 | 120 | 300 | 900 |
//! |---|---|---|---|---|---|---|---|
//! | 0 | 8 % | 2 | 0 | 0 | 0 | 0 | 0 |
//! | 0.3 | 29 | 13 | 3 | 2 | 1 | 0 | 0 |
//! | 0.5 | 53 | 32 | 12 | 13 | 13 | 0 | 0 |
//! | 0.8 | 80 | 73 | 56 | 79 | 95 | 24 | 0 |
//! | 0.95 | 88 | 86 | 81 | 97 | 100 | 99 | 61 |
//!
//! A refusal does not make the others better: a strongly correlated series that slips through looks
//! less correlated than it is. It is a reason to lengthen the window, not a filter.
//! [`Support::Enough`] is one: it asks for 30 effective values with the correlation raised by its
//! own error, so that what passes is seldom a series that only looks long. The example `decisions`
//! measures what such intervals cover (docs/validation/statistics.md).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::autocorrelation::{autocorrelation, autocorrelation_time, autocorrelation_time_at_most};
use crate::error::{check_finite, check_probability};
use crate::student::{mean, two_sided, variance};
use crate::{Estimate, Method, StatsError};

/// The adaptive interval starts from at most this many batches (methods of sequential batch means
/// start at 32 or more so that the lag-1 test below has some power).
const BATCHES_START: usize = 32;
/// And never goes below this many: Schmeiser (1982), "Batch size effects in the analysis of
/// simulation output", finds nothing gained by more than 30 and much lost by fewer than about 10; 8
/// is what halving from 32 allows.
const BATCHES_MIN: usize = 8;
/// Fewest bins from which an interval is given at all.
const BINS_MIN: usize = BATCHES_MIN;
/// The lag-1 correlation of k independent values exceeds 1.32/sqrt(k) with a probability of about 9
/// %.
const CORRELATION_LIMIT: f64 = 1.32;
/// Largest correlation that the interval is corrected for; above it, the factor would be guesswork.
const CORRELATION_MAX: f64 = 0.9;
/// This many independent values carry a mean in any window.
const EFFECTIVE_ENOUGH: f64 = 30.0;
/// A window of fewer than 120 bins need not reach 30; it has to be worth this share of its bins …
const EFFECTIVE_SHARE_MIN: f64 = 0.25;
/// … and at least this many independent values, below which the coverage falls under 90 % (see the
/// table above).
const EFFECTIVE_MIN: f64 = 8.0;

/// Equal batches of a series, their mean and its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BatchMeans {
    /// Mean over all batches, with an interval that takes the batches as independent.
    pub estimate: Estimate,
    /// How many batches.
    pub batches: usize,
    /// How many bins in each; what is left over at the end of the series is not used.
    pub size: usize,
    /// Lag-1 correlation between the batch means.
    pub correlation: f64,
}

/// Mean and interval from a fixed number of batches of `floor(n / batches)` bins.
pub fn batch_means(
    series: &[f64],
    batches: usize,
    confidence: f64,
) -> Result<BatchMeans, StatsError> {
    check_probability(confidence)?;
    check_finite(series)?;
    let count = series.len();
    if batches < 2 || count < batches {
        return Err(StatsError::TooFew {
            count: count as u64,
            needed: batches.max(2) as u64,
        });
    }
    let size = count / batches;
    let means: Vec<f64> = series.chunks_exact(size).take(batches).map(mean).collect();
    let standard_error = (variance(&means) / batches as f64).sqrt();
    let half_width = two_sided(confidence, batches as f64 - 1.0) * standard_error;
    let estimate = Estimate::symmetric(
        mean(&means),
        half_width,
        confidence,
        count,
        Method::BatchMeans,
    );
    Ok(BatchMeans {
        estimate,
        batches,
        size,
        correlation: autocorrelation(&means, 1),
    })
}

/// The mean of a series, and whether the series is long enough to believe it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct SeriesMean {
    /// Mean over all bins with its interval.
    pub estimate: Estimate,
    /// How many independent bins the series is worth: bins over the autocorrelation time.
    pub effective_count: f64,
    /// Integrated autocorrelation time in bins, 1 for independent bins.
    pub autocorrelation_time: f64,
    /// How many batches the interval was made from.
    pub batches: usize,
    /// Whether that is enough.
    pub support: Support,
}

/// Whether a series carries its mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Support {
    /// At least 30 independent values, also if the correlation is somewhat stronger than it looks.
    Enough,
    /// Perhaps fewer than 30, but at least 8 and a quarter of the bins. The interval nearly holds;
    /// a decision should lean on the spread between trials.
    Short,
    /// So few independent values that the interval is too narrow. The window has to be longer, or
    /// the trial is refused.
    Refused,
}

/// Mean of a correlated series by batch means whose number adapts to the correlation.
///
/// Starts with at most 32 batches; while the lag-1 correlation r of k batch means exceeds
/// 1.32/sqrt(k) and k/2 is at least 8, k is halved. What correlation is left widens the interval by
/// `sqrt((1 + r) / (1 - r))`, r corrected by 1/k for bias and held between 0 and 0.9. Short windows
/// start with batches of a single bin, since batches of 5 would leave too few of them for any
/// interval; at least 8 bins are needed.
pub fn mean_of_series(series: &[f64], confidence: f64) -> Result<SeriesMean, StatsError> {
    let count = series.len();
    if count < BINS_MIN {
        return Err(StatsError::TooFew {
            count: count as u64,
            needed: BINS_MIN as u64,
        });
    }
    let mut batched = batch_means(series, count / count.div_ceil(BATCHES_START), confidence)?;
    while batched.correlation > CORRELATION_LIMIT / (batched.batches as f64).sqrt()
        && batched.batches / 2 >= BATCHES_MIN
    {
        batched = batch_means(series, batched.batches / 2, confidence)?;
    }
    let left = (batched.correlation + 1.0 / batched.batches as f64).clamp(0.0, CORRELATION_MAX);
    let half_width = batched.estimate.half_width() * ((1.0 + left) / (1.0 - left)).sqrt();
    let autocorrelation_time = autocorrelation_time(series);
    let effective_count = count as f64 / autocorrelation_time;
    Ok(SeriesMean {
        estimate: Estimate::symmetric(
            mean(series),
            half_width,
            confidence,
            count,
            Method::BatchMeans,
        ),
        effective_count,
        autocorrelation_time,
        batches: batched.batches,
        support: support(
            count,
            effective_count,
            count as f64 / autocorrelation_time_at_most(series),
        ),
    })
}

fn support(count: usize, effective_count: f64, effective_at_least: f64) -> Support {
    let short = (EFFECTIVE_SHARE_MIN * count as f64).max(EFFECTIVE_MIN);
    if effective_at_least >= EFFECTIVE_ENOUGH {
        Support::Enough
    } else if effective_count >= short.min(EFFECTIVE_ENOUGH) {
        Support::Short
    } else {
        Support::Refused
    }
}
