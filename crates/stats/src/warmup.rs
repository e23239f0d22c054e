//! From which second on a trial may be measured.
//!
//! A server that has just been started or re-loaded is not yet what it will be: code is compiled,
//! caches fill, queues build up. MSER-5 (White 1997, "An effective truncation heuristic for bias
//! reduction in simulation output"; Franklin and White 2008 on its robustness) drops the beginning
//! whose loss makes the mean of the rest most certain. What it cannot know: a drift slower than the
//! trial looks like its steady state; that is what the trend test and the repeats between trials
//! are for.
//!
//! **Measured** over 4,000 trials each (`cargo run -p weir-stats --release --example coverage`),
//! three independent signals with a standard deviation of 5 % per bin. Share of steady trials that
//! [`warm_up`] calls not steady:
//!
//! | lag-1 correlation | 20 bins | 30 | 45 | 60 | 120 | 300 |
//! |---|---|---|---|---|---|---|
//! | 0 | 6.2 % | 4.7 | 3.5 | 1.9 | 1.2 | 0.9 |
//! | 0.3 | 13.6 | 7.9 | 5.2 | 3.2 | 1.7 | 1.2 |
//! | 0.5 | 19.6 | 11.9 | 7.6 | 4.9 | 2.4 | 1.3 |
//! | 0.8 | 35.5 | 24.6 | 15.9 | 10.9 | 4.3 | 2.6 |
//!
//! Throughput alone with a warm-up of -30 % that fades with a time constant of 15 bins, correlation
//! 0.3: of 30, 60, 120 and 300 bins 53, 28, 3 and 1 % are refused, and in the others the mean is
//! off by -9.5, -2.7, -0.5 and 0.0 %. So a window has to be at least about eight time constants of
//! the warm-up, or the load has to run for a while before the first bin.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::StatsError;
use crate::error::check_finite;
use crate::student::mean;
use crate::trend::trend;

/// Bins per batch of MSER-5.
const BATCH: usize = 5;
/// Fewest batches of which MSER can drop some: with k batches it drops at most k/2.
const BATCHES_MIN: usize = 2;
/// Fewest bins that must be left after the warm-up: what an interval of the mean needs.
const KEPT_MIN: usize = 8;
/// A drift counts if chance makes a larger one in fewer than one trial in a hundred …
const TREND_PROBABILITY: f64 = 0.01;
/// … and if it is more than 2 % over the window: a smaller one does not change an answer.
const TREND_CHANGE: f64 = 0.02;
/// Where MSER-5 already stands at its limit, a weaker drift is enough to confirm it.
const TREND_PROBABILITY_AT_LIMIT: f64 = 0.05;
/// The share of the bins that is always dropped.
const GUARD_SHARE: f64 = 0.2;
/// Think and response time together make one cycle of a user; after three of them the start is
/// forgotten.
const GUARD_CYCLES: f64 = 3.0;

/// The truncation MSER-5 proposes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mser {
    /// How many bins to drop at the start, a multiple of 5.
    pub truncation: usize,
    /// The smallest value of the MSER statistic: the squared standard error of the mean of the
    /// kept batches (with divisor n).
    pub statistic: f64,
    /// The minimum lies at the last place looked at: the warm-up may last longer than half of the
    /// series.
    pub at_limit: bool,
}

/// MSER-5: of all truncations of up to half the series, the first one with the smallest squared
/// standard error.
///
/// Bins that do not fill a batch of 5 at the end take no part.
pub fn mser5(series: &[f64]) -> Result<Mser, StatsError> {
    check_finite(series)?;
    let batches: Vec<f64> = series.chunks_exact(BATCH).map(mean).collect();
    if batches.len() < BATCHES_MIN {
        return Err(StatsError::TooFew {
            count: series.len() as u64,
            needed: (BATCH * BATCHES_MIN) as u64,
        });
    }
    let last = batches.len() / 2;
    let (dropped, statistic) = (0..=last)
        .map(|dropped| (dropped, squared_error(&batches[dropped..])))
        .reduce(|best, next| if next.1 < best.1 { next } else { best })
        .expect("the range holds at least 0");
    Ok(Mser {
        truncation: dropped * BATCH,
        statistic,
        at_limit: dropped == last,
    })
}

fn squared_error(batches: &[f64]) -> f64 {
    let centre = mean(batches);
    batches
        .iter()
        .map(|batch| (batch - centre).powi(2))
        .sum::<f64>()
        / (batches.len() as f64).powi(2)
}

/// How many bins to drop whatever the series looks like: at least `bins_min`, a fifth of all, and
/// three cycles of a user (`cycle_bins` = think time plus response time, in bins; 0 for an open
/// workload).
pub fn guard_bins(bins: usize, bins_min: usize, cycle_bins: f64) -> usize {
    let share = (GUARD_SHARE * bins as f64).ceil() as usize;
    let cycles = (GUARD_CYCLES * cycle_bins.max(0.0)).ceil() as usize;
    bins_min.max(share).max(cycles)
}

