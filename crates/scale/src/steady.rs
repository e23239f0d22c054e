//! When another number of servers is asked for: not at every change of what is wanted.

use std::time::Duration;

use crate::{Bounds, WantedServers};

/// What was asked for, and for how long something else has been wanted.
#[derive(Debug, Clone, PartialEq)]
pub struct Steady {
    asked: u32,
    above_since: Option<Duration>,
    below_since: Option<Duration>,
}

impl Steady {
    /// So many are there.
    pub fn new(there: u32) -> Self {
        Self {
            asked: there,
            above_since: None,
            below_since: None,
        }
    }

    /// How many were asked for last.
    pub fn asked(&self) -> u32 {
        self.asked
    }

    /// At this moment so many are wanted; `None`: nobody can tell. Gives how many to ask for, if
    /// that has changed. More are asked for when more have been wanted for as long as `up_after`,
    /// and fewer when even the upper bound of what is wanted has been less for as long as
    /// `down_after`.
    pub fn at(
        &mut self,
        now: Duration,
        wanted: Option<WantedServers>,
        bounds: &Bounds,
    ) -> Option<u32> {
        let (wanted, high) = wanted.map_or((self.asked, self.asked), |servers| {
            let within = |count: u32| count.clamp(bounds.min, bounds.max);
            (within(servers.wanted), within(servers.high))
        });
        let since = |since: &mut Option<Duration>, is_so: bool| {
            *since = is_so.then(|| since.unwrap_or(now));
            since.map(|since| now.saturating_sub(since))
        };
        let above = since(&mut self.above_since, wanted > self.asked);
        let below = since(&mut self.below_since, high < self.asked);
        let asks = if above.is_some_and(|long| long >= bounds.up_after) {
            wanted
        } else if below.is_some_and(|long| long >= bounds.down_after) {
            high
        } else {
            return None;
        };
        *self = Self::new(asks);
        Some(asks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: Bounds = Bounds {
        min: 1,
        max: 4,
        up_after: Duration::from_secs(3),
        down_after: Duration::from_secs(5),
    };

    /// What is asked for when each second wants this.
    fn asked(there: u32, wanted: &[Option<(u32, u32)>]) -> Vec<(usize, u32)> {
        let mut steady = Steady::new(there);
        let seconds = wanted.iter().enumerate();
        seconds
            .filter_map(|(second, wanted)| {
                let now = Duration::from_secs(second as u64);
                let wanted = wanted.map(|(wanted, high)| WantedServers {
                    wanted,
                    low: 0,
                    high,
                });
                Some((second, steady.at(now, wanted, &BOUNDS)?))
            })
            .collect()
    }

    #[test]
    fn more_are_asked_for_sooner_than_fewer() {
        assert_eq!(asked(1, &[Some((2, 3)); 6]), [(3, 2)]);
        assert_eq!(asked(3, &[Some((1, 2)); 8]), [(5, 2)]);
        // While the doubt reaches as far as what is there, it stays.
        assert_eq!(asked(3, &[Some((2, 3)); 20]), []);
        assert_eq!(
            asked(1, &[Some((9, 12)); 6]),
            [(3, 4)],
            "no more than `max`"
        );
        assert_eq!(
            asked(2, &[Some((0, 0)); 8]),
            [(5, 1)],
            "no fewer than `min`"
        );
    }

    #[test]
    fn what_does_not_last_changes_nothing() {
        let some = |count| Some((count, count));
        let waves = [some(2), some(2), some(1), some(2), some(2), some(1)];
        assert_eq!(asked(1, &waves), []);
        let unknown = [some(2), some(2), None, some(2), some(2), None];
        assert_eq!(asked(1, &unknown), []);
    }
}
