//! `cargo xtask bench first-hour`: what a user does in the first hour, on servers that run already.
//!
//! Each case is a real server with a reason to be slow that is made here: too few threads, a pool
//! or connections, a lock, another server, the CPU. Then `weir init`, `check`, `tune` and `explain`
//! are typed as a user would, the settings that the tune found are put into the server's own
//! configuration, and the same load runs before and after. What the tune and the explanation name
//! has to be what was made.

pub(super) mod cases;
pub(super) mod servers;
mod told;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;

use crate::error::TaskError;
use crate::needs::{HTTPD, JAVA, MAVEN, NGINX, TASKSET, provide};
use crate::process::{output, run, run_any_end};
use crate::workspace::Workspace;

pub(super) use cases::{CASES, Case};
pub(super) use servers::Kit;
use servers::{Limits, Running};
pub(super) use told::Explained;
use told::Tuned;

/// The load that a tune may spend.
const BUDGET: &str = "180 s";
/// The most users that it may try.
const USERS_MAX: u32 = 400;
/// The load before and after.
const LOAD: &str = "15s";

/// Say whether the first hour with a running server finds what limits it
#[derive(Debug, Args)]
pub(crate) struct FirstHourBench {
    /// Only cases whose name begins like this; may be given several times
    #[arg(long, value_name = "CASE")]
    only: Vec<String>,
    /// A program `weir` that is built already
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
}

/// Plays the first hour on every server and compares what is named with what was made.
pub(crate) fn bench(workspace: &Workspace, options: &FirstHourBench) -> Result<(), TaskError> {
    let program = workspace.program(options.program.as_deref())?;
    let kit = kit(workspace, &program)?;
    let wanted = |case: &&Case| {
        options.only.is_empty() || options.only.iter().any(|only| case.name.starts_with(only))
    };
    let mut rows = vec![
        "| case | made | tune | explain | before → after |".to_owned(),
        "|---|---|---|---|---|".to_owned(),
    ];
    let mut wrong = Vec::new();
    for case in CASES.iter().filter(wanted) {
        println!("\n== {}", case.name);
        let hour = Hour::play(&kit, &program, case)?;
        if !hour.is_right(case) {
            wrong.push(case.name);
        }
        let row = hour.row(case);
        println!("{row}");
        rows.push(row);
    }
    println!("\n{}", rows.join("\n"));
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(TaskError::Checks(format!(
            "something else than what was made is named in {}",
            wrong.join(", ")
        )))
    }
}

/// Where the servers of the cases lie.
pub(super) fn kit(workspace: &Workspace, program: &Path) -> Result<Kit, TaskError> {
    provide(&[TASKSET, JAVA, MAVEN, HTTPD, NGINX])?;
    let folder = workspace.target_directory()?.join("bench-first-hour");
    Kit::prepare(workspace, program, &folder)
}

/// The server of a case, warm, and a folder to type commands in.
pub(super) struct Started {
    place: PathBuf,
    server: Running,
    /// The other server, which it asks.
    _away: Option<Running>,
    url: String,
}

impl Started {
    pub(super) fn of(kit: &Kit, program: &Path, case: &Case) -> Result<Self, TaskError> {
        let place = kit.place(case.name)?;
        let (away, server) = start(kit, case, case.limits, &place)?;
        let url = warm(&server, case, &typing(program, &place))?;
        Ok(Self {
            place,
            server,
            _away: away,
            url,
        })
    }

    /// The processes of the server.
    pub(super) fn processes(&self) -> Vec<u32> {
        self.server.processes()
    }

    /// What `weir explain` says of one trial with so many users, as JSON. The study is the one that
    /// `weir init` writes.
    pub(super) fn one_trial(&self, program: &Path, users: u32) -> Result<String, TaskError> {
        let weir = typing(program, &self.place);
        run(&mut weir(&["init", &self.url, "--out", "study.toml"]))?;
        let study = self.place.join("study.toml");
        let text = read(&study)?;
        let (target_and_load, _) = text.split_once("\n[find]").unwrap_or((&text, ""));
        let sweep = format!(
            "{target_and_load}\n[sweep]\ndesign = \"cases\"\n[[sweep.case]]\nname = \"one\"\nset = {{ users = {users} }}\n"
        );
        write(&study, &sweep)?;
        run_any_end(&mut weir(&["sweep", "study.toml", "--runs", "runs"]))?;
        let explain = ["explain", "last", "--json", "-", "--runs", "runs"];
        output(&mut weir(&explain))
    }
}

/// Commands of the program, typed in a folder.
fn typing<'a>(program: &'a Path, place: &'a Path) -> impl Fn(&[&str]) -> Command + 'a {
    move |words| {
        let mut command = Command::new(program);
        command.args(words).current_dir(place);
        command
    }
}

