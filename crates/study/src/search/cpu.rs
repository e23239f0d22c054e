//! CPU against users, or against a rate: the [`Model`], and the line that corrects it near the
//! goal.
//!
//! The closed model has two numbers: the CPU demand of a request (utilisation law) and the time a
//! user spends elsewhere (fitted); the open one needs the demand alone. It proposes levels from the
//! first trial on. The answer itself does not rest on it: near the goal the measured CPU is fitted
//! by a line *against the model's CPU* (not against the level, so that the bend of the curve does
//! not bias the line), and the level where that line meets the goal is the root. Where the model is
//! right the line has slope 1; where it is not, the line follows the trials.

use weir_queueing::{ClosedCpu, CpuPoint};
use weir_record::{STEAL_MAX, TrialRecord, disturbance, used_by_others};
use weir_stats::{Crossing, Estimate, ExpectedSlope, IsotonicFit, Point, student_quantile};

use super::model::{Curve, Model, OpenCpu};
use super::noise;
use super::root::{By, CONFIDENCE, NEAR, Root, STOP_CONFIDENCE};
use super::users::{Users, customers};
use super::{fell_behind, is_open, level};

/// Relative spread between trials that is assumed before any is seen, and its weight against the
/// scatter of the trials near the goal, in degrees of freedom. Quiet machines repeat a trial within
/// 1 to 2 %, shared ones within 5 to 10 %; one degree of freedom lets five trials speak for
/// themselves (tried in `tests/study/search_accuracy.rs`: with more the intervals of noisy machines
/// are too narrow).
pub(crate) const SPREAD: f64 = 0.02;
const SPREAD_DF: f64 = 1.0;
/// Measured CPU against the model's has slope 1 where the model is right. Two classes of requests,
/// a plateau above the goal or a demand that grows with the load make it 0.5 to 1.5; until the
/// trials say so, this is how far it may be off.
const SLOPE_DOUBT: f64 = 0.4;

/// One trial as the fit sees it.
#[derive(Debug, Clone, Copy)]
struct CpuTrial {
    id: u32,
    level: f64,
    population: u32,
    utilization: f64,
    half_width: f64,
    throughput_per_s: f64,
    /// Busy seconds and requests, as far as they can be trusted.
    busy_s: f64,
    requests: f64,
}

impl CpuTrial {
    fn of(trial: &TrialRecord, servers: u32) -> Option<Self> {
        // Where most requests fail, the CPU is not that of the work.
        let cpu = trial.cpu.filter(|_| !trial.fails())?;
        let within = trial.intervals.get("cpu").map_or(0.0, Estimate::half_width);
        let disturbed = disturbed_by(trial, servers);
        // What others did to the CPU figure is as much noise as the spread between trials: a trial
        // in which it is the larger of the two hardly counts for the demand.
        let trust = 1.0 / (1.0 + (disturbed / (2.0 * SPREAD * cpu.total)).powi(2));
        Some(Self {
            id: trial.id,
            level: level(trial)?,
            population: customers(trial) as u32,
            utilization: cpu.total,
            half_width: within.hypot(disturbed),
            throughput_per_s: trial.throughput_per_s,
            busy_s: trust * cpu.total * f64::from(servers) * trial.window_s,
            requests: trust * trial.throughput_per_s * trial.window_s,
        })
    }

    fn weight(&self) -> f64 {
        let variance = (SPREAD * self.utilization).powi(2) + self.half_width.powi(2) / 4.0;
        1.0 / variance.max(1e-12)
    }
}

/// How far the CPU figure of a disturbed trial may be off, as a share of the CPUs; 0 when nobody
/// disturbed it. No interval within the trial shows this.
///
/// With a share s of the time stolen a request costs up to 1/(1 - s) of its own time, so that the
/// figure may be off by s of itself; what other processes used is in the figure as it is.
pub(crate) fn disturbed_by(trial: &TrialRecord, servers: u32) -> f64 {
    let Some(cpu) = trial.cpu.filter(|_| disturbance(trial, servers).is_some()) else {
        return 0.0;
    };
    if cpu.steal > STEAL_MAX {
        return cpu.steal * cpu.total;
    }
    used_by_others(trial, servers).unwrap_or(cpu.total).max(0.0)
}

/// What makes the load of the trials.
#[derive(Debug, Clone, Copy)]
enum Load {
    /// Users who wait for their answers.
    Users(Users),
    /// Arrivals that wait for nobody.
    Arrivals,
}

impl Load {
    /// `None` without any trial that has a level.
    fn of(trials: &[&TrialRecord]) -> Option<Self> {
        if trials.iter().any(|trial| is_open(trial)) {
            return Some(Self::Arrivals);
        }
        Users::of(trials).map(Self::Users)
    }

