//! What was found of a running server, as plain data.

use std::collections::BTreeMap;

use weir_probe::{DumpedPool, HttpdSource, Source};

use crate::kinds::{Kind, POOLS};
use crate::{external, httpd, liberty, nginx, spring_boot, tomcat};

/// A running server and its limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Its process; of a server with children, their parent.
    pub pid: u32,
    /// Which server it is.
    pub kind: FoundKind,
    /// Its name with the version, where that could be read.
    pub name: String,
    /// Its limits, outermost stage first.
    pub limits: Vec<FoundLimit>,
    /// Its page of metrics: a path on the server, or a URL.
    pub metrics: Option<String>,
    /// How the occupancy of its stages is seen where it tells nobody.
    pub occupancy: OccupancyWay,
    /// Whether Jolokia's agent can be loaded into it.
    pub agent: AgentWay,
    /// What else there is to know, a sentence each.
    pub notes: Vec<String>,
}

/// Which server a process is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FoundKind {
    /// Apache Tomcat by itself.
    Tomcat,
    /// A Spring Boot application.
    SpringBoot,
    /// Open Liberty or WebSphere Liberty.
    Liberty,
    /// Apache httpd.
    Httpd,
    /// nginx.
    Nginx,
    /// Something else.
    Unknown,
}

/// What is said of a limit whose file was changed: it may not be in force.
const SINCE_CHANGED: &str = "; changed since the server started";

impl Found {
    /// Says that a file says something else than when the server started.
    pub(super) fn note_changed(&mut self, file: &str) {
        let is_of_file = |origin: &str| {
            origin
                .split_once(file)
                .is_some_and(|(_, rest)| rest.is_empty() || rest.starts_with([':', ',', ' ', ';']))
        };
        let mut is_used = false;
        for limit in &mut self.limits {
            if is_of_file(&limit.origin) {
                limit.origin.push_str(SINCE_CHANGED);
                is_used = true;
            }
        }
        if is_used {
            self.notes.push(format!(
                "{file} was changed after the server started: what it says is in force only if the server has read it \
                 again since"
            ));
        }
    }

    /// Its limits by stage or `native.WORD`; nothing for one that is unlimited or not known.
    pub fn known_limits(&self) -> BTreeMap<String, Option<f64>> {
        let known = self.limits.iter().filter_map(|limit| {
            let number = match limit.value {
                FoundValue::Number(number) if !limit.origin.ends_with(SINCE_CHANGED) => {
                    Some(number as f64)
                }
                FoundValue::Number(_) | FoundValue::Unlimited | FoundValue::NotKnown => None,
                FoundValue::Written(_) => return None,
            };
            Some((limit.stage.clone(), number))
        });
        known.collect()
    }

    /// What tells the occupancy of its stages from outside, for the load that goes to a port;
    /// its process is given where it runs on this machine.
    pub fn sources(&self, port: u16, pid: Option<u32>) -> Vec<Source> {
        match self.occupancy {
            OccupancyWay::Told => Vec::new(),
            OccupancyWay::Serving => vec![Source::SeenInDumps {
                pool: self.only_pool(),
            }],
            OccupancyWay::Connections => vec![Source::Accepted {
                port,
                workers: pid.filter(|_| self.kind == FoundKind::Nginx),
            }],
            OccupancyWay::Workers => vec![Source::Httpd(HttpdSource {
                parent: pid,
                port,
                error_log: None,
                process_limit: None,
                connections_per_process: None,
            })],
        }
    }

    /// Its pool, where it has one and no other.
    fn only_pool(&self) -> Option<DumpedPool> {
        let of_kind = match self.kind {
            FoundKind::SpringBoot => DumpedPool::Hikari,
            FoundKind::Liberty => DumpedPool::Liberty,
            _ => return None,
        };
        let mut pools = self.limits.iter().map(|limit| &limit.stage);
        let first = pools.find(|stage| stage.starts_with(POOLS))?;
        let others = pools.any(|stage| stage.starts_with(POOLS));
        (!others).then(|| of_kind(first.clone()))
    }

    /// What it is, for people: its kind and name, the name alone where that says the kind.
    pub fn title(&self) -> String {
        let kind = self.kind.title();
        if self.name.starts_with(kind) {
            return self.name.clone();
        }
        format!("{kind}: {}", self.name)
    }
}

