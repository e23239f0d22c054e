//! The comparison in words: the answer, and what may be claimed.

use weir_record::{Basis, Change, FigureComparison, Scale};
use weir_stats::{Margin, Verdict};

use super::RunSide;
use super::pairs::Cell;
use crate::sweep::rounded;

/// What all figures together say: different as soon as one is, same when all are.
pub(super) fn outcome(figures: &[FigureComparison]) -> Verdict {
    let any = |wanted: Verdict| figures.iter().any(|figure| figure.outcome == wanted);
    if any(Verdict::Different) {
        Verdict::Different
    } else if any(Verdict::Undecided) || figures.is_empty() {
        Verdict::Undecided
    } else {
        Verdict::Same
    }
}

/// The answer in one sentence.
pub(super) fn summary(
    a: &RunSide,
    b: &RunSide,
    outcome: Verdict,
    figures: &[FigureComparison],
    margin: Margin,
) -> String {
    let named = |wanted: Verdict| -> Vec<String> {
        let found = figures.iter().filter(|figure| figure.outcome == wanted);
        found.map(one).collect()
    };
    let (b, a) = (&b.name, &a.name);
    match outcome {
        Verdict::Same => format!(
            "No difference that matters between {b} and {a}: every figure is shown to differ by less than {margin}."
        ),
        Verdict::Different => {
            let undecided = match named(Verdict::Undecided)[..] {
                [] => String::new(),
                ref open => format!(" Undecided: {}.", open.join(", ")),
            };
            format!(
                "{b} differs from {a}: {}.{undecided}",
                named(Verdict::Different).join(", ")
            )
        }
        Verdict::Undecided => format!(
            "Undecided whether {b} differs from {a} by {margin} or more: {}. More or longer trials would tell.",
            named(Verdict::Undecided).join(", ")
        ),
    }
}

/// `p99 +12 % (9.8 to 15)`
fn one(figure: &FigureComparison) -> String {
    let name = figure
        .figure
        .trim_start_matches("response_time_ms.")
        .trim_end_matches("_per_s");
    let name = name.strip_suffix(".share").unwrap_or(name);
    match &figure.change {
        None => name.to_owned(),
        Some(Change {
            scale,
            value,
            low,
            high,
            ..
        }) => {
            let percent = |share: f64| rounded(share * 100.0);
            let unit = match scale {
                Scale::Relative => "%",
                Scale::Points => "points",
            };
            let plus = if *value > 0.0 { "+" } else { "" };
            format!(
                "{name} {plus}{} {unit} ({} to {})",
                percent(*value),
                percent(*low),
                percent(*high)
            )
        }
    }
}

/// What is to be known of the claims.
pub(super) fn notes(basis: Basis, cells: &[Cell<'_>]) -> Vec<String> {
    let trials = |side: &dyn Fn(&Cell<'_>) -> usize| cells.iter().map(side).sum::<usize>();
    let (a, b) = (trials(&|cell| cell.a.len()), trials(&|cell| cell.b.len()));
    match basis {
        Basis::WithinTrial => vec![format!(
            "With {a} trial(s) of A and {b} of B nothing here shows how much two trials of the same thing differ. The \
             intervals are those within the trials: they say how far these trials are apart, not that a repetition would \
             show the same. For that claim, run each at least three times, in turns."
        )],
        Basis::Replicates => vec![format!(
            "The intervals rest on the spread between the {a} trials of A and between the {b} of B (Welch). What happened \
             to the machine between the two runs is in the change too."
        )],
        Basis::MatchedTrials => vec![format!(
            "The intervals rest on pairs of trials of the same treatment, {} treatments in all. The change is the mean over \
             them; differences from one treatment to the next widen its interval.",
            cells.len()
        )],
    }
}
