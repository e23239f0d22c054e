//! What each client may have: one that asks for much does not take the place of the others. And
//! what lasts has places of its own.

use std::io::Write as _;
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use weir_gateway::{Gateway, KeyStatus};

use crate::client::{Answer, Client};
use crate::recorder::{Recorder, ok, send};
use crate::support::{admin, front, gate, holding, in_flight, settings, stands, status, until};

fn key(gate: &Gateway) -> KeyStatus {
    status(gate).keys.first().unwrap().clone()
}

fn with_key(client: &mut Client, key: &str) -> Answer {
    client.send(format!(
        "GET / HTTP/1.1\r\nHost: a\r\nX-Api-Key: {key}\r\n\r\n"
    ));
    client.answer()
}

#[test]
fn a_rate_is_each_clients_own() {
    let backend = Recorder::ok();
    let gate = gate(
        &backend,
        "[[key]]\nname = \"customer\"\nby = \"header X-Api-Key\"\nrate = \"1/min\"\nburst = 2\n",
    );
    let mut client = Client::connect(front(&gate));
    let statuses = [(); 3].map(|()| with_key(&mut client, "a").status);
    assert_eq!(statuses, [200, 200, 429]);
    let refused = with_key(&mut client, "a");
    let seconds: u64 = refused.field("retry-after").unwrap().parse().unwrap();
    assert!((50..=60).contains(&seconds), "{seconds}");
    for told in [
        "\"key\":\"customer\"",
        "\"why\":\"key_rate\"",
        "\"class\":\"other\"",
    ] {
        assert!(refused.body.contains(told), "{told} in {}", refused.body);
    }
    assert_eq!(with_key(&mut client, "b").status, 200);
    // Who has no key is not held by it.
    let without = [(); 4].map(|()| client.get("/").status);
    assert_eq!(without, [200; 4]);
    let key = key(&gate);
    assert_eq!((key.name.as_str(), key.known), ("customer", 2));
    assert_eq!((key.refused.rate, key.refused.concurrency), (2, 0));
    let other = &status(&gate).classes[0];
    assert_eq!(other.codes[&429], 2);
    let admin = admin(&gate);
    let metrics = Client::connect(admin).get_of("127.0.0.1", "/metrics").body;
    let told = "weir_gate_key_refused_total{key=\"customer\",why=\"rate\"} 2";
    assert!(metrics.lines().any(|line| line == told), "{metrics}");
}

#[test]
fn what_a_client_has_at_once_ends_with_its_requests() {
    let (backend, release) = holding();
    let gate = gate(&backend, "[[key]]\nby = \"path 1\"\nconcurrency = 2\n");
    let hold = |target: &str, count: usize| {
        let text = format!("GET {target} HTTP/1.1\r\nHost: a\r\n\r\n");
        let client = Client::with(front(&gate), text);
        until("it has arrived", || backend.arrived().len() == count);
        client
    };
    let mut first = hold("/held/a", 1);
    let second = hold("/held/b", 2);
    let mut third = Client::connect(front(&gate));
    let refused = third.get("/held/c");
    assert_eq!(refused.status, 429);
    assert!(refused.body.contains("key_concurrency"), "{}", refused.body);
    assert_eq!(third.get("/other/c").status, 200);
    release.send(()).unwrap();
    assert_eq!(first.answer().status, 200);
    let mut fourth = hold("/held/d", 4);
    release.send(()).unwrap();
    release.send(()).unwrap();
    assert_eq!(fourth.answer().status, 200);
    drop(second);
    until("nobody has anything", || key(&gate).known == 0);
}

