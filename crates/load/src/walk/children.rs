//! Asking the children of a controller, one after the other.

use weir_plan::ControllerKind;
use weir_script::Text;

use super::state::Own;
use super::values::draw;
use super::{Outside, Walk};
use crate::next::Next;
use crate::tree::{Child, Tree};

/// How a child of an alternating controller is left.
fn whole_children(kind: &ControllerKind<Text>) -> Option<bool> {
    match kind {
        ControllerKind::Interleave { whole_children, .. }
        | ControllerKind::Random { whole_children } => Some(*whole_children),
        _ => None,
    }
}

impl Walk {
    pub(super) fn child(&self, tree: &Tree, at: u32) -> Option<Child> {
        let state = &self.states[at as usize];
        let children = &tree.controllers[at as usize].children;
        match &state.order {
            Some(order) => order
                .get(state.current as usize)
                .map(|place| children[*place as usize]),
            None => children.get(state.current as usize).copied(),
        }
    }

    pub(super) fn children(&self, tree: &Tree, at: u32) -> usize {
        match &self.states[at as usize].order {
            Some(order) => order.len(),
            None => tree.controllers[at as usize].children.len(),
        }
    }

    pub(super) fn generic_next(&mut self, at: u32, outside: &mut Outside<'_>) -> Option<Next> {
        let tree = outside.tree;
        if self.state(at).is_first {
            self.start_iteration(at, outside);
            self.state(at).is_first = false;
            if outside.is_over {
                return None;
            }
        }
        if self.is_done_now(at, outside) {
            return None;
        }
        let Some(child) = self.child(tree, at) else {
            if self.children(tree, at) == 0 {
                self.state(at).is_done = true;
                return None;
            }
            return self.pass_ended(at, outside);
        };
        let was_searching = self.is_searching(at);
        if self.has_searched_all(at, child, outside) {
            return None;
        }
        match child {
            Child::Sampler(sampler) => {
                self.advance(at, outside);
                if let Own::Alternating(own) = &mut self.state(at).own {
                    own.skips_next = true;
                }
                Some(Next::Sampler(sampler))
            }
            Child::Controller(child) => {
                let next = self.next_of_child(at, child, outside);
                // The same is asked for again when the lock has been taken.
                if let (Some(Next::Lock(_) | Next::Pause), false, Own::Alternating(own)) =
                    (next, was_searching, &mut self.state(at).own)
                {
                    own.search_start = None;
                }
                next
            }
        }
    }

    fn is_searching(&self, at: u32) -> bool {
        let own = &self.states[at as usize].own;
        matches!(own, Own::Alternating(own) if own.search_start.is_some())
    }

    fn next_of_child(&mut self, at: u32, child: u32, outside: &mut Outside<'_>) -> Option<Next> {
        let next = self.next_of(child, outside);
        let whole = whole_children(&outside.tree.controllers[at as usize].kind);
        match next {
            Some(Next::Lock(_) | Next::Pause) => next,
            Some(_) => {
                if let Own::Alternating(own) = &mut self.state(at).own {
                    own.gave_one = true;
                    if whole == Some(true) {
                        own.search_start = None;
                    } else {
                        self.advance(at, outside);
                        if let Own::Alternating(own) = &mut self.state(at).own {
                            own.skips_next = true;
                        }
                    }
                }
                next
            }
            None if outside.is_over => None,
            None => {
                self.child_returned_nothing(at, child, whole, outside);
                if matches!(self.state(at).own, Own::Whole(_)) {
                    return self.generic_next(at, outside);
                }
                self.next_of(at, outside)
            }
        }
    }

    /// Goes past a child that had nothing.
    fn child_returned_nothing(
        &mut self,
        at: u32,
        child: u32,
        whole: Option<bool>,
        outside: &mut Outside<'_>,
    ) {
        if self.is_done_now(child, outside) {
            self.remove_current(at, outside);
            return;
        }
        // One sampler a turn: the child begins anew in the same turn. JMeter asks it until its
        // stack overflows if it has nothing then either; here the next child gets the turn.
        if whole == Some(false)
            && let Own::Alternating(own) = &mut self.state(at).own
            && !own.asked_again
        {
            own.asked_again = true;
            return;
        }
        self.advance(at, outside);
    }

    /// Whether an alternating controller has come round to where it began to search.
    fn has_searched_all(&mut self, at: u32, child: Child, outside: &mut Outside<'_>) -> bool {
        let Own::Alternating(own) = &mut self.state(at).own else {
            return false;
        };
        match own.search_start {
            None => own.search_start = Some(child),
            Some(start) if start == child && !own.is_still_same => {
                self.begin_anew(at, outside);
                return true;
            }
            Some(_) => {}
        }
        false
    }

    fn advance(&mut self, at: u32, outside: &mut Outside<'_>) {
        let kind = &outside.tree.controllers[at as usize].kind;
        let children = self.children(outside.tree, at);
        let state = self.state(at);
        if let Own::Alternating(own) = &mut state.own {
            own.skips_next |= own.gave_one;
            own.is_still_same = false;
            own.asked_again = false;
        }
        state.current = match kind {
            ControllerKind::Switch { .. } => u32::MAX,
            ControllerKind::Random { .. } => draw(children, outside.scope),
            _ => state.current.saturating_add(1),
        };
    }

    fn remove_current(&mut self, at: u32, outside: &Outside<'_>) {
        let count = outside.tree.controllers[at as usize].children.len() as u32;
        let state = self.state(at);
        let order = state.order.get_or_insert_with(|| (0..count).collect());
        if (state.current as usize) < order.len() {
            order.remove(state.current as usize);
        }
    }

    pub(super) fn reset_current(&mut self, at: u32, outside: &mut Outside<'_>) {
        let is_random = matches!(
            outside.tree.controllers[at as usize].kind,
            ControllerKind::Random { .. }
        );
        let children = self.children(outside.tree, at);
        self.state(at).current = if is_random {
            draw(children, outside.scope)
        } else {
            0
        };
    }
}
