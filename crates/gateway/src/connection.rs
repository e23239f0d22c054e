//! One client's connection: which protocol it speaks, and its requests one after the other, or many
//! at once.

use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::Duration;

use http::{Request, Response};
use hyper::body::{Body as _, Incoming};
use hyper::server::conn::http1::UpgradeableConnection;
use hyper::server::conn::{http1, http2};
use hyper::service::Service;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::AsyncWriteExt as _;
use tokio::sync::watch;
use tokio::time::{Instant, sleep};
use tokio_rustls::rustls::ProtocolVersion;

use crate::alone::Alone;
use crate::body::ResponseBody;
use crate::certificate::Certificate;
use crate::client::ClientAddress;
use crate::flow::Flow;
use crate::forwarded::Client;
use crate::gatehouse::{Counted, Shared, drained};
use crate::heads::HeldHead;
use crate::keys::connect;
use crate::leaving::ClientStream;
use crate::live::Live;
use crate::malformed::Malformed;
use crate::proxy::{Answering, answer};
use crate::proxy_protocol;
use crate::settings::RequestLimits;
use crate::socket::{Connected as _, Socket};
use crate::stream::Streams;
use crate::watched::{Activity, Watched};

/// Room for a head and for what of a body is read ahead.
const BUFFER_MIN: usize = 64 * 1024;
/// Fields of a head for which hyper has room on the stack, which is faster.
const HEADERS_INLINE: usize = 100;
/// Streams of one connection at once; as many as browsers are content with.
const STREAMS_MAX: u32 = 128;
/// Streams that a client may reset before the gateway has seen them (CVE-2023-44487).
const RESETS_MAX: usize = 20;
/// Bytes of responses that a stream holds which the client does not take.
const HELD_MAX: usize = 64 * 1024;
/// How long a connection without a request goes on when the gateway drains.
const LINGER: Duration = Duration::from_secs(1);
/// A client that does not answer a ping for as long is gone.
const PING_EVERY: Duration = Duration::from_secs(20);
/// What a client of HTTP/2 sends first begins with this (RFC 9113, 3.4).
const PREFACE_BEGIN: &[u8; 4] = b"PRI ";

/// What the requests of one connection have in common.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) shared: Arc<Shared>,
    pub(crate) client: Client,
    /// The thread that it belongs to.
    pub(crate) thread: usize,
    activity: Arc<Activity>,
    live: Mutex<Arc<Live>>,
    turn: AtomicUsize,
}

impl Connection {
    /// The settings in force.
    pub(crate) fn live(&self) -> Arc<Live> {
        let mut live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        self.shared.current.renew(&mut live);
        Arc::clone(&live)
    }

    /// Counts on, so that equal backends take turns.
    pub(crate) fn turn(&self) -> usize {
        self.turn.fetch_add(1, Ordering::Relaxed)
    }
}

/// Serves a client until it or the gateway ends.
///
/// What a plain connection of HTTP/1.1 does not need is in boxes: there can be very many that rest,
/// and each would hold the room for a handshake and for streams.
pub(crate) async fn serve(
    stream: Socket,
    address: ClientAddress,
    shared: Arc<Shared>,
    thread: usize,
) {
    stream.without_delay();
    if speaks_for_others(address, &shared) {
        return Box::pin(serve_for_another(stream, address, shared, thread)).await;
    }
    serve_client(stream, Client::new(address, false), shared, thread).await;
}

/// Whether connections from there begin with the PROXY protocol.
fn speaks_for_others(address: ClientAddress, shared: &Shared) -> bool {
    let live = shared.current.get();
    let proxies = &live.settings.proxies;
    proxies.proxy_protocol && proxies.trusts(address.ip())
}

/// Serves a client for which a trusted proxy has connected.
async fn serve_for_another(
    mut stream: Socket,
    proxy: ClientAddress,
    shared: Arc<Shared>,
    thread: usize,
) {
    let within = shared.current.get().settings.timeouts.head;
    let declared = tokio::time::timeout(within, proxy_protocol::read(&mut stream)).await;
    let declared = match declared {
        Ok(Ok(Some(declared))) => declared,
        Ok(Ok(None)) => return,
        Ok(Err(_)) | Err(_) => return shared.no_request(proxy, Malformed::ProxyProtocol),
    };
    let address = declared.client.unwrap_or(proxy);
    let Some(_connected) = connect(&shared.current.get(), address) else {
        return;
    };
    let client = Client::new(address, declared.is_secure);
    serve_client(stream, client, shared, thread).await;
}

/// Serves a client that is known.
async fn serve_client(stream: Socket, client: Client, shared: Arc<Shared>, thread: usize) {
    if shared.tls.is_some() {
        let client = Client::new(client.address, true);
        return Box::pin(serve_securely(stream, client, shared, thread)).await;
    }
    let Some(is_http2) = begins(&stream, &shared).await else {
        return;
    };
    let answers = Answers::new(shared, client, thread);
    if is_http2 {
        Box::pin(speak_http2(stream, answers)).await;
    } else {
        speak_http1(stream, answers).await;
    }
}

