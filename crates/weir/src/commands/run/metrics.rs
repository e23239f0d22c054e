//! Figures of a running load for Prometheus: `--metrics 127.0.0.1:PORT`.
//!
//! The text format (version 0.0.4) over HTTP, one answer a connection. Counters only grow; response
//! times are a histogram, so that percentiles can be taken over any time and any number of tools.
//! Samples and times come once a second, from the same histograms as the run's own result; bytes
//! come with each sample, where Weir itself sends the load.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use hdrhistogram::Histogram;
use weir_exchange::is_named_by_address;
use weir_load::UserCounts;
use weir_record::{LABELS_MAX, LoadSecond, OTHER_LABELS, SampleRow};

use crate::error::ExpectedError;
use crate::taken_port;

/// Upper ends of the histograms' buckets, in microseconds.
const BUCKETS_US: [u64; 19] = [
    50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000,
    1_000_000, 2_500_000, 5_000_000, 10_000_000, 30_000_000, 60_000_000,
];
/// How long someone may take to ask.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long a request may be.
const REQUEST_MAX: usize = 8 * 1024;

/// What is counted of one label.
#[derive(Debug, Default, Clone)]
struct Counts {
    succeeded: u64,
    failed: u64,
    times: Times,
    bytes: Option<Bytes>,
}

#[derive(Debug, Default, Clone, Copy)]
struct Bytes {
    received: u64,
    sent: u64,
}

/// A histogram as Prometheus has it.
#[derive(Debug, Default, Clone)]
struct Times {
    count: u64,
    sum_us: f64,
    /// So many were at most as long as the bucket's end.
    buckets: [u64; BUCKETS_US.len()],
}

impl Times {
    fn add(&mut self, times_us: &Histogram<u64>) {
        self.count += times_us.len();
        self.sum_us += times_us.mean() * times_us.len() as f64;
        for (bucket, end_us) in self.buckets.iter_mut().zip(BUCKETS_US) {
            *bucket += times_us.count_between(0, end_us);
        }
    }
}

#[derive(Debug, Default)]
struct State {
    labels: BTreeMap<Arc<str>, Counts>,
    lateness: Times,
    users: u32,
    users_started: Option<u32>,
}

impl State {
    fn counts(&mut self, label: &str) -> &mut Counts {
        let label = if self.labels.contains_key(label) || self.labels.len() < LABELS_MAX {
            label
        } else {
            OTHER_LABELS
        };
        self.labels.entry(label.into()).or_default()
    }
}

/// Figures that somebody may ask for while the load runs.
#[derive(Debug, Clone)]
pub(crate) struct Metrics(Arc<Mutex<State>>);

impl Metrics {
    /// Listens until the program ends.
    pub(crate) fn serve(address: SocketAddr) -> Result<Self, ExpectedError> {
        let listener = TcpListener::bind(address).map_err(|error| {
            let holder = taken_port::holder(address, &error);
            ExpectedError::Environment(format!("--metrics {address}: {error}{holder}"))
        })?;
        let metrics = Self(Arc::default());
        let served = metrics.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // Whoever does not listen gets nothing; the load goes on.
                drop(served.answer(stream));
            }
        });
        Ok(metrics)
    }

    /// Counts what ended in a second.
    pub(crate) fn second(&self, second: &LoadSecond) {
        let mut state = self.state();
        state.users = second.users;
        state.lateness.add(&second.lateness_us);
        for class in &second.classes {
            let counts = state.counts(&class.label);
            counts.succeeded += class.succeeded;
            counts.failed += class.failed;
            counts.times.add(&class.response_us);
        }
    }

    /// Counts the bytes of a sample; transactions are the sum of others and are left out.
    pub(crate) fn sample(&self, row: &SampleRow, users: UserCounts) {
        let mut state = self.state();
        state.users_started = Some(users.started);
        if row.is_transaction {
            return;
        }
        let bytes = state.counts(&row.label).bytes.get_or_insert_default();
        bytes.received += row.received_bytes;
        bytes.sent += row.sent_bytes;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Counts are whole after every step: a panic elsewhere does not spoil them.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self, mut stream: TcpStream) -> std::io::Result<()> {
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let mut request = Vec::new();
        let mut part = [0; 1024];
        while !request.windows(4).any(|end| end == b"\r\n\r\n") && request.len() < REQUEST_MAX {
            match stream.read(&mut part)? {
                0 => break,
                length => request.extend_from_slice(&part[..length]),
            }
        }
        let wanted = request.starts_with(b"GET /metrics ") || request.starts_with(b"GET / ");
        let is_loopback = stream.local_addr()?.ip().is_loopback();
        let (status, body) = if is_loopback && !is_meant_for_this_port(&request) {
            let says = "call this port by its address or as localhost: another name may be a page's trick\n";
            ("403 Forbidden", says.to_owned())
        } else if wanted {
            ("200 OK", self.text())
        } else {
            ("404 Not Found", "the figures are at /metrics\n".to_owned())
        };
        write!(
            stream,
            "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        )
    }

    fn text(&self) -> String {
        let state = self.state();
        let mut page = Page(String::new());
        page.metric("weir_users", "gauge", "Virtual users that run.");
        page.value("weir_users", state.users.into());
        if let Some(started) = state.users_started {
            let name = "weir_users_started_total";
            page.metric(name, "counter", "Virtual users that have started.");
            page.value(name, started.into());
        }
        page.metric("weir_samples_total", "counter", "Samples that ended.");
        for (label, counts) in &state.labels {
            page.samples(&escaped(label), counts);
        }
        let name = "weir_response_time_seconds";
        let help = "Response time: from the start of a request, the intended one where there is a schedule, to the last byte.";
        page.metric(name, "histogram", help);
        for (label, counts) in &state.labels {
            page.times(
                name,
                &format!("label=\"{}\"", escaped(label)),
                &counts.times,
            );
        }
        let name = "weir_lateness_seconds";
        let help = "How long after their time users of the load generator woke.";
        page.metric(name, "histogram", help);
        page.times(name, "", &state.lateness);
        page.bytes(&state.labels, "received", |bytes| bytes.received);
        page.bytes(&state.labels, "sent", |bytes| bytes.sent);
        page.0
    }
}

