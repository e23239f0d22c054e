//! HTTP/2 in front, HTTP/1.1 behind.

use std::net::SocketAddr;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};

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

/// Sends these at once over one connection; the statuses and bodies of their answers.
fn at_once(address: SocketAddr, requests: Vec<Request<Full<Bytes>>>) -> Vec<(u16, String)> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let stream = tokio::net::TcpStream::connect(address).await.unwrap();
        let (mut sender, connection) = http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
            .await
            .unwrap();
        tokio::spawn(connection);
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
