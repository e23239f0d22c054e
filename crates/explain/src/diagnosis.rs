//! All hypotheses of one run, and what they come to.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::evidence::{CONNECTIONS, Evidence};
use crate::hypotheses::{
    clock::clock,
    compilation::compilation,
    connects::connects,
    cpu,
    disk::disk,
    downstream::downstream,
    garbage::garbage,
    idle_threads::idle_threads,
    limits::limits,
    load_tool::load_tool,
    locks,
    neighbour::neighbour,
    network::{in_timers, network},
    paging::paging,
    quota::{held_by_quota, quota},
    scheduler::scheduler,
    spawn_rate::spawn_rate,
    system_services::{name_lookup, random_numbers},
};
use crate::hypothesis::{Hypothesis, Verdict};
use crate::rank::{Candidate, explains_most};
use crate::threshold::MATTERS;
use crate::time::{ON_A_CPU, TimePart, time};
use crate::without::Without;
use crate::words::percent;

/// What the figures of one run say of every hypothesis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Diagnosis {
    /// The run.
    pub run: String,
    /// The trial whose figures these are; null for a watch without load.
    pub trial: Option<u32>,
    /// Requests answered per second.
    pub throughput_per_s: Option<f64>,
    /// Mean time of a request, in milliseconds.
    pub response_mean_ms: Option<f64>,
    /// 99th percentile of the response time, in milliseconds.
    pub response_p99_ms: Option<f64>,
    /// Requests in flight on average.
    pub in_flight: Option<f64>,
    /// Where the requests' time went, as far as it was recorded.
    pub time: Vec<TimePart>,
    /// Every hypothesis that this kind of server can have, in a fixed order.
    pub hypotheses: Vec<Hypothesis>,
    /// The hypothesis that explains most; null when none is supported.
    pub first: Option<String>,
    /// The answer in a sentence or two.
    pub summary: String,
    /// What the run notes beside its figures, such as requests that were sent again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Findings of the study, by id, that rest on this trial and that the figures speak against:
    /// one of the two is wrong.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contradicts: Vec<String>,
}

/// Tests every hypothesis on the figures of a run.
pub fn diagnose(evidence: &Evidence) -> Diagnosis {
    let disk = disk(evidence);
    let garbage = evidence.may_collect().then(|| garbage(evidence));
    let locks = locks::locks(evidence);
    let neighbour = neighbour(evidence);
    let behind = [
        (Some(&disk), "the disk"),
        (Some(&locks), "a lock"),
        (garbage.as_ref(), "the garbage collector"),
        (Some(&neighbour), "another process"),
    ];
    let behind = behind
        .iter()
        .find(|(found, _)| found.is_some_and(Hypothesis::is_supported));
    let limits = limits(evidence, behind.map(|(_, words)| *words));
    let held = limits.is_supported() || behind.is_some() || cpu::holds(evidence) != Some(false);
    let network = network(evidence, held);
    let door = if network.is_supported() {
        Some("the network")
    } else {
        limits.is_supported().then_some("a limit")
    };
    let mut hypotheses: Vec<Hypothesis> = [
        Some(load_tool(evidence)),
        connects(evidence, door),
        Some(network),
        Some(limits),
        spawn_rate(evidence),
        Some(locks),
        garbage,
        compilation(evidence),
        Some(paging(evidence)),
        Some(disk),
        Some(downstream(evidence)),
        name_lookup(evidence),
        random_numbers(evidence),
        Some(quota(evidence)),
        Some(idle_threads(evidence)),
        Some(cpu::cpu(evidence)),
        Some(neighbour),
        Some(scheduler(evidence)),
        Some(clock(evidence)),
    ]
    .into_iter()
    .flatten()
    .collect();
    for found in &mut hypotheses {
        found.without = Without::of(found, evidence);
    }
    let first = first(&hypotheses, evidence);
    let time = time(evidence);
    let summary = summary(&hypotheses, first.as_deref(), &time, evidence);
    Diagnosis {
        run: evidence.name.clone(),
        trial: evidence.trial,
        throughput_per_s: evidence.throughput_per_s,
        response_mean_ms: evidence.mean_s.map(|mean| mean * 1e3),
        response_p99_ms: evidence.p99_s.map(|p99| p99 * 1e3),
        in_flight: evidence.in_flight,
        time,
        hypotheses,
        first,
        summary,
        notes: evidence.notes.clone(),
        contradicts: evidence.contradicts.clone(),
    }
}

