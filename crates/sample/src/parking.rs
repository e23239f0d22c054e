//! Connections that wait for a request: new ones, and kept-alive ones between two requests.
//!
//! One thread watches them all with epoll, so that a connection without a request costs no worker.
//! Each is armed for a single event; the worker that has answered parks it again.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use rustix::buffer::spare_capacity;
use rustix::event::{EventfdFlags, Timespec, epoll, eventfd};

use crate::connection::Connection;

/// Events taken from the kernel at a time.
const BATCH: usize = 256;
/// The token of the event that ends the watch.
const STOP: u64 = u64::MAX;

/// The parked connections.
pub(crate) struct Parking {
    epoll: OwnedFd,
    stop: OwnedFd,
    parked: Mutex<Parked>,
    timeout: Duration,
}

struct Parked {
    next_token: u64,
    /// By token. Tokens grow with the time of parking and all have the same time-out, so the first
    /// is the oldest.
    connections: BTreeMap<u64, (Connection, Instant)>,
    stopping: bool,
}

impl Parking {
    pub(crate) fn new(timeout: Duration) -> io::Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let stop = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        epoll::add(
            &epoll,
            &stop,
            epoll::EventData::new_u64(STOP),
            epoll::EventFlags::IN,
        )?;
        let parked = Parked {
            next_token: 0,
            connections: BTreeMap::new(),
            stopping: false,
        };
        Ok(Self {
            epoll,
            stop,
            parked: Mutex::new(parked),
            timeout,
        })
    }

    /// Leaves a connection here until it has something to read.
    pub(crate) fn park(&self, mut connection: Connection) {
        let watched = std::mem::replace(&mut connection.watched, true);
        let mut parked = self.lock();
        if parked.stopping {
            return;
        }
        let token = parked.next_token;
        parked.next_token += 1;
        let flags = epoll::EventFlags::IN | epoll::EventFlags::RDHUP | epoll::EventFlags::ONESHOT;
        let data = epoll::EventData::new_u64(token);
        let arm = if watched { epoll::modify } else { epoll::add };
        // The lock is held until the connection is in the map, so its event cannot be handled
        // before.
        if arm(&self.epoll, connection.as_fd(), data, flags).is_ok() {
            parked
                .connections
                .insert(token, (connection, Instant::now() + self.timeout));
        }
        // Else the kernel is out of memory for another watch: the connection is closed, as any
        // server would.
    }

    /// Watches until [`Self::stop`]; each connection with something to read goes to `ready` with
    /// the instant.
    pub(crate) fn watch(&self, mut ready: impl FnMut(Connection, Instant)) {
        let tick = self.timeout.min(Duration::from_secs(1));
        let tick = Timespec::try_from(tick).expect("a second fits");
        let mut events = Vec::with_capacity(BATCH);
        loop {
            events.clear();
            match epoll::wait(&self.epoll, spare_capacity(&mut events), Some(&tick)) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => unreachable!("waiting on our own event queue failed: {error}"),
            }
            let now = Instant::now();
            for event in &events {
                if event.data.u64() == STOP {
                    return;
                }
                if let Some(connection) = self.take(*event) {
                    ready(connection, now);
                }
            }
            self.close_idle(now);
        }
    }

    /// Ends the watch and closes what is parked.
    pub(crate) fn stop(&self) {
        let parked = {
            let mut parked = self.lock();
            parked.stopping = true;
            std::mem::take(&mut parked.connections)
        };
        drop(parked);
        rustix::io::write(&self.stop, &1_u64.to_ne_bytes())
            .expect("the counter of stops does not overflow");
    }

    /// Takes the connection of an event, unless its client has gone.
    fn take(&self, event: epoll::Event) -> Option<Connection> {
        let (connection, _) = self.lock().connections.remove(&event.data.u64())?;
        let flags = event.flags;
        let end = epoll::EventFlags::RDHUP | epoll::EventFlags::HUP | epoll::EventFlags::ERR;
        let gone = flags.intersects(end) && connection.is_closed_by_client();
        (!gone).then_some(connection)
    }

    fn close_idle(&self, now: Instant) {
        let mut idle = Vec::new();
        let mut parked = self.lock();
        while let Some(oldest) = parked.connections.first_entry() {
            if oldest.get().1 > now {
                break;
            }
            idle.push(oldest.remove());
        }
        drop(parked);
        drop(idle);
    }

    fn lock(&self) -> MutexGuard<'_, Parked> {
        self.parked
            .lock()
            .expect("nothing panics while it holds the parked connections")
    }
}
