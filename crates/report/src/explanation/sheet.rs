//! An explanation as a page.

use weir_explain::{Decision, Diagnosis, DifferenceDiagnosis, Explanation, Hypothesis, Response};

use super::{found, head, part_of_time, row, share, threshold, unknown, verdict, why_not};
use crate::sheet::{Sheet, SheetTable};

/// The whole explanation as a page.
pub fn explanation_sheet(explanation: &Explanation) -> Sheet {
    let last = explanation.runs.last();
    let title = match (&explanation.difference, last) {
        (Some(difference), _) => difference.summary.clone(),
        (None, Some(run)) => run.summary.clone(),
        (None, None) => String::new(),
    };
    let difference = explanation.difference.as_ref().map(of_difference);
    let of_runs = explanation.runs.iter().flat_map(of_run);
    let not_run = explanation
        .not_run
        .iter()
        .map(|one| format!("Not run: {}", why_not(one)));
    Sheet {
        title,
        lead: explanation
            .runs
            .iter()
            .map(head)
            .chain(
                explanation
                    .decisions
                    .iter()
                    .map(|decision| decision.says.clone()),
            )
            .collect(),
        tables: difference
            .into_iter()
            .chain(decisions(&explanation.decisions))
            .chain(of_runs)
            .collect(),
        notes: not_run
            .chain(explanation.runs.iter().flat_map(ideas))
            .chain(explanation.runs.iter().flat_map(|run| run.notes.clone()))
            .collect(),
        made_by: format!("weir explain · Weir {}", explanation.weir),
        ..Sheet::default()
    }
}

fn of_difference(difference: &DifferenceDiagnosis) -> SheetTable {
    SheetTable {
        title: "What changed".to_owned(),
        head: words(&[
            "hypothesis",
            "of a request before",
            "now",
            "part in the change",
            "verdict",
        ]),
        rows: difference.hypotheses.iter().map(row).collect(),
    }
}

/// What the trials said that decide, with the figures that it rests on.
fn decisions(decisions: &[Decision]) -> Option<SheetTable> {
    let rows = decisions.iter().map(|decision| {
        let [was, changed] = &decision.levels;
        let [before, after] = decision.responses.map(|response| {
            let Response {
                throughput_per_s,
                mean_ms,
                p99_ms,
                ..
            } = response;
            format!("{throughput_per_s:.1} /s, {mean_ms:.1} ms, {p99_ms:.1} ms")
        });
        let ratio = decision.ratio.map_or_else(unknown, |ratio| {
            format!("{:.2} ({:.2} to {:.2})", ratio.value, ratio.low, ratio.high)
        });
        let holds = match decision.holds {
            Some(true) => "holds",
            Some(false) => "does not hold",
            None => "open",
        };
        vec![
            decision.hypothesis.clone(),
            format!("{} {was} → {changed}", decision.factor),
            before,
            after,
            format!("{}: {ratio}", decision.figure),
            decision.expected.clone(),
            holds.to_owned(),
        ]
    });
    let rows: Vec<Vec<String>> = rows.collect();
    (!rows.is_empty()).then(|| SheetTable {
        title: "What the trials decided (requests/s, mean, 99th percentile)".to_owned(),
        head: words(&[
            "hypothesis",
            "changed",
            "as it was",
            "then",
            "then over as it was",
            "asked for",
            "the hypothesis",
        ]),
        rows,
    })
}

fn of_run(run: &Diagnosis) -> Vec<SheetTable> {
    let verdicts = run.hypotheses.iter().map(|hypothesis| {
        let of_time = hypothesis.share.map_or_else(unknown, share);
        let claim = hypothesis.claim.clone();
        vec![
            claim,
            verdict(hypothesis.verdict).to_owned(),
            of_time,
            hypothesis.says.clone(),
        ]
    });
    let time = run
        .time
        .iter()
        .map(|part| vec![part.what.clone(), part_of_time(part)]);
    let tables = [
        SheetTable {
            title: format!("Hypotheses: {}", run.run),
            head: words(&["hypothesis", "verdict", "of the requests' time", "why"]),
            rows: verdicts.collect(),
        },
        SheetTable {
            title: format!("Where the requests' time went: {}", run.run),
            head: words(&["", "share"]),
            rows: time.collect(),
        },
        SheetTable {
            title: format!("Tests: {}", run.run),
            head: words(&["test", "found", "threshold", "why there", "from"]),
            rows: run.hypotheses.iter().flat_map(tests).collect(),
        },
    ];
    tables
        .into_iter()
        .filter(|table| !table.rows.is_empty())
        .collect()
}

fn tests(hypothesis: &Hypothesis) -> Vec<Vec<String>> {
    let tests = hypothesis.tests.iter();
    tests
        .map(|test| {
            vec![
                format!("{}: {}", hypothesis.id, test.what),
                found(test),
                threshold(test).unwrap_or_else(unknown),
                test.because.clone(),
                test.from.join(", "),
            ]
        })
        .collect()
}

/// What would decide, of what is not settled.
fn ideas(run: &Diagnosis) -> Vec<String> {
    let open = run
        .hypotheses
        .iter()
        .filter(|hypothesis| hypothesis.verdict != weir_explain::Verdict::NotSupported);
    open.flat_map(|hypothesis| {
        let id = &hypothesis.id;
        hypothesis
            .would_decide
            .iter()
            .map(move |idea| format!("To decide on {id}: {}.", idea.how))
    })
    .collect()
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use crate::explanation::tests::{decided, explanation};
    use crate::sheet_html;

    use super::*;

    #[test]
    fn the_page_has_all_that_the_text_has() {
        let page = sheet_html(&explanation_sheet(&explanation())).unwrap();
        for part in [
            "Threads that could run wait for a CPU",
            "not measured",
            "SCHED_BATCH",
            "Amdahl",
            "slow",
        ] {
            assert!(page.contains(part), "{part}");
        }
    }

    #[test]
    fn the_page_has_what_was_decided_and_why_something_was_not_run() {
        let page = sheet_html(&explanation_sheet(&decided())).unwrap();
        for part in [
            "`scheduler` stays open",
            "start.scheduling other → batch",
            "100.0 /s, 150.0 ms, 400.0 ms",
            "a change of 10 % at least",
            "Not run: `pinned` for `scheduler`: it had the CPUs 0",
        ] {
            assert!(page.contains(part), "{part}");
        }
    }

    #[test]
    fn rows_are_as_long_as_their_heads() {
        let tables = [explanation(), decided()].map(|one| explanation_sheet(&one).tables);
        for table in tables.concat() {
            assert!(
                table.rows.iter().all(|row| row.len() == table.head.len()),
                "{}",
                table.title
            );
        }
    }
}
