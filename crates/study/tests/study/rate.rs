//! The largest rate of arrivals against the truth: how far off, how sure, how dear.

use weir_record::{NoObserver, Role, Status};
use weir_study::{Ask, Outcome, StudyFile, find};

use crate::truth::arrivals::{Ends, OpenServer};

const SYSTEMS: u64 = 200;

/// The study of a server, as it stands in a file.
fn study(asked: &str, seed: u64) -> String {
    format!(
        "schema = \"weir/study/1\"\nseed = {seed}\n[target.builtin]\n[load]\nurl = \"/\"\n[find]\nvary = \"rate\"\n\
         subject-to = [\"{asked}\", \"errors <= 0.1 %\"]\nbudget = \"100 min\"\n"
    )
}

fn searched(server: &mut OpenServer, seed: u64) -> Outcome {
    let file = StudyFile::parse(&study(&server.asked, seed)).unwrap();
    let Ask::Find(spec) = file.ask else {
        panic!("a study with [find]");
    };
    find(&spec, server, &mut NoObserver)
}

struct Row {
    errors: Vec<f64>,
    answered: usize,
    covered: usize,
    trials: u32,
}

fn row(ends: Ends, sigma: f64) -> Row {
    let mut row = Row {
        errors: Vec::new(),
        answered: 0,
        covered: 0,
        trials: 0,
    };
    for seed in 0..SYSTEMS {
        let mut server = OpenServer::drawn(ends, sigma, seed);
        let outcome = searched(&mut server, seed);
        row.trials += server.trials;
        if let Some(answer) = outcome
            .answer
            .filter(|_| outcome.status != Status::Undecided)
        {
            row.answered += 1;
            // Whole arrivals: the largest below the truth is right.
            let covers = answer.low <= server.truth && server.truth <= answer.high + 1.0;
            row.covered += usize::from(covers);
            row.errors
                .push((answer.value - server.truth).abs() / server.truth);
        }
    }
    row.errors.sort_by(f64::total_cmp);
    row
}

/// Asks for the median and the ninth decile of the errors, and the mean number of trials.
fn check(ends: Ends, sigma: f64, median: f64, p90: f64, trials: f64) {
    let row = row(ends, sigma);
    let count = row.errors.len();
    let seen = (row.errors[count / 2], row.errors[count * 9 / 10]);
    let mean = f64::from(row.trials) / SYSTEMS as f64;
    let covered = row.covered as f64 / count as f64;
    let says = format!(
        "{ends:?}, sigma {sigma}: median {:.3}, p90 {:.3}, {} answered, covered {covered:.3}, {mean:.1} trials",
        seen.0, seen.1, row.answered
    );
    assert!(seen.0 <= median && seen.1 <= p90, "{says}");
    assert!(row.answered as f64 >= 0.9 * SYSTEMS as f64, "{says}");
    assert!(covered >= 0.90, "{says}");
    assert!(mean <= trials, "{says}");
}

#[test]
fn a_cpu_goal_ends_the_range() {
    check(Ends::Cpu, 0.01, 0.005, 0.015, 8.5);
    check(Ends::Cpu, 0.03, 0.015, 0.04, 9.5);
}

#[test]
fn response_times_end_the_range() {
    check(Ends::P99, 0.01, 0.02, 0.05, 15.0);
    check(Ends::P99, 0.03, 0.03, 0.08, 18.0);
}

#[test]
fn what_piles_up_ends_the_range() {
    check(Ends::Lock, 0.01, 0.03, 0.08, 10.0);
}

/// Trials that differ by more than the curve rises do not make an answer.
#[test]
fn no_answer_is_made_of_response_times_that_hardly_rise() {
    let row = row(Ends::FlatP99, 0.02);
    let says = format!(
        "{} of {SYSTEMS} answered, {} of them rightly",
        row.answered, row.covered
    );
    assert!(
        row.answered - row.covered <= SYSTEMS as usize / 14,
        "{says}"
    );
}

