//! `cargo xtask bench simulate`: events per second beside `SimPy`, SSJ and LINE's native simulator.
//!
//! One closed network (users that think, three stations in order of arrival), each simulator alone
//! on one CPU, one after the other in rounds; only ratios within a round are compared, because the
//! machine under them changes from minute to minute. What counts is processor time: of the whole
//! program for Weir and LINE, whose start is nothing; of the simulation alone for SSJ, whose
//! virtual machine is warm by then, and `SimPy`. An event is the end of a think time or of a
//! service; LINE's are those that it counts itself.
//!
//! The peers are installed by their ordinary clients: `SimPy` and LINE with pip into a virtual
//! environment, SSJ with Maven. One that cannot be had is said to be missing and left out.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;

use crate::bench::load::cost::Pinned;
use crate::bench::spread::spread;
use crate::error::{self, TaskError};
use crate::process::{cargo, output, run};
use crate::workspace::Workspace;

const USERS: u32 = 1000;
/// Seconds that Weir and SSJ simulate: about eight million events.
const SECONDS: u32 = 2000;
/// Seconds that `SimPy` simulates, a hundred times slower.
const SECONDS_SIMPY: u32 = 20;
/// Events that LINE simulates.
const EVENTS_LINE: u32 = 2_000_000;
/// Mean services of the three stations; the other programs have the same.
const SERVICE_MEANS_S: [f64; 3] = [0.000_5, 0.000_9, 0.000_5];
/// No run takes longer.
const PATIENCE: Duration = Duration::from_secs(300);
const SSJ: &str = "ca.umontreal.iro.simul:ssj:3.3.2";

/// Events per second of the event-driven simulator beside its peers.
#[derive(Debug, clap::Args)]
pub(crate) struct SimulateBench {
    /// How often each runs
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// The CPU on which they run
    #[arg(long, default_value_t = 0)]
    cpu: u32,
}

/// What a simulator says of its run, on the last line that it prints.
#[derive(Debug, Deserialize)]
struct Ran {
    events: u64,
    seconds: f64,
}

/// The part of LINE's result that is needed here.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct LineResult {
    total_simulated_events: u64,
}

/// A simulator that can be run.
enum Simulator {
    Weir(PathBuf),
    Ssj { classes: PathBuf, jar: PathBuf },
    SimPy { python: PathBuf, program: PathBuf },
    Line { program: PathBuf, model: PathBuf },
}

impl Simulator {
    fn name(&self) -> &'static str {
        match self {
            Self::Weir(_) => "Weir",
            Self::Ssj { .. } => "SSJ 3.3.2",
            Self::SimPy { .. } => "SimPy",
            Self::Line { .. } => "LINE's native simulator",
        }
    }

    fn words(&self) -> Vec<String> {
        let path = |path: &Path| path.display().to_string();
        match self {
            Self::Weir(example) => vec![path(example), "closed".to_owned(), SECONDS.to_string()],
            Self::Ssj { classes, jar } => vec![
                "java".to_owned(),
                "-cp".to_owned(),
                format!("{}:{}", classes.display(), jar.display()),
                "ClosedNetwork".to_owned(),
                USERS.to_string(),
                SECONDS.to_string(),
            ],
            Self::SimPy { python, program } => vec![
                path(python),
                path(program),
                USERS.to_string(),
                SECONDS_SIMPY.to_string(),
            ],
            Self::Line { program, model } => vec![
                path(program),
                "solve".to_owned(),
                path(model),
                "-o".to_owned(),
                path(&result_of(model)),
                "-s".to_owned(),
                EVENTS_LINE.to_string(),
            ],
        }
    }

    /// Events per second of processor time.
    fn measure(&self, cpu: u32, directory: &Path) -> Result<f64, TaskError> {
        let log = directory.join("run.log");
        let cost = Pinned {
            command: &self.words(),
            cpu,
            real_time: false,
            log: log.clone(),
            patience: PATIENCE,
        }
        .run()?;
        let said = match self {
            Self::Line { model, .. } => read(&result_of(model))?,
            _ => read(&log)?,
        };
        let not_understood = |error: serde_json::Error| TaskError::Form {
            what: format!("what {} says", self.name()),
            why: error.to_string(),
        };
        if let Self::Line { .. } = self {
            let result: LineResult = serde_json::from_str(&said).map_err(not_understood)?;
            return Ok(result.total_simulated_events as f64 / cost.cpu_s());
        }
        let line = said.lines().last().unwrap_or_default();
        let ran: Ran = serde_json::from_str(line).map_err(not_understood)?;
        let whole = matches!(self, Self::Weir(_));
        let seconds = if whole { cost.cpu_s() } else { ran.seconds };
        Ok(ran.events as f64 / seconds)
    }
}

