//! The whole decision.

mod order;
mod reload;

use std::collections::VecDeque;
use std::time::Duration;

use crate::cap::Cap;
use crate::class::{Class, MeanResponse};
use crate::decision::{Decision, Kind, Outcome, Permit, Refusal, Ticket, Verdict, Waited, Why};
use crate::gcra::Gcra;
use crate::limits::{Learnt, Sample};
use crate::moment::Moment;
use crate::rules::Rules;
use crate::seen::{ClassSeen, Counts, Seen, Spent};
use crate::waiting::Waiting;

/// The part of the longest wait that is kept for a caller whose timer is late: whoever would wait
/// longer than the rest of it for a slot under a rate is refused at once, rather than after all
/// that wait.
const LATENESS_PARTS: u32 = 16;

/// Who is admitted, who waits, who is refused.
///
/// Nothing happens by itself. After every call, [`Self::poll`] is asked until it has nothing more
/// to say, and again at [`Self::next_wake`]. Time is what the caller says; if it goes backwards, it
/// stands still.
///
/// Each request that arrives is admitted, waits, or is refused; of each that waits, a verdict comes
/// within the longest wait, unless it is abandoned; each that is admitted is finished once. A call
/// costs time in the number of classes, not of requests, and allocates nothing once the queue has
/// been as long as it gets.
#[derive(Debug)]
pub struct Admission {
    now: Moment,
    rate: Option<Gcra>,
    cap: Cap,
    /// Never moved: permits and places name their index here.
    classes: Vec<Class>,
    /// Of each class of the rules, its index in `classes`.
    order: Vec<usize>,
    max_queue: usize,
    waiting: Waiting,
    verdicts: VecDeque<Verdict>,
    response: MeanResponse,
    spent: Spent,
}

impl Admission {
    /// With nobody in flight.
    ///
    /// Rules that [`Rules::check`] finds fault with are held as far as they make sense.
    pub fn new(rules: &Rules, now: Moment) -> Self {
        let mut admission = Self {
            now,
            rate: None,
            cap: Cap::new(None, now),
            classes: Vec::new(),
            order: Vec::new(),
            max_queue: 0,
            waiting: Waiting::default(),
            verdicts: VecDeque::new(),
            response: MeanResponse::default(),
            spent: Spent::default(),
        };
        admission.set_rules(rules, now);
        admission
    }

    /// A request arrives; `class` is its index in the rules, 0 if they name none.
    ///
    /// Panics if there is no such class.
    pub fn arrive(&mut self, class: usize, now: Moment) -> Decision {
        let now = self.advance(now);
        let class = self.order[class];
        self.settle(now);
        self.classes[class].counts.arrived += 1;
        let decision = if self.is_open(class, now) {
            Decision::Admitted(self.admit(class, None, now))
        } else {
            self.queue(class, now)
        };
        self.note(now);
        decision
    }

    /// The client of a request that waits has left: its place is given back; or its slot, if it has
    /// been granted one and the verdict has not been fetched. Once it has been, the ticket
    /// means nobody and the permit is to be finished.
    pub fn abandon(&mut self, ticket: Ticket, now: Moment) {
        let now = self.advance(now);
        if let Some(waiter) = self.waiting.find(ticket) {
            let class = &mut self.classes[waiter.class];
            class.counts.abandoned += 1;
            self.waiting.leave(&mut class.line, waiter);
        } else if let Some(at) = self.verdicts.iter().position(|of| of.ticket == ticket)
            && let Some(verdict) = self.verdicts.remove(at)
            && let Waited::Granted(permit) = verdict.decision
        {
            let outcome = Outcome {
                response_time: Duration::ZERO,
                kind: Kind::Abandoned,
            };
            return self.finish(permit, outcome, now);
        }
        self.settle(now);
        self.note(now);
    }

