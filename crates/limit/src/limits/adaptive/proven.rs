//! The limit that has held, to which a limit goes back by itself when a bad time is over.
//!
//! Other work on the same CPUs, a pause, a server that starts: as long as such a time lasts, each
//! reading asks for less, down to the least limit. Once it is over, the few requests that are still
//! let through take long to say that more of them would do no harm. So the limit that has held is
//! remembered. A limit of less than half of it doubles with each reading, unjudged, as long as the
//! CPUs are below half of what they are to be. So does one of less than half a slot: where a
//! request is let in for a part of the time, twice of that time brings twice as much. That it is
//! quiet by then makes no difference: whoever comes first is not to pay for the time before.

/// Weight of a window in which the limit held.
const WEIGHT_UP: f64 = 0.1;
/// And while that is lower than what is remembered, which a bad time is not to wipe out.
const WEIGHT_DOWN: f64 = 0.02;
/// Up to here a limit grows unjudged in any case.
const LEAST: f64 = 1.0;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Proven(f64);

impl Proven {
    /// Before anything has been seen, the limit at first.
    pub(super) fn new(start: f64) -> Self {
        Self(start)
    }

    /// This limit held the flow for a window, and nothing was too much.
    pub(super) fn held(&mut self, limit: f64) {
        let weight = if limit > self.0 {
            WEIGHT_UP
        } else {
            WEIGHT_DOWN
        };
        self.0 += weight * (limit - self.0);
    }

    /// Up to where a limit grows unjudged.
    pub(super) fn limit(self) -> f64 {
        self.0.max(LEAST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_held_is_learnt_fast_and_forgotten_slowly() {
        let mut proven = Proven::new(8.0);
        (0..22).for_each(|_| proven.held(16.0));
        assert!((15.0..16.0).contains(&proven.limit()), "{proven:?}");
        (0..22).for_each(|_| proven.held(2.0));
        assert!((10.0..11.0).contains(&proven.limit()), "{proven:?}");
        (0..1000).for_each(|_| proven.held(0.1));
        assert!((proven.limit() - LEAST).abs() < 1e-12, "{proven:?}");
    }
}
