//! Everything a running trial has delivered, second by second.

use std::collections::BTreeMap;
use std::ops::Range;

use hdrhistogram::Histogram;
use weir_metric::names;

use crate::histograms::{HistogramError, IntervalHistograms};
use crate::load_second::{LoadSecond, OpenSecond};
use crate::request_arrivals::RequestArrivals;
use crate::response_histogram::response_histogram;
use crate::timeline::{Reading, Timeline};

/// A virtual user that wakes later than this after its think time is late.
pub(crate) const LATE_US: u64 = 10_000;
/// A series with gaps still speaks for its signal when this share of its seconds was read.
const READ_MIN: f64 = 0.8;

/// What ended in one second, by label.
#[derive(Debug, Clone, Default)]
pub(crate) struct Counts {
    pub(crate) completed: u64,
    pub(crate) failed: u64,
    pub(crate) succeeded_by_code: BTreeMap<String, u64>,
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
    /// Of an open workload, with the lateness of the load generator.
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
            add_codes(&mut counts.succeeded_by_code, &class.succeeded_by_code);
            add_codes(&mut counts.failed_by_code, &class.failed_by_code);
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

    /// Adds the requests that were seen to arrive and to be read in one second, each with the
    /// nanoseconds between.
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
            add_codes(&mut sum.succeeded_by_code, &counts.succeeded_by_code);
            add_codes(&mut sum.failed_by_code, &counts.failed_by_code);
        }
        sum
    }
}

fn add_codes(sum: &mut BTreeMap<String, u64>, part: &BTreeMap<String, u64>) {
    for (code, count) in part {
        *sum.entry(code.clone()).or_default() += count;
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
    if let Some(resent) = load.resent {
        put(names::RESENDS, resent as f64);
    }
    if let Some(connects) = load.connects {
        put(names::CONNECTING, connects.took_s);
        if let Some(made) = connects.made {
            put(names::CONNECTED, made as f64);
        }
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