fn result_of(model: &Path) -> PathBuf {
    model.with_extension("result.json")
}

fn read(path: &Path) -> Result<String, TaskError> {
    fs::read_to_string(path).map_err(|source| TaskError::File {
        doing: "read",
        path: path.to_owned(),
        source,
    })
}

pub(crate) fn bench(workspace: &Workspace, options: &SimulateBench) -> Result<(), TaskError> {
    let directory = workspace.target_directory()?.join("bench-simulate");
    fs::create_dir_all(&directory).map_err(|source| TaskError::File {
        doing: "write",
        path: directory.clone(),
        source,
    })?;
    let simulators = install(workspace, &directory)?;
    let mut rates: Vec<Vec<f64>> = vec![Vec::new(); simulators.len()];
    for round in 1..=options.rounds {
        println!("round {round} of {}", options.rounds);
        for (simulator, rates) in simulators.iter().zip(&mut rates) {
            let rate = simulator.measure(options.cpu, &directory)?;
            println!("  {}: {rate:.3e} events/s", simulator.name());
            rates.push(rate);
        }
    }
    println!("\n{}", table(&simulators, &rates));
    Ok(())
}

/// Medians with their range, and Weir's ratio to each within a round.
fn table(simulators: &[Simulator], rates: &[Vec<f64>]) -> String {
    let mut lines = vec![
        format!("closed network of {USERS} users and 3 stations, one CPU; medians (range)"),
        String::new(),
        "| simulator | million events/s | Weir to it, within a round |".to_owned(),
        "|---|---|---|".to_owned(),
    ];
    for (simulator, own) in simulators.iter().zip(rates) {
        let ratios: Vec<f64> = rates[0]
            .iter()
            .zip(own)
            .map(|(weir, own)| weir / own)
            .collect();
        lines.push(format!(
            "| {} | {} | {} |",
            simulator.name(),
            spread(own.iter().map(|rate| rate / 1e6).collect(), 2),
            spread(ratios, 2)
        ));
    }
    lines.join("\n")
}

/// Weir first, then the peers that can be had.
fn install(workspace: &Workspace, directory: &Path) -> Result<Vec<Simulator>, TaskError> {
    let words = [
        "build",
        "--release",
        "-p",
        "weir-sim",
        "--example",
        "simulator-speed",
    ];
    run(&mut cargo(&workspace.root, &words))?;
    let example = workspace
        .target_directory()?
        .join("release/examples/simulator-speed");
    let sources = workspace.root.join("bench/simulate");
    let mut simulators = vec![Simulator::Weir(example)];
    for (name, peer) in [
        ("SSJ", ssj(&sources, directory)),
        ("SimPy", simpy(&sources, directory)),
        ("LINE", line_solver(directory)),
    ] {
        match peer {
            Ok(simulator) => simulators.push(simulator),
            Err(error) => println!("{name} is left out: failed to {}", error::chain(&error)),
        }
    }
    Ok(simulators)
}

