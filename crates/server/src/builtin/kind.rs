//! The sample server in words.

use crate::kinds::{
    BACKLOG, CONNECTIONS, Kind, LIVE, POOL, REQUEST_QUEUE, STAGE, StageInWords, THREADS,
};
use weir_record::WhenFull;

/// The sample server.
pub(crate) const KIND: Kind = Kind {
    name: "builtin",
    what: "the sample server that comes with Weir",
    stages: &[
        StageInWords {
            limit: "--backlog",
            set: "by a new start",
            ..BACKLOG
        },
        StageInWords {
            limit: "--max-connections",
            when_full_words: "waits in the backlog, or is closed (`when-full`)",
            ..CONNECTIONS
        },
        StageInWords {
            tells: "waiting, wait",
            when_full_words: "it has no limit",
            ..REQUEST_QUEUE
        },
        StageInWords {
            limit: "--threads",
            ..THREADS
        },
        StageInWords {
            stage: "pool.db",
            limit: "--pool",
            tells: "occupancy, waiting, wait",
            set: LIVE,
            ..POOL
        },
        StageInWords {
            stage: "database",
            tells: "it is in the same process",
            when_full: WhenFull::Block,
            when_full_words: "it has no limit",
            ..STAGE
        },
    ],
    install: "it is in Weir itself",
    start: "Weir starts `weir sample-server` on a free port of 127.0.0.1",
    watch: "its admin endpoint, as Prometheus text; the kernel's sockets",
    stop: "SIGTERM; it also ends when Weir does, however that ends",
    put_back: "nothing is changed but the process, which ends",
};
