//! Lets go of what containers hold, however deep they are in each other.
//!
//! A list in a list in a list, and so on, would be let go of by as many calls inside of each other,
//! for which no stack is deep enough.

use std::cell::{Cell, RefCell};

use crate::Value;

thread_local! {
    static WAITING: RefCell<Vec<Value>> = const { RefCell::new(Vec::new()) };
    static IS_AT_WORK: Cell<bool> = const { Cell::new(false) };
}

/// Lets go of values, one after the other.
pub(crate) fn bury(values: impl IntoIterator<Item = Value>) {
    // While a thread ends there is nobody left to wait for.
    let is_waiting = WAITING.try_with(|waiting| waiting.borrow_mut().extend(values));
    if is_waiting.is_err() || IS_AT_WORK.replace(true) {
        return;
    }
    while let Some(value) = WAITING.with_borrow_mut(Vec::pop) {
        drop(value);
    }
    IS_AT_WORK.set(false);
}
