//! The stages of the server from its own metrics: how many are in each, wait for it, were refused.
//!
//! Metrics are read in Prometheus's text format under the names that the sample server gives them,
//! `weir_stage_QUANTITY{stage="NAME"}`. Where a time integral is offered (`…_seconds_total` of an
//! occupancy), its growth over the second is the exact time average; a single reading of a busy
//! pool says little about the second.

mod exposition;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use weir_exchange::{Exchange, MetricsUrl};

use crate::reading::{Reading, put};

/// How long an answer may take, from the question: well below the second that it has to fit in.
const PATIENCE: Duration = Duration::from_millis(300);

/// How long an answer may still take when everything else took longer than the patience: it has
/// come by then, or it does not come.
const GRACE: Duration = Duration::from_millis(20);

/// Stages with fixed names, outermost first; beside them there is `pool.NAME`.
const STAGES: [&str; 5] = [
    "backlog",
    "connections",
    "request-queue",
    "threads",
    "database",
];

/// What the server said of one stage, as far as it said it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Stage {
    limit: Option<f64>,
    occupancy: Option<f64>,
    occupancy_seconds: Option<f64>,
    waiting: Option<f64>,
    waiting_seconds: Option<f64>,
    wait_seconds: Option<f64>,
    entries: Option<f64>,
    refused: Option<f64>,
}

impl Stage {
    /// The place for a metric, by its name.
    fn field(&mut self, metric: &str) -> Option<&mut Option<f64>> {
        Some(match metric.strip_prefix("weir_stage_")? {
            "limit" => &mut self.limit,
            "occupancy" => &mut self.occupancy,
            "occupancy_seconds_total" => &mut self.occupancy_seconds,
            "waiting" => &mut self.waiting,
            "waiting_seconds_total" => &mut self.waiting_seconds,
            "wait_seconds_total" => &mut self.wait_seconds,
            "entries_total" => &mut self.entries,
            "refused_total" => &mut self.refused,
            _ => return None,
        })
    }

    /// The signals of the stage, given what it said before.
    fn put_into(&self, name: &str, before: Option<(&Self, f64)>, reading: &mut Reading) {
        let per_s = |counter: fn(&Self) -> Option<f64>| {
            let (before, elapsed_s) = before?;
            Some(grown(counter(before), counter(self))? / elapsed_s).filter(|rate| rate.is_finite())
        };
        let average = |level: Option<f64>, integral: fn(&Self) -> Option<f64>| {
            if integral(self).is_some() {
                per_s(integral)
            } else {
                level
            }
        };
        // Over all that got in, waited or not: so waiting = entries × wait (Little's law).
        let wait = before.and_then(|(before, _)| {
            let entered = grown(before.entries, self.entries).filter(|&entered| entered > 0.0)?;
            Some(grown(before.wait_seconds, self.wait_seconds)? / entered)
        });
        let occupancy = average(self.occupancy, |stage| stage.occupancy_seconds);
        let waiting = average(self.waiting, |stage| stage.waiting_seconds);
        put(reading, format!("{name}.limit"), self.limit);
        put(reading, format!("{name}.occupancy"), occupancy);
        put(reading, format!("{name}.waiting"), waiting);
        put(reading, format!("{name}.wait"), wait);
        put(
            reading,
            format!("{name}.entries"),
            per_s(|stage| stage.entries),
        );
        put(
            reading,
            format!("{name}.refused"),
            per_s(|stage| stage.refused),
        );
    }
}

/// Growth of a counter; `None` when the server was started anew in between.
fn grown(before: Option<f64>, now: Option<f64>) -> Option<f64> {
    let grown = now? - before?;
    (grown >= 0.0).then_some(grown)
}

/// Whether a name is that of a stage. Others are passed over: they could pass for other signals.
pub(crate) fn is_stage(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    STAGES.contains(&name)
        || name
            .strip_prefix("pool.")
            .is_some_and(|pool| !pool.is_empty() && pool.bytes().all(plain))
}

/// Every stage that a page of metrics tells about.
fn parse(page: &str) -> BTreeMap<String, Stage> {
    let mut stages: BTreeMap<String, Stage> = BTreeMap::new();
    for sample in exposition::samples(page) {
        let Some(name) = sample.label("stage") else {
            continue;
        };
        if sample.name.starts_with("weir_stage_") && is_stage(&name) {
            let stage = stages.entry(name.into_owned()).or_default();
            if let Some(field) = stage.field(sample.name) {
                *field = Some(sample.value).filter(|value| value.is_finite());
            }
        }
    }
    stages
}

/// The server's metrics and what they said last.
#[derive(Debug)]
pub(crate) struct Stages {
    url: MetricsUrl,
    exchange: Exchange,
    last: Option<(Instant, BTreeMap<String, Stage>)>,
}

