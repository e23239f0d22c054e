//! The same as a page.

use weir_explain::{Diagnosis, DifferenceDiagnosis, Explanation, Hypothesis};

use super::{found, head, row, share, threshold, verdict};
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
    Sheet {
        title,
        lead: explanation
            .runs
            .iter()
            .map(head)
            .chain(
                explanation
                    .decision
                    .iter()
                    .map(|decision| decision.says.clone()),
            )
            .collect(),
        tables: difference.into_iter().chain(of_runs).collect(),
        notes: explanation.runs.iter().flat_map(ideas).collect(),
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

fn of_run(run: &Diagnosis) -> Vec<SheetTable> {
    let verdicts = run.hypotheses.iter().map(|hypothesis| {
        let of_time = hypothesis.share.map_or_else(|| "–".to_owned(), share);
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
        .map(|part| vec![part.what.clone(), share(part.share)]);
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
                threshold(test).unwrap_or_else(|| "–".to_owned()),
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
    use crate::explanation::tests::explanation;
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
    fn rows_are_as_long_as_their_heads() {
        for table in explanation_sheet(&explanation()).tables {
            assert!(
                table.rows.iter().all(|row| row.len() == table.head.len()),
                "{}",
                table.title
            );
        }
    }
}
