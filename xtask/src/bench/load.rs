//! `cargo xtask bench load`: what the load engine costs beside its peers.
//!
//! nginx answers every request with five bytes on one core; the tool has another core to itself,
//! both under a real-time scheduling class where that is allowed, because under the fair one beside
//! other work a tool gets a third of its core. Tools run one after the other in rounds; only ratios
//! within a round are compared, because the machine under them changes from minute to minute.
//! Requests are counted by the server, processor time by the kernel, for the whole life
//! of the tool's process: its start is part of its cost. The table gives medians and, behind them,
//! the range.
//!
//! What this cannot tell: how exact the response times are that a tool reports, and what it costs
//! on a network card.

pub(crate) mod cost;
mod first_request;
mod options;
mod plans;
pub(crate) mod server;
mod table;
mod tools;

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

pub(crate) use options::LoadBench;

use crate::bench::load::cost::{Cost, Pinned};
use crate::bench::load::server::Nginx;
use crate::bench::load::table::{Measured, Row};
use crate::bench::load::tools::{Job, Tool};
use crate::error::TaskError;
use crate::needs::{self, AB, NGINX, WRK};
use crate::process::{cargo, run};
use crate::workspace::Workspace;

/// The CPU of the server.
const SERVER_CPU: u32 = 0;
/// The CPU of the tool.
const TOOL_CPU: u32 = 1;
/// Connections, where the row does not say otherwise.
const CONNECTIONS: u32 = 64;
/// Requests a second of the row about a rate.
const RATE: u32 = 5_000;
/// Connections of the row about memory.
const MANY_CONNECTIONS: u32 = 5_000;
/// Users of a plan who mostly think, in the row about memory.
const THINKING_USERS: u32 = 10_000;

/// Runs the rows that were asked for and writes the table.
pub(crate) fn bench(workspace: &Workspace, options: &LoadBench) -> Result<(), TaskError> {
    needs::provide(&[NGINX, WRK, AB])?;
    cost::allow_open_files();
    let bench = Bench::prepare(workspace, options)?;
    let mut table = table::heading(SERVER_CPU, TOOL_CPU, bench.real_time);
    for row in Row::ALL.into_iter().filter(|row| options.wants(*row)) {
        println!("\n== {}", row.title());
        table.push_str(&bench.row(row)?);
        write(&bench.directory.join("load.md"), &table)?;
    }
    println!("\n{table}");
    Ok(())
}

struct Bench {
    weir: PathBuf,
    directory: PathBuf,
    tools: Vec<Tool>,
    rounds: u32,
    length: Duration,
    real_time: bool,
    jmeter: Option<PathBuf>,
}

impl Bench {
    fn prepare(workspace: &Workspace, options: &LoadBench) -> Result<Self, TaskError> {
        let target = workspace.target_directory()?;
        let directory = target.join("bench-load");
        fs::create_dir_all(&directory).map_err(|source| TaskError::File {
            doing: "write",
            path: directory.clone(),
            source,
        })?;
        if !options.no_build {
            let build = ["build", "--release", "--package", "weir"];
            run(&mut cargo(&workspace.root, &build))?;
        }
        Ok(Self {
            weir: target.join("release/weir"),
            tools: tools::install(&options.peers, &directory)?,
            rounds: options.rounds,
            length: Duration::from_secs(options.seconds.into()),
            real_time: cost::may_run_in_real_time(TOOL_CPU),
            jmeter: tools::jmeter(),
            directory,
        })
    }

    fn row(&self, row: Row) -> Result<String, TaskError> {
        match row {
            Row::KeepAlive => self.requests(row, CONNECTIONS, true),
            Row::ConnectionEach => self.requests(row, CONNECTIONS, false),
            Row::Plan => self.plan(),
            Row::Constant => self.constant(),
            Row::Connections => self.connections(),
            Row::ThinkingUsers => self.thinking_users(),
            Row::FirstRequest => self.first_request(),
        }
    }

    /// Requests for processor time: every tool once a round, beginning with another one each round.
    fn requests(&self, row: Row, connections: u32, keep_alive: bool) -> Result<String, TaskError> {
        let mut measured = Vec::new();
        for round in 0..self.rounds {
            let turn = round as usize % self.tools.len();
            for tool in self.tools[turn..].iter().chain(&self.tools[..turn]) {
                let server = self.server()?;
                let job = Job {
                    url: server.url(),
                    connections,
                    length: self.length,
                    keep_alive,
                    rate: None,
                };
                let command = tool.command(&self.weir, &job);
                measured.push(self.measure(&server, tool.name(), round, &command)?);
            }
        }
        Ok(table::requests(row, &measured))
    }

    fn measure(
        &self,
        server: &Nginx,
        tool: &'static str,
        round: u32,
        command: &[String],
    ) -> Result<Measured, TaskError> {
        let before = server.requests()?;
        let cost = self.run(tool, command)?;
        let measured = Measured {
            tool,
            round,
            requests: server.requests()?.saturating_sub(before + 1),
            cost,
        };
        println!("{}", table::line(&measured));
        Ok(measured)
    }

