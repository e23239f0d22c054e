//! `cargo xtask bench explain`: does `weir explain` find out why a server is slow?
//!
//! Each case is a server that is slow for a reason that is known, really made here: the studies of
//! `bench/explain`, with what has to happen beside them (processes that spin on a CPU, a firewall
//! that drops packets, a control group). The first hypothesis that `weir explain` names has to be
//! a made one. A case whose tools are not there is told, and is not passed. The servers of
//! `bench first-hour` are cases as well, each with one trial.

mod agree;
mod group;
mod score;

use std::cell::OnceCell;
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use clap::Args;
use serde::Deserialize;

use crate::bench::first_hour::{self, Explained, Kit};
use crate::error::TaskError;
use crate::needs::{HTTPD, IP, NFT, TASKSET, UNSHARE, provide};
use crate::process::{output, run_any_end};
use crate::workspace::Workspace;
use group::{Bound, Group, VARIABLE};
use score::{NONE, Score};

/// Where the studies lie.
const STUDIES: &str = "bench/explain";
/// Users of a server that runs already: more than it has places, so that what it was given to few
/// of is short.
const USERS: u32 = 40;
/// Processes that spin on a CPU: three requests in progress then get a third of it, one thread of a
/// load a seventh.
const SPINNERS: usize = 6;

/// Say whether `weir explain` finds the reason in servers that were made slow
#[derive(Debug, Args)]
pub(crate) struct ExplainBench {
    /// Only this case; may be given several times
    #[arg(long, value_name = "CASE")]
    only: Vec<String>,
    /// A program `weir` that is built already
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
}

/// What has to happen beside a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Beside {
    Nothing,
    /// An Apache httpd that the study starts.
    Httpd,
    /// Processes that spin on this CPU.
    Spinning(u32),
    /// The rules of a firewall, in a network namespace of its own.
    Firewall(&'static str),
    /// A control group around the server.
    Group(Bound),
}

/// A server that is slow for a known reason.
struct Case {
    /// Its study in `bench/explain`.
    name: &'static str,
    /// The hypotheses that are true and may come first; `none` where what holds the requests
    /// cannot be told.
    expected: &'static [&'static str],
    beside: Beside,
}

const CASES: [Case; 26] = [
    case("garbage", &["garbage-collection"], Beside::Nothing),
    case("lock", &["locks"], Beside::Nothing),
    case("starved", &["neighbour"], Beside::Spinning(0)),
    case("lossy", &["network"], Beside::Firewall("lossy.nft")),
    case("pool", &["limit"], Beside::Nothing),
    case("threads", &["limit"], Beside::Nothing),
    case("refused", &["limit"], Beside::Nothing),
    case("gate-rate", &["limit"], Beside::Nothing),
    case("gate-concurrency", &["limit"], Beside::Nothing),
    case("spawn-rate", &["spawn-rate"], Beside::Httpd),
    case("load-tool", &["load-tool"], Beside::Spinning(1)),
    case("fsync", &["disk"], Beside::Nothing),
    case("paging", &["paging"], Beside::Group(Bound::Memory(300))),
    case("away", &["downstream"], Beside::Nothing),
    case("away-limited", &["downstream"], Beside::Nothing),
    case("idle-threads", &["idle-threads"], Beside::Nothing),
    case("quota", &["quota"], Beside::Group(Bound::Cpu(20))),
    case("cpu", &["cpu"], Beside::Nothing),
    case("sleep", &["none"], Beside::Nothing),
    // Two causes at once. Of a limit that is full because of what those wait for that have a
    // place, the other is the cause: a higher limit would only move the queue.
    case("threads-lock", &["locks"], Beside::Nothing),
    case("threads-away", &["limit", "downstream"], Beside::Nothing),
    case("threads-cpu", &["cpu"], Beside::Nothing),
    case("threads-quota", &["quota"], Beside::Group(Bound::Cpu(20))),
    // Each of these alone would hold the requests.
    case("pool-cpu", &["limit", "cpu"], Beside::Nothing),
    case("lock-starved", &["locks", "neighbour"], Beside::Spinning(0)),
    case(
        "threads-lossy",
        &["limit", "network"],
        Beside::Firewall("lossy.nft"),
    ),
];

