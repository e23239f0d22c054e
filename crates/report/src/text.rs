//! Plain text for the terminal: lines up without colour, and fits the width that it is given.

use std::collections::BTreeMap;

use weir_metric::SignalUnit;
use weir_record::{
    BeforeAndAfter, ClassRecord, Errors, OpenRecord, ResponseTime, StudyResult, SweepOverview,
    SweepTable, TrialRecord,
};

mod ending;

use crate::before_and_after;
use crate::failures::in_words;
use crate::figures::{WithEstimate as _, number};
use crate::grid::{Align, Grid, cut, wrap};
use crate::near_answer;
use crate::standing::Standing;
use crate::sweep::{has_published, in_cell, measured, published};
use crate::words;

pub use crate::grid::in_width;
pub use ending::ending;

/// The width that everything here fits into when nothing else is known.
pub const WIDTH: usize = 100;

/// One line for a trial that has just ended. Errors, whatever is not as it should be and what was
/// set beside the population come last, where there are any.
///
/// ```text
///   6 search       41 users  120 ±1.4 /s  p50 24.3 ms p99   96 ms CPU 79.3 ±1.0 %
/// ```
pub fn trial_line(trial: &TrialRecord) -> String {
    let response = &trial.response_time_ms;
    let throughput = SignalUnit::PerSecond
        .with_doubt(trial.throughput_per_s, interval(trial, "throughput_per_s"));
    let cpu = trial.cpu.map_or_else(
        || "not read".to_owned(),
        |cpu| SignalUnit::Share.with_doubt(cpu.total, interval(trial, "cpu")),
    );
    let (level, noun) = words::load(trial);
    let mut line = format!(
        "{:>3} {:<9} {:>5} {noun} {throughput:>12}  p50 {:>7} p99 {:>7} CPU {cpu:>11}",
        trial.id,
        cut(words::purpose(trial), 9),
        number(level),
        SignalUnit::Milliseconds.text(response.p50),
        SignalUnit::Milliseconds.text(response.p99),
    );
    let failed = (trial.errors.count > 0).then(|| errors(&trial.errors));
    let answered = trial.answered_per_s().map(words::answered);
    let standing = Standing::of(trial);
    let invalid = (!standing.valid()).then(|| invalid(trial));
    let rest = failed
        .into_iter()
        .chain(answered)
        .chain(invalid)
        .chain(standing.remarks())
        .chain(words::levels_beside(trial));
    for what in rest {
        line.push_str("  ");
        line.push_str(&what);
    }
    line
}

/// That a trial is not used, and why.
fn invalid(trial: &TrialRecord) -> String {
    match trial.invalid_because.join("; ") {
        why if why.is_empty() => "INVALID".to_owned(),
        why => format!("INVALID: {why}"),
    }
}

fn errors(errors: &Errors) -> String {
    match errors.count {
        0 => "0 errors".to_owned(),
        count => format!(
            "{} errors ({})",
            number(count as f64),
            SignalUnit::Share.text(errors.share)
        ),
    }
}

fn interval<'a>(trial: &'a TrialRecord, figure: &str) -> Option<&'a weir_stats::Estimate> {
    trial.intervals.get(figure)
}

/// The end of a run: the answer first, then the settings, the check, the findings, the table of a
/// sweep. Ends with a line break.
pub fn summary(result: &StudyResult, width: usize) -> String {
    let mut parts = vec![answer(result, width)];
    parts.extend(settings(result, width));
    parts.extend(configuration(result));
    parts.extend(check(result, width));
    parts.extend(result.table.as_ref().map(|table| sweep(table, width)));
    parts.extend(findings(result, width));
    parts.extend(unusable(result, width));
    parts.join("\n")
}

fn answer(result: &StudyResult, width: usize) -> String {
    let mut text = wrap("", "", &result.summary, width);
    let Some(answer) = &result.answer else {
        return text;
    };
    let (here, next) = (
        words::at_level(answer, answer.value),
        words::at_level(answer, answer.value + 1.0),
    );
    let mut grid = Grid::new(&[
        (words::figures_from(answer), Align::Left),
        (&here, Align::Right),
        (&next, Align::Right),
    ]);
    for (name, at, next) in words::fitted(answer) {
        grid.row(vec![name, at, next]);
    }
    if !answer.at_value.is_empty() {
        text.push('\n');
        text.push_str(&grid.lines("  "));
    }
    let times = near_answer::says(result);
    text.extend(times.map(|says| wrap("", "", &words::capital(&says), width)));
    if let Some(limited) = &answer.limited_by {
        text.push_str(&wrap("", "", &format!("Limited by: {limited}"), width));
    }
    text
}

