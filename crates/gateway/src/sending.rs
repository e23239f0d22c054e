//! A request on its way to a backend, until the answer begins.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Poll, ready};
use std::time::Duration;

use http::{Request, Response, StatusCode};
use hyper::body::Incoming;
use tokio::time::Instant;
use weir_limit::Kind;

use crate::again;
use crate::backend::{Backend, ConnectError, Sender};
use crate::body::{BodyError, RequestBody};
use crate::connection::Connection;
use crate::ending::Ending;
use crate::fitting::{About, fit};
use crate::live::Live;
use crate::patience::Patience;

/// How often a request is tried, on a connection each, before any of it has been taken.
const TRIES_MAX: usize = 3;

/// Why no response came.
pub(crate) struct Failure {
    pub(crate) status: StatusCode,
    pub(crate) says: &'static str,
    /// How the request has ended for the backend, whose failure it need not be.
    pub(crate) kind: Kind,
}

const fn failure(status: StatusCode, says: &'static str) -> Failure {
    Failure {
        status,
        says,
        kind: Kind::Failed,
    }
}

/// What the client sent was not whole: no failure of a backend's.
const fn of_client(status: StatusCode, says: &'static str) -> Failure {
    Failure {
        status,
        says,
        kind: Kind::Abandoned,
    }
}

/// Sends the request to a backend. What no backend has begun to take is tried again, and so is what
/// may be repeated if its connection broke before the answer. Not an `async fn`, in which the
/// request would have room twice.
#[expect(
    clippy::manual_async_fn,
    reason = "a request is moved once less, which shows in the cost of each"
)]
pub(crate) fn forward(
    connection: &Connection,
    live: &Arc<Live>,
    mut request: Request<RequestBody>,
    about: About,
    ending: &mut Ending,
) -> impl Future<Output = Result<Response<Incoming>, Failure>> {
    async move {
        let (thread, client) = (connection.thread, connection.client.address);
        let mut failed: Option<Arc<Backend>> = None;
        let mut last = failure(StatusCode::BAD_GATEWAY, "no backend took the request");
        live.again.earn();
        for turn in 0..TRIES_MAX {
            let backend = live.backend(connection.turn() + turn, failed.as_ref());
            ending.at(backend, live);
            let switches = about.switches;
            let kept = backend.kept(thread, &live.settings, client, switches);
            let mut to = match kept {
                Some(kept) => kept,
                // There is hardly ever none, and making one needs much room.
                None => match Box::pin(backend.connect(thread, live, client, switches)).await {
                    Ok(new) => new,
                    Err(error) => {
                        backend.looked(false, &live.settings.health);
                        failed = Some(Arc::clone(backend));
                        last = connect_failure(&error);
                        continue;
                    }
                },
            };
            fit(&mut request, backend, to.is_http2(), about);
            let copy = again::copy(&request);
            ending.is_sent(true);
            let within = live.settings.timeouts.response;
            let moved = request.body().moved();
            let (sender, patience) = to.parts();
            let sent = match sender {
                Sender::Http1(sender) => {
                    let sending = pin!(sender.try_send_request(request));
                    in_time(within, patience, sending, moved.as_deref()).await
                }
                Sender::Http2(shared) => {
                    let sending = pin!(shared.sender.try_send_request(request));
                    in_time(within, patience, sending, moved.as_deref()).await
                }
            };
            let Some(sent) = sent else {
                return Err(failure(
                    StatusCode::GATEWAY_TIMEOUT,
                    "the backend did not answer in time",
                ));
            };
            match sent {
                Ok(response) => {
                    ending.on(to);
                    return Ok(response);
                }
                Err(mut error) => {
                    if let Some(unsent) = error.take_message() {
                        // The connection was closed before anything of it was written.
                        request = unsent;
                    } else {
                        last = send_failure(error.error());
                        let copy = copy.filter(|_| turn + 1 < TRIES_MAX && live.again.spend());
                        let Some(copy) = copy else {
                            return Err(last);
                        };
                        backend.ejection.ended(false, &live.settings.health);
                        failed = Some(Arc::clone(backend));
                        request = copy;
                    }
                    ending.is_sent(false);
                }
            }
        }
        Err(last)
    }
}

/// What comes within a time; the time begins anew while the request's body moves. `patience` is
/// that of the connection: a timer for each request would cost more than the rest of this.
fn in_time<T>(
    within: Duration,
    patience: &mut Patience,
    mut what: Pin<&mut impl Future<Output = T>>,
    moved: Option<&AtomicBool>,
) -> impl Future<Output = Option<T>> {
    let mut deadline = Instant::now() + within;
    poll_fn(move |context| {
        if let Poll::Ready(here) = what.as_mut().poll(context) {
            return Poll::Ready(Some(here));
        }
        loop {
            ready!(patience.poll_lost_at(deadline, context));
            if !moved.is_some_and(|moved| moved.swap(false, Ordering::Relaxed)) {
                return Poll::Ready(None);
            }
            deadline = Instant::now() + within;
        }
    })
}

fn connect_failure(error: &ConnectError) -> Failure {
    match error {
        ConnectError::TooSlow(_) => failure(
            StatusCode::GATEWAY_TIMEOUT,
            "no backend took a connection in time",
        ),
        ConnectError::Refused(_) | ConnectError::Http(_) => {
            failure(StatusCode::BAD_GATEWAY, "no backend took a connection")
        }
    }
}

fn send_failure(error: &hyper::Error) -> Failure {
    // Only the body that the client sends is the gateway's own part of a connection to a backend.
    match std::error::Error::source(error).and_then(|cause| cause.downcast_ref()) {
        Some(BodyError::Stalled(_) | BodyError::Slow) => {
            return of_client(
                StatusCode::REQUEST_TIMEOUT,
                "the body of the request did not come in time",
            );
        }
        Some(BodyError::Broken(_)) => {
            return of_client(StatusCode::BAD_REQUEST, "the body of the request is none");
        }
        None => {}
    }
    if error.is_parse() {
        return failure(
            StatusCode::BAD_GATEWAY,
            "what the backend answered is not HTTP",
        );
    }
    failure(
        StatusCode::BAD_GATEWAY,
        "the backend broke the connection before it answered",
    )
}