/// Whether its head names this machine. On another address than loopback names are honest.
fn is_meant_for_this_port(request: &[u8]) -> bool {
    let head = String::from_utf8_lossy(request);
    let mut fields = head.lines().filter_map(|line| line.split_once(':'));
    let host = fields.find(|(name, _)| name.eq_ignore_ascii_case("host"));
    host.is_some_and(|(_, host)| is_named_by_address(host.trim()))
}

/// What a scrape gets.
struct Page(String);

impl Page {
    fn metric(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn value(&mut self, name: &str, value: f64) {
        let _ = writeln!(self.0, "{name} {value}");
    }

    fn samples(&mut self, label: &str, counts: &Counts) {
        let outcomes = [("succeeded", counts.succeeded), ("failed", counts.failed)];
        for (outcome, count) in outcomes {
            let name = format!("weir_samples_total{{label=\"{label}\",outcome=\"{outcome}\"}}");
            self.value(&name, count as f64);
        }
    }

    fn times(&mut self, name: &str, label: &str, times: &Times) {
        let comma = if label.is_empty() { "" } else { "," };
        let ends = BUCKETS_US
            .iter()
            .map(|end_us| (*end_us as f64 / 1e6).to_string());
        let last = ("+Inf".to_owned(), times.count);
        for (end, count) in ends.zip(times.buckets).chain([last]) {
            let bucket = format!("{name}_bucket{{{label}{comma}le=\"{end}\"}}");
            self.value(&bucket, count as f64);
        }
        let braced = if label.is_empty() {
            String::new()
        } else {
            format!("{{{label}}}")
        };
        self.value(&format!("{name}_sum{braced}"), times.sum_us / 1e6);
        self.value(&format!("{name}_count{braced}"), times.count as f64);
    }

    /// Bytes of each label, where they are known.
    fn bytes(&mut self, labels: &BTreeMap<Arc<str>, Counts>, way: &str, of: impl Fn(Bytes) -> u64) {
        let name = format!("weir_{way}_bytes_total");
        self.metric(&name, "counter", &format!("Bytes {way}, heads and bodies."));
        for (label, counts) in labels {
            if let Some(bytes) = counts.bytes {
                let of_label = format!("{name}{{label=\"{}\"}}", escaped(label));
                self.value(&of_label, of(bytes) as f64);
            }
        }
    }
}

fn escaped(label: &str) -> String {
    label
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use weir_record::{ClassSecond, response_histogram};

    use super::*;

    #[test]
    fn a_scrape_gets_the_figures() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        let metrics = Metrics::serve(address).unwrap();
        let label = "a \"b\"";
        let mut response_us = response_histogram();
        for time_us in [70, 7_000, 300_000] {
            response_us.record(time_us).unwrap();
        }
        let mut lateness_us = response_histogram();
        lateness_us.record(20).unwrap();
        metrics.second(&LoadSecond {
            second: 0,
            classes: vec![ClassSecond {
                label: label.to_owned(),
                succeeded: 2,
                failed: 1,
                succeeded_by_code: BTreeMap::new(),
                failed_by_code: BTreeMap::new(),
                response_us,
            }],
            users: 3,
            in_flight: None,
            sockets: None,
            lateness_us,
            redirected: None,
            resent: None,
            connects: None,
            open: None,
        });
        let row = SampleRow {
            label: label.into(),
            received_bytes: 100,
            ..SampleRow::default()
        };
        let users = UserCounts {
            active: 3,
            started: 4,
        };
        metrics.sample(&row, users);
        metrics.sample(&row, users);
        let ask = |host: &str| {
            let mut stream = TcpStream::connect(address).unwrap();
            write!(stream, "GET /metrics HTTP/1.1\r\nHost: {host}\r\n\r\n").unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            answer
        };
        // A page of another name that leads to this address.
        let rebound = ask("rebound.example");
        assert!(rebound.starts_with("HTTP/1.1 403 ") && !rebound.contains("weir_users"));
        let answer = ask(&address.to_string());
        for line in [
            "HTTP/1.1 200 OK",
            "weir_users 3",
            "weir_users_started_total 4",
            "weir_samples_total{label=\"a \\\"b\\\"\",outcome=\"failed\"} 1",
            "weir_samples_total{label=\"a \\\"b\\\"\",outcome=\"succeeded\"} 2",
            "weir_response_time_seconds_bucket{label=\"a \\\"b\\\"\",le=\"0.0001\"} 1",
            "weir_response_time_seconds_bucket{label=\"a \\\"b\\\"\",le=\"0.01\"} 2",
            "weir_response_time_seconds_bucket{label=\"a \\\"b\\\"\",le=\"+Inf\"} 3",
            "weir_response_time_seconds_count{label=\"a \\\"b\\\"\"} 3",
            "weir_lateness_seconds_bucket{le=\"0.00005\"} 1",
            "weir_lateness_seconds_count 1",
            "weir_received_bytes_total{label=\"a \\\"b\\\"\"} 200",
        ] {
            assert!(
                answer.lines().any(|found| found == line),
                "{line}\n{answer}"
            );
        }
    }
}
