//! Rules for source files: no empty crate, docs on top, one idea a file, names that say something.

use crate::tidy::Problem;
use crate::tidy::tree::{Tree, extension, is_below};
use crate::workspace::Crate;

/// A file of control flow that is longer holds more than one idea (style guide: most are far
/// below).
const LINES_MAX: usize = 700;
/// How wide a comment may be: as wide as rustfmt keeps the code.
const COLUMNS_MAX: usize = 100;
/// How the docs of a file begin that may be longer: a catalogue of equal blocks reads well at any
/// length.
const CATALOGUE: &str = "//! A catalogue";
/// First words of docs that make a reader look elsewhere.
const EMPTY_OPENINGS: [&str; 2] = ["The same", "Why not."];
/// Module names that say nothing about what is inside.
const NAMELESS: [&str; 7] = [
    "common", "helper", "helpers", "misc", "shared", "util", "utils",
];

/// Crates without a line of code beside an empty `main`.
pub(crate) fn empty_crates(tree: &Tree, crates: &[Crate]) -> Vec<Problem> {
    crates
        .iter()
        .filter(|member| {
            let sources = format!("{}/src/", member.directory);
            let mut lines = tree
                .files()
                .filter(|(path, _)| path.starts_with(&sources))
                .flat_map(|(_, text)| text.lines());
            !lines.any(is_code)
        })
        .map(|member| Problem::in_file(&member.directory, "the crate is empty"))
        .collect()
}

fn is_code(line: &str) -> bool {
    let line = line.trim();
    !(line.is_empty() || line.starts_with("//") || line == "fn main() {}")
}

/// Crates whose root file does not begin with its docs.
pub(crate) fn crate_docs(tree: &Tree, crates: &[Crate]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for member in crates {
        for root in ["lib.rs", "main.rs"] {
            let path = format!("{}/src/{root}", member.directory);
            if tree
                .file(&path)
                .is_some_and(|text| !text.starts_with("//!"))
            {
                let says = "a crate begins with `//!`: what it owns, and why";
                problems.push(Problem::at_line(&path, 1, says));
            }
        }
    }
    problems
}

/// Source files that are too long and no catalogue.
pub(crate) fn long_files(tree: &Tree) -> Vec<Problem> {
    tree.files()
        .filter(|(path, _)| matches!(extension(path), "rs" | "js" | "css" | "html" | "java"))
        .filter(|(path, _)| !is_vendored(path) && !is_below(path, "tests"))
        .filter(|(_, text)| !text.lines().any(|line| line.starts_with(CATALOGUE)))
        .filter_map(|(path, text)| {
            let lines = text.lines().count();
            (lines > LINES_MAX).then(|| {
                let says = format!(
                    "{lines} lines, at most {LINES_MAX}: one idea a file, or docs that begin `{CATALOGUE}`"
                );
                Problem::in_file(path, says)
            })
        })
        .collect()
}

/// Comments that are wider than the code. Examples and drawings between fences are as wide as they
/// are.
pub(crate) fn wide_comments(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (path, text) in tree.files().filter(|(path, _)| extension(path) == "rs") {
        let mut is_fenced = false;
        for (at, line) in text.lines().enumerate() {
            let Some(comment) = line.trim_start().strip_prefix("//") else {
                is_fenced = false;
                continue;
            };
            let words = comment.trim_start_matches(['/', '!', ' ']);
            if words.starts_with("```") {
                is_fenced = !is_fenced;
            }
            let columns = line.chars().count();
            if columns > COLUMNS_MAX && !is_fenced {
                let says = format!("a comment of {columns} columns, at most {COLUMNS_MAX}");
                problems.push(Problem::at_line(path, at + 1, says));
            }
        }
    }
    problems
}

/// Docs whose first words say nothing about what stands below them.
pub(crate) fn empty_openings(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (path, text) in tree.files().filter(|(path, _)| extension(path) == "rs") {
        let mut above = "";
        for (at, line) in text.lines().enumerate() {
            let doc = line.trim_start();
            let begins = doc.starts_with("//!") && !above.trim_start().starts_with("//!")
                || doc.starts_with("///") && !above.trim_start().starts_with("///");
            let words = doc.trim_start_matches(['/', '!']).trim_start();
            let opening = EMPTY_OPENINGS
                .iter()
                .find(|empty| words.starts_with(*empty));
            if let Some(opening) = opening.filter(|_| begins) {
                let says =
                    format!("docs begin with `{opening}`: name what it is, or what it is like");
                problems.push(Problem::at_line(path, at + 1, says));
            }
            above = line;
        }
    }
    problems
}

