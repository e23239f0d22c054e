//! `cargo xtask bench tune`: is the answer of `weir tune` right?
//!
//! Runs the default study several times. After each run, independent trials of the same load at
//! 40–60 % utilization give the service demand D = U·c/X and the think time; the search saw none of
//! them. Exact closed MVA with these two says how many users should reach the goal. The answer is
//! right if it differs by at most two users or 7 %, whichever is more, in the median of the runs.
//!
//! What this cannot tell: MVA assumes that a request costs the same CPU time at any population.
//! Where the server does not keep to that, the difference shows the server as well as the search.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;
use toml::{Table, Value};

use crate::bench::closed_mva::ClosedNetwork;
use crate::bench::spread::Spread;
use crate::error::TaskError;
use crate::process::{cargo, run, run_any_end};
use crate::workspace::Workspace;

/// The study that `weir tune` runs without a file.
const STUDY: &str = "studies/default.toml";
/// Its goal.
const CPU_GOAL: f64 = 0.8;
/// Utilizations between which the demand may be taken.
const MODERATE: std::ops::RangeInclusive<f64> = 0.4..=0.6;
/// What the independent trials aim at.
const AIM: f64 = 0.5;
/// Independent trials after each run.
const REPLICATES: i64 = 2;
/// How often the population of the independent trials is corrected before the run is given up.
const ATTEMPTS: u32 = 3;
/// The answer may differ by this many users …
const USERS_MAX: f64 = 2.0;
/// … or by this share.
const SHARE_MAX: f64 = 0.07;

/// The part of `result.json` that is needed here.
#[derive(Debug, Deserialize)]
struct Stored {
    answer: Option<Answer>,
    target: Target,
    trials: Vec<Trial>,
}

#[derive(Debug, Deserialize)]
struct Answer {
    value: f64,
    low: f64,
    high: f64,
    population: u32,
}

#[derive(Debug, Deserialize)]
struct Target {
    cpus: u32,
}

#[derive(Debug, Deserialize)]
struct Trial {
    valid: bool,
    population: u32,
    warm_up_s: f64,
    window_s: f64,
    throughput_per_s: f64,
    cpu: Option<Cpu>,
}

#[derive(Debug, Deserialize)]
struct Cpu {
    total: f64,
}

/// What the independent trials say.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Independent {
    utilization: f64,
    network: ClosedNetwork,
}

/// One run beside what it is compared with.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Comparison {
    answer: f64,
    low: f64,
    high: f64,
    exact: f64,
    load_s: f64,
    independent: Independent,
}

impl Comparison {
    fn difference(&self) -> f64 {
        (self.answer - self.exact).abs()
    }

    /// The difference as a share of what is allowed.
    fn of_allowed(&self) -> f64 {
        self.difference() / USERS_MAX.max(SHARE_MAX * self.exact)
    }
}

/// Runs the study `runs` times and compares.
pub(crate) fn bench(workspace: &Workspace, runs: u32) -> Result<(), TaskError> {
    let bench = Bench::prepare(workspace)?;
    let mut comparisons = Vec::new();
    for number in 1..=runs {
        println!("\n== run {number} of {runs}");
        let comparison = bench.compare(number)?;
        println!("{}", row(number, &comparison));
        comparisons.push(comparison);
    }
    println!("\n{HEAD}");
    for (number, comparison) in (1..).zip(&comparisons) {
        println!("{}", row(number, comparison));
    }
    let differences = comparisons.iter().map(Comparison::of_allowed).collect();
    let median = Spread::of(differences).map_or(f64::INFINITY, |spread| spread.median);
    println!(
        "\nmedian difference: {:.0} % of what is allowed (2 users or 7 %)",
        median * 100.0
    );
    if median <= 1.0 {
        Ok(())
    } else {
        Err(TaskError::Checks(
            "the answer differs from exact MVA".to_owned(),
        ))
    }
}

struct Bench {
    root: PathBuf,
    program: PathBuf,
    directory: PathBuf,
    study: Table,
}

impl Bench {
    fn prepare(workspace: &Workspace) -> Result<Self, TaskError> {
        let root = workspace.root.clone();
        run(&mut cargo(
            &root,
            &["build", "--release", "--package", "weir"],
        ))?;
        let target = workspace.target_directory()?;
        let directory = target.join("bench-tune");
        fs::create_dir_all(&directory).map_err(|source| TaskError::File {
            doing: "write",
            path: directory.clone(),
            source,
        })?;
        let study = parse_study(&read(&root.join(STUDY))?)?;
        Ok(Self {
            root,
            program: target.join("release/weir"),
            directory,
            study,
        })
    }

