//! `statistics.json`, with JMeter's keys.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use super::statistics::Figures;
use super::{Dashboard, LabelSums, TOTAL};

/// The figures of one label, as JMeter names them.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Entry<'a> {
    transaction: &'a str,
    sample_count: u64,
    error_count: u64,
    // JMeter keeps this one in single precision.
    #[serde(serialize_with = "single")]
    error_pct: f64,
    #[serde(serialize_with = "number")]
    mean_res_time: f64,
    #[serde(serialize_with = "number")]
    median_res_time: f64,
    #[serde(serialize_with = "number")]
    min_res_time: f64,
    #[serde(serialize_with = "number")]
    max_res_time: f64,
    #[serde(serialize_with = "number")]
    pct1_res_time: f64,
    #[serde(serialize_with = "number")]
    pct2_res_time: f64,
    #[serde(serialize_with = "number")]
    pct3_res_time: f64,
    #[serde(serialize_with = "number")]
    throughput: f64,
    #[serde(rename = "receivedKBytesPerSec", serialize_with = "number")]
    received: f64,
    #[serde(rename = "sentKBytesPerSec", serialize_with = "number")]
    sent: f64,
}

/// A number; `"NaN"` where there is none, as JMeter writes it.
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands over references"
)]
fn number<S: Serializer>(value: &f64, to: S) -> Result<S::Ok, S::Error> {
    if value.is_nan() {
        to.serialize_str("NaN")
    } else {
        to.serialize_f64(*value)
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands over references"
)]
fn single<S: Serializer>(value: &f64, to: S) -> Result<S::Ok, S::Error> {
    if value.is_nan() {
        to.serialize_str("NaN")
    } else {
        to.serialize_f32(*value as f32)
    }
}

impl<'a> Entry<'a> {
    fn of(sums: &'a LabelSums) -> Self {
        let figures: Figures = sums.statistics.figures();
        Self {
            transaction: &sums.label,
            sample_count: figures.sample_count,
            error_count: figures.error_count,
            error_pct: figures.error_percent,
            mean_res_time: figures.mean_ms,
            median_res_time: figures.median_ms,
            min_res_time: figures.min_ms,
            max_res_time: figures.max_ms,
            pct1_res_time: figures.p90_ms,
            pct2_res_time: figures.p95_ms,
            pct3_res_time: figures.p99_ms,
            throughput: figures.throughput_per_s,
            received: figures.received_kb_per_s,
            sent: figures.sent_kb_per_s,
        }
    }
}

impl Dashboard {
    /// The text of `statistics.json`.
    pub fn statistics_json(&self) -> Result<String, serde_json::Error> {
        let mut entries: BTreeMap<&str, Entry<'_>> = self
            .labels
            .iter()
            .map(|sums| (&*sums.label, Entry::of(sums)))
            .collect();
        entries.insert(TOTAL, Entry::of(&self.total));
        serde_json::to_string_pretty(&entries)
    }
}
