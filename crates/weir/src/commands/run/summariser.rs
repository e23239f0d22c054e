//! JMeter's summary lines.
//!
//! A line with `+` sums up what came since the last one, a line with `=` everything. They come on
//! the grid of the wall clock (every 30 seconds past the minute), up to five seconds late, and only
//! when a sample comes: so the first line is often an early one, of the few samples that the first
//! seconds of the grid had.

use std::fmt::Write as _;

use weir_load::UserCounts;
use weir_record::SampleRow;

/// How long after a point of the grid its lines may still come, in seconds.
const WINDOW_S: u64 = 5;

/// Sums up samples as JMeter's summariser does.
#[derive(Debug)]
pub(crate) struct Summariser {
    name: String,
    interval_s: u64,
    with_transactions: bool,
    total: Sums,
    delta: Sums,
    last_s: u64,
}

/// What a summariser is made with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SummariserSettings {
    /// First word of each line.
    pub(crate) name: String,
    /// Seconds between two points of the grid.
    pub(crate) interval_s: u64,
    /// Transactions count as samples.
    pub(crate) with_transactions: bool,
    /// Its lines go to the console, not only to the log.
    pub(crate) is_shown: bool,
}

#[derive(Debug, Clone)]
struct Sums {
    count: u64,
    failed: u64,
    sum_ms: u64,
    min_ms: u64,
    max_ms: u64,
    start_ms: u64,
    end_ms: u64,
}

impl Sums {
    fn since(start_ms: u64) -> Self {
        Self {
            count: 0,
            failed: 0,
            sum_ms: 0,
            min_ms: u64::MAX,
            max_ms: 0,
            start_ms,
            end_ms: start_ms,
        }
    }

    fn add(&mut self, row: &SampleRow, now_ms: u64) {
        self.count += 1;
        self.failed += u64::from(!row.success);
        self.sum_ms += row.elapsed_ms;
        self.min_ms = self.min_ms.min(row.elapsed_ms);
        self.max_ms = self.max_ms.max(row.elapsed_ms);
        self.end_ms = now_ms;
    }

    fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        if self.count == 0 {
            self.start_ms = other.start_ms;
        }
        self.count += other.count;
        self.failed += other.failed;
        self.sum_ms += other.sum_ms;
        self.min_ms = self.min_ms.min(other.min_ms);
        self.max_ms = self.max_ms.max(other.max_ms);
        self.end_ms = other.end_ms;
    }

    fn line(&self, name: &str, sign: char) -> String {
        let elapsed_ms = if self.count == 0 {
            0
        } else {
            self.end_ms.saturating_sub(self.start_ms)
        };
        let rate = if elapsed_ms > 0 {
            format!("{:>6.1}", self.count as f64 * 1e3 / elapsed_ms as f64)
        } else {
            "******".to_owned()
        };
        // What JMeter prints of nothing are the bounds of its numbers.
        let (min, max) = if self.count == 0 {
            (i64::MAX, i64::MIN)
        } else {
            (self.min_ms.cast_signed(), self.max_ms.cast_signed())
        };
        let share = self.failed as f64 * 100.0 / self.count.max(1) as f64;
        let mean = self.sum_ms / self.count.max(1);
        format!(
            "{name} {sign} {:>6} in {} = {rate}/s Avg: {mean:>5} Min: {min:>5} Max: {max:>5} Err: {:>5} ({share:.2}%)",
            self.count,
            clock(elapsed_ms),
            self.failed,
        )
    }
}

/// `HH:MM:SS`, rounded.
fn clock(ms: u64) -> String {
    let seconds = (ms + 500) / 1_000;
    format!(
        "{:02}:{:02}:{:02}",
        seconds / 3_600,
        seconds / 60 % 60,
        seconds % 60
    )
}

impl Summariser {
    /// A test starts.
    pub(crate) fn new(settings: SummariserSettings, now_ms: u64) -> Self {
        Self {
            name: settings.name,
            interval_s: settings.interval_s.max(1),
            with_transactions: settings.with_transactions,
            total: Sums::since(now_ms),
            delta: Sums::since(now_ms),
            last_s: 0,
        }
    }

    /// A sample has come; the lines that are due then.
    pub(crate) fn sample(
        &mut self,
        row: &SampleRow,
        now_ms: u64,
        users: UserCounts,
    ) -> Vec<String> {
        if row.is_transaction && !self.with_transactions {
            return Vec::new();
        }
        self.delta.add(row, now_ms);
        let now_s = now_ms / 1_000;
        let due = now_s > self.last_s + WINDOW_S && now_s % self.interval_s <= WINDOW_S;
        if !due {
            return Vec::new();
        }
        self.last_s = now_s;
        let mut lines = vec![self.delta_line(users)];
        let is_first = self.total.count == 0;
        self.move_delta(now_ms);
        if !is_first {
            lines.push(self.total.line(&self.name, '='));
        }
        lines
    }