async fn serve_securely(stream: Socket, mut client: Client, shared: Arc<Shared>, thread: usize) {
    let within = shared.current.get().settings.timeouts.head;
    let Some(tls) = &shared.tls else {
        return;
    };
    let handshake = tokio::time::timeout(within, tls.acceptor().accept(stream));
    let Ok(Ok(stream)) = handshake.await else {
        return;
    };
    let session = stream.get_ref().1;
    let is_http2 = session.alpn_protocol() == Some(b"h2");
    client.tls = session.protocol_version().map(|version| match version {
        ProtocolVersion::TLSv1_3 => "TLSv1.3",
        ProtocolVersion::TLSv1_2 => "TLSv1.2",
        _ => "TLS",
    });
    if tls.asks_for_certificates() {
        let shown = session.peer_certificates().and_then(|chain| chain.first());
        client.certificate = Certificate::shown(shown.map(AsRef::as_ref));
    }
    let answers = Answers::new(shared, client, thread);
    if is_http2 {
        speak_http2(stream, answers).await;
    } else {
        speak_http1(stream, answers).await;
    }
}

/// Waits for a client's first bytes, which tell whether it speaks HTTP/2; `None` if none come.
async fn begins(stream: &Socket, shared: &Shared) -> Option<bool> {
    let idle = shared.current.get().settings.timeouts.idle;
    let mut drains = shared.drains.clone();
    tokio::select! {
        begins = tokio::time::timeout(idle, begins_http2(stream)) => begins.ok()?.ok(),
        () = drained_for_a_while(&mut drains) => None,
    }
}

/// Whether the client begins with the preface of HTTP/2. Its first bytes come in one piece; whoever
/// sends them one by one is taken at the first for a client of HTTP/1, and told that it is none.
async fn begins_http2(stream: &Socket) -> std::io::Result<bool> {
    let mut first = [0; PREFACE_BEGIN.len()];
    let count = stream.peek(&mut first).await?;
    Ok(first[..count] == *PREFACE_BEGIN)
}

/// Answers each request of a connection.
#[derive(Debug, Clone)]
struct Answers(Arc<Connection>);

impl Answers {
    /// To the requests of a client whose connection belongs to a thread.
    fn new(shared: Arc<Shared>, client: Client, thread: usize) -> Self {
        let head = HeldHead::new(&shared.heads);
        Self(Arc::new(Connection {
            live: Mutex::new(shared.current.get()),
            shared,
            client,
            thread,
            activity: Arc::new(Activity::new(head)),
            turn: AtomicUsize::new(thread),
        }))
    }

    /// The client's stream, on which nothing lasts for ever.
    fn watched<S: ClientStream>(&self, stream: S, is_http1: bool) -> Watched<TokioIo<S>> {
        let activity = Arc::clone(&self.0.activity);
        let live = self.0.live();
        Watched::new(TokioIo::new(stream), activity, is_http1, &live.settings)
    }
}

impl Service<Request<Incoming>> for Answers {
    type Response = Response<ResponseBody>;
    type Error = Infallible;
    type Future = Answering;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        let connection = Arc::clone(&self.0);
        let running = connection.activity.begin(request.body().is_end_stream());
        answer(connection, request, running)
    }
}

/// Serves HTTP/1.1; between requests that are far apart, the connection rests.
async fn speak_http1<S: ClientStream>(stream: S, answers: Answers) {
    let mut drains = answers.0.shared.drains.clone();
    let mut watched = answers.watched(stream, true);
    loop {
        let busy = Box::pin(serve_http1(watched, answers.clone(), &mut drains));
        let Some((rested, ends)) = busy.await else {
            return;
        };
        watched = rested;
        let Some(ends) = ends else {
            continue;
        };
        let _resting = Counted::new(&answers.0.shared.counts.resting);
        let socket = watched.stream().inner().socket();
        tokio::select! {
            some = tokio::time::timeout_at(ends, socket.readable()) => {
                if !matches!(some, Ok(Ok(()))) {
                    return;
                }
            }
            () = drained_for_a_while(&mut drains) => {
                // TLS has something to say at the end.
                let _ = watched.stream().inner_mut().shutdown().await;
                return;
            }
        }
    }
}

/// A connection that hyper does not hold, and until when it may be without a request; `None`: its
/// next one has begun.
type Rested<S> = (Watched<TokioIo<S>>, Option<Instant>);

/// Why hyper serves a connection no longer.
enum Why {
    Ended {
        /// hyper did not understand what came, and has said so.
        malformed: bool,
    },
    Rests,
    Drains,
}

