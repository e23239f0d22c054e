//! A group's tree as its users walk it: controllers and samplers by number.
//!
//! Controllers are numbered in pre-order, the group's own loop is number 0. What a user remembers
//! of a controller stands under the same number in the user's own list.

use weir_plan::{Controller, ControllerKind, ElementId, IterationElement, Node, Sampler};
use weir_script::{ResolvedGroup, Text};

/// The controllers of a group.
#[derive(Debug)]
pub(crate) struct Tree {
    pub(crate) controllers: Vec<TreeController>,
}

/// A controller and the places of its children.
#[expect(dead_code, reason = "what the other controllers need is read already")]
#[derive(Debug)]
pub(crate) struct TreeController {
    pub(crate) id: ElementId,
    pub(crate) name: Text,
    pub(crate) kind: ControllerKind<Text>,
    pub(crate) on_iteration: Vec<IterationElement<Text>>,
    pub(crate) children: Vec<Child>,
    /// The controller it stands in; its own number for the group's loop.
    pub(crate) parent: u32,
}

/// A child of a controller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Child {
    /// Place of a sampler in its group.
    Sampler(u32),
    /// Number of a controller.
    Controller(u32),
}

impl Tree {
    /// The tree of a group; its samplers in file order go to `sampler`, with the number of the
    /// controller each stands in.
    pub(crate) fn of(group: &mut ResolvedGroup, sampler: &mut impl FnMut(Sampler<Text>)) -> Self {
        let own_loop = Controller {
            id: ElementId::default(),
            name: Text::literal(&group.loop_name),
            kind: ControllerKind::Loop {
                count: match group.iterations {
                    Some(count) => Text::literal(&count.to_string()),
                    None => Text::literal("-1"),
                },
                only_once: true,
            },
            on_iteration: std::mem::take(&mut group.on_iteration),
            children: std::mem::take(&mut group.nodes),
            at: group.at,
        };
        let mut building = Building {
            controllers: Vec::new(),
            samplers: 0,
            sampler,
        };
        building.controller(own_loop, 0);
        Self {
            controllers: building.controllers,
        }
    }
}

struct Building<'a, F> {
    controllers: Vec<TreeController>,
    samplers: u32,
    sampler: &'a mut F,
}

impl<F: FnMut(Sampler<Text>)> Building<'_, F> {
    fn controller(&mut self, controller: Controller<Text>, parent: u32) -> u32 {
        let number = self.controllers.len();
        self.controllers.push(TreeController {
            id: controller.id,
            name: controller.name,
            kind: controller.kind,
            on_iteration: controller.on_iteration,
            children: Vec::new(),
            parent,
        });
        let mut children = Vec::with_capacity(controller.children.len());
        for child in controller.children {
            children.push(match child {
                Node::Sampler(sampler) => {
                    (self.sampler)(*sampler);
                    self.samplers += 1;
                    Child::Sampler(self.samplers - 1)
                }
                Node::Controller(child) => {
                    Child::Controller(self.controller(*child, number as u32))
                }
            });
        }
        self.controllers[number].children = children;
        number as u32
    }
}
