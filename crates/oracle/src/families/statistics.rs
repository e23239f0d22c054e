//! Series, quantiles, comparisons and the scalability law.

use serde_json::{Value, json};
use weir_stats::{
    LogRatio, Margin, StatsError, Usl, UslFit, Verdict, autocorrelation, batch_means, mser5,
};

use super::expression::evaluate;
use super::{Solved, values};
use crate::{Case, OracleError, Values};

/// The most values of a series.
const LENGTH_MAX: u32 = 10_000_000;
/// Batches of MSER-5.
const MSER_BATCH: usize = 5;
/// The first values of a series may differ from those in the file by the rounding of `ln` and
/// `cos`.
const SAME_SERIES: f64 = 1e-9;

pub(super) fn series(case: &Case) -> Solved {
    let series = generated(case)?;
    let batch = case.limit("mser_batch")?.unwrap_or(MSER_BATCH as u32) as usize;
    let batches = case.limit("batches")?.unwrap_or(20) as usize;
    let (truncation, statistic) = truncation(&series, batch)?;
    let kept = &series[truncation..];
    let by_batches = batch_means(kept, batches, 0.95)?;
    let mean = kept.iter().sum::<f64>() / kept.len() as f64;
    let mut solved = values([
        ("mean_after_truncation", json!(mean)),
        (
            "batch_ci95_halfwidth",
            json!(by_batches.estimate.half_width()),
        ),
        (
            "lag1_autocorr_after_truncation",
            json!(autocorrelation(kept, 1)),
        ),
    ]);
    solved.insert(format!("mser{batch}_truncation"), json!(truncation));
    solved.insert(format!("mser{batch}_stat"), json!(statistic));
    solved.insert(
        format!("batch_mean_{batches}"),
        json!(by_batches.estimate.value),
    );
    Ok(solved)
}

/// MSER over means of `batch` values. MSER-5 averages five; a series in which each mean stands five
/// times has them as they are.
fn truncation(series: &[f64], batch: usize) -> Result<(usize, f64), OracleError> {
    if batch == 0 {
        return Err(OracleError::Other("batches of 0 values".to_owned()));
    }
    if batch == MSER_BATCH {
        let found = mser5(series)?;
        return Ok((found.truncation, found.statistic));
    }
    let means = series
        .chunks_exact(batch)
        .map(|values| values.iter().sum::<f64>() / batch as f64);
    let repeated: Vec<f64> = means
        .flat_map(|mean| std::iter::repeat_n(mean, MSER_BATCH))
        .collect();
    let found = mser5(&repeated)?;
    Ok((found.truncation / MSER_BATCH * batch, found.statistic))
}

