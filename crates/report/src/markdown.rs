//! The report as a text for a ticket: GitHub's Markdown, readable as it stands.

use weir_metric::SignalUnit;
use weir_record::{StudyResult, SweepOverview, SweepTable, TrialRecord};
use weir_shown::is_hidden;

use crate::ReportInput;
use crate::before_and_after;
use crate::figures::{WithEstimate as _, number};
use crate::near_answer;
use crate::standing::Standing;
use crate::sweep::{has_published, in_cell, measured, published};
use crate::words;

/// The answer, the settings, the check, the findings and every trial, as Markdown.
pub fn markdown(input: &ReportInput<'_>) -> String {
    let result = input.result;
    let mut parts = vec![format!("# {}\n", escape(&result.question)), answer(result)];
    parts.extend(settings(result));
    parts.extend(configuration(result));
    parts.extend(check(result));
    parts.extend(sweep(result));
    parts.extend(findings(result));
    parts.push(trials(result));
    parts.push(source(input));
    parts.join("\n")
}

fn answer(result: &StudyResult) -> String {
    let mut text = format!(
        "**{}** ({})\n",
        escape(&result.summary),
        words::status(result)
    );
    let Some(answer) = &result.answer else {
        return text;
    };
    let fitted = words::fitted(answer);
    if !fitted.is_empty() {
        let here = words::at_level(answer, answer.value);
        let next = words::at_level(answer, answer.value + 1.0);
        let rows = fitted.into_iter().map(|(name, at, next)| [name, at, next]);
        text.push('\n');
        let from = words::figures_from(answer);
        text.push_str(&table(&[from, &here, &next], ":--|--:|--:", rows));
    }
    if let Some(times) = near_answer::says(result) {
        text.extend(["\n", &escape(&words::capital(&times)), "\n"]);
    }
    if let Some(limited) = &answer.limited_by {
        text.extend(["\nLimited by: ", &escape(limited), "\n"]);
    }
    text
}

fn settings(result: &StudyResult) -> Option<String> {
    let rows = result.settings_detail.iter().map(|setting| {
        [
            setting.stage.clone(),
            setting.native.clone().unwrap_or_default(),
            words::limit(setting.from),
            number(setting.to),
            setting.because.clone(),
        ]
    });
    let heads = ["stage", "server's word", "from", "to", "because"];
    let table = table(&heads, ":--|:--|--:|--:|:--", rows);
    (!result.settings_detail.is_empty()).then(|| format!("## Settings\n\n{table}"))
}

fn check(result: &StudyResult) -> Option<String> {
    let held = result.held.as_ref()?;
    let rows = held.requirements.iter().map(|requirement| {
        [
            match words::verdict(requirement) {
                words::MET => words::MET.to_owned(),
                verdict => format!("**{verdict}**"),
            },
            requirement.says.clone(),
            words::found_text(requirement),
        ]
    });
    let mut text = format!(
        "## Check: {}\n\n{}",
        words::check(result, held),
        raw_first(&["", "requirement", "measured"], ":--|:--|--:", rows)
    );
    let waits = words::waits(result, held);
    if !waits.is_empty() {
        let rows = waits
            .into_iter()
            .map(|(stage, waiting, wait)| [stage, waiting, wait]);
        let heads = ["waits for", "mean waiting", "mean wait"];
        text.push('\n');
        text.push_str(&table(&heads, ":--|--:|--:", rows));
    }
    if let Some(both) = before_and_after::of(held) {
        let rows = before_and_after::rows(both).into_iter();
        let rows = rows.map(|(name, before, after)| [name.to_owned(), before, after]);
        text.extend(["\n", &before_and_after::title(both), "\n\n"]);
        text.push_str(&table(&before_and_after::HEADS, ":--|--:|--:", rows));
    }
    if let Some(cost) = &held.cost_at_answer {
        text.extend(["\nCost at the answer: ", &escape(cost), "\n"]);
    }
    Some(text)
}

fn sweep(result: &StudyResult) -> Option<String> {
    let sweep = result.table.as_ref()?;
    let parts = sweep.by_environment().into_iter();
    let tables = parts.map(|(environment, part)| match environment {
        Some(name) => format!("### {}\n\n{}", escape(name), of_cases(&part)),
        None => of_cases(&part),
    });
    let overviews = sweep.overviews.iter();
    let overviews = overviews.map(|overview| {
        let title = escape(&overview.title);
        format!("### {title}\n\n{}", of_environments(overview))
    });
    let tables: Vec<String> = tables.chain(overviews).collect();
    let says = words::over_trials(sweep.statistic);
    Some(format!(
        "## Cases\n\n{}.\n\n{}",
        words::capital(says),
        tables.join("\n")
    ))
}

fn of_cases(sweep: &SweepTable) -> String {
    let mut heads = vec!["case".to_owned()];
    for (at, column) in sweep.columns.iter().enumerate() {
        heads.push(column.title.clone());
        if has_published(sweep, at) {
            heads.push("published".to_owned());
        }
    }
    let rows = sweep.rows.iter().map(|row| {
        let mut cells = vec![row.case.clone()];
        for at in 0..sweep.columns.len() {
            cells.push(measured(sweep, row, at));
            if has_published(sweep, at) {
                cells.push(published(row, at));
            }
        }
        cells
    });
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    let align = format!(":--{}", "|--:".repeat(heads.len() - 1));
    table(&heads, &align, rows)
}

