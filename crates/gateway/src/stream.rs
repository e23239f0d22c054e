//! One request of an HTTP/2 connection, for as long as its client takes the answer.
//!
//! A client says by its window how much of an answer it takes. Without a window hyper asks the body
//! for nothing, so that nobody would see that it does not move; the connection itself is well, and
//! answers pings. Here a stream whose client has taken nothing for too long ends: hyper resets it.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Poll, ready};
use std::time::Duration;

use hyper::rt::Executor;

use crate::patience::Patience;

tokio::task_local! {
    /// Of the stream that is polled.
    static TAKING: Arc<Taking>;
}

/// Whether a client takes what there is of its answer.
#[derive(Debug, Default)]
pub(crate) struct Taking {
    /// There may be more to give, and nobody has asked for it.
    is_offered: AtomicBool,
    /// Something was taken since somebody looked.
    has_moved: AtomicBool,
}

impl Taking {
    /// That of the stream in whose task this is called; `None` outside of HTTP/2.
    pub(crate) fn current() -> Option<Arc<Self>> {
        TAKING.try_with(Arc::clone).ok()
    }

    /// The answer goes on when the client takes more.
    pub(crate) fn offer(&self) {
        self.has_moved.store(true, Ordering::Relaxed);
        self.is_offered.store(true, Ordering::Relaxed);
    }

    /// More was asked for: it is the backend's turn.
    pub(crate) fn ask(&self) {
        self.is_offered.store(false, Ordering::Relaxed);
    }
}

/// Runs the streams of a connection; one whose client takes nothing for so long is dropped.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Streams {
    /// How long a client may take nothing.
    pub(crate) within: Duration,
}

impl<F> Executor<F> for Streams
where
    F: Future + Send + 'static,
    F::Output: Send,
{
    fn execute(&self, stream: F) {
        tokio::spawn(while_taken(stream, self.within));
    }
}

async fn while_taken<F: Future>(stream: F, within: Duration) {
    let taking: Arc<Taking> = Arc::default();
    let mut stream = pin!(TAKING.scope(Arc::clone(&taking), stream));
    let mut patience = Patience::new(within);
    poll_fn(|context| {
        if stream.as_mut().poll(context).is_ready() {
            return Poll::Ready(());
        }
        let has_moved = taking.has_moved.swap(false, Ordering::Relaxed);
        let is_offered = taking.is_offered.load(Ordering::Relaxed);
        if has_moved || !is_offered {
            patience.progress();
        }
        if !is_offered {
            return Poll::Pending;
        }
        ready!(patience.poll_lost(context));
        Poll::Ready(())
    })
    .await;
}
