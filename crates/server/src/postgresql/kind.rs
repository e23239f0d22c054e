//! PostgreSQL in words.

use weir_record::WhenFull;

use crate::kinds::{Kind, StageInWords};

/// The stage that it is to the servers in front of it.
pub(crate) const DATABASE: StageInWords = StageInWords {
    stage: "database",
    limit: "max_connections",
    limit_note: "those that the application may have, without the three that are kept for Weir",
    tells: "statements that run, waiting for locks, connections without a statement, CPU and memory of its processes",
    when_full: WhenFull::Refuse,
    when_full_words: "an error",
    set: "by `connections` of the study, for all of it",
};

/// PostgreSQL.
pub(crate) const KIND: Kind = Kind {
    name: "postgresql",
    what: "a private PostgreSQL behind tomcat, spring-boot or liberty: `[target.KIND.database]`",
    stages: &[DATABASE],
    install: "the installed one; else `weir target install postgresql` (or a study that needs it) from Debian's packages into \
              Weir's cache",
    start: "Weir makes an empty one (or copies one that it has filled before) in the system's temporary directory and starts \
            it as an ordinary user on a free port of 127.0.0.1",
    watch: "pg_stat_activity and pg_stat_database over a connection that PostgreSQL keeps for it; /proc",
    stop: "SIGINT, which closes its connections; the kernel sends it when Weir ends without",
    put_back: "it is removed with its data, also by `weir target restore`",
};