    /// The model with this demand of a request that fits the trials.
    fn model(self, demand_s: f64, servers: u32, trials: &[CpuTrial]) -> Option<Model> {
        match self {
            Self::Users(users) => {
                let point = |trial: &CpuTrial| CpuPoint {
                    users: trial.population,
                    utilization: trial.utilization,
                    weight: trial.weight(),
                };
                let points: Vec<CpuPoint> = trials.iter().map(point).collect();
                Model::closed(demand_s, servers, users, &points)
            }
            Self::Arrivals => {
                let seen = trials
                    .iter()
                    .map(|trial| (trial.level, trial.throughput_per_s));
                let seen: Vec<(f64, f64)> = seen.collect();
                OpenCpu::fit(demand_s, servers, &seen).map(Model::Open)
            }
        }
    }
}

/// The model fitted to trials, and their points.
#[derive(Debug, Clone)]
pub(crate) struct CpuFit {
    model: Model,
    trials: Vec<CpuTrial>,
    target: f64,
}

impl CpuFit {
    /// Fits the trials that have a CPU figure; `None` without any of use.
    pub(crate) fn of(trials: &[&TrialRecord], servers: u32, target: f64) -> Option<Self> {
        let load = Load::of(trials)?;
        let points = |with_behind: bool| -> Vec<CpuTrial> {
            let used = trials
                .iter()
                .filter(|trial| with_behind || !fell_behind(trial));
            used.filter_map(|trial| CpuTrial::of(trial, servers))
                .collect()
        };
        // Beyond what the server can do the CPU does not follow the rate.
        let kept = points(false);
        let points = if kept.is_empty() { points(true) } else { kept };
        let first = Self::with_demand_of(&points, &points, load, servers, target)?;
        // The demand may change with the load, so the trials near the goal decide it, if there are
        // any.
        let root = first.model_root();
        let near: Vec<CpuTrial> = points
            .iter()
            .copied()
            .filter(|point| (0.5..1.6).contains(&(point.level / root)))
            .collect();
        if near.is_empty() {
            return Some(first);
        }
        Self::with_demand_of(&near, &points, load, servers, target)
    }

    fn with_demand_of(
        near: &[CpuTrial],
        all: &[CpuTrial],
        load: Load,
        servers: u32,
        target: f64,
    ) -> Option<Self> {
        let sum = |of: &dyn Fn(&CpuTrial) -> f64| near.iter().map(of).sum::<f64>();
        let busy_s = sum(&|point| point.busy_s);
        let requests = sum(&|point| point.requests);
        if !(busy_s > 0.0 && requests > 0.0) {
            return None;
        }
        Some(Self {
            model: load.model(busy_s / requests, servers, all)?,
            trials: all.to_vec(),
            target,
        })
    }

    /// CPU time of one request.
    pub(crate) fn demand_s(&self) -> f64 {
        self.model.demand_s()
    }

    /// The model of a closed load; `None` of an open one.
    pub(crate) fn closed(&self) -> Option<ClosedCpu> {
        self.model.closed_cpu()
    }

    /// The model's CPU at a level, not corrected.
    pub(crate) fn model_utilization(&self, level: f64) -> f64 {
        self.model.utilization(level)
    }

    /// The model's CPU at a level near the goal; `None` far from it.
    pub(crate) fn near_utilization(&self, level: f64) -> Option<f64> {
        let near = NEAR.contains(&(level / self.root().level));
        near.then(|| self.model_utilization(level))
    }

    fn model_root(&self) -> f64 {
        self.model.level_at(self.target)
    }

    /// The level at which the CPU meets the goal.
    pub(crate) fn root(&self) -> Root {
        let first = self.root_about(self.model_root());
        // Which trials are near depends on where the root is.
        if first.by == By::Line && first.level.is_finite() {
            let second = self.root_about(first.level);
            if second.by == By::Line {
                return second;
            }
        }
        first
    }

    fn root_about(&self, about: f64) -> Root {
        let near = self.near(about);
        self.line(&near)
            .unwrap_or_else(|| self.offset(&self.points(&near)))
    }

    /// The trials near a level.
    fn near(&self, about: f64) -> Vec<CpuTrial> {
        let near = |trial: &&CpuTrial| NEAR.contains(&(trial.level / about));
        self.trials.iter().filter(near).copied().collect()
    }

    /// Trials as points against the model's CPU.
    fn points(&self, trials: &[CpuTrial]) -> Vec<Point> {
        let point = |trial: &CpuTrial| Point {
            level: self.model_utilization(trial.level),
            value: trial.utilization,
            half_width: trial.half_width,
        };
        trials.iter().map(point).collect()
    }

    fn crossing(&self, near: &[CpuTrial]) -> Option<Crossing> {
        let points = self.points(near);
        let spread = noise::spread(&self.seen(near));
        let expected = ExpectedSlope {
            value: 1.0,
            standard_deviation: SLOPE_DOUBT,
        };
        let crossing =
            Crossing::fit_expecting(&points, self.target, self.target, &spread, Some(expected))
                .ok()?;
        (crossing.slope > 0.0).then_some(crossing)
    }

