//! Levels that follow from what other cases have measured in the same environment.

use std::cell::Cell;
use std::fmt;

use weir_record::{Level, Levels, Statistic, TrialRecord};

use super::Case;
use super::table::{middle, of_case};
use crate::figure::Figure;
use crate::file::Derived;

/// A level that cannot be worked out.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Missing {
    factor: String,
    /// The level as it is written.
    written: String,
    /// The figure that is not there; `None` where all are there and give no number.
    lacks: Option<Lacking>,
}

/// A figure of a case that is not there.
#[derive(Debug, Clone, PartialEq)]
struct Lacking {
    figure: String,
    of: String,
    /// Whether the case has a valid trial.
    was_run: bool,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            factor, written, ..
        } = self;
        write!(f, "`{factor} = {written}` ")?;
        match &self.lacks {
            Some(Lacking {
                figure,
                of,
                was_run: true,
            }) => write!(f, "needs {figure}, which no trial of `{of}` recorded"),
            Some(Lacking { figure, of, .. }) => {
                write!(f, "needs {figure} of `{of}`, which has no valid trial here")
            }
            None => f.write_str("gives no finite number"),
        }
    }
}

/// The levels of a case with every formula worked out, or what one of them lacks.
pub(super) fn levels(
    case: &Case,
    cases: &[Case],
    trials: &[TrialRecord],
    statistic: Statistic,
) -> Result<Levels, Missing> {
    let environment = case.environment.as_deref();
    let level = |(factor, level): (&String, &Level)| {
        let derived = match level {
            Level::Text(text) => Derived::parse(text).ok().flatten(),
            Level::Number(_) => None,
        };
        let Some(derived) = derived else {
            return Ok((factor.clone(), level.clone()));
        };
        let lacking = Cell::new(None);
        let text = derived.text(|of, figure| {
            let found = measured(of, figure, environment, cases, trials, statistic);
            if found.is_none() {
                lacking.set(Some((of.to_owned(), figure.to_string())));
            }
            found
        });
        match text {
            Some(text) => Ok((factor.clone(), as_level(text))),
            None => Err(Missing {
                factor: factor.clone(),
                written: level.to_string(),
                lacks: lacking.into_inner().map(|(of, figure)| Lacking {
                    was_run: named(&of, environment, cases)
                        .is_some_and(|of| !of_case(of, trials).is_empty()),
                    of,
                    figure,
                }),
            }),
        }
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

/// A figure of a case in an environment, over all its valid trials so far. A server that was
/// started anew in between is the same server; more trials make the figure surer.
pub(super) fn measured(
    name: &str,
    figure: &Figure,
    environment: Option<&str>,
    cases: &[Case],
    trials: &[TrialRecord],
    statistic: Statistic,
) -> Option<f64> {
    let needed = named(name, environment, cases)?;
    let values: Vec<f64> = of_case(needed, trials)
        .into_iter()
        .filter_map(|trial| Some(figure.read(trial)?.value))
        .collect();
    middle(&values, statistic)
}

/// The case of this name in an environment.
pub(super) fn named<'c>(
    name: &str,
    environment: Option<&str>,
    cases: &'c [Case],
) -> Option<&'c Case> {
    let mut here = cases
        .iter()
        .filter(|case| case.environment.as_deref() == environment);
    here.find(|case| case.short() == name)
}
