//! The process of a server that runs already, which a command may end and start anew.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use weir_probe::{FarProcess, WatchedMachine};

use super::{ExternalOptions, OF_ANOTHER};
use crate::error::TargetError;
use crate::patience;
use crate::process::Stat;

/// How long one look at a server that starts may take.
const ANSWER: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_millis(200);
/// What is asked to see whether anybody answers; whatever comes is an answer.
const QUESTION: &[u8] = b"HEAD / HTTP/1.0\r\n\r\n";

/// The process, as far as it is known.
#[derive(Debug)]
pub(super) struct ServerProcess {
    pid: Option<u32>,
    /// When it is one of another machine.
    far: Option<FarProcess>,
}

impl ServerProcess {
    pub(super) fn of(options: &ExternalOptions) -> Self {
        let pid = options.pid;
        let far = match (&options.machine, pid) {
            (WatchedMachine::Far(far), Some(pid)) => Some(FarProcess::new(far, pid)),
            _ => None,
        };
        Self { pid, far }
    }

    /// An error when it has ended.
    pub(super) fn check(&mut self) -> Result<(), TargetError> {
        let Some(pid) = self.pid else { return Ok(()) };
        let runs = self
            .far
            .as_mut()
            .map_or_else(|| is_process(pid), FarProcess::runs);
        if runs {
            return Ok(());
        }
        Err(ended(format!("there is no process {pid} any more")))
    }
}

/// The process that serves in place of the one that is known, which a command has ended; once it
/// answers.
pub(super) fn successor(options: &ExternalOptions) -> Result<Option<u32>, TargetError> {
    let Some(pid) = options.pid else {
        return Ok(None);
    };
    if !has_ended(pid, options)? {
        return Ok(None);
    }
    let until = Instant::now() + patience::COMMAND;
    let mut found = None;
    while found.is_none() || !answers(options.address) {
        if Instant::now() >= until {
            return Err(ended(format!(
                "process {pid} is gone since a limit was set, and nobody answers at {} after {} s",
                options.address,
                patience::COMMAND.as_secs()
            )));
        }
        thread::sleep(LOOK);
        found = serving(options)?;
    }
    Ok(found)
}

fn has_ended(pid: u32, options: &ExternalOptions) -> Result<bool, TargetError> {
    match &options.machine {
        WatchedMachine::This => Ok(!is_process(pid)),
        WatchedMachine::Far(far) => {
            let listening = far.processes_listening(options.address.port())?;
            // Without the rights to see them there are none.
            Ok(!listening.is_empty() && !listening.contains(&pid))
        }
        WatchedMachine::Unseen => Ok(false),
    }
}

/// The process that serves the address now.
fn serving(options: &ExternalOptions) -> Result<Option<u32>, TargetError> {
    match &options.machine {
        WatchedMachine::Far(far) => {
            let listening = far.processes_listening(options.address.port())?;
            Ok(listening.first().copied())
        }
        WatchedMachine::This | WatchedMachine::Unseen => Ok((options.serving)(options.address)),
    }
}

fn is_process(pid: u32) -> bool {
    Stat::of(pid).is_some_and(|stat| !stat.is_zombie)
}

/// Whether anything comes back: a server that starts may take connections long before it answers.
fn answers(address: SocketAddr) -> bool {
    let asked = || {
        let mut stream = TcpStream::connect_timeout(&address, ANSWER)?;
        stream.set_read_timeout(Some(ANSWER))?;
        stream.write_all(QUESTION)?;
        stream.read(&mut [0])
    };
    asked().is_ok_and(|read| read > 0)
}

fn ended(status: String) -> TargetError {
    TargetError::Ended {
        status,
        last_words: OF_ANOTHER.to_owned(),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn a_server_answers_when_something_comes_back() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        // It takes the connection, and says nothing.
        assert!(!answers(address));
        let server = thread::spawn(move || {
            // The first is that of the question before.
            let _first = listener.accept().unwrap();
            let (mut stream, _) = listener.accept().unwrap();
            stream.write_all(b"H").unwrap();
        });
        assert!(answers(address));
        server.join().unwrap();
        assert!(!answers(address));
    }
}
