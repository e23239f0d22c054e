//! Every environment in one row, and the best of some cases in each.

use weir_metric::{Better, Requirement};
use weir_record::{Column, Figure as Cell, Level, OverviewRow, SweepOverview, TrialRecord};

use super::Case;
use super::follow::{measured, named};
use super::table::{TIMES, beside, cell, multiples, of_case};
use crate::figure::Figure;
use crate::file::{Across, ChoiceSpec, Derived, OverviewColumnSpec, Shown};

/// What was measured in one environment.
struct Place<'a> {
    environment: Option<&'a str>,
    cases: &'a [Case],
    trials: &'a [TrialRecord],
    across: &'a Across,
}

/// The environments that have cases, in order; one without a name in a sweep without any.
fn places<'a>(across: &'a Across, cases: &'a [Case], trials: &'a [TrialRecord]) -> Vec<Place<'a>> {
    let mut names: Vec<Option<&str>> = Vec::new();
    for case in cases {
        let environment = case.environment.as_deref();
        if !names.contains(&environment) {
            names.push(environment);
        }
    }
    let place = |environment| Place {
        environment,
        cases,
        trials,
        across,
    };
    names.into_iter().map(place).collect()
}

/// The overviews with what was measured.
pub(super) fn overviews(
    across: &Across,
    cases: &[Case],
    trials: &[TrialRecord],
) -> Vec<SweepOverview> {
    let places = places(across, cases, trials);
    let overviews = across.overviews.iter();
    overviews
        .map(|overview| SweepOverview {
            title: overview.title.clone(),
            columns: overview
                .columns
                .iter()
                .map(|column| head(column, trials))
                .collect(),
            rows: places
                .iter()
                .map(|place| OverviewRow {
                    environment: place.environment.unwrap_or_default().to_owned(),
                    cells: overview
                        .columns
                        .iter()
                        .map(|column| place.shown(column))
                        .collect(),
                })
                .collect(),
        })
        .collect()
}

fn head(column: &OverviewColumnSpec, trials: &[TrialRecord]) -> Column {
    let (signal, unit, better) = match &column.shows {
        Shown::Signal(signal) => {
            let figure = Figure::named(signal);
            let unit = figure.unit(trials).symbol();
            (figure.to_string(), unit, figure.better())
        }
        Shown::Over { signal, .. } => {
            let figure = Figure::named(signal);
            (figure.to_string(), TIMES, figure.better())
        }
        Shown::Level(factor) => (factor.clone(), "", Better::Neither),
    };
    Column {
        title: column.title.clone(),
        signal,
        unit: unit.to_owned(),
        better: better.word().to_owned(),
    }
}

/// Which case every choice chose, environment by environment, in sentences.
pub(super) fn sentences(across: &Across, cases: &[Case], trials: &[TrialRecord]) -> Vec<String> {
    let places = places(across, cases, trials);
    let told = across.choices.iter().map(|choice| {
        let chosen = places.iter().map(|place| {
            let found = place.chosen(choice);
            let says = found.map_or("none keeps the bounds", Case::short);
            match place.environment {
                Some(environment) => format!("{environment}: {says}"),
                None => says.to_owned(),
            }
        });
        let chosen: Vec<String> = chosen.collect();
        format!(
            "Chosen as {} by {}: {}.",
            choice.name,
            choice.figure(),
            chosen.join("; ")
        )
    });
    told.collect()
}

impl<'a> Place<'a> {
    fn shown(&self, column: &OverviewColumnSpec) -> Option<Cell> {
        let case = self.case(&column.case)?;
        let statistic = self.across.statistic;
        match &column.shows {
            Shown::Signal(signal) => {
                let own = of_case(case, self.trials);
                cell(&Figure::named(signal), &own, statistic)
            }
            Shown::Over { signal, below } => {
                let below = self.case(below)?;
                multiples(&Figure::named(signal), case, below, self.trials).cell(statistic)
            }
            Shown::Level(factor) => case
                .levels
                .get(factor)
                .and_then(Level::number)
                .map(|value| Cell {
                    value,
                    interval: None,
                }),
        }
    }

    /// A case of the study here, or the one that a choice of this name chooses.
    fn case(&self, name: &str) -> Option<&'a Case> {
        let choice = self
            .across
            .choices
            .iter()
            .find(|choice| choice.name == name);
        match choice {
            Some(choice) => self.chosen(choice),
            None => self.plain_case(name),
        }
    }

    /// A case of the study here.
    fn plain_case(&self, name: &str) -> Option<&'a Case> {
        named(name, self.environment, self.cases)
    }

    /// The best of a choice's cases that keep its bounds; `None` where none does.
    fn chosen(&self, choice: &ChoiceSpec) -> Option<&'a Case> {
        let figure = choice.figure();
        let sign = figure.better().sign();
        let keeps = |name: &str| {
            let mut bounds = choice.subject_to.iter();
            bounds.all(|bound| self.is_kept(bound, name))
        };
        let candidates = choice.among.iter().filter(|name| keeps(name));
        let valued =
            candidates.filter_map(|name| Some((name, sign * self.measured(name, &figure)?)));
        let (best, _) = valued.max_by(|(_, a), (_, b)| a.total_cmp(b))?;
        self.plain_case(best)
    }

    /// Whether more than half of a case's trials keep a bound, each beside what the bound's cases
    /// had in its block: a case that is run in one block only is not judged by what others were
    /// like.
    fn is_kept(&self, bound: &str, name: &str) -> bool {
        let Some(case) = self.plain_case(name) else {
            return false;
        };
        let own = of_case(case, self.trials);
        let kept = own
            .iter()
            .filter(|trial| self.keeps(trial, bound).unwrap_or(false));
        2 * kept.count() > own.len()
    }

    /// Whether a trial keeps a bound, whose formulas are worked out by the trials beside it; `None`
    /// when something was not read.
    fn keeps(&self, trial: &TrialRecord, bound: &str) -> Option<bool> {
        let worked_out = match Derived::parse(bound).ok()? {
            Some(derived) => derived.text(|name, figure| {
                let references = of_case(self.plain_case(name)?, self.trials);
                Some(figure.read(beside(&references, trial)?)?.value)
            })?,
            None => bound.to_owned(),
        };
        let bound: Requirement = worked_out.parse().ok()?;
        let figure = Figure::of(&bound)?;
        let value = figure.read(trial)?.value;
        Some(bound.met_by(value * figure.to_base()))
    }

    fn measured(&self, case: &str, figure: &Figure) -> Option<f64> {
        let statistic = self.across.statistic;
        measured(
            case,
            figure,
            self.environment,
            self.cases,
            self.trials,
            statistic,
        )
    }
}
