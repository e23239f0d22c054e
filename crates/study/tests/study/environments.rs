//! Sweeps in several environments: order, levels that follow from figures, and what is told of all
//! of them together.

use weir_record::{
    Levels, NoObserver, Replay, SecondView, Statistic, Status, TargetFacts, Treatment, TrialError,
    TrialObserver, TrialRecord, TrialRunner,
};
use weir_study::{Ask, Outcome, StudyFile, StudyObserver, SweepSpec, plan_of_trials, sweep};

use crate::support::Analytic;

/// A server whose speed is the Java that runs it.
struct Started {
    server: Analytic,
    /// Of every trial, the Java and the users.
    ran: Vec<(f64, f64)>,
    /// How many times slower an environment is from its second trial with one user on.
    later: f64,
}

impl TrialRunner for Started {
    fn facts(&self) -> &TargetFacts {
        self.server.facts()
    }

    fn population(&self, levels: &Levels) -> u32 {
        self.server.population(levels)
    }

    fn run(
        &mut self,
        treatment: &Treatment,
        observer: &mut dyn TrialObserver,
    ) -> Result<TrialRecord, TrialError> {
        let java = treatment.levels["start.java"].number().unwrap();
        let users = treatment.levels["users"].number().unwrap();
        self.ran.push((java, users));
        let alone = self.ran.iter().filter(|ran| **ran == (java, 1.0));
        let slower = if alone.count() > 1 { self.later } else { 1.0 };
        self.server.cpu_s = slower * 0.1 / java;
        self.server.run(treatment, observer)
    }
}

const STUDY: &str = r#"
schema = "weir/study/1"
[target.tomcat]
app = "stress"
[load]
plan = "plan.jmx"
users = "USERS"
window = "10 s"
[sweep]
design = "cases"
replicates = 3
reference = "alone"
statistic = "median"
warm-up = { users = 7 }
[[sweep.environment]]
name = "slow"
set = { start.java = 11 }
[[sweep.environment]]
name = "fast"
set = { start.java = 25 }
replicates = 2
[[sweep.environment]]
name = "alone only"
set = { start.java = 21 }
replicates = 1
cases = ["alone"]
[[sweep.case]]
name = "half"
set = { users = "{0.5 * throughput of full}" }
[[sweep.case]]
name = "full"
set = { users = 500 }
replicates = 1
only-in = ["slow", "fast"]
[[sweep.case]]
name = "alone"
set = { users = 1 }
[[sweep.column]]
signal = "throughput"
[[sweep.column]]
title = "Throughput / alone"
signal = "throughput"
relative = true
[[sweep.spread]]
signal = "throughput"
cases = ["full", "alone"]
[[sweep.picture]]
title = "Throughput"
x = "users"
signal = "throughput"
cases = ["alone", "full"]
"#;

fn spec(text: &str) -> SweepSpec {
    match StudyFile::parse(text).unwrap().ask {
        Ask::Sweep(spec) => spec,
        other => panic!("{other:?}"),
    }
}

fn started(later: f64) -> Started {
    Started {
        server: Analytic::new(1, 0.2, 0.005, 0.0),
        ran: Vec::new(),
        later,
    }
}

fn run() -> (Outcome, Vec<(f64, f64)>) {
    let mut runner = started(1.0);
    let outcome = sweep(&spec(STUDY), &mut runner, &mut NoObserver);
    (outcome, runner.ran)
}

#[test]
fn a_continued_run_warms_up_the_server_again_where_it_goes_on_within_an_environment() {
    let (whole, ran) = run();
    let warm_up = |at: usize| ran[at].1 == 7.0;
    for finished in 0..ran.len() {
        let stored = whole.trials[..finished].to_vec();
        let mut rest = started(1.0);
        let facts = rest.facts().clone();
        let mut replay = Replay::new(facts, stored, Some(&mut rest));
        let continued = sweep(&spec(STUDY), &mut replay, &mut NoObserver);
        assert_eq!(continued.trials.len(), whole.trials.len());
        // The trial that was next, with its environment's warm-up before it unless it is one
        // itself.
        let mut wanted = ran[finished..].to_vec();
        if !warm_up(finished) {
            wanted.insert(0, (ran[finished].0, 7.0));
        }
        assert_eq!(rest.ran, wanted, "{finished} trials were finished");
    }
}

