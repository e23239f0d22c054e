//! The end of a request that was admitted: its slot and its backend's are given back, its line is
//! logged.

use std::sync::Arc;
use std::time::{Duration, Instant};

use weir_limit::Kind;

use crate::access_log::Line;
use crate::alone::Stand;
use crate::backend::{Backend, BackendConnection};
use crate::flow::{Flow, Slot};
use crate::keys::Held;
use crate::live::Live;
use crate::long_lived::LongLivedPlace;
use crate::watched::Running;

/// What is held while a request is in flight. It ends once: as told, or as one that was broken off
/// with its client.
#[derive(Debug)]
pub(crate) struct Ending {
    slot: Option<Slot>,
    /// In the slot's stead, of one that lasts; it goes on to count for its client.
    place: Option<(LongLivedPlace, Vec<Held>)>,
    line: Option<Box<Line>>,
    in_flight: Option<InFlight>,
    connection: Option<BackendConnection>,
    sent_bytes: u64,
    not_taken: Duration,
    /// Whether what the client was told is a failure of the server's (5xx).
    is_server_error: bool,
    running: Option<Running>,
    /// `None` where the slot is given back as soon as its client leaves.
    stand: Option<Arc<Stand>>,
}

impl Ending {
    /// Of a request that has just been admitted.
    pub(crate) fn new(
        slot: Slot,
        line: Option<Box<Line>>,
        running: Running,
        stand: Option<Arc<Stand>>,
    ) -> Self {
        running.goes_on(stand.is_some());
        Self {
            slot: Some(slot),
            place: None,
            line,
            in_flight: None,
            connection: None,
            sent_bytes: 0,
            not_taken: Duration::ZERO,
            is_server_error: false,
            running: Some(running),
            stand,
        }
    }

    /// It is at this backend now, and no longer at another.
    pub(crate) fn at(&mut self, backend: &Arc<Backend>, live: &Arc<Live>) {
        if let Some(line) = &mut self.line {
            line.at(backend.address.to_string());
        }
        self.in_flight = Some(InFlight::new(backend, live));
    }

    /// The backend gets it now, or has not taken it.
    pub(crate) fn is_sent(&self, is_sent: bool) {
        if let Some(stand) = &self.stand {
            stand.at_backend(is_sent);
        }
    }

    /// What comes has no end: whose client sends nothing more is taken to have left.
    pub(crate) fn has_no_end(&self) {
        if let Some(running) = &self.running {
            running.goes_on(false);
        }
    }

    /// Its client has left, and the rest of the response is for nobody. The flow in which it goes
    /// on; `None` where its slot is given back at once, or was.
    pub(crate) fn leave(&self) -> Option<Arc<Flow>> {
        self.stand.as_ref()?.leave();
        Some(Arc::clone(self.slot.as_ref()?.flow()))
    }

    fn has_left(&self) -> bool {
        self.stand.as_ref().is_some_and(|stand| stand.has_left())
    }

    /// The connection on which the response comes; it is kept for others when all of it has come.
    pub(crate) fn on(&mut self, connection: BackendConnection) {
        self.connection = Some(connection);
    }

    /// The head of the response goes to the client.
    pub(crate) fn answers(&mut self, status: http::StatusCode) {
        self.is_server_error = status.is_server_error();
        if let Some(in_flight) = &self.in_flight
            && let Some(begun) = in_flight.begun
        {
            in_flight.backend.tally.answered(begun.elapsed());
        }
        if self.has_left() {
            return;
        }
        if let Some(slot) = &self.slot {
            slot.answered(status);
        }
        if let Some(line) = &mut self.line {
            line.first_byte();
            line.answered(status);
        }
    }

    /// It lasts: the work is done, and the slot is for others.
    pub(crate) fn lasts(&mut self, place: LongLivedPlace) {
        let mut held = Vec::new();
        if let Some(mut slot) = self.slot.take() {
            held = slot.take_keys();
            slot.ended(Kind::Completed, self.not_taken);
        }
        self.place = Some((place, held));
    }

    /// The protocol is switched, and the connection is not HTTP any more.
    pub(crate) fn switched(&self) {
        if let Some(running) = &self.running {
            running.activity().switched();
        }
    }

    /// So many bytes of the body went on their way.
    pub(crate) fn passed(&mut self, bytes: u64) {
        if !self.has_left() {
            self.sent_bytes += bytes;
        }
    }

    /// The client did not take what was there for so long: no business of the backend's.
    pub(crate) fn not_taken(&mut self, time: Duration) {
        self.not_taken += time;
    }

    /// It is over; what is told after that does not count.
    pub(crate) fn end(&mut self, kind: Kind) {
        let has_left = self.has_left();
        match (self.slot.take(), self.place.take()) {
            (None, None) => return,
            (Some(mut slot), _) => slot.ended(kind, self.not_taken),
            (None, Some(_place)) => {}
        }
        let connection = self.connection.take();
        if let Some(in_flight) = self.in_flight.take() {
            in_flight.backend.ended(kind);
            // Nothing is known of what ends with its client.
            if kind != Kind::Abandoned {
                let well = kind == Kind::Completed && !self.is_server_error;
                let health = &in_flight.live.settings.health;
                in_flight.backend.ejection.ended(well, health);
                in_flight.backend.tally.ended(well);
            }
            if let (Some(connection), Kind::Completed) = (connection, kind) {
                in_flight.backend.keep(connection);
            }
        }
        self.running = None;
        if let Some(line) = self.line.take() {
            // The log is about clients, the limit about backends.
            let kind = if has_left { Kind::Abandoned } else { kind };
            line.ended(kind, self.sent_bytes);
        }
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        self.end(Kind::Abandoned);
    }
}

/// One of the requests that a backend has.
#[derive(Debug)]
struct InFlight {
    backend: Arc<Backend>,
    live: Arc<Live>,
    /// Since when, where backends are compared by how long they take.
    begun: Option<Instant>,
}

impl InFlight {
    fn new(backend: &Arc<Backend>, live: &Arc<Live>) -> Self {
        backend.begins();
        Self {
            backend: Arc::clone(backend),
            live: Arc::clone(live),
            begun: live.settings.health.eject_slower.map(|_| Instant::now()),
        }
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.backend.leaves();
    }
}
