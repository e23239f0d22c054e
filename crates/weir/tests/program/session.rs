//! What managers of cookies, caches, passwords and names make of requests and rows is what JMeter
//! 5.6.3 makes of them.
//!
//! `recorded/session.jmx` asks a server that answers what each query says: `s` is the status, `h` a
//! header field, `b` the body, `a` a challenge, `e` an entity tag that is compared, `deny` that no
//! proof will do. `recorded/session.requests` is what such a server received from JMeter, in order:
//! method, host, path and query, and the fields that managers write. `recorded/session.jtl` is what
//! JMeter wrote. The threads of the plan run one after another.
//!
//! Nonces of the client and what follows from them differ in each run; that responses of Digest are
//! right is shown in `weir-session`.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;

use weir_record::SampleRow;

type Log = Arc<Mutex<Vec<String>>>;

/// A request as far as the server looks at it.
struct Request {
    method: String,
    uri: String,
    fields: Vec<(String, String)>,
}

impl Request {
    fn read(stream: &mut BufReader<TcpStream>) -> Option<Self> {
        let mut lines = Vec::new();
        loop {
            let mut line = Vec::new();
            stream.read_until(b'\n', &mut line).ok()?;
            let line: String = line.iter().map(|byte| char::from(*byte)).collect();
            match line.strip_suffix("\r\n") {
                None => return None,
                Some("") => break,
                Some(line) => lines.push(line.to_owned()),
            }
        }
        let mut words = lines.first()?.split(' ').map(str::to_owned);
        let (method, uri) = (words.next()?, words.next()?);
        let field = |line: &String| {
            let (name, value) = line.split_once(':')?;
            Some((name.to_owned(), value.trim().to_owned()))
        };
        let request = Self {
            method,
            uri,
            fields: lines[1..].iter().filter_map(field).collect(),
        };
        let length = request.field("content-length").unwrap_or("0");
        let mut body = vec![0; length.parse().ok()?];
        stream.read_exact(&mut body).ok()?;
        Some(request)
    }

    fn field(&self, name: &str) -> Option<&str> {
        let mut fields = self.fields.iter();
        let found = fields.find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    fn line(&self) -> String {
        let host = self.field("host").unwrap_or_default();
        let host = host.split(':').next().unwrap_or_default();
        let mut line = format!("{} {host}{}", self.method, self.uri);
        for (name, value) in &self.fields {
            let is_ours = [
                "cookie",
                "if-none-match",
                "if-modified-since",
                "authorization",
            ]
            .contains(&name.to_ascii_lowercase().as_str());
            if is_ours {
                write!(line, " | {name}: {value}").unwrap();
            }
        }
        line
    }

    fn asks(&self, name: &str) -> Vec<String> {
        let query = self.uri.split_once('?').map_or("", |(_, query)| query);
        let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        let named = pairs.filter(|(known, _)| *known == name);
        named.map(|(_, value)| unescaped(value)).collect()
    }

    /// The response, and whether the connection goes on.
    fn answer(&self) -> (String, bool) {
        let mut status = self.asks("s").pop().unwrap_or_else(|| "200".to_owned());
        let mut fields = self.asks("h");
        let mut body = self.asks("b").pop().unwrap_or_else(|| "ok".to_owned());
        let challenges = self.asks("a");
        let scheme = |text: &str| {
            let word = text.split(' ').next().unwrap_or_default();
            word.to_ascii_lowercase()
        };
        let given = self.field("authorization").map(scheme);
        let is_known = challenges.iter().any(|c| Some(scheme(c)) == given);
        if !challenges.is_empty() && (!self.asks("deny").is_empty() || !is_known) {
            "401".clone_into(&mut status);
            let challenges = challenges.iter();
            fields.extend(challenges.map(|challenge| format!("WWW-Authenticate: {challenge}")));
            "who are you?".clone_into(&mut body);
        }
        if let Some(tag) = self.asks("e").pop() {
            fields.push(format!("ETag: {tag}"));
            if self.field("if-none-match") == Some(&tag) {
                "304".clone_into(&mut status);
                body.clear();
            }
        }
        let reason = match status.as_str() {
            "200" => "OK",
            "302" => "Found",
            "304" => "Not Modified",
            "401" => "Unauthorized",
            _ => "Not Found",
        };
        if status != "304" {
            fields.push(format!("Content-Length: {}", body.chars().count()));
        }
        let head = fields.join("\r\n") + "\r\n";
        let body = if self.method == "HEAD" { "" } else { &body };
        let ends = fields
            .iter()
            .any(|f| f.eq_ignore_ascii_case("connection: close"))
            || self.field("connection") == Some("close");
        (
            format!("HTTP/1.1 {status} {reason}\r\n{head}\r\n{body}"),
            !ends,
        )
    }
}

/// Escapes as bytes, each a character.
fn unescaped(text: &str) -> String {
    let mut parts = text.split('%');
    let mut plain = parts.next().unwrap().replace('+', " ");
    for part in parts {
        let (digits, rest) = part.split_at(2);
        plain.push(char::from(u8::from_str_radix(digits, 16).unwrap()));
        plain.push_str(&rest.replace('+', " "));
    }
    plain
}

/// A server that answers what it is asked to; its port.
fn server(log: &Log) -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let log = Arc::clone(log);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let log = Arc::clone(&log);
            thread::spawn(move || serve(stream.unwrap(), &log));
        }
    });
    port
}

