//! Requests that go on without their client.
//!
//! A server does not stop when its client leaves: most see it at their next write, after all the
//! work. A slot that was given back at once would let in another request beside that work, and
//! clients that leave would raise what the limit is to hold. So a request that a backend has goes
//! on until the backend has answered, closed the connection, or had its time.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use http::Response;
use tokio::runtime::Handle;

use crate::body::ResponseBody;
use crate::flow::Flow;

/// Most requests that go on without a client; what comes beyond gives its slot back at once, so
/// that leaving costs no more memory than connections do.
const ALONE_MAX: u32 = 20_000;

/// Where a request is, as far as its leaving matters.
#[derive(Debug, Default)]
pub(crate) struct Stand {
    is_at_backend: AtomicBool,
    has_left: AtomicBool,
}

impl Stand {
    /// A backend gets it now, or has not taken it.
    pub(crate) fn at_backend(&self, is_there: bool) {
        self.is_at_backend.store(is_there, Ordering::Relaxed);
    }

    /// Its client has left.
    pub(crate) fn leave(&self) {
        self.has_left.store(true, Ordering::Relaxed);
    }

    /// Whether its client has left.
    pub(crate) fn has_left(&self) -> bool {
        self.has_left.load(Ordering::Relaxed)
    }
}

/// How many requests go on without their client.
#[derive(Debug, Default)]
pub(crate) struct AloneCount(AtomicU32);

impl AloneCount {
    /// How many there are now.
    pub(crate) fn get(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }
}

/// One that is counted until this is dropped.
#[derive(Debug)]
pub(crate) struct Alone(Arc<Flow>);

impl Alone {
    /// One more, if there is room.
    pub(crate) fn begin(flow: &Arc<Flow>) -> Option<Self> {
        let AloneCount(count) = flow.alone();
        if count.fetch_add(1, Ordering::Relaxed) >= ALONE_MAX {
            count.fetch_sub(1, Ordering::Relaxed);
            return None;
        }
        Some(Self(Arc::clone(flow)))
    }
}

impl Drop for Alone {
    fn drop(&mut self) {
        let AloneCount(count) = self.0.alone();
        count.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Lets something run on for a request whose client has left; `within` is how long at most.
pub(crate) fn go_on(
    flow: &Arc<Flow>,
    within: Duration,
    what: impl Future<Output = ()> + Send + 'static,
) {
    // Outside of a runtime the gateway has ended, and with it all that it holds.
    if let (Ok(runtime), Some(alone)) = (Handle::try_current(), Alone::begin(flow)) {
        runtime.spawn(async move {
            let _ = tokio::time::timeout(within, what).await;
            drop(alone);
        });
    }
}

/// The answering of a request that was admitted. Dropped, it goes on if a backend has the request.
pub(crate) struct Answered {
    answering: Option<Pin<Box<dyn Future<Output = Response<ResponseBody>> + Send>>>,
    /// `None` where a slot is given back as soon as its client leaves.
    stand: Option<Arc<Stand>>,
    flow: Arc<Flow>,
    within: Duration,
}

impl Answered {
    /// Answers a request; without its client for no longer than `within`.
    pub(crate) fn new(
        answering: impl Future<Output = Response<ResponseBody>> + Send + 'static,
        stand: Option<Arc<Stand>>,
        flow: &Arc<Flow>,
        within: Duration,
    ) -> Self {
        Self {
            answering: Some(Box::pin(answering)),
            stand,
            flow: Arc::clone(flow),
            within,
        }
    }
}

impl Future for Answered {
    type Output = Response<ResponseBody>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(answering) = &mut self.answering else {
            return Poll::Pending;
        };
        let response = ready!(answering.as_mut().poll(context));
        self.answering = None;
        Poll::Ready(response)
    }
}

impl Drop for Answered {
    fn drop(&mut self) {
        let Some((answering, stand)) = self.answering.take().zip(self.stand.as_ref()) else {
            return;
        };
        if !stand.is_at_backend.load(Ordering::Relaxed) {
            return;
        }
        stand.leave();
        go_on(&self.flow, self.within, async move {
            answering.await.into_body().finish().await;
        });
    }
}
