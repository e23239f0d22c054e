//! The most users of one server before a requirement fails, for the fitted numbers and for what
//! they may be instead.

use rand::{RngExt as _, SeedableRng as _};
use rand_distr::StandardNormal;
use rand_xoshiro::Xoshiro256PlusPlus;
use weir_model::{FittedModel, Limits, Parameters};

use crate::SizeError;
use crate::ask::{Ask, Effort};
use crate::calibration::Calibration;
use crate::cores::Cores;
use crate::fleet::{Server, Share};
use crate::goal::{Off, Required, shown};
use crate::played::{Play, Played};

/// Servers of the share that stands for a larger fleet: with random balancing they are as
/// independent as all of them, as long as each has so small a part of all users that its own load
/// does not slow the rest down noticeably.
const SHARE_MAX: u32 = 8;
/// The crossing is interpolated once it is known as well as this.
const TOLERANCE: f64 = 1.02;
/// Where the crossing of a draw is looked for first, around that of the fitted numbers.
const NEAR: f64 = 1.06;
const WIDER: f64 = 1.15;
/// A percentile has to be made from so many responses beyond it.
const BEYOND_PERCENTILE: f64 = 50.0;
/// Standard errors of a new trial are no less than this.
const SPREAD: f64 = 0.02;

/// A server as it may be: numbers of one request, and by how much its figures are off.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Draw {
    pub(crate) parameters: Parameters,
    pub(crate) off: Off,
}

/// Everything that an answer is asked of.
pub(crate) struct Problem<'a> {
    pub(crate) ask: &'a Ask,
    pub(crate) model: &'a FittedModel,
    pub(crate) required: Vec<Required>,
    pub(crate) calibration: Calibration,
    pub(crate) limits: Limits,
    pub(crate) cores: Cores<'a>,
}