fn settings(result: &StudyResult, width: usize) -> Option<String> {
    if result.settings_detail.is_empty() {
        return None;
    }
    let grid = grid_of_limits(result, ["stage", "from", "to"]);
    let mut text = format!("Settings\n{}", grid.lines("  "));
    for setting in &result.settings_detail {
        let because = with_trials(
            &format!("{}: {}", setting.stage, setting.because),
            &setting.trials,
        );
        text.push_str(&wrap("  ", "    ", &because, width));
    }
    Some(text)
}

/// The limits under these heads: the stage, as found, to set.
fn grid_of_limits(result: &StudyResult, [stage, from, to]: [&str; 3]) -> Grid {
    let mut grid = Grid::new(&[
        (stage, Align::Left),
        ("server's word", Align::Left),
        (from, Align::Right),
        (to, Align::Right),
    ]);
    for setting in &result.settings_detail {
        grid.row(vec![
            setting.stage.clone(),
            setting.native.clone().unwrap_or_default(),
            words::limit(setting.from),
            number(setting.to),
        ]);
    }
    grid
}

/// Users with the limits as found, and as many with those set.
fn grid_of_both(both: &BeforeAndAfter) -> Grid {
    let [figure, before, after] = before_and_after::HEADS;
    let mut grid = Grid::new(&[
        (figure, Align::Left),
        (before, Align::Right),
        (after, Align::Right),
    ]);
    for (name, before, after) in before_and_after::rows(both) {
        grid.row(vec![name.to_owned(), before, after]);
    }
    grid
}

fn with_trials(says: &str, trials: &[u32]) -> String {
    if trials.is_empty() {
        says.to_owned()
    } else {
        format!("{says} ({})", words::trials(trials))
    }
}

fn check(result: &StudyResult, width: usize) -> Option<String> {
    let held = result.held.as_ref()?;
    let mut text = format!("Check: {}\n", words::check(result, held));
    let widest = held
        .requirements
        .iter()
        .map(|requirement| words::found_text(requirement).chars().count())
        .max()
        .unwrap_or(0);
    for requirement in &held.requirements {
        let verdict = words::verdict(requirement);
        let figure = words::found_text(requirement);
        let first = format!("  {verdict:<7}  {figure:<widest$}  ");
        let hang = " ".repeat(first.chars().count());
        text.push_str(&wrap(&first, &hang, &requirement.says, width));
    }
    let waits: Vec<String> = words::waits(result, held)
        .into_iter()
        .map(|(stage, waiting, wait)| format!("{stage} {waiting} ({wait})"))
        .collect();
    if !waits.is_empty() {
        let waits = format!("Waiting, mean (mean wait): {}", waits.join(", "));
        text.push_str(&wrap("  ", "    ", &waits, width));
    }
    if let Some(both) = before_and_after::of(held) {
        text.push_str(&wrap("  ", "    ", &before_and_after::title(both), width));
        text.push_str(&grid_of_both(both).lines("    "));
    }
    if let Some(cost) = &held.cost_at_answer {
        let cost = format!("Cost at the answer: {cost}");
        text.push_str(&wrap("  ", "    ", &cost, width));
    }
    Some(text)
}

/// Never wrapped: it is to be copied.
fn configuration(result: &StudyResult) -> Option<String> {
    let diffs: Vec<&str> = result
        .configuration
        .iter()
        .map(|file| &*file.diff)
        .collect();
    (!diffs.is_empty()).then(|| format!("As the server's own configuration\n{}", diffs.concat()))
}

fn findings(result: &StudyResult, width: usize) -> Option<String> {
    if result.findings.is_empty() {
        return None;
    }
    let mut text = "Findings\n".to_owned();
    for finding in &result.findings {
        let says = with_trials(&finding.in_full(), &finding.trials);
        text.push_str(&wrap("  - ", "    ", &says, width));
    }
    Some(text)
}

fn unusable(result: &StudyResult, width: usize) -> Option<String> {
    let mut text = String::new();
    for trial in result.trials.iter().filter(|trial| !trial.valid) {
        text.push_str(&wrap("  - ", "    ", &discarded(trial), width));
    }
    (!text.is_empty()).then(|| format!("Invalid trials\n{text}"))
}

