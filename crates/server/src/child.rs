//! A server as a child process: started on its CPUs, with its log, never left behind.

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender, TryRecvError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{
    Pid, Signal, kill_process, kill_process_group, set_parent_process_death_signal,
};
use weir_metric::CpuSet;

use crate::error::TargetError;
use crate::patience;

/// How long a child may take to end by itself when it is asked to.
const STOP_PATIENCE: Duration = Duration::from_secs(10);
/// How often a child that should end is looked at.
const STOP_LOOK: Duration = Duration::from_millis(20);
/// How much of a log is told when something goes wrong.
const LAST_WORDS: u64 = 2_000;

/// How long a child may take to be ready.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience<'a> {
    /// The longest wait.
    pub(crate) longest: Duration,
    /// Set from outside to stop waiting.
    pub(crate) interrupted: &'a AtomicBool,
}

/// A running child process.
///
/// Its standard input is a pipe that closes when Weir ends, whatever way: a child that watches it
/// ends too. It has a process group of its own, so that Ctrl-C reaches Weir only, which then stops
/// it in order. Dropping stops it.
#[derive(Debug)]
pub(crate) struct ServerProcess {
    child: Child,
    _alive: Option<ChildStdin>,
    /// The thread that started a child which is told of the end of Weir by the kernel: the kernel
    /// takes the end of that thread for it.
    _starter: Option<SyncSender<()>>,
    /// What asks it to end.
    end: Signal,
    log: PathBuf,
}

