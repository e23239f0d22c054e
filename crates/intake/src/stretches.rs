//! The load tests that one result file holds, told apart by the time between them.
//!
//! JMeter adds to a result file that is there, so that a second test follows the first with minutes
//! or days between them. A mean over such a gap is a figure of nothing. A gap parts two tests when
//! nothing was in flight for half a minute and for much longer than is usual in the file: a single
//! user who thinks for a minute after each request has gaps too, but all alike.

use std::ops::Range;

/// A gap of less is a pause of one test.
const GAP_MIN_MS: u64 = 30_000;
/// … and so is one of less than this many times a usual gap, the 90th percentile of all.
const USUAL_TIMES: u64 = 10;

/// Samples without a long gap between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stretch {
    /// The start of the first.
    pub(crate) start_ms: u64,
    /// The end of the last.
    pub(crate) end_ms: u64,
    /// Which.
    pub(crate) samples: Range<usize>,
}

/// The stretches of samples, which are given by start and end in the order of their ends.
pub(crate) fn of(spans: impl DoubleEndedIterator<Item = (u64, u64)> + Clone) -> Vec<Stretch> {
    let spans: Vec<(u64, u64)> = spans.collect();
    // Of what ends later, the earliest start: what is in flight then is no gap.
    let mut earliest = u64::MAX;
    let mut next_start: Vec<u64> = spans
        .iter()
        .rev()
        .map(|(start, _)| {
            earliest = earliest.min(*start);
            earliest
        })
        .collect();
    next_start.reverse();
    let gaps = || {
        let pairs = spans.iter().zip(next_start.iter().skip(1));
        pairs.map(|((_, end), next)| next.saturating_sub(*end))
    };
    let mut sorted: Vec<u64> = gaps().collect();
    sorted.sort_unstable();
    let usual = sorted
        .get(sorted.len().saturating_sub(1) * 9 / 10)
        .copied()
        .unwrap_or(0);
    let least = GAP_MIN_MS.max(usual.saturating_mul(USUAL_TIMES));
    let ends = gaps().enumerate().filter(|(_, gap)| *gap >= least);
    let ends = ends.map(|(at, _)| at + 1).chain([spans.len()]);
    let mut begin = 0;
    let stretches = ends.filter(|_| !spans.is_empty()).map(|end| {
        let samples = std::mem::replace(&mut begin, end)..end;
        Stretch {
            start_ms: next_start[samples.start],
            end_ms: spans[end - 1].1,
            samples,
        }
    });
    stretches.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Samples of 100 ms, one every so many milliseconds, from a start.
    fn test(start_ms: u64, every_ms: u64, count: u64) -> Vec<(u64, u64)> {
        let starts = (0..count).map(|at| start_ms + at * every_ms);
        starts.map(|start| (start, start + 100)).collect()
    }

    fn counts(spans: &[(u64, u64)]) -> Vec<usize> {
        let stretches = of(spans.iter().copied());
        stretches.iter().map(|of| of.samples.len()).collect()
    }

    #[test]
    fn tests_are_told_apart_by_a_long_silence() {
        let day_ms = 86_400_000;
        let spans = [
            test(0, 50, 500),
            test(day_ms, 50, 300),
            test(day_ms + 70_000, 50, 9),
        ];
        assert_eq!(counts(&spans.concat()), [500, 300, 9]);
        let stretches = of(spans.concat().into_iter());
        assert_eq!(
            (stretches[1].start_ms, stretches[1].end_ms),
            (day_ms, day_ms + 15_050)
        );
    }

    #[test]
    fn pauses_of_one_test_part_nothing() {
        assert_eq!(counts(&test(0, 60_000, 40)), [40], "one user who thinks");
        assert_eq!(counts(&test(0, 20_000, 2)), [2]);
        assert_eq!(counts(&[(0, 100)]), [1]);
        assert_eq!(counts(&[]), [0_usize; 0]);
        // A request that takes minutes is no gap, whatever ends before it.
        let slow = [
            test(0, 50, 100),
            vec![(1_000, 400_000)],
            test(400_100, 50, 100),
        ];
        let mut slow = slow.concat();
        slow.sort_by_key(|span| span.1);
        assert_eq!(counts(&slow), [201]);
    }
}
