//! A running load as people look at it: the last minute as lines, the response times as a
//! histogram, the stages of the server with what is in them.
//!
//! Drawn without colour: what a bar means stands beside it.

use std::collections::VecDeque;

use weir_metric::SignalUnit;
use weir_record::{Figures, SecondView};

/// Fewer columns than this have room for one line only.
pub(super) const LEAST_COLUMNS: usize = 60;
/// Fewer rows too.
pub(super) const LEAST_ROWS: usize = 12;
/// Most seconds that a line shows.
const SECONDS_MAX: usize = 120;
const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// What stands in front of a line.
const LABEL: usize = 12;
/// And the figure of this second.
const VALUE: usize = 22;

/// What was seen of a trial second by second.
#[derive(Debug, Default)]
pub(super) struct History {
    seconds: VecDeque<Figures>,
}

impl History {
    /// Forgets it: another trial begins.
    pub(super) fn clear(&mut self) {
        self.seconds.clear();
    }

    pub(super) fn add(&mut self, second: Figures) {
        if self.seconds.len() == SECONDS_MAX {
            self.seconds.pop_front();
        }
        self.seconds.push_back(second);
    }

    /// The last seconds of a figure as a line of so many columns, from nothing to `top`, or to the
    /// largest of them.
    fn line(
        &self,
        columns: usize,
        top: Option<f64>,
        of: impl Fn(&Figures) -> Option<f64>,
    ) -> String {
        let skipped = self.seconds.len().saturating_sub(columns);
        let values: Vec<Option<f64>> = self.seconds.iter().skip(skipped).map(of).collect();
        let largest = values.iter().flatten().copied().fold(0.0, f64::max);
        let top = top.unwrap_or(largest);
        values.into_iter().map(|value| bar(value, top)).collect()
    }
}

/// The bar of a value; a space where there is none.
fn bar(value: Option<f64>, top: f64) -> char {
    let Some(value) = value.filter(|_| top > 0.0) else {
        return ' ';
    };
    let step = (value / top * LEVELS.len() as f64).ceil() as usize;
    LEVELS[step.clamp(1, LEVELS.len()) - 1]
}

/// All of it, in so many columns, below a line that says what runs.
pub(super) fn screen(history: &History, view: &SecondView, head: &str, columns: usize) -> String {
    let now = &view.now;
    let mut lines = vec![cut(head, columns)];
    let width = columns.saturating_sub(LABEL + VALUE).min(SECONDS_MAX);
    let mut row = |label: &str, drawn: &str, value: &str| {
        // The line stands last, and is as long as it is: a terminal that gets narrower folds less.
        lines.push(cut(&format!("  {label:<10}{value:<22}{drawn}"), columns));
    };
    row(
        "samples",
        &history.line(width, None, |second| Some(second.throughput_per_s)),
        &SignalUnit::PerSecond.text(now.throughput_per_s),
    );
    let milliseconds = |value: Option<f64>| {
        value.map_or("–".to_owned(), |value| {
            SignalUnit::Milliseconds.text(value)
        })
    };
    row(
        "p99",
        &history.line(width, None, |second| second.p99_ms),
        &format!(
            "{} (p50 {})",
            milliseconds(now.p99_ms),
            milliseconds(now.p50_ms)
        ),
    );
    if let Some(cpu) = now.cpu {
        row(
            "CPU",
            &history.line(width, Some(1.0), |second| second.cpu),
            &SignalUnit::Share.text(cpu),
        );
    }
    if !view.response.is_empty() {
        lines.push(cut(&histogram(&view.response), columns));
    }
    if !view.stages.is_empty() {
        lines.extend(funnel(view, columns));
    }
    lines.join("\n")
}

/// The response times of the last seconds: a bar for each doubling, with where it begins.
fn histogram(bins: &[(f64, u64)]) -> String {
    let most = bins.iter().map(|(_, count)| *count).max().unwrap_or(0);
    let bars = bins.iter().map(|(from_ms, count)| {
        let bar = bar((*count > 0).then_some(*count as f64), most as f64);
        format!("{} {bar}", SignalUnit::Milliseconds.text(*from_ms))
    });
    let bars: Vec<String> = bars.collect();
    format!("  {:<10}{}", "from", bars.join("  "))
}

