//! A Spring Boot application in words.

use crate::kinds::{
    BACKLOG, CONNECTIONS, ENDS_WITH_WEIR, Kind, LIVE, POOL, REQUEST_QUEUE, StageInWords, THREADS,
};
use crate::postgresql;

use super::names::{ACCEPT_COUNT, MAX_CONNECTIONS, POOL_PROPERTY, THREADS_MAX};

/// A Spring Boot application.
pub(crate) const KIND: Kind = Kind {
    name: "spring-boot",
    what: "a Spring Boot application with Tomcat and HikariCP in it",
    stages: &[
        StageInWords {
            limit: ACCEPT_COUNT,
            set: "while it runs; the connector leaves its port for a moment",
            ..BACKLOG
        },
        StageInWords {
            limit: MAX_CONNECTIONS,
            ..CONNECTIONS
        },
        REQUEST_QUEUE,
        StageInWords {
            limit: THREADS_MAX,
            ..THREADS
        },
        StageInWords {
            limit: POOL_PROPERTY,
            tells: "occupancy, waiting, wait",
            set: LIVE,
            ..POOL
        },
        postgresql::DATABASE,
    ],
    install: "a jar of yours (`app`); Weir's bulletin board is built with Maven when a study first needs it",
    start: "Weir starts the jar on a free port of 127.0.0.1, with its settings as --name=value",
    watch: "Micrometer's page on a management port of its own (`actuator`), else MBeans over the Jolokia agent, which Weir \
            loads; HotSpot's counters; threads by name; the kernel's sockets",
    stop: ENDS_WITH_WEIR,
    put_back: "the settings are those of the process, which ends; `weir tune --write` puts the answer into application.yml or \
               .properties, the old text beside it",
};
