//! Made-up runs that look like real ones: a tune of about ten trials, and a sweep.
//!
//! Figures come from the textbook recursion for one queue with thinking users (Schweitzer's fixed
//! point), shaken by a noise that is a function of trial and second: the same on every machine.

#![allow(dead_code, reason = "each test file uses its part")]

mod sheet;

use std::collections::BTreeMap;

use weir_record::{
    Answer, BeforeAndAfter, ClassRecord, Column, CpuRecord, CpuScope, Errors, Figure, Finding,
    Held, Level, Levels, OverviewRow, RESULT_SCHEMA, Reading, RequirementCheck, ResponseTime, Role,
    RunManifest, SettingDetail, Side, Spent, Stage, Statistic, Status, StudyResult, SweepOverview,
    SweepRow, SweepTable, TargetFacts, Timeline, TrialRecord, WhenFull,
};
use weir_report::ReportInput;
use weir_stats::{Estimate, Method};

pub(crate) use sheet::sheet;

/// CPU seconds of one request on the one CPU, and seconds of thinking and holding without CPU.
const DEMAND_S: f64 = 0.0066;
const DELAY_S: f64 = 0.3085;
/// Signals that the load generator counts itself.
const LOAD: &[&str] = &[
    "throughput",
    "errors",
    "users",
    "in-flight",
    "response.mean",
    "response.p50",
    "response.p99",
];
const SECONDS: u64 = 40;
const WARM_UP: u64 = 10;

/// The parts of a report's input, owned.
pub(crate) struct Run {
    pub(crate) result: StudyResult,
    pub(crate) manifest: RunManifest,
    pub(crate) timelines: BTreeMap<u32, Timeline>,
}

impl Run {
    pub(crate) fn input(&self) -> ReportInput<'_> {
        ReportInput {
            result: &self.result,
            manifest: &self.manifest,
            timelines: &self.timelines,
        }
    }
}

/// Throughput and mean response time of the textbook's queue.
fn queue(users: f64) -> (f64, f64) {
    let mut length = users / 2.0;
    let (mut throughput, mut response) = (0.0, 0.0);
    for _ in 0..500 {
        response = DEMAND_S * (1.0 + length * (users - 1.0) / users);
        throughput = users / (DELAY_S + response);
        length = throughput * response;
    }
    (throughput, response)
}

