//! Ends of a test that come from within: what a user of the plan may order, and what is left of
//! the test then.
//!
//! As in JMeter, what a stop leaves depends on the kind of group it comes from: after one in the
//! test proper, tear-down groups follow if the plan wants them to; one in a set-up or tear-down
//! group is the end of everything.

use std::rc::Rc;

use crate::control::Stage;
use crate::core::Core;
use crate::crash::Watched;

impl Core {
    /// A user of a group stops the test: samples that run finish.
    pub(crate) fn stop_test(&self, group: usize) {
        let is_followed = self.work.is_followed(group);
        self.order(if is_followed {
            Stage::Stopping
        } else {
            Stage::Ending
        });
    }

    /// A user of a group stops the test now: samples that run are cut off.
    pub(crate) fn stop_test_now(&self, group: usize) {
        let is_followed = self.work.is_followed(group);
        self.order(if is_followed {
            Stage::Cutting
        } else {
            Stage::Aborting
        });
    }

    /// Runs a task of a group: one of its users, or who starts them.
    pub(crate) fn spawn(self: &Rc<Self>, group: usize, task: impl Future<Output = ()> + 'static) {
        let task = Watched::new(self, task);
        if !self.work.is_followed(group) {
            tokio::task::spawn_local(task);
            return;
        }
        let mut tasks = self.cut_by_stop.borrow_mut();
        while tasks.try_join_next().is_some() {}
        tasks.spawn_local(task);
    }

    /// Ends all users of the test proper wherever they are.
    pub(crate) fn cut_users(&self) {
        self.cut_by_stop.borrow_mut().abort_all();
        let cut = u64::from(self.in_flight.take());
        self.tally(|tally| tally.cut += cut);
        let users = self.users.take();
        self.census
            .cut(self.phase.get(), users, self.supplies.take());
        if let Some(rows) = &self.rows {
            rows.hand_over();
        }
    }
}
