//! What the gateway tells Prometheus, in the `OpenMetrics` text format.

mod stage;

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric as _, NoLabelSet, text::encode};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::{Registry, Unit};

use crate::status::{ClassStatus, ClassTimes, KeyStatus, Status, TimesStatus};
use stage::AsStage;

/// Of the text.
pub(super) const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// All metrics of a status.
pub(super) fn text(status: &Status) -> Result<String, fmt::Error> {
    let mut registry = Registry::with_prefix("weir");
    let gate = registry.sub_registry_with_prefix("gate");
    gate.register_collector(Box::new(Metrics(status.clone())));
    let stage = registry.sub_registry_with_prefix("stage");
    stage.register_collector(Box::new(AsStage(status.clone())));
    let mut text = String::new();
    encode(&mut text, &registry)?;
    Ok(text)
}

#[derive(Debug)]
struct Metrics(Status);

/// A metric of a class: its name, what it says, and its value.
type Told<T> = (&'static str, &'static str, fn(&ClassStatus) -> T);

/// Times of a class: their name, what they are, and they themselves.
type ToldTimes = (&'static str, &'static str, fn(&ClassTimes) -> &TimesStatus);

/// A count of a key: its name, what it says, and its value.
type ToldOfKey = (&'static str, &'static str, fn(&KeyStatus) -> u64);

type Label = [(&'static str, String); 1];

impl Collector for Metrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let status = &self.0;
        self.of_classes(&mut encoder)?;
        self.of_responses(&mut encoder)?;
        self.of_backends(&mut encoder)?;
        self.of_cpu(&mut encoder)?;
        self.of_keys(&mut encoder)?;
        self.of_malformed(&mut encoder)?;
        self.of_scale(&mut encoder)?;
        let connections = &status.connections;
        for (name, help, value) in [
            (
                "connections_accepted",
                "Connections of clients",
                connections.accepted,
            ),
            (
                "connections_not_accepted",
                "Connections that found no open file",
                connections.not_accepted,
            ),
            (
                "connections_full",
                "Times that the next connection had to wait, as there were as many as may be",
                connections.full,
            ),
            (
                "requests_exempt",
                "Requests that nothing held",
                status.exempt,
            ),
            ("reloads", "Changes of the settings", status.reloads),
            (
                "log_lines_left_out",
                "Lines of the access log that found no room",
                status.log_lines_left_out,
            ),
            (
                "admin_restarts",
                "Crashes of the admin side",
                status.admin_restarts,
            ),
        ] {
            let counter = ConstCounter::new(value);
            let one = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
            counter.encode(one)?;
        }
        for (name, help, value) in [
            (
                "connections_open",
                "Connections of clients that are open",
                Some(connections.open as f64),
            ),
            (
                "requests_without_client",
                "Requests in flight whose client has left",
                Some(f64::from(status.in_flight_without_client)),
            ),
            (
                "long_lived",
                "Switched connections and streams of events that have given their slots back",
                status
                    .long_lived
                    .map(|long_lived| f64::from(long_lived.open)),
            ),
            ("limit", "Limit on requests in flight", status.all.limit),
            (
                "rate_limit",
                "Limit on admitted requests per second",
                status.rate_per_s,
            ),
            (
                "routes_known",
                "Routes whose cost is learnt",
                status.routes.as_ref().map(|routes| routes.known as f64),
            ),
            (
                "backend_cpu_goal_ratio",
                "Busy share of the backends' CPUs that the limit is to hold",
                status.cpu.as_ref().and_then(|cpu| cpu.goal),
            ),
        ] {
            // What there is no limit on has none, rather than 0.
            let Some(value) = value else {
                continue;
            };
            let one = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
            ConstGauge::new(value).encode(one)?;
        }
        Ok(())
    }
}

