//! A Liberty in words.

use weir_record::WhenFull;

use crate::kinds::{
    BACKLOG, ENDS_WITH_WEIR, Kind, LIVE, POOL, REQUEST_QUEUE, StageInWords, THREADS,
};
use crate::postgresql;

/// A Liberty.
pub(crate) const KIND: Kind = Kind {
    name: "liberty",
    what: "Open Liberty",
    stages: &[
        BACKLOG,
        StageInWords {
            stage: "connections",
            limit: "maxOpenConnections",
            limit_note: "of tcpOptions",
            tells: "established (kernel)",
            when_full: WhenFull::Refuse,
            when_full_words: "is accepted and closed",
            set: "while it runs; the endpoint leaves its port for a moment",
        },
        REQUEST_QUEUE,
        StageInWords {
            limit: "maxThreads",
            limit_note: "of the executor, with coreThreads the same",
            ..THREADS
        },
        StageInWords {
            limit: "maxPoolSize",
            limit_note: "of the data source's connectionManager",
            tells: "occupancy, waiting, wait",
            set: LIVE,
            ..POOL
        },
        postgresql::DATABASE,
    ],
    install: "`weir target install liberty` (or a study that needs it) from Maven into Weir's cache; or a server of an \
              installation of yours (`home`, `server`)",
    start: "Weir starts it on a free port of 127.0.0.1, with its limits in configDropins/overrides/weir-limits.xml",
    watch: "MBeans over the Jolokia agent, which Weir loads (who waits stands in the text of showPoolContents); HotSpot's \
            counters; threads by name; the kernel's sockets",
    stop: ENDS_WITH_WEIR,
    put_back: "the file with the limits is removed, also by `weir target restore`; `weir tune --write` puts the answer into \
               the server.xml of `server`, the old text beside it",
};
