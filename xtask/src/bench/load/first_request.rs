//! How long it takes from the start of a program to its first request.

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::bench::load::command;
use crate::error::TaskError;

/// How exact the answer is.
const LOOK_EVERY: Duration = Duration::from_micros(100);

/// A server that answers one request and notes when it came.
#[derive(Debug)]
pub(crate) struct Listener(TcpListener);

impl Listener {
    /// A server on a port of its own.
    pub(crate) fn open() -> Result<Self, TaskError> {
        TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .map(Self)
            .map_err(|source| TaskError::Start {
                command: "a server".to_owned(),
                source,
            })
    }

    /// Where it listens.
    pub(crate) fn port(&self) -> u16 {
        self.0.local_addr().map_or(0, |address| address.port())
    }

    /// Starts a program and waits for its first request; the program ends with it.
    pub(crate) fn first_request(self, words: &[String]) -> Result<Duration, TaskError> {
        let failed = |source| TaskError::Start {
            command: words.join(" "),
            source,
        };
        let begun = Instant::now();
        let mut child = command(words)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(failed)?;
        let heard = self.accept(&mut child).and_then(|mut stream| {
            let mut buffer = [0; 4096];
            let read = stream.read(&mut buffer)?;
            let took = begun.elapsed();
            stream
                .write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")?;
            Ok((read, took))
        });
        // Everything that matters has been seen.
        let _ = child.kill();
        let _ = child.wait();
        match heard.map_err(failed)? {
            (0, _) => Err(TaskError::Form {
                what: words.join(" "),
                why: "it connected and sent nothing".to_owned(),
            }),
            (_, took) => Ok(took),
        }
    }

    /// Looks again and again, so that a program that ends without a word is noticed.
    fn accept(&self, child: &mut Child) -> io::Result<TcpStream> {
        self.0.set_nonblocking(true)?;
        loop {
            match self.0.accept() {
                Ok((stream, _)) => {
                    stream.set_nonblocking(false)?;
                    return Ok(stream);
                }
                Err(error) if error.kind() != io::ErrorKind::WouldBlock => return Err(error),
                Err(error) if child.try_wait()?.is_some() => return Err(error),
                Err(_) => thread::sleep(LOOK_EVERY),
            }
        }
    }
}