fn ssj(sources: &Path, directory: &Path) -> Result<Simulator, TaskError> {
    let jars = directory.join("ssj");
    fs::create_dir_all(&jars).map_err(|source| TaskError::File {
        doing: "write",
        path: jars.clone(),
        source,
    })?;
    let get = format!("-Dartifact={SSJ}");
    run(Command::new("mvn").args(["-q", "-B", "dependency:get", &get]))?;
    // What it depends on would need a project of its own; the simulation itself uses the one jar
    // alone.
    let copy = format!("-DoutputDirectory={}", jars.display());
    run(Command::new("mvn").args(["-q", "-B", "dependency:copy", &get, &copy]))?;
    let jar = jars.join("ssj-3.3.2.jar");
    let mut compile = Command::new("javac");
    compile.arg("-cp").arg(&jar).arg("-d").arg(directory);
    run(compile.arg(sources.join("ClosedNetwork.java")))?;
    Ok(Simulator::Ssj {
        classes: directory.to_owned(),
        jar,
    })
}

/// The Python of a virtual environment with this package; without what the package depends on.
fn python(directory: &Path, package: &str) -> Result<PathBuf, TaskError> {
    let place = directory.join("python");
    let python = place.join("bin/python");
    if !python.exists() {
        run(Command::new("python3").args(["-m", "venv"]).arg(&place))?;
    }
    let words = ["-m", "pip", "-q", "install", "--no-deps", package];
    run(Command::new(&python).args(words))?;
    Ok(python)
}

fn simpy(sources: &Path, directory: &Path) -> Result<Simulator, TaskError> {
    Ok(Simulator::SimPy {
        python: python(directory, "simpy")?,
        program: sources.join("closed_network.py"),
    })
}

/// The package holds the simulator as a program of its own, which reads a model as JSON.
fn line_solver(directory: &Path) -> Result<Simulator, TaskError> {
    let python = python(directory, "line-solver")?;
    let find = "import sysconfig; print(sysconfig.get_paths()['purelib'])";
    let packages = output(Command::new(python).args(["-c", find]))?;
    let program = Path::new(packages.trim()).join("line_solver/bin/ldes");
    let model = directory.join("closed.json");
    let text = line_model().to_string();
    fs::write(&model, text).map_err(|source| TaskError::File {
        doing: "write",
        path: model.clone(),
        source,
    })?;
    Ok(Simulator::Line { program, model })
}

/// The network as LINE reads it.
fn line_model() -> serde_json::Value {
    let exponential = |mean_s: f64| json!({ "type": "Exp", "params": { "lambda": 1.0 / mean_s } });
    let node = |name: &str, kind: &str, scheduling: &str, mean_s: f64| {
        json!({
            "name": name, "type": kind, "scheduling": scheduling,
            "service": { "request": exponential(mean_s) },
        })
    };
    let names = ["a", "b", "c"];
    let mut nodes = vec![node("think", "Delay", "INF", 1.0)];
    let stations = names.iter().zip(SERVICE_MEANS_S);
    nodes.extend(stations.map(|(name, mean_s)| node(name, "Queue", "FCFS", mean_s)));
    json!({
        "format": "line-model",
        "version": "1.0",
        "model": {
            "type": "Network",
            "name": "closed",
            "nodes": nodes,
            "classes": [
                { "name": "request", "type": "Closed", "population": USERS, "refNode": "think" },
            ],
            "routing": { "type": "matrix", "matrix": { "request,request": {
                "think": { "a": 1.0 }, "a": { "b": 1.0 }, "b": { "c": 1.0 }, "c": { "think": 1.0 },
            } } },
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_taken_within_rounds() {
        let simulators = [
            Simulator::Weir(PathBuf::new()),
            Simulator::Ssj {
                classes: PathBuf::new(),
                jar: PathBuf::new(),
            },
        ];
        let rates = [vec![10e6, 5e6, 8e6], vec![4e6, 2e6, 2e6]];
        let table = table(&simulators, &rates);
        assert!(
            table.contains("| Weir | 8.00 (5.00–10.00) | 1.00 (1.00–1.00) |"),
            "{table}"
        );
        assert!(
            table.contains("| SSJ 3.3.2 | 2.00 (2.00–4.00) | 2.50 (2.50–4.00) |"),
            "{table}"
        );
    }
}
