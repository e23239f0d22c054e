//! From the seconds of a window to figures: every figure that a decision can rest on carries an
//! interval, percentiles come from merged histograms, and what speaks against the trial is said.

mod gone;

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use hdrhistogram::Histogram;
use weir_metric::{figure, is_stage, names};
use weir_stats::{Estimate, effective_responses, mean_of_series, proportion, quantile_of_counts};

use crate::adjustment::{Adjustment, AdjustmentKind, LABELS_MAX, OTHER_LABELS};
use crate::cpu_use::CpuUse;
use crate::histograms::HistogramError;
use crate::invalid::InvalidReason;
use crate::recording::{Counts, LATE_US, Recording};
use crate::request_threads::Doing;
use crate::timeline::Timeline;
use crate::treatment::Treatment;
use crate::trial::{ClassRecord, CpuRecord, Errors, OpenRecord, ResponseTime, TrialRecord};

/// Confidence of every interval in a trial record.
pub(crate) const CONFIDENCE: f64 = 0.95;
/// A trial whose CPUs lost more than this share to other virtual machines is disturbed.
pub const STEAL_MAX: f64 = 0.05;
/// A trial on whose CPUs other processes used more than this share is disturbed. The kernel's own
/// work for the network and the disk belongs to no process and stays below it.
pub const FOREIGN_MAX: f64 = 0.08;
/// The load generator may use at most this share of its CPUs: above it, its own queue would be
/// measured.
pub const LOAD_CPU_MAX: f64 = 0.8;
/// At most this share of the users' wake-ups may be late.
pub const LATE_SHARE_MAX: f64 = 0.01;
/// At most this share of the seconds may be missed by the watch.
const MISSED_MAX: f64 = 0.1;

/// CPUs on which the load generator may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoadCpus {
    /// All of them.
    pub cpus: u32,
    /// Those that the target may use, too.
    pub of_target: u32,
}

/// What the evaluation has to know beside the recording.
#[derive(Debug, Clone)]
pub struct Context<'a> {
    /// What was asked.
    pub treatment: &'a Treatment,
    /// Virtual users of all thread groups together.
    pub population: u32,
    /// CPUs that the target may use.
    pub target_cpus: u32,
    /// CPUs of the load generator; `None` when it has no CPUs of its own (a simulated load).
    pub load: Option<LoadCpus>,
    /// How often the trial had been thrown away before this attempt.
    pub repeats: u32,
    /// When the load ended by itself, counted from its start: the last second of the window is
    /// then cut short, and counts for as long as it was. `None`: the window is whole seconds.
    pub ended_after: Option<Duration>,
    /// What the runner itself knows against the trial: not steady, requests that it could not
    /// send.
    pub against: Vec<InvalidReason>,
}

/// Turns the measured window of a trial into its record.
pub fn evaluate(
    recording: &Recording,
    window: Range<usize>,
    context: &Context<'_>,
) -> Result<TrialRecord, EvaluateError> {
    let window = window.start.min(recording.seconds())..window.end.min(recording.seconds());
    if window.is_empty() {
        return Err(EvaluateError::NoSeconds);
    }
    let length_s = length_s(&window, context.ended_after);
    // A second that was cut short says nothing about a rate.
    let whole = window.start..window.start + length_s.floor().max(1.0) as usize;
    let counts = recording.counts(window.clone(), None);
    let histogram = recording.histograms.merged(window.clone(), None)?;
    let each_second = recording.series(names::THROUGHPUT, whole.clone());
    let each_second = each_second.as_deref();
    let samples = (&counts, &histogram, each_second);
    let mut intervals = intervals_of_samples(recording, &window, None, samples)?;
    let cpu = recording.series(names::CPU, window.clone());
    put_mean(&mut intervals, "cpu", cpu.as_deref(), 1.0);
    let response = recording.series(names::RESPONSE_MEAN, window.clone());
    put_mean(
        &mut intervals,
        "response_time_ms.mean",
        response.as_deref(),
        1e3,
    );
    let mut signals = window_means(&recording.timeline, window.clone());
    put_cpus(&mut signals, context);
    put_arrivals(&mut signals, recording, &window);
    for name in signals.keys().filter(|name| is_part_of_time(name)) {
        let series = recording.series(name, window.clone());
        put_mean(&mut intervals, name, series.as_deref(), 1.0);
    }
    for name in [names::ARRIVAL_TO_READ, names::ARRIVAL_CPU_WAIT] {
        let arrivals = recording.series(name, window.clone());
        put_mean(&mut intervals, name, arrivals.as_deref(), 1.0);
    }
    let mut record = TrialRecord {
        id: context.treatment.id,
        role: context.treatment.role,
        case: context.treatment.case.clone(),
        block: context.treatment.block,
        levels: context.treatment.levels.clone(),
        population: context.population,
        warm_up_s: window.start as f64,
        window_s: length_s,
        repeats: context.repeats,
        valid: true,
        invalid_because: Vec::new(),
        invalid: Vec::new(),
        notes: Vec::new(),
        adjustments: Vec::new(),
        throughput_per_s: counts.completed as f64 / length_s,
        response_time_ms: response_times(&histogram),
        errors: errors(&counts),
        succeeded_by_code: counts.succeeded_by_code,
        cpu: cpu_record(&signals),
        classes: classes(recording, &window, &whole, length_s)?,
        signal_origins: BTreeMap::new(),
        own_units: BTreeMap::new(),
        not_read: not_read(recording, &signals),
        open: open(recording, window.clone()),
        intervals,
        signals,
    };
    record.adjust(other_labels(recording, &window));
    judge(&mut record, recording, window, context);
    record.note_starved();
    Ok(record)
}

