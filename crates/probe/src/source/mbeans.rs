//! What is known of the MBeans of common servers and pools.

use weir_jvm::ObjectName;

use super::jolokia::{MbeanRead, MbeanValue};
use super::rule::Rule;

/// A pattern that stands in this file.
fn name(text: &str) -> ObjectName {
    text.parse().expect("it is written as names of MBeans are")
}

fn read(pattern: &str, attribute: &str, rule: Rule) -> MbeanRead {
    MbeanRead::attribute(name(pattern), attribute, rule)
}

fn level(pattern: &str, attribute: &str, signal: &str) -> MbeanRead {
    read(pattern, attribute, Rule::level(signal))
}

/// Connectors of Tomcat, stand-alone (domain `Catalina`) or in Spring Boot (`Tomcat`).
pub fn tomcat() -> Vec<MbeanRead> {
    const CONNECTOR: &str = "*:type=ThreadPool,*";
    let busy = "currentThreadsBusy";
    vec![
        level(CONNECTOR, busy, "threads.occupancy"),
        MbeanRead {
            less: Some(MbeanValue::Attribute(busy.to_owned())),
            ..level(CONNECTOR, "currentThreadCount", "threads.idle")
        },
        level(CONNECTOR, "maxThreads", "threads.limit"),
        // The acceptor counts the connection that it waits for.
        read(
            CONNECTOR,
            "connectionCount",
            Rule {
                minus: 1.0,
                ..Rule::level("connections.occupancy")
            },
        ),
        level(CONNECTOR, "maxConnections", "connections.limit"),
        read(
            "*:type=GlobalRequestProcessor,*",
            "requestCount",
            Rule::growth("threads.entries"),
        ),
    ]
}

/// Threads that connectors of Tomcat share.
pub fn executor(name: ObjectName) -> MbeanRead {
    MbeanRead::attribute(name, "maxThreads", Rule::level("threads.limit"))
}

/// Pools of tomcat-jdbc.
pub fn tomcat_jdbc() -> Vec<MbeanRead> {
    const POOL: &str = "tomcat.jdbc:type=ConnectionPool,*";
    vec![
        level(POOL, "Active", "pool.{name}.occupancy"),
        level(POOL, "Idle", "pool.{name}.idle"),
        level(POOL, "WaitCount", "pool.{name}.waiting"),
        level(POOL, "MaxActive", "pool.{name}.limit"),
        read(POOL, "BorrowedCount", Rule::growth("pool.{name}.entries")),
    ]
}

/// Pools of Commons DBCP 2 in Tomcat, which do not tell who waits.
pub fn dbcp2() -> Vec<MbeanRead> {
    const POOL: &str = "Catalina:type=DataSource,*";
    vec![
        level(POOL, "numActive", "pool.{name}.occupancy"),
        level(POOL, "numIdle", "pool.{name}.idle"),
        level(POOL, "maxTotal", "pool.{name}.limit"),
    ]
}

/// Pools of HikariCP that register their MBeans.
pub fn hikari() -> Vec<MbeanRead> {
    const POOL: &str = "com.zaxxer.hikari:type=Pool (*)";
    vec![
        level(POOL, "ActiveConnections", "pool.{type}.occupancy"),
        level(POOL, "IdleConnections", "pool.{type}.idle"),
        level(POOL, "ThreadsAwaitingConnection", "pool.{type}.waiting"),
        level(
            "com.zaxxer.hikari:type=PoolConfig (*)",
            "MaximumPoolSize",
            "pool.{type}.limit",
        ),
    ]
}

/// The executor and the connection pools of Liberty. Who waits for a connection stands in a text
/// only.
pub fn liberty() -> Vec<MbeanRead> {
    const EXECUTOR: &str = "WebSphere:type=ThreadPoolStats,name=Default Executor,*";
    const STATISTICS: &str = "WebSphere:type=ConnectionPoolStats,*";
    const MANAGER: &str = "WebSphere:type=com.ibm.ws.jca.cm.mbean.ConnectionManagerMBean,*";
    let active = "ActiveThreads";
    let contents = |mark: &str, signal: &str| {
        MbeanRead::text(name(MANAGER), "showPoolContents", mark, Rule::level(signal))
    };
    vec![
        level(EXECUTOR, active, "threads.occupancy"),
        MbeanRead {
            less: Some(MbeanValue::Attribute(active.to_owned())),
            ..level(EXECUTOR, "PoolSize", "threads.idle")
        },
        contents("waiting=", "pool.{jndiName}.waiting"),
        contents("maxPoolSize=", "pool.{jndiName}.limit"),
        contents("available=", "pool.{jndiName}.idle"),
        // Handles are counted late: what is not available is in use.
        MbeanRead {
            less: Some(MbeanValue::Text {
                operation: "showPoolContents".to_owned(),
                mark: "available=".to_owned(),
            }),
            ..contents("size=", "pool.{jndiName}.occupancy")
        },
        // Its mean is over the whole life of the pool; the growth of its parts is of this second.
        MbeanRead {
            per: Some(MbeanValue::Attribute("WaitTimeDetails/count".to_owned())),
            ..read(
                STATISTICS,
                "WaitTimeDetails/total",
                Rule {
                    scale: 0.001,
                    ..Rule::growth("pool.{name}.wait")
                },
            )
        },
    ]
}

/// The stress application that comes with Weir, which measures how long its requests wait for a
/// connection itself. How many wait is left to the pool, so that Little's law can check the one
/// against the other.
pub fn stress() -> Vec<MbeanRead> {
    const POOL: &str = "weir.stress:type=Pool,*";
    let acquisitions = "Acquisitions";
    vec![
        MbeanRead {
            per: Some(MbeanValue::Attribute(acquisitions.to_owned())),
            ..read(POOL, "WaitSeconds", Rule::growth("pool.{name}.wait"))
        },
        read(POOL, acquisitions, Rule::growth("pool.{name}.entries")),
    ]
}

/// The workers of Undertow.
pub fn undertow() -> Vec<MbeanRead> {
    const WORKER: &str = "org.xnio:type=Xnio,*";
    vec![
        level(WORKER, "BusyWorkerThreadCount", "threads.occupancy"),
        level(WORKER, "MaxWorkerPoolSize", "threads.limit"),
        level(WORKER, "WorkerQueueSize", "request-queue.waiting"),
    ]
}

/// The machine as the virtual machine sees it.
pub fn machine() -> Vec<MbeanRead> {
    let processors = "AvailableProcessors";
    vec![level(
        "java.lang:type=OperatingSystem",
        processors,
        "jvm.processors",
    )]
}

/// All of these, for a server of which nothing is known.
pub fn all() -> Vec<MbeanRead> {
    [
        tomcat(),
        tomcat_jdbc(),
        dbcp2(),
        hikari(),
        liberty(),
        stress(),
        undertow(),
        machine(),
    ]
    .concat()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::source::rule::filled;
    use weir_metric::describe;

    #[test]
    fn every_read_leads_to_a_signal_of_the_catalogue() {
        for read in all() {
            let signal = filled(&read.rule.signal, |_| Some("db".to_owned())).unwrap();
            assert!(describe(&signal).is_some(), "{signal}");
        }
    }
}
