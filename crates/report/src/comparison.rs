//! The comparison of two runs as text: the answer first, then the figures, then what differs
//! elsewhere, then what may be claimed.

mod sheet;

use weir_record::{Change, ComparedSide, FigureComparison, RunComparison, Scale};
use weir_shown::line;
use weir_stats::{Estimate, Verdict};

use crate::figures::{WithEstimate as _, unit_of};
use crate::grid::{Align, Grid, wrap};
use crate::words;

pub use sheet::comparison_sheet;

/// The whole comparison. Ends with a line break.
pub fn comparison_text(comparison: &RunComparison, width: usize) -> String {
    let mut text = side("A", &comparison.a, width);
    text.push_str(&side("B", &comparison.b, width));
    for what in &comparison.differs {
        text.push_str(&wrap("differs in what was measured: ", "  ", what, width));
    }
    text.push('\n');
    text.push_str(&wrap("", "", &comparison.summary, width));
    text.push('\n');
    text.push_str(&figures(comparison, width));
    text.push_str(&labels(comparison, width));
    text.push_str(&signals(comparison, width));
    text.push_str(&requirements(comparison, width));
    for note in &comparison.notes {
        text.push_str(&wrap("note: ", "  ", note, width));
    }
    text
}

fn side(letter: &str, side: &ComparedSide, width: usize) -> String {
    let trials = match side.trials.len() {
        1 => "1 trial".to_owned(),
        count => format!("{count} trials"),
    };
    let invalid = match side.invalid.len() {
        0 => String::new(),
        count => format!(", {count} more that cannot be used"),
    };
    let mut text = wrap(
        "",
        "   ",
        &format!("{letter}  {} ({trials}{invalid})", side.name),
        width,
    );
    for note in &side.notes {
        text.push_str(&wrap(&format!("   {letter} note: "), "     ", note, width));
    }
    text
}

fn figures(comparison: &RunComparison, width: usize) -> String {
    let mut grid = Grid::new(&[
        ("", Align::Left),
        ("A", Align::Right),
        ("B", Align::Right),
        ("change (95 % interval)", Align::Right),
        ("outcome", Align::Left),
    ]);
    for figure in &comparison.figures {
        grid.row(vec![
            words::figure(&figure.figure),
            value(figure, figure.a, figure.a_interval.as_ref()),
            value(figure, figure.b, figure.b_interval.as_ref()),
            figure
                .change
                .as_ref()
                .map_or_else(|| "–".to_owned(), change),
            outcome(figure.outcome).to_owned(),
        ]);
    }
    grid.shrink(1, width.max(80));
    let mut text = grid.lines("");
    for figure in &comparison.figures {
        if let Some(why) = &figure.why {
            let name = words::figure(&figure.figure);
            text.push_str(&wrap("  ", "    ", &format!("{name}: {why}"), width));
        }
    }
    text
}

fn value(figure: &FigureComparison, value: Option<f64>, interval: Option<&Estimate>) -> String {
    let kind = unit_of(&figure.figure);
    value.map_or_else(
        || "–".to_owned(),
        |value| kind.with_estimate(value, interval),
    )
}

/// The word for an outcome.
pub(crate) fn outcome(outcome: Verdict) -> &'static str {
    match outcome {
        Verdict::Same => "same",
        Verdict::Different => "DIFFERENT",
        Verdict::Undecided => "undecided",
    }
}

/// `+3.2 % (+1.0 to +5.4)`
fn change(change: &Change) -> String {
    let unit = match change.scale {
        Scale::Relative => "%",
        Scale::Points => "points",
    };
    let of = |share: f64| signed(share * 100.0, change.scale);
    format!(
        "{} {unit} ({} to {})",
        of(change.value),
        of(change.low),
        of(change.high)
    )
}

/// From here on a percentage says no more than that it is large: the interval of a small figure
/// that scatters.
const LARGE: f64 = 1000.0;

fn signed(percent: f64, scale: Scale) -> String {
    if scale == Scale::Relative && percent > LARGE {
        return format!("over +{LARGE}");
    }
    let decimals = match (scale, percent.abs()) {
        (Scale::Points, _) => 2,
        (Scale::Relative, large) if large >= 9.95 => 0,
        (Scale::Relative, _) => 1,
    };
    let text = format!("{:.decimals$}", percent.abs());
    let is_zero = text
        .bytes()
        .all(|byte| !byte.is_ascii_digit() || byte == b'0');
    match (is_zero, percent < 0.0) {
        (true, _) => "0".to_owned(),
        (false, true) => format!("−{text}"),
        (false, false) => format!("+{text}"),
    }
}

/// Of the labels, only what is not the same.
fn labels(comparison: &RunComparison, width: usize) -> String {
    if comparison.labels.is_empty() {
        return String::new();
    }
    let mut text = "\nBy label (all intervals hold together at 95 %)\n".to_owned();
    for (label, figures) in &comparison.labels {
        text.push_str(&group(&line(label), figures, width));
    }
    text
}

fn signals(comparison: &RunComparison, width: usize) -> String {
    if comparison.signals.is_empty() {
        return String::new();
    }
    let mut text = "\nSignals that both have (all intervals hold together at 95 %)\n".to_owned();
    text.push_str(&group("", &comparison.signals, width));
    text
}

/// What differs, a line each, and how many of the others are the same or open.
fn group(name: &str, figures: &[FigureComparison], width: usize) -> String {
    let mut text = String::new();
    let count = |wanted: Verdict| {
        figures
            .iter()
            .filter(|figure| figure.outcome == wanted)
            .count()
    };
    let (same, open) = (count(Verdict::Same), count(Verdict::Undecided));
    let counts = format!(
        "{} different, {same} the same, {open} undecided",
        count(Verdict::Different)
    );
    let head = if name.is_empty() {
        counts
    } else {
        format!("{name}: {counts}")
    };
    text.push_str(&wrap("  ", "    ", &head, width));
    let different = figures
        .iter()
        .filter(|figure| figure.outcome == Verdict::Different);
    for figure in different {
        let own = figure
            .figure
            .trim_end_matches(&format!("({name})"))
            .to_owned();
        let kind = unit_of(&own);
        let (a, b) = (figure.a.unwrap_or_default(), figure.b.unwrap_or_default());
        let changed = figure.change.as_ref().map_or_else(String::new, change);
        let line = format!(
            "{} {} → {}  {changed}",
            words::figure(&own),
            kind.text(a),
            kind.text(b)
        );
        text.push_str(&wrap("    ", "      ", &line, width));
    }
    text
}

fn requirements(comparison: &RunComparison, width: usize) -> String {
    let mut text = String::new();
    if !comparison.requirements.is_empty() {
        text.push_str("\nRequired of B\n");
    }
    for requirement in &comparison.requirements {
        let verdict = if requirement.met { "met" } else { "NOT MET" };
        let line = format!(
            "{}: found {}",
            requirement.says,
            words::found_text(requirement)
        );
        text.push_str(&wrap(
            &format!("  {verdict:<7}  "),
            "           ",
            &line,
            width,
        ));
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_that_scatters_beyond_all_meaning_is_only_said_to_be_large() {
        assert_eq!(signed(1_199_426.0, Scale::Relative), "over +1000");
        assert_eq!(signed(474.0, Scale::Relative), "+474");
        assert_eq!(signed(-99.96, Scale::Relative), "−100");
        assert_eq!(signed(0.004, Scale::Points), "0");
    }
}
