//! The kinds of server in words: each funnel with the server's own terms.

/// A kind of server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    /// Its name in a study: `[target.NAME]`.
    pub name: &'static str,
    /// What it is.
    pub what: &'static str,
    /// Its stages, outermost first.
    pub stages: &'static [StageInWords],
    /// Where the figures of its stages are read.
    pub figures: &'static str,
}

/// A stage of a kind's funnel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StageInWords {
    /// Its name in studies and reports.
    pub stage: &'static str,
    /// The server's own word for its limit; empty: it has none.
    pub limit: &'static str,
    /// What of its figures the server tells.
    pub tells: &'static str,
    /// What becomes of who finds it full.
    pub when_full: &'static str,
    /// How the limit is set.
    pub set: &'static str,
}

const LIVE: &str = "while it runs";
const NOT_SET: &str = "not set by Weir";

/// The kinds that there are.
pub const KINDS: [Kind; 3] = [
    Kind {
        name: "builtin",
        what: "the sample server that comes with Weir",
        stages: &[
            StageInWords {
                stage: "backlog",
                limit: "--backlog",
                tells: "accept queue (kernel)",
                when_full: "the kernel drops the connection request",
                set: "by a new start",
            },
            StageInWords {
                stage: "connections",
                limit: "--max-connections",
                tells: "occupancy",
                when_full: "waits in the backlog, or is closed (`when-full`)",
                set: LIVE,
            },
            StageInWords {
                stage: "request-queue",
                limit: "",
                tells: "waiting, wait",
                when_full: "it has no limit",
                set: NOT_SET,
            },
            StageInWords {
                stage: "threads",
                limit: "--threads",
                tells: "occupancy",
                when_full: "waits in the request queue",
                set: LIVE,
            },
            StageInWords {
                stage: "pool.db",
                limit: "--pool",
                tells: "occupancy, waiting, wait",
                when_full: "the thread waits",
                set: LIVE,
            },
        ],
        figures: "its admin endpoint, as Prometheus text",
    },
    Kind {
        name: "tomcat",
        what: "Apache Tomcat 10.1 or 11",
        stages: &[
            StageInWords {
                stage: "backlog",
                limit: "acceptCount",
                tells: "accept queue (kernel)",
                when_full: "the kernel drops the connection request",
                set: "while it runs; the connector leaves its port for a moment",
            },
            StageInWords {
                stage: "connections",
                limit: "maxConnections",
                tells: "occupancy",
                when_full: "waits in the backlog",
                set: LIVE,
            },
            StageInWords {
                stage: "request-queue",
                limit: "",
                tells: "waiting, derived from the connections",
                when_full: "it has no limit but the connections",
                set: NOT_SET,
            },
            StageInWords {
                stage: "threads",
                limit: "maxThreads",
                tells: "occupancy",
                when_full: "waits in the request queue",
                set: LIVE,
            },
            StageInWords {
                stage: "pool.NAME",
                limit: "maxActive (tomcat-jdbc), maximumPoolSize (HikariCP)",
                tells: "occupancy, waiting",
                when_full: "the thread waits",
                set: LIVE,
            },
            StageInWords {
                stage: "database",
                limit: "max_connections",
                tells: "its processes' CPU and memory",
                when_full: "an error",
                set: NOT_SET,
            },
        ],
        figures: "MBeans over the Jolokia agent, which Weir loads; HotSpot's counters; threads by name; the kernel's sockets",
    },
    Kind {
        name: "liberty",
        what: "Open Liberty",
        stages: &[
            StageInWords {
                stage: "backlog",
                limit: "",
                tells: "accept queue (kernel)",
                when_full: "the kernel drops the connection request",
                set: NOT_SET,
            },
            StageInWords {
                stage: "connections",
                limit: "tcpOptions maxOpenConnections",
                tells: "established (kernel)",
                when_full: "is accepted and closed",
                set: "while it runs; the endpoint leaves its port for a moment",
            },
            StageInWords {
                stage: "request-queue",
                limit: "",
                tells: "waiting, derived from the connections",
                when_full: "it has no limit but the connections",
                set: NOT_SET,
            },
            StageInWords {
                stage: "threads",
                limit: "executor maxThreads, with coreThreads the same",
                tells: "occupancy",
                when_full: "waits in the request queue",
                set: LIVE,
            },
            StageInWords {
                stage: "pool.NAME",
                limit: "connectionManager maxPoolSize",
                tells: "occupancy, waiting, wait",
                when_full: "the thread waits",
                set: LIVE,
            },
            StageInWords {
                stage: "database",
                limit: "max_connections",
                tells: "its processes' CPU and memory",
                when_full: "an error",
                set: NOT_SET,
            },
        ],
        figures: "MBeans over the Jolokia agent, which Weir loads (who waits stands in the text of showPoolContents); \
                  HotSpot's counters; threads by name; the kernel's sockets",
    },
];

/// The kind of this name.
pub fn kind_named(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.name == name)
}
