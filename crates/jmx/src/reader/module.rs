//! Module Controllers: a copy of another controller of the plan.

use super::{Reader, Tree, kind};
use crate::element::Branch;
use crate::elements::thread_group::Steps;
use crate::finding::Refusal;
use crate::native::Kind;
use crate::scope::{Level, Scope};

impl Reader<'_> {
    /// The controller that the module stands for; what is below the module itself JMeter drops.
    pub(super) fn module<'a>(
        &mut self,
        tree: &Tree<'a>,
        module: &Branch<'a>,
        scope: &Scope<'_, 'a>,
    ) -> Steps {
        let mut steps = Steps::default();
        for branch in self.enabled(&module.below) {
            let says = "JMeter does not use what stands below a Module Controller";
            self.findings.ignored(&branch.element, says);
        }
        let path = module.element.texts("ModuleController.node_path");
        let names: Vec<&str> = path.iter().map(|name| &*name.text).collect();
        // The first name is that of the tree itself.
        let target = names.get(1..).and_then(|names| find(tree.root, names));
        let problem = match target {
            _ if tree.is_included => Some("JMeter finds no modules in files that are included"),
            None => Some("the controller that it stands for is not in the plan"),
            Some(target) if self.open.contains(&target.element.id()) => {
                Some("it stands for a controller that it is itself in")
            }
            Some(target)
                if !matches!(
                    kind(&target.element),
                    Some(Kind::Controller | Kind::Fragment)
                ) =>
            {
                Some("it stands for an element that is no controller")
            }
            Some(_) => None,
        };
        match (problem, target) {
            (None, Some(target)) => {
                let inside = scope.inner(Level::default());
                steps.nodes.extend(self.controller(tree, target, &inside));
            }
            (problem, _) => {
                let problem = problem.unwrap_or_default();
                let refusal = Refusal {
                    says: format!("{problem} (\"{}\")", names.join("\" > \"")),
                    lost: "its steps would be missing",
                    instead: "choose the controller again in JMeter",
                };
                self.findings.unsupported(&module.element, &refusal);
            }
        }
        steps
    }
}

/// The last element with this path of names, as JMeter finds it: enabled or not, but never a
/// Module Controller or something below one.
fn find<'t, 'a>(branches: &'t [Branch<'a>], names: &[&str]) -> Option<&'t Branch<'a>> {
    let (name, rest) = names.split_first()?;
    let candidates = branches.iter().rev().filter(|branch| {
        branch.element.name() == *name && branch.element.class() != "ModuleController"
    });
    for branch in candidates {
        if rest.is_empty() {
            return Some(branch);
        }
        if let Some(found) = find(&branch.below, rest) {
            return Some(found);
        }
    }
    None
}
