//! An open connection: the socket and the place it takes at the gate.

use std::ops::{Deref, DerefMut};

use crate::gate::Slot;
use crate::http::HttpStream;

/// A connection that the gate has let in. Dropping it closes the socket, then gives the place back.
pub(crate) struct Connection {
    // Declared first, so closed first: the place must not be free while the socket is still open.
    stream: HttpStream,
    _slot: Slot,
    /// Whether the event queue knows the socket already.
    pub(crate) watched: bool,
}

impl Connection {
    pub(crate) fn new(stream: HttpStream, slot: Slot) -> Self {
        Self {
            stream,
            _slot: slot,
            watched: false,
        }
    }

    /// Closes after a refusal; the place stays taken until then.
    pub(crate) fn close_after_refusal(self) {
        let Self { stream, _slot, .. } = self;
        stream.close_after_refusal();
    }
}

impl Deref for Connection {
    type Target = HttpStream;

    fn deref(&self) -> &HttpStream {
        &self.stream
    }
}

impl DerefMut for Connection {
    fn deref_mut(&mut self) -> &mut HttpStream {
        &mut self.stream
    }
}
