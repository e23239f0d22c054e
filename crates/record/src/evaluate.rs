//! From seconds to figures: which seconds of a trial count, and what they say.
//!
//! The rig and the simulator both build a [`Recording`] second by second, ask [`decide`] whether
//! the window is long enough, and turn it into a [`TrialRecord`] by [`evaluate`]. Every figure that
//! a decision can rest on carries an interval; percentiles come from merged histograms.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use hdrhistogram::Histogram;
use weir_stats::{
    Estimate, Signals, StatsError, Support, WarmUp, autocorrelation_time, guard_bins,
    mean_of_series, proportion, quantile_of_counts, warm_up,
};

use crate::histograms::{HistogramError, IntervalHistograms};
use crate::load_second::LoadSecond;
use crate::timeline::{Reading, Timeline};
use crate::treatment::{Treatment, Window};
use crate::trial::{ClassRecord, CpuRecord, Errors, ResponseTime, TrialRecord};

/// Confidence of every interval in a trial record.
pub(crate) const CONFIDENCE: f64 = 0.95;
/// A trial whose CPUs lost more than this share to other virtual machines is disturbed.
pub const STEAL_MAX: f64 = 0.05;
/// A trial on whose CPUs other processes used more than this share is disturbed. The kernel's own
/// work for the network and the disk belongs to no process and stays below it.
const FOREIGN_MAX: f64 = 0.08;
/// The load tool may use at most this share of its CPUs: above it, its own queue would be measured.
const LOAD_CPU_MAX: f64 = 0.8;
/// A virtual user that wakes later than this after its think time is late …
const LATE_US: u64 = 10_000;
/// … and at most this share of them may be.
const LATE_SHARE_MAX: f64 = 0.01;
/// At most this share of the seconds may be missed by the watch.
const MISSED_MAX: f64 = 0.1;
/// A series with gaps still speaks for its signal when this share of its seconds was read.
const READ_MIN: f64 = 0.8;
/// Seconds between two looks at whether the window is long enough.
const LOOK_EVERY: usize = 5;

/// Names under which the load's own figures stand in a timeline.
pub mod names {
    /// Samples answered per second, failed ones included.
    pub const THROUGHPUT: &str = "throughput";
    /// Mean response time of the samples that ended in the second, in seconds.
    pub const RESPONSE_MEAN: &str = "response.mean";
    /// Median response time of the samples that ended in the second, in seconds.
    pub const RESPONSE_P50: &str = "response.p50";
    /// 99th percentile of the response time of the samples that ended in the second, in seconds.
    pub const RESPONSE_P99: &str = "response.p99";
    /// Failed samples per second.
    pub const ERRORS: &str = "errors";
    /// Users running at the end of the second.
    pub const USERS: &str = "users";
    /// Samples in flight at the end of the second.
    pub const IN_FLIGHT: &str = "in-flight";
    /// Connections of the users that are open at the end of the second.
    pub const CONNECTIONS: &str = "load.connections";
    /// Median lateness of the users' wake-ups, in seconds.
    pub const LATENESS_P50: &str = "load.lateness.p50";
    /// 99th percentile of the lateness of the users' wake-ups, in seconds.
    pub const LATENESS_P99: &str = "load.lateness.p99";
    /// Share of the users' wake-ups that were more than 10 ms late.
    pub const LATE_SHARE: &str = "load.late-share";
    /// Cores that the load tool used.
    pub const LOAD_CPU: &str = "load.cpu";
    /// Busy share of the CPUs that the target may use.
    pub const CPU: &str = "cpu";
}

/// What ended in one second, by label.
#[derive(Debug, Clone, Default)]
struct Counts {
    completed: u64,
    failed: u64,
    failed_by_code: BTreeMap<String, u64>,
}

/// Everything a running trial has delivered so far.
#[derive(Debug, Clone, Default)]
pub struct Recording {
    /// The signals by second.
    pub timeline: Timeline,
    /// The response times by second.
    pub histograms: IntervalHistograms,
    counts: Vec<BTreeMap<String, Counts>>,
}

impl Recording {
    /// A recording of nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one second of load.
    pub fn add_load(&mut self, load: &LoadSecond) -> Result<(), HistogramError> {
        self.histograms.add(load)?;
        let at = load.second as usize;
        if self.counts.len() <= at {
            self.counts.resize(at + 1, BTreeMap::new());
        }
        for class in &load.classes {
            let counts = self.counts[at].entry(class.label.clone()).or_default();
            counts.completed += class.completed();
            counts.failed += class.failed;
            for (code, count) in &class.failed_by_code {
                *counts.failed_by_code.entry(code.clone()).or_default() += count;
            }
        }
        self.timeline.add(load.second, load_reading(load));
        Ok(())
    }

