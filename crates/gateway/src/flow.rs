//! The one admission of a gateway, shared by its threads: who may go on, who waits, who is turned
//! away.
//!
//! What is decided stands in `weir-limit`; here it gets a clock, a lock, and somebody who wakes
//! those whose turn has come. A thread of its own sleeps until the next moment at which something
//! becomes due: timers of the runtime are a millisecond coarse, and a cap of many requests a second
//! would come in bunches.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;
use weir_limit::{
    Admission, Decision, Kind, Learnt, Moment, Outcome, Permit, Refusal, Rules, Seen, Spent,
    Ticket, Waited,
};

use crate::alone::AloneCount;
use crate::figures::Figures;
use crate::keys::Held;
use crate::routes::Route;

/// The pacer never sleeps for less: an admission that is due already is asked again only after
/// this.
const NAP_MIN: Duration = Duration::from_micros(20);

/// The admission, its clock, and those who wait.
#[derive(Debug)]
pub(crate) struct Flow {
    state: Mutex<State>,
    /// Something becomes due earlier than the pacer thinks, or the gateway ends.
    earlier: Condvar,
    origin: Instant,
    alone: AloneCount,
}

#[derive(Debug)]
struct State {
    admission: Admission,
    /// Counts changes of the rules: indices of classes belong to one of them.
    generation: u64,
    waiting: HashMap<Ticket, oneshot::Sender<Waited>>,
    /// Until when the pacer sleeps; `None`: until it is woken.
    sleeps_until: Option<Moment>,
    has_ended: bool,
}

/// Verdicts on their way to those who wait for them.
type Settled = Vec<(oneshot::Sender<Waited>, Waited)>;

/// What becomes of a request.
#[derive(Debug)]
pub(crate) enum Entry {
    /// It goes on.
    Admitted(Slot),
    /// It waits for its turn.
    Queued(Place),
    /// It is rejected.
    Refused(Refusal),
    /// The rules have changed since the class was found; it has to be found again.
    Stale,
}

impl Flow {
    /// An admission by these rules, with the thread that wakes those whose turn has come.
    pub(crate) fn start(rules: &Rules) -> std::io::Result<(Arc<Self>, Pacer)> {
        let flow = Arc::new(Self {
            state: Mutex::new(State {
                admission: Admission::new(rules, Moment(0)),
                generation: 0,
                waiting: HashMap::new(),
                sleeps_until: None,
                has_ended: false,
            }),
            earlier: Condvar::new(),
            origin: Instant::now(),
            alone: AloneCount::default(),
        });
        let paced = Arc::clone(&flow);
        let thread = thread::Builder::new()
            .name("weir-gate-pacer".to_owned())
            .spawn(move || paced.pace())?;
        let pacer = Pacer {
            flow: Arc::clone(&flow),
            thread: Some(thread),
        };
        Ok((flow, pacer))
    }

    /// A request of a class arrives; the class's index is that of the rules' `generation`.
    pub(crate) fn arrive(self: &Arc<Self>, class: usize, generation: u64) -> Entry {
        let now = self.now();
        let mut state = self.lock();
        if state.generation != generation {
            return Entry::Stale;
        }
        let entry = match state.admission.arrive(class, now) {
            Decision::Admitted(permit) => Entry::Admitted(self.slot(permit)),
            Decision::Refused(refusal) => Entry::Refused(refusal),
            Decision::Queued(ticket) => {
                let (sender, verdict) = oneshot::channel();
                state.waiting.insert(ticket, sender);
                Entry::Queued(Place {
                    flow: Arc::clone(self),
                    ticket,
                    verdict,
                    is_settled: false,
                })
            }
        };
        self.settle(state, now);
        entry
    }

    /// Changes the rules; `with` runs while nobody can arrive.
    pub(crate) fn change(&self, rules: &Rules, generation: u64, with: impl FnOnce()) {
        let now = self.now();
        let mut state = self.lock();
        state.admission.set_rules(rules, now);
        state.generation = generation;
        with();
        self.settle(state, now);
    }

    /// The backends' CPUs have been busy for this share of the time since the last reading.
    pub(crate) fn read_cpu(&self, busy: f64) {
        let now = self.now();
        let mut state = self.lock();
        state.admission.read_cpu(busy, now);
        self.settle(state, now);
    }

