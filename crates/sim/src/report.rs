//! Figures over all replications, each with its interval.
//!
//! Replications are independent, so an interval is Student's t over one value of each. Quantiles
//! come from the histograms of all replications together; the spread of the replications' own
//! quantiles gives their interval.

use hdrhistogram::Histogram;
use schemars::JsonSchema;
use serde::Serialize;
use weir_record::response_histogram;
use weir_stats::{Estimate, mean_of_independent};

use crate::network::{CenterKind, Network};
use crate::replicate::Plan;
use crate::totals::{CenterTotals, ClassTotals, Totals};

/// Confidence of every interval.
const CONFIDENCE: f64 = 0.95;
/// Schema of what [`Report`] is as JSON.
pub const SIMULATION_SCHEMA: &str = "weir/simulation/1";

/// What a simulated network did.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Report {
    /// `weir/simulation/1`.
    pub schema: String,
    /// Version of Weir.
    pub weir: String,
    /// Name of the network.
    pub network: String,
    /// Seed of the first replication.
    pub seed: u64,
    /// Number of replications.
    pub replications: u32,
    /// Seconds that were dropped at the start of each.
    pub warm_up_s: f64,
    /// Seconds that counted in each.
    pub window_s: f64,
    /// Events that happened in the seconds that counted, all replications together.
    pub events: u64,
    /// The classes, in the file's order.
    pub classes: Vec<ClassReport>,
    /// Stations and limits, in the file's order; copies in a group together.
    pub stations: Vec<StationReport>,
    /// Rate limits, in the file's order.
    pub gates: Vec<GateReport>,
    /// Groups of servers, in the file's order.
    pub groups: Vec<GroupReport>,
}

/// A class over all replications.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ClassReport {
    /// Its name.
    pub name: String,
    /// Requests answered per second.
    pub throughput_per_s: Option<Estimate>,
    /// Requests sent for the first time per second.
    pub fresh_per_s: Option<Estimate>,
    /// Response times of those answered, from the first attempt on; absent when nothing was.
    pub response_time_ms: Option<Times>,
    /// Share of the requests that came to an end without an answer.
    pub failed_share: Option<Estimate>,
    /// Attempts per second that found something full.
    pub refused_per_s: Option<Estimate>,
    /// Attempts per second that waited too long in a queue.
    pub abandoned_per_s: Option<Estimate>,
    /// Attempts per second whose client waited too long.
    pub timed_out_per_s: Option<Estimate>,
    /// Attempts per second whose server died.
    pub lost_per_s: Option<Estimate>,
    /// Attempts per second that were not the first.
    pub retries_per_s: Option<Estimate>,
    /// Requests per second that servers finished for nobody.
    pub wasted_per_s: Option<Estimate>,
}

/// Times in milliseconds.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Times {
    /// Mean.
    pub mean: Option<Estimate>,
    /// Median.
    pub p50: Option<Estimate>,
    /// 90th percentile.
    pub p90: Option<Estimate>,
    /// 95th percentile.
    pub p95: Option<Estimate>,
    /// 99th percentile.
    pub p99: Option<Estimate>,
}

/// A station or limit over all replications.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct StationReport {
    /// Its name.
    pub name: String,
    /// `queue`, `processor-sharing`, `delay` or `limit`.
    pub kind: &'static str,
    /// Mean number of its servers, all copies together; absent where there is no limit.
    pub servers: Option<f64>,
    /// Busy share of its servers; absent where there is no limit.
    pub utilization: Option<Estimate>,
    /// Requests that got in per second.
    pub throughput_per_s: Option<Estimate>,
    /// Mean number inside: in service, or holding.
    pub inside: Option<Estimate>,
    /// Mean number in its queue.
    pub waiting: Option<Estimate>,
    /// Mean wait of those that got in, in milliseconds.
    pub wait_ms: Option<Estimate>,
    /// 95th percentile of the same.
    pub wait_p95_ms: Option<Estimate>,
    /// Requests per second that found it full.
    pub refused_per_s: Option<Estimate>,
    /// Requests per second that gave up in its queue.
    pub abandoned_per_s: Option<Estimate>,
    /// Mean number of its servers that were kept by requests which the next station blocked.
    pub blocked: Option<Estimate>,
}

