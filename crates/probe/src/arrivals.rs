//! The time from a request's arrival on its connection to a thread's reading it, from the kernel's
//! tracepoints.
//!
//! Files of `/proc` tell how long threads waited for a CPU, whatever for. Tracepoints tell what
//! requests waited: data come in on a connection of the server's port (`tcp:tcp_probe`), threads
//! are woken and put on CPUs (`sched:sched_waking`, `sched:sched_switch`), one of them takes the
//! data (`sock:sock_recv_length`). The module `chain` says what is made of them.
//!
//! A thread of its own takes a sample in each second: the requests that arrive in a slice of it,
//! followed until they are read. Between samples only arrivals are traced. It ends without a trace
//! in the system, whatever way Weir ends.
//!
//! What it does not tell: the time before the kernel hands the data to the connection (network
//! card, packets that it takes in late); data that arrive while a thread has the connection in its
//! hands count from when it lets go; what is taken by `splice`, without being read; waits of a
//! thread while it works on a request that it has read already. Of HTTP/2 the first data after the
//! server has sent something count as a request; the steps of a TLS handshake count as
//! requests too.

mod chain;
mod error;
mod event;
mod format;
mod rings;
mod slices;
mod targets;
mod threads;
mod tracefs;

use std::io;
use std::ops::ControlFlow;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::time::ClockId;

use crate::own::cpu_time;
use crate::reading::{Reading, put};

use chain::{Chain, Sample};
use error::TraceError;
use event::Decoder;
use rings::{Rings, now_ns};
use slices::{PERIOD, Slices};
use targets::Targets;
use tracefs::Tracefs;

/// How long requests of a sample that are not read yet are followed.
const FOLLOWED: Duration = Duration::from_secs(1);
/// How often the rings are emptied during a sample, and between two.
const DRAIN: Duration = Duration::from_millis(20);
const DRAIN_BETWEEN: Duration = Duration::from_millis(100);
/// Where the first process namespace of a machine stands: `PROC_PID_INIT_INO` of the kernel.
const FIRST_PROCESS_NAMESPACE: &str = "pid:[4026531836]";

/// What the reading of one request took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArrivalTimes {
    /// Nanoseconds from the arrival of its first data on the connection until a thread had taken
    /// them.
    pub until_read_ns: u64,
    /// Nanoseconds of these in which the thread that reads, or before that one was woken the one
    /// that woke it, and so on, was ready and waited for a CPU.
    pub cpu_wait_ns: u64,
}

/// What a second's reading tells of arrivals.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Arrivals {
    /// Nobody asked for them, or the second was missed.
    #[default]
    NotWatched,
    /// They cannot be read, and why, and what to do about it.
    Unreadable(String),
    /// The requests of the samples that ended in the second.
    Read(Vec<ArrivalTimes>),
}

/// The thread that takes samples. It ends when this is dropped.
#[derive(Debug)]
pub(crate) struct ArrivalWatch {
    told: Arc<Mutex<Told>>,
    _stop: SyncSender<()>,
}

/// What the thread has told since it was asked last.
#[derive(Debug, Default)]
struct Told {
    unreadable: Option<String>,
    samples: usize,
    seen: Vec<ArrivalTimes>,
    unread: usize,
    cpu: Duration,
}

impl ArrivalWatch {
    /// Starts to take samples of requests to these ports that these processes, and those that
    /// descend from them, read.
    pub(crate) fn start(processes: &[u32], ports: &[u16]) -> Self {
        let told = Arc::new(Mutex::new(Told::default()));
        let (stop, stopped) = mpsc::sync_channel(1);
        let teller = Arc::clone(&told);
        let (targets, ports) = (Targets::new(processes), ports.to_vec());
        let spawned = std::thread::Builder::new()
            .name("weir-trace".to_owned())
            .spawn(move || {
                if let Err(error) = watch(targets, &ports, &stopped, &teller) {
                    lock(&teller).unreadable = Some(error.to_string());
                }
            });
        if let Err(error) = spawned {
            lock(&told).unreadable = Some(format!("the system gave no thread: {error}"));
        }
        Self { told, _stop: stop }
    }

    /// What was seen since the last time; its figures go into the reading.
    pub(crate) fn sample(&mut self, reading: &mut Reading) -> Arrivals {
        let mut told = lock(&self.told);
        if let Some(why) = &told.unreadable {
            return Arrivals::Unreadable(why.clone());
        }
        let seen = std::mem::take(&mut told.seen);
        let (samples, unread) = (
            std::mem::take(&mut told.samples),
            std::mem::take(&mut told.unread),
        );
        drop(told);
        if samples > 0 {
            put_figures(&seen, unread, reading);
        }
        Arrivals::Read(seen)
    }

    /// CPU time that the thread has used.
    pub(crate) fn cpu(&self) -> Duration {
        lock(&self.told).cpu
    }
}

/// A thread that panicked has told everything that it could.
fn lock(told: &Mutex<Told>) -> MutexGuard<'_, Told> {
    told.lock().unwrap_or_else(PoisonError::into_inner)
}

