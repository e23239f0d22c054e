//! One runtime on one CPU: what its users share, and its life from start to end.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use tokio::sync::Notify;
use tokio::task::JoinSet;
use weir_record::SampleRow;
use weir_script::SentRequest;

use crate::audience::Audience;
use crate::census::Census;
use crate::clock::{Clock, Moment};
use crate::control::{Control, Stage};
use crate::counts::{CoreSecond, Count, Counts, Gauges, SoFar};
use crate::crash::Watched;
use crate::error::LoadError;
use crate::http::io_context::IoContext;
use crate::samples::{Batches, RowBatch};
use crate::tally::Tally;
use crate::timers::Timer;
use crate::work::{UserStart, Work};

/// What a runtime says to the thread that puts all of them together.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "one a second, and the large one is nearly all of them"
)]
pub(crate) enum Report {
    /// A second is over.
    Second(CoreSecond),
    /// All users of the runtime are; nothing more will come.
    Ended(Box<Tally>),
    /// Its thread has panicked with this; nothing more will come.
    Crashed(String),
}

/// What a runtime is made of.
#[derive(Debug)]
pub(crate) struct CoreSetup {
    /// Which runtime, from 0.
    pub(crate) index: usize,
    /// How many there are.
    pub(crate) runtimes: usize,
    pub(crate) clock: Clock,
    pub(crate) work: Arc<Work>,
    pub(crate) users: Vec<UserStart>,
    pub(crate) control: Control,
    pub(crate) census: Arc<Census>,
    pub(crate) reports: SyncSender<(usize, Report)>,
    pub(crate) batches: Option<Batches>,
}

/// A runtime's state. All its users share it, none at the same time.
#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) clock: Clock,
    pub(crate) work: Arc<Work>,
    pub(crate) control: Control,
    pub(crate) census: Arc<Census>,
    /// What its clients share.
    pub(crate) io: Rc<IoContext>,
    /// What extractors and assertions have compiled.
    pub(crate) patterns: RefCell<weir_response::Patterns>,
    stage: Cell<Stage>,
    /// The phase of the users that are alive.
    pub(crate) phase: Cell<usize>,
    pub(crate) users: Cell<u32>,
    /// Groups on this runtime that may still start users by themselves.
    pub(crate) supplies: Cell<u32>,
    pub(crate) in_flight: Cell<u32>,
    /// Tasks that end when the test is stopped now, although the test goes on.
    pub(crate) cut_by_stop: RefCell<JoinSet<()>>,
    has_cut: Cell<bool>,
    all_started: Cell<bool>,
    /// Told when the runtime may have come to its end.
    changed: Notify,
    counts: RefCell<Counts>,
    tally: RefCell<Tally>,
    pub(crate) rows: Option<RowBatch>,
    /// Requests that are not in use, for samples whose texts differ.
    #[expect(clippy::vec_box, reason = "a user's task has room for a pointer")]
    requests: RefCell<Vec<Box<SentRequest>>>,
    reports: SyncSender<(usize, Report)>,
    index: usize,
    runtimes: usize,
}

impl Core {
    /// The state of the runtime that this is called in.
    pub(crate) fn new(setup: CoreSetup) -> Result<(Rc<Self>, Vec<UserStart>), LoadError> {
        let io = IoContext::new(setup.clock).map_err(|source| LoadError::Runtime {
            what: "create its timer",
            source,
        })?;
        let core = Rc::new(Self {
            clock: setup.clock,
            counts: RefCell::new(Counts::new(&setup.work.labels, setup.work.is_open())),
            work: setup.work,
            stage: Cell::new(setup.control.stage()),
            control: setup.control,
            census: setup.census,
            io,
            patterns: RefCell::default(),
            phase: Cell::new(0),
            users: Cell::new(0),
            supplies: Cell::new(0),
            in_flight: Cell::new(0),
            cut_by_stop: RefCell::default(),
            has_cut: Cell::new(false),
            all_started: Cell::new(false),
            changed: Notify::new(),
            tally: RefCell::default(),
            rows: setup.batches.map(RowBatch::new),
            requests: RefCell::default(),
            reports: setup.reports,
            index: setup.index,
            runtimes: setup.runtimes,
        });
        Ok((core, setup.users))
    }

    /// Runs until `starts` has started all users and the last has ended, or all are cut off.
    pub(crate) async fn run(self: &Rc<Self>, starts: impl Future<Output = ()> + 'static) {
        let timers = Rc::clone(&self.io.timers);
        self.begin(async move {
            let Err(error) = timers.drive().await;
            // Without its timer nobody would ever wake.
            panic!("the timer of a runtime cannot be read: {error}");
        });
        self.begin(Rc::clone(self).hear_orders());
        self.begin(Rc::clone(self).count_seconds());
        let core = Rc::clone(self);
        self.begin(async move {
            starts.await;
            core.all_started.set(true);
            core.wake();
        });
        while !self.is_over() {
            self.changed.notified().await;
        }
    }

