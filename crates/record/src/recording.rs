//! Everything a running trial has delivered, second by second.

use std::collections::BTreeMap;
use std::ops::Range;

use hdrhistogram::Histogram;

use crate::histograms::{HistogramError, IntervalHistograms};
use crate::load_second::{LoadSecond, OpenSecond};
use crate::request_arrivals::RequestArrivals;
use crate::response_histogram::response_histogram;
use crate::timeline::{Reading, Timeline};

/// A virtual user that wakes later than this after its think time is late.
pub(crate) const LATE_US: u64 = 10_000;
/// A series with gaps still speaks for its signal when this share of its seconds was read.
const READ_MIN: f64 = 0.8;

/// Names under which the load's own figures stand in a timeline.
pub mod names {
    /// Samples answered per second, failed ones included.
    pub const THROUGHPUT: &str = "throughput";
    /// Samples answered per second behind the slow beginning of a load of a fixed number of requests.
    pub const THROUGHPUT_STEADY: &str = "throughput.steady";
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
    /// Mean time from the actual start of a sample to its end, in seconds; open workloads only.
    pub const SERVICE_MEAN: &str = "service.mean";
    /// 99th percentile of the same.
    pub const SERVICE_P99: &str = "service.p99";
    /// Median time from the intended to the actual start of a sample, in seconds; open workloads
    /// only.
    pub const START_DELAY_P50: &str = "load.start-delay.p50";
    /// 99th percentile of the same.
    pub const START_DELAY_P99: &str = "load.start-delay.p99";
    /// Median lateness of the users' wake-ups, in seconds.
    pub const LATENESS_P50: &str = "load.lateness.p50";
    /// 99th percentile of the lateness of the users' wake-ups, in seconds.
    pub const LATENESS_P99: &str = "load.lateness.p99";
    /// Samples per second that were answered with a redirect, or by way of one.
    pub const REDIRECTS: &str = "redirects";
    /// Share of the users' wake-ups that were more than 10 ms late.
    pub const LATE_SHARE: &str = "load.late-share";
    /// Cores that the load tool used.
    pub const LOAD_CPU: &str = "load.cpu";
    /// CPUs that the load tool may use; one figure of the trial.
    pub const LOAD_CPUS: &str = "load.cpus";
    /// Threads that send the load and wait for a CPU, on average.
    pub const LOAD_WAIT: &str = "load.run-queue-wait";
    /// How often they were put on a CPU, per second.
    pub const LOAD_SLICES: &str = "load.time-slices";
    /// CPUs that the target may use.
    pub const TARGET_CPUS: &str = "target.cpus";
    /// Share of the second in which a JMeter that sends the load stood still for its garbage collector.
    pub const LOAD_GC_PAUSE: &str = "load.gc.pause";
    /// Pauses of that garbage collector that ended in the second.
    pub const LOAD_GC_COUNT: &str = "load.gc.count";
    /// Mean time from the arrival of a request on its connection until a thread of the server read it, in seconds.
    pub const ARRIVAL_TO_READ: &str = "target.arrival.to-read";
    /// Median of the same.
    pub const ARRIVAL_TO_READ_P50: &str = "target.arrival.to-read.p50";
    /// 99th percentile of the same.
    pub const ARRIVAL_TO_READ_P99: &str = "target.arrival.to-read.p99";
    /// Longest of the same.
    pub const ARRIVAL_TO_READ_MAX: &str = "target.arrival.to-read.max";
    /// Mean part of that time in which the thread for the request was ready and waited for a CPU, in seconds.
    pub const ARRIVAL_CPU_WAIT: &str = "target.arrival.cpu-wait";
    /// Requests that these figures are of.
    pub const ARRIVAL_SAMPLED: &str = "target.arrival.sampled";
    /// Requests that were not read for a second, and are in none of these figures.
    pub const ARRIVAL_UNREAD: &str = "target.arrival.unread";
    /// Busy share of the CPUs that the target may use.
    pub const CPU: &str = "cpu";
}

/// What ended in one second, by label.
#[derive(Debug, Clone, Default)]
pub(crate) struct Counts {
    pub(crate) completed: u64,
    pub(crate) failed: u64,
    pub(crate) failed_by_code: BTreeMap<String, u64>,
}