impl ServerProcess {
    /// Starts a program on these CPUs and waits for the first line it prints.
    pub(crate) fn start(
        mut command: Command,
        cpus: Option<&CpuSet>,
        log: &Path,
        patience: Patience<'_>,
    ) -> Result<(Self, String), TargetError> {
        let stderr = open_log(log)?;
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
            _starter: None,
            end: Signal::TERM,
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

    /// Starts a program that does not watch its standard input. What it prints goes to the log.
    ///
    /// `end` is the signal that asks it to end; the kernel sends it when Weir ends without having
    /// stopped it.
    pub(crate) fn launch(
        end: Signal,
        mut command: Command,
        cpus: Option<&CpuSet>,
        log: &Path,
    ) -> Result<Self, TargetError> {
        let output = open_log(log)?;
        let errors = output.try_clone().map_err(|source| TargetError::Log {
            path: log.to_owned(),
            source,
        })?;
        command
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(errors)
            .process_group(0);
        let (child, starter) = spawn_held(command, cpus, end)?;
        Ok(Self {
            child,
            _alive: None,
            _starter: Some(starter),
            end,
            log: log.to_owned(),
        })
    }

    /// Waits until it is ready, however that shows.
    pub(crate) fn wait_until(
        &mut self,
        patience: Patience<'_>,
        mut ready: impl FnMut() -> bool,
    ) -> Result<(), TargetError> {
        let until = Instant::now() + patience.longest;
        while !ready() {
            if patience.interrupted.load(Ordering::Relaxed) {
                return Err(TargetError::Interrupted);
            }
            if let Ok(Some(status)) = self.child.try_wait() {
                return Err(TargetError::EndedAtStart {
                    status: status.to_string(),
                    last_words: self.last_words(),
                });
            }
            if Instant::now() >= until {
                return Err(self.not_ready(patience));
            }
            thread::sleep(STOP_LOOK);
        }
        Ok(())
    }

    /// Waits until a URL answers with a status that means that it is ready; `each` is how long one
    /// answer may take.
    pub(crate) fn wait_until_answers(
        &mut self,
        url: &str,
        patience: Patience<'_>,
        each: Duration,
        is_ready: impl Fn(ureq::http::StatusCode) -> bool,
    ) -> Result<(), TargetError> {
        let agent: ureq::Agent = ureq::Agent::config_builder()
            .timeout_global(Some(each))
            .http_status_as_error(false)
            .build()
            .into();
        let mut asked = None;
        self.wait_until(patience, || {
            // From the side: a server that starts may accept a connection long before it answers.
            let answer = asked.get_or_insert_with(|| ask(agent.clone(), url.to_owned()));
            let answered = answer.try_recv();
            if answered == Err(TryRecvError::Empty) {
                return false;
            }
            asked = None;
            answered.is_ok_and(&is_ready)
        })
    }

    /// Sends it a signal.
    pub(crate) fn signal(&mut self, signal: Signal) -> Result<(), TargetError> {
        self.check_alive()?;
        let pid = Pid::from_child(&self.child);
        kill_process(pid, signal).map_err(|error| TargetError::Signal {
            pid: self.child.id(),
            source: error.into(),
        })
    }

    fn wait_for_line(
        &mut self,
        lines: &Receiver<String>,
        patience: Patience<'_>,
    ) -> Result<String, TargetError> {
        let until = Instant::now() + patience.longest;
        loop {
            match lines.recv_timeout(STOP_LOOK) {
                Ok(line) => return Ok(line),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) if patience.interrupted.load(Ordering::Relaxed) => {
                    return Err(TargetError::Interrupted);
                }
                Err(RecvTimeoutError::Timeout) if Instant::now() >= until => {
                    return Err(self.not_ready(patience));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
        let status = self.wait_for_end(STOP_PATIENCE).map_or_else(
            || "it closed its output and still runs".to_owned(),
            |status| status.to_string(),
        );
        Err(TargetError::EndedAtStart {
            status,
            last_words: self.last_words(),
        })
    }

    fn not_ready(&self, patience: Patience<'_>) -> TargetError {
        TargetError::NotReady {
            seconds: patience.longest.as_secs(),
            log: self.log.clone(),
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
        patience::wait(&mut self.child, patience).ok().flatten()
    }

    /// Asks the child to end, and ends it when it does not.
    pub(crate) fn stop(&mut self) {
        if matches!(self.child.try_wait(), Ok(Some(_))) {
            return;
        }
        if let Some(pid) = Pid::from_raw(self.child.id().cast_signed()) {
            // It may have ended in between; then there is nothing left to do.
            let _ = kill_process(pid, self.end);
        }
        if self.wait_for_end(STOP_PATIENCE).is_none() {
            // All that it has started goes with it: it leads a process group of its own.
            let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
            let _ = self.child.wait();
        }
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Asks a URL from a thread of its own, which ends with the answer; none comes where nobody
/// answers.
fn ask(agent: ureq::Agent, url: String) -> Receiver<ureq::http::StatusCode> {
    let (tell, answer) = mpsc::sync_channel(1);
    thread::spawn(move || {
        if let Ok(answered) = agent.get(&url).call() {
            // Nobody listens any more when the wait has ended before the answer.
            let _ = tell.send(answered.status());
        }
    });
    answer
}

fn open_log(log: &Path) -> Result<File, TargetError> {
    OpenOptions::new()
        .create(true)
        .append(true)
        .open(log)
        .map_err(|source| TargetError::Log {
            path: log.to_owned(),
            source,
        })
}

/// Starts a process that the kernel ends when the thread that started it ends, which it does when
/// what comes back beside the child is dropped.
fn spawn_held(
    mut command: Command,
    cpus: Option<&CpuSet>,
    end: Signal,
) -> Result<(Child, SyncSender<()>), TargetError> {
    let parent = rustix::process::getpid();
    let hold = move || {
        set_parent_process_death_signal(Some(end))?;
        // Weir may have ended before the kernel was asked to tell.
        if rustix::process::getppid() == Some(parent) {
            Ok(())
        } else {
            Err(std::io::ErrorKind::NotConnected.into())
        }
    };
    // SAFETY: between fork and exec the child only makes two system calls, which neither allocate
    // nor take a lock.
    unsafe {
        command.pre_exec(hold);
    }
    let cpus = cpus.cloned();
    let (tell, started) = mpsc::sync_channel(1);
    let (release, released) = mpsc::sync_channel::<()>(0);
    thread::spawn(move || {
        // The receiver waits for exactly this.
        let _ = tell.send(spawn_here(command, cpus.as_ref()));
        let _ = released.recv();
    });
    let child = started.recv().expect("the starter tells before it ends")?;
    Ok((child, release))
}

/// Starts a process on CPUs other than our own: a child inherits the CPUs of the thread that
/// starts it, so a thread goes there first.
fn spawn_on(command: Command, cpus: Option<&CpuSet>) -> Result<Child, TargetError> {
    let cpus = cpus.cloned();
    let starter = thread::spawn(move || spawn_here(command, cpus.as_ref()));
    starter.join().expect("the starter does not panic")
}

/// Moves this thread to the CPUs and starts a process from it.
fn spawn_here(mut command: Command, cpus: Option<&CpuSet>) -> Result<Child, TargetError> {
    if let Some(cpus) = cpus {
        cpus.pin_this_thread().map_err(|source| TargetError::Cpus {
            cpus: cpus.to_string(),
            source,
        })?;
    }
    let program = PathBuf::from(command.get_program());
    command
        .spawn()
        .map_err(|source| TargetError::Spawn { program, source })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use std::net::TcpListener;
    use std::sync::Arc;

    use super::*;

    /// Waits for an answer of someone who takes connections and says nothing, as a Java server does
    /// while it starts.
    fn wait_for_answer(longest: Duration, interrupted: &AtomicBool) -> TargetError {
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", silent.local_addr().unwrap());
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new("sleep");
        command.arg("600");
        let log = folder.path().join("log");
        let mut process = ServerProcess::launch(Signal::TERM, command, None, &log).unwrap();
        let patience = Patience {
            longest,
            interrupted,
        };
        let each = Duration::from_secs(600);
        let waited = process.wait_until_answers(&url, patience, each, |_| true);
        waited.unwrap_err()
    }

    #[test]
    fn an_interrupt_ends_the_wait_for_an_answer() {
        let interrupted = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&interrupted);
        let asked = Instant::now();
        thread::spawn(move || {
            thread::sleep(Duration::from_millis(200));
            flag.store(true, Ordering::Relaxed);
        });
        let error = wait_for_answer(Duration::from_secs(600), &interrupted);
        assert!(matches!(error, TargetError::Interrupted), "{error}");
        assert!(asked.elapsed() < Duration::from_secs(60));
    }

    #[test]
    fn a_server_that_does_not_answer_is_not_ready() {
        let error = wait_for_answer(Duration::from_secs(1), &AtomicBool::new(false));
        assert!(
            matches!(error, TargetError::NotReady { seconds: 1, .. }),
            "{error}"
        );
    }

    #[test]
    fn an_interrupt_ends_the_wait_for_a_line() {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new("sleep");
        command.arg("600");
        let patience = Patience {
            longest: Duration::from_secs(600),
            interrupted: &AtomicBool::new(true),
        };
        let started = ServerProcess::start(command, None, &folder.path().join("log"), patience);
        let error = started.unwrap_err();
        assert!(matches!(error, TargetError::Interrupted), "{error}");
    }
}