    /// Runs a task that belongs to no group.
    fn begin(self: &Rc<Self>, task: impl Future<Output = ()> + 'static) {
        tokio::task::spawn_local(Watched::new(self, task));
    }

    /// Looks again whether the runtime has come to its end.
    pub(crate) fn wake(&self) {
        self.changed.notify_one();
    }

    /// Says the last words of a runtime whose tasks are gone; `cut` samples ended with them.
    pub(crate) fn end(&self, cut: u32) {
        self.users.set(0);
        self.in_flight.set(0);
        self.roll();
        let last = self.counts.borrow_mut().take(self.gauges());
        self.report(Report::Second(last));
        let mut tally = std::mem::take(&mut *self.tally.borrow_mut());
        tally.cut += u64::from(cut);
        let io = &self.io.counts;
        tally.resent = io.resent.get();
        tally.blocked_sends = io.blocked_sends.get();
        tally.local_failures = io.local_failures.get();
        if let Some(rows) = &self.rows {
            rows.hand_over();
            tally.waited_for_rows = rows.waited();
        }
        self.report(Report::Ended(Box::new(tally)));
    }

    /// The moment that is now.
    pub(crate) fn now(&self) -> Moment {
        self.io.now()
    }

    /// The last moment that anyone on this runtime asked for: a user who was woken for something
    /// that takes its time has asked since, so for it this is now, without asking again.
    pub(crate) fn latest(&self) -> Moment {
        self.io.latest()
    }

    /// Samples that have started and not ended.
    pub(crate) fn in_flight(&self) -> u32 {
        self.in_flight.get()
    }

    /// Whether users may start another sample; those of a tear-down group perhaps also after the
    /// test was stopped.
    pub(crate) fn runs(&self, outlives_stop: bool) -> bool {
        match self.stage.get() {
            Stage::Running => true,
            Stage::Stopping | Stage::Cutting => outlives_stop,
            Stage::Ending | Stage::Aborting => false,
        }
    }

    /// Hears of an order that is on its way as a message.
    pub(crate) fn hear_now(&self) {
        self.heed(self.control.stage());
    }

    /// Whether samples are cut off.
    pub(crate) fn is_aborting(&self) -> bool {
        self.stage.get() == Stage::Aborting
    }

    /// Orders the end for all runtimes, and for this one at once.
    pub(crate) fn order(&self, stage: Stage) {
        self.stage.set(self.stage.get().max(stage));
        self.control.order(stage);
    }

    /// Whether someone wants rows.
    pub(crate) fn wants_rows(&self) -> bool {
        self.rows.is_some()
    }

    /// A row for a sample that has ended, for these.
    pub(crate) fn row(&self, row: SampleRow, audience: Audience) {
        if let Some(rows) = &self.rows {
            rows.push(row, audience);
        }
    }

    /// A request to write into; hand it back with [`Self::put_request`].
    pub(crate) fn take_request(&self) -> Box<SentRequest> {
        self.requests.borrow_mut().pop().unwrap_or_default()
    }

    /// Keeps a request's buffers for the next sample.
    pub(crate) fn put_request(&self, request: Box<SentRequest>) {
        self.requests.borrow_mut().push(request);
    }

    /// Changes the sums.
    pub(crate) fn tally(&self, change: impl FnOnce(&mut Tally)) {
        change(&mut self.tally.borrow_mut());
    }

    /// Class of a label that is known only now, and the label.
    pub(crate) fn class_of(&self, label: &str) -> (usize, Arc<str>) {
        self.counts.borrow_mut().class_of(label)
    }

    /// A user woke that was meant to wake at `meant`.
    pub(crate) fn woke(&self, meant: Moment) {
        let now = self.now();
        let late_us = now.micros_since(meant);
        self.roll_to(now.second());
        self.counts.borrow_mut().woke(late_us);
        let recorded = self.tally.borrow_mut().lateness_us.record(late_us);
        recorded.expect("the histogram grows to any number of microseconds");
    }

    /// A sample begins.
    pub(crate) fn sample_begins(&self) {
        self.in_flight.set(self.in_flight.get() + 1);
    }

    /// A sample is none after all.
    pub(crate) fn sample_left_out(&self) {
        self.in_flight.set(self.in_flight.get() - 1);
    }

    /// A sample has ended of which nobody hears, because it is lost or a script has it ignored.
    pub(crate) fn sample_goes_unheard(&self, is_lost: bool) {
        self.sample_left_out();
        self.tally(|tally| {
            tally.lost += u64::from(is_lost);
            tally.ignored += u64::from(!is_lost);
        });
    }

