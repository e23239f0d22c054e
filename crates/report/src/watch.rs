//! A watch without load: live in the terminal, and as a page or a text afterwards.

mod live;
mod page;

use std::fmt::Write as _;

use weir_record::{RunManifest, SignalSummary, Timeline, WatchResult};

use crate::figures::unit_of;
use crate::grid::{Align, Grid};

pub use live::{LiveSecond, line, panel};
pub use page::watch_html;

/// The facts of one watch.
#[derive(Debug, Clone, Copy)]
pub struct WatchInput<'a> {
    /// Every signal over the whole watch.
    pub watch: &'a WatchResult,
    /// What was watched, by which version, on which machine.
    pub manifest: &'a RunManifest,
    /// Its seconds.
    pub timeline: &'a Timeline,
}

/// Every signal with its mean, lowest and highest second, and where it came from, as Markdown.
pub fn watch_markdown(input: &WatchInput<'_>) -> String {
    let watch = input.watch;
    let mut text = format!(
        "# Watch of {}\n\n{}\n\n| signal | mean | lowest | highest | seconds read | from |\n|:--|--:|--:|--:|--:|:--|\n",
        watch.target,
        length(watch)
    );
    for row in rows(watch) {
        let [signal, mean, min, max, read, origin] = row.map(|cell| cell.replace('|', "\\|"));
        // Writing to a text does not fail.
        let _ = writeln!(
            text,
            "| `{signal}` | {mean} | {min} | {max} | {read} | {origin} |"
        );
    }
    text
}

/// A watch as a table for the terminal, without origins.
pub fn watch_table(watch: &WatchResult) -> String {
    let mut grid = Grid::new(&[
        ("signal", Align::Left),
        ("mean", Align::Right),
        ("lowest", Align::Right),
        ("highest", Align::Right),
        ("seconds", Align::Right),
    ]);
    for [signal, mean, min, max, read, _] in rows(watch) {
        grid.row(vec![signal, mean, min, max, read]);
    }
    format!("{}\n{}", length(watch), grid.lines(""))
}

/// How long it was, and how much of that was seen.
fn length(watch: &WatchResult) -> String {
    let going = if watch.running {
        "; it was still running when this was written"
    } else {
        ""
    };
    format!(
        "{} s watched, {} of them missed{going}",
        watch.seconds, watch.missed
    )
}

fn rows(watch: &WatchResult) -> impl Iterator<Item = [String; 6]> {
    watch.signals.iter().map(|(name, summary)| {
        let SignalSummary {
            read,
            mean,
            min,
            max,
            origin,
        } = summary;
        let kind = unit_of(name);
        [
            name.clone(),
            kind.text(*mean),
            kind.text(*min),
            kind.text(*max),
            read.to_string(),
            origin.clone(),
        ]
    })
}
