//! What was not seen of a target on another machine, when the connection to it was slow or lost.

use std::ops::Range;

use weir_probe::WatchedMachine;
use weir_record::{InvalidReason, Recording, names};

/// At most this share of a window's seconds may be unseen, as of those that the watch misses.
const UNSEEN_MAX: f64 = 0.1;

/// What is said of it in a trial's record.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Unseen {
    /// Why the trial is not valid.
    pub(crate) against: Option<InvalidReason>,
    /// What is to be known of a valid one.
    pub(crate) note: Option<String>,
}

/// Counts the seconds of a window of which the other machine has told nothing.
pub(crate) fn unseen(
    recording: &Recording,
    window: &Range<usize>,
    machine: &WatchedMachine,
) -> Unseen {
    let WatchedMachine::Far(far) = machine else {
        return Unseen::default();
    };
    let seen = recording.timeline.series(names::CPU, window.clone());
    let absent = seen.iter().filter(|cpu| cpu.is_none()).count();
    say(absent, window.len(), far.connection().host().name())
}

fn say(absent: usize, seconds: usize, host: &str) -> Unseen {
    if absent == 0 {
        return Unseen::default();
    }
    let reason = InvalidReason::SecondsUnseen {
        unseen: absent,
        of: seconds,
        host: host.to_owned(),
    };
    if absent as f64 > UNSEEN_MAX * seconds as f64 {
        Unseen {
            against: Some(reason),
            note: None,
        }
    } else {
        Unseen {
            against: None,
            note: Some(reason.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_that_was_hardly_seen_is_not_valid() {
        assert_eq!(say(0, 30, "app01"), Unseen::default());
        let few = say(3, 30, "app01");
        assert!(few.against.is_none());
        let note = few.note.unwrap_or_default();
        assert!(note.contains("3 of 30 seconds"), "{note}");
        let many = say(4, 30, "app01");
        assert!(many.note.is_none() && many.against.is_some());
    }
}
