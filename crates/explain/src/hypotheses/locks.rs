//! Requests wait for each other: locks, and safepoints that are no collections.

use weir_record::{Doing, are_most, names};

use crate::evidence::Evidence;
use crate::hypotheses::garbage::in_pauses;
use crate::hypotheses::limits::all_taken;
use crate::hypotheses::waiting_test;
use crate::hypothesis::{Hypothesis, Test, Unit, Verdict};
use crate::room;
use crate::threads::{request_cpu, requests_for_cpu};
use crate::threshold::{MATTERS, MATTERS_BECAUSE};
use crate::words::{capital, number, percent};

/// The signal that every thread dump tells.
const DUMPS: &str = "request-threads.seen";

pub(crate) fn locks(evidence: &Evidence) -> Hypothesis {
    let in_front = evidence
        .requests(Doing::WaitsForLock)
        .and_then(|waiting| in_front(evidence, waiting));
    let in_locks = room::seen(evidence, Doing::WaitsForLock);
    let share_in_locks = evidence.share_of_requests(in_locks);
    let rest = rest(evidence).map(|rest| rest + share_in_locks.unwrap_or(0.0));
    let what = match in_front {
        Some(_) => "in threads that wait for a lock, or in front of those",
        None => "in threads that wait for a lock",
    };
    let held = in_locks.map(|waiting| waiting + in_front.unwrap_or(0.0));
    let waits = waiting_test(evidence, what, held).from(Doing::WaitsForLock.signals());
    let unaccounted = Test::at_least(
        "share of the requests' time that is neither work nor a wait for CPU, pool, queue, disk or collector",
        rest,
        Unit::Share,
        (MATTERS, MATTERS_BECAUSE),
    )
    .from(&["throughput", "target.cpu.user", "target.run-queue-wait", "STAGE.waiting", "target.blocked", "gc.time"]);
    let contended = Test::figure(
        "waits for a monitor (`synchronized`)",
        evidence.per_request(evidence.signal("locks.contended")),
        Unit::PerRequest,
    )
    .from(&["locks.contended"]);
    let safepoints = Test::at_least(
        "share of the time in safepoints that were no collections",
        safepoints(evidence),
        Unit::Share,
        (MATTERS, MATTERS_BECAUSE),
    )
    .from(&["safepoints.time", "gc.time"]);
    let verdict = verdict([
        waits.speaks_for,
        safepoints.speaks_for,
        unaccounted.speaks_for,
    ]);
    let says = says(
        verdict,
        in_locks.map(|waiting| (waiting, in_front)),
        &unaccounted,
        &contended,
        &safepoints,
        evidence.why_not_read(DUMPS),
    );
    let share = if safepoints.speaks() {
        safepoints.figure
    } else {
        evidence.share_of_requests(held).or(rest)
    };
    Hypothesis::new("locks", "Requests wait for each other: locks, and safepoints that are no collections")
        .share(share)
        .test(waits)
        .test(unaccounted)
        .test(contended)
        .test(safepoints)
        .idea("thread-dumps", "three thread dumps under load (`jcmd PID Thread.print`): threads that stand at the same line and name the same lock")
        .trial("one-user", "the same run with one user. The response time falls to the work itself if requests wait for each other; it stays if they wait for something behind the server", ("users", 0.0))
        .verdict(verdict, says)
}

/// Requests that wait for a thread or a connection because most of those that have one wait for a
/// lock: more of them would only move the queue.
fn in_front(evidence: &Evidence, in_locks: f64) -> Option<f64> {
    let (taken, waiting) = all_taken(evidence)?;
    Some(waiting).filter(|_| are_most(in_locks, taken))
}

/// The time that threads were seen to wait for a lock decides. How often a monitor was found taken
/// says nothing of how long: where no time was seen, little time that is left speaks against locks,
/// and nothing speaks for them.
fn verdict([waits, stopped, unaccounted]: [Option<bool>; 3]) -> Verdict {
    match (waits, stopped, unaccounted) {
        (Some(true), ..) | (_, Some(true), _) => Verdict::Supported,
        (Some(false), ..) | (None, _, Some(false)) => Verdict::NotSupported,
        (None, ..) => Verdict::NotMeasured,
    }
}

