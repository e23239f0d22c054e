//! A server that runs already in words.

use crate::kinds::{BACKLOG, Kind, POOL, STAGE, StageInWords};

const BY_COMMAND: &str =
    "by the command under `set`, over JMX when that is \"jmx\", or by you when it is \"ask\"";

/// A server that runs already.
pub(crate) const KIND: Kind = Kind {
    name: "external",
    what: "a server that runs already, here or elsewhere",
    stages: &[
        StageInWords {
            limit_note: "`backlog` under `set`",
            set: "by the command under `set`, or by you when that is \"ask\"",
            ..BACKLOG
        },
        StageInWords {
            stage: "connections",
            limit_note: "`connections` under `set`",
            tells: "what its metrics page says",
            when_full_words: "it is taken to wait",
            set: BY_COMMAND,
            ..STAGE
        },
        StageInWords {
            stage: "threads",
            limit_note: "`threads` under `set`",
            tells: "what its metrics page says",
            when_full_words: "it is taken to wait",
            set: BY_COMMAND,
            ..STAGE
        },
        StageInWords {
            limit_note: "`pool.NAME` under `set`",
            tells: "what its metrics page says",
            set: BY_COMMAND,
            ..POOL
        },
    ],
    install: "it is yours",
    start: "it runs already; Weir reads its limits first (`get`, `found`)",
    watch: "pages in Prometheus's text format (`metrics`, `names`); MBeans (`jolokia`); on this machine /proc of its \
            process and the kernel's sockets",
    stop: "it is left running",
    put_back: "every limit in the way that it was set, at the end, at Ctrl-C, and by `weir target restore`; what was asked of \
               you, by asking again",
};