    /// Adds what the probe read in one second.
    pub fn add_signals(&mut self, second: u64, reading: Reading) {
        self.timeline.add(second, reading);
    }

    /// Notes that the watch missed a second.
    pub fn miss_signals(&mut self, second: u64) {
        self.timeline.miss(second);
    }

    /// Whole seconds of load that are there.
    pub fn seconds(&self) -> usize {
        self.counts.len()
    }

    fn series(&self, signal: &str, seconds: Range<usize>) -> Option<Vec<f64>> {
        let all = self.timeline.series(signal, seconds);
        let read: Vec<f64> = all.iter().copied().flatten().collect();
        (!all.is_empty() && read.len() as f64 >= READ_MIN * all.len() as f64).then_some(read)
    }

    /// A series without gaps, for tests that compare second by second.
    fn whole_series(&self, signal: &str, seconds: Range<usize>) -> Option<Vec<f64>> {
        self.timeline.series(signal, seconds).into_iter().collect()
    }

    fn counts(&self, seconds: Range<usize>, label: Option<&str>) -> Counts {
        let mut sum = Counts::default();
        let classes = self.counts[seconds]
            .iter()
            .flatten()
            .filter(|(name, _)| label.is_none_or(|label| label == name.as_str()));
        for (_, counts) in classes {
            sum.completed += counts.completed;
            sum.failed += counts.failed;
            for (code, count) in &counts.failed_by_code {
                *sum.failed_by_code.entry(code.clone()).or_default() += count;
            }
        }
        sum
    }
}

/// The load's own figures of one second, under their names in a timeline.
fn load_reading(load: &LoadSecond) -> Reading {
    let mut reading = Reading::new();
    let mut put = |name: &str, value: f64| reading.insert(name.to_owned(), value);
    put(names::THROUGHPUT, load.completed() as f64);
    put(names::ERRORS, load.failed() as f64);
    put(names::USERS, f64::from(load.users));
    put(names::IN_FLIGHT, f64::from(load.in_flight));
    put(names::CONNECTIONS, f64::from(load.sockets));
    let mut response = crate::histograms::response_histogram();
    for class in &load.classes {
        response
            .add(&class.response_us)
            .expect("the sum resizes by itself");
    }
    if !response.is_empty() {
        put(names::RESPONSE_MEAN, response.mean() / 1e6);
        put(
            names::RESPONSE_P50,
            response.value_at_quantile(0.5) as f64 / 1e6,
        );
        put(
            names::RESPONSE_P99,
            response.value_at_quantile(0.99) as f64 / 1e6,
        );
    }
    let late = &load.lateness_us;
    if !late.is_empty() {
        put(
            names::LATENESS_P50,
            late.value_at_quantile(0.5) as f64 / 1e6,
        );
        put(
            names::LATENESS_P99,
            late.value_at_quantile(0.99) as f64 / 1e6,
        );
        put(
            names::LATE_SHARE,
            late.count_between(LATE_US, u64::MAX) as f64 / late.len() as f64,
        );
    }
    reading
}

/// What to do with a trial that is running.
#[derive(Debug, Clone, PartialEq)]
pub enum Decision {
    /// Go on.
    Continue(WindowProgress),
    /// Stop: these seconds are the measured window.
    Done(Range<usize>),
    /// Stop: the window is as long as it may get and not steady.
    NotSteady {
        /// The seconds behind the warm-up that is always dropped.
        window: Range<usize>,
        /// What speaks against them.
        why: String,
    },
}

/// How far a trial is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WindowProgress {
    /// Seconds until the trial ends, if all goes as it does now.
    pub remaining_s: u64,
}

