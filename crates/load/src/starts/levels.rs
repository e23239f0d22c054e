//! Keeps the level of a group on one runtime: whoever ends is replaced.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;

use crate::clock::Moment;
use crate::core::Core;
use crate::groups::level::{LevelGroup, share};
use crate::timers::Timer;
use crate::user::User;
use crate::work::UserStart;

/// How often the level is looked at when no user ends.
const LOOK: Duration = Duration::from_secs(1);
/// As `LOOK`, while there are no users.
const LOOK_IDLE: Duration = Duration::from_millis(10);

/// A group with a level on one runtime.
#[derive(Debug)]
struct Here {
    group: usize,
    users: Cell<u32>,
    /// Users that may stay.
    wanted: Cell<u32>,
    ended: Notify,
}

/// Keeps a group's level on this runtime, until it is over.
pub(super) fn keep_level(core: &Rc<Core>, group: usize, level: &LevelGroup, begin: Moment) {
    level.begins(begin.after(core.work.groups[group].start));
    core.supply_begins();
    core.spawn(group, supply(Rc::clone(core), group));
}

async fn supply(core: Rc<Core>, at: usize) {
    let work = Arc::clone(&core.work);
    let group = &work.groups[at];
    let here = Rc::new(Here {
        group: at,
        users: Cell::new(0),
        wanted: Cell::new(0),
        ended: Notify::new(),
    });
    if let Some(level) = group.supply.level() {
        let mut timer = Timer::new(&core.io.timers);
        let mut scope = work.scope(start_of(at, u32::MAX - 1, group.phase, level));
        let ends = level.end().map(|end| level.begin().after(end));
        timer
            .until(level.begin(), || !core.runs(group.outlives_stop))
            .await;
        loop {
            let now = core.clock.now();
            if !core.runs(group.outlives_stop) || ends.is_some_and(|ends| now >= ends) {
                break;
            }
            let target = level.target(&mut scope);
            let elapsed = Duration::from_nanos(now.nanos_since(level.begin()));
            let planned = level.planned(elapsed, target);
            here.wanted
                .set(share(target, core.index(), core.runtimes()));
            while here.users.get() < share(planned, core.index(), core.runtimes()) {
                add_user(&core, &here, level);
            }
            let pause = if here.users.get() == 0 {
                LOOK_IDLE
            } else {
                LOOK
            };
            let next = now.after(pause);
            let next = ends.map_or(next, |ends| next.min(ends));
            timer.within(Some(next), here.ended.notified()).await;
        }
    }
    core.supply_ends(group.phase);
}

fn start_of(group: usize, user: u32, phase: usize, level: &LevelGroup) -> UserStart {
    UserStart {
        phase,
        at: Duration::ZERO,
        group,
        user,
        end: level.end(),
    }
}

fn add_user(core: &Rc<Core>, here: &Rc<Here>, level: &LevelGroup) {
    let number = level.next_user();
    let phase = core.work.groups[here.group].phase;
    let start = start_of(here.group, number, phase, level);
    core.user_joins(here.group);
    here.users.set(here.users.get() + 1);
    let user = User::new(core, start, level.begin());
    core.spawn(here.group, live(Rc::clone(core), Rc::clone(here), user));
}

/// A user's life: iterations, until it is one too many.
async fn live(core: Rc<Core>, here: Rc<Here>, mut user: User) {
    let work = Arc::clone(&core.work);
    let most = work.groups[here.group]
        .supply
        .level()
        .and_then(LevelGroup::iterations_max);
    let mut iterations = 0;
    while user.may_go_on() && user.iteration().await {
        iterations += 1;
        if most.is_some_and(|most| iterations >= most) || here.users.get() > here.wanted.get() {
            break;
        }
    }
    drop(user);
    core.user_ended(here.group);
    here.users.set(here.users.get() - 1);
    here.ended.notify_one();
}
