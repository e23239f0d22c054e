//! Who sends requests: thinking, sending, giving up, trying again.

use rand::RngExt as _;

use super::entity::{Entity, State};
use super::{Simulation, Subject};
use crate::network::{AbandonedWork, Jitter, Retry, Source, Timeout};

/// Retries that a class may make before its budget counts: a budget is a rate, not a rule for the
/// first seconds.
const BUDGET_START: f64 = 10.0;
/// Most retries that a class can save up.
const BUDGET_MAX: f64 = 100.0;

/// Why an attempt came to nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure {
    /// Something was full.
    Refused,
    /// It waited too long in a queue or limit.
    Abandoned,
    /// Its client waited too long.
    TimedOut,
    /// Its server died.
    Lost,
}

/// Number of [`Failure`]s.
pub(crate) const FAILURES: usize = 4;

/// The clients of one class.
#[derive(Debug, Clone, Default)]
pub(crate) struct ClientState {
    /// Users that have started.
    pub(crate) started: u32,
    /// Clients with a request that is not answered yet, pauses between attempts included.
    pub(crate) in_flight: u32,
    /// Retries that the budget allows just now, beyond those it starts with.
    saved: f64,
    /// Counts since the figures were last set to 0.
    pub(crate) counts: ClientCounts,
}

/// What the clients of one class have counted.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct ClientCounts {
    /// Requests sent for the first time.
    pub(crate) fresh: u64,
    /// Attempts that were not the first.
    pub(crate) retries: u64,
    /// Requests answered.
    pub(crate) answered: u64,
    /// Sum of their response times, from the first attempt on.
    pub(crate) response_s: f64,
    /// Requests that failed in the end.
    pub(crate) failed: u64,
    /// Failed attempts, by why.
    pub(crate) failures: [u64; FAILURES],
    /// Requests that the servers finished for nobody.
    pub(crate) wasted: u64,
}

impl Simulation<'_> {
    /// A user pauses before its next request.
    #[inline]
    pub(super) fn think(&mut self, id: u32) {
        let class = usize::from(self.entities[id].class);
        let Source::Users { think, .. } = self.network.classes[class].source else {
            return self.entities.remove(id);
        };
        self.entities[id].state = State::Thinking;
        let until = self.now + think.draw(&mut self.random);
        self.wake_at(id, until);
    }

    /// A request arrives from outside.
    pub(super) fn arrive(&mut self, class: usize) {
        let id = self.entities.add(Entity::new(class));
        self.send(id);
    }

    /// Sends a request for the first time.
    #[inline]
    pub(super) fn send(&mut self, id: u32) {
        let class = usize::from(self.entities[id].class);
        let client = &mut self.clients[class];
        client.in_flight += 1;
        client.counts.fresh += 1;
        if let Some(Retry {
            budget: Some(budget),
            ..
        }) = self.network.classes[class].retry
        {
            client.saved = (client.saved + budget).min(BUDGET_MAX);
        }
        let entity = &mut self.entities[id];
        (entity.sent_at, entity.attempt) = (self.now, 1);
        self.begin(id, class);
    }

    /// Sends a request that failed once more.
    pub(super) fn try_again(&mut self, id: u32) {
        let class = usize::from(self.entities[id].class);
        self.clients[class].counts.retries += 1;
        self.entities[id].attempt += 1;
        self.begin(id, class);
    }

    #[inline]
    fn begin(&mut self, id: u32, class: usize) {
        if let Some(timeout) = self.network.classes[class].timeout {
            let at = self.now + timeout.after.draw(&mut self.random);
            self.entities[id].deadline = self.events.push(at, Subject::Deadline(id));
        }
        self.entities[id].step = self.starts[class];
        self.walk(id);
    }

    /// A request is through.
    #[inline]
    pub(super) fn answer(&mut self, id: u32) {
        self.leave_gateways(id, weir_limit::Kind::Completed);
        let class = usize::from(self.entities[id].class);
        if !self.entities[id].has_client {
            self.clients[class].counts.wasted += 1;
            return self.entities.remove(id);
        }
        self.cancel_deadline(id);
        let response = self.now - self.entities[id].sent_at;
        let client = &mut self.clients[class];
        client.in_flight -= 1;
        client.counts.answered += 1;
        client.counts.response_s += response;
        self.tally.answered(class, response);
        self.think(id);
    }

    /// An attempt, on its way between two places, has come to nothing.
    pub(super) fn fail(&mut self, id: u32, why: Failure) {
        self.let_go(id);
        if self.entities[id].has_client {
            self.cancel_deadline(id);
            self.failed_attempt(id, why);
        } else {
            self.entities.remove(id);
        }
    }

    /// A client's time is up.
    pub(super) fn give_up(&mut self, id: u32) {
        let class = usize::from(self.entities[id].class);
        let timeout = self.network.classes[class].timeout;
        let goes_on = |timeout: Timeout| timeout.work == AbandonedWork::GoesOn;
        if timeout.is_some_and(goes_on) {
            let mut client = Entity::new(class);
            client.sent_at = self.entities[id].sent_at;
            client.attempt = self.entities[id].attempt;
            self.entities[id].has_client = false;
            let client = self.entities.add(client);
            self.failed_attempt(client, Failure::TimedOut);
        } else {
            self.withdraw(id);
            self.failed_attempt(id, Failure::TimedOut);
        }
    }

    /// A client that is left without an answer: it tries again or goes on with its life.
    fn failed_attempt(&mut self, id: u32, why: Failure) {
        let class = usize::from(self.entities[id].class);
        self.clients[class].counts.failures[why as usize] += 1;
        if let Some(pause) = self.next_attempt(id, class) {
            self.entities[id].state = State::BackingOff;
            return self.wake_at(id, self.now + pause);
        }
        let response = self.now - self.entities[id].sent_at;
        let client = &mut self.clients[class];
        client.in_flight -= 1;
        client.counts.failed += 1;
        self.tally.failed(class, why, response);
        self.think(id);
    }

    /// The pause before the next attempt, if there is to be one.
    fn next_attempt(&mut self, id: u32, class: usize) -> Option<f64> {
        let retry = self.network.classes[class].retry?;
        let attempt = self.entities[id].attempt;
        if attempt >= retry.attempts {
            return None;
        }
        if retry.budget.is_some() {
            let saved = &mut self.clients[class].saved;
            if *saved + BUDGET_START < 1.0 {
                return None;
            }
            *saved -= 1.0;
        }
        let grown = retry.back_off_s * retry.factor.powi(i32::from(attempt) - 1);
        let pause = grown.min(retry.back_off_max_s);
        let share = match retry.jitter {
            Jitter::None => 1.0,
            Jitter::Half => f64::midpoint(1.0, self.random.random::<f64>()),
            Jitter::Full => self.random.random::<f64>(),
        };
        Some(pause * share)
    }
}
