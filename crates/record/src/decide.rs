//! Whether a running trial has been watched for long enough.

use std::ops::Range;

use weir_stats::{
    NotSteady, Signals, StatsError, Support, WarmUp, guard_bins, mean_of_series, warm_up,
};

use crate::evaluate::CONFIDENCE;
use weir_metric::names;

use crate::recording::Recording;
use crate::treatment::Window;

/// Fewest batches behind a mean that stops a trial (Law and Kelton's rule for sequential stopping):
/// with fewer, the interval itself is too uncertain to stop at the first one that looks narrow.
const BATCHES_TO_STOP: usize = 10;
/// Seconds between two looks at whether the window is long enough.
const LOOK_EVERY: usize = 5;

/// What to do with a trial that is running.
#[derive(Debug, Clone, PartialEq)]
pub enum Decision {
    /// Go on.
    Continue(WindowProgress),
    /// Stop: these seconds are the measured window.
    Done(Range<usize>),
    /// Stop: the window is as long as it may get and not steady.
    NotSteady {
        /// The seconds behind the warm-up that is always dropped.
        window: Range<usize>,
        /// What speaks against them.
        why: NotSteady,
    },
}

/// How far a trial is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WindowProgress {
    /// Seconds until the trial ends, if all goes as it does now.
    pub remaining_s: u64,
}

/// Whether a trial has been watched for long enough (methods: MSER-5, batch means, extension until
/// precise). `cycle_s` is the mean time from one request of a user to its next.
pub fn decide(
    recording: &Recording,
    window: &Window,
    cycle_s: f64,
) -> Result<Decision, StatsError> {
    let seconds = recording.seconds();
    let dropped = window.warm_up_min.as_secs_f64().ceil() as usize;
    let shortest = dropped + window.min.as_secs_f64().ceil() as usize;
    let longest = dropped + window.max.as_secs_f64().ceil() as usize;
    let fixed = window.min == window.max;
    let go_on = |until: usize| {
        Ok(Decision::Continue(WindowProgress {
            remaining_s: until.saturating_sub(seconds).max(1) as u64,
        }))
    };
    if seconds < shortest {
        return go_on(shortest);
    }
    if fixed {
        return Ok(Decision::Done(dropped..shortest));
    }
    if seconds < longest && !(seconds - shortest).is_multiple_of(LOOK_EVERY) {
        return go_on(seconds + LOOK_EVERY - (seconds - shortest) % LOOK_EVERY);
    }
    let steady = steady_from(recording, 0..seconds, dropped, cycle_s)?;
    let last_look = seconds >= longest;
    match steady {
        WarmUp::Steady { from } if last_look || precise(recording, from..seconds, window)? => {
            Ok(Decision::Done(from..seconds))
        }
        WarmUp::NotSteady { why } if last_look => Ok(Decision::NotSteady {
            window: dropped..seconds,
            why,
        }),
        _ => go_on((seconds + LOOK_EVERY).min(longest)),
    }
}

fn steady_from(
    recording: &Recording,
    seconds: Range<usize>,
    dropped: usize,
    cycle_s: f64,
) -> Result<WarmUp, StatsError> {
    let throughput = recording
        .whole_series(names::THROUGHPUT, seconds.clone())
        .unwrap_or_default();
    let response = recording.whole_series(names::RESPONSE_MEAN, seconds.clone());
    let cpu = recording.whole_series(names::CPU, seconds.clone());
    let signals = Signals {
        throughput: &throughput,
        response_time: response.as_deref(),
        cpu: cpu.as_deref(),
    };
    warm_up(&signals, guard_bins(seconds.len(), dropped, cycle_s))
}

fn precise(
    recording: &Recording,
    seconds: Range<usize>,
    window: &Window,
) -> Result<bool, StatsError> {
    // Looking several times makes the last interval look better than it is: Law and Kelton's
    // correction of the wanted relative half-width.
    let wanted = window.precision / (1.0 + window.precision);
    for signal in [names::THROUGHPUT, names::CPU] {
        let Some(series) = recording.series(signal, seconds.clone()) else {
            continue;
        };
        let mean = mean_of_series(&series, CONFIDENCE)?;
        let carried = mean.support != Support::Refused && mean.batches >= BATCHES_TO_STOP;
        if !carried || mean.estimate.relative_half_width() > wanted {
            return Ok(false);
        }
    }
    Ok(true)
}
