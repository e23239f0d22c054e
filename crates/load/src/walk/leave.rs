//! Leaving controllers before their end: next iterations, breaks, failures.

use weir_plan::ControllerKind;

use super::state::Own;
use super::{Outside, Walk};
use crate::transaction::{Closed, Whole};

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
                return at;
            }
            self.end_loop(at, outside);
            at = controller.parent;
        }
    }

    /// A transaction is left before its end: it goes to the one around it, or to the listeners.
    fn give_up_whole(&mut self, at: u32, mut whole: Whole, outside: &mut Outside<'_>) {
        let tree = outside.tree;
        if let ControllerKind::Transaction(kind) = &tree.controllers[at as usize].kind {
            whole.end(outside.clock, kind.include_timers);
        }
        let row = whole.take_row();
        let mut parent = tree.controllers[at as usize].parent;
        while parent != 0 {
            if let Some(outer) = self.whole(parent) {
                outer.add(row);
                return;
            }
            parent = tree.controllers[parent as usize].parent;
        }
        outside.closed.push(Closed {
            row,
            whole: Some(at),
        });
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
                        outside.closed.push(open.cut_short(outside.clock, ok));
                        Own::Added(None)
                    }
                    Own::Whole(Some(whole)) => {
                        self.give_up_whole(at, *whole, outside);
                        Own::Whole(None)
                    }
                    own => own,
                };
            }
            _ => {}
        }
        self.begin_anew(at, outside);
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
