//! Runs a program that fetches or unpacks, line by line, until it ends or an interrupt comes.

use std::io::{self, BufRead as _, BufReader, Read};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

/// How often an interrupt is looked at.
pub(crate) const LOOK: Duration = Duration::from_millis(100);
/// How long a program may take to end after SIGTERM.
const END_PATIENCE: Duration = Duration::from_secs(10);

/// How a program ended.
#[derive(Debug)]
pub(crate) enum End {
    /// By itself.
    Ended(ExitStatus),
    /// An interrupt came.
    Interrupted,
}

/// What is heard from a program while it runs.
pub(crate) enum Heard {
    /// It wrote a line.
    Line(String),
    /// A tenth of a second without a line.
    Nothing,
}

/// Runs a program to its end in a process group of its own, so that Ctrl-C reaches Weir alone.
///
/// # Errors
/// The program cannot be started.
pub(crate) fn run(
    mut command: Command,
    interrupted: &AtomicBool,
    hear: &mut dyn FnMut(Heard),
) -> io::Result<End> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()?;
    let (send, lines) = mpsc::channel();
    for output in [
        child.stdout.take().map(boxed),
        child.stderr.take().map(boxed),
    ] {
        let send = send.clone();
        let output = output.expect("its output was piped");
        // Ends with the program's output.
        std::thread::spawn(move || forward(output, &send));
    }
    drop(send);
    loop {
        match lines.recv_timeout(LOOK) {
            Ok(line) => hear(Heard::Line(line)),
            Err(RecvTimeoutError::Timeout) => hear(Heard::Nothing),
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if interrupted.load(Ordering::Relaxed) {
            end(&mut child);
            return Ok(End::Interrupted);
        }
    }
    Ok(End::Ended(child.wait()?))
}

fn boxed(output: impl Read + Send + 'static) -> Box<dyn Read + Send> {
    Box::new(output)
}

fn forward(output: impl Read, send: &mpsc::Sender<String>) {
    for line in BufReader::new(output).lines().map_while(Result::ok) {
        if send.send(line).is_err() {
            break;
        }
    }
}

/// Ends the program with what it started, gently at first.
fn end(child: &mut Child) {
    // It has not been waited for, so the id is still its own.
    let group = Pid::from_raw(child.id().cast_signed());
    if let Some(group) = group {
        let _ = kill_process_group(group, Signal::TERM);
    }
    let until = Instant::now() + END_PATIENCE;
    while Instant::now() < until {
        if matches!(child.try_wait(), Ok(Some(_))) {
            return;
        }
        std::thread::sleep(LOOK / 5);
    }
    if let Some(group) = group {
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.wait();
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn both_outputs_are_heard_and_the_status_is_told() {
        let mut lines = Vec::new();
        let end = run(
            shell("echo out; echo err >&2; exit 3"),
            &AtomicBool::new(false),
            &mut |heard| {
                if let Heard::Line(line) = heard {
                    lines.push(line);
                }
            },
        );
        lines.sort();
        assert_eq!(lines, ["err", "out"]);
        let End::Ended(status) = end.unwrap() else {
            panic!("nobody interrupted it");
        };
        assert_eq!(status.code(), Some(3));
    }

    #[test]
    fn an_interrupt_ends_the_program_and_what_it_started() {
        let interrupted = AtomicBool::new(false);
        let mut child = None;
        let end = run(
            shell("sleep 600 & echo $!; wait"),
            &interrupted,
            &mut |heard| {
                if let Heard::Line(line) = heard {
                    child = Some(line);
                    interrupted.store(true, Ordering::Relaxed);
                }
            },
        );
        assert!(matches!(end.unwrap(), End::Interrupted));
        let stat = format!("/proc/{}/stat", child.unwrap());
        let gone = (0..500).any(|_| {
            // Whoever adopted it may take a moment to collect it.
            let text = std::fs::read_to_string(&stat).unwrap_or_default();
            std::thread::sleep(LOOK / 10);
            text.is_empty() || text.contains(") Z ")
        });
        assert!(gone, "{stat} is still there");
    }
}