    /// A sample has ended; bytes are those received and sent.
    pub(crate) fn sample_ended(
        &self,
        count: Count,
        code: &Arc<str>,
        success: bool,
        bytes: (u64, u64),
    ) {
        self.in_flight.set(self.in_flight.get() - 1);
        self.roll_to(count.ended.second());
        let mut counts = self.counts.borrow_mut();
        counts.sample(count.class, count.response_us, code, success);
        drop(counts);
        self.tally(|tally| {
            tally.samples += 1;
            tally.failed += u64::from(!success);
            tally.received_bytes += bytes.0;
            tally.sent_bytes += bytes.1;
        });
    }

    /// Whether samples of this label are counted in this class.
    pub(crate) fn is_of_class(&self, label: &Arc<str>, class: usize) -> bool {
        self.counts.borrow().is_of_class(label, class)
    }

    /// Counts that a sample which ends at a moment was answered with a redirect, or by way of one.
    pub(crate) fn sample_redirected(&self, ended: Moment) {
        self.roll_to(ended.second());
        self.counts.borrow_mut().redirected();
    }

    /// Counts a sample of which it was known before when it should start.
    pub(crate) fn open_sample(&self, ended: Moment, service_us: u64, start_delay_us: u64) {
        self.roll_to(ended.second());
        let mut counts = self.counts.borrow_mut();
        counts.open_sample(service_us, start_delay_us);
    }

    /// Which runtime this is, from 0.
    pub(crate) fn index(&self) -> usize {
        self.index
    }

    /// How many runtimes there are.
    pub(crate) fn runtimes(&self) -> usize {
        self.runtimes
    }

    /// A group will start users by itself on this runtime.
    pub(crate) fn supply_begins(&self) {
        self.supplies.set(self.supplies.get() + 1);
    }

    /// A group of this phase will start no more users on this runtime.
    pub(crate) fn supply_ends(&self, phase: usize) {
        self.supplies.set(self.supplies.get() - 1);
        self.census.leave_phase(phase);
        self.changed.notify_one();
    }

    /// A user begins whom a group started by itself.
    pub(crate) fn user_joins(&self, group: usize) {
        self.census.join_phase(self.work.groups[group].phase);
        self.user_begins(group);
    }

    /// A user begins.
    pub(crate) fn user_begins(&self, group: usize) {
        self.users.set(self.users.get() + 1);
        self.census.enter(group);
        self.tally(|tally| tally.users_started += 1);
    }

    /// A user has come to its end.
    pub(crate) fn user_ended(&self, group: usize) {
        self.users.set(self.users.get() - 1);
        // The rows of groups that run one after another stand one after another.
        if let Some(rows) = self.rows.as_ref().filter(|_| self.users.get() == 0) {
            rows.hand_over();
        }
        self.census.leave(group);
        self.census.leave_phase(self.work.groups[group].phase);
        self.tally(|tally| tally.users_finished += 1);
        self.changed.notify_one();
    }

    fn is_over(&self) -> bool {
        let done = self.all_started.get() && self.users.get() == 0 && self.supplies.get() == 0;
        done || self.stage.get() == Stage::Aborting
    }

    fn gauges(&self) -> Gauges {
        let io = &self.io.counts;
        Gauges {
            users: self.users.get(),
            in_flight: self.in_flight.get(),
            sockets: self.io.sockets.get(),
            so_far: SoFar {
                resent: io.resent.get(),
                connected: io.connected.get(),
                connecting_us: io.connecting_us.get(),
            },
        }
    }

    /// Delivers every second that is over.
    fn roll(&self) {
        self.roll_to(self.clock.now().second());
    }

    fn roll_to(&self, second: u64) {
        loop {
            let over = self.counts.borrow_mut().roll(second, self.gauges());
            let Some(over) = over else {
                return;
            };
            self.report(Report::Second(over));
        }
    }

    fn report(&self, report: Report) {
        // The receiving thread ends after all runtimes: if it is gone, it has panicked, which
        // whoever joins it hears of.
        let _ = self.reports.send((self.index, report));
    }

    async fn hear_orders(self: Rc<Self>) {
        let mut orders = self.control.listen();
        loop {
            let ordered = *orders.borrow_and_update();
            self.heed(ordered);
            if ordered != Stage::Running {
                self.io.timers.wake_all();
                self.changed.notify_one();
            }
            if orders.changed().await.is_err() {
                return;
            }
        }
    }

    /// Does what was ordered anywhere. Users who order something go to their end by themselves.
    fn heed(&self, ordered: Stage) {
        self.stage.set(self.stage.get().max(ordered));
        if ordered == Stage::Cutting && !self.has_cut.replace(true) {
            self.cut_users();
        }
    }

    async fn count_seconds(self: Rc<Self>) {
        let mut timer = Timer::new(&self.io.timers);
        for second in 0.. {
            timer.until(Moment::end_of_second(second), || false).await;
            self.roll();
            if let Some(rows) = &self.rows {
                rows.hand_over();
            }
        }
    }
}
