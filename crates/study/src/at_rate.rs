//! A largest rate: its check, and whether the level is what it is taken for.
//!
//! No limit of the server holds a rate; a gateway in front does, with the answer as its `rate`.

use weir_record::{Finding, Role, TrialError, TrialRecord};

use crate::at_answer;
use crate::file::FindSpec;
use crate::learned::Learned;
use crate::raise;
use crate::search::{self, Goals};
use crate::trials::{Stop, Trials};

const NOTHING_TO_HOLD: &str =
    "the requirements hold up to the end of the range, so that there is nothing to hold back";
const NOT_A_LIMIT: &str = "no limit of a server holds a rate. A gateway in front of it does, with \
                           the answer as `rate` (`weir gate`)";

/// The level is not what was due where they differ by this factor.
const OFF: f64 = 1.3;

/// Runs a trial at the answer and judges it.
pub(crate) fn confirm(
    spec: &FindSpec,
    goals: &Goals,
    trials: &mut Trials<'_>,
    learned: &mut Learned,
) -> Result<(), Stop> {
    let Some(answer) = &learned.answer else {
        return Ok(());
    };
    if answer.limited_by.is_some() {
        learned.no_settings = Some(NOTHING_TO_HOLD.to_owned());
        return Ok(());
    }
    let settings = raise::settings(&learned.raised, trials.facts());
    if settings.is_none() {
        learned.no_settings = Some(NOT_A_LIMIT.to_owned());
    }
    at_answer::check(spec, goals, trials, settings.unwrap_or_default(), learned)
}

/// Arrivals that were due a second, over the level: 1 where the level is what it is taken for.
fn due_per_level(trial: &TrialRecord) -> Option<f64> {
    let due = trial.open.as_ref()?.due? as f64;
    Some(due / trial.window_s / search::level(trial)?)
}

/// A property that counts arrivals a minute would make an answer that is wrong by 60.
pub(crate) fn check_unit(trial: &TrialRecord) -> Result<(), Stop> {
    let Some(ratio) = due_per_level(trial).filter(|ratio| *ratio < 1.0 / OFF) else {
        return Ok(());
    };
    let level = search::level(trial).unwrap_or_default();
    Err(Stop::Error(TrialError::Input(format!(
        "take the level for arrivals a second: with {level} there were {:.2} a second. Let the plan's property be arrivals \
         a second",
        ratio * level
    ))))
}

/// The level counts the arrivals of one property of the plan; others may come beside them.
pub(crate) fn of_all_arrivals(trials: &[TrialRecord]) -> Option<Finding> {
    let checked = trials
        .iter()
        .rev()
        .find(|trial| trial.role == Role::Check)?;
    let ratio = due_per_level(checked).filter(|ratio| *ratio > OFF)?;
    let level = search::level(checked)?;
    let says = format!(
        "At {level} arrivals/s of the property that was varied, {:.0} a second were due in all: other groups of the plan \
         have arrivals too, or several read the property.",
        ratio * level
    );
    Some(Finding::new("arrivals-in-all", says, &[checked.id]))
}

#[cfg(test)]
mod tests {
    use weir_record::OpenRecord;

    use super::*;
    use crate::findings::made;

    fn trial(level: f64, due: u64) -> TrialRecord {
        let mut trial = made::trial(1, 100.0, &[]);
        (trial.role, trial.window_s) = (Role::Check, 20.0);
        trial.levels.insert("rate".to_owned(), level.into());
        trial.open = Some(OpenRecord {
            due: Some(due),
            ..OpenRecord::default()
        });
        trial
    }

    #[test]
    fn a_rate_in_another_unit_is_no_answer() {
        assert!(check_unit(&trial(100.0, 1_940)).is_ok());
        let Err(Stop::Error(error)) = check_unit(&trial(100.0, 33)) else {
            panic!("arrivals a minute");
        };
        assert!(error.to_string().contains("1.65 a second"), "{error}");
    }

    #[test]
    fn other_arrivals_are_told() {
        assert!(of_all_arrivals(&[trial(100.0, 2_100)]).is_none());
        let told = of_all_arrivals(&[trial(100.0, 4_000)]);
        assert!(told.is_some_and(|told| told.says.contains("200 a second were due in all")));
    }
}
