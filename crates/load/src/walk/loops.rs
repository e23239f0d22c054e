//! Loops: when they end, and what they show of their passes.

use weir_plan::ControllerKind;
use weir_script::Text;

use super::state::Own;
use super::values::integer;
use super::{Outside, Walk};
use crate::next::Next;

impl Walk {
    pub(super) fn next_of_loop(&mut self, at: u32, outside: &mut Outside<'_>) -> Option<Next> {
        match &outside.tree.controllers[at as usize].kind {
            ControllerKind::Loop { count, only_once } if self.ends_loop(at, count, outside) => {
                let state = self.state(at);
                state.is_done |= only_once;
                state.is_broken = false;
                return None;
            }
            ControllerKind::While { condition }
                if self.state(at).is_first && self.ends_while(at, condition, false, outside) =>
            {
                self.state(at).is_broken = false;
                self.reset_loop(at, outside);
                return None;
            }
            ControllerKind::ForEach { .. }
                if (self.state(at).is_broken || self.each_value(at, outside).is_none()) =>
            {
                self.state(at).is_broken = false;
                self.begin_anew(at, outside);
                self.reset_loop(at, outside);
                return None;
            }
            _ => {}
        }
        self.generic_next(at, outside)
    }

    pub(super) fn ends_loop(&mut self, at: u32, count: &Text, outside: &mut Outside<'_>) -> bool {
        let known = self.state(at).count;
        let count = known.unwrap_or_else(|| integer(count, outside.scope).unwrap_or(0));
        let state = self.state(at);
        // JMeter asks once, and again and again only whether an endless loop still is one.
        state.count = (count != -1).then_some(count);
        state.is_broken || (count > -1 && state.passes >= count)
    }

    pub(super) fn ends_while(
        &mut self,
        at: u32,
        condition: &Text,
        at_end: bool,
        outside: &mut Outside<'_>,
    ) -> bool {
        if self.state(at).is_broken {
            return true;
        }
        let condition = condition.rendered(outside.scope);
        let condition = condition.trim();
        if (at_end && condition.is_empty()) || condition.eq_ignore_ascii_case("LAST") {
            !outside.last_ok
        } else {
            condition.eq_ignore_ascii_case("false")
        }
    }

    pub(super) fn next_of_runtime(
        &mut self,
        at: u32,
        seconds: &Text,
        outside: &mut Outside<'_>,
    ) -> Option<Next> {
        let now = outside.clock.now();
        if let Own::Runtime(started @ None) = &mut self.state(at).own {
            *started = Some(now);
        }
        if self.runtime_is_over(at, seconds, outside) {
            self.begin_anew(at, outside);
            self.reset_loop(at, outside);
            return None;
        }
        self.generic_next(at, outside)
    }

    pub(super) fn runtime_is_over(
        &mut self,
        at: u32,
        seconds: &Text,
        outside: &mut Outside<'_>,
    ) -> bool {
        let seconds = integer(seconds, outside.scope).unwrap_or(0);
        let now = outside.clock.now();
        match self.state(at).own {
            Own::Runtime(Some(started)) => {
                (now.nanos_since(started) / 1_000_000_000).cast_signed() >= seconds
            }
            _ => false,
        }
    }

    /// The value for the pass that a `ForEach` controller is at.
    pub(super) fn each_value(&mut self, at: u32, outside: &mut Outside<'_>) -> Option<String> {
        let ControllerKind::ForEach {
            input, separator, ..
        } = &outside.tree.controllers[at as usize].kind
        else {
            return None;
        };
        let mut name = input.rendered(outside.scope);
        if *separator {
            name.push('_');
        }
        name.push_str(&(self.state(at).passes + 1).to_string());
        outside.scope.variables.get(&name).map(str::to_owned)
    }

    pub(super) fn publish_index(&mut self, at: u32, outside: &mut Outside<'_>) {
        if outside.tree.publishes_indices {
            let name = outside.tree.controllers[at as usize]
                .name
                .rendered(outside.scope);
            let passes = self.state(at).passes;
            let variable = format!("__jm__{name}__idx");
            outside.scope.variables.set(&variable, &passes.to_string());
        }
    }
}
