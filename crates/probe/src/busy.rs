//! How busy a server's CPUs are, for whoever steers by it: a few readings a second of one figure,
//! not a watch of everything.
//!
//! The share is of what the server may use: of the CPUs that it is allowed on, less what the
//! hypervisor has taken from them, and at most the quota of its control group. 1 means that it
//! cannot get more.

mod group;
mod kernel;
mod page;
mod processes;

use std::fmt;
use std::path::PathBuf;
use std::time::Instant;

use weir_exchange::{ExchangeError, MetricsUrl};
use weir_metric::CpuSet;

use group::GroupReader;
use kernel::Kernel;
use page::PageReader;
use processes::ProcessesReader;

/// Where the CPU time of a server is read.
#[derive(Debug, Clone, PartialEq)]
pub enum BusyOf {
    /// Everything that runs on these CPUs of this machine.
    Cpus(CpuSet),
    /// These processes of this machine and all that descend from them; of the CPUs that the named
    /// ones may use.
    Processes(Vec<u32>),
    /// A control group of this machine, version 1 or 2: its directory, or its path within the
    /// hierarchy; of the CPUs of its set.
    ControlGroup(PathBuf),
    /// A page of metrics in Prometheus's text format.
    Page {
        /// Where it is.
        url: MetricsUrl,
        /// How many CPUs the server may use, for a page that does not tell.
        cpus: Option<f64>,
    },
}

impl fmt::Display for BusyOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpus(cpus) => write!(f, "CPUs {cpus}"),
            Self::Processes(pids) => write!(f, "process {}", list(pids)),
            Self::ControlGroup(path) => write!(f, "control group {}", path.display()),
            Self::Page { url, .. } => write!(f, "{url}"),
        }
    }
}

/// Why there is no reading; each message fits after "failed to ...".
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BusyError {
    /// The kernel's own figures cannot be had.
    #[error("read /proc/stat")]
    Kernel,
    /// A process has ended, or was never there.
    #[error("read process {}: it has ended", list(.0))]
    Gone(Vec<u32>),
    /// None of the CPUs is online.
    #[error("read CPUs {0}: none of them is online")]
    NoCpus(CpuSet),
    /// There is no such control group, or it counts no CPU time.
    #[error("read the CPU time of control group {0}: it is not there")]
    NoGroup(PathBuf),
    /// A page of metrics did not come.
    #[error("read {url}")]
    Page {
        /// The page.
        url: MetricsUrl,
        /// What happened.
        #[source]
        source: ExchangeError,
    },
    /// A page of metrics says nothing about CPUs, or not of how many.
    #[error("find the CPU in {url}: {why}")]
    Silent {
        /// The page.
        url: MetricsUrl,
        /// What is missing.
        why: &'static str,
    },
}

fn list(pids: &[u32]) -> String {
    let pids: Vec<String> = pids.iter().map(ToString::to_string).collect();
    pids.join(", ")
}

/// Reads how busy a server's CPUs are.
///
/// ```
/// use std::time::{Duration, Instant};
/// use weir_probe::{BusyOf, BusyReader};
///
/// let mut reader = BusyReader::new(BusyOf::Processes(vec![std::process::id()]));
/// let start = Instant::now();
/// assert_eq!(reader.read(start)?, None, "a share is over the time between two readings");
/// let busy = reader.read(start + Duration::from_millis(200))?.expect("there was one before");
/// assert!(busy >= 0.0);
/// # Ok::<(), weir_probe::BusyError>(())
/// ```
#[derive(Debug)]
pub struct BusyReader {
    from: From,
    cpus: Option<f64>,
}

#[derive(Debug)]
enum From {
    Cpus(CpuSet, Kernel),
    Processes(ProcessesReader),
    Group(GroupReader),
    Page(Box<PageReader>),
}

/// A busy share, and of how many CPUs.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Busy {
    share: f64,
    cpus: f64,
}

impl Busy {
    /// The share of so many CPUs in use; none of nothing.
    fn of(in_use: f64, cpus: f64) -> Option<Self> {
        let share = in_use / cpus;
        (cpus > 0.0 && share.is_finite()).then_some(Self { share, cpus })
    }
}

impl BusyReader {
    /// A reader that has read nothing yet.
    pub fn new(of: BusyOf) -> Self {
        let from = match of {
            BusyOf::Cpus(cpus) => From::Cpus(cpus, Kernel::new()),
            BusyOf::Processes(pids) => From::Processes(ProcessesReader::new(pids)),
            BusyOf::ControlGroup(path) => From::Group(GroupReader::new(path)),
            BusyOf::Page { url, cpus } => From::Page(Box::new(PageReader::new(url, cpus))),
        };
        Self { from, cpus: None }
    }

    /// How many CPUs the last share was of, without what was stolen from them; `None` where that is
    /// not known.
    pub fn cpus(&self) -> Option<f64> {
        self.cpus
    }

    /// The busy share since the last reading, from 0 to 1; `None` in the first, and when no time
    /// has passed. A page of metrics may take most of a second to come; everything else is read
    /// at once.
    ///
    /// After an error the next reading is a first one again.
    pub fn read(&mut self, now: Instant) -> Result<Option<f64>, BusyError> {
        let busy = match &mut self.from {
            From::Cpus(cpus, kernel) => of_cpus(cpus, kernel, now)?,
            From::Processes(processes) => processes.read(now)?,
            From::Group(group) => group.read(now)?,
            From::Page(page) => {
                let share = page.read(now)?;
                self.cpus = page.cpus();
                return Ok(share.map(|share| share.clamp(0.0, 1.0)));
            }
        };
        self.cpus = busy.map(|busy| busy.cpus).or(self.cpus);
        Ok(busy.map(|busy| busy.share.clamp(0.0, 1.0)))
    }
}

fn of_cpus(cpus: &CpuSet, kernel: &mut Kernel, now: Instant) -> Result<Option<Busy>, BusyError> {
    let since = kernel.read(now)?;
    if !kernel.is_online(cpus) {
        return Err(BusyError::NoCpus(cpus.clone()));
    }
    Ok(since.and_then(|since| {
        let share = since.busy_share(cpus)?;
        let cpus = since.available(cpus);
        Some(Busy { share, cpus })
    }))
}

#[cfg(test)]
mod tests;