/// A trial that does not count, and why.
fn discarded(trial: &TrialRecord) -> String {
    let why = trial.invalid_because.join("; ");
    format!("trial {} discarded: {why}", trial.id)
}

/// The table of a sweep: one for each environment.
fn sweep(table: &SweepTable, width: usize) -> String {
    let parts = table.by_environment().into_iter();
    let texts = parts.map(|(environment, part)| match environment {
        Some(name) => format!("{name}\n{}", grid_or_blocks(&part, width)),
        None => grid_or_blocks(&part, width),
    });
    let overviews = table.overviews.iter();
    let texts: Vec<String> = texts
        .chain(overviews.map(|overview| self::overview(overview, width)))
        .collect();
    format!(
        "Cases: {}\n{}",
        words::over_trials(table.statistic),
        texts.join("\n")
    )
}

/// One line an environment when that fits, else a block an environment.
fn overview(overview: &SweepOverview, width: usize) -> String {
    let heads = overview.columns.iter();
    let heads = heads.map(|column| (column.title.as_str(), Align::Right));
    let columns: Vec<(&str, Align)> = std::iter::once(("environment", Align::Left))
        .chain(heads)
        .collect();
    let mut grid = Grid::new(&columns);
    let mut blocks = String::new();
    for row in &overview.rows {
        let cells = overview.columns.iter().zip(&row.cells);
        let cells: Vec<String> = cells
            .map(|(column, figure)| in_cell(column, figure.as_ref()))
            .collect();
        let mut block = Grid::new(&[("", Align::Left), ("measured", Align::Right)]);
        for (column, cell) in overview.columns.iter().zip(&cells) {
            block.row(vec![column.title.clone(), cell.clone()]);
        }
        blocks.push_str(&under(&row.environment, block, width));
        grid.row(
            std::iter::once(row.environment.clone())
                .chain(cells)
                .collect(),
        );
    }
    let lines = if grid.width() + 2 <= width {
        grid.lines("  ")
    } else {
        blocks
    };
    let title = wrap("", "  ", &overview.title, width);
    format!("{title}{lines}")
}

/// One line a case when that fits, else a block a case.
fn grid_or_blocks(table: &SweepTable, width: usize) -> String {
    let mut columns = vec![("case", Align::Left)];
    for (at, column) in table.columns.iter().enumerate() {
        columns.push((column.title.as_str(), Align::Right));
        if has_published(table, at) {
            columns.push(("published", Align::Right));
        }
    }
    let mut grid = Grid::new(&columns);
    for row in &table.rows {
        let mut cells = vec![row.case.clone()];
        for at in 0..table.columns.len() {
            cells.push(measured(table, row, at));
            if has_published(table, at) {
                cells.push(published(row, at));
            }
        }
        grid.row(cells);
    }
    if grid.width() + 2 <= width {
        grid.lines("  ")
    } else {
        blocks(table, width)
    }
}

fn blocks(table: &SweepTable, width: usize) -> String {
    let mut text = String::new();
    for row in &table.rows {
        let levels = words::levels(&row.levels);
        let head = if levels.is_empty() {
            row.case.clone()
        } else {
            format!("{} ({levels})", row.case)
        };
        let mut grid = Grid::new(&[
            ("", Align::Left),
            ("measured", Align::Right),
            ("published", Align::Right),
        ]);
        for (at, column) in table.columns.iter().enumerate() {
            grid.row(vec![
                column.title.clone(),
                measured(table, row, at),
                published(row, at),
            ]);
        }
        text.push_str(&under(&head, grid, width));
    }
    text
}

/// A small table under the line that says what it is about.
fn under(head: &str, mut table: Grid, width: usize) -> String {
    table.shrink(0, width.saturating_sub(4));
    wrap("  ", "    ", head, width) + &table.lines("    ")
}

