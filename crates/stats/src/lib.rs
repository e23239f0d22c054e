//! Estimates with intervals, warm-up detection and crossing fits.
//!
//! This crate turns series and trials into numbers that carry their own doubt: an [`Estimate`] has
//! a value, both ends of an interval, the confidence, the count behind it and the method. It owns
//! no clock, reads nothing and draws no random number, so the same input always gives the same
//! answer.
//!
//! The way of one trial through it:
//!
//! 1. [`warm_up`] says from which bin on the trial is in its steady state, or why it is not;
//! 2. [`mean_of_series`] gives the mean of a response over the rest, with an interval that allows
//!    for autocorrelation;
//! 3. [`quantile_of_sorted`] and [`quantile_of_counts`] do the same for quantiles of the response
//!    time, [`proportion`] for a share of errors;
//!
//! and of several trials:
//!
//! 4. [`between_trial_spread`] says how much two trials of one treatment differ;
//! 5. [`Crossing::fit`] finds the level at which a response meets its target, [`IsotonicFit`]
//!    checks it without a model;
//! 6. [`Blocks`] compares treatments that ran side by side, with each other and with the best of
//!    them; [`unimodal_regression`] says where the best has to be looked for;
//! 7. [`LogRatio`] compares two treatments: the same for every purpose, different, or not to be
//!    told; with pairs that come one after the other [`sequential_equivalence`] says when to stop;
//! 8. [`Drift`] says whether the machine changed meanwhile, [`UslFit`] what curve throughput
//!    follows, and when it follows none.
//!
//! ```
//! use weir_stats::{mean_of_series, Support};
//!
//! let throughput: Vec<f64> = (0..120).map(|second| 50.0 + f64::from(second * 7 % 5)).collect();
//! let mean = mean_of_series(&throughput, 0.95)?;
//! assert_eq!(mean.support, Support::Enough);
//! assert!(mean.estimate.contains(52.0));
//! # Ok::<(), weir_stats::StatsError>(())
//! ```

mod autocorrelation;
mod batch_means;
mod best;
mod blocks;
mod crossing;
mod drift;
mod effective;
mod equivalence;
mod error;
mod estimate;
mod isotonic;
mod least_squares;
mod margin;
mod proportion;
mod quantile;
mod rising_crossing;
mod sequential;
mod spread;
mod student;
mod trend;
mod two_estimates;
mod unimodal;
mod usl;
mod warmup;

pub use autocorrelation::{autocorrelation, autocorrelation_time};
pub use batch_means::{BatchMeans, SeriesMean, Support, batch_means, mean_of_series};
pub use best::Family;
pub use blocks::Blocks;
pub use crossing::{Crossing, ExpectedSlope, NEAR, Point};
pub use drift::Drift;
pub use effective::{BinShare, effective_responses};
pub use equivalence::{Equivalence, LogRatio, Verdict};
pub use error::StatsError;
pub use estimate::{Estimate, Method};
pub use isotonic::{IsotonicFit, isotonic_regression};
pub use margin::Margin;
pub use proportion::proportion;
pub use quantile::{
    EFFECTIVE_RESPONSES_MIN, QuantileRanks, quantile_of_counts, quantile_of_sorted, quantile_ranks,
};
pub use rising_crossing::rising_crossing;
pub use sequential::{
    LOOK_LEVEL, LOOKS, PAIRS_MAX, Progress, pairs_to_plan, sequential_equivalence,
};
pub use spread::{Observation, SPREAD_FLOOR, Spread, between_trial_spread};
pub use student::{mean_of_independent, student_cdf, student_quantile};
pub use trend::{Trend, trend};
pub use two_estimates::{difference_of_estimates, ratio_of_estimates};
pub use unimodal::{UnimodalFit, unimodal_regression};
pub use usl::{LackOfFit, NoPeak, Usl, UslFit};
pub use warmup::{Mser, NotSteady, Signal, Signals, WarmUp, guard_bins, mser5, warm_up};
