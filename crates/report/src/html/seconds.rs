//! The seconds of every trial, as the page's script draws them.
//!
//! Which signal stands in which chart is decided here, once, over all trials: so the charts keep
//! their places and colours when another trial is chosen.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use weir_metric::{is_stage, stage_place};
use weir_record::{Role, Timeline, TrialRecord, names};

use super::embed::rounded;
use crate::ReportInput;
use crate::words;

/// The data of the timeline.
#[derive(Debug, Serialize)]
pub(crate) struct Seconds {
    pub(crate) charts: Vec<Chart>,
    pub(crate) trials: Vec<TrialSeconds>,
}

/// One chart over time.
#[derive(Debug, Serialize)]
pub(crate) struct Chart {
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    unit: &'static str,
    /// Where the axis ends, when it is not for the data to say.
    top: Option<f64>,
    series: Vec<Series>,
    /// Signals that belong here and were 0 all the time.
    zero: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Series {
    label: String,
    signal: String,
    /// A limit rather than a reading: drawn dashed, and does not stretch the axis far.
    limit: bool,
    /// A statistic of each second's samples: its seconds may not be averaged.
    statistic: bool,
}

/// The seconds of one trial.
#[derive(Debug, Serialize)]
pub(crate) struct TrialSeconds {
    pub(crate) id: u32,
    pub(crate) name: String,
    /// The measured window: its first second and its end.
    window: (f64, f64),
    seconds: usize,
    missed: Vec<usize>,
    signals: BTreeMap<String, Vec<Option<f64>>>,
}

/// What a chart shows of which signals.
struct Spec {
    id: &'static str,
    title: &'static str,
    unit: &'static str,
    factor: f64,
    top: Option<f64>,
    /// Whether signals that were always 0 are named instead of drawn.
    name_zero: bool,
    statistic: bool,
    wanted: Vec<Wanted>,
}

struct Wanted {
    signal: String,
    label: String,
    limit: bool,
}

impl Spec {
    fn new(id: &'static str, title: &'static str, unit: &'static str, factor: f64) -> Self {
        Self {
            id,
            title,
            unit,
            factor,
            top: None,
            name_zero: false,
            statistic: false,
            wanted: Vec::new(),
        }
    }

    /// Its signals are statistics of the samples that ended in each second.
    fn statistics(mut self) -> Self {
        self.statistic = true;
        self
    }

    fn signals(mut self, signals: &[(&str, &str)]) -> Self {
        for (signal, label) in signals {
            self = self.signal(signal, label);
        }
        self
    }

    fn signal(mut self, signal: &str, label: &str) -> Self {
        self.wanted.push(Wanted {
            signal: signal.to_owned(),
            label: label.to_owned(),
            limit: false,
        });
        self
    }

    fn limit(mut self, signal: &str, label: &str) -> Self {
        self = self.signal(signal, label);
        if let Some(last) = self.wanted.last_mut() {
            last.limit = true;
        }
        self
    }
}

/// What is drawn of one timeline beside its seconds.
pub(crate) struct Shown<'a> {
    pub(crate) id: u32,
    pub(crate) name: String,
    /// The measured window: its first second and its end.
    pub(crate) window: (f64, f64),
    pub(crate) timeline: &'a Timeline,
}

/// The seconds of all trials that have any.
pub(crate) fn seconds(input: &ReportInput<'_>) -> Seconds {
    let trials = input.result.trials.iter().filter_map(|trial| {
        let timeline = input.timelines.get(&trial.id)?;
        (!timeline.is_empty()).then(|| Shown {
            id: trial.id,
            name: name(trial),
            window: (trial.warm_up_s, trial.warm_up_s + trial.window_s),
            timeline,
        })
    });
    of(trials.collect())
}

/// The seconds of these timelines.
pub(crate) fn of(shown: Vec<Shown<'_>>) -> Seconds {
    let timelines = || shown.iter().map(|shown| shown.timeline);
    let known: BTreeSet<&str> = timelines().flat_map(Timeline::signals).collect();
    let nonzero: BTreeSet<&str> = known
        .iter()
        .copied()
        .filter(|signal| {
            timelines().any(|timeline| {
                let values = timeline.series(signal, 0..timeline.len());
                values.iter().flatten().any(|value| *value != 0.0)
            })
        })
        .collect();
    let specs = specs(&known);
    let mut factors = BTreeMap::new();
    let charts = specs
        .into_iter()
        .filter_map(|spec| {
            for wanted in &spec.wanted {
                factors.insert(wanted.signal.clone(), spec.factor);
            }
            chart(spec, &known, &nonzero)
        })
        .collect::<Vec<_>>();
    let drawn: BTreeSet<String> = charts
        .iter()
        .flat_map(|chart| chart.series.iter().map(|series| series.signal.clone()))
        .collect();
    let trials = shown.into_iter();
    Seconds {
        trials: trials
            .map(|shown| trial_seconds(shown, &drawn, &factors))
            .collect(),
        charts,
    }
}

