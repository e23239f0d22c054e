//! Requests made of events as the kernel tells them.

use super::*;

/// Threads of the server, and one that is not its own.
const POLLER: u32 = 10;
const WORKER: u32 = 11;
const OTHER: u32 = 99;
const SERVER: u32 = 9;
const IDLE: u32 = 0;
const SOCKET: u64 = 0xffff_8880_0000_0040;

/// A chain with the moment, in microseconds.
struct Story {
    chain: Chain,
    sent: u64,
}

impl Story {
    fn begin() -> Self {
        let mut chain = Chain::default();
        chain.begin_sample(0, 1_000_000_000);
        let mut story = Self { chain, sent: 0 };
        // Both threads were seen to go to sleep.
        story.switch(0, (POLLER, false), IDLE);
        story.switch(0, (WORKER, false), IDLE);
        story
    }

    fn tell(&mut self, at_us: u64, what: What) -> &mut Self {
        let context = Context {
            cpu: 0,
            thread: OTHER,
            softirq: matches!(what, What::Arrival { .. } | What::Waking { thread: POLLER }),
        };
        let event = Event {
            at_ns: at_us * 1000,
            context,
            what,
        };
        let servers = [SERVER, POLLER, WORKER];
        self.chain.take(event, |id| servers.contains(&id));
        self
    }

    /// Data of a new request.
    fn arrival(&mut self, at_us: u64) -> &mut Self {
        self.sent += 100;
        self.more_data(at_us)
    }

    /// Data before the server has sent anything more.
    fn more_data(&mut self, at_us: u64) -> &mut Self {
        let what = What::Arrival {
            socket: SOCKET,
            cookie: 1,
            sent: self.sent,
        };
        self.tell(at_us, what)
    }

    fn wake(&mut self, at_us: u64, thread: u32) -> &mut Self {
        self.tell(at_us, What::Waking { thread })
    }

    fn switch(&mut self, at_us: u64, (from, is_ready): (u32, bool), to: u32) -> &mut Self {
        self.tell(at_us, What::Switch { from, is_ready, to })
    }

    fn read(&mut self, at_us: u64, process: u32, thread: u32) -> &mut Self {
        let what = What::Read {
            socket: SOCKET,
            process,
            thread,
        };
        self.tell(at_us, what)
    }

    /// Microseconds until read, and waiting for a CPU, of each request.
    fn end(&mut self) -> (Vec<(u64, u64)>, usize) {
        let sample = self.chain.end_sample();
        let seen = sample.seen.iter();
        let seen = seen.map(|times| (times.until_read_ns / 1000, times.cpu_wait_ns / 1000));
        (seen.collect(), sample.unread)
    }
}

#[test]
fn poller_and_worker_both_wait_for_a_cpu() {
    let mut story = Story::begin();
    story
        .arrival(100)
        .wake(101, POLLER)
        .switch(141, (OTHER, true), POLLER)
        .wake(150, WORKER)
        .switch(160, (POLLER, false), OTHER)
        .switch(200, (OTHER, true), WORKER)
        .read(205, SERVER, WORKER);
    assert_eq!(story.end(), (vec![(105, 40 + 50)], 0));
}

#[test]
fn waiting_for_a_worker_that_is_busy_is_no_wait_for_a_cpu() {
    let mut story = Story::begin();
    story
        .wake(10, WORKER)
        .switch(20, (IDLE, true), WORKER)
        .arrival(100)
        .wake(101, POLLER)
        .switch(103, (IDLE, true), POLLER)
        .switch(110, (POLLER, false), IDLE)
        .read(900, SERVER, WORKER);
    assert_eq!(story.end(), (vec![(800, 2)], 0));
}

#[test]
fn a_thread_that_answers_by_itself_waits_whenever_it_has_no_cpu() {
    let mut story = Story::begin();
    story
        .arrival(100)
        .wake(101, POLLER)
        .switch(151, (OTHER, true), POLLER)
        .switch(160, (POLLER, true), OTHER)
        .switch(200, (OTHER, true), POLLER)
        .read(205, SERVER, POLLER);
    assert_eq!(story.end(), (vec![(105, 50 + 40)], 0));
}

#[test]
fn the_poller_is_known_when_it_is_not_woken_again() {
    let mut story = Story::begin();
    story
        .arrival(100)
        .wake(101, POLLER)
        .switch(103, (IDLE, true), POLLER)
        .read(105, SERVER, POLLER)
        // It loses its CPU, and the next request comes meanwhile.
        .switch(110, (POLLER, true), OTHER)
        .arrival(150)
        .switch(250, (OTHER, true), POLLER)
        .read(260, SERVER, POLLER);
    assert_eq!(story.end(), (vec![(5, 2), (110, 100)], 0));
}

#[test]
fn a_body_that_follows_is_no_request_of_its_own() {
    let mut story = Story::begin();
    story
        .arrival(100)
        .wake(101, POLLER)
        .switch(103, (IDLE, true), POLLER)
        .read(105, SERVER, POLLER)
        .more_data(110)
        .read(150, SERVER, POLLER);
    assert_eq!(story.end(), (vec![(5, 2)], 0));
}

#[test]
fn what_others_do_is_not_taken_for_the_servers() {
    let mut story = Story::begin();
    story
        .arrival(100)
        // Not in the same context: it has nothing to do with the arrival.
        .wake(101, OTHER)
        .wake(102, POLLER)
        .switch(140, (IDLE, true), POLLER)
        .read(150, OTHER, OTHER);
    assert_eq!(story.end(), (vec![], 1), "read by nobody of the server");
}

#[test]
fn between_samples_nothing_is_taken_and_nothing_stays() {
    let mut story = Story::begin();
    story.arrival(100);
    assert!(!story.chain.is_settled());
    assert_eq!(story.end(), (vec![], 1));
    story.arrival(200).read(300, SERVER, POLLER);
    assert!(story.chain.is_settled());
    assert_eq!(story.end(), (vec![], 0));
    story.chain.begin_sample(400_000, 500_000);
    story.arrival(600).read(700, SERVER, POLLER);
    assert_eq!(story.end(), (vec![], 0), "after the slice");
}

#[test]
fn a_connection_at_the_same_address_is_another_one() {
    let mut story = Story::begin();
    story.arrival(100);
    let sent = story.sent;
    let what = What::Arrival {
        socket: SOCKET,
        cookie: 2,
        sent,
    };
    story.tell(200, what).read(230, SERVER, POLLER);
    assert_eq!(story.end(), (vec![(30, 0)], 0));
}

#[test]
fn a_poller_of_which_nothing_was_heard_has_waited_since_the_arrival() {
    let mut chain = Chain::default();
    chain.begin_sample(0, 1_000_000_000);
    let mut story = Story { chain, sent: 0 };
    // Known as the poller from a sample before.
    story
        .arrival(100)
        .wake(101, POLLER)
        .switch(103, (IDLE, true), POLLER)
        .read(105, SERVER, POLLER);
    assert_eq!(story.end().0.len(), 1);
    story.chain.begin_sample(1_000_000, 2_000_000_000);
    story
        .arrival(1100)
        .switch(1400, (OTHER, true), POLLER)
        .read(1410, SERVER, WORKER);
    assert_eq!(story.end(), (vec![(310, 300)], 0));
}
