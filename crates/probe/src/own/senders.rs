//! The threads that send the load, and how long they waited for a CPU.
//!
//! An answer that has come counts when the thread that asked has read it: what that thread waits
//! for its CPU is in the response time, and is not the server's.

use std::collections::HashSet;
use std::time::Instant;

use crate::files::Files;
use crate::reading::{Reading, put};
use crate::target::groups::name;
use crate::target::rotation::Rotation;
use crate::target::threads::scheduled;

/// Most threads that are read: more than a machine has CPUs.
const MOST: usize = 1024;

/// Threads of this process that are called alike.
#[derive(Debug)]
pub(super) struct Senders {
    /// What they are called without their number.
    called: &'static str,
    waits: Rotation<3>,
    last: Option<Instant>,
}

impl Senders {
    pub(super) fn new(called: &'static str) -> Self {
        Self {
            called,
            waits: Rotation::new("schedstat", MOST, scheduled),
            last: None,
        }
    }

    pub(super) fn sample(&mut self, now: Instant, files: &mut Files, reading: &mut Reading) {
        let pid = std::process::id();
        let senders = self.list(pid, files);
        self.waits
            .set_threads(pid, &senders, self.last.replace(now));
        let Some(summed) = self.waits.sample(now, senders.len() as u64, files) else {
            return;
        };
        let [_, waited_ns, slices] = summed.per_s;
        put(reading, "load.run-queue-wait", Some(waited_ns / 1e9));
        put(reading, "load.time-slices", Some(slices));
    }

    /// A thread that has just started has its name a moment later, so that all are asked each time.
    fn list(&self, pid: u32, files: &mut Files) -> HashSet<u32> {
        let threads = files.numbered(&format!("/proc/{pid}/task"));
        let is_one = |tid: &u32, files: &mut Files| {
            name((pid, *tid), files.scratch()).is_some_and(|name| name == self.called)
        };
        threads
            .into_iter()
            .filter(|tid| is_one(tid, files))
            .collect()
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;
    use std::time::Duration;

    #[test]
    fn only_threads_of_that_name_are_read() {
        let mut files = Files::here();
        let mut senders = Senders::new("own-senders");
        let start = Instant::now();
        let mut reading = Reading::new();
        senders.sample(start, &mut files, &mut reading);
        assert!(reading.is_empty(), "nobody sends: {reading:?}");
        let (ready_in, ready) = channel();
        let started: Vec<_> = ["own-senders-0", "own-senders-1", "own-senders-sum"]
            .map(|name| {
                let (end, ended) = channel::<()>();
                let ready = ready_in.clone();
                let named = std::thread::Builder::new().name(name.to_owned());
                let thread = named.spawn(move || {
                    // Put on a CPU more than once, whatever the kernel makes of the first time.
                    for _ in 0..2 {
                        std::thread::sleep(Duration::from_millis(1));
                    }
                    ready.send(()).unwrap();
                    ended.recv().unwrap_err();
                });
                (thread.unwrap(), end)
            })
            .into();
        for _ in &started {
            ready.recv().unwrap();
        }
        let second = start + Duration::from_secs(1);
        senders.sample(second, &mut files, &mut reading);
        assert_eq!(senders.list(std::process::id(), &mut files).len(), 2);
        assert!(reading["load.time-slices"] >= 2.0, "{reading:?}");
        assert!(reading.contains_key("load.run-queue-wait"));
        for (thread, end) in started {
            drop(end);
            thread.join().unwrap();
        }
        let mut after = Reading::new();
        senders.sample(second + Duration::from_secs(1), &mut files, &mut after);
        assert!(after.is_empty(), "they have ended: {after:?}");
    }
}