/// A hundred connections of one client that ask without a pause, and another that asks for
/// something twenty times; four slots of 5 ms.
#[test]
fn who_asks_for_much_does_not_take_the_place_of_others() {
    let answered = |rest: &str| {
        let backend = Recorder::start(|_, stream| {
            thread::sleep(Duration::from_millis(5));
            ok(stream);
        });
        let limit = "[limit]\nconcurrency = 4\nmax-wait = \"20ms\"\n";
        let gate = gate(&backend, &format!("{limit}{rest}"));
        let (ends, answered) = (AtomicBool::new(false), AtomicU32::new(0));
        thread::scope(|scope| {
            for _ in 0..100 {
                scope.spawn(|| {
                    let mut client = Client::connect(front(&gate));
                    while !ends.load(Ordering::Relaxed) {
                        with_key(&mut client, "greedy");
                    }
                });
            }
            let begun = Instant::now();
            until("all of them ask", || {
                begun.elapsed() > Duration::from_millis(500)
            });
            let mut modest = Client::connect(front(&gate));
            for _ in 0..20 {
                let status = with_key(&mut modest, "modest").status;
                answered.fetch_add(u32::from(status == 200), Ordering::Relaxed);
                thread::sleep(Duration::from_millis(20));
            }
            ends.store(true, Ordering::Relaxed);
        });
        answered.into_inner()
    };
    let without = answered("");
    let with = answered("[[key]]\nby = \"header X-Api-Key\"\nconcurrency = 3\n");
    assert!(without < 16, "{without} of 20 without a key");
    assert_eq!(with, 20, "with a key");
}

#[test]
fn no_more_of_a_client_wait_than_may() {
    let (backend, release) = holding();
    let limit = "[limit]\nconcurrency = 1\nmax-wait = \"10s\"\n";
    let rest = format!("{limit}[[key]]\nby = \"header X-Api-Key\"\nmax-queue = 1\n");
    let gate = gate(&backend, &rest);
    let _held = in_flight(&gate, "/held");
    let ask = |key: &str| {
        let text = format!("GET / HTTP/1.1\r\nHost: a\r\nX-Api-Key: {key}\r\n\r\n");
        Client::with(front(&gate), text)
    };
    let mut waits = ask("a");
    stands(&gate, "it waits", |status| status.all.queued == 1);
    let refused = ask("a").answer();
    assert_eq!(refused.status, 429);
    assert!(refused.body.contains("key_queue"), "{}", refused.body);
    let mut other = ask("b");
    stands(&gate, "another waits", |status| status.all.queued == 2);
    release.send(()).unwrap();
    assert_eq!((waits.answer().status, other.answer().status), (200, 200));
    stands(&gate, "nobody waits", |status| status.all.queued == 0);
    until("nothing is left", || key(&gate).known == 0);
}

/// What does not count for a class, and a class that nothing holds.
#[test]
fn a_key_may_be_for_one_class() {
    let backend = Recorder::ok();
    let gate = gate(
        &backend,
        "[[class]]\nname = \"login\"\nmatch = { path = \"/login\" }\n\
         [[class]]\nname = \"checks\"\nmatch = { path = \"/check\" }\nexempt = true\n\
         [[key]]\nby = \"address\"\nclass = \"login\"\nrate = \"1/min\"\n",
    );
    let mut client = Client::connect(front(&gate));
    let mut statuses = |path: &str| [(); 3].map(|()| client.get(path).status);
    assert_eq!(statuses("/login"), [200, 429, 429]);
    assert_eq!(statuses("/"), [200; 3]);
    assert_eq!(statuses("/check"), [200; 3]);
}

#[test]
fn an_address_has_so_many_connections() {
    let backend = Recorder::ok();
    let gate = gate(&backend, "[[key]]\nby = \"address\"\nconnections = 2\n");
    let mut open = [Client::connect(front(&gate)), Client::connect(front(&gate))];
    for client in &mut open {
        assert_eq!(client.get("/").status, 200);
    }
    let mut third = TcpStream::connect(front(&gate)).unwrap();
    // It may be closed before this arrives.
    let _ = third.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    until("it was closed", || key(&gate).connections_refused == 1);
    let [one, mut two] = open;
    drop(one);
    until("there is room again", || {
        let mut client = Client::connect(front(&gate));
        client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
        client
            .try_answer()
            .is_some_and(|answer| answer.status == 200)
    });
    assert_eq!(two.get("/").status, 200);
}

