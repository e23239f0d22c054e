//! Leaving controllers before their end: next iterations, breaks, failures.

use weir_plan::ControllerKind;

use super::state::Own;
use super::{Outside, Walk};
use crate::transaction::{Told, Whole};
use crate::tree::Tree;

impl Walk {
    /// Goes on with the next iteration of the group.
    pub(crate) fn start_next_iteration(&mut self, from: u32, outside: &mut Outside<'_>) {
        let mut at = from;
        while at != 0 {
            self.end_loop(at, outside);
            at = outside.tree.controllers[at as usize].parent;
        }
        self.begin_anew(0, outside);
    }

    /// Goes on with the next pass of the innermost loop.
    pub(crate) fn start_next_pass(&mut self, from: u32, outside: &mut Outside<'_>) {
        let at = self.leave_up_to_loop(from, outside);
        self.begin_anew(at, outside);
    }

    /// Leaves the innermost loop.
    pub(crate) fn break_loop(&mut self, from: u32, outside: &mut Outside<'_>) {
        let at = self.leave_up_to_loop(from, outside);
        self.reset_current(at, outside);
        self.reset_loop(at, outside);
        let state = self.state(at);
        state.is_broken = true;
        state.is_first = true;
    }

    fn leave_up_to_loop(&mut self, from: u32, outside: &mut Outside<'_>) -> u32 {
        let mut at = from;
        loop {
            let controller = &outside.tree.controllers[at as usize];
            let is_loop = matches!(
                controller.kind,
                ControllerKind::Loop { .. }
                    | ControllerKind::While { .. }
                    | ControllerKind::ForEach { .. }
            );
            // A Runtime Controller is no loop to JMeter.
            if is_loop || at == 0 {
                break;
            }
            self.end_loop(at, outside);
            at = controller.parent;
        }
        // JMeter loses a transaction that another one is around which goes on.
        if self.is_in_whole(outside.tree, at) {
            outside.given_up = None;
        }
        at
    }

    fn is_in_whole(&mut self, tree: &Tree, from: u32) -> bool {
        let mut at = from;
        while at != 0 && self.whole(at).is_none() {
            at = tree.controllers[at as usize].parent;
        }
        at != 0
    }

    /// A controller is left before its end.
    fn end_loop(&mut self, at: u32, outside: &mut Outside<'_>) {
        let ok = outside.last_ok;
        match &outside.tree.controllers[at as usize].kind {
            ControllerKind::If { .. } => self.initialize_children(at, outside),
            ControllerKind::Transaction(_) => {
                let own = std::mem::replace(&mut self.state(at).own, Own::Nothing);
                self.state(at).own = match own {
                    Own::Added(Some(open)) => {
                        outside.close(open.cut_short(outside.clock, ok), self.last_part());
                        Own::Added(None)
                    }
                    Own::Whole(Some(whole)) => {
                        give_up_whole(at, *whole, outside);
                        Own::Whole(None)
                    }
                    own => own,
                };
            }
            _ => {}
        }
        self.begin_anew(at, outside);
        if let ControllerKind::While { condition } = &outside.tree.controllers[at as usize].kind {
            // JMeter asks, and does not care what the answer is.
            self.ends_while(at, condition, true, outside);
        }
        if matches!(
            outside.tree.controllers[at as usize].kind,
            ControllerKind::Loop { .. }
                | ControllerKind::While { .. }
                | ControllerKind::ForEach { .. }
                | ControllerKind::Runtime { .. }
        ) {
            self.reset_loop(at, outside);
        }
    }
}

/// A transaction is left before its end: it becomes a part of the one around it that is left too,
/// or is told of when all that is left has been.
fn give_up_whole(at: u32, mut whole: Whole, outside: &mut Outside<'_>) {
    if let Some(inner) = outside.given_up.take() {
        whole.add(inner.row);
    }
    let kind = &outside.tree.controllers[at as usize].kind;
    if let ControllerKind::Transaction(kind) = kind {
        whole.end(outside.clock, kind.include_timers);
    }
    outside.given_up = Some(Told {
        at,
        row: whole.take_row(),
        is_again: whole.is_told,
    });
}