/// Between −1 and 1, and the same each time.
fn noise(trial: u32, second: u64, of: u64) -> f64 {
    let mut mixed = u64::from(trial) << 32 ^ second << 8 ^ of;
    for _ in 0..3 {
        mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
    (mixed >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

/// What is special about a trial.
#[derive(Debug, Clone, Copy, Default)]
struct Special {
    threads: Option<f64>,
    pool: Option<f64>,
    steal: f64,
    late: bool,
    misses: &'static [u64],
}

fn reading(trial: u32, users: f64, special: Special, second: u64) -> Reading {
    let busy_limit = special.threads.unwrap_or(50.0);
    let (mut throughput, mut response) = queue(users);
    let busy = throughput * (response + 0.215);
    let queued = if busy > busy_limit {
        users - busy_limit - throughput * 0.07
    } else {
        0.0
    };
    if busy > busy_limit {
        (throughput, _) = queue(busy_limit / 0.727);
        response = users / throughput - DELAY_S;
    }
    let ramp = (1.0 - (-(second as f64 + 0.5) / 2.0).exp()).min(1.0);
    let shaken =
        |value: f64, by: f64, of: u64| value * ramp * (1.0 + by * noise(trial, second, of));
    let answered = shaken(throughput, 0.06, 1);
    let cpu = (answered * DEMAND_S * (1.0 + 0.02 * noise(trial, second, 2))).min(1.0);
    let lag = if special.late { 0.03 } else { 0.0004 };
    let threads = shaken(busy.min(busy_limit), 0.05, 3).min(busy_limit);
    let pairs = [
        ("throughput", answered.round()),
        ("errors", 0.0),
        ("users", users),
        ("in-flight", (threads + queued).round()),
        ("response.mean", shaken(response, 0.1, 4)),
        ("response.p50", shaken(response * 0.8, 0.1, 5)),
        ("response.p99", shaken(response * 3.2, 0.25, 6)),
        ("cpu", cpu),
        ("cpu.user", cpu * 0.82 * (1.0 - special.steal)),
        ("cpu.system", cpu * 0.18 * (1.0 - special.steal)),
        ("cpu.iowait", 0.0),
        (
            "cpu.steal",
            special.steal * (1.0 + 0.5 * noise(trial, second, 7)),
        ),
        ("tcp.9080.established", (threads + queued).round()),
        ("tcp.9080.time-wait", (answered * 1.5).round()),
        ("tcp.9080.syn-recv", 0.0),
        ("tcp.9080.close-wait", 0.0),
        (
            "tcp.9080.accept-queue",
            (noise(trial, second, 8) * 2.0).max(0.0).round(),
        ),
        ("tcp.9080.accept-queue.limit", 511.0),
        ("tcp.listen-overflows", 0.0),
        ("tcp.listen-drops", 0.0),
        ("tcp.syn-retries", 0.0),
        ("tcp.retransmissions", if second == 17 { 2.0 } else { 0.0 }),
        ("backlog.limit", 511.0),
        ("backlog.occupancy", 0.0),
        ("connections.limit", 20_000.0),
        ("connections.occupancy", threads + queued),
        ("connections.refused", 0.0),
        ("request-queue.occupancy", queued * ramp),
        ("request-queue.waiting", queued * ramp),
        ("request-queue.wait", queued / throughput),
        ("threads.limit", busy_limit),
        ("threads.occupancy", threads),
        ("pool.db.limit", special.pool.unwrap_or(10.0)),
        ("pool.db.occupancy", shaken(throughput * 0.012, 0.2, 9)),
        ("pool.db.waiting", 0.0),
        ("pool.db.wait", 0.0),
        ("pool.db.entries", answered * 2.0),
        ("database.occupancy", shaken(throughput * 0.004, 0.3, 10)),
        ("target.run-queue-wait", shaken(cpu * cpu * 4.0, 0.3, 11)),
        ("target.memory.rss", 58e6 + 3e4 * second as f64),
        ("target.cpu.user", cpu * 0.8),
        ("target.cpu.system", cpu * 0.17),
        ("load.cpu", answered * 0.0004),
        ("load.lateness.p50", lag / 8.0),
        (
            "load.lateness.p99",
            lag * (1.0 + 0.5 * noise(trial, second, 12)),
        ),
        ("load.late-share", if special.late { 0.031 } else { 0.0 }),
        ("load.sockets", threads.round()),
    ];
    pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), *value))
        .collect()
}

fn timeline(trial: u32, users: f64, special: Special, seconds: u64) -> Timeline {
    let mut timeline = Timeline::new();
    for second in 0..seconds {
        let mut reading = reading(trial, users, special, second);
        if special.misses.contains(&second) {
            // The load generator counts on while the watch sleeps.
            reading.retain(|signal, _| LOAD.contains(&signal.as_str()));
            timeline.miss(second);
        }
        timeline.add(second, reading);
    }
    timeline
}

fn estimate(value: f64, share: f64, count: u64, method: Method) -> Estimate {
    Estimate {
        value,
        low: value * (1.0 - share),
        high: value * (1.0 + share),
        confidence: 0.95,
        count,
        method,
    }
}

