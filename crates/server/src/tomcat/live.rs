//! A Tomcat's limits over JMX, while it runs.
//!
//! What the writes do was seen on Tomcat 11: `maxThreads` and `minSpareThreads` act within a second
//! and lose no connection; `maxConnections` and `connectionTimeout` act on new connections;
//! `acceptCount` is only the attribute until the connector binds its port anew (`stop`, `unbind`,
//! `bind`, `start`; `destroy` would take the connector's `MBean` away for good). A `maxThreads`
//! below `minSpareThreads` is refused by the thread pool, but the attribute then reads as if it had
//! been taken, so the order of the two writes matters.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use weir_jvm::{Jolokia, ObjectName, Permission};
use weir_probe::{MbeanRead, mbeans};

use crate::error::TargetError;
use crate::funnel::check_limit;
use crate::journal::LiveSetting;

/// How long a pool may take to close connections above a new, smaller limit.
const SHRINK_PATIENCE: Duration = Duration::from_secs(10);
/// How often that is looked at.
const SHRINK_LOOK: Duration = Duration::from_millis(50);

const THREADS: &str = "threads";
const MIN_SPARE: &str = "native.minSpareThreads";
const BACKLOG: &str = "backlog";
const CONNECTION_TIMEOUT: &str = "native.connectionTimeout";
const KEEP_ALIVE_TIMEOUT: &str = "native.keepAliveTimeout";
const POOL: &str = "pool.";

const CONNECTORS: &str = "*:type=ThreadPool,*";
/// What names the executor whose threads a connector takes.
const EXECUTOR_OF_CONNECTOR: (&str, &str) = ("*:type=Connector,*", "executorName");
/// Threads that connectors share. Such a connector's own `maxThreads` reads as -1, and setting it
/// does nothing.
const EXECUTORS: &str = "*:type=Executor,*";
pub(super) const OF_THREADS: [&str; 2] = ["minSpareThreads", "maxThreads"];
const NAMES_OF_THREADS: [&str; 2] = [MIN_SPARE, THREADS];
const TOMCAT_JDBC_POOLS: &str = "tomcat.jdbc:type=ConnectionPool,*";
const HIKARI_POOLS: &str = "com.zaxxer.hikari:type=Pool (*)";
const HIKARI_CONFIGURATIONS: &str = "com.zaxxer.hikari:type=PoolConfig (*)";
const TOMCAT_JDBC_LIMITS: [&str; 2] = ["MaxActive", "MaxIdle"];
const HIKARI_LIMITS: [&str; 1] = ["MaximumPoolSize"];
/// Attribute with the number of connections, and the operation that closes idle ones.
const TOMCAT_JDBC_SHRINK: (&str, &str) = ("Size", "purge");
const HIKARI_SHRINK: (&str, &str) = ("TotalConnections", "softEvictConnections");
const BIND_ON_INIT: &str = "bindOnInit";
/// How the port is bound anew.
const BIND_ANEW: [&str; 4] = ["stop", "unbind", "bind", "start"];
const SERVER_INFO: &str = "serverInfo";

/// What an agent has to permit for all this.
pub(crate) fn permissions() -> Result<Vec<Permission>, TargetError> {
    let permission = |name: &str, reads: &[&str], writes: &[&str], calls: &[&str]| {
        let own = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        Ok(Permission {
            name: name.parse()?,
            reads: own(reads),
            writes: own(writes),
            calls: own(calls),
        })
    };
    let attributes = SETTINGS.each_ref().map(|setting| setting.attribute);
    [
        permission(CONNECTORS, &[BIND_ON_INIT], &attributes, &BIND_ANEW),
        permission(
            EXECUTOR_OF_CONNECTOR.0,
            &[EXECUTOR_OF_CONNECTOR.1],
            &[],
            &[],
        ),
        permission(EXECUTORS, &[], &OF_THREADS, &[]),
        permission("*:type=Server", &[SERVER_INFO], &[], &[]),
        permission(
            TOMCAT_JDBC_POOLS,
            &[TOMCAT_JDBC_SHRINK.0],
            &TOMCAT_JDBC_LIMITS,
            &[TOMCAT_JDBC_SHRINK.1],
        ),
        permission(HIKARI_POOLS, &[HIKARI_SHRINK.0], &[], &[HIKARI_SHRINK.1]),
        permission(HIKARI_CONFIGURATIONS, &[], &HIKARI_LIMITS, &[]),
    ]
    .into_iter()
    .collect()
}

