//! The tools beside each other: how each is had, and how each is told to do the same.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use clap::ValueEnum;

use crate::bench::load::{TOOL_CPU, write};
use crate::error::TaskError;
use crate::process::{installed, run};

/// A tool to compare with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Peer {
    /// From Debian; what the others are compared with
    Wrk,
    /// From Debian
    Ab,
    /// Built by cargo
    Oha,
    /// Built by Go, if it is there
    Bombardier,
    /// Built by Go, if it is there
    Hey,
}

/// A tool that can be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Tool {
    Weir,
    Peer(Peer, PathBuf),
}

/// What every tool of a row is told to do.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) url: String,
    pub(crate) connections: u32,
    pub(crate) length: Duration,
    pub(crate) keep_alive: bool,
    /// Requests a second; without, as many as the tool can.
    pub(crate) rate: Option<u32>,
}

/// A program that Go builds from a module.
struct GoModule {
    path: &'static str,
    version: &'static str,
}

const OHA_VERSION: &str = "1.16.0";
const BOMBARDIER: GoModule = GoModule {
    path: "github.com/codesenberg/bombardier",
    version: "v1.2.6",
};
const HEY: GoModule = GoModule {
    path: "github.com/rakyll/hey",
    version: "v0.1.5",
};

/// Finds or builds the tools; those that cannot be had are named and left out. Weir stands second,
/// right behind what it is compared with.
pub(crate) fn install(peers: &[Peer], directory: &Path) -> Result<Vec<Tool>, TaskError> {
    let mut tools = vec![Tool::Peer(Peer::Wrk, PathBuf::from("wrk")), Tool::Weir];
    let others = peers.iter().filter(|peer| **peer != Peer::Wrk);
    for peer in others {
        match program(*peer, directory)? {
            Some(program) => tools.push(Tool::Peer(*peer, program)),
            None => println!("{} is left out: it cannot be had here", peer.name()),
        }
    }
    Ok(tools)
}

fn program(peer: Peer, directory: &Path) -> Result<Option<PathBuf>, TaskError> {
    let built = directory.join("tools/bin").join(peer.name());
    if installed(peer.name()) {
        return Ok(Some(PathBuf::from(peer.name())));
    }
    if !built.is_file() {
        let tried = match peer {
            Peer::Wrk | Peer::Ab => return Ok(None),
            Peer::Oha => cargo_install(directory),
            Peer::Bombardier => go_build(&BOMBARDIER, directory, &built)?,
            Peer::Hey => go_build(&HEY, directory, &built)?,
        };
        if let Err(error) = tried {
            println!("{error}");
        }
    }
    Ok(built.is_file().then_some(built))
}

fn cargo_install(directory: &Path) -> Result<(), TaskError> {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command
        .args(["install", "oha", "--locked", "--no-default-features"])
        .args(["--version", OHA_VERSION, "--root"])
        .arg(directory.join("tools"));
    run(&mut command)
}

/// A throw-away module that requires the one that is wanted: installing it by itself fails where a
/// module has replacements.
fn go_build(
    module: &GoModule,
    directory: &Path,
    to: &Path,
) -> Result<Result<(), TaskError>, TaskError> {
    if !installed("go") {
        return Ok(Err(TaskError::Checks("find Go".to_owned())));
    }
    let home = directory
        .join("tools/go")
        .join(to.file_name().unwrap_or_default());
    fs::create_dir_all(&home).map_err(|source| TaskError::File {
        doing: "write",
        path: home.clone(),
        source,
    })?;
    let GoModule { path, version } = module;
    write(
        &home.join("go.mod"),
        &format!("module bench\n\ngo 1.21\n\nrequire {path} {version}\n"),
    )?;
    let go = |arguments: &[&str]| {
        let mut command = Command::new("go");
        command
            .args(arguments)
            .current_dir(&home)
            .env("GOFLAGS", "-mod=mod");
        run(&mut command)
    };
    Ok(go(&["build", "-o", &to.to_string_lossy(), path]))
}

impl Peer {
    fn name(self) -> &'static str {
        match self {
            Self::Wrk => "wrk",
            Self::Ab => "ab",
            Self::Oha => "oha",
            Self::Bombardier => "bombardier",
            Self::Hey => "hey",
        }
    }
}

impl Tool {
    /// What the table calls it.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Weir => "weir",
            Self::Peer(peer, _) => peer.name(),
        }
    }

    /// Whether it can keep to a rate.
    pub(crate) fn keeps_rates(&self) -> bool {
        !matches!(self, Self::Peer(Peer::Wrk | Peer::Ab, _))
    }

    /// How it is told.
    pub(crate) fn command(&self, weir: &Path, job: &Job) -> Vec<String> {
        let seconds = job.length.as_secs();
        let connections = job.connections.to_string();
        let (program, arguments) = match self {
            Self::Weir => (weir, weir_url(job)),
            Self::Peer(peer, program) => (program.as_path(), peer.arguments(job)),
        };
        let rate = job.rate.unwrap_or(0);
        let fill = |word: &str| match word {
            "{rate}" => rate.to_string(),
            // The rate of each connection.
            "{rate each}" => (f64::from(rate) / f64::from(job.connections)).to_string(),
            "{url}" => job.url.clone(),
            "{connections}" => connections.clone(),
            "{seconds}" => seconds.to_string(),
            "{seconds}s" => format!("{seconds}s"),
            word => word.to_owned(),
        };
        let words = [program.to_string_lossy().into_owned()].into_iter();
        words.chain(arguments.into_iter().map(fill)).collect()
    }
}

