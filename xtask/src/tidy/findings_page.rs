//! The page of findings has an entry for every id that the code gives, and for no other.

use std::collections::BTreeMap;

use crate::tidy::Problem;
use crate::tidy::tree::{Tree, extension, is_below};

/// The page.
const PAGE: &str = "docs/reference/findings.md";
/// What makes a finding; its id follows, as a literal.
const MAKES: &str = "Finding::new(";
/// What an entry begins with.
const ENTRY: &str = "### ";

/// Ids without an entry, entries without an id, and findings whose id is no literal.
pub(crate) fn check(tree: &Tree) -> Vec<Problem> {
    let Some(page) = tree.file(PAGE) else {
        return Vec::new();
    };
    let mut problems = Vec::new();
    let mut ids: BTreeMap<&str, &str> = BTreeMap::new();
    for (path, text) in tree.files() {
        if extension(path) != "rs" || !path.starts_with("crates/") || is_below(path, "tests") {
            continue;
        }
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for (at, _) in code.match_indices(MAKES) {
            let rest = code[at + MAKES.len()..].trim_start();
            let id = rest.strip_prefix('"').and_then(|rest| rest.split_once('"'));
            if let Some((id, _)) = id {
                ids.insert(id, path);
            } else {
                let line = code[..at].matches('\n').count() + 1;
                let says = "the id of a finding is a literal, so that its entry can be checked";
                problems.push(Problem::at_line(path, line, says));
            }
        }
    }
    let entries: Vec<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix(ENTRY))
        .collect();
    let missing = ids.iter().filter(|(id, _)| !entries.contains(id));
    problems.extend(missing.map(|(id, path)| {
        Problem::in_file(PAGE, format!("no entry for `{id}`, which {path} reports"))
    }));
    let dead = entries.iter().filter(|entry| !ids.contains_key(*entry));
    problems.extend(
        dead.map(|entry| Problem::in_file(PAGE, format!("nothing reports `{entry}` any more"))),
    );
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(code: &str, page: &str) -> Vec<String> {
        let tree = Tree::of(&[(PAGE, page), ("crates/study/src/x.rs", code)]);
        check(&tree).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn code_and_page_have_the_same_ids() {
        let code = "Finding::new(\n    \"drift\", says, &ids)";
        assert_eq!(found(code, "### drift\n"), [""; 0]);
        assert!(found(code, "# Findings\n")[0].contains("no entry for `drift`"));
        assert!(found(code, "### drift\n### gone\n")[0].contains("nothing reports `gone`"));
    }

    #[test]
    fn an_id_that_cannot_be_read_is_named() {
        assert!(
            found("x();\nFinding::new(id, says, &[])", "")[0]
                .starts_with("crates/study/src/x.rs:2")
        );
    }
}
