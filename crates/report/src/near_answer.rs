//! The response times that were measured at an answer, or nearest to it.

use weir_metric::SignalUnit;
use weir_record::{Answer, Role, StudyResult, TrialRecord};

use crate::figures::number;
use crate::words;

/// A trial tells of the answer when its level differs from it by this share at most.
const NEAR: f64 = 0.1;

/// `measured at 33 users (trial 4): p50 51.5 ms (51.4–51.6), p90 …, p99 …`; `None` where no trial
/// was so near.
pub(crate) fn says(result: &StudyResult) -> Option<String> {
    let answer = result.answer.as_ref()?;
    let (trial, level) = nearest(result, answer)?;
    let all = &trial.response_time_ms;
    let times = [("p50", all.p50), ("p90", all.p90), ("p99", all.p99)]
        .map(|(name, value)| response_time(trial, name, value));
    Some(format!(
        "measured at {} {} (trial {}): {}",
        number(level),
        words::noun(&answer.factor),
        trial.id,
        times.join(", ")
    ))
}

/// `p99 208 ms (190–231)`.
pub(crate) fn response_time(trial: &TrialRecord, name: &str, value: f64) -> String {
    let unit = SignalUnit::Milliseconds;
    let own = trial.intervals.get(&format!("response_time_ms.{name}"));
    let range = own.map_or_else(String::new, |own| {
        format!(" ({})", unit.range(value, own.low, own.high))
    });
    format!("{name} {}{range}", unit.text(value))
}

/// The valid trial of the search whose level is nearest to the answer's, under the limits that the
/// answer has; the last of several.
fn nearest<'r>(result: &'r StudyResult, answer: &Answer) -> Option<(&'r TrialRecord, f64)> {
    let raised_to = |stage: &str| {
        let last = result.raised.iter().rfind(|limit| limit.stage == stage);
        last.map(|limit| limit.to)
    };
    let has_raised = |trial: &TrialRecord| {
        let mut raised = result.raised.iter();
        raised.all(|limit| trial.level(&limit.stage) == raised_to(&limit.stage))
    };
    let of_search =
        |trial: &&TrialRecord| trial.valid && trial.role == Role::Search && has_raised(trial);
    let levels = result.trials.iter().filter(of_search);
    let levels = levels.filter_map(|trial| Some((trial, trial.level(&answer.factor)?)));
    let apart = |level: f64| (level / answer.value - 1.0).abs();
    let near = levels.filter(|(_, level)| apart(*level) <= NEAR);
    // Of equals the last: `min_by` would take the first.
    let mut near: Vec<(&TrialRecord, f64)> = near.collect();
    near.reverse();
    near.into_iter()
        .min_by(|a, b| apart(a.1).total_cmp(&apart(b.1)))
}