fn chart(spec: Spec, known: &BTreeSet<&str>, nonzero: &BTreeSet<&str>) -> Option<Chart> {
    let mut chart = Chart {
        id: spec.id,
        title: spec.title,
        unit: spec.unit,
        top: spec.top,
        series: Vec::new(),
        zero: Vec::new(),
    };
    for wanted in spec.wanted {
        if !known.contains(wanted.signal.as_str()) {
            continue;
        }
        if spec.name_zero && !nonzero.contains(wanted.signal.as_str()) {
            chart.zero.push(wanted.label);
        } else {
            chart.series.push(Series {
                label: wanted.label,
                signal: wanted.signal,
                limit: wanted.limit,
                statistic: spec.statistic,
            });
        }
    }
    (!chart.series.is_empty() || !chart.zero.is_empty()).then_some(chart)
}

fn trial_seconds(
    shown: Shown<'_>,
    drawn: &BTreeSet<String>,
    factors: &BTreeMap<String, f64>,
) -> TrialSeconds {
    let timeline = shown.timeline;
    let all = 0..timeline.len();
    let signals = drawn.iter().filter_map(|signal| {
        let factor = factors.get(signal).copied().unwrap_or(1.0);
        let series = timeline.series(signal, all.clone());
        if series.iter().all(Option::is_none) {
            return None;
        }
        let values = series
            .into_iter()
            .map(|value| value.map(|value| rounded(value * factor)));
        Some((signal.clone(), values.collect()))
    });
    TrialSeconds {
        id: shown.id,
        name: shown.name,
        window: shown.window,
        seconds: timeline.len(),
        missed: all.clone().filter(|at| timeline.missed(*at)).collect(),
        signals: signals.collect(),
    }
}

fn name(trial: &TrialRecord) -> String {
    let levels = words::levels(&trial.levels);
    let levels = if levels.is_empty() {
        words::load_text(trial)
    } else {
        levels
    };
    let validity = if trial.valid { "" } else { " · NOT VALID" };
    let purpose = match (&trial.case, trial.role) {
        (Some(case), _) => case.as_str(),
        (None, Role::Check) => "check",
        (None, other) => words::role(other),
    };
    format!("Trial {} · {purpose} · {levels}{validity}", trial.id)
}

/// Every chart, in the order in which they stand on the page, for the signals that there are.
fn specs(known: &BTreeSet<&str>) -> Vec<Spec> {
    let mut cpu = Spec::new("cpu", "CPU of the target", "%", 100.0).signals(&[
        (names::CPU, "busy"),
        ("cpu.user", "user"),
        ("cpu.system", "system"),
        ("cpu.iowait", "waiting for disk"),
        ("cpu.steal", "steal"),
    ]);
    cpu.top = Some(100.0);
    let mut specs = vec![
        cpu,
        Spec::new("throughput", "Throughput", "/s", 1.0).signals(&[
            (names::THROUGHPUT, "all samples"),
            (names::ERRORS, "failed"),
        ]),
        Spec::new("response-time", "Response time", "ms", 1e3)
            .statistics()
            .signals(&[
                (names::RESPONSE_MEAN, "mean"),
                (names::RESPONSE_P50, "p50"),
                (names::RESPONSE_P99, "p99"),
            ]),
        Spec::new("users", "Users", "", 1.0).signals(&[
            (names::USERS, "running"),
            (names::IN_FLIGHT, "waiting for an answer"),
        ]),
        stages(known),
        waiting(known),
    ];
    specs.extend(tcp(known));
    specs.extend(operating_system());
    specs.extend(load_tool());
    specs
}

fn stage_names<'a>(known: &BTreeSet<&'a str>, figure: &str) -> Vec<&'a str> {
    let mut stages: Vec<&str> = known
        .iter()
        .filter_map(|signal| signal.strip_suffix(figure))
        .filter(|stage| is_stage(stage))
        .collect();
    stages.sort_by_key(|stage| (stage_place(stage), *stage));
    stages
}

