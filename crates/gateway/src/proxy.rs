//! The life of a request: is it fit, which class is it, may it go on, to whom, and what comes back.

use std::convert::Infallible;
use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use http::header::{
    CONNECTION, CONTENT_LENGTH, COOKIE, EXPECT, HOST, HeaderValue, TE, TRANSFER_ENCODING, UPGRADE,
    VIA,
};
use http::request::Parts;
use http::uri::{PathAndQuery, Uri};
use http::{HeaderMap, Request, Response, StatusCode, Version};
use hyper::body::{Body as _, Incoming};
use hyper::upgrade::OnUpgrade;
use weir_limit::Kind;

use crate::access_log::Line;
use crate::alone::{Answered, Stand};
use crate::body::{RequestBody, ResponseBody};
use crate::client::{ClientAddress, Named};
use crate::connection::Connection;
use crate::ending::Ending;
use crate::fitting::About;
use crate::flow::{Entry, Slot};
use crate::gatehouse::Shared;
use crate::hop::{remove_hop_by_hop, upgrade};
use crate::keys::{self, Over};
use crate::live::Live;
use crate::long_lived::lasts;
use crate::marks::Marks;
use crate::refuse::{self, NO_BACKEND, Reason};
use crate::sending::{Failure, forward};
use crate::settings::AbandonedWork;
use crate::upgrade::switch;
use crate::vet::vet;
use crate::watched::Running;

const BY_WEIR: HeaderValue = HeaderValue::from_static("1.1 weir");

/// The answer to a request, in time. In a box, so that a connection without a request does not hold
/// the room for one.
pub(crate) type Answering =
    Pin<Box<dyn Future<Output = Result<Response<ResponseBody>, Infallible>> + Send>>;

/// Answers a request.
///
/// There can be very many that wait for their turn, so what comes after it has a box of its own;
/// and whatever is moved into an `async` block and not into an `async fn` has room there once and
/// not twice.
pub(crate) fn answer(
    connection: Arc<Connection>,
    mut request: Request<Incoming>,
    running: Running,
) -> Answering {
    let shared = &connection.shared;
    let live = connection.live();
    let switching = upgrade(request.headers());
    let switching = switching.map(|protocol| (protocol, hyper::upgrade::on(&mut request)));
    let (head, body) = request.into_parts();
    let mut line = shared
        .log
        .as_ref()
        .map(|log| Line::new(log, &connection.client, &head));
    let from = connection.client.address;
    let named = Named::find(&head.headers, from, &live.settings.proxies);
    if let (Some(line), Some(client)) = (&mut line, named.as_ref().and_then(|it| it.address())) {
        line.is_for(client);
    }
    let log = &live.settings.log;
    let marks = Marks::find(&head.headers, log, live.settings.proxies.trusts(from.ip()));
    if let Some(line) = &mut line {
        line.is_marked(log, marks.as_deref());
    }
    let host = match vet(&head, &live.settings.request) {
        Ok(host) => host,
        Err(unfit) => {
            shared.counts.malformed.count(unfit.why);
            if let Some(line) = &mut line {
                line.malformed(unfit.why);
                line.answered(unfit.status);
            }
            let mut response = close(refuse::unfit(&unfit), head.version);
            mark_answer(&mut response, marks.as_deref());
            return Box::pin(ready(Ok(response)));
        }
    };
    if live.settings.monitor.as_deref() == Some(head.uri.path()) {
        let response = refuse::monitored(live.any_is_up(), *shared.drains.borrow());
        if let Some(line) = &mut line {
            line.admitted(Duration::ZERO);
            line.answered(response.status());
        }
        return Box::pin(ready(Ok(response)));
    }
    Box::pin(async move {
        let client = named.as_ref().and_then(|named| named.address());
        let client = client.unwrap_or(from);
        let (slot, live) = match admit(&connection, live, client, &head, &mut line).await {
            Ok(admitted) => admitted,
            Err(mut refused) => {
                mark_answer(&mut refused, marks.as_deref());
                return Ok(*refused);
            }
        };
        let received = line.as_mut().filter(|_| !body.is_end_stream());
        let received = received.map(|line| line.receives());
        let keeps = live.settings.limit.abandoned_work == AbandonedWork::GoesOn;
        let stand: Option<Arc<Stand>> = keeps.then(Arc::default);
        let admitted = Admitted {
            body: RequestBody::new(body, &live, running.activity(), received),
            ending: Ending::new(slot, line, running, stand.clone()),
            head,
            host,
            named,
            marks,
            switching,
        };
        let shared = Arc::clone(&connection.shared);
        let within = live.settings.timeouts.response;
        let answering = admitted.go_on(connection, live);
        Ok(Answered::new(answering, stand, &shared.flow, within).await)
    })
}