/// An autoregressive series from the generator that the files describe: a linear congruential one
/// of 64 bits, and pairs of its values made normal (Box and Muller 1958).
fn generated(case: &Case) -> Result<Vec<f64>, OracleError> {
    let length = case.count("n")?;
    if length > LENGTH_MAX {
        return Err(OracleError::Other(format!(
            "a series of {length} values; {LENGTH_MAX} are the most"
        )));
    }
    let phi = case.number("phi")?;
    let (mean, deviation) = (case.number_or("mu", 0.0)?, case.number_or("sd", 1.0)?);
    let mut state = case.number("seed")? as u64;
    let mut uniform = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((state >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    };
    let fresh = deviation * (1.0 - phi * phi).sqrt();
    let mut last = 0.0;
    let mut series = Vec::with_capacity(length as usize);
    for index in 0..length {
        let (first, second) = (uniform(), uniform());
        let normal = (-2.0 * first.ln()).sqrt() * (2.0 * std::f64::consts::PI * second).cos();
        last = phi * last + fresh * normal;
        series.push(mean + last + trend(case, f64::from(index))?);
    }
    if case.has("first5") {
        let given = case.numbers("first5")?;
        let other = given
            .iter()
            .zip(&series)
            .find(|(given, made)| (*given - *made).abs() > SAME_SERIES * (1.0 + given.abs()));
        if let Some((given, made)) = other {
            return Err(OracleError::Other(format!(
                "the generator makes {made} where the file has {given}"
            )));
        }
    }
    Ok(series)
}

fn trend(case: &Case, index: f64) -> Result<f64, OracleError> {
    match case.text("trend") {
        Some("" | "none") => Ok(0.0),
        Some(text) => evaluate(text, index),
        None => case.number_or("trend", 0.0),
    }
}

pub(super) fn quantile_ranks(case: &Case) -> Solved {
    let (count, q) = (u64::from(case.count("n")?), case.number("q")?);
    let confidence = case.number("conf")?;
    match weir_stats::quantile_ranks(count, q, confidence) {
        Ok(ranks) => Ok(values([
            ("lower_rank", json!(ranks.lower)),
            ("upper_rank", json!(ranks.upper)),
            ("coverage", json!(ranks.coverage)),
        ])),
        Err(StatsError::TooFew { .. }) => Ok(too_few(count, q, confidence)),
        Err(error) => Err(error.into()),
    }
}

/// The ranks that there are; the other end is not in the sample.
fn too_few(count: u64, q: f64, confidence: f64) -> Values {
    let tail = (1.0 - confidence) / 2.0;
    // Probabilities of at most k below the quantile, each from the one before.
    let mut logarithm = count as f64 * (1.0 - q).ln();
    let mut sum = 0.0;
    let below: Vec<f64> = (0..=count)
        .map(|k| {
            sum += logarithm.exp();
            logarithm += ((count - k) as f64 / (k + 1) as f64 * q / (1.0 - q)).ln();
            sum
        })
        .collect();
    let reaching = |p: f64| {
        below
            .partition_point(|&below| below < p)
            .min(below.len() - 1)
    };
    let (lower, upper) = (reaching(tail), reaching(1.0 - tail) + 1);
    let outside = lower.checked_sub(1).map_or(0.0, |rank| below[rank]);
    values([
        ("lower_rank", json!((lower > 0).then_some(lower))),
        ("upper_rank", json!((upper < below.len()).then_some(upper))),
        ("coverage", json!(below[upper - 1] - outside)),
    ])
}

pub(super) fn tost(case: &Case) -> Solved {
    if let Some(scale) = case.text("scale").filter(|scale| *scale != "log") {
        return Err(OracleError::Other(format!(
            "a comparison on the scale `{scale}`: ratios are compared, on the logarithmic one"
        )));
    }
    let level = case.number_or("alpha", 0.05)?;
    let margin = Margin::new(case.number("margin_rel")?)?;
    let ratio = LogRatio::of_independent(&case.numbers("A")?, &case.numbers("B")?)?;
    let found = ratio.equivalence(margin, level)?;
    let percent = (100.0 * (1.0 - 2.0 * level)).round();
    let mut solved = values([
        ("ratio", json!(found.ratio.value)),
        ("se_log", json!(ratio.standard_error)),
        ("df", json!(ratio.freedom)),
        ("p_tost", json!(found.p_equivalence)),
        ("p_diff", json!(found.p_difference)),
        ("equivalent", json!(found.verdict == Verdict::Same)),
    ]);
    solved.insert(
        format!("ratio_ci{percent}"),
        json!([found.ratio.low, found.ratio.high]),
    );
    Ok(solved)
}

pub(super) fn duet(case: &Case) -> Solved {
    let ratio = if case.has("ratios") {
        LogRatio::of_ratios(&case.numbers("ratios")?)?
    } else {
        let pairs: Vec<(f64, f64)> = case
            .numbers("A")?
            .into_iter()
            .zip(case.numbers("B")?)
            .collect();
        LogRatio::of_pairs(&pairs)?
    };
    let mut solved = values([("geo_mean", json!(ratio.log.exp()))]);
    for percent in [90_u32, 95, 99] {
        let interval = ratio.ratio(f64::from(percent) / 100.0)?;
        solved.insert(format!("ci{percent}"), json!([interval.low, interval.high]));
    }
    Ok(solved)
}

pub(super) fn usl(case: &Case) -> Solved {
    let (curve, fit) = if case.has("N") {
        let trials: Vec<(f64, f64)> = case
            .numbers("N")?
            .into_iter()
            .zip(case.numbers("X")?)
            .collect();
        let fit = UslFit::of(&trials, 0.95)?;
        (fit.curve, Some(fit))
    } else {
        (through(case)?, None)
    };
    let peak = curve.peak();
    let mut solved = values([
        ("alpha", json!(curve.contention)),
        ("beta", json!(curve.coherency)),
        ("gamma", json!(curve.single)),
        ("N_peak", json!(peak)),
        ("X_peak", json!(peak.map(|at| curve.throughput(at)))),
        ("N_peak_int", json!(peak.map(|at| whole_peak(&curve, at)))),
        ("X_limit", json!(curve.throughput_limit())),
    ]);
    if let Some(fit) = fit {
        solved.extend(values([
            ("sse", json!(fit.residual_squares)),
            ("unconstrained_beta", json!(fit.unconstrained_coherency)),
        ]));
    }
    for name in case.expected.keys() {
        if let Some(level) = name.strip_prefix("X_at_").and_then(|at| at.parse().ok()) {
            solved.insert(name.clone(), json!(curve.throughput(level)));
        }
    }
    Ok(solved)
}

/// The better one of the two whole levels next to the peak.
fn whole_peak(curve: &Usl, peak: f64) -> f64 {
    let (below, above) = (peak.floor().max(1.0), peak.ceil());
    if curve.throughput(below) >= curve.throughput(above) {
        below
    } else {
        above
    }
}

/// The curve through `X1`, the throughput at one other level such as `X4`, and the peak.
fn through(case: &Case) -> Result<Usl, OracleError> {
    let at_level = |(name, value): (&String, &Value)| {
        let level: f64 = name.strip_prefix('X')?.parse().ok()?;
        (level > 1.0).then_some((level, value.as_f64()?))
    };
    let other = case.parameters.iter().find_map(at_level);
    let other = other.ok_or_else(|| {
        OracleError::Other("neither N and X, nor the throughput at a level such as X4".to_owned())
    })?;
    Usl::through(case.number("X1")?, other, case.number("N_peak")?).ok_or_else(|| {
        OracleError::Other("no curve of the law goes through these points".to_owned())
    })
}
