//! Why a run was as slow as it was, as text: the answer, where the time went, every hypothesis with
//! its tests.

mod sheet;

use weir_explain::{
    ChangedTime, Diagnosis, DifferenceDiagnosis, Explanation, Hypothesis, Is, NotRun, Test,
    TimePart, Verdict, figure_text,
};

use crate::grid::{Align, Grid, wrap};

pub use sheet::explanation_sheet;

/// How much of an explanation is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// What explains the run, the rest by name.
    Brief,
    /// Every hypothesis with its tests.
    All,
}

/// An explanation in lines of at most this width.
pub fn explanation_text(explanation: &Explanation, extent: Extent, width: usize) -> String {
    let mut text = String::new();
    if let Some(difference) = &explanation.difference {
        text.push_str(&of_difference(difference, width));
    }
    for run in &explanation.runs {
        text.push_str(&of_run(run, width));
        text.push_str(&match extent {
            Extent::All => run
                .hypotheses
                .iter()
                .map(|hypothesis| of_hypothesis(hypothesis, width))
                .collect(),
            Extent::Brief => in_brief(run, width),
        });
    }
    text.push_str(&decided(explanation, width));
    text
}

/// What the trials said that decide, and which of them could not be run.
fn decided(explanation: &Explanation, width: usize) -> String {
    let mut text = String::new();
    if !(explanation.decisions.is_empty() && explanation.not_run.is_empty()) {
        text.push('\n');
    }
    for decision in &explanation.decisions {
        text.push_str(&wrap("decided: ", "  ", &decision.says, width));
    }
    if let Some(decision) = explanation.decisions.first() {
        let trials = format!("trials: {}", decision.run);
        text.push_str(&wrap("  ", "  ", &trials, width));
    }
    for not_run in &explanation.not_run {
        text.push_str(&wrap("not run: ", "  ", &why_not(not_run), width));
    }
    text
}

/// A trial that could not be run, in a sentence.
fn why_not(not_run: &NotRun) -> String {
    let NotRun {
        hypothesis,
        idea,
        why,
    } = not_run;
    format!("`{idea}` for `{hypothesis}`: {why}.")
}

fn of_run(run: &Diagnosis, width: usize) -> String {
    let mut text = wrap("", "  ", &head(run), width);
    text.push_str(&wrap("\n", "", &run.summary, width));
    if !run.time.is_empty() {
        text.push_str("\nWhere the requests' time went\n");
        let (some, none): (Vec<_>, Vec<_>) =
            run.time.iter().partition(|part| part.most() >= SHOWN_FROM);
        for part in some {
            let first = format!("  {} ", part_of_time(part));
            text.push_str(&wrap(&first, "        ", &part.what, width));
        }
        let none: Vec<&str> = none.iter().map(|part| part.what.as_str()).collect();
        if !none.is_empty() {
            let first = format!("  {} ", share(0.0));
            text.push_str(&wrap(&first, "        ", &none.join(" · "), width));
        }
    }
    for note in &run.notes {
        text.push_str(&wrap("note: ", "  ", note, width));
    }
    text
}

/// The supported hypotheses that the summary leaves out, each with what it says; the names of the
/// others; what would decide on the first.
fn in_brief(run: &Diagnosis, width: usize) -> String {
    let of = |verdict: Verdict| {
        let hypotheses = run.hypotheses.iter();
        hypotheses.filter(move |found| found.verdict == verdict)
    };
    let mut text = "\n".to_owned();
    for found in of(Verdict::Supported) {
        if run.first.as_deref() != Some(&found.id) {
            let also = format!("{} {}: {}", mark(found.verdict), found.id, found.says);
            text.push_str(&wrap("", "  ", &also, width));
        }
    }
    for verdict in [Verdict::NotSupported, Verdict::NotMeasured] {
        let names: Vec<&str> = of(verdict).map(|found| found.id.as_str()).collect();
        if !names.is_empty() {
            let line = format!(
                "{} {}: {}",
                mark(verdict),
                self::verdict(verdict),
                names.join(", ")
            );
            text.push_str(&wrap("", "  ", &line, width));
        }
    }
    let first = of(Verdict::Supported).find(|found| run.first.as_deref() == Some(&found.id));
    let idea = first.and_then(|first| first.would_decide.first());
    if let Some(idea) = idea {
        text.push_str(&wrap("To decide: ", "  ", &idea.how, width));
    }
    text
}

/// A run, its trial and its figures in a line.
fn head(run: &Diagnosis) -> String {
    let trial = run.trial.map(|trial| format!("trial {trial}"));
    let figures = [
        run.throughput_per_s
            .map(|rate| format!("{rate:.1} requests/s")),
        run.response_mean_ms.map(|ms| format!("mean {ms:.1} ms")),
        run.response_p99_ms
            .map(|ms| format!("99th percentile {ms:.1} ms")),
        run.in_flight.map(|n| format!("{n:.1} requests in flight")),
    ];
    let parts = std::iter::once(trial).chain(figures).flatten();
    let parts = parts.collect::<Vec<_>>().join(", ");
    if parts.is_empty() {
        run.run.clone()
    } else {
        format!("{}: {parts}", run.run)
    }
}

