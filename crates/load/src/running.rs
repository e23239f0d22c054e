//! A load that runs: its seconds, its end, its sums.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::Duration;

use hdrhistogram::Histogram;
use weir_reach::Refusal;
use weir_record::LoadSecond;

use crate::across_users::UnreadFile;
use crate::backend::SentFigures;
use crate::clock::{Clock, Moment};
use crate::control::{Control, Stage};
use crate::core::Report;
use crate::counts::Merger;
use crate::crash::problem;
use crate::groups::open::ArrivalCounts;
use crate::samples::Written;
use crate::tally::Tally;
use crate::work::Work;

/// Seconds that are kept for a caller that does not take them.
pub(crate) const SECONDS_MAX: usize = 3_600;

/// A load that runs until its plan is done or it is told to end. Dropping it aborts it.
#[derive(Debug)]
pub struct RunningLoad {
    pub(crate) planned_end: Option<Duration>,
    pub(crate) work: Arc<Work>,
    pub(crate) clock: Clock,
    pub(crate) control: Control,
    /// When it was told to end.
    pub(crate) stopped: OnceLock<Moment>,
    pub(crate) seconds: Receiver<LoadSecond>,
    pub(crate) summary: Receiver<Summed>,
    pub(crate) gather: Option<JoinHandle<()>>,
    pub(crate) cores: Vec<JoinHandle<()>>,
    pub(crate) writer: Option<JoinHandle<Written>>,
}

/// Sums over a whole load.
#[derive(Debug, Clone)]
pub struct LoadSummary {
    /// Users that started.
    pub users_started: u64,
    /// Users that came to their end; the others were cut off.
    pub users_finished: u64,
    /// Samples that ended.
    pub samples: u64,
    /// Samples among them that failed.
    pub failed: u64,
    /// Samples that were cut off while they ran. They are in no second and no row.
    pub cut: u64,
    /// Samples that were given up as in JMeter, because an extractor or a script failed. They are
    /// in no second and no row.
    pub lost: u64,
    /// Why the first of them was.
    pub lost_by: Option<String>,
    /// Samples of which scripts of the plan had nobody hear. They are in no second and no row.
    pub ignored: u64,
    /// Bytes received, heads and bodies as they were on the wire.
    pub received_bytes: u64,
    /// Bytes sent in samples that were answered.
    pub sent_bytes: u64,
    /// Requests that went out on a second connection, because the first, which had been kept, took
    /// no byte of them.
    pub resent: u64,
    /// Writes to a socket that had to wait for room in its send buffer.
    pub blocked_sends: u64,
    /// Connections that this machine could not open because it had no port or file left. With one
    /// of them the load was not the plan's.
    pub local_failures: u64,
    /// Lateness of all wakes, in microseconds.
    pub lateness_us: Histogram<u64>,
    /// What became of the arrivals of an open workload; `None` when the load is closed.
    pub arrivals: Option<ArrivalCounts>,
    /// Arrivals that were due in each second from the time origin until the load was told to end;
    /// `None` when the load is closed.
    pub due_by_second: Option<Vec<u64>>,
    /// Rows written for samples.
    pub rows: u64,
    /// What Backend Listeners of the plan sent.
    pub sent: Vec<SentFigures>,
    /// How long runtimes stood still because rows could not be written fast enough.
    pub waited_for_rows: Duration,
    /// Whether the load ended within the time that [`RunningLoad::join`] was given; if not, the
    /// samples that still ran were cut off.
    pub in_time: bool,
    /// Files that the plan asked for and did not get, because they are out of its reach.
    pub refused: Vec<Refusal>,
    /// Data files that could not be read, for want of which users ended.
    pub unread: Vec<UnreadFile>,
    /// Why the load was ended early, or why something that was measured is lost.
    pub problem: Option<String>,
}

impl RunningLoad {
    /// One message a second, counted from the time origin; every second that has begun, also when
    /// nothing happened in it. The last one is as long as the load was, and the channel ends after
    /// it. All runtimes are in it.
    pub fn seconds(&self) -> &Receiver<LoadSecond> {
        &self.seconds
    }

    /// When the load ends by itself, from the time origin, if the plan says so in time; samples
    /// that run then still finish.
    pub fn planned_end(&self) -> Option<Duration> {
        self.planned_end
    }

    /// Tells all users to end: none starts another sample, those that wait leave at once, samples
    /// that run finish. Returns at once.
    pub fn stop(&self) {
        let _ = self.stopped.set(self.clock.now());
        self.control.order(Stage::Stopping);
    }