/// A limit of the connector.
pub(crate) struct Setting {
    /// As studies name it.
    pub(crate) name: &'static str,
    /// The attribute, in `server.xml` and over JMX.
    pub(crate) attribute: &'static str,
}

/// The connector's limits, in the order in which they are set.
pub(crate) static SETTINGS: [Setting; 7] = [
    setting(MIN_SPARE, "minSpareThreads"),
    setting(THREADS, "maxThreads"),
    setting("connections", "maxConnections"),
    setting(CONNECTION_TIMEOUT, "connectionTimeout"),
    setting(KEEP_ALIVE_TIMEOUT, "keepAliveTimeout"),
    setting("native.maxKeepAliveRequests", "maxKeepAliveRequests"),
    setting(BACKLOG, "acceptCount"),
];

const fn setting(name: &'static str, attribute: &'static str) -> Setting {
    Setting { name, attribute }
}

/// Whether a Tomcat has these settings, and they can have these values.
pub(crate) fn check(limits: &BTreeMap<String, f64>) -> Result<(), TargetError> {
    for (name, limit) in limits {
        let is_known = SETTINGS.iter().any(|setting| setting.name == name);
        if !is_known && !name.starts_with(POOL) {
            let known = SETTINGS.each_ref().map(|setting| setting.name).join(", ");
            return Err(TargetError::NoSuchStage {
                stage: name.clone(),
                known: format!("{known}, pool.NAME"),
            });
        }
        check_limit(name, *limit)?;
    }
    Ok(())
}

/// Where a pool's limit is, and how it lets go of connections above it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PoolBean {
    /// As studies name it: `pool.db`.
    pub(crate) stage: String,
    /// Whose `MBean` has the figures.
    pub(crate) figures: ObjectName,
    pub(crate) kind: PoolBeanKind,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum PoolBeanKind {
    TomcatJdbc,
    Hikari { config: ObjectName },
}

impl PoolBean {
    fn limit(&self) -> (&ObjectName, &'static [&'static str]) {
        match &self.kind {
            PoolBeanKind::TomcatJdbc => (&self.figures, &TOMCAT_JDBC_LIMITS),
            PoolBeanKind::Hikari { config } => (config, &HIKARI_LIMITS),
        }
    }

    /// Attribute with the number of connections, and the operation that closes idle ones.
    fn shrink(&self) -> (&'static str, &'static str) {
        match self.kind {
            PoolBeanKind::TomcatJdbc => TOMCAT_JDBC_SHRINK,
            PoolBeanKind::Hikari { .. } => HIKARI_SHRINK,
        }
    }
}

/// The connection to a running Tomcat's `MBeans`.
#[derive(Debug)]
pub(crate) struct Live {
    client: Jolokia,
    /// `…:type=ThreadPool,name="http-nio-…-PORT"`.
    pub(crate) connector: ObjectName,
    /// Whose threads it takes: its own or an executor's.
    threads: ObjectName,
    pub(crate) pools: Vec<PoolBean>,
}

impl Live {
    /// Finds the connector on a port and all pools that there are by now.
    pub(crate) fn connect(mut client: Jolokia, port: u16) -> Result<Self, TargetError> {
        let on_port = format!("-{port}");
        let names = client.search(&CONNECTORS.parse()?)?;
        let connector = names
            .into_iter()
            .find(|name| {
                name.plain("name")
                    .is_some_and(|name| name.ends_with(&on_port))
            })
            .ok_or_else(|| TargetError::Jmx {
                says: format!("there is no connector for port {port}"),
            })?;
        let executor = executor(&mut client, &connector, port)?;
        let pools = pools(&mut client)?;
        Ok(Self {
            client,
            threads: executor.unwrap_or_else(|| connector.clone()),
            connector,
            pools,
        })
    }

