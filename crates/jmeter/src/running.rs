//! A JMeter that runs: its seconds, its end, its sums.

use std::net::{Ipv4Addr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, TrySendError, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::process::Signal;
use weir_record::{LoadSecond, Reading};

use crate::console::Said;
use crate::error::JmeterError;
use crate::gc_log::GcLog;
use crate::launch::{Launch, log_error};
use crate::process::Process;
use crate::result_tail::ResultTail;
use crate::seconds::{Seconds, Sums};

/// How often the result file is looked at.
const LOOK: Duration = Duration::from_millis(50);
/// How long a row may come after its sample's end and still count in its second: JMeter writes it
/// at once, unless its garbage collector holds it up.
const ROW_PATIENCE: Duration = Duration::from_millis(300);
/// How far JMeter's milliseconds of the wall clock and our clock may be apart.
const CLOCK_SLACK: Duration = Duration::from_millis(100);
/// Seconds that are kept for a caller that does not take them.
const SECONDS_MAX: usize = 3_600;
/// The port of a JMeter that listens no more.
const NOBODY: u16 = 0;
/// How long each stronger way of ending JMeter has to work.
const STOP_PATIENCE: Duration = Duration::from_secs(5);

/// One second of load.
#[derive(Debug, Clone)]
pub struct JmeterSecond {
    /// What ended in it.
    pub load: LoadSecond,
    /// What JMeter's Java says of itself: `load.gc.pause`, `load.gc.count`.
    pub own: Reading,
}

/// Sums over a whole test.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct JmeterSummary {
    /// Rows in the result file.
    pub rows: u64,
    /// Samples, without the parts of which some consist.
    pub samples: u64,
    /// Samples among them that failed.
    pub failed: u64,
    /// Samples that were written more than a moment after they ended and count in a later second.
    pub late: u64,
    /// Rows that were no samples.
    pub unreadable: u64,
    /// Most users that ran at a time.
    pub users_most: u32,
    /// When the test ended by itself, from the time origin.
    pub ended: Option<Duration>,
    /// Whether the test ended within the time that [`RunningJmeter::join`] was given.
    pub in_time: bool,
    /// Why the test did not do what the plan says, or why something that was measured is lost.
    pub problem: Option<String>,
}

/// A test that runs in JMeter. Dropping it kills JMeter.
#[derive(Debug)]
pub struct RunningJmeter {
    process: Process,
    seconds: Receiver<JmeterSecond>,
    follower: Option<JoinHandle<Followed>>,
    stop_port: Arc<AtomicU16>,
    planned_end: Option<Duration>,
}

impl RunningJmeter {
    /// One message a second, counted from the time origin, each a moment after its end; every
    /// second that has begun, also when nothing happened in it. The channel ends with the test.
    pub fn seconds(&self) -> &Receiver<JmeterSecond> {
        &self.seconds
    }

    /// When the test ends by itself, from the time origin, if its plan says so in time.
    pub fn planned_end(&self) -> Option<Duration> {
        self.planned_end
    }

    /// JMeter's process id.
    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// Asks JMeter to end the test: samples that run finish. Returns at once.
    pub fn stop(&self) {
        self.ask("Shutdown");
    }

    /// Waits until JMeter ends, which it has to be told first unless its plan has an end. After the
    /// given time the samples that run are interrupted, then JMeter is.
    pub fn join(mut self, patience: Duration) -> JmeterSummary {
        let in_time = self.process.wait(patience).is_some();
        if !in_time {
            self.ask("StopTestNow");
        }
        for signal in [Signal::TERM, Signal::KILL] {
            if self.process.wait(STOP_PATIENCE).is_some() {
                break;
            }
            self.process.signal(signal);
        }
        let status = self.process.wait(STOP_PATIENCE);
        let followed = match self.follower.take().map(JoinHandle::join) {
            Some(Ok(followed)) => followed,
            // A thread of this crate ends early only by a panic, which goes on here.
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            None => Followed::default(),
        };
        let failed = status
            .filter(|status| in_time && !status.success())
            .map(|status| format!("JMeter ended with {status}"));
        JmeterSummary {
            in_time,
            problem: followed.problem.or(failed),
            rows: followed.sums.rows,
            samples: followed.sums.samples,
            failed: followed.sums.failed,
            late: followed.sums.late,
            users_most: followed.sums.users_most,
            unreadable: followed.unreadable,
            ended: followed.ended,
        }
    }

    /// Says a word to the port on which JMeter listens. Nobody may be there any more.
    fn ask(&self, word: &str) {
        let port = self.stop_port.load(Ordering::Relaxed);
        if port == NOBODY {
            return;
        }
        let to = (Ipv4Addr::LOCALHOST, port);
        let _ = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))
            .and_then(|socket| socket.send_to(word.as_bytes(), to));
    }
}

