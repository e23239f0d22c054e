//! A page of metrics in Prometheus's text format, read each second and given Weir's names.

use std::time::Instant;

use weir_exchange::{Exchange, MetricsUrl};

use crate::reading::Reading;

use super::Origins;
use super::names::{NameIndex, NameTable};
use super::rule::Figures;

/// A page and what it said last.
#[derive(Debug)]
pub(crate) struct PrometheusPage {
    url: MetricsUrl,
    exchange: Exchange,
    names: NameIndex,
    figures: Figures,
}

impl PrometheusPage {
    pub(crate) fn new(url: MetricsUrl, names: NameTable) -> Self {
        let names = NameIndex::new(names);
        Self {
            exchange: Exchange::new(url.address()),
            url,
            figures: Figures::new(names.rules()),
            names,
        }
    }

    /// Sends the question. Other things are read while the server answers.
    pub(crate) fn ask(&mut self, deadline: Instant) {
        self.exchange.ask(self.url.get(), deadline);
    }

    /// Reads the answer to what was asked at `now`. No answer in time makes its signals absent.
    pub(crate) fn read(&mut self, deadline: Instant, now: Instant, reading: &mut Reading) {
        let page = self.exchange.answer(deadline).ok();
        let page = page.and_then(|page| String::from_utf8(page).ok());
        let found = page.map(|page| self.names.find(&page));
        self.figures.take(found, now, reading);
    }