/// Everything a running trial has delivered so far.
#[derive(Debug, Clone, Default)]
pub struct Recording {
    /// The signals by second.
    pub timeline: Timeline,
    /// The response times by second.
    pub histograms: IntervalHistograms,
    counts: Vec<BTreeMap<String, Counts>>,
    /// Of an open workload, with the lateness of the load tool.
    opens: Vec<Option<(OpenSecond, Histogram<u64>)>>,
    pub(crate) arrivals: RequestArrivals,
    pub(crate) not_read: BTreeMap<String, String>,
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
        if let Some(open) = &load.open {
            self.opens.resize(self.counts.len(), None);
            self.opens[at] = Some((open.clone(), load.lateness_us.clone()));
        }
        self.timeline.add(load.second, load_reading(load));
        Ok(())
    }

    /// Adds what the probe read in one second.
    pub fn add_signals(&mut self, second: u64, reading: Reading) {
        self.timeline.add(second, reading);
    }

    /// Adds the requests that were seen to arrive and to be read in one second, each with the nanoseconds between.
    pub fn add_arrivals(&mut self, second: u64, until_read_ns: impl IntoIterator<Item = u64>) {
        self.arrivals.add(second as usize, until_read_ns);
    }

    /// Notes why a signal cannot be read.
    pub fn note_not_read(&mut self, signal: &str, why: String) {
        self.not_read.insert(signal.to_owned(), why);
    }

    /// Notes that the watch missed a second.
    pub fn miss_signals(&mut self, second: u64) {
        self.timeline.miss(second);
    }

    /// Whole seconds of load that are there.
    pub fn seconds(&self) -> usize {
        self.counts.len()
    }

    /// Start delays, service times and lateness of an open workload over some seconds; `None` when
    /// the load is closed.
    pub(crate) fn open(&self, seconds: Range<usize>) -> Option<(OpenSecond, Histogram<u64>)> {
        let mut sum: Option<(OpenSecond, Histogram<u64>)> = None;
        let seconds = self.opens.iter().take(seconds.end).skip(seconds.start);
        for (open, lateness_us) in seconds.flatten() {
            let new = || (OpenSecond::new(), response_histogram());
            let (sum, late) = sum.get_or_insert_with(new);
            for (sum, part) in [
                (&mut sum.service_us, &open.service_us),
                (&mut sum.start_delay_us, &open.start_delay_us),
                (late, lateness_us),
            ] {
                sum.add(part).expect("the sum resizes by itself");
            }
        }
        sum
    }

    pub(crate) fn series(&self, signal: &str, seconds: Range<usize>) -> Option<Vec<f64>> {
        let all = self.timeline.series(signal, seconds);
        let read: Vec<f64> = all.iter().copied().flatten().collect();
        (!all.is_empty() && read.len() as f64 >= READ_MIN * all.len() as f64).then_some(read)
    }

    /// A series without gaps, for tests that compare second by second.
    pub(crate) fn whole_series(&self, signal: &str, seconds: Range<usize>) -> Option<Vec<f64>> {
        self.timeline.series(signal, seconds).into_iter().collect()
    }

    pub(crate) fn counts(&self, seconds: Range<usize>, label: Option<&str>) -> Counts {
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
    if let Some(redirected) = load.redirected {
        put(names::REDIRECTS, redirected as f64);
    }
    put(names::USERS, f64::from(load.users));
    if let Some(in_flight) = load.in_flight {
        put(names::IN_FLIGHT, f64::from(in_flight));
    }
    if let Some(sockets) = load.sockets {
        put(names::CONNECTIONS, f64::from(sockets));
    }
    let mut response = response_histogram();
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
    if let Some(open) = load
        .open
        .as_ref()
        .filter(|open| !open.service_us.is_empty())
    {
        let seconds = |us: u64| us as f64 / 1e6;
        put(names::SERVICE_MEAN, open.service_us.mean() / 1e6);
        put(
            names::SERVICE_P99,
            seconds(open.service_us.value_at_quantile(0.99)),
        );
        put(
            names::START_DELAY_P50,
            seconds(open.start_delay_us.value_at_quantile(0.5)),
        );
        put(
            names::START_DELAY_P99,
            seconds(open.start_delay_us.value_at_quantile(0.99)),
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