/// A request that may go on.
struct Admitted {
    head: Parts,
    host: Option<HeaderValue>,
    named: Option<Box<Named>>,
    marks: Option<Box<Marks>>,
    body: RequestBody,
    /// The protocol to which the client would switch, and the client's side of it.
    switching: Option<(HeaderValue, OnUpgrade)>,
    ending: Ending,
}

impl Admitted {
    /// Passes the request on and the answer back.
    fn go_on(
        self,
        connection: Arc<Connection>,
        live: Arc<Live>,
    ) -> impl Future<Output = Response<ResponseBody>> {
        let Self {
            mut head,
            host,
            named,
            marks,
            body,
            switching,
            mut ending,
        } = self;
        let takes_trailers = takes_trailers(&head);
        prepare(
            &mut head,
            host.as_ref(),
            named.as_deref(),
            &connection,
            &live,
        );
        if let Some((protocol, _)) = &switching {
            head.headers.insert(UPGRADE, protocol.clone());
            head.headers
                .insert(CONNECTION, HeaderValue::from_static("upgrade"));
        }
        let about = About {
            names_host: host.is_some(),
            takes_trailers,
            switches: switching.is_some(),
        };
        if let Some(host) = host {
            head.headers.insert(HOST, host);
        }
        if let Some(marks) = &marks {
            marks.mark(&mut head.headers);
        }
        let request = Request::from_parts(head, body);
        async move {
            let mut response = match forward(&connection, &live, request, about, &mut ending).await
            {
                Ok(response) => {
                    let client = switching.map(|(_, client)| client);
                    pass_back(response, &connection.shared, &live, ending, client)
                }
                Err(Failure { status, says, kind }) => {
                    ending.answers(status);
                    ending.end(kind);
                    refuse::failed(status, says)
                }
            };
            mark_answer(&mut response, marks.as_deref());
            response
        }
    }
}

fn mark_answer(response: &mut Response<ResponseBody>, marks: Option<&Marks>) {
    if let Some(marks) = marks {
        marks.mark_answer(response.headers_mut());
    }
}

/// Waits until the request may go on; else how it is rejected.
async fn admit(
    connection: &Arc<Connection>,
    mut live: Arc<Live>,
    client: ClientAddress,
    head: &Parts,
    line: &mut Option<Box<Line>>,
) -> Result<(Slot, Arc<Live>), Box<Response<ResponseBody>>> {
    let flow = &connection.shared.flow;
    let (class, route, held, entry) = loop {
        let route = live.routes.as_ref().map(|routes| routes.of(head));
        let is_as_costly = |class| route.as_ref().is_some_and(|route| route.is_of(class));
        let class = live.settings.class_of(head, is_as_costly);
        if live.has_nobody() {
            let response = refuse::no_backend(&live.classes[class], live.settings.health.every);
            return Err(turn_away(response, NO_BACKEND, &live, class, line));
        }
        if live.settings.is_exempt(class) {
            connection
                .shared
                .counts
                .exempt
                .fetch_add(1, Ordering::Relaxed);
            if let Some(line) = line {
                line.of_class(&live.classes[class]);
                line.admitted(Duration::ZERO);
            }
            let mut slot = flow.slot_of_none();
            slot.is_counted_in(&live.figures[class]);
            return Ok((slot, live));
        }
        let held = match keys::arrive(&live.keys, &live.classes[class], client, head) {
            Ok(held) => held,
            Err(over) => return Err(over_its_share(&over, &live, class, line)),
        };
        match flow.arrive(class, live.generation) {
            Entry::Stale => live = connection.shared.current.get(),
            entry => break (class, route, held, entry),
        }
    };
    let figures = &live.figures[class];
    let name = &live.classes[class];
    if let Some(line) = line {
        line.of_class(name);
    }
    let admitted = match entry {
        Entry::Admitted(slot) => Ok(slot),
        Entry::Queued(place) => match keys::wait(&held) {
            Ok(_waiting) => place.await,
            Err(over) => return Err(over_its_share(&over, &live, class, line)),
        },
        Entry::Refused(refusal) => Err(refusal),
        Entry::Stale => unreachable!("the loop above goes on until it is not"),
    };
    match admitted {
        Ok(mut slot) => {
            slot.is_counted_in(figures);
            slot.counts_for(held);
            if let Some(route) = route {
                slot.is_for(route);
            }
            if let Some(line) = line {
                line.admitted(slot.waited());
            }
            Ok((slot, live))
        }
        Err(refusal) => {
            let response = refuse::turned_away(&refusal, name);
            figures.answered(response.status());
            if let Some(line) = line {
                line.refused(Reason::Admission(refusal.why));
                line.answered(response.status());
            }
            Err(Box::new(response))
        }
    }
}

