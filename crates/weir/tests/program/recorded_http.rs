//! Plans with redirects, pages and files, run here and by JMeter 5.6.3 against the same server.
//!
//! `recorded/http/` has the plans, the site they ask, and what JMeter did: its rows, and the
//! requests that the server saw. Both have to be the same here, except what [`DIFFERENT`] names.
//! Not compared: times, the bytes of a failure (JMeter counts a stack trace), and the boundaries of
//! multipart bodies with the lengths that follow from theirs.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;

use serde::Deserialize;
use weir_record::SampleRow;

/// The ports of the recorded server, of its second one, and one where nobody listens.
const PORTS: [u16; 3] = [18431, 18432, 18439];

/// Where we differ on purpose: the sampler, and why.
const DIFFERENT: &[(&str, &str)] = &[
    ("to-mail", "Java knows the scheme, and fails a step later"),
    (
        "file-folder",
        "JMeter looks beside itself before it looks beside the plan",
    ),
];

/// Requests to this path are those of which JMeter has sent a part before it finds the file
/// missing.
const CUT: &str = "/echo-missing";

/// What the site answers at one path.
#[derive(Debug, Clone, Deserialize)]
struct Answer {
    status: String,
    #[serde(default)]
    to: Option<String>,
    #[serde(default, rename = "type")]
    content_type: Option<String>,
    #[serde(default)]
    body: String,
}

/// A request that arrived.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
struct Request {
    /// Which of the two servers, from 0.
    server: usize,
    /// Characters for bytes.
    head: String,
    body: String,
}

/// Two servers of one site.
struct Site {
    ports: [u16; 3],
    seen: Arc<Mutex<Vec<Request>>>,
}

impl Site {
    fn start() -> Self {
        let site = std::fs::read_to_string(folder().join("site.json")).unwrap();
        let answers: BTreeMap<String, Answer> = serde_json::from_str(&site).unwrap();
        let listeners = [0, 0, 0].map(|port| TcpListener::bind(("127.0.0.1", port)).unwrap());
        let ports = listeners
            .each_ref()
            .map(|listener| listener.local_addr().unwrap().port());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let answers = Arc::new(answers);
        // The third listener is dropped: its port refuses.
        for (server, listener) in listeners.into_iter().take(2).enumerate() {
            let (answers, seen) = (Arc::clone(&answers), Arc::clone(&seen));
            thread::spawn(move || {
                for stream in listener.incoming() {
                    let (answers, seen) = (Arc::clone(&answers), Arc::clone(&seen));
                    let mut connection = Connection {
                        stream: BufReader::new(stream.unwrap()),
                        server,
                        ports,
                    };
                    thread::spawn(move || while connection.answer(&answers, &seen).is_some() {});
                }
            });
        }
        Self { ports, seen }
    }
}

struct Connection {
    stream: BufReader<TcpStream>,
    server: usize,
    ports: [u16; 3],
}

impl Connection {
    /// Reads and answers a request; nothing when the connection has ended.
    fn answer(
        &mut self,
        answers: &BTreeMap<String, Answer>,
        seen: &Mutex<Vec<Request>>,
    ) -> Option<()> {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let read = self.stream.read_until(b'\n', &mut head).ok()?;
            (read > 0).then_some(())?;
        }
        let head = characters(&head);
        let length = field(&head, "Content-Length").map_or(0, |length| length.parse().unwrap());
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).ok()?;
        let path = head.split(' ').nth(1).unwrap();
        let response = self.response(&head, answers.get(path.split('?').next().unwrap()), path);
        seen.lock().unwrap().push(Request {
            server: self.server,
            body: characters(&body),
            head,
        });
        self.stream.get_mut().write_all(&response).ok()
    }

    fn response(&self, head: &str, answer: Option<&Answer>, path: &str) -> Vec<u8> {
        let plain = |status: &str, content_type: &str, body: &str| Answer {
            status: status.to_owned(),
            to: None,
            content_type: Some(content_type.to_owned()),
            body: body.to_owned(),
        };
        let answer = match answer {
            Some(answer) => answer.clone(),
            None if path.starts_with("/echo") => plain("200 OK", "text/plain", "echo"),
            None if path.starts_with("/q-") => plain("200 OK", "image/png", "Q"),
            None => plain("404 Not Found", "text/plain", "none"),
        };
        let body = self.filled(&answer.body);
        let mut text = format!("HTTP/1.1 {}\r\n", answer.status);
        if let Some(to) = &answer.to {
            write!(text, "Location: {}\r\n", self.filled(to)).unwrap();
        }
        if let Some(content_type) = &answer.content_type {
            write!(text, "Content-Type: {content_type}\r\n").unwrap();
        }
        write!(text, "Content-Length: {}\r\n\r\n", body.len()).unwrap();
        if !head.starts_with("HEAD ") && !answer.status.starts_with("304") {
            text.push_str(&body);
        }
        // Bytes for characters, as in the file's server.
        text.chars().map(|c| u8::try_from(c).unwrap()).collect()
    }

    fn filled(&self, text: &str) -> String {
        let names = ["{port}", "{other}", "{dead}"];
        let filled = names.iter().zip(self.ports);
        filled.fold(text.to_owned(), |text, (name, port)| {
            text.replace(name, &port.to_string())
        })
    }
}