    /// An admitted request is over: its slot is free, and what became of it counts.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "whoever finishes has no permit any more"
    )]
    pub fn finish(&mut self, permit: Permit, outcome: Outcome, now: Moment) {
        let now = self.advance(now);
        let Permit {
            class,
            waited,
            in_flight,
            class_in_flight,
            ..
        } = permit;
        let sample = Sample {
            response_time: outcome.response_time,
            waited,
            in_flight,
            kind: outcome.kind,
        };
        if outcome.kind == Kind::Completed {
            self.response.add(outcome.response_time);
        }
        self.cap.give_back(now);
        let of_class = Sample {
            in_flight: class_in_flight,
            ..sample
        };
        self.classes[class].finish(&of_class, now);
        self.keep_promise(class, &sample, now);
        if outcome.kind != Kind::Abandoned {
            self.cap.learn(&sample, now);
        }
        self.settle(now);
        self.note(now);
    }

    /// What became of one who waited, the earliest first.
    pub fn poll(&mut self, now: Moment) -> Option<Verdict> {
        if self.verdicts.is_empty() {
            let now = self.advance(now);
            self.settle(now);
            self.note(now);
        }
        self.verdicts.pop_front()
    }

    /// When [`Self::poll`] is due, if nothing else is called before; `None`: not before the next
    /// call.
    pub fn next_wake(&self) -> Option<Moment> {
        if !self.verdicts.is_empty() {
            return Some(self.now);
        }
        let lines = self.classes.iter().filter(|class| !class.line.is_empty());
        lines.flat_map(|class| self.wakes_of(class)).min()
    }

    /// The busy share of the server's CPUs since the last reading, from 0 to 1; best every 200 ms,
    /// and at least every 3 s. A reading that could not be had is not told; without any for 3
    /// s, the limit is found from throughput and response times.
    pub fn read_cpu(&mut self, busy: f64, now: Moment) {
        let now = self.advance(now);
        let busy = if busy.is_finite() {
            busy.clamp(0.0, 1.0)
        } else {
            return;
        };
        self.cap.read_cpu(busy, now);
        for class in &mut self.classes {
            class.cap.read_cpu(busy, now);
        }
        self.settle(now);
        self.note(now);
    }

    /// How it stands, and what it has counted.
    pub fn seen(&self) -> Seen {
        let mut counts = Counts::default();
        for class in &self.classes {
            counts.add(&class.counts);
        }
        let mut rest = self.classes.iter().filter(|class| class.is_rest);
        let others_at_least = rest.all(|class| class.cap.is_least());
        let classes = self.order.iter().map(|class| &self.classes[*class]);
        Seen {
            limit: self.cap.limit(),
            in_flight: self.cap.in_flight(),
            queued: self.waiting.len(),
            counts,
            classes: classes.map(|class| class.seen(others_at_least)).collect(),
        }
    }

    /// The limit on requests in flight; infinite without one.
    pub fn limit(&self) -> f64 {
        self.cap.limit()
    }

    /// What the limit over all classes has learnt; nothing where it is fixed, or nobody has waited
    /// for it yet.
    pub fn learnt(&self) -> Option<Learnt> {
        self.cap.learnt()
    }

    /// Time that requests have spent here until now.
    pub fn spent(&self, now: Moment) -> Spent {
        let mut spent = self.spent;
        spent.add(
            self.cap.in_flight(),
            self.waiting.len(),
            now.since(self.now),
        );
        spent
    }

    /// Time that requests of each class have spent here until now, in the order of the rules.
    pub fn spent_by_class(&self, now: Moment) -> Vec<Spent> {
        let time = now.since(self.now);
        let classes = self.order.iter().map(|class| &self.classes[*class]);
        classes.map(|class| class.spent_after(time)).collect()
    }

    /// Time does not go backwards.
    fn advance(&mut self, now: Moment) -> Moment {
        self.spent = self.spent(now);
        let time = now.since(self.now);
        if !time.is_zero() {
            for class in &mut self.classes {
                class.spent = class.spent_after(time);
            }
        }
        self.now = self.now.max(now);
        self.now
    }

    /// Whether one more of a class may go on.
    fn is_open(&self, class: usize, now: Moment) -> bool {
        self.is_on_time(now) && self.cap.has_room(now) && self.classes[class].is_open(now)
    }

    /// Whether the rate of all classes together lets one more through.
    fn is_on_time(&self, now: Moment) -> bool {
        self.rate.as_ref().is_none_or(|rate| rate.is_open(now))
    }

    /// Takes all that one needs; `arrived` is when it came, if it waited.
    fn admit(&mut self, class: usize, arrived: Option<Moment>, now: Moment) -> Permit {
        let since = arrived.unwrap_or(now);
        self.cap.take(now);
        if let Some(rate) = &mut self.rate {
            rate.take(since, now);
        }
        let of = &mut self.classes[class];
        of.cap.take(now);
        if let Some(rate) = &mut of.rate {
            rate.take(since, now);
        }
        of.counts.admit(arrived.map(|arrived| now.since(arrived)));
        Permit {
            class,
            admitted: now,
            waited: now.since(since),
            in_flight: self.cap.in_flight(),
            class_in_flight: of.cap.in_flight(),
        }
    }

    /// Lets somebody wait, if that makes sense.
    fn queue(&mut self, class: usize, now: Moment) -> Decision {
        let max_wait = self.classes[class].max_wait;
        let slot = self.wait_for_rate(class, now);
        let why = if slot > max_wait.saturating_sub(max_wait / LATENESS_PARTS) {
            Why::Rate
        } else if max_wait.is_zero() {
            Why::Concurrency
        } else if self.make_room(class, now) {
            let line = &mut self.classes[class].line;
            let ticket = self.waiting.join(line, class, now);
            self.verdicts.reserve(self.waiting.len());
            return Decision::Queued(ticket);
        } else {
            Why::QueueFull
        };
        if why != Why::Rate {
            self.turn_away(class, now);
        }
        Decision::Refused(self.refuse(class, why, now))
    }

    /// Lets the cap know that holds this one back, if it is only one.
    fn turn_away(&mut self, class: usize, now: Moment) {
        let of = &mut self.classes[class];
        match (self.cap.has_room(now), of.cap.has_room(now)) {
            (false, true) => self.cap.turn_away(now),
            (true, false) => of.cap.turn_away(now),
            _ => {}
        }
    }

    /// Whether one more may wait; in a standing queue the oldest makes room.
    fn make_room(&mut self, class: usize, now: Moment) -> bool {
        let of = &self.classes[class];
        if of.line.len() < of.max_queue && self.waiting.len() < self.max_queue {
            return true;
        }
        let oldest = self.waiting.oldest(&of.line);
        match oldest.filter(|_| of.standing.newest_first()) {
            Some(waiter) => {
                self.send_away(waiter, now);
                true
            }
            None => false,
        }
    }

    /// Lets those without a promise feel whether one of a class with a promise was answered in
    /// time.
    fn keep_promise(&mut self, class: usize, sample: &Sample, now: Moment) {
        let Some(kept) = &mut self.classes[class].promise else {
            return;
        };
        if sample.kind != Kind::Completed {
            return;
        }
        let in_time = kept.answered(sample.waited + sample.response_time);
        let share = kept.promise.share;
        for other in self.classes.iter_mut().filter(|other| other.is_rest) {
            other.cap.promised(in_time, share, now);
        }
    }

    fn refuse(&mut self, class: usize, why: Why, now: Moment) -> Refusal {
        let refusal = Refusal {
            why,
            retry_after: self.retry_after(class, now),
        };
        self.classes[class].refuse(&refusal);
        refusal
    }

    /// How long it takes until one would be admitted who came when all who wait now have gone on.
    fn retry_after(&self, class: usize, now: Moment) -> Duration {
        let of = &self.classes[class];
        let mut wait = self.wait_for_rate(class, now);
        let limit = of.cap.limit();
        if limit.is_finite() && !of.cap.has_room(now) {
            let slot = of.response.wait_behind(of.line.len(), limit);
            wait = wait.max(slot.unwrap_or(of.max_wait));
        }
        let limit = self.cap.limit();
        if limit.is_finite() && !self.cap.has_room(now) {
            let slot = self.response.wait_behind(self.waiting.len(), limit);
            wait = wait.max(slot.unwrap_or(of.max_wait));
        }
        wait
    }

    /// How long it takes until a slot opens under the rates, behind all that wait and go first.
    fn wait_for_rate(&self, class: usize, now: Moment) -> Duration {
        let of = &self.classes[class];
        let own = of
            .rate
            .as_ref()
            .map(|rate| rate.wait_behind(of.line.len(), now));
        let first = self.classes.iter().filter(|other| other.rank <= of.rank);
        let ahead: usize = first.map(|other| other.line.len()).sum();
        let shared = self.rate.as_ref().map(|rate| rate.wait_behind(ahead, now));
        own.unwrap_or_default().max(shared.unwrap_or_default())
    }
}

impl Class {
    /// One of the class is over.
    fn finish(&mut self, sample: &Sample, now: Moment) {
        self.counts.finished += 1;
        self.cap.give_back(now);
        if sample.kind == Kind::Completed {
            self.response.add(sample.response_time);
        }
        if sample.kind != Kind::Abandoned {
            self.cap.learn(sample, now);
        }
    }

    fn refuse(&mut self, refusal: &Refusal) {
        self.counts.refuse(refusal);
        if let Some(kept) = &mut self.promise {
            kept.count(false);
        }
    }

    fn seen(&self, others_at_least: bool) -> ClassSeen {
        ClassSeen {
            name: self.name.clone(),
            limit: self.cap.limit(),
            in_flight: self.cap.in_flight(),
            queued: self.line.len(),
            newest_first: self.standing.newest_first(),
            promise: self.promise.map(|kept| kept.seen(others_at_least)),
            counts: self.counts,
        }
    }
}