/// Modules that are named for nothing, outside tests.
pub(crate) fn nameless_modules(tree: &Tree) -> Vec<Problem> {
    tree.files()
        .filter(|(path, _)| extension(path) == "rs" && !is_below(path, "tests"))
        .filter_map(|(path, _)| {
            let name = path
                .trim_end_matches(".rs")
                .split('/')
                .find(|part| NAMELESS.contains(part))?;
            let says = format!("`{name}` says nothing: name the module for the idea it holds");
            Some(Problem::in_file(path, says))
        })
        .collect()
}

/// Whether a file was taken over unchanged from elsewhere.
pub(crate) fn is_vendored(path: &str) -> bool {
    ["uplot", "axe"]
        .iter()
        .any(|directory| is_below(path, directory))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(name: &str) -> Crate {
        Crate {
            name: name.to_owned(),
            directory: format!("crates/{name}"),
            ..Crate::default()
        }
    }

    fn paths(problems: &[Problem]) -> Vec<&str> {
        problems
            .iter()
            .map(|problem| problem.path.as_str())
            .collect()
    }

    #[test]
    fn comments_are_as_narrow_as_code_but_for_examples() {
        let wide = "x".repeat(100);
        let text =
            format!("// {wide}\nlet a = 1; // {wide}\n/// ```\n/// {wide}\n/// ```\n/// {wide}\n");
        let tree = Tree::of(&[("crates/a/src/lib.rs", &text), ("a.md", &wide)]);
        let lines: Vec<Option<usize>> = wide_comments(&tree).iter().map(|p| p.line).collect();
        assert_eq!(
            lines,
            [Some(1), Some(6)],
            "rustfmt sees to what stands behind code"
        );
    }

    #[test]
    fn docs_say_what_stands_below_them() {
        let text = "/// The same for files.\nfn a() {}\n/// Two.\n/// The same line.\nfn b() {}\n    /// Why not.\n";
        let tree = Tree::of(&[("crates/a/src/lib.rs", text)]);
        let lines: Vec<Option<usize>> = empty_openings(&tree).iter().map(|p| p.line).collect();
        assert_eq!(lines, [Some(1), Some(6)]);
    }

    #[test]
    fn a_crate_of_comments_is_empty() {
        let tree = Tree::of(&[
            ("crates/a/src/lib.rs", "//! Nothing yet.\n\n// soon\n"),
            ("crates/b/src/main.rs", "fn main() {}\n"),
            ("crates/c/src/lib.rs", "//! Docs.\n"),
            ("crates/c/src/part.rs", "pub struct Part;\n"),
        ]);
        let crates = ["a", "b", "c"].map(member);
        assert_eq!(
            paths(&empty_crates(&tree, &crates)),
            ["crates/a", "crates/b"]
        );
    }

    #[test]
    fn a_crate_begins_with_docs() {
        let tree = Tree::of(&[
            ("crates/a/src/lib.rs", "//! What it owns.\n"),
            ("crates/b/src/lib.rs", "use std::fmt;\n//! Late.\n"),
            ("crates/b/src/main.rs", "fn main() {}\n"),
        ]);
        let crates = ["a", "b"].map(member);
        assert_eq!(
            paths(&crate_docs(&tree, &crates)),
            ["crates/b/src/lib.rs", "crates/b/src/main.rs"]
        );
    }

    #[test]
    fn long_files_are_catalogues_or_wrong() {
        let long = "let a = 1;\n".repeat(LINES_MAX + 1);
        let just_right = "let a = 1;\n".repeat(LINES_MAX);
        let catalogue = format!("//! Signals.\n//!\n//! A catalogue of equal blocks.\n{long}");
        let tree = Tree::of(&[
            ("crates/a/src/catalogue.rs", &catalogue),
            ("crates/a/src/just_right.rs", &just_right),
            ("crates/a/src/long.rs", &long),
            ("crates/a/tests/cases.rs", &long),
            ("crates/a/assets/uplot/uplot.js", &long),
            ("crates/a/assets/report.js", &long),
            ("docs/long.md", &long),
        ]);
        assert_eq!(
            paths(&long_files(&tree)),
            ["crates/a/assets/report.js", "crates/a/src/long.rs"]
        );
    }

    #[test]
    fn modules_are_named_for_something() {
        let tree = Tree::of(&[
            ("crates/a/src/utils.rs", ""),
            ("crates/a/src/helpers/mod.rs", ""),
            ("crates/a/tests/common/mod.rs", ""),
            ("crates/a/src/uncommon.rs", ""),
        ]);
        assert_eq!(
            paths(&nameless_modules(&tree)),
            ["crates/a/src/helpers/mod.rs", "crates/a/src/utils.rs"]
        );
    }
}
