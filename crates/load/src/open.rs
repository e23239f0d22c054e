//! Open groups: iterations start when their arrivals are due, whoever is busy.
//!
//! Users do not wait for their own next iteration but for the group's next arrival: whoever is free
//! claims the earliest that nobody has, sleeps until it is due, and goes once through the plan. As
//! arrivals are claimed in order, none is ever late while a user sleeps for a later one, on
//! whatever runtime; and as a runtime always keeps one user waiting, none is late for want of a
//! user until there are as many as there may be. Then arrivals wait, their response times count
//! from when they were due, and how long they waited is shown ([`crate::LoadSummary::arrivals`]).
//! Nothing is dropped unless the plan's own element drops it, and that is counted.
//!
//! No arrival is stored: what is not claimed is a place in a function of time
//! ([`ArrivalTimes`]), so a backlog of any length takes no memory.

use std::cell::Cell;
use std::iter::Peekable;
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use weir_plan::WhenFull;

use crate::arrival_times::ArrivalTimes;
use crate::clock::Moment;
use crate::core::Core;
use crate::timers::Timer;
use crate::user::User;
use crate::work::UserStart;

/// An arrival this long past is one that found nobody free.
const PAST: Duration = Duration::from_millis(1);

/// What does not change of an open group.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OpenRules {
    /// Users at a time.
    pub(crate) users_max: u32,
    /// Iterations of each user.
    pub(crate) iterations_max: Option<u64>,
    /// What becomes of an arrival that finds nobody free.
    pub(crate) when_full: WhenFull,
    /// Each arrival is a new user.
    pub(crate) new_users: bool,
    /// From the start of the group to its end.
    pub(crate) end: Option<Duration>,
}

/// An open group as all runtimes share it.
#[derive(Debug)]
pub(crate) struct OpenGroup {
    pub(crate) rules: OpenRules,
    claims: Mutex<Claims>,
    begin: OnceLock<Moment>,
    /// Users that run or wait for an arrival.
    seats: AtomicU32,
    next_user: AtomicU32,
    started: AtomicU64,
}

#[derive(Debug)]
struct Claims {
    times: Peekable<ArrivalTimes>,
    /// Arrivals that may still be claimed.
    left: u64,
    skipped: u64,
    /// Claimed and due, but the test ended first.
    abandoned: u64,
}

/// What became of the arrivals of a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ArrivalCounts {
    /// Iterations that started.
    pub started: u64,
    /// Arrivals that were due and had not started when the load ended, because all users were busy.
    pub not_started: u64,
    /// Arrivals that the plan's own element dropped, because all users were busy.
    pub skipped: u64,
}

impl OpenGroup {
    /// A group in which nothing has arrived.
    pub(crate) fn new(times: ArrivalTimes, arrivals_max: Option<u64>, rules: OpenRules) -> Self {
        Self {
            rules,
            claims: Mutex::new(Claims {
                times: times.peekable(),
                left: arrivals_max.unwrap_or(u64::MAX),
                skipped: 0,
                abandoned: 0,
            }),
            begin: OnceLock::new(),
            seats: AtomicU32::new(0),
            next_user: AtomicU32::new(0),
            started: AtomicU64::new(0),
        }
    }

    fn claims(&self) -> std::sync::MutexGuard<'_, Claims> {
        self.claims.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self) -> Moment {
        self.begin.get().copied().unwrap_or(Moment::ORIGIN)
    }

    /// The end of the group.
    pub(crate) fn ends(&self) -> Option<Moment> {
        Some(self.begin().after(self.rules.end?))
    }

    /// Takes a seat, if there is one.
    fn take_seat(&self) -> bool {
        let most = self.rules.users_max;
        let taken = self
            .seats
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |seats| {
                (seats < most).then_some(seats + 1)
            });
        taken.is_ok()
    }

    /// Claims the next arrival.
    fn claim(&self, now: Moment) -> Option<Moment> {
        let begin = self.begin();
        let is_full = self.seats.load(Ordering::Relaxed) >= self.rules.users_max;
        let skips = is_full && self.rules.when_full == WhenFull::Skip;
        let mut claims = self.claims();
        loop {
            if claims.left == 0 {
                return None;
            }
            let time = claims.times.next()?;
            if self.rules.end.is_some_and(|end| time >= end) {
                claims.left = 0;
                return None;
            }
            let due = begin.after(time);
            if skips && due.after(PAST) < now {
                claims.skipped += 1;
                continue;
            }
            claims.left -= 1;
            return Some(due);
        }
    }

    /// What became of the arrivals of a group that has ended.
    pub(crate) fn counts(&self, now: Moment) -> ArrivalCounts {
        let begin = self.begin();
        let end = self.rules.end;
        let mut claims = self.claims();
        let mut unclaimed = 0;
        if self.begin.get().is_some() {
            let is_due =
                |time: &Duration| begin.after(*time) <= now && end.is_none_or(|e| *time < e);
            while unclaimed < claims.left && claims.times.next_if(is_due).is_some() {
                unclaimed += 1;
            }
        }
        ArrivalCounts {
            started: self.started.load(Ordering::Relaxed),
            not_started: claims.abandoned + unclaimed,
            skipped: claims.skipped,
        }
    }
}

impl std::ops::AddAssign for ArrivalCounts {
    fn add_assign(&mut self, other: Self) {
        self.started += other.started;
        self.not_started += other.not_started;
        self.skipped += other.skipped;
    }
}

/// An open group on one runtime.
#[derive(Debug)]
struct Here {
    group: usize,
    waiting: Cell<u32>,
    seats: Cell<u32>,
}

