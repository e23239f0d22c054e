//! What passes through: fields, bodies as they come, other protocols, other backends.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use weir_gateway::{Gateway, Settings};

use crate::client::Client;
use crate::recorder::{Recorder, ok, send};
use crate::support::{front, gate, gate_to, holding, holding_at, nobody, stands, status, until};

#[test]
fn a_request_arrives_with_what_is_known_of_its_client() {
    let backend = Recorder::ok();
    let gate = gate(&backend, "");
    let mut client = Client::with(
        front(&gate),
        "POST /a/%2e%2E/b?c=d HTTP/1.1\r\nHost: shop.example:81\r\nX-Forwarded-For: 6.6.6.6\r\n\
         Forwarded: for=6.6.6.6\r\nConnection: keep-alive, X-Private\r\nX-Private: 1\r\nKeep-Alive: 5\r\n\
         Proxy-Authorization: secret\r\nTE: trailers\r\nX-Kept: 1\r\nContent-Length: 4\r\n\r\nbody",
    );
    let answer = client.answer();
    assert_eq!((answer.status, answer.body.as_str()), (200, "ok"));
    let arrived = &backend.arrived()[0];
    assert_eq!(arrived.target(), "/a/%2e%2E/b?c=d");
    assert_eq!(arrived.body, "body");
    for (name, expected) in [
        ("host", &["shop.example:81"][..]),
        ("x-forwarded-for", &["127.0.0.1"]),
        ("x-forwarded-proto", &["http"]),
        ("x-forwarded-host", &["shop.example:81"]),
        (
            "forwarded",
            &["for=127.0.0.1;proto=http;host=\"shop.example:81\""],
        ),
        ("via", &["1.1 weir"]),
        ("content-length", &["4"]),
        ("x-kept", &["1"]),
        ("x-private", &[]),
        ("keep-alive", &[]),
        ("proxy-authorization", &[]),
        ("te", &[]),
        ("connection", &[]),
        ("transfer-encoding", &[]),
    ] {
        assert_eq!(arrived.fields(name), expected, "{name}");
    }
}

#[test]
fn an_answer_comes_back_without_what_was_for_the_gateway() {
    let backend = Recorder::start(|_, stream| {
        send(
            stream,
            "HTTP/1.1 404 Not Here\r\nConnection: X-Private\r\nX-Private: 1\r\nKeep-Alive: timeout=5\r\n\
             X-Kept: 1\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nContent-Length: 4\r\n\r\ngone",
        );
    });
    let gate = gate(&backend, "");
    let answer = Client::connect(front(&gate)).get("/");
    assert_eq!((answer.status, answer.body.as_str()), (404, "gone"));
    assert_eq!(answer.field("x-kept"), Some("1"));
    for gone in ["x-private", "keep-alive", "connection"] {
        assert_eq!(answer.field(gone), None, "{gone}");
    }
    assert_eq!(answer.head.to_lowercase().matches("set-cookie").count(), 2);
}

#[test]
fn connections_to_a_backend_are_kept() {
    let backend = Recorder::ok();
    let gate = gate(&backend, "");
    for _ in 0..5 {
        assert_eq!(Client::connect(front(&gate)).get("/").status, 200);
    }
    assert_eq!((backend.arrived().len(), backend.connections()), (5, 1));
}

/// A connection that the backend has closed in the meantime costs no request.
#[test]
fn a_closed_connection_is_not_used() {
    let (closed, closes) = mpsc::channel();
    let closed = Mutex::new(closed);
    let backend = Recorder::start(move |_, stream| {
        ok(stream);
        let _ = stream.shutdown(std::net::Shutdown::Both);
        closed.lock().unwrap().send(()).unwrap();
    });
    let gate = gate(&backend, "");
    let mut client = Client::connect(front(&gate));
    for _ in 0..5 {
        assert_eq!(client.get("/").status, 200);
        closes.recv().unwrap();
    }
    assert_eq!(backend.connections(), 5);
}

