//! Files that users write in TOML, read with all their problems at once.
//!
//! A [`Section`] is one table while it is read: it takes what it can, notes every [`Problem`] with
//! the bytes it stands at, and names the keys that nobody asked for, with the one that was probably
//! meant.

mod problem;
mod section;
mod suggest;
mod variables;

use toml::de::DeTable;

pub use problem::{Problem, Problems};
pub use section::{At, Section, cannot, number};
pub use suggest::{closest, hint};

/// Reads a file whose text is TOML; `name` is what messages call it.
///
/// `read` is called only if all of it is TOML: what can be read of a broken file would give rise to
/// problems that are none.
pub fn read_file<T>(
    name: &str,
    text: &str,
    read: impl FnOnce(&Section<'_>) -> Option<T>,
) -> Result<T, Vec<Problem>> {
    read_whole(name, text, None, read)
}

/// As [`read_file`], of a file whose texts may have `${NAME}` or `${NAME:-default}` for what
/// `variable` gives for a name.
pub fn read_file_with<T>(
    name: &str,
    text: &str,
    variable: impl Fn(&str) -> Option<String>,
    read: impl FnOnce(&Section<'_>) -> Option<T>,
) -> Result<T, Vec<Problem>> {
    read_whole(name, text, Some(&variable), read)
}

/// What gives a variable its value.
type Variable<'a> = dyn Fn(&str) -> Option<String> + 'a;

fn read_whole<T>(
    name: &str,
    text: &str,
    variable: Option<&Variable<'_>>,
    read: impl FnOnce(&Section<'_>) -> Option<T>,
) -> Result<T, Vec<Problem>> {
    let problems = Problems::default();
    let (mut root, errors) = DeTable::parse_recoverable(text);
    for error in &errors {
        problems.add(
            error.span().unwrap_or(0..0),
            format!("this is not TOML: {}", error.message()),
        );
    }
    if !errors.is_empty() {
        return Err(problems.into_sorted());
    }
    if let Some(variable) = variable {
        variables::fill_in(root.get_mut(), variable, &problems);
    }
    let section = Section::new(name, root.get_ref(), 0..0, &problems);
    let content = read(&section);
    let problems = problems.into_sorted();
    match content {
        Some(content) if problems.is_empty() => Ok(content),
        _ => Err(problems),
    }
}

/// Checks that a file is of the one version that is read.
pub fn check_schema(root: &Section<'_>, schema: &str) {
    match root.text("schema") {
        Some(found) if found.get_ref() == schema => {}
        Some(found) => root.problems().add_with_help(
            found.span(),
            format!("this version of Weir does not read `{}`", found.get_ref()),
            format!("write `schema = \"{schema}\"`"),
        ),
        None if root.value("schema").is_none() => {
            root.missing("schema", &format!("schema = \"{schema}\""));
        }
        None => {}
    }
}