impl Metrics {
    fn of_classes(&self, encoder: &mut DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let counters: [Told<u64>; 5] = [
            ("requests_offered", "Requests that came", |class| {
                class.standing.offered
            }),
            (
                "requests_admitted",
                "Requests that were admitted",
                |class| class.standing.admitted,
            ),
            (
                "requests_waited",
                "Admitted requests that had to wait",
                |class| class.standing.waited,
            ),
            (
                "requests_left",
                "Requests whose client left while they waited",
                |class| class.standing.left,
            ),
            (
                "requests_finished",
                "Admitted requests that are over",
                |class| class.standing.finished,
            ),
        ];
        for (name, help, value) in counters {
            let mut family = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
            for class in &self.0.classes {
                let labels = label("class", &class.name);
                let one = family.encode_family(&labels)?;
                ConstCounter::new(value(class)).encode(one)?;
            }
        }
        let help = "Requests that were rejected";
        let mut family =
            encoder.encode_descriptor("requests_refused", help, None, MetricType::Counter)?;
        for class in &self.0.classes {
            for (why, count) in class.standing.refused.by_why() {
                let labels = [("class", class.name.clone()), ("why", why.to_owned())];
                ConstCounter::new(count).encode(family.encode_family(&labels)?)?;
            }
        }
        let help = "Time that admitted requests waited";
        let mut family =
            encoder.encode_descriptor("wait", help, Some(&Unit::Seconds), MetricType::Counter)?;
        for class in &self.0.classes {
            let labels = label("class", &class.name);
            let one = family.encode_family(&labels)?;
            ConstCounter::new(class.standing.wait_s).encode(one)?;
        }
        let gauges: [Told<i64>; 2] = [
            (
                "requests_in_flight",
                "Admitted requests that are not over",
                |class| i64::from(class.standing.in_flight),
            ),
            ("requests_queued", "Requests that wait", |class| {
                i64::try_from(class.standing.queued).unwrap_or(i64::MAX)
            }),
        ];
        for (name, help, value) in gauges {
            let mut family = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
            for class in &self.0.classes {
                let labels = label("class", &class.name);
                let one = family.encode_family(&labels)?;
                ConstGauge::new(value(class)).encode(one)?;
            }
        }
        Ok(())
    }

    fn of_responses(&self, encoder: &mut DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let help = "Answers that clients got";
        let mut family = encoder.encode_descriptor("responses", help, None, MetricType::Counter)?;
        for class in &self.0.classes {
            for (code, count) in &class.codes {
                let labels = [("class", class.name.clone()), ("code", code.to_string())];
                ConstCounter::new(*count).encode(family.encode_family(&labels)?)?;
            }
        }
        let times: [ToldTimes; 3] = [
            (
                "response_time",
                "From the arrival of a request that was admitted to the last byte of its answer",
                |times| &times.response,
            ),
            (
                "wait_time",
                "For how long requests that were admitted waited",
                |times| &times.wait,
            ),
            (
                "backend_time",
                "For how long a backend had a request",
                |times| &times.backend,
            ),
        ];
        for (name, help, pick) in times {
            let seconds = Some(&Unit::Seconds);
            let mut family =
                encoder.encode_descriptor(name, help, seconds, MetricType::Histogram)?;
            for class in &self.0.classes {
                let Some(times) = class.times.as_ref().map(pick) else {
                    continue;
                };
                let buckets = times.buckets.iter();
                let buckets: Vec<(f64, u64)> = buckets
                    .map(|(bound, count)| (bound.unwrap_or(f64::INFINITY), *count))
                    .collect();
                let labels = label("class", &class.name);
                let mut one = family.encode_family(&labels)?;
                one.encode_histogram::<NoLabelSet>(times.sum_s, times.count, &buckets, None)?;
            }
        }
        Ok(())
    }

    fn of_backends(&self, encoder: &mut DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        for (name, help, pick) in [
            (
                "backend_ejections",
                "Times that a backend got no requests because they failed in a row",
                3,
            ),
            ("backend_requests", "Requests that a backend got", 0),
            (
                "backend_failed",
                "Requests to a backend without a whole response",
                1,
            ),
            ("backend_connections", "Connections made to a backend", 2),
        ] {
            let mut family = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
            for backend in &self.0.backends {
                let counts = [
                    backend.requests,
                    backend.failed,
                    backend.connections,
                    backend.ejections,
                ];
                let labels = label("backend", &backend.url);
                let one = family.encode_family(&labels)?;
                ConstCounter::new(counts[pick]).encode(one)?;
            }
        }
        let help = "Whether a backend gets requests";
        let mut family = encoder.encode_descriptor("backend_up", help, None, MetricType::Gauge)?;
        for backend in &self.0.backends {
            let labels = label("backend", &backend.url);
            let one = family.encode_family(&labels)?;
            ConstGauge::new(i64::from(backend.up && !backend.ejected)).encode(one)?;
        }
        Ok(())
    }
}

