//! The passes of a controller: how one ends, whether another follows, what begins anew.

use weir_plan::{ControllerKind, Share};

use super::state::{Alternating, Lock, Own};
use super::values::{executions_max, float, integer};
use super::{Outside, Walk};
use crate::executions::Executions;
use crate::next::Next;
use crate::tree::Child;

impl Walk {
    /// No child is left in this pass.
    pub(super) fn pass_ended(&mut self, at: u32, outside: &mut Outside<'_>) -> Option<Next> {
        match &outside.tree.controllers[at as usize].kind {
            ControllerKind::Loop { count, only_once } => {
                self.begin_anew(at, outside);
                if self.ends_loop(at, count, outside) {
                    if *only_once {
                        self.state(at).is_done = true;
                    } else {
                        self.reset_loop(at, outside);
                    }
                    return None;
                }
                if at == 0 && outside.tree.stops_between_iterations {
                    return None;
                }
                self.next_of(at, outside)
            }
            ControllerKind::While { condition } => {
                self.begin_anew(at, outside);
                if self.ends_while(at, condition, true, outside) {
                    self.state(at).is_broken = false;
                    self.reset_loop(at, outside);
                    return None;
                }
                self.next_of(at, outside)
            }
            ControllerKind::ForEach { end, .. } => {
                self.begin_anew(at, outside);
                let end = integer(end, outside.scope).unwrap_or(i64::MAX);
                if self.state(at).is_broken
                    || self.each_value(at, outside).is_none()
                    || self.state(at).passes >= end
                {
                    self.state(at).is_broken = false;
                    self.reset_loop(at, outside);
                    return None;
                }
                self.next_of(at, outside)
            }
            ControllerKind::Runtime { seconds } => {
                self.begin_anew(at, outside);
                if self.runtime_is_over(at, seconds, outside) {
                    self.reset_loop(at, outside);
                    return None;
                }
                self.next_of(at, outside)
            }
            ControllerKind::OnceOnly => None,
            ControllerKind::Interleave { .. } | ControllerKind::Random { .. } => {
                self.reset_current(at, outside);
                self.next_of(at, outside)
            }
            _ => {
                self.begin_anew(at, outside);
                None
            }
        }
    }

    /// Whether a controller has nothing for good, as its parent and it itself ask; a `ForEach`
    /// controller sets its variable then.
    pub(super) fn is_done_now(&mut self, at: u32, outside: &mut Outside<'_>) -> bool {
        let tree = outside.tree;
        match &tree.controllers[at as usize].kind {
            ControllerKind::If { .. } => false,
            ControllerKind::ForEach { output, end, .. } => {
                let end = integer(end, outside.scope).unwrap_or(i64::MAX);
                if self.state(at).passes >= end {
                    return true;
                }
                if let Some(value) = self.each_value(at, outside) {
                    let output = output.rendered(outside.scope);
                    outside.scope.variables.set(&output, &value);
                    return false;
                }
                self.state(at).is_done
            }
            ControllerKind::Throughput { share, per_user } => {
                let children = self.children(tree, at);
                if children == 0 {
                    return true;
                }
                match share {
                    Share::Total(most) => {
                        let most = executions_max(most, outside.scope);
                        let executed = self.executions(at, *per_user, outside).executed;
                        let is_at_end = self.states[at as usize].current as usize >= children;
                        executed >= most && (is_at_end || most == 0)
                    }
                    Share::Percent(percent) => float(percent, outside.scope) == Some(0.0),
                }
            }
            ControllerKind::Runtime { seconds } => {
                let seconds = integer(seconds, outside.scope).unwrap_or(0);
                seconds <= 0 || self.children(tree, at) == 0 || self.state(at).is_done
            }
            _ => self.state(at).is_done,
        }
    }

    fn executions(&mut self, at: u32, per_user: bool, outside: &Outside<'_>) -> Executions {
        match self.state(at).own {
            Own::Throughput(own) if per_user => own,
            _ => {
                let id = outside.tree.controllers[at as usize].id;
                outside.shared.executions(id, |executions| *executions)
            }
        }
    }

    /// Begins the next pass.
    pub(super) fn begin_anew(&mut self, at: u32, outside: &mut Outside<'_>) {
        let kind = &outside.tree.controllers[at as usize].kind;
        if let Own::Alternating(own) = &mut self.state(at).own {
            *own = Alternating::default();
        } else {
            self.reset_current(at, outside);
        }
        let state = self.state(at);
        state.is_first = true;
        state.passes += 1;
        if let Own::Lock(held) = &mut state.own {
            *held = Lock::Free;
        }
        if matches!(kind, ControllerKind::RandomOrder) {
            self.shuffle(at, outside);
        }
    }

    pub(super) fn reset_loop(&mut self, at: u32, outside: &mut Outside<'_>) {
        let start = match &outside.tree.controllers[at as usize].kind {
            ControllerKind::ForEach { start, .. } => integer(start, outside.scope).unwrap_or(0),
            _ => 0,
        };
        let state = self.state(at);
        state.passes = start;
        state.count = None;
        if let Own::Runtime(started) = &mut state.own {
            *started = None;
        }
    }

    pub(super) fn initialize(&mut self, at: u32, outside: &mut Outside<'_>) {
        self.reset_current(at, outside);
        self.reset_loop(at, outside);
        let children = self.children(outside.tree, at);
        let user = outside.scope.user;
        let state = self.state(at);
        state.is_done = false;
        state.is_first = true;
        match &outside.tree.controllers[at as usize].kind {
            ControllerKind::Interleave {
                across_users: true, ..
            } if children > 0 => {
                state.current = user.saturating_sub(1) % children as u32;
            }
            ControllerKind::RandomOrder => self.shuffle(at, outside),
            _ => {}
        }
    }

    pub(super) fn initialize_children(&mut self, at: u32, outside: &mut Outside<'_>) {
        let tree = outside.tree;
        for child in &tree.controllers[at as usize].children {
            if let Child::Controller(child) = child {
                self.initialize(*child, outside);
                self.initialize_children(*child, outside);
            }
        }
    }
}
