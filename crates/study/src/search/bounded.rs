//! Requirements other than CPU: each by its own rising curve, without a model of the server.
//!
//! Response times rise ever faster towards saturation, their logarithm nearly straight; so the
//! curve is fitted in logarithms near the bound. What is nothing for a long way and then something
//! (errors, waiting) has no curve: there the answer lies between the largest level at which it held
//! and the smallest at which it did not.

use weir_metric::{Comparison, Metric, Requirement};
use weir_record::TrialRecord;
use weir_stats::{Crossing, IsotonicFit, Point, Spread, rising_crossing, student_quantile};

use super::root::{By, CONFIDENCE, NEAR, Root, STOP_CONFIDENCE};
use super::{answered_behind, level};
use crate::figure::{Figure, is_quantity};

/// Relative spread of response times between trials before any is seen: several times that of the
/// CPU, because they hang on the tail of the queue.
const SPREAD: f64 = 0.05;
const SPREAD_DF: f64 = 2.0;
/// Relative spread between trials of what a server answers at most, before any is seen, and its
/// weight in degrees of freedom.
const CAPACITY_SPREAD: f64 = 0.01;
const CAPACITY_DF: f64 = 2.0;
/// How far the logarithm of a response time may lie from a line through the root, times the square
/// of the relative distance: that of M/M/1 bends by ρ / (1 − ρ)² / 2, which is 10 at 80 %.
const BEND: f64 = 10.0;
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
    /// What was answered of the rate, where the load fell behind it: then the value hangs on how
    /// long the trial took.
    answered: Option<f64>,
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

    /// Half the width of the interval of the value within a trial, in the base unit; 0 where the
    /// trial gives none.
    pub(crate) fn half_width(&self, trial: &TrialRecord) -> f64 {
        let interval = self.figure.read(trial).and_then(|read| read.interval);
        interval.map_or(0.0, |own| own.half_width() * self.figure.to_base())
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

    /// Whether it bounds a response time, which differs from trial to trial everywhere.
    pub(crate) fn is_response(&self) -> bool {
        matches!(self.figure, Figure::Response(..))
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
            answered: answered_behind(trial),
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
        let on_curve = self.interpolated(seen);
        let is_step = on_curve.is_none() && self.requirement.metric != Metric::Missed;
        let level = on_curve
            .unwrap_or(f64::midpoint(low, high))
            .clamp(low, high.max(low));
        let high = high.max(low);
        let between = (low, high);
        let at = |confidence| self.interval(seen, between, confidence).unwrap_or(between);
        let ((low_95, high_95), (low_90, high_90)) = (at(CONFIDENCE), at(STOP_CONFIDENCE));
        Root {
            level,
            low: low_95.min(low),
            high: high_95.max(high),
            doubt: high_90.max(high) - low_90.min(low),
            between,
            by: if is_step { By::Step } else { By::Bracket },
            noise: 0.0,
            cpu_doubt: 0.0,
        }
    }

    /// Between which levels the value can meet the bound, as far as trials of one level differ;
    /// `None` of a figure that is nothing for a long way, in which every trial counts as it is.
    fn interval(&self, seen: &[Seen], between: (f64, f64), confidence: f64) -> Option<(f64, f64)> {
        if self.requirement.metric == Metric::Missed {
            // More trials that keep up would not narrow it.
            let reported = confidence == CONFIDENCE;
            return reported.then(|| as_far_as_trials_differ(seen, between, confidence));
        }
        if !self.is_response() {
            return None;
        }
        let points = self.log_points(seen)?;
        let (low, high) = rising_crossing(&points, 1.0, SPREAD_DF, confidence).ok()?;
        // The end of the interval is the last level at which it can still hold.
        Some((low, high - 1.0))
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
        let kept = seen.iter().filter(|seen| seen.answered.is_none()).copied();
        let points = self.log_points(&kept.collect::<Vec<_>>())?;
        let about = self.interpolated(seen)?;
        // The further away a trial is, the more the curve has bent between it and the root.
        let near: Vec<Point> = points
            .into_iter()
            .filter(|point| NEAR.contains(&(point.level / about)))
            .map(|point| Point {
                half_width: point
                    .half_width
                    .hypot(2.0 * BEND * (point.level / about - 1.0).powi(2)),
                ..point
            })
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
            between: (interval.low, interval.high),
            doubt: crossing.half_width(STOP_CONFIDENCE),
            by: By::Line,
            noise: 0.0,
            cpu_doubt: 0.0,
        })
    }
}

/// Where a rate is missed is what the server can answer, which differs from trial to trial: those
/// that fell behind show it, each by what it answered.
fn as_far_as_trials_differ(seen: &[Seen], between: (f64, f64), confidence: f64) -> (f64, f64) {
    let answered: Vec<f64> = seen.iter().filter_map(|seen| seen.answered).collect();
    let count = answered.len().max(1) as f64;
    let mean = answered.iter().sum::<f64>() / count;
    let squares: f64 = answered.iter().map(|one| (one / mean - 1.0).powi(2)).sum();
    let df = CAPACITY_DF + count - 1.0;
    let spread = ((CAPACITY_DF * CAPACITY_SPREAD.powi(2) + squares) / df).sqrt();
    let half_width = student_quantile(0.5 + confidence / 2.0, df) * spread / count.sqrt();
    let (low, high) = between;
    (low * (1.0 - half_width), high * (1.0 + half_width))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::made;

    /// Where p99 reaches 100 ms, by these levels and values.
    fn root(trials: &[(f64, f64)]) -> Root {
        let trials: Vec<TrialRecord> = (1..)
            .zip(trials)
            .map(|(id, (users, p99_ms))| {
                let mut trial = made::trial(id, 100.0, &[]);
                trial.levels.insert("users".to_owned(), (*users).into());
                trial.response_time_ms.p99 = *p99_ms;
                trial
            })
            .collect();
        let all: Vec<&TrialRecord> = trials.iter().collect();
        let requirement = "p99 <= 100 ms".parse().expect("a requirement");
        Bounded::new(&requirement)
            .expect("p99 is recorded")
            .root(&all)
    }

    #[test]
    fn a_trial_that_is_slow_by_chance_ends_no_range() {
        // Flat up to 40 users, a little below the bound; one trial lies above it.
        let flat = [
            (10.0, 97.0),
            (20.0, 98.0),
            (22.0, 102.0),
            (24.0, 97.0),
            (40.0, 99.0),
            (80.0, 300.0),
        ];
        let root = root(&flat);
        assert!(root.low < 20.0 && root.high > 70.0, "{root:?}");
    }

    #[test]
    fn where_the_curve_is_steep_the_trials_beside_it_are_the_ends() {
        let steep = [(10.0, 20.0), (20.0, 40.0), (30.0, 200.0), (40.0, 900.0)];
        let root = root(&steep);
        assert!(
            (root.low - 20.0).abs() < 1e-9 && (root.high - 29.0).abs() < 1e-9,
            "{root:?}"
        );
    }
}
