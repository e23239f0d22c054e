//! A server that takes bytes literally, records what arrives, and answers as a test tells it.

use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

/// A request as it arrived.
#[derive(Debug, Clone)]
pub(crate) struct Arrived {
    /// Request line and fields, with their ends of lines.
    pub(crate) head: String,
    /// What came after it, chunks put together.
    pub(crate) body: String,
    /// How many chunks those were.
    pub(crate) chunks: usize,
}

impl Arrived {
    /// What the request line asks for.
    pub(crate) fn target(&self) -> &str {
        self.head.split(' ').nth(1).unwrap_or_default()
    }

    /// Values of a field.
    pub(crate) fn fields(&self, name: &str) -> Vec<&str> {
        let lines = self.head.split("\r\n").skip(1);
        let values = lines.filter_map(|line| {
            let (field, value) = line.split_once(':')?;
            field.eq_ignore_ascii_case(name).then(|| value.trim())
        });
        values.collect()
    }
}

type Answer = dyn Fn(&Arrived, &mut TcpStream) + Send + Sync;

/// A server that runs until the tests end.
#[derive(Clone)]
pub(crate) struct Recorder {
    pub(crate) address: SocketAddr,
    arrived: Arc<Mutex<Vec<Arrived>>>,
    connections: Arc<AtomicUsize>,
}

/// A whole answer.
pub(crate) fn ok(stream: &mut TcpStream) {
    send(stream, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
}

/// Sends text; a client that has left is none of the server's business.
pub(crate) fn send(stream: &mut TcpStream, text: &str) {
    let _ = stream.write_all(text.as_bytes());
}

impl Recorder {
    /// A server that answers each request with 200 and `ok`.
    pub(crate) fn ok() -> Self {
        Self::start(|_, stream| ok(stream))
    }

    /// A server that answers as told; the connection goes on until it is closed.
    pub(crate) fn start(answer: impl Fn(&Arrived, &mut TcpStream) + Send + Sync + 'static) -> Self {
        Self::start_at(TcpListener::bind("127.0.0.1:0").unwrap(), answer)
    }

    /// One where somebody listens already.
    pub(crate) fn start_at(
        listener: TcpListener,
        answer: impl Fn(&Arrived, &mut TcpStream) + Send + Sync + 'static,
    ) -> Self {
        let recorder = Self {
            address: listener.local_addr().unwrap(),
            arrived: Arc::default(),
            connections: Arc::default(),
        };
        let (accepting, answer): (_, Arc<Answer>) = (recorder.clone(), Arc::new(answer));
        thread::spawn(move || {
            for stream in listener.incoming() {
                accepting.connections.fetch_add(1, Ordering::SeqCst);
                let (recorder, answer) = (accepting.clone(), Arc::clone(&answer));
                thread::spawn(move || recorder.serve(stream.unwrap(), &*answer));
            }
        });
        recorder
    }

    /// Every whole request so far.
    pub(crate) fn arrived(&self) -> Vec<Arrived> {
        self.arrived.lock().unwrap().clone()
    }

    /// What was asked for, in order.
    pub(crate) fn targets(&self) -> Vec<String> {
        let arrived = self.arrived();
        arrived.iter().map(|one| one.target().to_owned()).collect()
    }

    /// How many connections were made to it.
    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    fn serve(&self, stream: TcpStream, answer: &Answer) {
        let mut writing = stream.try_clone().unwrap();
        let mut reading = BufReader::new(stream);
        while let Some(head) = head(&mut reading) {
            let mut arrived = Arrived {
                head,
                body: String::new(),
                chunks: 0,
            };
            if body(&mut arrived, &mut reading).is_none() {
                return;
            }
            self.arrived.lock().unwrap().push(arrived.clone());
            answer(&arrived, &mut writing);
        }
    }
}

/// Up to and with the empty line; `None` when the connection ends before.
fn head(reading: &mut BufReader<TcpStream>) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if reading.read_until(b'\n', &mut head).ok()? == 0 {
            return None;
        }
    }
    Some(String::from_utf8_lossy(&head).into_owned())
}

/// Reads the body as a strict server does; `None` when it is not whole.
fn body(request: &mut Arrived, reading: &mut BufReader<TcpStream>) -> Option<()> {
    let lengths = request.fields("content-length");
    let codings = request.fields("transfer-encoding");
    match (lengths.as_slice(), codings.as_slice()) {
        ([], []) => Some(()),
        ([length], []) => {
            let mut body = vec![0; length.parse().expect("a length is a number")];
            reading.read_exact(&mut body).ok()?;
            request.body = String::from_utf8_lossy(&body).into_owned();
            Some(())
        }
        ([], ["chunked"]) => chunks(request, reading),
        both => panic!("nobody knows where this body ends: {both:?}"),
    }
}

fn chunks(request: &mut Arrived, reading: &mut BufReader<TcpStream>) -> Option<()> {
    loop {
        let mut line = String::new();
        if reading.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let size = line.strip_suffix("\r\n").expect("a line ends with CR LF");
        let size = usize::from_str_radix(size, 16).expect("a chunk begins with its size alone");
        let mut chunk = vec![0; size + 2];
        reading.read_exact(&mut chunk).ok()?;
        assert!(chunk.ends_with(b"\r\n"), "a chunk ends with CR LF");
        if size == 0 {
            return Some(());
        }
        request.chunks += 1;
        request
            .body
            .push_str(&String::from_utf8_lossy(&chunk[..size]));
    }
}
