//! The rate at which a load of a fixed number of requests is answered once it has settled.
//!
//! The mean over such a load counts its beginning too: a server that starts workers one by one is
//! slow at first, and the fewer the requests, the more of them it was slow for.

use weir_stats::{Estimate, mean_of_series, mser5};

use crate::evaluate::CONFIDENCE;
use weir_metric::names;

use crate::recording::Recording;

/// Mean throughput of the whole seconds behind the beginning that MSER-5 cuts off, which is at most
/// half; `None` when there are too few. `ended_after_s` is when the last request was answered.
pub fn steady_rate(recording: &Recording, ended_after_s: f64) -> Option<Estimate> {
    let whole = (ended_after_s.floor() as usize).min(recording.timeline.len());
    let series = recording.series(names::THROUGHPUT, 0..whole)?;
    let from = mser5(&series).ok()?.truncation;
    let mean = mean_of_series(&series[from..], CONFIDENCE).ok()?;
    Some(mean.estimate)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;
    use crate::timeline::Reading;

    fn recording(per_second: &[f64]) -> Recording {
        let mut recording = Recording::new();
        for (second, throughput) in per_second.iter().enumerate() {
            let mut reading = Reading::new();
            reading.insert(names::THROUGHPUT.to_owned(), *throughput);
            recording.add_signals(second as u64, reading);
        }
        recording
    }

    #[test]
    fn the_slow_beginning_and_the_cut_end_do_not_count() {
        // 50 at once, then 1, 2, 4, 8, 16 a second, then 31 or 30; the last second is a quarter.
        let mut seconds = vec![50.0, 1.0, 2.0, 4.0, 8.0, 16.0];
        seconds.extend((0..24).map(|at| 30.0 + f64::from(at % 2)));
        seconds.push(7.0);
        let rate = steady_rate(&recording(&seconds), 30.25).unwrap();
        assert!((rate.value - 30.5).abs() < 0.2, "{rate:?}");
        assert!(rate.low > 29.0 && rate.high < 32.0, "{rate:?}");
        let mean = seconds.iter().sum::<f64>() / 30.25;
        assert!(mean < 28.0, "the mean over all: {mean}");
    }

    #[test]
    fn a_short_load_has_no_steady_rate() {
        assert_eq!(steady_rate(&recording(&[30.0; 9]), 9.0), None);
        assert_eq!(steady_rate(&recording(&[]), 0.0), None);
    }
}
