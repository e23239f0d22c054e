//! Sweeps in several environments: order, levels that follow from figures, and what is told of all of them together.

use weir_record::{
    Levels, NoObserver, Statistic, Status, TargetFacts, Treatment, TrialError, TrialObserver,
    TrialRecord, TrialRunner,
};
use weir_study::{Ask, Outcome, StudyFile, SweepSpec, plan_of_trials, sweep};

use crate::support::Analytic;

/// A server whose speed is the Java that runs it.
struct Started {
    server: Analytic,
    /// Of every trial, the Java and the users.
    ran: Vec<(f64, f64)>,
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
        self.server.cpu_s = 0.1 / java;
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
[[sweep.case]]
name = "half"
set = { users = "{0.5 * throughput of full}" }
only-in = ["slow", "fast"]
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

fn run() -> (Outcome, Vec<(f64, f64)>) {
    let mut runner = Started {
        server: Analytic::new(1, 0.2, 0.005, 0.0),
        ran: Vec::new(),
    };
    let outcome = sweep(&spec(STUDY), &mut runner, &mut NoObserver);
    (outcome, runner.ran)
}

#[test]
fn cases_run_environment_by_environment_those_first_from_which_others_follow() {
    let (outcome, ran) = run();
    assert_eq!(outcome.status, Status::Answered, "{}", outcome.summary);
    // Warm-up and three cases in both, then without the case that runs once, then in one environment only.
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
        outcome.summary.contains("throughput by environment: full: 110 to 250 /s, 140 /s apart in 2 environments; alone: ")
            && outcome.summary.contains("times smaller."),
        "{}",
        outcome.summary
    );
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
            "cases = [\"alone\", \"full\"]",
            "cases = [\"aloen\"]",
            "no case is called `aloen`",
        ),
        (
            "[\"slow\", \"fast\"]",
            "[\"slwo\"]",
            "no environment is called `slwo`",
        ),
        ("users = 7", "user = 7", "is no factor"),
        ("{ start.java = 25 }", "{ begin.java = 25 }", "is no factor"),
    ] {
        let problems = StudyFile::parse(&STUDY.replace(from, to)).unwrap_err();
        let all = format!("{problems:?}");
        assert!(all.contains(part), "{to}: {all}");
    }
}
