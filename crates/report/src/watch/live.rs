//! The present second of a watch: as a panel of a terminal, and as one line.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use weir_metric::{is_stage, stage_place};
use weir_record::Reading;

use crate::figures::{number, unit_of};
use crate::grid::{Align, Grid, cut};

/// What is shown of one second.
#[derive(Debug, Clone, Copy)]
pub struct LiveSecond<'a> {
    /// What is watched, in words.
    pub target: &'a str,
    /// Seconds since the start.
    pub seconds: u64,
    /// Seconds that were missed until now.
    pub missed: u64,
    /// What was read; `None` when this second was missed.
    pub reading: Option<&'a Reading>,
    /// Limits of stages that are known although nobody tells them each second.
    pub limits: &'a BTreeMap<String, f64>,
}

/// Groups of threads that a panel shows.
const GROUPS: usize = 6;
/// What stands for a figure that nobody told.
const NONE: &str = "–";

impl LiveSecond<'_> {
    fn read(&self, name: &str) -> Option<f64> {
        self.reading?.get(name).copied()
    }

    fn text(&self, name: &str) -> String {
        let value = self.read(name);
        value.map_or_else(|| NONE.to_owned(), |value| unit_of(name).text(value))
    }

    fn limit(&self, stage: &str) -> Option<f64> {
        let told = self.read(&format!("{stage}.limit"));
        told.or_else(|| self.limits.get(stage).copied())
    }

    /// The stages of which anything is known, in the order of the funnel.
    fn stages(&self) -> Vec<String> {
        let quantities = [".occupancy", ".waiting", ".limit"];
        let told = self.reading.into_iter().flat_map(|reading| {
            reading.keys().filter_map(|name| {
                let stage = quantities.iter().find_map(|q| name.strip_suffix(q))?;
                is_stage(stage).then(|| stage.to_owned())
            })
        });
        let mut stages: Vec<String> = told.chain(self.limits.keys().cloned()).collect();
        stages.sort_by(|a, b| (stage_place(a), a).cmp(&(stage_place(b), b)));
        stages.dedup();
        stages
    }

    /// The watched ports, in order.
    fn ports(&self) -> Vec<u16> {
        let names = self.reading.into_iter().flat_map(BTreeMap::keys);
        names
            .filter_map(|name| {
                let port = name.strip_prefix("tcp.")?.strip_suffix(".established")?;
                port.parse().ok()
            })
            .collect()
    }
}

/// A panel of lines, each at most this wide: the funnel, CPU, connections, collections, threads by
/// name.
pub fn panel(second: &LiveSecond<'_>, width: usize) -> Vec<String> {
    let mut lines = vec![format!(
        "{}  ·  {} s, {} missed",
        second.target, second.seconds, second.missed
    )];
    if second.reading.is_none() {
        lines.push("this second was missed".to_owned());
    }
    lines.push(String::new());
    lines.extend(funnel(second));
    lines.push(String::new());
    lines.extend(machine(second));
    lines.extend(connections(second));
    lines.extend(virtual_machine(second));
    lines.extend(groups(second));
    lines.iter().map(|line| cut(line, width)).collect()
}

fn funnel(second: &LiveSecond<'_>) -> Vec<String> {
    let mut grid = Grid::new(&[
        ("stage", Align::Left),
        ("in use", Align::Right),
        ("limit", Align::Right),
        ("waiting", Align::Right),
        ("wait", Align::Right),
        ("idle", Align::Right),
        ("entered", Align::Right),
    ]);
    let stages = second.stages();
    if stages.is_empty() {
        return vec![
            "no stage tells anything; --metrics and --jolokia name where a server does".to_owned(),
        ];
    }
    for stage in stages {
        let of = |what: &str| second.text(&format!("{stage}.{what}"));
        let limit = second.limit(&stage).map(number);
        grid.row(vec![
            stage.clone(),
            of("occupancy"),
            limit.unwrap_or_else(|| NONE.to_owned()),
            of("waiting"),
            of("wait"),
            of("idle"),
            of("entries"),
        ]);
    }
    grid.lines("").lines().map(str::to_owned).collect()
}

fn machine(second: &LiveSecond<'_>) -> Vec<String> {
    let own = ["target.cpu.user", "target.cpu.system"].map(|name| second.read(name));
    let cores = own[0].zip(own[1]).map(|(user, system)| user + system);
    let mut lines = vec![format!(
        "CPU      {}   user {}   system {}   steal {}   target {} cores   ready and waiting {}",
        second.text("cpu"),
        second.text("cpu.user"),
        second.text("cpu.system"),
        second.text("cpu.steal"),
        cores.map_or_else(|| NONE.to_owned(), number),
        second.text("target.run-queue-wait"),
    )];
    if second.read("target.memory.rss").is_some() {
        lines.push(format!(
            "process  {} resident   {} threads   {} process(es)",
            second.text("target.memory.rss"),
            second.text("target.threads"),
            second.text("target.processes"),
        ));
    }
    lines
}

fn connections(second: &LiveSecond<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    for port in second.ports() {
        let of = |what: &str| second.text(&format!("tcp.{port}.{what}"));
        lines.push(format!(
            "TCP :{port}  established {}   accept queue {} of {}   syn-recv {}   close-wait {}   time-wait {}",
            of("established"),
            of("accept-queue"),
            of("accept-queue.limit"),
            of("syn-recv"),
            of("close-wait"),
            of("time-wait"),
        ));
    }
    if second.read("tcp.listen-overflows").is_some() {
        let of = |what: &str| second.text(&format!("tcp.{what}"));
        lines.push(format!(
            "TCP      overflows {}   drops {}   SYN retries {}   retransmissions {}",
            of("listen-overflows"),
            of("listen-drops"),
            of("syn-retries"),
            of("retransmissions"),
        ));
    }
    lines
}

