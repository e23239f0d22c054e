//! Readings of `/metrics`, and what the page looks like.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use crate::client::{Client, all_answered, get, get_at_once, occupy, small, start};

/// One scrape.
#[derive(Debug)]
pub(crate) struct Scrape {
    rows: BTreeMap<String, f64>,
}

impl Scrape {
    pub(crate) fn of(admin: SocketAddr) -> Self {
        let answer = get(admin, "/metrics");
        assert_eq!(answer.status, 200);
        let rows = answer.body.lines().filter(|line| !line.starts_with('#'));
        let rows = rows.map(|line| {
            let (key, value) = line.rsplit_once(' ').unwrap();
            (key.to_owned(), value.parse().unwrap())
        });
        Self {
            rows: rows.collect(),
        }
    }

    /// Scrapes until `condition` holds.
    pub(crate) fn when(admin: SocketAddr, condition: impl Fn(&Self) -> bool) -> Self {
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            let scrape = Self::of(admin);
            if condition(&scrape) {
                return scrape;
            }
            assert!(
                Instant::now() < deadline,
                "this state did not come: {scrape:#?}"
            );
        }
    }

    pub(crate) fn find(&self, key: &str) -> Option<f64> {
        self.rows.get(key).copied()
    }

    pub(crate) fn get(&self, key: &str) -> f64 {
        self.find(key)
            .unwrap_or_else(|| panic!("{key} is absent: {self:#?}"))
    }

    /// `weir_stage_METRIC{stage="STAGE"}`.
    pub(crate) fn stage(&self, stage: &str, metric: &str) -> f64 {
        self.get(&format!("weir_stage_{metric}{{stage=\"{stage}\"}}"))
    }

    /// A row that counts something whole.
    pub(crate) fn count(&self, stage: &str, metric: &str) -> u64 {
        let value = self.stage(stage, metric);
        assert!(
            value >= 0.0 && value.fract() == 0.0,
            "{stage} {metric} is {value}"
        );
        value as u64
    }

    /// All requests answered, whatever the status.
    pub(crate) fn answered(&self) -> u64 {
        let of_status = self
            .rows
            .iter()
            .filter(|(key, _)| key.starts_with("weir_requests_total{"));
        of_status.map(|(_, value)| *value as u64).sum()
    }
}

#[test]
fn each_stage_has_exactly_the_rows_that_mean_something() {
    let server = start(&small());
    let scrape = Scrape::of(server.addresses().admin);
    let rows = |stage: &str| -> Vec<&str> {
        [
            "limit",
            "occupancy",
            "occupancy_seconds_total",
            "waiting",
            "waiting_seconds_total",
            "wait_seconds_total",
            "entries_total",
            "waits_total",
            "refused_total",
        ]
        .into_iter()
        .filter(|metric| {
            scrape
                .find(&format!("weir_stage_{metric}{{stage=\"{stage}\"}}"))
                .is_some()
        })
        .collect()
    };
    assert_eq!(rows("backlog"), ["limit", "occupancy"]);
    assert_eq!(
        rows("connections"),
        [
            "limit",
            "occupancy",
            "occupancy_seconds_total",
            "entries_total"
        ]
    );
    assert_eq!(
        rows("request-queue"),
        [
            "occupancy",
            "occupancy_seconds_total",
            "waiting",
            "waiting_seconds_total",
            "wait_seconds_total",
            "entries_total",
            "waits_total",
        ]
    );
    assert_eq!(
        rows("threads"),
        [
            "limit",
            "occupancy",
            "occupancy_seconds_total",
            "entries_total"
        ]
    );
    assert_eq!(
        rows("pool.db"),
        [
            "limit",
            "occupancy",
            "occupancy_seconds_total",
            "waiting",
            "waiting_seconds_total",
            "wait_seconds_total",
            "entries_total",
            "waits_total",
        ]
    );
    assert_eq!(
        rows("database"),
        ["occupancy", "occupancy_seconds_total", "entries_total"]
    );
}