fn put_figures(seen: &[ArrivalTimes], unread: usize, reading: &mut Reading) {
    put(reading, "target.arrival.sampled", Some(seen.len() as f64));
    put(reading, "target.arrival.unread", Some(unread as f64));
    if seen.is_empty() {
        return;
    }
    let mut sorted: Vec<u64> = seen.iter().map(|times| times.until_read_ns).collect();
    sorted.sort_unstable();
    let mean = |sum: u64| Some(sum as f64 / seen.len() as f64 / 1e9);
    let waits = seen.iter().map(|times| times.cpu_wait_ns);
    // The smallest that at least this share of all do not exceed.
    let quantile = |share: f64| {
        let rank = (share * sorted.len() as f64).ceil().max(1.0) as usize;
        sorted.get(rank - 1).map(|ns| *ns as f64 / 1e9)
    };
    put(reading, "target.arrival.to-read", mean(sorted.iter().sum()));
    put(reading, "target.arrival.to-read.p50", quantile(0.5));
    put(reading, "target.arrival.to-read.p99", quantile(0.99));
    put(reading, "target.arrival.to-read.max", quantile(1.0));
    put(reading, "target.arrival.cpu-wait", mean(waits.sum()));
}

/// Reads tracepoints until it is stopped, or cannot.
fn watch(
    targets: Targets,
    ports: &[u16],
    stopped: &Receiver<()>,
    told: &Mutex<Told>,
) -> Result<(), TraceError> {
    let namespace = std::fs::read_link("/proc/self/ns/pid");
    if namespace.is_ok_and(|namespace| namespace.as_os_str() != FIRST_PROCESS_NAMESPACE) {
        return Err(TraceError::ProcessNamespace);
    }
    let (decoder, always, during) = Decoder::find(&Tracefs::open()?, ports)?;
    let mut tracer = Tracer {
        rings: Rings::open(decoder, &always, &during)?,
        chain: Chain::default(),
        targets,
        stopped,
    };
    let mut slices = Slices::new();
    let mut period = Instant::now();
    loop {
        let offset = slices.offset();
        if tracer.wait_until(period + offset).is_break() {
            return Ok(());
        }
        let sampled = tracer
            .sample(slices.length())
            .map_err(|error| TraceError::of_reading("tracepoints", error))?;
        let ControlFlow::Continue(sample) = sampled else {
            return Ok(());
        };
        slices.adapt(sample.seen.len() + sample.unread);
        let is_whole = !tracer.rings.has_lost();
        lock(told).add(sample, is_whole);
        let now = Instant::now();
        while period <= now {
            period += PERIOD;
        }
    }
}

impl Told {
    /// Adds a sample; one with gaps would show waits that were none, and is left out.
    fn add(&mut self, sample: Sample, is_whole: bool) {
        self.cpu = cpu_time(ClockId::ThreadCPUTime);
        if is_whole {
            self.samples += 1;
            self.unread += sample.unread;
            self.seen.extend(sample.seen);
        }
    }
}

/// The rings with what their records are turned into.
struct Tracer<'a> {
    rings: Rings,
    chain: Chain,
    targets: Targets,
    stopped: &'a Receiver<()>,
}

impl Tracer<'_> {
    /// Waits for the next sample, and remembers meanwhile what comes in.
    fn wait_until(&mut self, begin: Instant) -> ControlFlow<()> {
        while Instant::now() < begin {
            let left = begin.saturating_duration_since(Instant::now());
            self.sleep(left.min(DRAIN_BETWEEN))?;
            self.drain(false);
        }
        ControlFlow::Continue(())
    }

    /// Takes the requests that arrive in so long a time, and follows them until they are read.
    fn sample(&mut self, length: Duration) -> io::Result<ControlFlow<(), Sample>> {
        self.targets.forget();
        self.rings.begin_sample()?;
        let now = now_ns();
        self.chain.begin_sample(now, now + length.as_nanos() as u64);
        let taken = Instant::now() + length;
        loop {
            if self.sleep(DRAIN).is_break() {
                return Ok(ControlFlow::Break(()));
            }
            self.drain(false);
            let over = Instant::now().checked_duration_since(taken);
            // What arrived last is told by the drain after it.
            let is_settled = |over| over >= DRAIN && self.chain.is_settled();
            if over.is_some_and(|over| over >= FOLLOWED || is_settled(over)) {
                break;
            }
        }
        self.rings.end_sample()?;
        self.drain(true);
        Ok(ControlFlow::Continue(self.chain.end_sample()))
    }

    fn drain(&mut self, all: bool) {
        let (chain, targets) = (&mut self.chain, &mut self.targets);
        self.rings
            .drain(all, |event| chain.take(event, |id| targets.has(id)));
    }

    /// Breaks when the watch is over.
    fn sleep(&self, pause: Duration) -> ControlFlow<()> {
        match self.stopped.recv_timeout(pause) {
            Err(RecvTimeoutError::Timeout) => ControlFlow::Continue(()),
            Ok(()) | Err(RecvTimeoutError::Disconnected) => ControlFlow::Break(()),
        }
    }
}
