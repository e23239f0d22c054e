//! A server as a child process: started on its CPUs, with its log, never left behind.

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use weir_units::CpuSet;

use crate::error::TargetError;

/// How long a child may take to end by itself after SIGTERM.
const STOP_PATIENCE: Duration = Duration::from_secs(10);
/// How often a child that should end is looked at.
const STOP_LOOK: Duration = Duration::from_millis(20);
/// How much of a log is told when something goes wrong.
const LAST_WORDS: u64 = 2_000;

/// A running child process.
///
/// Its standard input is a pipe that closes when Weir ends, whatever way: a child that watches it
/// ends too. It has a process group of its own, so that Ctrl-C reaches Weir only, which then stops
/// it in order. Dropping stops it.
#[derive(Debug)]
pub(crate) struct ServerProcess {
    child: Child,
    _alive: Option<ChildStdin>,
    log: PathBuf,
}

impl ServerProcess {
    /// Starts a program on these CPUs and waits for the first line it prints.
    pub(crate) fn start(
        mut command: Command,
        cpus: Option<&CpuSet>,
        log: &Path,
        patience: Duration,
    ) -> Result<(Self, String), TargetError> {
        let stderr = OpenOptions::new()
            .create(true)
            .append(true)
            .open(log)
            .map_err(|source| TargetError::Log {
                path: log.to_owned(),
                source,
            })?;
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(stderr)
            .process_group(0);
        let mut child = spawn_on(command, cpus)?;
        let alive = child.stdin.take();
        let stdout = child.stdout.take();
        let mut started = Self {
            child,
            _alive: alive,
            log: log.to_owned(),
        };
        let (send, first_line) = mpsc::channel();
        if let Some(stdout) = stdout {
            // Ends with the child's output, so it never outlives the child for long.
            thread::spawn(move || {
                for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                    if send.send(line).is_err() {
                        break;
                    }
                }
            });
        }
        let line = started.wait_for_line(&first_line, patience)?;
        Ok((started, line))
    }

    fn wait_for_line(
        &mut self,
        lines: &mpsc::Receiver<String>,
        patience: Duration,
    ) -> Result<String, TargetError> {
        match lines.recv_timeout(patience) {
            Ok(line) => Ok(line),
            Err(mpsc::RecvTimeoutError::Timeout) => Err(TargetError::NotReady {
                seconds: patience.as_secs(),
                log: self.log.clone(),
            }),
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                let status = self.wait_for_end(STOP_PATIENCE).map_or_else(
                    || "it closed its output and still runs".to_owned(),
                    |status| status.to_string(),
                );
                Err(TargetError::EndedAtStart {
                    status,
                    last_words: self.last_words(),
                })
            }
        }
    }

    /// The process id.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// An error when the child has ended by itself.
    pub(crate) fn check_alive(&mut self) -> Result<(), TargetError> {
        match self.child.try_wait() {
            Ok(Some(status)) => Err(TargetError::Ended {
                status: status.to_string(),
                last_words: self.last_words(),
            }),
            Ok(None) | Err(_) => Ok(()),
        }
    }

    fn last_words(&self) -> String {
        let tail = File::open(&self.log).and_then(|mut log| {
            let length = log.metadata()?.len();
            log.seek(SeekFrom::Start(length.saturating_sub(LAST_WORDS)))?;
            let mut text = Vec::new();
            log.read_to_end(&mut text)?;
            Ok(String::from_utf8_lossy(&text).trim().to_owned())
        });
        match tail {
            Ok(text) if !text.is_empty() => text,
            _ => "(none)".to_owned(),
        }
    }

    /// Where its log stands now, in bytes.
    pub(crate) fn log_length(&self) -> u64 {
        fs::metadata(&self.log).map_or(0, |facts| facts.len())
    }

    /// Copies what the child has written since `from` into a file.
    pub(crate) fn copy_log(&self, from: u64, to: &Path) -> Result<(), TargetError> {
        let copied = File::open(&self.log).and_then(|mut log| {
            log.seek(SeekFrom::Start(from))?;
            std::io::copy(&mut log, &mut File::create(to)?)
        });
        copied.map(|_| ()).map_err(|source| TargetError::Log {
            path: to.to_owned(),
            source,
        })
    }

    fn wait_for_end(&mut self, patience: Duration) -> Option<ExitStatus> {
        let until = Instant::now() + patience;
        loop {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Some(status);
            }
            if Instant::now() >= until {
                return None;
            }
            thread::sleep(STOP_LOOK);
        }
    }

    /// Asks the child to end, and ends it when it does not.
    pub(crate) fn stop(&mut self) {
        if matches!(self.child.try_wait(), Ok(Some(_))) {
            return;
        }
        if let Some(pid) = Pid::from_raw(self.child.id().cast_signed()) {
            // It may have ended in between; then there is nothing left to do.
            let _ = kill_process(pid, Signal::TERM);
        }
        if self.wait_for_end(STOP_PATIENCE).is_none() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Starts a process on CPUs other than our own: a child inherits the CPUs of the thread that
/// starts it, so a thread goes there first.
fn spawn_on(mut command: Command, cpus: Option<&CpuSet>) -> Result<Child, TargetError> {
    let program = PathBuf::from(command.get_program());
    let cpus = cpus.cloned();
    let starter = thread::spawn(move || {
        if let Some(cpus) = &cpus {
            cpus.pin_this_thread().map_err(|source| TargetError::Cpus {
                cpus: cpus.to_string(),
                source,
            })?;
        }
        command
            .spawn()
            .map_err(|source| TargetError::Spawn { program, source })
    });
    starter.join().expect("the starter does not panic")
}
