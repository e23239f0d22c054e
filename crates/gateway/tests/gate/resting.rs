//! Connections that are without a request for a while: they give back their buffers, and nobody
//! notices.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::thread;
use std::time::Duration;

use weir_gateway::Gateway;

use crate::client::Client;
use crate::recorder::Recorder;
use crate::support::{front, settings, stands, status};

/// A gateway whose connections rest almost at once.
fn gate(backend: std::net::SocketAddr, rest: &str) -> Gateway {
    let mut settings = settings(&[backend], rest);
    settings.timeouts.rest = Duration::from_millis(1);
    Gateway::start(settings, String::new()).unwrap()
}

fn rests(gate: &Gateway) {
    stands(gate, "the connection rests", |status| {
        status.connections.resting == 1
    });
}

#[test]
fn a_connection_that_rests_goes_on() {
    let backend = Recorder::ok();
    let gate = gate(backend.address, "");
    let mut client = Client::connect(front(&gate));
    for number in 0..3 {
        assert_eq!(client.get(&format!("/{number}")).status, 200);
        rests(&gate);
    }
    // Two requests at once, and the begin of a third one.
    client.send(
        "GET /3 HTTP/1.1\r\nHost: a\r\n\r\nGET /4 HTTP/1.1\r\nHost: a\r\n\r\nGET /5 HTTP/1.1\r\nHo",
    );
    assert_eq!([client.answer().status, client.answer().status], [200, 200]);
    assert_eq!(status(&gate).connections.resting, 0, "a head has begun");
    client.send("st: a\r\n\r\n");
    assert_eq!(client.answer().status, 200);
    assert_eq!(backend.targets(), ["/0", "/1", "/2", "/3", "/4", "/5"]);
    rests(&gate);
    assert_eq!(gate.addresses().listen.len(), 1);
    assert!(
        gate.drain().has_ended(),
        "resting connections do not hold up the end"
    );
    assert_eq!(client.rest(), "");
}

#[test]
fn a_connection_that_rests_ends_when_it_is_idle_for_too_long() {
    let backend = Recorder::ok();
    let gate = gate(backend.address, "[timeouts]\nidle = \"50ms\"\n");
    // A machine that is busy may take longer to send than the connection may be idle.
    let mut client = loop {
        let mut client = Client::with(front(&gate), "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        if client.try_answer().is_some() {
            break client;
        }
    };
    assert_eq!(client.rest(), "");
    stands(&gate, "it is counted no longer", |status| {
        status.connections.resting == 0
    });
}

/// The backend has answered before the body had come; what comes of it then is no request.
#[test]
fn a_connection_in_the_middle_of_a_body_does_not_rest() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut head = [0; 4096];
        let _ = stream.read(&mut head);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        // Whatever else comes is read.
        let _ = std::io::copy(&mut stream, &mut std::io::sink());
    });
    let gate = gate(address, "");
    let rest = "GET /hidden HTTP/1.1\r\nHost: a\r\n\r\n";
    let mut client = Client::with(
        front(&gate),
        format!(
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n!",
            rest.len() + 1
        ),
    );
    assert_eq!(client.answer().status, 200);
    for _ in 0..50 {
        assert_eq!(status(&gate).connections.resting, 0);
    }
    client.send(rest);
    for _ in 0..50 {
        assert_eq!(status(&gate).all.offered, 1, "a body is no request");
    }
}
