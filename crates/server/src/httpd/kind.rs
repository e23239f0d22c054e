//! An httpd in words.

use crate::kinds::{BACKLOG, ENDS_WITH_WEIR, Kind, STAGE, StageInWords};

use super::directives::{LISTEN_BACKLOG, MAX_REQUEST_WORKERS, THREADS};

/// Connections of event.
pub(super) const CONNECTIONS: &str = "connections";

/// An httpd.
pub(crate) const KIND: Kind = Kind {
    name: "httpd",
    what: "Apache httpd 2.4, prefork or event",
    stages: &[
        StageInWords {
            limit: LISTEN_BACKLOG,
            set: "by a new start",
            ..BACKLOG
        },
        StageInWords {
            stage: CONNECTIONS,
            limit: "(AsyncRequestWorkerFactor + 1) × MaxRequestWorkers",
            limit_note: "event only",
            tells: "occupancy (kernel's sockets less the accept queue)",
            when_full_words: "waits in the backlog",
            ..STAGE
        },
        StageInWords {
            stage: THREADS,
            limit: MAX_REQUEST_WORKERS,
            limit_note: "processes of prefork, threads of event",
            tells: "prefork: occupancy (kernel's sockets), how many there are and are started; event: nothing",
            when_full_words: "waits in the backlog (prefork) or among the connections (event)",
            set: "by a graceful restart; by a new start where ServerLimit has to follow",
            ..STAGE
        },
    ],
    install: "the installed program; else `weir target install httpd` (or a study that needs it) from Debian's packages into \
              Weir's cache; or unpacked packages or a build of yours (`home`)",
    start: "Weir starts it in the foreground on a free port of 127.0.0.1, with a configuration of its own or a copy of yours \
            (`config`) in the run's directory",
    watch: "the kernel's sockets, /proc, the error log; the status page is never asked",
    stop: ENDS_WITH_WEIR,
    put_back: "its configuration is a copy, the process ends; `weir tune --write` puts the answer into the files of `config`, \
               the old text beside each",
};
