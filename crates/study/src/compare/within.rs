//! The interval that one trial gives for a figure, from its seconds and its response times.

use std::ops::Range;

use weir_record::{IntervalHistograms, Timeline, names};
use weir_stats::{
    BinShare, Estimate, StatsError, Support, effective_responses, mean_of_series, proportion,
    quantile_of_counts,
};

use super::RunTrial;
use crate::figure::{Class, Figure, Statistic};

/// A signal speaks for its trial when it was read in this share of the seconds.
const READ_MIN: f64 = 0.8;

/// The figure of a trial with its interval.
pub(super) fn estimate(
    figure: &Figure,
    trial: &RunTrial,
    confidence: f64,
) -> Result<Estimate, String> {
    let value = figure.read(&trial.record).ok_or("it was not read")?.value;
    let window = window(trial);
    let found =
        match figure {
            Figure::Throughput(class) => counts(trial, &window, class)
                .and_then(|series| series_mean(&series, value, confidence)),
            Figure::Cpu => signal(trial, &window, names::CPU)
                .and_then(|series| series_mean(&series, value, confidence)),
            Figure::Signal(name) => signal(trial, &window, name)
                .and_then(|series| series_mean(&series, value, confidence)),
            Figure::Errors(class) => errors(trial, &window, class, confidence),
            Figure::Response(statistic, class) => {
                response(trial, &window, *statistic, class, confidence, value)
            }
        };
    found.or_else(|why| stored(figure, trial, confidence).ok_or(why))
}

/// The interval that the record holds, for trials whose seconds are not kept.
fn stored(figure: &Figure, trial: &RunTrial, confidence: f64) -> Option<Estimate> {
    if trial.timeline.is_some() && trial.histograms.is_some() {
        return None;
    }
    let interval = figure.read(&trial.record)?.interval?;
    (interval.confidence >= confidence - 1e-9).then_some(interval)
}

fn window(trial: &RunTrial) -> Range<usize> {
    let start = trial.record.warm_up_s.round() as usize;
    // A second that was cut short says nothing about a rate.
    start..start + (trial.record.window_s.floor() as usize).max(1)
}

fn timeline(trial: &RunTrial) -> Result<&Timeline, String> {
    trial
        .timeline
        .as_ref()
        .ok_or_else(|| "its seconds are not kept".to_owned())
}

fn histograms(trial: &RunTrial) -> Result<&IntervalHistograms, String> {
    let kept = trial.histograms.as_ref();
    kept.ok_or_else(|| "its response times are not kept".to_owned())
}

fn signal(trial: &RunTrial, window: &Range<usize>, name: &str) -> Result<Vec<f64>, String> {
    let all = timeline(trial)?.series(name, window.clone());
    let read: Vec<f64> = all.iter().copied().flatten().collect();
    if (read.len() as f64) < READ_MIN * all.len() as f64 {
        return Err(format!(
            "it was read in {} of {} s only",
            read.len(),
            all.len()
        ));
    }
    Ok(read)
}

/// The label under which the response times of a class are kept: what was read back from a file has
/// tags.
fn tag(histograms: &IntervalHistograms, class: &Class) -> Option<String> {
    let label = class.as_deref()?;
    let is_kept = histograms.labels().contains(&label);
    Some(if is_kept {
        label.to_owned()
    } else {
        IntervalHistograms::tag(label)
    })
}

/// Samples that ended in each second.
fn counts(trial: &RunTrial, window: &Range<usize>, class: &Class) -> Result<Vec<f64>, String> {
    if class.is_none() {
        return signal(trial, window, names::THROUGHPUT);
    }
    let histograms = histograms(trial)?;
    let counts = histograms.counts(window.clone(), tag(histograms, class).as_deref());
    let counts = counts.map_err(|error| error.to_string())?;
    Ok(counts.into_iter().map(|count| count as f64).collect())
}

/// The mean of a series, put to the trial's own value: that of a response time weighs samples, not
/// seconds.
fn series_mean(series: &[f64], value: f64, confidence: f64) -> Result<Estimate, String> {
    let mean = mean_of_series(series, confidence).map_err(|error| few(&error))?;
    if mean.support == Support::Refused {
        return Err(format!(
            "its {} s are worth only {:.0} that do not depend on each other",
            series.len(),
            mean.effective_count
        ));
    }
    let Estimate {
        value: centre,
        low,
        high,
        ..
    } = mean.estimate;
    let shift = value - centre;
    Ok(Estimate {
        value,
        low: low + shift,
        high: high + shift,
        ..mean.estimate
    })
}

