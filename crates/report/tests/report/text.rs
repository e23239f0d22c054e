//! What a terminal and a ticket show, as snapshots of made-up runs.

use crate::common::{sweep, tune};
use proptest::prelude::*;
use unicode_width::UnicodeWidthStr;
use weir_record::{ClassRecord, Status};
use weir_report::{markdown, text};

fn widest(text: &str) -> usize {
    text.lines().map(UnicodeWidthStr::width).max().unwrap_or(0)
}

#[test]
fn end_of_a_tune() {
    let text = text::summary(&tune().result, text::WIDTH);
    assert!(widest(&text) <= text::WIDTH);
    insta::assert_snapshot!(text);
}

/// The width of a terminal that nobody made larger.
const TERMINAL: usize = 80;

#[test]
fn end_of_a_tune_in_brief() {
    let result = tune().result;
    let text = text::ending(&result, TERMINAL);
    assert!(widest(&text) <= TERMINAL);
    let in_full = text::summary(&result, TERMINAL);
    assert!(text.lines().count() * 2 <= in_full.lines().count());
    insta::assert_snapshot!(text);
}

#[test]
fn end_of_a_sweep_in_brief() {
    let text = text::ending(&sweep().result, TERMINAL);
    assert!(widest(&text) <= TERMINAL);
    insta::assert_snapshot!(text);
}

#[test]
fn end_of_a_sweep() {
    let text = text::summary(&sweep().result, text::WIDTH);
    assert!(widest(&text) <= text::WIDTH);
    insta::assert_snapshot!(text);
}

#[test]
fn end_of_a_sweep_on_a_narrow_terminal() {
    let text = text::summary(&sweep().result, 60);
    assert!(widest(&text) <= 60);
    insta::assert_snapshot!(text);
}

#[test]
fn end_of_a_tune_whose_check_failed() {
    let mut result = tune().result;
    result.status = Status::NotMet;
    let held = result.held.as_mut().unwrap();
    held.passed = false;
    held.requirements[0].met = false;
    // What a check writes when the figure was not read.
    let lost = &mut held.requirements[3];
    (lost.value, lost.low, lost.high, lost.met) = (f64::MAX, f64::MAX, f64::MAX, false);
    let text = text::summary(&result, text::WIDTH);
    assert!(widest(&text) <= text::WIDTH);
    insta::assert_snapshot!(text);
    // The sentence of the summary says it all, whatever it says.
    result.summary = "What the study wrote of its failure.".to_owned();
    let text = text::ending(&result, TERMINAL);
    assert!(text.starts_with(&result.summary), "{text}");
    assert!(
        text.contains("NOT MET  cpu between 75 % and 81 %: found 78.1 % (77.0–79.2)"),
        "{text}"
    );
    assert!(!text.contains("Verified"), "{text}");
}

#[test]
fn a_figure_that_is_not_at_its_bound_does_not_look_so() {
    let mut result = tune().result;
    let answer = result.answer.as_mut().unwrap();
    answer.binding = Some("cpu <= 80 %".to_owned());
    answer.at_next.insert("cpu".to_owned(), 0.8002);
    let held = result.held.as_mut().unwrap();
    let cpu = &mut held.requirements[0];
    (cpu.value, cpu.bounds, cpu.met) = (0.810_4, vec![0.75, 0.81], false);
    let text = text::summary(&result, text::WIDTH);
    assert!(text.contains("80.02 %"), "{text}");
    assert!(text.contains("81.04 % ("), "{text}");
    let mut run = tune();
    run.result = result;
    let ticket = markdown(&run.input());
    assert!(
        ticket.contains("80.02 %") && ticket.contains("81.04 %"),
        "{ticket}"
    );
}

#[test]
fn a_line_a_trial() {
    let lines: Vec<String> = tune().result.trials.iter().map(text::trial_line).collect();
    let valid = tune()
        .result
        .trials
        .iter()
        .filter(|trial| trial.valid)
        .count();
    let short = lines.iter().filter(|line| line.width() < TERMINAL).count();
    assert!(short * 2 >= valid, "{short} of {valid} fit");
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn a_trial_without_cpu_and_intervals_has_a_line_too() {
    let mut trial = tune().result.trials.remove(0);
    trial.cpu = None;
    trial.intervals.clear();
    trial.errors.count = 12;
    trial.errors.share = 0.006;
    insta::assert_snapshot!(text::trial_line(&trial));
}

#[test]
fn table_of_a_run() {
    let mut trial = tune().result.trials.remove(6);
    let mut slow: ClassRecord = trial.classes["CPU-heavy"].clone();
    slow.errors.count = 7;
    slow.response_time_ms.max = 12_345.0;
    trial.classes.insert(
        "検索 with a label that goes on and on until it is cut".to_owned(),
        slow,
    );
    trial.errors.count = 7;
    trial.errors.share = 7.0 / 3747.0;
    trial.errors.by_code.insert(
        "Non HTTP response code: java.net.SocketException".to_owned(),
        6,
    );
    trial.errors.by_code.insert("200".to_owned(), 1);
    trial.succeeded_by_code = [("200", 3_700), ("204", 40)]
        .map(|(code, count)| (code.to_owned(), count))
        .into();
    let text = text::run_table(&trial, text::Codes::OfJmeter);
    assert!(widest(&text) <= text::WIDTH);
    insta::assert_snapshot!(text);
    let words = text::run_table(&trial, text::Codes::InWords);
    assert!(words.contains("6 × connection reset"), "{words}");
    assert!(words.contains("1 × 200 (answered;"), "{words}");
}

#[test]
fn ticket_of_a_tune() {
    insta::assert_snapshot!(markdown(&tune().input()));
}

#[test]
fn ticket_of_a_sweep() {
    insta::assert_snapshot!(markdown(&sweep().input()));
}

#[test]
fn a_sweep_with_an_empty_case_says_so_and_not_that_nothing_is_valid() {
    let mut run = sweep();
    run.result.status = Status::Invalid;
    let first = run.result.trials[0].case.clone();
    for trial in &mut run.result.trials {
        trial.valid = trial.case != first;
    }
    assert!(markdown(&run.input()).contains("(a case has no valid trial)"));
    for trial in &mut run.result.trials {
        trial.valid = false;
    }
    assert!(markdown(&run.input()).contains("(measurement not valid)"));
}

/// The cells of a row of a Markdown table: bars that are not escaped.
fn cells(row: &str) -> usize {
    let escaped = row.replace("\\\\", "").replace("\\|", "");
    escaped.matches('|').count()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn no_text_breaks_a_table_of_a_ticket(evil in any::<String>()) {
        let mut run = tune();
        run.result.settings_detail[0].because.clone_from(&evil);
        run.result.trials[0].case = Some(evil);
        let ticket = markdown(&run.input());
        let rows: Vec<&str> = ticket.lines().skip_while(|line| *line != "## Trials").filter(|line| line.starts_with('|')).collect();
        prop_assert_eq!(rows.len(), run.result.trials.len() + 2);
        prop_assert!(rows.iter().all(|row| cells(row) == 10), "{:?}", rows);
    }

    #[test]
    fn summaries_keep_to_the_width(width in 60_usize..160) {
        prop_assert!(widest(&text::summary(&tune().result, width)) <= width);
        prop_assert!(widest(&text::summary(&sweep().result, width)) <= width);
        prop_assert!(widest(&text::ending(&tune().result, width)) <= width);
        prop_assert!(widest(&text::ending(&sweep().result, width)) <= width);
    }
}
