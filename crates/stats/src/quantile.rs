//! Quantiles of the response time, between two order statistics.
//!
//! The number of responses below the true quantile q is binomial(n, q), whatever the distribution
//! of the response time; so two order statistics bound the quantile with a known probability
//! (Conover 1999, "Practical Nonparametric Statistics", section 3.2). Nothing is interpolated and
//! no percentile is ever averaged.

use statrs::distribution::{Binomial, DiscreteCDF};

use crate::error::check_probability;
use crate::{Estimate, Method, StatsError};

/// Fewer independent responses than this have no interval: with the extreme order statistics of a
/// handful, its ends would be whatever the luckiest and the unluckiest response were.
pub const EFFECTIVE_RESPONSES_MIN: u64 = 30;

/// The two order statistics that bound a quantile, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QuantileRanks {
    /// Rank of the lower bound.
    pub lower: u64,
    /// Rank of the upper bound.
    pub upper: u64,
    /// Exact probability that the two cover the quantile; at least the confidence asked for.
    pub coverage: f64,
}

/// Ranks that bound the quantile `q` of `count` independent values.
///
/// Lower rank: the alpha/2 quantile of binomial(n, q); upper rank: its 1 - alpha/2 quantile plus 1.
/// If one of them is not in the sample, the error says how many values it takes.
pub fn quantile_ranks(count: u64, q: f64, confidence: f64) -> Result<QuantileRanks, StatsError> {
    check_probability(q)?;
    check_probability(confidence)?;
    let tail = (1.0 - confidence) / 2.0;
    let binomial = Binomial::new(q, count).expect("q was checked to be a probability");
    let lower = smallest_reaching(&binomial, count, tail);
    let upper = smallest_reaching(&binomial, count, 1.0 - tail) + 1;
    if lower == 0 || upper > count {
        return Err(StatsError::TooFew {
            count,
            needed: count_needed(q, tail),
        });
    }
    Ok(QuantileRanks {
        lower,
        upper,
        coverage: binomial.cdf(upper - 1) - binomial.cdf(lower - 1),
    })
}

