//! What the clients of one runtime share: none of them uses it at the same time as another.

use std::cell::{Cell, RefCell};
use std::io;
use std::rc::Rc;

use crate::clock::{Clock, Moment};
use crate::http::response::{Asked, Kept, KeptStore, ResponseReader};
use crate::http::status_texts::StatusTexts;
use crate::timers::Timers;

/// Bytes read at once. Large enough that most responses take one read.
const BUFFER_BYTES: usize = 64 * 1024;

/// Time, buffers and counts of a runtime's clients.
#[derive(Debug)]
pub(crate) struct IoContext {
    pub(crate) clock: Clock,
    pub(crate) timers: Rc<Timers>,
    /// What is read before it is looked at.
    pub(crate) buffer: RefCell<Box<[u8]>>,
    pub(crate) texts: RefCell<StatusTexts>,
    /// Buffers for responses that are kept.
    pub(crate) kept: RefCell<KeptStore>,
    /// Sockets that are open.
    pub(crate) sockets: Cell<u32>,
    pub(crate) counts: IoCounts,
    latest: Cell<Moment>,
    /// Readers of responses that are not in use.
    #[expect(clippy::vec_box, reason = "a user's task has room for a pointer")]
    readers: RefCell<Vec<Box<ResponseReader>>>,
}

/// What happened beside the samples.
#[derive(Debug, Default)]
pub(crate) struct IoCounts {
    /// Requests that were sent on a second connection.
    pub(crate) resent: Cell<u64>,
    /// Connections that were made.
    pub(crate) connected: Cell<u64>,
    /// Microseconds that connecting took, also where it failed.
    pub(crate) connecting_us: Cell<u64>,
    /// Writes that had to wait for room in the socket.
    pub(crate) blocked_sends: Cell<u64>,
    /// Connections that this machine could not open.
    pub(crate) local_failures: Cell<u64>,
}

impl IoContext {
    /// That of the runtime that this is called in.
    ///
    /// # Errors
    /// The system gives no timer.
    pub(crate) fn new(clock: Clock) -> io::Result<Rc<Self>> {
        Ok(Rc::new(Self {
            clock,
            timers: Timers::new(clock)?,
            buffer: RefCell::new(vec![0; BUFFER_BYTES].into_boxed_slice()),
            texts: RefCell::default(),
            kept: RefCell::default(),
            sockets: Cell::new(0),
            counts: IoCounts::default(),
            latest: Cell::new(clock.now()),
            readers: RefCell::default(),
        }))
    }

    /// The moment that is now.
    pub(crate) fn now(&self) -> Moment {
        let now = self.clock.now();
        self.latest.set(now);
        now
    }

    /// Notes that connecting has ended now, or a further part of it, which began then.
    pub(crate) fn note_connecting(&self, began: Moment, made: bool) -> Moment {
        let now = self.now();
        let took_us = now.micros_since(began);
        self.counts.connecting_us.update(|us| us + took_us);
        self.counts
            .connected
            .update(|count| count + u64::from(made));
        now
    }

    /// The last moment that anyone on this runtime asked for: a user who was woken for something
    /// that takes its time has asked since, so for it this is now, without asking again.
    pub(crate) fn latest(&self) -> Moment {
        self.latest.get()
    }

    /// A reader for a response; hand it back with [`Self::put_reader`].
    pub(crate) fn take_reader(&self, asked: Asked, kept: Option<Box<Kept>>) -> Box<ResponseReader> {
        match self.readers.borrow_mut().pop() {
            Some(mut reader) => {
                reader.begin(asked, kept);
                reader
            }
            None => Box::new(ResponseReader::new(asked, kept)),
        }
    }

    /// Keeps a reader for the next response.
    pub(crate) fn put_reader(&self, reader: Box<ResponseReader>) {
        self.readers.borrow_mut().push(reader);
    }
}
