//! What the running server itself says of its limits: that counts more than its files.

use std::collections::BTreeMap;

use weir_jvm::{Agent, Vm};
use weir_probe::page_samples;

use super::found::{Found, FoundLimit, FoundValue, SetWay};
use crate::tomcat::live::Live;

/// Metrics of Spring Boot's page and the stages that they tell of.
const METRICS: [(&str, &str); 2] = [
    ("tomcat_threads_config_max_threads", "threads"),
    ("tomcat_connections_config_max_connections", "connections"),
];
/// The limit of a pool, which names the pool.
const POOL_METRIC: &str = "hikaricp_connections_max";

/// Asks over an agent that the virtual machine has already; none is loaded.
pub(super) fn ask_agent(pid: u32, port: u16, found: &mut Found) {
    let agent = Vm::of(pid)
        .ok()
        .flatten()
        .and_then(|vm| Agent::find(&vm).ok()?);
    let Some(agent) = agent else {
        return;
    };
    let read = Live::connect(agent.client(), port).and_then(|mut live| live.read());
    match read {
        Ok(running) => take_over(found, &running, "the running server, over JMX", true),
        Err(error) => found.notes.push(format!(
            "the running server was asked over JMX and did not say its limits ({error}): those here are of its files"
        )),
    }
}

/// What a page of metrics in Prometheus's format says of the limits, by stage.
pub(super) fn on_page(page: &str, port: u16) -> BTreeMap<String, f64> {
    let mut limits = BTreeMap::new();
    for sample in page_samples(page) {
        if sample.name == POOL_METRIC
            && let Some(pool) = sample.label("pool")
        {
            limits.insert(crate::tomcat::stage_of(&pool), sample.value);
        }
        let is_of_port = sample
            .label("name")
            .is_none_or(|connector| connector.trim_matches('"').ends_with(&format!("-{port}")));
        if let Some((_, stage)) = METRICS.iter().find(|(metric, _)| *metric == sample.name)
            && is_of_port
        {
            limits.insert((*stage).to_owned(), sample.value);
        }
    }
    limits
}

/// Puts what the running server says in place of what its files say, and names what differs.
pub(super) fn take_over(
    found: &mut Found,
    running: &BTreeMap<String, f64>,
    who: &str,
    can_be_set: bool,
) {
    for (stage, value) in running {
        let now = if value.is_finite() && *value >= 0.0 {
            FoundValue::Number(value.round() as u64)
        } else {
            FoundValue::Unlimited
        };
        match found.limits.iter_mut().find(|limit| limit.stage == *stage) {
            Some(limit) => {
                // A thread limit that does not act says nothing of what does.
                if limit.value == now || limit.value == FoundValue::Unlimited {
                    continue;
                }
                let written = std::mem::replace(&mut limit.value, now);
                let origin = std::mem::take(&mut limit.origin);
                limit.origin = match &written {
                    FoundValue::NotKnown => format!("{who}; not told by its files: {origin}"),
                    written => format!("{who}; {written}: {origin}"),
                };
                if let FoundValue::Number(_) = written {
                    found.notes.push(format!(
                        "{stage} is {} in the running server and {written} where it is configured ({origin}): the \
                         running one counts",
                        limit.value
                    ));
                }
            }
            None if stage.starts_with("pool.") => found.limits.push(FoundLimit {
                stage: stage.clone(),
                native: "the pool's limit".to_owned(),
                value: now,
                origin: who.to_owned(),
                set: if can_be_set {
                    SetWay::Jmx
                } else {
                    SetWay::Not("where it is configured is not known".to_owned())
                },
            }),
            None => {}
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;
    use crate::recognise::OccupancyWay;
    use crate::recognise::{AgentWay, FoundKind};

    fn limit(stage: &str, value: FoundValue) -> FoundLimit {
        FoundLimit {
            stage: stage.to_owned(),
            native: stage.to_owned(),
            value,
            origin: "/conf/server.xml:3".to_owned(),
            set: SetWay::Jmx,
        }
    }

    #[test]
    fn the_running_value_counts_and_what_differs_is_said() {
        let mut found = Found {
            pid: 1,
            kind: FoundKind::Tomcat,
            name: String::new(),
            limits: vec![
                limit("threads", FoundValue::Number(200)),
                limit("connections", FoundValue::Number(8192)),
                limit("backlog", FoundValue::NotKnown),
                limit("native.minSpareThreads", FoundValue::Unlimited),
            ],
            metrics: None,
            occupancy: OccupancyWay::Told,
            agent: AgentWay::Loads,
            notes: Vec::new(),
        };
        let running = [
            ("threads", 150.0),
            ("connections", 8192.0),
            ("backlog", 100.0),
            ("native.minSpareThreads", 10.0),
            ("pool.db", 20.0),
            ("native.other", 1.0),
        ];
        let running = running.map(|(stage, value)| (stage.to_owned(), value));
        take_over(&mut found, &running.into_iter().collect(), "running", true);
        let limits: Vec<(&str, String, &str)> = found
            .limits
            .iter()
            .map(|of| (&*of.stage, of.value.to_string(), &*of.origin))
            .collect();
        assert_eq!(
            limits,
            [
                (
                    "threads",
                    "150".to_owned(),
                    "running; 200: /conf/server.xml:3"
                ),
                ("connections", "8192".to_owned(), "/conf/server.xml:3"),
                (
                    "backlog",
                    "100".to_owned(),
                    "running; not told by its files: /conf/server.xml:3"
                ),
                (
                    "native.minSpareThreads",
                    "no limit".to_owned(),
                    "/conf/server.xml:3"
                ),
                ("pool.db", "20".to_owned(), "running"),
            ]
        );
        assert_eq!(found.notes.len(), 1);
        let note = &found.notes[0];
        assert!(note.contains("150") && note.contains("200"), "{note}");
    }

    #[test]
    fn a_page_tells_the_limits_of_its_port() {
        let page = "# TYPE tomcat_threads_config_max_threads gauge\n\
                    tomcat_threads_config_max_threads{name=\"http-nio-8081\",} 7.0\n\
                    tomcat_threads_config_max_threads{name=\"http-nio-8080\",} 150.0\n\
                    tomcat_connections_config_max_connections{name=\"http-nio-8080\"} 8192.0\n\
                    hikaricp_connections_max{pool=\"HikariPool-1\",} 12.0\n\
                    hikaricp_connections{pool=\"HikariPool-1\",} 3.0\n";
        let limits = on_page(page, 8080);
        assert_eq!(limits.get("threads"), Some(&150.0));
        assert_eq!(limits.get("connections"), Some(&8192.0));
        let pool = limits
            .keys()
            .find(|stage| stage.starts_with("pool."))
            .unwrap();
        assert_eq!(limits.get(pool), Some(&12.0));
        assert_eq!(limits.len(), 3);
    }
}
