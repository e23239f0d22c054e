//! The check at the answer itself, of a largest rate or of an answer that needs a raised limit:
//! nothing that was asked is broken.
//!
//! The answer lies where a requirement just holds, so that half of all trials there would break it
//! by a hair. What is judged is therefore whether the trial contradicts the answer: a requirement
//! is missed when all of the trial's own interval breaks it.

use weir_metric::SignalUnit;
use weir_record::{Held, RequirementCheck, TargetFacts, TrialRecord};

use super::{CPU_ABOVE, Seen, check, errors, held, mean, with_interval};
use crate::search::bounded::Bounded;

/// A figure without an interval of its own may be off by so much of itself: what trials of one load
/// differ by in their longest response times.
const SPREAD: f64 = 0.1;

/// Judges the trials of the check, which all have the same levels.
pub(crate) fn judge(
    trials: &[&TrialRecord],
    cpu: Option<f64>,
    others: &[Bounded],
    facts: &TargetFacts,
) -> Held {
    let mut requirements: Vec<RequirementCheck> = Vec::new();
    requirements.extend(cpu.map(|goal| at_most(trials, goal)));
    requirements.extend(others.iter().map(|other| met(trials, other)));
    requirements.push(errors(trials));
    held(trials, requirements, facts)
}

fn at_most(trials: &[&TrialRecord], goal: f64) -> RequirementCheck {
    let seen = with_interval(trials, "cpu", |trial| Some(trial.cpu?.total));
    let most = goal + CPU_ABOVE;
    let says = format!("cpu <= {:.1} %", most * 100.0);
    check(SignalUnit::Share, says, seen, &[most], |value| {
        value <= most
    })
}

fn met(trials: &[&TrialRecord], other: &Bounded) -> RequirementCheck {
    let seen = seen(trials, other);
    let unit = SignalUnit::of_quantity(other.requirement.bound.unit);
    let bounds = [other.requirement.bound_base()];
    let says = other.requirement.to_string();
    // The end of the interval that is nearest to being met.
    let best = seen.map_or(f64::MAX, |seen| seen.low);
    check(unit, says, seen, &bounds, |value| {
        other.met_by(value) || other.met_by(best)
    })
}

fn seen(trials: &[&TrialRecord], other: &Bounded) -> Option<Seen> {
    let value = mean(trials, |trial| other.value(trial))?;
    let half_widths = trials.iter().map(|trial| other.half_width(trial));
    let half_width = half_widths.fold(0.0, f64::max);
    let half_width = if half_width > 0.0 {
        half_width
    } else {
        SPREAD * value
    };
    Some(Seen {
        value,
        low: (value - half_width).max(0.0),
        high: value + half_width,
    })
}

#[cfg(test)]
mod tests {
    use weir_stats::{Estimate, Method};

    use super::*;
    use crate::findings::made::trial;

    fn judged(p99_ms: f64, half_width_ms: f64) -> bool {
        let mut trial = trial(1, 100.0, &[("load.missed", 0.0)]);
        trial.response_time_ms.p99 = p99_ms;
        trial.intervals.insert(
            "response_time_ms.p99".to_owned(),
            Estimate {
                value: p99_ms,
                low: p99_ms - half_width_ms,
                high: p99_ms + half_width_ms,
                confidence: 0.95,
                count: 30,
                method: Method::BatchMeans,
            },
        );
        let requirement = "p99 <= 300 ms".parse().expect("a requirement");
        let other = Bounded::new(&requirement).expect("p99 is recorded");
        met(&[&trial], &other).met
    }

    #[test]
    fn a_trial_has_to_contradict_the_answer() {
        assert!(judged(290.0, 20.0), "it holds");
        assert!(judged(310.0, 20.0), "missed by less than a trial tells");
        assert!(!judged(340.0, 20.0), "missed");
    }
}
