//! The crate table of ARCHITECTURE.md says what is.
//!
//! The table stands between `<!-- crates -->` and `<!-- /crates -->`, one row a crate:
//!
//! ```text
//! | crate | layer | may depend on | owns | must never |
//! |---|---|---|---|---|
//! | metric | L0 | – | quantities as types | depend on more than serde |
//! | plan | L1 | metric | what is asked and sent, as data | run anything |
//! ```
//!
//! It is the only place that gives a crate its layer. It has to list exactly the crates that exist,
//! with exactly the edges that their code has, so that a new edge is a change of the table that a
//! reviewer sees. A dash stands for no edge; `all` for the program that wires everything together,
//! whose edges are not listed.

use std::collections::{BTreeMap, BTreeSet};

use crate::tidy::Problem;
use crate::tidy::edges::{Layers, upward};
use crate::tidy::tree::Tree;
use crate::workspace::Crate;

const PATH: &str = "ARCHITECTURE.md";
const BEGIN: &str = "<!-- crates -->";
const END: &str = "<!-- /crates -->";
/// What stands in place of edges where there are none.
const NO_EDGES: &str = "–";
/// What stands in place of the edges of the program.
const ALL_EDGES: &str = "all";

/// One row of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Row {
    line: usize,
    name: String,
    layer: u32,
    edges: BTreeSet<String>,
}

impl Row {
    fn allows_all(&self) -> bool {
        self.edges.iter().eq([ALL_EDGES])
    }
}

/// Checks the table against the crates, and the crates' edges against its layers.
pub(crate) fn check(tree: &Tree, crates: &[Crate]) -> Vec<Problem> {
    let Some(text) = tree.file(PATH) else {
        return vec![Problem::in_file(
            PATH,
            "there is none, so no crate has a layer",
        )];
    };
    match rows(text) {
        Err(problems) => problems,
        Ok(rows) => compare(&rows, crates),
    }
}

fn compare(rows: &[Row], crates: &[Crate]) -> Vec<Problem> {
    let by_name: BTreeMap<&str, &Row> = rows.iter().map(|row| (row.name.as_str(), row)).collect();
    let mut problems = Vec::new();
    for member in crates {
        match by_name.get(member.name.as_str()) {
            None => problems.push(Problem::in_file(
                PATH,
                format!(
                    "the table has no row for `{}`; it depends on: {}",
                    member.name,
                    listed(&member.edges)
                ),
            )),
            Some(row) if !row.allows_all() && row.edges != member.edges => {
                problems.push(Problem::at_line(
                    PATH,
                    row.line,
                    format!(
                        "`{}` depends on: {}; the table says: {}",
                        row.name,
                        listed(&member.edges),
                        listed(&row.edges)
                    ),
                ));
            }
            Some(_) => {}
        }
    }
    for row in rows {
        if !crates.iter().any(|member| member.name == row.name) {
            let says = format!("there is no crate `{}`", row.name);
            problems.push(Problem::at_line(PATH, row.line, says));
        }
    }
    let layers: Layers = rows
        .iter()
        .map(|row| (row.name.clone(), row.layer))
        .collect();
    problems.extend(
        upward(crates, &layers)
            .into_iter()
            .map(|says| Problem::in_file(PATH, says)),
    );
    problems
}

fn listed(edges: &BTreeSet<String>) -> String {
    if edges.is_empty() {
        return NO_EDGES.to_owned();
    }
    edges.iter().cloned().collect::<Vec<_>>().join(", ")
}