/// A rate limit over all replications.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct GateReport {
    /// Its name.
    pub name: String,
    /// Requests that passed per second.
    pub passed_per_s: Option<Estimate>,
    /// Requests that were refused per second.
    pub refused_per_s: Option<Estimate>,
    /// Mean wait of those that passed, in milliseconds.
    pub wait_ms: Option<Estimate>,
}

/// A group of servers over all replications.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct GroupReport {
    /// Its name.
    pub name: String,
    /// Mean number of servers that got requests.
    pub servers: Option<Estimate>,
    /// Mean number of servers that were paid for: starting and draining ones too.
    pub paid: Option<Estimate>,
    /// Decisions to have more or fewer servers, in each replication.
    pub scaled: Option<Estimate>,
}

impl Report {
    /// The figures of replications, of which there are at least two.
    pub fn of(
        name: &str,
        version: &str,
        network: &Network,
        plan: &Plan,
        totals: &[Totals],
    ) -> Self {
        let over = Over(totals);
        let classes = network.classes.iter().enumerate();
        let centers = network.centers.iter().enumerate();
        let gates = network.gates.iter().enumerate();
        let groups = network.groups.iter().enumerate();
        Self {
            schema: SIMULATION_SCHEMA.to_owned(),
            weir: version.to_owned(),
            network: name.to_owned(),
            seed: plan.seed,
            replications: plan.replications,
            warm_up_s: plan.warm_up_s,
            window_s: plan.seconds,
            events: totals.iter().map(|totals| totals.events).sum(),
            classes: classes
                .map(|(index, class)| over.class(index, &class.name))
                .collect(),
            stations: centers
                .map(|(index, center)| over.station(index, &center.name, center.kind))
                .collect(),
            gates: gates
                .map(|(index, gate)| over.gate(index, &gate.name))
                .collect(),
            groups: groups
                .map(|(index, group)| over.group(index, &group.name))
                .collect(),
        }
    }
}

/// One value of each replication makes a figure.
struct Over<'a>(&'a [Totals]);

