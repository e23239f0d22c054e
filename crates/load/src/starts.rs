//! How users come: phase after phase, each by the schedule of its group.

mod arrivals;
mod levels;

use std::rc::Rc;
use std::time::Duration;

use self::arrivals::open_group;
use self::levels::keep_level;
use crate::clock::Moment;
use crate::core::Core;
use crate::timers::Timer;
use crate::user::User;
use crate::work::{Supply, UserStart};

/// Starts the users of a runtime, phase after phase, in a test that began at `begin`.
pub(crate) async fn start_users(core: Rc<Core>, users: Vec<UserStart>, begin: Moment) {
    let mut timer = Timer::new(&core.io.timers);
    let mut users = users.into_iter().peekable();
    let mut phase_begin = begin;
    for phase in 0..core.census.phases() {
        if !core.census.has_begun(phase) {
            wait_for_phase(&core, &mut timer, phase).await;
            phase_begin = core.clock.now();
        }
        // Whoever ended the phase before may have stopped the test, which comes as a message.
        core.hear_now();
        core.phase.set(phase);
        supply_groups(&core, phase, phase_begin);
        while let Some(start) = users.next_if(|start| start.phase == phase) {
            start_user(&core, &mut timer, start, phase_begin).await;
        }
    }
}

/// Begins the groups of a phase that start users by themselves.
fn supply_groups(core: &Rc<Core>, phase: usize, begin: Moment) {
    for (at, group) in core.work.supplied_groups(phase) {
        if !core.runs(group.outlives_stop) {
            core.census.leave_phase(phase);
            continue;
        }
        match &group.supply {
            Supply::Users(_) => {}
            Supply::Level(level) => keep_level(core, at, level, begin),
            Supply::Open(open) => open_group(core, at, open, begin),
        }
    }
}

async fn start_user(core: &Rc<Core>, timer: &mut Timer, start: UserStart, begin: Moment) {
    let outlives = core.work.groups[start.group].outlives_stop;
    let meant = begin.after(start.at);
    timer.until(meant, || !core.runs(outlives)).await;
    if !core.runs(outlives) {
        core.census.leave_phase(start.phase);
        return;
    }
    core.user_begins(start.group);
    let user = User::new(core, start, begin);
    // Users who begin with their group have no schedule that they could be late for: with many
    // of them the burst itself takes its time.
    let is_scheduled = start.at > core.work.groups[start.group].start;
    core.spawn(start.group, user.live(is_scheduled.then_some(meant)));
}

/// Waits until the phases before have ended in all runtimes. Nobody is measured meanwhile, so
/// looking now and then is soon enough.
async fn wait_for_phase(core: &Core, timer: &mut Timer, phase: usize) {
    while !core.census.has_begun(phase) && !core.is_aborting() {
        let next = core.clock.now().after(Duration::from_millis(2));
        timer.until(next, || false).await;
    }
}