/// The head and the first part of a body are there before the second part is sent.
#[test]
fn bodies_pass_as_they_come() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let gate = gate_to(&[listener.local_addr().unwrap()], "");
    let mut client = Client::with(
        front(&gate),
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n",
    );
    let (stream, _) = listener.accept().unwrap();
    let mut backend = Served::new(stream);
    backend.read_until("first");
    client.send("6\r\nsecond\r\n0\r\n\r\n");
    backend.read_until("second\r\n0\r\n\r\n");
    backend
        .stream
        .write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n")
        .unwrap();
    let head = client.until(b"\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    client.until(b"one\r\n").unwrap();
    backend.stream.write_all(b"3\r\ntwo\r\n0\r\n\r\n").unwrap();
    client.until(b"two\r\n0\r\n\r\n").unwrap();
}

struct Served {
    stream: TcpStream,
    read: String,
}

impl Served {
    fn new(stream: TcpStream) -> Self {
        Self {
            stream,
            read: String::new(),
        }
    }

    fn read_until(&mut self, end: &str) {
        while !self.read.ends_with(end) && !self.read.contains(end) {
            let mut bytes = [0; 1024];
            let count = self.stream.read(&mut bytes).unwrap();
            assert_ne!(count, 0, "the gateway closed after {}", self.read);
            self.read
                .push_str(&String::from_utf8_lossy(&bytes[..count]));
        }
    }
}

/// The body is asked for when the request goes on, and not before.
/// Each would be a write of its own, and hundreds of times the work of whoever sends them.
#[test]
fn small_chunks_that_come_together_go_on_together() {
    let backend = Recorder::ok();
    let gate = gate(&backend, "");
    let sent: String = ('a'..='z').cycle().take(20_000).collect();
    let chunks: String = sent
        .chars()
        .flat_map(|one| ['1', '\r', '\n', one, '\r', '\n'])
        .collect();
    // With a large one among them, which stays where it was.
    let (large, size) = ("X".repeat(9_000), 9_000);
    let body = format!("{chunks}{size:x}\r\n{large}\r\n{chunks}0\r\n\r\n");
    let head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    let mut client = Client::with(front(&gate), format!("{head}{body}"));
    assert_eq!(client.answer().status, 200);
    let arrived = &backend.arrived()[0];
    assert_eq!(arrived.body, format!("{sent}{large}{sent}"));
    assert!(arrived.chunks < 4_000, "{} of 40,001", arrived.chunks);
}

#[test]
fn a_client_that_asks_first_is_told_to_go_on() {
    let backend = Recorder::ok();
    let gate = gate(&backend, "");
    let mut client = Client::with(
        front(&gate),
        "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n",
    );
    assert_eq!(client.answer().status, 100);
    client.send("body");
    assert_eq!(client.answer().status, 200);
    assert_eq!(backend.arrived()[0].body, "body");
    assert!(backend.arrived()[0].fields("expect").is_empty());
}