/// Rejects a request of a client that has more than its share.
fn over_its_share(
    over: &Over,
    live: &Live,
    class: usize,
    line: &mut Option<Box<Line>>,
) -> Box<Response<ResponseBody>> {
    let response = refuse::over_its_share(over, &live.classes[class]);
    turn_away(response, over.reason(), live, class, line)
}

/// Rejects a request before the admission has it.
fn turn_away(
    response: Response<ResponseBody>,
    why: Reason,
    live: &Live,
    class: usize,
    line: &mut Option<Box<Line>>,
) -> Box<Response<ResponseBody>> {
    live.figures[class].answered(response.status());
    if let Some(line) = line {
        line.of_class(&live.classes[class]);
        line.refused(why);
        line.answered(response.status());
    }
    Box::new(response)
}

/// Whether the client takes fields that come after the body. In HTTP/1.1 none are passed on.
fn takes_trailers(head: &Parts) -> bool {
    let mut options = head.headers.get_all(TE).iter();
    let trailers = |value: &HeaderValue| value.as_bytes().eq_ignore_ascii_case(b"trailers");
    head.version == Version::HTTP_2 && options.any(trailers)
}

/// A client of HTTP/2 may send its cookies one by one; HTTP/1.1 has one field for all (RFC 9113,
/// 8.2.3).
fn join_cookies(headers: &mut HeaderMap) {
    if headers.get_all(COOKIE).iter().nth(1).is_none() {
        return;
    }
    let crumbs: Vec<&[u8]> = headers
        .get_all(COOKIE)
        .iter()
        .map(HeaderValue::as_bytes)
        .collect();
    // Of values that were fields each by itself, nothing can be wrong when they are one.
    if let Ok(joined) = HeaderValue::from_bytes(&crumbs.join(&b"; "[..])) {
        headers.insert(COOKIE, joined);
    }
}

/// Makes the head of a client's request that of the gateway's.
fn prepare(
    head: &mut Parts,
    host: Option<&HeaderValue>,
    named: Option<&Named>,
    connection: &Connection,
    live: &Live,
) {
    remove_hop_by_hop(&mut head.headers);
    if head.version == Version::HTTP_2 {
        join_cookies(&mut head.headers);
    }
    // The gateway says `100 Continue` itself, when the request was admitted and a backend takes the
    // body.
    head.headers.remove(EXPECT);
    let forwarded = live.settings.forwarded;
    let client = &connection.client;
    client.tell(&mut head.headers, host, forwarded, named);
    let is_trusted = || live.settings.proxies.trusts(client.address.ip());
    client.certificate.tell(&mut head.headers, is_trusted);
    head.headers.append(VIA, BY_WEIR);
    let target = head.uri.path_and_query().cloned();
    head.uri = Uri::from(target.unwrap_or_else(|| PathAndQuery::from_static("/")));
    head.version = Version::HTTP_11;
}

/// Makes a backend's response the gateway's.
fn pass_back(
    response: Response<Incoming>,
    shared: &Shared,
    live: &Live,
    mut ending: Ending,
    client: Option<OnUpgrade>,
) -> Response<ResponseBody> {
    let switches = response.status() == StatusCode::SWITCHING_PROTOCOLS;
    if switches && client.is_none() {
        let status = StatusCode::BAD_GATEWAY;
        ending.answers(status);
        ending.end(Kind::Failed);
        return refuse::failed(
            status,
            "the backend switched the protocol without being asked to",
        );
    }
    let lasts = lasts(response.status(), response.headers());
    if lasts {
        ending.has_no_end();
    }
    if let Some(most) = live.settings.limit.long_lived.filter(|_| lasts) {
        let Some(place) = shared.long_lived.begin(most) else {
            let refused = refuse::too_many_last();
            ending.answers(refused.status());
            ending.end(Kind::Abandoned);
            return refused;
        };
        ending.answers(response.status());
        ending.lasts(place);
    }
    if switches && let Some(client) = client {
        return switch(client, response, live, ending);
    }
    let (mut head, body) = response.into_parts();
    remove_body_length_of_chunked(&mut head.headers);
    remove_hop_by_hop(&mut head.headers);
    head.version = Version::HTTP_11;
    ending.answers(head.status);
    let mut body = ResponseBody::passed(body, live, ending);
    if head.status == StatusCode::NOT_MODIFIED && head.headers.contains_key(CONTENT_LENGTH) {
        body = body.told_of();
    }
    Response::from_parts(head, body)
}

/// Of both lengths the chunks are the true one (RFC 9112, 6.3); hyper has read the body so.
fn remove_body_length_of_chunked(headers: &mut HeaderMap) {
    if headers.contains_key(TRANSFER_ENCODING) {
        headers.remove(CONTENT_LENGTH);
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