/// What has not changed goes on; what has begins anew, and what was held by it ends quietly.
#[test]
fn keys_are_kept_over_a_reload() {
    let backend = Recorder::start(|_, stream| send(stream, "HTTP/1.1 204 No Content\r\n\r\n"));
    let rest =
        |rate: &str| format!("[[key]]\nby = \"header X-Api-Key\"\nrate = \"{rate}\"\nburst = 1\n");
    let gate = gate(&backend, &rest("1/min"));
    let mut client = Client::connect(front(&gate));
    let mut statuses = || [(); 2].map(|()| with_key(&mut client, "a").status);
    assert_eq!(statuses(), [204, 429]);
    let wanted = |rest: &str| settings(&[backend.address], rest);
    gate.reload(wanted(&format!(
        "[limit]\nconcurrency = 4\n{}",
        rest("1/min")
    )))
    .unwrap();
    assert_eq!(statuses(), [429, 429]);
    gate.reload(wanted(&rest("2/min"))).unwrap();
    assert_eq!(statuses(), [204, 429]);
}

/// One slot, and places for two that last: a WebSocket, then a stream of events, then one too many.
#[test]
fn what_lasts_has_places_of_its_own() {
    let (release, released) = mpsc::channel::<()>();
    let released = Mutex::new(released);
    let backend = Recorder::start(move |arrived, stream| match arrived.target() {
        "/socket" => {
            send(
                stream,
                "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nhello",
            );
            let _ = released.lock().unwrap().recv();
            let _ = stream.shutdown(Shutdown::Both);
        }
        "/events" => send(
            stream,
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n:a\n\r\n",
        ),
        _ => ok(stream),
    });
    let limit = "[limit]\nconcurrency = 1\nmax-wait = \"0ms\"\nlong-lived = 2\n";
    let gate = gate(&backend, limit);
    let asks =
        "GET /socket HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
    let mut socket = Client::with(front(&gate), asks);
    assert_eq!(socket.answer().status, 101);
    let mut events = Client::with(front(&gate), "GET /events HTTP/1.1\r\nHost: a\r\n\r\n");
    assert!(events.until(b":a\n").is_some());
    let mut third = Client::connect(front(&gate));
    assert_eq!(third.get("/").status, 200);
    let refused = third.get("/events");
    assert_eq!(refused.status, 503);
    assert!(refused.body.contains("long_lived"), "{}", refused.body);
    let told = status(&gate);
    let long_lived = told.long_lived.unwrap();
    assert_eq!(
        (long_lived.open, long_lived.most, long_lived.refused),
        (2, 2, 1)
    );
    assert_eq!((told.all.in_flight, told.classes[0].codes[&101]), (0, 1));
    release.send(()).unwrap();
    drop(events);
    stands(&gate, "both have ended", |status| {
        status
            .long_lived
            .is_some_and(|long_lived| long_lived.open == 0)
    });
}

/// The places of what lasts are for all: a client has no more of them than it may have requests.
#[test]
fn what_lasts_counts_for_its_client() {
    let backend = Recorder::start(|_, stream| {
        send(
            stream,
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n:a\n\r\n",
        );
    });
    let limits = "[limit]\nconcurrency = 10\nlong-lived = 10\n\
                  [[key]]\nby = \"header X-Client\"\nconcurrency = 2\n";
    let gate = gate(&backend, limits);
    let listens = |client: &str| {
        let request = format!("GET / HTTP/1.1\r\nHost: a\r\nX-Client: {client}\r\n\r\n");
        let mut events = Client::with(front(&gate), request);
        let head = events.until(b"\r\n\r\n").unwrap_or_default();
        (events, head.get(9..12).unwrap_or_default().to_owned())
    };
    let (first, second, third) = (listens("one"), listens("one"), listens("one"));
    assert_eq!((&*first.1, &*second.1, &*third.1), ("200", "200", "429"));
    assert_eq!(listens("other").1, "200");
    drop(first);
    until("another has room", || listens("one").1 == "200");
}

/// Without places of their own, they keep their slots.
#[test]
fn what_lasts_keeps_its_slot_where_nothing_is_said() {
    let backend = Recorder::start(|_, stream| {
        send(
            stream,
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n:a\n\r\n",
        );
    });
    let gate = gate(&backend, "[limit]\nconcurrency = 1\nmax-wait = \"0ms\"\n");
    let mut events = Client::with(front(&gate), "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    assert!(events.until(b":a\n").is_some());
    let told = status(&gate);
    assert_eq!((told.all.in_flight, told.long_lived), (1, None));
    assert_eq!(Client::connect(front(&gate)).get("/").status, 503);
}
