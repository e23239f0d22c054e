//! Where a user is in its group's tree, and which sampler comes next.
//!
//! JMeter's controllers are asked for the next sampler again and again; each remembers which of its
//! children it stands at and whether its pass has begun. Their exact order, also in odd cases, comes
//! from that: a controller that has nothing more answers nothing once, begins anew, and its parent
//! goes on. So users here walk in the same way.

use weir_plan::ControllerKind;
use weir_script::{Scope, Text};

use crate::tree::{Child, Tree};

/// What a user remembers of each controller of its group.
#[derive(Debug)]
pub(crate) struct Walk {
    states: Box<[State]>,
}

/// What a user remembers of a controller.
#[derive(Debug, Clone)]
struct State {
    /// Which child is next.
    current: u32,
    /// Passes that have ended since the controller was entered.
    passes: u64,
    /// No child of this pass has been asked for.
    is_first: bool,
    /// Has nothing more for the rest of the user's life.
    is_done: bool,
}

impl Default for State {
    fn default() -> Self {
        Self {
            current: 0,
            passes: 0,
            is_first: true,
            is_done: false,
        }
    }
}

impl Walk {
    /// A user at the start of its life.
    pub(crate) fn new(tree: &Tree) -> Self {
        Self {
            states: vec![State::default(); tree.controllers.len()].into(),
        }
    }

    /// The place of the sampler that comes next; `None` when an iteration of the group ends without
    /// one, or with [`Self::is_done`] the user's life.
    pub(crate) fn next(&mut self, tree: &Tree, scope: &mut Scope) -> Option<u32> {
        self.next_of(tree, 0, scope)
    }

    /// Whether the user has done all its iterations.
    pub(crate) fn is_done(&self) -> bool {
        self.states[0].is_done
    }

    fn next_of(&mut self, tree: &Tree, at: u32, scope: &mut Scope) -> Option<u32> {
        let controller = &tree.controllers[at as usize];
        loop {
            if let ControllerKind::Loop { count, only_once } = &controller.kind
                && self.states[at as usize].is_first
                && self.ends_loop(at, count, scope)
            {
                self.leave_loop(at, *only_once);
                return None;
            }
            let state = &mut self.states[at as usize];
            state.is_first = false;
            if controller.children.is_empty() {
                state.is_done = true;
                return None;
            }
            match controller.children.get(state.current as usize) {
                Some(Child::Sampler(sampler)) => {
                    state.current += 1;
                    return Some(*sampler);
                }
                Some(Child::Controller(child)) => {
                    if let Some(sampler) = self.next_of(tree, *child, scope) {
                        return Some(sampler);
                    }
                    self.states[at as usize].current += 1;
                }
                None => {
                    self.begin_pass(at);
                    if !matches!(controller.kind, ControllerKind::Loop { .. }) {
                        return None;
                    }
                }
            }
        }
    }

    fn begin_pass(&mut self, at: u32) {
        let state = &mut self.states[at as usize];
        state.current = 0;
        state.is_first = true;
        state.passes += 1;
    }

    fn ends_loop(&self, at: u32, count: &Text, scope: &mut Scope) -> bool {
        let count = match count.constant() {
            Some(count) => count.parse::<i64>(),
            None => count.rendered(scope).parse(),
        };
        // Below 0: for ever.
        u64::try_from(count.unwrap_or(0))
            .is_ok_and(|count| self.states[at as usize].passes >= count)
    }

    fn leave_loop(&mut self, at: u32, only_once: bool) {
        let state = &mut self.states[at as usize];
        if only_once {
            state.is_done = true;
        }
        state.passes = 0;
    }

    /// Goes on with the next iteration of the group.
    pub(crate) fn start_next_iteration(&mut self, tree: &Tree, sampler: u32) {
        let mut at = self.parent_of(tree, sampler);
        while at != 0 {
            self.begin_pass(at);
            self.states[at as usize].passes = 0;
            at = tree.controllers[at as usize].parent;
        }
        self.begin_pass(0);
    }

    fn parent_of(&self, tree: &Tree, sampler: u32) -> u32 {
        let child = Child::Sampler(sampler);
        let parent = tree
            .controllers
            .iter()
            .position(|controller| controller.children.contains(&child));
        parent.expect("every sampler stands in its group") as u32
    }
}
