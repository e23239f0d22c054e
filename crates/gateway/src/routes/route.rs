//! What the requests of one route cost.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use weir_limit::Kind;

use super::CostRule;

/// Times of which the median is taken. With exponential service times its relative standard
/// deviation is 1/(ln 2 · √n), 18 %: within the third that the median has to fall by to leave a
/// class.
pub(super) const WINDOW: usize = 63;
/// Times before a cost is known.
pub(super) const KNOWN_AFTER: usize = 5;
/// Part of the threshold below which the median has to fall.
const LEAVES_BELOW: f64 = 2.0 / 3.0;

/// A route, and how long its last requests have held a slot.
#[derive(Debug)]
pub(crate) struct Route {
    rules: Arc<[CostRule]>,
    times: Mutex<Times>,
    /// The rules that it is above, as bits in their order.
    above: AtomicU64,
    /// The median in microseconds; [`UNKNOWN`] before it is known.
    cost_us: AtomicU64,
    asked_for_ms: AtomicU64,
}

const UNKNOWN: u64 = u64::MAX;

/// The last times in microseconds, the oldest overwritten first.
#[derive(Debug)]
struct Times {
    last_us: [u32; WINDOW],
    count: usize,
    next: usize,
}

impl Route {
    pub(super) fn new(rules: &Arc<[CostRule]>) -> Self {
        Self {
            rules: Arc::clone(rules),
            times: Mutex::new(Times {
                last_us: [0; WINDOW],
                count: 0,
                next: 0,
            }),
            above: AtomicU64::new(0),
            cost_us: AtomicU64::new(UNKNOWN),
            asked_for_ms: AtomicU64::new(0),
        }
    }

    /// Whether its cost is what the class with this index asks for.
    pub(crate) fn is_of(&self, class: usize) -> bool {
        let rule = self.rules.iter().position(|rule| rule.class == class);
        rule.is_some_and(|rule| self.above.load(Ordering::Relaxed) & bit(rule) != 0)
    }

    /// The median of the last times; `None` before there are enough.
    pub(super) fn cost(&self) -> Option<Duration> {
        let cost_us = self.cost_us.load(Ordering::Relaxed);
        (cost_us != UNKNOWN).then(|| Duration::from_micros(cost_us))
    }

    pub(super) fn asked_for(&self, at_ms: u64) {
        self.asked_for_ms.store(at_ms, Ordering::Relaxed);
    }

    pub(super) fn asked_for_at(&self) -> u64 {
        self.asked_for_ms.load(Ordering::Relaxed)
    }

    /// A request of it is over, after a backend has had it for so long.
    pub(crate) fn learn(&self, held: Duration, kind: Kind) {
        let counts = match kind {
            Kind::Completed => true,
            // A client that left says that it would have taken longer still: a route that nobody
            // waits for has a cost too.
            Kind::Abandoned => self.cost().is_none_or(|cost| held > cost),
            // How long it takes a server to fail says nothing of what it takes to answer.
            Kind::Failed => false,
        };
        if !counts {
            return;
        }
        let median_us = self
            .times
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .add(u32::try_from(held.as_micros()).unwrap_or(u32::MAX));
        if let Some(median_us) = median_us {
            self.cost_us.store(median_us.into(), Ordering::Relaxed);
            self.judge(Duration::from_micros(median_us.into()));
        }
    }

    fn judge(&self, cost: Duration) {
        for (at, rule) in self.rules.iter().enumerate() {
            if cost >= rule.at_least {
                self.above.fetch_or(bit(at), Ordering::Relaxed);
            } else if cost < rule.at_least.mul_f64(LEAVES_BELOW) {
                self.above.fetch_and(!bit(at), Ordering::Relaxed);
            }
        }
    }
}

/// As many classes ask for a cost as there can be classes.
fn bit(rule: usize) -> u64 {
    1_u64.checked_shl(rule as u32).unwrap_or(0)
}

impl Times {
    /// Takes one more, and gives the median if there are enough.
    fn add(&mut self, time_us: u32) -> Option<u32> {
        self.last_us[self.next] = time_us;
        self.next = (self.next + 1) % WINDOW;
        self.count = (self.count + 1).min(WINDOW);
        if self.count < KNOWN_AFTER {
            return None;
        }
        let mut sorted = self.last_us;
        let times = &mut sorted[..self.count];
        let (_, median, _) = times.select_nth_unstable(self.count / 2);
        Some(*median)
    }
}
