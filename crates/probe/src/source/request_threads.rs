//! What the threads that serve requests do, from thread dumps of a virtual machine of this machine.
//!
//! A dump stops all threads while it is written, so that it is taken as rarely as this asks for: at
//! most [`SHARE`] of the time, or [`SHARE_MOST`] where trials would end without one. How long they
//! stood is what the virtual machine's counters say; without them it is how long the dump took, its
//! wait for a CPU included. A thread of its own waits for it, and the reading takes what has come
//! by then. Virtual threads are written into a dump of their own, which stops one thread at a time;
//! it counts as if it stopped them all.

use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::time::{Duration, Instant};

use weir_jvm::{Attach, PerfFile, RequestThreads, Vm, has_virtual_threads};

use crate::reading::{Reading, put};

use super::Origins;

/// Of the virtual machine's time, at most so much goes into dumps.
const SHARE: f64 = 0.001;
/// So much while the next one would not come for [`LONGEST`].
const SHARE_MOST: f64 = 0.005;
/// A trial has one in each of so many seconds, as far as [`SHARE_MOST`] allows.
const LONGEST: Duration = Duration::from_secs(10);
/// Dumps are at least this far apart.
const EVERY: Duration = Duration::from_millis(900);
/// Signals that a dump tells.
const SIGNALS: [&str; 13] = [
    "request-threads.seen",
    "request-threads.running",
    "request-threads.monitor",
    "request-threads.lock",
    "request-threads.asleep",
    "request-threads.answer",
    "request-threads.lookup",
    "request-threads.random",
    "request-threads.pool",
    "request-threads.parked",
    HIKARI_POOL,
    LIBERTY_POOL,
    "threads.idle",
];
/// Signal of those that wait for a connection of `HikariCP`, where it has one pool.
pub(super) const HIKARI_POOL: &str = "request-threads.hikari-pool";
/// Signal of those that wait for a connection of Liberty's own pools.
pub(super) const LIBERTY_POOL: &str = "request-threads.liberty-pool";

/// What was counted in a dump, and how long the threads stood for it.
type Dump = (RequestThreads, Duration);

/// The threads of a virtual machine.
#[derive(Debug)]
pub(crate) struct RequestThreadsSource {
    pid: u32,
    dumps: Option<Dumps>,
    due: Option<Instant>,
    /// How long they stood for the dump before; the first finds a virtual machine that has not
    /// compiled what it takes for it, and says nothing of the others.
    took: Option<Duration>,
    /// How far apart the last one and the next are.
    apart: Duration,
    /// A dump was asked for and has not come.
    pending: bool,
}

/// The two ends of the thread that takes the dumps; it ends with them.
#[derive(Debug)]
struct Dumps {
    ask: SyncSender<()>,
    taken: Receiver<Dump>,
}

impl RequestThreadsSource {
    pub(crate) fn new(pid: u32, port: u16) -> Self {
        Self {
            pid,
            dumps: Dumps::start(pid, port),
            due: None,
            took: None,
            apart: EVERY,
            pending: false,
        }
    }

    /// Asks for a dump, when one is due.
    pub(crate) fn ask(&mut self, now: Instant) {
        let due = self.due.is_none_or(|due| now >= due);
        if let Some(dumps) = self.dumps.as_ref().filter(|_| due && !self.pending) {
            self.pending = dumps.ask.try_send(()).is_ok();
            self.due = Some(now + EVERY);
        }
    }

    pub(crate) fn read(&mut self, now: Instant, reading: &mut Reading) {
        let Some(dumps) = &self.dumps else {
            return;
        };
        match dumps.taken.try_recv() {
            Ok((threads, took)) => {
                self.pending = false;
                let cost = self.took.map_or(Duration::ZERO, |before| before.min(took));
                self.took = Some(took);
                self.apart = apart(cost);
                self.due = Some(now + self.apart);
                // Of several pools nothing tells which one it is.
                let is_one = threads.hikari_pools == 1;
                let counts = [
                    Some(threads.seen),
                    Some(threads.running),
                    Some(threads.monitor),
                    Some(threads.lock),
                    Some(threads.asleep),
                    Some(threads.answer),
                    Some(threads.lookup),
                    Some(threads.random),
                    Some(threads.pool),
                    Some(threads.parked),
                    is_one.then_some(threads.hikari),
                    Some(threads.liberty),
                    Some(threads.free),
                ];
                for (signal, count) in SIGNALS.iter().zip(counts) {
                    put(reading, *signal, count.map(f64::from));
                }
            }
            Err(TryRecvError::Empty) => {}
            // It cannot be spoken to, or has ended.
            Err(TryRecvError::Disconnected) => self.dumps = None,
        }
    }

