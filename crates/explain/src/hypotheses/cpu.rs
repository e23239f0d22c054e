//! The server's own work fills its CPUs.

use crate::evidence::Evidence;
use crate::hypotheses::neighbour::foreign;
use crate::hypotheses::{full_cpus_test, locks};
use crate::hypothesis::{Hypothesis, Test, Unit, Verdict, all_of};
use crate::threads::{request_cpu, requests_for_cpu};
use crate::threshold::{FOREIGN, MATTERS, OWN, OWN_BECAUSE, SATURATED, SATURATED_BECAUSE};
use crate::words::percent;

pub(crate) fn cpu(evidence: &Evidence) -> Hypothesis {
    let busy = full_cpus_test(evidence);
    let own = Test::at_least(
        "the server's own part of that, the collector's and the compiler's threads left out",
        own_part(evidence),
        Unit::Share,
        (OWN, OWN_BECAUSE),
    )
    .from(&["target.cpu.user", "target.cpu.system"]);
    let one = Test::at_least(
        "busy share of the fullest of them, or of the server's busiest thread",
        one_cpu(evidence),
        Unit::Share,
        (SATURATED, SATURATED_BECAUSE),
    )
    .from(&["cpu.fullest", "target.busiest-thread"]);
    let decided = all_of(&[busy.speaks_for, own.speaks_for]);
    let is_one_full = busy.speaks_for == Some(false) && one.speaks_for == Some(true);
    let verdict = match decided {
        Some(true) => Verdict::Supported,
        // A thread that has a CPU to itself, or a CPU that the others do not help: it may hold all.
        Some(false) if is_one_full => Verdict::NotMeasured,
        Some(false) => Verdict::NotSupported,
        None => Verdict::NotMeasured,
    };
    let at_cpu = request_cpu(evidence).map(|cpu| cpu + requests_for_cpu(evidence).unwrap_or(0.0));
    // Programs with a scheduler or an event loop of their own let requests wait for the full CPUs
    // where no kernel counts it.
    let inside =
        locks::rest(evidence).filter(|_| verdict == Verdict::Supported && bounds(evidence));
    let share = evidence
        .share_of_requests(at_cpu)
        .map(|share| share + inside.unwrap_or(0.0));
    let says = match (busy.figure, own.figure) {
        (None, _) => "How busy the server's CPUs were was not recorded.".to_owned(),
        (Some(busy), _) if is_one_full => format!(
            "The CPUs were {} busy, but one of them, or one thread of the server, was {} busy: whether that holds the \
             requests is not told by these figures.",
            percent(busy),
            one.figure.map_or_else(String::new, percent)
        ),
        (Some(busy), None) => format!(
            "The CPUs were {} busy; with whose work was not recorded (name the server's process).",
            percent(busy)
        ),
        (Some(busy), Some(own)) => format!(
            "The CPUs were {} busy, {} of that with the server's own work.",
            percent(busy),
            percent(own)
        ),
    };
    Hypothesis::new("cpu", "The server's own work fills its CPUs")
        .share(share)
        .test(busy)
        .test(one)
        .test(own)
        .test(
            Test::figure(
                "CPU time per request",
                evidence.per_request(request_cpu(evidence)),
                Unit::Seconds,
            )
            .from(&["target.cpu.user", "target.cpu.system", "throughput"]),
        )
        .trial("fewer-users", "the same run with half the users: throughput stays and the response time halves, if the CPU is what limits", ("users", 0.5))
        .idea("profile", "a profile of the server under this load (`perf record -g`, async-profiler): what the CPU time is spent on")
        .verdict(verdict, says)
}

/// Whether the CPUs are what holds requests that have their place already: they are full, and with
/// the server's own work, or the requests wait for them. CPUs that others fill while the server
/// needs none hold nobody. `None`: they are full, and whether for the server was not recorded.
pub(crate) fn holds(evidence: &Evidence) -> Option<bool> {
    if evidence.signal("cpu").is_none_or(|cpu| cpu < SATURATED) {
        return Some(false);
    }
    let own = own_part(evidence).map(|own| own >= OWN);
    let waits = evidence.share_of_requests(requests_for_cpu(evidence));
    match (own, waits.map(|waits| waits >= MATTERS)) {
        (Some(true), _) | (_, Some(true)) => Some(true),
        (None, _) => None,
        (Some(false), _) => Some(false),
    }
}

/// Whether nothing that leaves the CPUs alone can make requests a tenth faster. Without any other
/// wait, the server's own work would fill what it could have: of the CPUs' time it uses the part U,
/// and the part I is idle or in others' use; the throughput can grow (U + I) / U times at
/// most (utilization law), and where so many users each wait for an answer and think for Z, the
/// response time R = N / X - Z falls by I / (U + I) × (1 + Z / R) of itself at most: the asymptotic
/// bounds of Denning and Buzen, *The operational analysis of queueing network models*, 1978. Users
/// of an open workload do not wait for answers, and there is no such bound.
pub(crate) fn bounds_the_rest(evidence: &Evidence) -> bool {
    cpu(evidence).is_supported() && bounds(evidence)
}

