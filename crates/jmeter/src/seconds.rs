//! Rows become seconds: a sample counts in the second in which it ended.

use std::collections::VecDeque;

use weir_record::{ClassSecond, Connects, LABELS_MAX, LoadSecond, OTHER_LABELS, Parts, SampleRow};

/// The seconds that are not delivered yet, and the sums.
#[derive(Debug)]
pub(crate) struct Seconds {
    origin_ms: u64,
    /// The first second that is not delivered.
    next: u64,
    open: VecDeque<LoadSecond>,
    labels: usize,
    users: u32,
    parts: Parts,
    pub(crate) sums: Sums,
}

/// Sums over all rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Sums {
    pub(crate) rows: u64,
    pub(crate) samples: u64,
    pub(crate) failed: u64,
    /// Samples that were written after their second had been delivered, or before it had come;
    /// they count in another one.
    pub(crate) late: u64,
    pub(crate) users_most: u32,
}

impl Seconds {
    /// Seconds from this time on, in milliseconds since 1970.
    pub(crate) fn new(origin_ms: u64) -> Self {
        Self {
            origin_ms,
            next: 0,
            open: VecDeque::new(),
            labels: 0,
            users: 0,
            parts: Parts::default(),
            sums: Sums::default(),
        }
    }

    /// Counts a row, unless it is a part of the sample before. `now` is the second that runs: no
    /// sample can have ended later, whatever a clock that was set back or forth says.
    pub(crate) fn add(&mut self, row: &SampleRow, now: u64) {
        self.sums.rows += 1;
        if self.parts.is_part(row) {
            return;
        }
        let ended = row.end_ms().saturating_sub(self.origin_ms) / 1_000;
        self.sums.samples += 1;
        self.sums.failed += u64::from(!row.success);
        self.sums.late += u64::from(ended < self.next || ended > now);
        self.sums.users_most = self.sums.users_most.max(row.all_threads);
        self.count(row, ended.min(now).max(self.next));
    }

    fn count(&mut self, row: &SampleRow, second: u64) {
        while self.next + self.open.len() as u64 <= second {
            let at = self.next + self.open.len() as u64;
            self.open.push_back(empty(at));
        }
        let second = &mut self.open[(second - self.next) as usize];
        second.users = row.all_threads;
        if let Some(redirected) = &mut second.redirected {
            *redirected += u64::from(is_redirect(&row.response_code));
        }
        let connects = second.connects.get_or_insert_default();
        // That of a transaction is the sum of its samples'.
        if !row.is_transaction {
            connects.took_s += row.connect_ms as f64 / 1e3;
        }
        let label = |name: &str| second.classes.iter().position(|class| class.label == name);
        let at = label(&row.label).or_else(|| {
            (self.labels >= LABELS_MAX)
                .then(|| label(OTHER_LABELS))
                .flatten()
        });
        let at = at.unwrap_or_else(|| {
            let name = if self.labels < LABELS_MAX {
                self.labels += 1;
                &row.label
            } else {
                OTHER_LABELS
            };
            second.classes.push(ClassSecond::empty(name));
            second.classes.len() - 1
        });
        second.classes[at].count(row.elapsed_ms, &row.response_code, row.success);
    }

    /// The next second that ended before `until`, empty ones too.
    pub(crate) fn next_before(&mut self, until: u64) -> Option<LoadSecond> {
        if self.next >= until {
            return None;
        }
        let mut second = self.open.pop_front().unwrap_or_else(|| empty(self.next));
        self.next += 1;
        if second.classes.is_empty() {
            second.users = self.users;
        }
        self.users = second.users;
        Some(second)
    }
}

/// Whether a response is a redirect that was not followed; of one that was followed JMeter's row
/// has the last response.
fn is_redirect(code: &str) -> bool {
    matches!(code, "301" | "302" | "303" | "307" | "308")
}

