//! What decides the order in which a user sends its samples.

use crate::assertions::Assertion;
use crate::config::IterationElement;
use crate::processors::FailureHandler;
use crate::sampler::Sampler;
use crate::{ElementId, Position, Template, Variable};

/// A step of a user: a sampler, or a controller with steps of its own.
#[derive(Debug, Clone, PartialEq)]
pub enum Node<T = Template> {
    /// Sends one request, or does one thing.
    Sampler(Box<Sampler<T>>),
    /// Decides which of its children run, in what order, how often.
    Controller(Box<Controller<T>>),
}

/// A controller.
#[derive(Debug, Clone, PartialEq)]
pub struct Controller<T = Template> {
    /// Identity, for counters that users share.
    pub id: ElementId,
    /// Its name, also in `__jm__<name>__idx`.
    pub name: T,
    /// What it does.
    pub kind: ControllerKind<T>,
    /// What advances when the controller starts an iteration, in this order, which is the
    /// reverse of the file's.
    pub on_iteration: Vec<IterationElement<T>>,
    /// Its steps.
    pub children: Vec<Node<T>>,
    /// Where it stands.
    pub at: Position,
}

/// What a controller does.
#[derive(Debug, Clone, PartialEq)]
pub enum ControllerKind<T = Template> {
    /// Runs its children once; also what Module and Include Controllers become.
    Simple,
    /// Runs its children so often; evaluated on each entry.
    Loop {
        /// How often; below 0 for ever.
        count: T,
        /// After its last pass it is left out for the rest of the user's life.
        only_once: bool,
    },
    /// Runs its children while the condition holds.
    While {
        /// Ends on `false`; `LAST` and blank look at the last sample.
        condition: T,
    },
    /// Runs its children if the condition holds.
    If {
        /// `true` in any case, or a JavaScript expression.
        condition: T,
        /// The condition is a text that is `true` or not, no script.
        is_text: bool,
        /// The condition is looked at before each child, not only on entry.
        each_child: bool,
    },
    /// Runs its children for each of a row of variables.
    ForEach {
        /// Start of the names of the variables that are read.
        input: T,
        /// The variable that is set.
        output: T,
        /// The first index minus one; empty: 0.
        start: T,
        /// The last index; empty: up to the first that is missing.
        end: T,
        /// `_` stands between name and index.
        separator: bool,
    },
    /// Runs the child that the value names or counts.
    Switch {
        /// Index from 0, or name.
        value: T,
    },
    /// Runs its children in the first iteration only.
    OnceOnly,
    /// One child a pass, in turn.
    Interleave {
        /// A child controller runs to its end in one turn, instead of one sampler a turn.
        whole_children: bool,
        /// Users start at different children.
        across_users: bool,
    },
    /// One child a pass, by chance.
    Random {
        /// As for [`ControllerKind::Interleave`].
        whole_children: bool,
    },
    /// All children each pass, shuffled.
    RandomOrder,
    /// Some of the passes.
    Throughput {
        /// How many.
        share: Share<T>,
        /// Each user counts for itself.
        per_user: bool,
    },
    /// Again and again for a time.
    Runtime {
        /// How long, in seconds.
        seconds: T,
    },
    /// Adds a sample for all its children together.
    Transaction(Transaction<T>),
    /// Only one user at a time is inside.
    CriticalSection {
        /// The name of the lock.
        lock: T,
    },
    /// Sets variables whenever it is asked what comes next, and runs its children once.
    Parameterized {
        /// What it sets; of one name the first counts.
        variables: Vec<Variable<T>>,
    },
    /// Runs its children at once, each like a user of its own: the plugin's Parallel Controller.
    /// To whoever walks the tree it is a sampler: this one, of [`crate::SamplerKind::Parallel`].
    Parallel(Box<Sampler<T>>),
}

/// How many passes a Throughput Controller lets through.
#[derive(Debug, Clone, PartialEq)]
pub enum Share<T = Template> {
    /// So many in all.
    Total(T),
    /// So many of a hundred.
    Percent(T),
}

