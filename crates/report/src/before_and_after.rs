//! Users with the limits as found, and as many with those that were set, as rows of a table.

use weir_metric::SignalUnit;
use weir_record::{BeforeAndAfter, Held, Seen, Side};

use crate::figures::{WithEstimate as _, number};

/// A figure's name, with the limits as found, with those set.
pub(crate) type Row = (&'static str, String, String);

/// The heads of the table.
pub(crate) const HEADS: [&str; 3] = ["", "limits as found", "limits set"];

/// A figure of one side with its unit.
type Figure = (&'static str, fn(&Side) -> Option<&Seen>, SignalUnit);

const FIGURES: [Figure; 5] = [
    (
        "throughput",
        |side| Some(&side.throughput_per_s),
        SignalUnit::PerSecond,
    ),
    ("CPU", |side| side.cpu.as_ref(), SignalUnit::Share),
    ("p50", |side| Some(&side.p50_ms), SignalUnit::Milliseconds),
    ("p90", |side| Some(&side.p90_ms), SignalUnit::Milliseconds),
    ("p99", |side| Some(&side.p99_ms), SignalUnit::Milliseconds),
];

/// What is compared, in words.
pub(crate) fn title(both: &BeforeAndAfter) -> String {
    format!(
        "{} users with the limits as found (trial {}) and with those set (trial {})",
        number(f64::from(both.users)),
        both.before.trial,
        both.after.trial
    )
}

/// The figures of both sides.
pub(crate) fn rows(both: &BeforeAndAfter) -> Vec<Row> {
    let mut rows: Vec<Row> = FIGURES
        .iter()
        .filter_map(|(name, of, unit)| {
            let text = |seen: &Seen| unit.with_estimate(seen.value, seen.interval.as_ref());
            Some((*name, text(of(&both.before)?), text(of(&both.after)?)))
        })
        .collect();
    let errors = [both.before.errors, both.after.errors];
    if errors.iter().any(|share| *share > 0.0) {
        let [before, after] = errors.map(|share| SignalUnit::Share.text(share));
        rows.push(("errors", before, after));
    }
    rows
}

/// Both sides in a sentence.
pub(crate) fn in_brief(both: &BeforeAndAfter) -> String {
    let side = |side: &Side| {
        let figures: Vec<String> = FIGURES
            .iter()
            .filter(|(name, ..)| *name != "p90")
            .filter_map(|(name, of, unit)| {
                let value = unit.text(of(side)?.value);
                let name = if *name == "throughput" { "" } else { *name };
                Some(format!("{name} {value}").trim_start().to_owned())
            })
            .collect();
        figures.join(", ")
    };
    format!(
        "{} users with the limits as found get {}; with those set {}",
        number(f64::from(both.users)),
        side(&both.before),
        side(&both.after)
    )
}

/// What the check has to compare, where it has.
pub(crate) fn of(held: &Held) -> Option<&BeforeAndAfter> {
    held.before_and_after.as_ref()
}