impl Diagnosis {
    /// The hypothesis of this name.
    pub fn hypothesis(&self, id: &str) -> Option<&Hypothesis> {
        self.hypotheses
            .iter()
            .find(|hypothesis| hypothesis.id == id)
    }

    /// Whether the load generator was the limit, so that nothing else was measured. One whose
    /// threads only waited for their CPU now and then has a share of the time, as others have.
    pub fn load_tool_was_the_limit(&self) -> bool {
        let tool = self.hypothesis("load-tool");
        tool.is_some_and(|tool| self.first.as_deref() == Some(&tool.id) && tool.share.is_none())
    }
}

/// The one that explains most.
fn first(hypotheses: &[Hypothesis], evidence: &Evidence) -> Option<String> {
    let supported = hypotheses.iter().filter(|found| found.is_supported());
    let candidates: Vec<Candidate<'_>> = supported
        .map(|found| Candidate {
            id: &found.id,
            share: weight(found, evidence),
            within: match found.id.as_str() {
                "network" => in_timers(evidence),
                "quota" => held_by_quota(evidence).or(found.share),
                _ => found.share,
            },
        })
        .collect();
    // No CPU is saved by a limit, but whoever it refuses is not only slow.
    let cpu_bounds = cpu::bounds_the_rest(evidence) && !evidence.refuses_anywhere();
    explains_most(&candidates, cpu_bounds).map(str::to_owned)
}

/// By what a hypothesis is compared with others: its share of the requests' time, or of the
/// requests that it kept from being answered, if that is more. A limit that refuses requests comes
/// before what makes them slow: whoever is refused comes again later and is another request then.
fn weight(found: &Hypothesis, evidence: &Evidence) -> Option<f64> {
    let kept = match found.id.as_str() {
        "limit" => evidence.refuses_anywhere().then_some(1.0),
        "network" => evidence.lost().filter(|_| !evidence.refuses(CONNECTIONS)),
        _ => None,
    };
    found.share.into_iter().chain(kept).reduce(f64::max)
}

fn summary(
    hypotheses: &[Hypothesis],
    first: Option<&str>,
    time: &[TimePart],
    evidence: &Evidence,
) -> String {
    let of = |verdict: Verdict| {
        hypotheses
            .iter()
            .filter(move |found| found.verdict == verdict)
    };
    let Some(first) = hypotheses
        .iter()
        .find(|found| Some(found.id.as_str()) == first)
    else {
        let open: Vec<&str> = of(Verdict::NotMeasured)
            .map(|found| found.id.as_str())
            .collect();
        let none = if open.is_empty() {
            "No hypothesis is supported by the figures of this run.".to_owned()
        } else {
            format!(
                "No hypothesis is supported; not measured: {}.",
                open.join(", ")
            )
        };
        return match time.iter().max_by(|a, b| a.share.total_cmp(&b.share)) {
            Some(most) if most.share >= MATTERS => {
                let share = percent(most.share);
                format!(
                    "{none} The largest part of the requests' time, {share}: {}.",
                    most.what
                )
            }
            _ => none,
        };
    };
    let share = first.share.map_or_else(String::new, |share| {
        format!(" ({} of the requests' time)", percent(share))
    });
    let with_share = |found: &Hypothesis| match found.share {
        Some(share) => format!("{} ({})", found.id, percent(share)),
        None => found.id.clone(),
    };
    let others: Vec<String> = of(Verdict::Supported)
        .filter(|found| found.id != first.id)
        .map(with_share)
        .collect();
    let others = if others.is_empty() {
        String::new()
    } else {
        format!(" Also supported: {}.", others.join(", "))
    };
    let work = mostly_work(first, time).map_or_else(String::new, |work| {
        format!(
            " Most of their time, {}, is the work itself on a CPU: less work a request shortens that, and this only the rest.",
            percent(work)
        )
    });
    let without = first.without.map_or_else(String::new, |without| {
        format!(" {}", without.says(first, evidence))
    });
    let (claim, says) = (&first.claim, &first.says);
    format!("{claim}{share}. {says}{without}{others}{work}")
}

/// The part of the requests' time that is work on a CPU, where the answer is something else that
/// accounts for less.
fn mostly_work(first: &Hypothesis, time: &[TimePart]) -> Option<f64> {
    let work = time.iter().find(|part| part.what == ON_A_CPU)?.share;
    let explained = first.share?;
    (work >= MOST && work > explained).then_some(work)
}