/// Whether a trial has been watched for long enough (methods: MSER-5, batch means, extension until
/// precise). `cycle_s` is the mean time from one request of a user to its next.
pub fn decide(
    recording: &Recording,
    window: &Window,
    cycle_s: f64,
) -> Result<Decision, StatsError> {
    let seconds = recording.seconds();
    let dropped = window.warm_up_min.as_secs_f64().ceil() as usize;
    let shortest = dropped + window.min.as_secs_f64().ceil() as usize;
    let longest = dropped + window.max.as_secs_f64().ceil() as usize;
    let fixed = window.min == window.max;
    let go_on = |until: usize| {
        Ok(Decision::Continue(WindowProgress {
            remaining_s: until.saturating_sub(seconds).max(1) as u64,
        }))
    };
    if seconds < shortest {
        return go_on(shortest);
    }
    if fixed {
        return Ok(Decision::Done(dropped..shortest));
    }
    if seconds < longest && !(seconds - shortest).is_multiple_of(LOOK_EVERY) {
        return go_on(seconds + LOOK_EVERY - (seconds - shortest) % LOOK_EVERY);
    }
    let steady = steady_from(recording, 0..seconds, dropped, cycle_s)?;
    let last_look = seconds >= longest;
    match steady {
        WarmUp::Steady { from } if last_look || precise(recording, from..seconds, window)? => {
            Ok(Decision::Done(from..seconds))
        }
        WarmUp::NotSteady { why } if last_look => Ok(Decision::NotSteady {
            window: dropped..seconds,
            why: why.to_string(),
        }),
        _ => go_on((seconds + LOOK_EVERY).min(longest)),
    }
}

fn steady_from(
    recording: &Recording,
    seconds: Range<usize>,
    dropped: usize,
    cycle_s: f64,
) -> Result<WarmUp, StatsError> {
    let throughput = recording
        .whole_series(names::THROUGHPUT, seconds.clone())
        .unwrap_or_default();
    let response = recording.whole_series(names::RESPONSE_MEAN, seconds.clone());
    let cpu = recording.whole_series(names::CPU, seconds.clone());
    let signals = Signals {
        throughput: &throughput,
        response_time: response.as_deref(),
        cpu: cpu.as_deref(),
    };
    warm_up(&signals, guard_bins(seconds.len(), dropped, cycle_s))
}

