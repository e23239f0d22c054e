//! Each limit limits, and can be changed while the server runs.

use std::net::TcpStream;

use weir_sample::{Options, WhenFull};

use crate::client::{Client, all_answered, get, get_at_once, occupy, put, small, start};
use crate::scrape::Scrape;

/// Keeps a connection of the pool, and a thread with it, for longer than any test runs.
const HOLD: &str = "/stress?searchTime=600000&bit=16";
/// Keeps a thread, and no connection of the pool.
const SLEEP: &str = "/stress?searchTime=0&interval=600000&bit=16";
/// Takes both for a moment.
const SHORT: &str = "/stress?searchTime=20&updateTime=0&interval=20&bit=16";

#[test]
fn no_more_threads_run_than_the_limit_says() {
    let server = start(&Options {
        threads: 3,
        pool: 20,
        ..small()
    });
    let addresses = server.addresses();
    let _clients = occupy(addresses.listen, SLEEP, 10);
    // A thread that is starting or waking up has not taken its request yet.
    let scrape = Scrape::when(addresses.admin, |scrape| {
        scrape.count("request-queue", "occupancy") == 7 && scrape.count("threads", "occupancy") == 3
    });
    assert_eq!(
        (
            scrape.count("threads", "limit"),
            scrape.get("weir_threads") as u64
        ),
        (3, 3)
    );
    assert_eq!(scrape.count("connections", "occupancy"), 10);
}

#[test]
fn no_more_connections_of_the_pool_are_held_than_the_limit_says() {
    let server = start(&Options {
        threads: 10,
        pool: 3,
        ..small()
    });
    let addresses = server.addresses();
    let _clients = occupy(addresses.listen, HOLD, 10);
    let scrape = Scrape::when(addresses.admin, |scrape| {
        scrape.count("threads", "occupancy") == 10 && scrape.count("pool.db", "waiting") == 7
    });
    assert_eq!(
        (
            scrape.count("pool.db", "occupancy"),
            scrape.count("pool.db", "limit")
        ),
        (3, 3)
    );
    assert_eq!(scrape.count("request-queue", "waiting"), 0);
}

#[test]
fn connections_too_many_are_closed_at_once_and_counted() {
    let server = start(&Options {
        max_connections: 5,
        when_full: WhenFull::Close,
        ..small()
    });
    let addresses = server.addresses();
    let kept: Vec<Client> = (0..5).map(|_| Client::connect(addresses.listen)).collect();
    Scrape::when(addresses.admin, |scrape| {
        scrape.count("connections", "occupancy") == 5
    });
    for _ in 0..3 {
        assert!(Client::connect(addresses.listen).receive().is_none());
    }
    let scrape = Scrape::when(addresses.admin, |scrape| {
        scrape.count("connections", "refused_total") == 3
    });
    assert_eq!(
        (
            scrape.count("connections", "entries_total"),
            scrape.count("connections", "occupancy")
        ),
        (5, 5)
    );
    drop(kept);
    Scrape::when(addresses.admin, |scrape| {
        scrape.count("connections", "occupancy") == 0
    });
    assert_eq!(get(addresses.listen, "/light").status, 200);
}

#[test]
fn connections_too_many_wait_in_the_backlog() {
    let server = start(&Options {
        max_connections: 5,
        ..small()
    });
    let addresses = server.addresses();
    let mut clients: Vec<Client> = (0..9).map(|_| Client::connect(addresses.listen)).collect();
    let scrape = Scrape::when(addresses.admin, |scrape| {
        scrape.count("connections", "occupancy") == 5 && scrape.count("backlog", "occupancy") == 4
    });
    assert_eq!(
        scrape.find("weir_stage_refused_total{stage=\"connections\"}"),
        None
    );
    // The first five are in; the four behind them are served as those leave.
    for mut client in clients.drain(..) {
        assert_eq!(client.get("/light").status, 200);
    }
    let scrape = Scrape::when(addresses.admin, |scrape| {
        scrape.count("connections", "occupancy") == 0
    });
    assert_eq!(
        (
            scrape.count("connections", "entries_total"),
            scrape.count("backlog", "occupancy")
        ),
        (9, 0)
    );
}

