//! The access log: one line of JSON a request.
//!
//! Lines are collected in memory and written by a thread of its own, so that a slow disk delays no
//! request. When more than [`ROOM`] bytes wait, lines are left out and counted.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use http::header::{HOST, USER_AGENT};
use http::{StatusCode, request::Parts};
use serde::Serialize;
use weir_limit::Kind;

use crate::client::ClientAddress;
use crate::error::GatewayError;
use crate::forwarded::Client;
use crate::malformed::Malformed;
use crate::marks::Marks;
use crate::refuse::Reason;
use crate::settings::LogSettings;

/// Bytes that may wait to be written.
const ROOM: usize = 16 * 1024 * 1024;
/// How long a line waits at most.
const EVERY: Duration = Duration::from_millis(200);
/// Longest target of a request that is kept whole.
const TARGET_MAX: usize = 2048;
/// And of fields of its head.
const TEXT_MAX: usize = 256;

/// The log of one gateway.
#[derive(Debug)]
pub(crate) struct AccessLog {
    waiting: Mutex<Waiting>,
    some: Condvar,
    left_out: AtomicU64,
    /// Requests that went well.
    went_well: AtomicU64,
}

#[derive(Debug, Default)]
struct Waiting {
    lines: Vec<u8>,
    /// The file is to be opened again: it has been moved away.
    reopens: bool,
    has_ended: bool,
}

/// The thread that writes; it ends, with everything written, when this is dropped.
#[derive(Debug)]
pub(crate) struct Writer {
    log: Arc<AccessLog>,
    thread: Option<JoinHandle<()>>,
}

impl AccessLog {
    /// Writes to this file, behind what it holds; to standard output for `-`.
    pub(crate) fn start(path: &Path) -> Result<(Arc<Self>, Writer), GatewayError> {
        let mut file = open(path).map_err(|source| GatewayError::File {
            path: path.to_owned(),
            source,
        })?;
        let log = Arc::new(Self {
            waiting: Mutex::default(),
            some: Condvar::new(),
            left_out: AtomicU64::new(0),
            went_well: AtomicU64::new(0),
        });
        let (written, path) = (Arc::clone(&log), PathBuf::from(path));
        let thread = thread::Builder::new()
            .name("weir-gate-log".to_owned())
            .spawn(move || written.write(&mut file, &path))
            .map_err(GatewayError::Thread)?;
        let writer = Writer {
            log: Arc::clone(&log),
            thread: Some(thread),
        };
        Ok((log, writer))
    }

    /// Lines that found no room.
    pub(crate) fn left_out(&self) -> u64 {
        self.left_out.load(Ordering::Relaxed)
    }

    /// Opens the file anew before the next line: it may have been moved away.
    pub(crate) fn reopen(&self) {
        self.lock().reopens = true;
    }

    fn put(&self, line: &impl Serialize) {
        let mut waiting = self.lock();
        if waiting.lines.len() >= ROOM {
            self.left_out.fetch_add(1, Ordering::Relaxed);
            return;
        }
        // Plain data into memory: neither fails.
        if serde_json::to_writer(&mut waiting.lines, line).is_ok() {
            waiting.lines.push(b'\n');
        }
    }

