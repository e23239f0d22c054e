//! Closed networks of stations with one or more servers, exact.
//!
//! The product form (Gordon and Newell 1967; Baskett, Chandy, Muntz and Palacios 1975) solved by
//! convolution (Buzen 1973, "Computational algorithms for closed queueing networks with exponential
//! servers"), all in logarithms: every term is positive, so no digit is lost at any load.
//! From its last server on, the terms of a station form a geometric series, so adding a station of
//! c servers to n users takes n times c steps (Reiser and Kobayashi 1975).
//! Holds for exponential service in order of arrival, and for any service under processor sharing;
//! only means matter for thinking.

use crate::ModelError;
use crate::birth_death::log_add;
use crate::error::{Check, POPULATION_MAX};

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

/// The most steps of a solution: some seconds.
const STEPS_MAX: u64 = 1_000_000_000;

impl Station {
    /// Nobody of so many users ever waits here.
    fn is_delay(&self, users: u32) -> bool {
        self.servers >= users
    }

    /// `ln sum f(k) G(n-k)` with `f(k) = D^k / prod_{j<=k} min(j, c)`, for all n.
    fn added_to(&self, rest: &[f64]) -> Vec<f64> {
        let head = self.head(rest.len());
        let tail = self.tail(rest, &head);
        (0..rest.len())
            .map(|n| {
                let below = head.len().min(n + 1);
                let largest = (0..below)
                    .map(|k| head[k] + rest[n - k])
                    .fold(tail[n], f64::max);
                if largest == f64::NEG_INFINITY {
                    return largest;
                }
                let sum: f64 = (0..below)
                    .map(|k| (head[k] + rest[n - k] - largest).exp())
                    .sum();
                largest + (sum + (tail[n] - largest).exp()).ln()
            })
            .collect()
    }

    /// `ln f(k)` for k below the number of servers.
    fn head(&self, length: usize) -> Vec<f64> {
        let below = (self.servers as usize).min(length);
        cumulated(below - 1, |k| (self.demand_s / k as f64).ln())
    }

    /// `ln sum_{k>=c} f(k) G(n-k)`: each n adds one term to the sum before, times `D/c`.
    fn tail(&self, rest: &[f64], head: &[f64]) -> Vec<f64> {
        let servers = self.servers as usize;
        let ratio = self.log_ratio();
        let full = head[head.len() - 1] + ratio;
        let mut last = f64::NEG_INFINITY;
        (0..rest.len())
            .map(|n| {
                last = if n < servers {
                    f64::NEG_INFINITY
                } else {
                    log_add(full + rest[n - servers], ratio + last)
                };
                last
            })
            .collect()
    }

    /// `ln sum_{k>c} (k-c) f(k) G(n-k)`: the number waiting, before it is divided by `G(n)`.
    fn waiting(&self, rest: &[f64]) -> Vec<f64> {
        let tail = self.tail(rest, &self.head(rest.len()));
        let mut last = f64::NEG_INFINITY;
        let rest = tail.iter().map(|with_one_less| {
            let here = last;
            last = self.log_ratio() + log_add(last, *with_one_less);
            here
        });
        rest.collect()
    }

    fn log_ratio(&self) -> f64 {
        (self.demand_s / f64::from(self.servers)).ln()
    }