#[test]
fn cases_run_environment_by_environment_those_first_from_which_others_follow() {
    let (outcome, ran) = run();
    assert_eq!(outcome.status, Status::Answered, "{}", outcome.summary);
    // Warm-up and three cases in both, then without the case that runs once, then in one
    // environment only.
    assert_eq!(ran.len(), 10 + 6 + 3);
    let warm_ups = ran.iter().filter(|(_, users)| *users == 7.0).count();
    assert_eq!((warm_ups, ran[0].1), (6, 7.0), "{ran:?}");
    for pair in ran.windows(2).filter(|pair| pair[0].0 != pair[1].0) {
        assert_eq!(
            pair[1].1, 7.0,
            "a new environment begins with its warm-up: {ran:?}"
        );
    }
    // At 500 users the CPU is full, whose speed is 10 a second and release.
    for (java, half) in [(11.0, 55.0), (25.0, 125.0)] {
        let own = ran.iter().filter(|(of, _)| *of == java);
        let users: Vec<f64> = own.map(|(_, users)| *users).collect();
        let full = users.iter().position(|users| *users == 500.0).unwrap();
        let follows = users
            .iter()
            .position(|users| (users / half - 1.0).abs() < 0.01);
        assert!(follows.unwrap() > full, "{ran:?}");
    }
    assert!(ran[16..].iter().all(|(java, _)| *java == 11.0), "{ran:?}");
}

#[test]
fn tables_pictures_and_spreads_know_their_environments() {
    let (outcome, _) = run();
    let table = outcome.table.unwrap();
    assert_eq!(table.statistic, Statistic::Median);
    let parts = table.by_environment();
    let names: Vec<_> = parts.iter().map(|(name, _)| name.unwrap()).collect();
    assert_eq!(names, ["slow", "fast", "alone only"]);
    let [half, full, alone] = &parts[0].1.rows[..] else {
        panic!("three cases: {parts:?}")
    };
    assert_eq!(
        [&half.case, &full.case, &alone.case],
        ["half", "full", "alone"]
    );
    assert_eq!((alone.trials.len(), full.trials.len()), (3, 1));
    let value = |row: &weir_record::SweepRow, at: usize| row.cells[at].as_ref().unwrap().value;
    assert!((value(full, 0) - 110.0).abs() < 0.5, "{full:?}");
    assert_eq!(value(alone, 1), 1.0);
    let times = value(full, 0) / value(alone, 0);
    assert!((value(full, 1) / times - 1.0).abs() < 1e-6, "{full:?}");
    // Three values: the median lies between their ends three times in four.
    assert_eq!(
        half.cells[0].as_ref().unwrap().interval.unwrap().confidence,
        0.75
    );
    let lines = &table.pictures[0].lines;
    assert_eq!(lines.len(), 3);
    let levels: Vec<f64> = lines[1].points.iter().map(|(x, _)| *x).collect();
    assert_eq!(levels, [1.0, 500.0]);
    assert!(
        outcome.summary.contains("Spread of throughput over the environments: full: 110 /s to 250 /s, 140 /s apart in 2 environments; alone: ")
            && outcome.summary.contains("times smaller."),
        "{}",
        outcome.summary
    );
}

/// The study with cases from which each environment's best is chosen: the most users that keep the
/// response time.
fn with_choice(bound: &str) -> String {
    let cases = [20, 40, 60].map(|users| {
        format!("[[sweep.case]]\nname = \"{users} users\"\nset = {{ users = {users} }}\nreplicates = 1\n")
    });
    let rest = format!(
        r#"
[[sweep.choice]]
name = "the most"
among = ["20 users", "40 users", "60 users"]
by = "throughput"
subject-to = ["{bound}"]
[[sweep.overview]]
title = "Environment by environment"
[[sweep.overview.column]]
title = "Most users"
level = "users"
case = "the most"
[[sweep.overview.column]]
title = "alone"
signal = "throughput"
case = "alone"
[[sweep.overview.column]]
title = "alone / the most"
signal = "throughput"
case = "alone"
over = "the most"
"#
    );
    let base = STUDY
        .replace("{0.5 * throughput of full}", "{0.1 * throughput of full}")
        .replace(
            "cases = [\"alone\"]\n[",
            "cases = [\"alone\", \"20 users\", \"40 users\", \"60 users\"]\n[",
        );
    format!("{base}{}{rest}", cases.concat())
}

fn run_of(text: &str) -> Outcome {
    sweep(&spec(text), &mut started(1.0), &mut NoObserver)
}

