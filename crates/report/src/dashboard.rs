//! The report of a result file: what JMeter's dashboard tells, on one page.
//!
//! A [`Dashboard`] takes the samples of a test one after the other, from a running load or from a
//! file of any size, and holds sums only. From them come the tables that JMeter 5.6.3 makes by the
//! same rules (compared with it figure by figure in the tests), its `statistics.json`
//! ([`Dashboard::statistics_json`]), and a page with tables and charts ([`Dashboard::html`]).
//!
//! Rules of JMeter's that differ from what one may expect: every row counts on its own, so the hops
//! of a redirect are labels beside the sample they belong to; `Total` leaves transactions out,
//! since their parts are in it, except for its Apdex; percentiles are of the last 20,000 samples of
//! a label, by rank p(n + 1) with interpolation; throughput is over the time from the first start
//! to the last end.

use std::collections::BTreeMap;
use std::sync::Arc;

use weir_record::{OTHER_LABELS, SampleRow};

mod apdex;
mod errors;
mod graphs;
mod json;
mod over_time;
mod page;
mod statistics;

pub use apdex::{ApdexThresholds, ThresholdError};

use apdex::Apdex;
use errors::Errors;
use graphs::Graphs;
use statistics::Statistics;

/// Labels that are counted each on their own; all others are one more.
const LABELS_MAX: usize = 2_000;
/// The label of everything together.
const TOTAL: &str = "Total";

/// What a dashboard is made with.
#[derive(Debug, Clone, PartialEq)]
pub struct DashboardSettings {
    /// What stands on top.
    pub title: String,
    /// What was run: the name of the plan or of the result file.
    pub source: String,
    /// Version of Weir.
    pub weir: String,
    /// When response times satisfy.
    pub apdex: ApdexThresholds,
    /// Samples of a label that percentiles are taken of: the last ones.
    pub statistic_window: usize,
    /// Milliseconds in one point of a chart over time; `None`: as many as suit the length.
    pub granularity_ms: Option<u64>,
    /// Rows of the file that could not be read, and why the first could not.
    pub unread: Option<(u64, String)>,
}

impl Default for DashboardSettings {
    fn default() -> Self {
        Self {
            title: "Load test".to_owned(),
            source: String::new(),
            weir: String::new(),
            apdex: ApdexThresholds::default(),
            statistic_window: 20_000,
            granularity_ms: None,
            unread: None,
        }
    }
}

/// The sums of a test.
#[derive(Debug)]
pub struct Dashboard {
    pub(crate) settings: DashboardSettings,
    places: BTreeMap<Arc<str>, usize>,
    labels: Vec<LabelSums>,
    total: LabelSums,
    /// How all samples went, transactions left out.
    went: Apdex,
    graphs: Graphs,
}

/// Everything that is counted of one label.
#[derive(Debug)]
struct LabelSums {
    label: Arc<str>,
    is_transaction: bool,
    statistics: Statistics,
    apdex: Apdex,
    errors: Errors,
}

impl LabelSums {
    fn new(label: Arc<str>, settings: &DashboardSettings) -> Self {
        Self {
            statistics: Statistics::new(settings.statistic_window),
            apdex: Apdex::new(settings.apdex.of(&label)),
            errors: Errors::default(),
            is_transaction: false,
            label,
        }
    }

    fn add(&mut self, row: &SampleRow) {
        self.is_transaction |= row.is_transaction;
        // A transaction in which nothing was sampled has no time to speak of (JMeter).
        if row.is_empty_transaction() {
            return;
        }
        self.statistics.add(row);
        self.apdex.add(row);
        self.errors.add(row);
    }
}

impl Dashboard {
    /// Nothing counted yet.
    pub fn new(settings: DashboardSettings) -> Self {
        Self {
            total: LabelSums::new(TOTAL.into(), &settings),
            went: Apdex::new(settings.apdex.of(TOTAL)),
            graphs: Graphs::new(settings.granularity_ms),
            places: BTreeMap::new(),
            labels: Vec::new(),
            settings,
        }
    }

    /// Counts a sample and all samples inside it.
    pub fn add(&mut self, sample: &SampleRow) {
        for row in sample.depth_first() {
            self.add_row(row);
        }
    }

    /// Says how many rows of a file could not be read, and why the first could not.
    pub fn unread(&mut self, count: u64, why: String) {
        self.settings.unread = Some((count, why));
    }

    /// How many samples were counted, transactions left out.
    pub fn samples(&self) -> u64 {
        self.total.statistics.count
    }

    fn add_row(&mut self, row: &SampleRow) {
        let at = self.place(&row.label);
        self.labels[at].add(row);
        if !row.is_transaction {
            self.total.add(row);
            self.went.add(row);
        } else if !row.is_empty_transaction() {
            // The index of everything has the transactions in it, unlike all other totals (JMeter).
            self.total.apdex.add(row);
        }
        self.graphs.add(row, at);
    }

    fn place(&mut self, label: &Arc<str>) -> usize {
        if let Some(at) = self.places.get(label) {
            return *at;
        }
        if self.labels.len() >= LABELS_MAX && &**label != OTHER_LABELS {
            return self.place(&OTHER_LABELS.into());
        }
        let at = self.labels.len();
        self.places.insert(Arc::clone(label), at);
        self.labels
            .push(LabelSums::new(Arc::clone(label), &self.settings));
        at
    }
}
