//! Levels that follow from what other cases have measured in the same environment.

use weir_record::{Level, Levels, Statistic, TrialRecord};

use super::Case;
use super::table::middle;
use crate::figure::Figure;
use crate::spec::Derived;

/// The levels of a case with every formula worked out; `None` where a case that it needs has no valid trial.
pub(super) fn levels(
    case: &Case,
    cases: &[Case],
    trials: &[TrialRecord],
    statistic: Statistic,
) -> Option<Levels> {
    let level = |(factor, level): (&String, &Level)| {
        let derived = match level {
            Level::Text(text) => Derived::parse(text).ok().flatten(),
            Level::Number(_) => None,
        };
        let level = match derived {
            None => level.clone(),
            Some(derived) => {
                let of_case = |name: &str, figure: &Figure| {
                    let environment = case.environment.as_deref();
                    measured(name, figure, environment, cases, trials, statistic)
                };
                as_level(derived.text(of_case)?)
            }
        };
        Some((factor.clone(), level))
    };
    case.levels.iter().map(level).collect()
}

/// What a text says once its formulas are worked out: a number where it is one.
fn as_level(text: String) -> Level {
    match text.trim().parse() {
        Ok(number) => Level::Number(number),
        Err(_) => Level::Text(text),
    }
}

/// A figure of a case in an environment, over all its valid trials so far. A server that was started anew in between is
/// the same server; more trials make the figure surer.
pub(super) fn measured(
    name: &str,
    figure: &Figure,
    environment: Option<&str>,
    cases: &[Case],
    trials: &[TrialRecord],
    statistic: Statistic,
) -> Option<f64> {
    let needed = cases
        .iter()
        .find(|other| other.short() == name && other.environment.as_deref() == environment)?;
    let values: Vec<f64> = trials
        .iter()
        .filter(|trial| trial.valid && trial.case.as_ref() == Some(&needed.name))
        .filter_map(|trial| Some(figure.read(trial)?.value))
        .collect();
    middle(&values, statistic)
}
