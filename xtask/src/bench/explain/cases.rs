//! Servers that studies of `bench/explain` make slow, each with what has to be named for it.

use super::beside::Beside;
use super::group::Bound;

/// A server that is slow for a known reason.
pub(super) struct Case {
    /// Its study in `bench/explain`.
    pub(super) name: &'static str,
    /// The hypotheses that are true and may come first; `none` where what holds the requests
    /// cannot be told.
    pub(super) expected: &'static [&'static str],
    pub(super) beside: Beside,
}

pub(super) const CASES: [Case; 27] = [
    case("garbage", &["garbage-collection"], Beside::Nothing),
    case("lock", &["locks"], Beside::Nothing),
    case("starved", &["neighbour"], Beside::Spinning(0)),
    case("lossy", &["network"], Beside::Firewall("lossy.nft")),
    case("pool", &["limit"], Beside::Nothing),
    case("threads", &["limit"], Beside::Nothing),
    case("refused", &["limit"], Beside::Nothing),
    case("gate-rate", &["limit"], Beside::Nothing),
    case("gate-concurrency", &["limit"], Beside::Nothing),
    case("spawn-rate", &["spawn-rate"], Beside::Httpd),
    case("load-tool", &["load-tool"], Beside::Spinning(1)),
    case("fsync", &["disk"], Beside::Nothing),
    case("paging", &["paging"], Beside::Group(Bound::Memory(300))),
    case("away", &["downstream"], Beside::Nothing),
    case("away-limited", &["downstream"], Beside::Nothing),
    case("idle-threads", &["idle-threads"], Beside::Nothing),
    case("quota", &["quota"], Beside::Group(Bound::Cpu(20))),
    case("cpu", &["cpu"], Beside::Nothing),
    case("sleep", &["none"], Beside::Nothing),
    // Two causes at once. Of a limit that is full because of what those wait for that have a
    // place, the other is the cause: a higher limit would only move the queue.
    case("threads-lock", &["locks"], Beside::Nothing),
    case("threads-away", &["limit", "downstream"], Beside::Nothing),
    case("threads-cpu", &["cpu"], Beside::Nothing),
    case("threads-quota", &["quota"], Beside::Group(Bound::Cpu(20))),
    // Each of these alone would hold the requests.
    case("pool-cpu", &["limit", "cpu"], Beside::Nothing),
    case("cold", &["compilation", "cpu"], Beside::Nothing),
    case("lock-starved", &["locks", "neighbour"], Beside::Spinning(0)),
    case(
        "threads-lossy",
        &["limit", "network"],
        Beside::Firewall("lossy.nft"),
    ),
];

const fn case(name: &'static str, expected: &'static [&'static str], beside: Beside) -> Case {
    Case {
        name,
        expected,
        beside,
    }
}