/// Whether it does where the CPUs are full with the server's own work.
fn bounds(evidence: &Evidence) -> bool {
    let gain = || {
        let busy = evidence.signal("cpu")?;
        let others = foreign(evidence).filter(|others| *others >= FOREIGN);
        let (own, free) = (
            busy * own_part(evidence)?,
            1.0 - busy + others.unwrap_or(0.0),
        );
        let thinking = evidence.elsewhere / evidence.in_flight?;
        Some(free / (own + free) * (1.0 + thinking))
    };
    gain().is_some_and(|gain| gain < MATTERS)
}

/// How busy the fullest CPU or the busiest thread was.
fn one_cpu(evidence: &Evidence) -> Option<f64> {
    let each = ["cpu.fullest", "target.busiest-thread"].map(|name| evidence.signal(name));
    each.into_iter().flatten().reduce(f64::max)
}

/// The requests' part of the busy time of the target's CPUs.
fn own_part(evidence: &Evidence) -> Option<f64> {
    let busy_cpus = evidence.busy_cpus()?;
    (busy_cpus > 0.0).then(|| request_cpu(evidence).map(|own| (own / busy_cpus).min(1.0)))?
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::made::evidence;

    fn with(cpu: f64, own: f64) -> Hypothesis {
        super::cpu(&evidence(&[
            ("cpu", cpu),
            ("target.cpu.user", own),
            ("target.cpu.system", 0.0),
        ]))
    }

    /// A Go server with 64 users: one request has the CPU, and 63 wait in the program's own
    /// scheduler, of which the kernel knows nothing.
    #[test]
    fn requests_that_wait_in_the_program_for_a_full_cpu_wait_for_the_cpu() {
        let mut made = evidence(&[
            ("cpu", 0.99),
            ("target.cpu.user", 0.95),
            ("target.cpu.system", 0.03),
            ("target.run-queue-wait", 0.2),
        ]);
        made.cpus = Some(1.0);
        made.in_flight = Some(64.0);
        made.elsewhere = 0.0;
        let full = super::cpu(&made);
        assert!(full.share.unwrap_or_default() > 0.99, "{full:#?}");
        let all = crate::diagnosis::diagnose(&made);
        assert_eq!(all.first.as_deref(), Some("cpu"));
        let words: Vec<&str> = all.time.iter().map(|part| part.what.as_str()).collect();
        assert!(
            words.iter().any(|what| what.contains("inside the program")),
            "{words:?}"
        );
    }

    #[test]
    fn while_one_cpu_is_full_it_is_not_said_that_the_cpus_are_not() {
        for (name, full) in [
            ("cpu.fullest", 0.97),
            ("target.busiest-thread", 0.98),
            ("cpu.fullest", 0.6),
        ] {
            let found = super::cpu(&evidence(&[
                ("cpu", 0.51),
                (name, full),
                ("target.cpu.user", 0.97),
                ("target.cpu.system", 0.0),
            ]));
            let verdict = if full > 0.9 {
                Verdict::NotMeasured
            } else {
                Verdict::NotSupported
            };
            assert_eq!(found.verdict, verdict, "{name} {full}: {}", found.says);
        }
    }

    #[test]
    fn full_cpus_are_the_servers_own_doing_when_it_is_its_work() {
        assert_eq!(with(0.97, 1.8).verdict, Verdict::Supported);
        assert_eq!(
            with(0.97, 0.5).verdict,
            Verdict::NotSupported,
            "a neighbour's"
        );
        assert_eq!(with(0.6, 1.1).verdict, Verdict::NotSupported);
    }

    #[test]
    fn what_other_virtual_machines_took_is_not_somebody_elses_work_here() {
        // Nine tenths of two CPUs, of which others took more than half.
        let stolen = super::cpu(&evidence(&[
            ("cpu", 0.98),
            ("cpu.steal", 0.55),
            ("target.cpu.user", 0.85),
            ("target.cpu.system", 0.0),
        ]));
        assert_eq!(stolen.verdict, Verdict::Supported, "{stolen:#?}");
    }

    #[test]
    fn other_waits_do_not_matter_where_users_wait_for_full_cpus() {
        let bounds = |cpu, own, elsewhere| {
            let mut made = evidence(&[
                ("cpu", cpu),
                ("target.cpu.user", own),
                ("target.cpu.system", 0.0),
            ]);
            made.elsewhere = elsewhere;
            bounds_the_rest(&made)
        };
        // Ten in flight, and nobody thinks: 8 % are idle.
        assert!(bounds(0.92, 1.84, 0.0));
        assert!(
            !bounds(1.0, 1.1, 0.0),
            "others use 45 %, which it could have"
        );
        // Fifty think, so that 5 % more throughput are 30 % of the response time.
        assert!(!bounds(0.95, 1.9, 50.0));
        assert!(bounds(0.99, 1.98, 50.0));
        assert!(!bounds(0.99, 1.98, f64::INFINITY), "an open workload");
        assert!(!bounds(0.8, 1.6, 0.0), "not full");
    }

    #[test]
    fn without_the_servers_process_it_is_not_known_whose_work_it_is() {
        assert_eq!(
            cpu(&evidence(&[("cpu", 0.97)])).verdict,
            Verdict::NotMeasured
        );
        assert_eq!(
            cpu(&evidence(&[("cpu", 0.5)])).verdict,
            Verdict::NotSupported
        );
        assert_eq!(cpu(&evidence(&[])).verdict, Verdict::NotMeasured);
    }
}
