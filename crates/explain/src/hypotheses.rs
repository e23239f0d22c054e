//! The rival hypotheses, a file for each.

pub(crate) mod clock;
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

use crate::evidence::Evidence;
use crate::hypothesis::{Test, Unit};
use crate::threshold::{
    FAILURES, FAILURES_BECAUSE, MATTERS, MATTERS_BECAUSE, WAITING_MIN, WAITING_MIN_BECAUSE,
};

/// The test that so large a share of the samples failed in this way.
pub(crate) fn failing_test(what: &str, share: Option<f64>) -> Test {
    Test::at_least(what, share, Unit::Share, (FAILURES, FAILURES_BECAUSE)).from(&["errors.by_code"])
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
