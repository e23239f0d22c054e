//! The server that recorded plans are run against: it answers what the path asks for and keeps
//! every request, by the user that sent it.
//!
//! Answers are those of the server that JMeter's recordings in `cases/` were made with, to the byte
//! but for the date.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// The header by which users tell who they are.
const USER: &str = "x-user";
/// How long a connection may be idle.
const IDLE: Duration = Duration::from_secs(20);

/// Runs until it is dropped.
pub(crate) struct CaseServer {
    pub(crate) port: u16,
    ended: Arc<AtomicBool>,
    log: Log,
}

/// The requests of each user in their order.
pub(crate) type Requests = BTreeMap<String, Vec<String>>;
type Log = Arc<Mutex<Requests>>;

impl CaseServer {
    /// Starts on a free port of this machine.
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let ended = Arc::new(AtomicBool::new(false));
        let log = Log::default();
        let (stop, entries) = (Arc::clone(&ended), Arc::clone(&log));
        thread::spawn(move || {
            for stream in listener.incoming() {
                if stop.load(Ordering::SeqCst) {
                    return;
                }
                let log = Arc::clone(&entries);
                // A client that goes away in the middle of something has said enough.
                thread::spawn(move || stream.ok().and_then(|stream| serve(stream, &log)));
            }
        });
        Self { port, ended, log }
    }

    /// What has been asked, which is forgotten.
    pub(crate) fn take_requests(&self) -> Requests {
        std::mem::take(&mut *self.log.lock().unwrap())
    }

    /// What has been asked.
    pub(crate) fn requests(&self) -> Requests {
        self.log.lock().unwrap().clone()
    }
}

impl Drop for CaseServer {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::SeqCst);
        drop(TcpStream::connect(("127.0.0.1", self.port)));
    }
}

