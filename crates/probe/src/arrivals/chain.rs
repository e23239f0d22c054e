//! From the arrival of a request on its connection to the thread that reads it.
//!
//! Two threads can take part. The *poller* is the one that an arrival wakes: it waits for data on connections. The
//! *reader* takes the data from the connection. Where connections have threads of their own, or an event loop answers
//! by itself, they are one; where a poller hands requests to a pool of workers, they are two. What is told for a
//! request:
//!
//! * the time from the arrival until the reader has taken the first of its data, whatever it was spent on;
//! * the part of it in which one of the two was ready and waited for a CPU: the poller from the arrival until it ran,
//!   and the reader, when it was woken after the arrival, from then on. What is left is work of the poller and, above
//!   all, waiting for a reader that is free.

use std::collections::HashMap;

use super::ArrivalTimes;
use super::event::{Context, Event, What};
use super::threads::Threads;

/// Who an arrival wakes is woken within this time, in the same context.
const WAKES_WITHIN_NS: u64 = 100_000;
/// Connections that are remembered at most. When there are more, those are forgotten on which nothing waits.
const CONNECTIONS_MAX: usize = 65_536;

/// Follows requests from event to event.
#[derive(Debug, Default)]
pub(crate) struct Chain {
    threads: Threads,
    connections: HashMap<u64, Connection>,
    /// Connections with a request that waits for its poller to run, by poller.
    unpolled: HashMap<u32, Vec<u64>>,
    /// The last arrival on each CPU that may still wake somebody.
    waking: HashMap<usize, Arrived>,
    /// Until when arrivals are taken; `None` between samples.
    taking_until_ns: Option<u64>,
    pending: usize,
    seen: Vec<ArrivalTimes>,
}

#[derive(Debug)]
struct Arrived {
    at_ns: u64,
    context: Context,
    socket: u64,
}

#[derive(Debug)]
struct Connection {
    cookie: u64,
    /// How far the server had sent when data came last.
    sent: u64,
    poller: Option<u32>,
    request: Option<Request>,
}