    /// Cuts off everything. Returns at once.
    pub fn abort(&self) {
        self.control.order(Stage::Aborting);
    }

    /// Whether all users have come to their end.
    pub fn is_finished(&self) -> bool {
        self.gather.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Waits until the load ends, which it has to be told first unless its plan has an end. After
    /// the given time everything is cut off.
    pub fn join(mut self, patience: Duration) -> LoadSummary {
        let mut in_time = true;
        // What was due after it was told to end is not part of the load, however long its last
        // samples take.
        let told = *self.stopped.get_or_init(|| self.clock.now());
        let summed = match self.summary.recv_timeout(patience) {
            Err(RecvTimeoutError::Timeout) => {
                in_time = false;
                self.abort();
                self.summary.recv().ok()
            }
            summed => summed.ok(),
        };
        if summed.is_none() {
            // Who adds up is gone: nobody hears of what still runs.
            self.abort();
        }
        let threads = self.cores.drain(..).chain(self.gather.take());
        let crashes: Vec<String> = threads.filter_map(|thread| joined(thread).err()).collect();
        let writer = self.writer.take();
        let written = writer.map_or(Ok(Written::default()), joined);
        let written = written.unwrap_or_else(|problem| Written {
            problem: Some(problem),
            ..Written::default()
        });
        let mut summary = summary(summed.unwrap_or_default(), written, in_time);
        summary.problem = summary.problem.or(crashes.into_iter().next());
        LoadSummary {
            arrivals: self.work.arrivals(told),
            due_by_second: self.work.due_by_second(told),
            refused: self.work.plan.variables.reach().take_refused(),
            unread: self.work.shared.unread(),
            ..summary
        }
    }
}

impl Drop for RunningLoad {
    fn drop(&mut self) {
        self.abort();
    }
}

/// What a thread returned, or the problem that it has panicked with.
fn joined<T>(thread: JoinHandle<T>) -> Result<T, String> {
    thread.join().map_err(|panic| problem(&*panic))
}

fn summary(summed: Summed, written: Written, in_time: bool) -> LoadSummary {
    let Summed { tally, problem } = summed;
    LoadSummary {
        users_started: tally.users_started,
        users_finished: tally.users_finished,
        samples: tally.samples,
        failed: tally.failed,
        cut: tally.cut,
        lost: tally.lost,
        lost_by: tally.lost_by,
        ignored: tally.ignored,
        received_bytes: tally.received_bytes,
        sent_bytes: tally.sent_bytes,
        resent: tally.resent,
        blocked_sends: tally.blocked_sends,
        local_failures: tally.local_failures,
        lateness_us: tally.lateness_us,
        arrivals: None,
        due_by_second: None,
        rows: written.rows,
        sent: written.sent,
        waited_for_rows: tally.waited_for_rows,
        in_time,
        refused: Vec::new(),
        unread: Vec::new(),
        problem: tally.crash.or(written.problem).or(problem),
    }
}

/// All runtimes' sums.
#[derive(Debug, Default)]
pub(crate) struct Summed {
    tally: Tally,
    problem: Option<String>,
}

/// Puts together what the runtimes report.
#[derive(Debug)]
pub(crate) struct Gathering {
    pub(crate) reports: Receiver<(usize, Report)>,
    pub(crate) control: Control,
    pub(crate) labels: Vec<Arc<str>>,
    pub(crate) cores: usize,
    pub(crate) seconds: SyncSender<LoadSecond>,
}

impl Gathering {
    /// Passes seconds on as they become complete; returns when all runtimes have ended.
    pub(crate) fn run(self) -> Summed {
        let mut merger = Merger::new(&self.labels, self.cores);
        let mut summed = Summed::default();
        for (core, report) in &self.reports {
            match report {
                Report::Second(second) => merger.add(core, &second),
                Report::Ended(tally) => {
                    merger.end(core);
                    summed.tally.merge(&tally);
                }
                Report::Crashed(problem) => {
                    merger.end(core);
                    summed.problem.get_or_insert(problem);
                }
            }
            while let Some(second) = merger.next() {
                // A caller that has let go of its end wants no more seconds.
                if let Err(TrySendError::Full(_)) = self.seconds.try_send(second) {
                    self.control.order(Stage::Stopping);
                    summed.problem = Some(format!(
                        "failed to keep the seconds of the load: nobody took one for {SECONDS_MAX} seconds"
                    ));
                }
            }
        }
        summed
    }
}
