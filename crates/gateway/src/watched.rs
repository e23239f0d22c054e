//! A client's connection, on which nothing may last for ever.
//!
//! hyper can bound the time for a head; it counts the time in which a connection is without a
//! request as part of it, and sets a timer for each request. Here the two are told apart, and a
//! connection that goes on sets no timer.
//!
//! hyper also keeps two buffers of 8 KiB for each connection, with or without a request. One that
//! has been without for a while rests: it is taken from hyper, and given back when something comes.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use hyper::rt::{Read, ReadBuf, ReadBufCursor, Write};
use tokio::time::Instant;

use crate::heads::HeldHead;
use crate::leaving::{Leaving, Seen};
use crate::patience::Patience;
use crate::settings::Settings;

/// So much is read at a time of a head that comes in pieces.
const PIECE: usize = 2 * 1024;

/// What the requests of a connection are doing, as far as its bytes are concerned.
#[derive(Debug)]
pub(crate) struct Activity {
    running: AtomicU32,
    begun: AtomicU64,
    /// Whether hyper is not in the middle of a request's body: what would come then is not the
    /// next head.
    is_whole: AtomicBool,
    /// The last request that ran is over, and nobody has looked at the connection since.
    fell_quiet: AtomicBool,
    /// There has been nothing to do for a while, and everything written has gone.
    rests: AtomicBool,
    /// What comes is no longer HTTP: there the client may be at its end before the backend is.
    is_switched: AtomicBool,
    /// The request was admitted, and is answered whatever its client does: who sends nothing more
    /// may be waiting for the answer.
    goes_on: AtomicBool,
    /// The client of the request that goes on sends nothing more.
    is_silent: AtomicBool,
    /// A head had begun that never became whole.
    is_unfinished: AtomicBool,
    head: HeldHead,
}

/// One request of a connection while it runs.
#[derive(Debug)]
pub(crate) struct Running(Arc<Activity>);

impl Activity {
    /// Of a connection without a request, whose heads have room in this.
    pub(crate) fn new(head: HeldHead) -> Self {
        Self {
            running: AtomicU32::new(0),
            begun: AtomicU64::new(0),
            is_whole: AtomicBool::new(true),
            fell_quiet: AtomicBool::new(false),
            rests: AtomicBool::new(false),
            is_switched: AtomicBool::new(false),
            goes_on: AtomicBool::new(false),
            is_silent: AtomicBool::new(false),
            is_unfinished: AtomicBool::new(false),
            head,
        }
    }

    /// A head has come, and with it the whole request or not.
    pub(crate) fn begin(self: &Arc<Self>, is_whole: bool) -> Running {
        self.is_whole.store(is_whole, Ordering::Relaxed);
        self.goes_on(false);
        self.head.is_over();
        self.begun.fetch_add(1, Ordering::Relaxed);
        self.running.fetch_add(1, Ordering::Relaxed);
        Running(Arc::clone(self))
    }

    /// Whether a request runs.
    pub(crate) fn is_running(&self) -> bool {
        self.running.load(Ordering::Relaxed) > 0
    }

    /// The last of a request's body has come.
    pub(crate) fn whole(&self) {
        self.is_whole.store(true, Ordering::Relaxed);
    }

    /// The protocol is switched; nobody's leaving is looked for from now on.
    pub(crate) fn switched(&self) {
        self.is_switched.store(true, Ordering::Relaxed);
    }

    fn goes_on(&self, goes_on: bool) {
        self.goes_on.store(goes_on, Ordering::Relaxed);
    }

    /// Whether it has ended in the middle of a head.
    pub(crate) fn is_unfinished(&self) -> bool {
        self.is_unfinished.load(Ordering::Relaxed)
    }

    /// Whether a request goes on whose client sends nothing more.
    pub(crate) fn is_silent(&self) -> bool {
        self.is_silent.load(Ordering::Relaxed)
    }

    /// Whether hyper has to be asked once more: it tried to read while a request ran, and does not
    /// try again when that has ended, so that nobody would see to it that the connection does
    /// not last for ever. Told once.
    pub(crate) fn fell_quiet(&self) -> bool {
        self.fell_quiet.load(Ordering::Relaxed) && self.fell_quiet.swap(false, Ordering::Relaxed)
    }

    /// Whether the connection may be taken from hyper now; told once.
    pub(crate) fn rests(&self) -> bool {
        self.rests.load(Ordering::Relaxed) && self.rests.swap(false, Ordering::Relaxed)
    }
}

impl Running {
    /// What its body belongs to.
    pub(crate) fn activity(&self) -> Arc<Activity> {
        Arc::clone(&self.0)
    }