struct Request {
    line: String,
    fields: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Request {
    fn read(reader: &mut BufReader<TcpStream>) -> Option<Self> {
        let line = read_line(reader).filter(|line| !line.is_empty())?;
        let mut fields = Vec::new();
        loop {
            let field = read_line(reader)?;
            let Some((name, value)) = field.trim_end().split_once(':') else {
                break;
            };
            fields.push((name.to_owned(), value.trim().to_owned()));
        }
        let mut request = Self {
            line: line.trim_end().to_owned(),
            fields,
            body: Vec::new(),
        };
        let length = request.field("content-length");
        let length = length.and_then(|length| length.parse().ok()).unwrap_or(0);
        request.body = vec![0; length];
        reader.read_exact(&mut request.body).ok()?;
        Some(request)
    }

    fn field(&self, wanted: &str) -> Option<&str> {
        let mut fields = self.fields.iter();
        let found = fields.find(|(name, _)| name.eq_ignore_ascii_case(wanted));
        found.map(|(_, value)| value.as_str())
    }

    fn path(&self) -> &str {
        let target = self.line.split(' ').nth(1).unwrap_or_default();
        target.split('?').next().unwrap_or_default()
    }

    /// One line: request line, header fields but for those that name user, program and port, body.
    fn told(&self) -> String {
        let mut told = self.line.clone();
        for (name, value) in &self.fields {
            if !is_hidden(name) {
                let _ = write!(told, " | {name}: {value}");
            }
        }
        if !self.body.is_empty() {
            let body = String::from_utf8_lossy(&self.body)
                .escape_debug()
                .to_string();
            let _ = write!(told, " || {body}");
        }
        told
    }

    /// What was asked as it came, as an answer.
    fn whole(&self) -> Vec<u8> {
        let mut text = format!("{}\n", self.line);
        for (name, value) in self.fields.iter().filter(|(name, _)| !is_hidden(name)) {
            let _ = writeln!(text, "{name}: {value}");
        }
        text.push('\n');
        let mut whole = text.into_bytes();
        whole.extend_from_slice(&self.body);
        whole
    }
}

/// Whether a header field names user, program or port.
fn is_hidden(name: &str) -> bool {
    [USER, "user-agent", "host"]
        .iter()
        .any(|hidden| name.eq_ignore_ascii_case(hidden))
}

fn serve(stream: TcpStream, log: &Log) -> Option<()> {
    stream.set_read_timeout(Some(IDLE)).ok()?;
    stream.set_nodelay(true).ok()?;
    let mut out = stream.try_clone().ok()?;
    let mut reader = BufReader::new(stream);
    while let Some(request) = Request::read(&mut reader) {
        let user = request.field(USER).unwrap_or("-").to_owned();
        log.lock()
            .unwrap()
            .entry(user)
            .or_default()
            .push(request.told());
        if !answer(&request, &mut out)? {
            out.shutdown(Shutdown::Both).ok()?;
            return Some(());
        }
        if request
            .field("connection")
            .is_some_and(|field| field.eq_ignore_ascii_case("close"))
        {
            return Some(());
        }
    }
    Some(())
}

const PAGE: &str = "<html><head><link rel=\"stylesheet\" href=\"/s.css\"></head><body><img src=\"/i1.png\"><img src=\"/i1.png\"><img src=\"/miss.png\"><script src=\"/j.js\"></script><a href=\"/ok\">l</a></body></html>";
const JSON: &str = "{\"a\":[{\"id\":1,\"n\":\"x\"},{\"id\":2,\"n\":null}],\"t\":true,\"f\":1.5}";
const XML: &str = "<?xml version=\"1.0\"?><r><a id=\"1\">x</a><a id=\"2\">y</a></r>";
const PNG: &str = "PNGPNGPNGPNGPNGPNGPNGPNGPNGPNG";

/// Answers; whether the connection goes on.
fn answer(request: &Request, out: &mut TcpStream) -> Option<bool> {
    let plain = "text/plain";
    let location = |to: &str| format!("Location: {to}\r\n");
    let (status, fields, kind, body): (&str, String, &str, &[u8]) = match request.path() {
        "/ok" => ("200 OK", String::new(), plain, b"hello world"),
        "/slow" => {
            thread::sleep(Duration::from_millis(300));
            ("200 OK", String::new(), plain, b"slow")
        }
        "/r1" => ("302 Found", location("/r2"), plain, b""),
        "/r2" => (
            "301 Moved Permanently",
            location("/ok?x=1"),
            plain,
            b"moved",
        ),
        "/loop" => ("302 Found", location("/loop"), plain, b""),
        "/404" => ("404 Not Found", String::new(), plain, b"nope"),
        "/500" => ("500 Internal Server Error", String::new(), plain, b"err"),
        "/json" => ("200 OK", String::new(), "application/json", JSON.as_bytes()),
        "/xml" => (
            "200 OK",
            String::new(),
            "text/xml;charset=UTF-8",
            XML.as_bytes(),
        ),
        "/page" => ("200 OK", String::new(), "text/html", PAGE.as_bytes()),
        "/s.css" => (
            "200 OK",
            String::new(),
            "text/css",
            b"body{background:url(/bg.png)}",
        ),
        "/i1.png" | "/bg.png" => ("200 OK", String::new(), "image/png", PNG.as_bytes()),
        "/j.js" => ("200 OK", String::new(), "application/javascript", b"var a;"),
        "/miss.png" => ("404 Not Found", String::new(), "image/png", b""),
        "/cookie" => {
            let set = "Set-Cookie: sid=abc; Path=/\r\nSet-Cookie: p=1; Path=/x\r\n";
            ("200 OK", set.to_owned(), plain, b"c")
        }
        "/echo" => return respond(out, request, "200 OK", "", plain, &request.whole()),
        "/close" => return Some(false),
        "/trunc" => {
            let head = head("200 OK", "Content-Length: 100\r\n");
            out.write_all(format!("{head}short").as_bytes()).ok()?;
            return Some(false);
        }
        "/204" => {
            out.write_all(head("204 No Content", "").as_bytes()).ok()?;
            return Some(true);
        }
        _ => ("404 Not Found", String::new(), plain, b"nf"),
    };
    respond(out, request, status, &fields, kind, body)
}

/// A line, of which not all bytes have to be letters.
fn read_line(reader: &mut BufReader<TcpStream>) -> Option<String> {
    let mut line = Vec::new();
    reader.read_until(b'\n', &mut line).ok()?;
    Some(String::from_utf8_lossy(&line).into_owned())
}

fn head(status: &str, fields: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\nServer: BaseHTTP/0.6 Python/3.11.7\r\n\
         Date: Sat, 21 Nov 2026 00:01:48 GMT\r\n{fields}\r\n"
    )
}

fn respond(
    out: &mut TcpStream,
    request: &Request,
    status: &str,
    fields: &str,
    kind: &str,
    body: &[u8],
) -> Option<bool> {
    let length = body.len();
    let fields = format!("{fields}Content-Type: {kind}\r\nContent-Length: {length}\r\n");
    let mut answer = head(status, &fields).into_bytes();
    if !request.line.starts_with("HEAD ") {
        answer.extend_from_slice(body);
    }
    out.write_all(&answer).ok()?;
    Some(true)
}
