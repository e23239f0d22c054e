//! One connection to a host, for everybody who needs something of it.

use std::process::Command;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::batch::{Batch, BatchAnswer};
use crate::error::SshError;
use crate::host::{SshHost, command, quoted};
use crate::shell::{Output, Pending, Shell};

/// How long a script may take.
const PATIENCE: Duration = Duration::from_secs(20);
/// A socket's path has to fit into 104 bytes on some systems, and ssh appends 17 while it makes it.
const LONGEST_SOCKET_PATH: usize = 80;

/// A connection; its copies are the same one. It ends when the last is dropped.
#[derive(Debug, Clone)]
pub struct Connection {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    host: SshHost,
    /// Where commands find this connection; `None`: the user's own configuration shares
    /// connections, or there is no place for a socket.
    socket: Option<TempDir>,
    shell: Mutex<Arc<Shell>>,
    /// Held while logging in again, which nobody else waits for.
    reopening: Mutex<()>,
}

impl Connection {
    /// Logs in.
    ///
    /// # Errors
    /// ssh is not there, or would have to ask something, or the host does not let it in.
    pub fn open(host: SshHost) -> Result<Self, SshError> {
        let socket = if host.shares_connections()? {
            None
        } else {
            // Without one every command has a connection of its own.
            tempfile::Builder::new()
                .prefix("weir-ssh-")
                .tempdir()
                .ok()
                .filter(|folder| folder.path().as_os_str().len() <= LONGEST_SOCKET_PATH)
        };
        let shell = start(&host, socket.as_ref())?;
        let inner = Inner {
            host,
            socket,
            shell: Mutex::new(Arc::new(shell)),
            reopening: Mutex::new(()),
        };
        Ok(Self {
            inner: Arc::new(inner),
        })
    }

    /// The host.
    pub fn host(&self) -> &SshHost {
        &self.inner.host
    }

    /// Whether it has not ended, as far as is known.
    pub fn is_open(&self) -> bool {
        self.shell().is_open()
    }

    /// Logs in again when the connection has ended; for all copies.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn reopen(&self) -> Result<(), SshError> {
        let reopening = self.inner.reopening.lock();
        let _reopening = reopening.unwrap_or_else(PoisonError::into_inner);
        if !self.is_open() {
            let shell = start(&self.inner.host, self.inner.socket.as_ref())?;
            *self.lock() = Arc::new(shell);
        }
        Ok(())
    }

    /// Sends a script to the shell there, and does not wait.
    ///
    /// # Errors
    /// The connection has ended.
    pub fn ask(&self, script: &str) -> Result<Pending, SshError> {
        self.shell().ask(script)
    }

    /// Runs a script in the shell there; what it complains about is dropped. For what the user
    /// wrote there is [`command`](Self::command).
    ///
    /// # Errors
    /// The connection has ended, or the script takes longer than 20 s.
    pub fn run(&self, script: &str) -> Result<Output, SshError> {
        self.ask(script)?.answer(Instant::now() + PATIENCE)
    }

    /// Reads many files at once.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn read(&self, batch: &Batch) -> Result<BatchAnswer, SshError> {
        Ok(batch.answer(&self.run(&batch.script())?))
    }

    /// The bytes of a file; `None` when it cannot be read.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn file(&self, path: &str) -> Result<Option<Vec<u8>>, SshError> {
        let output = self.run(&format!("cat -- {}", quoted(path)))?;
        Ok(output.succeeded().then_some(output.stdout))
    }

    /// Where a link leads; `None` when there is none, or it is not shown to this user.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn link(&self, path: &str) -> Result<Option<String>, SshError> {
        // `readlink` is not among the commands that every system has.
        let output = self.run(&format!("ls -ld -- {}", quoted(path)))?;
        let text = output.text();
        let target = text.trim_end_matches('\n').split_once(" -> ");
        Ok(target.map(|(_, target)| target.to_owned()))
    }

    /// A command line that the user wrote, run by the shell of the user there, in the home there.
    /// It is a process of its own, which shares the connection as long as that is open.
    pub fn command(&self, line: &str) -> Command {
        let socket = self.inner.socket.as_ref();
        let options = socket.map(|socket| [control_path(socket)]);
        let options = options.as_ref().map_or(&[][..], |options| options);
        command(&self.inner.host.words(options, line))
    }

    /// ssh's complaint as an error with the way out.
    pub fn explain(&self, says: &str) -> SshError {
        self.inner.host.not_connected(says)
    }

    fn shell(&self) -> Arc<Shell> {
        Arc::clone(&self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Arc<Shell>> {
        // It is replaced whole.
        self.inner
            .shell
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

fn start(host: &SshHost, socket: Option<&TempDir>) -> Result<Shell, SshError> {
    let options = socket.map(|socket| ["ControlMaster=yes".to_owned(), control_path(socket)]);
    let options = options.as_ref().map_or(&[][..], |options| options);
    // Login shells differ in their languages; this much is the same in all of them.
    let words = host.words(options, "exec /bin/sh");
    Shell::start(host.name(), &words, |says| host.not_connected(says))
}

fn control_path(folder: &TempDir) -> String {
    format!("ControlPath={}/s", folder.path().display())
}
