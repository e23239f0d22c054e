//! `--stop-when`: a run ends early when something has been so for some seconds.

use std::sync::atomic::{AtomicBool, Ordering};

use hdrhistogram::Histogram;
use weir_metric::{Metric, Requirement};
use weir_record::{ClassSecond, LoadSecond, failed_to, response_histogram};

/// How many seconds one after the other it has to be so.
const SECONDS: u32 = 3;

/// Conditions, and since when they hold.
pub(super) struct StopWhen<'a> {
    conditions: &'a [Requirement],
    /// For how many seconds each has held.
    held: Vec<u32>,
    /// Ends the run.
    flag: &'a AtomicBool,
    /// What ended it.
    pub(super) why: Option<String>,
}

/// A condition as typed: of what the load itself tells each second.
pub(super) fn parse(text: &str) -> Result<Requirement, String> {
    let condition: Requirement = text.parse().map_err(|error| failed_to(&error))?;
    match condition.metric {
        Metric::Throughput
        | Metric::Errors
        | Metric::Mean
        | Metric::Percentile(_)
        | Metric::Max => Ok(condition),
        _ => {
            Err("it is about errors, throughput, mean, max or a percentile such as p99".to_owned())
        }
    }
}

impl<'a> StopWhen<'a> {
    pub(super) fn new(conditions: &'a [Requirement], flag: &'a AtomicBool) -> Self {
        Self {
            conditions,
            held: vec![0; conditions.len()],
            flag,
            why: None,
        }
    }

    /// One more second has passed.
    pub(super) fn second(&mut self, load: &LoadSecond) {
        for (condition, held) in self.conditions.iter().zip(&mut self.held) {
            let value = value(condition, load);
            let is_so = value.is_some_and(|value| condition.met_by(value));
            *held = if is_so { *held + 1 } else { 0 };
            if *held >= SECONDS && self.why.is_none() {
                self.why = Some(format!(
                    "stopped after {} s: {condition} for {SECONDS} s one after the other",
                    load.second + 1
                ));
                self.flag.store(true, Ordering::SeqCst);
            }
        }
    }
}

/// What a second says of a condition, in the base unit; nothing where nothing ended.
fn value(condition: &Requirement, load: &LoadSecond) -> Option<f64> {
    let classes = || {
        let classes = load.classes.iter();
        classes.filter(|class| {
            let wanted = condition.class.as_deref();
            wanted.is_none_or(|wanted| wanted == class.label)
        })
    };
    let ended: u64 = classes().map(ClassSecond::completed).sum();
    if condition.metric == Metric::Throughput {
        return Some(ended as f64);
    }
    if ended == 0 {
        return None;
    }
    let response = || {
        let mut all: Histogram<u64> = response_histogram();
        for class in classes() {
            all.add(&class.response_us).ok()?;
        }
        Some(all)
    };
    Some(match condition.metric {
        Metric::Errors => classes().map(|class| class.failed).sum::<u64>() as f64 / ended as f64,
        Metric::Mean => response()?.mean() / 1e6,
        Metric::Max => response()?.max() as f64 / 1e6,
        Metric::Percentile(percent) => response()?.value_at_percentile(percent) as f64 / 1e6,
        _ => return None,
    })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    fn load(second: u64, succeeded: u64, failed: u64, ms: u64) -> LoadSecond {
        let mut class = ClassSecond::empty("/");
        (class.succeeded, class.failed) = (succeeded, failed);
        let count = succeeded + failed;
        class.response_us.record_n(ms * 1_000, count).unwrap();
        let mut load = LoadSecond::empty(second);
        load.classes.push(class);
        load
    }

    /// After how many seconds a condition ends a run of these.
    fn ends(condition: &str, seconds: &[(u64, u64, u64)]) -> Option<usize> {
        let conditions = [parse(condition).unwrap()];
        let flag = AtomicBool::new(false);
        let mut stop = StopWhen::new(&conditions, &flag);
        for (at, (succeeded, failed, ms)) in seconds.iter().enumerate() {
            stop.second(&load(at as u64, *succeeded, *failed, *ms));
            assert_eq!(flag.load(Ordering::SeqCst), stop.why.is_some());
            if stop.why.is_some() {
                return Some(at + 1);
            }
        }
        None
    }

    #[test]
    fn what_has_been_so_for_three_seconds_ends_a_run() {
        let bad = (8, 2, 50);
        let good = (10, 0, 5);
        assert_eq!(
            ends("errors > 10 %", &[bad, bad, good, bad, bad, bad]),
            Some(6)
        );
        assert_eq!(ends("errors > 20 %", &[bad; 5]), None);
        assert_eq!(ends("errors >= 20 %", &[bad; 5]), Some(3));
        assert_eq!(ends("p99 > 40 ms", &[good, bad, bad, bad]), Some(4));
        assert_eq!(ends("mean < 10 ms", &[good, good, good]), Some(3));
        assert_eq!(ends("throughput < 5 /s", &[(0, 0, 0); 3]), Some(3));
        // Of nothing there is no share.
        assert_eq!(ends("errors <= 10 %", &[(0, 0, 0); 3]), None);
        assert!(parse("cpu > 90 %").unwrap_err().contains("errors"));
    }
}
