//! The rival hypotheses, a file for each.

pub(crate) mod clock;
pub(crate) mod compilation;
pub(crate) mod connects;
pub(crate) mod cpu;
pub(crate) mod disk;
pub(crate) mod downstream;
pub(crate) mod garbage;
pub(crate) mod idle_threads;
pub(crate) mod limits;
pub(crate) mod load_tool;
pub(crate) mod locks;
pub(crate) mod neighbour;
pub(crate) mod network;
pub(crate) mod paging;
pub(crate) mod quota;
pub(crate) mod scheduler;
pub(crate) mod spawn_rate;
pub(crate) mod system_services;

use weir_record::Doing;

use crate::evidence::Evidence;
use crate::hypothesis::{Hypothesis, Test, Unit, any_of};
use crate::room;
use crate::threshold::{
    FAILURES, FAILURES_BECAUSE, MATTERS, MATTERS_BECAUSE, SATURATED, SATURATED_BECAUSE,
    WAITING_MIN, WAITING_MIN_BECAUSE,
};
use crate::words::{number, percent};

/// The test that so large a share of the samples failed in this way.
pub(crate) fn failing_test(what: &str, share: Option<f64>) -> Test {
    Test::at_least(what, share, Unit::Share, (FAILURES, FAILURES_BECAUSE)).from(&["errors.by_code"])
}

/// The test that the server's CPUs are full.
pub(crate) fn full_cpus_test(evidence: &Evidence) -> Test {
    Test::at_least(
        "busy share of the CPUs that the server may use",
        evidence.signal("cpu"),
        Unit::Share,
        (SATURATED, SATURATED_BECAUSE),
    )
    .from(&["cpu"])
}

/// The test that so many threads or requests wait on average: as a share of the requests in flight,
/// or, where these are not known, as their number.
pub(crate) fn waiting_test(evidence: &Evidence, what: &str, waiting: Option<f64>) -> Test {
    match evidence.in_flight {
        Some(_) => Test::at_least(
            format!("share of the requests' time {what}"),
            evidence.share_of_requests(waiting),
            Unit::Share,
            (MATTERS, MATTERS_BECAUSE),
        ),
        None => Test::at_least(
            format!("threads {what}, on average"),
            waiting,
            Unit::Count,
            (WAITING_MIN, WAITING_MIN_BECAUSE),
        ),
    }
}

/// Tests a hypothesis on how many threads that serve requests were seen waiting for something;
/// `None` where thread dumps do not tell.
pub(crate) fn of_dumps(
    evidence: &Evidence,
    doing: Doing,
    what: &str,
    hypothesis: Hypothesis,
) -> Option<Hypothesis> {
    let waiting = room::seen(evidence, doing)?;
    let waits = waiting_test(
        evidence,
        &format!("in threads that wait {what}"),
        Some(waiting),
    )
    .from(doing.signals());
    let verdict = any_of(&[waits.speaks_for]);
    let share = evidence.share_of_requests(Some(waiting));
    let of_time = share.map_or_else(String::new, |share| {
        format!(", {} of the requests' time", percent(share))
    });
    let all = evidence.requests(doing).unwrap_or(waiting);
    let woken = if all - waiting >= MANY_WOKEN {
        format!(
            " Dumps showed {}: the others had been woken, and waited for a CPU.",
            number(all)
        )
    } else {
        String::new()
    };
    let says = format!(
        "{} of the threads that serve requests waited {what} on average{of_time} (thread dumps).{woken}",
        number(waiting)
    );
    Some(hypothesis.share(share).test(waits).verdict(verdict, says))
}

/// Threads on average that are said to have been woken.
const MANY_WOKEN: f64 = 0.1;
