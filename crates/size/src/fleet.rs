//! Servers of one kind behind a balancer, as a network of the simulator.

use weir_model::{Figures, FitError, Limits, Parameters, Question};
use weir_sim::{Balancer, Center, CenterKind, Class, Distribution, Group, Network, Source, Step};

use crate::variation::Pair;

/// The class of all requests.
pub(crate) const REQUEST: usize = 0;
/// The group of all servers.
pub(crate) const SERVERS: usize = 0;
/// The CPUs of a server.
pub(crate) const CPU: usize = 0;
/// A closed form with more threads than this costs more than the simulation; nobody is that many
/// times inside.
const THREADS_OF_CLOSED_FORM: u32 = 5_000;

/// A server of the fleet: what one request needs, and what there is for it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Server {
    pub(crate) parameters: Parameters,
    pub(crate) variation: Pair,
    pub(crate) cpus: u32,
    pub(crate) limits: Limits,
}

/// A part of a fleet, or all of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Share {
    pub(crate) servers: u32,
    pub(crate) users: u32,
    pub(crate) balancer: Balancer,
}

/// Where in the network the limits stand.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Places {
    pub(crate) threads: Option<usize>,
    pub(crate) pool: Option<usize>,
}

impl Server {
    /// The network, and where its limits stand.
    pub(crate) fn network(&self, share: Share) -> (Network, Places) {
        let mut centers = vec![Center::new(
            "server.cpu",
            CenterKind::Shared { cores: self.cpus },
        )];
        let mut add = |name: &str, capacity: Option<u32>| {
            let capacity = capacity?;
            centers.push(Center::new(name, CenterKind::Limit { capacity }));
            Some(centers.len() - 1)
        };
        let holds = self.parameters.hold_s > 0.0;
        let places = Places {
            threads: add("server.threads", self.limits.threads),
            pool: add("server.pool", self.limits.pool.filter(|_| holds)),
        };
        for center in &mut centers {
            center.group = Some(SERVERS);
        }
        let users = Source::Users {
            users: share.users,
            think: Distribution::exponential(self.parameters.think_s),
            ramp_s: 0.0,
        };
        let network = Network {
            centers,
            groups: vec![Group {
                name: "server".to_owned(),
                servers: share.servers,
                balancer: share.balancer,
                scaling: None,
            }],
            classes: vec![Class::new("request", users, self.route(places))],
            ..Network::default()
        };
        (network, places)
    }

    fn route(&self, places: Places) -> Vec<Step> {
        let found = &self.parameters;
        let delay =
            |mean_s: f64| (mean_s > 0.0).then(|| Step::Sleep(self.variation.delay.of_mean(mean_s)));
        let mut route = vec![Step::Enter(SERVERS)];
        route.extend(places.threads.map(Step::Acquire));
        route.push(Step::Use(CPU, self.variation.cpu.of_mean(found.cpu_s)));
        route.extend(delay(found.delay_s));
        route.extend(places.pool.map(Step::Acquire));
        route.extend(delay(found.hold_s));
        route.extend(places.pool.map(Step::Release));
        route.extend(places.threads.map(Step::Release));
        route.push(Step::Leave(SERVERS));
        route.extend(delay(found.outside_s));
        route
    }

    /// Means by closed form, with so many users on one server.
    pub(crate) fn closed_form(&self, users: f64) -> Result<Figures, FitError> {
        let population = (users.round() as u32).max(1);
        let limits = Limits {
            threads: Some(self.limits.threads.unwrap_or(THREADS_OF_CLOSED_FORM)),
            ..self.limits
        };
        let question = Question { population, limits };
        Ok(self.parameters.predict(self.cpus, question)?)
    }

    /// The most requests per second that one server can do.
    pub(crate) fn throughput_max_per_s(&self) -> f64 {
        let found = &self.parameters;
        let of = |limit: Option<u32>, seconds: f64| {
            limit.map_or(f64::INFINITY, |limit| f64::from(limit) / seconds)
        };
        let in_thread_s = found.cpu_s + found.delay_s + found.hold_s;
        of(Some(self.cpus), found.cpu_s)
            .min(of(self.limits.threads, in_thread_s))
            .min(of(self.limits.pool, found.hold_s))
    }

    /// Time of a request that meets nobody.
    pub(crate) fn alone_s(&self) -> f64 {
        let found = &self.parameters;
        found.cpu_s + found.delay_s + found.hold_s + found.outside_s
    }
}