    fn compare(&self, number: u32) -> Result<Comparison, TaskError> {
        let result = self.directory.join(format!("tune-{number}.json"));
        let tuned = self.weir(&["tune"], &result)?;
        let answer = tuned.answer.ok_or_else(|| TaskError::Form {
            what: result.display().to_string(),
            why: "the run has no answer".to_owned(),
        })?;
        let load_s = tuned
            .trials
            .iter()
            .map(|trial| trial.warm_up_s + trial.window_s)
            .sum();
        let users_per_level = f64::from(answer.population) / answer.value;
        let independent = self.independent(number, answer.value)?;
        Ok(Comparison {
            answer: answer.value,
            low: answer.low,
            high: answer.high,
            exact: f64::from(independent.network.largest_users(CPU_GOAL)) / users_per_level,
            load_s,
            independent,
        })
    }

    /// Trials that the search did not use, at a moderate utilization.
    fn independent(&self, number: u32, answer: f64) -> Result<Independent, TaskError> {
        // Below the goal, utilization is nearly proportional to the population.
        let mut users = (answer * AIM / CPU_GOAL).round().max(1.0);
        for attempt in 1..=ATTEMPTS {
            let file = self.directory.join(format!("independent-{number}.toml"));
            let study = sweep_of(&self.study, &self.root, users as i64);
            fs::write(&file, study.to_string()).map_err(|source| TaskError::File {
                doing: "write",
                path: file.clone(),
                source,
            })?;
            let result = self
                .directory
                .join(format!("independent-{number}-{attempt}.json"));
            let stored = self.weir(&["sweep", &file.to_string_lossy()], &result)?;
            let found = evaluate(&stored)?;
            if MODERATE.contains(&found.utilization) {
                return Ok(found);
            }
            println!(
                "{users} users make {:.0} %: trying again",
                found.utilization * 100.0
            );
            users = (users * AIM / found.utilization).round().max(1.0);
        }
        Err(TaskError::Form {
            what: "the independent trials".to_owned(),
            why: format!("no population with 40 to 60 % utilization in {ATTEMPTS} attempts"),
        })
    }

    /// Runs the program and reads the result it writes; an exit code other than 0 may still come
    /// with one.
    fn weir(&self, arguments: &[&str], result: &Path) -> Result<Stored, TaskError> {
        let mut command = Command::new(&self.program);
        command
            .args(arguments)
            .arg("--json")
            .arg(result)
            .arg("--runs")
            .arg(self.directory.join("runs"))
            .current_dir(&self.root);
        run_any_end(&mut command)?;
        serde_json::from_str(&read(result)?).map_err(|error| TaskError::Form {
            what: result.display().to_string(),
            why: error.to_string(),
        })
    }
}

fn read(path: &Path) -> Result<String, TaskError> {
    fs::read_to_string(path).map_err(|source| TaskError::File {
        doing: "read",
        path: path.to_owned(),
        source,
    })
}

fn parse_study(text: &str) -> Result<Table, TaskError> {
    text.parse()
        .map_err(|error: toml::de::Error| TaskError::Form {
            what: STUDY.to_owned(),
            why: error.to_string(),
        })
}

/// The study's target and load, asked at one population only.
fn sweep_of(study: &Table, root: &Path, users: i64) -> Table {
    let mut study = study.clone();
    study.remove("find");
    if let Some(Value::Table(load)) = study.get_mut("load") {
        if let Some(Value::String(plan)) = load.get_mut("plan") {
            let beside = root.join(STUDY).with_file_name("");
            *plan = beside.join(&*plan).to_string_lossy().into_owned();
        }
        load.insert("window".to_owned(), Value::String("40 s".to_owned()));
        load.insert("warm-up".to_owned(), Value::String("10 s".to_owned()));
    }
    let mut set = Table::new();
    set.insert("users".to_owned(), Value::Integer(users));
    let mut case = Table::new();
    case.insert("name".to_owned(), Value::String("independent".to_owned()));
    case.insert("set".to_owned(), Value::Table(set));
    let mut sweep = Table::new();
    sweep.insert("design".to_owned(), Value::String("cases".to_owned()));
    sweep.insert("replicates".to_owned(), Value::Integer(REPLICATES));
    sweep.insert("case".to_owned(), Value::Array(vec![Value::Table(case)]));
    study.insert("sweep".to_owned(), Value::Table(sweep));
    study
}