/// The server of a case, behind it the other one that it asks.
fn start(
    kit: &Kit,
    case: &Case,
    limits: Limits,
    place: &Path,
) -> Result<(Option<Running>, Running), TaskError> {
    let away = case.away.map(|threads| kit.away(threads)).transpose()?;
    let origin = away.as_ref().map(Running::origin);
    let server = kit.start(case.server, limits, origin.as_deref(), place)?;
    Ok((away, server))
}

/// Runs a load that nobody looks at, and gives the URL that it asked for.
fn warm(
    server: &Running,
    case: &Case,
    weir: &impl Fn(&[&str]) -> Command,
) -> Result<String, TaskError> {
    let url = format!("{}{}", server.origin(), case.path);
    let words = ["run", &url, "-c", "16", "-d", "10s", "--discard"];
    run_any_end(&mut weir(&words))?;
    Ok(url)
}

/// What was said in the first hour with a server.
struct Hour {
    tuned: Tuned,
    explained: Explained,
    /// Requests a second before and after, where something was set.
    changed: Option<(f64, f64)>,
}

impl Hour {
    fn play(kit: &Kit, program: &Path, case: &Case) -> Result<Self, TaskError> {
        let place = kit.place(case.name)?;
        let weir = typing(program, &place);
        let made = case.limits;
        let both = start(kit, case, made, &place)?;
        let url = warm(&both.1, case, &weir)?;
        run(&mut weir(&["init", &url, "--out", "study.toml"]))?;
        let study = place.join("study.toml");
        let text = read(&study)?;
        write(&study, &as_a_user_edits(&text))?;
        run(&mut weir(&["check", "study.toml"]))?;
        run_any_end(&mut weir(&["tune", "study.toml", "--json", "tuned.json"]))?;
        let tuned = Tuned::of(&read(&place.join("tuned.json"))?)?;
        let mut explain = weir(&["explain", "last", "--json", "-"]);
        // With a limit raised, the last trials show a server without it.
        if let Some(trial) = tuned.trial_as_found() {
            explain.args(["--trial", &trial.to_string()]);
        }
        let explained = Explained::of(&output(&mut explain)?)?;
        let after = tuned.settings(made);
        let users = tuned.users().unwrap_or_default().to_string();
        let load = |url: &str, name: &str| -> Result<f64, TaskError> {
            let file = format!("{name}.json");
            let words = ["run", url, "-c", &users, "-d", LOAD, "--json", &file];
            run_any_end(&mut weir(&words))?;
            told::throughput(&read(&place.join(&file))?)
        };
        let changed = match after.filter(|_| tuned.users().is_some()) {
            None => None,
            Some(after) => {
                let before = load(&url, "before")?;
                drop(both);
                let both = start(kit, case, after, &place)?;
                let url = warm(&both.1, case, &weir)?;
                let changed = (before, load(&url, "after")?);
                drop(both);
                run_any_end(&mut weir(&["compare", "before.json", "after.json"]))?;
                Some(changed)
            }
        };
        Ok(Self {
            tuned,
            explained,
            changed,
        })
    }

    fn is_right(&self, case: &Case) -> bool {
        case.tune.contains(&self.tuned.limit().as_str())
            && case.explain.contains(&self.explained.first.as_str())
    }

    fn row(&self, case: &Case) -> String {
        let mark = |right: bool| if right { "" } else { " **(wrong)**" };
        let changed = self.changed.map_or("—".to_owned(), |(before, after)| {
            format!("{before:.0} → {after:.0} /s")
        });
        format!(
            "| {} | {} | {}{}: {} | {}{} | {} |",
            case.name,
            case.made(),
            self.tuned.limit(),
            mark(case.tune.contains(&self.tuned.limit().as_str())),
            self.tuned.answer(),
            self.explained.first,
            mark(case.explain.contains(&self.explained.first.as_str())),
            changed
        )
    }
}

/// The study of `weir init` with the commands taken in that set a limit, and less load than it
/// would take.
fn as_a_user_edits(study: &str) -> String {
    let taken_in = [
        "# threads = ",
        "# connections = ",
        "# [target.external.",
        "# \"pool.",
    ];
    let lines = study.lines().map(|line| {
        let is_taken =
            taken_in.iter().any(|begin| line.starts_with(begin)) && !line.ends_with("\"ask\"");
        if is_taken { &line[2..] } else { line }
    });
    let text: Vec<&str> = lines.collect();
    text.join("\n").replace(
        "within = [1, 1000]",
        &format!("within = [1, {USERS_MAX}]\nbudget = \"{BUDGET}\""),
    ) + "\n"
}

fn read(path: &Path) -> Result<String, TaskError> {
    fs::read_to_string(path).map_err(TaskError::file("read", path))
}

fn write(path: &Path, text: &str) -> Result<(), TaskError> {
    fs::write(path, text).map_err(TaskError::file("write", path))
}
