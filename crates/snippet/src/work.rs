//! Work that is done deep inside of values, where no machine is at hand: texts that are written,
//! items that are compared, expressions that are searched for.
//!
//! It is noted where it is done, and the machine takes it for steps at its next one. What a single
//! call may do is bounded by what a whole run may.

use std::cell::Cell;

use crate::machine::STEPS_MAX;

/// So much of it is a step: about what a step takes to copy this many bytes.
const A_STEP: u64 = 64;
/// More is not done.
const MOST: u64 = STEPS_MAX * A_STEP;

thread_local! {
    static DONE: Cell<u64> = const { Cell::new(0) };
}

/// Notes work, in bytes that were touched or what takes as long.
pub(crate) fn note(bytes: usize) {
    DONE.set(DONE.get().saturating_add(bytes as u64));
}

/// Whether it is so much that the run is over, and what it is done for does not matter.
pub(crate) fn is_too_much() -> bool {
    DONE.get() > MOST
}

/// The steps that the work since the last time stands for.
pub(crate) fn take_steps() -> u64 {
    let done = DONE.get();
    DONE.set(done % A_STEP);
    done / A_STEP
}
