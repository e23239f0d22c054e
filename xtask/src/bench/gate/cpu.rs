//! `cargo xtask bench gate --cpu`: how well a goal for the CPU holds at twice the capacity.
//!
//! The sample server computes alone on one CPU; gateway and load share another. The capacity is measured without a gateway, by
//! as many users as keep the server busy; then twice of it is offered as Poisson arrivals through `weir gate` with
//! `goal = "cpu <= 80 %"`, which finds the server by its port. What the CPU did is read here from `/proc`, by nobody whom the
//! gateway knows of: CPU time of the server's process over the time that the hypervisor left to its CPU, once a second.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::error::TaskError;

/// About 10 ms of CPU time in an optimised build; how much it is, is measured.
const WORK: &str = "/light?n=31";
/// The goal, in percent.
const GOAL: f64 = 80.0;
/// Seconds until the limit has been found.
const SETTLES: usize = 10;
/// Seconds that are judged, and those of a part that is judged by itself.
const JUDGED: usize = 30;
const PART: usize = 5;
/// Where the server runs, and where gateway and load do.
const SERVERS_CPU: usize = 1;
const OTHERS_CPU: usize = 0;

/// What one round has shown; shares in percent.
#[derive(Debug, Clone, Copy)]
struct Held {
    mean: f64,
    least: f64,
    most: f64,
    /// Requests answered well a second, of the goal's part of the capacity.
    goodput: f64,
    capacity_per_s: f64,
}

/// Plays all rounds and prints a line of each and the row of the table.
pub(crate) fn bench(directory: &Path, weir: &Path, rounds: u32) -> Result<(), TaskError> {
    if thread::available_parallelism().map_or(1, usize::from) < 2 {
        return Err(TaskError::Form {
            what: "this machine".to_owned(),
            why: "the server needs a CPU that gateway and load do not use, and there is only one"
                .to_owned(),
        });
    }
    let mut held = Vec::new();
    for round in 0..rounds {
        let one = play(directory, weir)?;
        println!("round {}: {}", round + 1, one.line());
        held.push(one);
    }
    println!("\n{}", row(&held));
    Ok(())
}

fn play(directory: &Path, weir: &Path) -> Result<Held, TaskError> {
    let mut server = Running::start(
        weir,
        SERVERS_CPU,
        &[
            "sample-server",
            "--listen",
            "127.0.0.1:0",
            "--admin",
            "127.0.0.1:0",
        ],
    )?;
    let backend = server.listens(&["listen"])?;
    let result = directory.join("load.json");
    let load = |url: &str, words: &[&str]| {
        let url = format!("http://{url}{WORK}");
        let json = result.to_string_lossy().into_owned();
        let words = [&["run", &url, "--json", &json][..], words].concat();
        Running::start(weir, OTHERS_CPU, &words)
    };
    load(&backend, &["-c", "4", "-d", "5s"])?.wait()?;
    let capacity_per_s = answered_well_per_s(&result)?;
    let file = directory.join("gate-cpu.toml");
    let text = format!(
        "listen = \"127.0.0.1:0\"\nbackends = [\"http://{backend}\"]\nadmin = false\nthreads = 1\n\
         [limit.adaptive]\ngoal = \"cpu <= {GOAL} %\"\n"
    );
    write(&file, &text)?;
    let mut gate = Running::start(weir, OTHERS_CPU, &["gate", &file.to_string_lossy()])?;
    let front = gate.listens(&["listen", "0"])?;
    let length = SETTLES + JUDGED + 2;
    let rate = format!("{:.1}", 2.0 * capacity_per_s);
    let seconds = format!("{length}s");
    let words = [
        "--rate",
        &rate,
        "--arrivals",
        "poisson",
        "-c",
        "1000",
        "-d",
        &seconds,
    ];
    let loading = load(&front, &words)?;
    let shares = watch(server.child.id(), SETTLES + JUDGED)?;
    loading.wait()?;
    let goodput = answered_well_per_s(&result)? / (GOAL / 100.0 * capacity_per_s) * 100.0;
    Ok(Held::of(&shares[SETTLES..], goodput, capacity_per_s))
}