    /// How many requests go on without their client.
    pub(crate) fn alone(&self) -> &AloneCount {
        &self.alone
    }

    /// What the admission has seen.
    pub(crate) fn seen(&self) -> Seen {
        self.lock().admission.seen()
    }

    /// What the limit over all classes has learnt.
    pub(crate) fn learnt(&self) -> Option<Learnt> {
        self.lock().admission.learnt()
    }

    /// Time that requests have spent in flight and waiting until now.
    pub(crate) fn spent(&self) -> Spent {
        let now = self.now();
        self.lock().admission.spent(now)
    }

    /// Time that requests of each class have spent, in the order of the rules.
    pub(crate) fn spent_by_class(&self) -> Vec<Spent> {
        let now = self.now();
        self.lock().admission.spent_by_class(now)
    }

    fn slot(self: &Arc<Self>, permit: Permit) -> Slot {
        Slot {
            flow: Arc::clone(self),
            permit: Some(permit),
            kind: Kind::Abandoned,
            not_taken: Duration::ZERO,
            figures: None,
            route: None,
            keys: Vec::new(),
        }
    }

    /// A slot for a request that nothing holds: it takes none.
    pub(crate) fn slot_of_none(self: &Arc<Self>) -> Slot {
        Slot {
            flow: Arc::clone(self),
            permit: None,
            kind: Kind::Abandoned,
            not_taken: Duration::ZERO,
            figures: None,
            route: None,
            keys: Vec::new(),
        }
    }

    /// Gives a permit back; says how long the backend had the request, of all the time but that in
    /// which the client did not take what was there.
    fn finish(&self, permit: Permit, kind: Kind, not_taken: Duration) -> Duration {
        let now = self.now();
        let response_time = now.since(permit.admitted()).saturating_sub(not_taken);
        let outcome = Outcome {
            response_time,
            kind,
        };
        let mut state = self.lock();
        state.admission.finish(permit, outcome, now);
        self.settle(state, now);
        response_time
    }

    /// Collects what was decided about those who wait, lets go of the lock, and tells them.
    fn settle(&self, mut state: MutexGuard<'_, State>, now: Moment) {
        let settled = collect(&mut state, now);
        let due = state.admission.next_wake();
        let is_earlier = match (due, state.sleeps_until) {
            (Some(due), Some(until)) => due < until,
            (due, None) => due.is_some(),
            (None, _) => false,
        };
        drop(state);
        if is_earlier {
            self.earlier.notify_one();
        }
        self.tell(settled);
    }

    fn tell(&self, settled: Settled) {
        for (sender, verdict) in settled {
            // A client that has left in between cannot take its slot: it is given back.
            if let Err(Waited::Granted(permit)) = sender.send(verdict) {
                self.finish(permit, Kind::Abandoned, Duration::ZERO);
            }
        }
    }

