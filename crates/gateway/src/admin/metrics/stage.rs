//! The gateway as a stage of the funnel, under the names that Weir gives every stage: what watches
//! the server behind it reads the queue in front of it as it reads the server's own. Where there is
//! more than one class of requests, each is a part of it: `gate.CLASS`.

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric as _};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Unit;

use super::label;
use crate::status::{Standing, Status};

/// Its name among the stages.
const STAGE: &str = "gate";

#[derive(Debug)]
pub(super) struct AsStage(pub(super) Status);

/// The gateway, or the part of it that a class of requests passes.
struct Part<'a> {
    name: String,
    rate_per_s: Option<f64>,
    standing: &'a Standing,
    in_flight_s: f64,
    queued_s: f64,
}

/// A metric: its name, what it says, and its value, absent where there is none.
type Level = (&'static str, &'static str, fn(&Part<'_>) -> Option<f64>);
type Seconds = (&'static str, &'static str, fn(&Part<'_>) -> f64);
type Count = (&'static str, &'static str, fn(&Part<'_>) -> u64);

const LEVELS: [Level; 4] = [
    ("limit", "Most that may be in the stage at once", |part| {
        part.standing.limit
    }),
    (
        "rate_limit",
        "Most that may get into the stage per second",
        |part| part.rate_per_s,
    ),
    ("occupancy", "What is in the stage", |part| {
        Some(f64::from(part.standing.in_flight))
    }),
    ("waiting", "What waits to get into the stage", |part| {
        Some(part.standing.queued as f64)
    }),
];
const SECONDS: [Seconds; 3] = [
    (
        "occupancy",
        "Time spent in the stage, over all that were in it",
        |part| part.in_flight_s,
    ),
    (
        "waiting",
        "Time spent waiting for the stage, over all that waited",
        |part| part.queued_s,
    ),
    ("wait", "Time that those who got in had waited", |part| {
        part.standing.wait_s
    }),
];
const COUNTS: [Count; 3] = [
    ("waits", "Entries that had to wait", |part| {
        part.standing.waited
    }),
    ("entries", "Entries into the stage", |part| {
        part.standing.admitted
    }),
    ("refused", "Turned away by the stage", |part| {
        part.standing.refused.total()
    }),
];

impl AsStage {
    fn parts(&self) -> Vec<Part<'_>> {
        let status = &self.0;
        let whole = Part {
            name: STAGE.to_owned(),
            rate_per_s: status.rate_per_s,
            standing: &status.all,
            in_flight_s: status.in_flight_s,
            queued_s: status.queued_s,
        };
        // The only class is the whole.
        let classes = status.classes.iter().filter(|_| status.classes.len() > 1);
        let classes = classes.map(|class| Part {
            name: format!("{STAGE}.{}", class.name),
            rate_per_s: None,
            standing: &class.standing,
            in_flight_s: class.in_flight_s,
            queued_s: class.queued_s,
        });
        std::iter::once(whole).chain(classes).collect()
    }
}

impl Collector for AsStage {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let parts = self.parts();
        for (name, help, value) in LEVELS {
            let mut family = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
            for part in &parts {
                // What there is no limit on has none, rather than 0.
                if let Some(value) = value(part) {
                    let labels = label("stage", &part.name);
                    let one = family.encode_family(&labels)?;
                    ConstGauge::new(value).encode(one)?;
                }
            }
        }
        for (name, help, value) in SECONDS {
            let seconds = Some(&Unit::Seconds);
            let mut family = encoder.encode_descriptor(name, help, seconds, MetricType::Counter)?;
            for part in &parts {
                let labels = label("stage", &part.name);
                let one = family.encode_family(&labels)?;
                ConstCounter::new(value(part)).encode(one)?;
            }
        }
        for (name, help, value) in COUNTS {
            let mut family = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
            for part in &parts {
                let labels = label("stage", &part.name);
                let one = family.encode_family(&labels)?;
                ConstCounter::new(value(part)).encode(one)?;
            }
        }
        Ok(())
    }
}
