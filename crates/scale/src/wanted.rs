//! How many servers a load wants: the utilization law, with the doubt about it.
//!
//! A request costs D seconds of CPU: the CPU time that all servers have spent, over the requests
//! that they have ended (Denning and Buzen 1978: U = X · D). At λ requests a second the work is λ
//! · D CPUs, of which a server is to have `goal` · `cpus`. D is a ratio of two sums; its interval
//! comes from the batches in which both were counted (Cochran 1977, 6.4). λ is counted over the
//! last seconds, with the requests that were rejected, as they want to be answered too.

use std::collections::VecDeque;

use weir_stats::student_quantile;

use crate::Bounds;

/// What one second has shown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Second {
    /// Requests that came, rejected or not.
    pub offered: f64,
    /// Requests that servers have ended.
    pub ended: f64,
    /// CPU time that the servers have spent, in seconds.
    pub busy_s: f64,
}

/// What the load wants.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Wanted {
    /// Servers, with fractions.
    pub servers: f64,
    /// Between this, with 95 %,
    pub low: f64,
    /// and this.
    pub high: f64,
    /// CPU time of a request, in seconds.
    pub demand_s: f64,
    /// Requests that come, a second.
    pub offered_per_s: f64,
}

/// As [`Wanted`], in whole servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WantedServers {
    /// So many.
    pub wanted: u32,
    /// Between this, with 95 %,
    pub low: u32,
    /// and this.
    pub high: u32,
}

impl Wanted {
    /// In whole servers, within the bounds.
    pub fn in_whole(&self, bounds: &Bounds) -> WantedServers {
        // What a sum has of rounding is no server.
        let count = |servers: f64| {
            let count = (servers - 1e-9).ceil().max(0.0) as u32;
            count.clamp(bounds.min, bounds.max)
        };
        WantedServers {
            wanted: count(self.servers),
            low: count(self.low),
            high: count(self.high),
        }
    }
}

/// The last minute.
#[derive(Debug, Clone, Default)]
pub struct Seconds(VecDeque<Second>);

impl Seconds {
    /// One more; the oldest is forgotten.
    pub fn push(&mut self, second: Second) {
        self.0.push_back(second);
        while self.0.len() > WINDOW {
            self.0.pop_front();
        }
    }

    /// What was before says nothing any more.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// What these seconds want of servers that have so many CPUs each, of which this share is to be
    /// busy; else why nobody can tell.
    pub fn wanted(&mut self, cpus: f64, goal: f64) -> Result<Wanted, &'static str> {
        wanted(self.0.make_contiguous(), cpus, goal)
    }
}

/// Of each 95 %, two-sided.
const QUANTILE: f64 = 0.975;
/// Parts of the window, each long enough not to depend on the one before.
const BATCHES: usize = 10;
/// Seconds that say how much comes now.
const PRESENT: usize = 10;
/// Fewer requests say nothing of what one costs.
const ENDED_MIN: f64 = 100.0;

/// Seconds that are looked at.
const WINDOW: usize = 60;

/// As [`Seconds::wanted`], the last second last.
fn wanted(seconds: &[Second], cpus: f64, goal: f64) -> Result<Wanted, &'static str> {
    if seconds.len() < 2 * BATCHES {
        return Err("it has been watched for too short a time");
    }
    let ended: f64 = seconds.iter().map(|one| one.ended).sum();
    let busy_s: f64 = seconds.iter().map(|one| one.busy_s).sum();
    if ended < ENDED_MIN {
        return Err("too few requests have ended to say what one costs");
    }
    if busy_s <= 0.0 {
        return Err("the servers have spent no CPU time that could be seen");
    }
    let demand_s = busy_s / ended;
    let length = seconds.len() / BATCHES;
    let batches = seconds.rchunks_exact(length).take(BATCHES);
    let rests: Vec<f64> = batches
        .map(|batch| {
            let of = |value: fn(&Second) -> f64| batch.iter().map(value).sum::<f64>();
            of(|one| one.busy_s) - demand_s * of(|one| one.ended)
        })
        .collect();
    let mean_ended = ended / seconds.len() as f64 * length as f64;
    let demand_error = error_of_mean(&rests, 0.0) / mean_ended / demand_s;
    let present = &seconds[seconds.len() - PRESENT.min(seconds.len())..];
    let offered: Vec<f64> = present.iter().map(|one| one.offered).collect();
    let offered_per_s = offered.iter().sum::<f64>() / offered.len() as f64;
    let offered_error = if offered_per_s > 0.0 {
        error_of_mean(&offered, offered_per_s) / offered_per_s
    } else {
        0.0
    };
    let servers = offered_per_s * demand_s / (goal * cpus);
    let doubt = servers * demand_error.hypot(offered_error);
    Ok(Wanted {
        servers,
        low: (servers - doubt).max(0.0),
        high: servers + doubt,
        demand_s,
        offered_per_s,
    })
}

/// Half of the interval of a mean of these.
fn error_of_mean(values: &[f64], mean: f64) -> f64 {
    let count = values.len() as f64;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    student_quantile(QUANTILE, count - 1.0) * (squares / (count - 1.0) / count).sqrt()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    /// A minute of 100 requests a second, of 20 ms each, some of them more and some less.
    fn minute(offered: f64) -> Vec<Second> {
        let wave = |second: usize| if second.is_multiple_of(2) { 1.1 } else { 0.9 };
        (0..WINDOW)
            .map(|second| Second {
                offered: offered * wave(second),
                ended: 100.0,
                busy_s: 2.0 * wave(second / 3),
            })
            .collect()
    }

    #[test]
    fn work_over_what_one_server_is_to_do() {
        // 100/s of 20 ms are 2 CPUs; with 2 CPUs each, half of them busy, that is 2 servers.
        let found = wanted(&minute(100.0), 2.0, 0.5).unwrap();
        assert!((found.servers - 2.0).abs() < 1e-9, "{found:?}");
        assert!((found.demand_s - 0.02).abs() < 1e-12);
        assert!(
            found.low < 2.0 && found.high > 2.0 && found.high < 2.4,
            "{found:?}"
        );
        // What is rejected wants to be answered, too.
        let found = wanted(&minute(500.0), 2.0, 0.5).unwrap();
        assert!((found.servers - 10.0).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn without_a_doubt_the_bounds_are_the_figure() {
        let steady = [Second {
            offered: 50.0,
            ended: 50.0,
            busy_s: 0.5,
        }; WINDOW];
        let found = wanted(&steady, 1.0, 0.8).unwrap();
        assert!((found.servers - 0.625).abs() < 1e-9, "{found:?}");
        assert!(found.high - found.low < 1e-9, "{found:?}");
    }

    #[test]
    fn what_cannot_be_told_is_not() {
        let second = |ended, busy_s| Second {
            offered: 1.0,
            ended,
            busy_s,
        };
        assert!(wanted(&[second(100.0, 1.0); 10], 1.0, 0.8).is_err());
        assert!(wanted(&[second(1.0, 1.0); WINDOW], 1.0, 0.8).is_err());
        assert!(wanted(&[second(100.0, 0.0); WINDOW], 1.0, 0.8).is_err());
    }
}