    /// What the server calls itself: `Apache Tomcat/11.0.24`.
    pub(crate) fn version(&mut self) -> Result<String, TargetError> {
        let server = format!("{}:type=Server", self.connector.domain()).parse()?;
        let facts = self.client.read(&server, &[SERVER_INFO])?;
        let info = facts.get(SERVER_INFO).and_then(Value::as_str);
        Ok(info.unwrap_or("Apache Tomcat").to_owned())
    }

    /// What tells the limit of the connector's threads, if those are an executor's.
    pub(crate) fn executor_read(&self) -> Option<MbeanRead> {
        let is_shared = self.threads != self.connector;
        is_shared.then(|| mbeans::executor(self.threads.clone()))
    }

    /// All limits as they are.
    pub(crate) fn read(&mut self) -> Result<BTreeMap<String, f64>, TargetError> {
        let attributes = SETTINGS.each_ref().map(|setting| setting.attribute);
        let mut values = self.client.read(&self.connector, &attributes)?;
        if self.threads != self.connector {
            values.extend(self.client.read(&self.threads, &OF_THREADS)?);
        }
        let mut limits: BTreeMap<String, f64> = SETTINGS
            .iter()
            .filter_map(|setting| {
                let value = values.get(setting.attribute)?.as_f64()?;
                // It has no threads of its own, and nothing is known of those that it takes.
                let is_nobodys = value < 0.0 && NAMES_OF_THREADS.contains(&setting.name);
                (!is_nobodys).then(|| (setting.name.to_owned(), value))
            })
            .collect();
        for pool in &self.pools {
            let (bean, attributes) = pool.limit();
            let values = self.client.read(bean, &attributes[..1])?;
            if let Some(limit) = values.get(attributes[0]).and_then(Value::as_f64) {
                limits.insert(pool.stage.clone(), limit);
            }
        }
        Ok(limits)
    }

    /// The attributes behind a limit as they are, and those that may have to change with it.
    pub(crate) fn as_found(&mut self, name: &str) -> Result<Vec<LiveSetting>, TargetError> {
        let (bean, attributes) = match self.pools.iter().find(|pool| pool.stage == name) {
            Some(pool) => pool.limit(),
            None => (self.bean_of(name), of_connector(name)),
        };
        let bean = bean.clone();
        let values = self.client.read(&bean, attributes)?;
        let (url, credentials) = (
            self.client.url().to_string(),
            self.client.url().credentials(),
        );
        Ok(values
            .into_iter()
            .map(|(attribute, before)| LiveSetting::Attribute {
                url: url.clone(),
                credentials: credentials.map(Into::into),
                mbean: bean.to_string(),
                attribute,
                before,
            })
            .collect())
    }

    /// Sets everything that differs, and makes sure that the server has taken it.
    pub(crate) fn set(&mut self, wanted: &BTreeMap<String, f64>) -> Result<(), TargetError> {
        let before = self.read()?;
        let unknown = wanted.keys().find(|name| !before.contains_key(*name));
        if let Some(name) = unknown {
            if NAMES_OF_THREADS.contains(&name.as_str()) {
                return Err(TargetError::Setting {
                    name: name.clone(),
                    says: "the connector has no threads of its own: its requests run on virtual threads, or on those \
                           of an executor that does not tell its limit over JMX"
                        .to_owned(),
                });
            }
            let pools = self.pools.iter().map(|pool| pool.stage.as_str());
            return Err(TargetError::NoSuchStage {
                stage: name.clone(),
                known: pools.fold("the connector's limits".to_owned(), |all, pool| {
                    format!("{all}, {pool}")
                }),
            });
        }
        for pool in self.pools.clone() {
            let (from, to) = (before.get(&pool.stage), wanted.get(&pool.stage));
            if from != to {
                self.set_pool(&pool, from.copied(), to.copied())?;
            }
        }
        for (name, attribute, value) in writes(&before, wanted) {
            let bean = self.bean_of(name).clone();
            self.client.write(&bean, attribute, json!(value as i64))?;
            if name == BACKLOG {
                self.bind_anew()?;
            }
        }
        self.verify(wanted)
    }

