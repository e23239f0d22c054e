//! `/metrics`: every stage of the funnel in Prometheus text (exposition format 0.0.4).
//!
//! Each stage is read at one instant (`request-queue`, `threads` and the results of requests at the
//! same one), but the stages one after the other: a request that moves on meanwhile can be missing
//! from both of two neighbours, or be in both, for some microseconds.

use std::fmt::{Display, Write as _};
use std::sync::LazyLock;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::dispatch::DispatchReading;
use crate::funnel::Funnel;
use crate::stage::StageReading;

/// When this process began, or the first use of the server in it.
static START: LazyLock<f64> = LazyLock::new(|| {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0.0, |since| since.as_secs_f64())
});

/// Remembers the time of the start.
pub(crate) fn mark_start() {
    LazyLock::force(&START);
}

/// One metric of a stage: how it is called, what it means, and where its value is.
struct StageMetric {
    name: &'static str,
    kind: &'static str,
    help: &'static str,
    value: fn(&StageReading) -> Option<Value>,
}

/// A number as it is written.
enum Value {
    Count(u64),
    Seconds(f64),
}

impl Display for Value {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Count(count) => write!(formatter, "{count}"),
            Self::Seconds(seconds) => write!(formatter, "{seconds:.9}"),
        }
    }
}

const STAGE_METRICS: [StageMetric; 9] = [
    StageMetric {
        name: "weir_stage_limit",
        kind: "gauge",
        help: "How many the stage takes at a time, as in force (backlog, connections, threads: number of them; pool.db: database connections).",
        value: |stage| stage.limit.map(Value::Count),
    },
    StageMetric {
        name: "weir_stage_occupancy",
        kind: "gauge",
        help: "How many are in the stage now: connections in the accept queue (backlog), open connections, requests queued for a thread (request-queue), threads running a request, database connections held (pool.db), statements running (database).",
        value: |stage| stage.occupancy.map(Value::Count),
    },
    StageMetric {
        name: "weir_stage_occupancy_seconds_total",
        kind: "counter",
        help: "Time integral of the occupancy up to this scrape, in seconds: its increase divided by the time between two scrapes is the exact mean occupancy.",
        value: |stage| stage.occupancy_seconds.map(Value::Seconds),
    },
    StageMetric {
        name: "weir_stage_waiting",
        kind: "gauge",
        help: "How many wait now, on request-queue for a thread, on pool.db for a database connection. Connections that wait to be accepted are the occupancy of backlog.",
        value: |stage| stage.waiting.map(Value::Count),
    },
    StageMetric {
        name: "weir_stage_waiting_seconds_total",
        kind: "counter",
        help: "Time integral of the number waiting up to this scrape, in seconds.",
        value: |stage| stage.waiting_seconds.map(Value::Seconds),
    },
    StageMetric {
        name: "weir_stage_wait_seconds_total",
        kind: "counter",
        help: "Sum of the finished waits, in seconds; on request-queue from readable to taken by a thread, also when a thread was free.",
        value: |stage| stage.wait_seconds.map(Value::Seconds),
    },
    StageMetric {
        name: "weir_stage_entries_total",
        kind: "counter",
        help: "How many got in, waited or not, counted when they get in (request-queue: when a thread takes them).",
        value: |stage| stage.entries.map(Value::Count),
    },
    StageMetric {
        name: "weir_stage_waits_total",
        kind: "counter",
        help: "How many of the entries had to wait because nothing was free when they came.",
        value: |stage| stage.waits.map(Value::Count),
    },
    StageMetric {
        name: "weir_stage_refused_total",
        kind: "counter",
        help: "How many were rejected because the stage was full.",
        value: |stage| stage.refused.map(Value::Count),
    },
];

/// The whole page.
pub(crate) fn render(funnel: &Funnel) -> String {
    let dispatch = funnel.dispatch.read();
    let mut page = String::with_capacity(8 * 1024);
    render_process(&mut page);
    render_requests(&mut page, &dispatch);
    let stages = [
        funnel.backlog.read(),
        funnel.gate.read(),
        dispatch.queue,
        dispatch.threads,
        funnel.pool.read(),
        funnel.statements.read(),
    ];
    for metric in &STAGE_METRICS {
        head(&mut page, metric.name, metric.kind, metric.help);
        for stage in &stages {
            if let Some(value) = (metric.value)(stage) {
                row(
                    &mut page,
                    metric.name,
                    &format!("stage=\"{}\"", stage.stage),
                    &value,
                );
            }
        }
    }
    page
}

fn render_process(page: &mut String) {
    head(
        page,
        "weir_sample_info",
        "gauge",
        "Always 1; the label says which version runs.",
    );
    let version = format!("version=\"{}\"", env!("CARGO_PKG_VERSION"));
    row(page, "weir_sample_info", &version, &Value::Count(1));
    let name = "process_start_time_seconds";
    head(
        page,
        name,
        "gauge",
        "When the server started, in seconds since the Unix epoch.",
    );
    row(page, name, "", &Value::Seconds(*START));
}

fn render_requests(page: &mut String, dispatch: &DispatchReading) {
    head(
        page,
        "weir_threads",
        "gauge",
        "Worker threads that exist, busy or idle.",
    );
    row(
        page,
        "weir_threads",
        "",
        &Value::Count(dispatch.threads_alive),
    );
    head(
        page,
        "weir_requests_total",
        "counter",
        "Requests answered, by status; counted when the answer has been sent.",
    );
    for (status, count) in &dispatch.by_status {
        row(
            page,
            "weir_requests_total",
            &format!("status=\"{status}\""),
            &Value::Count(*count),
        );
    }
    let name = "weir_requests_abandoned_total";
    head(
        page,
        name,
        "counter",
        "Connections on which the client went away before its request was complete.",
    );
    row(page, name, "", &Value::Count(dispatch.abandoned));
    let name = "weir_response_seconds_total";
    head(
        page,
        name,
        "counter",
        "Sum over the requests answered of the time from readable to answer sent, in seconds.",
    );
    row(page, name, "", &Value::Seconds(dispatch.response_seconds));
}

fn head(page: &mut String, name: &str, kind: &str, help: &str) {
    write!(page, "# HELP {name} {help}\n# TYPE {name} {kind}\n").expect(STRING);
}

fn row(page: &mut String, name: &str, labels: &str, value: &Value) {
    let braces = if labels.is_empty() {
        String::new()
    } else {
        format!("{{{labels}}}")
    };
    writeln!(page, "{name}{braces} {value}").expect(STRING);
}

const STRING: &str = "writing to a string does not fail";
