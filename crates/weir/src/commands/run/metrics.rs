//! Figures of a running load for Prometheus: `--metrics 127.0.0.1:PORT`.
//!
//! The text format (version 0.0.4) over HTTP, one answer a connection. Counters only grow; response
//! times are a histogram, so that percentiles can be taken over any time and any number of tools.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use weir_load::UserCounts;
use weir_record::SampleRow;

use crate::error::ExpectedError;

/// Upper ends of the histogram's buckets, in milliseconds.
const BUCKETS_MS: [u64; 14] = [
    1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 60_000,
];
/// Labels that are counted each on their own.
const LABELS_MAX: usize = 1_000;
const OTHER_LABELS: &str = "(other labels)";
/// How long someone may take to ask.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long a request may be.
const REQUEST_MAX: usize = 8 * 1024;

/// What is counted of one label.
#[derive(Debug, Default, Clone)]
struct Counts {
    succeeded: u64,
    failed: u64,
    sum_ms: u64,
    buckets: [u64; BUCKETS_MS.len()],
    received_bytes: u64,
    sent_bytes: u64,
}

#[derive(Debug, Default)]
struct State {
    labels: BTreeMap<Arc<str>, Counts>,
    users: UserCounts,
}

/// Figures that somebody may ask for while the load runs.
#[derive(Debug, Clone)]
pub(crate) struct Metrics(Arc<Mutex<State>>);

impl Metrics {
    /// Listens until the program ends.
    pub(crate) fn serve(address: SocketAddr) -> Result<Self, ExpectedError> {
        let listener = TcpListener::bind(address)
            .map_err(|error| ExpectedError::Environment(format!("--metrics {address}: {error}")))?;
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

    /// Counts a sample; transactions are the sum of others and are left out.
    pub(crate) fn sample(&self, row: &SampleRow, users: UserCounts) {
        let mut state = self.state();
        state.users = users;
        if row.is_transaction {
            return;
        }
        let label = if state.labels.contains_key(&row.label) || state.labels.len() < LABELS_MAX {
            Arc::clone(&row.label)
        } else {
            OTHER_LABELS.into()
        };
        let counts = state.labels.entry(label).or_default();
        if row.success {
            counts.succeeded += 1;
        } else {
            counts.failed += 1;
        }
        counts.sum_ms += row.elapsed_ms;
        counts.received_bytes += row.received_bytes;
        counts.sent_bytes += row.sent_bytes;
        for (bucket, end_ms) in counts.buckets.iter_mut().zip(BUCKETS_MS) {
            *bucket += u64::from(row.elapsed_ms <= end_ms);
        }
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
        let (status, body) = if wanted {
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
        let users = state.users;
        page.metric("weir_users", "gauge", "Virtual users that run.");
        page.value("weir_users", users.active.into());
        page.metric(
            "weir_users_started_total",
            "counter",
            "Virtual users that have started.",
        );
        page.value("weir_users_started_total", users.started.into());
        page.metric("weir_samples_total", "counter", "Samples that ended.");
        for (label, counts) in &state.labels {
            page.samples(&escaped(label), counts);
        }
        page.metric(
            "weir_response_time_seconds",
            "histogram",
            "From the start of a request to the last byte of its answer.",
        );
        for (label, counts) in &state.labels {
            page.response_times(&escaped(label), counts);
        }
        page.metric(
            "weir_received_bytes_total",
            "counter",
            "Bytes received, heads and bodies.",
        );
        for (label, counts) in &state.labels {
            let name = format!("weir_received_bytes_total{{label=\"{}\"}}", escaped(label));
            page.value(&name, counts.received_bytes as f64);
        }
        page.metric(
            "weir_sent_bytes_total",
            "counter",
            "Bytes sent, heads and bodies.",
        );
        for (label, counts) in &state.labels {
            let name = format!("weir_sent_bytes_total{{label=\"{}\"}}", escaped(label));
            page.value(&name, counts.sent_bytes as f64);
        }
        page.0
    }
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

    fn response_times(&mut self, label: &str, counts: &Counts) {
        let name = "weir_response_time_seconds";
        let all = counts.succeeded + counts.failed;
        let ends = BUCKETS_MS
            .iter()
            .map(|end_ms| (*end_ms as f64 / 1e3).to_string());
        let last = ("+Inf".to_owned(), all);
        for (end, count) in ends.zip(counts.buckets).chain([last]) {
            let bucket = format!("{name}_bucket{{label=\"{label}\",le=\"{end}\"}}");
            self.value(&bucket, count as f64);
        }
        self.value(
            &format!("{name}_sum{{label=\"{label}\"}}"),
            counts.sum_ms as f64 / 1e3,
        );
        self.value(&format!("{name}_count{{label=\"{label}\"}}"), all as f64);
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
    use super::*;

    #[test]
    fn a_scrape_gets_the_figures() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        let metrics = Metrics::serve(address).unwrap();
        let users = UserCounts {
            active: 3,
            started: 4,
        };
        for (elapsed_ms, success) in [(7, true), (300, false)] {
            let row = SampleRow {
                label: "a \"b\"".into(),
                elapsed_ms,
                success,
                received_bytes: 100,
                ..SampleRow::default()
            };
            metrics.sample(&row, users);
        }
        let mut stream = TcpStream::connect(address).unwrap();
        stream
            .write_all(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
            .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        for line in [
            "HTTP/1.1 200 OK",
            "weir_users 3",
            "weir_users_started_total 4",
            "weir_samples_total{label=\"a \\\"b\\\"\",outcome=\"failed\"} 1",
            "weir_response_time_seconds_bucket{label=\"a \\\"b\\\"\",le=\"0.01\"} 1",
            "weir_response_time_seconds_bucket{label=\"a \\\"b\\\"\",le=\"+Inf\"} 2",
            "weir_response_time_seconds_sum{label=\"a \\\"b\\\"\"} 0.307",
            "weir_received_bytes_total{label=\"a \\\"b\\\"\"} 200",
        ] {
            assert!(
                answer.lines().any(|found| found == line),
                "{line}\n{answer}"
            );
        }
    }
}
