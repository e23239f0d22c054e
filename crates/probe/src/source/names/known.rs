//! The metrics that are known, by server.
//!
//! Names of Micrometer, Liberty, the exporters of nodes, PostgreSQL and Apache httpd and the Java
//! agent of Prometheus were read from running ones; those of Jetty, Quarkus, Go, Node, Python,
//! nginx and `HAProxy` are after their documentation.

use super::{Metric, MetricRow};
use crate::source::rule::Rule;

/// Metric with its labels as `name label=value`, what is taken off or divided by, and the signal.
struct Row(&'static str, With, &'static str, Kind);

enum With {
    Nothing,
    /// Less this metric.
    Less(&'static str),
    /// Growth over the growth of this metric.
    Per(&'static str),
}

enum Kind {
    Level,
    Growth,
    /// A level of which one is never in use.
    LevelLessOne,
}

use Kind::{Growth, Level, LevelLessOne};
use With::{Less, Nothing, Per};

/// All of them. Where two lead to one signal, the better comes first.
pub(super) fn rows() -> Vec<MetricRow> {
    KNOWN.iter().map(Row::to_row).collect()
}

impl Row {
    fn to_row(&self) -> MetricRow {
        let Self(metric, with, signal, kind) = self;
        let mut row = MetricRow::new(
            read(metric),
            match kind {
                Level => Rule::level(*signal),
                Growth => Rule::growth(*signal),
                LevelLessOne => Rule {
                    minus: 1.0,
                    ..Rule::level(*signal)
                },
            },
        );
        match with {
            Nothing => {}
            Less(metric) => row.less = Some(read(metric)),
            Per(metric) => row.per = Some(read(metric)),
        }
        row
    }
}

fn read(text: &str) -> Metric {
    let mut words = text.split(' ');
    let metric = Metric::any(words.next().unwrap_or_default());
    words
        .filter_map(|word| word.split_once('='))
        .fold(metric, |metric, (label, value)| metric.with(label, value))
}

/// All modes of a CPU's time but the one in which the hypervisor ran something else.
const NOT_STOLEN: &str = "node_cpu_seconds_total mode=user|nice|system|irq|softirq|idle|iowait";
const ALL_MODES: &str = "node_cpu_seconds_total";

#[rustfmt::skip] // One row, one line: this is a table.
const KNOWN: &[Row] = &[
    // Weir's own names, as the sample server has them.
    Row("weir_stage_limit", Nothing, "{stage}.limit", Level),
    Row("weir_stage_rate_limit", Nothing, "{stage}.rate-limit", Level),
    Row("weir_stage_occupancy_seconds_total", Nothing, "{stage}.occupancy", Growth),
    Row("weir_stage_occupancy", Nothing, "{stage}.occupancy", Level),
    Row("weir_stage_waiting_seconds_total", Nothing, "{stage}.waiting", Growth),
    Row("weir_stage_waiting", Nothing, "{stage}.waiting", Level),
    Row("weir_stage_wait_seconds_total", Per("weir_stage_entries_total"), "{stage}.wait", Level),
    Row("weir_stage_entries_total", Nothing, "{stage}.entries", Growth),
    Row("weir_stage_refused_total", Nothing, "{stage}.refused", Growth),

    // Tomcat by Micrometer. The acceptor counts the connection that it waits for.
    Row("tomcat_threads_busy_threads", Nothing, "threads.occupancy", Level),
    Row("tomcat_threads_current_threads", Less("tomcat_threads_busy_threads"), "threads.idle", Level),
    Row("tomcat_threads_config_max_threads", Nothing, "threads.limit", Level),
    Row("tomcat_global_request_seconds_count", Nothing, "threads.entries", Growth),
    Row("tomcat_connections_current_connections", Nothing, "connections.occupancy", LevelLessOne),
    Row("tomcat_connections_config_max_connections", Nothing, "connections.limit", Level),
    // Tomcat by jmx_prometheus_javaagent without rules.
    Row("Catalina_ThreadPool_currentThreadsBusy", Nothing, "threads.occupancy", Level),
    Row("Catalina_ThreadPool_currentThreadCount", Less("Catalina_ThreadPool_currentThreadsBusy"), "threads.idle", Level),
    Row("Catalina_ThreadPool_maxThreads", Nothing, "threads.limit", Level),
    Row("Catalina_ThreadPool_connectionCount", Nothing, "connections.occupancy", LevelLessOne),
    Row("Catalina_ThreadPool_maxConnections", Nothing, "connections.limit", Level),
    // HikariCP by Micrometer.
    Row("hikaricp_connections_active", Nothing, "pool.{pool}.occupancy", Level),
    Row("hikaricp_connections_idle", Nothing, "pool.{pool}.idle", Level),
    Row("hikaricp_connections_pending", Nothing, "pool.{pool}.waiting", Level),
    Row("hikaricp_connections_max", Nothing, "pool.{pool}.limit", Level),
    Row("hikaricp_connections_acquire_seconds_sum", Per("hikaricp_connections_acquire_seconds_count"), "pool.{pool}.wait", Level),
    Row("hikaricp_connections_acquire_seconds_count", Nothing, "pool.{pool}.entries", Growth),
    Row("hikaricp_connections_timeout_total", Nothing, "pool.{pool}.refused", Growth),
    // Liberty by MicroProfile Metrics; before version 5 with `vendor_` in front. It publishes no
    // count of those that wait.
    Row("threadpool_activeThreads pool=Default_Executor", Nothing, "threads.occupancy", Level),
    Row("threadpool_size pool=Default_Executor", Less("threadpool_activeThreads pool=Default_Executor"), "threads.idle", Level),
    Row("connectionpool_managedConnections", Less("connectionpool_freeConnections"), "pool.{datasource}.occupancy", Level),
    Row("connectionpool_freeConnections", Nothing, "pool.{datasource}.idle", Level),
    Row("connectionpool_waitTime_total_seconds", Per("connectionpool_usedConnections_total"), "pool.{datasource}.wait", Level),
    Row("connectionpool_usedConnections_total", Nothing, "pool.{datasource}.entries", Growth),
    Row("vendor_threadpool_activeThreads pool=Default_Executor", Nothing, "threads.occupancy", Level),
    Row("vendor_connectionpool_managedConnections", Less("vendor_connectionpool_freeConnections"), "pool.{datasource}.occupancy", Level),
    Row("vendor_connectionpool_freeConnections", Nothing, "pool.{datasource}.idle", Level),
    // Jetty by Micrometer.
    Row("jetty_threads_busy", Nothing, "threads.occupancy", Level),
    Row("jetty_threads_idle", Nothing, "threads.idle", Level),
    Row("jetty_threads_config_max", Nothing, "threads.limit", Level),
    Row("jetty_threads_jobs", Nothing, "request-queue.waiting", Level),
    Row("jetty_connections_current_connections", Nothing, "connections.occupancy", Level),
    // Undertow in WildFly.
    Row("wildfly_io_busy_task_thread_count", Nothing, "threads.occupancy", Level),
    Row("wildfly_io_max_pool_size", Nothing, "threads.limit", Level),
    Row("wildfly_io_queue_size", Nothing, "request-queue.waiting", Level),
    // Quarkus: Vert.x workers and Agroal.
    Row("worker_pool_active pool_name=vert.x-worker-thread", Nothing, "threads.occupancy", Level),
    Row("worker_pool_idle pool_name=vert.x-worker-thread", Nothing, "threads.idle", Level),
    Row("worker_pool_queue_size pool_name=vert.x-worker-thread", Nothing, "request-queue.waiting", Level),
    Row("agroal_active_count", Nothing, "pool.{datasource}.occupancy", Level),
    Row("agroal_available_count", Nothing, "pool.{datasource}.idle", Level),
    Row("agroal_awaiting_count", Nothing, "pool.{datasource}.waiting", Level),
    // apache_exporter. All slots of the scoreboard are as many as may ever work.
    Row("apache_workers state=busy", Nothing, "threads.occupancy", Level),
    Row("apache_workers state=idle", Nothing, "threads.idle", Level),
    Row("apache_scoreboard", Nothing, "threads.limit", Level),
    Row("apache_accesses_total", Nothing, "threads.entries", Growth),
    // nginx-prometheus-exporter.
    Row("nginx_connections_active", Nothing, "connections.occupancy", Level),
    Row("nginx_connections_waiting", Nothing, "connections.idle", Level),
    // HAProxy.
    Row("haproxy_backend_current_queue", Nothing, "request-queue.waiting", Level),
    Row("haproxy_process_current_connections", Nothing, "connections.occupancy", Level),
    Row("haproxy_process_max_connections", Nothing, "connections.limit", Level),
    // Go: database/sql. The seconds waited grow by as many each second as wait on average.
    Row("go_sql_in_use_connections", Nothing, "pool.{db_name}.occupancy", Level),
    Row("go_sql_idle_connections", Nothing, "pool.{db_name}.idle", Level),
    Row("go_sql_max_open_connections", Nothing, "pool.{db_name}.limit", Level),
    Row("go_sql_wait_duration_seconds_total", Nothing, "pool.{db_name}.waiting", Growth),
    // postgres_exporter: those that run a statement, of those that may connect.
    Row("pg_stat_activity_count state=active", Nothing, "database.occupancy", Level),
    Row("pg_settings_max_connections", Nothing, "database.limit", Level),

    // Garbage collection: Micrometer, the Java client of Prometheus, MicroProfile, Go, Node,
    // Python. The beans of ZGC and Shenandoah called `... Cycles` count collections that run beside
    // the application, and those called `... Pauses` the standstills.
    Row("jvm_gc_pause_seconds_sum", Nothing, "gc.time", Growth),
    Row("jvm_gc_pause_seconds_count", Nothing, "gc.count", Growth),
    Row("jvm_gc_collection_seconds_sum", Less("jvm_gc_collection_seconds_sum gc=*Cycles"), "gc.time", Growth),
    Row("jvm_gc_collection_seconds_count", Less("jvm_gc_collection_seconds_count gc=*Cycles"), "gc.count", Growth),
    Row("gc_time_seconds", Less("gc_time_seconds name=*Cycles"), "gc.time", Growth),
    Row("gc_total", Less("gc_total name=*Cycles"), "gc.count", Growth),
    Row("go_gc_duration_seconds_sum", Nothing, "gc.time", Growth),
    Row("go_gc_duration_seconds_count", Nothing, "gc.count", Growth),
    Row("nodejs_gc_duration_seconds_sum", Nothing, "gc.time", Growth),
    Row("nodejs_gc_duration_seconds_count", Nothing, "gc.count", Growth),
    Row("python_gc_collections_total", Nothing, "gc.count", Growth),
    Row("system_cpu_count", Nothing, "jvm.processors", Level),
    Row("jvm_threads_live_threads", Nothing, "jvm.threads", Level),
    Row("jvm_threads_current", Nothing, "jvm.threads", Level),
    Row("nodejs_eventloop_lag_seconds", Nothing, "event-loop.lag", Level),
    // The process, where its own machine is not read.
    Row("process_resident_memory_bytes", Nothing, "target.memory.rss", Level),
    Row("go_threads", Nothing, "target.threads", Level),

    // node_exporter: another machine.
    Row("node_cpu_seconds_total mode=user|nice|system|irq|softirq", Per(NOT_STOLEN), "cpu", Level),
    Row("node_cpu_seconds_total mode=user|nice", Per(ALL_MODES), "cpu.user", Level),
    Row("node_cpu_seconds_total mode=system|irq|softirq", Per(ALL_MODES), "cpu.system", Level),
    Row("node_cpu_seconds_total mode=iowait", Per(ALL_MODES), "cpu.iowait", Level),
    Row("node_cpu_seconds_total mode=steal", Per(ALL_MODES), "cpu.steal", Level),
    Row("node_cpu_seconds_total mode=user|nice", Per(ALL_MODES), "machine.cpu.user", Level),
    Row("node_cpu_seconds_total mode=system|irq|softirq", Per(ALL_MODES), "machine.cpu.system", Level),
    Row("node_cpu_seconds_total mode=iowait", Per(ALL_MODES), "machine.cpu.iowait", Level),
    Row("node_cpu_seconds_total mode=steal", Per(ALL_MODES), "machine.cpu.steal", Level),
    Row("node_cpu_seconds_total mode=idle", Per(ALL_MODES), "machine.cpu.idle", Level),
    Row("node_context_switches_total", Nothing, "machine.context-switches", Growth),
    Row("node_pressure_cpu_waiting_seconds_total", Nothing, "pressure.cpu.some", Growth),
    Row("node_pressure_io_waiting_seconds_total", Nothing, "pressure.io.some", Growth),
    Row("node_pressure_memory_waiting_seconds_total", Nothing, "pressure.memory.some", Growth),
    Row("node_netstat_TcpExt_ListenOverflows", Nothing, "tcp.listen-overflows", Growth),
    Row("node_netstat_TcpExt_ListenDrops", Nothing, "tcp.listen-drops", Growth),
    Row("node_netstat_TcpExt_TCPSynRetrans", Nothing, "tcp.syn-retries", Growth),
    Row("node_netstat_Tcp_RetransSegs", Nothing, "tcp.retransmissions", Growth),
    Row("node_netstat_Tcp_OutRsts", Nothing, "tcp.resets", Growth),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::rule::filled;
    use weir_metric::describe;

    #[test]
    fn every_row_leads_to_a_signal_of_the_catalogue() {
        for row in rows() {
            let value =
                |label: &str| Some(if label == "stage" { "threads" } else { "db" }.to_owned());
            let signal = filled(&row.rule.signal, value);
            assert!(
                signal.as_deref().and_then(describe).is_some(),
                "{}: {signal:?}",
                row.metric.name
            );
        }
    }
}
