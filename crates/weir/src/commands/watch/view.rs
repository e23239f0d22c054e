//! What is seen of a watch: a panel that is drawn anew on a terminal, else a line a second.

use std::collections::BTreeMap;
use std::io::IsTerminal as _;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rustix::termios::tcgetwinsize;
use weir_report::watch::{LiveSecond, line, panel};

use crate::commands::watch::recorder::Recorder;
use crate::commands::watch::subject::Subject;
use crate::output;

/// Columns and rows of a terminal that does not tell.
const UNKNOWN: (usize, usize) = (100, 40);

/// Shows each second.
pub(crate) struct View {
    panel: Option<ProgressBar>,
    target: String,
    limits: BTreeMap<String, f64>,
}

impl View {
    pub(crate) fn new(subject: &Subject) -> Self {
        let panel = std::io::stdout().is_terminal().then(|| {
            let panel = ProgressBar::with_draw_target(None, ProgressDrawTarget::stdout());
            let style =
                ProgressStyle::with_template("{msg}").expect("the template is constant and right");
            panel.set_style(style);
            panel
        });
        output::talk(&format!("watching {}; Ctrl-C ends it", subject.target));
        Self {
            panel,
            target: subject.target.clone(),
            limits: subject.limits.clone(),
        }
    }

    /// Shows the last second.
    pub(crate) fn show(&self, recorder: &Recorder) {
        let second = LiveSecond {
            target: &self.target,
            seconds: recorder.seconds(),
            missed: recorder.seen().missed,
            reading: recorder.last(),
            limits: &self.limits,
        };
        let Some(drawn) = &self.panel else {
            output::data(&line(&second));
            return;
        };
        let (width, height) = size();
        // A line that wraps, or one below the edge, would be drawn twice.
        let lines = panel(&second, width - 1);
        let shown = lines.len().min(height - 1);
        // Each is one line, whatever the names in it hold.
        let lines: Vec<_> = lines[..shown]
            .iter()
            .map(|line| weir_shown::line(line))
            .collect();
        drawn.set_message(lines.join("\n"));
        drawn.tick();
    }

    /// Leaves the last panel standing.
    pub(crate) fn finish(&self) {
        if let Some(panel) = &self.panel {
            panel.abandon();
        }
    }
}

fn size() -> (usize, usize) {
    let told = tcgetwinsize(std::io::stdout()).map(|size| (size.ws_col, size.ws_row));
    let (width, height) = told.map_or(UNKNOWN, |(width, height)| (width.into(), height.into()));
    (width.max(20), height.max(5))
}
