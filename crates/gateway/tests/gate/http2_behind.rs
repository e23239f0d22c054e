//! HTTP/2 behind, with clients of both versions in front.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::net::{SocketAddr, TcpListener};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::thread;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, Response, Version};
use http_body::{Body, Frame};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::client::conn::http2 as client;
use hyper::server::conn::http2 as server;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::sync::Semaphore;
use weir_gateway::{Gateway, Settings};

use crate::client::Client;
use crate::recorder::{Recorder, send};
use crate::support::{front, stands, status};

/// A body of these frames.
struct Frames(VecDeque<Frame<Bytes>>);

impl Frames {
    fn of(data: &[&'static str], trailer: Option<(&'static str, &'static str)>) -> Self {
        let data = data
            .iter()
            .map(|text| Frame::data(Bytes::from_static(text.as_bytes())));
        let trailers = trailer.map(|(name, value)| {
            let mut trailers = HeaderMap::new();
            trailers.insert(name, HeaderValue::from_static(value));
            Frame::trailers(trailers)
        });
        Self(data.chain(trailers).collect())
    }
}

impl Body for Frames {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.pop_front().map(Ok))
    }
}

/// A request as it arrived.
#[derive(Debug, Clone)]
struct Arrived {
    head: String,
    version: Version,
    te: Option<String>,
    body: String,
    trailers: Option<HeaderMap>,
}

/// A server that speaks HTTP/2 alone, and ends each answer with a trailer.
struct Backend {
    address: SocketAddr,
    arrived: Arc<Mutex<Vec<Arrived>>>,
    /// For requests for `/held`.
    release: Arc<Semaphore>,
}

impl Backend {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let backend = Self {
            address: listener.local_addr().unwrap(),
            arrived: Arc::default(),
            release: Arc::new(Semaphore::new(0)),
        };
        let (arrived, release) = (Arc::clone(&backend.arrived), Arc::clone(&backend.release));
        thread::spawn(move || {
            runtime().block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                loop {
                    let (stream, _) = listener.accept().await.unwrap();
                    let (arrived, release) = (Arc::clone(&arrived), Arc::clone(&release));
                    let service = service_fn(move |request| {
                        answer(request, Arc::clone(&arrived), Arc::clone(&release))
                    });
                    let serving = server::Builder::new(TokioExecutor::new())
                        .serve_connection(TokioIo::new(stream), service);
                    tokio::spawn(serving);
                }
            });
        });
        backend
    }

    fn arrived(&self) -> Vec<Arrived> {
        self.arrived.lock().unwrap().clone()
    }
}

async fn answer(
    request: Request<Incoming>,
    arrived: Arc<Mutex<Vec<Arrived>>>,
    release: Arc<Semaphore>,
) -> Result<Response<Frames>, Infallible> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.unwrap();
    let trailers = body.trailers().cloned();
    let te = head.headers.get("te");
    let is_held = head.uri.path() == "/held";
    arrived.lock().unwrap().push(Arrived {
        head: format!("{} {}", head.method, head.uri),
        version: head.version,
        te: te.map(|te| te.to_str().unwrap().to_owned()),
        body: String::from_utf8(body.to_bytes().to_vec()).unwrap(),
        trailers,
    });
    if is_held {
        release.acquire().await.unwrap().forget();
    }
    let body = Frames::of(&["one", "two"], Some(("grpc-status", "0")));
    Ok(Response::new(body))
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
}

fn gate(backend: SocketAddr, rest: &str) -> Gateway {
    let text = format!(
        "listen = \"127.0.0.1:0\"\nadmin = \"127.0.0.1:0\"\nthreads = 1\n\
         backends = [{{ url = \"http://{backend}\", http2 = true }}]\n{rest}"
    );
    let settings = Settings::parse(&text).unwrap_or_else(|problems| panic!("{problems:#?}"));
    Gateway::start(settings, String::new()).unwrap()
}

