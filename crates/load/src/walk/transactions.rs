//! Transaction controllers, in both modes.

use weir_plan::ControllerKind;

use super::state::Own;
use super::{Outside, Walk};
use crate::next::Next;
use crate::transaction::{Added, Whole};

impl Walk {
    pub(super) fn next_of_added(&mut self, at: u32, outside: &mut Outside<'_>) -> Option<Next> {
        let tree = outside.tree;
        let controller = &tree.controllers[at as usize];
        if self.state(at).is_first {
            let label = controller.name.rendered(outside.scope);
            let open = Added::begin(label, outside.clock);
            self.state(at).own = Own::Added(Some(Box::new(open)));
        }
        if let Own::Added(Some(open)) = &mut self.state(at).own {
            open.is_asked();
        }
        let is_last = self.states[at as usize].current as usize == self.children(tree, at);
        let next = self.generic_next(at, outside);
        let Own::Added(open) = &mut self.state(at).own else {
            return next;
        };
        if let Some(Next::Lock(_) | Next::Pause) = next {
            if let Some(open) = open {
                open.will_be_asked_again();
            }
            return next;
        }
        if next.is_none() && is_last {
            if let (Some(open), ControllerKind::Transaction(kind)) = (open.take(), &controller.kind)
            {
                let closed = open.end(outside.clock, kind.include_timers);
                outside.close(closed, self.last_part());
            }
        } else if let Some(open) = open {
            open.answers();
        }
        next
    }

    pub(super) fn next_of_whole(&mut self, at: u32, outside: &mut Outside<'_>) -> Option<Next> {
        let controller = &outside.tree.controllers[at as usize];
        if self.whole(at).is_some_and(|whole| whole.is_done) {
            self.state(at).own = Own::Whole(None);
            return None;
        }
        if self.state(at).is_first && self.whole(at).is_none() {
            let label = controller.name.rendered(outside.scope);
            let whole = Whole::begin(label, outside.clock);
            self.state(at).own = Own::Whole(Some(Box::new(whole)));
        }
        let next = self.generic_next(at, outside);
        if let Some(Next::Lock(_) | Next::Pause) = next {
            return next;
        }
        let ControllerKind::Transaction(kind) = &controller.kind else {
            return next;
        };
        let clock = outside.clock;
        if let Some(whole) = self.whole(at) {
            whole.current = next;
            if next.is_none() {
                whole.end(clock, kind.include_timers);
            }
        }
        Some(Next::Transaction(at))
    }
}