fn record(
    id: u32,
    role: Role,
    levels: Levels,
    users: f64,
    special: Special,
    timeline: &Timeline,
) -> TrialRecord {
    let window = WARM_UP as usize..timeline.len();
    let mut signals = BTreeMap::new();
    for signal in timeline.signals() {
        let read = timeline.series(signal, window.clone());
        let read: Vec<f64> = read.into_iter().flatten().collect();
        let mean = read.iter().sum::<f64>() / read.len() as f64;
        signals.insert(signal.to_owned(), mean);
    }
    let mean = signals["response.mean"] * 1e3;
    let response = ResponseTime {
        mean,
        p50: mean * 0.81,
        p90: mean * 1.9,
        p95: mean * 2.4,
        p99: mean * 3.2,
        p999: mean * 4.4,
        max: mean * 5.9,
    };
    let throughput = signals["throughput"];
    let cpu = CpuRecord {
        user: signals["cpu.user"],
        system: signals["cpu.system"],
        steal: signals["cpu.steal"],
        total: signals["cpu"],
    };
    let seconds = window.len() as u64;
    let responses = (throughput * seconds as f64) as u64;
    let intervals = [
        (
            "throughput_per_s",
            estimate(throughput, 0.012, seconds, Method::BatchMeans),
        ),
        (
            "cpu",
            estimate(cpu.total, 0.013, seconds, Method::BatchMeans),
        ),
        (
            "response_time_ms.mean",
            estimate(mean, 0.04, seconds, Method::BatchMeans),
        ),
        (
            "response_time_ms.p50",
            estimate(response.p50, 0.05, responses, Method::OrderStatistics),
        ),
        (
            "response_time_ms.p99",
            estimate(response.p99, 0.11, responses, Method::OrderStatistics),
        ),
    ];
    let mut notes = Vec::new();
    if special.steal > 0.05 {
        notes.push(format!(
            "other virtual machines took {:.1} % of the target's CPU time (steal)",
            special.steal * 100.0
        ));
    }
    let because = special.late.then(|| {
        "the load generator was late: 3.1 % of its requests started more than 10 ms after their time"
            .to_owned()
    });
    let class = ClassRecord {
        throughput_per_s: throughput,
        response_time_ms: response,
        errors: Errors::default(),
        intervals: BTreeMap::new(),
    };
    TrialRecord {
        id,
        role,
        case: None,
        block: None,
        levels,
        population: users as u32,
        warm_up_s: WARM_UP as f64,
        window_s: seconds as f64,
        repeats: u32::from(special.steal > 0.05) * 2,
        valid: because.is_none(),
        invalid_because: because.into_iter().collect(),
        invalid: Vec::new(),
        notes,
        adjustments: Vec::new(),
        throughput_per_s: throughput,
        response_time_ms: response,
        errors: Errors::default(),
        succeeded_by_code: BTreeMap::new(),
        cpu: Some(cpu),
        signals,
        signal_origins: BTreeMap::new(),
        own_units: BTreeMap::new(),
        not_read: BTreeMap::new(),
        classes: BTreeMap::from([("CPU-heavy".to_owned(), class)]),
        open: None,
        intervals: intervals
            .into_iter()
            .map(|(name, e)| (name.to_owned(), e))
            .collect(),
    }
}

fn levels(users: f64, special: Special) -> Levels {
    let mut levels = Levels::from([("users".to_owned(), Level::Number(users))]);
    if let Some(threads) = special.threads {
        levels.insert("threads".to_owned(), Level::Number(threads));
    }
    if let Some(pool) = special.pool {
        levels.insert("pool.db".to_owned(), Level::Number(pool));
    }
    levels
}

fn target() -> TargetFacts {
    let stage = |name: &str, native: Option<&str>, limit: Option<f64>, when_full| Stage {
        name: name.to_owned(),
        native: native.map(str::to_owned),
        limit,
        settable: limit.is_some(),
        when_full,
    };
    TargetFacts {
        name: "sample".to_owned(),
        kind: "builtin".to_owned(),
        recognised: None,
        cpus: 1,
        cpu_scope: CpuScope::OwnCpus,
        stages: vec![
            stage("backlog", Some("--backlog"), Some(511.0), WhenFull::Refuse),
            stage(
                "connections",
                Some("--max-connections"),
                Some(20_000.0),
                WhenFull::Wait,
            ),
            stage("request-queue", None, None, WhenFull::Wait),
            stage("threads", Some("--threads"), Some(50.0), WhenFull::Wait),
            stage("pool.db", Some("--pool"), Some(10.0), WhenFull::Block),
            stage("database", None, None, WhenFull::Wait),
        ],
    }
}

