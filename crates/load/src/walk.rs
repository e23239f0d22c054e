//! Where a user is in its group's tree, and what comes next.
//!
//! JMeter's controllers are asked for the next sampler again and again; each remembers which of its
//! children it stands at and whether its pass has begun. Their exact order, also in odd cases, comes
//! from that: a controller that has nothing more answers nothing once, begins anew, and its parent
//! goes on. So users here walk in the same way; the rules of each kind were found out with JMeter
//! 5.6.3.

mod choice;
mod leave;
mod loops;
mod starts;
mod transactions;

use rand_xoshiro::rand_core::Rng as _;
use weir_plan::{ControllerKind, Share};
use weir_script::{Scope, Text, evaluate_condition, javascript_condition};

use crate::across_users::{Permit, Shared};
use crate::clock::{Clock, Moment};
use crate::iterations::Data;
use crate::transaction::{Added, Closed, Whole};
use crate::tree::{Child, Tree};

/// What a user remembers of each controller of its group.
#[derive(Debug)]
pub(crate) struct Walk {
    states: Box<[State]>,
}

/// What comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// A sampler, by its place.
    Sampler(u32),
    /// Something inside the transaction of this controller, or its end.
    Transaction(u32),
    /// The controller needs its lock before anything can come: see [`Walk::enter`].
    Lock(u32),
    /// Nothing has come for long: let others run, then ask again.
    Pause,
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
    /// Transactions that have come to their end on the way.
    pub(crate) closed: &'a mut Vec<Closed>,
    /// A data set has come to the end of its file: the user ends.
    pub(crate) is_over: bool,
    /// How many controllers have been asked for the next sampler, one inside the other.
    pub(crate) depth: u32,
}

/// Controllers that ask each other without a sampler before the user pauses. JMeter's stack
/// overflows somewhat later.
const DEPTH_MAX: u32 = 200;

/// What a user remembers of a controller.
#[derive(Debug)]
struct State {
    /// Which child is next.
    current: u32,
    /// Passes that have ended since the controller was entered.
    passes: i64,
    /// No child of this pass has been asked for.
    is_first: bool,
    /// Has nothing more for the rest of the user's life.
    is_done: bool,
    /// The loop was told to break.
    is_broken: bool,
    /// The user's own order of the children, once it differs from the plan's.
    order: Option<Vec<u32>>,
    own: Own,
}

/// What only some kinds remember.
#[derive(Debug)]
enum Own {
    Nothing,
    Alternating(Alternating),
    Throughput(Executions),
    Runtime(Option<Moment>),
    Added(Option<Box<Added>>),
    Whole(Option<Box<Whole>>),
    Lock(Option<Permit>),
}

/// Interleave and random controllers.
#[derive(Debug, Clone)]
struct Alternating {
    skips_next: bool,
    gave_one: bool,
    is_still_same: bool,
    search_start: Option<Child>,
}

impl Default for Alternating {
    fn default() -> Self {
        Self {
            skips_next: false,
            gave_one: false,
            is_still_same: true,
            search_start: None,
        }
    }
}

/// Passes that a throughput controller has seen and has let through.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Executions {
    pub(crate) passes: i64,
    pub(crate) executed: i64,
    pub(crate) runs: bool,
}

impl Default for Executions {
    fn default() -> Self {
        Self {
            passes: -1,
            executed: 0,
            runs: false,
        }
    }
}

impl State {
    fn of(kind: &ControllerKind<Text>) -> Self {
        let own = match kind {
            ControllerKind::Interleave { .. } | ControllerKind::Random { .. } => {
                Own::Alternating(Alternating::default())
            }
            ControllerKind::Throughput { .. } => Own::Throughput(Executions::default()),
            ControllerKind::Runtime { .. } => Own::Runtime(None),
            ControllerKind::Transaction(transaction) if transaction.is_parent => Own::Whole(None),
            ControllerKind::Transaction(_) => Own::Added(None),
            ControllerKind::CriticalSection { .. } => Own::Lock(None),
            _ => Own::Nothing,
        };
        Self {
            current: 0,
            passes: 0,
            is_first: true,
            is_done: false,
            is_broken: false,
            order: None,
            own,
        }
    }
}

