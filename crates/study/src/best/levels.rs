//! Which levels are worth a trial: the ladder at the outset, finer steps where it counts, and those
//! that contend.
//!
//! Throughput against the size of a pool or the number of threads rises, bends and stays or falls:
//! a curve with one peak, whose interesting part may lie at 4 or at 200. So the ladder is
//! logarithmic, and the curve through the trials is the closest one with one peak; no other form is
//! assumed.

use std::collections::BTreeMap;

use weir_stats::unimodal_regression;

/// Each step of the ladder multiplies the level by this.
const STEP: u32 = 2;
/// Two levels closer than this are one for every purpose.
const CLOSE: f64 = 1.2;
/// A level that is expected to lose more than so many margins has no chance.
const CHANCE: f64 = 2.0;

/// What a search is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Aim {
    /// The best level.
    Best,
    /// The smallest level that is not worse than the best by the margin.
    SmallestNearBest,
}

/// The levels of the first trials, both ends of the range included.
pub(crate) fn ladder((low, high): (u32, u32)) -> Vec<u32> {
    let steps = std::iter::successors(Some(low), |level| level.checked_mul(STEP));
    let mut levels: Vec<u32> = steps
        .take_while(|&level| level == low || f64::from(level) * CLOSE < f64::from(high))
        .collect();
    levels.push(high);
    levels
}

/// The curve with one peak through all that was tried.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Curve {
    levels: Vec<u32>,
    fitted: Vec<f64>,
    peak: usize,
    margin: f64,
}

impl Curve {
    /// From logarithms of what was measured, more being better; `None` when nothing was. The margin
    /// is one of logarithms too.
    pub(crate) fn of(tried: &BTreeMap<u32, Vec<f64>>, margin: f64) -> Option<Self> {
        let mean = |values: &Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
        let means: Vec<f64> = tried.values().map(mean).collect();
        let weights: Vec<f64> = tried.values().map(|values| values.len() as f64).collect();
        let fit = unimodal_regression(&means, &weights).ok()?;
        Some(Self {
            levels: tried.keys().copied().collect(),
            fitted: fit.fitted,
            peak: fit.peak,
            margin,
        })
    }

    /// Every level with its fitted value.
    pub(crate) fn points(&self) -> impl Iterator<Item = (u32, f64)> {
        self.levels.iter().copied().zip(self.fitted.iter().copied())
    }

    /// Levels between those that were tried, where the peak and the edge of its plateau may lie.
    pub(crate) fn finer(&self) -> Vec<u32> {
        let gaps = [
            self.edge().checked_sub(1),
            self.peak.checked_sub(1),
            Some(self.peak),
        ];
        let mut finer: Vec<u32> = gaps
            .into_iter()
            .flatten()
            .filter_map(|gap| between(*self.levels.get(gap)?, *self.levels.get(gap + 1)?))
            .collect();
        finer.sort_unstable();
        finer.dedup();
        finer
    }

    /// The levels that contend for the best: the peak, what lies beside it, the edge of the
    /// plateau, and the largest level that may still be on it.
    pub(crate) fn contenders(&self) -> Vec<u32> {
        let far = self.reaches(CHANCE * self.margin).next_back();
        let mut at: Vec<usize> = [
            self.peak.checked_sub(1),
            Some(self.edge()),
            Some(self.peak + 1),
            Some(self.peak),
            far,
        ]
        .into_iter()
        .flatten()
        .filter(|&at| at < self.levels.len())
        .collect();
        at.sort_unstable();
        at.dedup();
        at.into_iter().map(|at| self.levels[at]).collect()
    }

    /// Where the curve first comes within the margin of its peak.
    fn edge(&self) -> usize {
        self.reaches(self.margin).next().unwrap_or(self.peak)
    }

    /// Where the curve lies at most so far below its peak.
    fn reaches(&self, below: f64) -> impl DoubleEndedIterator<Item = usize> {
        let least = self.fitted[self.peak] - below;
        (0..self.levels.len()).filter(move |&at| self.fitted[at] >= least)
    }
}

/// The geometric mean of two levels, if it is worth a trial of its own.
pub(crate) fn between(low: u32, high: u32) -> Option<u32> {
    let middle = (f64::from(low) * f64::from(high)).sqrt().round() as u32;
    let apart = f64::from(high) / f64::from(low) > CLOSE;
    (apart && low < middle && middle < high).then_some(middle)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(points: &[(u32, f64)]) -> Curve {
        let tried = points
            .iter()
            .map(|&(level, throughput)| (level, vec![throughput.ln()]))
            .collect();
        Curve::of(&tried, 0.05).expect("something was tried")
    }

    #[test]
    fn a_ladder_doubles_and_has_both_ends() {
        assert_eq!(ladder((1, 400)), [1, 2, 4, 8, 16, 32, 64, 128, 256, 400]);
        assert_eq!(ladder((1, 270)), [1, 2, 4, 8, 16, 32, 64, 128, 270]);
        assert_eq!(ladder((3, 4)), [3, 4]);
        assert_eq!(ladder((5, 20)), [5, 10, 20]);
    }

    #[test]
    fn finer_levels_lie_beside_the_peak_and_at_the_edge() {
        let peak = curve(&[(1, 10.0), (4, 40.0), (16, 60.0), (64, 50.0)]);
        assert_eq!(peak.finer(), [8, 32]);
        let plateau = curve(&[(1, 10.0), (2, 20.0), (8, 58.0), (32, 60.0), (128, 59.0)]);
        assert_eq!(plateau.finer(), [4, 16, 64]);
        assert_eq!(curve(&[(7, 1.0), (8, 2.0)]).finer(), [0; 0]);
    }

    #[test]
    fn on_a_plateau_its_edge_its_peak_and_its_end_contend() {
        let plateau = curve(&[
            (1, 10.0),
            (2, 20.0),
            (4, 40.0),
            (8, 58.5),
            (16, 59.0),
            (32, 60.0),
            (64, 59.5),
            (128, 59.0),
            (256, 45.0),
        ]);
        assert_eq!(plateau.contenders(), [8, 16, 32, 64, 128]);
    }

    #[test]
    fn a_rise_to_the_end_leaves_its_last_levels() {
        let rise = curve(&[(1, 10.0), (2, 20.0), (4, 40.0)]);
        assert_eq!(rise.contenders(), [2, 4]);
    }
}
