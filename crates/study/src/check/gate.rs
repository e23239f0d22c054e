//! The check of a gateway: with the cap of the answer and the same load, the server is at its goal,
//! nobody is rejected, and the surplus is where it is expected: in the gateway.

use weir_metric::SignalUnit;
use weir_queueing::laws;
use weir_record::{Held, RequirementCheck, TargetFacts, TrialRecord};

use super::{CPU_ABOVE, CPU_BELOW, Seen, check, cpu_between, errors, held, mean, with_interval};
use crate::search::bounded::Bounded;
use crate::settings::{GATE, in_server};

/// What waits in the gateway agrees with what is expected within so many requests, or within this
/// share of it.
const SURPLUS_REQUESTS: f64 = 2.0;
const SURPLUS_SHARE: f64 = 0.1;

/// What the check compares with.
#[derive(Debug)]
pub(crate) struct ExpectedOfGate<'a> {
    /// The CPU goal, if there is one.
    pub(crate) cpu: Option<f64>,
    /// The CPU at the answer as fitted.
    pub(crate) fitted_cpu: f64,
    /// The cap.
    pub(crate) limit: f64,
    /// Throughput at the answer as fitted.
    pub(crate) throughput_per_s: f64,
    /// Mean think time of a user.
    pub(crate) think_s: f64,
    /// The other requirements.
    pub(crate) others: &'a [Bounded],
}

/// Judges the trials of the check, which all have the same levels.
pub(crate) fn judge(
    trials: &[&TrialRecord],
    expected: &ExpectedOfGate<'_>,
    facts: &TargetFacts,
) -> Held {
    let mut requirements: Vec<RequirementCheck> = Vec::new();
    requirements.extend(expected.cpu.map(|goal| {
        // One request more or less may be a large step: what was fitted at the answer is reached,
        // and the goal not exceeded.
        let least = expected.fitted_cpu.min(goal) - CPU_BELOW;
        cpu_between(trials, least..=goal + CPU_ABOVE)
    }));
    requirements.extend(expected.others.iter().map(|other| met(trials, other)));
    requirements.push(errors(trials));
    requirements.push(nobody_turned_away(trials));
    // Users who come by themselves are not so many that their surplus could be foretold.
    if trials.iter().all(|trial| trial.open.is_none()) {
        requirements.extend(surplus(trials, expected));
    }
    held(trials, requirements, facts)
}

fn met(trials: &[&TrialRecord], other: &Bounded) -> RequirementCheck {
    let seen = mean(trials, |trial| other.value(trial)).map(Seen::without_interval);
    let unit = SignalUnit::of_quantity(other.requirement.bound.unit);
    let bounds = [other.requirement.bound_base()];
    check(
        unit,
        other.requirement.to_string(),
        seen,
        &bounds,
        |value| other.met_by(value),
    )
}

pub(super) fn nobody_turned_away(trials: &[&TrialRecord]) -> RequirementCheck {
    let refused = |trial: &TrialRecord| trial.signals.get("gate.refused").copied();
    let seen = mean(trials, refused).map(Seen::without_interval);
    let says = "nobody is rejected by the gate".to_owned();
    check(SignalUnit::PerSecond, says, seen, &[0.0], |value| {
        value <= 0.0
    })
}

/// Who is neither in the server nor thinking waits in the gateway: by this trial's own figures, and
/// by the model alone.
fn surplus(trials: &[&TrialRecord], expected: &ExpectedOfGate<'_>) -> Vec<RequirementCheck> {
    let measured = mean(trials, |trial| {
        let busy = in_server(trial)?;
        let thinking = laws::number_present(trial.throughput_per_s, expected.think_s);
        Some(f64::from(trial.population) - busy - thinking)
    });
    let modelled = mean(trials, |trial| {
        let thinking = laws::number_present(expected.throughput_per_s, expected.think_s);
        Some(f64::from(trial.population) - expected.limit - thinking)
    });
    let waiting = with_interval(trials, "gate.waiting", |trial| trial.waiting(GATE));
    let compared = [
        (measured, "users − busy − thinking"),
        (modelled, "users − limit − thinking, by the model alone"),
    ];
    compared
        .into_iter()
        .filter_map(|(foretold, how)| {
            let foretold = foretold?;
            let tolerance = SURPLUS_REQUESTS.max(SURPLUS_SHARE * foretold.abs());
            let says = format!("{foretold:.1} ± {tolerance:.1} requests wait in the gate: {how}");
            let bounds = [foretold - tolerance, foretold + tolerance];
            Some(check(SignalUnit::Number, says, waiting, &bounds, |value| {
                (value - foretold).abs() <= tolerance
            }))
        })
        .collect()
}