/// How a child of an alternating controller is left.
fn whole_children(kind: &ControllerKind<Text>) -> Option<bool> {
    match kind {
        ControllerKind::Interleave { whole_children, .. }
        | ControllerKind::Random { whole_children } => Some(*whole_children),
        _ => None,
    }
}

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

    /// Gives a critical section its lock.
    pub(crate) fn enter(&mut self, at: u32, permit: Permit) {
        if let Own::Lock(held) = &mut self.state(at).own {
            *held = Some(permit);
        }
    }

    /// Tells the additional transactions around a place about a sample, up to the one that is a
    /// sample of its own.
    pub(crate) fn sample_occurred(
        &mut self,
        tree: &Tree,
        from: u32,
        up_to: Option<u32>,
        sample: &weir_record::SampleRow,
    ) {
        let mut at = from;
        while Some(at) != up_to && at != 0 {
            let controller = &tree.controllers[at as usize];
            if let (ControllerKind::Transaction(kind), Own::Added(Some(open))) =
                (&controller.kind, &mut self.state(at).own)
            {
                open.add(sample, kind.include_timers);
            }
            at = controller.parent;
        }
    }

    fn state(&mut self, at: u32) -> &mut State {
        &mut self.states[at as usize]
    }

    fn child(&self, tree: &Tree, at: u32) -> Option<Child> {
        let state = &self.states[at as usize];
        let children = &tree.controllers[at as usize].children;
        match &state.order {
            Some(order) => order
                .get(state.current as usize)
                .map(|place| children[*place as usize]),
            None => children.get(state.current as usize).copied(),
        }
    }

    fn children(&self, tree: &Tree, at: u32) -> usize {
        match &self.states[at as usize].order {
            Some(order) => order.len(),
            None => tree.controllers[at as usize].children.len(),
        }
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
            ControllerKind::Runtime { seconds } => {
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
            ControllerKind::Transaction(transaction) if transaction.is_parent => {
                self.next_of_whole(at, outside)
            }
            ControllerKind::Transaction(_) => self.next_of_added(at, outside),
            ControllerKind::CriticalSection { .. } => {
                let state = self.state(at);
                if state.is_first && matches!(state.own, Own::Lock(None)) {
                    return Some(Next::Lock(at));
                }
                self.generic_next(at, outside)
            }
            ControllerKind::Simple | ControllerKind::OnceOnly | ControllerKind::RandomOrder => {
                self.generic_next(at, outside)
            }
        }
    }

    fn generic_next(&mut self, at: u32, outside: &mut Outside<'_>) -> Option<Next> {
        let tree = outside.tree;
        if self.state(at).is_first {
            self.start_iteration(at, outside);
            self.state(at).is_first = false;
            if outside.is_over {
                return None;
            }
        }
        if self.is_done_now(at, outside) {
            return None;
        }
        let Some(child) = self.child(tree, at) else {
            if self.children(tree, at) == 0 {
                self.state(at).is_done = true;
                return None;
            }
            return self.pass_ended(at, outside);
        };
        if self.has_searched_all(at, child, outside) {
            return None;
        }
        match child {
            Child::Sampler(sampler) => {
                self.advance(at, outside);
                if let Own::Alternating(own) = &mut self.state(at).own {
                    own.skips_next = true;
                }
                Some(Next::Sampler(sampler))
            }
            Child::Controller(child) => self.next_of_child(at, child, outside),
        }
    }

    fn next_of_child(&mut self, at: u32, child: u32, outside: &mut Outside<'_>) -> Option<Next> {
        let next = self.next_of(child, outside);
        let whole = whole_children(&outside.tree.controllers[at as usize].kind);
        match next {
            Some(Next::Lock(_) | Next::Pause) => next,
            Some(_) => {
                if let Own::Alternating(own) = &mut self.state(at).own {
                    own.gave_one = true;
                    if whole == Some(true) {
                        own.search_start = None;
                    } else {
                        self.advance(at, outside);
                        if let Own::Alternating(own) = &mut self.state(at).own {
                            own.skips_next = true;
                        }
                    }
                }
                next
            }
            None if outside.is_over => None,
            None => {
                self.child_returned_nothing(at, child, whole, outside);
                if matches!(self.state(at).own, Own::Whole(_)) {
                    return self.generic_next(at, outside);
                }
                self.next_of(at, outside)
            }
        }
    }

    /// Goes past a child that had nothing.
    fn child_returned_nothing(
        &mut self,
        at: u32,
        child: u32,
        whole: Option<bool>,
        outside: &mut Outside<'_>,
    ) {
        if self.is_done_now(child, outside) {
            self.remove_current(at, outside);
            return;
        }
        // One sampler a turn: the child begins anew in the same turn. JMeter asks it until its stack
        // overflows if it has nothing then either; here the next child gets the turn.
        let again = Some(Child::Controller(child));
        if whole == Some(false)
            && let Own::Alternating(own) = &mut self.state(at).own
            && own.search_start != again
        {
            own.search_start = again;
            return;
        }
        self.advance(at, outside);
    }

    /// Whether an alternating controller has come round to where it began to search.
    fn has_searched_all(&mut self, at: u32, child: Child, outside: &mut Outside<'_>) -> bool {
        let Own::Alternating(own) = &mut self.state(at).own else {
            return false;
        };
        match own.search_start {
            None => own.search_start = Some(child),
            Some(start) if start == child && !own.is_still_same => {
                self.begin_anew(at, outside);
                return true;
            }
            Some(_) => {}
        }
        false
    }

    /// No child is left in this pass.
    fn pass_ended(&mut self, at: u32, outside: &mut Outside<'_>) -> Option<Next> {
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
    fn is_done_now(&mut self, at: u32, outside: &mut Outside<'_>) -> bool {
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
                        let most = integer(most, outside.scope).unwrap_or(1);
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

    fn advance(&mut self, at: u32, outside: &mut Outside<'_>) {
        let kind = &outside.tree.controllers[at as usize].kind;
        let children = self.children(outside.tree, at);
        let state = self.state(at);
        if let Own::Alternating(own) = &mut state.own {
            own.skips_next |= own.gave_one;
            own.is_still_same = false;
        }
        state.current = match kind {
            ControllerKind::Switch { .. } => u32::MAX,
            ControllerKind::Random { .. } => draw(children, outside.scope),
            _ => state.current.saturating_add(1),
        };
    }

    fn remove_current(&mut self, at: u32, outside: &Outside<'_>) {
        let count = outside.tree.controllers[at as usize].children.len() as u32;
        let state = self.state(at);
        let order = state.order.get_or_insert_with(|| (0..count).collect());
        if (state.current as usize) < order.len() {
            order.remove(state.current as usize);
        }
    }

    fn reset_current(&mut self, at: u32, outside: &mut Outside<'_>) {
        let is_random = matches!(
            outside.tree.controllers[at as usize].kind,
            ControllerKind::Random { .. }
        );
        let children = self.children(outside.tree, at);
        self.state(at).current = if is_random {
            draw(children, outside.scope)
        } else {
            0
        };
    }

    /// Begins the next pass.
    fn begin_anew(&mut self, at: u32, outside: &mut Outside<'_>) {
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
            *held = None;
        }
        if matches!(kind, ControllerKind::RandomOrder) {
            self.shuffle(at, outside);
        }
    }

    fn reset_loop(&mut self, at: u32, outside: &mut Outside<'_>) {
        let start = match &outside.tree.controllers[at as usize].kind {
            ControllerKind::ForEach { start, .. } => integer(start, outside.scope).unwrap_or(0),
            _ => 0,
        };
        let state = self.state(at);
        state.passes = start;
        if let Own::Runtime(started) = &mut state.own {
            *started = None;
        }
    }

    fn initialize(&mut self, at: u32, outside: &mut Outside<'_>) {
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

    fn initialize_children(&mut self, at: u32, outside: &mut Outside<'_>) {
        let tree = outside.tree;
        for child in &tree.controllers[at as usize].children {
            if let Child::Controller(child) = child {
                self.initialize(*child, outside);
                self.initialize_children(*child, outside);
            }
        }
    }
}

impl Executions {
    /// One more pass of the controller above; says whether this one runs.
    fn pass(&mut self, is_total: bool, limit: f64) {
        self.passes += 1;
        let executed = self.executed as f64;
        self.runs = if is_total {
            executed < limit
        } else {
            (100.0 * executed + 50.0) / ((self.passes + 1) as f64) < limit
        };
        self.executed += i64::from(self.runs);
    }
}

fn draw(children: usize, scope: &mut Scope) -> u32 {
    if children == 0 {
        return 0;
    }
    // Multiply and shift: even to one in 2^32 (Lemire, 2019, without the rejection).
    let drawn = u64::from(scope.random.next_u64() as u32);
    ((drawn * children as u64) >> 32) as u32
}

/// A whole number; what is none is 0 in JMeter, an empty text is the caller's default.
fn integer(text: &Text, scope: &mut Scope) -> Option<i64> {
    match text.constant() {
        Some("") => None,
        Some(text) => Some(text.trim().parse().unwrap_or(0)),
        None => Some(text.rendered(scope).trim().parse().unwrap_or(0)),
    }
}

fn float(text: &Text, scope: &mut Scope) -> Option<f64> {
    let number: Option<f32> = match text.constant() {
        Some(text) => text.trim().parse().ok(),
        None => text.rendered(scope).trim().parse().ok(),
    };
    number.map(f64::from)
}

/// Whether the condition of an `If` controller holds.
fn holds(condition: &Text, is_text: bool, outside: &mut Outside<'_>) -> bool {
    let condition = condition.rendered(outside.scope);
    let condition = condition.trim();
    if is_text {
        condition.eq_ignore_ascii_case("true")
    } else {
        // Most conditions are plain comparisons; what JavaScript cannot make sense of does not run.
        javascript_condition(condition).unwrap_or_else(|| {
            evaluate_condition(condition).unwrap_or_else(|failure| {
                let says = format!("error while processing [{condition}]: {failure}");
                outside.scope.variables.globals().log("ERROR", &says);
                false
            })
        })
    }
}
