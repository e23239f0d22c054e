//! What the CPU is expected to be at a level: of users who wait for their answers, or of a rate of
//! arrivals that wait for nobody.

use weir_queueing::{ClosedCpu, CpuPoint};

use super::users::Users;

/// The model is not asked about more users than this.
const LEVEL_MAX: f64 = 1e5;
/// A trial whose requests per arrival are at least this share of the most there are has kept up
/// with its rate.
const KEPT: f64 = 0.97;

/// The CPU of a server that lacks nothing but CPU.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Model {
    /// A closed load: the CPU demand of a request, and the time its user spends elsewhere.
    Closed {
        /// The queueing model.
        cpu: ClosedCpu,
        /// From levels to users.
        users: Users,
    },
    /// An open load.
    Open(OpenCpu),
}

/// CPU under a rate of arrivals: by the utilization law in proportion to it, up to all CPUs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OpenCpu {
    /// CPU time of one request.
    demand_s: f64,
    /// Requests that an arrival brings.
    requests_per_arrival: f64,
    /// The CPU share of one arrival a second.
    cpu_per_arrival: f64,
}

impl OpenCpu {
    /// From the demand of a request, and the rate with the throughput of every trial; `None`
    /// without any.
    pub(crate) fn fit(demand_s: f64, servers: u32, seen: &[(f64, f64)]) -> Option<Self> {
        let ratio = |(level, throughput): &(f64, f64)| throughput / level;
        let most = seen.iter().map(ratio).fold(0.0, f64::max);
        let kept = || seen.iter().filter(|seen| ratio(seen) >= KEPT * most);
        let arrivals: f64 = kept().map(|(level, _)| level).sum();
        let requests: f64 = kept().map(|(_, throughput)| throughput).sum();
        let requests_per_arrival = requests / arrivals;
        let cpu_per_arrival = requests_per_arrival * demand_s / f64::from(servers);
        (cpu_per_arrival > 0.0).then_some(Self {
            demand_s,
            requests_per_arrival,
            cpu_per_arrival,
        })
    }

    /// Requests answered at a rate: all, up to what the CPUs can do.
    pub(crate) fn throughput_per_s(&self, rate: f64) -> f64 {
        self.requests_per_arrival * rate.min(1.0 / self.cpu_per_arrival)
    }
}

impl Model {
    /// The closed model that fits these points best with the demand of a request.
    pub(crate) fn closed(
        demand_s: f64,
        servers: u32,
        users: Users,
        points: &[CpuPoint],
    ) -> Option<Self> {
        let cpu = ClosedCpu::fit_think(demand_s, servers, points)?.model;
        Some(Self::Closed { cpu, users })
    }

    /// CPU time of one request.
    pub(crate) fn demand_s(&self) -> f64 {
        match self {
            Self::Closed { cpu, .. } => cpu.demand_s,
            Self::Open(open) => open.demand_s,
        }
    }

    /// The queueing model of a closed load.
    pub(crate) fn closed_cpu(&self) -> Option<ClosedCpu> {
        match self {
            Self::Closed { cpu, .. } => Some(*cpu),
            Self::Open(_) => None,
        }
    }

    /// The busy share of the CPUs at a level.
    pub(crate) fn utilization(&self, level: f64) -> f64 {
        match self {
            Self::Closed { cpu, users } => closed_utilization(cpu, users.population(level)),
            Self::Open(open) => (open.cpu_per_arrival * level).clamp(0.0, 1.0),
        }
    }

    /// The level at which the CPU is so busy; infinite from 1 on.
    pub(crate) fn level_at(&self, utilization: f64) -> f64 {
        match self {
            Self::Closed { users, .. } if utilization <= 0.0 => users.level(0.0).max(0.0),
            Self::Closed { cpu, users } => cpu
                .users_exact(utilization)
                .map_or(f64::INFINITY, |population| users.level(population)),
            Self::Open(_) if utilization >= 1.0 => f64::INFINITY,
            Self::Open(open) => utilization.max(0.0) / open.cpu_per_arrival,
        }
    }

