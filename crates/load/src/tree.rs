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
    /// The names of the samplers, by their places.
    sampler_names: Vec<Text>,
    /// Some text reads the variables that loops and users set by themselves.
    pub(crate) publishes_indices: bool,
    /// A user says when its next iteration starts, instead of going on with it at once.
    pub(crate) stops_between_iterations: bool,
}

/// A controller and the places of its children.
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

/// Where a sampler stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    /// The controller that it stands in.
    pub(crate) parent: u32,
    /// A transaction is around it.
    pub(crate) in_transaction: bool,
}

impl Tree {
    /// The name of a child.
    pub(crate) fn name_of(&self, child: Child) -> &Text {
        match child {
            Child::Sampler(sampler) => &self.sampler_names[sampler as usize],
            Child::Controller(controller) => &self.controllers[controller as usize].name,
        }
    }

    /// The tree of a group; its samplers in file order go to `sampler`, with the number of the
    /// controller each stands in.
    pub(crate) fn of(
        group: &mut ResolvedGroup,
        publishes_indices: bool,
        sampler: &mut impl FnMut(Sampler<Text>, Place),
    ) -> Self {
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
            sampler_names: Vec::new(),
            sampler,
        };
        building.controller(own_loop, 0, false);
        Self {
            controllers: building.controllers,
            sampler_names: building.sampler_names,
            publishes_indices,
            stops_between_iterations: false,
        }
    }
}

struct Building<'a, F> {
    controllers: Vec<TreeController>,
    sampler_names: Vec<Text>,
    sampler: &'a mut F,
}

impl<F: FnMut(Sampler<Text>, Place)> Building<'_, F> {
    fn controller(
        &mut self,
        controller: Controller<Text>,
        parent: u32,
        in_transaction: bool,
    ) -> u32 {
        let in_transaction =
            in_transaction || matches!(controller.kind, ControllerKind::Transaction(_));
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
                    self.sampler_names.push(sampler.label.clone());
                    let place = Place {
                        parent: number as u32,
                        in_transaction,
                    };
                    (self.sampler)(*sampler, place);
                    Child::Sampler(self.sampler_names.len() as u32 - 1)
                }
                Node::Controller(child) => {
                    Child::Controller(self.controller(*child, number as u32, in_transaction))
                }
            });
        }
        self.controllers[number].children = children;
        number as u32
    }
}
