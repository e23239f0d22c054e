//! Trials that somebody ran by hand and whose files were taken in: what they show, and what they
//! cannot.

use std::collections::BTreeSet;

use weir_record::{Finding, Status, TargetFacts, TrialRecord};

use crate::file::{Across, ColumnSpec};
use crate::findings;
use crate::outcome::Outcome;
use crate::sweep::{Case, table};

/// The figures of the table, by title and name.
const COLUMNS: [(&str, &str); 7] = [
    ("throughput", "throughput"),
    ("mean", "mean"),
    ("p50", "p50"),
    ("p90", "p90"),
    ("p99", "p99"),
    ("errors", "errors"),
    ("CPU", "cpu"),
];

/// What the trials show: a table with a row for each, what the rules find in them, and what nobody
/// can say from them.
pub fn of_files(trials: Vec<TrialRecord>, target: TargetFacts) -> Outcome {
    let columns: Vec<ColumnSpec> = COLUMNS
        .iter()
        .map(|(title, signal)| ColumnSpec::new(*title, *signal))
        .collect();
    let cases: Vec<Case> = trials
        .iter()
        .map(|trial| Case {
            name: trial.case.clone().unwrap_or_default(),
            levels: trial.levels.clone(),
            ..Case::default()
        })
        .collect();
    let mut found = findings::of_sweep(&trials, &target);
    found.extend(not_known(&trials, &target));
    let valid = trials.iter().filter(|trial| trial.valid).count();
    Outcome {
        status: if valid == 0 {
            Status::Invalid
        } else {
            Status::Answered
        },
        question: "What do these files say?".to_owned(),
        summary: format!(
            "{} load test(s) taken in, {valid} of them with figures that can be used.",
            trials.len()
        ),
        target,
        answer: None,
        raised: Vec::new(),
        settings: std::collections::BTreeMap::new(),
        settings_detail: Vec::new(),
        held: None,
        table: Some(table(&columns, &cases, &trials, &Across::default())),
        comparison: None,
        joint: None,
        difference: None,
        findings: found,
        trials,
        stopped_by: None,
    }
}

/// What the files cannot say, why, and what would.
fn not_known(trials: &[TrialRecord], target: &TargetFacts) -> Vec<Finding> {
    let ids: Vec<u32> = trials.iter().map(|trial| trial.id).collect();
    let not = |says: &str, change: &str| Finding::new("not-known", says, &ids).change(change);
    let mut found = Vec::new();
    let without_cpu: Vec<u32> = trials
        .iter()
        .filter(|trial| trial.cpu.is_none())
        .map(|trial| trial.id)
        .collect();
    if !without_cpu.is_empty() {
        let says = "These files cannot say whether the CPU holds the flow: nothing beside the result file was given that \
                    covers it.";
        let finding = Finding::new("not-known", says, &without_cpu);
        found.push(
            finding.change(
                "run `sar -u 1` on the server beside the load, and give its text with --sar",
            ),
        );
    } else if target.cpus == 0 {
        found.push(not(
            "These files cannot say what a request costs in CPU time: they do not name the number of CPUs.",
            "give it with --cpus",
        ));
    }
    let has_stage = |trial: &TrialRecord| {
        trial
            .signals
            .keys()
            .any(|name| name.ends_with(".occupancy") || name.ends_with(".waiting"))
    };
    if !trials.iter().any(has_stage) {
        found.push(not(
            "These files cannot say which stage holds the flow (threads, a pool, the backlog). None of them tells how many \
             are in a stage or wait for it.",
            "let `weir watch` run beside the load and give it with --watch, or run the load with Weir",
        ));
    }
    let levels: BTreeSet<u32> = trials.iter().map(|trial| trial.population).collect();
    if levels.contains(&0) {
        found.push(not(
            "Not all of these files say how many users there were, so what belongs to one number of users is not known.",
            "let JMeter write the column allThreads (jmeter.save.saveservice.thread_counts=true), or thread names",
        ));
    } else if levels.len() < 2 {
        found.push(not(
            "These files cannot say how throughput and response time change with the number of users: there is only one.",
            "give the result files of tests with other numbers of users too, each with its own --jtl",
        ));
    }
    if !levels.contains(&0) && levels.len() == trials.len() {
        found.push(not(
            "These files cannot say how much two tests of the same load differ: none was repeated.",
            "repeat one of them twice",
        ));
    }
    found.push(not(
        "A result file cannot say whether the load generator itself was late or busy; response times count from the moment \
         at which it sent.",
        "watch the CPU of its machine too",
    ));
    found
}
