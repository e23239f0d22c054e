//! What a sweep has beside its cases: environments in which all of them run, and what is told of
//! these together.

use std::time::Duration;

use toml::Spanned;
use weir_record::{Level, Levels, Statistic, Window};
use weir_userfile::{Section, hint};

use super::super::load::fixed_length;
use super::overview::{ChoiceSpec, OverviewSpec, read_choices, read_overviews};
use super::{REPLICATES_MAX, read_set};

/// What a sweep has beside its cases.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Across {
    /// Where every case runs; none: once, as the target is.
    pub environments: Vec<EnvironmentSpec>,
    /// The load before the first case in an environment; what it measures stands in no table.
    pub warm_up: Option<Levels>,
    /// How long that load lasts, where that is not as long as a trial's window.
    pub warm_up_window: Option<Duration>,
    /// The case that columns may be relative to.
    pub reference: Option<String>,
    /// How the trials of a case become one figure.
    pub statistic: Statistic,
    /// What is told of all environments together.
    pub spreads: Vec<SpreadSpec>,
    /// What is drawn of all environments together.
    pub pictures: Vec<PictureSpec>,
    /// The best of some cases in each environment.
    pub choices: Vec<ChoiceSpec>,
    /// Tables with a row for each environment.
    pub overviews: Vec<OverviewSpec>,
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
    /// The cases that are run in it; `None`: all.
    pub cases: Option<Vec<String>>,
}

impl EnvironmentSpec {
    /// Whether a case is run in it that is run only in these environments; `None`: in all.
    pub(crate) fn runs(&self, case: &str, only_in: Option<&[String]>) -> bool {
        let is_listed = |names: Option<&[String]>, name: &str| {
            names.is_none_or(|names| names.iter().any(|listed| listed == name))
        };
        is_listed(only_in, &self.name) && is_listed(self.cases.as_deref(), case)
    }

    /// Whether every trial in it begins with a start of the server, which leaves nothing of a load
    /// before the first.
    fn starts_each_trial(&self) -> bool {
        let each = self.set.get("start.each");
        each.is_some_and(|each| *each == Level::Text("trial".to_owned()))
    }
}

impl Across {
    /// The load before the first case in an environment and how long a trial with it measures;
    /// `None` where there is none.
    pub(crate) fn warm_up_in(
        &self,
        environment: Option<&EnvironmentSpec>,
        common: Window,
    ) -> Option<(&Levels, Window)> {
        let levels = self.warm_up.as_ref()?;
        if environment.is_some_and(EnvironmentSpec::starts_each_trial) {
            return None;
        }
        let window = self
            .warm_up_window
            .map_or(common, |length| Window::fixed(common.warm_up_min, length));
        Some((levels, window))
    }
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
    let choices = read_choices(section, cases);
    let chosen = choices.iter().map(|choice| choice.name.as_str());
    let named: Vec<&str> = cases.iter().copied().chain(chosen).collect();
    let overviews = read_overviews(section, &named);
    let warm_up = section
        .section("warm-up", "`warm-up`")
        .map(|warm_up| read_set(&warm_up));
    Across {
        environments: read_environments(section, cases),
        warm_up_window: read_warm_up_window(section, warm_up.is_some()),
        warm_up,
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
        choices,
        overviews,
    }
}

fn read_warm_up_window(section: &Section<'_>, warms_up: bool) -> Option<Duration> {
    let window = section.text("warm-up-window")?;
    if !warms_up {
        section.problems().add_with_help(
            window.span(),
            "nothing says with which load the server is warmed up",
            "write `warm-up = { users = 10 }` too",
        );
    }
    fixed_length(section, &window, "")
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

fn read_environments(section: &Section<'_>, cases: &[&str]) -> Vec<EnvironmentSpec> {
    let mut known: Vec<String> = Vec::new();
    read_list(section, "environment", "[[sweep.environment]]", |table| {
        let name = table.text("name");
        let set = table.section("set", "`set`").map(|set| read_set(&set));
        let window = table.text("window");
        let window = window.and_then(|text| fixed_length(table, &text, ""));
        let replicates = table.whole("replicates", 1..=REPLICATES_MAX);
        let own = table.value("cases").and_then(|_| case_names(table, cases));
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
            cases: own,
        })
    })
}

/// The tables of a list, each read to its end.
pub(super) fn read_list<T>(
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

pub(super) fn text(table: &Section<'_>, key: &'static str, example: &str) -> Option<String> {
    let text = table.text(key).map(Spanned::into_inner);
    if text.is_none() && table.value(key).is_none() {
        table.missing(key, &format!("{key} = \"{example}\""));
    }
    text
}

/// `cases` of a table, each of which has to be one of the sweep's.
fn case_names(table: &Section<'_>, cases: &[&str]) -> Option<Vec<String>> {
    names_of_cases(table, "cases", cases)
}

/// The names at a key of a table, each of which has to be one of the sweep's cases.
pub(super) fn names_of_cases(
    table: &Section<'_>,
    key: &'static str,
    cases: &[&str],
) -> Option<Vec<String>> {
    let Some(named) = table.texts(key).filter(|named| !named.is_empty()) else {
        table.missing(key, &format!("{key} = [\"NAME\"]"));
        return None;
    };
    for name in &named {
        check_case(table, name, cases);
    }
    Some(named.into_iter().map(Spanned::into_inner).collect())
}

/// The name at a key of a table, which has to be one of the sweep's cases.
pub(super) fn named_case(table: &Section<'_>, key: &'static str, cases: &[&str]) -> Option<String> {
    let named = table.text(key);
    match &named {
        Some(named) => check_case(table, named, cases),
        None if table.value(key).is_none() => table.missing(key, &format!("{key} = \"NAME\"")),
        None => {}
    }
    named.map(Spanned::into_inner)
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
