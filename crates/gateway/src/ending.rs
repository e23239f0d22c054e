//! The end of a request that was admitted: its slot and its backend's are given back, its line is
//! logged.

use std::sync::Arc;

use weir_limit::Kind;

use crate::access_log::Line;
use crate::backend::{Backend, BackendConnection};
use crate::flow::Slot;
use crate::watched::Running;

/// What is held while a request is in flight. It ends once: as told, or as that of a client that
/// left.
#[derive(Debug)]
pub(crate) struct Ending {
    slot: Option<Slot>,
    line: Option<Box<Line>>,
    in_flight: Option<InFlight>,
    connection: Option<BackendConnection>,
    sent_bytes: u64,
    running: Option<Running>,
}

impl Ending {
    /// Of a request that has just been admitted.
    pub(crate) fn new(slot: Slot, line: Option<Box<Line>>, running: Running) -> Self {
        Self {
            slot: Some(slot),
            line,
            in_flight: None,
            connection: None,
            sent_bytes: 0,
            running: Some(running),
        }
    }

    /// It is at this backend now, and no longer at another.
    pub(crate) fn at(&mut self, backend: &Arc<Backend>) {
        if let Some(line) = &mut self.line {
            line.at(backend.address.to_string());
        }
        self.in_flight = Some(InFlight::new(backend));
    }

    /// The connection on which the response comes; it is kept for others when all of it has come.
    pub(crate) fn on(&mut self, connection: BackendConnection) {
        self.connection = Some(connection);
    }

    /// The head of the response goes to the client.
    pub(crate) fn answers(&mut self, status: http::StatusCode) {
        if let Some(line) = &mut self.line {
            line.answered(status);
        }
    }

    /// The protocol is switched, and the connection is not HTTP any more.
    pub(crate) fn switched(&self) {
        if let Some(running) = &self.running {
            running.activity().switched();
        }
    }

    /// So many bytes of the body went on their way.
    pub(crate) fn passed(&mut self, bytes: u64) {
        self.sent_bytes += bytes;
    }

    /// It is over; what is told after that does not count.
    pub(crate) fn end(&mut self, kind: Kind) {
        let Some(mut slot) = self.slot.take() else {
            return;
        };
        slot.ended(kind);
        drop(slot);
        let connection = self.connection.take();
        if let Some(in_flight) = self.in_flight.take() {
            in_flight.backend.ended(kind);
            if let (Some(connection), Kind::Completed) = (connection, kind) {
                in_flight.backend.keep(connection);
            }
        }
        self.running = None;
        if let Some(line) = self.line.take() {
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
}

impl InFlight {
    fn new(backend: &Arc<Backend>) -> Self {
        backend.begins();
        Self {
            backend: Arc::clone(backend),
        }
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.backend.leaves();
    }
}