    /// These trials, to tell their noise.
    fn seen(&self, near: &[CpuTrial]) -> Vec<noise::Near> {
        let closed = self.closed().is_some();
        let seen = |trial: &CpuTrial| noise::Near {
            model: self.model_utilization(trial.level),
            cpu: trial.utilization,
            half_width: trial.half_width,
            throughput_per_s: closed.then_some(trial.throughput_per_s),
        };
        near.iter().map(seen).collect()
    }

    /// The number of a trial near the goal that the others contradict beyond chance.
    pub(crate) fn outlier(&self) -> Option<u32> {
        let near = self.near(self.root().level);
        Some(near[noise::outlier(&self.seen(&near))?].id)
    }

    fn line(&self, near: &[CpuTrial]) -> Option<Root> {
        let crossing = self.crossing(near)?;
        let interval = crossing.estimate(CONFIDENCE).ok()?;
        let stop = crossing.estimate(STOP_CONFIDENCE).ok()?;
        let root = self.root_of(
            crossing.level,
            (interval.low, interval.high),
            (stop.low, stop.high),
            By::Line,
        );
        Some(Root {
            noise: noise::seen(&self.seen(near)),
            cpu_doubt: crossing.half_width(CONFIDENCE) * crossing.slope,
            ..root
        })
    }

    /// The model moved up or down to the trials near by, when there are too few for a line.
    fn offset(&self, points: &[Point]) -> Root {
        let weights: Vec<f64> = points
            .iter()
            .map(|point| {
                let variance = (SPREAD * point.value).powi(2) + point.half_width.powi(2) / 4.0;
                1.0 / variance.max(1e-12)
            })
            .collect();
        let total: f64 = weights.iter().sum();
        let mean = |of: &dyn Fn(&Point) -> f64| {
            points
                .iter()
                .zip(&weights)
                .map(|(point, weight)| weight * of(point))
                .sum::<f64>()
                / total
        };
        if points.is_empty() {
            let level = self.model_root();
            // Nothing is known near by: the level may be half or twice as large.
            return Root {
                level,
                low: level / 2.0,
                high: level * 2.0,
                doubt: level,
                between: (level / 2.0, level * 2.0),
                by: By::Guess,
                noise: 0.0,
                cpu_doubt: 0.0,
            };
        }
        let offset = mean(&|point| point.value - point.level);
        let squares = mean(&|point| (point.value - point.level - offset).powi(2)) * total;
        let df = SPREAD_DF + points.len() as f64 - 1.0;
        let factor = (SPREAD_DF + squares) / df;
        let standard_error = (factor / total).sqrt();
        let at = self.target - offset;
        let ends = |confidence: f64| {
            let half_width = student_quantile(0.5 + confidence / 2.0, df) * standard_error;
            (at - half_width, at + half_width)
        };
        self.root_of(at, ends(CONFIDENCE), ends(STOP_CONFIDENCE), By::Guess)
    }

    /// From the axis of the model's CPU back to levels.
    fn root_of(&self, at: f64, interval: (f64, f64), stop: (f64, f64), by: By) -> Root {
        let level = self.model.level_at(at);
        let (stop_low, stop_high) = (self.model.level_at(stop.0), self.model.level_at(stop.1));
        let between = (
            self.model.level_at(interval.0),
            self.model.level_at(interval.1),
        );
        Root {
            level,
            low: between.0,
            high: between.1,
            between,
            doubt: (stop_high - stop_low) / 2.0,
            by,
            noise: 0.0,
            cpu_doubt: 0.0,
        }
    }

    /// The model moved so that it meets the goal exactly at the root: the curve that is drawn and
    /// read off.
    pub(crate) fn through_root(&self) -> Curve {
        self.model.through(self.root().level, self.target)
    }

    /// Where the rising curve through all trials, which knows no model, meets the goal, if that is
    /// further from the root than both their errors explain (twice their standard error).
    pub(crate) fn disagreement(&self) -> Option<f64> {
        let root = self.root();
        let all: Vec<Point> = self
            .trials
            .iter()
            .map(|trial| Point {
                level: trial.level,
                value: trial.utilization,
                half_width: trial.half_width,
            })
            .collect();
        let free = IsotonicFit::of(&all, SPREAD).ok()?.crossing(self.target)?;
        let crossing = self.crossing(&self.near(root.level))?;
        let one_trial = SPREAD.max(crossing.standard_error / self.target) * self.target;
        // One trial's error in levels: the free curve joins single trials.
        let slope = (self.model_utilization(1.01 * root.level)
            - self.model_utilization(0.99 * root.level))
            / (0.02 * root.level);
        let error = (one_trial / slope).hypot(root.doubt);
        (slope > 0.0 && (free - root.level).abs() > 2.0 * error).then_some(free)
    }
}
