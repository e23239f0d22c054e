//! Closed networks with several classes of users: exact, and approximate for any size.
//!
//! Exact: mean value analysis over all populations up to the given one (Reiser and Lavenberg 1980,
//! "Mean-value analysis of closed multichain queueing networks") for single servers; convolution in
//! logarithms where a station has several. Approximate: Bard (1979) and Schweitzer (1979), with
//! Seidmann's replacement of c servers by one that is c times as fast and a delay (Seidmann,
//! Schweitzer and Shalev-Oren 1987). Needs: exponential service with one mean for all classes in
//! order of arrival, or any service under processor sharing.

use crate::ModelError;
use crate::birth_death::log_sum_exp;
use crate::error::Check;

/// Users of one class.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassOfUsers {
    /// How many.
    pub users: u32,
    /// Mean think time.
    pub think_s: f64,
    /// Service demand of one request at each station.
    pub demands_s: Vec<f64>,
}

/// Several classes that share stations.
#[derive(Debug, Clone, PartialEq)]
pub struct MulticlassNetwork {
    /// The classes.
    pub classes: Vec<ClassOfUsers>,
    /// Servers of each station.
    pub servers: Vec<u32>,
}

/// Averages of a [`MulticlassNetwork`].
#[derive(Debug, Clone, PartialEq)]
pub struct MulticlassSolution {
    /// Requests per second of each class.
    pub throughput_per_s: Vec<f64>,
    /// Mean time at the stations of each class.
    pub response_time_s: Vec<f64>,
    /// Mean number of requests of each class at each station: `[class][station]`.
    pub present: Vec<Vec<f64>>,
    /// Busy share of each station that each class causes: `[class][station]`.
    pub utilization: Vec<Vec<f64>>,
}

/// The most means that the exact analysis keeps: 160 MB.
const MEANS_MAX: u64 = 20_000_000;
/// The most products of one convolution: some seconds.
const PRODUCTS_MAX: u64 = 200_000_000;
const ROUNDS_MAX: u32 = 100_000;
const EXACT: &str = "the exact network with several classes";
const APPROXIMATE: &str = "the approximate network with several classes";

impl MulticlassSolution {
    /// Mean number at each station, all classes together.
    pub fn present_in_all(&self) -> Vec<f64> {
        let stations = self.present.first().map_or(0, Vec::len);
        (0..stations)
            .map(|station| self.present.iter().map(|class| class[station]).sum())
            .collect()
    }
}

impl MulticlassNetwork {
    /// Exact averages; the cost grows with the product of all populations.
    pub fn solve(&self) -> Result<MulticlassSolution, ModelError> {
        self.check(EXACT)?;
        let populations = Populations::new(&self.classes);
        Check(EXACT).fits(
            "means",
            populations.count() * self.servers.len() as f64,
            MEANS_MAX,
        )?;
        if self.servers.iter().all(|&servers| servers == 1) {
            return Ok(self.mean_values(&populations));
        }
        Check(EXACT).fits(
            "products of populations",
            populations.count() * populations.count() * self.servers.len() as f64,
            PRODUCTS_MAX,
        )?;
        Ok(self.convolution(&populations))
    }

    /// Approximate averages of a network of any size: most often within a few percent, at worst
    /// about a fifth off where two stations saturate at the same load.
    pub fn solve_approximate(&self) -> Result<MulticlassSolution, ModelError> {
        self.check(APPROXIMATE)?;
        let demands: Vec<Vec<f64>> = self
            .classes
            .iter()
            .map(|class| class.demands_s.clone())
            .collect();
        let mut last = self.solution(&demands);
        let mut change = f64::INFINITY;
        for _ in 0..ROUNDS_MAX {
            let next = self.solution(&self.residence_approximate(&last));
            change = distance(&last.present, &next.present);
            if change < 1e-12 {
                return Ok(next);
            }
            last = next;
        }
        Err(ModelError::NotConverged {
            model: APPROXIMATE,
            rounds: ROUNDS_MAX,
            change,
        })
    }