impl Peer {
    fn arguments(self, job: &Job) -> Vec<&'static str> {
        let mut words = match self {
            Self::Wrk => vec!["-t", "1", "-c", "{connections}", "-d", "{seconds}s"],
            // ab takes a place in memory for each request beforehand, and uses what it has
            // measured.
            Self::Ab => vec![
                "-q",
                "-c",
                "{connections}",
                "-t",
                "{seconds}",
                "-n",
                "5000000",
            ],
            Self::Oha => vec!["--no-tui", "-c", "{connections}", "-z", "{seconds}s"],
            Self::Bombardier => vec!["-c", "{connections}", "-d", "{seconds}s"],
            Self::Hey => vec!["-c", "{connections}", "-z", "{seconds}s"],
        };
        words.extend(match (self, job.keep_alive) {
            (Self::Ab, true) => vec!["-k"],
            (Self::Wrk, false) => vec!["-H", "Connection: close"],
            (Self::Oha, false) => vec!["--disable-keepalive"],
            (Self::Bombardier, false) => vec!["-a"],
            (Self::Hey, false) => vec!["-disable-keepalive"],
            _ => Vec::new(),
        });
        words.extend(match (self, job.rate) {
            // Response times from the intended start cost what they cost.
            (Self::Oha, Some(_)) => vec!["-q", "{rate}", "--latency-correction"],
            (Self::Bombardier, Some(_)) => vec!["-r", "{rate}"],
            (Self::Hey, Some(_)) => vec!["-q", "{rate each}"],
            _ => Vec::new(),
        });
        words.push("{url}");
        words
    }
}

fn weir_url(job: &Job) -> Vec<&'static str> {
    let mut words = vec!["run", "{url}", "-c", "{connections}", "-d", "{seconds}s"];
    words.extend(["--load-cpus", "1", "--target-cpus", "0"]);
    if !job.keep_alive {
        words.push("--no-keepalive");
    }
    if job.rate.is_some() {
        words.extend(["--rate", "{rate}"]);
    }
    words
}

/// Weir with a plan and a file for every sample.
pub(crate) fn weir_plan(weir: &Path, plan: &Path, rows: &Path) -> Vec<String> {
    let cpu = TOOL_CPU.to_string();
    let mut words = vec![weir.to_string_lossy().into_owned()];
    words.extend(["run", "-n", "--load-cpus", &cpu, "-t"].map(str::to_owned));
    words.push(plan.to_string_lossy().into_owned());
    words.extend(["-l".to_owned(), rows.to_string_lossy().into_owned()]);
    words
}

/// The JMeter that `JMETER_HOME` names.
pub(crate) fn jmeter() -> Option<PathBuf> {
    let home = PathBuf::from(env::var_os("JMETER_HOME")?);
    let is_there = home.join("bin/ApacheJMeter.jar").is_file() && installed("java");
    if !is_there {
        println!("JMeter is left out: there is none in JMETER_HOME, or no Java");
    }
    is_there.then_some(home)
}

/// JMeter with the same plan and a file of the same kind.
pub(crate) fn jmeter_plan(home: &Path, plan: &Path, rows: &Path) -> Vec<String> {
    let jar = home.join("bin/ApacheJMeter.jar");
    let log = rows.with_extension("log");
    let mut words = [
        "java",
        "-Xms1g",
        "-Xmx1g",
        "-Djava.awt.headless=true",
        "-jar",
    ]
    .map(str::to_owned)
    .to_vec();
    words.push(jar.to_string_lossy().into_owned());
    for (letter, path) in [("-t", plan), ("-l", rows), ("-j", &log)] {
        words.extend([letter.to_owned(), path.to_string_lossy().into_owned()]);
    }
    words.push("-n".to_owned());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_is_told_the_same() {
        let job = Job {
            url: "http://127.0.0.1:1/".to_owned(),
            connections: 7,
            length: Duration::from_secs(3),
            keep_alive: false,
            rate: None,
        };
        for peer in Peer::value_variants() {
            let tool = Tool::Peer(*peer, PathBuf::from(peer.name()));
            let words = tool.command(Path::new("weir"), &job);
            assert_eq!(words[0], peer.name());
            assert!(words.contains(&"7".to_owned()), "{words:?}");
            assert!(words.iter().any(|word| word.starts_with('3')), "{words:?}");
            assert_eq!(words.last(), Some(&job.url));
            let job = Job {
                rate: Some(70),
                connections: 7,
                url: job.url.clone(),
                ..job
            };
            let asked = tool.command(Path::new("weir"), &job);
            let is_told = asked.iter().any(|word| word == "70" || word == "10");
            assert_eq!(is_told, tool.keeps_rates(), "{asked:?}");
        }
    }
}