impl Problem<'_> {
    /// The server with these numbers.
    pub(crate) fn server(&self, parameters: Parameters) -> Server {
        Server {
            parameters,
            variation: self.calibration.variation,
            cpus: self.model.set.servers,
            limits: self.limits,
        }
    }

    /// The fitted numbers, taken as they are.
    pub(crate) fn fitted(&self) -> Draw {
        Draw {
            parameters: self.model.parameters,
            off: Off::default(),
        }
    }

    /// What the numbers may be, and how far off the figures of a new trial.
    pub(crate) fn draws(&self) -> Vec<Draw> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(self.ask.seed);
        let far = self.off();
        let mut off = |of: f64| of * random.sample::<f64, _>(StandardNormal);
        let draws = self.model.draws().into_iter();
        draws
            .take(self.ask.effort.draws as usize)
            .map(|parameters| Draw {
                parameters,
                off: Off {
                    cpu: off(far.cpu),
                    response_time: off(far.response_time),
                    throughput: off(far.throughput),
                },
            })
            .collect()
    }

    /// Standard errors of a new trial, as trials left out showed them.
    fn off(&self) -> Off {
        let held_out = &self.model.validation.held_out;
        let wider = self.model.widening();
        let percentiles = self.required.iter().filter_map(Required::percent);
        let of_percentiles = percentiles.map(|percent| self.calibration.off(percent));
        let response_time = of_percentiles.fold(held_out.response_time.root_mean_square, f64::max);
        Off {
            cpu: held_out.cpu.root_mean_square.max(SPREAD) * wider,
            response_time: response_time.max(SPREAD) * wider,
            throughput: held_out.throughput.root_mean_square.max(SPREAD) * wider,
        }
    }

    /// A simulation of `server` with so many users on each.
    pub(crate) fn play(&self, server: Server, users_each: f64) -> Play {
        let servers = (f64::from(self.ask.population) / users_each).round();
        let servers = (servers as u32).clamp(1, SHARE_MAX);
        Play {
            server,
            share: Share {
                servers,
                users: ((f64::from(servers) * users_each).round() as u32).max(1),
                balancer: self.ask.balancer,
            },
            requests: self.requests(),
            seed: self.ask.seed,
        }
    }

    fn requests(&self) -> u32 {
        let Effort { requests, .. } = self.ask.effort;
        let percentiles = self.required.iter().filter_map(Required::percent);
        percentiles.fold(requests, |requests, percent| {
            requests.max((BEYOND_PERCENTILE / (1.0 - percent / 100.0)).round() as u32)
        })
    }

    /// The requirement that is missed most, and the ratio of its value to the bound.
    pub(crate) fn worst(&self, played: &Played, users_each: f64, off: Off) -> (usize, f64) {
        let population = f64::from(self.ask.population);
        let ratios = self.required.iter().map(|required| {
            let value = required.value(played, population, users_each);
            required.ratio(required.off_by(value, off))
        });
        ratios
            .enumerate()
            .max_by(|left, right| left.1.total_cmp(&right.1))
            .expect("there is a requirement")
    }

    /// How much of its bound a draw takes with so many users each: at most 1 where all requirements
    /// hold.
    pub(crate) fn ratio(&self, draw: &Draw, users_each: f64) -> Result<f64, SizeError> {
        let played = self
            .play(self.server(draw.parameters), users_each)
            .run(self.cores.watcher)?;
        Ok(self.worst(&played, users_each, draw.off).1)
    }

    /// The most users of one server for the fitted numbers.
    pub(crate) fn of_fitted(&self) -> Result<f64, SizeError> {
        let fitted = self.fitted();
        let mut low = At(1.0, self.ratio(&fitted, 1.0)?);
        if low.1 > 1.0 {
            return Err(self.alone(&fitted)?);
        }
        let most = self.most_users(&fitted);
        let mut high = At(most, self.ratio(&fitted, most)?);
        if high.1 <= 1.0 {
            let all_of_them = most >= f64::from(self.ask.population);
            return if all_of_them {
                Ok(most)
            } else {
                Err(self.always())
            };
        }
        self.halve(&fitted, &mut low, &mut high)?;
        Ok(crossing(low, high))
    }

    /// The capacity of a draw, looked for near `near`; 0 where even one user is too many.
    pub(crate) fn of_draw(&self, draw: &Draw, near: f64) -> Result<f64, SizeError> {
        let at = |users: f64| Ok::<_, SizeError>(At(users, self.ratio(draw, users)?));
        let mut low = at((near / NEAR).max(1.0))?;
        let mut high = at(near * NEAR)?;
        while low.1 > 1.0 {
            if low.0 <= 1.0 {
                return Ok(0.0);
            }
            high = low;
            low = at((low.0 / WIDER).max(1.0))?;
        }
        let most = self.most_users(draw);
        while high.1 <= 1.0 && high.0 < most {
            low = high;
            high = at(high.0 * WIDER)?;
        }
        if high.1 <= 1.0 {
            return Ok(high.0);
        }
        self.halve(draw, &mut low, &mut high)?;
        Ok(crossing(low, high))
    }

    fn halve(&self, draw: &Draw, low: &mut At, high: &mut At) -> Result<(), SizeError> {
        while high.0 / low.0 > TOLERANCE && high.0 - low.0 > 0.25 {
            let middle = (low.0 * high.0).sqrt();
            let at = At(middle, self.ratio(draw, middle)?);
            *(if at.1 <= 1.0 { &mut *low } else { &mut *high }) = at;
        }
        Ok(())
    }

    /// More users than a server can answer within the bounds, whatever else: its capacity times the
    /// longest cycle.
    fn most_users(&self, draw: &Draw) -> f64 {
        let server = self.server(draw.parameters);
        let bounds = self.required.iter().filter_map(Required::time_s);
        let longest_s = bounds.fold(server.alone_s(), f64::max);
        let cycle_s = draw.parameters.think_s + server.alone_s() + 4.0 * longest_s;
        (server.throughput_max_per_s() * cycle_s)
            .min(f64::from(self.ask.population))
            .max(2.0)
    }

    /// Not even as many servers as users are enough.
    fn alone(&self, draw: &Draw) -> Result<SizeError, SizeError> {
        let played = self
            .play(self.server(draw.parameters), 1.0)
            .run(self.cores.watcher)?;
        let required = &self.required[self.worst(&played, 1.0, draw.off).0];
        let value = required.value(&played, f64::from(self.ask.population), 1.0);
        Ok(SizeError::Alone {
            requirement: required.says.clone(),
            alone: shown(required.figure, value),
        })
    }

    fn always(&self) -> SizeError {
        let says: Vec<&str> = self.required.iter().map(|of| of.says.as_str()).collect();
        let limit = |name: &str, limit: Option<u32>| limit.map(|limit| format!("{limit} {name}"));
        let limits: Vec<String> = limit("threads", self.limits.threads)
            .into_iter()
            .chain(limit("connections", self.limits.pool))
            .collect();
        SizeError::Always {
            requirement: says.join("` and `"),
            limits: limits.join(", "),
        }
    }
}

/// Users on each server, and how much of the bound they take.
#[derive(Debug, Clone, Copy)]
struct At(f64, f64);

/// Where the ratio is 1, on a line through the logarithms.
fn crossing(low: At, high: At) -> f64 {
    let (below, above) = (low.1.max(1e-6).ln(), high.1.ln());
    let part = if above > below {
        (-below / (above - below)).clamp(0.0, 1.0)
    } else {
        0.0
    };
    low.0 * (high.0 / low.0).powf(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_crossing_lies_where_the_logarithms_say() {
        let found = crossing(At(100.0, 0.5), At(400.0, 2.0));
        assert!((found - 200.0).abs() < 1e-9, "{found}");
        let at_the_end = crossing(At(100.0, 1.0), At(101.0, 5.0));
        assert!((at_the_end - 100.0).abs() < 1e-9, "{at_the_end}");
    }
}
