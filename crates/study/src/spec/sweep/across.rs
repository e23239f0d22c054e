//! What a sweep has beside its cases: environments in which all of them run, and what is told of these together.

use std::time::Duration;

use toml::Spanned;
use weir_record::{Levels, Statistic};
use weir_userfile::{Section, hint};

use super::super::load::fixed_length;
use super::{REPLICATES_MAX, read_set};

/// What a sweep has beside its cases.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Across {
    /// Where every case runs; none: once, as the target is.
    pub environments: Vec<EnvironmentSpec>,
    /// The load before the first case in an environment; what it measures stands in no table.
    pub warm_up: Option<Levels>,
    /// The case that columns may be relative to.
    pub reference: Option<String>,
    /// How the trials of a case become one figure.
    pub statistic: Statistic,
    /// What is told of all environments together.
    pub spreads: Vec<SpreadSpec>,
    /// What is drawn of all environments together.
    pub pictures: Vec<PictureSpec>,
}

/// Levels that are the same for all cases that run one after the other.
#[derive(Debug, Clone, PartialEq)]
pub struct EnvironmentSpec {
    /// Its name.
    pub name: String,
    /// Its levels, to which every case adds its own.
    pub set: Levels,
    /// How long trials measure in it, where that is not what the study's others do.
    pub window: Option<Duration>,
    /// How often each case is run in it at most.
    pub replicates: Option<u32>,
}

/// How far environments lie apart in some cases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpreadSpec {
    /// The signal or figure.
    pub signal: String,
    /// The cases, each compared with the first.
    pub cases: Vec<String>,
}

/// A figure against the level of one factor, a line for each environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PictureSpec {
    /// What stands above it.
    pub title: String,
    /// The factor.
    pub x: String,
    /// The signal or figure.
    pub signal: String,
    /// The cases that are its points.
    pub cases: Vec<String>,
}

/// Reads what stands in `[sweep]` beside the cases; `cases` are their names.
pub(super) fn read(section: &Section<'_>, cases: &[&str]) -> Across {
    let reference = section.text("reference");
    if let Some(reference) = &reference {
        check_case(section, reference, cases);
    }
    Across {
        environments: read_environments(section),
        warm_up: section
            .section("warm-up", "`warm-up`")
            .map(|warm_up| read_set(&warm_up)),
        reference: reference.map(Spanned::into_inner),
        statistic: read_statistic(section),
        spreads: read_list(section, "spread", "[[sweep.spread]]", |table| {
            Some(SpreadSpec {
                signal: text(table, "signal", "p99(light)")?,
                cases: case_names(table, cases)?,
            })
        }),
        pictures: read_list(section, "picture", "[[sweep.picture]]", |table| {
            let title = text(table, "title", "Light requests");
            let x = text(table, "x", "users");
            let signal = text(table, "signal", "p99(light)");
            let cases = case_names(table, cases);
            Some(PictureSpec {
                title: title?,
                x: x?,
                signal: signal?,
                cases: cases?,
            })
        }),
    }
}

fn read_statistic(section: &Section<'_>) -> Statistic {
    let Some(word) = section.text("statistic") else {
        return Statistic::default();
    };
    match word.get_ref().as_str() {
        "mean" => Statistic::Mean,
        "median" => Statistic::Median,
        other => {
            section.problems().add_with_help(
                word.span(),
                format!("`{other}` is no statistic of a case's trials"),
                "write \"mean\" (also when nothing is written) or \"median\"",
            );
            Statistic::default()
        }
    }
}

fn read_environments(section: &Section<'_>) -> Vec<EnvironmentSpec> {
    let mut known: Vec<String> = Vec::new();
    read_list(section, "environment", "[[sweep.environment]]", |table| {
        let name = table.text("name");
        let set = table.section("set", "`set`").map(|set| read_set(&set));
        let window = table.text("window");
        let window = window.and_then(|text| fixed_length(table, &text, ""));
        let replicates = table.whole("replicates", 1..=REPLICATES_MAX);
        let Some(name) = name else {
            table.missing("name", "name = \"Serial\"");
            return None;
        };
        if known.contains(name.get_ref()) {
            table.problems().add(
                name.span(),
                format!("two environments are called `{}`", name.get_ref()),
            );
        }
        known.push(name.get_ref().clone());
        Some(EnvironmentSpec {
            name: name.into_inner(),
            set: set.unwrap_or_default(),
            window,
            replicates: replicates.map(Spanned::into_inner),
        })
    })
}

/// The tables of a list, each read to its end.
fn read_list<T>(
    section: &Section<'_>,
    key: &'static str,
    name: &str,
    mut read: impl FnMut(&Section<'_>) -> Option<T>,
) -> Vec<T> {
    let Some((_, list)) = section.list(key) else {
        return Vec::new();
    };
    let tables = list
        .iter()
        .filter_map(|value| section.section_of(name, value));
    let read = tables.filter_map(|table| {
        let one = read(&table);
        table.finish();
        one
    });
    read.collect()
}

fn text(table: &Section<'_>, key: &'static str, example: &str) -> Option<String> {
    let text = table.text(key).map(Spanned::into_inner);
    if text.is_none() && table.value(key).is_none() {
        table.missing(key, &format!("{key} = \"{example}\""));
    }
    text
}

/// `cases` of a table, each of which has to be one of the sweep's.
fn case_names(table: &Section<'_>, cases: &[&str]) -> Option<Vec<String>> {
    let Some(named) = table.texts("cases").filter(|named| !named.is_empty()) else {
        table.missing("cases", "cases = [\"NAME\"]");
        return None;
    };
    for name in &named {
        check_case(table, name, cases);
    }
    Some(named.into_iter().map(Spanned::into_inner).collect())
}

fn check_case(section: &Section<'_>, name: &Spanned<String>, cases: &[&str]) {
    if !cases.contains(&name.get_ref().as_str()) {
        section.problems().add_with_help(
            name.span(),
            format!("no case is called `{}`", name.get_ref()),
            hint(name.get_ref(), cases),
        );
    }
}