    /// It goes on without its client, or no longer.
    pub(crate) fn goes_on(&self, goes_on: bool) {
        self.0.goes_on(goes_on);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.0.running.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.0.fell_quiet.store(true, Ordering::Relaxed);
        }
    }
}

/// What a connection waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Waiting {
    /// The first byte of a head.
    Request(Instant),
    /// The rest of a head that has begun.
    Head(Instant),
    /// A request that runs.
    Running,
}

/// A connection that ends with [`io::ErrorKind::TimedOut`] when a phase of it lasts too long.
#[derive(Debug)]
pub(crate) struct Watched<S> {
    stream: S,
    activity: Arc<Activity>,
    waiting: Waiting,
    /// How many requests had begun when `waiting` was set.
    begun: u64,
    /// Whether every byte between requests belongs to the next head; frames of HTTP/2 need not.
    is_http1: bool,
    idle: Duration,
    rest: Duration,
    head: Duration,
    /// Bytes of all heads together that are not whole.
    most_of_heads: usize,
    reading: Patience,
    writing: Patience,
    /// Read before, and to be read again.
    ahead: Bytes,
    /// Whether the client has sent more than was read, so that its leaving cannot be seen.
    is_hidden: bool,
    /// Whether hyper has told last that everything it had to write was written.
    is_flushed: bool,
}

impl<S> Watched<S> {
    /// Watches a stream.
    pub(crate) fn new(
        stream: S,
        activity: Arc<Activity>,
        is_http1: bool,
        settings: &Settings,
    ) -> Self {
        let timeouts = &settings.timeouts;
        Self {
            stream,
            activity,
            waiting: Waiting::Request(Instant::now()),
            begun: 0,
            is_http1,
            idle: timeouts.idle,
            rest: timeouts.rest,
            head: timeouts.head,
            most_of_heads: settings.request.max_heads as usize,
            reading: Patience::new(timeouts.idle),
            writing: Patience::new(timeouts.body),
            ahead: Bytes::new(),
            is_hidden: false,
            is_flushed: true,
        }
    }

    /// What is watched.
    pub(crate) fn stream(&mut self) -> &mut S {
        &mut self.stream
    }

    /// What its requests are doing.
    pub(crate) fn activity(&self) -> &Arc<Activity> {
        &self.activity
    }

    /// After it was taken from hyper, with what hyper had read and not used. Gives back when it
    /// ends if nothing comes; `None` if something is there already.
    pub(crate) fn rested(&mut self, ahead: Bytes) -> Option<Instant> {
        self.ahead = ahead;
        self.reading.rest();
        match self.waiting {
            Waiting::Request(since) if self.ahead.is_empty() => Some(since + self.idle),
            _ => None,
        }
    }

    fn has_read(&mut self) {
        if self.is_http1 && matches!(self.waiting, Waiting::Request(_)) {
            self.waiting = Waiting::Head(Instant::now());
            self.begun = self.activity.begun.load(Ordering::Relaxed);
        }
    }

    /// Nothing is there to read: ready if that is so for too long.
    fn poll_quiet(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if self.activity.is_running() {
            // Bodies have a patience of their own, and so has the wait for a backend.
            self.waiting = Waiting::Running;
            return Poll::Pending;
        }
        // This is the look that would be asked for.
        self.activity.fell_quiet.store(false, Ordering::Relaxed);
        let begun = self.activity.begun.load(Ordering::Relaxed);
        if self.waiting == Waiting::Running || begun != self.begun {
            self.begun = begun;
            self.waiting = Waiting::Request(Instant::now());
        }
        let deadline = match self.waiting {
            Waiting::Request(since) => {
                self.poll_rest(since, context);
                since + self.idle
            }
            Waiting::Head(since) => {
                // What came first is there; whether there was room is seen when more comes.
                self.activity.head.grows(0, self.most_of_heads);
                since + self.head
            }
            Waiting::Running => return Poll::Pending,
        };
        ready!(self.reading.poll_lost_at(deadline, context));
        let is_unfinished = matches!(self.waiting, Waiting::Head(_));
        self.activity
            .is_unfinished
            .store(is_unfinished, Ordering::Relaxed);
        Poll::Ready(())
    }

    /// Tells when it is time to rest; before that, sees to it that the task is woken then.
    fn poll_rest(&mut self, since: Instant, context: &mut Context<'_>) {
        let from = since + self.rest;
        let rests = self.is_http1 && self.rest < self.idle;
        if rests && self.reading.poll_lost_at(from, context).is_ready() {
            // What a client does not take stays with hyper, and so does a body that a backend has
            // answered before its end.
            let may_rest = self.is_flushed && self.activity.is_whole.load(Ordering::Relaxed);
            self.activity.rests.store(may_rest, Ordering::Relaxed);
        }
    }
}

