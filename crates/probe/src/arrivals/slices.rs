//! When a sample is taken, and how long: a slice of each second, so that watching costs little.

use std::time::Duration;

/// A sample is begun once in this time.
pub(crate) const PERIOD: Duration = Duration::from_secs(1);
/// The shortest and the longest time in which requests are taken into a sample.
const SHORTEST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_secs(1);
const FIRST: Duration = Duration::from_millis(100);
/// Requests that are enough for a sample, and more than are needed. In a window of 30 samples the
/// former are 3,000, of which 30 lie above the 99th percentile.
const ENOUGH: usize = 100;
const TOO_MANY: usize = 400;
/// Fractional part of the golden ratio: its multiples are spread evenly over the second, whatever
/// happens in it once a second.
const GOLDEN: f64 = 0.618_033_988_749_894_9;

/// The next slice.
#[derive(Debug)]
pub(crate) struct Slices {
    length: Duration,
    phase: f64,
}

impl Slices {
    pub(crate) fn new() -> Self {
        Self {
            length: FIRST,
            phase: 0.0,
        }
    }

    /// For how long requests are taken into the next sample.
    pub(crate) fn length(&self) -> Duration {
        self.length
    }

    /// How long after the beginning of its period the next sample begins.
    pub(crate) fn offset(&mut self) -> Duration {
        self.phase = (self.phase + GOLDEN).fract();
        PERIOD.saturating_sub(self.length).mul_f64(self.phase)
    }

    /// Makes the next one longer when there were few requests in the last, and shorter when there
    /// were many.
    pub(crate) fn adapt(&mut self, requests: usize) {
        if requests < ENOUGH {
            self.length = (self.length * 2).min(LONGEST);
        } else if requests > TOO_MANY {
            self.length = (self.length / 2).max(SHORTEST);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_as_long_as_they_have_to_be() {
        let mut slices = Slices::new();
        for _ in 0..10 {
            slices.adapt(0);
        }
        assert_eq!(slices.length(), LONGEST);
        assert_eq!(
            slices.offset(),
            Duration::ZERO,
            "all of the second is taken"
        );
        for _ in 0..10 {
            slices.adapt(10_000);
        }
        assert_eq!(slices.length(), SHORTEST);
        slices.adapt(200);
        assert_eq!(slices.length(), SHORTEST);
    }

    #[test]
    fn they_begin_everywhere_in_the_second_and_end_within_it() {
        let mut slices = Slices::new();
        let mut tenths = [0; 10];
        for _ in 0..100 {
            let offset = slices.offset();
            assert!(offset + slices.length() <= PERIOD);
            tenths[(offset.as_millis() / 90) as usize] += 1;
        }
        assert!(tenths.iter().all(|count| *count >= 5), "{tenths:?}");
    }
}
