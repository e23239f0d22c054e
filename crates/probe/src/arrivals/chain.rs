//! From the arrival of a request on its connection to the thread that reads it.
//!
//! Several threads can take part. In Tomcat with its NIO connector the thread that answered the
//! last request on the connection gives it back to the poller; the poller finds data on it and
//! hands it to a worker; the worker reads. An event loop does all of that by itself, and where
//! connections have threads of their own the arrival wakes the reader. What is told for a request
//! holds for all of them:
//!
//! * the time from the arrival until a thread of the server has taken the first of its data,
//!   whatever it was spent on;
//! * the part of it in which the work stood still for want of a CPU: the thread that reads was
//!   ready and did not run, or, until that one was woken, the thread that woke it, and so on back
//!   to the arrival. At each moment one thread counts. What is left is work of these threads, also
//!   on other requests: there a request waits for a thread.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use super::ArrivalTimes;
use super::event::{Event, What};
use super::threads::Threads;

/// Connections that are remembered at most. When there are more, those are forgotten on which
/// nothing waits.
const CONNECTIONS_MAX: usize = 65_536;

/// Follows requests from event to event.
#[derive(Debug, Default)]
pub(crate) struct Chain {
    threads: Threads,
    /// By the address in the kernel.
    connections: HashMap<u64, Connection>,
    /// From when until when arrivals are taken; `None` between samples. Those that came before may
    /// have been read before: that was not traced.
    taking_ns: Option<RangeInclusive<u64>>,
    pending: usize,
    seen: Vec<ArrivalTimes>,
}

#[derive(Debug)]
struct Connection {
    cookie: u64,
    /// How far the server had sent when data came last.
    sent: u64,
    /// When a request has arrived that was not read yet.
    arrived_ns: Option<u64>,
}

/// What a sample has seen.
#[derive(Debug, Default)]
pub(crate) struct Sample {
    pub(crate) seen: Vec<ArrivalTimes>,
    /// Requests that no thread had read when the sample ended.
    pub(crate) unread: usize,
}

impl Chain {
    /// Begins a sample of requests that arrive until a moment.
    pub(crate) fn begin_sample(&mut self, now_ns: u64, until_ns: u64) {
        self.threads.begin(now_ns);
        self.taking_ns = Some(now_ns..=until_ns);
    }

    /// Whether every request of the sample was read so far.
    pub(crate) fn is_settled(&self) -> bool {
        self.pending == 0
    }

    /// Ends the sample.
    pub(crate) fn end_sample(&mut self) -> Sample {
        let unread = std::mem::take(&mut self.pending);
        for connection in self.connections.values_mut() {
            connection.arrived_ns = None;
        }
        self.taking_ns = None;
        Sample {
            seen: std::mem::take(&mut self.seen),
            unread,
        }
    }

    /// Takes what happened next. `is_targets` tells whether a process is the server's.
    pub(crate) fn take(&mut self, event: Event, is_targets: impl FnOnce(u32) -> bool) {
        let now_ns = event.at_ns;
        match event.what {
            What::Arrival {
                socket,
                cookie,
                sent,
            } => self.arrived(now_ns, socket, (cookie, sent)),
            What::Waking { thread, by } => self.threads.wake(thread, by, now_ns),
            What::Switch { from, is_ready, to } => {
                self.threads.switch((from, is_ready), to, now_ns);
            }
            What::Read {
                socket,
                process,
                thread,
            } => {
                if self.has_request(socket) && is_targets(process) {
                    self.read(socket, thread, now_ns);
                }
            }
        }
    }

    fn arrived(&mut self, now_ns: u64, socket: u64, (cookie, sent): (u64, u64)) {
        let before = self.connections.get(&socket);
        let before = before.filter(|connection| connection.cookie == cookie);
        // Data before the server has sent anything again belong to the request that is there.
        let begins = before.is_none_or(|connection| connection.sent != sent);
        let taking_ns = self.taking_ns.as_ref();
        let is_taken = taking_ns.is_some_and(|taking_ns| taking_ns.contains(&now_ns));
        let unread_ns = before.and_then(|connection| connection.arrived_ns);
        let arrived_ns = unread_ns.or((begins && is_taken).then_some(now_ns));
        self.make_room();
        let connection = Connection {
            cookie,
            sent,
            arrived_ns,
        };
        let replaced = self.connections.insert(socket, connection);
        self.pending += usize::from(arrived_ns.is_some());
        // The request that was there goes on waiting, or its client has left before anybody read
        // it.
        let had = replaced.is_some_and(|connection| connection.arrived_ns.is_some());
        self.pending -= usize::from(had);
    }

    fn make_room(&mut self) {
        if self.connections.len() >= CONNECTIONS_MAX {
            self.connections
                .retain(|_, connection| connection.arrived_ns.is_some());
        }
    }

    fn has_request(&self, socket: u64) -> bool {
        let connection = self.connections.get(&socket);
        connection.is_some_and(|connection| connection.arrived_ns.is_some())
    }

    fn read(&mut self, socket: u64, reader: u32, now_ns: u64) {
        let connection = self.connections.get_mut(&socket);
        let Some(arrived_ns) = connection.and_then(|connection| connection.arrived_ns.take())
        else {
            return;
        };
        self.pending -= 1;
        let until_read_ns = now_ns.saturating_sub(arrived_ns);
        let waited_ns = self.threads.stood_still_ns(reader, (arrived_ns, now_ns));
        self.seen.push(ArrivalTimes {
            until_read_ns,
            cpu_wait_ns: waited_ns.min(until_read_ns),
        });
    }
}

#[cfg(test)]
mod tests;