/// A request that has arrived and was not read.
#[derive(Debug)]
struct Request {
    at_ns: u64,
    /// How long the poller had waited for a CPU, in all, when the request came.
    waited_before_ns: u64,
    /// How long the poller has waited until it ran.
    polled_after_ns: Option<u64>,
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
        self.unpolled.clear();
        self.waking.clear();
        self.taking_until_ns = Some(until_ns);
    }

    /// Whether every request of the sample was read so far.
    pub(crate) fn is_settled(&self) -> bool {
        self.pending == 0
    }

    /// Ends the sample.
    pub(crate) fn end_sample(&mut self) -> Sample {
        let unread = std::mem::take(&mut self.pending);
        for connection in self.connections.values_mut() {
            connection.request = None;
        }
        self.taking_until_ns = None;
        Sample {
            seen: std::mem::take(&mut self.seen),
            unread,
        }
    }

    /// Takes what happened next. `is_targets` tells whether a process or thread is the server's.
    pub(crate) fn take(&mut self, event: Event, mut is_targets: impl FnMut(u32) -> bool) {
        match event.what {
            What::Arrival {
                socket,
                cookie,
                sent,
            } => self.arrived(event, socket, (cookie, sent)),
            What::Waking { thread } => {
                let asleep = !self.threads.is_running(thread);
                self.threads.wake(thread, event.at_ns);
                if let Some(socket) = self.woken_by(event)
                    && asleep
                    && is_targets(thread)
                {
                    self.polls(thread, socket);
                }
            }
            What::Switch { from, is_ready, to } => {
                // It ran all along.
                if self.threads.is_unknown(from) {
                    self.runs(from, event.at_ns);
                }
                self.threads.switch((from, is_ready), to, event.at_ns);
                self.runs(to, event.at_ns);
            }
            What::Read {
                socket,
                process,
                thread,
            } => {
                if self.has_request(socket) && is_targets(process) {
                    self.read(socket, thread, event.at_ns);
                }
            }
        }
    }

    fn arrived(&mut self, event: Event, socket: u64, (cookie, sent): (u64, u64)) {
        let is_known = self
            .connections
            .get(&socket)
            .is_some_and(|connection| connection.cookie == cookie);
        if !is_known {
            self.connect(socket, cookie);
        }
        let Some(connection) = self.connections.get_mut(&socket) else {
            return;
        };
        // Data before the server has sent anything again belong to the request that is there.
        let begins = !is_known || connection.sent != sent;
        connection.sent = sent;
        let taken = self
            .taking_until_ns
            .is_some_and(|until_ns| event.at_ns <= until_ns);
        if !taken || !begins || connection.request.is_some() {
            return;
        }
        connection.request = Some(Request {
            at_ns: event.at_ns,
            waited_before_ns: 0,
            polled_after_ns: None,
        });
        self.pending += 1;
        if let Some(poller) = connection.poller {
            self.polls(poller, socket);
        }
        let arrived = Arrived {
            at_ns: event.at_ns,
            context: event.context,
            socket,
        };
        self.waking.insert(event.context.cpu, arrived);
    }

    fn connect(&mut self, socket: u64, cookie: u64) {
        if self.connections.len() >= CONNECTIONS_MAX {
            self.connections
                .retain(|_, connection| connection.request.is_some());
        }
        let connection = Connection {
            cookie,
            sent: 0,
            poller: None,
            request: None,
        };
        let before = self.connections.insert(socket, connection);
        if before.is_some_and(|before| before.request.is_some()) {
            // Its client has left before anybody read what it sent.
            self.pending -= 1;
        }
    }

    /// The connection whose arrival woke a thread, when it was one.
    fn woken_by(&mut self, event: Event) -> Option<u64> {
        let arrived = self.waking.remove(&event.context.cpu)?;
        let is_of_it = arrived.context == event.context
            && event.at_ns.saturating_sub(arrived.at_ns) <= WAKES_WITHIN_NS;
        is_of_it.then_some(arrived.socket)
    }

    /// A thread is the one that waits for data on a connection.
    fn polls(&mut self, thread: u32, socket: u64) {
        let Some(connection) = self.connections.get_mut(&socket) else {
            return;
        };
        connection.poller = Some(thread);
        if let Some(request) = &mut connection.request {
            request.waited_before_ns = self.threads.waited_ns(thread, request.at_ns);
            if self.threads.is_running(thread) {
                request.polled_after_ns = Some(0);
            } else {
                let unpolled = self.unpolled.entry(thread).or_default();
                if !unpolled.contains(&socket) {
                    unpolled.push(socket);
                }
            }
        }
    }

    /// A thread runs: requests that waited for it as their poller wait for it no longer.
    fn runs(&mut self, thread: u32, now_ns: u64) {
        let Some(sockets) = self.unpolled.remove(&thread) else {
            return;
        };
        let waited_ns = self.threads.waited_ns(thread, now_ns);
        for socket in sockets {
            let Some(connection) = self.connections.get_mut(&socket) else {
                continue;
            };
            if let Some(request) = &mut connection.request
                && connection.poller == Some(thread)
                && request.polled_after_ns.is_none()
            {
                let waited_ns = waited_ns.saturating_sub(request.waited_before_ns);
                let since_ns = now_ns.saturating_sub(request.at_ns);
                request.polled_after_ns = Some(waited_ns.min(since_ns));
            }
        }
    }

    fn has_request(&self, socket: u64) -> bool {
        let connection = self.connections.get(&socket);
        connection.is_some_and(|connection| connection.request.is_some())
    }

    fn read(&mut self, socket: u64, reader: u32, now_ns: u64) {
        let Some(connection) = self.connections.get_mut(&socket) else {
            return;
        };
        let Some(request) = connection.request.take() else {
            return;
        };
        self.pending -= 1;
        let until_read_ns = now_ns.saturating_sub(request.at_ns);
        let waited_ns = if connection.poller == Some(reader) {
            let waited_ns = self.threads.waited_ns(reader, now_ns);
            waited_ns.saturating_sub(request.waited_before_ns)
        } else {
            let reader_ns = self
                .threads
                .waited_since_woken_ns(reader, request.at_ns, now_ns);
            request.polled_after_ns.unwrap_or(0) + reader_ns
        };
        self.seen.push(ArrivalTimes {
            until_read_ns,
            cpu_wait_ns: waited_ns.min(until_read_ns),
        });
    }
}

#[cfg(test)]
mod tests;
