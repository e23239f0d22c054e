//! Who is told of samples and transactions, and when.

use std::sync::Arc;

use weir_plan::ControllerKind;
use weir_record::SampleRow;

use crate::audience::Audience;
use crate::details::note_variables;
use crate::transaction::{Closed, Whole};
use crate::tree::TreeController;
use crate::user::User;
use crate::work::{Group, Step};

impl User {
    /// Tells these of a sample.
    pub(crate) fn tell(&self, mut row: SampleRow, audience: Audience) {
        note_variables(&mut row, &self.core.work.shown_variables, &self.scope);
        self.core.row(row, audience);
    }

    /// Tells of a step's sample; inside a transaction that is a sample it becomes a part of it.
    pub(crate) fn tell_of(&mut self, step: &Step, row: SampleRow, transaction: Option<u32>) {
        if transaction.is_none() {
            return self.tell(row, step.audience);
        }
        if let Some(audience) = step.hears_part {
            self.tell(row.clone(), audience);
        }
        if let Some(whole) = transaction.and_then(|at| self.walk.whole(at)) {
            whole.add(row);
        }
    }

    /// Tells of a transaction that has come to its end while the user walked. One that is a sample
    /// beside its children is heard of by those in earshot of the last sampler: without one, by
    /// nobody (JMeter).
    pub(crate) fn tell_of_closed(&mut self, mut closed: Closed) {
        if let Some(at) = closed.whole {
            self.sign(&mut closed.row);
            let work = Arc::clone(&self.core.work);
            let controller = &work.groups[self.group].tree.controllers[at as usize];
            self.tell_scripts_of(controller, &mut closed.row);
            return self.tell(closed.row, controller.audience);
        }
        self.tell_scripts_in_earshot(&mut closed.row);
        if let Some(audience) = self.earshot {
            self.tell(closed.row, audience);
        }
    }

    /// The innermost transaction of a chain has ended: it becomes a part of the next, or a sample.
    pub(crate) fn end_transaction(&mut self, group: &Group, chain: &[u32]) {
        let Some((inner, outer)) = chain.split_last() else {
            return;
        };
        let Some(whole) = self.walk.whole(*inner) else {
            return;
        };
        let is_told = whole.is_told;
        let mut row = whole.take_row();
        self.sign(&mut row);
        let controller = &group.tree.controllers[*inner as usize];
        if let ControllerKind::Transaction(kind) = &controller.kind {
            self.judge_transaction(&kind.assertions, &mut row);
        }
        self.last_ok = row.success;
        self.publish_last_ok(group);
        if let Some(outer) = outer.last() {
            if let Some(whole) = self.walk.whole(*outer) {
                whole.add(row);
            }
        } else if !is_told {
            self.tell_transaction(group, controller, row);
        }
    }

    fn tell_scripts_of(&mut self, controller: &TreeController, row: &mut SampleRow) {
        if let ControllerKind::Transaction(kind) = &controller.kind {
            self.tell_scripts(&kind.script_listeners, row);
        }
    }

    /// Tells of a transaction that is a sample.
    fn tell_transaction(&mut self, group: &Group, controller: &TreeController, row: SampleRow) {
        let mut row = row;
        self.tell_scripts_of(controller, &mut row);
        let parent = controller.parent;
        self.walk.sample_occurred(&group.tree, parent, None, &row);
        self.tell(row, controller.audience);
    }

    /// Tells of a transaction around a loop that was left, though it goes on.
    pub(crate) fn tell_early(&mut self, group: &Group, at: u32) {
        let Some(mut row) = self.walk.whole(at).and_then(Whole::tell_early) else {
            return;
        };
        self.sign(&mut row);
        let controller = &group.tree.controllers[at as usize];
        if let ControllerKind::Transaction(kind) = &controller.kind {
            self.judge_transaction(&kind.assertions, &mut row);
        }
        self.tell_transaction(group, controller, row);
    }

    /// The user ends inside a chain of transactions: each is a sample with what has run of it.
    pub(crate) fn cut_transactions(&mut self, group: &Group, chain: &[u32]) {
        for length in (1..=chain.len()).rev() {
            if let Some(whole) = self.walk.whole(chain[length - 1]) {
                whole.cut_short();
            }
            self.end_transaction(group, &chain[..length]);
        }
    }

    /// Writes into a transaction's row whose it is, and who else is alive.
    pub(crate) fn sign(&self, row: &mut SampleRow) {
        row.thread_name = self.thread_name();
        // A transaction inside that was left early learns its user's name only now.
        for part in &mut row.children {
            if part.thread_name.is_empty() {
                part.thread_name = self.thread_name();
            }
        }
        (row.group_threads, row.all_threads) = self.alive();
    }
}
