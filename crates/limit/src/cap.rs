//! A cap on requests in flight: an algorithm that says how many, and the slots that it gives out.

use std::time::Duration;

use crate::limits::{Algorithm, Learnt, Occupancy, Sample};
use crate::moment::Moment;
use crate::rules::Concurrency;
use crate::slots::Slots;

/// For so long after it has sent somebody away a cap counts as pressed: where nobody may wait, that
/// is how it is known.
const TURNED_AWAY: Duration = Duration::from_millis(100);

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cap {
    rules: Option<Concurrency>,
    algorithm: Algorithm,
    slots: Slots,
    /// When somebody was sent away because of it.
    turned_away: Option<Moment>,
}

impl Cap {
    pub(crate) fn new(rules: Option<Concurrency>, now: Moment) -> Self {
        let algorithm = Algorithm::new(rules.as_ref(), now);
        let slots = Slots::new(algorithm.limit(), now);
        Self {
            rules,
            algorithm,
            slots,
            turned_away: None,
        }
    }

    /// Other rules; what is in flight stays, and an algorithm whose rules are the same goes on from
    /// where it is.
    pub(crate) fn set_rules(&mut self, rules: Option<Concurrency>, now: Moment) {
        if self.rules != rules {
            self.algorithm = Algorithm::new(rules.as_ref(), now);
            self.rules = rules;
            self.refresh(now);
        }
    }

    pub(crate) fn limit(&self) -> f64 {
        self.slots.limit()
    }

    pub(crate) fn in_flight(&self) -> u32 {
        self.slots.in_flight()
    }

    pub(crate) fn has_room(&self, now: Moment) -> bool {
        self.slots.has_room(now)
    }

    /// When room comes by itself, without a request that ends.
    pub(crate) fn opens(&self, now: Moment) -> Option<Moment> {
        self.slots.opens(now)
    }

    pub(crate) fn take(&mut self, now: Moment) {
        self.slots.take(now);
    }

    pub(crate) fn give_back(&mut self, now: Moment) {
        self.slots.give_back(now);
    }

    /// A request of this cap is over.
    pub(crate) fn learn(&mut self, sample: &Sample, now: Moment) {
        self.algorithm.finished(sample, now);
        self.refresh(now);
    }

    /// A request of a class with a promise was in time or not, which this share of them is to be.
    pub(crate) fn promised(&mut self, in_time: bool, share: f64, now: Moment) {
        self.algorithm.promised(in_time, share);
        self.refresh(now);
    }

    /// Whether the limit cannot be lower.
    pub(crate) fn is_least(&self) -> bool {
        self.algorithm.is_least()
    }

    /// What the algorithm has learnt, if it learns.
    pub(crate) fn learnt(&self) -> Option<Learnt> {
        self.algorithm.learnt()
    }

    pub(crate) fn read_cpu(&mut self, busy: f64, now: Moment) {
        self.algorithm.read_cpu(busy, now);
        self.refresh(now);
    }

    /// Somebody is sent away who could have gone on but for this cap.
    pub(crate) fn turn_away(&mut self, now: Moment) {
        self.turned_away = Some(now);
    }

    /// Says how things stand from now on.
    pub(crate) fn note(&mut self, pressed: bool, now: Moment) {
        let pressed = pressed
            || self
                .turned_away
                .is_some_and(|at| now.since(at) < TURNED_AWAY);
        let in_flight = self.slots.in_flight();
        self.algorithm.stands(Occupancy { in_flight, pressed }, now);
        self.refresh(now);
    }

    fn refresh(&mut self, now: Moment) {
        self.slots.set_limit(self.algorithm.limit(), now);
    }
}