/// Why signals are missing in the window; outside of it they could not be read for a while.
fn not_read(recording: &Recording, read: &BTreeMap<String, f64>) -> BTreeMap<String, String> {
    let why = recording.not_read.iter();
    why.filter(|(signal, _)| !read.contains_key(*signal))
        .map(|(signal, why)| (signal.clone(), why.clone()))
        .collect()
}

/// Samples of the window whose labels are not counted each on their own.
fn other_labels(recording: &Recording, window: &Range<usize>) -> Option<Adjustment> {
    let others = recording.counts(window.clone(), Some(OTHER_LABELS));
    let samples = others.completed;
    Adjustment::counted(AdjustmentKind::OtherLabels, samples, || {
        format!(
            "{samples} sample(s) have one label, \"{OTHER_LABELS}\": there were more than {LABELS_MAX} labels, and only \
             the first are counted each on its own"
        )
    })
}

/// How long requests waited until they were read, over all that were seen; requests are counted,
/// not averaged.
fn put_arrivals(signals: &mut BTreeMap<String, f64>, recording: &Recording, window: &Range<usize>) {
    for name in [names::ARRIVAL_SAMPLED, names::ARRIVAL_UNREAD] {
        if let Some(count) = signals.get_mut(name) {
            let seconds = recording.timeline.series(name, window.clone());
            *count = seconds.into_iter().flatten().sum();
        }
    }
    recording.arrivals.put(window.clone(), signals);
}

/// How many CPUs the figures of CPUs are of, where the load was Weir's own: files of other tools
/// and simulations have none.
fn put_cpus(signals: &mut BTreeMap<String, f64>, context: &Context<'_>) {
    let Some(load) = context.load else {
        return;
    };
    for (name, cpus) in [
        (names::TARGET_CPUS, context.target_cpus),
        (names::LOAD_CPUS, load.cpus),
        (names::LOAD_SHARED_CPUS, load.of_target),
    ] {
        if cpus > 0 {
            signals.entry(name.to_owned()).or_insert(f64::from(cpus));
        }
    }
}

/// How long a window was measured, in seconds.
fn length_s(window: &Range<usize>, ended_after: Option<Duration>) -> f64 {
    let seconds = window.len() as f64;
    ended_after.map_or(seconds, |ended| {
        let measured = ended.as_secs_f64() - window.start as f64;
        measured.clamp(1e-3, seconds)
    })
}

fn judge(
    record: &mut TrialRecord,
    recording: &Recording,
    window: Range<usize>,
    context: &Context<'_>,
) {
    let mut reasons = context.against.clone();
    if let (Some(load), Some(used)) = (context.load, record.signals.get(names::LOAD_CPU)) {
        let cpus = load.cpus;
        let used = used / f64::from(cpus.max(1));
        let at_most = LOAD_CPU_MAX;
        reasons.extend((used > at_most).then_some(InvalidReason::LoadToolCpu {
            used,
            cpus,
            at_most,
        }));
    }
    if let Some(&share) = record.signals.get(names::LATE_SHARE) {
        let at_most = LATE_SHARE_MAX;
        reasons.extend((share > at_most).then_some(InvalidReason::LoadToolLate {
            share,
            at_most,
            late_ms: LATE_US as f64 / 1e3,
        }));
    }
    reasons.extend(gone::nobody_answers(recording, window.clone()));
    let missed = window
        .clone()
        .filter(|second| recording.timeline.missed(*second))
        .count();
    let of = window.len();
    if missed as f64 > MISSED_MAX * of as f64 {
        reasons.push(InvalidReason::SecondsMissed { missed, of });
    }
    if record.throughput_per_s == 0.0 {
        reasons.push(InvalidReason::NothingAnswered);
    }
    for reason in reasons {
        record.invalidate(reason);
    }
    record
        .notes
        .extend(disturbance(record, context.target_cpus));
}

