//! A client's connection, on which nothing may last for ever.
//!
//! hyper can bound the time for a head; it counts the time in which a connection is without a request as part of it, and
//! sets a timer for each request. Here the two are told apart, and a connection that goes on sets no timer.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::task::{Context, Poll};

use hyper::rt::{Read, ReadBufCursor, Write};
use tokio::time::Instant;

use crate::patience::Patience;
use crate::settings::Timeouts;

/// What the requests of a connection are doing, as far as its bytes are concerned.
#[derive(Debug, Default)]
pub(crate) struct Activity {
    running: AtomicU32,
    begun: AtomicU64,
}

/// One request of a connection while it runs.
#[derive(Debug)]
pub(crate) struct Running(Arc<Activity>);

impl Activity {
    /// A head has come.
    pub(crate) fn begin(self: &Arc<Self>) -> Running {
        self.begun.fetch_add(1, Ordering::Relaxed);
        self.running.fetch_add(1, Ordering::Relaxed);
        Running(Arc::clone(self))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::Relaxed);
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
    timeouts: Timeouts,
    reading: Patience,
    writing: Patience,
}

impl<S> Watched<S> {
    /// Watches a stream.
    pub(crate) fn new(
        stream: S,
        activity: Arc<Activity>,
        is_http1: bool,
        timeouts: &Timeouts,
    ) -> Self {
        Self {
            stream,
            activity,
            waiting: Waiting::Request(Instant::now()),
            begun: 0,
            is_http1,
            reading: Patience::new(timeouts.idle),
            writing: Patience::new(timeouts.body),
            timeouts: timeouts.clone(),
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
        if self.activity.running.load(Ordering::Relaxed) > 0 {
            // Bodies have a patience of their own, and so has the wait for a backend.
            self.waiting = Waiting::Running;
            return Poll::Pending;
        }
        let begun = self.activity.begun.load(Ordering::Relaxed);
        if self.waiting == Waiting::Running || begun != self.begun {
            self.begun = begun;
            self.waiting = Waiting::Request(Instant::now());
        }
        let deadline = match self.waiting {
            Waiting::Request(since) => since + self.timeouts.idle,
            Waiting::Head(since) => since + self.timeouts.head,
            Waiting::Running => return Poll::Pending,
        };
        self.reading.poll_lost_at(deadline, context)
    }
}

fn timed_out<T>() -> Poll<io::Result<T>> {
    Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
}

impl<S: Read + Unpin> Read for Watched<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        if let Poll::Ready(read) = Pin::new(&mut self.stream).poll_read(context, buffer) {
            self.has_read();
            return Poll::Ready(read);
        }
        match self.poll_quiet(context) {
            Poll::Ready(()) => timed_out(),
            Poll::Pending => Poll::Pending,
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

impl<S: Write + Unpin> Write for Watched<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.written(written, context)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
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
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, pieces);
        self.written(written, context)
    }
}
