//! Cases that were written before any of them was played, on programs that had not been looked at
//! with them: how often the first answer is right here says what it says elsewhere.

use super::beside::Beside;
use super::group::Bound;
use crate::bench::first_hour::Case;
use crate::bench::first_hour::cases::{
    AMPLE, ASKS, COMPUTES, FEW, LOCKS, NOTHING, PAGE, PASSES, POOLED, SLEEPS, STARVED, asks, case,
    connections, pool, threads,
};
use crate::bench::first_hour::servers::{Limits, Server};

/// A server that runs already, and what happens beside it.
pub(super) struct Apart {
    pub(super) case: Case,
    pub(super) users: u32,
    pub(super) beside: Beside,
}

const MANY: u32 = 40;
/// Users whose requests all run at once, so that others on the CPU take most of it.
const TWO: u32 = 2;
/// A fifth of a CPU.
const FIFTH: Beside = Beside::Group(Bound::Cpu(20));
const SPINNING: Beside = Beside::Spinning(0);
const GARBAGE: &str = "/work?garbage=2";
/// A request that only sleeps.
const PAUSES: &str = "/work?pause=50";

const fn apart(
    name: &'static str,
    (server, limits): (Server, Limits),
    path: &'static str,
    explain: &'static [&'static str],
) -> Apart {
    Apart {
        case: case(name, server, limits, path, &[], explain),
        users: MANY,
        beside: Beside::Nothing,
    }
}

const fn with(mut apart: Apart, beside: Beside) -> Apart {
    apart.beside = beside;
    apart
}

const fn of(mut apart: Apart, users: u32) -> Apart {
    apart.users = users;
    apart
}

const fn behind(mut apart: Apart, threads: u32) -> Apart {
    apart.case = asks(apart.case, threads);
    apart
}

#[rustfmt::skip]
pub(super) const APART: [Apart; 38] = [
    with(apart("tomcat-quota", (Server::Tomcat, AMPLE), SLEEPS, &["quota"]), FIFTH),
    with(apart("spring-quota", (Server::SpringBoot, AMPLE), COMPUTES, &["quota"]), FIFTH),
    with(apart("liberty-quota", (Server::Liberty, AMPLE), COMPUTES, &["quota"]), FIFTH),
    with(apart("nginx-quota", (Server::Nginx, NOTHING), PAGE, &["quota"]), FIFTH),
    with(apart("httpd-quota", (Server::Event, threads(150)), PAGE, &["quota"]), FIFTH),
    with(apart("python-quota", (Server::Python, NOTHING), "/cpu", &["quota"]), FIFTH),
    with(apart("node-quota", (Server::Node, NOTHING), "/cpu", &["quota"]), FIFTH),
    with(apart("virtual-quota", (Server::SpringVirtual, NOTHING), COMPUTES, &["quota"]), FIFTH),
    of(with(apart("tomcat-starved", (Server::Tomcat, AMPLE), COMPUTES, &["neighbour"]), SPINNING), TWO),
    of(with(apart("spring-starved", (Server::SpringBoot, AMPLE), COMPUTES, &["neighbour"]), SPINNING), TWO),
    of(with(apart("liberty-starved", (Server::Liberty, AMPLE), COMPUTES, &["neighbour"]), SPINNING), TWO),
    of(with(apart("httpd-starved", (Server::Prefork, threads(150)), PAGE, &["neighbour"]), SPINNING), TWO),
    with(apart("nginx-starved", (Server::Nginx, NOTHING), PAGE, &["neighbour"]), SPINNING),
    with(apart("python-starved", (Server::Python, NOTHING), "/cpu", &["neighbour"]), SPINNING),
    of(apart("tomcat-garbage", (Server::Tomcat, AMPLE), GARBAGE, &["garbage-collection"]), TWO),
    of(apart("spring-garbage", (Server::SpringBoot, AMPLE), GARBAGE, &["garbage-collection"]), TWO),
    of(apart("liberty-garbage", (Server::LibertyPlain, AMPLE), GARBAGE, &["garbage-collection"]), TWO),
    of(apart("virtual-garbage", (Server::SpringVirtual, NOTHING), GARBAGE, &["garbage-collection"]), TWO),
    of(apart("python-store", (Server::Python, NOTHING), "/store", &["disk"]), TWO),
    of(apart("node-store", (Server::Node, NOTHING), "/store", &["disk"]), TWO),
    apart("node-cpu", (Server::Node, NOTHING), "/cpu", &["cpu"]),
    apart("node-lock", (Server::Node, NOTHING), "/lock", &["none"]),
    behind(apart("node-away", (Server::Node, NOTHING), ASKS, &["downstream", "none"]), 4),
    apart("node-sleep", (Server::Node, NOTHING), "/pause", &["none"]),
    apart("tomcat-sleep", (Server::Tomcat, AMPLE), PAUSES, &["none"]),
    apart("liberty-sleep", (Server::LibertyPlain, AMPLE), PAUSES, &["none"]),
    behind(apart("nginx-sleep", (Server::Nginx, NOTHING), PASSES, &["none"]), 200),
    // Two causes at once. Of a limit that is full because of what those wait for that have a
    // place, the other is the cause.
    apart("tomcat-threads-lock", (Server::Tomcat, threads(8)), LOCKS, &["locks"]),
    apart("tomcat-connections-lock", (Server::Tomcat, connections(10)), LOCKS, &["locks"]),
    apart("spring-threads-cpu", (Server::SpringBoot, threads(8)), COMPUTES, &["cpu"]),
    apart("spring-connections-cpu", (Server::SpringVirtual, FEW), COMPUTES, &["cpu"]),
    apart("spring-threads-pool", (Server::SpringBoot, THREADS_AND_POOL), POOLED, &["limit pool.db"]),
    behind(apart("liberty-threads-away", (Server::Liberty, threads(8)), ASKS, &["limit threads", "downstream"]), 200),
    behind(apart("liberty-away-limited", (Server::LibertyPlain, AMPLE), ASKS, &["downstream"]), 4),
    // Each of these alone would hold the requests.
    apart("tomcat-pool-cpu", (Server::Tomcat, pool(5)), "/work?cpu=8&pool=20", &["limit pool.db", "cpu"]),
    with(apart("virtual-pool-quota", (Server::SpringVirtual, STARVED), POOLED, &["limit pool.db", "quota"]), FIFTH),
    with(apart("tomcat-lock-starved", (Server::Tomcat, AMPLE), LOCKS, &["locks", "neighbour"]), SPINNING),
    with(behind(apart("httpd-workers-starved", (Server::Prefork, threads(8)), PASSES, &["limit threads", "neighbour"]), 200), SPINNING),
];

const THREADS_AND_POOL: Limits = Limits {
    threads: Some(16),
    pool: Some(5),
    connections: None,
};
