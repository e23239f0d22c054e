//! The charts: what happened over time, and how response times are spread.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use weir_record::SampleRow;

use super::over_time::{OverTime, Sum};
use super::statistics::end_ms;
use super::{Dashboard, LabelSums};
use crate::html::embed::rounded;

/// Points of a chart over time, unless somebody asks for a granularity.
const POINTS: usize = 120;
/// Labels with a line of their own: the most frequent.
const LINES_MAX: usize = 8;
/// Labels whose samples are counted over time.
const LABELS_OVER_TIME: usize = 100;
/// Response codes that are counted over time.
const CODES_MAX: usize = 32;
/// Bars of the distribution.
const BARS: u64 = 40;

/// What the charts are drawn from.
#[derive(Debug)]
pub(super) struct Graphs {
    granularity: bool,
    ended: OverTime<Ended>,
    /// Samples that began.
    began: OverTime<Counted>,
    times: Spread,
    /// Response times by the users that were running: count and sum.
    by_users: BTreeMap<u32, (u64, u64)>,
}

/// Samples that ended in a stretch of time, transactions left out unless said otherwise.
#[derive(Debug, Default)]
struct Ended {
    count: u64,
    failed: u64,
    latency_ms: u64,
    connect_ms: u64,
    received_bytes: u64,
    sent_bytes: u64,
    users_max: u32,
    codes: BTreeMap<Arc<str>, u64>,
    /// Response times of samples that succeeded.
    times: Spread,
    /// Count and sum of response times, by label; transactions too.
    labels: BTreeMap<usize, (u64, u64)>,
}

#[derive(Debug, Default)]
struct Counted(u64);

