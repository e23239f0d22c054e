//! The server behind the gateways: it notes when each request arrived.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use crate::error::TaskError;

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// A server, and when requests came to it. It runs until the program ends.
#[derive(Debug)]
pub(crate) struct Arrivals {
    port: u16,
    times: Arc<Mutex<Vec<Instant>>>,
}

impl Arrivals {
    /// Starts it on a port that is free.
    pub(crate) fn start() -> Result<Self, TaskError> {
        let failed = |source| TaskError::Start {
            command: "the server of the bench".to_owned(),
            source,
        };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed)?;
        let port = listener.local_addr().map_err(failed)?.port();
        let times: Arc<Mutex<Vec<Instant>>> = Arc::default();
        let noted = Arc::clone(&times);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let noted = Arc::clone(&noted);
                thread::spawn(move || serve(stream, &noted));
            }
        });
        Ok(Self { port, times })
    }

    /// Where it listens.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// When requests came, in order.
    pub(crate) fn times(&self) -> Vec<Instant> {
        let mut times = self
            .times
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        times.sort_unstable();
        times
    }
}

fn serve(mut stream: TcpStream, times: &Mutex<Vec<Instant>>) {
    let mut head = Vec::new();
    let mut bytes = [0; 4096];
    // A gateway that keeps the connection sends one request after the answer to the one before.
    while let Ok(count @ 1..) = stream.read(&mut bytes) {
        head.extend_from_slice(&bytes[..count]);
        if !head.ends_with(b"\r\n\r\n") {
            continue;
        }
        let now = Instant::now();
        times
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(now);
        head.clear();
        if stream.write_all(ANSWER).is_err() {
            return;
        }
    }
}