    /// Who has a limit that is no pool's.
    fn bean_of(&self, name: &str) -> &ObjectName {
        if NAMES_OF_THREADS.contains(&name) {
            &self.threads
        } else {
            &self.connector
        }
    }

    fn set_pool(
        &mut self,
        pool: &PoolBean,
        from: Option<f64>,
        to: Option<f64>,
    ) -> Result<(), TargetError> {
        let Some(to) = to else {
            return Ok(());
        };
        let (bean, attributes) = pool.limit();
        for attribute in attributes {
            self.client.write(bean, attribute, json!(to as i64))?;
        }
        if from.is_some_and(|from| to > from) {
            return Ok(());
        }
        let (size, close_idle) = pool.shrink();
        let until = Instant::now() + SHRINK_PATIENCE;
        loop {
            self.client.exec(&pool.figures, close_idle, Vec::new())?;
            let values = self.client.read(&pool.figures, &[size])?;
            let connections = values.get(size).and_then(Value::as_f64).unwrap_or(0.0);
            if connections <= to {
                return Ok(());
            }
            if Instant::now() >= until {
                return Err(TargetError::Setting {
                    name: pool.stage.clone(),
                    says: format!(
                        "the pool still has {connections} connections, which requests hold; its limit is {to} from \
                         when they are given back"
                    ),
                });
            }
            std::thread::sleep(SHRINK_LOOK);
        }
    }

    /// Takes the connector off its port and puts it back with the new queue.
    fn bind_anew(&mut self) -> Result<(), TargetError> {
        let values = self.client.read(&self.connector, &[BIND_ON_INIT])?;
        let on_init = values.get(BIND_ON_INIT).and_then(Value::as_bool);
        // In Spring Boot the port belongs to the time between start and stop.
        let steps: &[&str] = match on_init {
            Some(false) => &["stop", "start"],
            _ => &BIND_ANEW,
        };
        for step in steps {
            self.client.exec(&self.connector, step, Vec::new())?;
        }
        Ok(())
    }

    fn verify(&mut self, wanted: &BTreeMap<String, f64>) -> Result<(), TargetError> {
        let now = self.read()?;
        let threads = now.get(THREADS).copied().unwrap_or(f64::INFINITY);
        for (name, value) in wanted {
            // The attribute reads as what is kept of it, which is never more than all threads.
            let expected = if name == MIN_SPARE {
                value.min(threads)
            } else {
                *value
            };
            let is = now.get(name).copied();
            if is != Some(expected) {
                return Err(TargetError::Setting {
                    name: name.clone(),
                    says: format!(
                        "it was set to {value} and reads as {}",
                        is.unwrap_or(f64::NAN)
                    ),
                });
            }
        }
        Ok(())
    }
}

/// Every limit as a treatment wants it: what it names, and the rest as found. A `keepAliveTimeout`
/// that nobody has set is the `connectionTimeout` at every moment, and goes with it.
pub(crate) fn wanted(
    found: &BTreeMap<String, f64>,
    named: &BTreeMap<String, f64>,
) -> BTreeMap<String, f64> {
    let mut wanted = found.clone();
    if found.get(KEEP_ALIVE_TIMEOUT) == found.get(CONNECTION_TIMEOUT)
        && let Some(timeout) = named.get(CONNECTION_TIMEOUT)
    {
        wanted.insert(KEEP_ALIVE_TIMEOUT.to_owned(), *timeout);
    }
    wanted.extend(named.iter().map(|(name, limit)| (name.clone(), *limit)));
    wanted
}

/// The connector's attributes behind a limit; fewer threads may mean fewer spare ones.
fn of_connector(name: &str) -> &'static [&'static str] {
    if name == THREADS {
        return &OF_THREADS;
    }
    let known = SETTINGS.iter().find(|setting| setting.name == name);
    known.map_or(&[], |setting| std::slice::from_ref(&setting.attribute))
}

