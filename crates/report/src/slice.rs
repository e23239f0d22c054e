//! Means over a part of a run, as `sar -s -e` gives them.

use weir_metric::SignalUnit;
use weir_record::Slice;

use crate::figures::{number, unit_of};
use crate::grid::{Align, Grid};

/// A table of every signal over a slice, under `title`. Ends with a line break.
pub fn slice_table(title: &str, slice: &Slice) -> String {
    let mut grid = Grid::new(&[
        ("signal", Align::Left),
        ("mean", Align::Right),
        ("lowest", Align::Right),
        ("highest", Align::Right),
        ("seconds", Align::Right),
    ]);
    for (name, summary) in &slice.signals {
        let unit = unit_of(name);
        grid.row(vec![
            name.clone(),
            unit.text(summary.mean),
            unit.text(summary.min),
            unit.text(summary.max),
            summary.read.to_string(),
        ]);
    }
    format!(
        "{title}: {} s, {} of them missed\n{}{}",
        slice.seconds,
        slice.missed,
        responses(slice),
        grid.lines("")
    )
}

/// Percentiles of all response times of the slice together; nothing without load.
fn responses(slice: &Slice) -> String {
    if slice.responses == 0 {
        return String::new();
    }
    let times = &slice.response_time_ms;
    let text = |value| SignalUnit::Milliseconds.text(value);
    format!(
        "{} responses: mean {}, p50 {}, p90 {}, p99 {}, longest {}\n",
        number(slice.responses as f64),
        text(times.mean),
        text(times.p50),
        text(times.p90),
        text(times.p99),
        text(times.max)
    )
}