/// Where a case is played.
enum Place {
    Study(&'static Case),
    Server(&'static first_hour::Case),
}

/// A case by its name, and what may come first.
struct Named(&'static str, &'static [&'static str]);

/// What was found in a case.
struct Played {
    found: Diagnosis,
    /// The hypothesis that comes first, with its stage where that is expected.
    first: String,
    /// The result of the study.
    result: PathBuf,
}

impl Place {
    fn named(&self) -> Named {
        match self {
            Self::Study(case) => Named(case.name, case.expected),
            Self::Server(case) => Named(case.name, case.explain),
        }
    }
}

impl Named {
    /// What was made, in words.
    fn made(&self) -> String {
        self.1.join(" or ")
    }
}

const fn case(name: &'static str, expected: &'static [&'static str], beside: Beside) -> Case {
    Case {
        name,
        expected,
        beside,
    }
}

/// The part of an explanation that is needed here.
#[derive(Debug, Deserialize)]
struct Explanation {
    runs: Vec<Diagnosis>,
}

#[derive(Debug, Deserialize)]
struct Diagnosis {
    throughput_per_s: Option<f64>,
    response_mean_ms: Option<f64>,
    hypotheses: Vec<Hypothesis>,
    first: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Hypothesis {
    id: String,
    verdict: String,
    share: Option<f64>,
}

impl Hypothesis {
    fn is_refused(&self) -> bool {
        self.verdict == "not-supported"
    }
}

/// Makes every case and compares what is found with what was made.
pub(crate) fn bench(workspace: &Workspace, options: &ExplainBench) -> Result<(), TaskError> {
    let bench = Bench::prepare(workspace, options)?;
    let mut rows = vec![
        "| case | made | found first | also supported | not measured | requests/s | mean |"
            .to_owned(),
        "|---|---|---|---|---|---|---|".to_owned(),
    ];
    let (mut wrong, mut not_run, mut contradicted) = (Vec::new(), Vec::new(), Vec::new());
    let mut score = Score::default();
    let wanted =
        |named: &Named| options.only.is_empty() || options.only.iter().any(|only| only == named.0);
    let studies = CASES.iter().map(Place::Study);
    let servers = first_hour::CASES.iter().map(Place::Server);
    for place in studies.chain(servers) {
        let named = place.named();
        let Named(name, expected) = named;
        if !wanted(&named) {
            continue;
        }
        println!("\n== {name}");
        match bench.explain(&place) {
            Ok(played) => {
                let against = agree::contradictions(&played.result, &played.found)?;
                contradicted.extend(against.iter().map(|id| format!("{name} ({id})")));
                if !expected.contains(&played.first.as_str()) {
                    wrong.push(name);
                }
                score.count(&played.first, expected);
                let row = row(&named, &played.found);
                println!("{row}");
                rows.push(row);
            }
            Err(missing @ (TaskError::Missing { .. } | TaskError::Unavailable(_))) => {
                println!("not run: {missing}");
                rows.push(format!("| {name} | {} | not run | | | | |", named.made()));
                not_run.push(name);
            }
            Err(error) => return Err(error),
        }
    }
    println!("\n{}\n\n{}", rows.join("\n"), score.says());
    let named = |cases: Vec<&str>| cases.into_iter().map(str::to_owned).collect();
    let failed: [(&str, Vec<String>); 3] = [
        ("another reason was found in", named(wrong)),
        ("a finding says otherwise in", contradicted),
        ("not run:", named(not_run)),
    ];
    let failed: Vec<String> = failed
        .into_iter()
        .filter(|(_, cases)| !cases.is_empty())
        .map(|(what, cases)| format!("{what} {}", cases.join(", ")))
        .collect();
    if failed.is_empty() {
        Ok(())
    } else {
        Err(TaskError::Checks(failed.join("; ")))
    }
}

struct Bench<'w> {
    workspace: &'w Workspace,
    /// The servers, once one of them was needed.
    kit: OnceCell<Kit>,
    program: PathBuf,
    studies: PathBuf,
    directory: PathBuf,
}

impl<'w> Bench<'w> {
    fn prepare(workspace: &'w Workspace, options: &ExplainBench) -> Result<Self, TaskError> {
        let target = workspace.target_directory()?;
        let program = workspace.program(options.program.as_deref())?;
        let directory = target.join("bench-explain");
        fs::create_dir_all(&directory).map_err(TaskError::file("write", &directory))?;
        Ok(Self {
            workspace,
            kit: OnceCell::new(),
            program,
            studies: workspace.root.join(STUDIES),
            directory,
        })
    }

    fn explain(&self, place: &Place) -> Result<Played, TaskError> {
        let (text, result) = match place {
            Place::Study(case) => self.study(case)?,
            Place::Server(case) => {
                let kit = if let Some(kit) = self.kit.get() {
                    kit
                } else {
                    let made = first_hour::kit(self.workspace, &self.program)?;
                    self.kit.get_or_init(|| made)
                };
                first_hour::one_trial(kit, &self.program, case, USERS)?
            }
        };
        let form = |why: String| TaskError::Form {
            what: format!("the explanation of {}", place.named().0),
            why,
        };
        let explanation: Explanation =
            serde_json::from_str(&text).map_err(|error| form(error.to_string()))?;
        let run = explanation.runs.into_iter().next();
        let found = run.ok_or_else(|| form("it has no run".to_owned()))?;
        let first = match place {
            Place::Study(_) => found.first.clone().unwrap_or_else(|| NONE.to_owned()),
            Place::Server(_) => Explained::of(&text)?.first,
        };
        Ok(Played {
            found,
            first,
            result,
        })
    }

    /// The explanation of a study as JSON, and where its result lies.
    fn study(&self, case: &Case) -> Result<(String, PathBuf), TaskError> {
        let runs = self.directory.join(case.name);
        // What an earlier bench has left could be taken for this one's.
        if runs.exists() {
            fs::remove_dir_all(&runs).map_err(TaskError::file("remove", &runs))?;
        }
        let study = self.studies.join(format!("{}.toml", case.name));
        let mut sweep = self.beside(case)?;
        sweep.arg("sweep").arg(study).arg("--runs").arg(&runs);
        let spinning = match case.beside {
            Beside::Spinning(cpu) => Spinners::on(cpu)?,
            Beside::Nothing | Beside::Httpd | Beside::Firewall(_) | Beside::Group(_) => {
                Spinners(Vec::new())
            }
        };
        let group = match case.beside {
            Beside::Group(bound) => Some(Group::make(bound)?),
            Beside::Nothing | Beside::Httpd | Beside::Firewall(_) | Beside::Spinning(_) => None,
        };
        sweep.envs(group.as_ref().map(|group| (VARIABLE, group.folder())));
        // A trial that its load generator spoilt ends with a code of its own, and is explained all
        // the same.
        run_any_end(&mut sweep)?;
        drop((spinning, group));
        let mut explain = Command::new(&self.program);
        explain
            .args(["explain", "last", "--json", "-", "--runs"])
            .arg(&runs);
        let text = output(&mut explain)?;
        let folder = fs::read_dir(&runs)
            .map_err(TaskError::file("list", &runs))?
            .filter_map(Result::ok)
            .map(|entry| entry.path().join("result.json"))
            .find(|result| result.is_file());
        let result = folder.ok_or_else(|| TaskError::Form {
            what: format!("the study of {}", case.name),
            why: "it has no result".to_owned(),
        })?;
        Ok((text, result))
    }

    /// The program, with what has to be around it.
    fn beside(&self, case: &Case) -> Result<Command, TaskError> {
        let rules = match case.beside {
            Beside::Nothing | Beside::Group(_) => return Ok(Command::new(&self.program)),
            Beside::Httpd => {
                provide(&[HTTPD])?;
                return Ok(Command::new(&self.program));
            }
            Beside::Spinning(_) => {
                provide(&[TASKSET])?;
                return Ok(Command::new(&self.program));
            }
            Beside::Firewall(rules) => rules,
        };
        provide(&[UNSHARE, IP, NFT])?;
        let script = "ip link set lo up && nft -f \"$0\" && exec \"$@\"";
        let mut command = Command::new("unshare");
        command
            .args(["--net", "--map-root-user", "sh", "-c", script])
            .arg(self.studies.join(rules))
            .arg(&self.program);
        Ok(command)
    }
}

/// Processes that use all they get of a CPU, until this is dropped.
struct Spinners(Vec<Child>);

impl Spinners {
    fn on(cpu: u32) -> Result<Self, TaskError> {
        let mut spinners = Self(Vec::new());
        for _ in 0..SPINNERS {
            let mut command = Command::new("taskset");
            command.args([
                "--cpu-list",
                &cpu.to_string(),
                "sh",
                "-c",
                "while :; do :; done",
            ]);
            let child =
                command
                    .stdin(Stdio::null())
                    .spawn()
                    .map_err(|source| TaskError::Start {
                        command: "taskset".to_owned(),
                        source,
                    })?;
            spinners.0.push(child);
        }
        Ok(spinners)
    }
}

impl Drop for Spinners {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // One that has ended by itself has nothing left to end.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn row(named: &Named, found: &Diagnosis) -> String {
    let with = |verdict: &str| {
        let hypotheses = found.hypotheses.iter();
        let named = hypotheses.filter(|hypothesis| {
            hypothesis.verdict == verdict && Some(&hypothesis.id) != found.first.as_ref()
        });
        let names: Vec<String> = named.map(name).collect();
        names.join(", ")
    };
    let first = found
        .hypotheses
        .iter()
        .find(|hypothesis| Some(&hypothesis.id) == found.first.as_ref());
    format!(
        "| {} | {} | {} | {} | {} | {:.1} | {:.1} ms |",
        named.0,
        named.made(),
        first.map_or_else(|| "none".to_owned(), name),
        with("supported"),
        with("not-measured"),
        found.throughput_per_s.unwrap_or_default(),
        found.response_mean_ms.unwrap_or_default()
    )
}

/// A hypothesis with its share of the requests' time.
fn name(hypothesis: &Hypothesis) -> String {
    match hypothesis.share {
        Some(share) => format!("{} ({:.0} %)", hypothesis.id, share * 100.0),
        None => hypothesis.id.clone(),
    }
}
