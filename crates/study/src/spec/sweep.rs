//! `[sweep]`: a designed experiment.

use std::collections::BTreeMap;
use std::time::Duration;

use toml::Spanned;
use toml::de::DeValue;
use weir_record::{Level, Levels, Window};
use weir_units::parse_share;
use weir_userfile::{Section, hint};

use crate::figure::Figure;

use super::factor::{Allowed, check_name, flat, read_level};
use super::level::level;
use super::load::{LoadSpec, auto_window, fixed_length};

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
}

/// How cases are compared.
#[derive(Debug, Clone, PartialEq)]
pub struct CompareSpec {
    /// The signal or figure; of throughput more is better, of everything else less.
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
}

/// Reads `[sweep]`.
pub(crate) fn read(
    section: &Section<'_>,
    question: Option<String>,
    load: Option<&LoadSpec>,
    seed: u64,
) -> Option<SweepSpec> {
    let cases = read_cases(section);
    let factors = section
        .section("factors", "[sweep.factors]")
        .map(|factors| read_factors(&factors));
    let design = read_design(section, cases, factors);
    let replicates = section.whole("replicates", 1..=REPLICATES_MAX);
    let columns = read_columns(section);
    check_published(section, &columns);
    let compare = read_compare(section, replicates.as_ref());
    section.finish();
    let design = design?;
    Some(SweepSpec {
        question: question.unwrap_or_else(|| "What do the cases differ in?".to_owned()),
        design,
        replicates: replicates.map_or(1, Spanned::into_inner),
        columns,
        compare,
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

fn read_cases(section: &Section<'_>) -> Option<Vec<CaseSpec>> {
    let (_, list) = section.list("case")?;
    let mut cases: Vec<CaseSpec> = Vec::new();
    for value in list {
        let Some(table) = section.section_of("[[sweep.case]]", value) else {
            continue;
        };
        let name = table.text("name");
        let set = table.section("set", "`set`").map(|set| read_set(&set));
        let published = table
            .section("published", "`published`")
            .map(|published| read_published(&published))
            .unwrap_or_default();
        let window = table.text("window");
        let window = window.and_then(|text| fixed_length(&table, &text, ""));
        table.finish();
        let Some(name) = name else {
            if table.value("name").is_none() {
                table.missing("name", "name = \"pool 10\"");
            }
            continue;
        };
        if cases.iter().any(|case| case.name == *name.get_ref()) {
            section.problems().add(
                name.span(),
                format!("two cases are called `{}`", name.get_ref()),
            );
        }
        let Some(set) = set else {
            if table.value("set").is_none() {
                table.missing("set", "set = { users = 10 }");
            }
            continue;
        };
        cases.push(CaseSpec {
            name: name.into_inner(),
            set,
            published,
            window,
        });
    }
    Some(cases)
}

pub(super) fn read_set(section: &Section<'_>) -> Levels {
    let problems = section.problems();
    let set: Levels = flat(section.table())
        .into_iter()
        .filter(|(name, span, _)| check_name(name, span.clone(), Allowed::All, problems))
        .filter_map(|(name, _, value)| {
            let level = read_level(&name, value, problems)?;
            Some((name, level))
        })
        .collect();
    set
}

fn read_published(section: &Section<'_>) -> BTreeMap<String, String> {
    let mut published = BTreeMap::new();
    for (name, _, value) in flat(section.table()) {
        match published_text(value.get_ref()) {
            Some(text) => {
                published.insert(name, text);
            }
            None => section.problems().add(
                value.span(),
                format!("what was published for `{name}` has to be a number or a text in quotes"),
            ),
        }
    }
    published
}

/// What was published for a figure that no column shows would be lost.
fn check_published(section: &Section<'_>, columns: &[ColumnSpec]) {
    let shown: Vec<&str> = columns
        .iter()
        .map(|column| column.signal.as_str())
        .collect();
    let cases = section
        .value("case")
        .and_then(|cases| cases.get_ref().as_array());
    let tables = cases
        .into_iter()
        .flat_map(|cases| cases.iter())
        .filter_map(|case| {
            case.get_ref()
                .as_table()?
                .get("published")?
                .get_ref()
                .as_table()
        });
    for (name, span, _) in tables.flat_map(flat) {
        let figure = Figure::named(&name);
        if !shown.iter().any(|signal| Figure::named(signal) == figure) {
            section.problems().add_with_help(
                span,
                format!("no column shows `{name}`"),
                hint(&name, &shown),
            );
        }
    }
}

fn published_text(value: &DeValue<'_>) -> Option<String> {
    level(value).map(|level| level.to_string())
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
        table.finish();
        match signal {
            Some(signal) => columns.push(ColumnSpec {
                title: title.map_or_else(|| signal.get_ref().clone(), Spanned::into_inner),
                signal: signal.into_inner(),
            }),
            None => table.missing("signal", "signal = \"pool.db.waiting\""),
        }
    }
    columns
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
    .map(|(title, signal)| ColumnSpec {
        title: title.to_owned(),
        signal: signal.to_owned(),
    })
    .to_vec()
}
