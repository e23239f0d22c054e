//! Where a target's own figures are read, beside what the operating system says of it.
//!
//! All sources are asked before anything else is read and answer meanwhile. One that does not
//! answer in time makes its own signals absent and no others.

pub(crate) mod census;
mod exposition;
pub(crate) mod full_pools;
mod in_dumps;
mod jolokia;
pub mod mbeans;
mod names;
mod perf_data;
mod postgresql;
mod prometheus;
mod queue;
mod request_threads;
mod rule;

use std::collections::BTreeMap;
use std::time::Instant;

use weir_exchange::MetricsUrl;
use weir_jvm::Vm;

use crate::accepted;
use crate::httpd::{Httpd, HttpdSource};
use crate::kept_file::Scratch;
use crate::reading::Reading;

use census::Census;
pub use in_dumps::DumpedPool;
use jolokia::JolokiaSource;
use perf_data::PerfDataSource;
use postgresql::PostgresqlSource;
use prometheus::PrometheusPage;
use request_threads::RequestThreadsSource;

pub use exposition::{Sample as PageSample, samples as page_samples};
pub use jolokia::{MbeanRead, MbeanValue, permissions};
pub use names::{Metric, MetricRow, NameTable};
pub use postgresql::PostgresqlClient;
pub use rule::Rule;

/// For each signal where it came from.
pub type Origins = BTreeMap<String, String>;

/// A place where something of a target is told.
#[derive(Debug, Clone, PartialEq)]
pub enum Source {
    /// A page in Prometheus's text format.
    Prometheus {
        /// Where it is.
        url: MetricsUrl,
        /// What its metrics stand for.
        names: NameTable,
    },
    /// MBeans by Jolokia.
    Jolokia {
        /// Where the agent listens, such as `http://127.0.0.1:8778/jolokia`.
        url: MetricsUrl,
        /// What is read. [`mbeans`] has what is known of common servers.
        reads: Vec<MbeanRead>,
    },
    /// The stage `database` from a PostgreSQL.
    Postgresql(PostgresqlClient),
    /// The file of counters of a HotSpot virtual machine on this machine.
    PerfData {
        /// Its process.
        pid: u32,
    },
    /// What the threads that serve requests do, from thread dumps of a virtual machine on this
    /// machine; they take a thousandth of its time at most.
    RequestThreads {
        /// Its process.
        pid: u32,
        /// The port that the load goes to.
        port: u16,
    },
    /// What thread dumps tell of the stages of a server that does not tell it: how many threads are
    /// taken, and who waits for a connection of its pool.
    SeenInDumps {
        /// Its pool, where it has one and no other.
        pool: Option<DumpedPool>,
    },
    /// Threads by name.
    Census {
        /// The processes whose threads are counted.
        pids: Vec<u32>,
    },
    /// The requests that wait for a thread, derived from the connections of a watched port, for
    /// servers that do not tell them: established − not accepted yet − busy threads − kept
    /// without a request.
    DerivedQueue {
        /// The port that the load goes to.
        port: u16,
    },
    /// The connections that a server has accepted, from the kernel's sockets.
    Accepted {
        /// The port that the load goes to.
        port: u16,
        /// The process on this machine whose workers' sockets all count, those to servers behind
        /// as well.
        workers: Option<u32>,
    },
    /// An Apache httpd with prefork, from its sockets, processes and log.
    Httpd(HttpdSource),
}

impl Source {
    /// A page of metrics with the names that are known.
    pub fn prometheus(url: MetricsUrl) -> Self {
        Self::Prometheus {
            url,
            names: NameTable::default(),
        }
    }

    /// Whether it tells of the target's processes on this machine what [`Self::of_processes`]
    /// would.
    pub fn is_of_processes(&self) -> bool {
        matches!(
            self,
            Self::PerfData { .. }
                | Self::RequestThreads { .. }
                | Self::Census { .. }
                | Self::Httpd(_)
        )
    }

    /// What processes of this machine tell without being asked: the counters of the first that is a
    /// virtual machine, and the threads of all.
    pub fn of_processes(pids: &[u32]) -> Vec<Self> {
        let virtual_machine = pids.iter().find(|pid| matches!(Vm::of(**pid), Ok(Some(_))));
        let perf_data = virtual_machine.map(|&pid| Self::PerfData { pid });
        let census = (!pids.is_empty()).then(|| Self::Census {
            pids: pids.to_vec(),
        });
        perf_data.into_iter().chain(census).collect()
    }
}

/// A source while it is read: each time against the time before.
#[derive(Debug)]
pub(crate) enum SourceReader {
    Prometheus(Box<PrometheusPage>),
    Jolokia(Box<JolokiaSource>),
    Postgresql(Box<PostgresqlSource>),
    PerfData(PerfDataSource),
    RequestThreads(Box<RequestThreadsSource>),
    SeenInDumps(Option<DumpedPool>),
    Census(Census),
    DerivedQueue(u16),
    Accepted(u16, Option<u32>),
    Httpd(Box<Httpd>),
}

