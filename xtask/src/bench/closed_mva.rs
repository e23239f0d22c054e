//! Exact mean values of the smallest closed network: users who think, and one CPU station.
//!
//! Written here a second time, apart from `weir-queueing`, because it is what Weir's answers are
//! compared with. The network is product-form, so its queue lengths follow the birth-death
//! equations of a finite source (Kleinrock 1975, "Queueing Systems", vol. 1, section 3.8): with n
//! requests at the CPUs, (N − n)/Z arrive and min(n, c)/D leave per second.

/// Users who think for `think_s`, then need `demand_s` of one of `cpus` CPUs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ClosedNetwork {
    /// Mean time per cycle outside the CPUs.
    pub(crate) think_s: f64,
    /// CPU time of one request.
    pub(crate) demand_s: f64,
    /// Number of CPUs.
    pub(crate) cpus: u32,
}

impl ClosedNetwork {
    /// The network with the think time at which so many users make this utilization, which must be
    /// below the one without any think time.
    pub(crate) fn through(users: u32, utilization: f64, demand_s: f64, cpus: u32) -> Self {
        let network = |think_s| Self {
            think_s,
            demand_s,
            cpus,
        };
        // U = X D / c and X <= N / Z bound the think time from above; halving finds it to 1e-15 of
        // that.
        let longest = f64::from(users) * demand_s / (f64::from(cpus) * utilization);
        let (mut low, mut high) = (0.0, longest);
        for _ in 0..50 {
            let middle = f64::midpoint(low, high);
            if network(middle).utilization(users) > utilization {
                low = middle;
            } else {
                high = middle;
            }
        }
        network(high)
    }

    /// Busy share of the CPUs.
    pub(crate) fn utilization(&self, users: u32) -> f64 {
        let cpus = f64::from(self.cpus);
        let mut probability = 1.0;
        let (mut sum, mut busy) = (1.0, 0.0);
        for present in 1..=users {
            let arrivals = f64::from(users - present + 1) / self.think_s;
            let departures = f64::from(present.min(self.cpus)) / self.demand_s;
            probability *= arrivals / departures;
            sum += probability;
            busy += probability * f64::from(present.min(self.cpus));
            // Only ratios count; this keeps them within range for any number of users.
            if sum > 1e200 {
                (probability, sum, busy) = (probability / sum, 1.0, busy / sum);
            }
        }
        busy / sum / cpus
    }

    /// The largest number of users at which the CPUs are at most this busy; `target` is below 1.
    pub(crate) fn largest_users(&self, target: f64) -> u32 {
        let mut users = 0;
        while self.utilization(users + 1) <= target {
            users += 1;
        }
        users
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() <= 1e-12 * b.abs(), "{a} is not {b}");
    }

    /// Values computed by exact MVA with 50 digits, for Weir.
    #[test]
    fn known_answers() {
        let network = ClosedNetwork {
            think_s: 1.5,
            demand_s: 0.06,
            cpus: 2,
        };
        assert_eq!(network.largest_users(0.8), 43);
        close(network.utilization(43), 0.791_191_483_318_637);
        close(network.utilization(44), 0.806_559_699_036_497);
        let ten = ClosedNetwork {
            think_s: 1.0,
            demand_s: 0.4,
            cpus: 10,
        };
        close(ten.utilization(25), 0.709_050_528_733_275);
    }

    #[test]
    fn thousands_of_users_saturate_without_overflow() {
        let network = ClosedNetwork {
            think_s: 10.0,
            demand_s: 0.001,
            cpus: 1,
        };
        assert!((network.utilization(100_000) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn the_think_time_is_found_again() {
        for (think_s, cpus, users) in [(1.0, 1, 20), (0.05, 1, 2), (2.0, 4, 100)] {
            let network = ClosedNetwork {
                think_s,
                demand_s: 0.02,
                cpus,
            };
            let found =
                ClosedNetwork::through(users, network.utilization(users), 0.02, cpus).think_s;
            assert!((found - think_s).abs() < 1e-9, "{found} is not {think_s}");
        }
    }
}
