//! Closed networks of stations with one or more servers, exact.
//!
//! The product form (Gordon and Newell 1967; Baskett, Chandy, Muntz and Palacios 1975) solved by convolution (Buzen 1973,
//! "Computational algorithms for closed queueing networks with exponential servers"), all in logarithms: every term is positive, so no digit is lost at any load.
//! Holds for exponential service in order of arrival, and for any service under processor sharing; only means matter for thinking.

use crate::birth_death::log_sum_exp;

/// One queueing station.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Station {
    /// Service demand of one request at one server, over all its visits.
    pub demand_s: f64,
    /// Servers that work at the same time.
    pub servers: u32,
}

/// Users who think and then pass all stations.
#[derive(Debug, Clone, PartialEq)]
pub struct ClosedNetwork {
    /// Mean time outside of all stations: thinking, and waiting that needs no server.
    pub think_s: f64,
    /// The stations.
    pub stations: Vec<Station>,
}

/// Answer to "how many users can there be?"
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LargestUsers {
    /// This many, and one more is too many.
    Users {
        /// The largest population that meets the target; 0 if a single user exceeds it.
        users: u32,
        /// Utilisation there.
        utilization_at: f64,
        /// Utilisation with one user more.
        utilization_next: f64,
    },
    /// The target is never exceeded: something else limits the utilisation.
    Never {
        /// What the utilisation tends to.
        limit: f64,
    },
    /// More than were looked at.
    Beyond {
        /// The largest population looked at.
        users_max: u32,
    },
}

/// Averages of a closed network with a given population.
#[derive(Debug, Clone, PartialEq)]
pub struct NetworkSolution {
    /// Requests per second.
    pub throughput_per_s: f64,
    /// Mean time at the stations.
    pub response_time_s: f64,
    /// Per station, in the order given.
    pub stations: Vec<StationSolution>,
}

/// Averages at one station.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StationSolution {
    /// Mean number there, waiting or served.
    pub present: f64,
    /// Busy share of each server.
    pub utilization: f64,
    /// Mean time there per request, over all visits.
    pub residence_s: f64,
    /// Probability that nobody is there.
    pub empty_probability: f64,
}

impl Station {
    /// `ln(D^n / prod_{k<=n} min(k, c))` for n = 0..=`last`.
    fn factors(&self, last: usize) -> Vec<f64> {
        cumulated(last, |n| {
            (self.demand_s / n.min(self.servers as usize) as f64).ln()
        })
    }
}

fn cumulated(last: usize, step: impl Fn(usize) -> f64) -> Vec<f64> {
    let mut sum = 0.0;
    let steps = (1..=last).map(|n| {
        sum += step(n);
        sum
    });
    std::iter::once(0.0).chain(steps).collect()
}

/// Logarithm of the convolution of two sequences of equal length given by their logarithms.
fn convolved(left: &[f64], right: &[f64]) -> Vec<f64> {
    let mut terms = Vec::with_capacity(left.len());
    (0..left.len())
        .map(|n| {
            terms.clear();
            terms.extend((0..=n).map(|k| left[k] + right[n - k]));
            log_sum_exp(&terms)
        })
        .collect()
}

impl ClosedNetwork {
    /// The most requests per second that any population can make: the smallest `c/D` of all stations.
    pub fn throughput_limit_per_s(&self) -> f64 {
        self.stations
            .iter()
            .map(|station| f64::from(station.servers) / station.demand_s)
            .fold(f64::INFINITY, f64::min)
    }

