//! Drives an admission through time: calls it when it wants to be called, and remembers who was
//! told what.

use std::collections::BTreeMap;
use std::time::Duration;

use weir_limit::{
    Admission, Decision, Kind, Moment, Outcome, Permit, Refusal, Rules, Ticket, Waited,
};

pub(crate) const MS: u64 = 1_000_000;

/// What became of a request.
#[derive(Debug)]
pub(crate) enum Fate {
    Waits(Ticket),
    Admitted,
    Refused(Refusal),
    Abandoned,
}

/// A request and what is known of it.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) arrived: Moment,
    /// When it was told.
    pub(crate) told: Moment,
    pub(crate) fate: Fate,
}

pub(crate) struct Driver {
    pub(crate) admission: Admission,
    pub(crate) now: Moment,
    pub(crate) requests: Vec<Request>,
    /// Permits by request.
    pub(crate) permits: BTreeMap<usize, Permit>,
    /// How late the timer is.
    pub(crate) lateness: Duration,
}

impl Driver {
    pub(crate) fn new(rules: &Rules) -> Self {
        rules.check().unwrap();
        Self {
            admission: Admission::new(rules, Moment(0)),
            now: Moment(0),
            requests: Vec::new(),
            permits: BTreeMap::new(),
            lateness: Duration::ZERO,
        }
    }

    /// Goes on to a moment, waking the admission whenever it is due.
    pub(crate) fn go_to(&mut self, until: Moment) {
        while let Some(due) = self.admission.next_wake()
            && due + self.lateness <= until
        {
            self.now = self.now.max(due + self.lateness);
            self.drain();
        }
        self.now = until;
        self.drain();
    }

    pub(crate) fn go(&mut self, duration: Duration) {
        self.go_to(self.now + duration);
    }

    pub(crate) fn arrive(&mut self, class: usize) -> usize {
        let index = self.requests.len();
        let fate = match self.admission.arrive(class, self.now) {
            Decision::Admitted(permit) => {
                self.permits.insert(index, permit);
                Fate::Admitted
            }
            Decision::Queued(ticket) => Fate::Waits(ticket),
            Decision::Refused(refusal) => Fate::Refused(refusal),
        };
        self.requests.push(Request {
            arrived: self.now,
            told: self.now,
            fate,
        });
        self.drain();
        index
    }

    /// Finishes, oldest first, those that were admitted at least so long ago.
    pub(crate) fn finish_after(&mut self, response_time: Duration) {
        while let Some((index, permit)) = self.permits.first_key_value()
            && self.now.since(permit.admitted()) >= response_time
        {
            self.finish(*index);
        }
    }

    pub(crate) fn finish(&mut self, index: usize) {
        let permit = self.permits.remove(&index).unwrap();
        let response_time = self.now.since(permit.admitted());
        let outcome = Outcome {
            response_time,
            kind: Kind::Completed,
        };
        self.admission.finish(permit, outcome, self.now);
        self.drain();
    }

    pub(crate) fn abandon(&mut self, index: usize) {
        if let Fate::Waits(ticket) = self.requests[index].fate {
            self.admission.abandon(ticket, self.now);
            self.requests[index].fate = Fate::Abandoned;
        }
        self.drain();
    }

    pub(crate) fn drain(&mut self) {
        while let Some(verdict) = self.admission.poll(self.now) {
            let is_it =
                |fate: &Fate| matches!(fate, Fate::Waits(ticket) if *ticket == verdict.ticket);
            let index = self
                .requests
                .iter()
                .position(|request| is_it(&request.fate))
                .unwrap();
            self.requests[index].told = self.now;
            self.requests[index].fate = match verdict.decision {
                Waited::Granted(permit) => {
                    self.permits.insert(index, permit);
                    Fate::Admitted
                }
                Waited::Refused(refusal) => Fate::Refused(refusal),
            };
        }
    }

    pub(crate) fn waits(&self, index: usize) -> bool {
        matches!(self.requests[index].fate, Fate::Waits(_))
    }

    pub(crate) fn is_admitted(&self, index: usize) -> bool {
        matches!(self.requests[index].fate, Fate::Admitted)
    }

    pub(crate) fn refusal(&self, index: usize) -> Refusal {
        match self.requests[index].fate {
            Fate::Refused(refusal) => refusal,
            ref fate => panic!("request {index} is {fate:?}"),
        }
    }

    /// When requests were admitted, in that order.
    pub(crate) fn admissions(&self) -> Vec<Moment> {
        let admitted = self
            .requests
            .iter()
            .filter(|of| matches!(of.fate, Fate::Admitted));
        let mut moments: Vec<Moment> = admitted.map(|of| of.told).collect();
        moments.sort_unstable();
        moments
    }
}