impl Over<'_> {
    /// The mean over the replications that have the figure.
    fn mean(&self, of: impl Fn(&Totals) -> Option<f64>) -> Option<Estimate> {
        let values: Vec<f64> = self.0.iter().filter_map(of).collect();
        mean_of_independent(&values, CONFIDENCE).ok()
    }

    fn rate(&self, count: impl Fn(&Totals) -> u64) -> Option<Estimate> {
        self.mean(|totals| Some(count(totals) as f64 / totals.seconds))
    }

    /// A quantile of all values together, with the doubt that the replications' own quantiles show.
    fn quantile(&self, all: f64, each: impl Fn(&Totals) -> Option<f64>) -> Option<Estimate> {
        let spread = self.mean(each)?;
        let half_width = spread.half_width();
        Some(Estimate {
            value: all,
            low: all - half_width,
            high: all + half_width,
            ..spread
        })
    }

    fn class(&self, index: usize, name: &str) -> ClassReport {
        let of = |count: fn(&ClassTotals) -> u64| self.rate(|totals| count(&totals.classes[index]));
        ClassReport {
            name: name.to_owned(),
            throughput_per_s: of(|class| class.answered),
            fresh_per_s: of(|class| class.fresh),
            response_time_ms: self.response_times(index),
            failed_share: self.mean(|totals| {
                let class = &totals.classes[index];
                let ended = class.answered + class.failed;
                (ended > 0).then(|| class.failed as f64 / ended as f64)
            }),
            refused_per_s: of(|class| class.refused),
            abandoned_per_s: of(|class| class.abandoned),
            timed_out_per_s: of(|class| class.timed_out),
            lost_per_s: of(|class| class.lost),
            retries_per_s: of(|class| class.retries),
            wasted_per_s: of(|class| class.wasted),
        }
    }

    fn response_times(&self, index: usize) -> Option<Times> {
        let parts = self
            .0
            .iter()
            .map(|totals| &totals.classes[index].responses_us);
        let all = merged(parts);
        if all.is_empty() {
            return None;
        }
        let quantile = |q: f64| {
            self.quantile(all.value_at_quantile(q) as f64 / 1e3, |totals| {
                totals
                    .response_quantile_s(index, q)
                    .map(|seconds| seconds * 1e3)
            })
        };
        Some(Times {
            mean: self.mean(|totals| totals.response_s(index).map(|seconds| seconds * 1e3)),
            p50: quantile(0.5),
            p90: quantile(0.9),
            p95: quantile(0.95),
            p99: quantile(0.99),
        })
    }

    fn station(&self, index: usize, name: &str, kind: CenterKind) -> StationReport {
        let count =
            |count: fn(&CenterTotals) -> u64| self.rate(|totals| count(&totals.centers[index]));
        let level = |sum: fn(&CenterTotals) -> f64| {
            self.mean(|totals| Some(sum(&totals.centers[index]) / totals.seconds))
        };
        let (kind, queues) = match kind {
            CenterKind::Queue { .. } => ("queue", true),
            CenterKind::Shared { .. } => ("processor-sharing", false),
            CenterKind::Delay => ("delay", false),
            CenterKind::Limit { .. } => ("limit", true),
        };
        let servers = self.mean(|totals| {
            let capacity = totals.centers[index].capacity_s;
            capacity.map(|capacity| capacity / totals.seconds)
        });
        StationReport {
            name: name.to_owned(),
            kind,
            servers: servers.map(|servers| servers.value),
            utilization: self.mean(|totals| totals.utilization(index)),
            throughput_per_s: count(|center| center.entries),
            inside: level(|center| center.inside_s),
            waiting: queues.then(|| level(|center| center.waiting_s)).flatten(),
            wait_ms: queues
                .then(|| self.mean(|totals| totals.wait_s(index).map(|wait| wait * 1e3)))
                .flatten(),
            wait_p95_ms: queues.then(|| self.wait_quantile(index, 0.95)).flatten(),
            refused_per_s: count(|center| center.refused),
            abandoned_per_s: count(|center| center.abandoned),
            blocked: level(|center| center.blocked_s),
        }
    }

    fn wait_quantile(&self, index: usize, quantile: f64) -> Option<Estimate> {
        let entries: u64 = self
            .0
            .iter()
            .map(|totals| totals.centers[index].entries)
            .sum();
        let parts = self.0.iter().map(|totals| &totals.centers[index].waits_us);
        let waits = merged(parts);
        let beyond = (1.0 - quantile) * entries as f64;
        let all = if beyond >= waits.len() as f64 {
            0.0
        } else {
            let among = 1.0 - beyond / waits.len() as f64;
            waits.value_at_quantile(among) as f64 / 1e3
        };
        self.quantile(all, |totals| {
            let wait = totals.wait_quantile_s(index, quantile);
            wait.map(|seconds| seconds * 1e3)
        })
    }

    fn gate(&self, index: usize, name: &str) -> GateReport {
        GateReport {
            name: name.to_owned(),
            passed_per_s: self.rate(|totals| totals.gates[index].passed),
            refused_per_s: self.rate(|totals| totals.gates[index].refused),
            wait_ms: self.mean(|totals| {
                let gate = &totals.gates[index];
                (gate.passed > 0).then(|| gate.wait_s / gate.passed as f64 * 1e3)
            }),
        }
    }

    fn group(&self, index: usize, name: &str) -> GroupReport {
        GroupReport {
            name: name.to_owned(),
            servers: self.mean(|totals| Some(totals.groups[index].up_s / totals.seconds)),
            paid: self.mean(|totals| Some(totals.groups[index].paid_s / totals.seconds)),
            scaled: self.mean(|totals| Some(totals.groups[index].scaled as f64)),
        }
    }
}

fn merged<'a>(parts: impl Iterator<Item = &'a Histogram<u64>>) -> Histogram<u64> {
    let mut sum = response_histogram();
    for part in parts {
        sum.add(part).expect("the sum resizes by itself");
    }
    sum
}
