//! From the answer of a study that varies a gateway to what holds it: the cap, checked in a trial
//! at the answer itself.
//!
//! The load is the same in all trials and larger than the cap, so that no other load has to be
//! tried: the surplus is there already, and waits in the gateway.

use weir_record::{Levels, Role, SettingDetail, TargetFacts, TrialRecord};

use crate::check::gate::{ExpectedOfGate, judge};
use crate::confirm::{AnswerPoint, Confirmed};
use crate::file::{FindSpec, Varied};
use crate::learned::Learned;
use crate::search::bounded::Bounded;
use crate::search::{self, Goals};
use crate::settings::{GATE, OF_THE_GATE, Settings};
use crate::trials::{Effort, Stop, Trials, Wanted};

/// Why there is nothing to hold, where the requirements hold up to the end of the range.
const NOTHING_TO_HOLD: &str =
    "the requirements hold up to the end of the range, so that there is nothing to hold back";

/// Runs the trial at the answer and judges it.
pub(crate) fn confirm(
    spec: &FindSpec,
    goals: &Goals,
    trials: &mut Trials<'_>,
    at: &AnswerPoint,
    learned: &mut Learned,
) -> Result<(), Stop> {
    let Some(answer) = &learned.answer else {
        return Ok(());
    };
    if answer.limited_by.is_some() {
        learned.no_settings = Some(NOTHING_TO_HOLD.to_owned());
        return Ok(());
    }
    let facts = trials.facts().clone();
    let mut settings = settings(answer.value, at, &facts);
    settings.limits.extend(set_of_gate(&spec.set));
    learned.settings = Some(settings.clone());
    let Some(window) = trials.window(spec.window, Effort::Full, 0.0) else {
        return Ok(());
    };
    let value = answer.value;
    let record = trials.run(&Wanted {
        role: Role::Check,
        case: None,
        levels: search::levels(spec, value as u32),
        window,
        why: &format!("whether the gate holds it at {value}"),
    })?;
    let others: Vec<Bounded> = goals.others().cloned().collect();
    let expected = ExpectedOfGate {
        cpu: goals.cpu.map(|(_, goal)| goal),
        fitted_cpu: at.cpu,
        limit: value,
        throughput_per_s: at.throughput_per_s,
        think_s: at.think_s,
        others: &others,
    };
    let all: [&TrialRecord; 1] = [&record];
    settings.add_trials(&[record.id]);
    learned.confirmed = Some(Confirmed {
        settings,
        held: judge(&all, &expected, &facts),
    });
    Ok(())
}

/// What else a study has set of the gateway: the file that holds the answer has to say that too.
pub(crate) fn set_of_gate(set: &Levels) -> impl Iterator<Item = (String, f64)> {
    let of_gate = set.iter().filter(|(name, _)| name.starts_with(OF_THE_GATE));
    of_gate.filter_map(|(name, level)| Some((name.clone(), level.number()?)))
}

/// The cap as a setting. It is the gateway's, so that the target need not be able to set anything.
fn settings(limit: f64, at: &AnswerPoint, facts: &TargetFacts) -> Settings {
    let mut settings = Settings::default();
    let factor = Varied::GateConcurrency.factor();
    settings.limits.insert(factor.to_owned(), limit);
    settings.details.push(SettingDetail {
        stage: GATE.to_owned(),
        native: Some("concurrency".to_owned()),
        from: facts.stage(GATE).and_then(|stage| stage.limit),
        to: limit,
        because: format!(
            "with {limit} requests in the server at a time the CPU is {:.1} % (fitted), and the others wait in the gate",
            at.cpu * 100.0
        ),
        trials: Vec::new(),
    });
    settings
}