/// The connector's attributes to write, in order: name, attribute, value.
fn writes(
    before: &BTreeMap<String, f64>,
    wanted: &BTreeMap<String, f64>,
) -> Vec<(&'static str, &'static str, f64)> {
    let value = |of: &BTreeMap<String, f64>, name: &str| of.get(name).copied();
    let threads = value(wanted, THREADS).unwrap_or(f64::INFINITY);
    let changed = SETTINGS.iter().filter_map(|setting| {
        let to = value(wanted, setting.name)?;
        (value(before, setting.name) != Some(to)).then_some((setting.name, setting.attribute, to))
    });
    let mut all: Vec<_> = changed.collect();
    // The pool of threads never has fewer at most than at least, at no moment.
    let spare_before = value(before, MIN_SPARE).unwrap_or(0.0);
    let spare_after = value(wanted, MIN_SPARE)
        .unwrap_or(spare_before)
        .min(threads);
    let spare_between = spare_before.min(threads);
    all.retain(|(name, ..)| *name != MIN_SPARE);
    let write = |spare| (MIN_SPARE, "minSpareThreads", spare);
    if spare_between < spare_before {
        all.insert(0, write(spare_between));
    }
    // One that reads as all threads may be kept as more, and comes to light when they may be more.
    let threads_before = value(before, THREADS).unwrap_or(f64::INFINITY);
    let may_be_more = spare_before >= threads_before && threads > threads_before;
    if (spare_after - spare_between).abs() > 0.0 || may_be_more {
        let threads_at = all.iter().position(|(name, ..)| *name == THREADS);
        all.insert(threads_at.map_or(0, |at| at + 1), write(spare_after));
    }
    all
}

/// The executor whose threads the connector on a port takes; none, if it has threads of its own, or
/// an executor without a limit of threads.
fn executor(
    client: &mut Jolokia,
    pool: &ObjectName,
    port: u16,
) -> Result<Option<ObjectName>, TargetError> {
    let own = client.read(pool, &OF_THREADS[1..])?;
    let own = own.get(OF_THREADS[1]).and_then(Value::as_f64);
    if own.is_none_or(|limit| limit >= 0.0) {
        return Ok(None);
    }
    let (connectors, named_by) = EXECUTOR_OF_CONNECTOR;
    let connectors = client.search(&connectors.parse()?)?;
    let is_it = |name: &ObjectName| name.plain("port") == Some(port.to_string());
    let Some(connector) = connectors.into_iter().find(is_it) else {
        return Ok(None);
    };
    let facts = client.read(&connector, &[named_by])?;
    let named = facts.get(named_by).and_then(Value::as_str);
    let executors = client.search(&EXECUTORS.parse()?)?;
    let is_named = |name: &ObjectName| name.plain("name").as_deref() == named;
    let executor = executors
        .into_iter()
        .filter(|name| name.domain() == connector.domain())
        .find(is_named);
    let has_limit = |name: &ObjectName| client.read(name, &OF_THREADS).is_ok();
    Ok(executor.filter(has_limit))
}

/// Pools exist over JMX from their first use.
fn pools(client: &mut Jolokia) -> Result<Vec<PoolBean>, TargetError> {
    let mut found = Vec::new();
    for figures in client.search(&TOMCAT_JDBC_POOLS.parse()?)? {
        // Every connection of the pool has a name of its own beside the pool's.
        let of_a_connection = figures.property("connections").is_some();
        if let Some(name) = figures.plain("name").filter(|_| !of_a_connection) {
            found.push(PoolBean {
                stage: stage_of(&name),
                figures,
                kind: PoolBeanKind::TomcatJdbc,
            });
        }
    }
    for figures in client.search(&HIKARI_POOLS.parse()?)? {
        let kind = figures.property("type").and_then(|kind| {
            let name = kind.strip_prefix("Pool (")?.strip_suffix(')')?.to_owned();
            let config = format!("com.zaxxer.hikari:type=PoolConfig ({name})").parse();
            Some((name, config))
        });
        if let Some((name, config)) = kind {
            found.push(PoolBean {
                stage: stage_of(&name),
                figures,
                kind: PoolBeanKind::Hikari { config: config? },
            });
        }
    }
    Ok(found)
}

