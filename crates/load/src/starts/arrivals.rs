//! The users of an open group on one runtime: whoever is free claims the next arrival.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use crate::clock::Moment;
use crate::core::Core;
use crate::groups::open::OpenGroup;
use crate::timers::Timer;
use crate::user::User;
use crate::work::UserStart;

/// An open group on one runtime.
#[derive(Debug)]
struct Here {
    group: usize,
    waiting: Cell<u32>,
    seats: Cell<u32>,
}

/// Begins an open group on this runtime.
pub(super) fn open_group(core: &Rc<Core>, group: usize, open: &OpenGroup, begin: Moment) {
    open.begins(begin.after(core.work.groups[group].start));
    let here = Rc::new(Here {
        group,
        waiting: Cell::new(0),
        seats: Cell::new(0),
    });
    core.supply_begins();
    // Also with all seats taken elsewhere: the group ends here with its last seat.
    if !add_seat(core, &here, open) {
        core.supply_ends(core.work.groups[group].phase);
    }
}

fn add_seat(core: &Rc<Core>, here: &Rc<Here>, open: &OpenGroup) -> bool {
    let taken = open.take_seat();
    if taken {
        here.seats.set(here.seats.get() + 1);
        // It waits from here on, although its task has not run yet.
        here.waiting.set(here.waiting.get() + 1);
        core.spawn(here.group, seat(Rc::clone(core), Rc::clone(here)));
    }
    taken
}

/// A user's place in an open group: one arrival after the other.
async fn seat(core: Rc<Core>, here: Rc<Here>) {
    let work = Arc::clone(&core.work);
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
                open.abandons(u64::from(due <= now));
                break;
            }
            if here.waiting.get() == 0 {
                add_seat(&core, &here, open);
            }
            core.woke(due.max(free));
            open.starts();
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
        open.leave_seat();
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
        user: open.next_user(),
        end: open.rules.end,
    };
    core.user_joins(group);
    User::new(core, start, begin)
}
