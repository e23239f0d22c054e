//! The gateway as a stage of the funnel, under the names that Weir gives every stage: what watches
//! the server behind it reads the queue in front of it as it reads the server's own.

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric as _};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Unit;

use super::label;
use crate::status::Status;

/// Its name among the stages.
const STAGE: &str = "gate";

#[derive(Debug)]
pub(super) struct AsStage(pub(super) Status);

impl Collector for AsStage {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let status = &self.0;
        let all = &status.all;
        let labels = label("stage", STAGE);
        for (name, help, value) in [
            ("limit", "Most that may be in the stage at once", all.limit),
            (
                "rate_limit",
                "Most that may get into the stage per second",
                status.rate_per_s,
            ),
            (
                "occupancy",
                "What is in the stage",
                Some(f64::from(all.in_flight)),
            ),
            (
                "waiting",
                "What waits to get into the stage",
                Some(all.queued as f64),
            ),
        ] {
            // What there is no limit on has none, rather than 0.
            let Some(value) = value else {
                continue;
            };
            let mut family = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
            ConstGauge::new(value).encode(family.encode_family(&labels)?)?;
        }
        for (name, help, value) in [
            (
                "occupancy",
                "Time spent in the stage, over all that were in it",
                status.in_flight_s,
            ),
            (
                "waiting",
                "Time spent waiting for the stage, over all that waited",
                status.queued_s,
            ),
            ("wait", "Time that those who got in had waited", all.wait_s),
        ] {
            let seconds = Some(&Unit::Seconds);
            let mut family = encoder.encode_descriptor(name, help, seconds, MetricType::Counter)?;
            ConstCounter::new(value).encode(family.encode_family(&labels)?)?;
        }
        for (name, help, value) in [
            ("waits", "Entries that had to wait", all.waited),
            ("entries", "Entries into the stage", all.admitted),
            ("refused", "Turned away by the stage", all.refused.total()),
        ] {
            let mut family = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
            ConstCounter::new(value).encode(family.encode_family(&labels)?)?;
        }
        Ok(())
    }
}
