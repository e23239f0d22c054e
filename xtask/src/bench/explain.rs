//! `cargo xtask bench explain`: does `weir explain` find out why a server is slow?
//!
//! Each case is a server that is slow for a reason that is known, really made here: the studies of
//! `bench/explain`, with what has to happen beside them (processes that spin on a CPU, a firewall
//! that drops packets, a control group). The first hypothesis that `weir explain` names has to be
//! a made one. A case whose tools are not there is told, and is not passed. The servers of
//! `bench first-hour` are cases as well, each with one trial, and so are others that were written
//! before any of them was played.

mod apart;
mod beside;
mod cases;
mod group;
mod score;

use std::cell::OnceCell;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use clap::Args;
use serde::Deserialize;

use crate::bench::first_hour::servers::Server;
use crate::bench::first_hour::{self, Explained, Kit, Started};
use crate::error::TaskError;
use crate::needs::{HTTPD, IP, NFT, NODE, UNSHARE, provide};
use crate::process::{output, run_any_end};
use crate::workspace::Workspace;
use apart::{APART, Apart};
use beside::Beside;
use cases::{CASES, Case};
use group::VARIABLE;
use score::{NONE, Score};

/// Where the studies lie.
const STUDIES: &str = "bench/explain";
/// Users of a server that runs already: more than it has places, so that what it was given to few
/// of is short.
const USERS: u32 = 40;

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

/// Where a case is played.
enum Place {
    Study(&'static Case),
    Server(&'static first_hour::Case),
    Apart(&'static Apart),
}

/// A case by its name, and what may come first.
struct Named(&'static str, &'static [&'static str]);

/// What was found in a case.
struct Played {
    found: Diagnosis,
    /// The hypothesis that comes first, with its stage where that is expected.
    first: String,
}

impl Place {
    fn named(&self) -> Named {
        match self {
            Self::Study(case) => Named(case.name, case.expected),
            Self::Server(case) => Named(case.name, case.explain),
            Self::Apart(apart) => Named(apart.case.name, apart.case.explain),
        }
    }
}

impl Named {
    /// What was made, in words.
    fn made(&self) -> String {
        self.1.join(" or ")
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
    /// Findings of the study that the hypotheses speak against.
    #[serde(default)]
    contradicts: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Hypothesis {
    id: String,
    verdict: String,
    share: Option<f64>,
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
    let (mut score, mut score_apart) = (Score::default(), Score::default());
    let wanted =
        |named: &Named| options.only.is_empty() || options.only.iter().any(|only| only == named.0);
    let studies = CASES.iter().map(Place::Study);
    let servers = first_hour::CASES.iter().map(Place::Server);
    let apart = APART.iter().map(Place::Apart);
    for place in studies.chain(servers).chain(apart) {
        let named = place.named();
        let Named(name, expected) = named;
        if !wanted(&named) {
            continue;
        }
        println!("\n== {name}");
        match bench.explain(&place) {
            Ok(played) => {
                let against = played.found.contradicts.iter();
                contradicted.extend(against.map(|id| format!("{name} ({id})")));
                if !expected.contains(&played.first.as_str()) {
                    wrong.push(name);
                }
                let of = match place {
                    Place::Study(_) | Place::Server(_) => &mut score,
                    Place::Apart(_) => &mut score_apart,
                };
                of.count(&played.first, expected);
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
    println!("\n{}\n", rows.join("\n"));
    for (which, score) in [("", score), ("those kept apart: ", score_apart)] {
        if score != Score::default() {
            println!("{which}{}", score.says());
        }
    }
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
        let text = match place {
            Place::Study(case) => self.study(case)?,
            Place::Server(case) => self.server(case, USERS, Beside::Nothing)?,
            Place::Apart(apart) => self.server(&apart.case, apart.users, apart.beside)?,
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
            Place::Server(_) | Place::Apart(_) => Explained::of(&text)?.first,
        };
        Ok(Played { found, first })
    }

    /// The explanation of a trial on a server that runs already, as JSON. What happens beside it
    /// begins when it is warm.
    fn server(
        &self,
        case: &first_hour::Case,
        users: u32,
        beside: Beside,
    ) -> Result<String, TaskError> {
        if case.server == Server::Node {
            provide(&[NODE])?;
        }
        let kit = if let Some(kit) = self.kit.get() {
            kit
        } else {
            let made = first_hour::kit(self.workspace, &self.program)?;
            self.kit.get_or_init(|| made)
        };
        let started = Started::of(kit, &self.program, case)?;
        let around = beside.begin()?;
        around.take(&started.processes())?;
        let told = started.one_trial(&self.program, users);
        // A control group can be removed only when its processes have ended.
        drop(started);
        drop(around);
        told
    }

    /// The explanation of a study as JSON.
    fn study(&self, case: &Case) -> Result<String, TaskError> {
        let runs = self.directory.join(case.name);
        // What an earlier bench has left could be taken for this one's.
        if runs.exists() {
            fs::remove_dir_all(&runs).map_err(TaskError::file("remove", &runs))?;
        }
        let study = self.studies.join(format!("{}.toml", case.name));
        let mut sweep = self.beside(case)?;
        sweep.arg("sweep").arg(study).arg("--runs").arg(&runs);
        let around = case.beside.begin()?;
        sweep.envs(around.group().map(|folder| (VARIABLE, folder)));
        // A trial that its load generator spoilt ends with a code of its own, and is explained all
        // the same.
        run_any_end(&mut sweep)?;
        drop(around);
        let mut explain = Command::new(&self.program);
        explain
            .args(["explain", "last", "--json", "-", "--runs"])
            .arg(&runs);
        output(&mut explain)
    }

    /// The program, with what has to be around it.
    fn beside(&self, case: &Case) -> Result<Command, TaskError> {
        let rules = match case.beside {
            Beside::Nothing | Beside::Group(_) | Beside::Spinning(_) => {
                return Ok(Command::new(&self.program));
            }
            Beside::Httpd => {
                provide(&[HTTPD])?;
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
