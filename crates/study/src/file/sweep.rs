//! `[sweep]`: a designed experiment.

mod across;
mod case;
mod formula;
mod overview;

use std::collections::BTreeMap;
use std::time::Duration;

use toml::Spanned;
use weir_metric::parse_share;
use weir_record::{Level, Levels, Window};
use weir_userfile::{Section, hint};

use super::factor::{Allowed, check_name, flat, read_level};
use super::load::{LoadSpec, auto_window};

pub use across::{Across, EnvironmentSpec, PictureSpec, SpreadSpec};
pub(crate) use case::depth;
pub(super) use case::read_set;
pub(crate) use formula::Derived;
pub use overview::{ChoiceSpec, OverviewColumnSpec, OverviewSpec, Shown};

/// Most replicates that can be typed.
const REPLICATES_MAX: u32 = 100;
/// The smallest differences that somebody may care for.
pub(super) const MATTERS: std::ops::RangeInclusive<f64> = 0.005..=0.5;
/// What matters when the study does not say.
pub(super) const MATTERS_UNSAID: f64 = 0.05;
/// Most cases of one design: at half a minute a trial this is a working day.
const CASES_MAX: usize = 1_000;

/// A designed experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepSpec {
    /// The question in the user's words.
    pub question: String,
    /// Which combinations of levels are run.
    pub design: Design,
    /// How often each case is run.
    pub replicates: u32,
    /// What the table shows.
    pub columns: Vec<ColumnSpec>,
    /// By which figure the cases are compared.
    pub compare: Option<CompareSpec>,
    /// Environments, and what is told of all of them together.
    pub across: Across,
    /// How long a trial measures.
    pub window: Window,
    /// Seed of the order and of the trials' randomness.
    pub seed: u64,
}

/// Which combinations of levels are run.
#[derive(Debug, Clone, PartialEq)]
pub enum Design {
    /// The cases that are listed.
    Cases(Vec<CaseSpec>),
    /// Every combination of the factors' levels.
    Full(Vec<Factor>),
    /// The first level of every factor, and each other level of one factor with the first of the
    /// others.
    OneAtATime(Vec<Factor>),
}

/// A factor and its levels.
#[derive(Debug, Clone, PartialEq)]
pub struct Factor {
    /// Its name.
    pub name: String,
    /// Its levels, as listed.
    pub levels: Vec<Level>,
}

/// A case that is listed.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseSpec {
    /// Its name.
    pub name: String,
    /// Its levels.
    pub set: Levels,
    /// What was published for a signal, as written.
    pub published: BTreeMap<String, String>,
    /// How long its trials measure, where that is not what the study's others do.
    pub window: Option<Duration>,
    /// How often it is run at most.
    pub replicates: Option<u32>,
    /// The environments in which it is run; `None`: all.
    pub only_in: Option<Vec<String>>,
}

/// How cases are compared.
#[derive(Debug, Clone, PartialEq)]
pub struct CompareSpec {
    /// The signal or figure; the catalogue says which way it gets better.
    pub signal: String,
    /// The smallest difference that matters, as a share.
    pub matters: f64,
}

/// A column of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnSpec {
    /// What stands above it.
    pub title: String,
    /// The signal or figure.
    pub signal: String,
    /// Whether it is shown as a multiple of what the reference case had.
    pub relative: bool,
}

impl ColumnSpec {
    /// A column that shows a figure as it was measured.
    pub fn new(title: impl Into<String>, signal: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            signal: signal.into(),
            relative: false,
        }
    }
}

/// Reads `[sweep]`.
pub(crate) fn read(
    section: &Section<'_>,
    question: Option<String>,
    load: Option<&LoadSpec>,
    seed: u64,
) -> Option<SweepSpec> {
    let cases = case::read_all(section);
    let factors = section
        .section("factors", "[sweep.factors]")
        .map(|factors| read_factors(&factors));
    let replicates = section.whole("replicates", 1..=REPLICATES_MAX);
    let columns = read_columns(section);
    case::check_published(section, &columns);
    let listed = cases.as_deref().unwrap_or_default().iter();
    let names: Vec<&str> = listed.map(|case| case.name.as_str()).collect();
    let across = across::read(section, &names);
    check_relative(section, &columns, &across);
    case::check_environments(section, &across);
    case::check_needs_within(section, cases.as_deref().unwrap_or_default(), &across);
    let compare = read_compare(section, replicates.as_ref());
    let design = read_design(section, cases, factors);
    section.finish();
    let design = design?;
    Some(SweepSpec {
        question: question.unwrap_or_else(|| "What do the cases differ in?".to_owned()),
        design,
        replicates: replicates.map_or(1, Spanned::into_inner),
        columns,
        compare,
        across,
        window: load.map_or_else(auto_window, |load| load.window),
        seed,
    })
}

fn read_compare(section: &Section<'_>, replicates: Option<&Spanned<u32>>) -> Option<CompareSpec> {
    let matters = section.parsed("matters", parse_share);
    let signal = section.text("compare");
    let Some(signal) = signal else {
        if let Some(matters) = matters {
            section.problems().add_with_help(
                matters.span(),
                "nothing is compared",
                "write `compare = \"throughput\"` too",
            );
        }
        return None;
    };
    if replicates.is_none_or(|replicates| *replicates.get_ref() < 2) {
        section.problems().add_with_help(
            signal.span(),
            "one trial of each case cannot be compared: nothing says how much chance is in it",
            "write `replicates = 3` or more",
        );
    }
    refuse_single_trials(section);
    if let Some(matters) = matters
        .as_ref()
        .filter(|share| !MATTERS.contains(share.get_ref()))
    {
        section.problems().add_with_help(
            matters.span(),
            "a difference that matters lies between 0.5 % and 50 %",
            "write `matters = \"5 %\"`",
        );
    }
    Some(CompareSpec {
        signal: signal.into_inner(),
        matters: matters.map_or(MATTERS_UNSAID, Spanned::into_inner),
    })
}

