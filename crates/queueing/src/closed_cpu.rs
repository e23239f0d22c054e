//! Users, think time and one CPU station: the small model a search runs on.
//!
//! Everything that is neither CPU nor waiting for it (thinking, sleeping, holding a connection
//! without using CPU) counts as think time here. That is exact as long as no thread, connection or
//! pool limit holds anybody.

use crate::error::POPULATION_MAX;
use crate::{FiniteSource, FiniteSourceSolution, LargestUsers};

/// A closed workload on `servers` CPUs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClosedCpu {
    /// Mean time per cycle outside the CPU station.
    pub think_s: f64,
    /// CPU time of one request.
    pub demand_s: f64,
    /// Number of CPUs.
    pub servers: u32,
}

/// A measured utilisation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CpuPoint {
    /// Users in the trial.
    pub users: u32,
    /// Busy share of the CPUs, 0 to 1.
    pub utilization: f64,
    /// One over the variance of the utilisation.
    pub weight: f64,
}

/// The think time that fits measured utilisations best.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ThinkFit {
    /// The model with it.
    pub model: ClosedCpu,
    /// Weighted sum of squared differences between measured and fitted utilisation: with right
    /// weights about one per trial; much more says that the model is wrong.
    pub chi_squared: f64,
}

impl ClosedCpu {
    /// Exact averages (multi-server MVA in its birth-death form).
    pub fn solve(&self, users: u32) -> FiniteSourceSolution {
        FiniteSource {
            users,
            // Without any think time the process has no births; a billionth of the demand stands
            // for it.
            think_s: self.think_s.max(1e-9 * self.demand_s),
            service_s: self.demand_s,
            servers: self.servers,
            room: None,
        }
        .solve()
    }

    /// Approximate utilisation for a population that need not be whole.
    ///
    /// Schweitzer's fixed point (1979, "Approximate analysis of multiclass closed networks of
    /// queues") with Seidmann's (1987) replacement of c servers by one that is c times as fast
    /// and a delay of D (c-1)/c. With `a = (Z + D(c-1)/c) / (D/c)` the fixed point `a u + u /
    /// (1 - u (N-1)/N) = N` is a quadratic in u.
    pub fn utilization_approximate(&self, users: f64) -> f64 {
        let a = self.delay_ratio();
        let sum = a + users;
        2.0 * users / (sum + (sum * sum - 4.0 * a * (users - 1.0)).sqrt())
    }

    /// The population at which [`Self::utilization_approximate`] is `target`, for a target below 1.
    pub fn users_approximate(&self, target: f64) -> f64 {
        let half = target * self.delay_ratio() / 2.0;
        half + (half * half + 2.0 * half * target / (1.0 - target)).sqrt()
    }

    fn delay_ratio(&self) -> f64 {
        let servers = f64::from(self.servers);
        self.think_s * servers / self.demand_s + servers - 1.0
    }

    /// The largest population with an exact utilisation of at most `target`; looks at no more than
    /// [`POPULATION_MAX`] users.
    pub fn largest_users(&self, target: f64) -> LargestUsers {
        if target >= 1.0 {
            return LargestUsers::Never { limit: 1.0 };
        }
        let fits = |users: u32| users == 0 || self.solve(users).utilization <= target;
        // A target a hair below 1, or a demand of next to nothing, asks for more users than memory
        // has states for.
        let mut low = (self.users_approximate(target) as u32).min(POPULATION_MAX);
        while !fits(low) {
            low /= 2;
        }
        let mut high = (2 * low + 1).min(POPULATION_MAX);
        while fits(high) {
            if high == POPULATION_MAX {
                return LargestUsers::Beyond {
                    users_max: POPULATION_MAX,
                };
            }
            (low, high) = (high, (2 * high).min(POPULATION_MAX));
        }
        while high - low > 1 {
            let middle = u32::midpoint(low, high);
            if fits(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        let utilization_at = if low == 0 {
            0.0
        } else {
            self.solve(low).utilization
        };
        LargestUsers::Users {
            users: low,
            utilization_at,
            utilization_next: self.solve(high).utilization,
        }
    }

    /// The population at which the exact utilisation, joined by straight lines, is `target`; `None`
    /// from 1 on, and where it takes more than [`POPULATION_MAX`].
    pub fn users_exact(&self, target: f64) -> Option<f64> {
        match self.largest_users(target) {
            LargestUsers::Users {
                users,
                utilization_at,
                utilization_next,
            } => Some(
                f64::from(users) + (target - utilization_at) / (utilization_next - utilization_at),
            ),
            LargestUsers::Never { .. } | LargestUsers::Beyond { .. } => None,
        }
    }

    /// The think time with which the exact model comes closest to measured utilisations, by
    /// weighted least squares; the demand is known (utilisation law). `None` without a point
    /// that has users and a positive utilisation.
    pub fn fit_think(demand_s: f64, servers: u32, points: &[CpuPoint]) -> Option<ThinkFit> {
        // Utilisation is at most N D / (c Z), so no think time longer than N D / (c U) fits any
        // point.
        let longest = points
            .iter()
            .filter(|point| point.users > 0 && point.utilization > 0.0)
            .map(|point| {
                f64::from(point.users) * demand_s / (f64::from(servers) * point.utilization)
            })
            .reduce(f64::max)?;
        // A request waits for all others at most: with less time elsewhere every point's
        // utilisation is too high. Below, where they saturate, nothing tells one think time
        // from another.
        let shortest = points
            .iter()
            .filter(|point| point.users > 0 && point.utilization > 0.0)
            .map(|point| {
                let (users, servers) = (f64::from(point.users), f64::from(servers));
                demand_s * (users / (servers * point.utilization) - 1.0 - (users - 1.0) / servers)
            })
            .fold(longest, f64::min)
            .max(longest * 1e-6);
        let model = |log_think: f64| Self {
            think_s: log_think.exp(),
            demand_s,
            servers,
        };
        let chi_squared = |log_think: f64| {
            let model = model(log_think);
            points
                .iter()
                .map(|point| {
                    point.weight
                        * (point.utilization - model.solve(point.users).utilization).powi(2)
                })
                .sum::<f64>()
        };
        let best = golden_section(shortest.ln(), longest.ln(), chi_squared);
        Some(ThinkFit {
            model: model(best),
            chi_squared: chi_squared(best),
        })
    }
}

/// The place of the minimum of a function with one valley (Kiefer 1953), which may be flat at its
/// lower end.
fn golden_section(mut low: f64, mut high: f64, of: impl Fn(f64) -> f64) -> f64 {
    let ratio = (5_f64.sqrt() - 1.0) / 2.0;
    let (mut left, mut right) = (high - ratio * (high - low), low + ratio * (high - low));
    let (mut at_left, mut at_right) = (of(left), of(right));
    while high - low > 1e-9 {
        if at_left < at_right {
            (high, right, at_right) = (right, left, at_left);
            left = high - ratio * (high - low);
            at_left = of(left);
        } else {
            (low, left, at_left) = (left, right, at_right);
            right = low + ratio * (high - low);
            at_right = of(right);
        }
    }
    f64::midpoint(low, high)
}