#[test]
fn the_answer_is_tried_once_more_and_a_rate_is_held_by_no_limit() {
    let mut server = OpenServer::drawn(Ends::Cpu, 0.01, 1);
    let outcome = searched(&mut server, 1);
    assert_eq!(outcome.status, Status::Answered, "{}", outcome.summary);
    let answer = outcome.answer.unwrap();
    assert_eq!(answer.factor, "rate");
    let checked: Vec<f64> = outcome
        .trials
        .iter()
        .filter(|trial| trial.role == Role::Check)
        .filter_map(|trial| trial.level("rate"))
        .collect();
    assert_eq!(checked, [answer.value]);
    assert!(outcome.held.unwrap().passed);
    assert!(outcome.settings.is_empty());
    assert!(
        outcome.summary.contains("arrivals/s"),
        "{}",
        outcome.summary
    );
    let held = outcome
        .findings
        .iter()
        .find(|finding| finding.id == "settings-not-derived");
    assert!(held.unwrap().says.contains("weir gate"));
}

const RATE: &str = "schema = \"weir/study/1\"\n[target.builtin]\n[load]\nurl = \"/\"\n[find]\nvary = \"rate\"\n\
                    within = [1, 500000]\nsubject-to = [\"p99 <= 300 ms\"]\n";

#[test]
fn an_open_load_always_keeps_its_rate() {
    let asked = |text: &str| {
        let Ask::Find(find) = StudyFile::parse(text).unwrap().ask else {
            panic!("a study with [find]");
        };
        let asked: Vec<String> = find.requirements.iter().map(ToString::to_string).collect();
        (asked, find.within)
    };
    let (requirements, within) = asked(RATE);
    assert_eq!(requirements, ["p99 <= 300 ms", "missed <= 2 %"]);
    assert_eq!(within, (1, 500_000));
    let own = RATE.replace("p99 <= 300 ms", "missed <= 5 %");
    assert_eq!(asked(&own).0, ["missed <= 5 %"]);
}

#[test]
fn what_an_open_search_cannot_have_is_said_with_the_way_out() {
    for (from, to, says, help) in [
        (
            "vary = \"rate\"\nwithin = [1, 500000]\nsubject-to = [\"p99 <= 300 ms\"]",
            "subject-to = [\"missed <= 2 %\"]",
            "only a search for a rate knows what is `missed`",
            "vary = \"rate\"",
        ),
        (
            "url = \"/\"",
            "url = \"/\"\nengine = \"jmeter\"",
            "JMeter as engine does not say which arrivals were due",
            "leave out `engine`",
        ),
        (
            "url = \"/\"",
            "url = \"/\"\narrivals = \"often\"",
            "`often` is no way to arrive",
            "\"poisson\"",
        ),
        (
            "url = \"/\"",
            "plan = \"p.jmx\"\nrate = \"RATE\"\narrivals = \"constant\"",
            "a plan says itself when its iterations start",
            "leave `arrivals` out",
        ),
        (
            "url = \"/\"",
            "plan = \"p.jmx\"",
            "nothing says which property of the plan that is",
            "rate = \"PROPERTY\"",
        ),
        (
            "within = [1, 500000]",
            "within = [1, 5000000]",
            "two whole numbers from 1 to 1000000",
            "within = [1, 200]",
        ),
        (
            "[find]\n",
            "[find]\nset = { gate.concurrency = 4 }\n",
            "fixed `gate.concurrency` is not built yet",
            "leave it out of `set`",
        ),
    ] {
        assert!(RATE.contains(from), "{from}");
        let problems = StudyFile::parse(&RATE.replacen(from, to, 1)).expect_err(to);
        let found = problems.iter().any(|problem| {
            let helped = problem.help.as_deref().unwrap_or_default();
            problem.says.contains(says) && helped.contains(help)
        });
        assert!(found, "{to}: {problems:?}");
    }
}