/// A part of the time, with its interval where it has one.
pub(crate) fn part_of_time(part: &TimePart) -> String {
    let within = part.within.map_or_else(String::new, |[low, high]| {
        format!(" ({:.0}–{:.0})", low * 100.0, high * 100.0)
    });
    format!("{}{within}", share(part.share))
}

/// A part of the time that is less has no line of its own: it would say 0 %.
const SHOWN_FROM: f64 = 0.005;

/// A share in a column of its own.
fn share(share: f64) -> String {
    format!("{:>3.0} %", share * 100.0)
}

fn of_hypothesis(hypothesis: &Hypothesis, width: usize) -> String {
    let verdict = verdict(hypothesis.verdict);
    let mut text = format!(
        "\n{} {}: {verdict}\n",
        mark(hypothesis.verdict),
        hypothesis.id
    );
    text.push_str(&wrap("  ", "  ", &hypothesis.says, width));
    for test in &hypothesis.tests {
        text.push_str(&wrap("    ", "      ", &of_test(test), width));
    }
    if hypothesis.verdict != Verdict::NotSupported {
        for idea in &hypothesis.would_decide {
            let line = format!("to decide: {}", idea.how);
            text.push_str(&wrap("    ", "      ", &line, width));
        }
    }
    text
}

/// What was measured, what was found, from where on it counts.
fn of_test(test: &Test) -> String {
    let found = found(test);
    match threshold(test) {
        Some(threshold) => format!("{}: {found} ({threshold})", test.what),
        None => format!("{}: {found}", test.what),
    }
}

fn found(test: &Test) -> String {
    let figure = test.figure.map(|figure| figure_text(figure, test.unit));
    figure.unwrap_or_else(|| "not measured".to_owned())
}

/// The threshold and on which side of it the figure is.
fn threshold(test: &Test) -> Option<String> {
    let side = match test.is {
        Is::AtLeast => "from",
        Is::Below => "below",
    };
    let at = figure_text(test.threshold?, test.unit);
    Some(match test.speaks_for {
        Some(true) => format!("speaks for it, {side} {at} on"),
        Some(false) => format!("speaks against it, counts {side} {at} on"),
        None => format!("would count {side} {at} on"),
    })
}

/// Read at a glance, also without colour.
fn mark(verdict: Verdict) -> char {
    match verdict {
        Verdict::Supported => '●',
        Verdict::NotSupported => '○',
        Verdict::NotMeasured => '?',
    }
}

fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Supported => "supported",
        Verdict::NotSupported => "not supported",
        Verdict::NotMeasured => "not measured",
    }
}

fn of_difference(difference: &DifferenceDiagnosis, width: usize) -> String {
    let mut text = wrap("", "", &difference.summary, width);
    let mut grid = Grid::new(&[
        ("hypothesis", Align::Left),
        ("of a request before", Align::Right),
        ("now", Align::Right),
        ("part in the change", Align::Right),
        ("verdict", Align::Left),
    ]);
    for changed in &difference.hypotheses {
        grid.row(row(changed));
    }
    text.push('\n');
    text.push_str(&grid.lines(""));
    text.push('\n');
    text
}

/// What stands for a figure that is not known.
fn unknown() -> String {
    "–".to_owned()
}

