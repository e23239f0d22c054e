//! Requests made of events as the kernel tells them.

use super::*;

/// Threads of the server, and one that is not its own.
const POLLER: u32 = 10;
const WORKER: u32 = 11;
const OTHER: u32 = 99;
const SERVER: u32 = 9;
const IDLE: u32 = 0;
const SOCKET: u64 = 0xffff_8880_0000_0040;

/// A chain that is told what happens, at times in microseconds.
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
        let at_ns = at_us * 1000;
        self.chain.take(Event { at_ns, what }, |id| id == SERVER);
        self
    }

    /// Data of a new request.
    fn arrival(&mut self, at_us: u64) -> &mut Self {
        self.sent += 100;
        self.more_data(at_us, 1)
    }

    /// Data before the server has sent anything more, on a connection by its cookie.
    fn more_data(&mut self, at_us: u64, cookie: u64) -> &mut Self {
        let sent = self.sent;
        let socket = SOCKET;
        self.tell(
            at_us,
            What::Arrival {
                socket,
                cookie,
                sent,
            },
        )
    }

    fn wake(&mut self, at_us: u64, thread: u32, by: Option<u32>) -> &mut Self {
        self.tell(at_us, What::Waking { thread, by })
    }

    fn switch(&mut self, at_us: u64, (from, is_ready): (u32, bool), to: u32) -> &mut Self {
        self.tell(at_us, What::Switch { from, is_ready, to })
    }

    fn read(&mut self, at_us: u64, process: u32, thread: u32) -> &mut Self {
        let socket = SOCKET;
        self.tell(
            at_us,
            What::Read {
                socket,
                process,
                thread,
            },
        )
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
        .wake(101, POLLER, None)
        .switch(141, (OTHER, true), POLLER)
        .wake(150, WORKER, Some(POLLER))
        .switch(160, (POLLER, false), OTHER)
        .switch(200, (OTHER, true), WORKER)
        .read(205, SERVER, WORKER);
    assert_eq!(story.end(), (vec![(105, 40 + 50)], 0));
}

#[test]
fn a_connection_that_is_given_back_late_waits_for_who_has_it() {
    let mut story = Story::begin();
    // The thread that has answered loses its CPU before it gives the connection back to the poller.
    let answering = 12;
    story
        .switch(50, (IDLE, true), answering)
        .switch(90, (answering, true), OTHER)
        .arrival(100)
        .switch(130, (OTHER, true), answering)
        .wake(135, POLLER, Some(answering))
        .switch(140, (answering, false), POLLER)
        .wake(145, WORKER, Some(POLLER))
        .switch(150, (POLLER, false), WORKER)
        .read(155, SERVER, WORKER);
    assert_eq!(story.end(), (vec![(55, 30 + 5 + 5)], 0));
}

#[test]
fn waiting_for_a_worker_that_is_busy_is_no_wait_for_a_cpu() {
    let mut story = Story::begin();
    story
        .wake(10, WORKER, Some(POLLER))
        .switch(20, (IDLE, true), WORKER)
        .arrival(100)
        .wake(101, POLLER, None)
        .switch(103, (IDLE, true), POLLER)
        .switch(110, (POLLER, false), IDLE)
        .read(900, SERVER, WORKER);
    assert_eq!(story.end(), (vec![(800, 0)], 0));
}

#[test]
fn a_thread_that_answers_by_itself_waits_whenever_it_has_no_cpu() {
    let mut story = Story::begin();
    story
        .arrival(100)
        .wake(101, POLLER, None)
        .switch(151, (OTHER, true), POLLER)
        .switch(160, (POLLER, true), OTHER)
        .switch(200, (OTHER, true), POLLER)
        .read(205, SERVER, POLLER)
        // It loses its CPU, and the next request comes meanwhile.
        .switch(210, (POLLER, true), OTHER)
        .arrival(250)
        .switch(350, (OTHER, true), POLLER)
        .read(360, SERVER, POLLER);
    assert_eq!(story.end(), (vec![(105, 50 + 40), (110, 100)], 0));
}

#[test]
fn a_body_that_follows_is_no_request_of_its_own() {
    let mut story = Story::begin();
    story
        .arrival(100)
        .more_data(102, 1)
        .wake(103, POLLER, None)
        .switch(105, (IDLE, true), POLLER)
        .read(107, SERVER, POLLER)
        .more_data(110, 1)
        .read(150, SERVER, POLLER);
    assert_eq!(story.end(), (vec![(7, 2)], 0));
}

#[test]
fn what_others_read_is_not_taken_for_the_servers() {
    let mut story = Story::begin();
    story.arrival(100).read(150, OTHER, OTHER);
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
    story.chain.begin_sample(800_000, 900_000);
    // Told late: it came before the slice, and its reading was not traced.
    story.arrival(799).arrival(810).read(850, SERVER, POLLER);
    assert_eq!(story.end(), (vec![(40, 0)], 0), "before the slice");
}

#[test]
fn a_connection_at_the_same_address_is_another_one() {
    let mut story = Story::begin();
    story
        .arrival(100)
        .more_data(200, 2)
        .read(230, SERVER, POLLER);
    assert!(story.chain.is_settled());
    assert_eq!(story.end(), (vec![(30, 0)], 0));
}