/// Starts to follow a JMeter whose test begins.
pub(crate) fn follow(
    launch: Launch,
    process: Process,
    lines: Receiver<String>,
    tail: ResultTail,
    stop_port: u16,
    (origin, started): (Instant, SystemTime),
) -> Result<RunningJmeter, JmeterError> {
    let origin_ms = started
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_millis() as u64);
    let (seconds_out, seconds) = sync_channel(SECONDS_MAX);
    let stop_port = Arc::new(AtomicU16::new(stop_port));
    let planned_end = launch.planned_end;
    let follower = Follower {
        gc: GcLog::new(&launch.gc_log(), origin_ms),
        launch,
        lines,
        tail,
        seconds: Seconds::new(origin_ms),
        out: seconds_out,
        origin,
        origin_ms,
        stop_port: Arc::clone(&stop_port),
        followed: Followed::default(),
    };
    let thread = thread::Builder::new()
        .name("weir-jmeter-rows".to_owned())
        .spawn(move || follower.run())
        .map_err(JmeterError::file("start a thread for", "JMeter"))?;
    Ok(RunningJmeter {
        process,
        seconds,
        follower: Some(thread),
        stop_port,
        planned_end,
    })
}

/// What following a test gave.
#[derive(Debug, Default)]
struct Followed {
    sums: Sums,
    unreadable: u64,
    ended: Option<Duration>,
    problem: Option<String>,
}

struct Follower {
    launch: Launch,
    lines: Receiver<String>,
    tail: ResultTail,
    gc: GcLog,
    seconds: Seconds,
    out: SyncSender<JmeterSecond>,
    origin: Instant,
    origin_ms: u64,
    stop_port: Arc<AtomicU16>,
    followed: Followed,
}

impl Follower {
    /// Follows until JMeter prints nothing more, or says that everything is written.
    fn run(mut self) -> Followed {
        let mut done = false;
        while !done {
            done = self.listen();
            self.read();
            let now = self.origin.elapsed();
            self.deliver(now.saturating_sub(ROW_PATIENCE).as_secs());
            if !done {
                thread::sleep(LOOK);
            }
        }
        let end = self.followed.ended.unwrap_or_else(|| self.origin.elapsed());
        // The second that had begun is delivered too; it is as long as the test was.
        self.deliver(end.as_millis().div_ceil(1_000) as u64);
        self.followed.sums = self.seconds.sums;
        self.followed.unreadable = self.tail.unreadable();
        if self.followed.problem.is_none() && self.followed.sums.rows == 0 {
            // JMeter says so in its log only, and its exit code is 0 all the same.
            self.followed.problem = log_error(&self.launch.log()).map(|says| {
                format!(
                    "{} gave no sample in JMeter: {says} (its log is {})",
                    self.launch.plan.display(),
                    self.launch.log().display()
                )
            });
        }
        self.followed
    }

    /// Takes what JMeter has printed; true when the test is over and everything is written.
    fn listen(&mut self) -> bool {
        loop {
            match self.lines.try_recv() {
                Ok(line) => {
                    self.launch.hear(&line);
                    match Said::of(&line) {
                        Some(Said::Listens(port)) => self.stop_port.store(port, Ordering::Relaxed),
                        Some(Said::Ended(at_ms)) => {
                            let after = at_ms.saturating_sub(self.origin_ms);
                            self.followed.ended = Some(Duration::from_millis(after));
                        }
                        Some(Said::Done) => {
                            self.stop_port.store(NOBODY, Ordering::Relaxed);
                            return true;
                        }
                        Some(Said::Begins(_)) | None => {}
                    }
                }
                Err(TryRecvError::Empty) => return false,
                Err(TryRecvError::Disconnected) => return true,
            }
        }
    }

    fn read(&mut self) {
        match self.tail.read() {
            Ok(rows) => {
                let now = (self.origin.elapsed() + CLOCK_SLACK).as_secs();
                for row in &rows {
                    self.seconds.add(row, now);
                }
            }
            Err(error) => {
                let path = self.launch.samples.display();
                let says = format!("failed to read {path}: {error}");
                self.followed.problem.get_or_insert(says);
            }
        }
        self.gc.read();
    }

    fn deliver(&mut self, until: u64) {
        while let Some(load) = self.seconds.next_before(until) {
            let own = self.gc.second(load.second);
            // A caller that has let go of its end wants no more seconds.
            if let Err(TrySendError::Full(_)) = self.out.try_send(JmeterSecond { load, own }) {
                self.followed.problem.get_or_insert(format!(
                    "failed to keep the seconds of the load: nobody took one for {SECONDS_MAX} seconds"
                ));
            }
        }
    }
}
