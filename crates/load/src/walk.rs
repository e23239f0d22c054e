//! Where a user is in its group's tree, and what comes next.
//!
//! JMeter's controllers are asked for the next sampler again and again; each remembers which of its
//! children it stands at and whether its pass has begun. Their exact order, also in odd cases,
//! comes from that: a controller that has nothing more answers nothing once, begins anew, and its
//! parent goes on. So users here walk in the same way; the rules of each kind were found out with
//! JMeter 5.6.3.

mod children;
mod choice;
mod leave;
mod loops;
mod passes;
mod starts;
mod state;
mod transactions;
mod values;

use std::sync::Arc;

use weir_plan::ControllerKind;
use weir_record::SampleRow;
use weir_script::Scope;

use crate::across_users::{Permit, Shared};
use crate::clock::Clock;
use crate::details::note_variables;
use crate::iterations::Data;
use crate::listening::Listening;
use crate::next::Next;
use crate::set_variables::set_variables;
use crate::transaction::{Told, Whole};
use crate::tree::{Child, Tree};
use crate::work::Work;
use state::{Lock, Own, State};
use values::holds;

/// What a user remembers of each controller of its group.
#[derive(Debug)]
pub(crate) struct Walk {
    states: Box<[State]>,
}

/// What the walk reads and changes outside itself.
pub(crate) struct Outside<'a> {
    pub(crate) tree: &'a Tree,
    pub(crate) scope: &'a mut Scope,
    pub(crate) shared: &'a Shared,
    pub(crate) data: &'a mut Data,
    pub(crate) clock: Clock,
    /// Whether the last sample succeeded.
    pub(crate) last_ok: bool,
    /// Transactions beside their children that have come to their end on the way.
    pub(crate) closed: &'a mut Vec<SampleRow>,
    pub(crate) work: &'a Work,
    /// The outermost transaction that is a sample with its children inside, if it was left.
    pub(crate) given_up: Option<Told>,
    /// A data set has come to the end of its file: the user ends.
    pub(crate) is_over: bool,
    /// How many controllers have been asked for the next sampler, one inside the other.
    pub(crate) depth: u32,
}

impl Outside<'_> {
    /// A transaction has ended. Listeners that are scripts and in earshot of the last sampler hear
    /// of it before anything else happens; variables that change further on do not change in its
    /// sample.
    fn close(&mut self, mut row: SampleRow, last: Option<&mut SampleRow>) {
        if let Some(left) = &self.data.scripts {
            let earshot = Arc::clone(&left.earshot);
            let mut listening = Listening {
                work: self.work,
                clock: self.clock,
                scope: self.scope,
                data: self.data,
            };
            listening.tell(&earshot, &mut row, last);
        }
        note_variables(&mut row, &self.work.shown_variables, self.scope);
        self.closed.push(row);
    }
}

/// A controller and those around it, from the inside to the outside, but not `up_to`.
fn levels(tree: &Tree, from: u32, up_to: Option<u32>) -> impl Iterator<Item = u32> + use<'_> {
    let around = |at: &u32| (*at != 0).then(|| tree.controllers[*at as usize].parent);
    std::iter::successors(Some(from), around).take_while(move |at| Some(*at) != up_to)
}

/// Controllers that ask each other without a sampler before the user pauses. JMeter's stack
/// overflows somewhat later.
const DEPTH_MAX: u32 = 200;

impl Walk {
    /// A user at the start of its life.
    pub(crate) fn new(tree: &Tree) -> Self {
        let states = tree.controllers.iter().map(|c| State::of(&c.kind));
        Self {
            states: states.collect(),
        }
    }

    /// Puts every controller at its beginning.
    pub(crate) fn begin(&mut self, outside: &mut Outside<'_>) {
        look_at_transaction_names(0, outside);
        for at in 0..self.states.len() as u32 {
            self.initialize(at, outside);
        }
    }

    /// What comes next; `None` when an iteration of the group ends without anything, or with
    /// [`Self::is_done`] the user's life.
    pub(crate) fn next(&mut self, outside: &mut Outside<'_>) -> Option<Next> {
        self.next_of(0, outside)
    }

    /// Whether the user has done all its iterations.
    pub(crate) fn is_done(&self) -> bool {
        self.states[0].is_done
    }

    /// Whether the user has ended an iteration of its group and not begun the next.
    pub(crate) fn is_between_iterations(&self) -> bool {
        self.states[0].is_first
    }

    /// The transaction that a controller has open as a sample of its own.
    pub(crate) fn whole(&mut self, at: u32) -> Option<&mut Whole> {
        match &mut self.state(at).own {
            Own::Whole(whole) => whole.as_deref_mut(),
            _ => None,
        }
    }

    /// The last sample that became a part of a transaction that is open.
    pub(crate) fn last_part(&mut self) -> Option<&mut SampleRow> {
        let states = self.states.iter_mut().rev();
        let mut open = states.filter_map(|state| match &mut state.own {
            Own::Whole(whole) => whole.as_deref_mut(),
            _ => None,
        });
        open.find_map(Whole::last_part)
    }

    /// Whether a critical section that the user is in holds the lock of this name. JMeter lets the
    /// same user take it again.
    pub(crate) fn holds_lock(&self, wanted: &str) -> bool {
        self.states.iter().any(
            |state| matches!(&state.own, Own::Lock(Lock::Held { name, .. }) if **name == *wanted),
        )
    }