/// A hypothesis, its time in both runs, its part, its verdict.
fn row(changed: &ChangedTime) -> Vec<String> {
    let ms = |time: Option<f64>| time.map_or_else(unknown, |ms| format!("{ms:.1} ms"));
    let part = changed
        .part
        .map_or_else(unknown, |part| format!("{:.0} %", part * 100.0));
    vec![
        changed.id.clone(),
        ms(changed.time_ms[0]),
        ms(changed.time_ms[1]),
        part,
        verdict(changed.verdict).to_owned(),
    ]
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
pub(crate) mod tests {
    use std::collections::BTreeMap;

    use weir_explain::{
        Decision, EXPLAIN_SCHEMA, Evidence, Response, diagnose, diagnose_difference,
    };
    use weir_record::{Level, WATCH_SCHEMA, WatchResult};

    use super::*;

    /// The diagnosis of a server whose threads wait for a CPU or not.
    fn diagnosis(name: &str, waiting: f64) -> Diagnosis {
        let mut watch = WatchResult {
            schema: WATCH_SCHEMA.to_owned(),
            weir: "0".to_owned(),
            run: name.to_owned(),
            target: "process 1".to_owned(),
            seconds: 0,
            missed: 0,
            running: false,
            signals: BTreeMap::new(),
            not_read: BTreeMap::new(),
        };
        let second = [
            ("threads.occupancy", 4.0 + waiting),
            ("threads.entries", 100.0),
            ("target.run-queue-wait", waiting),
        ];
        let second = second.map(|(name, value)| (name.to_owned(), value));
        watch.add(Some(&BTreeMap::from(second)));
        diagnose(&Evidence::of_watch(name, &watch))
    }

    #[test]
    fn parts_without_time_share_a_line() {
        let mut run = diagnosis("slow", 12.0);
        run.time = [
            ("a lock", 0.004),
            ("a CPU", 0.7),
            ("the disk", 0.0),
            ("the rest", 0.002),
        ]
        .map(|(what, share)| TimePart {
            what: what.to_owned(),
            share,
            within: (what == "the rest").then_some([0.0, 0.062]),
        })
        .to_vec();
        let text = of_run(&run, 100);
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        assert!(lines.contains(&"70 % a CPU"), "{text}");
        assert!(lines.contains(&"0 % a lock · the disk"), "{text}");
        assert!(lines.contains(&"0 % (0–6) the rest"), "{text}");
    }

    /// Two runs, the second of which waits.
    pub(crate) fn explanation() -> Explanation {
        let runs = vec![diagnosis("quick", 0.0), diagnosis("slow", 12.0)];
        let difference = diagnose_difference(&runs[0], &runs[1]);
        Explanation {
            schema: EXPLAIN_SCHEMA.to_owned(),
            weir: "0".to_owned(),
            runs,
            difference: Some(difference),
            decisions: Vec::new(),
            not_run: Vec::new(),
        }
    }

    /// A run of which one hypothesis was decided, by one trial of each case, and one could not be.
    pub(crate) fn decided() -> Explanation {
        let response = |mean_ms| Response {
            throughput_per_s: 100.0,
            mean_ms,
            p99_ms: 400.0,
            stopped: None,
        };
        Explanation {
            runs: vec![diagnosis("slow", 12.0)],
            difference: None,
            decisions: vec![Decision {
                hypothesis: "scheduler".to_owned(),
                idea: "batch".to_owned(),
                factor: "start.scheduling".to_owned(),
                levels: ["other", "batch"].map(|word| Level::Text(word.to_owned())),
                responses: [response(160.0), response(150.0)],
                trials: [1, 1],
                figure: "mean_ms".to_owned(),
                ratio: None,
                expected: "a change of 10 % at least".to_owned(),
                holds: None,
                says: "`scheduler` stays open: it was one trial.".to_owned(),
                run: "weir-runs/explain-batch".to_owned(),
            }],
            not_run: vec![NotRun {
                hypothesis: "scheduler".to_owned(),
                idea: "pinned".to_owned(),
                why: "it had the CPUs 0 to itself already".to_owned(),
            }],
            ..explanation()
        }
    }

    #[test]
    fn what_was_decided_and_what_was_not_run_stands_at_the_end() {
        let text = explanation_text(&decided(), Extent::All, 100);
        let end = "\ndecided: `scheduler` stays open: it was one trial.\n  trials: weir-runs/explain-batch\n\
                   not run: `pinned` for `scheduler`: it had the CPUs 0 to itself already.\n";
        assert!(text.ends_with(end), "{text}");
        assert!(!explanation_text(&explanation(), Extent::All, 100).contains("decided"));
        assert!(explanation_text(&decided(), Extent::Brief, 100).ends_with(end));
    }

    #[test]
    fn every_hypothesis_stands_with_its_figure_threshold_and_verdict() {
        let text = explanation_text(&explanation(), Extent::All, 100);
        for part in [
            "100 % of that is explained by `scheduler`",
            "slow: 100.0 requests/s, mean 160.0 ms, 16.0 requests in flight",
            "● scheduler: supported",
            " 75 % waiting for a CPU",
            "share of the requests' time ready to run, waiting for a CPU: 75 % (speaks for it, from 10 % on)",
            "? garbage-collection: not measured",
            "to decide: the same run with the server under SCHED_BATCH",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
        let longest = text.lines().map(|line| line.chars().count()).max();
        assert!(longest.unwrap() <= 100, "{text}");
    }

    #[test]
    fn in_brief_the_first_is_told_and_all_others_are_named() {
        let mut explanation = explanation();
        explanation.difference = None;
        explanation.runs.remove(0);
        let run = &explanation.runs[0];
        let text = explanation_text(&explanation, Extent::Brief, 80);
        for part in [
            run.summary.get(..40).unwrap(),
            "To decide: the same run with the server under",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
        let folded = text.replace("\n  ", " ");
        for hypothesis in &run.hypotheses {
            let line = match hypothesis.verdict {
                Verdict::Supported => continue,
                other => folded.lines().find(|line| line.contains(verdict(other))),
            };
            assert!(
                line.unwrap().contains(&hypothesis.id),
                "{}\n{text}",
                hypothesis.id
            );
        }
        let all = explanation_text(&explanation, Extent::All, 80);
        assert!(text.lines().count() * 3 < all.lines().count(), "{text}");
    }
}