fn of_environments(overview: &SweepOverview) -> String {
    let titles = overview.columns.iter().map(|column| column.title.as_str());
    let heads: Vec<&str> = std::iter::once("environment").chain(titles).collect();
    let rows = overview.rows.iter().map(|row| {
        let cells = overview.columns.iter().zip(&row.cells);
        let cells = cells.map(|(column, figure)| in_cell(column, figure.as_ref()));
        std::iter::once(row.environment.clone()).chain(cells)
    });
    let align = format!(":--{}", "|--:".repeat(overview.columns.len()));
    table(&heads, &align, rows)
}

fn configuration(result: &StudyResult) -> Option<String> {
    let files = result.configuration.iter();
    let diffs: Vec<String> = files
        .map(|file| format!("```diff\n{}```\n", file.diff))
        .collect();
    (!diffs.is_empty()).then(|| format!("## Configuration\n\n{}", diffs.concat()))
}

fn findings(result: &StudyResult) -> Option<String> {
    let lines: Vec<String> = result
        .findings
        .iter()
        .map(|finding| {
            let trials = words::trials(&finding.trials);
            let trials = if trials.is_empty() {
                trials
            } else {
                format!(" ({trials})")
            };
            format!("- {}{trials}\n", escape(&finding.in_full()))
        })
        .collect();
    (!lines.is_empty()).then(|| format!("## Findings\n\n{}", lines.concat()))
}

fn trials(result: &StudyResult) -> String {
    let heads = [
        "trial",
        "for",
        "levels",
        "throughput",
        "mean",
        "p99",
        "CPU",
        "failed",
        "validity",
    ];
    let rows = result.trials.iter().map(trial_row);
    let table = table(&heads, "--:|:--|:--|--:|--:|--:|--:|--:|:--", rows);
    format!("## Trials\n\nFigures with 95 % intervals.\n\n{table}")
}

fn trial_row(trial: &TrialRecord) -> [String; 9] {
    let interval = |figure: &str| trial.intervals.get(figure);
    let response = &trial.response_time_ms;
    let standing = Standing::of(trial);
    let mut validity = standing.brief();
    if !standing.valid() {
        validity = format!("{validity}: {}", standing.invalid_because.join("; "));
    }
    [
        trial.id.to_string(),
        words::purpose(trial).to_owned(),
        words::levels(&trial.levels),
        words::throughput(trial),
        SignalUnit::Milliseconds.with_estimate(response.mean, interval("response_time_ms.mean")),
        SignalUnit::Milliseconds.with_estimate(response.p99, interval("response_time_ms.p99")),
        trial.cpu.map_or_else(
            || "–".to_owned(),
            |cpu| SignalUnit::Share.with_estimate(cpu.total, interval("cpu")),
        ),
        number(trial.errors.count as f64),
        validity,
    ]
}

fn source(input: &ReportInput<'_>) -> String {
    let ReportInput {
        result, manifest, ..
    } = input;
    let machine: Vec<String> = words::machine(manifest)
        .into_iter()
        .map(|(name, fact)| format!("{name}: {fact}"))
        .collect();
    format!(
        "Run `{}`, Weir {}, started {}, seed {}. {}\n",
        result.run.replace('`', "'"),
        escape(&result.weir),
        escape(&manifest.started),
        manifest.seed,
        escape(&machine.join("; "))
    )
}

fn table<R: IntoIterator<Item = String>>(
    heads: &[&str],
    align: &str,
    rows: impl Iterator<Item = R>,
) -> String {
    let rows = rows.map(|row| row.into_iter().map(|cell| escape(&cell)).collect());
    lines(heads, align, rows)
}

/// A table whose first cells are ours and hold Markdown.
fn raw_first<const N: usize>(
    heads: &[&str],
    align: &str,
    rows: impl Iterator<Item = [String; N]>,
) -> String {
    let rows = rows.map(|row| {
        let cells = row.into_iter().enumerate();
        cells
            .map(|(at, cell)| if at == 0 { cell } else { escape(&cell) })
            .collect()
    });
    lines(heads, align, rows)
}

fn lines(heads: &[&str], align: &str, rows: impl Iterator<Item = Vec<String>>) -> String {
    let heads: Vec<String> = heads.iter().map(|head| escape(head)).collect();
    let mut text = format!("| {} |\n|{align}|\n", heads.join(" | "));
    for row in rows {
        text.extend(["| ", &row.join(" | "), " |\n"]);
    }
    text
}

/// Text from outside, so that it neither ends a table cell nor becomes markup.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        // `<` begins a tag only in front of one of these; `cpu <= 80 %` stays as it is.
        let tag = |next: &char| next.is_ascii_alphabetic() || "/!?".contains(*next);
        let entity = |next: &char| next.is_ascii_alphabetic() || *next == '#';
        match character {
            '&' if rest.peek().is_some_and(entity) => escaped.push_str("\\&"),
            '<' if rest.peek().is_some_and(tag) => escaped.push_str("\\<"),
            '\\' | '`' | '*' | '|' | '[' => escaped.extend(['\\', character]),
            '\n' | '\r' | '\t' => escaped.push(' '),
            hidden if is_hidden(hidden) => escaped.push('\u{fffd}'),
            _ => escaped.push(character),
        }
    }
    escaped
}
