//! What a user remembers of one controller.

use weir_plan::ControllerKind;
use weir_script::Text;

use crate::across_users::Permit;
use crate::clock::Moment;
use crate::executions::Executions;
use crate::transaction::{Added, Whole};
use crate::tree::Child;

/// What a user remembers of a controller.
#[derive(Debug)]
pub(super) struct State {
    /// Which child is next.
    pub(super) current: u32,
    /// Passes that have ended since the controller was entered.
    pub(super) passes: i64,
    /// How many a loop has, once it was asked for.
    pub(super) count: Option<i64>,
    /// No child of this pass has been asked for.
    pub(super) is_first: bool,
    /// Has nothing more for the rest of the user's life.
    pub(super) is_done: bool,
    /// The loop was told to break.
    pub(super) is_broken: bool,
    /// The user's own order of the children, once it differs from the plan's.
    pub(super) order: Option<Vec<u32>>,
    pub(super) own: Own,
}

/// What only some kinds remember.
#[derive(Debug)]
pub(super) enum Own {
    Nothing,
    Alternating(Alternating),
    Throughput(Executions),
    Runtime(Option<Moment>),
    Added(Option<Box<Added>>),
    Whole(Option<Box<Whole>>),
    Lock(Lock),
}

/// Interleave and random controllers.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "JMeter keeps the same ones")]
pub(super) struct Alternating {
    pub(super) skips_next: bool,
    pub(super) gave_one: bool,
    pub(super) is_still_same: bool,
    pub(super) search_start: Option<Child>,
    /// The child at hand had nothing and has been asked once more in the same turn.
    pub(super) asked_again: bool,
}

impl Default for Alternating {
    fn default() -> Self {
        Self {
            skips_next: false,
            gave_one: false,
            is_still_same: true,
            search_start: None,
            asked_again: false,
        }
    }
}

/// The lock of a critical section, as one user has it.
#[derive(Debug, Default)]
pub(super) enum Lock {
    /// Not now.
    #[default]
    Free,
    /// Until this is dropped.
    Held { name: Box<str>, _permit: Permit },
    /// A section around this one holds the lock of this name already.
    Within,
}

impl State {
    pub(super) fn of(kind: &ControllerKind<Text>) -> Self {
        let own = match kind {
            ControllerKind::Interleave { .. } | ControllerKind::Random { .. } => {
                Own::Alternating(Alternating::default())
            }
            ControllerKind::Throughput { .. } => Own::Throughput(Executions::default()),
            ControllerKind::Runtime { .. } => Own::Runtime(None),
            ControllerKind::Transaction(transaction) if transaction.is_parent => Own::Whole(None),
            ControllerKind::Transaction(_) => Own::Added(None),
            ControllerKind::CriticalSection { .. } => Own::Lock(Lock::Free),
            _ => Own::Nothing,
        };
        Self {
            current: 0,
            passes: 0,
            count: None,
            is_first: true,
            is_done: false,
            is_broken: false,
            order: None,
            own,
        }
    }
}