#[test]
fn the_backlog_is_the_one_asked_for() {
    let server = start(&Options {
        max_connections: 1,
        backlog: 7,
        ..small()
    });
    let addresses = server.addresses();
    let first = Client::connect(addresses.listen);
    Scrape::when(addresses.admin, |scrape| {
        scrape.count("connections", "occupancy") == 1
    });
    // The kernel's queue takes one more than its limit.
    let waiting: Vec<TcpStream> = (0..8)
        .map(|_| TcpStream::connect(addresses.listen).unwrap())
        .collect();
    let scrape = Scrape::when(addresses.admin, |scrape| {
        scrape.count("backlog", "occupancy") == 8
    });
    assert_eq!(scrape.count("backlog", "limit"), 7);
    let one_more =
        TcpStream::connect_timeout(&addresses.listen, std::time::Duration::from_millis(300));
    assert_eq!(one_more.unwrap_err().kind(), std::io::ErrorKind::TimedOut);
    drop((first, waiting));
}

#[test]
fn threads_change_while_the_server_runs() {
    let server = start(&Options {
        threads: 2,
        pool: 20,
        ..small()
    });
    let addresses = server.addresses();
    let _clients = occupy(addresses.listen, SLEEP, 16);
    Scrape::when(addresses.admin, |scrape| {
        scrape.count("request-queue", "waiting") == 14 && scrape.count("threads", "occupancy") == 2
    });
    let answer = put(addresses.admin, "/limits?threads=6");
    assert!(answer.body.contains(r#""threads":6"#), "{}", answer.body);
    // The new ones take requests at once.
    Scrape::when(addresses.admin, |scrape| {
        scrape.count("threads", "occupancy") == 6 && scrape.count("request-queue", "waiting") == 10
    });
    // None of them becomes free, so a lower limit ends none.
    put(addresses.admin, "/limits?threads=1");
    let scrape = Scrape::of(addresses.admin);
    assert_eq!(
        (
            scrape.count("threads", "limit"),
            scrape.get("weir_threads") as u64
        ),
        (1, 6)
    );
}

#[test]
fn threads_end_as_they_become_free_and_no_request_is_lost() {
    let server = start(&Options {
        threads: 8,
        pool: 20,
        ..small()
    });
    let addresses = server.addresses();
    // Busy ones end after their request, idle ones at once.
    let clients = get_at_once(addresses.listen, SHORT, 30);
    put(addresses.admin, "/limits?threads=1");
    Scrape::when(addresses.admin, |scrape| {
        scrape.get("weir_threads") as u64 == 1
    });
    all_answered(clients);
    put(addresses.admin, "/limits?threads=12");
    all_answered(get_at_once(addresses.listen, SHORT, 30));
    let scrape = Scrape::when(addresses.admin, |scrape| {
        scrape.count("threads", "occupancy") == 0
    });
    assert_eq!(
        (scrape.answered(), scrape.get("weir_threads") as u64),
        (60, 12)
    );
}

#[test]
fn the_pool_changes_while_the_server_runs() {
    let server = start(&Options {
        threads: 30,
        pool: 1,
        ..small()
    });
    let addresses = server.addresses();
    let _clients = occupy(addresses.listen, HOLD, 12);
    Scrape::when(addresses.admin, |scrape| {
        scrape.count("pool.db", "waiting") == 11
    });
    put(addresses.admin, "/limits?pool.db=5");
    // Whoever waits gets the new ones before the change is answered.
    let scrape = Scrape::of(addresses.admin);
    assert_eq!(
        (
            scrape.count("pool.db", "occupancy"),
            scrape.count("pool.db", "waiting")
        ),
        (5, 7)
    );
    // None of them comes back, so a lower limit takes none away.
    put(addresses.admin, "/limits?pool.db=2");
    let scrape = Scrape::of(addresses.admin);
    assert_eq!(
        (
            scrape.count("pool.db", "limit"),
            scrape.count("pool.db", "occupancy")
        ),
        (2, 5)
    );
}

#[test]
fn a_smaller_pool_holds_after_the_change() {
    let server = start(&Options {
        threads: 30,
        pool: 9,
        ..small()
    });
    let addresses = server.addresses();
    let clients = get_at_once(addresses.listen, SHORT, 20);
    put(addresses.admin, "/limits?pool.db=2");
    all_answered(clients);
    let _clients = occupy(addresses.listen, HOLD, 12);
    let scrape = Scrape::when(addresses.admin, |scrape| {
        scrape.count("pool.db", "waiting") == 10
    });
    assert_eq!(scrape.count("pool.db", "occupancy"), 2);
}

#[test]
fn the_connection_limit_changes_while_the_server_runs() {
    let server = start(&Options {
        max_connections: 2,
        ..small()
    });
    let addresses = server.addresses();
    let mut clients: Vec<Client> = (0..6).map(|_| Client::connect(addresses.listen)).collect();
    Scrape::when(addresses.admin, |scrape| {
        scrape.count("backlog", "occupancy") == 4
    });
    put(addresses.admin, "/limits?connections=5");
    Scrape::when(addresses.admin, |scrape| {
        scrape.count("connections", "occupancy") == 5 && scrape.count("backlog", "occupancy") == 1
    });
    put(addresses.admin, "/limits?connections=1");
    // Those that are in stay in; the last one has to wait for all but none of them to go.
    assert_eq!(clients[0].get("/light").status, 200);
    let last = clients.pop().unwrap();
    drop(clients.split_off(1));
    let scrape = Scrape::when(addresses.admin, |scrape| {
        scrape.count("connections", "occupancy") == 1
    });
    assert_eq!(
        (
            scrape.count("backlog", "occupancy"),
            scrape.count("connections", "entries_total")
        ),
        (1, 5)
    );
    drop(clients);
    Scrape::when(addresses.admin, |scrape| {
        scrape.count("connections", "entries_total") == 6
    });
    drop(last);
}

#[test]
fn limits_are_read_changed_together_and_checked_before_any_is_changed() {
    let server = start(&small());
    let admin = server.addresses().admin;
    let before = r#"{"backlog":511,"connections":20000,"threads":4,"pool.db":2}"#;
    let connections = Scrape::of(admin).count("connections", "limit");
    let before = before.replace("20000", &connections.to_string()) + "\n";
    assert_eq!(get(admin, "/limits").body, before);
    for (target, complaint) in [
        (
            "/limits?threads=9&pool.db=0",
            "parameter pool.db: \"0\" is not accepted; give a whole number from 1 to 1000 (connections)",
        ),
        (
            "/limits?threads=10001",
            "parameter threads: \"10001\" is not accepted; give a whole number from 1 to 10000 (threads)",
        ),
        (
            "/limits?backlog=9",
            "parameter backlog is not known here; accepted: connections, threads, pool.db",
        ),
    ] {
        let answer = put(admin, target);
        assert_eq!((answer.status, answer.body.trim_end()), (400, complaint));
    }
    assert_eq!(get(admin, "/limits").body, before);
    let after = put(admin, "/limits?threads=29&pool.db=4&connections=100").body;
    assert_eq!(
        after,
        "{\"backlog\":511,\"connections\":100,\"threads\":29,\"pool.db\":4}\n"
    );
    assert_eq!(get(admin, "/limits").body, after);
    assert_eq!(
        (get(admin, "/").status, put(admin, "/metrics").status),
        (404, 405)
    );
}

/// A page in somebody's browser reaches this machine by a name that it has looked up as it.
#[test]
fn the_admin_port_answers_nobody_who_comes_by_a_name() {
    let server = start(&small());
    let admin = server.addresses().admin;
    let before = get(admin, "/limits").body;
    for asked in ["PUT /limits?threads=7", "GET /limits", "GET /metrics"] {
        let answer = Client::connect(admin).ask(&format!(
            "{asked} HTTP/1.1\r\nHost: rebound.example:{}\r\nConnection: close\r\n\r\n",
            admin.port()
        ));
        assert_eq!(answer.status, 403, "{asked}");
        assert!(answer.body.contains("by an address"), "{}", answer.body);
    }
    assert_eq!(get(admin, "/limits").body, before);
}