fn manifest(study: &str) -> RunManifest {
    RunManifest {
        schema: "weir/manifest/1".to_owned(),
        weir: "0.1.0".to_owned(),
        started: "2026-02-03T10:20:30Z".to_owned(),
        seed: 1,
        command: vec!["weir".to_owned(), "tune".to_owned()],
        base: ".".into(),
        study: study.to_owned(),
        title: None,
        machine: [
            ("cpu-model", "Example CPU"),
            ("cpu-mhz", "2999.9"),
            ("kernel", "Linux 6.1.0"),
            ("memory-bytes", "8254390272"),
            ("virtualised", "true"),
        ]
        .iter()
        .map(|(name, fact)| ((*name).to_owned(), (*fact).to_owned()))
        .collect(),
    }
}

fn empty_result(question: &str, summary: &str) -> StudyResult {
    StudyResult {
        schema: RESULT_SCHEMA.to_owned(),
        weir: "0.1.0".to_owned(),
        run: "default-20260203-102030".to_owned(),
        exit_code: 0,
        status: Status::Answered,
        question: question.to_owned(),
        target: target(),
        summary: summary.to_owned(),
        answer: None,
        raised: Vec::new(),
        settings: BTreeMap::new(),
        settings_detail: Vec::new(),
        held: None,
        table: None,
        comparison: None,
        joint: None,
        difference: None,
        configuration: Vec::new(),
        findings: Vec::new(),
        trials: Vec::new(),
        spent: Spent::default(),
        not_put_back: Vec::new(),
    }
}

/// A tune that found 41 users: one trial not valid, one with steal, one saturated, three checks.
pub(crate) fn tune() -> Run {
    let limits = |threads| Special {
        threads: Some(threads),
        pool: Some(4.0),
        ..Special::default()
    };
    let none = Special::default();
    let plan = [
        (Role::Reference, 20.0, none),
        (Role::Search, 12.0, none),
        (Role::Search, 60.0, none),
        (
            Role::Search,
            45.0,
            Special {
                misses: &[22, 23, 30],
                ..none
            },
        ),
        (Role::Search, 36.0, none),
        (Role::Search, 41.0, none),
        (Role::Search, 43.0, Special { late: true, ..none }),
        (
            Role::Search,
            43.0,
            Special {
                steal: 0.072,
                ..none
            },
        ),
        (Role::Check, 62.0, limits(32.0)),
        (Role::Check, 62.0, limits(29.0)),
        (Role::Check, 41.0, limits(29.0)),
    ];
    let mut result = empty_result(
        "How many concurrent users until CPU reaches 80 %?",
        "41 users (95 % interval 39–43); CPU at 42 is 80.9 %.",
    );
    let mut timelines = BTreeMap::new();
    for (at, (role, users, special)) in plan.into_iter().enumerate() {
        let id = at as u32 + 1;
        let seconds = timeline(id, users, special, SECONDS);
        result.trials.push(record(
            id,
            role,
            levels(users, special),
            users,
            special,
            &seconds,
        ));
        timelines.insert(id, seconds);
    }
    result.answer = Some(answer());
    result.settings = BTreeMap::from([("threads".to_owned(), 29.0), ("pool.db".to_owned(), 4.0)]);
    result.settings_detail = settings();
    result.held = Some(held(&result.trials));
    result.findings = vec![
        Finding::new(
            "threads-never-full",
            "With the limit of 50 found, at most 34 threads were busy at the answer: the limit did not hold anything back.",
            &[6],
        ),
        Finding::new(
            "steal",
            "Other virtual machines took 7.2 % of the CPU time in a trial that was run three times; the interval is wider for it.",
            &[8],
        ),
    ];
    Run {
        result,
        manifest: manifest(
            "schema = \"weir/study/1\"\n\n[target.builtin]\n\n[load]\nplan = \"default.jmx\"\nusers = \"USERS\"\n\n[find]\nvary = \"users\"\nwithin = [1, 200]\nsubject-to = [\"cpu <= 80 %\", \"errors <= 0.1 %\"]\n",
        ),
        timelines,
    }
}