/// Share of the requests' time that no other figure accounts for.
pub(crate) fn rest(evidence: &Evidence) -> Option<f64> {
    request_cpu(evidence).and(requests_for_cpu(evidence))?;
    let known = room::counted(evidence) + room::beside(evidence);
    let known = evidence.share_of_requests(Some(known))?;
    let stopped = in_pauses(evidence).unwrap_or(0.0);
    Some((1.0 - known - stopped).max(0.0))
}

/// Between which shares the rest lies at 95 %, as far as the figures that are taken away have
/// intervals. They count as independent, and the requests in flight as exact.
pub(crate) fn rest_within(evidence: &Evidence, rest: f64) -> Option<[f64; 2]> {
    let of_stages = evidence.stages().into_iter().map(|stage| {
        // Who waits for a thread stands in the queue before it.
        let stage = if stage == "threads" {
            "request-queue"
        } else {
            &stage
        };
        format!("{stage}.waiting")
    });
    let of_dumps = room::IN_DUMPS.into_iter().flat_map(Doing::signals).copied();
    let others = [
        "target.cpu.user",
        "target.cpu.system",
        "target.run-queue-wait",
        "target.blocked",
        names::CONNECTING,
    ];
    let others = others.into_iter().chain(of_dumps).map(str::to_owned);
    let mut taken_away: Vec<String> = of_stages.chain(others).collect();
    taken_away.sort();
    taken_away.dedup();
    let half = evidence.share_of_requests(evidence.half_width(&taken_away))?;
    Some([(rest - half).max(0.0), (rest + half).min(1.0)])
}

fn safepoints(evidence: &Evidence) -> Option<f64> {
    let all = evidence.signal("safepoints.time")?;
    Some((all - evidence.signal("gc.time")?).max(0.0))
}

