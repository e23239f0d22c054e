//! The room that counted waits leave for what thread dumps see.
//!
//! A thread that has been woken stands in a dump as it did before, reading from a socket or asleep,
//! until it gets a CPU. That wait is counted already, as the work and the other waits are: what
//! dumps see is no more than the rest.

use weir_record::{Doing, names};

use crate::evidence::Evidence;
use crate::hypotheses::network::accepting;
use crate::threads::{request_cpu, requests_for_cpu};

/// What thread dumps see beside the waits that others count.
pub(crate) const IN_DUMPS: [Doing; 6] = [
    Doing::WaitsForLock,
    Doing::Sleeps,
    Doing::WaitsForAnswer,
    Doing::LooksUpHost,
    Doing::WaitsForRandom,
    Doing::WaitsForOthers,
];

/// Requests whose threads did this, on average, without those that have been woken and wait for a
/// CPU. `None` where thread dumps do not tell.
pub(crate) fn seen(evidence: &Evidence, doing: Doing) -> Option<f64> {
    let (all, over) = (beside(evidence), over(evidence));
    // No more can have been woken than wait for a CPU: what else is over is how well queues are
    // counted.
    let woken = over.min(requests_for_cpu(evidence).unwrap_or(0.0));
    Some(evidence.requests(doing)? * part(all - woken, all))
}

/// As many as have room beside what is counted: parts of the time come to no more than all of it.
pub(crate) fn fitting(evidence: &Evidence, doing: Doing) -> Option<f64> {
    Some(evidence.requests(doing)? * fitting_part(evidence))
}

/// Requests of the load that are having a connection made, as many as have room: a handshake of TLS
/// is work of the server as well.
pub(crate) fn connecting(evidence: &Evidence) -> Option<f64> {
    Some(evidence.signal(names::CONNECTING)? * fitting_part(evidence))
}

fn fitting_part(evidence: &Evidence) -> f64 {
    let all = beside(evidence);
    part(all - over(evidence), all)
}

fn part(of: f64, all: f64) -> f64 {
    if all > 0.0 { (of / all).max(0.0) } else { 1.0 }
}

/// Requests that counters account for: those that are worked on, and those that wait for a CPU, in
/// front of a stage, for storage, or to be accepted.
pub(crate) fn counted(evidence: &Evidence) -> f64 {
    let stages = evidence.stages();
    let queued = stages
        .iter()
        // What waits for a thread stands in the queue before it, too.
        .filter(|stage| *stage != "request-queue")
        .filter_map(|stage| evidence.waiting(stage));
    let others = [
        request_cpu(evidence),
        requests_for_cpu(evidence),
        evidence.signal("target.blocked"),
        accepting(evidence),
    ];
    queued.chain(others.into_iter().flatten()).sum()
}

/// What the load and thread dumps see, whether there is room for it or not.
pub(crate) fn beside(evidence: &Evidence) -> f64 {
    let seen = IN_DUMPS
        .into_iter()
        .filter_map(|doing| evidence.requests(doing));
    let connecting = evidence.signal(names::CONNECTING);
    seen.chain(connecting).sum()
}

/// What is seen beyond the room that the counted waits leave.
fn over(evidence: &Evidence) -> f64 {
    evidence.in_flight.map_or(0.0, |in_flight| {
        let room = (in_flight - counted(evidence)).max(0.0);
        (beside(evidence) - room).max(0.0)
    })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;
    use crate::diagnosis::diagnose;
    use crate::evidence::made::evidence;

    /// A Spring Boot on one full CPU: of its eight threads dumps show some at a socket that have
    /// been woken and wait for the CPU.
    const WOKEN: [(&str, f64); 11] = [
        ("cpu", 1.0),
        ("target.cpu.user", 1.8),
        ("target.cpu.system", 0.2),
        ("target.run-queue-wait", 7.0),
        ("threads.occupancy", 8.0),
        ("threads.limit", 50.0),
        ("request-threads.seen", 8.0),
        ("request-threads.monitor", 0.0),
        ("request-threads.lock", 0.0),
        ("request-threads.asleep", 0.0),
        ("request-threads.parked", 0.0),
    ];

    #[test]
    fn a_thread_that_was_woken_waits_for_its_cpu_and_for_nothing_else() {
        for (signal, id, doing) in [
            (
                "request-threads.answer",
                "downstream",
                Doing::WaitsForAnswer,
            ),
            ("request-threads.lookup", "name-lookup", Doing::LooksUpHost),
            ("request-threads.random", "entropy", Doing::WaitsForRandom),
            ("request-threads.monitor", "locks", Doing::WaitsForLock),
        ] {
            let told = |change: &[(&str, f64)]| {
                let figures: Vec<(&str, f64)> = WOKEN
                    .into_iter()
                    .chain([(signal, 4.0)])
                    .chain(change.iter().copied())
                    .collect();
                evidence(&figures)
            };
            // Of ten requests two have a CPU and seven wait for one.
            let woken = told(&[]);
            let fitting = seen(&woken, doing).unwrap();
            assert!((fitting - 1.0).abs() < 1e-9, "{signal}: {fitting}");
            let found = diagnose(&woken);
            assert_eq!(found.first.as_deref(), Some("cpu"), "{}", found.summary);
            let share = found.hypothesis(id).unwrap().share;
            let share = share.unwrap_or_default();
            assert!((share - 0.1).abs() < 1e-9, "{id}: {share}");
            // Where nothing waits for a CPU, all of them stand where dumps show them.
            let idle = [("target.run-queue-wait", 0.0), ("cpu", 0.5)];
            let found = diagnose(&told(&idle));
            assert_eq!(found.first.as_deref(), Some(id), "{}", found.summary);
        }
    }

    /// Two hundred users of eight threads that all wait for another service: the queue in front of
    /// them is counted a little too long, and no CPU is waited for.
    #[test]
    fn how_well_a_queue_is_counted_takes_nothing_from_what_dumps_see() {
        let away = [
            ("target.run-queue-wait", 0.1),
            ("request-threads.answer", 8.0),
            ("request-queue.waiting", 195.0),
        ];
        let mut away = evidence(&[WOKEN.as_slice(), &away].concat());
        away.in_flight = Some(200.0);
        let told = seen(&away, Doing::WaitsForAnswer).unwrap();
        assert!(told > 7.8, "{told}");
        assert!(
            fitting(&away, Doing::WaitsForAnswer).unwrap() < 5.0,
            "parts of the time"
        );
    }

    #[test]
    fn where_the_requests_in_flight_are_not_known_there_is_room() {
        let mut watched =
            evidence(&[WOKEN.as_slice(), &[("request-threads.answer", 4.0)]].concat());
        watched.in_flight = None;
        assert_eq!(seen(&watched, Doing::WaitsForAnswer), Some(4.0));
    }
}