/// The busy share of each second, in percent of what the hypervisor left of the server's CPU.
fn watch(pid: u32, seconds: usize) -> Result<Vec<f64>, TaskError> {
    let begun = Instant::now();
    let mut before = (begun, spent_ticks(pid)?, cpu_ticks()?);
    let mut shares = Vec::new();
    for second in 1..=seconds {
        let due = begun + Duration::from_secs(second as u64);
        thread::sleep(due.saturating_duration_since(Instant::now()));
        let now = (Instant::now(), spent_ticks(pid)?, cpu_ticks()?);
        let ticks_per_s = rustix::param::clock_ticks_per_second() as f64;
        let spent_s = (now.1 - before.1) / ticks_per_s;
        let (stolen, total) = (now.2.0 - before.2.0, now.2.1 - before.2.1);
        let left_s = (now.0 - before.0).as_secs_f64() * (1.0 - stolen / total.max(1.0));
        shares.push(spent_s / left_s * 100.0);
        before = now;
    }
    Ok(shares)
}

/// Ticks in user mode and in the kernel: columns 14 and 15 of `proc_pid_stat(5)`.
fn spent_ticks(pid: u32) -> Result<f64, TaskError> {
    let path = PathBuf::from(format!("/proc/{pid}/stat"));
    let text = read(&path)?;
    let behind_name = text.rsplit(')').next().unwrap_or_default();
    let columns: Vec<f64> = numbers(behind_name.split_whitespace().skip(11).take(2));
    match columns[..] {
        [user, system] => Ok(user + system),
        _ => Err(no_form(&path)),
    }
}

/// Stolen ticks of the server's CPU, and all of them: `proc_stat(5)`, guest time being part of user time.
fn cpu_ticks() -> Result<(f64, f64), TaskError> {
    let path = PathBuf::from("/proc/stat");
    let text = read(&path)?;
    let name = format!("cpu{SERVERS_CPU} ");
    let line = text.lines().find_map(|line| line.strip_prefix(&name));
    let columns: Vec<f64> = numbers(line.unwrap_or_default().split_whitespace().take(8));
    let stolen = columns.get(7).ok_or_else(|| no_form(&path))?;
    Ok((*stolen, columns.iter().sum()))
}

fn numbers<'t>(words: impl Iterator<Item = &'t str>) -> Vec<f64> {
    words.filter_map(|word| word.parse().ok()).collect()
}

fn no_form(path: &Path) -> TaskError {
    TaskError::Form {
        what: path.display().to_string(),
        why: "it has other columns than proc(5) says".to_owned(),
    }
}

/// Requests a second that were answered without an error.
fn answered_well_per_s(result: &Path) -> Result<f64, TaskError> {
    let value: Value = serde_json::from_str(&read(result)?).unwrap_or_default();
    let trial = &value["trial"];
    let per_s = trial["throughput_per_s"].as_f64();
    let failed = trial["errors"]["share"].as_f64();
    let well = per_s
        .zip(failed)
        .map(|(per_s, failed)| per_s * (1.0 - failed));
    well.ok_or_else(|| TaskError::Form {
        what: result.display().to_string(),
        why: "it has no throughput or no share of errors".to_owned(),
    })
}

impl Held {
    fn of(shares: &[f64], goodput: f64, capacity_per_s: f64) -> Self {
        let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
        let parts = || shares.windows(PART).map(mean);
        Self {
            mean: mean(shares),
            least: parts().fold(f64::INFINITY, f64::min),
            most: parts().fold(0.0, f64::max),
            goodput,
            capacity_per_s,
        }
    }

    fn line(&self) -> String {
        format!(
            "capacity {:.1}/s, mean {:.2} %, any {PART} s {:.1} to {:.1} %, answered {:.1} % of what {GOAL} % of the capacity would",
            self.capacity_per_s, self.mean, self.least, self.most, self.goodput
        )
    }
}

