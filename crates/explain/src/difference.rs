//! Two runs that differ: whose time grew by as much as the response time did.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::diagnosis::Diagnosis;
use crate::hypothesis::Verdict;
use crate::rank::{Candidate, explains_most};
use crate::threshold::MATTERS;
use crate::words::{percent, time};

/// The smallest change of the mean response time that there is something to explain of: `weir
/// compare`'s own margin.
const DIFFERENCE_MIN: f64 = 0.05;

/// Hypotheses whose time is the most that it can be, and counts only where the slower run supports
/// them. Retransmission timers may be somebody else's, and connections may be held up by those. A
/// stage may be full because of what is behind it, and processes may be started fast enough. The
/// system's work need not be that of idle threads, time that nothing accounts for need not be a
/// lock, and the kernel's own work looks like a neighbour.
const AT_MOST: [&str; 7] = [
    "network",
    "connects",
    "limit",
    "spawn-rate",
    "locks",
    "idle-threads",
    "neighbour",
];

/// Why two runs differ.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DifferenceDiagnosis {
    /// How much longer a request took in the second run, in milliseconds; negative: shorter.
    pub response_mean_grew_ms: Option<f64>,
    /// Each hypothesis' part in that.
    pub hypotheses: Vec<ChangedTime>,
    /// The hypothesis with the largest part; null when none is supported.
    pub first: Option<String>,
    /// The answer in a sentence.
    pub summary: String,
}

/// A hypothesis in two runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChangedTime {
    /// The hypothesis.
    pub id: String,
    /// Whether it explains the difference.
    pub verdict: Verdict,
    /// Time of a request that it accounts for in each run, in milliseconds; null where that was
    /// not recorded.
    pub time_ms: [Option<f64>; 2],
    /// Its part in the difference of the response times, as a share; above 1: something else made
    /// up for a part of it.
    pub part: Option<f64>,
}

/// Says which hypotheses explain that the second run's requests took another time than the first
/// one's.
pub fn diagnose_difference(first: &Diagnosis, second: &Diagnosis) -> DifferenceDiagnosis {
    let grew_ms = second
        .response_mean_ms
        .zip(first.response_mean_ms)
        .map(|(second, first)| second - first);
    let matters = grew_ms
        .zip(first.response_mean_ms)
        .map(|(grew, first)| grew.abs() >= DIFFERENCE_MIN * first);
    let slower = if grew_ms.is_some_and(|grew| grew < 0.0) {
        first
    } else {
        second
    };
    // What only one of the two servers can have is in its run alone.
    let of_second = second.hypotheses.iter();
    let only_second = of_second.filter(|found| first.hypothesis(&found.id).is_none());
    let hypotheses: Vec<ChangedTime> = first
        .hypotheses
        .iter()
        .chain(only_second)
        .map(|hypothesis| {
            let time_ms = [first, second].map(|run| time_of(run, &hypothesis.id));
            // Time that may be somebody else's explains nothing.
            let in_slower = slower.hypothesis(&hypothesis.id).map(|found| found.verdict);
            let part = part(time_ms, grew_ms)
                .filter(|_| in_slower.is_some_and(|found| found != Verdict::NotMeasured));
            let counts =
                !AT_MOST.contains(&hypothesis.id.as_str()) || in_slower == Some(Verdict::Supported);
            let verdict = match (matters, part) {
                (Some(false), _) => Verdict::NotSupported,
                (_, None) => Verdict::NotMeasured,
                (_, Some(part)) if part >= MATTERS && counts => Verdict::Supported,
                _ => Verdict::NotSupported,
            };
            ChangedTime {
                id: hypothesis.id.clone(),
                verdict,
                time_ms,
                part,
            }
        })
        .collect();
    let spoilt = [(first, "first"), (second, "second")]
        .into_iter()
        .find(|(run, _)| run.load_tool_was_the_limit());
    if let Some((_, which)) = spoilt.filter(|_| matters == Some(true)) {
        return DifferenceDiagnosis {
            response_mean_grew_ms: grew_ms,
            first: Some("load-tool".to_owned()),
            summary: format!(
                "The load generator was the limit in the {which} run: its times are the load generator's, and tell nothing of the server."
            ),
            hypotheses: only_load_tool(hypotheses),
        };
    }
    let supported = hypotheses
        .iter()
        .filter(|changed| changed.verdict == Verdict::Supported);
    let candidates: Vec<Candidate<'_>> = supported
        .map(|changed| Candidate {
            id: &changed.id,
            share: changed.part,
            within: changed.part,
        })
        .collect();
    let largest = explains_most(&candidates, false);
    let largest = hypotheses
        .iter()
        .find(|changed| Some(changed.id.as_str()) == largest);
    let summary = summary(grew_ms, matters, largest);
    DifferenceDiagnosis {
        response_mean_grew_ms: grew_ms,
        first: largest.map(|changed| changed.id.clone()),
        hypotheses,
        summary,
    }
}

