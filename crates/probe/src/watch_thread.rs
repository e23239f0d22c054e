//! The thread that reads once a second, on the second, beside a running load.
//!
//! It waits on the channel that also tells it to stop, with a limit computed anew from the origin
//! each time. The standard library waits for an absolute moment of the monotonic clock underneath
//! (a futex), so this is as exact as a timer, nothing adds up, and stopping needs no second
//! mechanism.

use std::collections::BTreeMap;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::thread::sched_setaffinity;
use rustix::time::ClockId;
use weir_metric::CpuSet;

use crate::arrivals::Arrivals;
use crate::error::ProbeError;
use crate::own::{cores, cpu_time};
use crate::reading::{Reading, put};
use crate::source::Origins;
use crate::ticks::{Role, Ticks};
use crate::watcher::{WatchPlan, Watcher};

/// Readings that wait to be taken at most: an hour of them. Later ones are dropped, and the seconds
/// that are not among those received are missed.
const READINGS_WAITING: usize = 3600;

/// The reading of one second.
#[derive(Debug, Clone, PartialEq)]
pub struct TimedReading {
    /// The second, which ended this many seconds after the origin.
    pub second: u64,
    /// How long after the second's end its reading began; zero for a second that was slept
    /// through.
    pub late_by: Duration,
    /// What was read; `None` when the second was missed.
    pub reading: Option<Reading>,
    /// The arrivals of requests that were read with it.
    pub arrivals: Arrivals,
    /// Signals that cannot be read for now, and why.
    pub not_read: BTreeMap<&'static str, String>,
}

/// A running watch. It ends when it is stopped or dropped, or its readings are no longer received.
#[derive(Debug)]
pub struct WatchThread {
    stop: Option<SyncSender<()>>,
    thread: Option<JoinHandle<Origins>>,
}

impl WatchThread {
    /// Starts to watch. Second *k* ends at `origin` + *k* s; the first one told is the first that
    /// is watched from its start. The thread keeps to `cpus`, when given, so that it does not take
    /// from the target's.
    pub fn start(
        plan: WatchPlan,
        origin: Instant,
        cpus: Option<CpuSet>,
    ) -> Result<(Self, Receiver<TimedReading>), ProbeError> {
        let (tell, readings) = mpsc::sync_channel(READINGS_WAITING);
        let (stop, stopped) = mpsc::sync_channel(1);
        let (started, starts) = mpsc::sync_channel(1);
        let thread = std::thread::Builder::new()
            .name("weir-watch".to_owned())
            .spawn(move || {
                let bound = cpus.map_or(Ok(()), |cpus| bind(&cpus));
                let goes = bound.is_ok();
                // The starter waits for this, so it is there to receive it.
                let _ = started.send(bound);
                let mut watcher = Watcher::new(plan);
                if goes {
                    watch(&mut watcher, origin, &stopped, &tell);
                }
                watcher.origins()
            })
            .map_err(ProbeError::Thread)?;
        let watch = Self {
            stop: Some(stop),
            thread: Some(thread),
        };
        // The thread sends exactly once unless it panicked, which joining reports.
        if let Ok(bound) = starts.recv() {
            bound?;
        }
        Ok((watch, readings))
    }

    /// Ends the watch at once; the second that has not ended is not told. Gives for every signal
    /// that was read where it came from.
    pub fn stop(mut self) -> Origins {
        self.end().unwrap_or_default()
    }

    fn end(&mut self) -> Option<Origins> {
        drop(self.stop.take());
        let ended = self.thread.take()?.join();
        assert!(
            ended.is_ok() || std::thread::panicking(),
            "the watching thread panicked"
        );
        ended.ok()
    }
}

impl Drop for WatchThread {
    fn drop(&mut self) {
        self.end();
    }
}

fn bind(cpus: &CpuSet) -> Result<(), ProbeError> {
    let mut mask = rustix::thread::CpuSet::new();
    for cpu in cpus
        .iter()
        .filter(|&cpu| cpu < rustix::thread::CpuSet::MAX_CPU)
    {
        mask.set(cpu);
    }
    sched_setaffinity(None, &mask).map_err(|error| ProbeError::Affinity {
        cpus: cpus.clone(),
        source: error.into(),
    })
}

fn watch(
    watcher: &mut Watcher,
    origin: Instant,
    stopped: &Receiver<()>,
    tell: &SyncSender<TimedReading>,
) {
    let mut ticks = Ticks::new(origin, Instant::now());
    let mut cpu_last = None;
    while sleep_until(ticks.due(), stopped) {
        let now = Instant::now();
        let tick = ticks.take(now);
        let missed = tick.missed.map(|second| TimedReading {
            second,
            late_by: Duration::ZERO,
            reading: None,
            arrivals: Arrivals::NotWatched,
            not_read: BTreeMap::new(),
        });
        let mut reading = watcher.sample(now);
        // What this reading has cost is in the figure of the next.
        let used = cpu_time(ClockId::ThreadCPUTime) + watcher.helpers_cpu();
        put(
            &mut reading,
            "watch.cpu",
            cpu_last.and_then(|last| cores(last, (now, used))),
        );
        cpu_last = Some((now, used));
        let arrivals = watcher.take_arrivals();
        let counts = tick.role == Role::Counts;
        let this = (tick.role != Role::Baseline).then(|| TimedReading {
            second: tick.second,
            late_by: tick.late_by,
            reading: counts.then_some(reading),
            arrivals: if counts {
                arrivals
            } else {
                Arrivals::NotWatched
            },
            not_read: watcher.why_not_read(),
        });
        for told in missed.chain(this) {
            if let Err(mpsc::TrySendError::Disconnected(_)) = tell.try_send(told) {
                return;
            }
        }
    }
}

/// Waits until a moment; false when the watch is to stop.
fn sleep_until(due: Instant, stopped: &Receiver<()>) -> bool {
    loop {
        let left = due.saturating_duration_since(Instant::now());
        match stopped.recv_timeout(left) {
            Err(RecvTimeoutError::Timeout) if Instant::now() >= due => return true,
            Err(RecvTimeoutError::Timeout) => {}
            Ok(()) | Err(RecvTimeoutError::Disconnected) => return false,
        }
    }
}