/// Who else used the target's CPUs, when it was too much for the figures to be the target's own:
/// other virtual machines, or other processes of this one. A trial that was disturbed is worth
/// running again; when it stays so, it counts with this note.
pub fn disturbance(record: &TrialRecord, target_cpus: u32) -> Option<String> {
    let cpu = record.cpu?;
    if cpu.steal > STEAL_MAX {
        return Some(format!(
            "other virtual machines took {:.1} % of the target's CPU time (steal)",
            cpu.steal * 100.0
        ));
    }
    let foreign = used_by_others(record, target_cpus)?;
    (foreign > FOREIGN_MAX).then(|| {
        format!(
            "other processes used {:.1} % of the target's CPUs",
            foreign * 100.0
        )
    })
}

/// The share of the target's CPUs that others used: neither the target itself nor the load
/// generator, if it may run there. Under a quota these CPUs are what the quota is worth.
pub fn used_by_others(record: &TrialRecord, target_cpus: u32) -> Option<f64> {
    let signal = |name: &str| record.signals.get(name).copied();
    let cpus = signal(names::TARGET_CPUS).filter(|cpus| *cpus > 0.0);
    let cpus = cpus.unwrap_or(f64::from(target_cpus.max(1)));
    let load_is_there = signal(names::LOAD_SHARED_CPUS).is_some_and(|cpus| cpus > 0.0);
    let used = CpuUse::of(signal, load_is_there)?;
    Some(used.others(record.cpu?.total * cpus) / cpus)
}

fn put_mean(
    intervals: &mut BTreeMap<String, Estimate>,
    name: &str,
    series: Option<&[f64]>,
    factor: f64,
) {
    // Too short a window has no interval; the figure then stands without one.
    if let Some(mean) = series.and_then(|series| mean_of_series(series, CONFIDENCE).ok()) {
        intervals.insert(name.to_owned(), mean.estimate.scaled(factor));
    }
}

/// Whether the mean of a signal is a part of the requests' time: what remains of it is known as
/// well as these are.
fn is_part_of_time(name: &str) -> bool {
    const OF_THREADS: [&str; 4] = [
        "target.cpu.user",
        "target.cpu.system",
        "target.run-queue-wait",
        "target.blocked",
    ];
    let waited_for = name.strip_suffix(".waiting");
    OF_THREADS.contains(&name)
        || name == names::CONNECTING
        || Doing::is_counted_by(name)
        || waited_for.is_some_and(is_stage)
}

/// Labels whose figures have intervals: they are made second by second.
const CLASSES_WITH_INTERVALS: usize = 50;
/// The quantiles that have intervals.
const QUANTILES: [(&str, f64); 5] = [
    ("p50", 0.5),
    ("p90", 0.9),
    ("p95", 0.95),
    ("p99", 0.99),
    ("p999", 0.999),
];

/// The intervals of what is known of samples, of a label or of all: of their rate, by how many
/// ended in each second, of their response times and of the share that failed.
fn intervals_of_samples(
    recording: &Recording,
    window: &Range<usize>,
    label: Option<&str>,
    (counts, histogram, each_second): (&Counts, &Histogram<u64>, Option<&[f64]>),
) -> Result<BTreeMap<String, Estimate>, HistogramError> {
    let mut intervals = BTreeMap::new();
    put_mean(&mut intervals, "throughput_per_s", each_second, 1.0);
    put_quantiles(&mut intervals, recording, window.clone(), label, histogram)?;
    if let Ok(share) = proportion(counts.failed, counts.completed, CONFIDENCE) {
        intervals.insert("errors.share".to_owned(), share);
    }
    Ok(intervals)
}

fn put_quantiles(
    intervals: &mut BTreeMap<String, Estimate>,
    recording: &Recording,
    window: Range<usize>,
    label: Option<&str>,
    histogram: &Histogram<u64>,
) -> Result<(), HistogramError> {
    let counts: Vec<(f64, u64)> = histogram
        .iter_recorded()
        .map(|bucket| {
            let value_ms = bucket.value_iterated_to() as f64 / 1e3;
            (value_ms, bucket.count_at_value())
        })
        .collect();
    // Responses of one second resemble each other, having waited in the same queue.
    let values = QUANTILES.map(|(_, q)| histogram.value_at_quantile(q));
    let shares = recording.histograms.shares_below(window, label, &values)?;
    for ((name, q), share) in QUANTILES.iter().zip(shares) {
        let effective = effective_responses(&share);
        if let Ok(estimate) = quantile_of_counts(&counts, effective, *q, CONFIDENCE) {
            intervals.insert(format!("response_time_ms.{name}"), estimate);
        }
    }
    Ok(())
}

