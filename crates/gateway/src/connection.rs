//! One client's connection: which protocol it speaks, and its requests one after the other, or many at once.

use std::convert::Infallible;
use std::future::Future;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::{Request, Response};
use hyper::body::Incoming;
use hyper::rt::{Read, Write};
use hyper::server::conn::{http1, http2};
use hyper::service::Service;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::sync::watch;

use crate::body::ResponseBody;
use crate::forwarded::Client;
use crate::gatehouse::{Shared, drained};
use crate::live::Live;
use crate::proxy::answer;
use crate::settings::Settings;
use crate::watched::{Activity, Watched};

/// Room for a head and for what of a body is read ahead.
const BUFFER_MIN: usize = 64 * 1024;
/// Streams of one connection at once; as many as browsers are content with.
const STREAMS_MAX: u32 = 128;
/// Streams that a client may reset before the gateway has seen them (CVE-2023-44487).
const RESETS_MAX: usize = 20;
/// Bytes of responses that a stream holds which the client does not take.
const HELD_MAX: usize = 64 * 1024;
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
pub(crate) async fn serve(
    stream: TcpStream,
    address: SocketAddr,
    shared: Arc<Shared>,
    thread: usize,
) {
    let live = shared.current.get();
    let timeouts = &live.settings.timeouts;
    // Without it, the second half of a response would wait for the client's acknowledgement of the first.
    let _ = stream.set_nodelay(true);
    let mut drains = shared.drains.clone();
    let Some(acceptor) = shared.tls.as_ref().map(crate::tls::Tls::acceptor) else {
        let begins = tokio::time::timeout(timeouts.idle, begins_http2(&stream));
        let is_http2 = tokio::select! {
            begins = begins => begins,
            () = drained(&mut drains) => return,
        };
        let Ok(Ok(is_http2)) = is_http2 else {
            return;
        };
        return speak(stream, is_http2, address, false, live, shared, thread).await;
    };
    let handshake = tokio::time::timeout(timeouts.head, acceptor.accept(stream));
    let Ok(Ok(stream)) = handshake.await else {
        return;
    };
    let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
    speak(stream, is_http2, address, true, live, shared, thread).await;
}

/// Whether the client begins with the preface of HTTP/2. Its first bytes come in one piece; whoever sends them one
/// by one is taken at the first for a client of HTTP/1, and told that it is none.
async fn begins_http2(stream: &TcpStream) -> std::io::Result<bool> {
    let mut first = [0; PREFACE_BEGIN.len()];
    let count = stream.peek(&mut first).await?;
    Ok(first[..count] == *PREFACE_BEGIN)
}

async fn speak<S>(
    stream: S,
    is_http2: bool,
    address: SocketAddr,
    is_secure: bool,
    live: Arc<Live>,
    shared: Arc<Shared>,
    thread: usize,
) where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
{
    let activity = Arc::new(Activity::default());
    let timeouts = &live.settings.timeouts;
    let watched = Watched::new(
        TokioIo::new(stream),
        Arc::clone(&activity),
        !is_http2,
        timeouts,
    );
    let drains = shared.drains.clone();
    let connection = Arc::new(Connection {
        client: Client::new(address, is_secure),
        turn: AtomicUsize::new(thread),
        shared,
        thread,
        activity,
        live: Mutex::new(Arc::clone(&live)),
    });
    let answers = Answers(connection);
    if is_http2 {
        speak_http2(watched, answers, &live.settings, drains).await;
    } else {
        speak_http1(watched, answers, &live.settings, drains).await;
    }
}

/// Answers each request of a connection.
#[derive(Debug, Clone)]
struct Answers(Arc<Connection>);

impl Service<Request<Incoming>> for Answers {
    type Response = Response<ResponseBody>;
    type Error = Infallible;
    // In a box, so that a connection without a request does not hold the room for one.
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        let connection = Arc::clone(&self.0);
        let running = connection.activity.begin();
        Box::pin(async move { Ok(answer(connection, request, running).await) })
    }
}

async fn speak_http1<S>(
    stream: S,
    answers: Answers,
    settings: &Settings,
    mut drains: watch::Receiver<bool>,
) where
    S: Read + Write + Unpin + Send + 'static,
{
    let head_max = settings.request.max_head as usize;
    let connection = http1::Builder::new()
        .header_read_timeout(None::<Duration>)
        .max_headers(settings.request.max_headers as usize + 1)
        .max_header_size(head_max)
        .max_buf_size(head_max.max(BUFFER_MIN))
        .serve_connection(stream, answers)
        .with_upgrades();
    let mut connection = pin!(connection);
    // What ends a connection is the client's business; its requests have been told of where they are.
    let _ = tokio::select! {
        ended = connection.as_mut() => ended,
        () = drained(&mut drains) => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
}

async fn speak_http2<S>(
    stream: S,
    answers: Answers,
    settings: &Settings,
    mut drains: watch::Receiver<bool>,
) where
    S: Read + Write + Unpin + Send + 'static,
{
    let connection = http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS_MAX)
        .max_pending_accept_reset_streams(RESETS_MAX)
        .max_header_list_size(settings.request.max_head)
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