impl Metrics {
    fn of_cpu(&self, encoder: &mut DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let Some(cpu) = &self.0.cpu else {
            return Ok(());
        };
        if let (Some(busy), Some(from)) = (cpu.busy, &cpu.from) {
            let help = "Busy share of the CPUs that the backends may use";
            let mut family = encoder.encode_descriptor(
                "backend_cpu_busy_ratio",
                help,
                None,
                MetricType::Gauge,
            )?;
            let labels = label("from", from);
            ConstGauge::new(busy).encode(family.encode_family(&labels)?)?;
        }
        for (name, help, value) in [
            (
                "backend_cpu_readings",
                "Readings of the backends' CPU",
                cpu.readings,
            ),
            (
                "backend_cpu_losses",
                "Times that the backends' CPU could no longer be read",
                cpu.losses,
            ),
        ] {
            let one = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
            ConstCounter::new(value).encode(one)?;
        }
        Ok(())
    }
}

impl Metrics {
    /// Absent while nobody can tell, so that no autoscaler takes an old figure for a new one.
    fn of_scale(&self, encoder: &mut DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let Some(scale) = &self.0.scale else {
            return Ok(());
        };
        for (name, help, value) in [
            (
                "backends_wanted",
                "Backends that the load wants",
                scale.wanted,
            ),
            (
                "backends_wanted_low",
                "As many at least, with 95 %",
                scale.low,
            ),
            (
                "backends_wanted_high",
                "As many at most, with 95 %",
                scale.high,
            ),
            (
                "backends_asked",
                "Backends that were asked for last",
                Some(scale.asked),
            ),
        ] {
            if let Some(value) = value {
                let one = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
                ConstGauge::new(f64::from(value)).encode(one)?;
            }
        }
        Ok(())
    }

    fn of_malformed(&self, encoder: &mut DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let help = "What was no request that may be passed on";
        let kind = MetricType::Counter;
        let mut family = encoder.encode_descriptor("requests_malformed", help, None, kind)?;
        for (why, count) in &self.0.malformed_by {
            let labels = [("why", why.clone())];
            ConstCounter::new(*count).encode(family.encode_family(&labels)?)?;
        }
        Ok(())
    }

    fn of_keys(&self, encoder: &mut DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let keys = &self.0.keys;
        if keys.is_empty() {
            return Ok(());
        }
        let help = "Requests rejected for what their client has already";
        let mut family =
            encoder.encode_descriptor("key_refused", help, None, MetricType::Counter)?;
        for key in keys {
            for (why, count) in key.refused.by_why() {
                let labels = [("key", key.name.clone()), ("why", why.to_owned())];
                ConstCounter::new(count).encode(family.encode_family(&labels)?)?;
            }
        }
        let counters: [ToldOfKey; 2] = [
            (
                "key_connections_refused",
                "Connections closed at once, as their address had as many as it may",
                |key| key.connections_refused,
            ),
            (
                "key_unkept",
                "Requests let through as there was no room for another client",
                |key| key.unkept,
            ),
        ];
        for (name, help, value) in counters {
            let mut family = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
            for key in keys {
                let labels = label("key", &key.name);
                let one = family.encode_family(&labels)?;
                ConstCounter::new(value(key)).encode(one)?;
            }
        }
        let help = "Clients that have something here, or have used some of their rate";
        let mut family = encoder.encode_descriptor("key_known", help, None, MetricType::Gauge)?;
        for key in keys {
            let labels = label("key", &key.name);
            let one = family.encode_family(&labels)?;
            ConstGauge::new(key.known as f64).encode(one)?;
        }
        Ok(())
    }
}

fn label(name: &'static str, value: &str) -> Label {
    [(name, value.to_owned())]
}
