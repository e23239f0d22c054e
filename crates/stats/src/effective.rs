//! How many independent responses a sample of responses is worth for one of its quantiles.
//!
//! In a bad second all responses are slow: they wait in one queue. A sample of 10,000 responses
//! from 60 seconds may be worth a few hundred, and an interval that takes it for 10,000 is too
//! narrow by far. What it is worth follows from how much the seconds differ: were the responses
//! independent, the share of them below the quantile would scatter between seconds as a binomial
//! one, and not more (the design effect of cluster samples; Kish 1965, "Survey Sampling", section
//! 5.4; seconds that resemble each other lower it further by the autocorrelation time).

use crate::autocorrelation::autocorrelation_time;
use crate::student::variance;

/// The responses of one bin, for example of one second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BinShare {
    /// How many of them are at most the quantile's value.
    pub below: u64,
    /// How many there are.
    pub of: u64,
}

/// How many independent responses would know the quantile as well as these bins do; at most as many
/// as there are.
///
/// With p the share below in all bins, N responses in T bins and r the counts below less p times
/// the counts: `p (1 - p) N^2 / (T Var(r) tau)`, tau being the autocorrelation time of r. Where
/// fewer than two bins or no spread tell nothing, the number of responses comes back.
pub fn effective_responses(bins: &[BinShare]) -> f64 {
    let total: u64 = bins.iter().map(|bin| bin.of).sum();
    let all = total as f64;
    if bins.len() < 2 || total == 0 {
        return all;
    }
    let share = bins.iter().map(|bin| bin.below).sum::<u64>() as f64 / all;
    let surplus: Vec<f64> = bins
        .iter()
        .map(|bin| bin.below as f64 - share * bin.of as f64)
        .collect();
    let of_sum = bins.len() as f64 * variance(&surplus) * autocorrelation_time(&surplus);
    if of_sum > 0.0 {
        (share * (1.0 - share) * all * all / of_sum).min(all)
    } else {
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A fixed sequence of values in 0..1 (multiples of the golden ratio) that do not resemble
    /// their neighbours.
    fn mixed(count: u32) -> impl Iterator<Item = f64> {
        (0..count).map(|i| (f64::from(i) * 0.618_033_988_75).fract())
    }

    #[test]
    fn responses_that_are_alike_within_a_bin_are_worth_one() {
        let bins: Vec<BinShare> = mixed(200)
            .map(|value| BinShare {
                below: if value < 0.5 { 50 } else { 0 },
                of: 50,
            })
            .collect();
        let worth = effective_responses(&bins);
        assert!((150.0..=260.0).contains(&worth), "{worth}");
    }

    #[test]
    fn bins_that_do_not_differ_leave_the_count() {
        let bins = [BinShare { below: 9, of: 10 }; 60];
        assert!((effective_responses(&bins) - 600.0).abs() < 1e-9);
        assert!((effective_responses(&bins[..1]) - 10.0).abs() < 1e-9);
        assert!(effective_responses(&[]).abs() < 1e-9);
    }
}