fn stages(known: &BTreeSet<&str>) -> Spec {
    let mut spec = Spec::new("stages", "Threads and pools in use", "", 1.0);
    for stage in stage_names(known, ".occupancy") {
        if matches!(stage, "backlog" | "connections" | "request-queue") {
            continue;
        }
        spec = spec.signal(&format!("{stage}.occupancy"), stage);
        let limit = format!("{stage}.limit");
        if known.contains(limit.as_str()) {
            spec = spec.limit(&limit, &format!("{stage} limit"));
        }
    }
    spec
}

fn waiting(known: &BTreeSet<&str>) -> Spec {
    let mut spec = Spec::new("waiting", "Waiting to get in", "", 1.0);
    spec.name_zero = true;
    for stage in stage_names(known, ".waiting") {
        spec = spec.signal(&format!("{stage}.waiting"), stage);
    }
    spec
}

/// A signal of one port: the signal, the port, what it counts.
fn of_port(signal: &str) -> Option<(&str, &str, &str)> {
    let (port, what) = signal.strip_prefix("tcp.")?.split_once('.')?;
    (port == "gate" || port.parse::<u16>().is_ok()).then_some((signal, port, what))
}

fn tcp(known: &BTreeSet<&str>) -> Vec<Spec> {
    let mut open = Spec::new("tcp", "TCP connections, open", "", 1.0);
    // Thousands of these are usual and cost nothing; beside them nothing else could be seen.
    let mut closing = Spec::new("tcp-closing", "TCP connections, closing", "", 1.0);
    (open.name_zero, closing.name_zero) = (true, true);
    let mut queue = Spec::new("accept-queue", "Accept queue", "", 1.0);
    let ports: Vec<(&str, &str, &str)> =
        known.iter().filter_map(|signal| of_port(signal)).collect();
    let several = ports.iter().any(|(_, port, _)| *port != ports[0].1);
    for (signal, port, what) in ports {
        let of_port = if several {
            format!(
                " ({})",
                if port == "gate" {
                    port.to_owned()
                } else {
                    format!("port {port}")
                }
            )
        } else {
            String::new()
        };
        match what {
            "accept-queue" => {
                queue = queue.signal(signal, &format!("waiting to be accepted{of_port}"));
            }
            "accept-queue.limit" => queue = queue.limit(signal, &format!("limit{of_port}")),
            "fin-wait" | "last-ack" | "closing" | "time-wait" => {
                closing = closing.signal(signal, &format!("{what}{of_port}"));
            }
            state => open = open.signal(signal, &format!("{state}{of_port}")),
        }
    }
    let mut trouble =
        Spec::new("trouble", "Connections refused or repeated", "/s", 1.0).signals(&[
            ("tcp.listen-overflows", "listen overflows"),
            ("tcp.listen-drops", "listen drops"),
            ("tcp.syn-retries", "SYN retries"),
            ("tcp.retransmissions", "retransmissions"),
            ("tcp.resets", "resets"),
            ("connections.refused", "refused by the server"),
        ]);
    trouble.name_zero = true;
    vec![open, closing, queue, trouble]
}

fn operating_system() -> Vec<Spec> {
    vec![
        Spec::new(
            "target-cpu",
            "CPU of the target's own processes",
            "cores",
            1.0,
        )
        .signals(&[("target.cpu.user", "user"), ("target.cpu.system", "system")]),
        Spec::new("run-queue", "Threads waiting for a CPU", "", 1.0)
            .signals(&[("target.run-queue-wait", "mean over the second")]),
        Spec::new("memory", "Memory of the target", "MB", 1e-6)
            .signals(&[("target.memory.rss", "resident")]),
        Spec::new("collections", "Garbage collection", "% of the time", 100.0).signals(&[
            ("gc.time", "collecting"),
            ("safepoints.time", "all threads stopped"),
        ]),
    ]
}

fn load_tool() -> Vec<Spec> {
    vec![
        Spec::new(
            "lateness",
            "Load generator: lateness of its users",
            "ms",
            1e3,
        )
        .statistics()
        .signals(&[(names::LATENESS_P50, "p50"), (names::LATENESS_P99, "p99")]),
        Spec::new(
            "start-delay",
            "Open workload: from the intended to the actual start",
            "ms",
            1e3,
        )
        .statistics()
        .signals(&[
            (names::START_DELAY_P50, "p50"),
            (names::START_DELAY_P99, "p99"),
        ]),
        Spec::new("load-cpu", "Load generator: CPU", "cores", 1.0)
            .signals(&[(names::LOAD_CPU, "used")]),
    ]
}
