//! The comparison of two runs as a page: the changes with their intervals against the margin, then
//! the figures.

use weir_record::{FigureComparison, RunComparison, Scale};

use super::{change, outcome, value};
use crate::sheet::{Forest, ForestRow, Sheet, SheetTable};
use crate::words;

/// The whole comparison as a page.
pub fn comparison_sheet(comparison: &RunComparison) -> Sheet {
    let (a, b) = (&comparison.a, &comparison.b);
    Sheet {
        title: comparison.summary.clone(),
        lead: vec![format!("A is {}, B is {}.", a.name, b.name)],
        drawings: Vec::new(),
        forests: forests(comparison),
        tables: tables(comparison),
        notes: notes(comparison),
        made_by: format!("weir compare · Weir {}", comparison.weir),
    }
}

fn forests(comparison: &RunComparison) -> Vec<Forest> {
    let relative = Forest {
        title: "Changes from A to B".to_owned(),
        x_title: "% of A, with 95 % intervals; within the shaded margin a change does not matter"
            .to_owned(),
        // A ratio of 1.05 and one of 1/1.05 are equally far.
        margin: (
            (1.0 / (1.0 + comparison.margin) - 1.0) * 100.0,
            comparison.margin * 100.0,
        ),
        rows: rows(&comparison.figures, Scale::Relative),
    };
    let points = Forest {
        title: "Changes of shares".to_owned(),
        x_title:
            "points of percent, with 95 % intervals; within the shaded margin a change does not matter"
                .to_owned(),
        margin: (
            -comparison.errors_margin * 100.0,
            comparison.errors_margin * 100.0,
        ),
        rows: rows(&comparison.figures, Scale::Points),
    };
    let drawn = [relative, points].into_iter();
    drawn.filter(|forest| !forest.rows.is_empty()).collect()
}

fn rows(figures: &[FigureComparison], scale: Scale) -> Vec<ForestRow> {
    let row = |figure: &FigureComparison| {
        let change = figure.change.filter(|change| change.scale == scale)?;
        Some(ForestRow {
            name: words::figure(&figure.figure),
            value: change.value * 100.0,
            interval: (change.low * 100.0, change.high * 100.0),
            outcome: outcome(figure.outcome).to_owned(),
        })
    };
    figures.iter().filter_map(row).collect()
}

fn tables(comparison: &RunComparison) -> Vec<SheetTable> {
    let figures = table("Figures", &comparison.figures);
    let labels = comparison
        .labels
        .iter()
        .map(|(label, figures)| table(label, figures));
    let signals = table("Signals that both have", &comparison.signals);
    std::iter::once(figures)
        .chain(labels)
        .chain([signals, requirements(comparison)])
        .filter(|table| !table.rows.is_empty())
        .collect()
}

fn table(title: &str, figures: &[FigureComparison]) -> SheetTable {
    let row = |figure: &FigureComparison| {
        let changed = figure.change.as_ref().map(change);
        let changed = changed.or_else(|| figure.why.clone());
        vec![
            words::figure(&figure.figure),
            value(figure, figure.a, figure.a_interval.as_ref()),
            value(figure, figure.b, figure.b_interval.as_ref()),
            changed.unwrap_or_else(|| "–".to_owned()),
            outcome(figure.outcome).to_owned(),
        ]
    };
    SheetTable {
        title: title.to_owned(),
        head: ["", "A", "B", "change (95 % interval)", "outcome"]
            .map(str::to_owned)
            .to_vec(),
        rows: figures.iter().map(row).collect(),
    }
}

fn requirements(comparison: &RunComparison) -> SheetTable {
    let rows = comparison.requirements.iter().map(|requirement| {
        let verdict = if requirement.met { "met" } else { "NOT MET" };
        vec![
            requirement.says.clone(),
            words::found_text(requirement),
            verdict.to_owned(),
        ]
    });
    SheetTable {
        title: "Required of B".to_owned(),
        head: ["requirement", "found", "verdict"]
            .map(str::to_owned)
            .to_vec(),
        rows: rows.collect(),
    }
}

fn notes(comparison: &RunComparison) -> Vec<String> {
    let differs = comparison
        .differs
        .iter()
        .map(|what| format!("Differs in what was measured: {what}"));
    let sides = [("A", &comparison.a), ("B", &comparison.b)];
    let of_sides = sides.iter().flat_map(|(letter, side)| {
        side.notes
            .iter()
            .map(move |note| format!("{letter}: {note}"))
    });
    differs
        .chain(of_sides)
        .chain(comparison.notes.iter().cloned())
        .collect()
}
