//! What is seen while trials run.
//!
//! On a terminal a small screen is redrawn each second: the last minute, the response times, the
//! server's stages; one line where there is no room for more. Elsewhere (a log, CI) a line is
//! printed every ten seconds, with the figures of all ten, so that nothing that runs for long is
//! silent.

mod screen;

use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use console::Term;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use weir_record::{Figures, SecondView, TrialObserver};
use weir_report::text::in_width;
use weir_shown::line;

use crate::output;
use screen::{History, LEAST_COLUMNS, LEAST_ROWS, screen};

/// Seconds between two lines where nothing can be redrawn.
const LINE_EVERY_S: u64 = weir_record::STRETCH_S;

/// How long something may take without a word.
pub(crate) const SILENCE: Duration = Duration::from_secs(2);

/// Shows a running trial.
pub(crate) struct LiveView {
    bar: Option<ProgressBar>,
    prefix: String,
    history: History,
}

impl LiveView {
    /// A view that says what runs in front of its figures.
    pub(crate) fn new(prefix: &str) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{spinner} {msg}")
                .expect("the template is constant and right");
            bar.set_style(style);
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        });
        Self {
            bar,
            prefix: prefix.to_owned(),
            history: History::default(),
        }
    }

    /// Says what runs from now on.
    pub(crate) fn set_prefix(&mut self, prefix: &str) {
        prefix.clone_into(&mut self.prefix);
        self.history.clear();
        if let Some(bar) = &self.bar {
            bar.set_message(line(&self.prefix).into_owned());
        }
    }

    /// Prints a line that stays.
    pub(crate) fn line(&self, text: &str) {
        match &self.bar {
            Some(bar) => {
                let columns = usize::from(Term::stderr().size().1);
                bar.suspend(|| output::talk_lines(&in_width(&line(text), columns)));
            }
            None => output::talk(text),
        }
    }

    /// Says how things stand after so many seconds.
    pub(crate) fn says(&self, elapsed_s: u64, text: &str) {
        match &self.bar {
            Some(bar) => bar.set_message(line(text).into_owned()),
            None if elapsed_s.is_multiple_of(LINE_EVERY_S) => output::talk(text),
            None => {}
        }
    }

    /// Takes the redrawn line away.
    pub(crate) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl TrialObserver for LiveView {
    fn second(&mut self, view: &SecondView) {
        let shown = match (&self.bar, view.stretch) {
            (None, Some(stretch)) => stretch,
            _ => view.now,
        };
        self.history.add(view.now);
        let (rows, columns) = Term::stderr().size();
        let (rows, columns) = (usize::from(rows), usize::from(columns));
        let text = match &self.bar {
            Some(bar) if columns >= LEAST_COLUMNS && rows >= LEAST_ROWS => {
                let head = format!("{}{}", self.prefix, about(view).join("  "));
                // In front of it turns the sign that all goes on.
                let head = line(&head);
                bar.set_message(screen(&self.history, view, &head, columns - 2));
                return;
            }
            _ => format!("{}{}", self.prefix, figures(view, shown)),
        };
        self.says(view.elapsed_s, &text);
    }

    fn note(&mut self, text: &str) {
        self.line(text);
    }
}

/// Counts something that may take long beside a load, on one line.
pub(crate) struct Counter {
    bar: Option<ProgressBar>,
    what: &'static str,
    next_line: Instant,
}

impl Counter {
    /// Nothing so far.
    pub(crate) fn new(what: &'static str) -> Self {
        let bar = std::io::stderr()
            .is_terminal()
            .then(ProgressBar::new_spinner);
        Self {
            bar,
            what,
            next_line: Instant::now() + SILENCE,
        }
    }

    /// So many now.
    pub(crate) fn set(&mut self, count: u64) {
        let text = || format!("{count} {}", self.what);
        match &self.bar {
            Some(bar) => {
                bar.set_message(text());
                bar.tick();
            }
            None if Instant::now() >= self.next_line => {
                output::talk(&text());
                self.next_line = Instant::now() + Duration::from_secs(LINE_EVERY_S);
            }
            None => {}
        }
    }

    /// Takes the line away.
    pub(crate) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Says which of several parts is at work, on one line.
pub(crate) struct Parts {
    bar: Option<ProgressBar>,
    now: String,
    next_line: Instant,
}

impl Parts {
    /// None so far.
    pub(crate) fn new() -> Self {
        let bar = std::io::stderr()
            .is_terminal()
            .then(ProgressBar::new_spinner);
        Self {
            bar,
            now: String::new(),
            next_line: Instant::now() + SILENCE,
        }
    }

    /// This one begins.
    pub(crate) fn begin(&mut self, part: String) {
        self.now = part;
        if let Some(bar) = &self.bar {
            bar.set_message(line(&self.now).into_owned());
        }
        self.go_on();
    }

    /// It goes on.
    pub(crate) fn go_on(&mut self) {
        match &self.bar {
            Some(bar) => bar.tick(),
            None if Instant::now() >= self.next_line => {
                output::talk(&self.now);
                self.next_line = Instant::now() + Duration::from_secs(LINE_EVERY_S);
            }
            None => {}
        }
    }

    /// Takes the line away.
    pub(crate) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// How far it is: users, time left, errors.
fn about(view: &SecondView) -> Vec<String> {
    let mut parts = vec![format!("{} s", view.elapsed_s), load(view)];
    parts.extend(left(view));
    parts.push(format!("{} failed", view.failed));
    parts
}

fn left(view: &SecondView) -> Option<String> {
    let left = view.remaining_s.filter(|left| *left > 0);
    left.map(|left| format!("{left} s left"))
}

fn load(view: &SecondView) -> String {
    match view.in_flight {
        Some(in_flight) => format!("{in_flight} in flight"),
        None => format!("{} users", view.users),
    }
}

/// A line of figures: users, throughput, p50/p99, errors, CPU, time left.
fn figures(view: &SecondView, shown: Figures) -> String {
    let mut parts = vec![
        format!("{:>4} s", view.elapsed_s),
        load(view),
        format!("{:.0}/s", shown.throughput_per_s),
    ];
    if let (Some(p50), Some(p99)) = (shown.p50_ms, shown.p99_ms) {
        parts.push(format!("p50 {p50:.1} ms"));
        parts.push(format!("p99 {p99:.1} ms"));
    }
    parts.push(format!("{} failed", view.failed));
    if let Some(cpu) = shown.cpu {
        parts.push(format!("CPU {:.1} %", cpu * 100.0));
    }
    parts.extend(left(view));
    parts.join("  ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_shows_what_was_read_and_no_more() {
        let now = Figures {
            throughput_per_s: 240.4,
            ..Figures::default()
        };
        let view = SecondView {
            elapsed_s: 7,
            users: 41,
            now,
            ..SecondView::default()
        };
        let line = figures(&view, view.now);
        assert_eq!(line, "   7 s  41 users  240/s  0 failed");
        let open = SecondView {
            users: 0,
            in_flight: Some(12),
            ..view.clone()
        };
        let line = figures(&open, open.now);
        assert_eq!(line, "   7 s  12 in flight  240/s  0 failed");
        let full = Figures {
            p50_ms: Some(12.34),
            p99_ms: Some(56.78),
            cpu: Some(0.804),
            ..now
        };
        let view = SecondView {
            remaining_s: Some(13),
            failed: 2,
            ..view
        };
        assert_eq!(
            figures(&view, full),
            "   7 s  41 users  240/s  p50 12.3 ms  p99 56.8 ms  2 failed  CPU 80.4 %  13 s left"
        );
    }
}