    /// This station with time counted in another unit.
    fn in_units(&self, unit_s: f64) -> Self {
        Self {
            demand_s: self.demand_s / unit_s,
            ..*self
        }
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

impl ClosedNetwork {
    /// The most requests per second that any population can make: the smallest `c/D` of all
    /// stations.
    pub fn throughput_limit_per_s(&self) -> f64 {
        self.stations
            .iter()
            .map(|station| f64::from(station.servers) / station.demand_s)
            .fold(f64::INFINITY, f64::min)
    }

    /// Whether `users` users can be solved for: times are no less than 0, somebody needs something,
    /// memory and time suffice.
    pub fn check(&self, users: u32) -> Result<(), ModelError> {
        let check = Check("the closed network");
        check.population("users", users)?;
        check.not_negative("the think time", self.think_s)?;
        for (index, station) in self.stations.iter().enumerate() {
            let number = index + 1;
            check.at_least_one(&format!("the servers of station {number}"), station.servers)?;
            check.not_negative(&format!("the demand at station {number}"), station.demand_s)?;
        }
        if users > 0 && self.stations.iter().all(|station| station.demand_s == 0.0) {
            return Err(ModelError::NoDemand {
                model: "the closed network",
                class: 1,
            });
        }
        let queues = self
            .stations
            .iter()
            .filter(|station| !station.is_delay(users));
        let servers: f64 = queues.map(|station| f64::from(station.servers)).sum();
        let steps = f64::from(users) * servers * self.stations.len() as f64;
        check.fits("steps", steps, STEPS_MAX)
    }

    /// Exact averages with `users` users; the cost grows with users times servers times stations.
    ///
    /// Panics where [`Self::check`] says why not.
    pub fn solve(&self, users: u32) -> NetworkSolution {
        let last = users as usize;
        let unit = self.unit_s(users);
        let all = self.normalization(users, unit, None);
        let throughput_per_s = throughput(&all, last) / unit;
        let stations: Vec<StationSolution> = self
            .stations
            .iter()
            .enumerate()
            .map(|(index, station)| {
                let rest = self.normalization(users, unit, Some(index));
                let waiting = if station.is_delay(users) {
                    0.0
                } else {
                    (station.in_units(unit).waiting(&rest)[last] - all[last]).exp()
                };
                let present = throughput_per_s * station.demand_s + waiting;
                StationSolution {
                    present,
                    utilization: throughput_per_s * station.demand_s / f64::from(station.servers),
                    residence_s: if users == 0 {
                        0.0
                    } else {
                        present / throughput_per_s
                    },
                    empty_probability: (rest[last] - all[last]).exp(),
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
        let unit = self.unit_s(users_max);
        let all = self.normalization(users_max, unit, None);
        (0..=users_max as usize)
            .map(|users| throughput(&all, users) / unit)
            .collect()
    }

    /// Probabilities of 0, 1, ..., `users` at a station.
    pub fn distribution(&self, station: usize, users: u32) -> Vec<f64> {
        let unit = self.unit_s(users);
        let last = users as usize;
        let own = self.stations[station].in_units(unit);
        let rest = self.normalization(users, unit, Some(station));
        let all = self.normalization(users, unit, None);
        let servers = f64::from(own.servers);
        let factors = cumulated(last, |n| (own.demand_s / (n as f64).min(servers)).ln());
        (0..=last)
            .map(|n| (factors[n] + rest[last - n] - all[last]).exp())
            .collect()
    }

    /// Mean number waiting at a station, not served, with 0, 1, ..., `users_max` users.
    pub fn waiting(&self, station: usize, users_max: u32) -> Vec<f64> {
        let unit = self.unit_s(users_max);
        let rest = self.normalization(users_max, unit, Some(station));
        let own = self.stations[station].in_units(unit);
        if own.is_delay(users_max) {
            return vec![0.0; rest.len()];
        }
        let all = own.added_to(&rest);
        own.waiting(&rest)
            .iter()
            .zip(&all)
            .map(|(waiting, all)| (waiting - all).exp())
            .collect()
    }

    /// `ln G(n)` for n = 0..=`users`, with all stations but `left_out`, and time in units of
    /// `unit_s`.
    fn normalization(&self, users: u32, unit_s: f64, left_out: Option<usize>) -> Vec<f64> {
        assert!(
            users <= POPULATION_MAX,
            "{users} users are more than `check` allows"
        );
        let stations = self
            .stations
            .iter()
            .enumerate()
            .filter(|(index, _)| Some(*index) != left_out)
            .map(|(_, station)| station);
        let (delays, queues): (Vec<&Station>, Vec<&Station>) =
            stations.partition(|station| station.is_delay(users));
        let delay_s = self.think_s + delays.iter().map(|station| station.demand_s).sum::<f64>();
        // `ln(Z^n / n!)`: with no think time nobody thinks.
        let thinking = cumulated(users as usize, |n| (delay_s / unit_s / n as f64).ln());
        queues.iter().fold(thinking, |rest, station| {
            station.in_units(unit_s).added_to(&rest)
        })
    }

    /// About the time from one answer to the next: with it as the unit, `ln G` stays small, and the
    /// difference between two of them keeps its digits for a million users.
    fn unit_s(&self, users: u32) -> f64 {
        let cycle_s = self.think_s
            + self
                .stations
                .iter()
                .map(|station| station.demand_s)
                .sum::<f64>();
        (cycle_s / f64::from(users.max(1))).max(1.0 / self.throughput_limit_per_s())
    }

    /// The largest population that keeps the utilisation of `station` at or below `target`.
    ///
    /// Utilisation rises with the population, so it is found by doubling and then halving;
    /// `users_max` bounds the search, and so does [`POPULATION_MAX`].
    pub fn largest_users(&self, station: usize, target: f64, users_max: u32) -> LargestUsers {
        let users_max = users_max.min(POPULATION_MAX - 1);
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
}

/// `G(N-1) / G(N)`.
fn throughput(normalization: &[f64], users: usize) -> f64 {
    if users == 0 {
        0.0
    } else {
        (normalization[users - 1] - normalization[users]).exp()
    }
}