#[test]
fn other_protocols_pass_both_ways_and_hold_their_slot() {
    let (opened, waits) = mpsc::channel();
    let opened = Mutex::new(opened);
    let backend = Recorder::start(move |arrived, stream| {
        assert_eq!(arrived.fields("upgrade"), ["websocket"]);
        assert_eq!(arrived.fields("connection"), ["upgrade"]);
        send(
            stream,
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nhello",
        );
        let mut bytes = [0; 4];
        stream.read_exact(&mut bytes).unwrap();
        opened.lock().unwrap().send(bytes).unwrap();
        assert_eq!(stream.read(&mut bytes).unwrap(), 0, "the client has ended");
        send(stream, "bye");
        let _ = stream.shutdown(std::net::Shutdown::Both);
    });
    let gate = gate(&backend, "");
    let mut client = Client::with(
        front(&gate),
        "GET /socket HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    );
    let answer = client.answer();
    assert_eq!(answer.status, 101);
    assert_eq!(answer.field("upgrade"), Some("websocket"));
    assert_eq!(client.exactly(5).unwrap(), "hello");
    assert_eq!(status(&gate).all.in_flight, 1);
    client.send("ping");
    assert_eq!(&waits.recv().unwrap(), b"ping");
    // A client that says nothing more may still listen.
    client.stream.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(client.rest(), "bye");
    stands(&gate, "the slot is given back", |status| {
        status.all.in_flight == 0
    });
}

/// Both sides stay, and neither says anything more.
#[test]
fn a_switched_connection_without_bytes_ends() {
    let backend = Recorder::start(|_, stream| {
        send(
            stream,
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nhello",
        );
    });
    let gate = gate(&backend, "[timeouts]\nupgraded = \"20ms\"\n");
    let mut client = Client::with(
        front(&gate),
        "GET /socket HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    );
    assert_eq!(client.answer().status, 101);
    assert_eq!(client.rest(), "hello");
    stands(&gate, "the slot is given back", |status| {
        status.all.in_flight == 0
    });
}

#[test]
fn a_backend_that_is_down_gets_no_requests() {
    let backend = Recorder::ok();
    let dead = nobody();
    let gate = gate_to(&[dead, backend.address], "[health]\nevery = \"10ms\"\n");
    for _ in 0..20 {
        assert_eq!(Client::connect(front(&gate)).get("/").status, 200);
    }
    stands(&gate, "the dead one is marked", |status| {
        !status.backends[0].up && status.backends[1].up
    });
}

#[test]
fn backends_are_asked_for_their_health() {
    let is_well = Arc::new(Mutex::new(false));
    let told = Arc::clone(&is_well);
    let backend = Recorder::start(move |arrived, stream| match arrived.target() {
        "/health" if !*told.lock().unwrap() => send(
            stream,
            "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n",
        ),
        _ => ok(stream),
    });
    let gate = gate(&backend, "[health]\npath = \"/health\"\nevery = \"10ms\"\n");
    stands(&gate, "it is down", |status| !status.backends[0].up);
    *is_well.lock().unwrap() = true;
    stands(&gate, "it is up again", |status| status.backends[0].up);
}

/// What clients see when no answer comes.
#[test]
fn a_failure_is_told_as_a_problem() {
    let dead = nobody();
    let broken = Recorder::start(|arrived, stream| match arrived.target() {
        "/closes" => drop(stream.shutdown(std::net::Shutdown::Both)),
        "/garbage" => send(stream, "SMTP 250 OK\r\n\r\n"),
        "/splits" => send(stream, "HTTP/1.1 200 OK\r\nX: a\rSet-Cookie: b\r\n\r\n"),
        "/lengths" => send(
            stream,
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        ),
        _ => {}
    });
    let short = "[timeouts]\nresponse = \"50ms\"\n";
    let (no_one, other) = (gate_to(&[dead], ""), gate(&broken, short));
    for (gate, path, expected) in [
        (&no_one, "/", 502),
        (&other, "/closes", 502),
        (&other, "/garbage", 502),
        (&other, "/splits", 502),
        (&other, "/lengths", 502),
        (&other, "/silent", 504),
    ] {
        let answer = Client::connect(front(gate)).get(path);
        assert_eq!(answer.status, expected, "{path}");
        assert_eq!(
            answer.field("content-type"),
            Some("application/problem+json")
        );
        let problem: serde_json::Value = serde_json::from_str(&answer.body).unwrap();
        assert_eq!(problem["status"], expected, "{path}");
    }
    assert_eq!(status(&other).all.in_flight, 0);
}

/// Nobody is made to wait for what is not there, and what is there again is found.
#[test]
fn while_no_backend_is_up_nobody_waits() {
    let address = nobody();
    let gate = gate_to(
        &[address],
        "[limit]\nconcurrency = 1\n[health]\npath = \"/\"\nevery = \"10ms\"\n",
    );
    let mut client = Client::connect(front(&gate));
    stands(&gate, "it is down", |status| {
        let _ = Client::connect(front(&gate)).get("/");
        !status.backends[0].up
    });
    let offered = status(&gate).all.offered;
    let answer = client.get("/");
    assert_eq!(answer.status, 503);
    assert_eq!(answer.field("retry-after"), Some("1"));
    assert!(answer.body.contains("no_backend"), "{}", answer.body);
    assert_eq!(status(&gate).all.offered, offered, "it had no slot");
    let back = TcpListener::bind(address).unwrap();
    std::thread::spawn(move || {
        for stream in back.incoming() {
            let mut stream = stream.unwrap();
            std::thread::spawn(move || {
                while stream.read(&mut [0; 1024]).is_ok_and(|count| count > 0) {
                    ok(&mut stream);
                }
            });
        }
    });
    stands(&gate, "it is up", |status| status.backends[0].up);
    assert_eq!(client.get("/").status, 200);
}

/// One backend takes connections and says nothing; the other ends, and that is seen at once.
#[test]
fn backends_are_looked_at_side_by_side() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let well = Recorder::ok();
    let health = "[health]\npath = \"/health\"\nevery = \"10ms\"\ntimeout = \"20s\"\n";
    let gate = gate_to(&[silent.local_addr().unwrap(), well.address], health);
    until("it is asked again", || well.targets().len() >= 3);
    drop(gate);
}

/// A search with a body, as some servers take it.
#[test]
fn bodies_of_any_method_arrive() {
    let backend = Recorder::ok();
    let gate = gate(&backend, "");
    let methods = ["GET", "HEAD", "DELETE", "OPTIONS", "POST", "QUERY"];
    for method in methods {
        let head = format!("{method} / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n");
        for body in [
            "Transfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n",
            "Content-Length: 4\r\n\r\nbody",
        ] {
            let told = Client::with(front(&gate), format!("{head}{body}")).rest();
            assert!(told.starts_with("HTTP/1.1 200"), "{method}: {told}");
        }
    }
    let bodies: Vec<String> = backend.arrived().into_iter().map(|one| one.body).collect();
    assert_eq!(bodies, vec!["body"; 2 * methods.len()]);
    // One without a body gets none.
    assert_eq!(Client::connect(front(&gate)).get("/").status, 200);
    let last = backend.arrived().pop().unwrap();
    assert!(last.fields("transfer-encoding").is_empty(), "{}", last.head);
}

#[test]
fn what_is_not_modified_keeps_its_length() {
    let backend = Recorder::start(|_, stream| {
        send(
            stream,
            "HTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\nContent-Length: 7\r\n\r\n",
        );
    });
    let gate = gate(&backend, "");
    for method in ["GET", "HEAD"] {
        let request = format!("{method} / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
        let told = Client::with(front(&gate), request).rest();
        assert!(
            told.to_lowercase().contains("content-length: 7\r\n"),
            "{told}"
        );
    }
}

/// Whoever fails at once has the fewest in flight: one of two drew 143 of 160 requests.
#[test]
fn a_backend_that_fails_at_once_does_not_draw_the_requests() {
    for answer in [
        "",
        "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n",
    ] {
        let well = Recorder::start(|_, stream| {
            std::thread::sleep(std::time::Duration::from_millis(5));
            ok(stream);
        });
        let broken = Recorder::start(move |_, stream| {
            send(stream, answer);
            if answer.is_empty() {
                let _ = stream.shutdown(std::net::Shutdown::Both);
            }
        });
        let gate = gate_to(&[well.address, broken.address], "");
        let clients: Vec<_> = (0..8)
            .map(|_| {
                let address = front(&gate);
                std::thread::spawn(move || {
                    for _ in 0..20 {
                        let request = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
                        Client::with(address, request).rest();
                    }
                })
            })
            .collect();
        for client in clients {
            client.join().unwrap();
        }
        let told = status(&gate).backends;
        assert!(told[1].ejected && told[1].ejections == 1, "{told:?}");
        assert!(told[1].requests <= 16, "{told:?}");
        assert!(!told[0].ejected && told[0].failed == 0, "{told:?}");
    }
}

/// When all fail, one of them may have come back.
/// One that does worse than the others, though not in a row, gets none for a while.
#[test]
fn a_backend_that_is_slower_or_fails_more_often_is_told_apart() {
    for (is_slow, why) in [(true, "slowly"), (false, "failed than")] {
        let good = Recorder::ok();
        let bad = Recorder::start(move |arrived, stream| {
            let fails = arrived.target() != "/well";
            if is_slow {
                std::thread::sleep(Duration::from_millis(40));
                ok(stream);
            } else if fails {
                send(stream, "HTTP/1.1 500 Bad\r\nContent-Length: 0\r\n\r\n");
            } else {
                ok(stream);
            }
        });
        let rest = "[health]\neject-slower = 3\neject-window = \"3s\"\neject-for = \"60s\"\n";
        let gate = gate_to(&[good.address, bad.address], rest);
        let mut client = Client::connect(front(&gate));
        let begun = Instant::now();
        // Of four requests to each, three fail where one does: never five in a row.
        let mut number = 0;
        while !status(&gate).backends[1].ejected {
            assert!(
                begun.elapsed() < Duration::from_secs(30),
                "nobody is ejected"
            );
            for _ in 0..8 {
                client.get(if number % 8 < 2 { "/well" } else { "/bad" });
                number += 1;
            }
        }
        let found = status(&gate);
        let told = found.backends[1].ejected_why.clone().unwrap_or_default();
        assert!(told.contains(why), "{told}");
        assert!(!found.backends[0].ejected);
        let before = bad.arrived().len();
        for _ in 0..20 {
            assert_eq!(client.get("/bad").status, 200);
        }
        assert_eq!(bad.arrived().len(), before);
    }
}

#[test]
fn backends_that_all_fail_are_asked_all_the_same() {
    let fails = || {
        Recorder::start(|_, stream| {
            send(
                stream,
                "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n",
            );
        })
    };
    let (one, two) = (fails(), fails());
    let gate = gate_to(&[one.address, two.address], "");
    let mut client = Client::connect(front(&gate));
    for _ in 0..30 {
        assert_eq!(client.get("/").status, 503);
    }
    assert!(status(&gate).backends.iter().all(|backend| backend.ejected));
    assert_eq!(one.arrived().len() + two.arrived().len(), 30);
}

/// A backend closes a connection while a request is on its way: nginx sends it again, too.
#[test]
fn a_request_whose_connection_dies_is_sent_again_if_it_may_be() {
    let count = std::sync::atomic::AtomicUsize::new(0);
    let backend = Recorder::start(move |arrived, stream| {
        let before = count.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        if arrived.target() == "/dies" && before % 2 == 1 {
            let _ = stream.shutdown(std::net::Shutdown::Both);
        } else {
            ok(stream);
        }
    });
    let gate = gate(&backend, "");
    let mut client = Client::connect(front(&gate));
    assert_eq!(client.get("/kept").status, 200);
    assert_eq!(client.get("/dies").status, 200, "the second time");
    assert_eq!(backend.targets(), ["/kept", "/dies", "/dies"]);
    // What may do something twice is not repeated.
    assert_eq!(client.get("/kept").status, 200);
    let head = "POST /dies HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n";
    client.send(head);
    assert_eq!(client.answer().status, 200);
    client.send(head);
    assert_eq!(client.answer().status, 502);
    let posts = backend.arrived();
    let posts = posts.iter().filter(|one| one.head.starts_with("POST"));
    assert_eq!(posts.count(), 2);
}

/// A gateway with this whole file.
fn gate_of(file: &str) -> Gateway {
    Gateway::start(Settings::parse(file).unwrap(), String::new()).unwrap()
}

/// Held requests of three backends: one of weight 3, one of 1, and one that is for when they are
/// gone.
#[test]
fn backends_have_weights_and_a_backup() {
    let (heavy, release_heavy) = holding();
    let (light, release_light) = holding();
    let (backup, _) = holding();
    let urls = [&heavy, &light, &backup].map(|one| format!("url = \"http://{}\"", one.address));
    let [heavy_url, light_url, backup_url] = urls;
    let file = format!(
        "listen = \"127.0.0.1:0\"\nadmin = false\nbackends = [{{ {heavy_url}, weight = 3 }}, {{ {light_url} }}, {{ {backup_url}, backup = true }}]\n"
    );
    let gate = gate_of(&file);
    let mut clients = Vec::new();
    for count in 1..=8 {
        let asks = "GET /held HTTP/1.1\r\nHost: a\r\n\r\n";
        clients.push(Client::with(front(&gate), asks));
        until("it has arrived", || {
            heavy.arrived().len() + light.arrived().len() == count
        });
    }
    assert_eq!((heavy.arrived().len(), light.arrived().len()), (6, 2));
    assert!(backup.arrived().is_empty());
    for _ in 0..6 {
        release_heavy.send(()).unwrap();
    }
    for _ in 0..2 {
        release_light.send(()).unwrap();
    }
    assert!(
        clients
            .iter_mut()
            .all(|client| client.answer().status == 200)
    );
}

/// Each backend is asked for its own path, or for that of all.
#[test]
fn a_backend_may_have_a_path_of_its_own() {
    let (own, others) = (Recorder::ok(), Recorder::ok());
    let file = format!(
        "listen = \"127.0.0.1:0\"\nadmin = false\nbackends = [{{ url = \"http://{}\", health-path = \"/ready\" }}, \"http://{}\"]\n[health]\npath = \"/health\"\nevery = \"10ms\"\n",
        own.address, others.address
    );
    let _gate = gate_of(&file);
    until("both are asked", || {
        own.targets().len() >= 2 && others.targets().len() >= 2
    });
    assert_eq!(own.targets()[..2], ["/ready", "/ready"]);
    assert_eq!(others.targets()[..2], ["/health", "/health"]);
}

/// One that was down begins with a tenth of its weight: of eleven requests at once it gets one.
#[test]
fn a_backend_that_is_back_begins_slowly() {
    let (steady, release_steady) = holding();
    let address = nobody();
    let health = "[health]\npath = \"/\"\nevery = \"10ms\"\nslow-start = \"10min\"\n";
    let gate = gate_to(&[steady.address, address], health);
    stands(&gate, "it is down", |status| !status.backends[1].up);
    let (back, release_back) = holding_at(TcpListener::bind(address).unwrap());
    stands(&gate, "it is up", |status| status.backends[1].up);
    let held = |of: &Recorder| of.targets().iter().filter(|one| *one == "/held").count();
    let mut clients = Vec::new();
    for count in 1..=11 {
        let asks = "GET /held HTTP/1.1\r\nHost: a\r\n\r\n";
        clients.push(Client::with(front(&gate), asks));
        until("it has arrived", || held(&steady) + held(&back) == count);
    }
    assert_eq!((held(&steady), held(&back)), (10, 1));
    for _ in 0..10 {
        release_steady.send(()).unwrap();
    }
    release_back.send(()).unwrap();
    assert!(
        clients
            .iter_mut()
            .all(|client| client.answer().status == 200)
    );
}

/// Without the others the backup gets what comes.
#[test]
fn a_backup_is_there_when_nobody_else_is() {
    let dead = nobody();
    let backup = Recorder::ok();
    let file = format!(
        "listen = \"127.0.0.1:0\"\nadmin = false\nbackends = [\"http://{dead}\", {{ url = \"http://{}\", backup = true }}]\n",
        backup.address
    );
    let gate = gate_of(&file);
    for _ in 0..3 {
        assert_eq!(Client::connect(front(&gate)).get("/").status, 200);
    }
    assert_eq!(backup.targets().len(), 3);
}
