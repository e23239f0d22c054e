//! The cases of a sweep that are listed.

use std::collections::BTreeMap;

use toml::Spanned;
use toml::de::DeValue;
use weir_record::{Level, Levels};
use weir_userfile::{At, Problems, Section, hint};

use super::super::factor::{Allowed, check_name, flat, read_level};
use super::super::level::level;
use super::super::load::fixed_length;
use super::formula::{Derived, EXAMPLE};
use super::{Across, CaseSpec, ColumnSpec, REPLICATES_MAX};
use crate::figure::Figure;

/// The cases that are listed.
pub(super) fn read_all(section: &Section<'_>) -> Option<Vec<CaseSpec>> {
    let (_, list) = section.list("case")?;
    let mut cases: Vec<CaseSpec> = Vec::new();
    for value in list {
        let Some(table) = section.section_of("[[sweep.case]]", value) else {
            continue;
        };
        let name = table.text("name");
        let set = table
            .section("set", "`set`")
            .map(|set| read_with_formulas(&set));
        let published = table
            .section("published", "`published`")
            .map(|published| read_published(&published))
            .unwrap_or_default();
        let window = table.text("window");
        let window = window.and_then(|text| fixed_length(&table, &text, ""));
        let replicates = table.whole("replicates", 1..=REPLICATES_MAX);
        let only_in = table.texts("only-in");
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
            replicates: replicates.map(Spanned::into_inner),
            only_in: only_in.map(|names| names.into_iter().map(Spanned::into_inner).collect()),
        });
    }
    check_formulas(section, &cases);
    Some(cases)
}

/// The levels of a table.
pub(in crate::file) fn read_set(section: &Section<'_>) -> Levels {
    read_levels(section, read_level)
}

/// The levels of a case; a text with a formula fits every factor.
fn read_with_formulas(section: &Section<'_>) -> Levels {
    read_levels(section, |name, value, problems| {
        match value.get_ref().as_str().filter(|text| text.contains('{')) {
            Some(text) => read_formula(text, value, problems),
            None => read_level(name, value, problems),
        }
    })
}

fn read_levels(
    section: &Section<'_>,
    read: impl Fn(&str, At<'_>, &Problems) -> Option<Level>,
) -> Levels {
    let problems = section.problems();
    let known = flat(section.table())
        .into_iter()
        .filter(|(name, span, _)| check_name(name, span.clone(), Allowed::All, problems));
    known
        .filter_map(|(name, _, value)| {
            let level = read(&name, value, problems)?;
            Some((name, level))
        })
        .collect()
}

fn read_formula(text: &str, value: At<'_>, problems: &Problems) -> Option<Level> {
    match Derived::parse(text) {
        Ok(_) => Some(Level::Text(text.to_owned())),
        Err(says) => {
            problems.add_with_help(value.span(), says, format!("write `{EXAMPLE}`"));
            None
        }
    }
}

/// Every formula speaks of another case, and of none that needs this one.
fn check_formulas(section: &Section<'_>, cases: &[CaseSpec]) {
    let Some((span, _)) = section.list("case") else {
        return;
    };
    for case in cases {
        for needed in needs(&case.set) {
            if !cases.iter().any(|other| other.name == needed) {
                section.problems().add(
                    span.clone(),
                    format!(
                        "the case `{}` needs the case `{needed}`, which there is not",
                        case.name
                    ),
                );
            }
        }
        if depth(case, cases, 0).is_none() {
            section.problems().add(
                span.clone(),
                format!("the case `{}` needs itself", case.name),
            );
        }
    }
}

/// Where a case is run, those are run whose figures its levels need.
pub(super) fn check_needs_within(section: &Section<'_>, cases: &[CaseSpec], across: &Across) {
    let Some(span) = section.value("case").map(Spanned::span) else {
        return;
    };
    for environment in &across.environments {
        let runs = |case: &CaseSpec| environment.runs(&case.name, case.only_in.as_deref());
        for case in cases.iter().filter(|case| runs(case)) {
            let needs = needs(&case.set);
            let absent = cases
                .iter()
                .find(|other| needs.contains(&other.name) && !runs(other));
            if let Some(absent) = absent {
                section.problems().add_with_help(
                    span.clone(),
                    format!(
                        "in the environment `{}` the case `{}` needs the case `{}`, which is not run there",
                        environment.name, case.name, absent.name
                    ),
                    "write both of them into `cases` of the environment, and both or none `only-in` others",
                );
            }
        }
    }
}

/// The cases whose figures the levels of a case need.
fn needs(set: &Levels) -> Vec<String> {
    let texts = set.values().filter_map(|level| match level {
        Level::Text(text) => Derived::parse(text).ok().flatten(),
        Level::Number(_) => None,
    });
    let needs = texts.flat_map(|derived| derived.needs().map(str::to_owned).collect::<Vec<_>>());
    needs.collect()
}

/// How many cases have to come before a case, one after the other; `None` when they go round in a
/// circle.
pub(crate) fn depth(case: &CaseSpec, cases: &[CaseSpec], below: usize) -> Option<usize> {
    if below > cases.len() {
        return None;
    }
    let needed = needs(&case.set);
    let needed = cases.iter().filter(|other| needed.contains(&other.name));
    needed
        .map(|other| Some(depth(other, cases, below + 1)? + 1))
        .try_fold(0, |deepest, depth| Some(deepest.max(depth?)))
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

/// A case that is run in some environments only names those that there are.
pub(super) fn check_environments(section: &Section<'_>, across: &Across) {
    let known: Vec<&str> = across
        .environments
        .iter()
        .map(|environment| environment.name.as_str())
        .collect();
    let cases = section.list("case").map(|(_, cases)| cases);
    let named = cases
        .into_iter()
        .flatten()
        .filter_map(|case| {
            case.get_ref()
                .as_table()?
                .get("only-in")?
                .get_ref()
                .as_array()
        })
        .flat_map(|names| names.iter());
    for name in named {
        if let Some(text) = name.get_ref().as_str().filter(|text| !known.contains(text)) {
            section.problems().add_with_help(
                name.span(),
                format!("no environment is called `{text}`"),
                hint(text, &known),
            );
        }
    }
}

/// What was published for a figure that no column shows would be lost.
pub(super) fn check_published(section: &Section<'_>, columns: &[ColumnSpec]) {
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
