//! How much trials near the goal differ by chance, and which of them differ by more.

use weir_stats::{Spread, student_cdf};

use super::cpu::SPREAD;

/// The weight of the assumed spread against what the trials show, in degrees of freedom (see
/// [`SPREAD`]).
const SPREAD_DF: f64 = 1.0;
/// Throughput says as well how much trials differ, from so many near trials on.
const THROUGHPUTS_MIN: usize = 4;
/// A trial can only be told to be an outlier among so many.
pub(super) const OUTLIER_AMONG: usize = 5;
/// A trial is left out when chance puts any of the near trials so far from the others with less
/// than this probability …
const OUTLIER_PROBABILITY: f64 = 0.01;
/// … and if that is this far (in logarithms): what differs by less does no harm.
const OUTLIER_FAR: f64 = 0.08;

/// A trial near the goal.
#[derive(Debug, Clone, Copy)]
pub(super) struct Near {
    /// CPU of the model at its level.
    pub(super) model: f64,
    /// CPU that was measured, and the half-width of its own interval.
    pub(super) cpu: f64,
    pub(super) half_width: f64,
    /// `None` of an open load, whose throughput is its rate, however noisy the machine is.
    pub(super) throughput_per_s: Option<f64>,
}

impl Near {
    /// Relative variance of its window, which stands in its weight already.
    fn within(&self) -> f64 {
        (self.half_width / 2.0 / self.cpu).powi(2)
    }
}

/// What is known of the spread between trials before their CPU is looked at: an assumption, and how
/// much the throughput of the near trials scatters about a line through it.
///
/// Four or five trials tell their own noise badly: one search in five would take its trials to be
/// half as noisy as they are, and stop too early. What makes CPU differ from trial to trial makes
/// throughput differ as well.
pub(super) fn spread(near: &[Near]) -> Spread {
    let throughput = if near.len() < THROUGHPUTS_MIN {
        None
    } else {
        squares_about_line(&logarithms(near, |near| {
            near.throughput_per_s.unwrap_or_default()
        }))
    };
    let (squares, df) = throughput.unwrap_or((0.0, 0.0));
    let within = near.iter().map(Near::within).sum::<f64>() / near.len().max(1) as f64;
    let squares = (squares - df * within).max(0.0);
    let df_in_all = SPREAD_DF + df;
    Spread {
        relative: ((SPREAD_DF * SPREAD.powi(2) + squares) / df_in_all).sqrt(),
        df: df_in_all,
        estimate: None,
    }
}

/// The spread between trials by everything that the near ones show, their CPU included.
pub(super) fn seen(near: &[Near]) -> f64 {
    let known = spread(near);
    let (squares, df) =
        squares_about_line(&logarithms(near, |near| near.cpu)).unwrap_or((0.0, 0.0));
    ((known.df * known.relative.powi(2) + squares) / (known.df + df)).sqrt()
}

/// The trial that lies so far from what the others say that chance does not explain it, if there is
/// one.
///
/// Each trial in turn is compared with the mean ratio of measured to modelled CPU of the others,
/// their noise taken from their own CPU and throughput (externally studentized residuals; Cook and
/// Weisberg 1982, "Residuals and Influence in Regression"); as any of them may be the one, the
/// probability is multiplied by their number (Bonferroni).
pub(super) fn outlier(near: &[Near]) -> Option<usize> {
    if near.len() < OUTLIER_AMONG {
        return None;
    }
    let (at, probability) = (0..near.len())
        .filter_map(|at| Some((at, probability_of(near, at)?)))
        .min_by(|a, b| a.1.total_cmp(&b.1))?;
    (probability * (near.len() as f64) < OUTLIER_PROBABILITY).then_some(at)
}

/// The probability that chance puts one trial so far from the others; `None` if it is not far.
fn probability_of(near: &[Near], at: usize) -> Option<f64> {
    let mut others = near.to_vec();
    let one = others.remove(at);
    let ratio = |near: &Near| (near.cpu / near.model).ln();
    let ratios: Vec<f64> = others.iter().map(ratio).collect();
    let count = ratios.len() as f64;
    let mean = ratios.iter().sum::<f64>() / count;
    let away = ratio(&one) - mean;
    if away.is_nan() || away.abs() < OUTLIER_FAR {
        return None;
    }
    let squares = ratios
        .iter()
        .map(|ratio| (ratio - mean).powi(2))
        .sum::<f64>();
    let known = spread(&others);
    let df = known.df + count - 1.0;
    let variance = (known.df * known.relative.powi(2) + squares) / df + one.within();
    let distance = away.abs() / (variance * (1.0 + 1.0 / count)).sqrt();
    Some(2.0 * student_cdf(-distance, df))
}

/// Logarithms of the model's CPU and of a figure.
fn logarithms(near: &[Near], figure: impl Fn(&Near) -> f64) -> Vec<(f64, f64)> {
    let positive = near
        .iter()
        .filter(|near| near.model > 0.0 && figure(near) > 0.0);
    positive
        .map(|near| (near.model.ln(), figure(near).ln()))
        .collect()
}

/// Sum of squares about the least-squares line, and its degrees of freedom; `None` without any.
fn squares_about_line(points: &[(f64, f64)]) -> Option<(f64, f64)> {
    let count = points.len() as f64;
    if points.len() < 3 {
        return None;
    }
    let mean = |of: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(&|point| point.0), mean(&|point| point.1));
    let xx = mean(&|point| (point.0 - x).powi(2));
    let xy = mean(&|point| (point.0 - x) * (point.1 - y));
    let yy = mean(&|point| (point.1 - y).powi(2));
    let explained = if xx > 0.0 { xy * xy / xx } else { 0.0 };
    Some((count * (yy - explained).max(0.0), count - 2.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Trials on the model, but for what is said of each in per cent: CPU, throughput.
    fn near(off: &[(f64, f64)]) -> Vec<Near> {
        let trial = |(at, (cpu, throughput)): (usize, &(f64, f64))| {
            let model = if at % 2 == 0 { 0.87 } else { 0.73 };
            Near {
                model,
                cpu: model * (1.0 + cpu / 100.0),
                half_width: 0.0,
                throughput_per_s: Some(100.0 * model * (1.0 + throughput / 100.0)),
            }
        };
        off.iter().enumerate().map(trial).collect()
    }

    #[test]
    fn throughput_tells_how_noisy_a_machine_is() {
        let quiet = near(&[(0.0, 0.1), (0.0, -0.1), (0.0, -0.1), (0.0, 0.1)]);
        let loud = near(&[(0.0, 8.0), (0.0, -8.0), (0.0, -8.0), (0.0, 8.0)]);
        assert!(spread(&quiet).relative < SPREAD);
        assert!(spread(&loud).relative > 0.07);
        assert!((spread(&loud).df - 3.0).abs() < 1e-9);
        // Too few to say anything: what is assumed.
        assert!((spread(&loud[..3]).relative - SPREAD).abs() < 1e-12);
    }

    #[test]
    fn a_trial_that_was_disturbed_is_found_and_scatter_is_not() {
        let disturbed = near(&[
            (1.0, 0.5),
            (-1.0, 1.0),
            (-22.0, -20.0),
            (0.5, -1.0),
            (-0.5, 0.0),
        ]);
        assert_eq!(outlier(&disturbed), Some(2));
        assert_eq!(outlier(&disturbed[..4]), None, "too few");
        let scattered = near(&[
            (6.0, 5.0),
            (-7.0, 6.0),
            (-11.0, -8.0),
            (8.0, -7.0),
            (3.0, -2.0),
        ]);
        assert_eq!(outlier(&scattered), None);
    }
}
