//! Servers, each with what makes it slow and what has to be named for it.

use super::servers::{Limits, Server};

/// A server that runs already, and the load for it.
pub(in crate::bench) struct Case {
    pub(in crate::bench) name: &'static str,
    pub(in crate::bench) server: Server,
    /// What it is started with.
    pub(in crate::bench) limits: Limits,
    /// Threads of the other server that it asks, where it does.
    pub(in crate::bench) away: Option<u32>,
    /// What a user asks for.
    pub(in crate::bench) path: &'static str,
    /// The limit that `tune` may name: a stage, `cpu`, `errors`, or `none` that is seen.
    pub(in crate::bench) tune: &'static [&'static str],
    /// The hypothesis that `explain` may have first; `none` where it cannot be told from outside.
    /// `network` has connections that find no place at the server's door.
    pub(in crate::bench) explain: &'static [&'static str],
}

impl Case {
    /// What was made, in words.
    pub(in crate::bench) fn made(&self) -> String {
        let mut parts = Vec::new();
        for (name, limit) in self.limits.named() {
            parts.extend(limit.map(|limit| format!("{name} {limit}")));
        }
        if let Some(threads) = self.away {
            parts.push(format!("another server with {threads} threads"));
        }
        parts.push(format!("`{}`", self.path));
        parts.join(", ")
    }
}

pub(in crate::bench) const AMPLE: Limits = Limits {
    threads: Some(200),
    pool: None,
    connections: None,
};

pub(in crate::bench) const fn threads(threads: u32) -> Limits {
    Limits {
        threads: Some(threads),
        ..AMPLE
    }
}

pub(in crate::bench) const fn pool(pool: u32) -> Limits {
    Limits {
        pool: Some(pool),
        ..AMPLE
    }
}

pub(in crate::bench) const fn connections(connections: u32) -> Limits {
    Limits {
        connections: Some(connections),
        ..AMPLE
    }
}

/// Of an nginx: it has no threads.
pub(in crate::bench) const PLACES: Limits = Limits {
    connections: Some(40),
    ..NOTHING
};

/// Of a server without a limit of threads.
pub(in crate::bench) const FEW: Limits = Limits {
    connections: Some(10),
    ..NOTHING
};

pub(in crate::bench) const STARVED: Limits = Limits {
    pool: Some(5),
    ..NOTHING
};

pub(in crate::bench) const NOTHING: Limits = Limits {
    threads: None,
    pool: None,
    connections: None,
};

pub(in crate::bench) const fn case(
    name: &'static str,
    server: Server,
    limits: Limits,
    path: &'static str,
    tune: &'static [&'static str],
    explain: &'static [&'static str],
) -> Case {
    Case {
        name,
        server,
        limits,
        away: None,
        path,
        tune,
        explain,
    }
}

pub(in crate::bench) const fn asks(mut case: Case, threads: u32) -> Case {
    case.away = Some(threads);
    case
}

/// A request that mostly sleeps, so that many are needed for the CPU.
pub(in crate::bench) const SLEEPS: &str = "/work?cpu=4&pause=50";
pub(in crate::bench) const COMPUTES: &str = "/work?cpu=8";
pub(in crate::bench) const LOCKS: &str = "/work?cpu=1&lock=8";
pub(in crate::bench) const POOLED: &str = "/work?cpu=4&pool=50";
pub(in crate::bench) const ASKS: &str = "/work?cpu=1&away=40";
/// A page of 60 kB, which is packed only for who asks for that.
pub(in crate::bench) const PAGE: &str = "/big.txt";
/// What a proxy passes on.
pub(in crate::bench) const PASSES: &str = "/work?pause=50";

