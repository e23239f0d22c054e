//! A figure of the trials as it was and of those with the change, in numbers and words.

use weir_stats::{Estimate, LogRatio, StatsError};

use super::figures::{TrialFigures, mean};
use crate::words::{number, percent, time};

/// What the trials say by a rule.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) figure: String,
    pub(super) ratio: Option<Estimate>,
    pub(super) expected: String,
    pub(super) holds: Option<bool>,
    /// Its reason, as the end of a sentence.
    pub(super) why: String,
}

/// A figure of both cases.
pub(super) struct Compared {
    figure: String,
    /// What is said of it, without its ratio.
    words: String,
    pub(super) ratio: Result<LogRatio, StatsError>,
}

impl Compared {
    pub(super) fn new(
        figure: &str,
        subject: &str,
        [was, changed]: [&[TrialFigures]; 2],
        of: impl Fn(&TrialFigures) -> Option<f64>,
        unit: fn(f64) -> String,
    ) -> Self {
        let values =
            |trials: &[TrialFigures]| -> Vec<f64> { trials.iter().filter_map(&of).collect() };
        let (was, changed) = (values(was), values(changed));
        let told =
            |values: Vec<f64>| mean(values.into_iter()).map_or_else(|| "nothing".to_owned(), unit);
        Self {
            figure: figure.to_owned(),
            ratio: LogRatio::of_independent(&was, &changed),
            words: format!("{subject} {} instead of {}", told(changed), told(was)),
        }
    }

    /// The mean time of all requests, or of a class of them.
    pub(super) fn mean_time(label: Option<&str>, cases: [&[TrialFigures]; 2]) -> Self {
        let Some(label) = label else {
            let of = |trial: &TrialFigures| Some(trial.mean_ms);
            return Self::new("mean_ms", "requests took", cases, of, in_ms);
        };
        let of = |trial: &TrialFigures| trial.class_means_ms.get(label).copied();
        let (figure, subject) = (
            format!("mean_ms({label})"),
            format!("requests `{label}` took"),
        );
        Self::new(&figure, &subject, cases, of, in_ms)
    }

    pub(super) fn estimate(&self, confidence: f64) -> Option<Estimate> {
        self.ratio.as_ref().ok()?.ratio(confidence).ok()
    }

    /// The figure with its ratio and interval, then what would have been seen.
    pub(super) fn outcome(
        self,
        ratio: Option<Estimate>,
        holds: Option<bool>,
        expected: String,
    ) -> Outcome {
        let told = match (&ratio, &self.ratio) {
            (Some(ratio), _) => format!(
                "{} times ({} to {} with {} confidence); the hypothesis asks for {expected}",
                number(ratio.value),
                number(ratio.low),
                number(ratio.high),
                percent(ratio.confidence)
            ),
            (None, Err(StatsError::NotPositive { .. })) => {
                "nothing of 0 has a ratio".to_owned()
            }
            (None, _) => "with fewer than two trials of a case in which it is known, nothing tells how much of it is chance".to_owned(),
        };
        let more = match (holds, ratio) {
            (None, Some(_)) => "; more trials (`--replicates`) may tell",
            _ => "",
        };
        Outcome {
            figure: self.figure,
            ratio,
            expected,
            holds,
            why: format!("{}: {told}{more}", self.words),
        }
    }
}

pub(super) fn in_ms(ms: f64) -> String {
    time(ms / 1e3)
}

pub(super) fn in_requests(rate: f64) -> String {
    format!("{} requests/s", number(rate))
}