pub(crate) fn response_times(histogram: &Histogram<u64>) -> ResponseTime {
    if histogram.is_empty() {
        return ResponseTime::default();
    }
    let quantile = |q| histogram.value_at_quantile(q) as f64 / 1e3;
    ResponseTime {
        mean: histogram.mean() / 1e3,
        p50: quantile(0.5),
        p90: quantile(0.9),
        p95: quantile(0.95),
        p99: quantile(0.99),
        p999: quantile(0.999),
        max: histogram.max() as f64 / 1e3,
    }
}

/// The figures of an open workload.
fn open(recording: &Recording, window: Range<usize>) -> Option<OpenRecord> {
    let (open, lateness_us) = recording.open(window)?;
    Some(OpenRecord {
        samples: open.service_us.len(),
        due: None,
        service_time_ms: response_times(&open.service_us),
        start_delay_ms: response_times(&open.start_delay_us),
        lateness_ms: response_times(&lateness_us),
        not_started: 0,
        skipped: 0,
    })
}

fn errors(counts: &Counts) -> Errors {
    Errors {
        count: counts.failed,
        share: if counts.completed == 0 {
            0.0
        } else {
            counts.failed as f64 / counts.completed as f64
        },
        by_code: counts.failed_by_code.clone(),
    }
}

fn cpu_record(signals: &BTreeMap<String, f64>) -> Option<CpuRecord> {
    let read = |name: &str| signals.get(name).copied();
    Some(CpuRecord {
        user: read("cpu.user")?,
        system: read("cpu.system")?,
        steal: read("cpu.steal")?,
        total: read(names::CPU)?,
    })
}

fn classes(
    recording: &Recording,
    window: &Range<usize>,
    whole: &Range<usize>,
    length_s: f64,
) -> Result<BTreeMap<String, ClassRecord>, EvaluateError> {
    let mut classes = BTreeMap::new();
    for label in recording.histograms.labels() {
        let counts = recording.counts(window.clone(), Some(label));
        let histogram = recording.histograms.merged(window.clone(), Some(label))?;
        let mut class = ClassRecord {
            throughput_per_s: counts.completed as f64 / length_s,
            response_time_ms: response_times(&histogram),
            errors: errors(&counts),
            intervals: BTreeMap::new(),
        };
        if classes.len() < CLASSES_WITH_INTERVALS {
            let each_second = completed_each_second(recording, whole.clone(), label);
            let samples = (&counts, &histogram, Some(each_second.as_slice()));
            class.intervals = intervals_of_samples(recording, window, Some(label), samples)?;
        }
        classes.insert(label.to_owned(), class);
    }
    Ok(classes)
}

/// How many samples of a label ended in each second of which the load told.
fn completed_each_second(recording: &Recording, seconds: Range<usize>, label: &str) -> Vec<f64> {
    let told = seconds.filter(|&second| {
        let row = recording.timeline.second(second);
        row.is_some_and(|row| row.contains_key(names::THROUGHPUT))
    });
    let completed = told.map(|second| recording.counts(second..second + 1, Some(label)).completed);
    completed.map(|count| count as f64).collect()
}

/// Means of every signal over a window: over its time, or over what happened in it, as the
/// catalogue says of each.
fn window_means(timeline: &Timeline, window: Range<usize>) -> BTreeMap<String, f64> {
    let mut means = BTreeMap::new();
    for signal in timeline.signals() {
        let weight_name = figure(signal).and_then(|known| known.weighted_by(signal));
        let (mut sum, mut weights) = (0.0, 0.0);
        for row in window.clone().filter_map(|second| timeline.second(second)) {
            let Some(value) = row.get(signal) else {
                continue;
            };
            let weight = weight_name
                .as_ref()
                .map_or(1.0, |name| row.get(name).copied().unwrap_or(1.0));
            sum += value * weight;
            weights += weight;
        }
        if weights > 0.0 {
            means.insert(signal.to_owned(), sum / weights);
        }
    }
    means
}

/// Why a recording gives no record.
#[derive(Debug, thiserror::Error)]
pub enum EvaluateError {
    /// No second was measured.
    #[error("evaluate a trial of which no second was measured")]
    NoSeconds,
    /// The stored response times do not read.
    #[error("evaluate the response times")]
    Histogram(#[from] HistogramError),
}

#[cfg(test)]
mod tests;