/// A case that is compared, or all those of an environment, may not be run just once.
fn refuse_single_trials(section: &Section<'_>) {
    for list in ["case", "environment"] {
        let tables = section
            .value(list)
            .and_then(|list| list.get_ref().as_array());
        let replicates = tables
            .into_iter()
            .flat_map(|tables| tables.iter())
            .filter_map(|table| {
                let replicates = table.get_ref().as_table()?.get("replicates")?;
                (replicates.get_ref().as_integer()?.as_str() == "1").then_some(replicates)
            });
        for replicates in replicates {
            section.problems().add_with_help(
                replicates.span(),
                "one trial of it cannot be compared with the others: nothing says how much chance is in it",
                "write `replicates = 2` or more, or leave `compare` out",
            );
        }
    }
}

fn read_design(
    section: &Section<'_>,
    cases: Option<Vec<CaseSpec>>,
    factors: Option<Vec<Factor>>,
) -> Option<Design> {
    let Some(design) = section.text("design") else {
        section.missing("design", "design = \"cases\"");
        return None;
    };
    let unused = |what: &str| {
        section.problems().add(
            design.span(),
            format!("the design `{}` does not use {what}", design.get_ref()),
        );
    };
    match design.get_ref().as_str() {
        "cases" => {
            if factors.is_some() {
                unused("[sweep.factors]");
            }
            needed(section, "[[sweep.case]]", cases).map(Design::Cases)
        }
        name @ ("full" | "one-at-a-time") => {
            if cases.is_some() {
                unused("[[sweep.case]]");
            }
            let factors = needed(section, "[sweep.factors]", factors)?;
            check_count(section, &design, &factors)?;
            Some(match name {
                "full" => Design::Full(factors),
                _ => Design::OneAtATime(factors),
            })
        }
        name => {
            section.problems().add_with_help(
                design.span(),
                format!("`{name}` is no design"),
                hint(name, &["cases", "full", "one-at-a-time"]),
            );
            None
        }
    }
}

/// The part that a design cannot do without.
fn needed<T>(section: &Section<'_>, table: &str, part: Option<Vec<T>>) -> Option<Vec<T>> {
    let part = part.filter(|part| !part.is_empty());
    if part.is_none() {
        section.missing(table, table);
    }
    part
}

/// Refuses a design with more cases than anybody has time for.
fn check_count(section: &Section<'_>, design: &Spanned<String>, factors: &[Factor]) -> Option<()> {
    let count = count_cases(design.get_ref(), factors);
    if count <= CASES_MAX {
        return Some(());
    }
    section.problems().add_with_help(
        design.span(),
        format!("this design has {count} cases, more than {CASES_MAX}"),
        "name fewer levels, or write `design = \"one-at-a-time\"`",
    );
    None
}

fn count_cases(design: &str, factors: &[Factor]) -> usize {
    let counts = factors.iter().map(|factor| factor.levels.len());
    if design == "full" {
        counts.fold(1, usize::saturating_mul)
    } else {
        1 + counts.map(|count| count - 1).sum::<usize>()
    }
}

fn read_factors(section: &Section<'_>) -> Vec<Factor> {
    let problems = section.problems();
    let mut factors = Vec::new();
    for (name, span, value) in flat(section.table()) {
        if !check_name(&name, span, Allowed::All, problems) {
            continue;
        }
        let Some(list) = value.get_ref().as_array().filter(|list| !list.is_empty()) else {
            problems.add_with_help(
                value.span(),
                format!("the levels of `{name}` have to be a list"),
                format!("write `{name} = [1, 2, 5]`"),
            );
            continue;
        };
        let levels: Vec<Level> = list
            .iter()
            .filter_map(|value| read_level(&name, value, problems))
            .collect();
        if levels.len() == list.len() {
            factors.push(Factor { name, levels });
        }
    }
    factors
}

fn read_columns(section: &Section<'_>) -> Vec<ColumnSpec> {
    let Some((_, list)) = section.list("column") else {
        return default_columns();
    };
    let mut columns = Vec::new();
    for value in list {
        let Some(table) = section.section_of("[[sweep.column]]", value) else {
            continue;
        };
        let title = table.text("title");
        let signal = table.text("signal");
        let relative = table.flag("relative").unwrap_or(false);
        table.finish();
        match signal {
            Some(signal) => columns.push(ColumnSpec {
                title: title.map_or_else(|| signal.get_ref().clone(), Spanned::into_inner),
                signal: signal.into_inner(),
                relative,
            }),
            None => table.missing("signal", "signal = \"pool.db.waiting\""),
        }
    }
    columns
}

/// A column that is relative needs something that it is relative to.
fn check_relative(section: &Section<'_>, columns: &[ColumnSpec], across: &Across) {
    let relative = columns.iter().any(|column| column.relative);
    if let Some(list) = section
        .value("column")
        .filter(|_| relative && across.reference.is_none())
    {
        section.problems().add_with_help(
            list.span(),
            "a column is relative, and nothing says to which case",
            "write `reference = \"NAME OF A CASE\"` in [sweep]",
        );
    }
}

/// What a table shows when the study does not say.
pub(crate) fn default_columns() -> Vec<ColumnSpec> {
    [
        ("Throughput", "throughput"),
        ("Mean response time", "mean"),
        ("p99", "p99"),
        ("Errors", "errors"),
        ("CPU", "cpu"),
    ]
    .map(|(title, signal)| ColumnSpec::new(title, signal))
    .to_vec()
}