/// Part of the time from which on it is most of it.
const MOST: f64 = 0.5;
#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::made::evidence;

    /// The hypothesis that comes first for these figures.
    fn first_of(signals: &[(&str, f64)]) -> Option<String> {
        diagnose(&evidence(signals)).first
    }

    const WORKING: [(&str, f64); 6] = [
        ("cpu", 0.97),
        ("target.cpu.user", 1.8),
        ("target.cpu.system", 0.1),
        ("target.run-queue-wait", 7.0),
        ("load.cpu", 0.2),
        ("load.cpus", 1.0),
    ];

    fn with(change: &[(&str, f64)]) -> Option<String> {
        first_of(&[WORKING.as_slice(), change].concat())
    }

    #[test]
    fn the_narrower_explanation_comes_first() {
        assert_eq!(
            with(&[]).as_deref(),
            Some("cpu"),
            "not the waits in front of it"
        );
        let collecting = [
            ("gc.time", 0.6),
            ("gc.count", 10.0),
            ("target.run-queue-wait", 1.0),
        ];
        assert_eq!(with(&collecting).as_deref(), Some("garbage-collection"));
        let starved = [("target.cpu.user", 0.7), ("target.cpu.system", 0.0)];
        assert_eq!(with(&starved).as_deref(), Some("neighbour"));
        assert_eq!(with(&[("load.cpu", 0.95)]).as_deref(), Some("load-tool"));
        let storing = [
            ("target.blocked", 5.0),
            ("cpu", 0.5),
            ("target.run-queue-wait", 0.5),
        ];
        assert_eq!(with(&storing).as_deref(), Some("disk"));
    }

    /// One user of a server with virtual threads: 85 % CPU, which is not yet full.
    #[test]
    fn an_answer_that_is_less_than_the_work_itself_says_so() {
        let mut hops = evidence(&[
            ("cpu", 0.85),
            ("target.cpu.user", 0.7),
            ("target.cpu.system", 0.12),
            ("target.run-queue-wait", 0.14),
        ]);
        hops.in_flight = Some(1.0);
        hops.cpus = Some(1.0);
        let told = diagnose(&hops);
        assert_eq!(told.first.as_deref(), Some("scheduler"), "{}", told.summary);
        assert!(
            told.summary.contains("82 %, is the work itself"),
            "{}",
            told.summary
        );
        let full = diagnose(&evidence(&WORKING));
        assert!(
            !full.summary.contains("is the work itself"),
            "{}",
            full.summary
        );
    }

    #[test]
    fn what_takes_little_of_the_time_is_not_the_first_answer() {
        assert_eq!(
            with(&[("cpu.steal", 0.06)]).as_deref(),
            Some("cpu"),
            "6 % of steal make 1 % of the time"
        );
        let pauses = [("gc.time", 0.02), ("gc.count", 0.1)];
        let found = diagnose(&evidence(&[WORKING.as_slice(), &pauses].concat()));
        assert_eq!(found.first.as_deref(), Some("cpu"));
        assert!(
            found
                .summary
                .ends_with("Also supported: garbage-collection (4.0 %), scheduler (70 %)."),
            "{}",
            found.summary
        );
    }

    /// Eight of ten requests wait for a monitor while two compute on full CPUs: without the monitor
    /// they would wait for the CPUs.
    #[test]
    fn where_the_servers_own_work_fills_the_cpus_nothing_else_makes_requests_faster() {
        let locked = [
            ("target.run-queue-wait", 0.1),
            ("request-threads.seen", 10.0),
            ("request-threads.monitor", 8.0),
            ("request-threads.lock", 0.0),
            ("cpu", 0.99),
        ];
        let locked = [WORKING.as_slice(), &locked].concat();
        let with_elsewhere = |elsewhere| {
            let mut made = evidence(&locked);
            made.elsewhere = elsewhere;
            diagnose(&made).first
        };
        assert_eq!(with_elsewhere(0.0).as_deref(), Some("cpu"));
        assert_eq!(
            with_elsewhere(f64::INFINITY).as_deref(),
            Some("locks"),
            "requests that come whatever the server does wait less without it"
        );
    }

    /// Eight places, all taken, in front of which two hundred requests wait.
    fn full(holders: [(&'static str, f64); 3]) -> Diagnosis {
        let full = [
            ("cpu", 0.1),
            ("target.cpu.user", 0.1),
            ("target.cpu.system", 0.0),
            ("target.run-queue-wait", 0.0),
            ("target.blocked", 0.0),
            ("threads.occupancy", 8.0),
            ("threads.limit", 8.0),
            ("request-queue.waiting", 192.0),
            ("request-threads.seen", 8.0),
            ("request-threads.pool", 0.0),
            ("request-threads.lock", 0.0),
            ("request-threads.parked", 0.0),
        ];
        let mut made = evidence(&[full.as_slice(), &holders].concat());
        made.in_flight = Some(200.0);
        diagnose(&made)
    }

    #[test]
    fn a_lock_is_behind_the_threads_that_wait_for_it_and_who_waits_for_these() {
        let locked = full([
            ("request-threads.monitor", 7.0),
            ("request-threads.asleep", 1.0),
            ("request-threads.answer", 0.0),
        ]);
        assert_eq!(locked.first.as_deref(), Some("locks"), "{}", locked.summary);
        let found = |id: &str| {
            let mut all = locked.hypotheses.iter();
            all.find(|found| found.id == id)
                .map(|found| found.says.clone())
        };
        let limit = found("limit").unwrap_or_default();
        assert!(limit.contains("would only move the queue"), "{limit}");
        let locks = found("locks").unwrap_or_default();
        assert!(locks.contains("192 more requests waited"), "{locks}");
        // Of those that have a place few wait for it.
        let asleep = full([
            ("request-threads.monitor", 1.0),
            ("request-threads.asleep", 7.0),
            ("request-threads.answer", 0.0),
        ]);
        assert_eq!(asleep.first.as_deref(), Some("limit"), "{}", asleep.summary);
    }

    #[test]
    fn whether_a_higher_limit_helps_is_left_open_where_it_is_not_known() {
        let says = |of: &Diagnosis| {
            let limit = of.hypotheses.iter().find(|found| found.id == "limit");
            limit.map(|limit| limit.says.clone()).unwrap_or_default()
        };
        let away = full([
            ("request-threads.monitor", 0.0),
            ("request-threads.asleep", 0.0),
            ("request-threads.answer", 8.0),
        ]);
        assert_eq!(away.first.as_deref(), Some("limit"), "{}", away.summary);
        assert!(
            says(&away).contains("8.00 of those that have a place wait for another service"),
            "{}",
            says(&away)
        );
        let unseen = [
            ("threads.occupancy", 8.0),
            ("threads.limit", 8.0),
            ("request-queue.waiting", 2.0),
            ("cpu", 0.1),
        ];
        let unseen = diagnose(&evidence(&unseen));
        assert!(
            says(&unseen).contains("was not recorded"),
            "{}",
            says(&unseen)
        );
    }

    #[test]
    fn nobody_collects_the_garbage_of_a_server_without_any() {
        let of = |kind: &str, signals: &[(&str, f64)]| {
            let mut made = evidence(signals);
            made.kind = Some(kind.to_owned());
            let found = diagnose(&made);
            found.hypothesis("garbage-collection").is_some()
        };
        assert!(!of("httpd", &WORKING) && !of("nginx", &WORKING));
        assert!(of("external", &WORKING), "it may be anything");
        assert!(of("tomcat", &WORKING));
        assert!(of("builtin", &[("gc.time", 0.1)]), "it was told");
    }

    #[test]
    fn nothing_recorded_is_nothing_measured() {
        let empty = diagnose(&evidence(&[]));
        assert_eq!(empty.first, None);
        assert!(
            empty
                .hypotheses
                .iter()
                .all(|found| found.verdict == Verdict::NotMeasured),
            "{empty:#?}"
        );
        assert!(
            empty.summary.contains("not measured: load-tool"),
            "{}",
            empty.summary
        );
    }

    #[test]
    fn every_verdict_has_its_sentence_tests_and_a_trial_that_would_decide() {
        for found in diagnose(&evidence(&WORKING)).hypotheses {
            assert!(found.says.ends_with('.'), "{}: {}", found.id, found.says);
            assert!(!found.would_decide.is_empty(), "{}", found.id);
            assert!(
                !found.tests.is_empty() || found.id == "limit",
                "{}",
                found.id
            );
            for test in &found.tests {
                assert_eq!(
                    test.threshold.is_some(),
                    !test.because.is_empty(),
                    "{}",
                    test.what
                );
                assert!(!test.from.is_empty(), "{}", test.what);
            }
        }
    }
}
