//! What happens when a controller starts an iteration.

use weir_plan::{ControllerKind, Share};

use super::state::Own;
use super::values::{executions_max, float};
use super::{Outside, Walk};
use crate::executions::Executions;
use crate::tree::Child;

impl Walk {
    /// An iteration of a controller starts: what hangs on it advances, the last in the file first,
    /// as JMeter calls its listeners.
    pub(super) fn start_iteration(&mut self, at: u32, outside: &mut Outside<'_>) {
        let tree = outside.tree;
        let controller = &tree.controllers[at as usize];
        let passes = self.state(at).passes;
        let is_loop = matches!(
            controller.kind,
            ControllerKind::Loop { .. } | ControllerKind::ForEach { .. }
        );
        let is_first_pass = match &controller.kind {
            ControllerKind::Loop { .. } => passes == 0,
            _ => passes + i64::from(is_loop) == 0,
        };
        for child in controller.children.iter().rev() {
            if let Child::Controller(child) = child {
                self.parent_started(*child, is_first_pass, outside);
            }
        }
        if at == 0 {
            outside.data.group_iteration_starts();
            let iteration = outside.data.group_iterations();
            outside.scope.iteration = u32::try_from(iteration).unwrap_or(u32::MAX);
        }
        for (place, element) in controller.on_iteration.iter().enumerate() {
            if !outside
                .data
                .advance((at, place as u32), element, outside.scope, outside.shared)
            {
                outside.is_over = true;
                return;
            }
        }
    }

    /// The controller above has started an iteration.
    fn parent_started(&mut self, at: u32, is_first_pass: bool, outside: &mut Outside<'_>) {
        match &outside.tree.controllers[at as usize].kind {
            ControllerKind::Loop { .. }
            | ControllerKind::While { .. }
            | ControllerKind::ForEach { .. } => {
                self.begin_anew(at, outside);
                self.reset_loop(at, outside);
            }
            ControllerKind::OnceOnly if is_first_pass => self.begin_anew(at, outside),
            ControllerKind::Throughput { share, per_user } => {
                let limit = match share {
                    Share::Total(most) => executions_max(most, outside.scope) as f64,
                    Share::Percent(percent) => float(percent, outside.scope).unwrap_or(100.0),
                };
                let is_total = matches!(share, Share::Total(_));
                let runs = |executions: &mut Executions| {
                    executions.pass(is_total, limit);
                    executions.runs
                };
                let runs = if *per_user {
                    match &mut self.state(at).own {
                        Own::Throughput(own) => runs(own),
                        _ => false,
                    }
                } else {
                    let id = outside.tree.controllers[at as usize].id;
                    outside.shared.executions(id, runs)
                };
                if let Own::Throughput(own) = &mut self.state(at).own {
                    own.runs = runs;
                }
            }
            _ => {}
        }
    }
}