/// A question that has been sent; its answer is still to be read.
#[derive(Debug)]
pub(crate) struct Asked {
    deadline: Instant,
}

impl Stages {
    pub(crate) fn new(url: MetricsUrl) -> Self {
        Self {
            exchange: Exchange::new(url.address()),
            url,
            last: None,
        }
    }

    /// Sends the question. Other things are read while the server answers.
    pub(crate) fn ask(&mut self) -> Asked {
        let deadline = Instant::now() + PATIENCE;
        self.exchange.ask(self.url.get(), deadline);
        Asked { deadline }
    }

    /// Reads the answer to what was asked at `now`. No answer in time makes the stages absent.
    pub(crate) fn read(&mut self, asked: &Asked, now: Instant, reading: &mut Reading) {
        let deadline = asked.deadline.max(Instant::now() + GRACE);
        let page = self.exchange.answer(deadline).ok();
        let page = page.and_then(|page| String::from_utf8(page).ok());
        let stages = page.as_deref().map(parse);
        if let Some(stages) = &stages {
            for (name, stage) in stages {
                let before = self.last.as_ref().and_then(|(then, before)| {
                    Some((before.get(name)?, now.duration_since(*then).as_secs_f64()))
                });
                stage.put_into(name, before, reading);
            }
        }
        self.last = stages.map(|stages| (now, stages));
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "the figures are exact in binary")]
mod tests {
    use super::*;
    use crate::reading::SignalName;

    const BEFORE: &str = r#"# HELP weir_stage_limit Most that may be in the stage at once.
# TYPE weir_stage_limit gauge
weir_stage_limit{stage="threads"} 50
weir_stage_occupancy{stage="threads"} 50
weir_stage_occupancy_seconds_total{stage="threads"} 100.5
weir_stage_limit{stage="pool.db"} 10
weir_stage_waiting{stage="pool.db"} 2
weir_stage_waiting_seconds_total{stage="pool.db"} 10
weir_stage_wait_seconds_total{stage="pool.db"} 20
weir_stage_waits_total{stage="pool.db"} 8
weir_stage_entries_total{stage="pool.db"} 100
weir_stage_refused_total{stage="connections"} 7
weir_stage_occupancy{stage="backlog"} 3
"#;
    const AFTER: &str = r#"weir_stage_limit{stage="threads"} 50
weir_stage_occupancy{stage="threads"} 1
weir_stage_occupancy_seconds_total{stage="threads"} 152.5
weir_stage_limit{stage="pool.db"} +Inf
weir_stage_waiting{stage="pool.db"} 0
weir_stage_waiting_seconds_total{stage="pool.db"} 37
weir_stage_wait_seconds_total{stage="pool.db"} 170
weir_stage_waits_total{stage="pool.db"} 12
weir_stage_entries_total{stage="pool.db"} 160
weir_stage_refused_total{stage="connections"} 3
weir_stage_occupancy{stage="backlog"} 5
weir_stage_limit{stage="cpu"} 1
weir_stage_limit{stage="pool."} 1
weir_requests_total{stage="threads"} 9
"#;

    fn signals(before: Option<&str>, after: &str) -> Reading {
        let before = before.map(parse);
        let mut reading = Reading::new();
        for (name, stage) in parse(after) {
            let before = before.as_ref().and_then(|before| before.get(&name));
            stage.put_into(&name, before.map(|before| (before, 2.0)), &mut reading);
        }
        reading
    }

    #[test]
    fn integrals_give_time_averages_and_counters_rates() {
        let reading = signals(Some(BEFORE), AFTER);
        let expected = [
            ("backlog.occupancy", 5.0),
            ("pool.db.entries", 30.0),
            ("pool.db.wait", 2.5),
            ("pool.db.waiting", 13.5),
            ("threads.limit", 50.0),
            ("threads.occupancy", 26.0),
        ];
        let found: Vec<(&str, f64)> = reading
            .iter()
            .map(|(name, &v)| (name.as_str(), v))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn the_first_answer_has_levels_only() {
        let reading = signals(None, BEFORE);
        let names: Vec<&str> = reading.keys().map(SignalName::as_str).collect();
        assert_eq!(
            names,
            ["backlog.occupancy", "pool.db.limit", "threads.limit"]
        );
    }

    #[test]
    fn a_second_in_which_nobody_got_in_has_no_wait() {
        let reading = signals(Some(AFTER), AFTER);
        assert_eq!(reading["pool.db.waiting"], 0.0);
        assert!(!reading.contains_key("pool.db.wait"));
    }

    #[test]
    fn a_server_started_anew_has_no_rates() {
        let reading = signals(Some(AFTER), BEFORE);
        assert!(!reading.contains_key("threads.occupancy"));
        assert!(!reading.contains_key("pool.db.entries"));
        assert_eq!(reading["threads.limit"], 50.0);
    }
}