/// Serves requests until the connection ends or rests. Not an `async fn`, in which the stream would
/// have room twice.
fn serve_http1<S: ClientStream>(
    stream: Watched<TokioIo<S>>,
    answers: Answers,
    drains: &mut watch::Receiver<bool>,
) -> impl Future<Output = Option<Rested<S>>> {
    let activity = Arc::clone(stream.activity());
    let mut builder = http1_builder(&answers.0.live().settings.request);
    // Who leaves is seen without hyper's reading on, for which it would need another buffer.
    builder.half_close(S::IS_SEEN);
    let (shared, from) = (Arc::clone(&answers.0.shared), answers.0.client.address);
    let mut connection = builder.serve_connection(stream, answers).with_upgrades();
    async move {
        match until(&mut connection, &activity, &shared.flow, drains).await {
            Why::Rests => {}
            // What ends a connection is the client's business; its requests have been told of where
            // they are.
            Why::Ended { malformed } => {
                if malformed {
                    shared.no_request(from, Malformed::Head);
                } else if activity.is_unfinished() {
                    shared.no_request(from, Malformed::Unfinished);
                }
                return None;
            }
            Why::Drains => {
                if begins_another(&mut connection, &activity).await {
                    return None;
                }
                let mut connection = Pin::new(&mut connection);
                connection.as_mut().graceful_shutdown();
                let _ = connection.await;
                return None;
            }
        }
        let parts = connection.into_parts()?;
        let mut stream = parts.io;
        let ends = stream.rested(parts.read_buf);
        Some((stream, ends))
    }
}

/// Serves requests until something else is to be done.
async fn until<S: ClientStream>(
    connection: &mut UpgradeableConnection<Watched<TokioIo<S>>, Answers>,
    activity: &Activity,
    flow: &Arc<Flow>,
    drains: &mut watch::Receiver<bool>,
) -> Why {
    // To be drained is looked for once, which wakes this task, and then only when something has
    // changed: requests wake it far more often.
    let unchanged = drains.clone();
    let mut drained = pin!(drained(drains));
    let mut is_looked_for = false;
    // Its client may have left; the connection stays, in case it has not.
    let mut alone = None;
    poll_fn(|context| {
        loop {
            if let Poll::Ready(ended) = Pin::new(&mut *connection).poll(context) {
                let malformed = ended.is_err_and(|error| error.is_parse());
                return Poll::Ready(Why::Ended { malformed });
            }
            if activity.rests() {
                return Poll::Ready(Why::Rests);
            }
            if !activity.fell_quiet() {
                break;
            }
        }
        if alone.is_none() && activity.is_silent() {
            alone = Alone::begin(flow);
        }
        if is_looked_for && matches!(unchanged.has_changed(), Ok(false)) {
            return Poll::Pending;
        }
        is_looked_for = true;
        drained.as_mut().poll(context).map(|()| Why::Drains)
    })
    .await
}

/// Ready a while after the gateway has begun to drain. Who is without a request may be just sending
/// one, and would find the connection closed.
async fn drained_for_a_while(drains: &mut watch::Receiver<bool>) {
    drained(drains).await;
    sleep(LINGER).await;
}

/// Serves on until a request runs, which is then the last one, or none has come for a while.
/// Whether the connection has ended.
async fn begins_another<S: ClientStream>(
    connection: &mut UpgradeableConnection<Watched<TokioIo<S>>, Answers>,
    activity: &Activity,
) -> bool {
    let begins = poll_fn(|context| {
        let ended = Pin::new(&mut *connection).poll(context).is_ready();
        if ended || activity.is_running() {
            Poll::Ready(ended)
        } else {
            Poll::Pending
        }
    });
    let ended = tokio::time::timeout(LINGER, begins).await;
    ended.unwrap_or(false)
}

fn http1_builder(limits: &RequestLimits) -> http1::Builder {
    let (fields, head) = (limits.max_headers as usize, limits.max_head as usize);
    let mut builder = http1::Builder::new();
    if fields > HEADERS_INLINE {
        // One more than may be: `vet` has better words for it.
        builder.max_headers(fields + 1);
    }
    builder
        .header_read_timeout(None::<Duration>)
        .max_header_size(head)
        .max_buf_size(head.max(BUFFER_MIN));
    builder
}

async fn speak_http2<S: ClientStream>(stream: S, answers: Answers) {
    let live = answers.0.live();
    let mut drains = answers.0.shared.drains.clone();
    let stream = answers.watched(stream, false);
    let streams = Streams {
        within: live.settings.timeouts.body,
    };
    let connection = http2::Builder::new(streams)
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS_MAX)
        .max_pending_accept_reset_streams(RESETS_MAX)
        .max_header_list_size(live.settings.request.max_head)
        .max_send_buf_size(HELD_MAX)
        .keep_alive_interval(PING_EVERY)
        .keep_alive_timeout(PING_EVERY)
        .serve_connection(stream, answers);
    let mut connection = pin!(connection);
    let _ = tokio::select! {
        ended = connection.as_mut() => ended,
        () = drained(&mut drains) => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
}
