//! JMeter as a child process that never outlives Weir.
//!
//! JMeter does not watch its standard input, so that closing a pipe would not end it. The kernel
//! ends it instead: it sends a process the signal that it asked for when the *thread* that started
//! it ends. That thread therefore stays for as long as JMeter runs, and waits for its end.

use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use rustix::process::{
    Pid, PidfdFlags, Signal, getpid, getppid, pidfd_open, pidfd_send_signal,
    set_parent_process_death_signal,
};
use weir_metric::CpuSet;

use crate::error::JmeterError;

/// A running child process. Dropping it kills it.
#[derive(Debug)]
pub(crate) struct Process {
    pid: u32,
    /// Names the process itself, so that no signal can hit another that got its number.
    handle: OwnedFd,
    ended: Receiver<ExitStatus>,
    status: Option<ExitStatus>,
}

impl Process {
    /// Starts a program on these CPUs, in a process group of its own, so that Ctrl-C reaches Weir
    /// only. What it prints goes into a file; its lines are also delivered.
    pub(crate) fn start(
        mut command: Command,
        cpus: Option<&CpuSet>,
        printed: &Path,
    ) -> Result<(Self, Receiver<String>), JmeterError> {
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(printed)
            .map_err(JmeterError::file("write", printed))?;
        let copy = file
            .try_clone()
            .map_err(JmeterError::file("write", printed))?;
        let program = command.get_program().into();
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(copy)
            .process_group(0);
        end_with_this_thread(&mut command);
        let cpus = cpus.cloned();
        let (tell, started) = mpsc::channel();
        let (tell_end, ended) = mpsc::channel();
        thread::Builder::new()
            .name("weir-jmeter-child".to_owned())
            .spawn(move || keep(command, cpus.as_ref(), &tell, &tell_end))
            .map_err(JmeterError::file("start a thread for", &program))?;
        // The thread answers once, or has panicked.
        let Ok(answer) = started.recv() else {
            return Err(JmeterError::Spawn {
                program,
                source: std::io::Error::other("its thread ended"),
            });
        };
        let (pid, handle, stdout) = answer.map_err(|source| match source.kind() {
            std::io::ErrorKind::NotFound => JmeterError::NoJava {
                program: program.clone(),
            },
            _ => JmeterError::Spawn { program, source },
        })?;
        let (tell_line, lines) = mpsc::channel();
        // Ends with the child's output.
        thread::spawn(move || copy_lines(stdout, file, &tell_line));
        let process = Self {
            pid,
            handle,
            ended,
            status: None,
        };
        Ok((process, lines))
    }

    /// Its process id.
    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// Waits for its end, not for ever.
    pub(crate) fn wait(&mut self, patience: Duration) -> Option<ExitStatus> {
        if self.status.is_none() {
            self.status = match self.ended.recv_timeout(patience) {
                Ok(status) => Some(status),
                Err(RecvTimeoutError::Timeout) => None,
                // The thread that waited is gone, and so is its child.
                Err(RecvTimeoutError::Disconnected) => Some(ExitStatus::from_raw(0)),
            };
        }
        self.status
    }

    /// Sends a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        // It may have ended; then there is nothing left to do.
        let _ = pidfd_send_signal(&self.handle, signal);
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.status.is_none() {
            self.signal(Signal::KILL);
        }
    }
}

/// Makes the kernel kill the child when the thread that starts it ends.
#[expect(unsafe_code, reason = "the child has to ask for the signal itself")]
fn end_with_this_thread(command: &mut Command) {
    let parent = getpid();
    // SAFETY: between fork and exec only system calls are made, and nothing is allocated.
    unsafe {
        command.pre_exec(move || {
            set_parent_process_death_signal(Some(Signal::KILL))?;
            // The parent may have ended before the call.
            if getppid() == Some(parent) {
                Ok(())
            } else {
                Err(rustix::io::Errno::SRCH.into())
            }
        });
    }
}

type Started = std::io::Result<(u32, OwnedFd, ChildStdout)>;

/// Starts the child and stays until it has ended.
fn keep(
    mut command: Command,
    cpus: Option<&CpuSet>,
    tell: &Sender<Started>,
    tell_end: &Sender<ExitStatus>,
) {
    let started = cpus
        .map_or(Ok(()), CpuSet::pin_this_thread)
        .and_then(|()| command.spawn());
    let mut child = match started {
        Ok(child) => child,
        Err(error) => {
            let _ = tell.send(Err(error));
            return;
        }
    };
    let _ = tell.send(handle(&mut child));
    if let Ok(status) = child.wait() {
        let _ = tell_end.send(status);
    }
}

fn handle(child: &mut Child) -> Started {
    let pid = Pid::from_raw(child.id().cast_signed()).ok_or(rustix::io::Errno::SRCH)?;
    let handle = pidfd_open(pid, PidfdFlags::empty())?;
    let stdout = child.stdout.take().ok_or(rustix::io::Errno::BADF)?;
    Ok((child.id(), handle, stdout))
}

fn copy_lines(from: ChildStdout, mut to: File, tell: &Sender<String>) {
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    while matches!(from.read_until(b'\n', &mut line), Ok(1..)) {
        // A full disk does not keep the lines from those who wait for them.
        let _ = to.write_all(&line);
        let text = String::from_utf8_lossy(&line).trim_end().to_owned();
        // Nobody listens any more; the file still gets everything.
        let _ = tell.send(text);
        line.clear();
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(60);

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn lines_are_delivered_and_kept() {
        let place = tempfile::tempdir().unwrap();
        let printed = place.path().join("printed");
        let script = shell("echo one; echo two >&2; echo three; exit 7");
        let (mut process, lines) = Process::start(script, None, &printed).unwrap();
        assert_eq!(lines.iter().collect::<Vec<_>>(), ["one", "three"]);
        assert_eq!(process.wait(PATIENCE).unwrap().code(), Some(7));
        let mut kept: Vec<String> = std::fs::read_to_string(&printed)
            .unwrap()
            .lines()
            .map(str::to_owned)
            .collect();
        kept.sort();
        assert_eq!(kept, ["one", "three", "two"]);
    }

    #[test]
    fn dropping_kills() {
        let place = tempfile::tempdir().unwrap();
        let script = shell("echo on; exec sleep 600");
        let (process, lines) = Process::start(script, None, &place.path().join("printed")).unwrap();
        assert_eq!(lines.recv().unwrap(), "on");
        drop(process);
        // Its output ends only when it has.
        assert!(lines.recv_timeout(PATIENCE).is_err());
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let place = tempfile::tempdir().unwrap();
        let command = Command::new("no-such-program-anywhere");
        let error = Process::start(command, None, &place.path().join("printed")).unwrap_err();
        assert!(error.to_string().contains("no-such-program-anywhere"));
    }
}