    /// The signal that is missing in a trial without a dump, and why there is none.
    pub(crate) fn why_not_read(&self) -> Option<(&'static str, String)> {
        let why = if self.dumps.is_none() {
            format!("no thread dump of process {} could be taken", self.pid)
        } else if self.apart > LONGEST {
            format!(
                "the server's threads stood for {:.0} ms for a thread dump, so that the next is {:.0} s later: a longer \
                 window has some",
                self.took.unwrap_or_default().as_secs_f64() * 1e3,
                self.apart.as_secs_f64()
            )
        } else {
            return None;
        };
        Some((SIGNALS[0], why))
    }

    pub(crate) fn add_origins(&self, origins: &mut Origins) {
        for signal in SIGNALS {
            let place = format!("thread dumps of process {}", self.pid);
            origins.entry(signal.to_owned()).or_insert(place);
        }
    }
}

/// How far apart dumps are for which the threads stand so long.
fn apart(cost: Duration) -> Duration {
    let rarely = cost.div_f64(SHARE).min(LONGEST);
    rarely.max(cost.div_f64(SHARE_MOST)).max(EVERY)
}

impl Dumps {
    fn start(pid: u32, port: u16) -> Option<Self> {
        let (ask, asked) = sync_channel::<()>(1);
        let (give, taken) = sync_channel::<Dump>(1);
        let take = move || {
            let vm = Vm::of(pid).ok().flatten();
            let Some(attach) = vm.and_then(|vm| Attach::to(&vm).ok()) else {
                return;
            };
            let mut counters = PerfFile::of(attach.vm()).ok();
            let mut stood = || counters.as_mut()?.read().ok()?.safepoint_s;
            let mut tells_virtual = true;
            while asked.recv().is_ok() {
                let (start, before) = (Instant::now(), stood());
                let Ok(dump) = attach.jcmd("Thread.print") else {
                    return;
                };
                let stopped = stood().zip(before).map(|(after, before)| after - before);
                let mut took = stopped
                    .and_then(|stopped| Duration::try_from_secs_f64(stopped).ok())
                    .unwrap_or_else(|| start.elapsed());
                let mut threads = RequestThreads::in_dump(&dump, port);
                if tells_virtual && has_virtual_threads(&dump) {
                    let start = Instant::now();
                    let dump = attach.threads_as_json();
                    tells_virtual = dump.is_ok_and(|dump| threads.add_virtual(&dump));
                    took += start.elapsed();
                }
                if give.send((threads, took)).is_err() {
                    return;
                }
            }
        };
        let thread = std::thread::Builder::new().name("thread-dumps".to_owned());
        thread.spawn(take).ok()?;
        Some(Self { ask, taken })
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    #[test]
    fn dumps_are_rare_where_they_are_dear_and_a_trial_has_some() {
        for (stands_ms, apart_s) in [
            (0, 0.9),
            (1, 1.0),
            (5, 5.0),
            (20, 10.0),
            (50, 10.0),
            (200, 40.0),
        ] {
            let seen = apart(Duration::from_millis(stands_ms)).as_secs_f64();
            assert!((seen - apart_s).abs() < 1e-6, "{stands_ms} ms: {seen} s");
        }
    }

    #[test]
    fn why_a_trial_has_no_dump_is_said() {
        // No virtual machine runs in this process.
        let mut source = RequestThreadsSource::new(std::process::id(), 1);
        assert_eq!(source.why_not_read(), None);
        source.apart = apart(Duration::from_millis(200));
        source.took = Some(Duration::from_millis(200));
        let (signal, why) = source.why_not_read().unwrap();
        assert_eq!(signal, "request-threads.seen");
        assert!(why.contains("stood for 200 ms"), "{why}");
        assert!(why.contains("40 s later"), "{why}");
        source.dumps = None;
        let (_, why) = source.why_not_read().unwrap();
        assert!(why.contains("no thread dump of process"), "{why}");
    }
}
