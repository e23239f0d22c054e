//! The life of a request: is it fit, which class is it, may it go on, to whom, and what comes back.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::header::{CONNECTION, EXPECT, HOST, HeaderValue, TRANSFER_ENCODING, UPGRADE, VIA};
use http::request::Parts;
use http::uri::{PathAndQuery, Uri};
use http::{HeaderMap, Request, Response, StatusCode, Version};
use hyper::body::Incoming;
use hyper::upgrade::OnUpgrade;
use weir_limit::Kind;

use crate::access_log::Line;
use crate::backend::{Backend, ConnectError};
use crate::body::{BodyError, RequestBody, ResponseBody};
use crate::connection::Connection;
use crate::ending::Ending;
use crate::flow::{Entry, Slot};
use crate::hop::{remove_hop_by_hop, upgrade};
use crate::live::Live;
use crate::refuse;
use crate::upgrade::switch;
use crate::vet::vet;
use crate::watched::Running;

/// How often a request is tried, on a connection each, before any of it has been taken.
const TRIES_MAX: usize = 3;
const BY_WEIR: HeaderValue = HeaderValue::from_static("1.1 weir");

/// Answers a request.
pub(crate) async fn answer(
    connection: Arc<Connection>,
    mut request: Request<Incoming>,
    running: Running,
) -> Response<ResponseBody> {
    let shared = &connection.shared;
    let live = connection.live();
    let switching = upgrade(request.headers());
    let switching = switching.map(|protocol| (protocol, hyper::upgrade::on(&mut request)));
    let (mut head, body) = request.into_parts();
    let mut line = shared
        .log
        .as_ref()
        .map(|log| Line::new(log, connection.client.address, &head));
    let host = match vet(&head, &live.settings.request) {
        Ok(host) => host,
        Err(unfit) => {
            shared.counts.malformed.fetch_add(1, Ordering::Relaxed);
            if let Some(line) = &mut line {
                line.malformed();
                line.answered(unfit.status);
            }
            return close(refuse::unfit(&unfit), head.version);
        }
    };
    let (slot, live) = match admit(&connection, live, &head, &mut line).await {
        Ok(admitted) => admitted,
        Err(refused) => return *refused,
    };
    let body = RequestBody::new(body, live.settings.timeouts.body, running.activity());
    let mut ending = Ending::new(slot, line, running);
    prepare(&mut head, host.as_ref(), &connection, &live);
    if let Some((protocol, _)) = &switching {
        head.headers.insert(UPGRADE, protocol.clone());
        head.headers
            .insert(CONNECTION, HeaderValue::from_static("upgrade"));
    }
    match forward(&connection, &live, head, host, body, &mut ending).await {
        Ok(response) => pass_back(response, &live, ending, switching.map(|(_, client)| client)),
        Err(Failure { status, says }) => {
            ending.answers(status);
            ending.end(Kind::Failed);
            refuse::failed(status, says)
        }
    }
}

/// Waits until the request may go on; else how it is turned away.
async fn admit(
    connection: &Arc<Connection>,
    mut live: Arc<Live>,
    head: &Parts,
    line: &mut Option<Box<Line>>,
) -> Result<(Slot, Arc<Live>), Box<Response<ResponseBody>>> {
    let flow = &connection.shared.flow;
    let (class, route, entry) = loop {
        let route = live.routes.as_ref().map(|routes| routes.of(head));
        let is_as_costly = |class| route.as_ref().is_some_and(|route| route.is_of(class));
        let class = live.settings.class_of(head, is_as_costly);
        match flow.arrive(class, live.generation) {
            Entry::Stale => live = connection.shared.current.get(),
            entry => break (class, route, entry),
        }
    };
    let class = &live.classes[class];
    if let Some(line) = line {
        line.of_class(class);
    }
    let admitted = match entry {
        Entry::Admitted(slot) => Ok(slot),
        Entry::Queued(place) => place.await,
        Entry::Refused(refusal) => Err(refusal),
        Entry::Stale => unreachable!("the loop above goes on until it is not"),
    };
    match admitted {
        Ok(mut slot) => {
            if let Some(route) = route {
                slot.is_for(route);
            }
            if let Some(line) = line {
                line.admitted(slot.waited());
            }
            Ok((slot, live))
        }
        Err(refusal) => {
            let response = refuse::turned_away(&refusal, class);
            if let Some(line) = line {
                line.refused(refusal.why);
                line.answered(response.status());
            }
            Err(Box::new(response))
        }
    }
}

/// Makes the head of a client's request that of the gateway's.
fn prepare(head: &mut Parts, host: Option<&HeaderValue>, connection: &Connection, live: &Live) {
    remove_hop_by_hop(&mut head.headers);
    // The gateway says `100 Continue` itself, when the request was admitted and a backend takes the body.
    head.headers.remove(EXPECT);
    let forwarded = live.settings.forwarded;
    connection.client.tell(&mut head.headers, host, forwarded);
    head.headers.append(VIA, BY_WEIR);
    let target = head.uri.path_and_query().cloned();
    head.uri = Uri::from(target.unwrap_or_else(|| PathAndQuery::from_static("/")));
    head.version = Version::HTTP_11;
}