impl Sum for Counted {
    fn merge(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sum for Ended {
    fn merge(&mut self, other: Self) {
        self.count += other.count;
        self.failed += other.failed;
        self.latency_ms += other.latency_ms;
        self.connect_ms += other.connect_ms;
        self.received_bytes += other.received_bytes;
        self.sent_bytes += other.sent_bytes;
        self.users_max = self.users_max.max(other.users_max);
        for (code, count) in other.codes {
            *self.codes.entry(code).or_default() += count;
        }
        self.times.merge(&other.times);
        for (label, (count, sum)) in other.labels {
            let own = self.labels.entry(label).or_default();
            own.0 += count;
            own.1 += sum;
        }
    }
}

/// Counts of response times in milliseconds: exact below 128, then 64 steps to each doubling, which
/// is finer than any chart.
#[derive(Debug, Default)]
struct Spread {
    counts: BTreeMap<u32, u64>,
    count: u64,
}

impl Spread {
    fn add(&mut self, value_ms: u64) {
        *self.counts.entry(step(value_ms)).or_default() += 1;
        self.count += 1;
    }

    fn merge(&mut self, other: &Self) {
        for (step, count) in &other.counts {
            *self.counts.entry(*step).or_default() += count;
        }
        self.count += other.count;
    }

    /// The value at or below which this share of all lies.
    fn at(&self, share: f64) -> Option<f64> {
        let wanted = (share * self.count as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        for (step, count) in &self.counts {
            seen += count;
            if seen >= wanted {
                return Some(value_of(*step) as f64);
            }
        }
        None
    }
}

const EXACT_BITS: u32 = 7;
const STEPS: u64 = 64;

fn step(value_ms: u64) -> u32 {
    if value_ms < 1 << EXACT_BITS {
        return value_ms as u32;
    }
    let doublings = value_ms.ilog2() - EXACT_BITS;
    let within = (value_ms >> (doublings + 1)) - STEPS;
    (1 << EXACT_BITS) + doublings * STEPS as u32 + within as u32
}

/// The lowest value of a step.
fn value_of(step: u32) -> u64 {
    if step < 1 << EXACT_BITS {
        return step.into();
    }
    let above = u64::from(step) - (1 << EXACT_BITS);
    (above % STEPS + STEPS) << (above / STEPS + 1)
}

impl Graphs {
    pub(super) fn new(granularity_ms: Option<u64>) -> Self {
        let width_ms = granularity_ms.unwrap_or(1_000);
        Self {
            granularity: granularity_ms.is_some(),
            ended: OverTime::new(width_ms),
            began: OverTime::new(width_ms),
            times: Spread::default(),
            by_users: BTreeMap::new(),
        }
    }

    pub(super) fn add(&mut self, row: &SampleRow, label: usize) {
        if row.is_empty_transaction() {
            return;
        }
        let ended = self.ended.at(end_ms(row));
        if label < LABELS_OVER_TIME {
            let own = ended.labels.entry(label).or_default();
            own.0 += 1;
            own.1 += row.elapsed_ms;
        }
        if row.is_transaction {
            return;
        }
        ended.count += 1;
        ended.failed += u64::from(!row.success);
        ended.latency_ms += row.latency_ms;
        ended.connect_ms += row.connect_ms;
        ended.received_bytes += row.received_bytes;
        ended.sent_bytes += row.sent_bytes;
        ended.users_max = ended.users_max.max(row.all_threads);
        if ended.codes.contains_key(&row.response_code) || ended.codes.len() < CODES_MAX {
            *ended
                .codes
                .entry(Arc::clone(&row.response_code))
                .or_default() += 1;
        }
        if row.success {
            ended.times.add(row.elapsed_ms);
            self.times.add(row.elapsed_ms);
        }
        self.began.at(row.timestamp_ms).0 += 1;
        let by_users = self.by_users.entry(row.all_threads).or_default();
        by_users.0 += 1;
        by_users.1 += row.elapsed_ms;
    }
}

/// One chart as the page's script draws it.
#[derive(Debug, Serialize)]
pub(super) struct Chart {
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    pub(super) unit: &'static str,
    /// What the horizontal axis counts.
    axis: Axis,
    x_title: &'static str,
    bars: bool,
    x: Vec<f64>,
    series: Vec<Series>,
    /// What is not drawn.
    pub(super) left_out: String,
}

#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
enum Axis {
    Time,
    Value,
}

#[derive(Debug, Serialize)]
struct Series {
    label: String,
    values: Vec<Option<f64>>,
}

impl Dashboard {
    /// All charts; afterwards the stretches of time are as long as the charts show them.
    pub(super) fn charts(&self) -> Vec<Chart> {
        self.graphs.charts(&self.labels)
    }

    /// Puts stretches of time together until a chart can show them.
    pub(super) fn coarsen(&mut self) {
        if !self.graphs.granularity {
            self.graphs.ended.coarsen(POINTS);
            self.graphs.began.coarsen(POINTS);
        }
    }
}

impl Graphs {
    fn charts(&self, labels: &[LabelSums]) -> Vec<Chart> {
        let (places, left_out) = most_frequent(labels);
        let lines = Lines {
            graphs: self,
            labels,
            places,
            left_out,
        };
        let mut charts = Vec::from(lines.response_times());
        charts.extend(lines.rates());
        charts.push(self.users());
        charts.push(self.bytes());
        charts.extend([self.distribution(), self.curve(), self.against_users()]);
        charts
    }

    fn users(&self) -> Chart {
        let users = |ended: &Ended| (ended.count > 0).then(|| f64::from(ended.users_max));
        let line = self.line("users", &users);
        self.over_time("users", "Users running", "", vec![line])
    }

    fn bytes(&self) -> Chart {
        let per_second = |bytes: u64| Some(bytes as f64 / 1024.0 / self.ended.width_s());
        let lines = vec![
            self.line("received", &|ended| per_second(ended.received_bytes)),
            self.line("sent", &|ended| per_second(ended.sent_bytes)),
        ];
        self.over_time("bytes", "Bytes", "KB per second", lines)
    }

    fn line(&self, label: &str, reading: &dyn Fn(&Ended) -> Option<f64>) -> Series {
        let values = self
            .ended
            .stretches()
            .map(|(_, ended)| reading(ended).map(rounded));
        Series {
            label: label.to_owned(),
            values: values.collect(),
        }
    }

    fn over_time(
        &self,
        id: &'static str,
        title: &'static str,
        unit: &'static str,
        series: Vec<Series>,
    ) -> Chart {
        Chart {
            id,
            title,
            unit,
            axis: Axis::Time,
            x_title: "",
            bars: false,
            x: self.ended.stretches().map(|(at, _)| at as f64).collect(),
            series,
            left_out: String::new(),
        }
    }

    fn hits(&self) -> Chart {
        let width_s = self.began.width_s();
        let values = self.began.stretches();
        Chart {
            x: self.began.stretches().map(|(at, _)| at as f64).collect(),
            ..self.over_time(
                "hits",
                "Samples that began",
                "per second",
                vec![Series {
                    label: "hits".to_owned(),
                    values: values
                        .map(|(_, count)| Some(rounded(count.0 as f64 / width_s)))
                        .collect(),
                }],
            )
        }
    }

    fn codes(&self) -> Vec<Series> {
        let mut counts: BTreeMap<&Arc<str>, u64> = BTreeMap::new();
        for (_, ended) in self.ended.stretches() {
            for (code, count) in &ended.codes {
                *counts.entry(code).or_default() += count;
            }
        }
        let mut codes: Vec<(&Arc<str>, u64)> = counts.into_iter().collect();
        codes.sort_by(|(_, a), (_, b)| b.cmp(a));
        let width_s = self.ended.width_s();
        let line = |(code, _): (&Arc<str>, u64)| {
            let name = if code.is_empty() { "(none)" } else { code };
            self.line(name, &|ended| {
                Some(ended.codes.get(code).copied().unwrap_or(0) as f64 / width_s)
            })
        };
        codes.into_iter().take(LINES_MAX).map(line).collect()
    }

    /// How many samples took how long, up to what 99.9 % took.
    fn distribution(&self) -> Chart {
        let end = self.times.at(0.999).unwrap_or(0.0) as u64 + 1;
        let width = nice(end.div_ceil(BARS));
        let bars = (end.div_ceil(width) as usize).max(1);
        let mut counts = vec![0_u64; bars];
        let mut beyond = 0;
        for (step, count) in &self.times.counts {
            let at = (value_of(*step) / width) as usize;
            match counts.get_mut(at) {
                Some(bar) => *bar += count,
                None => beyond += count,
            }
        }
        Chart {
            id: "distribution",
            title: "Distribution of response times, samples that succeeded",
            unit: "samples",
            axis: Axis::Value,
            x_title: "response time in ms",
            bars: true,
            x: (0..bars as u64)
                .map(|bar| (bar * width) as f64 + width as f64 / 2.0)
                .collect(),
            series: vec![Series {
                label: format!("each bar {width} ms wide"),
                values: counts.iter().map(|count| Some(*count as f64)).collect(),
            }],
            left_out: match beyond {
                0 => String::new(),
                beyond => format!("{beyond} slower samples are not drawn."),
            },
        }
    }

    fn curve(&self) -> Chart {
        let shares: Vec<f64> = (0..=1_000)
            .step_by(5)
            .map(|share| f64::from(share) / 1e3)
            .collect();
        Chart {
            id: "curve",
            title: "Response time percentiles, samples that succeeded",
            unit: "ms",
            axis: Axis::Value,
            x_title: "percentile",
            bars: false,
            x: shares.iter().map(|share| share * 100.0).collect(),
            series: vec![Series {
                label: "all labels".to_owned(),
                values: shares.iter().map(|share| self.times.at(*share)).collect(),
            }],
            left_out: String::new(),
        }
    }

    fn against_users(&self) -> Chart {
        Chart {
            id: "against-users",
            title: "Response time against users",
            unit: "ms, mean",
            axis: Axis::Value,
            x_title: "users running",
            bars: false,
            x: self
                .by_users
                .keys()
                .map(|users| f64::from(*users))
                .collect(),
            series: vec![Series {
                label: "all labels".to_owned(),
                values: self
                    .by_users
                    .values()
                    .map(|(count, sum)| Some(rounded(*sum as f64 / *count as f64)))
                    .collect(),
            }],
            left_out: String::new(),
        }
    }
}

/// The charts that have lines for labels.
struct Lines<'a> {
    graphs: &'a Graphs,
    labels: &'a [LabelSums],
    /// Labels that get a line.
    places: Vec<usize>,
    left_out: String,
}

impl Lines<'_> {
    fn response_times(&self) -> [Chart; 3] {
        let graphs = self.graphs;
        let percentile = |name: &str, share: f64| graphs.line(name, &|ended| ended.times.at(share));
        let percentiles = vec![
            percentile("median", 0.5),
            percentile("p90", 0.9),
            percentile("p95", 0.95),
            percentile("p99", 0.99),
            percentile("max", 1.0),
        ];
        let phases = vec![
            graphs.line("latency", &|ended| ratio(ended.latency_ms, ended.count)),
            graphs.line("connect", &|ended| ratio(ended.connect_ms, ended.count)),
        ];
        [
            self.per_label("times", "Response times", "ms, mean", &|count, sum| {
                ratio(sum, count)
            }),
            graphs.over_time(
                "percentiles",
                "Response time percentiles, samples that succeeded",
                "ms",
                percentiles,
            ),
            graphs.over_time("latency", "Latency and time to connect", "ms, mean", phases),
        ]
    }

    fn rates(&self) -> [Chart; 4] {
        let graphs = self.graphs;
        let rate = |count: u64| Some(count as f64 / graphs.ended.width_s());
        let ended = vec![
            graphs.line("succeeded", &|ended| rate(ended.count - ended.failed)),
            graphs.line("failed", &|ended| rate(ended.failed)),
        ];
        [
            graphs.over_time("transactions", "Samples that ended", "per second", ended),
            graphs.hits(),
            self.per_label(
                "labels",
                "Samples that ended, by label",
                "per second",
                &|count, _| rate(count),
            ),
            graphs.over_time("codes", "Response codes", "per second", graphs.codes()),
        ]
    }

    fn per_label(
        &self,
        id: &'static str,
        title: &'static str,
        unit: &'static str,
        reading: &dyn Fn(u64, u64) -> Option<f64>,
    ) -> Chart {
        let one = |at: &usize| {
            let of = |ended: &Ended| {
                let (count, sum) = ended.labels.get(at).copied().unwrap_or_default();
                reading(count, sum)
            };
            self.graphs.line(&self.labels[*at].label, &of)
        };
        let lines = self.places.iter().map(one).collect();
        Chart {
            left_out: self.left_out.clone(),
            ..self.graphs.over_time(id, title, unit, lines)
        }
    }
}

fn ratio(sum: u64, count: u64) -> Option<f64> {
    (count > 0).then(|| sum as f64 / count as f64)
}

/// 1, 2 or 5 times a power of ten, at least as large.
fn nice(width: u64) -> u64 {
    let mut power = 1;
    loop {
        for factor in [1, 2, 5] {
            if factor * power >= width {
                return factor * power;
            }
        }
        power *= 10;
    }
}

/// Places of the labels that get lines, in the order of the test, and a word on the others.
fn most_frequent(labels: &[LabelSums]) -> (Vec<usize>, String) {
    let mut places: Vec<usize> = (0..labels.len().min(LABELS_OVER_TIME)).collect();
    places.sort_by_key(|at| std::cmp::Reverse(labels[*at].statistics.count));
    places.truncate(LINES_MAX);
    places.sort_unstable();
    let others = labels.len() - places.len();
    let says = match others {
        0 => String::new(),
        1 => "The least frequent label is not drawn; the table has it.".to_owned(),
        others => format!("{others} less frequent labels are not drawn; the table has them."),
    };
    (places, says)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn steps_are_fine_and_in_order(value in 0_u64..u64::MAX / 4) {
            let lowest = value_of(step(value));
            prop_assert!(lowest <= value && value - lowest <= value / 64);
            prop_assert!(step(value + 1) >= step(value));
        }
    }

    #[test]
    fn bars_are_round() {
        assert_eq!([nice(1), nice(3), nice(11), nice(51)], [1, 5, 20, 100]);
    }
}