impl FoundKind {
    /// What is known of its stages.
    pub(crate) fn words(self) -> &'static Kind {
        match self {
            Self::Tomcat => &tomcat::KIND,
            Self::SpringBoot => &spring_boot::KIND,
            Self::Liberty => &liberty::KIND,
            Self::Httpd => &httpd::KIND,
            Self::Nginx => &nginx::KIND,
            Self::Unknown => &external::KIND,
        }
    }

    /// The name of its kind in studies; `None`: it was not recognised.
    pub(crate) fn name(self) -> Option<&'static str> {
        (self != Self::Unknown).then(|| self.words().name)
    }

    /// What it is, for people.
    pub fn title(self) -> &'static str {
        match self {
            Self::Tomcat => "Apache Tomcat",
            Self::SpringBoot => "Spring Boot",
            Self::Liberty => "Liberty",
            Self::Httpd => "Apache httpd",
            Self::Nginx => "nginx",
            Self::Unknown => "a server that Weir does not know",
        }
    }
}

/// How the occupancy of the stages of a server is seen where it tells nobody: what an accepted
/// connection takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OccupancyWay {
    /// Nothing that could be counted from outside.
    Told,
    /// One of its `threads` while its request is served, as thread dumps see it.
    Serving,
    /// One of its `connections`.
    Connections,
    /// One of its `threads`.
    Workers,
}

/// Whether Jolokia's agent can be loaded into a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentWay {
    /// It is no Java virtual machine.
    NoJvm,
    /// Nothing speaks against it.
    Loads,
    /// It would find nothing there, with the reason; thread dumps can be had.
    Useless(String),
    /// It cannot, with the reason.
    Not(String),
}

impl AgentWay {
    /// Whether its virtual machine can be spoken to.
    pub fn attaches(&self) -> bool {
        matches!(self, Self::Loads | Self::Useless(_))
    }
}

/// One limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundLimit {
    /// As studies name it: `threads`, `pool.db`, `native.minSpareThreads`.
    pub stage: String,
    /// The server's own word.
    pub native: String,
    /// What it is.
    pub value: FoundValue,
    /// Where that stands: file and line, the command line, or that it is a default; why it is not
    /// known.
    pub origin: String,
    /// How it can be set.
    pub set: SetWay,
}

/// The value of a limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FoundValue {
    /// A number.
    Number(u64),
    /// There is no such limit.
    Unlimited,
    /// What is written is no number.
    Written(String),
    /// It cannot be told; the limit's origin says why.
    NotKnown,
}

impl std::fmt::Display for FoundValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => f.pad(&number.to_string()),
            Self::Unlimited => f.pad("no limit"),
            Self::Written(text) => f.pad(text),
            Self::NotKnown => f.pad("not known"),
        }
    }
}

impl FoundValue {
    /// The value that a text is.
    pub(super) fn of(text: &str) -> Self {
        let text = text.trim();
        text.parse()
            .map_or_else(|_| Self::Written(text.to_owned()), Self::Number)
    }

    /// A number of threads that a Tomcat keeps ready: no more than it may have.
    fn at_most(&self, threads: &Self) -> Self {
        match (self, threads) {
            (Self::Number(spare), Self::Number(threads)) => Self::Number(*spare.min(threads)),
            (Self::Number(_), _) => Self::NotKnown,
            _ => self.clone(),
        }
    }
}

/// How many threads a Tomcat keeps ready, as studies name it.
pub(super) const MIN_SPARE: &str = "native.minSpareThreads";

/// A Tomcat keeps no more threads ready than it may have.
pub(super) fn keep_spare_within_threads(limits: &mut [FoundLimit]) {
    let threads = limits.iter().find(|limit| limit.stage == "threads");
    let Some(threads) = threads.map(|limit| limit.value.clone()) else {
        return;
    };
    for spare in limits.iter_mut().filter(|limit| limit.stage == MIN_SPARE) {
        spare.value = spare.value.at_most(&threads);
    }
}

/// How a limit can be set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SetWay {
    /// While the server runs, as an attribute of an `MBean`.
    Jmx,
    /// By a command, in which `{value}` is the limit.
    Command {
        /// The command.
        set: String,
        /// A command that prints it.
        get: Option<String>,
        /// What the command does to the server, and what to know before it is used.
        does: String,
    },
    /// Not by Weir while it runs, with what to do instead.
    Not(String),
}