    /// Gives a critical section the lock of this name; without a permit, a section around it holds
    /// the lock already.
    pub(crate) fn enter(&mut self, at: u32, name: &str, permit: Option<Permit>) {
        if let Own::Lock(lock) = &mut self.state(at).own {
            *lock = match permit {
                Some(permit) => Lock::Held {
                    name: name.into(),
                    _permit: permit,
                },
                None => Lock::Within,
            };
        }
    }

    /// Tells open transactions that are a sample beside their children about a sample.
    ///
    /// In JMeter all those hear of it that stand beside the sampler or beside something around it,
    /// but not those that hear of the whole transaction which the sample is a part of: its own
    /// children among them.
    pub(crate) fn sample_occurred(
        &mut self,
        tree: &Tree,
        from: u32,
        up_to: Option<u32>,
        sample: &SampleRow,
    ) {
        for level in levels(tree, from, up_to) {
            for child in &tree.controllers[level as usize].children {
                if let Child::Controller(child) = child {
                    self.counts(tree, *child, sample);
                }
            }
        }
    }

    /// The transactions that [`Self::sample_occurred`] tells, in its order, each with how many
    /// listeners that are scripts hear of a sample after it.
    pub(crate) fn counting<'w>(
        &'w self,
        tree: &'w Tree,
        from: u32,
        up_to: Option<u32>,
    ) -> impl Iterator<Item = (u32, usize)> + use<'w> {
        let levels = levels(tree, from, up_to);
        let children = levels.flat_map(|level| &tree.controllers[level as usize].children);
        children.filter_map(|child| {
            let Child::Controller(at) = *child else {
                return None;
            };
            let is_open = matches!(self.states[at as usize].own, Own::Added(Some(_)));
            match &tree.controllers[at as usize].kind {
                ControllerKind::Transaction(kind) if is_open => Some((at, kind.scripts_after)),
                _ => None,
            }
        })
    }

    /// A transaction that is a sample beside its children counts one of them, if it is open.
    pub(crate) fn counts(&mut self, tree: &Tree, at: u32, sample: &SampleRow) {
        let kind = &tree.controllers[at as usize].kind;
        if let (ControllerKind::Transaction(kind), Own::Added(Some(open))) =
            (kind, &mut self.state(at).own)
        {
            open.add(sample, kind.include_timers);
        }
    }

    fn state(&mut self, at: u32) -> &mut State {
        &mut self.states[at as usize]
    }

    fn next_of(&mut self, at: u32, outside: &mut Outside<'_>) -> Option<Next> {
        if outside.is_over {
            return None;
        }
        if outside.depth >= DEPTH_MAX {
            return Some(Next::Pause);
        }
        outside.depth += 1;
        let next = self.next_of_kind(at, outside);
        outside.depth -= 1;
        next
    }

    fn next_of_kind(&mut self, at: u32, outside: &mut Outside<'_>) -> Option<Next> {
        let controller = &outside.tree.controllers[at as usize];
        match &controller.kind {
            ControllerKind::Loop { .. }
            | ControllerKind::While { .. }
            | ControllerKind::ForEach { .. } => {
                self.publish_index(at, outside);
                let next = self.next_of_loop(at, outside);
                self.publish_index(at, outside);
                next
            }
            ControllerKind::If {
                condition,
                is_text,
                each_child,
            } => {
                let asks = *each_child || self.state(at).is_first;
                if asks && !holds(condition, *is_text, outside) {
                    self.initialize_children(at, outside);
                    return self.pass_ended(at, outside);
                }
                self.generic_next(at, outside)
            }
            ControllerKind::Switch { value } => {
                if self.state(at).is_first {
                    let current = self.selected(at, value, outside);
                    self.state(at).current = current;
                }
                self.generic_next(at, outside)
            }
            ControllerKind::Interleave { .. } | ControllerKind::Random { .. } => {
                if matches!(&self.state(at).own, Own::Alternating(own) if own.skips_next) {
                    self.begin_anew(at, outside);
                    return None;
                }
                self.generic_next(at, outside)
            }
            ControllerKind::Throughput { .. } => {
                if matches!(self.state(at).own, Own::Throughput(own) if own.runs) {
                    self.generic_next(at, outside)
                } else {
                    None
                }
            }
            ControllerKind::Runtime { seconds } => self.next_of_runtime(at, seconds, outside),
            ControllerKind::Transaction(transaction) if transaction.is_parent => {
                self.next_of_whole(at, outside)
            }
            ControllerKind::Transaction(_) => self.next_of_added(at, outside),
            ControllerKind::CriticalSection { .. } => {
                let state = self.state(at);
                if state.is_first && matches!(state.own, Own::Lock(Lock::Free)) {
                    return Some(Next::Lock(at));
                }
                self.generic_next(at, outside)
            }
            ControllerKind::Parameterized { variables } => {
                set_variables(outside.scope, variables);
                self.generic_next(at, outside)
            }
            // A Parallel Controller is a sampler in the tree.
            ControllerKind::Simple
            | ControllerKind::OnceOnly
            | ControllerKind::RandomOrder
            | ControllerKind::Parallel(_) => self.generic_next(at, outside),
        }
    }
}

/// Before a user's first sample JMeter looks once at the names of all its transactions, inner ones
/// first; functions in them count.
fn look_at_transaction_names(at: u32, outside: &mut Outside<'_>) {
    let controller = &outside.tree.controllers[at as usize];
    for child in &controller.children {
        if let Child::Controller(child) = child {
            look_at_transaction_names(*child, outside);
        }
    }
    let is_transaction = matches!(controller.kind, ControllerKind::Transaction(_));
    if is_transaction && controller.name.constant().is_none() {
        controller.name.rendered(outside.scope);
    }
}
