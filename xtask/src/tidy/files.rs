//! Rules for every text file: no paths of one machine, no tabs, no blanks at line ends.

use crate::tidy::Problem;
use crate::tidy::sources::is_vendored;
use crate::tidy::tree::{Tree, extension, is_below};

/// Top directories of somebody's machine. Without slashes here, so that this file keeps its own
/// rule.
const MACHINE_DIRECTORIES: [&str; 3] = ["home", "root", "work"];
/// Files that people write and that have no need of tabs or trailing blanks. Recorded data
/// (captured output, plans of other tools, snapshots) stays as it is.
const WRITTEN: [&str; 9] = ["", "css", "html", "java", "js", "json", "md", "rs", "toml"];

/// Lines that name a path of one machine.
pub(crate) fn machine_paths(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (path, number, line) in lines(tree) {
        if let Some(found) = machine_path(line) {
            let says = format!("`{found}` is a path of one machine");
            problems.push(Problem::at_line(path, number, says));
        }
    }
    problems
}

/// The machine directory that a line names: `/NAME/` that does not continue a longer path or a URL.
fn machine_path(line: &str) -> Option<String> {
    MACHINE_DIRECTORIES.into_iter().find_map(|name| {
        let directory = format!("/{name}/");
        let named = line.match_indices(&directory).any(|(at, _)| {
            let before = line[..at].chars().next_back();
            !before.is_some_and(|before| before.is_alphanumeric() || "./-_}$".contains(before))
        });
        named.then_some(directory)
    })
}

/// Lines with a tab, or with blanks at their end.
pub(crate) fn blanks(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (path, number, line) in lines(tree) {
        if !WRITTEN.contains(&extension(path)) || is_below(path, "tests") && extension(path) != "rs"
        {
            continue;
        }
        if line.contains('\t') {
            problems.push(Problem::at_line(path, number, "a tab; use spaces or `\\t`"));
        }
        if line.ends_with(char::is_whitespace) {
            problems.push(Problem::at_line(
                path,
                number,
                "a blank at the end of the line",
            ));
        }
    }
    problems
}

/// Files that are no text: pictures of pages, and what tests have recorded, belong to the project;
/// what a tool has fetched or built does not.
pub(crate) fn binaries(tree: &Tree) -> Vec<Problem> {
    let belongs = |path: &str| {
        is_vendored(path)
            || is_below(path, "tests")
            || is_below(path, "docs") && extension(path) == "png"
    };
    let others = tree.binaries().filter(|path| !belongs(path));
    let says =
        "it is no text, and neither a picture of a page nor recorded for a test: take it out";
    others.map(|path| Problem::in_file(path, says)).collect()
}

/// Every line that we wrote: path, number from 1, text.
fn lines(tree: &Tree) -> impl Iterator<Item = (&str, usize, &str)> {
    tree.files()
        .filter(|(path, _)| !is_vendored(path))
        .flat_map(|(path, text)| {
            text.lines()
                .enumerate()
                .map(move |(index, line)| (path, index + 1, line))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(problems: &[Problem]) -> Vec<(&str, Option<usize>)> {
        problems
            .iter()
            .map(|problem| (problem.path.as_str(), problem.line))
            .collect()
    }

    #[test]
    fn what_was_fetched_or_built_is_found() {
        let tree = Tree::default().and_binaries(&[
            "docs/studies/a.png",
            "crates/a/tests/recorded/b.bin",
            "crates/a/src/c.class",
            "locales.deb",
        ]);
        assert_eq!(
            places(&binaries(&tree)),
            [("crates/a/src/c.class", None), ("locales.deb", None)]
        );
    }

    #[test]
    fn paths_of_one_machine_are_found() {
        let home = format!("fine\nsee {}alice/notes", format_args!("/{}/", "home"));
        let quoted = format!("const P: &str = \"/{}/x\";", "work");
        let longer = format!(
            "http://host/{0}/x, net{0}/x, ../{0}/x, the work/home ratio",
            "work"
        );
        let tree = Tree::of(&[
            ("docs/a.md", &home),
            ("crates/b/src/lib.rs", &quoted),
            ("crates/c/src/lib.rs", &longer),
            ("crates/d/assets/uplot/u.js", &quoted),
        ]);
        assert_eq!(
            places(&machine_paths(&tree)),
            [("crates/b/src/lib.rs", Some(1)), ("docs/a.md", Some(2))]
        );
    }

    #[test]
    fn tabs_and_trailing_blanks_are_found_in_what_people_write() {
        let tree = Tree::of(&[
            (
                "crates/a/src/lib.rs",
                "//! Fine.\n\tlet a = 1;\nlet b = 2; \n",
            ),
            (".ci/run", "set -e \n"),
            ("crates/a/tests/output.json", "{ \t}"),
            ("crates/a/tests/case.rs", "\tassert!(true);"),
            ("studies/plan.jmx", "\t<a/> "),
        ]);
        assert_eq!(
            places(&blanks(&tree)),
            [
                (".ci/run", Some(1)),
                ("crates/a/src/lib.rs", Some(2)),
                ("crates/a/src/lib.rs", Some(3)),
                ("crates/a/tests/case.rs", Some(1)),
            ]
        );
    }
}