#[test]
fn each_environment_chooses_the_best_case_that_keeps_the_bounds() {
    // By exact mean value analysis 20, 40 and 60 users wait 3.3, 18 and 38 times as long as one in
    // the slow environment, 1.6, 3.3 and 11 times in the fast one, 1.7, 4.7 and 18 times in the
    // third.
    let outcome = run_of(&with_choice("mean <= {6 * mean of alone} ms"));
    let table = outcome.table.unwrap();
    let [overview] = &table.overviews[..] else {
        panic!("one overview: {:?}", table.overviews)
    };
    let value =
        |row: usize, at: usize| overview.rows[row].cells[at].as_ref().map(|cell| cell.value);
    let names: Vec<&str> = overview
        .rows
        .iter()
        .map(|row| row.environment.as_str())
        .collect();
    assert_eq!(names, ["slow", "fast", "alone only"]);
    let most: Vec<_> = (0..3).map(|row| value(row, 0)).collect();
    assert_eq!(most, [Some(20.0), Some(40.0), Some(40.0)], "{table:?}");
    let trials = table
        .rows
        .iter()
        .filter(|row| row.environment.as_deref() == Some("fast"));
    let throughput = |case: &str| {
        let row = trials.clone().find(|row| row.case == case).unwrap();
        row.cells[0].as_ref().unwrap().value
    };
    assert_eq!(value(1, 1), Some(throughput("alone")));
    let share = throughput("alone") / throughput("40 users");
    assert!(
        (value(1, 2).unwrap() / share - 1.0).abs() < 1e-6,
        "{overview:?}"
    );
    assert!(
        outcome.summary.contains(
            "Chosen as the most by throughput_per_s: slow: 20 users; fast: 40 users; alone only: 40 users."
        ),
        "{}",
        outcome.summary
    );
}

#[test]
fn a_case_of_one_block_is_judged_by_what_that_block_was_like() {
    // All cases but `alone` run in the first block only. From the second on the server is four
    // times slower: of `alone` the median is that, by which 40 users in the slow environment
    // (18 times the first `alone`) would be within six times.
    let study = with_choice("mean <= {6 * mean of alone} ms");
    let outcome = sweep(&spec(&study), &mut started(4.0), &mut NoObserver);
    assert!(
        outcome.summary.contains("slow: 20 users; fast: 40 users;"),
        "{}",
        outcome.summary
    );
}

#[test]
fn where_no_case_keeps_the_bounds_none_is_chosen() {
    let outcome = run_of(&with_choice("mean <= {0.5 * mean of alone} ms"));
    let overviews = outcome.table.unwrap().overviews;
    for row in &overviews[0].rows {
        assert_eq!((&row.cells[0], &row.cells[2]), (&None, &None), "{row:?}");
    }
    assert!(
        outcome.summary.contains("slow: none keeps the bounds"),
        "{}",
        outcome.summary
    );
}

#[test]
fn what_is_wrong_with_choices_and_overviews_is_said() {
    let study = with_choice("mean <= {2 * mean of alone} ms");
    for (from, to, part) in [
        (
            "{2 * mean of alone}",
            "{2 * mean of nobody}",
            "no case is called `nobody`",
        ),
        ("{2 * mean of alone}", "{2 mean of alone}", "is no formula"),
        ("\"mean <=", "\"meen <=", "meen"),
        ("\"mean <=", "\"p75 <=", "do not record what `p75"),
        (
            "\"20 users\", ",
            "\"30 users\", ",
            "no case is called `30 users`",
        ),
        (
            "over = \"the most\"",
            "over = \"the least\"",
            "no case is called `the least`",
        ),
        (
            "level = \"users\"",
            "level = \"users\"\nsignal = \"cpu\"",
            "a signal or a level",
        ),
        ("level = \"users\"\n", "", "`signal`"),
        (
            "name = \"the most\"",
            "name = \"40 users\"",
            "a case or another choice is called `40 users`",
        ),
        (
            "[[sweep.overview]]",
            "[[sweep.choice]]\nname = \"the most\"\namong = [\"alone\"]\nby = \"mean\"\n[[sweep.overview]]",
            "a case or another choice is called `the most`",
        ),
        (
            "warm-up = { users = 7 }",
            "warm-up-window = \"30 s\"",
            "nothing says with which load",
        ),
        (
            "warm-up = {",
            "warm-up-window = \"1 s\"\nwarm-up = {",
            "no length of a window",
        ),
    ] {
        let problems = StudyFile::parse(&study.replacen(from, to, 1)).unwrap_err();
        let all = format!("{problems:?}");
        assert!(all.contains(part), "{to}: {all}");
    }
}

