//! Tables with a row for each environment, and the best of some cases in each.

use toml::Spanned;
use weir_metric::Requirement;
use weir_userfile::{Section, hint};

use super::across::{named_case, names_of_cases, read_list, text};
use super::formula::Derived;
use crate::figure::Figure;
use crate::requirement::is_recorded;

/// The best of some cases, chosen anew in each environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChoiceSpec {
    /// What overviews call it.
    pub name: String,
    /// The cases from which is chosen.
    pub among: Vec<String>,
    /// The signal or figure: of throughput the most is best, of everything else the least.
    pub by: String,
    /// What a case has to keep to be chosen; a bound may be a formula.
    pub subject_to: Vec<String>,
}

/// A table with a row for each environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OverviewSpec {
    /// What stands above it.
    pub title: String,
    /// Its columns.
    pub columns: Vec<OverviewColumnSpec>,
}

/// A column of an overview.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OverviewColumnSpec {
    /// What stands above it.
    pub title: String,
    /// The case or the choice whose figure it is.
    pub case: String,
    /// What is shown.
    pub shows: Shown,
}

/// What a column of an overview shows of its case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shown {
    /// A signal or figure as it was measured.
    Signal(String),
    /// A signal or figure as a multiple of what another case or choice had.
    Over {
        /// The signal or figure.
        signal: String,
        /// The case or the choice below the line.
        below: String,
    },
    /// The level of a factor, which has to be a number.
    Level(String),
}

/// Reads `[[sweep.choice]]`; `cases` are the names of the sweep's cases.
pub(super) fn read_choices(section: &Section<'_>, cases: &[&str]) -> Vec<ChoiceSpec> {
    let mut known: Vec<String> = Vec::new();
    read_list(section, "choice", "[[sweep.choice]]", |table| {
        let name = table.text("name");
        match &name {
            Some(name)
                if known.contains(name.get_ref()) || cases.contains(&name.get_ref().as_str()) =>
            {
                table.problems().add_with_help(
                    name.span(),
                    format!("a case or another choice is called `{}`", name.get_ref()),
                    "give the choice a name of its own: overviews name cases and choices alike",
                );
            }
            Some(name) => known.push(name.get_ref().clone()),
            None if table.value("name").is_none() => table.missing("name", "name = \"best sleep\""),
            None => {}
        }
        let among = names_of_cases(table, "among", cases);
        let by = text(table, "by", "throughput(heavy)");
        let subject_to = table.texts("subject-to").unwrap_or_default();
        let subject_to = subject_to
            .into_iter()
            .filter(|bound| check_bound(table, bound, cases));
        let subject_to = subject_to.map(Spanned::into_inner).collect();
        Some(ChoiceSpec {
            name: name?.into_inner(),
            among: among?,
            by: by?,
            subject_to,
        })
    })
}

/// A bound is a requirement once its formulas are numbers.
fn check_bound(table: &Section<'_>, bound: &Spanned<String>, cases: &[&str]) -> bool {
    let wrong = |says: String, help: &str| {
        table.problems().add_with_help(bound.span(), says, help);
        false
    };
    let example = "write `p99(light) <= {2 * p99(light) of NAME OF A CASE} ms`";
    let derived = match Derived::parse(bound.get_ref()) {
        Ok(derived) => derived,
        Err(says) => return wrong(says, example),
    };
    if let Some(derived) = &derived
        && let Some(needed) = derived.needs().find(|needed| !cases.contains(needed))
    {
        return wrong(
            format!("no case is called `{needed}`"),
            &hint(needed, cases),
        );
    }
    let filled = derived.and_then(|derived| derived.text(|_, _| Some(1.0)));
    let filled = filled.unwrap_or_else(|| bound.get_ref().clone());
    match filled.parse::<Requirement>() {
        Ok(requirement) if is_recorded(&requirement) => true,
        Ok(requirement) => wrong(
            format!("trials do not record what `{requirement}` bounds"),
            example,
        ),
        Err(error) => wrong(weir_userfile::cannot(&error), example),
    }
}

/// Reads `[[sweep.overview]]`; `cases` are the names of the sweep's cases and choices.
pub(super) fn read_overviews(section: &Section<'_>, cases: &[&str]) -> Vec<OverviewSpec> {
    read_list(section, "overview", "[[sweep.overview]]", |table| {
        let title = text(table, "title", "Environment by environment");
        let columns = read_list(table, "column", "[[sweep.overview.column]]", |column| {
            read_column(column, cases)
        });
        if columns.is_empty() && table.value("column").is_none() {
            table.missing("column", "[[sweep.overview.column]]");
        }
        Some(OverviewSpec {
            title: title?,
            columns,
        })
    })
}

fn read_column(table: &Section<'_>, cases: &[&str]) -> Option<OverviewColumnSpec> {
    let title = text(table, "title", "off");
    let case = named_case(table, "case", cases);
    let over = table
        .value("over")
        .and_then(|_| named_case(table, "over", cases));
    let signal = table.text("signal").map(Spanned::into_inner);
    let level = table.text("level");
    let shows = match (signal, level, over) {
        (Some(signal), None, None) => Some(Shown::Signal(signal)),
        (Some(signal), None, Some(below)) => Some(Shown::Over { signal, below }),
        (None, Some(level), None) => Some(Shown::Level(level.into_inner())),
        (_, Some(level), _) => {
            table.problems().add_with_help(
                level.span(),
                "a column shows a signal or a level, and only a signal `over` that of another case",
                "write `level`, or `signal`, or `signal` and `over`",
            );
            None
        }
        (None, None, _) => {
            table.missing("signal", "signal = \"p99(light)\"");
            None
        }
    };
    Some(OverviewColumnSpec {
        title: title?,
        case: case?,
        shows: shows?,
    })
}

impl ChoiceSpec {
    /// The figure by which is chosen.
    pub(crate) fn figure(&self) -> Figure {
        Figure::named(&self.by)
    }
}