#[rustfmt::skip]
pub(in crate::bench) const CASES: [Case; 38] = [
    case("tomcat-threads", Server::Tomcat, threads(8), SLEEPS, &["threads"], &["limit threads"]),
    case("tomcat-threads-16", Server::Tomcat, threads(16), SLEEPS, &["threads"], &["limit threads"]),
    case("tomcat-cpu", Server::Tomcat, AMPLE, COMPUTES, &["cpu"], &["cpu"]),
    // The search ends near 80 %, and a CPU is full from 90 % on.
    case("tomcat-cpu-sleeps", Server::Tomcat, AMPLE, SLEEPS, &["cpu"], &["cpu", "none"]),
    case("tomcat-connections", Server::Tomcat, connections(10), SLEEPS, &["connections"], &["limit connections"]),
    case("tomcat-lock", Server::Tomcat, AMPLE, LOCKS, &["none"], &["locks"]),
    case("tomcat-pool", Server::Tomcat, pool(5), POOLED, &["pool.db"], &["limit pool.db"]),
    asks(case("tomcat-away", Server::Tomcat, AMPLE, ASKS, &["none"], &["downstream"]), 4),
    case("spring-threads", Server::SpringBoot, threads(8), SLEEPS, &["threads"], &["limit threads"]),
    case("spring-threads-16", Server::SpringBoot, threads(16), SLEEPS, &["threads"], &["limit threads"]),
    case("spring-cpu", Server::SpringBoot, AMPLE, COMPUTES, &["cpu"], &["cpu"]),
    case("spring-connections", Server::SpringBoot, connections(10), SLEEPS, &["connections"], &["limit connections"]),
    case("spring-lock", Server::SpringBoot, AMPLE, LOCKS, &["none"], &["locks"]),
    case("spring-pool", Server::SpringBoot, pool(5), POOLED, &["pool.db"], &["limit pool.db"]),
    asks(case("spring-away", Server::SpringBoot, AMPLE, ASKS, &["none"], &["downstream"]), 4),
    case("plain-spring-threads", Server::SpringPlain, threads(16), SLEEPS, &["threads"], &["limit threads"]),
    case("plain-spring-pool", Server::SpringPlain, pool(5), POOLED, &["pool.HikariPool-1", "pool.db", "none"], &["limit pool.db"]),
    case("plain-liberty-threads", Server::LibertyPlain, threads(16), SLEEPS, &["threads"], &["limit threads"]),
    case("plain-liberty-pool", Server::LibertyPlain, pool(5), POOLED, &["pool.db", "none"], &["limit pool.db"]),
    // One user keeps the CPU at 85 %, which is not full, and threads wait for each other's CPU.
    case("virtual-cpu", Server::SpringVirtual, NOTHING, COMPUTES, &["cpu"], &["cpu", "scheduler"]),
    case("virtual-connections", Server::SpringVirtual, FEW, SLEEPS, &["connections"], &["limit connections"]),
    // Thread dumps have no virtual threads, so that it cannot be told.
    case("virtual-lock", Server::SpringVirtual, NOTHING, LOCKS, &["none"], &["locks", "none"]),
    case("virtual-pool", Server::SpringVirtual, STARVED, POOLED, &["pool.db"], &["limit pool.db"]),
    case("liberty-threads", Server::Liberty, threads(8), SLEEPS, &["threads"], &["limit threads"]),
    case("liberty-cpu", Server::Liberty, AMPLE, COMPUTES, &["cpu"], &["cpu"]),
    case("liberty-lock", Server::Liberty, AMPLE, LOCKS, &["none"], &["locks"]),
    case("liberty-pool", Server::Liberty, pool(5), POOLED, &["pool.db"], &["limit pool.db"]),
    asks(case("liberty-away", Server::Liberty, AMPLE, ASKS, &["none"], &["downstream"]), 4),
    case("httpd-cpu", Server::Prefork, threads(150), PAGE, &["cpu"], &["cpu"]),
    asks(case("httpd-workers", Server::Prefork, threads(8), PASSES, &["threads"], &["limit threads"]), 200),
    asks(case("httpd-away", Server::Prefork, threads(150), PASSES, &["none"], &["none"]), 4),
    case("httpd-event-cpu", Server::Event, threads(150), PAGE, &["cpu"], &["cpu"]),
    asks(case("httpd-event-away", Server::Event, threads(150), PASSES, &["none"], &["none"]), 4),
    // Two users that do not think keep the CPU at 90 %, which is not yet all of it.
    case("nginx-cpu", Server::Nginx, NOTHING, PAGE, &["cpu"], &["cpu", "none"]),
    asks(case("nginx-connections", Server::Nginx, PLACES, PASSES, &["connections", "errors"], &["limit connections", "network"]), 200),
    asks(case("nginx-away", Server::Nginx, NOTHING, PASSES, &["none"], &["none"]), 4),
    case("python-cpu", Server::Python, NOTHING, "/cpu", &["cpu"], &["cpu"]),
    case("python-lock", Server::Python, NOTHING, "/lock", &["none"], &["none"]),
];