/// The row: medians, and the extremes over all rounds.
fn row(held: &[Held]) -> String {
    let of = |figure: fn(&Held) -> f64| {
        let mut figures: Vec<f64> = held.iter().map(figure).collect();
        figures.sort_by(f64::total_cmp);
        (
            figures[figures.len() / 2],
            figures[0],
            figures[figures.len() - 1],
        )
    };
    let (mean, lowest, highest) = of(|one| one.mean);
    let (_, least, _) = of(|one| one.least);
    let (_, _, most) = of(|one| one.most);
    let (goodput, ..) = of(|one| one.goodput);
    format!(
        "| `cpu <= {GOAL} %` at 2× | asked | measured |\n|:--|:--|:--|\n\
         | mean over {JUDGED} s | {GOAL} ± 2 % | {mean:.2} % ({lowest:.2}–{highest:.2}) |\n\
         | any {PART} s | {GOAL} ± 5 % | {least:.1} to {most:.1} % |\n\
         | goodput of {GOAL} % of the capacity | ≥ 98 % | {goodput:.1} % |\n"
    )
}

/// A program on a CPU of its own; it ends with this value.
#[derive(Debug)]
struct Running {
    child: Child,
    command: String,
    printed: BufReader<ChildStdout>,
}

impl Running {
    fn start(weir: &Path, cpu: usize, words: &[&str]) -> Result<Self, TaskError> {
        let command = format!("{} {}", weir.display(), words.join(" "));
        let failed = |source| TaskError::Start {
            command: command.clone(),
            source,
        };
        let mut child = Command::new("taskset")
            .args(["-c", &cpu.to_string()])
            .arg(weir)
            .args(words)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(failed)?;
        let printed = child
            .stdout
            .take()
            .ok_or_else(|| failed(std::io::ErrorKind::BrokenPipe.into()))?;
        Ok(Self {
            child,
            printed: BufReader::new(printed),
            command,
        })
    }

    /// The address in the line that it prints once it is ready, at this place.
    fn listens(&mut self, place: &[&str]) -> Result<String, TaskError> {
        let mut line = String::new();
        let read = self.printed.read_line(&mut line);
        let ready: Value = serde_json::from_str(&line).unwrap_or_default();
        let at = ready
            .pointer(&format!("/{}", place.join("/")))
            .and_then(Value::as_str);
        match (read, at) {
            (Ok(_), Some(at)) => Ok(at.to_owned()),
            (Err(source), _) => Err(TaskError::Start {
                command: self.command.clone(),
                source,
            }),
            _ => Err(TaskError::Ended {
                command: self.command.clone(),
                status: "it did not say where it listens".to_owned(),
            }),
        }
    }

    /// Waits until it has ended by itself.
    fn wait(mut self) -> Result<(), TaskError> {
        let status = self.child.wait().map_err(|source| TaskError::Start {
            command: self.command.clone(),
            source,
        })?;
        // Refused requests are errors to the load, and are what is wanted here.
        if matches!(status.code(), Some(0 | 1)) {
            return Ok(());
        }
        Err(TaskError::Ended {
            command: self.command.clone(),
            status: status.to_string(),
        })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read(path: &Path) -> Result<String, TaskError> {
    fs::read_to_string(path).map_err(|source| file("read", path, source))
}

fn write(path: &Path, text: &str) -> Result<(), TaskError> {
    fs::write(path, text).map_err(|source| file("write", path, source))
}

fn file(doing: &'static str, path: &Path, source: std::io::Error) -> TaskError {
    TaskError::File {
        doing,
        path: path.to_owned(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_five_seconds_count() {
        let mut shares = vec![80.0; 30];
        shares[10] = 70.0;
        shares[11] = 70.0;
        shares[20] = 95.0;
        let held = Held::of(&shares, 99.0, 100.0);
        assert!((held.mean - 79.833_333).abs() < 1e-5, "{held:?}");
        assert!(
            (held.least - 76.0).abs() < 1e-9 && (held.most - 83.0).abs() < 1e-9,
            "{held:?}"
        );
    }
}