    pub(crate) fn add_origins(&self, origins: &mut Origins) {
        for (signal, row) in self.figures.came_by() {
            let metric = self.names.metric(row);
            origins
                .entry(signal.to_owned())
                .or_insert_with(|| format!("{} {metric}", self.url));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const BEFORE: &str = r#"# HELP weir_stage_limit Most that may be in the stage at once.
# TYPE weir_stage_limit gauge
weir_stage_limit{stage="threads"} 50
weir_stage_occupancy{stage="threads"} 50
weir_stage_occupancy_seconds_total{stage="threads"} 100.5
weir_stage_limit{stage="pool.db"} 10
weir_stage_waiting{stage="pool.db"} 2
weir_stage_waiting_seconds_total{stage="pool.db"} 10
weir_stage_wait_seconds_total{stage="pool.db"} 20
weir_stage_waits_total{stage="pool.db"} 8
weir_stage_entries_total{stage="pool.db"} 100
weir_stage_refused_total{stage="connections"} 7
weir_stage_occupancy{stage="backlog"} 3
"#;
    const AFTER: &str = r#"weir_stage_limit{stage="threads"} 50
weir_stage_occupancy{stage="threads"} 1
weir_stage_occupancy_seconds_total{stage="threads"} 152.5
weir_stage_limit{stage="pool.db"} +Inf
weir_stage_waiting{stage="pool.db"} 0
weir_stage_waiting_seconds_total{stage="pool.db"} 37
weir_stage_wait_seconds_total{stage="pool.db"} 170
weir_stage_waits_total{stage="pool.db"} 12
weir_stage_entries_total{stage="pool.db"} 160
weir_stage_refused_total{stage="connections"} 3
weir_stage_occupancy{stage="backlog"} 5
weir_stage_limit{stage="cpu"} 1
weir_stage_limit{stage="pool."} 1
weir_requests_total{stage="threads"} 9
"#;

    /// What pages give, two seconds apart, at the last.
    fn signals(pages: &[&str]) -> Vec<(String, f64)> {
        let names = NameIndex::new(NameTable::default());
        let mut figures = Figures::new(names.rules());
        let start = Instant::now();
        let mut reading = Reading::new();
        for (page, at) in pages.iter().zip(0_u32..) {
            reading.clear();
            let now = start + Duration::from_secs(2) * at;
            figures.take(Some(names.find(page)), now, &mut reading);
        }
        let signals = reading.into_iter();
        signals.map(|(name, v)| (name.to_string(), v)).collect()
    }

    fn check(pages: &[&str], expected: &[(&str, f64)]) {
        let found = signals(pages);
        let found: Vec<(&str, f64)> = found.iter().map(|(name, v)| (name.as_str(), *v)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn integrals_give_time_averages_and_counters_rates() {
        let expected = [
            ("backlog.occupancy", 5.0),
            ("pool.db.entries", 30.0),
            ("pool.db.wait", 2.5),
            ("pool.db.waiting", 13.5),
            ("threads.limit", 50.0),
            ("threads.occupancy", 26.0),
        ];
        check(&[BEFORE, AFTER], &expected);
    }

    #[test]
    fn the_first_answer_has_levels_only() {
        let expected = [
            ("backlog.occupancy", 3.0),
            ("pool.db.limit", 10.0),
            ("threads.limit", 50.0),
        ];
        check(&[BEFORE], &expected);
    }

    #[test]
    fn a_second_in_which_nobody_got_in_has_no_wait() {
        let found = signals(&[AFTER, AFTER]);
        assert!(found.contains(&("pool.db.waiting".to_owned(), 0.0)));
        assert!(!found.iter().any(|(name, _)| name == "pool.db.wait"));
    }

    #[test]
    fn a_server_started_anew_has_no_rates() {
        let found = signals(&[AFTER, BEFORE]);
        assert!(!found.iter().any(|(name, _)| name == "threads.occupancy"));
        assert!(!found.iter().any(|(name, _)| name == "pool.db.entries"));
        assert!(found.contains(&("threads.limit".to_owned(), 50.0)));
    }

    /// Spring Boot 3.5 with Tomcat and HikariCP, names and labels as scraped, figures made round.
    #[test]
    fn spring_boot() {
        let page = |acquired_s: f64, acquired: u32, collected_s: f64| {
            format!(
                r#"tomcat_threads_busy_threads{{name="http-nio-127.0.0.1-8080"}} 50.0
tomcat_threads_current_threads{{name="http-nio-127.0.0.1-8080"}} 60.0
tomcat_threads_config_max_threads{{name="http-nio-127.0.0.1-8080"}} 200.0
tomcat_connections_current_connections{{name="http-nio-127.0.0.1-8080"}} 101.0
tomcat_connections_config_max_connections{{name="http-nio-127.0.0.1-8080"}} 8192.0
tomcat_connections_keepalive_current_connections{{name="http-nio-127.0.0.1-8080"}} 9.0
hikaricp_connections{{pool="HikariPool-1"}} 10.0
hikaricp_connections_active{{pool="HikariPool-1"}} 10.0
hikaricp_connections_idle{{pool="HikariPool-1"}} 0.0
hikaricp_connections_pending{{pool="HikariPool-1"}} 40.0
hikaricp_connections_max{{pool="HikariPool-1"}} 10.0
hikaricp_connections_acquire_seconds_sum{{pool="HikariPool-1"}} {acquired_s}
hikaricp_connections_acquire_seconds_count{{pool="HikariPool-1"}} {acquired}
jvm_gc_pause_seconds_sum{{action="end of minor GC",cause="G1 Evacuation Pause"}} {collected_s}
jvm_gc_pause_seconds_sum{{action="end of major GC",cause="G1 Compaction Pause"}} 1.5
jvm_threads_live_threads 75.0
"#
            )
        };
        let expected = [
            ("connections.limit", 8192.0),
            ("connections.occupancy", 100.0),
            ("gc.time", 0.125),
            ("jvm.threads", 75.0),
            ("pool.HikariPool-1.entries", 250.0),
            ("pool.HikariPool-1.idle", 0.0),
            ("pool.HikariPool-1.limit", 10.0),
            ("pool.HikariPool-1.occupancy", 10.0),
            ("pool.HikariPool-1.wait", 0.0625),
            ("pool.HikariPool-1.waiting", 40.0),
            ("threads.idle", 10.0),
            ("threads.limit", 200.0),
            ("threads.occupancy", 50.0),
        ];
        let pages = [page(10.0, 1000, 0.5), page(41.25, 1500, 0.75)];
        check(&[&pages[0], &pages[1]], &expected);
    }

    /// The Java client of Prometheus on ZGC: what runs beside the application does not stop it.
    #[test]
    fn collections_beside_the_application_are_no_pauses() {
        let page = |paused_s: f64, pauses: u32, beside_s: f64, cycles: u32| {
            format!(
                r#"jvm_gc_collection_seconds_sum{{gc="ZGC Minor Cycles"}} {beside_s}
jvm_gc_collection_seconds_sum{{gc="ZGC Minor Pauses"}} {paused_s}
jvm_gc_collection_seconds_count{{gc="ZGC Minor Cycles"}} {cycles}
jvm_gc_collection_seconds_count{{gc="ZGC Minor Pauses"}} {pauses}
"#
            )
        };
        let pages = [page(0.25, 6, 3.0, 2), page(0.5, 12, 4.5, 4)];
        check(
            &[&pages[0], &pages[1]],
            &[("gc.count", 3.0), ("gc.time", 0.125)],
        );
    }

    /// Open Liberty 25 with mpMetrics 5.1, names and labels as scraped.
    #[test]
    fn liberty() {
        let page = r#"threadpool_activeThreads{mp_scope="vendor",pool="Default_Executor"} 25.0
threadpool_size{mp_scope="vendor",pool="Default_Executor"} 50.0
connectionpool_freeConnections{datasource="jdbc_db",mp_scope="vendor"} 3.0
connectionpool_managedConnections{datasource="jdbc_db",mp_scope="vendor"} 10.0
"#;
        let expected = [
            ("pool.db.idle", 3.0),
            ("pool.db.occupancy", 7.0),
            ("threads.idle", 25.0),
            ("threads.occupancy", 25.0),
        ];
        check(&[page], &expected);
    }

    /// `node_exporter` on two CPUs for 2 s: 1 s user, 0.25 s nice, 0.5 s system, 0.25 s stolen, 2 s
    /// idle.
    #[test]
    fn another_machine() {
        let page = |user: f64, idle: f64, steal: f64, overflows: u32| {
            format!(
                r#"node_cpu_seconds_total{{cpu="0",mode="idle"}} {idle}
node_cpu_seconds_total{{cpu="0",mode="user"}} {user}
node_cpu_seconds_total{{cpu="1",mode="nice"}} {}
node_cpu_seconds_total{{cpu="1",mode="system"}} {}
node_cpu_seconds_total{{cpu="1",mode="steal"}} {steal}
node_cpu_seconds_total{{cpu="1",mode="iowait"}} 0
node_netstat_TcpExt_ListenOverflows {overflows}
node_pressure_cpu_waiting_seconds_total {}
"#,
                user / 4.0,
                user / 2.0,
                user / 4.0
            )
        };
        let found = signals(&[&page(100.0, 1000.0, 7.0, 5), &page(101.0, 1002.0, 7.25, 9)]);
        let at = |name: &str| found.iter().find(|(n, _)| n == name).map(|(_, v)| *v);
        assert_eq!(at("cpu.user"), Some(1.25 / 4.0));
        assert_eq!(at("cpu.system"), Some(0.5 / 4.0));
        assert_eq!(at("cpu"), Some(1.75 / 3.75), "busy of what was not stolen");
        assert_eq!(at("machine.cpu.steal"), Some(0.25 / 4.0));
        assert_eq!(at("machine.cpu.idle"), Some(0.5));
        assert_eq!(at("tcp.listen-overflows"), Some(2.0));
        assert_eq!(at("pressure.cpu.some"), Some(0.125));
    }

    /// `apache_exporter` with 50 slots; `postgres_exporter`; database/sql of Go.
    #[test]
    fn other_exporters() {
        let page = |waited: f64| {
            format!(
                r#"apache_workers{{state="busy"}} 7
apache_workers{{state="idle"}} 3
apache_scoreboard{{state="idle"}} 3
apache_scoreboard{{state="reply"}} 7
apache_scoreboard{{state="open_slot"}} 40
pg_stat_activity_count{{datname="db",state="active"}} 4
pg_stat_activity_count{{datname="other",state="active"}} 1
pg_stat_activity_count{{datname="db",state="idle"}} 6
pg_settings_max_connections{{server="x"}} 300
go_sql_wait_duration_seconds_total{{db_name="orders"}} {waited}
"#
            )
        };
        let expected = [
            ("database.limit", 300.0),
            ("database.occupancy", 5.0),
            ("pool.orders.waiting", 14.0),
            ("threads.idle", 3.0),
            ("threads.limit", 50.0),
            ("threads.occupancy", 7.0),
        ];
        check(&[&page(3.0), &page(31.0)], &expected);
    }
}