/// The table at the end of `weir run`: one line per label and one for all together.
pub fn run_table(trial: &TrialRecord, codes: Codes) -> String {
    let mut grid = Grid::new(&[
        ("label", Align::Left),
        ("samples", Align::Right),
        ("errors", Align::Right),
        ("throughput", Align::Right),
        ("mean", Align::Right),
        ("p50", Align::Right),
        ("p90", Align::Right),
        ("p99", Align::Right),
        ("max", Align::Right),
    ]);
    for (label, class) in &trial.classes {
        grid.row(run_row(label, class, trial.window_s));
    }
    let all = ClassRecord {
        throughput_per_s: trial.throughput_per_s,
        response_time_ms: trial.response_time_ms,
        errors: trial.errors.clone(),
        intervals: BTreeMap::new(),
    };
    if trial.classes.len() != 1 {
        grid.row(run_row("all", &all, trial.window_s));
    }
    grid.shrink(0, WIDTH);
    let mut text = grid.lines("");
    if let Some(open) = &trial.open {
        text.push_str(&open_table(open));
    }
    if let Some(line) = succeeded(trial) {
        text.push_str(&wrap("succeeded: ", "  ", &line, WIDTH));
    }
    for (code, count) in &trial.errors.by_code {
        let line = format!("{} × {}", number(*count as f64), told(code, codes));
        text.push_str(&wrap("failed: ", "  ", &line, WIDTH));
    }
    if let Some(answered) = trial.answered_per_s() {
        let all = SignalUnit::PerSecond.text(trial.throughput_per_s);
        let line = format!(
            "{}; the throughput of {all} counts those without an answer too",
            words::answered(answered)
        );
        text.push_str(&wrap("", "  ", &line, WIDTH));
    }
    for why in &trial.invalid_because {
        text.push_str(&wrap("INVALID: ", "  ", why, WIDTH));
    }
    for note in &trial.notes {
        text.push_str(&wrap("note: ", "  ", note, WIDTH));
    }
    text
}

/// Which codes samples had that did not fail; `None` where all had 200, or nobody told.
fn succeeded(trial: &TrialRecord) -> Option<String> {
    let codes = &trial.succeeded_by_code;
    let plain = codes.keys().all(|code| code == "200");
    let parts =
        by_frequency(codes).map(|(code, count)| format!("{} × {code}", number(count as f64)));
    (!plain).then(|| parts.collect::<Vec<_>>().join(", "))
}

/// Response codes with their counts, the most frequent first.
pub(crate) fn by_frequency(codes: &BTreeMap<String, u64>) -> impl Iterator<Item = (&str, u64)> {
    let mut codes: Vec<(&str, u64)> = codes
        .iter()
        .map(|(code, count)| {
            (
                if code.is_empty() {
                    "no code"
                } else {
                    code.as_str()
                },
                *count,
            )
        })
        .collect();
    codes.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    codes.into_iter()
}

/// Why requests failed that had this code.
pub(crate) fn told(code: &str, codes: Codes) -> String {
    let told = match codes {
        Codes::OfJmeter => code.into(),
        Codes::InWords => in_words(code),
    };
    format!("{told}{}", despite(code))
}

/// How a table says why requests failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Codes {
    /// As JMeter does, with classes of Java.
    OfJmeter,
    /// In words.
    InWords,
}

/// Why a sample failed whose code says that all is well.
fn despite(code: &str) -> &'static str {
    let is_success = code.len() == 3 && code.starts_with(['2', '3']);
    if is_success {
        " (answered; an assertion, a script or a part of it failed)"
    } else {
        ""
    }
}

/// What the response times of an open workload are made of, and how late the load generator was.
fn open_table(open: &OpenRecord) -> String {
    let mut grid = Grid::new(&[
        ("from the intended start", Align::Left),
        ("mean", Align::Right),
        ("p50", Align::Right),
        ("p90", Align::Right),
        ("p99", Align::Right),
        ("max", Align::Right),
    ]);
    for (name, time) in [
        ("to the start", open.start_delay_ms),
        ("from the start to the end", open.service_time_ms),
        ("lateness of the load generator", open.lateness_ms),
    ] {
        let cells = [time.mean, time.p50, time.p90, time.p99, time.max];
        let cells = cells.map(|time| SignalUnit::Milliseconds.text(time));
        grid.row(std::iter::once(name.to_owned()).chain(cells).collect());
    }
    grid.lines("")
}

fn run_row(label: &str, class: &ClassRecord, window_s: f64) -> Vec<String> {
    let ResponseTime {
        mean,
        p50,
        p90,
        p99,
        max,
        ..
    } = class.response_time_ms;
    let samples = (class.throughput_per_s * window_s).round();
    let mut cells = vec![
        label.to_owned(),
        number(samples),
        number(class.errors.count as f64),
        SignalUnit::PerSecond.text(class.throughput_per_s),
    ];
    cells.extend([mean, p50, p90, p99, max].map(|time| SignalUnit::Milliseconds.text(time)));
    cells
}