/// The binomial quantile: the smallest k with P(at most k) >= `p`.
fn smallest_reaching(binomial: &Binomial, count: u64, p: f64) -> u64 {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        if binomial.cdf(middle) >= p {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

/// The smallest sample whose extreme values bound the quantile: `q^n` and `(1 - q)^n` have to be
/// below the tail.
fn count_needed(q: f64, tail: f64) -> u64 {
    let for_side = |share: f64| (tail.ln() / share.ln()).floor() as u64 + 1;
    for_side(q).max(for_side(1.0 - q))
}

/// Ranks in a sample of `count` values that is worth only `effective_count` independent ones.
///
/// The ranks are found for the smaller number and scaled back.
fn scaled_ranks(
    count: u64,
    effective_count: f64,
    q: f64,
    confidence: f64,
) -> Result<(u64, u64), StatsError> {
    let effective = (effective_count.floor() as u64).clamp(0, count);
    if effective < EFFECTIVE_RESPONSES_MIN {
        return Err(StatsError::TooFewEffective {
            effective: effective_count.clamp(0.0, count as f64),
            needed: EFFECTIVE_RESPONSES_MIN,
        });
    }
    let ranks = quantile_ranks(effective, q, confidence)?;
    let factor = count as f64 / effective as f64;
    let lower = (ranks.lower as f64 * factor).floor() as u64;
    let upper = (ranks.upper as f64 * factor).ceil() as u64;
    Ok((lower.max(1), upper.min(count)))
}

/// The rank of the quantile itself: the ceil(q n)-th smallest value.
fn own_rank(count: u64, q: f64) -> u64 {
    ((q * count as f64).ceil() as u64).clamp(1, count)
}

/// Quantile `q` of a sample in ascending order.
///
/// `effective_count` is the number of independent values the sample is worth: its length if the
/// responses do not depend on each other, else what
/// [`effective_responses`](crate::effective_responses) says; below 30 there is no interval.
pub fn quantile_of_sorted(
    sorted: &[f64],
    effective_count: f64,
    q: f64,
    confidence: f64,
) -> Result<Estimate, StatsError> {
    if let Some(index) = sorted
        .windows(2)
        .position(|pair| pair[0].total_cmp(&pair[1]).is_gt())
    {
        return Err(StatsError::NotSorted { index: index + 1 });
    }
    between_ranks(
        sorted.len() as u64,
        effective_count,
        q,
        confidence,
        |rank| sorted[rank as usize - 1],
    )
}

/// Quantile `q` of a histogram: pairs of a value and how often it occurred, values ascending.
///
/// The answer is as fine as the buckets. `effective_count` as in [`quantile_of_sorted`].
pub fn quantile_of_counts(
    counts: &[(f64, u64)],
    effective_count: f64,
    q: f64,
    confidence: f64,
) -> Result<Estimate, StatsError> {
    if let Some(index) = counts
        .windows(2)
        .position(|pair| pair[0].0.total_cmp(&pair[1].0).is_gt())
    {
        return Err(StatsError::NotSorted { index: index + 1 });
    }
    let cumulated: Vec<u64> = counts
        .iter()
        .scan(0, |sum, &(_, count)| {
            *sum += count;
            Some(*sum)
        })
        .collect();
    let total = cumulated.last().copied().unwrap_or(0);
    between_ranks(total, effective_count, q, confidence, |rank| {
        counts[cumulated.partition_point(|&sum| sum < rank)].0
    })
}

fn between_ranks(
    count: u64,
    effective_count: f64,
    q: f64,
    confidence: f64,
    value_at: impl Fn(u64) -> f64,
) -> Result<Estimate, StatsError> {
    let (lower, upper) = scaled_ranks(count, effective_count, q, confidence)?;
    Ok(Estimate {
        value: value_at(own_rank(count, q)),
        low: value_at(lower),
        high: value_at(upper),
        confidence,
        count,
        method: Method::OrderStatistics,
    })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn counts_and_sorted_values_agree() {
        let counts = [(1.0, 300), (2.0, 500), (5.0, 190), (9.0, 10)];
        let sorted: Vec<f64> = counts
            .iter()
            .flat_map(|&(value, count)| std::iter::repeat_n(value, count as usize))
            .collect();
        for q in [0.1, 0.5, 0.79, 0.81, 0.95] {
            let of_counts = quantile_of_counts(&counts, 1000.0, q, 0.95).unwrap();
            assert_eq!(
                of_counts,
                quantile_of_sorted(&sorted, 1000.0, q, 0.95).unwrap()
            );
        }
    }

    #[test]
    fn too_small_a_sample_says_how_many_it_takes() {
        // 1 - 0.99^n >= 0.975 from n = 368 on.
        let refused = quantile_ranks(100, 0.99, 0.95);
        assert_eq!(
            refused,
            Err(StatsError::TooFew {
                count: 100,
                needed: 368
            })
        );
        assert!(quantile_ranks(368, 0.99, 0.95).is_ok());
        assert_eq!(
            quantile_ranks(367, 0.99, 0.95),
            Err(StatsError::TooFew {
                count: 367,
                needed: 368
            })
        );
    }

    #[test]
    fn correlation_widens_the_interval() {
        let sorted: Vec<f64> = (0..10_000).map(f64::from).collect();
        let independent = quantile_of_sorted(&sorted, 10_000.0, 0.9, 0.95).unwrap();
        let correlated = quantile_of_sorted(&sorted, 1_000.0, 0.9, 0.95).unwrap();
        assert!(correlated.low < independent.low && correlated.high > independent.high);
        assert!((correlated.value - independent.value).abs() < 1e-12);
    }

    #[test]
    fn a_sample_that_is_worth_little_is_refused() {
        let sorted: Vec<f64> = (0..10_000).map(f64::from).collect();
        assert_eq!(
            quantile_of_sorted(&sorted, 29.9, 0.5, 0.95),
            Err(StatsError::TooFewEffective {
                effective: 29.9,
                needed: 30
            })
        );
        quantile_of_sorted(&sorted, 30.0, 0.5, 0.95).unwrap();
    }

    #[test]
    fn an_unsorted_sample_is_refused() {
        assert_eq!(
            quantile_of_sorted(&[1.0, 3.0, 2.0], 3.0, 0.5, 0.5),
            Err(StatsError::NotSorted { index: 2 })
        );
    }
}
