//! A group's tree as its users walk it: controllers and samplers by number.
//!
//! Controllers are numbered in pre-order, the group's own loop is number 0. What a user remembers
//! of a controller stands under the same number in the user's own list.

use weir_plan::{
    Assertion, Controller, ControllerKind, ElementId, IterationElement, Node, SampleScope, Sampler,
    Script,
};
use weir_script::{ResolvedGroup, ResolvedIterations, ScriptRun, Text};

use crate::audience::Audience;

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
    /// Who hears of the sample of a transaction.
    pub(crate) audience: Audience,
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
    /// What is around it.
    pub(crate) around: Around,
}

/// The transactions around something.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Around {
    /// There is one.
    pub(crate) transaction: bool,
    /// Who hears of the innermost that is a sample with its children inside: they do not hear of
    /// the children. They are the last ones of the child's own.
    pub(crate) whole: Option<Hearing>,
    /// An assertion of one that is a sample looks at its children, too.
    pub(crate) judges_parts: bool,
}

/// How many hear of a transaction.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hearing {
    /// Listeners that write files.
    pub(crate) listeners: usize,
    /// Listeners that are scripts.
    pub(crate) script_listeners: usize,
    /// Result Status Action Handlers.
    pub(crate) on_failure: usize,
}

impl Around {
    fn inside(self, controller: &Controller<Text>) -> Self {
        let ControllerKind::Transaction(transaction) = &controller.kind else {
            return Self {
                transaction: self.transaction || alternates_with_transaction(controller),
                ..self
            };
        };
        Self {
            transaction: true,
            whole: if transaction.is_parent {
                Some(Hearing {
                    listeners: transaction.listeners.len(),
                    script_listeners: transaction.script_listeners.len(),
                    on_failure: transaction.on_failure.len(),
                })
            } else {
                self.whole
            },
            judges_parts: self.judges_parts
                || transaction.is_parent && transaction.assertions.iter().any(looks_at_parts),
        }
    }
}

/// Whether an assertion of a sample looks at what the sample is made of.
fn looks_at_parts(assertion: &Assertion<Text>) -> bool {
    match assertion {
        Assertion::Script(script) => sees_parts(script),
        other => matches!(other.scope(), SampleScope::Children | SampleScope::All),
    }
}

/// Whether a script may look at what a sample is made of: `getSubResults`, `subResults`.
pub(crate) fn sees_parts(script: &Script<Text>) -> bool {
    ScriptRun::mentions(script, "ubResult")
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
        sampler: &mut impl FnMut(Sampler<Text>, Place, Vec<Node<Text>>),
    ) -> Self {
        let own_loop = Controller {
            id: ElementId::default(),
            name: Text::literal(&group.loop_name),
            kind: ControllerKind::Loop {
                count: match &group.iterations {
                    ResolvedIterations::Count(count) => Text::literal(&count.to_string()),
                    ResolvedIterations::Asked(count) => count.clone(),
                    ResolvedIterations::Forever => Text::literal("-1"),
                },
                only_once: true,
            },
            on_iteration: std::mem::take(&mut group.on_iteration),
            children: std::mem::take(&mut group.nodes),
            at: group.at,
        };
        Self::of_loop(own_loop, publishes_indices, sampler)
    }

    /// The tree of one child of a Parallel Controller, which runs once.
    pub(crate) fn of_branch(
        child: Node<Text>,
        publishes_indices: bool,
        sampler: &mut impl FnMut(Sampler<Text>, Place, Vec<Node<Text>>),
    ) -> Self {
        let at = match &child {
            Node::Sampler(sampler) => sampler.at,
            Node::Controller(controller) => controller.at,
        };
        let own_loop = Controller {
            id: ElementId::default(),
            name: Text::literal(""),
            kind: ControllerKind::Loop {
                count: Text::literal("1"),
                only_once: true,
            },
            on_iteration: Vec::new(),
            children: vec![child],
            at,
        };
        Self::of_loop(own_loop, publishes_indices, sampler)
    }

    fn of_loop(
        own_loop: Controller<Text>,
        publishes_indices: bool,
        sampler: &mut impl FnMut(Sampler<Text>, Place, Vec<Node<Text>>),
    ) -> Self {
        let mut building = Building {
            controllers: Vec::new(),
            sampler_names: Vec::new(),
            sampler,
        };
        building.controller(own_loop, 0, Around::default());
        Self {
            controllers: building.controllers,
            sampler_names: building.sampler_names,
            publishes_indices,
            stops_between_iterations: false,
        }
    }
}

/// Whether children take turns with a transaction that is open meanwhile, and hears of them.
fn alternates_with_transaction(controller: &Controller<Text>) -> bool {
    let takes_turns = matches!(
        controller.kind,
        ControllerKind::Interleave {
            whole_children: false,
            ..
        } | ControllerKind::Random {
            whole_children: false
        }
    );
    takes_turns
        && controller.children.iter().any(|child| {
            let Node::Controller(child) = child else {
                return false;
            };
            matches!(&child.kind, ControllerKind::Transaction(kind) if !kind.is_parent)
        })
}

struct Building<'a, F> {
    controllers: Vec<TreeController>,
    sampler_names: Vec<Text>,
    sampler: &'a mut F,
}

impl<F: FnMut(Sampler<Text>, Place, Vec<Node<Text>>)> Building<'_, F> {
    /// Takes a sampler; one that is a Parallel Controller comes with its children.
    fn take_sampler(
        &mut self,
        sampler: Sampler<Text>,
        place: Place,
        branches: Vec<Node<Text>>,
    ) -> Child {
        self.sampler_names.push(sampler.label.clone());
        (self.sampler)(sampler, place, branches);
        Child::Sampler(self.sampler_names.len() as u32 - 1)
    }

    fn controller(&mut self, controller: Controller<Text>, parent: u32, around: Around) -> u32 {
        let around = around.inside(&controller);
        let number = self.controllers.len();
        self.controllers.push(TreeController {
            id: controller.id,
            name: controller.name,
            kind: controller.kind,
            on_iteration: controller.on_iteration,
            children: Vec::new(),
            parent,
            audience: Audience::default(),
        });
        let mut children = Vec::with_capacity(controller.children.len());
        for child in controller.children {
            let parent = number as u32;
            let place = Place { parent, around };
            children.push(match child {
                Node::Sampler(sampler) => self.take_sampler(*sampler, place, Vec::new()),
                Node::Controller(child) => match child.kind {
                    ControllerKind::Parallel(own) => self.take_sampler(*own, place, child.children),
                    _ => Child::Controller(self.controller(*child, parent, around)),
                },
            });
        }
        self.controllers[number].children = children;
        number as u32
    }
}
