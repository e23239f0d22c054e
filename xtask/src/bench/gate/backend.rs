//! The server behind the gateways: the sample server, alone on a CPU, stopped and killed as a
//! scenario wants it, or one that runs already.

use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::bench::gate::clients::{Arrival, Load};
use crate::bench::gate::peers::{Peers, Running, free_port, signal};
use crate::error::TaskError;

/// About 10 ms of CPU time in an optimised build; how much it is, is measured.
pub(crate) const WORK: &str = "/light?n=31";
/// About 4 ms.
pub(crate) const LIGHT: &str = "/light?n=29";
/// About 100 ms; under another path, so that it can be told apart by it.
pub(crate) const HEAVY: &str = "/heavy?walks=1500";
/// Requests of which the time of one is the mean.
const CALIBRATION: u32 = 200;

/// A server that answers the paths of this file.
#[derive(Debug)]
pub(crate) enum Backend {
    /// A sample server; it ends with this value.
    Own(Running),
    /// One that somebody else has started, and ends.
    Given(Given),
}

/// A server that runs already.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Given {
    pub(crate) port: u16,
    pub(crate) pid: u32,
}

impl Backend {
    /// Requests of one measurement of its capacity.
    pub(crate) const CALIBRATED: u32 = CALIBRATION + 2 * (CALIBRATION / 10);

    /// Takes the one that is given, or starts one.
    pub(crate) fn of(peers: &Peers, cpu: u32) -> Result<Self, TaskError> {
        match peers.server {
            Some(given) => Ok(Self::Given(given)),
            None => Self::start(peers, cpu, None),
        }
    }

    /// Starts one on a CPU and a port; without a port, on one that is free.
    pub(crate) fn start(peers: &Peers, cpu: u32, port: Option<u16>) -> Result<Self, TaskError> {
        let port = match port {
            Some(port) => port,
            None => free_port()?,
        };
        let listen = format!("127.0.0.1:{port}");
        let words = [
            &peers.weir.to_string_lossy(),
            "sample-server",
            "--listen",
            &listen,
            "--admin",
            "127.0.0.1:0",
            "--threads",
            "256",
            "--rows",
            "1000",
        ];
        let running = peers.run(&words.map(str::to_owned), cpu, port)?;
        Ok(Self::Own(running))
    }

    /// Another one in its place, if it is ours.
    pub(crate) fn anew(self, peers: &Peers, cpu: u32) -> Result<Self, TaskError> {
        match self {
            Self::Own(running) => {
                drop(running);
                Self::start(peers, cpu, None)
            }
            given @ Self::Given(_) => Ok(given),
        }
    }

    /// Where it listens.
    pub(crate) fn port(&self) -> u16 {
        match self {
            Self::Own(running) => running.port(),
            Self::Given(given) => given.port,
        }
    }

    /// Its process.
    pub(crate) fn pid(&self) -> u32 {
        match self {
            Self::Own(running) => running.pid(),
            Self::Given(given) => given.pid,
        }
    }

    /// Requests a second that it can answer for a path, one after the other: its CPU is busy all
    /// the time but for the way there and back.
    pub(crate) fn capacity_per_s(&self, path: &'static str) -> f64 {
        let arrival = Arrival {
            at: Duration::ZERO,
            path,
        };
        let of = |count: u32| {
            let load = Load {
                port: self.port(),
                arrivals: vec![arrival; count as usize],
                clients: 2,
                patience: Duration::from_secs(20),
                retries: 0,
            };
            let begun = Instant::now();
            let answers = load.send();
            assert!(
                answers.iter().all(|answer| answer.status == 200),
                "the server answers {path}"
            );
            begun.elapsed()
        };
        // The difference of two lengths leaves out what both have at their begin.
        let (short, long) = (of(CALIBRATION / 10), of(CALIBRATION + CALIBRATION / 10));
        f64::from(CALIBRATION) / long.saturating_sub(short).as_secs_f64().max(1e-3)
    }

    /// Kills it in the middle of whatever it does, if it is ours.
    pub(crate) fn kill(&mut self) {
        if let Self::Own(running) = self {
            running.kill();
        }
    }

    /// Stops its process for a while, and gives back for how long it stood: a busy machine lets it
    /// stand longer.
    pub(crate) fn pause(&self, length: Duration) -> Duration {
        // Our own child, not collected before this value is dropped, or the one that was named.
        signal(self.pid(), Signal::STOP);
        let begun = Instant::now();
        thread::sleep(length);
        signal(self.pid(), Signal::CONT);
        begun.elapsed()
    }
}