    /// Exact averages with `users` users; the cost grows with users² times stations².
    pub fn solve(&self, users: u32) -> NetworkSolution {
        let last = users as usize;
        let factors: Vec<Vec<f64>> = self
            .stations
            .iter()
            .map(|station| station.factors(last))
            .collect();
        let all = factors
            .iter()
            .fold(self.think_factors(last), |sum, own| convolved(&sum, own));
        let throughput_per_s = throughput(&all, last);
        let stations: Vec<StationSolution> = self
            .stations
            .iter()
            .enumerate()
            .map(|(i, station)| {
                let others = factors
                    .iter()
                    .enumerate()
                    .filter(|(j, _)| *j != i)
                    .map(|(_, other)| other);
                let rest = others.fold(self.think_factors(last), |sum, other| {
                    convolved(&sum, other)
                });
                let probability = |n: usize| (factors[i][n] + rest[last - n] - all[last]).exp();
                let present = (1..=last).map(|n| n as f64 * probability(n)).sum();
                StationSolution {
                    present,
                    utilization: throughput_per_s * station.demand_s / f64::from(station.servers),
                    residence_s: present / throughput_per_s,
                    empty_probability: probability(0),
                }
            })
            .collect();
        NetworkSolution {
            throughput_per_s,
            response_time_s: stations.iter().map(|station| station.residence_s).sum(),
            stations,
        }
    }

    /// Throughput with 0, 1, ..., `users_max` users, in one pass.
    pub fn throughputs(&self, users_max: u32) -> Vec<f64> {
        let last = users_max as usize;
        let all = self
            .stations
            .iter()
            .fold(self.think_factors(last), |sum, station| {
                convolved(&sum, &station.factors(last))
            });
        (0..=last).map(|users| throughput(&all, users)).collect()
    }

    /// Mean number waiting at a station, not served, with 0, 1, ..., `users_max` users.
    pub(crate) fn waiting(&self, station: usize, users_max: u32) -> Vec<f64> {
        let last = users_max as usize;
        let own = self.stations[station].factors(last);
        let others = self
            .stations
            .iter()
            .enumerate()
            .filter(|(i, _)| *i != station);
        let rest = others.fold(self.think_factors(last), |sum, (_, other)| {
            convolved(&sum, &other.factors(last))
        });
        let all = convolved(&rest, &own);
        let servers = self.stations[station].servers as usize;
        (0..=last)
            .map(|users| {
                let waiting =
                    |n: usize| (n - servers) as f64 * (own[n] + rest[users - n] - all[users]).exp();
                // Not `sum`, which makes -0 of nothing.
                (servers + 1..=users)
                    .map(waiting)
                    .fold(0.0, |sum, term| sum + term)
            })
            .collect()
    }

    /// The largest population that keeps the utilisation of `station` at or below `target`.
    ///
    /// Utilisation rises with the population, so it is found by doubling and then halving; `users_max` bounds the
    /// search.
    pub fn largest_users(&self, station: usize, target: f64, users_max: u32) -> LargestUsers {
        let Station { demand_s, servers } = self.stations[station];
        let utilization_of = |throughput: f64| throughput * demand_s / f64::from(servers);
        let limit = utilization_of(self.throughput_limit_per_s());
        if limit <= target {
            return LargestUsers::Never { limit };
        }
        let mut last = 64.min(users_max);
        loop {
            let utilizations: Vec<f64> = self
                .throughputs(last + 1)
                .into_iter()
                .map(utilization_of)
                .collect();
            let above = utilizations.partition_point(|&utilization| utilization <= target);
            if above < utilizations.len() {
                return LargestUsers::Users {
                    users: above as u32 - 1,
                    utilization_at: utilizations[above - 1],
                    utilization_next: utilizations[above],
                };
            }
            if last == users_max {
                return LargestUsers::Beyond { users_max };
            }
            last = last.saturating_mul(2).min(users_max);
        }
    }

    /// `ln(Z^n / n!)`: with no think time nobody thinks.
    fn think_factors(&self, last: usize) -> Vec<f64> {
        cumulated(last, |n| (self.think_s / n as f64).ln())
    }
}

/// `G(N-1) / G(N)`.
fn throughput(normalization: &[f64], users: usize) -> f64 {
    if users == 0 {
        0.0
    } else {
        (normalization[users - 1] - normalization[users]).exp()
    }
}