fn few(error: &StatsError) -> String {
    match error {
        StatsError::TooFew { count, needed } => {
            format!("{count} are too few, at least {needed} are needed")
        }
        error => error.to_string(),
    }
}

/// The share of its samples that a trial is worth for its share of errors: errors come in bursts.
fn worth_of_errors(trial: &RunTrial, window: &Range<usize>) -> f64 {
    let series = |name: &str| signal(trial, window, name).unwrap_or_default();
    let (failed, all) = (series(names::ERRORS), series(names::THROUGHPUT));
    if failed.len() != all.len() {
        return 1.0;
    }
    let bins: Vec<BinShare> = (failed.iter().zip(&all))
        .map(|(failed, all)| BinShare {
            below: *failed as u64,
            of: *all as u64,
        })
        .collect();
    let count: f64 = all.iter().sum();
    if count > 0.0 {
        effective_responses(&bins) / count
    } else {
        1.0
    }
}

fn errors(
    trial: &RunTrial,
    window: &Range<usize>,
    class: &Class,
    confidence: f64,
) -> Result<Estimate, String> {
    let record = &trial.record;
    let (errors, throughput) = match class {
        None => (&record.errors, record.throughput_per_s),
        Some(class) => {
            let class = record.classes.get(class).ok_or("it was not read")?;
            (&class.errors, class.throughput_per_s)
        }
    };
    let worth = worth_of_errors(trial, window);
    let samples = (throughput * record.window_s * worth).round().max(1.0);
    let hits = (errors.share * samples).round().min(samples);
    let found = proportion(hits as u64, samples as u64, confidence).map_err(|error| few(&error))?;
    Ok(Estimate {
        value: errors.share,
        low: found.low.min(errors.share),
        high: found.high.max(errors.share),
        ..found
    })
}

fn response(
    trial: &RunTrial,
    window: &Range<usize>,
    statistic: Statistic,
    class: &Class,
    confidence: f64,
    value: f64,
) -> Result<Estimate, String> {
    let q = match statistic {
        Statistic::Mean if class.is_none() => {
            let series: Vec<f64> = signal(trial, window, names::RESPONSE_MEAN)?
                .into_iter()
                .map(|seconds| seconds * 1e3)
                .collect();
            return series_mean(&series, value, confidence);
        }
        Statistic::Mean => return mean_of_label(trial, window, class, confidence, value),
        Statistic::P50 => 0.5,
        Statistic::P90 => 0.9,
        Statistic::P95 => 0.95,
        Statistic::P99 => 0.99,
        Statistic::P999 => 0.999,
        Statistic::Max => return Err("the longest has no interval".to_owned()),
    };
    let histograms = histograms(trial)?;
    let label = tag(histograms, class);
    let merged = histograms.merged(window.clone(), label.as_deref());
    let histogram = merged.map_err(|error| error.to_string())?;
    let counts: Vec<(f64, u64)> = histogram
        .iter_recorded()
        .map(|bucket| {
            (
                bucket.value_iterated_to() as f64 / 1e3,
                bucket.count_at_value(),
            )
        })
        .collect();
    // Responses of one second resemble each other, having waited in the same queue.
    let value_us = histogram.value_at_quantile(q);
    let shares = histograms.shares_below(window.clone(), label.as_deref(), &[value_us]);
    let shares = shares.map_err(|error| error.to_string())?;
    let effective = effective_responses(shares.first().map_or(&[][..], Vec::as_slice));
    quantile_of_counts(&counts, effective, q, confidence).map_err(|error| few(&error))
}

/// The mean of a label, by seconds that have samples of it.
fn mean_of_label(
    trial: &RunTrial,
    window: &Range<usize>,
    class: &Class,
    confidence: f64,
    value: f64,
) -> Result<Estimate, String> {
    let histograms = histograms(trial)?;
    let tag = tag(histograms, class);
    let mut series = Vec::new();
    for second in window.clone() {
        let merged = histograms.merged(second..second + 1, tag.as_deref());
        let merged = merged.map_err(|error| error.to_string())?;
        if !merged.is_empty() {
            series.push(merged.mean() / 1e3);
        }
    }
    series_mean(&series, value, confidence)
}