    fn check(&self, model: &'static str) -> Result<(), ModelError> {
        let check = Check(model);
        for (index, &servers) in self.servers.iter().enumerate() {
            check.at_least_one(&format!("the servers of station {}", index + 1), servers)?;
        }
        for (index, class) in self.classes.iter().enumerate() {
            let number = index + 1;
            check.population("users", class.users)?;
            check.not_negative(&format!("the think time of class {number}"), class.think_s)?;
            let count = class.demands_s.len();
            check.holds(
                count == self.servers.len(),
                &format!("the number of demands of class {number}"),
                count as f64,
                "one for each station",
            )?;
            for (station, &demand_s) in class.demands_s.iter().enumerate() {
                let name = format!("the demand of class {number} at station {}", station + 1);
                check.not_negative(&name, demand_s)?;
            }
            if class.users > 0 && class.demands_s.iter().all(|&demand_s| demand_s == 0.0) {
                return Err(ModelError::NoDemand {
                    model,
                    class: number,
                });
            }
        }
        Ok(())
    }

    /// `R = D (1 + Q of one user less)`, population by population.
    fn mean_values(&self, populations: &Populations) -> MulticlassSolution {
        let stations = self.servers.len();
        // Mean number at each station of each population.
        let mut queues = vec![0.0; populations.total * stations];
        let mut residence = vec![vec![0.0; stations]; self.classes.len()];
        let mut users = vec![0; self.classes.len()];
        for at in 1..populations.total {
            populations.advance(&mut users);
            let mut here = vec![0.0; stations];
            for (class, own) in self.classes.iter().enumerate() {
                if users[class] == 0 {
                    continue;
                }
                let less = (at - populations.stride[class]) * stations;
                for (station, time) in residence[class].iter_mut().enumerate() {
                    *time = own.demands_s[station] * (1.0 + queues[less + station]);
                }
                let time: f64 = residence[class].iter().sum();
                let throughput = f64::from(users[class]) / (own.think_s + time);
                for (queue, time) in here.iter_mut().zip(&residence[class]) {
                    *queue += throughput * time;
                }
            }
            queues[at * stations..(at + 1) * stations].copy_from_slice(&here);
        }
        self.solution(&residence)
    }

    /// `R = D (1 + Q less the own share)`, with Seidmann's stations: what stands in their delay
    /// does not queue.
    fn residence_approximate(&self, last: &MulticlassSolution) -> Vec<Vec<f64>> {
        let queueing = |class: usize, station: usize| {
            let servers = f64::from(self.servers[station]);
            let delay_s = self.classes[class].demands_s[station] * (servers - 1.0) / servers;
            (last.present[class][station] - last.throughput_per_s[class] * delay_s).max(0.0)
        };
        let in_all: Vec<f64> = (0..self.servers.len())
            .map(|station| {
                (0..self.classes.len())
                    .map(|class| queueing(class, station))
                    .sum()
            })
            .collect();
        let residence = |class: usize, station: usize| {
            let own = &self.classes[class];
            let servers = f64::from(self.servers[station]);
            let ahead = in_all[station] - queueing(class, station) / f64::from(own.users.max(1));
            own.demands_s[station] * (1.0 + ahead + (servers - 1.0)) / servers
        };
        (0..self.classes.len())
            .map(|class| {
                (0..self.servers.len())
                    .map(|station| residence(class, station))
                    .collect()
            })
            .collect()
    }

    /// Everything else from the mean time of each class at each station.
    fn solution(&self, residence: &[Vec<f64>]) -> MulticlassSolution {
        let mut solution = MulticlassSolution {
            throughput_per_s: Vec::new(),
            response_time_s: Vec::new(),
            present: Vec::new(),
            utilization: Vec::new(),
        };
        for (class, times) in self.classes.iter().zip(residence) {
            let time: f64 = times.iter().sum();
            let (throughput, time) = if class.users == 0 {
                (0.0, 0.0)
            } else {
                (f64::from(class.users) / (class.think_s + time), time)
            };
            solution.throughput_per_s.push(throughput);
            solution.response_time_s.push(time);
            let present = times.iter().map(|time| throughput * time).collect();
            solution.present.push(present);
            let busy = class
                .demands_s
                .iter()
                .zip(&self.servers)
                .map(|(demand, &servers)| throughput * demand / f64::from(servers));
            solution.utilization.push(busy.collect());
        }
        solution
    }

