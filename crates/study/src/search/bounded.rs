//! Requirements other than CPU: each by its own rising curve, without a model of the server.
//!
//! Response times rise ever faster towards saturation, their logarithm nearly straight; so the
//! curve is fitted in logarithms near the bound. What is nothing for a long way and then something
//! (errors, waiting) has no curve: there the answer lies between the largest level at which it held
//! and the smallest at which it did not.

use weir_metric::{Comparison, Requirement};
use weir_record::TrialRecord;
use weir_stats::{Crossing, IsotonicFit, Point, Spread};

use super::level;
use super::root::{By, CONFIDENCE, NEAR, Root, STOP_CONFIDENCE};
use crate::figure::{Figure, is_quantity};

/// Relative spread of response times between trials before any is seen: several times that of the
/// CPU, because they hang on the tail of the queue.
const SPREAD: f64 = 0.05;
const SPREAD_DF: f64 = 2.0;
/// `waiting(STAGE) == 0` and the like are met up to these means: one request that waits for a
/// moment in half a minute is nobody.
const WAITING_NOBODY: f64 = 0.01;
const WAIT_NOTHING_S: f64 = 1e-4;

/// A requirement that more users break.
#[derive(Debug, Clone)]
pub(crate) struct Bounded {
    pub(crate) requirement: Requirement,
    figure: Figure,
}

/// One trial against the bound.
#[derive(Debug, Clone, Copy)]
struct Seen {
    level: f64,
    value: f64,
    /// Half-width of its own interval, relative.
    half_width: f64,
    met: bool,
}

impl Bounded {
    /// `None` for a figure that no trial records.
    pub(crate) fn new(requirement: &Requirement) -> Option<Self> {
        Some(Self {
            requirement: requirement.clone(),
            figure: Figure::of(requirement)?,
        })
    }

    /// The value in a trial, in the requirement's base unit.
    pub(crate) fn value(&self, trial: &TrialRecord) -> Option<f64> {
        Some(self.figure.read(trial)?.value * self.figure.to_base())
    }

    /// Whether a value meets the requirement, with the tolerance of "nobody".
    pub(crate) fn met_by(&self, value: f64) -> bool {
        let nothing = match &self.figure {
            Figure::Signal(name) if is_quantity(name, "waiting") => WAITING_NOBODY,
            Figure::Signal(name) if is_quantity(name, "wait") => WAIT_NOTHING_S,
            _ => 0.0,
        };
        let zero = self.requirement.bound_base() == 0.0
            && self.requirement.comparison != Comparison::Above;
        if zero {
            value <= nothing
        } else {
            self.requirement.met_by(value)
        }
    }

    /// The name of the figure as it stands in a record.
    pub(crate) fn figure(&self) -> &Figure {
        &self.figure
    }

    /// The rising curve through the trials, in the figure's own unit.
    pub(crate) fn curve(&self, trials: &[&TrialRecord]) -> Vec<(f64, f64)> {
        let points: Vec<Point> = trials
            .iter()
            .filter_map(|trial| {
                let value = self.figure.read(trial)?.value;
                Some(Point {
                    level: level(trial)?,
                    value,
                    half_width: 2.0 * SPREAD * value,
                })
            })
            .collect();
        IsotonicFit::of(&points, SPREAD)
            .map(|fit| fit.levels.into_iter().zip(fit.fitted).collect())
            .unwrap_or_default()
    }

    /// The level up to which it holds.
    pub(crate) fn root(&self, trials: &[&TrialRecord]) -> Root {
        let mut seen: Vec<Seen> = trials.iter().filter_map(|trial| self.seen(trial)).collect();
        seen.sort_by(|a, b| a.level.total_cmp(&b.level));
        if let Some(line) = self.line(&seen) {
            return line;
        }
        self.bracket(&seen)
    }

    fn seen(&self, trial: &TrialRecord) -> Option<Seen> {
        let measured = self.figure.read(trial)?;
        let value = measured.value * self.figure.to_base();
        let half_width = measured
            .interval
            .map_or(0.0, |own| own.half_width() / measured.value);
        Some(Seen {
            level: level(trial)?,
            value,
            half_width: if half_width.is_finite() {
                half_width
            } else {
                0.0
            },
            met: self.met_by(value),
        })
    }

    /// Between the largest level at which it held and the smallest at which it did not.
    fn bracket(&self, seen: &[Seen]) -> Root {
        let Some(broken) = seen.iter().find(|seen| !seen.met).map(|seen| seen.level) else {
            return self.extrapolated(seen);
        };
        let held = seen
            .iter()
            .rev()
            .find(|seen| seen.met && seen.level < broken);
        let low = held.map_or(0.0, |seen| seen.level);
        // The step before the break: there it still holds as far as is known.
        let high = broken - 1.0;
        let level = self
            .interpolated(seen)
            .unwrap_or(f64::midpoint(low, high))
            .clamp(low, high.max(low));
        Root {
            level,
            low,
            high: high.max(low),
            doubt: (high - low).max(0.0),
            by: By::Bracket,
            noise: 0.0,
            cpu_doubt: 0.0,
        }
    }

    /// Where the rising curve through all trials meets the bound.
    fn interpolated(&self, seen: &[Seen]) -> Option<f64> {
        let points = self.log_points(seen)?;
        IsotonicFit::of(&points, SPREAD).ok()?.crossing(1.0)
    }

    /// Where the last two levels point to, if the value grows: a guess for the next trial.
    fn extrapolated(&self, seen: &[Seen]) -> Root {
        let mut root = Root::unbounded();
        let Some(points) = self.log_points(seen) else {
            return root;
        };
        if let [.., before, last] = points[..]
            && last.level > before.level
            && last.value > before.value
        {
            let slope = (last.value - before.value) / (last.level - before.level);
            root.level = last.level + (1.0 - last.value) / slope;
        }
        root
    }

    /// The trials as 1 + ln(value / bound): 1 at the bound, and near it about value / bound, so
    /// that a relative spread means the same on both scales. `None` if a value is 0.
    fn log_points(&self, seen: &[Seen]) -> Option<Vec<Point>> {
        let bound = self.requirement.bound_base();
        if bound <= 0.0 || seen.iter().any(|seen| seen.value <= 0.0) {
            return None;
        }
        let point = |seen: &Seen| Point {
            level: seen.level,
            value: 1.0 + (seen.value / bound).ln(),
            // The spread is carried here: on this scale it is the same at every level.
            half_width: seen.half_width.hypot(2.0 * SPREAD),
        };
        Some(seen.iter().map(point).collect())
    }

    fn line(&self, seen: &[Seen]) -> Option<Root> {
        let points = self.log_points(seen)?;
        let about = self.interpolated(seen)?;
        let near: Vec<Point> = points
            .into_iter()
            .filter(|point| NEAR.contains(&(point.level / about)))
            .collect();
        let spread = Spread {
            relative: 1e-6,
            df: SPREAD_DF,
            estimate: None,
        };
        let crossing = Crossing::fit(&near, about, 1.0, &spread).ok()?;
        let interval = crossing.estimate(CONFIDENCE).ok()?;
        (crossing.slope > 0.0).then(|| Root {
            level: crossing.level,
            low: interval.low,
            high: interval.high,
            doubt: crossing.half_width(STOP_CONFIDENCE),
            by: By::Line,
            noise: 0.0,
            cpu_doubt: 0.0,
        })
    }
}