    /// The model moved so that it meets the goal exactly at the root: the curve that is drawn and
    /// read off.
    pub(crate) fn through(self, root: f64, goal: f64) -> Curve {
        match self {
            Self::Closed { cpu, users } => closed_through(cpu, users, root, goal),
            Self::Open(open) => Curve {
                model: Self::Open(OpenCpu {
                    cpu_per_arrival: goal / root,
                    ..open
                }),
                factor: 1.0,
            },
        }
    }
}

fn closed_through(mut cpu: ClosedCpu, users: Users, root: f64, goal: f64) -> Curve {
    let population = users.population(root.min(LEVEL_MAX));
    // The time spent elsewhere is what the model does not know; with more of it the CPU falls.
    let cycle_s = cpu.think_s + cpu.demand_s;
    let (mut low, mut high) = (1e-9 * cpu.demand_s, 1e3 * cycle_s);
    // Halving 60 times leaves less than one unit in the last place.
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        cpu.think_s = middle;
        if closed_utilization(&cpu, population) > goal {
            low = middle;
        } else {
            high = middle;
        }
    }
    Curve {
        factor: goal / closed_utilization(&cpu, population),
        model: Model::Closed { cpu, users },
    }
}

/// A model that goes through the answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Curve {
    model: Model,
    /// What no think time could explain; 1 but for goals below what a single user makes.
    factor: f64,
}

impl Curve {
    pub(crate) fn cpu(&self, level: f64) -> f64 {
        self.factor * self.model.utilization(level)
    }

    pub(crate) fn throughput_per_s(&self, level: f64) -> f64 {
        match &self.model {
            Model::Closed { cpu, .. } => self.cpu(level) * f64::from(cpu.servers) / cpu.demand_s,
            Model::Open(open) => open.throughput_per_s(level),
        }
    }

    /// Mean response time, for users who think for `think_s`; `None` of an open load, whose
    /// response times the CPU alone does not tell.
    pub(crate) fn response_s(&self, level: f64, think_s: f64) -> Option<f64> {
        match &self.model {
            Model::Closed { users, .. } => {
                Some(users.population(level) / self.throughput_per_s(level) - think_s)
            }
            Model::Open(_) => None,
        }
    }
}

/// The exact utilisation, joined by straight lines between whole populations.
fn closed_utilization(model: &ClosedCpu, population: f64) -> f64 {
    let below = population.max(0.0).floor();
    let at = |users: f64| {
        if users < 1.0 {
            0.0
        } else {
            model.solve(users as u32).utilization
        }
    };
    let share = population.max(0.0) - below;
    if share == 0.0 {
        return at(below);
    }
    at(below) * (1.0 - share) + at(below + 1.0) * share
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_load_uses_cpu_in_proportion_until_all_is_used() {
        // 10 ms a request, two requests an arrival, two CPUs; the last trial fell behind.
        let seen = [(10.0, 20.0), (50.0, 100.5), (200.0, 190.0)];
        let open = OpenCpu::fit(0.010, 2, &seen).expect("there are trials");
        let model = Model::Open(open);
        assert!((model.utilization(50.0) - 0.5).abs() < 0.01);
        assert!((model.level_at(0.8) - 80.0).abs() < 1.0);
        assert!((model.utilization(500.0) - 1.0).abs() < 1e-12);
        assert!(model.level_at(1.0).is_infinite());
        let curve = model.through(75.0, 0.8);
        assert!((curve.cpu(75.0) - 0.8).abs() < 1e-12);
        assert!((curve.throughput_per_s(75.0) - 150.0).abs() < 1.0);
        assert!((curve.throughput_per_s(500.0) - curve.throughput_per_s(93.75)).abs() < 1e-9);
        assert_eq!(curve.response_s(75.0, 0.0), None);
        assert!(OpenCpu::fit(0.010, 2, &[]).is_none());
    }
}