fn timed_out<T>() -> Poll<io::Result<T>> {
    Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
}

impl<S: Read + Unpin> Read for Watched<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        mut buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        if !self.ahead.is_empty() {
            let count = buffer.remaining().min(self.ahead.len());
            buffer.put_slice(&self.ahead.split_to(count));
            self.has_read();
            return Poll::Ready(Ok(()));
        }
        let read = if self.is_in_head() {
            self.poll_read_on(context, buffer)
        } else {
            Pin::new(&mut self.stream).poll_read(context, buffer)
        };
        if let Poll::Ready(read) = read {
            self.is_hidden = false;
            self.has_read();
            return Poll::Ready(read);
        }
        match self.poll_quiet(context) {
            Poll::Ready(()) => timed_out(),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<S: Read + Unpin> Watched<S> {
    /// Whether a part of a head has come.
    fn is_in_head(&self) -> bool {
        let begun = self.activity.begun.load(Ordering::Relaxed);
        matches!(self.waiting, Waiting::Head(_)) && self.begun == begun
    }

    /// Reads more of a head, if there is room for it.
    fn poll_read_on(
        &mut self,
        context: &mut Context<'_>,
        mut buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let mut piece = [0; PIECE];
        let room = buffer.remaining().min(PIECE);
        let mut read = ReadBuf::new(&mut piece[..room]);
        ready!(Pin::new(&mut self.stream).poll_read(context, read.unfilled()))?;
        let read = read.filled();
        if !self.activity.head.grows(read.len(), self.most_of_heads) {
            self.activity.is_unfinished.store(true, Ordering::Relaxed);
            return Poll::Ready(Err(io::ErrorKind::QuotaExceeded.into()));
        }
        buffer.put_slice(read);
        Poll::Ready(Ok(()))
    }
}

impl<S: Leaving> Watched<S> {
    /// Ready when the client of a request that runs has left: whatever is done for it is for
    /// nobody.
    fn poll_left(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let activity = &self.activity;
        let is_looked_for = self.is_http1 && !self.is_hidden && activity.is_running();
        if !is_looked_for || activity.is_switched.load(Ordering::Relaxed) {
            return Poll::Pending;
        }
        match ready!(self.stream.poll_left(context)) {
            Seen::Silent if activity.goes_on.load(Ordering::Relaxed) => {
                activity.is_silent.store(true, Ordering::Relaxed);
                Poll::Pending
            }
            Seen::Silent | Seen::Gone => Poll::Ready(()),
            Seen::Hidden => {
                self.is_hidden = true;
                Poll::Pending
            }
        }
    }
}

impl<S: Write + Unpin> Watched<S> {
    fn written<T>(
        &mut self,
        written: Poll<io::Result<T>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.writing.progress();
            return written;
        }
        match self.writing.poll_lost(context) {
            Poll::Ready(()) => timed_out(),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<S: Write + Leaving + Unpin> Write for Watched<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.is_flushed = false;
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.written(written, context)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        // hyper flushes whenever it is asked, also while it waits for an answer.
        if self.poll_left(context).is_ready() {
            return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
        }
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        // hyper flushes only when all that it had has been written.
        self.is_flushed = flushed.is_ready();
        self.written(flushed, context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.is_flushed = false;
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, pieces);
        self.written(written, context)
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use hyper_util::rt::TokioIo;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};

    use super::*;

    /// What hyper had read of the next head is read again, before what comes then.
    #[test]
    fn what_was_read_ahead_is_not_lost() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap();
        runtime.block_on(async {
            let (mut client, server) = duplex(64);
            let settings =
                Settings::parse("listen = \"127.0.0.1:0\"\nbackends = [\"http://127.0.0.1:1\"]\n")
                    .unwrap();
            let activity = Activity::new(HeldHead::new(&Arc::default()));
            let mut watched =
                Watched::new(TokioIo::new(server), Arc::new(activity), true, &settings);
            let ends = watched.rested(Bytes::new()).unwrap();
            assert!(ends <= Instant::now() + settings.timeouts.idle);
            assert_eq!(watched.rested(Bytes::from_static(b"GET /1 HT")), None);
            client.write_all(b"TP/1.1").await.unwrap();
            let mut head = [0; 15];
            let mut reading = TokioIo::new(watched);
            reading.read_exact(&mut head[..4]).await.unwrap();
            reading.read_exact(&mut head[4..]).await.unwrap();
            assert_eq!(&head, b"GET /1 HTTP/1.1");
            assert!(matches!(reading.inner().waiting, Waiting::Head(_)));
        });
    }
}