    /// The test has ended.
    pub(crate) fn end(&mut self, users: UserCounts) -> Vec<String> {
        let mut lines = Vec::new();
        if self.delta.count > 0 && self.total.count > 0 {
            lines.push(self.delta_line(users));
        }
        self.move_delta(self.delta.end_ms);
        lines.push(self.total.line(&self.name, '='));
        lines
    }

    fn delta_line(&self, users: UserCounts) -> String {
        let mut line = self.delta.line(&self.name, '+');
        let _ = write!(
            line,
            " Active: {} Started: {} Finished: {}",
            users.active,
            users.started,
            users.finished()
        );
        line
    }

    fn move_delta(&mut self, now_ms: u64) {
        self.total.merge(&self.delta);
        self.delta = Sums::since(now_ms);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summariser(start_ms: u64) -> Summariser {
        let settings = SummariserSettings {
            name: "summary".to_owned(),
            interval_s: 30,
            with_transactions: false,
            is_shown: true,
        };
        Summariser::new(settings, start_ms)
    }

    fn sample(elapsed_ms: u64, success: bool) -> SampleRow {
        SampleRow {
            elapsed_ms,
            success,
            ..SampleRow::default()
        }
    }

    const RUNNING: UserCounts = UserCounts {
        active: 1,
        started: 1,
    };
    const OVER: UserCounts = UserCounts {
        active: 0,
        started: 1,
    };

    /// What JMeter 5.6.3 printed of a plan with 35 samples; it began two seconds after a point of
    /// the grid.
    #[test]
    fn lines_are_jmeters() {
        let start_ms = 1_795_219_292_572;
        let mut summary = summariser(start_ms);
        let first = summary.sample(&sample(10, true), start_ms + 63, RUNNING);
        assert_eq!(
            first,
            [
                "summary +      1 in 00:00:00 =   15.9/s Avg:    10 Min:    10 Max:    10 Err:     0 (0.00%) Active: 1 Started: 1 Finished: 0"
            ]
        );
        for at in 0..34_u64 {
            let elapsed_ms = match at {
                0 => 5,
                1 => 105,
                2 => 102,
                _ => 63,
            };
            let now_ms = start_ms + 63 + (at + 1) * 2_881 / 34;
            let lines = summary.sample(&sample(elapsed_ms, at >= 6), now_ms, RUNNING);
            assert!(lines.is_empty());
        }
        assert_eq!(
            summary.end(OVER),
            [
                "summary +     34 in 00:00:03 =   11.8/s Avg:    63 Min:     5 Max:   105 Err:     6 (17.65%) Active: 0 Started: 1 Finished: 1",
                "summary =     35 in 00:00:03 =   11.9/s Avg:    62 Min:     5 Max:   105 Err:     6 (17.14%)",
            ]
        );
    }

    #[test]
    fn the_grid_is_the_wall_clocks() {
        let start_ms = 1_795_219_310_000;
        assert_eq!(start_ms / 1_000 % 30, 20);
        let mut summary = summariser(start_ms);
        let mut times = Vec::new();
        for second in 1..100 {
            let now_ms = start_ms + second * 1_000;
            let lines = summary.sample(&sample(1, true), now_ms, RUNNING);
            if !lines.is_empty() {
                times.push((second, lines.len()));
            }
        }
        assert_eq!(times, [(10, 1), (40, 2), (70, 2)]);
        assert_eq!(summary.end(OVER).len(), 2);
    }

    #[test]
    fn nothing_is_summed_up_as_jmeter_does() {
        assert_eq!(
            summariser(1_000).end(OVER),
            [
                "summary =      0 in 00:00:00 = ******/s Avg:     0 Min: 9223372036854775807 Max: -9223372036854775808 Err:     0 (0.00%)"
            ]
        );
    }

    #[test]
    fn transactions_are_left_out() {
        let start_ms = 1_795_219_310_000;
        let mut summary = summariser(start_ms);
        let transaction = SampleRow {
            is_transaction: true,
            ..sample(1_000, true)
        };
        summary.sample(&transaction, start_ms + 1_000, RUNNING);
        summary.sample(&sample(5, true), start_ms + 1_000, RUNNING);
        assert!(summary.end(OVER)[0].starts_with("summary =      1 in 00:00:01"));
    }
}
