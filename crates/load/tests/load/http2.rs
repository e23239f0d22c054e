//! HTTP/2: agreed on under TLS, or spoken at once.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::thread;

use bytes::Bytes;
use h2::server::SendResponse;
use h2::{Reason, RecvStream};
use http::{Request, Response};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::version::TLS13;
use weir_plan::{Argument, HttpRequest, Sampler};
use weir_script::{HttpVersion, Scheme, Target};

use crate::secure::{SecureServer, server_config};
use crate::server::Server;
use crate::support::{Done, get, group, request_of, run, settings, text, times};

/// A request that arrived.
#[derive(Debug, Clone)]
struct Arrived {
    /// Which connection, from 0.
    connection: usize,
    head: String,
    body: String,
}

/// A server that speaks nothing but HTTP/2.
struct Http2Server {
    target: Target,
    arrived: Arc<Mutex<Vec<Arrived>>>,
}

impl Http2Server {
    fn start(scheme: Scheme) -> Self {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address: SocketAddr = listener.local_addr().unwrap();
        let arrived: Arc<Mutex<Vec<Arrived>>> = Arc::default();
        let seen = Arc::clone(&arrived);
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_io()
                .build()
                .unwrap();
            runtime.block_on(accept(listener, scheme, seen));
        });
        Self {
            target: Target {
                scheme,
                ..Target::from(address)
            },
            arrived,
        }
    }

    fn arrived(&self) -> Vec<Arrived> {
        self.arrived.lock().unwrap().clone()
    }
}

async fn accept(listener: std::net::TcpListener, scheme: Scheme, seen: Arc<Mutex<Vec<Arrived>>>) {
    listener.set_nonblocking(true).unwrap();
    let listener = TcpListener::from_std(listener).unwrap();
    let mut config = server_config(&[&TLS13]);
    config.alpn_protocols = vec![b"h2".to_vec()];
    let acceptor = TlsAcceptor::from(Arc::new(config));
    for connection in 0.. {
        let (stream, _) = listener.accept().await.unwrap();
        let (seen, acceptor) = (Arc::clone(&seen), acceptor.clone());
        tokio::spawn(async move {
            match scheme {
                Scheme::Http => serve(stream, connection, &seen).await,
                Scheme::Https => {
                    if let Ok(stream) = acceptor.accept(stream).await {
                        serve(stream, connection, &seen).await;
                    }
                }
            }
        });
    }
}

/// Answers: `/reset` ends the stream, `/leave` answers and ends the connection, `/big` is longer
/// than any window.
async fn serve(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    connection: usize,
    seen: &Arc<Mutex<Vec<Arrived>>>,
) {
    let Ok(mut server) = h2::server::handshake(stream).await else {
        return;
    };
    while let Some(Ok((request, respond))) = server.accept().await {
        if request.uri().path() == "/leave" {
            server.graceful_shutdown();
        }
        // The connection moves on only while somebody accepts.
        tokio::spawn(answer(request, respond, connection, Arc::clone(seen)));
    }
}

async fn answer(
    request: Request<RecvStream>,
    mut respond: SendResponse<Bytes>,
    connection: usize,
    seen: Arc<Mutex<Vec<Arrived>>>,
) {
    let (head, mut body) = request.into_parts();
    let mut text = Vec::new();
    while let Some(data) = body.data().await {
        text.extend_from_slice(&data.unwrap());
    }
    let path = head.uri.path().to_owned();
    seen.lock().unwrap().push(Arrived {
        connection,
        head: format!("{} {} {:?}", head.method, head.uri, head.headers),
        body: String::from_utf8(text).unwrap(),
    });
    if path == "/reset" {
        respond.send_reset(Reason::INTERNAL_ERROR);
        return;
    }
    let response = Response::builder().header("content-type", "text/plain");
    let mut stream = respond
        .send_response(response.body(()).unwrap(), false)
        .unwrap();
    let length = if path == "/big" { 5_000_000 } else { 5 };
    let body = Bytes::from(vec![b'x'; length]);
    stream.send_data(body, true).unwrap();
}

