//! An nginx in words.

use weir_record::WhenFull;

use crate::kinds::{BACKLOG, Kind, StageInWords};

/// An nginx. It has no entry of its own in a study: it is an external target.
pub(crate) const KIND: Kind = Kind {
    name: "nginx",
    what: "nginx, as an external target",
    stages: &[
        StageInWords {
            limit: "backlog of listen",
            set: "by a new start",
            ..BACKLOG
        },
        StageInWords {
            stage: "connections",
            limit: "worker_processes × worker_connections",
            limit_note: "connections to servers behind count too",
            tells: "occupancy (the workers' sockets; where they may not be seen, the port's connections less the accept queue)",
            when_full: WhenFull::Refuse,
            when_full_words: "a kept connection is closed for it; without one the new connection is closed",
            set: "by a command that changes the file and reloads",
        },
    ],
    install: "it is yours",
    start: "it runs already; `weir init` reads its limits from its configuration",
    watch: "the kernel's sockets and /proc; its status page is never asked",
    stop: "it is left running",
    put_back: "the line that a command changed, by the same command with the value as found",
};
