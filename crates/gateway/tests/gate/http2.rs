//! HTTP/2 in front, HTTP/1.1 behind.

use std::net::SocketAddr;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http2::{self, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::runtime::Runtime;

use crate::recorder::Recorder;
use crate::support::{front, gate, holding, stands, status};

fn request(path: &str, body: &'static str) -> Request<Full<Bytes>> {
    Request::builder()
        .method(if body.is_empty() { "GET" } else { "POST" })
        .uri(format!("http://shop.example{path}"))
        .header("te", "trailers")
        .header("cookie", "a=1")
        .body(Full::new(Bytes::from_static(body.as_bytes())))
        .unwrap()
}

/// What a client takes of an answer without being asked again, unless a test says otherwise.
const WINDOW: u32 = 65_535;

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
}

/// A connection whose client takes so many bytes of each answer.
async fn connected(address: SocketAddr, window: u32) -> SendRequest<Full<Bytes>> {
    let stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let (sender, connection) = http2::Builder::new(TokioExecutor::new())
        .initial_stream_window_size(window)
        .handshake(TokioIo::new(stream))
        .await
        .unwrap();
    tokio::spawn(connection);
    sender
}

/// Sends these at once over one connection; the statuses and bodies of their answers.
fn at_once(address: SocketAddr, requests: Vec<Request<Full<Bytes>>>) -> Vec<(u16, String)> {
    runtime().block_on(async {
        let mut sender = connected(address, WINDOW).await;
        let mut answering = Vec::new();
        for request in requests {
            sender.ready().await.unwrap();
            answering.push(tokio::spawn(sender.send_request(request)));
        }
        let mut answers = Vec::new();
        for answer in answering {
            let answer: Response<_> = answer.await.unwrap().unwrap();
            let status = answer.status().as_u16();
            let body = answer.into_body().collect().await.unwrap().to_bytes();
            answers.push((status, String::from_utf8_lossy(&body).into_owned()));
        }
        answers
    })
}

#[test]
fn many_at_once_arrive_as_they_were_sent() {
    let backend = Recorder::ok();
    let gate = gate(&backend, "");
    let requests = vec![
        request("/one", ""),
        request("/two", "body"),
        request("/three", ""),
    ];
    let ok = (200, "ok".to_owned());
    assert_eq!(
        at_once(front(&gate), requests),
        [ok.clone(), ok.clone(), ok]
    );
    let mut arrived = backend.arrived();
    arrived.sort_by(|a, b| a.target().cmp(b.target()));
    let told: Vec<(&str, &str)> = arrived
        .iter()
        .map(|one| (one.target(), one.body.as_str()))
        .collect();
    assert_eq!(told, [("/one", ""), ("/three", ""), ("/two", "body")]);
    for one in &arrived {
        assert_eq!(one.fields("host"), ["shop.example"]);
        assert_eq!(one.fields("cookie"), ["a=1"]);
        assert!(one.fields("te").is_empty());
    }
}

#[test]
fn each_stream_is_held_by_itself() {
    let (backend, release) = holding();
    let gate = gate(
        &backend,
        "[limit]\nconcurrency = 1\nmax-wait = \"60s\"\nmax-queue = 1\n",
    );
    let at = front(&gate);
    let asking = std::thread::spawn(move || {
        at_once(
            at,
            vec![
                request("/held/1", ""),
                request("/held/2", ""),
                request("/held/3", ""),
            ],
        )
    });
    stands(
        &gate,
        "one is in flight, one waits, one is rejected",
        |status| {
            let all = &status.all;
            (all.in_flight, all.queued, all.refused.queue_full) == (1, 1, 1)
        },
    );
    release.send(()).unwrap();
    release.send(()).unwrap();
    let mut statuses: Vec<u16> = asking.join().unwrap().iter().map(|one| one.0).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 200, 503]);
    assert_eq!(status(&gate).all.in_flight, 0);
}

#[test]
fn a_slot_stays_with_the_backend_when_its_stream_is_reset() {
    let (backend, release) = holding();
    let gate = gate(&backend, "[limit]\nconcurrency = 1\nmax-wait = \"60s\"\n");
    let address = front(&gate);
    let (done, over) = tokio::sync::oneshot::channel::<()>();
    let client = std::thread::spawn(move || {
        runtime().block_on(async {
            let mut sender = connected(address, WINDOW).await;
            let patience = std::time::Duration::from_millis(300);
            let asked = sender.send_request(request("/held", ""));
            assert!(tokio::time::timeout(patience, asked).await.is_err());
            // The connection stays: only the stream is reset.
            let _ = over.await;
        });
    });
    stands(&gate, "nobody waits for it", |status| {
        status.all.in_flight == 1 && status.in_flight_without_client == 1
    });
    release.send(()).unwrap();
    stands(&gate, "it is over", |status| {
        status.all.in_flight == 0 && status.in_flight_without_client == 0
    });
    assert_eq!(backend.targets(), ["/held"]);
    done.send(()).unwrap();
    client.join().unwrap();
}

/// Streams without a window, of a client that answers pings and reads nothing.
#[test]
fn streams_that_nobody_takes_give_their_slots_back() {
    let text = "x".repeat(100_000);
    let backend = Recorder::start(move |_, stream| {
        let length = text.len();
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n");
        crate::recorder::send(stream, &format!("{head}{text}"));
    });
    let limit = "[limit]\nconcurrency = 4\nmax-wait = \"60s\"\n[timeouts]\nbody = \"300ms\"\n";
    let gate = gate(&backend, limit);
    runtime().block_on(async {
        let mut sender = connected(front(&gate), 0).await;
        let mut heads = Vec::new();
        for _ in 0..4 {
            sender.ready().await.unwrap();
            let head = sender.send_request(request("/text", "")).await.unwrap();
            heads.push(head);
        }
        // All slots are taken, and the fifth gets one when a stream has been still for too long.
        let begun = std::time::Instant::now();
        let fifth = sender.send_request(request("/text", "")).await.unwrap();
        assert_eq!(fifth.status(), 200);
        assert!(begun.elapsed() < std::time::Duration::from_secs(20));
        for head in heads {
            let body = head.into_body().collect().await;
            assert!(body.is_err(), "the stream was reset");
        }
    });
    stands(&gate, "all slots are free", |status| {
        status.all.in_flight == 0
    });
}

/// RFC 9113, 8.2.3: one field for a server of HTTP/1.1.
#[test]
fn cookies_that_come_one_by_one_arrive_as_one() {
    let backend = Recorder::ok();
    let gate = gate(&backend, "");
    let mut crumbs = request("/", "");
    for crumb in ["b=2", "c=3; d=4"] {
        crumbs
            .headers_mut()
            .append("cookie", crumb.parse().unwrap());
    }
    assert_eq!(at_once(front(&gate), vec![crumbs])[0].0, 200);
    assert_eq!(
        backend.arrived()[0].fields("cookie"),
        ["a=1; b=2; c=3; d=4"]
    );
}