fn characters(bytes: &[u8]) -> String {
    bytes.iter().copied().map(char::from).collect()
}

fn field<'h>(head: &'h str, name: &str) -> Option<&'h str> {
    head.lines().find_map(|line| {
        let (found, value) = line.split_once(':')?;
        found.eq_ignore_ascii_case(name).then(|| value.trim())
    })
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded/http")
}

/// The rows of a plan that runs against the site.
fn run(plan: &str, site: &Site) -> Vec<SampleRow> {
    let [port, other, _] = site.ports.map(|port| port.to_string());
    let plan = folder().join(format!("{plan}.jmx"));
    crate::rows::of_plan(&plan, &[("port", &port), ("other", &other)])
}

/// What must be the same of a row, in the words of the recorded run.
fn shown(row: &SampleRow, site: Option<&Site>) -> String {
    // Also where a part has failed so.
    let is_failure =
        row.response_code.contains("Non HTTP") || row.response_message.contains("Non HTTP");
    let count = |bytes: u64| {
        if is_failure {
            "-".to_owned()
        } else {
            bytes.to_string()
        }
    };
    let text = format!(
        "{} | {} | {} | {:?} | {} | {} | {} | {} | {} | {} | {}",
        row.label,
        row.response_code,
        row.response_message,
        row.data_type,
        row.success,
        row.failure_message,
        count(row.received_bytes),
        if has_boundary(&row.label) {
            "-".to_owned()
        } else {
            count(row.sent_bytes)
        },
        row.group_threads,
        row.all_threads,
        row.url,
    );
    as_recorded(text, site)
}

/// Whether the sample, of the plan with files, may have sent a boundary.
fn has_boundary(label: &str) -> bool {
    const WITHOUT: [&str; 3] = ["body", "named-get", "multipart-get"];
    label.starts_with("file-")
        && !WITHOUT
            .iter()
            .any(|start| label["file-".len()..].starts_with(start))
}

/// Ports and folder of the recorded run instead of this one's.
fn as_recorded(text: String, site: Option<&Site>) -> String {
    let Some(site) = site else { return text };
    let ports = site.ports.iter().zip(PORTS);
    let text = ports.fold(text, |text, (here, there)| {
        text.replace(&format!(":{here}"), &format!(":{there}"))
    });
    text.replace(&folder().display().to_string(), "FOLDER")
}

/// A request as text, with the boundary's name for the boundary.
fn told(request: &Request, site: Option<&Site>) -> String {
    let content_type = field(&request.head, "Content-Type").unwrap_or_default();
    let boundary = content_type.split_once("boundary=").map(|(_, b)| b);
    let boundary = boundary.and_then(|b| b.split(';').next());
    let mut text = format!("{} {}{}", request.server, request.head, request.body);
    if let Some(boundary) = boundary.filter(|boundary| !boundary.is_empty()) {
        let body = request.body.replace(boundary, "BOUNDARY");
        let length = format!("Content-Length: {}", request.body.chars().count());
        let head = request.head.replace(boundary, "BOUNDARY");
        let head = head.replace(
            &length,
            &format!("Content-Length: {}", body.chars().count()),
        );
        text = format!("{} {head}{body}", request.server);
    }
    as_recorded(text, site)
}

fn is_different(text: &str) -> bool {
    let name = text.split(" | ").next().unwrap_or_default();
    DIFFERENT
        .iter()
        .any(|(label, _)| name == *label || name.starts_with(&format!("{label}-")))
}

/// Compares one by one, so that the first difference is what is shown.
fn same(here: &[String], recorded: &[String], what: &str) {
    for (at, (own, recorded)) in here.iter().zip(recorded).enumerate() {
        assert_eq!(own, recorded, "{what} {}", at + 1);
    }
    assert_eq!(here.len(), recorded.len(), "{what}: how many");
}

fn check(plan: &str, in_order: bool) {
    let site = Site::start();
    let here = run(plan, &site);
    let texts = |rows: &[SampleRow], site: Option<&Site>| -> Vec<String> {
        let rows = rows.iter().map(|row| shown(row, site));
        rows.filter(|text| !is_different(text)).collect()
    };
    let recorded = crate::rows::of_file(&folder().join(format!("{plan}.jtl")));
    same(&texts(&here, Some(&site)), &texts(&recorded, None), "row");
    let file = std::fs::read_to_string(folder().join(format!("{plan}.requests.json"))).unwrap();
    let recorded: Vec<Request> = serde_json::from_str(&file).unwrap();
    let recorded = recorded.iter().filter(|r| !r.head.contains(CUT));
    let mut recorded: Vec<String> = recorded.map(|r| told(r, None)).collect();
    let here = site.seen.lock().unwrap();
    let mut here: Vec<String> = here.iter().map(|r| told(r, Some(&site))).collect();
    if !in_order {
        recorded.sort();
        here.sort();
    }
    same(&here, &recorded, "request");
}

#[test]
fn redirects() {
    check("redirects", true);
}

#[test]
fn pages() {
    check("pages", true);
}

#[test]
fn pages_whose_resources_come_at_once() {
    check("parallel", false);
}

#[test]
fn files() {
    check("uploads", true);
}