/// The rows between the two marks, behind the two lines of the header.
fn rows(text: &str) -> Result<Vec<Row>, Vec<Problem>> {
    let lines: Vec<(usize, &str)> = text
        .lines()
        .enumerate()
        .map(|(index, line)| (index + 1, line.trim()))
        .skip_while(|(_, line)| *line != BEGIN)
        .take_while(|(_, line)| *line != END)
        .filter(|(_, line)| line.starts_with('|'))
        .skip(2)
        .collect();
    if lines.is_empty() {
        let says = format!("no crate table between `{BEGIN}` and `{END}`");
        return Err(vec![Problem::in_file(PATH, says)]);
    }
    let (rows, problems): (Vec<_>, Vec<_>) = lines
        .into_iter()
        .map(|(number, line)| row(number, line))
        .partition(Result::is_ok);
    if problems.is_empty() {
        Ok(rows.into_iter().filter_map(Result::ok).collect())
    } else {
        Err(problems.into_iter().filter_map(Result::err).collect())
    }
}

fn row(number: usize, line: &str) -> Result<Row, Problem> {
    let cells: Vec<String> = line
        .trim_matches('|')
        .split('|')
        .map(|cell| cell.trim().replace('`', ""))
        .collect();
    let [name, layer, edges, ..] = cells.as_slice() else {
        let says = "a row of the crate table has at least three cells";
        return Err(Problem::at_line(PATH, number, says));
    };
    let layer = layer
        .strip_prefix('L')
        .and_then(|layer| layer.parse().ok())
        .ok_or_else(|| {
            let says = format!("`{layer}` is no layer; write L0, L1 …");
            Problem::at_line(PATH, number, says)
        })?;
    let edges = edges
        .split(',')
        .map(|edge| edge.trim().to_owned())
        .filter(|edge| !edge.is_empty() && edge != NO_EDGES)
        .collect();
    Ok(Row {
        line: number,
        name: name.clone(),
        layer,
        edges,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(name: &str, edges: &[&str]) -> Crate {
        Crate {
            name: name.to_owned(),
            edges: edges.iter().map(|edge| (*edge).to_owned()).collect(),
            ..Crate::default()
        }
    }

    fn says(table: &str, crates: &[Crate]) -> Vec<String> {
        let head = "| crate | layer | may depend on | owns | must never |\n|---|---|---|---|---|";
        let text = format!("# Weir\n\n{BEGIN}\n{head}\n{table}\n{END}\n| other | table |\n");
        check(&Tree::of(&[(PATH, &text)]), crates)
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn a_true_table_has_no_problem() {
        let table = "| `units` | L0 | – | quantities | – |\n| `plan` | L1 | `units` | data | run |\n\
                     | weir | L5 | all | wiring | think |";
        let crates = [
            member("units", &[]),
            member("plan", &["units"]),
            member("weir", &["plan", "units"]),
        ];
        assert!(says(table, &crates).is_empty());
    }

    #[test]
    fn missing_rows_false_edges_and_ghosts_are_named() {
        let table = "| plan | L1 | – |\n| ghost | L2 | – |";
        let crates = [member("units", &[]), member("plan", &["units"])];
        assert_eq!(
            says(table, &crates),
            [
                "ARCHITECTURE.md: the table has no row for `units`; it depends on: –",
                "ARCHITECTURE.md:6: `plan` depends on: units; the table says: –",
                "ARCHITECTURE.md:7: there is no crate `ghost`",
            ]
        );
    }

    #[test]
    fn an_edge_that_points_up_is_wrong_even_when_the_table_allows_it() {
        let table = "| units | L0 | plan |\n| plan | L1 | – |";
        let crates = [member("units", &["plan"]), member("plan", &[])];
        assert_eq!(
            says(table, &crates),
            ["ARCHITECTURE.md: `units` (L0) depends on `plan` (L1): edges point down only"]
        );
    }

    #[test]
    fn a_table_that_cannot_be_read_is_a_problem() {
        assert_eq!(
            says("| units | low | – |", &[]),
            ["ARCHITECTURE.md:6: `low` is no layer; write L0, L1 …"]
        );
        assert_eq!(
            check(&Tree::of(&[(PATH, "# Weir")]), &[]),
            [Problem::in_file(
                PATH,
                "no crate table between `<!-- crates -->` and `<!-- /crates -->`"
            )]
        );
        assert_eq!(check(&Tree::default(), &[]).len(), 1);
    }
}
