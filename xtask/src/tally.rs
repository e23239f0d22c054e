//! Counting test results in what `cargo test` prints.

use std::cmp::Reverse;
use std::ops::AddAssign;
use std::time::Duration;

/// Tests that passed and tests that failed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Tests that passed.
    pub(crate) passed: u64,
    /// Tests that failed.
    pub(crate) failed: u64,
    /// Names of those that failed, as far as a line said so.
    pub(crate) failed_names: Vec<String>,
    /// Names of those that passed only when they were run again alone.
    pub(crate) unsteady: Vec<String>,
    /// Names of all that were seen to end, each with the time since the line before: its own,
    /// where tests run one at a time.
    pub(crate) ended: Vec<(String, Duration)>,
}

impl Tally {
    /// Adds what one line says, if it names a test that ended (`test NAME ... FAILED`) or is the
    /// closing line of a test program: `test result: ok. 3 passed; 0 failed; …`.
    pub(crate) fn add_line(&mut self, line: &str, since_last: Duration) {
        if let Some((name, _)) = line
            .strip_prefix("test ")
            .and_then(|test| test.split_once(" ... "))
        {
            self.ended.push((name.to_owned(), since_last));
        }
        if let Some(name) = failed_test(line) {
            self.failed_names.push(name.to_owned());
        }
        let Some(result) = line.trim_start().strip_prefix("test result: ") else {
            return;
        };
        let Some((_, counts)) = result.split_once(". ") else {
            return;
        };
        for count in counts.split("; ") {
            match count.split_once(' ') {
                Some((number, "passed")) => self.passed += number.parse().unwrap_or(0),
                Some((number, "failed")) => self.failed += number.parse().unwrap_or(0),
                _ => {}
            }
        }
    }
}

impl Tally {
    /// The tests that took longest, the slowest first.
    pub(crate) fn slowest(&self, count: usize) -> Vec<&(String, Duration)> {
        let mut all: Vec<_> = self.ended.iter().collect();
        all.sort_by_key(|(_, took)| Reverse(*took));
        all.truncate(count);
        all
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.failed_names.extend(other.failed_names);
        self.unsteady.extend(other.unsteady);
        self.ended.extend(other.ended);
    }
}

fn failed_test(line: &str) -> Option<&str> {
    let name = line.strip_prefix("test ")?.strip_suffix(" ... FAILED")?;
    Some(name.strip_suffix(" - should panic").unwrap_or(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(lines: &[&str]) -> Tally {
        let mut tally = Tally::default();
        for line in lines {
            tally.add_line(line, Duration::ZERO);
        }
        tally
    }

    #[test]
    fn closing_lines_are_summed() {
        let lines = [
            "running 3 tests",
            "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s",
            "test result: FAILED. 10 passed; 2 failed; 1 ignored; 0 measured; 0 filtered out; finished in 1.00s",
        ];
        assert_eq!(
            tally(&lines),
            Tally {
                passed: 13,
                failed: 2,
                ..Tally::default()
            }
        );
    }

    #[test]
    fn failed_tests_are_named() {
        let lines = [
            "test one::works ... ok",
            "test one::breaks ... FAILED",
            "test two::panics - should panic ... FAILED",
        ];
        assert_eq!(tally(&lines).failed_names, ["one::breaks", "two::panics"]);
    }

    #[test]
    fn the_slowest_tests_come_first() {
        let mut tally = Tally::default();
        for (line, seconds) in [
            ("test a ... ok", 2),
            ("running", 9),
            ("test b ... FAILED", 7),
            ("test c ... ok", 1),
        ] {
            tally.add_line(line, Duration::from_secs(seconds));
        }
        let names: Vec<_> = tally
            .slowest(2)
            .into_iter()
            .map(|(name, _)| name.as_str())
            .collect();
        assert_eq!(names, ["b", "a"]);
    }

    #[test]
    fn other_lines_count_nothing() {
        let lines = [
            "test tally::tests::closing_lines_are_summed ... ok",
            "5 passed; 1 failed",
            "the test result: ok. 5 passed; 1 failed",
            "test result: ",
        ];
        let tally = tally(&lines);
        assert_eq!((tally.passed, tally.failed), (0, 0));
        assert!(tally.failed_names.is_empty());
    }
}