    fn run(&self, tool: &str, command: &[String]) -> Result<Cost, TaskError> {
        Pinned {
            command,
            cpu: TOOL_CPU,
            real_time: self.real_time,
            log: self.directory.join(format!("{tool}.log")),
            // Tools that start a virtual machine or wind down slowly get their time.
            patience: self.length + Duration::from_secs(60),
        }
        .run()
    }

    fn server(&self) -> Result<Nginx, TaskError> {
        Nginx::start(&self.directory.join("nginx"), SERVER_CPU, self.real_time)
    }

    /// A plan with a row for each sample, beside JMeter.
    fn plan(&self) -> Result<String, TaskError> {
        let mut measured = Vec::new();
        for round in 0..self.rounds {
            let server = self.server()?;
            let plan = self.directory.join("plan.jmx");
            write(
                &plan,
                &plans::hurried(server.port(), CONNECTIONS, self.length),
            )?;
            let weir = tools::weir_plan(&self.weir, &plan, &self.fresh("weir.jtl")?);
            measured.push(self.measure(&server, "weir", round, &weir)?);
            if let Some(home) = &self.jmeter {
                let jmeter = tools::jmeter_plan(home, &plan, &self.fresh("jmeter.jtl")?);
                measured.push(self.measure(&server, "jmeter", round, &jmeter)?);
            }
        }
        Ok(table::requests(Row::Plan, &measured))
    }

    /// A rate that is to be kept, by the tools that can.
    fn constant(&self) -> Result<String, TaskError> {
        let (mut measured, mut lateness) = (Vec::new(), Vec::new());
        for round in 0..self.rounds {
            for tool in self.tools.iter().filter(|tool| tool.keeps_rates()) {
                let server = self.server()?;
                let job = Job {
                    url: server.url(),
                    connections: CONNECTIONS,
                    length: self.length,
                    keep_alive: true,
                    rate: Some(RATE),
                };
                let mut command = tool.command(&self.weir, &job);
                if *tool == Tool::Weir {
                    let json = self.fresh("constant.json")?;
                    command.extend(["--json".to_owned(), json.to_string_lossy().into_owned()]);
                    measured.push(self.measure(&server, tool.name(), round, &command)?);
                    lateness.extend(lateness_ms(&json));
                } else {
                    measured.push(self.measure(&server, tool.name(), round, &command)?);
                }
            }
        }
        let asked = u64::from(RATE) * self.length.as_secs();
        let table = table::constant(Row::Constant, asked, self.length, &measured);
        Ok(table + &table::lateness(&lateness))
    }

    /// Memory with connections that are busy all the time.
    fn connections(&self) -> Result<String, TaskError> {
        let mut measured = Vec::new();
        for tool in &self.tools {
            let server = self.server()?;
            let job = Job {
                url: server.url(),
                connections: MANY_CONNECTIONS,
                length: self.length,
                keep_alive: true,
                rate: None,
            };
            let command = tool.command(&self.weir, &job);
            measured.push(self.measure(&server, tool.name(), 0, &command)?);
        }
        Ok(table::memory(Row::Connections, &measured))
    }

    /// Memory with users of a plan who think.
    fn thinking_users(&self) -> Result<String, TaskError> {
        let server = self.server()?;
        let plan = self.directory.join("thinking.jmx");
        let length = self.length.max(Duration::from_secs(5));
        write(
            &plan,
            &plans::thinking(server.port(), THINKING_USERS, length),
        )?;
        let weir = tools::weir_plan(&self.weir, &plan, &self.fresh("weir.jtl")?);
        let measured = self.measure(&server, "weir", 0, &weir)?;
        Ok(table::memory(Row::ThinkingUsers, &[measured]))
    }

    fn first_request(&self) -> Result<String, TaskError> {
        let plan = self.directory.join("large.jmx");
        let mut starts = Vec::new();
        for _ in 0..self.rounds {
            let server = first_request::Listener::open()?;
            write(&plan, &plans::large(server.port()))?;
            let weir = tools::weir_plan(&self.weir, &plan, &self.fresh("weir.jtl")?);
            starts.push(server.first_request(&weir)?);
        }
        let bytes = fs::metadata(&plan).map_or(0, |plan| plan.len());
        Ok(table::starts(Row::FirstRequest, bytes, &starts))
    }

    /// A file for results that does not exist yet.
    fn fresh(&self, name: &str) -> Result<PathBuf, TaskError> {
        let path = self.directory.join(name);
        match fs::remove_file(&path) {
            Err(source) if source.kind() != std::io::ErrorKind::NotFound => Err(TaskError::File {
                doing: "write",
                path,
                source,
            }),
            _ => Ok(path),
        }
    }
}

/// The median and the 99th percentile of the lateness that a result of Weir holds.
fn lateness_ms(result: &std::path::Path) -> Option<(f64, f64)> {
    let text = fs::read_to_string(result).ok()?;
    let result: serde_json::Value = serde_json::from_str(&text).ok()?;
    let lateness = &result["trial"]["open"]["lateness_ms"];
    Some((lateness["p50"].as_f64()?, lateness["p99"].as_f64()?))
}

/// The command of these words.
fn command(words: &[String]) -> Command {
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]);
    command
}

fn write(path: &std::path::Path, text: &str) -> Result<(), TaskError> {
    fs::write(path, text).map_err(|source| TaskError::File {
        doing: "write",
        path: path.to_owned(),
        source,
    })
}
