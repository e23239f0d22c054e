//! Which seconds of a load that is over count.
//!
//! A load by hand ramps up, runs, and runs out. The part in which all users are there is looked at
//! for its warm-up, by the same method as in a trial of Weir; but it cannot be run longer when it
//! is not steady. Then it counts with a note.

use std::ops::Range;

use weir_record::{Recording, names};
use weir_stats::{NotSteady, Signals, StatsError, WarmUp, guard_bins, warm_up};

/// All users are there as long as this share of the most is.
const USERS_SHARE: f64 = 0.9;
/// The seconds that are always dropped, at least.
const GUARD_MIN: usize = 5;

/// The seconds that count, and what is to be said of them.
#[derive(Debug, PartialEq)]
pub(crate) struct Choice {
    pub(crate) window: Range<usize>,
    pub(crate) notes: Vec<String>,
}

/// Chooses the window of a load that ended so many seconds after its first. `dropped`: what the
/// user wants to be dropped at the beginning.
pub(crate) fn choose(
    recording: &Recording,
    length_s: f64,
    dropped: Option<u64>,
) -> Result<Choice, StatsError> {
    let whole = (length_s.floor() as usize).clamp(1, recording.seconds().max(1));
    let mut notes = Vec::new();
    let full = all_users(recording, whole, &mut notes);
    if let Some(dropped) = dropped {
        let window = (dropped as usize).min(whole)..full.end.max(dropped as usize).min(whole);
        return Ok(Choice { window, notes });
    }
    let series = |signal: &str| -> Option<Vec<f64>> {
        recording
            .timeline
            .series(signal, full.clone())
            .into_iter()
            .collect()
    };
    let throughput = series(names::THROUGHPUT).unwrap_or_default();
    let (response, cpu) = (series(names::RESPONSE_MEAN), series(names::CPU));
    let signals = Signals {
        throughput: &throughput,
        response_time: response.as_deref(),
        cpu: cpu.as_deref(),
    };
    let guard = guard_bins(
        full.len(),
        GUARD_MIN,
        cycle_s(recording, &full, &throughput),
    );
    let from = match warm_up(&signals, guard)? {
        WarmUp::Steady { from } => from,
        WarmUp::NotSteady {
            why: NotSteady::TooShort { bins, needed },
        } => {
            notes.push(format!(
                "with {bins} s at full load it is too short to look for its warm-up ({needed} s are needed): everything \
                 counts"
            ));
            0
        }
        WarmUp::NotSteady { why } => {
            notes.push(format!(
                "not steady: {why}; its figures are those of a load that changes, and their intervals are too narrow"
            ));
            guard.min(full.len().saturating_sub(1))
        }
    };
    Ok(Choice {
        window: full.start + from..full.end,
        notes,
    })
}

/// The longest time in which about all users were there; everything, when that is less than half of
/// it.
fn all_users(recording: &Recording, whole: usize, notes: &mut Vec<String>) -> Range<usize> {
    let users: Vec<f64> = (recording
        .timeline
        .series(names::USERS, 0..whole)
        .into_iter())
    .map(Option::unwrap_or_default)
    .collect();
    let most = users.iter().copied().fold(0.0, f64::max);
    if most <= 0.0 {
        return 0..whole;
    }
    let mut best = 0..0;
    let mut start = 0;
    for at in 0..=users.len() {
        let is_full = users
            .get(at)
            .is_some_and(|users| *users >= USERS_SHARE * most);
        if !is_full {
            if at - start > best.len() {
                best = start..at;
            }
            start = at + 1;
        }
    }
    if best.len() * 2 >= whole {
        return best;
    }
    notes.push(format!(
        "the number of users changed all the time (at most {most}); everything counts, and no figure belongs to one number \
         of users"
    ));
    0..whole
}

/// Mean time from one request of a user to its next: users over throughput (Little).
fn cycle_s(recording: &Recording, full: &Range<usize>, throughput: &[f64]) -> f64 {
    let users: Vec<f64> = (recording
        .timeline
        .series(names::USERS, full.clone())
        .into_iter())
    .flatten()
    .collect();
    let sum: f64 = throughput.iter().sum();
    if sum > 0.0 {
        users.iter().sum::<f64>() / sum
    } else {
        0.0
    }
}
