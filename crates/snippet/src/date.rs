//! A `java.util.Date`: a moment that can be changed, and how it is written.

use std::cell::Cell;
use std::fmt;
use std::ops::Deref;
use std::rc::Rc;

/// Writes milliseconds since 1970 as Java's `Date.toString` does, in the time zone of whoever runs
/// the script.
pub type DateWriter = Rc<dyn Fn(i64) -> String>;

/// Milliseconds since 1970.
pub(crate) struct Date {
    at: Cell<i64>,
    writer: DateWriter,
}

impl Date {
    /// A date that is written by `writer`.
    pub(crate) fn new(at: i64, writer: DateWriter) -> Self {
        Self {
            at: Cell::new(at),
            writer,
        }
    }

    /// Another date, written in the same way.
    pub(crate) fn at(&self, at: i64) -> Self {
        Self::new(at, Rc::clone(&self.writer))
    }

    /// What Java shows of it.
    pub(crate) fn text(&self) -> String {
        (self.writer)(self.at.get())
    }
}

impl Deref for Date {
    type Target = Cell<i64>;

    fn deref(&self) -> &Cell<i64> {
        &self.at
    }
}

impl fmt::Debug for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Date").field(&self.at.get()).finish()
    }
}
