//! Bodies on their way through: nothing is buffered, each frame is handed on when it comes.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use weir_limit::Kind;

use crate::ending::Ending;
use crate::patience::Patience;
use crate::watched::Activity;

/// Why a body was broken off.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BodyError {
    /// Its connection failed, or what came was no body.
    #[error("pass on a body")]
    Broken(#[from] hyper::Error),
    /// Nothing came for too long.
    #[error("wait for more of a body: nothing came for {0:?}")]
    Stalled(Duration),
}

/// A body that is passed on as it comes, as long as it comes.
#[derive(Debug)]
struct Passing {
    incoming: Incoming,
    patience: Patience,
    limit: Duration,
}

impl Passing {
    fn new(incoming: Incoming, limit: Duration) -> Self {
        Self {
            incoming,
            patience: Patience::new(limit),
            limit,
        }
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.incoming).poll_frame(context) {
            self.patience.progress();
            return Poll::Ready(frame.map(|frame| frame.map_err(BodyError::Broken)));
        }
        ready!(self.patience.poll_lost(context));
        Poll::Ready(Some(Err(BodyError::Stalled(self.limit))))
    }
}

/// The body of a client's request, on its way to a backend.
#[derive(Debug)]
pub(crate) struct RequestBody {
    passing: Passing,
    /// Whether something of it has come since somebody looked; `None` for a request without a
    /// body.
    moved: Option<Arc<AtomicBool>>,
    /// Told when the last of it has come.
    activity: Arc<Activity>,
}

impl RequestBody {
    /// Passes on what comes, as long as it comes within `limit`.
    pub(crate) fn new(incoming: Incoming, limit: Duration, activity: Arc<Activity>) -> Self {
        let moved = (!incoming.is_end_stream()).then(Arc::default);
        Self {
            passing: Passing::new(incoming, limit),
            moved,
            activity,
        }
    }

    /// Whether something of it has come since somebody looked.
    pub(crate) fn moved(&self) -> Option<Arc<AtomicBool>> {
        self.moved.clone()
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let frame = ready!(self.passing.poll(context));
        if let Some(moved) = &self.moved {
            moved.store(true, Ordering::Relaxed);
        }
        if frame.is_none() || self.is_end_stream() {
            self.activity.whole();
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.passing.incoming.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.passing.incoming.size_hint()
    }
}

/// The body of a response to a client.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly all are the large one, and a box would be made for each request"
)]
pub(crate) enum ResponseBody {
    /// The gateway's own words.
    Own(Option<Bytes>),
    /// A backend's, with what has to be told and given back at its end.
    Passed(PassedBody),
}

/// A backend's body on its way to the client.
#[derive(Debug)]
pub(crate) struct PassedBody {
    passing: Passing,
    ending: Ending,
}

impl ResponseBody {
    /// No body.
    pub(crate) fn empty() -> Self {
        Self::Own(None)
    }

    /// Passes on what comes from a backend; `ending` gets to know how it ends.
    pub(crate) fn passed(incoming: Incoming, limit: Duration, ending: Ending) -> Self {
        Self::Passed(PassedBody {
            passing: Passing::new(incoming, limit),
            ending,
        })
    }
}

impl PassedBody {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let frame = ready!(self.passing.poll(context));
        match &frame {
            Some(Ok(frame)) => {
                self.ending
                    .passed(frame.data_ref().map_or(0, Bytes::len) as u64);
                if self.passing.incoming.is_end_stream() {
                    self.ending.end(Kind::Completed);
                }
            }
            Some(Err(_)) => self.ending.end(Kind::Failed),
            None => self.ending.end(Kind::Completed),
        }
        Poll::Ready(frame)
    }
}

impl Drop for PassedBody {
    fn drop(&mut self) {
        // A body that is known to be empty is never asked for.
        if self.passing.incoming.is_end_stream() {
            self.ending.end(Kind::Completed);
        }
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        match self.get_mut() {
            Self::Own(text) => Poll::Ready(text.take().map(|text| Ok(Frame::data(text)))),
            Self::Passed(body) => body.poll(context),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Own(text) => text.is_none(),
            Self::Passed(body) => body.passing.incoming.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Own(text) => SizeHint::with_exact(text.as_ref().map_or(0, Bytes::len) as u64),
            Self::Passed(body) => body.passing.incoming.size_hint(),
        }
    }
}
