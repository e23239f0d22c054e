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

use std::iter::Peekable;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use weir_plan::WhenFull;

use crate::clock::Moment;
use crate::groups::arrival_times::ArrivalTimes;

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
    /// All arrivals, from the first.
    schedule: ArrivalTimes,
    arrivals_max: u64,
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
    /// Arrivals that were due and had not started when the load ended, because all users were
    /// busy.
    pub not_started: u64,
    /// Arrivals that the plan's own element dropped, because all users were busy.
    pub skipped: u64,
}

impl OpenGroup {
    /// A group in which nothing has arrived.
    pub(crate) fn new(times: ArrivalTimes, arrivals_max: Option<u64>, rules: OpenRules) -> Self {
        let arrivals_max = arrivals_max.unwrap_or(u64::MAX);
        Self {
            rules,
            schedule: times.clone(),
            arrivals_max,
            claims: Mutex::new(Claims {
                times: times.peekable(),
                left: arrivals_max,
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

    /// Begins, unless another runtime has begun it.
    pub(crate) fn begins(&self, at: Moment) {
        let _ = self.begin.set(at);
    }

    /// Nobody will start these arrivals, which were claimed.
    pub(crate) fn abandons(&self, arrivals: u64) {
        self.claims().abandoned += arrivals;
    }

    /// An iteration starts.
    pub(crate) fn starts(&self) {
        self.started.fetch_add(1, Ordering::Relaxed);
    }

    /// The place of the next user, from 0.
    pub(crate) fn next_user(&self) -> u32 {
        self.next_user.fetch_add(1, Ordering::Relaxed)
    }

    /// Gives a seat back.
    pub(crate) fn leave_seat(&self) {
        self.seats.fetch_sub(1, Ordering::Relaxed);
    }

    /// When it began.
    pub(crate) fn begin(&self) -> Moment {
        self.begin.get().copied().unwrap_or(Moment::ORIGIN)
    }

    /// The end of the group.
    pub(crate) fn ends(&self) -> Option<Moment> {
        Some(self.begin().after(self.rules.end?))
    }

    /// Takes a seat, if there is one.
    pub(crate) fn take_seat(&self) -> bool {
        let most = self.rules.users_max;
        let taken = self
            .seats
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |seats| {
                (seats < most).then_some(seats + 1)
            });
        taken.is_ok()
    }

    /// Claims the next arrival.
    pub(crate) fn claim(&self, now: Moment) -> Option<Moment> {
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

    /// Counts the arrivals that were due until then into their seconds from the time origin.
    pub(crate) fn add_due(&self, until: Moment, by_second: &mut Vec<u64>) {
        let Some(begin) = self.begin.get() else {
            return;
        };
        let times = self.schedule.clone().zip(0..self.arrivals_max);
        for (time, _) in times {
            let due = begin.after(time);
            if due > until || self.rules.end.is_some_and(|end| time >= end) {
                return;
            }
            let second = due.second() as usize;
            if by_second.len() <= second {
                by_second.resize(second + 1, 0);
            }
            by_second[second] += 1;
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
    fn what_is_due_counts_in_its_second_whoever_is_busy() {
        let due = |open: &OpenGroup, until: i64| {
            let mut by_second = Vec::new();
            open.add_due(ms(until), &mut by_second);
            by_second
        };
        let endless = open(WhenFull::Wait, None, None);
        assert_eq!(due(&endless, 2_495), [100, 100, 50]);
        endless.claim(ms(0));
        assert_eq!(due(&endless, 995), [100], "claimed or not");
        assert_eq!(
            due(&open(WhenFull::Skip, Some(120), None), 5_000),
            [100, 20]
        );
        let ends = open(WhenFull::Wait, None, Some(Duration::from_millis(1_045)));
        assert_eq!(due(&ends, 5_000), [100, 5]);
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