#[test]
fn warm_ups_have_a_length_of_their_own_and_are_left_out_where_each_trial_starts_the_server() {
    let longer = STUDY.replace("warm-up = {", "warm-up-window = \"40 s\"\nwarm-up = {");
    let seconds = |text: &str| plan_of_trials(&Ask::Sweep(spec(text)), None).expected_s;
    assert_eq!(seconds(&longer) - seconds(STUDY), 6.0 * 30.0);
    let each = STUDY.replace(
        "set = { start.java = 25 }",
        "set = { start.java = 25, start.each = \"trial\" }",
    );
    let planned = plan_of_trials(&Ask::Sweep(spec(&each)), None);
    let warm_ups = planned.steps.last().unwrap();
    assert_eq!((warm_ups.what.as_str(), warm_ups.expected), ("warm-ups", 4));
    let outcome = run_of(&each);
    let warmed = outcome.trials.iter().filter(|trial| trial.case.is_none());
    assert_eq!(warmed.count(), 4);
}

/// What a sweep says while it runs.
#[derive(Default)]
struct Heard {
    notes: Vec<String>,
}

impl TrialObserver for Heard {
    fn second(&mut self, _: &SecondView) {}

    fn note(&mut self, text: &str) {
        self.notes.push(text.to_owned());
    }
}

impl StudyObserver for Heard {
    fn trial_starts(&mut self, _: &Treatment, _: &str) {}

    fn trial_ended(&mut self, _: &TrialRecord) {}
}

#[test]
fn a_case_that_cannot_be_set_is_told_at_once_and_at_the_end() {
    let unread = STUDY.replace("0.5 * throughput of full", "p99(lihgt) of full");
    let mut heard = Heard::default();
    let outcome = sweep(&spec(&unread), &mut started(1.0), &mut heard);
    let why = "`users = {p99(lihgt) of full}` needs response_time_ms.p99(lihgt), which no trial of `full` recorded";
    let note = format!("slow: half is left out in block 1: {why}");
    assert!(heard.notes.contains(&note), "{:?}", heard.notes);
    let end = format!("slow: half ({why})");
    assert!(outcome.summary.contains(&end), "{}", outcome.summary);
}

#[test]
fn trials_know_their_block() {
    let (outcome, _) = run();
    let of_alone = |trial: &&TrialRecord| trial.case.as_deref() == Some("slow: alone");
    let blocks: Vec<_> = outcome
        .trials
        .iter()
        .filter(of_alone)
        .map(|trial| trial.block)
        .collect();
    assert_eq!(blocks, [Some(1), Some(2), Some(3)]);
}

#[test]
fn the_dry_run_counts_environments_and_warm_ups() {
    let planned = plan_of_trials(&Ask::Sweep(spec(STUDY)), None);
    let steps: Vec<(&str, u32)> = planned
        .steps
        .iter()
        .map(|step| (step.what.as_str(), step.expected))
        .collect();
    assert_eq!(
        steps,
        [
            ("slow: 3 cases", 7),
            ("fast: 3 cases", 5),
            ("alone only: 1 cases", 1),
            ("warm-ups", 6)
        ]
    );
}

#[test]
fn what_is_wrong_with_environments_is_said() {
    for (from, to, part) in [
        (
            "name = \"fast\"",
            "name = \"slow\"",
            "two environments are called `slow`",
        ),
        (
            "statistic = \"median\"",
            "statistic = \"mode\"",
            "`mode` is no statistic",
        ),
        ("reference = \"alone\"\n", "", "nothing says to which case"),
        (
            "reference = \"alone\"",
            "reference = \"allone\"",
            "did you mean `alone`?",
        ),
        (
            "{0.5 * throughput of full}",
            "{0.5 throughput of full}",
            "is no formula",
        ),
        (
            "{0.5 * throughput of full}",
            "{0.5 * throughput of none}",
            "needs the case `none`",
        ),
        (
            "{0.5 * throughput of full}",
            "{0.5 * throughput of half}",
            "needs itself",
        ),
        (
            "only-in = [\"slow\", \"fast\"]",
            "only-in = [\"slow\"]",
            "in the environment `fast` the case `half` needs the case `full`, which is not run there",
        ),
        (
            "replicates = 3\n",
            "replicates = 3\ncompare = \"throughput\"\n",
            "one trial of it cannot be compared",
        ),
        (
            "cases = [\"alone\", \"full\"]",
            "cases = [\"aloen\"]",
            "no case is called `aloen`",
        ),
        (
            "[\"slow\", \"fast\"]",
            "[\"slwo\"]",
            "no environment is called `slwo`",
        ),
        (
            "cases = [\"alone\"]\n[",
            "cases = [\"aloen\"]\n[",
            "no case is called `aloen`",
        ),
        ("users = 7", "user = 7", "is no factor"),
        ("{ start.java = 25 }", "{ begin.java = 25 }", "is no factor"),
    ] {
        let problems = StudyFile::parse(&STUDY.replace(from, to)).unwrap_err();
        let all = format!("{problems:?}");
        assert!(all.contains(part), "{to}: {all}");
    }
}
