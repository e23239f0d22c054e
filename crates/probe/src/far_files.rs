//! The files of another machine, as one answer a second brings them.
//!
//! What a reading needs is nearly always what the one before needed. So at the start of a second
//! all of that is asked for in one question, other things are read meanwhile, and the readers find
//! the texts in the answer. What they need beyond it (a process that has just started) is asked for
//! at once, in one more question for all of it.
//!
//! The time of a reading is the other machine's own, from its `/proc/uptime`, which is read beside
//! the counters. Against the time of arrival here, every delay of the network would go into a rate:
//! 100 ms are 10 % of a second. The other machine's clock counts in 10 ms, 1 % of a second, and
//! that error does not add up over a window.

use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use weir_ssh::{Batch, BatchAnswer, Connection, Pending};

use crate::kernel_text::words;

/// What is read beside the counters.
const UPTIME: &str = "/proc/uptime";
/// How long the first reading may take, which has to ask for everything anew.
const FIRST: Duration = Duration::from_secs(3);
/// How long after it was lost a connection is tried again.
const REOPEN_AFTER: Duration = Duration::from_secs(5);

/// The files of a machine over a connection.
#[derive(Debug)]
pub(crate) struct FarFiles {
    connection: Connection,
    /// What the last reading needed.
    usual: Batch,
    /// What this one has needed so far.
    needed: Batch,
    asked: Option<Asked>,
    answer: BatchAnswer,
    /// What the answer was asked for.
    answered: Batch,
    /// Until when a question of this reading is answered.
    deadline: Instant,
    clock: FarClock,
    reopening: Option<JoinHandle<()>>,
    tried: Option<Instant>,
}

/// A question on its way.
#[derive(Debug)]
struct Asked {
    batch: Batch,
    pending: Pending,
    /// Whether it is that of this second.
    is_of_now: bool,
}

/// An answer that a reading can be made of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Arrival {
    /// The moment at which the texts were read, by the other machine's clock.
    pub(crate) moment: Instant,
    /// Whether it was asked for in this second; an older one only shows where the next starts.
    pub(crate) is_of_now: bool,
}

impl FarFiles {
    pub(crate) fn new(connection: Connection) -> Self {
        Self {
            connection,
            usual: Batch::new(),
            needed: Batch::new(),
            asked: None,
            answer: BatchAnswer::default(),
            answered: Batch::new(),
            deadline: Instant::now(),
            clock: FarClock::default(),
            reopening: None,
            tried: None,
        }
    }

    /// Whether nothing is known yet of what a reading needs.
    pub(crate) fn is_new(&self) -> bool {
        self.usual.is_empty()
    }

    /// Until when the first reading may take.
    pub(crate) fn first_deadline() -> Instant {
        Instant::now() + FIRST
    }

    /// Sends the question of this second. One that has not been answered yet is waited for instead.
    pub(crate) fn ask(&mut self) {
        if self.asked.is_some() {
            return;
        }
        let mut batch = self.usual.clone();
        batch.file(UPTIME);
        match self.connection.ask(&batch.script()) {
            Ok(pending) => {
                self.asked = Some(Asked {
                    batch,
                    pending,
                    is_of_now: true,
                });
            }
            Err(_) => self.reopen(),
        }
    }

    /// The answer that is there by a moment. The readers' questions are answered from it until
    /// [`finish`](Self::finish).
    pub(crate) fn arrive(&mut self, deadline: Instant) -> Option<Arrival> {
        let asked = self.asked.as_mut()?;
        let output = match asked.pending.answer(deadline) {
            Ok(output) => output,
            Err(weir_ssh::SshError::Late { .. }) => {
                asked.is_of_now = false;
                return None;
            }
            Err(_) => {
                self.asked = None;
                return None;
            }
        };
        let asked = self.asked.take()?;
        self.answer = asked.batch.answer(&output);
        self.answered = asked.batch;
        self.deadline = deadline;
        self.needed = Batch::new();
        let moment = self.clock.moment(self.answer.file(UPTIME)?)?;
        Some(Arrival {
            moment,
            is_of_now: asked.is_of_now,
        })
    }

    /// Whether an answer is outstanding that was asked for in an earlier second.
    pub(crate) fn is_behind(&self) -> bool {
        self.asked.as_ref().is_some_and(|asked| !asked.is_of_now)
    }

    /// Ends a reading: what it needed, the next one needs.
    pub(crate) fn finish(&mut self) {
        self.usual = std::mem::take(&mut self.needed);
    }