    fn write(&self, file: &mut Box<dyn Write + Send>, path: &Path) {
        loop {
            let waiting = self.lock();
            let woken = self.some.wait_timeout_while(waiting, EVERY, |waiting| {
                !waiting.has_ended && waiting.lines.len() < ROOM / 4
            });
            let mut waiting = woken.unwrap_or_else(PoisonError::into_inner).0;
            let lines = std::mem::take(&mut waiting.lines);
            let reopens = std::mem::take(&mut waiting.reopens);
            let has_ended = waiting.has_ended;
            drop(waiting);
            if reopens && let Ok(anew) = open(path) {
                *file = anew;
            }
            if file.write_all(&lines).and_then(|()| file.flush()).is_err() {
                let count = lines.split(|&byte| byte == b'\n').count() - 1;
                self.left_out.fetch_add(count as u64, Ordering::Relaxed);
            }
            if has_ended {
                return;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn open(path: &Path) -> io::Result<Box<dyn Write + Send>> {
    if path == Path::new("-") {
        return Ok(Box::new(io::stdout()));
    }
    let file: File = OpenOptions::new().create(true).append(true).open(path)?;
    Ok(Box::new(file))
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.log.lock().has_ended = true;
        self.log.some.notify_one();
        if let Some(thread) = self.thread.take() {
            // A writer that has panicked has told so already.
            let _ = thread.join();
        }
    }
}

/// One request's line, filled in while it goes on and written when this is dropped.
#[derive(Debug)]
pub(crate) struct Line {
    log: Arc<AccessLog>,
    begun: Instant,
    waited: Duration,
    /// Of those that went well one in so many is written.
    one_in: u32,
    /// Bytes of the body that have come; `None`: it has none.
    received: Option<Arc<AtomicU64>>,
    facts: Facts,
}

/// What a line says; what did not happen is left out.
#[derive(Debug, Default, Serialize)]
struct Facts {
    /// When the head of the request was complete.
    time: String,
    client: String,
    /// The proxy that has told of the client.
    #[serde(skip_serializing_if = "Option::is_none")]
    proxy: Option<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    method: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    target: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    protocol: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    tls: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user_agent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    span_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_span_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    class: Option<String>,
    /// `admitted`, `queued` (admitted after a wait), `refused`, `left` (while it waited) or
    /// `malformed`.
    decision: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<Reason>,
    wait_ms: f64,
    /// From admission to the head of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    first_byte_ms: Option<f64>,
    /// From admission to the last byte.
    #[serde(skip_serializing_if = "Option::is_none")]
    service_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    backend: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    received_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sent_bytes: Option<u64>,
    /// How an admitted request ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<Kind>,
    /// For how many requests it stands, of which the others are not written.
    #[serde(skip_serializing_if = "Option::is_none")]
    stands_for: Option<u32>,
}

impl Facts {
    /// Something has just come from there.
    fn of(client: ClientAddress) -> Self {
        Self {
            time: jiff::Timestamp::now().to_string(),
            client: client.to_string(),
            ..Self::default()
        }
    }
}

impl Line {
    /// The line of a request that has just come.
    pub(crate) fn new(log: &Arc<AccessLog>, client: &Client, request: &Parts) -> Box<Self> {
        let text = |name| {
            let value = request.headers.get(name)?;
            Some(cut(&String::from_utf8_lossy(value.as_bytes()), TEXT_MAX))
        };
        let host = request.uri.authority().map(|host| host.as_str().to_owned());
        Box::new(Self {
            log: Arc::clone(log),
            begun: Instant::now(),
            waited: Duration::ZERO,
            one_in: 1,
            received: None,
            facts: Facts {
                method: request.method.to_string(),
                target: cut(&request.uri.to_string(), TARGET_MAX),
                protocol: format!("{:?}", request.version),
                tls: client.tls,
                host: host.or_else(|| text(HOST)),
                user_agent: text(USER_AGENT),
                decision: "left",
                ..Facts::of(client.address)
            },
        })
    }

    /// It is not for who has connected, but for this one.
    pub(crate) fn is_for(&mut self, client: ClientAddress) {
        let proxy = std::mem::replace(&mut self.facts.client, client.to_string());
        self.facts.proxy = Some(proxy);
    }

    /// What of it is written, and by which marks it is found.
    pub(crate) fn is_marked(&mut self, settings: &LogSettings, marks: Option<&Marks>) {
        self.one_in = settings.one_in;
        let facts = &mut self.facts;
        let trace = marks.and_then(Marks::trace);
        facts.request_id = marks.and_then(Marks::id).map(str::to_owned);
        facts.trace_id = trace.map(|trace| trace.id.clone());
        facts.span_id = trace.map(|trace| trace.span.clone());
        facts.parent_span_id = trace.and_then(|trace| trace.parent.clone());
    }

    /// It has a body, whose bytes are counted here.
    pub(crate) fn receives(&mut self) -> Arc<AtomicU64> {
        Arc::clone(self.received.get_or_insert_default())
    }

    /// The head of the answer is there.
    pub(crate) fn first_byte(&mut self) {
        let since = self.begun.elapsed().saturating_sub(self.waited);
        self.facts.first_byte_ms = Some(milliseconds(since));
    }

    /// Whether it is to be written; of those that went well not all are.
    fn is_written(&mut self) -> bool {
        let facts = &self.facts;
        let went_well = matches!(facts.decision, "admitted" | "queued")
            && facts.status.is_some_and(|status| status < 400)
            && matches!(facts.end, None | Some(Kind::Completed));
        if self.one_in == 1 || !went_well {
            return true;
        }
        self.facts.stands_for = Some(self.one_in);
        let before = self.log.went_well.fetch_add(1, Ordering::Relaxed);
        before.is_multiple_of(self.one_in.into())
    }

    /// The class is known.
    pub(crate) fn of_class(&mut self, class: &str) {
        self.facts.class = Some(class.to_owned());
    }

    /// It goes on after this wait.
    pub(crate) fn admitted(&mut self, waited: Duration) {
        self.facts.decision = if waited.is_zero() {
            "admitted"
        } else {
            "queued"
        };
        self.waited = waited;
        self.facts.wait_ms = milliseconds(waited);
    }

    /// It is rejected.
    pub(crate) fn refused(&mut self, why: Reason) {
        self.facts.decision = "refused";
        self.facts.why = Some(why);
        self.facts.wait_ms = milliseconds(self.begun.elapsed());
    }

    /// It is no request that may be passed on.
    pub(crate) fn malformed(&mut self, why: Malformed) {
        self.facts.decision = "malformed";
        self.facts.why = Some(Reason::Other(why.name()));
    }

    /// What came from there is no request at all.
    pub(crate) fn none(log: &Arc<AccessLog>, from: ClientAddress, why: Malformed) {
        let facts = Facts {
            decision: "malformed",
            why: Some(Reason::Other(why.name())),
            ..Facts::of(from)
        };
        log.put(&facts);
    }

    /// Where it goes.
    pub(crate) fn at(&mut self, backend: String) {
        self.facts.backend = Some(backend);
    }

    /// What the client is told.
    pub(crate) fn answered(&mut self, status: StatusCode) {
        self.facts.status = Some(status.as_u16());
    }

    /// An admitted request is over.
    pub(crate) fn ended(mut self: Box<Self>, kind: Kind, sent_bytes: u64) {
        let service = self.begun.elapsed().saturating_sub(self.waited);
        self.facts.service_ms = Some(milliseconds(service));
        self.facts.sent_bytes = Some(sent_bytes);
        self.facts.end = Some(kind);
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        if self.facts.decision == "left" {
            self.facts.wait_ms = milliseconds(self.begun.elapsed());
        }
        let received = self.received.as_ref();
        self.facts.received_bytes = received.map(|bytes| bytes.load(Ordering::Relaxed));
        if self.is_written() {
            self.log.put(&self.facts);
        }
    }
}

/// So many characters at most.
fn cut(text: &str, most: usize) -> String {
    let mut cut: String = text.chars().take(most).collect();
    if cut.len() < text.len() {
        cut.push('…');
    }
    cut
}

/// To the microsecond.
fn milliseconds(time: Duration) -> f64 {
    time.as_micros() as f64 / 1000.0
}
