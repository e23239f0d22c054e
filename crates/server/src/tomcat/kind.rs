//! A Tomcat in words.

use crate::kinds::{
    BACKLOG, CONNECTIONS, ENDS_WITH_WEIR, Kind, LIVE, POOL, REQUEST_QUEUE, StageInWords, THREADS,
};
use crate::postgresql;

/// A Tomcat.
pub(crate) const KIND: Kind = Kind {
    name: "tomcat",
    what: "Apache Tomcat 10.1 or 11",
    stages: &[
        StageInWords {
            limit: "acceptCount",
            set: "while it runs; the connector leaves its port for a moment",
            ..BACKLOG
        },
        StageInWords {
            limit: "maxConnections",
            ..CONNECTIONS
        },
        REQUEST_QUEUE,
        StageInWords {
            limit: "maxThreads",
            ..THREADS
        },
        StageInWords {
            limit: "maxActive",
            limit_note: "tomcat-jdbc, with maxIdle; maximumPoolSize of HikariCP",
            tells: "occupancy, waiting",
            set: LIVE,
            ..POOL
        },
        postgresql::DATABASE,
    ],
    install: "`weir target install tomcat-11` (or a study that needs it) from Maven into Weir's cache; or an installation \
              of yours (`home`)",
    start: "Weir starts it with a CATALINA_BASE in the run's directory: a copy of its configuration on a free port of 127.0.0.1",
    watch: "MBeans over the Jolokia agent, which Weir loads; HotSpot's counters; threads by name; the kernel's sockets",
    stop: ENDS_WITH_WEIR,
    put_back: "its configuration is a copy, the process ends; `weir tune --write` puts the answer into conf/server.xml and \
               conf/context.xml of `home`, the old text beside each",
};
