//! Which threads run, sleep, or are ready and wait for a CPU, as far as a sample has seen it.

use std::collections::HashMap;

/// Threads since the beginning of a sample.
#[derive(Debug, Default)]
pub(crate) struct Threads {
    begun_ns: u64,
    seen: HashMap<u32, Thread>,
}

/// What a thread has done since then.
#[derive(Debug, Clone, Copy)]
struct Thread {
    state: State,
    /// How long it was ready and waited for a CPU, up to its last change.
    waited_ns: u64,
    /// When it was woken last, and how long it had waited until then.
    woken: Option<(u64, u64)>,
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

impl Threads {
    /// Forgets everything: nothing was heard of threads between two samples.
    pub(crate) fn begin(&mut self, now_ns: u64) {
        self.begun_ns = now_ns;
        self.seen.clear();
    }

    /// A thread is made ready. One that runs already goes on.
    pub(crate) fn wake(&mut self, thread: u32, now_ns: u64) {
        let thread = self.thread(thread);
        if matches!(thread.state, State::Unknown | State::Asleep) {
            thread.state = State::Ready { since_ns: now_ns };
            thread.woken = Some((now_ns, thread.waited_ns));
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
        // One of which nothing was heard and that runs now was made ready before the sample.
        let since_ns = match to.state {
            State::Ready { since_ns } => since_ns,
            State::Unknown => begun_ns,
            State::Asleep | State::Running => now_ns,
        };
        to.waited_ns += now_ns.saturating_sub(since_ns);
        to.state = State::Running;
    }

    /// How long a thread has waited for a CPU until now.
    pub(crate) fn waited_ns(&self, thread: u32, now_ns: u64) -> u64 {
        let Some(thread) = self.seen.get(&thread) else {
            return 0;
        };
        let waits = match thread.state {
            State::Ready { since_ns } => now_ns.saturating_sub(since_ns),
            State::Unknown | State::Asleep | State::Running => 0,
        };
        thread.waited_ns + waits
    }

    /// How long it has waited for a CPU since it was woken last; 0 when that was before a moment.
    pub(crate) fn waited_since_woken_ns(&self, thread: u32, from_ns: u64, now_ns: u64) -> u64 {
        let woken = self.seen.get(&thread).and_then(|thread| thread.woken);
        woken
            .filter(|(at_ns, _)| *at_ns >= from_ns)
            .map_or(0, |(_, before_ns)| {
                self.waited_ns(thread, now_ns).saturating_sub(before_ns)
            })
    }

    /// Whether it is known to run.
    pub(crate) fn is_running(&self, thread: u32) -> bool {
        let seen = self.seen.get(&thread);
        seen.is_some_and(|thread| thread.state == State::Running)
    }

    /// Whether nothing was heard of it yet.
    pub(crate) fn is_unknown(&self, thread: u32) -> bool {
        let seen = self.seen.get(&thread);
        seen.is_none_or(|thread| thread.state == State::Unknown)
    }

    fn thread(&mut self, thread: u32) -> &mut Thread {
        self.seen.entry(thread).or_insert(Thread {
            state: State::Unknown,
            waited_ns: 0,
            woken: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_waits_from_its_waking_until_it_runs() {
        let mut threads = Threads::default();
        threads.begin(0);
        threads.switch((7, false), 0, 10);
        threads.wake(7, 100);
        assert_eq!(threads.waited_ns(7, 130), 30);
        threads.switch((0, true), 7, 150);
        assert_eq!(threads.waited_ns(7, 400), 50);
        assert_eq!(threads.waited_since_woken_ns(7, 100, 400), 50);
        assert_eq!(
            threads.waited_since_woken_ns(7, 101, 400),
            0,
            "woken before"
        );
    }

    #[test]
    fn one_that_loses_its_cpu_waits_too() {
        let mut threads = Threads::default();
        threads.begin(0);
        threads.wake(7, 100);
        threads.switch((0, true), 7, 110);
        threads.switch((7, true), 8, 200);
        threads.switch((8, false), 7, 260);
        assert_eq!(threads.waited_since_woken_ns(7, 50, 300), 70);
        assert!(threads.is_running(7) && !threads.is_running(8));
    }

    #[test]
    fn waking_one_that_runs_is_no_wait() {
        let mut threads = Threads::default();
        threads.begin(0);
        threads.switch((7, false), 0, 5);
        threads.switch((0, true), 7, 10);
        threads.wake(7, 20);
        threads.switch((7, false), 0, 500);
        assert_eq!(threads.waited_ns(7, 600), 0);
    }

    #[test]
    fn one_that_was_ready_before_the_sample_has_waited_since_it_began() {
        let mut threads = Threads::default();
        threads.begin(1000);
        assert!(threads.is_unknown(7));
        threads.switch((8, false), 7, 1300);
        assert_eq!(threads.waited_ns(7, 2000), 300);
        threads.begin(5000);
        assert!(threads.is_unknown(7));
    }
}
