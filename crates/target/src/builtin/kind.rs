//! The sample server in words.

use crate::kinds::{BACKLOG, Kind, LIVE, POOL, STAGE, StageInWords};
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
            stage: "connections",
            limit: "--max-connections",
            tells: "occupancy",
            when_full_words: "waits in the backlog, or is closed (`when-full`)",
            set: LIVE,
            ..STAGE
        },
        StageInWords {
            stage: "request-queue",
            tells: "waiting, wait",
            when_full_words: "it has no limit",
            ..STAGE
        },
        StageInWords {
            stage: "threads",
            limit: "--threads",
            tells: "occupancy",
            when_full_words: "waits in the request queue",
            set: LIVE,
            ..STAGE
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