/// What gRPC does: a body in pieces and trailers, both ways.
#[test]
fn trailers_pass_both_ways() {
    let backend = Backend::start();
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let gate = gate(
        backend.address,
        &format!("access-log = \"{}\"\n", log.display()),
    );
    let front = front(&gate);
    let (data, trailers) = runtime().block_on(async {
        let stream = tokio::net::TcpStream::connect(front).await.unwrap();
        let (mut sender, connection) =
            client::handshake(TokioExecutor::new(), TokioIo::new(stream))
                .await
                .unwrap();
        tokio::spawn(connection);
        let request = Request::builder()
            .method("POST")
            .uri("http://shop.example/orders.Orders/List?a=b")
            .header("te", "trailers")
            .header("content-type", "application/grpc")
            .body(Frames::of(&["ab", "cd"], Some(("checksum", "7"))))
            .unwrap();
        let answer = sender.send_request(request).await.unwrap();
        assert_eq!(answer.status(), 200);
        let body = answer.into_body().collect().await.unwrap();
        let trailers = body.trailers().cloned();
        (body.to_bytes(), trailers)
    });
    assert_eq!(data, "onetwo");
    assert_eq!(trailers.unwrap()["grpc-status"], "0");
    let arrived = &backend.arrived()[0];
    assert_eq!(
        arrived.head,
        "POST http://shop.example/orders.Orders/List?a=b"
    );
    assert_eq!(arrived.version, Version::HTTP_2);
    assert_eq!(arrived.te.as_deref(), Some("trailers"));
    assert_eq!(arrived.body, "abcd");
    assert_eq!(arrived.trailers.as_ref().unwrap()["checksum"], "7");
    stands(&gate, "it has ended", |status| {
        status.all.in_flight == 0 && status.backends[0].failed == 0
    });
    assert!(gate.drain().has_ended());
    let log = std::fs::read_to_string(log).unwrap();
    assert!(log.contains("\"end\":\"completed\""), "{log}");
}

#[test]
fn requests_of_many_clients_share_a_connection() {
    let backend = Backend::start();
    let gate = gate(backend.address, "");
    let request = "GET /held HTTP/1.1\r\nHost: shop.example\r\n\r\n";
    let mut clients: Vec<Client> = (0..20)
        .map(|_| Client::with(front(&gate), request))
        .collect();
    stands(&gate, "all are with the backend", |status| {
        status.backends[0].in_flight == 20
    });
    backend.release.add_permits(20);
    for client in &mut clients {
        let answer = client.answer();
        assert_eq!((answer.status, answer.body.as_str()), (200, "onetwo"));
        assert_eq!(answer.field("grpc-status"), None);
    }
    let arrived = backend.arrived();
    assert_eq!(arrived.len(), 20);
    for one in arrived {
        assert_eq!(one.head, "GET http://shop.example/held");
        assert_eq!(one.te, None);
    }
    assert_eq!(clients[0].get("/again").status, 200);
    assert_eq!(status(&gate).backends[0].connections, 1);
    // A body whose length nobody knows, of a method that need not have one.
    clients[0].send(
        "GET /body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
    );
    assert_eq!(clients[0].answer().status, 200);
    assert_eq!(backend.arrived().last().unwrap().body, "abc");
}

#[test]
fn a_backend_is_asked_for_its_health_in_its_own_protocol() {
    let backend = Backend::start();
    let rest = "[health]\npath = \"/health\"\nevery = \"20ms\"\ndown-after = 1\n";
    let gate = gate(backend.address, rest);
    stands(&gate, "it was asked", |_| !backend.arrived().is_empty());
    let expected = format!("GET http://{}/health", backend.address);
    assert_eq!(backend.arrived()[0].head, expected);
    assert!(status(&gate).backends[0].up);
}

/// Other protocols are switched to in HTTP/1.1 alone.
#[test]
fn what_switches_goes_over_a_connection_of_its_own() {
    let recorder = Recorder::start(|_, stream| {
        let switched =
            "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\n";
        send(stream, switched);
    });
    let gate = gate(recorder.address, "");
    let mut client = Client::with(
        front(&gate),
        "GET /echo HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\n",
    );
    assert_eq!(client.answer().status, 101);
    let head = &recorder.arrived()[0].head;
    assert!(head.starts_with("GET /echo HTTP/1.1\r\n"), "{head}");
}

/// A backend that does not speak it is no good.
#[test]
fn what_speaks_no_http2_is_told() {
    let backend = Recorder::start(|_, stream| {
        send(
            stream,
            "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n",
        );
        let _ = stream.shutdown(std::net::Shutdown::Both);
    });
    let gate = gate(backend.address, "");
    assert_eq!(Client::connect(front(&gate)).get("/").status, 502);
}
