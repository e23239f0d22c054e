//! The steps of a task, each with the time that it took: where to look when a task has become too
//! long.

use std::time::{Duration, Instant};

/// Steps that have ended.
#[derive(Debug)]
pub(crate) struct Steps {
    begun: Instant,
    ended: Vec<(String, Duration)>,
}

impl Steps {
    /// No step yet; the time of the whole begins.
    pub(crate) fn begin() -> Self {
        Self {
            begun: Instant::now(),
            ended: Vec::new(),
        }
    }

    /// Announces a step, performs it and says how long it took.
    pub(crate) fn step<T>(&mut self, title: &str, perform: impl FnOnce() -> T) -> T {
        println!("\n== {title}");
        let begun = Instant::now();
        let result = perform();
        let took = begun.elapsed();
        println!("== {title}: {}", spoken(took));
        self.ended.push((title.to_owned(), took));
        result
    }

    /// What the last step took.
    pub(crate) fn last(&self) -> Duration {
        self.ended.last().map_or(Duration::ZERO, |(_, took)| *took)
    }

    /// One line for each step, and one for all of them.
    pub(crate) fn summary(&self) -> String {
        let line = |title: &str, took: Duration| format!("{:>12}  {title}\n", spoken(took));
        let mut lines: String = self
            .ended
            .iter()
            .map(|(title, took)| line(title, *took))
            .collect();
        lines.push_str(line("in all", self.begun.elapsed()).trim_end());
        lines
    }
}

/// A time in words: `4 min 10 s`.
pub(crate) fn spoken(time: Duration) -> String {
    let seconds = time.as_secs_f64().round() as u64;
    match (seconds / 60, seconds % 60) {
        (0, seconds) => format!("{seconds} s"),
        (minutes, seconds) => format!("{minutes} min {seconds} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_in_minutes_and_seconds() {
        let spoken = |millis| spoken(Duration::from_millis(millis));
        assert_eq!(spoken(400), "0 s");
        assert_eq!(spoken(59_400), "59 s");
        assert_eq!(spoken(59_600), "1 min 0 s");
        assert_eq!(spoken(250_000), "4 min 10 s");
    }

    #[test]
    fn every_step_stands_in_the_summary_and_gives_its_result() {
        let mut steps = Steps::begin();
        assert_eq!(steps.step("one", || 7), 7);
        steps.step("two", || ());
        let summary = steps.summary();
        let titles: Vec<_> = summary
            .lines()
            .filter_map(|line| line.split("  ").last())
            .collect();
        assert_eq!(titles, ["one", "two", "in all"]);
    }
}