fn precise(
    recording: &Recording,
    seconds: Range<usize>,
    window: &Window,
) -> Result<bool, StatsError> {
    // Looking several times makes the last interval look better than it is: Law and Kelton's
    // correction of the wanted relative half-width.
    let wanted = window.precision / (1.0 + window.precision);
    for signal in [names::THROUGHPUT, names::CPU] {
        let Some(series) = recording.series(signal, seconds.clone()) else {
            continue;
        };
        let mean = mean_of_series(&series, CONFIDENCE)?;
        if mean.support == Support::Refused || mean.estimate.relative_half_width() > wanted {
            return Ok(false);
        }
    }
    Ok(true)
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
    /// CPUs of the load tool; `None` when it has no CPUs of its own (a simulated load).
    pub load_cpus: Option<u32>,
    /// How often the trial had been thrown away before this attempt.
    pub repeats: u32,
    /// When the load ended by itself, counted from its start: the last second of the window is then
    /// cut short, and counts for as long as it was. `None`: the window is whole seconds.
    pub ended_after: Option<Duration>,
    /// What the runner itself knows against the trial: not steady, requests that it could not send.
    pub against: Vec<String>,
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
    let mut intervals = BTreeMap::new();
    let throughput = recording.series(names::THROUGHPUT, whole);
    put_mean(
        &mut intervals,
        "throughput_per_s",
        throughput.as_deref(),
        1.0,
    );
    let cpu = recording.series(names::CPU, window.clone());
    put_mean(&mut intervals, "cpu", cpu.as_deref(), 1.0);
    let response = recording.series(names::RESPONSE_MEAN, window.clone());
    put_mean(
        &mut intervals,
        "response_time_ms.mean",
        response.as_deref(),
        1e3,
    );
    put_quantiles(&mut intervals, &histogram, response.as_deref());
    if let Ok(share) = proportion(counts.failed, counts.completed, CONFIDENCE) {
        intervals.insert("errors.share".to_owned(), share);
    }
    let signals = window_means(&recording.timeline, window.clone());
    let mut record = TrialRecord {
        id: context.treatment.id,
        role: context.treatment.role,
        case: context.treatment.case.clone(),
        levels: context.treatment.levels.clone(),
        population: context.population,
        warm_up_s: window.start as f64,
        window_s: length_s,
        repeats: context.repeats,
        valid: true,
        invalid_because: Vec::new(),
        notes: Vec::new(),
        throughput_per_s: counts.completed as f64 / length_s,
        response_time_ms: response_times(&histogram),
        errors: errors(&counts),
        cpu: cpu_record(&signals),
        classes: classes(recording, &window, length_s)?,
        signals,
        intervals,
    };
    judge(&mut record, recording, window, context);
    Ok(record)
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
    let because = &mut record.invalid_because;
    because.extend(context.against.iter().cloned());
    if let (Some(cpus), Some(used)) = (context.load_cpus, record.signals.get(names::LOAD_CPU)) {
        let share = used / f64::from(cpus.max(1));
        if share > LOAD_CPU_MAX {
            because.push(format!(
                "the load tool was the limit: it used {:.0} % of its {cpus} CPU(s), more than {:.0} %; \
                 give it more CPUs or less to send",
                share * 100.0,
                LOAD_CPU_MAX * 100.0
            ));
        }
    }
    if let Some(late) = record
        .signals
        .get(names::LATE_SHARE)
        .filter(|late| **late > LATE_SHARE_MAX)
    {
        because.push(format!(
            "the load tool was late: {:.1} % of its requests started more than {} ms after their time",
            late * 100.0,
            LATE_US / 1000
        ));
    }
    let missed = window
        .clone()
        .filter(|second| recording.timeline.missed(*second))
        .count();
    if missed as f64 > MISSED_MAX * window.len() as f64 {
        because.push(format!(
            "{missed} of {} seconds were missed by the watch",
            window.len()
        ));
    }
    if record.throughput_per_s == 0.0 {
        because.push("nothing was answered in the measured window".to_owned());
    }
    record.valid = because.is_empty();
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
    let signal = |name: &str| record.signals.get(name).copied();
    let own = signal("target.cpu.user")? + signal("target.cpu.system")?;
    let foreign = cpu.total - own / f64::from(target_cpus.max(1));
    (foreign > FOREIGN_MAX).then(|| {
        format!(
            "other processes used {:.1} % of the target's CPUs",
            foreign * 100.0
        )
    })
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

fn put_quantiles(
    intervals: &mut BTreeMap<String, Estimate>,
    histogram: &Histogram<u64>,
    response_by_second: Option<&[f64]>,
) {
    let counts: Vec<(f64, u64)> = histogram
        .iter_recorded()
        .map(|bucket| {
            let value_ms = bucket.value_iterated_to() as f64 / 1e3;
            (value_ms, bucket.count_at_value())
        })
        .collect();
    // Neighbouring responses resemble each other as neighbouring seconds do.
    let correlated = response_by_second
        .filter(|series| series.len() > 2)
        .map_or(1.0, autocorrelation_time);
    let effective = histogram.len() as f64 / correlated;
    for (name, q) in [
        ("p50", 0.5),
        ("p90", 0.9),
        ("p95", 0.95),
        ("p99", 0.99),
        ("p999", 0.999),
    ] {
        if let Ok(estimate) = quantile_of_counts(&counts, effective, q, CONFIDENCE) {
            intervals.insert(format!("response_time_ms.{name}"), estimate);
        }
    }
}

fn response_times(histogram: &Histogram<u64>) -> ResponseTime {
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
    length_s: f64,
) -> Result<BTreeMap<String, ClassRecord>, EvaluateError> {
    let mut classes = BTreeMap::new();
    for label in recording.histograms.labels() {
        let counts = recording.counts(window.clone(), Some(label));
        let histogram = recording.histograms.merged(window.clone(), Some(label))?;
        let class = ClassRecord {
            throughput_per_s: counts.completed as f64 / length_s,
            response_time_ms: response_times(&histogram),
            errors: errors(&counts),
        };
        classes.insert(label.to_owned(), class);
    }
    Ok(classes)
}

/// Means of every signal over a window.
///
/// `STAGE.wait` is the mean over those who got in in a second, so its seconds are weighted by
/// `STAGE.entries`; lateness is weighted by the second's throughput. Everything else is a time
/// average over the seconds that were read.
fn window_means(timeline: &Timeline, window: Range<usize>) -> BTreeMap<String, f64> {
    let weight_of = |signal: &str| {
        signal
            .strip_suffix(".wait")
            .map(|stage| format!("{stage}.entries"))
            .or_else(|| {
                signal
                    .starts_with("load.late")
                    .then(|| names::THROUGHPUT.to_owned())
            })
    };
    let mut means = BTreeMap::new();
    for signal in timeline.signals() {
        let weight_name = weight_of(signal);
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