/// Why no response came.
struct Failure {
    status: StatusCode,
    says: &'static str,
}

const fn failure(status: StatusCode, says: &'static str) -> Failure {
    Failure { status, says }
}

/// Sends the request to a backend; what no backend has begun to take is tried again.
async fn forward(
    connection: &Connection,
    live: &Live,
    mut head: Parts,
    host: Option<HeaderValue>,
    body: RequestBody,
    ending: &mut Ending,
) -> Result<Response<Incoming>, Failure> {
    let thread = connection.thread;
    let names_host = host.is_some();
    if let Some(host) = host {
        head.headers.insert(HOST, host);
    }
    let mut request = Request::from_parts(head, body);
    let mut failed: Option<Arc<Backend>> = None;
    let mut last = failure(StatusCode::BAD_GATEWAY, "no backend took the request");
    for turn in 0..TRIES_MAX {
        let backend = live.backend(connection.turn() + turn, failed.as_ref());
        ending.at(backend);
        if !names_host {
            request.headers_mut().insert(HOST, host_of(backend));
        }
        let kept = backend.kept(thread, &live.settings);
        let mut to = match kept {
            Some(kept) => kept,
            None => match backend.connect(thread, &live.settings).await {
                Ok(new) => new,
                Err(error) => {
                    backend.looked(false, &live.settings.health);
                    failed = Some(Arc::clone(backend));
                    last = connect_failure(&error);
                    continue;
                }
            },
        };
        let moved = request.body().moved();
        let sending = to.sender().try_send_request(request);
        let within = live.settings.timeouts.response;
        let Some(sent) = in_time(within, sending, moved.as_deref()).await else {
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
            Err(mut error) => match error.take_message() {
                // The connection was closed before anything of it was written.
                Some(unsent) => request = unsent,
                None => return Err(send_failure(error.error())),
            },
        }
    }
    Err(last)
}

/// What comes within a time; the time begins anew while the request's body moves.
async fn in_time<T>(
    within: Duration,
    what: impl Future<Output = T>,
    moved: Option<&AtomicBool>,
) -> Option<T> {
    let mut what = pin!(what);
    loop {
        if let Ok(here) = tokio::time::timeout(within, what.as_mut()).await {
            return Some(here);
        }
        if !moved.is_some_and(|moved| moved.swap(false, Ordering::Relaxed)) {
            return None;
        }
    }
}

/// The `Host` for a client that names none.
fn host_of(backend: &Backend) -> HeaderValue {
    let name = backend.address.to_string();
    let host = name.trim_start_matches("http://");
    HeaderValue::from_str(host).unwrap_or(HeaderValue::from_static("localhost"))
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
        Some(BodyError::Stalled(_)) => {
            return failure(
                StatusCode::REQUEST_TIMEOUT,
                "the body of the request did not come in time",
            );
        }
        Some(BodyError::Broken(_)) => {
            return failure(StatusCode::BAD_REQUEST, "the body of the request is none");
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

/// Makes a backend's response the gateway's.
fn pass_back(
    response: Response<Incoming>,
    live: &Live,
    mut ending: Ending,
    client: Option<OnUpgrade>,
) -> Response<ResponseBody> {
    if response.status() == StatusCode::SWITCHING_PROTOCOLS {
        return if let Some(client) = client {
            switch(client, response, live, ending)
        } else {
            let status = StatusCode::BAD_GATEWAY;
            ending.answers(status);
            ending.end(Kind::Failed);
            refuse::failed(
                status,
                "the backend switched the protocol without being asked to",
            )
        };
    }
    let (mut head, body) = response.into_parts();
    remove_body_length_of_chunked(&mut head.headers);
    remove_hop_by_hop(&mut head.headers);
    head.version = Version::HTTP_11;
    ending.answers(head.status);
    let body = ResponseBody::passed(body, live.settings.timeouts.body, ending);
    Response::from_parts(head, body)
}

/// Of both lengths the chunks are the true one (RFC 9112, 6.3); hyper has read the body so.
fn remove_body_length_of_chunked(headers: &mut HeaderMap) {
    if headers.contains_key(TRANSFER_ENCODING) {
        headers.remove(http::header::CONTENT_LENGTH);
    }
}

/// After a request that is not understood nobody knows where the next one begins.
fn close(mut response: Response<ResponseBody>, version: Version) -> Response<ResponseBody> {
    if version < Version::HTTP_2 {
        response
            .headers_mut()
            .insert(CONNECTION, HeaderValue::from_static("close"));
    }
    response
}
