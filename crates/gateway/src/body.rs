//! Bodies on their way through: nothing is buffered, each frame is handed on when it comes.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use weir_limit::Kind;

use crate::alone;
use crate::ending::Ending;
use crate::gathered::Gathered;
use crate::live::Live;
use crate::pace::Pace;
use crate::patience::Patience;
use crate::stream::Taking;
use crate::watched::Activity;

/// What is taken of a response whose client has left. Whoever writes more will see that nobody
/// reads it.
const FOR_NOBODY_MAX: u64 = 1024 * 1024;

/// Why a body was broken off.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BodyError {
    /// Its connection failed, or what came was no body.
    #[error("pass on a body")]
    Broken(#[from] hyper::Error),
    /// Nothing came for too long.
    #[error("wait for more of a body: nothing came for {0:?}")]
    Stalled(Duration),
    /// It came, or was taken, a few bytes at a time.
    #[error("pass on a body: its client is slower than may be")]
    Slow,
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

/// The body of a client's request as it comes.
#[derive(Debug)]
struct Arriving {
    /// `None`: it has none.
    passing: Option<Passing>,
    /// Whether something of it has come since somebody looked; `None` for a request without a
    /// body.
    moved: Option<Arc<AtomicBool>>,
    /// Told when the last of it has come.
    activity: Arc<Activity>,
    /// Counts its bytes for the log.
    received: Option<Arc<AtomicU64>>,
    pace: Pace,
    /// Since when the client is waited for.
    asked: Option<Instant>,
}

impl Body for Arriving {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let Some(passing) = &mut self.passing else {
            return Poll::Ready(None);
        };
        let Poll::Ready(frame) = passing.poll(context) else {
            self.asked.get_or_insert_with(Instant::now);
            return Poll::Pending;
        };
        if let (Some(asked), Some(Ok(frame))) = (self.asked.take(), &frame)
            && !self.pace.passed(length(frame), asked.elapsed())
        {
            return Poll::Ready(Some(Err(BodyError::Slow)));
        }
        if let (Some(received), Some(Ok(frame))) = (&self.received, &frame) {
            received.fetch_add(length(frame), Ordering::Relaxed);
        }
        if let Some(moved) = &self.moved {
            moved.store(true, Ordering::Relaxed);
        }
        if frame.is_none() || self.is_end_stream() {
            self.activity.whole();
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        let passing = self.passing.as_ref();
        passing.is_none_or(|passing| passing.incoming.is_end_stream())
    }

    fn size_hint(&self) -> SizeHint {
        let passing = self.passing.as_ref();
        passing.map_or_else(
            || SizeHint::with_exact(0),
            |passing| passing.incoming.size_hint(),
        )
    }
}

/// The body of a client's request, on its way to a backend.
#[derive(Debug)]
pub(crate) struct RequestBody {
    arriving: Arriving,
    gathered: Gathered<BodyError>,
}

impl RequestBody {
    /// Passes on what comes, as long as it comes in time and is not too slow.
    pub(crate) fn new(
        incoming: Incoming,
        live: &Live,
        activity: Arc<Activity>,
        received: Option<Arc<AtomicU64>>,
    ) -> Self {
        let moved = (!incoming.is_end_stream()).then(Arc::default);
        Self::of(Arriving {
            passing: Some(Passing::new(incoming, live.settings.timeouts.body)),
            moved,
            activity,
            received,
            pace: pace(live),
            asked: None,
        })
    }

    /// No body, for another request of the same client's.
    pub(crate) fn none(&self) -> Self {
        Self::of(Arriving {
            passing: None,
            moved: None,
            activity: Arc::clone(&self.arriving.activity),
            received: None,
            pace: Pace::new(0, Duration::ZERO),
            asked: None,
        })
    }

    fn of(arriving: Arriving) -> Self {
        Self {
            arriving,
            gathered: Gathered::default(),
        }
    }

    /// Whether something of it has come since somebody looked.
    pub(crate) fn moved(&self) -> Option<Arc<AtomicBool>> {
        self.arriving.moved.clone()
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let Self { arriving, gathered } = &mut *self;
        gathered.poll(context, arriving)
    }

    fn is_end_stream(&self) -> bool {
        self.gathered.is_empty() && self.arriving.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.gathered.with_held(self.arriving.size_hint())
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
    /// There until this is dropped.
    rest: Option<Rest>,
    /// How long it may go on without its client.
    within: Duration,
    /// Whether the head tells the length of a body that is not sent (304): hyper would take out
    /// that of a body of which it knows that it is empty.
    is_told_of: bool,
}

/// What a backend still sends, and what is told and given back at its end.
#[derive(Debug)]
struct Rest {
    passing: Passing,
    ending: Ending,
    /// Whether a client of HTTP/2 takes it.
    taking: Option<Arc<Taking>>,
    /// Since when there is something that the client has not taken, and how much.
    offered: Option<(Instant, u64)>,
    pace: Pace,
}

impl ResponseBody {
    /// No body.
    pub(crate) fn empty() -> Self {
        Self::Own(None)
    }

    /// Passes on what comes from a backend; `ending` gets to know how it ends.
    pub(crate) fn passed(incoming: Incoming, live: &Live, ending: Ending) -> Self {
        let timeouts = &live.settings.timeouts;
        let taking = Taking::current();
        if let Some(taking) = &taking {
            taking.offer();
        }
        Self::Passed(PassedBody {
            rest: Some(Rest {
                passing: Passing::new(incoming, timeouts.body),
                ending,
                taking,
                offered: None,
                pace: pace(live),
            }),
            within: timeouts.response,
            is_told_of: false,
        })
    }

    /// The head keeps its `Content-Length`, though no body is sent.
    pub(crate) fn told_of(mut self) -> Self {
        if let Self::Passed(body) = &mut self {
            body.is_told_of = true;
        }
        self
    }

    /// Takes the rest for nobody, so that the end of it is seen.
    pub(crate) async fn finish(self) {
        if let Self::Passed(mut body) = self
            && let Some(rest) = body.rest.take()
        {
            rest.finish().await;
        }
    }

    fn incoming(&self) -> Option<&Incoming> {
        match self {
            Self::Own(_) => None,
            Self::Passed(body) => body.rest.as_ref().map(|rest| &rest.passing.incoming),
        }
    }
}

impl Rest {
    /// Takes what comes, for nobody, as far as [`FOR_NOBODY_MAX`]. What ends it before is that of a
    /// request that was broken off.
    async fn finish(mut self) {
        let mut taken = 0;
        while taken <= FOR_NOBODY_MAX
            && let Some(Ok(frame)) = poll_fn(|context| self.poll(context)).await
        {
            taken += length(&frame);
        }
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        if let Some((offered, bytes)) = self.offered.take() {
            let not_taken = offered.elapsed();
            self.ending.not_taken(not_taken);
            if !self.pace.passed(bytes, not_taken) {
                self.ending.end(Kind::Abandoned);
                return Poll::Ready(Some(Err(BodyError::Slow)));
            }
        }
        if let Some(taking) = &self.taking {
            taking.ask();
        }
        let frame = ready!(self.passing.poll(context));
        if let Some(taking) = &self.taking {
            taking.offer();
        }
        match &frame {
            Some(Ok(frame)) => {
                let bytes = length(frame);
                self.ending.passed(bytes);
                if self.passing.incoming.is_end_stream() {
                    self.ending.end(Kind::Completed);
                } else {
                    self.offered = Some((Instant::now(), bytes));
                }
            }
            Some(Err(_)) => self.ending.end(Kind::Failed),
            None => self.ending.end(Kind::Completed),
        }
        Poll::Ready(frame)
    }
}

fn length(frame: &Frame<Bytes>) -> u64 {
    frame.data_ref().map_or(0, Bytes::len) as u64
}

/// The least pace of a client, after the first wait for it.
fn pace(live: &Live) -> Pace {
    Pace::new(live.settings.request.min_rate, live.settings.timeouts.body)
}

impl Drop for PassedBody {
    fn drop(&mut self) {
        let Some(mut rest) = self.rest.take() else {
            return;
        };
        // A body that is known to be empty is never asked for.
        if rest.passing.incoming.is_end_stream() {
            rest.ending.end(Kind::Completed);
        } else if let Some(flow) = rest.ending.leave() {
            alone::go_on(&flow, self.within, rest.finish());
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
            Self::Passed(body) => match &mut body.rest {
                Some(rest) => rest.poll(context),
                None => Poll::Ready(None),
            },
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Own(text) => text.is_none(),
            Self::Passed(body) if body.is_told_of => false,
            Self::Passed(_) => self.incoming().is_none_or(Body::is_end_stream),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Own(text) => SizeHint::with_exact(text.as_ref().map_or(0, Bytes::len) as u64),
            Self::Passed(body) if body.is_told_of => SizeHint::default(),
            Self::Passed(_) => self
                .incoming()
                .map_or_else(SizeHint::default, Body::size_hint),
        }
    }
}
