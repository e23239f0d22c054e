//! The children of Parallel Controllers, each as a group that nobody starts in.

use std::time::Duration;

use weir_plan::{ControllerKind, GroupKind, Node, OnSampleError, SamplerKind};
use weir_script::Text;

use super::{Group, Step, Supply, Work};
use crate::tree::Tree;

/// The children of Parallel Controllers, which become groups behind those of the plan.
pub(super) struct Branches {
    /// How many groups the plan has.
    pub(super) first: usize,
    pub(super) groups: Vec<Group>,
}

impl Work {
    /// A child of a Parallel Controller as a group; failures in it lead nowhere by themselves
    /// (JMeter).
    pub(super) fn branch(&mut self, node: Node<Text>, parallel: &Step) -> Group {
        let is_parent =
            matches!(&parallel.source.kind, SamplerKind::Parallel(own) if own.is_parent);
        let reads_own = self.plan.reads_own_variables;
        let mut steps = Vec::new();
        let mut tree = Tree::of_branch(node, reads_own, &mut |mut sampler, place, _| {
            if is_parent {
                // Only the whole is told of.
                sampler.on_failure.clear();
                sampler.listeners.clear();
                sampler.script_listeners.clear();
                sampler.auto_stops.clear();
            }
            let mut step = self.step(sampler, place);
            step.is_looked_at |= is_parent || parallel.is_looked_at;
            steps.push(step);
        });
        for controller in &mut tree.controllers {
            if let ControllerKind::Transaction(transaction) = &mut controller.kind {
                if is_parent {
                    transaction.on_failure.clear();
                    transaction.listeners.clear();
                    transaction.script_listeners.clear();
                }
                controller.audience = self.audience(true, &transaction.listeners);
            }
        }
        Group {
            name: "".into(),
            number: 0,
            phase: 0,
            kind: GroupKind::Main,
            outlives_stop: false,
            users: 0,
            ramp_up: Duration::ZERO,
            start: Duration::ZERO,
            end: None,
            supply: Supply::Users(None),
            on_error: OnSampleError::Continue,
            same_user: true,
            tree,
            steps,
            is_branch: true,
        }
    }
}