/// Demand and think time from the valid trials together.
fn evaluate(stored: &Stored) -> Result<Independent, TaskError> {
    let usable: Vec<(&Trial, f64)> = stored
        .trials
        .iter()
        .filter(|trial| trial.valid && trial.throughput_per_s > 0.0)
        .filter_map(|trial| Some((trial, trial.cpu.as_ref()?.total)))
        .collect();
    let Some((first, _)) = usable.first() else {
        return Err(TaskError::Form {
            what: "the independent trials".to_owned(),
            why: "none of them is valid".to_owned(),
        });
    };
    let count = usable.len() as f64;
    let utilization = usable.iter().map(|(_, busy)| busy).sum::<f64>() / count;
    let throughput = usable
        .iter()
        .map(|(trial, _)| trial.throughput_per_s)
        .sum::<f64>()
        / count;
    let cpus = stored.target.cpus;
    let demand_s = utilization * f64::from(cpus) / throughput;
    Ok(Independent {
        utilization,
        network: ClosedNetwork::through(first.population, utilization, demand_s, cpus),
    })
}

const HEAD: &str =
    "run  answer  (95 %)        exact MVA  difference  allowed  load     from D        at U";

fn row(number: u32, comparison: &Comparison) -> String {
    let allowed = USERS_MAX.max(SHARE_MAX * comparison.exact);
    format!(
        "{number:>3}  {:>6}  {:<12}  {:>9}  {:>10.0}  {allowed:>7.1}  {:>4.0} s  {:>8.2} ms  {:>6.1} %",
        comparison.answer,
        format!("{}–{}", comparison.low, comparison.high),
        comparison.exact,
        comparison.difference(),
        comparison.load_s,
        comparison.independent.network.demand_s * 1e3,
        comparison.independent.utilization * 100.0
    )
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test that fails should stop")]

    use super::*;

    fn stored(trials: &str) -> Stored {
        let text = format!(r#"{{"answer": null, "target": {{"cpus": 2}}, "trials": [{trials}]}}"#);
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn valid_trials_give_the_network_they_came_from() {
        // 25 users who think 1 s and need 0.4 s of one of 10 CPUs: exact MVA says X =
        // 17.7262632183319.
        let trial = |valid, throughput, busy| {
            format!(
                r#"{{"valid": {valid}, "population": 25, "warm_up_s": 1, "window_s": 1,
                     "throughput_per_s": {throughput}, "cpu": {{"total": {busy}}}}}"#
            )
        };
        let x = 17.726_263_218_331_9;
        let trials = [trial(true, x, x * 0.04), trial(false, 1.0, 0.9)].join(",");
        let mut stored = stored(&trials);
        stored.target.cpus = 10;
        let found = evaluate(&stored).unwrap();
        assert!((found.network.demand_s - 0.4).abs() < 1e-9, "{found:?}");
        assert!((found.network.think_s - 1.0).abs() < 1e-6, "{found:?}");
    }

    #[test]
    fn no_valid_trial_is_an_error() {
        assert!(evaluate(&stored("")).is_err());
    }

    #[test]
    fn the_sweep_keeps_target_and_load_and_asks_one_population() {
        let study = parse_study(
            "schema = \"weir/study/1\"\n[target.builtin]\n[load]\nplan = \"plans/a.jmx\"\nwindow = \"auto\"\n\
             [find]\nvary = \"users\"\n",
        )
        .unwrap();
        let sweep = sweep_of(&study, Path::new("/somewhere"), 26);
        assert!(!sweep.contains_key("find"));
        assert!(sweep.contains_key("target"));
        assert_eq!(
            sweep["load"]["plan"].as_str(),
            Some("/somewhere/studies/plans/a.jmx")
        );
        assert_eq!(
            sweep["sweep"]["case"][0]["set"]["users"].as_integer(),
            Some(26)
        );
    }

    #[test]
    fn two_users_or_seven_per_cent_are_allowed() {
        let comparison = |answer, exact| Comparison {
            answer,
            low: 0.0,
            high: 0.0,
            exact,
            load_s: 0.0,
            independent: Independent {
                utilization: 0.5,
                network: ClosedNetwork {
                    think_s: 1.0,
                    demand_s: 1.0,
                    cpus: 1,
                },
            },
        };
        assert!(comparison(12.0, 10.0).of_allowed() <= 1.0);
        assert!(comparison(13.0, 10.0).of_allowed() > 1.0);
        assert!(comparison(106.0, 100.0).of_allowed() <= 1.0);
        assert!(comparison(92.0, 100.0).of_allowed() > 1.0);
    }
}
