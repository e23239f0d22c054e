//! What threads did during a sample: when they were ready and waited for a CPU, and who woke them.

use std::collections::HashMap;

/// From thread to thread at most, on the way back from one that was woken to the first that did so.
const HOPS_MAX: usize = 16;

/// Threads since the beginning of a sample.
#[derive(Debug, Default)]
pub(crate) struct Threads {
    begun_ns: u64,
    seen: HashMap<u32, Thread>,
}

/// What a thread has done since then.
#[derive(Debug)]
struct Thread {
    state: State,
    /// When it was ready and waited for a CPU, in the order of time.
    ready: Vec<Ready>,
    /// When it was woken, in the order of time.
    wakes: Vec<Wake>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing was heard of it yet.
    Unknown,
    Asleep,
    Ready {
        since_ns: u64,
    },
    Running,
}

#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_field_names, reason = "times bear their unit")]
struct Ready {
    from_ns: u64,
    to_ns: u64,
    /// How long it was ready before, in all.
    before_ns: u64,
}

#[derive(Debug, Clone, Copy)]
struct Wake {
    at_ns: u64,
    /// The thread that did it; `None`: an interrupt, such as a packet that came in.
    by: Option<u32>,
}

impl Threads {
    /// Forgets everything: nothing was heard of threads between two samples.
    pub(crate) fn begin(&mut self, now_ns: u64) {
        self.begun_ns = now_ns;
        self.seen.clear();
    }

    /// A thread is made ready. One that runs already goes on.
    pub(crate) fn wake(&mut self, thread: u32, by: Option<u32>, now_ns: u64) {
        let thread = self.thread(thread);
        if matches!(thread.state, State::Unknown | State::Asleep) {
            thread.state = State::Ready { since_ns: now_ns };
            thread.wakes.push(Wake { at_ns: now_ns, by });
        }
    }

    /// A CPU goes from one thread to another.
    pub(crate) fn switch(&mut self, (from, is_ready): (u32, bool), to: u32, now_ns: u64) {
        let begun_ns = self.begun_ns;
        self.thread(from).state = if is_ready {
            State::Ready { since_ns: now_ns }
        } else {
            State::Asleep
        };
        let to = self.thread(to);
        match to.state {
            State::Ready { since_ns } => to.was_ready(since_ns, now_ns),
            // One of which nothing was heard and that runs now was made ready before the sample.
            State::Unknown => to.was_ready(begun_ns, now_ns),
            State::Asleep | State::Running => {}
        }
        to.state = State::Running;
    }

    /// How long, between two moments, the work that a thread did in the end stood still for want of
    /// a CPU: the time in which the thread was ready since it was woken last, then the same of
    /// the thread that woke it, and so on, back to the first moment or to an interrupt.
    pub(crate) fn stood_still_ns(&self, thread: u32, (from_ns, to_ns): (u64, u64)) -> u64 {
        let (mut thread, mut until_ns, mut sum_ns) = (thread, to_ns, 0);
        for _ in 0..HOPS_MAX {
            let Some(seen) = self.seen.get(&thread) else {
                break;
            };
            let wake = seen.last_wake(until_ns).filter(|wake| wake.at_ns > from_ns);
            let since_ns = wake.map_or(from_ns, |wake| wake.at_ns);
            sum_ns += seen.ready_ns(until_ns) - seen.ready_ns(since_ns);
            let Some(by) = wake.and_then(|wake| wake.by) else {
                break;
            };
            (thread, until_ns) = (by, since_ns);
        }
        sum_ns
    }

    fn thread(&mut self, thread: u32) -> &mut Thread {
        self.seen.entry(thread).or_insert_with(|| Thread {
            state: State::Unknown,
            ready: Vec::new(),
            wakes: Vec::new(),
        })
    }
}

impl Thread {
    fn was_ready(&mut self, from_ns: u64, to_ns: u64) {
        let last = self.ready.last();
        let before_ns = last.map_or(0, |last| last.before_ns + (last.to_ns - last.from_ns));
        self.ready.push(Ready {
            from_ns,
            to_ns: to_ns.max(from_ns),
            before_ns,
        });
    }

    /// How long it was ready until a moment, in all.
    fn ready_ns(&self, until_ns: u64) -> u64 {
        let begun = self.ready.partition_point(|ready| ready.from_ns < until_ns);
        let told = begun.checked_sub(1).map_or(0, |last| {
            let last = self.ready[last];
            last.before_ns + (last.to_ns.min(until_ns) - last.from_ns)
        });
        let still = match self.state {
            State::Ready { since_ns } => until_ns.saturating_sub(since_ns),
            State::Unknown | State::Asleep | State::Running => 0,
        };
        told + still
    }

    fn last_wake(&self, until_ns: u64) -> Option<Wake> {
        let woken = self.wakes.partition_point(|wake| wake.at_ns <= until_ns);
        self.wakes[..woken].last().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Threads of which it is known that 7 and 8 sleep.
    fn asleep() -> Threads {
        let mut threads = Threads::default();
        threads.begin(0);
        threads.switch((7, false), 0, 5);
        threads.switch((8, false), 0, 5);
        threads
    }

    #[test]
    fn a_thread_waits_from_its_waking_until_it_runs() {
        let mut threads = asleep();
        threads.wake(7, None, 100);
        threads.switch((0, true), 7, 150);
        assert_eq!(threads.stood_still_ns(7, (90, 400)), 50);
        assert_eq!(
            threads.stood_still_ns(7, (120, 400)),
            30,
            "it was woken before"
        );
        assert_eq!(threads.stood_still_ns(7, (150, 400)), 0);
    }

    #[test]
    fn one_that_loses_its_cpu_waits_too() {
        let mut threads = asleep();
        threads.wake(7, None, 100);
        threads.switch((0, true), 7, 110);
        threads.switch((7, true), 8, 200);
        threads.switch((8, false), 7, 260);
        assert_eq!(threads.stood_still_ns(7, (50, 300)), 70);
        threads.switch((7, true), 8, 400);
        assert_eq!(threads.stood_still_ns(7, (50, 450)), 120, "and still does");
    }

    #[test]
    fn who_is_woken_has_waited_for_who_woke_it() {
        let mut threads = asleep();
        threads.wake(7, None, 100);
        threads.switch((0, true), 7, 140);
        threads.wake(8, Some(7), 160);
        threads.switch((7, false), 8, 165);
        assert_eq!(threads.stood_still_ns(8, (90, 200)), 5 + 40);
        // What 7 did before the moment in question has nothing to do with it.
        assert_eq!(threads.stood_still_ns(8, (150, 200)), 5);
    }

    #[test]
    fn waking_one_that_runs_is_no_wait() {
        let mut threads = asleep();
        threads.switch((0, true), 7, 10);
        threads.wake(7, Some(8), 20);
        threads.switch((7, false), 0, 500);
        assert_eq!(threads.stood_still_ns(7, (0, 600)), 0);
    }

    #[test]
    fn one_that_was_ready_before_the_sample_has_waited_since_it_began() {
        let mut threads = Threads::default();
        threads.begin(1000);
        threads.switch((8, false), 7, 1300);
        assert_eq!(threads.stood_still_ns(7, (1000, 2000)), 300);
        assert_eq!(threads.stood_still_ns(9, (1000, 2000)), 0, "never seen");
        threads.begin(5000);
        assert_eq!(threads.stood_still_ns(7, (1000, 6000)), 0);
    }
}
