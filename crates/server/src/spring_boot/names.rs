//! Spring Boot's words for the limits of its Tomcat and its pool.

use std::collections::BTreeMap;

use weir_record::Stage;

use crate::error::TargetError;
use crate::funnel::check_limit;

use super::KIND;

/// A limit: as studies name it, the property, and the name that it has for a Tomcat.
struct Name {
    study: &'static str,
    property: &'static str,
    tomcat: &'static str,
}

const NAMES: [Name; 7] = [
    name("backlog", ACCEPT_COUNT, "backlog"),
    name("connections", MAX_CONNECTIONS, "connections"),
    name("threads", THREADS_MAX, "threads"),
    name(
        "native.min-spare",
        "server.tomcat.threads.min-spare",
        "native.minSpareThreads",
    ),
    name(
        "native.connection-timeout",
        "server.tomcat.connection-timeout",
        "native.connectionTimeout",
    ),
    name(
        "native.keep-alive-timeout",
        "server.tomcat.keep-alive-timeout",
        "native.keepAliveTimeout",
    ),
    name(
        "native.max-keep-alive-requests",
        "server.tomcat.max-keep-alive-requests",
        "native.maxKeepAliveRequests",
    ),
];

const POOL: &str = "pool.";
pub(super) const ACCEPT_COUNT: &str = "server.tomcat.accept-count";
pub(super) const MAX_CONNECTIONS: &str = "server.tomcat.max-connections";
pub(super) const THREADS_MAX: &str = "server.tomcat.threads.max";
pub(super) const POOL_PROPERTY: &str = "spring.datasource.hikari.maximum-pool-size";

const fn name(study: &'static str, property: &'static str, tomcat: &'static str) -> Name {
    Name {
        study,
        property,
        tomcat,
    }
}

/// Whether a Spring Boot application has these settings, and they can have these values.
pub(super) fn check(limits: &BTreeMap<String, f64>) -> Result<(), TargetError> {
    for (name, limit) in limits {
        if !(NAMES.iter().any(|known| known.study == name) || name.starts_with(POOL)) {
            let known = NAMES.map(|known| known.study).join(", ");
            return Err(TargetError::NoSuchStage {
                stage: name.clone(),
                known: format!("{known}, pool.NAME"),
            });
        }
        check_limit(name, *limit)?;
    }
    Ok(())
}

/// Tomcat's limits under Spring Boot's names.
pub(super) fn of_spring(limits: &BTreeMap<String, f64>) -> BTreeMap<String, f64> {
    renamed(limits, |name| (name.tomcat, name.study))
}

/// Spring Boot's limits under Tomcat's names.
pub(super) fn of_tomcat(limits: &BTreeMap<String, f64>) -> BTreeMap<String, f64> {
    renamed(limits, |name| (name.study, name.tomcat))
}

fn renamed(
    limits: &BTreeMap<String, f64>,
    pair: impl Fn(&Name) -> (&'static str, &'static str),
) -> BTreeMap<String, f64> {
    let rename = |from: &String| {
        let known = NAMES.iter().map(&pair).find(|(known, _)| known == from);
        known.map_or_else(|| from.clone(), |(_, to)| to.to_owned())
    };
    limits
        .iter()
        .map(|(name, limit)| (rename(name), *limit))
        .collect()
}

/// What the application is started with: `--server.tomcat.threads.max=10`.
pub(super) fn arguments(settings: &BTreeMap<String, f64>) -> Vec<String> {
    settings
        .iter()
        .filter_map(|(name, value)| Some(format!("--{}={value}", property(name)?)))
        .collect()
}

/// The property behind the name of a limit.
pub(super) fn property(study: &str) -> Option<&'static str> {
    if study.starts_with(POOL) {
        return Some(POOL_PROPERTY);
    }
    NAMES
        .iter()
        .find(|name| name.study == study)
        .map(|name| name.property)
}

/// The funnel with these limits.
pub(super) fn stages(limits: &BTreeMap<String, f64>) -> Vec<Stage> {
    let stage = |name: &str| {
        let limit = limits.get(name).copied();
        KIND.stage(name, limit, limit.is_some())
    };
    let front = ["backlog", "connections", "request-queue", "threads"];
    let pools = limits.keys().filter(|name| name.starts_with(POOL));
    let pools = pools.map(String::as_str);
    front.into_iter().chain(pools).map(stage).collect()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    fn limits(of: &[(&str, f64)]) -> BTreeMap<String, f64> {
        of.iter()
            .map(|(name, limit)| ((*name).to_owned(), *limit))
            .collect()
    }

    #[test]
    fn names_go_there_and_back() {
        let spring = limits(&[
            ("threads", 10.0),
            ("native.min-spare", 4.0),
            ("native.connection-timeout", 20_000.0),
            ("pool.db", 10.0),
        ]);
        let tomcat = of_tomcat(&spring);
        assert!(tomcat.contains_key("native.minSpareThreads"), "{tomcat:?}");
        assert!(tomcat.contains_key("pool.db"), "{tomcat:?}");
        assert_eq!(of_spring(&tomcat), spring);
    }

    #[test]
    fn settings_become_arguments() {
        // The names of Spring Boot's reference, "Server Properties" and "Data Properties".
        let settings = limits(&[
            ("threads", 10.0),
            ("pool.db", 20.0),
            ("native.min-spare", 4.0),
        ]);
        assert_eq!(
            arguments(&settings),
            [
                "--server.tomcat.threads.min-spare=4",
                "--spring.datasource.hikari.maximum-pool-size=20",
                "--server.tomcat.threads.max=10"
            ]
        );
    }

    #[test]
    fn what_it_does_not_have_is_refused_by_name() {
        check(&limits(&[
            ("backlog", 1.0),
            ("native.connection-timeout", 0.0),
        ]))
        .unwrap();
        let error = check(&limits(&[("native.minSpareThreads", 4.0)])).unwrap_err();
        assert!(error.to_string().contains("native.min-spare"), "{error}");
        check(&limits(&[("connections", 0.0)])).unwrap_err();
    }

    #[test]
    fn stages_come_in_the_order_of_the_funnel() {
        let stages = stages(&limits(&[
            ("threads", 200.0),
            ("backlog", 100.0),
            ("pool.db", 10.0),
        ]));
        let names: Vec<&str> = stages.iter().map(|stage| stage.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "backlog",
                "connections",
                "request-queue",
                "threads",
                "pool.db"
            ]
        );
        assert_eq!(
            stages[3].native.as_deref(),
            Some("server.tomcat.threads.max")
        );
        assert_eq!(stages[4].limit, Some(10.0));
        assert!(stages[4].settable && !stages[2].settable);
    }
}
