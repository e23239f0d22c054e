//! Who is told of samples and transactions, and when.

use std::cmp::Reverse;
use std::sync::Arc;

use weir_plan::{ControllerKind, FailureHandler, ResultAction};
use weir_record::SampleRow;

use crate::audience::Audience;
use crate::details::note_variables;
use crate::transaction::Told;
use crate::user::User;
use crate::user::after::After;
use crate::user::look_into::forget;
use crate::work::{Group, Step};

/// Who acts on a sample, beside scripts.
enum Actor {
    /// A transaction beside its children counts it.
    Transaction(u32),
    /// A handler of failures.
    Handler(ResultAction),
}

/// Who acts on a sample.
struct Acting<'a> {
    /// The controller that it stands in, and the one whose transaction it becomes a part of.
    from: u32,
    up_to: Option<u32>,
    /// Scripts that hear of it, the first of those in earshot.
    scripts: &'a [usize],
    in_earshot: usize,
    handlers: &'a [FailureHandler],
}

impl User {
    /// Tells those who act on the sample of a step.
    pub(super) fn tell_those_who_act(
        &mut self,
        group: &Group,
        step: &Step,
        row: &mut SampleRow,
        transaction: Option<u32>,
    ) -> After {
        let acting = Acting {
            from: step.parent,
            up_to: transaction,
            scripts: &step.script_listeners,
            in_earshot: step.scripts_in_earshot.len(),
            handlers: &step.source.on_failure,
        };
        self.tell_in_order(group, &acting, row)
    }

    /// Tells those who act on a sample: scripts, which may change it for those after them,
    /// transactions beside their children, which count it, and handlers of failures, which say
    /// where to go. JMeter asks all in one order: the innermost level first, one level in the
    /// order of the file.
    fn tell_in_order(&mut self, group: &Group, acting: &Acting<'_>, row: &mut SampleRow) -> After {
        let Acting { from, up_to, .. } = *acting;
        let scripts = acting.scripts;
        if scripts.is_empty() {
            self.walk.sample_occurred(&group.tree, from, up_to, row);
            return if row.success {
                After::STEP
            } else {
                self.after_handlers(acting.handlers)
            };
        }
        let handlers = acting.handlers.iter();
        let mut actors: Vec<_> = self
            .walk
            .counting(&group.tree, from, up_to)
            .map(|(at, scripts_after)| (scripts_after, Actor::Transaction(at)))
            .chain(handlers.map(|h| (h.scripts_after, Actor::Handler(h.action))))
            .collect();
        actors.sort_by_key(|(scripts_after, _)| Reverse(*scripts_after));
        let mut told = 0;
        let mut after = After::STEP;
        for (scripts_after, actor) in actors {
            let before = acting.in_earshot.saturating_sub(scripts_after);
            let before = before.min(scripts.len());
            self.tell_scripts(&scripts[told..before], row);
            told = before;
            match actor {
                Actor::Transaction(at) => self.walk.counts(&group.tree, at, row),
                Actor::Handler(_) if row.success => {}
                Actor::Handler(action) => after = after.and(self.after_handler(action)),
            }
        }
        self.tell_scripts(&scripts[told..], row);
        after
    }

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
    pub(crate) fn tell_of_closed(&mut self, row: SampleRow) {
        if self.kin.as_ref().is_some_and(|kin| kin.is_whole()) {
            return;
        }
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
        let scripts = match &controller.kind {
            ControllerKind::Transaction(kind) => kind.script_listeners.as_slice(),
            _ => &[],
        };
        let acting = Acting {
            from: told.at,
            up_to: None,
            scripts,
            in_earshot: scripts.len(),
            // JMeter looks at what they say of samplers alone.
            handlers: &[],
        };
        self.tell_in_order(group, &acting, &mut told.row);
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
