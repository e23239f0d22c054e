//! Gateways for tests.

use std::net::{SocketAddr, TcpListener};
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use weir_gateway::{Gateway, ListenAddress, Settings, Status};

use crate::client::Client;
use crate::recorder::{Recorder, ok};

/// A gateway in front of these servers; `rest` is the rest of its file.
pub(crate) fn gate_to(backends: &[SocketAddr], rest: &str) -> Gateway {
    Gateway::start(settings(backends, rest), "the page".to_owned()).unwrap()
}

/// A gateway in front of one.
pub(crate) fn gate(backend: &Recorder, rest: &str) -> Gateway {
    gate_to(&[backend.address], rest)
}

/// Settings as a file gives them.
pub(crate) fn settings(backends: &[SocketAddr], rest: &str) -> Settings {
    Settings::parse(&file(backends, rest)).unwrap_or_else(|problems| panic!("{problems:#?}"))
}

/// The text of a file; `rest` begins at its fifth line.
pub(crate) fn file(backends: &[SocketAddr], rest: &str) -> String {
    let backends: Vec<String> = backends
        .iter()
        .map(|at| format!("\"http://{at}\""))
        .collect();
    format!(
        "listen = \"127.0.0.1:0\"\nadmin = \"127.0.0.1:0\"\nthreads = 1\nbackends = [{}]\n{rest}",
        backends.join(", ")
    )
}

/// A client whose request, the only one, is with the backend.
pub(crate) fn in_flight(gate: &Gateway, target: &str) -> Client {
    let client = Client::with(
        front(gate),
        format!("GET {target} HTTP/1.1\r\nHost: a\r\n\r\n"),
    );
    stands(gate, "one is in flight", |status| status.all.in_flight == 1);
    client
}

/// Where clients connect.
pub(crate) fn front(gate: &Gateway) -> SocketAddr {
    gate.addresses().listen[0].tcp().unwrap()
}

/// Where operators connect.
pub(crate) fn admin(gate: &Gateway) -> SocketAddr {
    let admin = gate.addresses().admin.as_ref();
    admin.and_then(ListenAddress::tcp).unwrap()
}

/// How the gateway says that it stands.
pub(crate) fn status(gate: &Gateway) -> Status {
    let answer = Client::connect(admin(gate)).get_of("127.0.0.1", "/status");
    assert_eq!(answer.status, 200, "{}", answer.body);
    serde_json::from_str(&answer.body).unwrap()
}

impl Client {
    /// Asks a certain host for a path.
    pub(crate) fn get_of(&mut self, host: &str, path: &str) -> crate::client::Answer {
        self.send(format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n"));
        self.answer()
    }
}

/// An address at which nobody listens.
pub(crate) fn nobody() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap()
}

/// Waits until something holds; a test in which it never does fails.
pub(crate) fn until(what: &str, holds: impl Fn() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(30), "{what}");
        thread::sleep(Duration::from_millis(2));
    }
}

/// Waits until the gateway stands so.
pub(crate) fn stands(gate: &Gateway, what: &str, holds: impl Fn(&Status) -> bool) {
    until(what, || holds(&status(gate)));
}

/// A server that answers a request for `/held…` only when it is told to.
pub(crate) fn holding() -> (Recorder, mpsc::Sender<()>) {
    holding_at(TcpListener::bind("127.0.0.1:0").unwrap())
}

/// As [`holding`], where somebody listens already.
pub(crate) fn holding_at(listener: TcpListener) -> (Recorder, mpsc::Sender<()>) {
    let (release, released) = mpsc::channel();
    let released = Arc::new(Mutex::new(released));
    let recorder = Recorder::start_at(listener, move |arrived, stream| {
        if arrived.target().starts_with("/held") {
            // When the test has ended, nobody waits for the answer.
            let _ = released.lock().unwrap().recv();
        }
        ok(stream);
    });
    (recorder, release)
}