    /// Product form: `G` over all populations, and without each station.
    fn convolution(&self, populations: &Populations) -> MulticlassSolution {
        let all = populations.users();
        let thinking = self.thinking(&all);
        let factors: Vec<Vec<f64>> = (0..self.servers.len())
            .map(|station| self.factors(station, &all))
            .collect();
        let product = |left_out: Option<usize>| {
            factors
                .iter()
                .enumerate()
                .filter(|(station, _)| Some(*station) != left_out)
                .fold(thinking.clone(), |sum, (_, factor)| {
                    populations.convolved(&all, &sum, factor)
                })
        };
        let last = populations.total - 1;
        let norm = product(None);
        let throughputs: Vec<f64> = self
            .classes
            .iter()
            .enumerate()
            .map(|(class, own)| {
                if own.users == 0 {
                    0.0
                } else {
                    (norm[last - populations.stride[class]] - norm[last]).exp()
                }
            })
            .collect();
        let mut residence = vec![vec![0.0; self.servers.len()]; self.classes.len()];
        for (station, factor) in factors.iter().enumerate() {
            let rest = product(Some(station));
            for (at, users) in all.iter().enumerate() {
                let share = (factor[at] + rest[last - at] - norm[last]).exp();
                for (class, times) in residence.iter_mut().enumerate() {
                    if users[class] > 0 {
                        times[station] += f64::from(users[class]) * share / throughputs[class];
                    }
                }
            }
        }
        self.solution(&residence)
    }

    /// `ln prod Z^n / n!` of each population.
    fn thinking(&self, all: &[Vec<u32>]) -> Vec<f64> {
        all.iter()
            .map(|users| {
                users
                    .iter()
                    .zip(&self.classes)
                    .map(|(&users, class)| log_power(class.think_s, users) - log_factorial(users))
                    .sum()
            })
            .collect()
    }

    /// `ln (n! / prod n_r! * prod D_r^n_r / prod_{k<=n} min(k, c))` of each population.
    fn factors(&self, station: usize, all: &[Vec<u32>]) -> Vec<f64> {
        let servers = self.servers[station];
        all.iter()
            .map(|users| {
                let sum: u32 = users.iter().sum();
                let classes: f64 = users
                    .iter()
                    .zip(&self.classes)
                    .map(|(&users, class)| {
                        log_power(class.demands_s[station], users) - log_factorial(users)
                    })
                    .sum();
                let speeds: f64 = (1..=sum).map(|k| f64::from(k.min(servers)).ln()).sum();
                log_factorial(sum) + classes - speeds
            })
            .collect()
    }
}

/// All populations up to the full one, numbered with the last class changing fastest.
struct Populations {
    limits: Vec<u32>,
    stride: Vec<usize>,
    total: usize,
}

impl Populations {
    /// `total` saturates where there are more than memory has; [`Self::count`] says how many.
    fn new(classes: &[ClassOfUsers]) -> Self {
        let limits: Vec<u32> = classes.iter().map(|class| class.users).collect();
        let mut stride = vec![1; limits.len()];
        let mut total = 1_usize;
        for class in (0..limits.len()).rev() {
            stride[class] = total;
            total = total.saturating_mul(limits[class] as usize + 1);
        }
        Self {
            limits,
            stride,
            total,
        }
    }

    fn count(&self) -> f64 {
        self.limits
            .iter()
            .map(|&users| f64::from(users) + 1.0)
            .product()
    }

    /// The next population.
    fn advance(&self, users: &mut [u32]) {
        for class in (0..users.len()).rev() {
            if users[class] < self.limits[class] {
                users[class] += 1;
                return;
            }
            users[class] = 0;
        }
    }

    fn users(&self) -> Vec<Vec<u32>> {
        let mut users = vec![0; self.limits.len()];
        (0..self.total)
            .map(|at| {
                if at > 0 {
                    self.advance(&mut users);
                }
                users.clone()
            })
            .collect()
    }

    fn convolved(&self, all: &[Vec<u32>], left: &[f64], right: &[f64]) -> Vec<f64> {
        let mut terms = Vec::new();
        (0..self.total)
            .map(|at| {
                terms.clear();
                let parts = (0..=at).filter(|&part| {
                    all[part]
                        .iter()
                        .zip(&all[at])
                        .all(|(part, whole)| part <= whole)
                });
                terms.extend(parts.map(|part| left[part] + right[at - part]));
                log_sum_exp(&terms)
            })
            .collect()
    }
}

/// `ln(x^n)`, where nothing to the power of nothing is 1.
fn log_power(base: f64, exponent: u32) -> f64 {
    if exponent == 0 {
        0.0
    } else {
        f64::from(exponent) * base.ln()
    }
}

fn log_factorial(n: u32) -> f64 {
    (2..=n).map(|k| f64::from(k).ln()).sum()
}

fn distance(left: &[Vec<f64>], right: &[Vec<f64>]) -> f64 {
    left.iter()
        .flatten()
        .zip(right.iter().flatten())
        .map(|(left, right)| (left - right).abs() / (1.0 + right.abs()))
        .fold(0.0, f64::max)
}
