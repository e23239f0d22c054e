//! One runtime on one CPU: what its users share, and its life from start to end.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender};
use std::time::Duration;

use hdrhistogram::Histogram;
use tokio::sync::Notify;
use weir_record::{SampleRow, response_histogram};
use weir_script::SentRequest;

use crate::audience::Audience;
use crate::clock::{Clock, Moment};
use crate::control::{Control, Stage};
use crate::counts::{CoreSecond, Counts, Gauges, add};
use crate::error::LoadError;
use crate::http::io_context::IoContext;
use crate::samples::{Batches, RowBatch, UserCounts};
use crate::timers::Timer;
use crate::user::User;
use crate::work::{Supply, UserStart, Work};

/// Users that are alive in the whole test, for the columns of a sample's row.
#[derive(Debug)]
pub(crate) struct Census {
    all: AtomicU32,
    started: AtomicU32,
    groups: Vec<AtomicU32>,
    /// Users of each phase that have not ended.
    phases: Vec<AtomicU32>,
}

impl Census {
    /// Nobody alive yet.
    pub(crate) fn new(groups: usize, users_of_phases: Vec<u32>) -> Self {
        Self {
            phases: users_of_phases.into_iter().map(AtomicU32::new).collect(),
            all: AtomicU32::new(0),
            started: AtomicU32::new(0),
            groups: (0..groups).map(|_| AtomicU32::new(0)).collect(),
        }
    }

    /// Users of a group and users of all groups.
    pub(crate) fn alive(&self, group: usize) -> (u32, u32) {
        let group = self.groups[group].load(Ordering::Relaxed);
        (group, self.all.load(Ordering::Relaxed))
    }

    /// Users of the whole test.
    pub(crate) fn counts(&self) -> UserCounts {
        UserCounts {
            active: self.all.load(Ordering::Relaxed),
            started: self.started.load(Ordering::Relaxed),
        }
    }

    /// A user of a phase has ended, or will not start.
    fn leave_phase(&self, phase: usize) {
        self.phases[phase].fetch_sub(1, Ordering::AcqRel);
    }

    /// One more user of a phase that nobody counted beforehand.
    fn join_phase(&self, phase: usize) {
        self.phases[phase].fetch_add(1, Ordering::AcqRel);
    }

    /// How many phases there are.
    fn phases(&self) -> usize {
        self.phases.len()
    }

    /// Whether all users of the phases before this one have ended.
    fn has_begun(&self, phase: usize) -> bool {
        let before = self.phases.iter().take(phase);
        before
            .into_iter()
            .all(|left| left.load(Ordering::Acquire) == 0)
    }

    fn enter(&self, group: usize) {
        self.started.fetch_add(1, Ordering::Relaxed);
        self.groups[group].fetch_add(1, Ordering::Relaxed);
        self.all.fetch_add(1, Ordering::Relaxed);
    }

    fn leave(&self, group: usize) {
        self.groups[group].fetch_sub(1, Ordering::Relaxed);
        self.all.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Sums over the life of a runtime.
#[derive(Debug, Clone)]
pub(crate) struct Tally {
    pub(crate) users_started: u64,
    pub(crate) users_finished: u64,
    pub(crate) samples: u64,
    pub(crate) failed: u64,
    pub(crate) received_bytes: u64,
    pub(crate) sent_bytes: u64,
    pub(crate) cut: u64,
    pub(crate) resent: u64,
    pub(crate) blocked_sends: u64,
    pub(crate) local_failures: u64,
    pub(crate) waited_for_rows: Duration,
    pub(crate) lateness_us: Histogram<u64>,
}

impl Default for Tally {
    fn default() -> Self {
        Self {
            users_started: 0,
            users_finished: 0,
            samples: 0,
            failed: 0,
            received_bytes: 0,
            sent_bytes: 0,
            cut: 0,
            resent: 0,
            blocked_sends: 0,
            local_failures: 0,
            waited_for_rows: Duration::ZERO,
            lateness_us: response_histogram(),
        }
    }
}

impl Tally {
    /// Adds another runtime's sums.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.users_started += other.users_started;
        self.users_finished += other.users_finished;
        self.samples += other.samples;
        self.failed += other.failed;
        self.received_bytes += other.received_bytes;
        self.sent_bytes += other.sent_bytes;
        self.cut += other.cut;
        self.resent += other.resent;
        self.blocked_sends += other.blocked_sends;
        self.local_failures += other.local_failures;
        self.waited_for_rows += other.waited_for_rows;
        add(&mut self.lateness_us, &other.lateness_us);
    }
}

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
    users: Cell<u32>,
    /// Groups on this runtime that may still start users by themselves.
    supplies: Cell<u32>,
    in_flight: Cell<u32>,
    all_started: Cell<bool>,
    /// Told when the runtime may have come to its end.
    changed: Notify,
    counts: RefCell<Counts>,
    tally: RefCell<Tally>,
    rows: Option<RowBatch>,
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
            users: Cell::new(0),
            supplies: Cell::new(0),
            in_flight: Cell::new(0),
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