#[test]
fn the_page_is_prometheus_text_with_units_and_facts() {
    let server = start(&small());
    let page = get(server.addresses().admin, "/metrics");
    assert!(
        page.head
            .contains("Content-Type: text/plain; version=0.0.4")
    );
    let mut described = "";
    for line in page.body.lines() {
        match line.strip_prefix("# HELP ") {
            Some(help) => described = help.split(' ').next().unwrap(),
            None if line.starts_with("# TYPE ") => {
                assert!(line.starts_with(&format!("# TYPE {described} ")));
            }
            None => assert!(
                line.starts_with(described),
                "{line} stands under {described}"
            ),
        }
    }
    let scrape = Scrape::of(server.addresses().admin);
    assert_eq!(
        scrape
            .get(concat!(
                "weir_sample_info{version=\"",
                env!("CARGO_PKG_VERSION"),
                "\"}"
            ))
            .to_bits(),
        1_f64.to_bits()
    );
    assert!(scrape.get("process_start_time_seconds") > 1.7e9);
    assert_eq!(scrape.get("weir_threads") as u64, 4);
}

#[test]
fn metrics_answer_while_every_worker_is_blocked() {
    let server = start(&small());
    let addresses = server.addresses();
    let _clients = occupy(addresses.listen, "/stress?searchTime=600000&bit=16", 12);
    // A worker that has just taken a request is none that waits for a connection yet.
    let scrape = Scrape::when(addresses.admin, |scrape| {
        scrape.count("request-queue", "waiting") == 8
            && scrape.count("threads", "occupancy") == 4
            && scrape.count("pool.db", "waiting") == 2
    });
    assert_eq!(
        (
            scrape.count("threads", "occupancy"),
            scrape.count("pool.db", "occupancy")
        ),
        (4, 2)
    );
    // An admin client that keeps its connection open keeps nobody else out.
    let mut kept = Client::connect(addresses.admin);
    assert_eq!(kept.get("/metrics").status, 200);
    assert_eq!(get(addresses.admin, "/limits").status, 200);
    assert_eq!(kept.get("/limits").status, 200);
}

/// Two scrapes give the mean occupancy, the mean wait and the throughput of the time between them.
#[test]
fn means_between_two_scrapes_agree_with_littles_law() {
    let server = start(&weir_sample::Options {
        threads: 8,
        pool: 2,
        ..small()
    });
    let addresses = server.addresses();
    let before = Scrape::of(addresses.admin);
    let began = Instant::now();
    for _ in 0..4 {
        all_answered(get_at_once(
            addresses.listen,
            "/stress?searchTime=50&updateTime=30&bit=16&interval=0",
            12,
        ));
    }
    let idle = |scrape: &Scrape| scrape.count("threads", "occupancy") == 0;
    let after = Scrape::when(addresses.admin, idle);
    let elapsed = began.elapsed().as_secs_f64();
    let grown =
        |stage: &str, metric: &str| after.stage(stage, metric) - before.stage(stage, metric);

    assert_eq!(grown("threads", "entries_total") as u64, 48);
    // Two acquisitions each, held for 80 ms together, and a little longer since a sleep never ends
    // early.
    assert_eq!(grown("pool.db", "entries_total") as u64, 96);
    let held = grown("pool.db", "occupancy_seconds_total");
    assert!(
        (48.0 * 0.080..2.0 * elapsed).contains(&held),
        "{held} s held in {elapsed} s"
    );
    // Nothing waits at either scrape, so the integral of the line's length is the sum of the waits.
    for stage in ["request-queue", "pool.db"] {
        let (integral, waits) = (
            grown(stage, "waiting_seconds_total"),
            grown(stage, "wait_seconds_total"),
        );
        assert!(
            waits > 0.1 && (integral - waits).abs() < 1e-6 * waits,
            "{stage}: {integral} s and {waits} s"
        );
    }
    // Readable to sent is waiting for a thread and having one.
    let response = after.get("weir_response_seconds_total");
    let inside =
        grown("request-queue", "wait_seconds_total") + grown("threads", "occupancy_seconds_total");
    assert!(
        (response - inside).abs() < 1e-6 * response,
        "{response} s and {inside} s"
    );
}

#[test]
fn the_part_since_the_last_change_is_in_the_integral() {
    let server = start(&small());
    let addresses = server.addresses();
    let _client = occupy(addresses.listen, "/stress?searchTime=600000&bit=16", 1);
    let first = Scrape::when(addresses.admin, |scrape| {
        scrape.count("pool.db", "occupancy") == 1
    });
    let integral = |scrape: &Scrape| scrape.stage("pool.db", "occupancy_seconds_total");
    // Nothing changes in the pool between these scrapes, yet the integral grows.
    let second = Scrape::when(addresses.admin, |scrape| {
        integral(scrape) > integral(&first) + 0.05
    });
    assert_eq!(second.count("pool.db", "entries_total"), 1);
    assert_eq!(second.count("pool.db", "occupancy"), 1);
}
