//! The gateways of a soak, one after the other: each takes the sockets of the one before over.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde::Deserialize;

use crate::bench::gate::GATE_CPU;
use crate::bench::gate::backend::Backend;
use crate::bench::gate::peers::{Peers, Running, free_port, signal, text_of};
use crate::bench::gate::status::Status;
use crate::error::TaskError;

/// The limit of each.
pub(crate) const CONCURRENCY: u32 = 6;
/// What `[limit] max-wait` is, in milliseconds, before the first reload and after it, in turn.
const MAX_WAITS_MS: [u32; 2] = [200, 240];
/// How long one may take to begin, or to end once it was told.
const PATIENCE: Duration = Duration::from_secs(60);

/// The gateway that takes requests, and what those before it have counted.
#[derive(Debug)]
pub(crate) struct Gates<'all> {
    peers: &'all Peers,
    backends: Vec<u16>,
    pub(crate) port: u16,
    pub(crate) admin: u16,
    running: Running,
    printed: PathBuf,
    /// The process of the one that runs, for whoever watches it.
    pid: &'all AtomicU32,
    reloads: u32,
    ended: Vec<Status>,
}

/// Its last line.
#[derive(Deserialize)]
struct Ended {
    ended: Status,
}

impl<'all> Gates<'all> {
    /// Starts the first.
    pub(crate) fn start(
        peers: &'all Peers,
        servers: &[Backend],
        pid: &'all AtomicU32,
    ) -> Result<Self, TaskError> {
        let (port, admin) = (free_port()?, free_port()?);
        let backends: Vec<u16> = servers.iter().map(Backend::port).collect();
        peers.write("soak.toml", &text(port, admin, &backends, 0))?;
        let (running, printed) = one(peers, port, 0)?;
        pid.store(running.pid(), Ordering::Relaxed);
        Ok(Self {
            peers,
            backends,
            port,
            admin,
            running,
            printed,
            pid,
            reloads: 0,
            ended: Vec::new(),
        })
    }

    /// Starts another, which takes over, and waits until the one before has ended.
    pub(crate) fn replace(&mut self) -> Result<(), TaskError> {
        let (next, printed) = one(self.peers, self.port, self.ended.len() + 1)?;
        self.pid.store(next.pid(), Ordering::Relaxed);
        let mut before = std::mem::replace(&mut self.running, next);
        let printed = std::mem::replace(&mut self.printed, printed);
        self.ended.push(end_of(&mut before, &printed)?);
        Ok(())
    }

    /// Changes the file, and has it read.
    pub(crate) fn reload(&mut self) -> Result<(), TaskError> {
        self.reloads += 1;
        let text = text(self.port, self.admin, &self.backends, self.reloads);
        self.peers.write("soak.toml", &text)?;
        signal(self.running.pid(), Signal::HUP);
        Ok(())
    }

    /// How often the file was read again.
    pub(crate) fn reloads(&self) -> u32 {
        self.reloads
    }

    /// Ends the last, and gives back what each has counted.
    pub(crate) fn end(mut self) -> Result<Vec<Status>, TaskError> {
        signal(self.running.pid(), Signal::TERM);
        self.ended.push(end_of(&mut self.running, &self.printed)?);
        Ok(self.ended)
    }
}

fn text(port: u16, admin: u16, backends: &[u16], reloads: u32) -> String {
    let backends: Vec<String> = backends
        .iter()
        .map(|port| format!("\"http://127.0.0.1:{port}\""))
        .collect();
    let max_wait_ms = MAX_WAITS_MS[reloads as usize % MAX_WAITS_MS.len()];
    format!(
        "listen = \"127.0.0.1:{port}\"\nadmin = \"127.0.0.1:{admin}\"\nhand-over = \"soak.sock\"\nbackends = [{}]\nthreads = 2\n\
         [limit]\nconcurrency = {CONCURRENCY}\nmax-wait = \"{max_wait_ms}ms\"\n[timeouts]\nidle = \"1h\"\n[health]\nevery = \"200ms\"\n\
         [[class]]\nname = \"guests\"\nmatch = {{ header = \"X-Guest\" }}\n",
        backends.join(", ")
    )
}

/// One that takes requests, and where it prints.
fn one(peers: &Peers, port: u16, number: usize) -> Result<(Running, PathBuf), TaskError> {
    let printed = peers.directory.join(format!("soak-{number}.out"));
    let file = text_of(&peers.directory.join("soak.toml"));
    let words = [text_of(&peers.weir), "gate".to_owned(), file];
    let running = peers.run_printing(&words, GATE_CPU, port, Some(&printed))?;
    let until = Instant::now() + PATIENCE;
    while !fs::read_to_string(&printed).is_ok_and(|text| text.contains('\n')) {
        if Instant::now() > until {
            return Err(wrong("a gateway does not begin"));
        }
        thread::sleep(Duration::from_millis(20));
    }
    Ok((running, printed))
}

/// What one has counted that ends.
fn end_of(running: &mut Running, printed: &Path) -> Result<Status, TaskError> {
    if !running.has_ended(PATIENCE) {
        return Err(wrong("a gateway does not end"));
    }
    let text = fs::read_to_string(printed).unwrap_or_default();
    let last = text.lines().last().unwrap_or_default();
    let last: Ended = serde_json::from_str(last).map_err(|error| TaskError::Form {
        what: "the last line of the gateway".to_owned(),
        why: error.to_string(),
    })?;
    Ok(last.ended)
}

fn wrong(says: &str) -> TaskError {
    TaskError::Ended {
        command: "the soak".to_owned(),
        status: says.to_owned(),
    }
}