/// The stages with what is in them, as many in a row as there is room for.
fn funnel(view: &SecondView, columns: usize) -> Vec<String> {
    let told = view.stages.iter().map(|stage| {
        let used = number(stage.in_use);
        let limit = stage
            .limit
            .map_or(String::new(), |limit| format!("/{}", number(limit)));
        let waiting = stage.waiting.filter(|waiting| *waiting >= 0.5);
        let waiting = waiting.map_or(String::new(), |waiting| {
            format!(", {} wait", number(waiting))
        });
        format!("{} {used}{limit}{waiting}", stage.name)
    });
    let mut rows: Vec<String> = Vec::new();
    for stage in told {
        let label = if rows.is_empty() { "stages" } else { "" };
        let longer = rows.pop().map(|row| (format!("{row} → {stage}"), row));
        match longer {
            Some((longer, _)) if longer.chars().count() <= columns => rows.push(longer),
            before => {
                rows.extend(before.map(|(_, row)| row));
                rows.push(format!("  {label:<10}{stage}"));
            }
        }
    }
    rows.iter().map(|row| cut(row, columns)).collect()
}

fn number(value: f64) -> String {
    format!("{value:.0}")
}

/// As much of a line as there is room for.
fn cut(line: &str, columns: usize) -> String {
    if line.chars().count() <= columns {
        return line.to_owned();
    }
    let kept: String = line.chars().take(columns.saturating_sub(1)).collect();
    format!("{kept}…")
}

#[cfg(test)]
mod tests {
    use weir_record::StageNow;

    use super::*;

    fn made() -> (History, SecondView) {
        let mut history = History::default();
        let mut view = SecondView::default();
        for second in 0..60_u32 {
            let grown = f64::from(second.min(20)) / 20.0;
            view.now = Figures {
                throughput_per_s: 414.0 * grown,
                p50_ms: (second > 0).then_some(24.3),
                p99_ms: (second > 0).then_some(40.0 + 56.0 * grown),
                cpu: (second > 2).then_some(0.793 * grown),
            };
            history.add(view.now);
        }
        view.response = vec![
            (8.0, 20),
            (16.0, 900),
            (32.0, 300),
            (64.0, 12),
            (128.0, 0),
            (256.0, 1),
        ];
        let stage = |name: &str, in_use: f64, limit: f64, waiting: Option<f64>| StageNow {
            name: name.to_owned(),
            in_use,
            limit: Some(limit),
            waiting,
        };
        view.stages = vec![
            stage("backlog", 0.0, 511.0, None),
            stage("connections", 41.0, 8192.0, None),
            stage("threads", 30.0, 30.0, Some(11.2)),
            stage("pool.db", 4.0, 10.0, Some(0.0)),
        ];
        (history, view)
    }

    const HEAD: &str = "trial 4 (near the answer)    60 s  41 users  9 s left  0 failed";

    #[test]
    fn eighty_columns_hold_all_of_it() {
        let (history, view) = made();
        let drawn = screen(&history, &view, HEAD, 80);
        assert_eq!(
            drawn,
            "\
trial 4 (near the answer)    60 s  41 users  9 s left  0 failed
  samples   414 /s                ▆▆▇▇██████████████████████████████████████████
  p99       96 ms (p50 24.3 ms)   ▇▇████████████████████████████████████████████
  CPU       79.3 %                ▅▅▆▆▆▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇
  from      8 ms ▁  16 ms █  32 ms ▃  64 ms ▁  128 ms    256 ms ▁
  stages    backlog 0/511 → connections 41/8192 → threads 30/30, 11 wait
            pool.db 4/10"
        );
        for line in drawn.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }

    #[test]
    fn more_columns_show_more_seconds() {
        let (history, view) = made();
        let drawn = screen(&history, &view, HEAD, 140);
        let lines: Vec<&str> = drawn.lines().collect();
        assert_eq!(
            lines[1],
            format!(
                "  samples   414 /s                ▁▁▁▂▂▂▃▃▄▄▄▅▅▆▆▆▇▇██{}",
                "█".repeat(40)
            )
        );
        assert_eq!(lines.len(), 6, "the stages stand in one row");
    }

    #[test]
    fn what_was_not_read_is_left_out() {
        let mut history = History::default();
        let view = SecondView::default();
        history.add(view.now);
        let drawn = screen(&history, &view, "1 s", 60);
        let lines: Vec<&str> = drawn.lines().map(str::trim).collect();
        assert_eq!(lines[0], "1 s");
        assert_eq!(lines.len(), 3, "{drawn}");
        assert!(lines[2].starts_with("p99       – (p50 –)"), "{drawn}");
    }
}