/// The series of one trial that have to be steady, in bins of the same length from the same origin.
///
/// A signal that was not read is `None`.
#[derive(Debug, Clone, Copy)]
pub struct Signals<'a> {
    /// Responses per bin.
    pub throughput: &'a [f64],
    /// Mean response time of each bin; `None` too if some bin has no response.
    pub response_time: Option<&'a [f64]>,
    /// Busy share of the CPU in each bin.
    pub cpu: Option<&'a [f64]>,
}

/// One of the [`Signals`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Signal {
    /// Throughput.
    Throughput,
    /// Response time.
    ResponseTime,
    /// CPU.
    Cpu,
}

impl fmt::Display for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Throughput => "throughput",
            Self::ResponseTime => "response time",
            Self::Cpu => "cpu",
        })
    }
}

/// Whether and from where a trial is steady.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WarmUp {
    /// The bins from this index on belong to the measurement window.
    Steady {
        /// First bin of the window.
        from: usize,
    },
    /// The trial needs a longer window, or is invalid.
    NotSteady {
        /// What speaks against it.
        why: NotSteady,
    },
}

/// What speaks against a steady state.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NotSteady {
    /// Too few bins are left after the part that is always dropped.
    TooShort {
        /// How many bins there are.
        bins: usize,
        /// How many would be the least.
        needed: usize,
    },
    /// The warm-up of a signal lasts at least half of the series.
    WarmingUp {
        /// Which signal.
        signal: Signal,
    },
    /// A signal drifts over the window.
    Drifting {
        /// Which signal.
        signal: Signal,
        /// Its change over the window, relative to its median: 0.03 is a rise by 3 %.
        relative_change: f64,
        /// How likely chance makes such a drift.
        probability: f64,
    },
}

impl fmt::Display for NotSteady {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooShort { bins, needed } => {
                write!(f, "{bins} bins are too few, at least {needed} are needed")
            }
            Self::WarmingUp { signal } => write!(f, "{signal} still warms up in the second half"),
            Self::Drifting {
                signal,
                relative_change,
                ..
            } => {
                write!(
                    f,
                    "{signal} drifts by {:+.1} % over the window",
                    relative_change * 100.0
                )
            }
        }
    }
}

/// Finds the start of the measurement window: the latest that MSER-5 proposes for any signal, at
/// least `bins_dropped_min` (see [`guard_bins`]), if what follows does not drift.
///
/// All series have the length of `throughput`. A minimum of MSER at half of the series means "not
/// steady" only if the trend test finds a drift behind the guard too; without one it is an accident
/// of a short series (with six batches of steady noise it comes up in about one trial in five) and
/// is left out.
pub fn warm_up(signals: &Signals<'_>, bins_dropped_min: usize) -> Result<WarmUp, StatsError> {
    let bins = signals.throughput.len();
    let needed = (bins_dropped_min + KEPT_MIN).max(BATCH * BATCHES_MIN);
    if bins < needed {
        return Ok(WarmUp::NotSteady {
            why: NotSteady::TooShort { bins, needed },
        });
    }
    let mut from = bins_dropped_min;
    for (signal, series) in named_series(signals)? {
        let found = mser5(series)?;
        if !found.at_limit {
            from = from.max(found.truncation);
        } else if drift(
            signal,
            &series[bins_dropped_min..],
            TREND_PROBABILITY_AT_LIMIT,
        )?
        .is_some()
        {
            return Ok(WarmUp::NotSteady {
                why: NotSteady::WarmingUp { signal },
            });
        }
    }
    from = from.min(bins - KEPT_MIN);
    // The response time is left out: it moves by more than the limit in every window of a queue
    // that works hard.
    for (signal, series) in named_series(signals)?
        .into_iter()
        .filter(|(signal, _)| *signal != Signal::ResponseTime)
    {
        if let Some(why) = drift(signal, &series[from..], TREND_PROBABILITY)? {
            return Ok(WarmUp::NotSteady { why });
        }
    }
    Ok(WarmUp::Steady { from })
}

fn named_series<'a>(signals: &Signals<'a>) -> Result<Vec<(Signal, &'a [f64])>, StatsError> {
    let all = [
        (Signal::Throughput, Some(signals.throughput)),
        (Signal::ResponseTime, signals.response_time),
        (Signal::Cpu, signals.cpu),
    ];
    let read: Vec<_> = all
        .into_iter()
        .filter_map(|(signal, series)| Some((signal, series?)))
        .collect();
    let left = signals.throughput.len();
    match read.iter().find(|(_, series)| series.len() != left) {
        Some((_, series)) => Err(StatsError::Unequal {
            left,
            right: series.len(),
        }),
        None => Ok(read),
    }
}

fn drift(
    signal: Signal,
    series: &[f64],
    probability_max: f64,
) -> Result<Option<NotSteady>, StatsError> {
    let found = trend(series)?;
    let drifts = found.probability < probability_max && found.relative_change.abs() > TREND_CHANGE;
    let why = NotSteady::Drifting {
        signal,
        relative_change: found.relative_change,
        probability: found.probability,
    };
    Ok(drifts.then_some(why))
}