fn answer() -> Answer {
    let fitted = |users: f64| {
        let (throughput, response) = queue(users);
        BTreeMap::from([
            ("cpu".to_owned(), throughput * DEMAND_S),
            ("throughput_per_s".to_owned(), throughput),
            ("response_time_ms.mean".to_owned(), response * 1e3),
        ])
    };
    let mut curves: BTreeMap<String, Vec<(f64, f64)>> = BTreeMap::new();
    for users in 1..=64 {
        for (name, value) in fitted(f64::from(users)) {
            curves
                .entry(name)
                .or_default()
                .push((f64::from(users), value));
        }
    }
    Answer {
        factor: "users".to_owned(),
        value: 41.0,
        low: 39.0,
        high: 43.0,
        confidence: 0.95,
        population: 41,
        limited_by: None,
        binding: Some("cpu <= 80 %".to_owned()),
        at_value: fitted(41.0),
        interpolated: false,
        at_next: fitted(42.0),
        curves,
    }
}

fn settings() -> Vec<SettingDetail> {
    vec![
        SettingDetail {
            stage: "connections".to_owned(),
            native: Some("--max-connections".to_owned()),
            from: Some(20_000.0),
            to: 93.0,
            because: "29 at work and as many in the queue as wait at most 0.5 s at 122 requests/s, rounded up.".to_owned(),
            trials: vec![10],
        },
        SettingDetail {
            stage: "threads".to_owned(),
            native: Some("--threads".to_owned()),
            from: Some(50.0),
            to: 29.0,
            because: "the largest limit at which CPU stays at 80 % with all threads busy: 29 gave 79.1 %, 32 gave 83.4 % with 62 users.".to_owned(),
            trials: vec![9, 10],
        },
        SettingDetail {
            stage: "pool.db".to_owned(),
            native: Some("--pool".to_owned()),
            from: Some(10.0),
            to: 4.0,
            because: "29 threads hold 1.5 connections on average; with 4 a request finds none free once in 1,000.".to_owned(),
            trials: vec![6, 10],
        },
    ]
}

fn held(trials: &[TrialRecord]) -> Held {
    let check = &trials[9];
    let cpu = check.cpu.unwrap_or_default().total;
    let asked = |unit: &str, says: &str, value: f64, half: f64| RequirementCheck {
        says: says.to_owned(),
        value,
        unit: unit.to_owned(),
        low: (value - half).max(0.0),
        high: value + half,
        met: true,
        bounds: Vec::new(),
    };
    Held {
        population: 62,
        passed: true,
        trials: vec![9, 10],
        requirements: vec![
            asked("%", "cpu between 75 % and 81 %", cpu, 0.011),
            asked("/s", "throughput >= 117 /s", check.throughput_per_s, 1.4),
            asked("%", "errors <= 0.1 %", 0.0, 0.0005),
            asked("", "waiting(pool.db) <= 0.05", 0.0, 0.0),
            asked("", "waiting(request-queue) agrees with users − busy − thinking = 25.1 ± 2", 24.6, 0.9),
        ],
        waiting: BTreeMap::from([
            ("request-queue".to_owned(), 24.6),
            ("pool.db".to_owned(), 0.0),
            ("connections".to_owned(), 0.0),
        ]),
        wait_ms: BTreeMap::from([("request-queue".to_owned(), 203.0)]),
        cost_at_answer: Some("with 41 users the limit makes 1.2 requests wait 9.8 ms on average; throughput is 0.4 % lower (within the intervals).".to_owned()),
        cost: None,
        before_and_after: Some(BeforeAndAfter {
            users: check.population,
            before: Side::of(&trials[8]),
            after: Side::of(check),
        }),
    }
}

