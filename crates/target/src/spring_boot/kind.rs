//! A Spring Boot application in words.

use crate::kinds::{BACKLOG, Kind, LIVE, POOL, STAGE, StageInWords};
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
            stage: "connections",
            limit: MAX_CONNECTIONS,
            tells: "occupancy",
            when_full_words: "waits in the backlog",
            set: LIVE,
            ..STAGE
        },
        StageInWords {
            stage: "request-queue",
            tells: "waiting, derived from the connections",
            when_full_words: "it has no limit but the connections",
            ..STAGE
        },
        StageInWords {
            stage: "threads",
            limit: THREADS_MAX,
            tells: "occupancy",
            when_full_words: "waits in the request queue",
            set: LIVE,
            ..STAGE
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
    stop: "SIGTERM; the kernel sends it when Weir ends without",
    put_back: "the settings are those of the process, which ends; `weir tune --write` puts the answer into application.yml or \
               .properties, the old text beside it",
};