    /// Runs the users from the moment the test begins until the last has ended or all are cut off.
    pub(crate) async fn run(self: &Rc<Self>, users: Vec<UserStart>, begin: Moment) {
        let timers = Rc::clone(&self.io.timers);
        tokio::task::spawn_local(async move { timers.drive().await });
        tokio::task::spawn_local(Rc::clone(self).hear_orders());
        tokio::task::spawn_local(Rc::clone(self).count_seconds());
        tokio::task::spawn_local(Rc::clone(self).start_users(users, begin));
        while !self.is_over() {
            self.changed.notified().await;
        }
    }

    /// Says the last words of a runtime whose tasks are gone; `cut` samples ended with them.
    pub(crate) fn end(&self, cut: u32) {
        self.users.set(0);
        self.in_flight.set(0);
        self.roll();
        let last = self.counts.borrow_mut().take(self.gauges());
        self.report(Report::Second(last));
        let mut tally = std::mem::take(&mut *self.tally.borrow_mut());
        tally.cut = u64::from(cut);
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
            Stage::Stopping => outlives_stop,
            Stage::Aborting => false,
        }
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

    /// A sample has ended at a moment after this response time.
    pub(crate) fn sample_ended(
        &self,
        class: usize,
        ended: Moment,
        response_us: u64,
        failed_with: Option<&Arc<str>>,
    ) {
        self.in_flight.set(self.in_flight.get() - 1);
        self.roll_to(ended.second());
        let mut counts = self.counts.borrow_mut();
        counts.sample(class, response_us, failed_with);
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
        Gauges {
            users: self.users.get(),
            in_flight: self.in_flight.get(),
            sockets: self.io.sockets.get(),
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
            self.stage.set(self.stage.get().max(ordered));
            if ordered != Stage::Running {
                self.io.timers.wake_all();
                self.changed.notify_one();
            }
            if orders.changed().await.is_err() {
                return;
            }
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

    async fn start_users(self: Rc<Self>, users: Vec<UserStart>, begin: Moment) {
        let mut timer = Timer::new(&self.io.timers);
        let mut users = users.into_iter().peekable();
        let mut phase_begin = begin;
        for phase in 0..self.census.phases() {
            if !self.census.has_begun(phase) {
                self.wait_for_phase(&mut timer, phase).await;
                phase_begin = self.clock.now();
            }
            // Whoever ended the phase before may have stopped the test, which comes as a message.
            self.stage.set(self.stage.get().max(self.control.stage()));
            self.supply_groups(phase, phase_begin);
            while let Some(start) = users.next_if(|start| start.phase == phase) {
                self.start_user(&mut timer, start, phase_begin).await;
            }
        }
        self.all_started.set(true);
        self.changed.notify_one();
    }

    /// Begins the groups of a phase that start users by themselves.
    fn supply_groups(self: &Rc<Self>, phase: usize, begin: Moment) {
        for (at, group) in self.work.supplied_groups(phase) {
            if !self.runs(group.outlives_stop) {
                self.census.leave_phase(phase);
                continue;
            }
            match &group.supply {
                Supply::Users(_) => {}
                Supply::Level(level) => self.keep_level(at, level, begin),
                Supply::Open(open) => self.open(at, open, begin),
            }
        }
    }

    async fn start_user(self: &Rc<Self>, timer: &mut Timer, start: UserStart, begin: Moment) {
        let outlives = self.work.groups[start.group].outlives_stop;
        let meant = begin.after(start.at);
        timer.until(meant, || !self.runs(outlives)).await;
        if !self.runs(outlives) {
            self.census.leave_phase(start.phase);
            return;
        }
        self.user_begins(start.group);
        let user = User::new(self, start, begin);
        // Users who begin with their group have no schedule that they could be late for: with many
        // of them the burst itself takes its time.
        let is_scheduled = start.at > self.work.groups[start.group].start;
        tokio::task::spawn_local(user.live(is_scheduled.then_some(meant)));
    }

    /// Waits until the phases before have ended in all runtimes. Nobody is measured meanwhile, so
    /// looking now and then is soon enough.
    async fn wait_for_phase(&self, timer: &mut Timer, phase: usize) {
        while !self.census.has_begun(phase) && self.stage.get() < Stage::Aborting {
            let next = self.clock.now().after(Duration::from_millis(2));
            timer.until(next, || false).await;
        }
    }
}

/// The body of a runtime's thread: sets up, says so, waits for the word to begin, runs.
pub(crate) fn run_core(
    setup: CoreSetup,
    ready: Sender<Result<(), LoadError>>,
    begin: &Receiver<Moment>,
) {
    use tokio::runtime::{Builder, LocalOptions};
    let runtime = Builder::new_current_thread()
        .enable_io()
        .build_local(LocalOptions::default());
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(source) => {
            let what = "create its event loop";
            let _ = ready.send(Err(LoadError::Runtime { what, source }));
            return;
        }
    };
    let core = runtime.block_on(async {
        let (core, users) = match Core::new(setup) {
            Ok(made) => made,
            Err(error) => {
                let _ = ready.send(Err(error));
                return None;
            }
        };
        let _ = ready.send(Ok(()));
        drop(ready);
        // Without the word, the start has failed elsewhere.
        let begin = begin.recv().ok()?;
        core.run(users, begin).await;
        Some(core)
    });
    let Some(core) = core else { return };
    let cut = core.in_flight();
    // Ends what was cut off, before the last gauges are read.
    drop(runtime);
    core.end(cut);
}