/// A sweep with published figures and three cases.
pub(crate) fn sweep() -> Run {
    let none = Special::default();
    let cases = [
        (
            "pool 10, as published",
            28.0,
            Special {
                pool: Some(10.0),
                ..none
            },
        ),
        (
            "pool 50, as published",
            28.0,
            Special {
                pool: Some(50.0),
                ..none
            },
        ),
        (
            "threads 20, 40 users",
            40.0,
            Special {
                threads: Some(20.0),
                ..none
            },
        ),
    ];
    let mut result = empty_result(
        "Do the published waits at the data source come back?",
        "3 cases, 6 trials: the published waits come back within their intervals in 1 of 1 cases.",
    );
    "e1-sample-20260203-102030".clone_into(&mut result.run);
    let mut timelines = BTreeMap::new();
    let mut rows = Vec::new();
    for (case, users, special) in cases {
        let mut ids = Vec::new();
        for _ in 0..2 {
            let id = result.trials.len() as u32 + 1;
            let seconds = timeline(id, users, special, SECONDS);
            let mut trial = record(
                id,
                Role::Case,
                levels(users, special),
                users,
                special,
                &seconds,
            );
            trial.case = Some(case.to_owned());
            result.trials.push(trial);
            timelines.insert(id, seconds);
            ids.push(id);
        }
        rows.push(row(case, levels(users, special), ids, rows.is_empty()));
    }
    let column = |title: &str, signal: &str, unit: &str| Column {
        title: title.to_owned(),
        signal: signal.to_owned(),
        unit: unit.to_owned(),
        better: "less".to_owned(),
    };
    result.table = Some(SweepTable {
        columns: vec![
            column("Waiting threads", "pool.db.waiting", ""),
            column("Mean wait", "pool.db.wait", "s"),
            column("Busy threads", "threads.occupancy", ""),
            column("CPU", "cpu", "%"),
        ],
        rows,
        statistic: Statistic::default(),
        pictures: Vec::new(),
        overviews: vec![SweepOverview {
            title: "Environment by environment".to_owned(),
            columns: vec![
                column("CPU", "cpu", "%"),
                column("Busy threads / alone", "threads.occupancy", "×"),
                column("Best sleep, ms", "property.PAUSE_MS", ""),
            ],
            rows: vec![
                side_by_side("Serial", [Some(0.41), Some(1.25), Some(5.0)]),
                side_by_side("ZGC, virtual threads", [Some(0.38), Some(2.5), None]),
            ],
        }],
    });
    Run {
        result,
        manifest: manifest(
            "schema = \"weir/study/1\"\n\n[sweep]\ndesign = \"cases\"\nreplicates = 2\n",
        ),
        timelines,
    }
}

fn side_by_side(environment: &str, values: [Option<f64>; 3]) -> OverviewRow {
    let cells = values.into_iter().enumerate().map(|(at, value)| {
        let value = value?;
        let interval = (at == 0).then(|| estimate(value, 0.04, 3, Method::Student));
        Some(Figure { value, interval })
    });
    OverviewRow {
        environment: environment.to_owned(),
        cells: cells.collect(),
    }
}

fn row(case: &str, levels: Levels, trials: Vec<u32>, published: bool) -> SweepRow {
    let cell = |value: f64, share: f64| {
        Some(Figure {
            value,
            interval: Some(estimate(value, share, 2, Method::Student)),
        })
    };
    let said = |text: &str| published.then(|| text.to_owned());
    SweepRow {
        case: case.to_owned(),
        environment: None,
        levels,
        trials,
        cells: if published {
            vec![
                cell(14.2, 0.05),
                cell(2.53, 0.04),
                cell(26.4, 0.02),
                cell(0.573, 0.03),
            ]
        } else {
            vec![cell(0.0, 0.0), None, cell(19.8, 0.02), cell(0.558, 0.02)]
        },
        published: vec![said("14"), said("2.5 s"), said("25"), None],
    }
}
