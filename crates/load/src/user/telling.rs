//! Who is told of samples and transactions, and when.

use std::sync::Arc;

use weir_plan::ControllerKind;
use weir_record::SampleRow;

use crate::audience::Audience;
use crate::details::note_variables;
use crate::transaction::Told;
use crate::tree::TreeController;
use crate::user::User;
use crate::user::look_into::forget;
use crate::work::{Group, Step};

impl User {
    /// Tells these of a sample.
    pub(crate) fn tell(&self, mut row: SampleRow, audience: Audience) {
        note_variables(&mut row, &self.core.work.shown_variables, &self.scope);
        let Some(row) = self.hand_to_kin(row) else {
            return;
        };
        self.core.row(row, audience);
    }

    /// Tells of a step's sample; inside a transaction that is a sample it becomes a part of it.
    pub(crate) fn tell_of(&mut self, step: &Step, row: SampleRow, transaction: Option<u32>) {
        if transaction.is_none() {
            return self.tell(row, step.audience);
        }
        let is_in_whole = self.kin.as_ref().is_some_and(|kin| kin.is_whole());
        // JMeter: it is a part of the whole, and once more of the transaction.
        let hears = if is_in_whole {
            Some(step.audience)
        } else {
            step.hears_part
        };
        if let Some(audience) = hears {
            let mut part = row.clone();
            forget(std::slice::from_mut(&mut part), step.wanted);
            self.tell(part, audience);
        }
        if let Some(whole) = transaction.and_then(|at| self.walk.whole(at)) {
            whole.add(row);
        }
    }

    /// Tells of a transaction beside its children that has come to its end while the user walked.
    /// Those in earshot of the last sampler hear of it: without one, nobody (JMeter).
    pub(crate) fn tell_of_closed(&mut self, mut row: SampleRow) {
        if self.kin.as_ref().is_some_and(|kin| kin.is_whole()) {
            return;
        }
        self.tell_scripts_in_earshot(&mut row);
        if let Some(audience) = self.earshot {
            self.core.row(row, audience);
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
        let is_again = whole.is_told;
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
        } else {
            let at = *inner;
            self.announce(group, Told { at, row, is_again });
        }
    }

    fn tell_scripts_of(&mut self, controller: &TreeController, row: &mut SampleRow) {
        if let ControllerKind::Transaction(kind) = &controller.kind {
            self.tell_scripts(&kind.script_listeners, row);
        }
    }

    /// Tells of a transaction around a loop that was left, though it goes on.
    pub(crate) fn tell_early(&mut self, group: &Group, at: u32) {
        if let Some(told) = self.walk.whole(at).and_then(|whole| whole.tell_early(at)) {
            self.tell_of_whole(group, told);
        }
    }

    /// Judges and tells of a transaction, with its children inside, that no other is around.
    pub(crate) fn tell_of_whole(&mut self, group: &Group, mut told: Told) {
        self.sign(&mut told.row);
        let controller = &group.tree.controllers[told.at as usize];
        if let ControllerKind::Transaction(kind) = &controller.kind {
            self.judge_transaction(&kind.assertions, &mut told.row);
        }
        self.announce(group, told);
    }

    /// Tells of a transaction that is a sample.
    fn announce(&mut self, group: &Group, mut told: Told) {
        let controller = &group.tree.controllers[told.at as usize];
        self.tell_scripts_of(controller, &mut told.row);
        self.walk
            .sample_occurred(&group.tree, told.at, None, &told.row);
        forget(&mut told.row.children, self.core.work.wanted);
        if !told.is_again {
            self.tell(told.row, controller.audience);
        }
    }

    /// The user ends inside a chain of transactions: each is a sample with what has run of it.
    pub(crate) fn cut_transactions(&mut self, group: &Group, chain: &[u32]) {
        for length in (1..=chain.len()).rev() {
            if let Some(whole) = self.walk.whole(chain[length - 1]) {
                whole.cut_short();
            }
            self.end_transaction(group, &chain[..length]);
            if let Some(whole) = self.walk.whole(chain[length - 1]) {
                whole.is_told = true;
                whole.is_done = false;
            }
        }
    }

    /// Writes into a transaction's row whose it is, and who else is alive.
    pub(crate) fn sign(&self, row: &mut SampleRow) {
        row.thread_name = self.thread_name();
        // Transactions inside that were left early learn their user's name only now.
        name_nameless(&mut row.children, &row.thread_name);
        (row.group_threads, row.all_threads) = self.alive();
    }
}

fn name_nameless(parts: &mut [SampleRow], name: &Arc<str>) {
    for part in parts {
        if part.thread_name.is_empty() {
            part.thread_name = Arc::clone(name);
        }
        name_nameless(&mut part.children, name);
    }
}
