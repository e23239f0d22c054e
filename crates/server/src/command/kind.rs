//! A server that a command line starts in words.

use crate::kinds::{BACKLOG, Kind, POOL, STAGE, StageInWords};

const RESTART: &str = "by a new start";

/// A server that a command line starts.
pub(crate) const KIND: Kind = Kind {
    name: "command",
    what: "anything that a command line starts",
    stages: &[
        StageInWords {
            limit_note: "where `{backlog}` stands in `run`, `env` or the template",
            set: RESTART,
            ..BACKLOG
        },
        StageInWords {
            stage: "connections",
            limit_note: "where `{connections}` stands",
            tells: "what its metrics page says",
            when_full_words: "it is taken to wait",
            set: RESTART,
            ..STAGE
        },
        StageInWords {
            stage: "threads",
            limit_note: "where `{threads}` stands",
            tells: "what its metrics page says",
            when_full_words: "it is taken to wait",
            set: RESTART,
            ..STAGE
        },
        StageInWords {
            limit_note: "where `{pool.NAME}` stands",
            tells: "what its metrics page says",
            set: RESTART,
            ..POOL
        },
    ],
    install: "it is yours",
    start: "Weir runs the command line, with the limits filled in, and waits until `ready` answers",
    watch: "pages in Prometheus's text format (`metrics`, `names`); /proc; the kernel's sockets; the counters of a Java \
            virtual machine",
    stop: "the signal that `stop` names (SIGTERM); the kernel sends it when Weir ends without",
    put_back: "a template is filled into a copy, the process ends, with what it started",
};
