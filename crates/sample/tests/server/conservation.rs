//! Whatever comes in goes out or is still there, at every instant.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use weir_sample::{Options, WhenFull};

use crate::client::{Client, small, start};
use crate::scrape::Scrape;

/// Clients of all sorts, each on its connection for some requests: closed, kept, refused by the
/// gate, wrong.
fn busy_client(address: std::net::SocketAddr, number: u32) -> (u64, u64) {
    let (mut answered, mut cut_off) = (0, 0);
    for round in 0..30 {
        let mut client = Client::connect(address);
        for _ in 0..number % 3 {
            let target = [
                "/light?n=5",
                "/posts?size=2",
                "/nothing",
                "/stress?bit=16&searchTime=1&interval=0",
            ];
            let target = target[(number + round) as usize % 4];
            let request = format!("GET {target} HTTP/1.1\r\nHost: test\r\n\r\n");
            // The gate may have closed the connection already.
            if std::io::Write::write_all(client.socket.get_mut(), request.as_bytes()).is_err() {
                cut_off += 1;
                break;
            }
            if client.receive().is_none() {
                cut_off += 1;
                break;
            }
            answered += 1;
        }
    }
    (answered, cut_off)
}

#[test]
fn entries_are_what_left_and_what_is_in_flight() {
    let options = Options {
        threads: 3,
        pool: 1,
        max_connections: 6,
        when_full: WhenFull::Close,
        ..small()
    };
    let server = start(&options);
    let addresses = server.addresses();
    let done = AtomicBool::new(false);
    let (mut answered, mut cut_off) = (0, 0);
    thread::scope(|scope| {
        let clients: Vec<_> = (0..9)
            .map(|number| scope.spawn(move || busy_client(addresses.listen, number)))
            .collect();
        let done = &done;
        let watch = scope.spawn(move || {
            while !done.load(Ordering::Relaxed) {
                let scrape = Scrape::of(addresses.admin);
                let inside = scrape.count("threads", "occupancy");
                let left = scrape.answered() + scrape.get("weir_requests_abandoned_total") as u64;
                assert_eq!(
                    scrape.count("threads", "entries_total"),
                    left + inside,
                    "{scrape:#?}"
                );
                assert_eq!(
                    scrape.count("request-queue", "entries_total"),
                    left + inside,
                    "{scrape:#?}"
                );
                assert!(
                    inside <= 3 && scrape.count("connections", "occupancy") <= 6,
                    "{scrape:#?}"
                );
                assert!(scrape.count("pool.db", "occupancy") <= 1, "{scrape:#?}");
            }
        });
        for client in clients {
            let (of_client, cut_off_client) = client.join().unwrap();
            answered += of_client;
            cut_off += cut_off_client;
        }
        done.store(true, Ordering::Relaxed);
        watch.join().unwrap();
    });
    // Nine clients made thirty connections each: all are let in or refused, and all end.
    let scrape = Scrape::when(addresses.admin, |scrape| {
        let made = scrape.count("connections", "entries_total")
            + scrape.count("connections", "refused_total");
        let open = scrape.count("connections", "occupancy");
        made == 270 && open == 0 && scrape.count("threads", "occupancy") == 0
    });
    let refused = scrape.count("connections", "refused_total");
    assert!(
        refused >= cut_off,
        "clients saw {cut_off} refusals of {refused}"
    );
    assert_eq!(scrape.answered(), answered);
    assert_eq!(
        scrape.count("pool.db", "occupancy") + scrape.count("database", "occupancy"),
        0
    );
}