/// A Transaction Controller.
#[derive(Debug, Clone, PartialEq)]
pub struct Transaction<T = Template> {
    /// The transaction is the sample and its children are parts of it; else it is one more sample.
    pub is_parent: bool,
    /// Time between the children, timers and processors counts.
    pub include_timers: bool,
    /// Assertions in whose scope the transaction itself stands or that stand in it: innermost
    /// level first, unlike a sampler's.
    pub assertions: Vec<Assertion<T>>,
    /// What its failure does.
    pub on_failure: Vec<FailureHandler>,
    /// Places of its listeners in [`crate::LoadPlan::listeners`].
    pub listeners: Vec<usize>,
    /// Places of those that are scripts in [`crate::LoadPlan::script_listeners`], innermost first.
    pub script_listeners: Vec<usize>,
    /// If it is one more sample: so many listeners that are scripts hear of a sample after the
    /// transaction has counted it, and what they change does not count.
    pub scripts_after: usize,
}

impl<T> From<Sampler<T>> for Node<T> {
    fn from(sampler: Sampler<T>) -> Self {
        Self::Sampler(Box::new(sampler))
    }
}

impl<T> From<Controller<T>> for Node<T> {
    fn from(controller: Controller<T>) -> Self {
        Self::Controller(Box::new(controller))
    }
}

impl<T> Node<T> {
    /// Replaces every text.
    pub fn map<U>(&self, f: &mut impl FnMut(&T) -> U) -> Node<U> {
        match self {
            Self::Sampler(sampler) => Node::Sampler(Box::new(sampler.map(f))),
            Self::Controller(controller) => Node::Controller(Box::new(controller.map(f))),
        }
    }
}

impl<T> Controller<T> {
    /// Replaces every text.
    pub fn map<U>(&self, f: &mut impl FnMut(&T) -> U) -> Controller<U> {
        Controller {
            id: self.id,
            name: f(&self.name),
            kind: self.kind.map(f),
            on_iteration: self.on_iteration.iter().map(|e| e.map(f)).collect(),
            children: self.children.iter().map(|child| child.map(f)).collect(),
            at: self.at,
        }
    }
}

impl<T> ControllerKind<T> {
    /// Replaces every text.
    pub fn map<U>(&self, f: &mut impl FnMut(&T) -> U) -> ControllerKind<U> {
        match self {
            Self::Simple => ControllerKind::Simple,
            Self::Loop { count, only_once } => ControllerKind::Loop {
                count: f(count),
                only_once: *only_once,
            },
            Self::While { condition } => ControllerKind::While {
                condition: f(condition),
            },
            Self::If {
                condition,
                is_text,
                each_child,
            } => ControllerKind::If {
                condition: f(condition),
                is_text: *is_text,
                each_child: *each_child,
            },
            Self::ForEach {
                input,
                output,
                start,
                end,
                separator,
            } => ControllerKind::ForEach {
                input: f(input),
                output: f(output),
                start: f(start),
                end: f(end),
                separator: *separator,
            },
            Self::Switch { value } => ControllerKind::Switch { value: f(value) },
            Self::OnceOnly => ControllerKind::OnceOnly,
            Self::Interleave {
                whole_children,
                across_users,
            } => ControllerKind::Interleave {
                whole_children: *whole_children,
                across_users: *across_users,
            },
            Self::Random { whole_children } => ControllerKind::Random {
                whole_children: *whole_children,
            },
            Self::RandomOrder => ControllerKind::RandomOrder,
            Self::Throughput { share, per_user } => ControllerKind::Throughput {
                share: match share {
                    Share::Total(text) => Share::Total(f(text)),
                    Share::Percent(text) => Share::Percent(f(text)),
                },
                per_user: *per_user,
            },
            Self::Runtime { seconds } => ControllerKind::Runtime {
                seconds: f(seconds),
            },
            Self::Transaction(transaction) => ControllerKind::Transaction(Transaction {
                is_parent: transaction.is_parent,
                include_timers: transaction.include_timers,
                assertions: transaction
                    .assertions
                    .iter()
                    .map(|a| a.map(&mut *f))
                    .collect(),
                on_failure: transaction.on_failure.clone(),
                listeners: transaction.listeners.clone(),
                script_listeners: transaction.script_listeners.clone(),
                scripts_after: transaction.scripts_after,
            }),
            Self::CriticalSection { lock } => ControllerKind::CriticalSection { lock: f(lock) },
            Self::Parameterized { variables } => ControllerKind::Parameterized {
                variables: variables.iter().map(|v| v.map(&mut *f)).collect(),
            },
            Self::Parallel(own) => ControllerKind::Parallel(Box::new(own.map(f))),
        }
    }
}