fn says(
    verdict: Verdict,
    in_locks: Option<(f64, Option<f64>)>,
    unaccounted: &Test,
    contended: &Test,
    safepoints: &Test,
    why_no_dumps: Option<&str>,
) -> String {
    let stopped = safepoints
        .figure
        .filter(|_| safepoints.speaks())
        .map(|share| {
            format!(
                "safepoints other than collections took {} of the time",
                percent(share)
            )
        });
    if let Some((in_locks, in_front)) = in_locks {
        let waiting = format!(
            "{} of the threads that serve requests waited for a lock on average (thread dumps)",
            number(in_locks)
        );
        let before = in_front.map(|waiting| {
            format!(
                "{} more requests waited for a thread because of it",
                number(waiting)
            )
        });
        let parts = [Some(waiting), before, stopped];
        return format!(
            "{}.",
            parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
        );
    }
    let Some(rest) = unaccounted.figure else {
        let untold = "How much of the requests' time is left for locks cannot be told. It takes the response times of a load, \
                and the CPU time and waits of the server's process.";
        return match stopped {
            Some(stopped) => format!("{}. {untold}", capital(&stopped)),
            None => untold.to_owned(),
        };
    };
    let rest = format!(
        "{} of the requests' time is neither work nor a wait that is counted",
        percent(rest)
    );
    let monitors = contended.figure.map(|per_request| {
        format!(
            "threads waited for a monitor {} times a request, how long was not measured",
            number(per_request)
        )
    });
    let open = (verdict == Verdict::NotMeasured).then(|| match (why_no_dumps, contended.figure) {
        (Some(why), _) => why.to_owned(),
        (None, Some(_)) => "it can be locks, or something behind the server".to_owned(),
        (None, None) => "locks are counted of HotSpot virtual machines only; it can also be something behind the server".to_owned(),
    });
    let parts = [Some(rest), monitors, stopped, open];
    format!(
        "{}.",
        parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::made::{evidence, known_to, without};

    /// One of ten requests works, the others stand somewhere.
    const STANDING: [(&str, f64); 3] = [
        ("target.cpu.user", 1.0),
        ("target.cpu.system", 0.0),
        ("target.run-queue-wait", 0.1),
    ];

    /// Ten requests in flight, of which eight do nothing that is counted.
    #[test]
    fn the_rest_is_known_as_well_as_what_is_taken_away() {
        let told = [STANDING.as_slice(), &[("pool.db.waiting", 0.9)]].concat();
        let all = evidence(&told);
        let share = rest(&all).expect("all is known");
        assert!((share - 0.8).abs() < 1e-9, "{share}");
        assert_eq!(rest_within(&all, share), None, "nobody says how well");
        let known = known_to(all, &[("pool.db.waiting", 0.4), ("target.cpu.user", 0.3)]);
        let [low, high] = rest_within(&known, share).expect("intervals");
        assert!(
            (low - 0.75).abs() < 1e-9 && (high - 0.85).abs() < 1e-9,
            "{low} {high}"
        );
    }

    fn with(signals: &[(&str, f64)]) -> Hypothesis {
        locks(&evidence(&[STANDING.as_slice(), signals].concat()))
    }

    /// What thread dumps say of eight threads.
    fn dumps(doing: &'static str, threads: f64) -> Vec<(&'static str, f64)> {
        let mut told = vec![("threads.occupancy", 8.0), ("request-threads.seen", 8.0)];
        for signal in [
            "request-threads.monitor",
            "request-threads.lock",
            "request-threads.asleep",
            "request-threads.answer",
        ] {
            told.push((signal, if signal == doing { threads } else { 0.0 }));
        }
        told
    }

    #[test]
    fn threads_that_are_seen_to_wait_for_a_lock() {
        for kind in ["request-threads.monitor", "request-threads.lock"] {
            let bound = with(&dumps(kind, 7.0));
            assert_eq!(bound.verdict, Verdict::Supported, "{bound:#?}");
            assert!((bound.share.unwrap_or_default() - 0.7).abs() < 1e-9);
            let few = with(&dumps(kind, 0.5));
            assert_eq!(few.verdict, Verdict::NotSupported, "{few:#?}");
        }
    }

    /// How often is not how long: threads that sleep find a monitor taken now and then, too.
    #[test]
    fn counts_of_monitors_alone_support_nothing() {
        for contended in [1.0, 22.0, 90.0, 300.0] {
            let counted = with(&[("locks.contended", contended)]);
            assert_eq!(counted.verdict, Verdict::NotMeasured, "{counted:#?}");
            let asleep = [
                dumps("request-threads.asleep", 7.5).as_slice(),
                &[("locks.contended", contended)],
            ]
            .concat();
            assert_eq!(with(&asleep).verdict, Verdict::NotSupported, "{contended}");
        }
        assert_eq!(with(&[]).verdict, Verdict::NotMeasured);
        let open = locks(&without(
            evidence(&STANDING),
            DUMPS,
            "the next dump is 40 s later",
        ));
        assert_eq!(open.verdict, Verdict::NotMeasured);
        assert!(
            open.says.contains("the next dump is 40 s later"),
            "{}",
            open.says
        );
    }

    #[test]
    fn without_time_left_no_lock_matters() {
        let held_by_a_pool = [("locks.contended", 90.0), ("pool.db.waiting", 8.5)];
        assert_eq!(with(&held_by_a_pool).verdict, Verdict::NotSupported);
        for elsewhere in ["target.blocked", "tcp.8080.accept-queue"] {
            let found = with(&[("locks.contended", 90.0), (elsewhere, 8.5)]);
            assert_eq!(found.verdict, Verdict::NotSupported, "{elsewhere}");
        }
    }

    #[test]
    fn safepoints_are_told_where_no_requests_are_known() {
        let mut watch = evidence(&[("safepoints.time", 0.3), ("gc.time", 0.05)]);
        watch.in_flight = None;
        let found = locks(&watch);
        assert_eq!(found.verdict, Verdict::Supported);
        assert!(
            found
                .says
                .starts_with("Safepoints other than collections took 25 % of the time."),
            "{}",
            found.says
        );
    }

    #[test]
    fn safepoints_without_collections_stop_everybody() {
        let stopped = |gc| with(&[("safepoints.time", 0.3), ("gc.time", gc)]).verdict;
        assert_eq!(stopped(0.05), Verdict::Supported);
        assert_eq!(
            stopped(0.29),
            Verdict::NotMeasured,
            "there is still time left"
        );
    }
}
