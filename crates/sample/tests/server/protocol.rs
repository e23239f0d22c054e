//! Connections: kept, closed, pipelined, idle, slow, broken off.

use std::io::Write;
use std::net::Shutdown;
use std::time::Duration;

use weir_sample::Options;

use crate::client::{Client, get, small, start};
use crate::scrape::Scrape;

#[test]
fn a_kept_connection_carries_many_requests() {
    let server = start(&small());
    let addresses = server.addresses();
    let mut client = Client::connect(addresses.listen);
    for n in 0..50 {
        let answer = client.get(&format!("/light?n={}", n % 10));
        assert!(answer.status == 200 && answer.keeps_alive());
    }
    let scrape = Scrape::of(addresses.admin);
    assert_eq!(
        (
            scrape.count("connections", "entries_total"),
            scrape.count("connections", "occupancy")
        ),
        (1, 1)
    );
}

#[test]
fn a_closed_connection_ends_after_the_answer() {
    let server = start(&small());
    let addresses = server.addresses();
    for request in [
        "GET /light HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n",
        "GET /light HTTP/1.0\r\n\r\n",
    ] {
        let mut client = Client::connect(addresses.listen);
        let answer = client.ask(request);
        assert!(answer.status == 200 && !answer.keeps_alive());
        assert!(client.receive().is_none());
    }
    Scrape::when(addresses.admin, |scrape| {
        scrape.count("connections", "occupancy") == 0
    });
}

#[test]
fn old_clients_may_keep_the_connection() {
    let server = start(&small());
    let mut client = Client::connect(server.addresses().listen);
    for _ in 0..2 {
        assert!(
            client
                .ask("GET /light HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
                .keeps_alive()
        );
    }
}

#[test]
fn requests_sent_together_are_answered_in_order() {
    let server = start(&small());
    let mut client = Client::connect(server.addresses().listen);
    let requests: String = (1..=5)
        .map(|n| format!("GET /light?n={n} HTTP/1.1\r\nHost: test\r\n\r\n"))
        .collect::<Vec<_>>()
        .concat();
    client.send(&requests);
    let bodies: Vec<String> = (1..=5).map(|_| client.receive().unwrap().body).collect();
    assert_eq!(
        bodies.concat(),
        "fibonacci(1) = 1\nfibonacci(2) = 1\nfibonacci(3) = 2\nfibonacci(4) = 3\nfibonacci(5) = 5\n"
    );
}

#[test]
fn a_request_in_pieces_and_a_body_on_demand() {
    let server = start(&small());
    let mut client = Client::connect(server.addresses().listen);
    client.socket.get_ref().set_nodelay(true).unwrap();
    for piece in [
        "GE",
        "T /light?n=7 HT",
        "TP/1.1\r\nHost: te",
        "st\r\n\r",
        "\n",
    ] {
        client.send(piece);
    }
    assert_eq!(client.receive().unwrap().body, "fibonacci(7) = 13\n");

    client.send(
        "POST /stress HTTP/1.1\r\nHost: test\r\nExpect: 100-continue\r\nContent-Length: 6\r\n\
         Content-Type: application/x-www-form-urlencoded\r\n\r\n",
    );
    let mut line = String::new();
    std::io::BufRead::read_line(&mut client.socket, &mut line).unwrap();
    std::io::BufRead::read_line(&mut client.socket, &mut line).unwrap();
    assert_eq!(line, "HTTP/1.1 100 Continue\r\n\r\n");
    assert!(client.ask("bit=16").body.contains("bit = 16\n"));
}

#[test]
fn idle_connections_cost_no_thread() {
    let server = start(&Options {
        threads: 1,
        ..small()
    });
    let addresses = server.addresses();
    let idle: Vec<Client> = (0..100)
        .map(|_| Client::connect(addresses.listen))
        .collect();
    let scrape = Scrape::when(addresses.admin, |scrape| {
        scrape.count("connections", "occupancy") == 100
    });
    assert_eq!(
        (
            scrape.count("threads", "occupancy"),
            scrape.count("request-queue", "occupancy")
        ),
        (0, 0)
    );
    assert_eq!(get(addresses.listen, "/light").status, 200);
    drop(idle);
    // Those that go without a request are no requests.
    let scrape = Scrape::when(addresses.admin, |scrape| {
        scrape.count("connections", "occupancy") == 0 && scrape.count("threads", "occupancy") == 0
    });
    assert_eq!(
        (
            scrape.answered(),
            scrape.get("weir_requests_abandoned_total") as u64
        ),
        (1, 0)
    );
}

#[test]
fn idle_and_slow_connections_are_closed_in_time() {
    let server = start(&Options {
        connection_timeout: Duration::from_secs(1),
        ..small()
    });
    let addresses = server.addresses();
    let mut silent = Client::connect(addresses.listen);
    assert!(silent.receive().is_none());
    let mut slow = Client::connect(addresses.listen);
    slow.send("GET /light HTTP/1.1\r\nHost:");
    assert_eq!(slow.receive().unwrap().status, 408);
    assert!(slow.receive().is_none());
    drop((silent, slow));
    Scrape::when(addresses.admin, |scrape| {
        scrape.count("connections", "occupancy") == 0
    });
}

#[test]
fn broken_requests_are_answered_and_the_connection_ends() {
    let server = start(&small());
    let post = |fields: &str| format!("POST /stress HTTP/1.1\r\nHost: test\r\n{fields}\r\n\r\n");
    for (request, status) in [
        ("BREW\r\n\r\n".to_owned(), 400),
        ("GET / HTTP/1.1\r\n\r\n".to_owned(), 400),
        (
            post("Transfer-Encoding: chunked") + "5\r\nbit=9\r\n0\r\n\r\n",
            411,
        ),
        (post("Content-Length: 70000") + &"x".repeat(70_000), 413),
        (
            post("Content-Length: 2\r\nContent-Type: application/json") + "{}",
            415,
        ),
        (format!("GET /{} HTTP/1.1\r\n", "a".repeat(17_000)), 431),
    ] {
        let mut client = Client::connect(server.addresses().listen);
        client.send(&request);
        let answer = client.receive().unwrap();
        assert_eq!(
            (answer.status, answer.keeps_alive()),
            (status, false),
            "{}",
            answer.body
        );
        client.socket.get_ref().shutdown(Shutdown::Write).unwrap();
        assert!(client.receive().is_none());
    }
}

#[test]
fn a_client_that_goes_away_in_the_middle_is_counted_as_such() {
    let server = start(&small());
    let addresses = server.addresses();
    let mut client = Client::connect(addresses.listen);
    client.send("GET /light HTTP/1.1\r\nHo");
    Scrape::when(addresses.admin, |scrape| {
        scrape.count("threads", "occupancy") == 1
    });
    drop(client);
    let gone = |scrape: &Scrape| scrape.get("weir_requests_abandoned_total") as u64 == 1;
    let scrape = Scrape::when(addresses.admin, gone);
    assert_eq!(
        (scrape.answered(), scrape.count("threads", "occupancy")),
        (0, 0)
    );
}

#[test]
fn a_client_that_only_closes_its_sending_side_still_gets_its_answer() {
    let server = start(&small());
    let mut client = Client::connect(server.addresses().listen);
    client
        .socket
        .get_mut()
        .write_all(b"GET /light?n=3 HTTP/1.1\r\nHost: test\r\n\r\n")
        .unwrap();
    client.socket.get_ref().shutdown(Shutdown::Write).unwrap();
    assert_eq!(client.receive().unwrap().body, "fibonacci(3) = 2\n");
}
