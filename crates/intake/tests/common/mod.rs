//! Result files of made loads.

use std::fmt::Write as _;

/// 2026-11-22 00:00:00 UTC.
pub(crate) const MIDNIGHT_MS: u64 = 1_795_305_600_000;
/// When the loads begin.
const START_MS: u64 = MIDNIGHT_MS + 600_000;
/// How long the users take to start.
const RAMP_S: u64 = 30;

/// One row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    start_ms: u64,
    elapsed_ms: u64,
    users: u32,
}

/// One sample at this time after the start.
pub(crate) fn at(after_ms: u64, users: u32) -> Row {
    Row {
        start_ms: START_MS + after_ms,
        elapsed_ms: 10,
        users,
    }
}

/// The load beside which the files in `recorded` were recorded, as far as they are concerned.
pub(crate) struct Span {
    start_ms: u64,
    seconds: u64,
}

pub(crate) const RECORDED_LOAD: Span = Span {
    start_ms: RECORDED_START_MS,
    seconds: 10,
};
/// 2026-11-22 01:15:34 UTC.
const RECORDED_START_MS: u64 = 1_795_310_134_000;

impl Span {
    /// Its rows.
    pub(crate) fn rows(&self) -> Vec<Row> {
        (0..self.seconds * 10)
            .map(|number| Row {
                start_ms: self.start_ms + number * 100,
                elapsed_ms: 10,
                users: 5,
            })
            .collect()
    }
}

/// A load of some users for some seconds with this throughput once all are there, and noise that
/// does not change from one run of a test to the next.
pub(crate) fn load(users: u32, seconds: u64, per_second: f64) -> Vec<Row> {
    load_at(START_MS, users, seconds, per_second)
}

/// As `load`, from another time on.
pub(crate) fn load_at(from_ms: u64, users: u32, seconds: u64, per_second: f64) -> Vec<Row> {
    let mut dice = 12_345_u64;
    let mut next = || {
        dice = dice
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (dice >> 33) as f64 / (1_u64 << 31) as f64
    };
    let ramp_s = RAMP_S.min(seconds / 4);
    let mut rows = Vec::new();
    for second in 0..seconds {
        let share = ((second + 1) as f64 / ramp_s as f64).min(1.0);
        let count = (per_second * share + next() - 0.5).round().max(0.0) as u64;
        for number in 0..count {
            let elapsed_ms = 5 + (next() * 40.0) as u64;
            rows.push(Row {
                start_ms: from_ms + second * 1_000 + number * 900 / count.max(1),
                elapsed_ms,
                users: (f64::from(users) * share).ceil() as u32,
            });
        }
    }
    rows
}

/// A result file as JMeter writes it.
pub(crate) fn jtl(rows: &[Row]) -> String {
    let mut text = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect\n".to_owned();
    for (number, row) in rows.iter().enumerate() {
        let Row {
            start_ms,
            elapsed_ms,
            users,
        } = row;
        let thread = number as u32 % (*users).max(1) + 1;
        let _ = writeln!(
            text,
            "{start_ms},{elapsed_ms},home,200,OK,Users 1-{thread},text,true,,40,20,{users},{users},null,{elapsed_ms},0,0"
        );
    }
    text
}