    /// Wakes those whose turn has come, until the gateway ends.
    fn pace(&self) {
        let mut state = self.lock();
        while !state.has_ended {
            let now = self.now();
            let settled = collect(&mut state, now);
            if !settled.is_empty() {
                drop(state);
                self.tell(settled);
                state = self.lock();
                continue;
            }
            state.sleeps_until = state.admission.next_wake();
            state = match state.sleeps_until {
                None => self
                    .earlier
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner),
                Some(until) => {
                    let nap = until.since(now).max(NAP_MIN);
                    let woken = self.earlier.wait_timeout(state, nap);
                    woken.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }

    fn now(&self) -> Moment {
        // 584 years fit.
        Moment(self.origin.elapsed().as_nanos() as u64)
    }

    /// The state; a panic elsewhere, such as on the admin side, does not stop traffic.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn collect(state: &mut State, now: Moment) -> Settled {
    let mut settled = Settled::new();
    if state.waiting.is_empty() {
        // There is a verdict only for those who wait, and whoever leaves takes it along.
        return settled;
    }
    while let Some(verdict) = state.admission.poll(now) {
        match (state.waiting.remove(&verdict.ticket), verdict.decision) {
            (Some(sender), decision) => settled.push((sender, decision)),
            // Whoever leaves takes back the ticket, so that nobody is granted anything after it.
            (None, Waited::Granted(permit)) => {
                let outcome = Outcome {
                    response_time: Duration::ZERO,
                    kind: Kind::Abandoned,
                };
                state.admission.finish(permit, outcome, now);
            }
            (None, Waited::Refused(_)) => {}
        }
    }
    settled
}

/// The thread that wakes those whose turn has come; it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Pacer {
    flow: Arc<Flow>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Pacer {
    fn drop(&mut self) {
        self.flow.lock().has_ended = true;
        self.flow.earlier.notify_one();
        if let Some(thread) = self.thread.take() {
            // A pacer that has panicked has told so already.
            let _ = thread.join();
        }
    }
}

/// A place in the queue: a future of the slot, or of the refusal. Dropping it gives the place back.
#[derive(Debug)]
pub(crate) struct Place {
    flow: Arc<Flow>,
    ticket: Ticket,
    verdict: oneshot::Receiver<Waited>,
    is_settled: bool,
}

impl Future for Place {
    type Output = Result<Slot, Refusal>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Poll::Ready(verdict) = Pin::new(&mut self.verdict).poll(context) else {
            return Poll::Pending;
        };
        self.is_settled = true;
        let verdict = verdict.expect("every ticket gets a verdict before its sender is dropped");
        Poll::Ready(match verdict {
            Waited::Granted(permit) => Ok(self.flow.slot(permit)),
            Waited::Refused(refusal) => Err(refusal),
        })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.is_settled {
            return;
        }
        let now = self.flow.now();
        let mut state = self.flow.lock();
        if state.waiting.remove(&self.ticket).is_some() {
            state.admission.abandon(self.ticket, now);
            self.flow.settle(state, now);
            return;
        }
        drop(state);
        // The verdict is on its way: either it is here, or it comes back to whoever sends it.
        self.verdict.close();
        if let Ok(Waited::Granted(permit)) = self.verdict.try_recv() {
            self.flow.finish(permit, Kind::Abandoned, Duration::ZERO);
        }
    }
}

/// The right to be in flight. It is given back once, when this is dropped.
#[derive(Debug)]
pub(crate) struct Slot {
    flow: Arc<Flow>,
    /// There until this is dropped; `None` for a request that nothing holds.
    permit: Option<Permit>,
    kind: Kind,
    /// For how long the client did not take what there was of the answer.
    not_taken: Duration,
    /// Where it is counted.
    figures: Option<Arc<Figures>>,
    /// Who learns how long the backend had the request.
    route: Option<Arc<Route>>,
    /// What it counts for, as long as it is there.
    keys: Vec<Held>,
}

impl Slot {
    /// How long it was waited for.
    pub(crate) fn waited(&self) -> Duration {
        self.permit.as_ref().map_or(Duration::ZERO, Permit::waited)
    }

    /// The route of the request learns how long the backend had it.
    pub(crate) fn is_for(&mut self, route: Arc<Route>) {
        self.route = Some(route);
    }

    /// It counts for these keys.
    pub(crate) fn counts_for(&mut self, keys: Vec<Held>) {
        self.keys = keys;
    }

    /// What it counts for is held by somebody else from now on.
    pub(crate) fn take_keys(&mut self) -> Vec<Held> {
        std::mem::take(&mut self.keys)
    }

    /// It is counted there.
    pub(crate) fn is_counted_in(&mut self, figures: &Arc<Figures>) {
        self.figures = Some(Arc::clone(figures));
    }

    /// The client gets a head with this code.
    pub(crate) fn answered(&self, status: http::StatusCode) {
        if let Some(figures) = &self.figures {
            figures.answered(status);
        }
    }

    /// The flow that it is of.
    pub(crate) fn flow(&self) -> &Arc<Flow> {
        &self.flow
    }

    /// How the request has ended; a slot that is dropped without is that of a client that left.
    pub(crate) fn ended(&mut self, kind: Kind, not_taken: Duration) {
        self.kind = kind;
        self.not_taken = not_taken;
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let Some(permit) = self.permit.take() else {
            return;
        };
        let waited = permit.waited();
        let response_time = self.flow.finish(permit, self.kind, self.not_taken);
        if let Some(figures) = &self.figures {
            figures.ended(waited, response_time, self.not_taken);
        }
        if let Some(route) = &self.route {
            route.learn(response_time, self.kind);
        }
    }
}