/// What reading a source needs beside it.
pub(crate) struct Moment<'s> {
    /// The moment of the reading.
    pub(crate) now: Instant,
    /// Until when an answer may come.
    pub(crate) deadline: Instant,
    pub(crate) scratch: &'s mut Scratch,
}

impl SourceReader {
    pub(crate) fn new(source: Source) -> Self {
        match source {
            Source::Prometheus { url, names } => {
                Self::Prometheus(Box::new(PrometheusPage::new(url, names)))
            }
            Source::Jolokia { url, reads } => {
                Self::Jolokia(Box::new(JolokiaSource::new(url, reads)))
            }
            Source::Postgresql(client) => Self::Postgresql(Box::new(PostgresqlSource::new(client))),
            Source::PerfData { pid } => Self::PerfData(PerfDataSource::new(pid)),
            Source::RequestThreads { pid, port } => {
                Self::RequestThreads(Box::new(RequestThreadsSource::new(pid, port)))
            }
            Source::SeenInDumps { pool } => Self::SeenInDumps(pool),
            Source::Census { pids } => Self::Census(Census::new(pids)),
            Source::DerivedQueue { port } => Self::DerivedQueue(port),
            Source::Accepted { port, workers } => Self::Accepted(port, workers),
            Source::Httpd(httpd) => Self::Httpd(Box::new(Httpd::new(httpd))),
        }
    }

    /// Sends the question, where one is needed. Other things are read while the target answers.
    pub(crate) fn ask(&mut self, now: Instant, deadline: Instant) {
        match self {
            Self::Prometheus(page) => page.ask(deadline),
            Self::Jolokia(jolokia) => jolokia.ask(now, deadline),
            Self::Postgresql(source) => source.ask(),
            Self::RequestThreads(source) => source.ask(now),
            Self::PerfData(_)
            | Self::Census(_)
            | Self::SeenInDumps(_)
            | Self::DerivedQueue(_)
            | Self::Accepted(..)
            | Self::Httpd(_) => {}
        }
    }

    /// Whether it looks at the target's processes itself, so that what it says of them is no other
    /// machine's.
    pub(crate) fn reads_processes(&self) -> bool {
        matches!(
            self,
            Self::PerfData(_) | Self::RequestThreads(_) | Self::Census(_)
        )
    }

    /// Whether it says what others have not said, and is therefore read after them.
    pub(crate) fn is_derived(&self) -> bool {
        matches!(
            self,
            Self::SeenInDumps(_) | Self::DerivedQueue(_) | Self::Accepted(..) | Self::Httpd(_)
        )
    }

    /// Reads the answer to what was asked; without one its signals are absent.
    pub(crate) fn read(&mut self, moment: &mut Moment<'_>, reading: &mut Reading) {
        match self {
            Self::Prometheus(page) => page.read(moment.deadline, moment.now, reading),
            Self::Jolokia(jolokia) => jolokia.read(moment.deadline, moment.now, reading),
            Self::Postgresql(source) => source.read(moment.deadline, moment.now, reading),
            Self::PerfData(file) => file.read(moment.now, reading),
            Self::RequestThreads(source) => source.read(moment.now, reading),
            Self::Census(census) => census.sample(moment.scratch, reading),
            Self::SeenInDumps(pool) => in_dumps::put(pool.as_ref(), reading),
            Self::DerivedQueue(port) => queue::put_derived(*port, reading),
            Self::Accepted(port, workers) => {
                accepted::put_connections(*port, *workers, reading);
            }
            Self::Httpd(httpd) => httpd.read(reading),
        }
    }

    /// A signal that it cannot tell for now, and why.
    pub(crate) fn why_not_read(&self) -> Option<(&'static str, String)> {
        match self {
            Self::RequestThreads(source) => source.why_not_read(),
            _ => None,
        }
    }

    /// Adds where its signals came from, to those that have come from elsewhere.
    pub(crate) fn add_origins(&self, origins: &mut Origins) {
        match self {
            Self::Prometheus(page) => page.add_origins(origins),
            Self::Jolokia(jolokia) => jolokia.add_origins(origins),
            Self::Postgresql(source) => source.add_origins(origins),
            Self::PerfData(file) => file.add_origins(origins),
            Self::RequestThreads(source) => source.add_origins(origins),
            Self::Census(census) => census.add_origins(origins),
            Self::SeenInDumps(pool) => in_dumps::add_origins(pool.as_ref(), origins),
            Self::DerivedQueue(port) => {
                origins
                    .entry(queue::SIGNAL.to_owned())
                    .or_insert_with(|| queue::origin(*port));
            }
            Self::Accepted(port, workers) => accepted::add_origins(*port, *workers, origins),
            Self::Httpd(httpd) => httpd.add_origins(origins),
        }
    }
}