fn virtual_machine(second: &LiveSecond<'_>) -> Option<String> {
    second.read("gc.time").or(second.read("gc.count"))?;
    Some(format!(
        "GC       {} of the time   {}   all threads stopped {}   threads {}",
        second.text("gc.time"),
        second.text("gc.count"),
        second.text("safepoints.time"),
        second.text("jvm.threads"),
    ))
}

/// Threads by name, the largest groups first.
fn groups(second: &LiveSecond<'_>) -> Option<String> {
    let names = second.reading?.iter();
    let mut groups: Vec<(&str, f64, f64)> = names
        .filter_map(|(name, &running)| {
            let group = name.strip_prefix("census.")?.strip_suffix(".running")?;
            Some((group, second.read(&format!("census.{group}"))?, running))
        })
        .filter(|(_, threads, _)| *threads > 0.0)
        .collect();
    groups.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut text = "names   ".to_owned();
    for (group, threads, running) in groups.iter().take(GROUPS) {
        // Writing to a text does not fail.
        let _ = write!(text, " {group} {threads}");
        if *running > 0.0 {
            let _ = write!(text, " ({running} running)");
        }
        text.push(' ');
    }
    (!groups.is_empty()).then(|| text.trim_end().to_owned())
}

/// The second as one line, for logs.
pub fn line(second: &LiveSecond<'_>) -> String {
    let mut parts = vec![format!("{:>6} s", second.seconds)];
    if second.reading.is_none() {
        parts.push("missed".to_owned());
    }
    let mut put = |what: &str, name: &str| {
        if let Some(value) = second.read(name) {
            parts.push(format!("{what} {}", unit_of(name).text(value)));
        }
    };
    put("CPU", "cpu");
    put("memory", "target.memory.rss");
    put("collecting", "gc.time");
    for port in second.ports() {
        put("established", &format!("tcp.{port}.established"));
        put("accept queue", &format!("tcp.{port}.accept-queue"));
    }
    for stage in second.stages() {
        let Some(occupancy) = second.read(&format!("{stage}.occupancy")) else {
            continue;
        };
        let limit = second.limit(&stage);
        let limit = limit.map_or_else(String::new, |limit| format!("/{}", number(limit)));
        let waiting = second.read(&format!("{stage}.waiting"));
        let waiting = waiting
            .filter(|&waiting| waiting > 0.0)
            .map_or_else(String::new, |waiting| {
                format!(" +{} waiting", number(waiting))
            });
        parts.push(format!("{stage} {}{limit}{waiting}", number(occupancy)));
    }
    parts.join("  ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading() -> Reading {
        [
            ("cpu", 0.793),
            ("threads.occupancy", 50.0),
            ("pool.db.occupancy", 10.0),
            ("pool.db.limit", 10.0),
            ("pool.db.waiting", 15.0),
            ("pool.db.wait", 2.5),
            ("tcp.8080.established", 101.0),
            ("tcp.8080.accept-queue", 3.0),
            ("tcp.8080.accept-queue.limit", 100.0),
            ("gc.time", 0.012),
            ("census.http-nio", 50.0),
            ("census.http-nio.running", 3.0),
        ]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
    }

    fn second<'a>(
        reading: Option<&'a Reading>,
        limits: &'a BTreeMap<String, f64>,
    ) -> LiveSecond<'a> {
        LiveSecond {
            target: "process 4711 (java)",
            seconds: 61,
            missed: 1,
            reading,
            limits,
        }
    }

    #[test]
    fn a_line_has_what_is_known_in_the_order_of_the_funnel() {
        let limits = BTreeMap::from([("threads".to_owned(), 200.0)]);
        let reading = reading();
        assert_eq!(
            line(&second(Some(&reading), &limits)),
            "    61 s  CPU 79.3 %  collecting 1.2 %  established 101  accept queue 3  threads 50/200  \
             pool.db 10/10 +15 waiting"
        );
        assert_eq!(line(&second(None, &limits)), "    61 s  missed");
    }

    #[test]
    fn a_panel_shows_the_funnel_and_marks_what_nobody_told() {
        let limits = BTreeMap::from([("threads".to_owned(), 200.0)]);
        let reading = reading();
        let lines = panel(&second(Some(&reading), &limits), 100);
        let squeezed = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        let text: Vec<String> = lines.iter().map(|line| squeezed(line)).collect();
        for expected in [
            "process 4711 (java) · 61 s, 1 missed",
            "threads 50 200 – – – –",
            "pool.db 10 10 15 2.5 s – –",
            "TCP :8080 established 101 accept queue 3 of 100 syn-recv – close-wait – time-wait –",
            "GC 1.2 % of the time – all threads stopped – threads –",
            "names http-nio 50 (3 running)",
        ] {
            assert!(
                text.iter().any(|line| line == expected),
                "{expected}: {text:#?}"
            );
        }
        assert!(
            panel(&second(Some(&reading), &limits), 30)
                .iter()
                .all(|line| line.chars().count() <= 30)
        );
        let missed = panel(&second(None, &BTreeMap::new()), 100);
        assert_eq!(missed[1], "this second was missed");
    }
}