/// Where a load generator was the limit nothing else was measured.
fn only_load_tool(hypotheses: Vec<ChangedTime>) -> Vec<ChangedTime> {
    let judged = hypotheses.into_iter().map(|mut changed| {
        changed.verdict = if changed.id == "load-tool" {
            Verdict::Supported
        } else {
            Verdict::NotMeasured
        };
        changed
    });
    judged.collect()
}

fn time_of(run: &Diagnosis, id: &str) -> Option<f64> {
    let hypothesis = run.hypothesis(id)?;
    Some(hypothesis.share? * run.response_mean_ms?)
}

fn part([first, second]: [Option<f64>; 2], grew_ms: Option<f64>) -> Option<f64> {
    let grew_ms = grew_ms.filter(|grew| *grew != 0.0)?;
    Some((second? - first?) / grew_ms)
}

fn summary(grew_ms: Option<f64>, matters: Option<bool>, largest: Option<&ChangedTime>) -> String {
    let (Some(grew_ms), Some(matters)) = (grew_ms, matters) else {
        return "The response times of one of the two are not known: there is no difference to explain.".to_owned();
    };
    if !matters {
        return format!(
            "The mean response times differ by {}, less than 5 %: nothing to explain.",
            time(grew_ms.abs() / 1e3)
        );
    }
    let word = if grew_ms > 0.0 { "longer" } else { "shorter" };
    let took = format!("Requests took {} {word}", time(grew_ms.abs() / 1e3));
    match largest {
        Some(changed) => {
            let times = changed
                .time_ms
                .map(|ms| ms.map_or_else(|| "?".to_owned(), |ms| time(ms / 1e3)));
            format!(
                "{took}; {} of that is explained by `{}`: {} of a request before, {} now.",
                percent(changed.part.unwrap_or_default()),
                changed.id,
                times[0],
                times[1]
            )
        }
        None => {
            format!("{took}; no hypothesis that was measured in both explains a tenth of that.")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnosis::diagnose;
    use crate::evidence::made::evidence;

    /// A run with requests of so many seconds and these signals.
    fn run(mean_s: f64, signals: &[(&str, f64)]) -> Diagnosis {
        let mut made = evidence(signals);
        made.mean_s = Some(mean_s);
        made.in_flight = Some(mean_s * 100.0);
        diagnose(&made)
    }

    const BEFORE: [(&str, f64); 4] = [
        ("target.run-queue-wait", 0.5),
        ("target.blocked", 0.0),
        ("pool.db.waiting", 0.0),
        ("pool.db.occupancy", 2.0),
    ];

    #[test]
    fn what_grew_with_the_response_time_explains_it() {
        let after = [("target.run-queue-wait", 0.5), ("target.blocked", 9.0)];
        let found = diagnose_difference(&run(0.1, &BEFORE), &run(0.2, &after));
        assert_eq!(found.first.as_deref(), Some("disk"), "{found:#?}");
        assert!(found.summary.contains("90 % of that"), "{}", found.summary);
        let scheduler = found
            .hypotheses
            .iter()
            .find(|changed| changed.id == "scheduler");
        assert_eq!(
            scheduler.map(|changed| changed.verdict),
            Some(Verdict::NotSupported)
        );
    }

    /// A server whose requests hardly work: they stand somewhere.
    fn standing_with<'a>(more: &[(&'a str, f64)]) -> Vec<(&'a str, f64)> {
        let standing = [
            ("target.cpu.user", 0.5),
            ("target.cpu.system", 0.0),
            ("target.run-queue-wait", 0.1),
        ];
        [standing.as_slice(), more].concat()
    }

    #[test]
    fn what_was_not_there_before_explains_what_came() {
        // Before, the requests' time is work and waiting for the pool, which is not full.
        let before = standing_with(&[
            ("pool.db.waiting", 0.4),
            ("pool.db.occupancy", 2.0),
            ("pool.db.limit", 10.0),
            ("request-threads.seen", 8.0),
            ("request-threads.monitor", 0.0),
            ("request-threads.lock", 0.0),
        ]);
        let locked = standing_with(&[
            ("request-threads.seen", 8.0),
            ("request-threads.monitor", 7.5),
            ("request-threads.lock", 0.0),
            ("pool.db.waiting", 0.4),
        ]);
        let found = diagnose_difference(&run(0.01, &before), &run(0.1, &locked));
        assert_eq!(found.first.as_deref(), Some("locks"), "{found:#?}");
        let small = standing_with(&[
            ("pool.db.waiting", 9.0),
            ("pool.db.occupancy", 2.0),
            ("pool.db.limit", 2.0),
            ("locks.contended", 0.0),
        ]);
        let found = diagnose_difference(&run(0.01, &before), &run(0.1, &small));
        assert_eq!(found.first.as_deref(), Some("limit"), "{found:#?}");
    }

    #[test]
    fn time_that_is_the_most_it_can_be_counts_only_where_it_is_supported() {
        let quiet = [("tcp.retransmissions", 0.0), ("tcp.syn-retries", 0.0)];
        let others = [("tcp.retransmissions", 20.0), ("tcp.syn-retries", 0.0)];
        let quick = |mean_s: f64, signals: &[(&str, f64)]| {
            let mut made = evidence(signals);
            made.mean_s = Some(mean_s);
            made.in_flight = Some(mean_s * 100.0);
            made.p99_s = Some(0.15);
            diagnose(&made)
        };
        let found = diagnose_difference(&quick(0.1, &quiet), &quick(0.12, &others));
        assert_eq!(
            found.first, None,
            "no request took as long as a timer: {found:#?}"
        );
    }

    #[test]
    fn connections_that_lost_packets_hold_up_are_the_networks() {
        let quiet = [
            ("tcp.retransmissions", 0.0),
            ("tcp.syn-retries", 0.0),
            ("load.connecting", 0.1),
        ];
        let lossy = [
            ("tcp.retransmissions", 0.0),
            ("tcp.syn-retries", 9.0),
            ("load.connecting", 9.1),
        ];
        let lost = |mean_s: f64, signals: &[(&str, f64)]| {
            let mut made = evidence(signals);
            made.mean_s = Some(mean_s);
            made.in_flight = Some(mean_s * 100.0);
            made.p99_s = Some(1.05);
            diagnose(&made)
        };
        let found = diagnose_difference(&lost(0.01, &quiet), &lost(0.1, &lossy));
        assert_eq!(found.first.as_deref(), Some("network"), "{found:#?}");
        let tls = [quiet.as_slice(), &[("load.connecting", 9.1)]].concat();
        let found = diagnose_difference(&lost(0.01, &quiet), &lost(0.1, &tls));
        assert_eq!(found.first.as_deref(), Some("connects"), "{found:#?}");
    }

    #[test]
    fn a_load_tool_that_was_the_limit_is_the_whole_answer() {
        let spoilt = [BEFORE.as_slice(), &[("load.cpu", 0.97), ("load.cpus", 1.0)]].concat();
        let found = diagnose_difference(&run(0.1, &BEFORE), &run(0.3, &spoilt));
        assert_eq!(found.first.as_deref(), Some("load-tool"));
        assert!(
            found.summary.contains("in the second run"),
            "{}",
            found.summary
        );
    }

    /// Its threads waited for a CPU for 15 % of the response time, and the disk took nothing.
    #[test]
    fn a_load_tool_that_only_waited_leaves_the_rest_to_the_server() {
        let waited = |waited| {
            [
                ("load.cpu", 0.1),
                ("load.cpus", 1.0),
                ("load.run-queue-wait", waited),
                ("load.time-slices", 50.0),
                ("target.run-queue-wait", 0.0),
                ("target.blocked", 0.0),
            ]
        };
        let before = run(0.1, &waited(0.0));
        let after = run(0.2, &waited(1.5));
        assert_eq!(after.first.as_deref(), Some("load-tool"), "{after:#?}");
        assert!(!after.load_tool_was_the_limit());
        let found = diagnose_difference(&before, &after);
        let disk = found.hypotheses.iter().find(|changed| changed.id == "disk");
        assert_eq!(disk.map(|disk| disk.verdict), Some(Verdict::NotSupported));
    }

    #[test]
    fn runs_that_do_not_differ_have_nothing_to_explain() {
        let found = diagnose_difference(&run(0.1, &BEFORE), &run(0.102, &BEFORE));
        assert_eq!(found.first, None);
        assert!(
            found.summary.ends_with("nothing to explain."),
            "{}",
            found.summary
        );
    }

    #[test]
    fn what_one_run_does_not_tell_is_not_measured() {
        let found = diagnose_difference(&run(0.1, &[]), &run(0.2, &BEFORE));
        assert!(
            found
                .hypotheses
                .iter()
                .all(|changed| changed.verdict == Verdict::NotMeasured),
            "{found:#?}"
        );
    }
}
