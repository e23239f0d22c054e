//! How fast requests arrived: in the mean, in the busiest second, in the busiest minute.

use std::collections::BTreeMap;

/// How far back a line may stand behind the latest one: a log has requests in the order in which
/// they ended. One that is older still counts as a new second.
const KEPT_S: i64 = 2 * 3600;
const MINUTE_S: i64 = 60;

/// Arrival rates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rates {
    /// From the first to the last request, as a log tells it: whole seconds.
    pub length_s: u64,
    /// Requests per second over all that time.
    pub mean_per_s: f64,
    /// Requests in the busiest second.
    pub peak_second: u64,
    /// Requests per second in the busiest minute.
    pub peak_minute_per_s: f64,
    /// When the busiest minute began, as seconds since 1970.
    pub peak_minute_at: i64,
}

/// Counts while a log is read.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    total: u64,
    first: Option<i64>,
    last: i64,
    seconds: Window,
    minutes: Window,
}

impl Counts {
    /// So many requests in a second.
    pub(crate) fn add(&mut self, second: i64, count: u64) {
        if self.first.is_none() {
            self.last = second;
        }
        self.total += count;
        let first = self.first.get_or_insert(second);
        *first = second.min(*first);
        self.last = self.last.max(second);
        let oldest = self.last - KEPT_S;
        self.seconds.add(second, count, oldest);
        let minute = second.div_euclid(MINUTE_S);
        self.minutes.add(minute, count, oldest.div_euclid(MINUTE_S));
    }

    pub(crate) fn finish(self) -> Option<Rates> {
        let length = self.last - self.first? + 1;
        let (_, peak_second) = self.seconds.finish();
        let (minute, peak_minute) = self.minutes.finish();
        let minute_s = length.min(MINUTE_S);
        Some(Rates {
            length_s: length.unsigned_abs(),
            mean_per_s: self.total as f64 / length as f64,
            peak_second,
            peak_minute_per_s: peak_minute as f64 / minute_s as f64,
            peak_minute_at: minute * MINUTE_S,
        })
    }
}

/// Counts of the latest units of time, and the largest of those that have gone.
#[derive(Debug, Default)]
struct Window {
    counts: BTreeMap<i64, u64>,
    peak: (i64, u64),
}

impl Window {
    fn add(&mut self, unit: i64, count: u64, oldest: i64) {
        *self.counts.entry(unit).or_default() += count;
        while let Some(first) = self
            .counts
            .first_entry()
            .filter(|first| *first.key() < oldest)
        {
            let gone = first.remove_entry();
            self.note(gone);
        }
    }

    fn note(&mut self, (unit, count): (i64, u64)) {
        if count > self.peak.1 {
            self.peak = (unit, count);
        }
    }

    fn finish(mut self) -> (i64, u64) {
        for entry in std::mem::take(&mut self.counts) {
            self.note(entry);
        }
        self.peak
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
#[expect(clippy::float_cmp, reason = "the sums are whole numbers")]
mod tests {
    use super::*;

    fn rates(seconds: &[i64]) -> Option<Rates> {
        let mut counts = Counts::default();
        for second in seconds {
            counts.add(*second, 1);
        }
        counts.finish()
    }

    #[test]
    fn peaks_are_found_wherever_they_are() {
        // 120 s: one a second, and another nine in second 70, told late.
        let mut seconds: Vec<i64> = (0..120).map(|second| 6000 + second).collect();
        seconds.extend([6070; 9]);
        let told = rates(&seconds).unwrap();
        assert_eq!(told.length_s, 120);
        assert_eq!(told.mean_per_s, 129.0 / 120.0);
        assert_eq!(told.peak_second, 10);
        assert_eq!(
            (told.peak_minute_at, told.peak_minute_per_s),
            (6060, 69.0 / 60.0)
        );
    }

    #[test]
    fn what_is_long_gone_is_remembered() {
        let mut seconds = vec![100; 50];
        seconds.extend((1..40).map(|hour| 100 + hour * 3600));
        let told = rates(&seconds).unwrap();
        assert_eq!((told.peak_second, told.peak_minute_at), (50, 60));
    }

    #[test]
    fn a_short_log_has_no_whole_minute() {
        let told = rates(&[5, 5, 6, 6]).unwrap();
        assert_eq!((told.mean_per_s, told.peak_minute_per_s), (2.0, 2.0));
        assert_eq!(rates(&[]), None);
    }
}
