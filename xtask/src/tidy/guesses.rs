//! Rules against guessing: no code decides on a sentence, and none reads a unit, a kind or a cause
//! out of a name.
//!
//! What a sentence says stands in a type as well (`InvalidReason`, `Finding::evidence`), and what a
//! name means stands in the catalogue of `metric`. Text of other programs has no type: code that
//! reads it says whose words they are, in a comment `// Words of …` on the line or above it.

use crate::tidy::Problem;
use crate::tidy::tree::{Tree, extension, is_below};

/// Names of variables that hold a sentence.
const SENTENCES: [&str; 7] = [
    "because", "message", "prose", "reason", "says", "sentence", "why",
];
/// Ways to look into a text.
const LOOKS: [&str; 11] = [
    "contains",
    "ends_with",
    "find",
    "parse",
    "rsplit",
    "rsplit_once",
    "split",
    "split_once",
    "starts_with",
    "strip_prefix",
    "strip_suffix",
];
/// Ends of names that once were units.
const UNIT_ENDS: [&str; 5] = ["_ms", "_per_s", "_s", "_bytes", "_share"];
/// How an exception says why it is one.
const FOREIGN: &str = "// Words of ";
/// The page with the name of every signal, made from the catalogue.
const SIGNALS: &str = "docs/reference/signals.md";
/// Crates that name signals or the places they come from: names are made there, not guessed.
const NAMERS: [&str; 2] = ["crates/metric/", "crates/probe/"];

/// Places of the product where code decides on a sentence, or on a part of a signal's name.
pub(crate) fn check(tree: &Tree) -> Vec<Problem> {
    let heads = heads(tree);
    let mut problems = Vec::new();
    for (path, text) in tree.files() {
        if extension(path) != "rs" || !path.starts_with("crates/") || is_test(path) {
            continue;
        }
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let mut above = "";
        for (at, line) in code.lines().enumerate() {
            let is_foreign = line.contains(FOREIGN) || above.contains(FOREIGN);
            let names = !NAMERS.iter().any(|namer| path.starts_with(namer));
            let says = (!is_foreign)
                .then(|| on_sentence(line).or_else(|| on_name(line, &heads).filter(|_| names)));
            if let Some(says) = says.flatten() {
                problems.push(Problem::at_line(path, at + 1, says));
            }
            above = line;
        }
    }
    problems
}

fn is_test(path: &str) -> bool {
    is_below(path, "tests") || is_below(path, "examples") || path.ends_with("/tests.rs")
}

/// What the names of signals begin with, up to the first dot: `cpu.`, `target.`.
fn heads(tree: &Tree) -> Vec<String> {
    let page = tree.file(SIGNALS).unwrap_or_default();
    let names = page.lines().filter_map(|line| line.strip_prefix("| `"));
    let heads = names.filter_map(|rest| {
        let (name, _) = rest.split_once('`')?;
        let (head, _) = name.split_once('.')?;
        let is_word = head.chars().all(|c| c.is_ascii_lowercase() || c == '-');
        is_word.then(|| format!("{head}."))
    });
    let mut heads: Vec<String> = heads.collect();
    heads.sort();
    heads.dedup();
    heads
}

/// One look into a text: what it looks into, and for what, where that is written there.
struct Look<'l> {
    into: &'l str,
    way: &'l str,
    literal: Option<&'l str>,
}

fn looks(line: &str) -> Vec<Look<'_>> {
    let code = line.trim_start();
    if code.starts_with("//") || code.starts_with("assert") {
        return Vec::new();
    }
    let mut found = Vec::new();
    for way in LOOKS {
        for (at, _) in line.match_indices(way) {
            let Some(before) = line[..at].strip_suffix('.') else {
                continue;
            };
            let after = &line[at + way.len()..];
            let argument = match after.strip_prefix("::<") {
                Some(typed) => typed.split_once(">(").map(|(_, rest)| rest),
                None => after.strip_prefix('('),
            };
            let Some(argument) = argument else {
                continue;
            };
            let start = before
                .rfind(|c: char| !(c.is_alphanumeric() || c == '_'))
                .map_or(0, |at| at + 1);
            found.push(Look {
                into: &before[start..],
                way,
                literal: argument.strip_prefix('"').and_then(|rest| {
                    let (literal, _) = rest.split_once('"')?;
                    Some(literal)
                }),
            });
        }
    }
    found
}

fn on_sentence(line: &str) -> Option<String> {
    let decides = looks(line)
        .into_iter()
        .find(|look| SENTENCES.contains(&look.into) || look.literal.is_some_and(is_prose))?;
    Some(format!(
        "`{}.{}` decides on a sentence: put what it says into a type, or say `{FOREIGN}…` where \
         another program speaks",
        decides.into, decides.way
    ))
}

/// Whether a text has two words beside each other.
fn is_prose(text: &str) -> bool {
    let is_word = |word: &str| word.len() > 1 && word.chars().all(|c| c.is_ascii_lowercase());
    let words: Vec<&str> = text.split(' ').collect();
    words
        .windows(2)
        .any(|pair| pair.iter().all(|word| is_word(word)))
}

fn on_name(line: &str, heads: &[String]) -> Option<String> {
    let guess = looks(line).into_iter().find_map(|look| {
        let literal = look.literal?;
        let unit = UNIT_ENDS.contains(&literal)
            && matches!(look.way, "contains" | "ends_with" | "starts_with");
        let head = look.way == "starts_with" && heads.iter().any(|head| head == literal);
        (unit || head).then_some(literal)
    })?;
    Some(format!(
        "`{guess}` guesses from a signal's name: ask the catalogue (`weir_metric::figure`)"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(code: &str) -> Vec<Option<usize>> {
        let signals =
            "| signal | unit |\n|---|---|\n| `cpu.user` | `1` |\n| `tcp.PORT.closing` | `1` |\n";
        let tree = Tree::of(&[(SIGNALS, signals), ("crates/a/src/b.rs", code)]);
        check(&tree).iter().map(|problem| problem.line).collect()
    }

    /// Each is a way in which the product once decided on words.
    #[test]
    fn guesses_from_sentences_and_names_are_found() {
        for code in [
            "because.contains(\"the load generator\")",
            "    if let Ok(requirement) = says.parse::<Requirement>() {",
            "_ if name.contains(\"_ms\") => Self::Milliseconds,",
            "let share = name.starts_with(\"cpu.\")",
            "matches!(error, Xml { says, .. } if says.starts_with(\"the file ends\"))",
            "let unit = check.says.rsplit(' ').next().unwrap_or(\"\");",
            "if text.starts_with(\"A location path was expected\") {",
        ] {
            assert_eq!(lines(code), [Some(1)], "{code}");
        }
    }

    #[test]
    fn tests_foreign_words_and_other_texts_are_left_alone() {
        for code in [
            "path.ends_with(\".toml\")",
            "name.starts_with(\"pool.\")",
            "// because.contains(\"the load generator\")",
            "assert!(says.contains(\"the load generator\"));",
            "#[cfg(test)]\nmod tests { fn a() { says.contains(\"the load generator\"); } }",
            "// Words of ssh.\nif says.contains(\"connection refused\") {",
        ] {
            assert!(lines(code).is_empty(), "{code}");
        }
        let test = [(
            "crates/a/tests/b.rs",
            "says.contains(\"the load generator\")",
        )];
        assert!(check(&Tree::of(&test)).is_empty());
    }
}
