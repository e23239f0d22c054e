//! The funnel of one server as a network: connections around threads around CPUs and pools.

use weir_sim::{Center, CenterKind, Class, Distribution, Network, Source, Step};

/// The CPUs' place in the network.
pub(crate) const CPU: usize = 0;

/// The place of a pool, by its number.
pub(crate) fn pool(number: usize) -> usize {
    CPU + 1 + number
}

/// A server without users.
#[derive(Debug, Clone, Default)]
pub(crate) struct Funnel {
    pub(crate) cores: u32,
    /// Whether the CPUs serve one request after the other, to the end, instead of all at once.
    pub(crate) in_order: bool,
    pub(crate) threads: Option<u32>,
    pub(crate) pools: Vec<u32>,
    /// Most connections; whether one more waits, or is refused.
    pub(crate) connections: Option<(u32, bool)>,
}

impl Funnel {
    pub(crate) fn threads_at(&self) -> usize {
        pool(self.pools.len())
    }

    pub(crate) fn connections_at(&self) -> usize {
        self.threads_at() + usize::from(self.threads.is_some())
    }

    /// Users that start within a second, and what their requests do in their thread.
    pub(crate) fn class(&self, users: u32, think: Distribution, steps: Vec<Step>) -> Class {
        let held = [
            self.connections.map(|_| self.connections_at()),
            self.threads.map(|_| self.threads_at()),
        ];
        let held = || held.into_iter().flatten();
        let route = held().map(Step::Acquire).chain(steps);
        let route = route.chain(held().map(Step::Release)).collect();
        let source = Source::Users {
            users,
            think,
            ramp_s: 1.0,
        };
        Class::new("request", source, route)
    }

    pub(crate) fn network(&self, classes: Vec<Class>) -> Network {
        let limit = |name: &str, capacity| Center::new(name, CenterKind::Limit { capacity });
        let cpu = if self.in_order {
            CenterKind::Queue {
                servers: self.cores,
            }
        } else {
            CenterKind::Shared { cores: self.cores }
        };
        let mut centers = vec![Center::new("cpu", cpu)];
        let pools = self.pools.iter().enumerate();
        centers.extend(pools.map(|(number, &capacity)| match number {
            0 => limit("db", capacity),
            other => limit(&format!("db{other}"), capacity),
        }));
        centers.extend(self.threads.map(|threads| limit("threads", threads)));
        centers.extend(self.connections.map(|(most, waits)| Center {
            queue: (!waits).then_some(0),
            ..limit("connections", most)
        }));
        Network {
            centers,
            classes,
            ..Network::default()
        }
    }
}

/// Holds a connection of a pool for some time without using the CPU.
pub(crate) fn hold(number: usize, time: Distribution) -> [Step; 3] {
    [
        Step::Acquire(pool(number)),
        Step::Sleep(time),
        Step::Release(pool(number)),
    ]
}

/// A request of the stress application of the published WebSphere experiment.
///
/// It holds a connection for the search, computes two primes, sleeps some times, and holds a
/// connection for the update.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StressRequest {
    pub(crate) search_s: f64,
    pub(crate) primes: Distribution,
    pub(crate) interval_s: f64,
    pub(crate) times: usize,
    /// 1 ms in the published program, whatever was asked for.
    pub(crate) update_s: f64,
}

impl StressRequest {
    pub(crate) fn steps(&self) -> Vec<Step> {
        let constant = Distribution::constant;
        let mut steps = hold(0, constant(self.search_s)).to_vec();
        steps.push(Step::Use(CPU, self.primes));
        steps.extend(vec![Step::Sleep(constant(self.interval_s)); self.times]);
        steps.extend(hold(0, constant(self.update_s)));
        steps
    }
}
