//! Pairs of trials until it is known whether two treatments are the same, different, or not to be
//! told apart.
//!
//! Trials are dear, so the data are looked at as they grow: after 4, 8, 16 and 24 pairs. Every look
//! is a chance to be wrong, so each gets a level smaller than 5 %. Pocock's constant for four looks
//! (0.0182, one-sided) keeps 5 % for normal data of known variance; with the variance estimated
//! from four pairs it does not quite. 0.0155 does, see the table.
//!
//! **Measured**, 20,000 studies each (`cargo xtask bench statistics`): per cent called same /
//! different, and in brackets the mean number of pairs; the rest is undecided. Noise is the
//! relative standard deviation of one trial:
//!
//! | margin | noise | no difference | half the margin | at the margin | twice the margin |
//! |---|---|---|---|---|---|
//! | 3 % | 1 % | 100 / 0.0 (6.1) | 98.7 / 1.1 (10.1) | 4.4 / 71.8 (12.4) | 0.0 / 100 (4.2) |
//! | 3 % | 2 % | 98.8 / 0.7 (13.4) | 65.0 / 7.3 (17.6) | 4.4 / 66.1 (15.1) | 0.0 / 100 (6.4) |
//! | 3 % | 3 % | 74.0 / 2.4 (20.1) | 34.2 / 12.1 (20.8) | 3.6 / 60.3 (17.8) | 0.1 / 99.9 (9.1) |
//! | 3 % | 4 % | 26.8 / 4.1 (22.8) | 13.7 / 13.4 (22.3) | 2.3 / 50.4 (20.0) | 0.1 / 99.1 (12.2) |
//! | 3 % | 6 % | 0.6 / 5.0 (23.3) | 0.5 / 9.6 (23.1) | 0.3 / 26.3 (22.0) | 0.1 / 80.8 (17.3) |
//! | 5 % | 1 % | 100 / 0.0 (4.3) | 100 / 0.0 (6.2) | 4.4 / 74.3 (11.1) | 0.0 / 100 (4.0) |
//! | 5 % | 2 % | 100 / 0.0 (7.2) | 95.7 / 2.1 (12.3) | 4.4 / 70.6 (13.0) | 0.0 / 100 (4.6) |
//! | 5 % | 4 % | 93.4 / 1.3 (16.6) | 49.5 / 9.5 (19.2) | 4.1 / 63.8 (16.3) | 0.0 / 100 (7.4) |
//! | 5 % | 6 % | 43.0 / 3.4 (22.2) | 20.6 / 13.4 (21.9) | 2.8 / 54.8 (19.3) | 0.1 / 99.8 (11.1) |
//!
//! So neither claim is false more often than in one study of twenty, whatever the noise; what noise
//! costs is the answer.
//!
//! Assumed: pairs that do not depend on each other, noise about normal on the logarithmic scale.
//! When trials fall into two kinds (a code path compiled in one process and not in the other), 24
//! pairs are too few for the intervals to hold.

use crate::{Equivalence, LogRatio, Margin, StatsError, Verdict};

/// After so many pairs it is looked.
pub const LOOKS: [usize; 4] = [4, 8, 16, 24];
/// Most pairs.
pub const PAIRS_MAX: usize = LOOKS[LOOKS.len() - 1];
/// The level of each look, for either claim.
pub const LOOK_LEVEL: f64 = 0.0155;

/// Where a comparison by pairs stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Progress {
    /// More pairs are needed to say anything.
    More {
        /// The next look is after so many pairs in all.
        until: usize,
    },
    /// It is over; the verdict may be that nothing can be told.
    Over(Equivalence),
}

/// Looks at pairs (A, B) in the order in which they ran.
///
/// The looks that are past are looked at again, so that the answer only depends on the pairs: what
/// was decided stays decided, also when more pairs are given.
///
/// ```
/// use weir_stats::{Margin, Progress, Verdict, sequential_equivalence};
///
/// let margin = Margin::new(0.03)?;
/// let mut pairs = vec![(100.0, 100.4), (101.0, 100.7), (99.5, 99.9)];
/// assert_eq!(sequential_equivalence(&pairs, margin)?, Progress::More { until: 4 });
/// pairs.push((100.2, 100.1));
/// let Progress::Over(found) = sequential_equivalence(&pairs, margin)? else { panic!("decided") };
/// assert_eq!(found.verdict, Verdict::Same);
/// # Ok::<(), weir_stats::StatsError>(())
/// ```
pub fn sequential_equivalence(
    pairs: &[(f64, f64)],
    margin: Margin,
) -> Result<Progress, StatsError> {
    for look in LOOKS {
        let Some(seen) = pairs.get(..look) else {
            return Ok(Progress::More { until: look });
        };
        let found = LogRatio::of_pairs(seen)?.equivalence(margin, LOOK_LEVEL)?;
        if found.verdict != Verdict::Undecided || look == PAIRS_MAX {
            return Ok(Progress::Over(found));
        }
    }
    unreachable!("the last look is always over")
}

/// Pairs that one look needs to show that two equal treatments are the same, in nine studies of
/// ten; for planning.
///
/// `n = 2 sigma^2 (z_0.95 + z_0.95)^2 / ln(1 + margin)^2`, `noise` being the relative standard
/// deviation of one trial.
pub fn pairs_to_plan(noise: f64, margin: Margin) -> usize {
    const Z: f64 = 1.644_853_626_951_472_2;
    let pairs = 2.0 * (noise * 2.0 * Z / margin.log()).powi(2);
    pairs.ceil().max(2.0) as usize
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    fn margin() -> Margin {
        Margin::new(0.03).unwrap()
    }

    #[test]
    fn what_was_decided_stays_decided() {
        let mut pairs: Vec<(f64, f64)> = (0..4)
            .map(|i| (100.0, 110.0 + 0.1 * f64::from(i)))
            .collect();
        let Progress::Over(at_four) = sequential_equivalence(&pairs, margin()).unwrap() else {
            panic!("ten per cent are seen in four pairs")
        };
        assert_eq!(at_four.verdict, Verdict::Different);
        pairs.extend([(100.0, 90.0); 20]);
        assert_eq!(
            sequential_equivalence(&pairs, margin()).unwrap(),
            Progress::Over(at_four)
        );
    }

    #[test]
    fn noise_ends_undecided_after_the_last_look() {
        let pair = |i: usize| {
            let factor = if i.is_multiple_of(2) { 1.2 } else { 1.0 / 1.2 };
            (100.0, 100.0 * factor)
        };
        let pairs: Vec<(f64, f64)> = (0..PAIRS_MAX).map(pair).collect();
        for (count, until) in [(0, 4), (4, 8), (8, 16), (23, 24)] {
            assert_eq!(
                sequential_equivalence(&pairs[..count], margin()).unwrap(),
                Progress::More { until }
            );
        }
        let Progress::Over(found) = sequential_equivalence(&pairs, margin()).unwrap() else {
            panic!("24 pairs are all there are")
        };
        assert_eq!(found.verdict, Verdict::Undecided);
    }

    #[test]
    fn planning_agrees_with_its_formula() {
        // 2 * 0.02^2 * (2 * 1.6449)^2 / 0.029559^2 = 9.9.
        assert_eq!(pairs_to_plan(0.02, margin()), 10);
        assert_eq!(pairs_to_plan(0.0001, margin()), 2);
    }
}