fn serve(stream: TcpStream, log: &Log) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut stream = stream;
    while let Some(request) = Request::read(&mut reader) {
        log.lock().unwrap().push(request.line());
        let (response, goes_on) = request.answer();
        let bytes: Vec<u8> = response.chars().map(|c| u8::try_from(c).unwrap()).collect();
        if stream.write_all(&bytes).is_err() || !goes_on {
            return;
        }
    }
}

fn recorded(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded");
    folder.join(name)
}

/// The plan's requests and rows here.
fn run(name: &str, properties: &[(&str, &str)]) -> (Vec<String>, Vec<SampleRow>, u16) {
    let log = Log::default();
    let port = server(&log);
    let port_text = port.to_string();
    let own = [("port", port_text.as_str())];
    let properties: Vec<_> = own.iter().chain(properties).copied().collect();
    let rows = crate::rows::of_plan(&recorded(&format!("{name}.jmx")), &properties);
    let requests = log.lock().unwrap().clone();
    (requests, rows, port)
}

/// A line without what differs in each run.
fn normal(line: &str, port: u16) -> String {
    let mut line = line.replace(&port.to_string(), "PORT");
    for parameter in ["response=\"", "cnonce=\""] {
        if let Some((before, after)) = line.split_once(parameter) {
            let rest = after.split_once('"').map_or("", |(_, rest)| rest);
            line = format!("{before}{parameter}\"{rest}");
        }
    }
    line
}

fn row(row: &SampleRow, port: u16) -> String {
    let text = format!(
        "{} | {} | {} {} {} {} {} | {}",
        row.thread_name,
        row.label,
        row.response_code,
        row.response_message,
        row.data_type.spelling(),
        row.success,
        row.received_bytes,
        row.url,
    );
    normal(&text, port)
}

fn same(here: &[String], jmeter: &[String], what: &str) {
    for (at, (own, recorded)) in here.iter().zip(jmeter).enumerate() {
        assert_eq!(own, recorded, "{what} {}", at + 1);
    }
    assert_eq!(here.len(), jmeter.len(), "number of {what}s");
}

/// Each thread in its own order: who writes first into the file is not said.
fn by_thread(mut rows: Vec<String>) -> Vec<String> {
    rows.sort_by(|a, b| a.split(" | ").next().cmp(&b.split(" | ").next()));
    rows
}

/// Runs the plan with these properties and compares with what JMeter did, whose server was at this
/// port.
fn check(name: &str, properties: &[(&str, &str)], recorded_port: u16) {
    let (requests, rows, port) = run(name, properties);
    let known = std::fs::read(recorded(&format!("{name}.requests"))).unwrap();
    let known: String = known.iter().map(|byte| char::from(*byte)).collect();
    let known = known.lines().map(|line| normal(line, recorded_port));
    let requests: Vec<String> = requests.iter().map(|line| normal(line, port)).collect();
    same(&requests, &known.collect::<Vec<_>>(), "request");
    let known = crate::rows::of_file(&recorded(&format!("{name}.jtl")));
    let known = known.iter().map(|r| row(r, recorded_port)).collect();
    let rows = rows.iter().map(|r| row(r, port)).collect();
    same(&by_thread(rows), &by_thread(known), "row");
}

#[test]
fn managers_do_what_jmeters_do() {
    let properties = [("CookieManager.save.cookies", "true")];
    check("session", &properties, 19_871);
}

#[test]
fn fresh_answers_can_be_samples() {
    let properties = [("cache_manager.cached_resource_mode", "RETURN_200_CACHE")];
    check("session-cached", &properties, 19_873);
}