fn empty(second: u64) -> LoadSecond {
    LoadSecond {
        redirected: Some(0),
        connects: Some(Connects::default()),
        ..LoadSecond::empty(second)
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    fn row(label: &str, start_ms: u64, elapsed_ms: u64) -> SampleRow {
        SampleRow {
            timestamp_ms: start_ms,
            elapsed_ms,
            label: label.into(),
            response_code: "200".into(),
            thread_name: "Users 1-1".into(),
            success: true,
            all_threads: 3,
            ..SampleRow::default()
        }
    }

    fn counted(rows: &[SampleRow]) -> Vec<String> {
        let mut seconds = Seconds::new(0);
        for row in rows {
            seconds.add(row, 10);
        }
        let all: Vec<LoadSecond> = std::iter::from_fn(|| seconds.next_before(1)).collect();
        all[0]
            .classes
            .iter()
            .flat_map(|class| vec![class.label.clone(); class.completed() as usize])
            .collect()
    }

    #[test]
    fn a_sample_counts_in_the_second_in_which_it_ended() {
        let mut seconds = Seconds::new(1_000);
        let failed = SampleRow {
            success: false,
            response_code: "503".into(),
            ..row("b", 2_990, 20)
        };
        for row in [row("a", 900, 50), row("a", 1_500, 499), failed] {
            seconds.add(&row, 10);
        }
        let all: Vec<LoadSecond> = std::iter::from_fn(|| seconds.next_before(4)).collect();
        let completed: Vec<u64> = all.iter().map(LoadSecond::completed).collect();
        // The first one ended before the origin and belongs to the first second.
        assert_eq!(completed, [2, 0, 1, 0]);
        // The histogram keeps three digits.
        assert_eq!(all[0].classes[0].response_us.max() / 1_000, 499);
        assert_eq!(all[2].classes[0].failed_by_code["503"], 1);
        let users: Vec<u32> = all.iter().map(|second| second.users).collect();
        assert_eq!(users, [3, 3, 3, 3]);
        assert_eq!((seconds.sums.samples, seconds.sums.failed), (3, 1));
    }

    #[test]
    fn a_row_that_comes_late_is_not_lost() {
        let mut seconds = Seconds::new(0);
        seconds.add(&row("a", 100, 1), 0);
        assert_eq!(seconds.next_before(1).unwrap().completed(), 1);
        seconds.add(&row("a", 900, 50), 1);
        assert_eq!(seconds.next_before(2).unwrap().completed(), 1);
        assert_eq!(seconds.sums.late, 1);
    }

    #[test]
    fn a_row_from_the_future_counts_now() {
        let mut seconds = Seconds::new(0);
        seconds.add(&row("a", u64::MAX / 2, 1), 2);
        let all: Vec<u64> = std::iter::from_fn(|| seconds.next_before(3))
            .map(|second| second.completed())
            .collect();
        assert_eq!((all, seconds.sums.late), (vec![0, 0, 1], 1));
    }

    /// The order of rows that JMeter 5.6.3 writes.
    #[test]
    fn parts_of_a_sample_do_not_count_again() {
        let hop = [row("r", 10, 30), row("r-0", 10, 10), row("r-1", 20, 20)];
        assert_eq!(counted(&hop), ["r"]);
        let transaction = |start_ms, elapsed_ms| SampleRow {
            response_message: "Number of samples in transaction : 2, number of failing samples : 0"
                .into(),
            ..row("t", start_ms, elapsed_ms)
        };
        let as_sample = [transaction(10, 30), row("a", 10, 10), row("b", 20, 20)];
        assert_eq!(counted(&as_sample), ["t"]);
        let as_one_more = [row("a", 10, 10), transaction(10, 10), row("a", 20, 5)];
        assert_eq!(counted(&as_one_more), ["a", "a", "t"]);
        let next_in_the_same_millisecond = [row("a", 10, 10), row("a", 20, 0)];
        assert_eq!(counted(&next_in_the_same_millisecond), ["a", "a"]);
        let other_thread = SampleRow {
            thread_name: "Users 1-2".into(),
            ..row("b", 12, 3)
        };
        assert_eq!(counted(&[row("a", 10, 10), other_thread]), ["a", "b"]);
    }

    /// A test with redirects, nested transactions of both kinds and serial groups, recorded with
    /// JMeter 5.6.3. Its result in XML, where parts stand inside of their sample, has 43
    /// samples with 49 elements in all.
    #[test]
    fn a_recorded_test_has_as_many_samples_as_jmeter_says() {
        let recorded = include_bytes!("seconds/recorded.jtl");
        let rows = weir_record::JtlReader::new(recorded.as_slice())
            .unwrap()
            .samples()
            .unwrap();
        let mut seconds = Seconds::new(1_795_219_292_000);
        for row in &rows {
            seconds.add(row, 10);
        }
        assert_eq!((seconds.sums.rows, seconds.sums.samples), (49, 43));
    }

    #[test]
    fn labels_are_bounded() {
        let mut seconds = Seconds::new(0);
        for number in 0..3 * LABELS_MAX as u64 {
            seconds.add(&row(&number.to_string(), number / 4, 0), 0);
        }
        let second = seconds.next_before(1).unwrap();
        assert_eq!(second.classes.len(), LABELS_MAX + 1);
        assert_eq!(second.completed(), 3 * LABELS_MAX as u64);
    }
}
