//! Running a program on one CPU, and what it costs the machine.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::param::clock_ticks_per_second;
use rustix::process::{Pid, Resource, WaitId, WaitIdOptions, getrlimit, setrlimit, waitid};

use crate::bench::load::command;
use crate::error::TaskError;

/// How often the memory of a running program is read.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// With this code Weir says that a measurement is not valid: here the load generator is the limit
/// on purpose.
const LOAD_TOOL_WAS_THE_LIMIT: i32 = 4;

/// A program that is to run on one CPU.
#[derive(Debug)]
pub(crate) struct Pinned<'a> {
    pub(crate) command: &'a [String],
    pub(crate) cpu: u32,
    /// Under a real-time class, so that nothing else on the machine takes its turn.
    pub(crate) real_time: bool,
    /// Where what it says goes.
    pub(crate) log: PathBuf,
    /// When it has not ended by itself after this time, it is ended.
    pub(crate) patience: Duration,
}

/// What a program cost from its start to its end.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Cost {
    pub(crate) user_s: f64,
    pub(crate) system_s: f64,
    /// The most memory it ever had resident.
    pub(crate) resident_max_mb: f64,
}

impl Cost {
    /// Processor time in user and kernel mode.
    pub(crate) fn cpu_s(&self) -> f64 {
        self.user_s + self.system_s
    }
}

/// The words that keep a command to a CPU.
pub(crate) fn pinned(words: &[String], cpu: u32, real_time: bool) -> Vec<String> {
    let mut all = vec!["taskset".to_owned(), "-c".to_owned(), cpu.to_string()];
    if real_time {
        all.extend(["chrt", "--rr", "1"].map(str::to_owned));
    }
    all.extend_from_slice(words);
    all
}

/// Whether this user may run programs in a real-time class.
pub(crate) fn may_run_in_real_time(cpu: u32) -> bool {
    let tried = command(&pinned(&["true".to_owned()], cpu, true)).output();
    tried.is_ok_and(|tried| tried.status.success())
}

/// Raises the soft limit of open files for the programs that are started, as far as it goes.
pub(crate) fn allow_open_files() {
    let mut limits = getrlimit(Resource::Nofile);
    limits.current = limits.maximum;
    // Whoever cannot open enough says so itself.
    let _ = setrlimit(Resource::Nofile, limits);
}

impl Pinned<'_> {
    /// Runs the program to its end.
    pub(crate) fn run(&self) -> Result<Cost, TaskError> {
        let words = pinned(self.command, self.cpu, self.real_time);
        let log = File::create(&self.log).map_err(|source| TaskError::File {
            doing: "write",
            path: self.log.clone(),
            source,
        })?;
        let failed = |source| TaskError::Start {
            command: words.join(" "),
            source,
        };
        let mut child = command(&words)
            .stdin(Stdio::null())
            .stdout(log.try_clone().map_err(failed)?)
            .stderr(log)
            .spawn()
            .map_err(failed)?;
        let resident_max_mb = self.wait(&mut child);
        let (user_s, system_s) = cpu_times(child.id());
        let status = child.wait().map_err(failed)?;
        if !matches!(status.code(), Some(0 | LOAD_TOOL_WAS_THE_LIMIT)) {
            return Err(TaskError::Ended {
                command: words.join(" "),
                status: format!("{status}; it says more in {}", self.log.display()),
            });
        }
        Ok(Cost {
            user_s,
            system_s,
            resident_max_mb,
        })
    }

    /// Waits for the end without collecting the program, whose times can be read until then.
    fn wait(&self, child: &mut Child) -> f64 {
        let until = Instant::now() + self.patience;
        let mut resident_max_mb: f64 = 0.0;
        let pid = Pid::from_child(child);
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        while let Ok(None) = waitid(WaitId::Pid(pid), options) {
            resident_max_mb = resident_max_mb.max(resident_peak_mb(child.id()));
            if Instant::now() > until {
                // Its exit status tells.
                let _ = child.kill();
            }
            thread::sleep(LOOK_EVERY);
        }
        resident_max_mb
    }
}

/// Seconds in user and in kernel mode of a program that runs, or has ended and was not collected.
pub(crate) fn cpu_times(pid: u32) -> (f64, f64) {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    ticks(&stat).map_or((0.0, 0.0), |(user, system)| {
        let per_second = clock_ticks_per_second() as f64;
        (user as f64 / per_second, system as f64 / per_second)
    })
}

/// Fields 14 and 15 of `proc_pid_stat(5)`; the second field is in parentheses and may hold
/// anything.
fn ticks(stat: &str) -> Option<(u64, u64)> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace().skip(11);
    Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}

fn resident_peak_mb(pid: u32) -> f64 {
    memory_mb(pid, "VmHWM:")
}

/// What a program that runs has resident.
pub(crate) fn resident_mb(pid: u32) -> f64 {
    memory_mb(pid, "VmRSS:")
}

/// A line of `proc_pid_status(5)`; 0 for a program that is gone.
pub(crate) fn memory_mb(pid: u32, name: &str) -> f64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let found = status.lines().find_map(|line| {
        let kib = line.strip_prefix(name)?.trim().strip_suffix(" kB")?;
        kib.parse::<f64>().ok()
    });
    found.unwrap_or(0.0) * 1024.0 / 1e6
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test that fails should stop")]

    use super::*;

    #[test]
    fn times_stand_behind_the_name() {
        let stat = "7 (a) b (c)) S 1 7 7 0 -1 4194560 100 0 0 0 123 45 0 0 20 0 1 0";
        assert_eq!(ticks(stat), Some((123, 45)));
        assert_eq!(ticks(""), None);
    }

    #[test]
    fn a_program_costs_something() {
        let directory = tempfile::tempdir().unwrap();
        let script = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";
        let cost = Pinned {
            command: &["sh", "-c", script].map(str::to_owned),
            cpu: 0,
            real_time: false,
            log: directory.path().join("log"),
            patience: Duration::from_secs(60),
        }
        .run()
        .unwrap();
        assert!(cost.user_s > 0.0 && cost.resident_max_mb > 0.1, "{cost:?}");
    }

    #[test]
    fn a_bad_end_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let error = Pinned {
            command: &["false".to_owned()],
            cpu: 0,
            real_time: false,
            log: directory.path().join("log"),
            patience: Duration::from_secs(60),
        }
        .run()
        .unwrap_err();
        assert!(error.to_string().contains("exit status: 1"), "{error}");
    }
}