impl Core {
    /// Begins an open group on this runtime.
    pub(crate) fn open(self: &Rc<Self>, group: usize, open: &OpenGroup, begin: Moment) {
        let _ = open.begin.set(begin.after(self.work.groups[group].start));
        let here = Rc::new(Here {
            group,
            waiting: Cell::new(0),
            seats: Cell::new(0),
        });
        self.supply_begins();
        // Also with all seats taken elsewhere: the group ends here with its last seat.
        if !self.add_seat(&here, open) {
            self.supply_ends(self.work.groups[group].phase);
        }
    }

    fn add_seat(self: &Rc<Self>, here: &Rc<Here>, open: &OpenGroup) -> bool {
        let taken = open.take_seat();
        if taken {
            here.seats.set(here.seats.get() + 1);
            // It waits from here on, although its task has not run yet.
            here.waiting.set(here.waiting.get() + 1);
            tokio::task::spawn_local(seat(Rc::clone(self), Rc::clone(here)));
        }
        taken
    }
}

/// A user's place in an open group: one arrival after the other.
async fn seat(core: Rc<Core>, here: Rc<Here>) {
    let work = std::sync::Arc::clone(&core.work);
    let group = &work.groups[here.group];
    if let Some(open) = group.supply.open() {
        let mut timer = Timer::new(&core.io.timers);
        let mut user: Option<(User, u64)> = None;
        let mut is_waiting = true;
        loop {
            let free = core.clock.now();
            let Some(due) = open.claim(free) else {
                break;
            };
            if !is_waiting {
                here.waiting.set(here.waiting.get() + 1);
            }
            timer.until(due, || !core.runs(group.outlives_stop)).await;
            here.waiting.set(here.waiting.get() - 1);
            is_waiting = false;
            let now = core.clock.now();
            // What was due in time and found its user free starts, however late that one woke.
            let is_too_late = due < free && open.ends().is_some_and(|ends| now >= ends);
            if is_too_late || !core.runs(group.outlives_stop) {
                open.claims().abandoned += u64::from(due <= now);
                break;
            }
            if here.waiting.get() == 0 {
                core.add_seat(&here, open);
            }
            core.woke(due.max(free));
            open.started.fetch_add(1, Ordering::Relaxed);
            let (serving, iterations) =
                user.get_or_insert_with(|| (enter(&core, here.group, open), 0));
            serving.intended = Some(due);
            let goes_on = serving.iteration().await;
            *iterations += 1;
            let is_over = open
                .rules
                .iterations_max
                .is_some_and(|most| *iterations >= most);
            if !goes_on || is_over || open.rules.new_users {
                user = None;
                core.user_ended(here.group);
            }
        }
        if user.take().is_some() {
            core.user_ended(here.group);
        }
        if is_waiting {
            here.waiting.set(here.waiting.get() - 1);
        }
        open.seats.fetch_sub(1, Ordering::Relaxed);
    }
    here.seats.set(here.seats.get() - 1);
    if here.seats.get() == 0 {
        core.supply_ends(group.phase);
    }
}

/// The next user of a group.
fn enter(core: &Rc<Core>, group: usize, open: &OpenGroup) -> User {
    let begin = open.begin();
    let start = UserStart {
        phase: core.work.groups[group].phase,
        at: Duration::ZERO,
        group,
        user: open.next_user.fetch_add(1, Ordering::Relaxed),
        end: open.rules.end,
    };
    core.user_joins(group);
    User::new(core, start, begin)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use weir_plan::{ArrivalProcess, ArrivalStep, RatePiece};

    use super::*;

    fn open(when_full: WhenFull, arrivals_max: Option<u64>, end: Option<Duration>) -> OpenGroup {
        let step = ArrivalStep {
            rate: RatePiece::endless(100.0),
            process: ArrivalProcess::Constant,
        };
        let rules = OpenRules {
            users_max: 2,
            iterations_max: None,
            when_full,
            new_users: false,
            end,
        };
        let open = OpenGroup::new(ArrivalTimes::new(vec![step], 1), arrivals_max, rules);
        open.begin.set(Moment::ORIGIN).unwrap();
        open
    }

    fn ms(ms: i64) -> Moment {
        Moment(ms * 1_000_000)
    }

    #[test]
    fn claims_of_all_runtimes_together_are_the_schedule() {
        let open = open(WhenFull::Wait, Some(1_000), None);
        let claim_all = || std::iter::from_fn(|| open.claim(ms(0))).collect::<Vec<_>>();
        let mut all: Vec<Moment> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(claim_all)).collect();
            let claims = threads.into_iter().map(|thread| thread.join().unwrap());
            claims.flatten().collect()
        });
        all.sort();
        let schedule: Vec<Moment> = (0..1_000).map(|arrival| ms(10 * arrival)).collect();
        assert_eq!(all, schedule);
    }

    #[test]
    fn what_is_late_waits_unless_the_plan_drops_it() {
        let waits = open(WhenFull::Wait, None, None);
        assert_eq!(waits.claim(ms(55)), Some(ms(0)));
        let skips = open(WhenFull::Skip, None, None);
        // While there are seats, only the tool is late.
        assert_eq!(skips.claim(ms(55)), Some(ms(0)));
        assert!(skips.take_seat() && skips.take_seat() && !skips.take_seat());
        assert_eq!(skips.claim(ms(55)), Some(ms(60)));
        assert_eq!(skips.counts(ms(60)).skipped, 5);
    }

    #[test]
    fn nothing_is_due_after_the_end() {
        let open = open(WhenFull::Wait, None, Some(Duration::from_millis(45)));
        assert_eq!(open.claim(ms(0)), Some(ms(0)));
        assert_eq!(open.counts(ms(25)).not_started, 2);
        assert_eq!(open.counts(ms(1_000)).not_started, 2);
        assert_eq!(open.claim(ms(1_000)), None);
    }
}