fn load(target: &Target, users: u32, count: u64, steps: Vec<Sampler>) -> Done {
    let mut users = group(users, steps);
    users.iterations = times(count);
    let mut settings = settings(&Server::good(), vec![users]);
    settings.plan.http_version = HttpVersion::Two;
    settings.target = Some(target.clone());
    run(settings)
}

#[test]
fn each_user_has_one_connection() {
    for scheme in [Scheme::Http, Scheme::Https] {
        let server = Http2Server::start(scheme);
        let done = load(&server.target, 3, 4, vec![get("/a?b=c")]);
        assert_eq!((done.summary.samples, done.summary.failed), (12, 0));
        let arrived = server.arrived();
        assert_eq!(arrived.len(), 12);
        for connection in 0..3 {
            let of_one = arrived.iter().filter(|one| one.connection == connection);
            assert_eq!(of_one.count(), 4, "{arrived:?}");
        }
        let Target { host, port, .. } = &server.target;
        let expect = format!("GET {}://{host}:{port}/a?b=c {{", scheme.name());
        assert!(arrived[0].head.starts_with(&expect), "{}", arrived[0].head);
        assert!(
            !arrived[0].head.contains("connection"),
            "{}",
            arrived[0].head
        );
        let row = &done.rows[0];
        assert_eq!((&*row.response_code, &*row.response_message), ("200", ""));
        assert!(row.received_bytes > 5 && row.sent_bytes > 0);
        assert!(row.elapsed_ms >= row.latency_ms && row.latency_ms >= row.connect_ms);
    }
}

#[test]
fn bodies_go_both_ways() {
    let server = Http2Server::start(Scheme::Http);
    let mut post = get("/post");
    *request_of(&mut post) = HttpRequest {
        method: text("POST"),
        raw_body: true,
        arguments: vec![Argument {
            name: text(""),
            value: text("a body"),
            always_encode: false,
            use_equals: false,
            content_type: text(""),
        }],
        ..request_of(&mut post).clone()
    };
    let done = load(&server.target, 1, 2, vec![post, get("/big")]);
    assert_eq!(done.summary.failed, 0, "{:?}", done.rows);
    let arrived = server.arrived();
    assert_eq!((&*arrived[0].body, &*arrived[1].body), ("a body", ""));
    let big = &done.rows[1];
    assert!(
        big.received_bytes > 5_000_000 && big.received_bytes < 5_100_000,
        "{big:?}"
    );
    assert!(arrived.iter().all(|one| one.connection == 0));
}

#[test]
fn a_stream_that_is_reset_fails_its_sample_and_no_other() {
    let server = Http2Server::start(Scheme::Http);
    let done = load(&server.target, 1, 2, vec![get("/"), get("/reset")]);
    assert_eq!((done.summary.samples, done.summary.failed), (4, 2));
    let row = &done.rows[1];
    assert_eq!(
        &*row.response_code,
        "Non HTTP response code: java.io.IOException"
    );
    assert_eq!(
        &*row.response_message,
        "Non HTTP response message: Received RST_STREAM: INTERNAL_ERROR"
    );
}

#[test]
fn a_server_that_leaves_gets_a_fresh_connection() {
    let server = Http2Server::start(Scheme::Http);
    let done = load(&server.target, 1, 3, vec![get("/leave")]);
    assert_eq!(
        (done.summary.samples, done.summary.failed),
        (3, 0),
        "{done:?}"
    );
    let connections: Vec<usize> = server.arrived().iter().map(|one| one.connection).collect();
    assert_eq!(connections, [0, 1, 2]);
}

#[test]
fn without_an_agreement_it_is_http_1() {
    let server = SecureServer::good();
    let done = load(&server.target(), 1, 2, vec![get("/")]);
    assert_eq!((done.summary.samples, done.summary.failed), (2, 0));
    assert_eq!(&*done.rows[0].response_message, "OK");
}
