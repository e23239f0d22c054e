//! What a crash of the admin side does, and what it does not.
#![expect(clippy::unwrap_used, reason = "tests state what must hold")]

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener as StdListener, TcpStream};
use std::sync::atomic::AtomicU64;

use super::*;
use crate::gateway::Gateway;
use crate::settings::Settings;

#[test]
fn a_crash_is_followed_by_a_start() {
    let (restarts, runs) = (AtomicU64::new(0), AtomicU64::new(0));
    again_and_again(&restarts, || match runs.fetch_add(1, Ordering::Relaxed) {
        0 => panic!("the admin side crashes; this is what the test is about"),
        1 => Err(std::io::Error::other("no more open files")),
        _ => Ok(()),
    });
    assert_eq!(restarts.into_inner(), 2);
    assert_eq!(runs.into_inner(), 3);
}

/// Asks once, over a connection of its own.
fn ask(at: SocketAddr, path: &str) -> String {
    let mut stream = TcpStream::connect(at).unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// Answers everything with 200.
fn backend() -> SocketAddr {
    let listener = StdListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut head = [0; 4096];
            let _ = stream.read(&mut head);
            let _ =
                stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nfrom the backend");
        }
    });
    address
}

#[test]
fn a_crash_stops_no_traffic() {
    let text = format!(
        "listen = \"127.0.0.1:0\"\nadmin = false\nthreads = 1\nbackends = [\"http://{}\"]\n[limit]\nconcurrency = 1\n",
        backend()
    );
    let gateway = Gateway::start(Settings::parse(&text).unwrap(), String::new()).unwrap();
    let control = Arc::clone(gateway.control());
    let front = gateway.addresses().listen[0].tcp().unwrap();
    assert!(ask(front, "/").contains("from the backend"));
    let anywhere: SocketAddr = "127.0.0.1:0".parse().unwrap();
    let listener = Listening::open(&anywhere.into(), 0o600).unwrap();
    let admin = listener.address().and_then(|at| at.tcp()).unwrap();
    let (ends, ended) = watch::channel(false);
    let side = thread::spawn({
        let control = Arc::clone(&control);
        move || {
            let restarts = &control.shared.counts.admin_restarts;
            again_and_again(restarts, || {
                if restarts.load(Ordering::Relaxed) < 2 {
                    control.crash();
                }
                serve(&listener, &control, &Bytes::new(), ended.clone())
            });
        }
    });
    // Traffic before the first crash, between two, and after the last.
    while control.shared.counts.admin_restarts.load(Ordering::Relaxed) < 2 {
        assert!(ask(front, "/").contains("from the backend"));
    }
    let status = ask(admin, "/status");
    assert!(status.contains("\"admin_restarts\": 2"), "{status}");
    assert!(status.contains("\"in_flight\": 0"), "{status}");
    ends.send_replace(true);
    side.join().unwrap();
    assert!(gateway.drain().has_ended());
}