/// `pool.db` of `jdbc/db`.
pub(crate) fn stage_of(pool: &str) -> String {
    let last = pool.rsplit('/').next().unwrap_or(pool);
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') {
            c
        } else {
            '-'
        }
    };
    format!("{POOL}{}", last.chars().map(plain).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(of: &[(&str, f64)]) -> BTreeMap<String, f64> {
        of.iter()
            .map(|(name, limit)| ((*name).to_owned(), *limit))
            .collect()
    }

    fn order(before: &[(&str, f64)], wanted: &[(&str, f64)]) -> Vec<(&'static str, f64)> {
        let writes = writes(&limits(before), &limits(wanted));
        writes
            .into_iter()
            .map(|(_, attribute, value)| (attribute, value))
            .collect()
    }

    #[test]
    fn spare_threads_never_exceed_all_threads_in_between() {
        let found = [("threads", 200.0), (MIN_SPARE, 10.0)];
        assert_eq!(
            order(&found, &[("threads", 4.0), (MIN_SPARE, 10.0)]),
            [("minSpareThreads", 4.0), ("maxThreads", 4.0)]
        );
        assert_eq!(
            order(&[("threads", 4.0), (MIN_SPARE, 4.0)], &found),
            [("maxThreads", 200.0), ("minSpareThreads", 10.0)]
        );
        assert_eq!(
            order(&found, &[("threads", 50.0), (MIN_SPARE, 10.0)]),
            [("maxThreads", 50.0)]
        );
        // Ten are kept, of which a server with eight threads tells eight.
        assert_eq!(
            order(
                &[("threads", 8.0), (MIN_SPARE, 8.0)],
                &[("threads", 55.0), (MIN_SPARE, 8.0)]
            ),
            [("maxThreads", 55.0), ("minSpareThreads", 8.0)]
        );
        assert_eq!(
            order(&found, &[("threads", 200.0), (MIN_SPARE, 25.0)]),
            [("minSpareThreads", 25.0)]
        );
    }

    #[test]
    fn only_what_differs_is_written_the_backlog_last() {
        let found = [
            ("backlog", 100.0),
            ("connections", 8192.0),
            ("threads", 200.0),
        ];
        assert_eq!(order(&found, &found), []);
        assert_eq!(
            order(
                &found,
                &[("backlog", 7.0), ("connections", 100.0), ("threads", 200.0)]
            ),
            [("maxConnections", 100.0), ("acceptCount", 7.0)]
        );
    }

    #[test]
    fn the_keep_alive_goes_with_the_connection_timeout_unless_it_is_another() {
        let both = |connection, keep_alive| {
            limits(&[
                (CONNECTION_TIMEOUT, connection),
                (KEEP_ALIVE_TIMEOUT, keep_alive),
            ])
        };
        let unset = both(60_000.0, 60_000.0);
        let shorter = (CONNECTION_TIMEOUT, 2_000.0);
        assert_eq!(wanted(&unset, &limits(&[shorter])), both(2_000.0, 2_000.0));
        assert_eq!(wanted(&unset, &limits(&[])), unset);
        assert_eq!(
            wanted(&both(60_000.0, 5_000.0), &limits(&[shorter])),
            both(2_000.0, 5_000.0),
            "somebody has set it"
        );
        let named = limits(&[shorter, (KEEP_ALIVE_TIMEOUT, 60_000.0)]);
        assert_eq!(wanted(&unset, &named), both(2_000.0, 60_000.0));
    }

    #[test]
    fn what_a_tomcat_does_not_have_is_refused_by_name() {
        check(&limits(&[
            ("threads", 1.0),
            ("pool.db", 4.0),
            ("native.keepAliveTimeout", 0.0),
        ]))
        .expect("it has these");
        let error = check(&limits(&[("native.MaxRequestWorkers", 4.0)])).expect_err("it has not");
        assert!(
            error.to_string().contains("native.minSpareThreads"),
            "{error}"
        );
        check(&limits(&[("threads", 0.0)])).expect_err("no thread at all");
    }

    #[test]
    fn pools_are_called_by_the_last_part_of_their_name() {
        assert_eq!(stage_of("jdbc/db"), "pool.db");
        assert_eq!(stage_of("HikariPool-1"), "pool.HikariPool-1");
        assert_eq!(stage_of("my pool"), "pool.my-pool");
    }
}