    /// The text of a file.
    pub(crate) fn text(&mut self, path: &str) -> Option<&[u8]> {
        self.prepare(std::iter::once(path.to_owned()));
        self.answer.file(path)
    }

    /// The text of a file that came with others.
    pub(crate) fn prepared(&self, path: &str) -> Option<&[u8]> {
        self.answer.file(path)
    }

    /// The lines of a table whose second column fits an expression of `awk`, and maybe others.
    pub(crate) fn table(&mut self, path: &str, second_column: &str) -> Option<&[u8]> {
        let mut batch = Batch::new();
        batch.lines(path, second_column);
        self.needed.lines(path, second_column);
        self.fetch(batch);
        self.answer.file(path)
    }

    /// Fetches those of these files that have not come.
    pub(crate) fn prepare(&mut self, paths: impl Iterator<Item = String>) {
        let mut batch = Batch::new();
        for path in paths {
            batch.file(path.clone());
            self.needed.file(path);
        }
        self.fetch(batch);
    }

    /// Fetches a file of every directory below these, unless they have come.
    pub(crate) fn prepare_each(&mut self, directories: impl Iterator<Item = String>, name: &str) {
        let mut batch = Batch::new();
        for directory in directories {
            batch.each(directory.clone(), name);
            self.needed.each(directory, name);
        }
        self.fetch(batch);
    }

    /// The entries of a directory whose names are numbers.
    pub(crate) fn numbered(&mut self, directory: &str) -> Vec<u32> {
        let mut batch = Batch::new();
        batch.numbers(directory);
        self.needed.numbers(directory);
        self.fetch(batch);
        let names = self.answer.numbers(directory).unwrap_or_default();
        names.iter().filter_map(|name| name.parse().ok()).collect()
    }

    /// Asks for what has not been asked for in this reading, and waits.
    fn fetch(&mut self, batch: Batch) {
        if batch.is_part_of(&self.answered) {
            return;
        }
        let Ok(pending) = self.connection.ask(&batch.script()) else {
            return;
        };
        // What comes too late is absent in this reading.
        if let Ok(output) = pending.answer(self.deadline) {
            self.answer.add(batch.answer(&output));
        }
        self.answered.add(batch);
    }

    /// Logs in again beside the watch, which goes on without.
    fn reopen(&mut self) {
        let is_trying = self.reopening.as_ref().is_some_and(|it| !it.is_finished());
        let has_just_tried = self.tried.is_some_and(|when| when.elapsed() < REOPEN_AFTER);
        if is_trying || has_just_tried {
            return;
        }
        self.tried = Some(Instant::now());
        let connection = self.connection.clone();
        // Whether it came to anything shows with the next question.
        let attempt = std::thread::Builder::new().spawn(move || {
            let _ = connection.reopen();
        });
        self.reopening = attempt.ok();
    }
}

/// The other machine's monotonic clock as instants of this one's.
#[derive(Debug, Default)]
struct FarClock {
    /// An instant here and the seconds there that it stands for; and the last seconds.
    anchor: Option<(Instant, f64, f64)>,
}

impl FarClock {
    /// The moment of a text of `/proc/uptime`. A machine that was started anew has a new clock.
    fn moment(&mut self, uptime: &[u8]) -> Option<Instant> {
        let seconds = words(uptime).next()?;
        let seconds: f64 = std::str::from_utf8(seconds).ok()?.parse().ok()?;
        let (start, from) = match self.anchor {
            Some((start, from, last)) if seconds >= last => (start, from),
            _ => (Instant::now(), seconds),
        };
        self.anchor = Some((start, from, seconds));
        Some(start + Duration::try_from_secs_f64(seconds - from).ok()?)
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn the_time_is_that_of_the_other_machine() {
        let mut clock = FarClock::default();
        let first = clock.moment(b"100.25 350.00\n").unwrap();
        let second = clock.moment(b"101.24 352.00\n").unwrap();
        let elapsed = second.duration_since(first).as_secs_f64();
        assert!((elapsed - 0.99).abs() < 1e-6, "{elapsed}");
        assert_eq!(clock.moment(b""), None);
        assert_eq!(clock.moment(b"x y\n"), None);
    }

    #[test]
    fn a_machine_that_was_started_anew_has_a_new_clock() {
        let mut clock = FarClock::default();
        let before = clock.moment(b"5000.00 1\n").unwrap();
        let after = clock.moment(b"12.00 1\n").unwrap();
        let later = clock.moment(b"13.50 1\n").unwrap();
        assert!(after >= before);
        let elapsed = later.duration_since(after).as_secs_f64();
        assert!((elapsed - 1.5).abs() < 1e-6, "{elapsed}");
    }
}
