//! A `java.util.Date`: a moment that can be changed, and how it is written.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;

use crate::calendar::{Calendar, Field};

/// Writes milliseconds since 1970 as Java's `Date.toString` does, in the time zone of whoever runs
/// the script.
pub type DateWriter = Rc<dyn Fn(i64) -> String>;

/// Milliseconds since 1970.
pub(crate) struct Date {
    at: Cell<i64>,
    /// Fields that were set, until somebody looks.
    fields: RefCell<Option<Calendar>>,
    writer: DateWriter,
}

impl Date {
    /// A date that is written by `writer`.
    pub(crate) fn new(at: i64, writer: DateWriter) -> Self {
        Self {
            at: Cell::new(at),
            fields: RefCell::new(None),
            writer,
        }
    }

    /// Another date, written in the same way.
    pub(crate) fn at(&self, at: i64) -> Self {
        Self::new(at, Rc::clone(&self.writer))
    }

    /// What Java shows of it.
    pub(crate) fn text(&self) -> String {
        (self.writer)(self.get())
    }

    /// Milliseconds since 1970.
    pub(crate) fn get(&self) -> i64 {
        let fields = self.fields.take();
        if let Some(at) = fields.and_then(|mut fields| fields.millis()) {
            self.at.set(at);
        }
        self.at.get()
    }

    /// Another moment.
    pub(crate) fn set(&self, at: i64) {
        self.fields.take();
        self.at.set(at);
    }

    /// Sets a field, on top of those that were set since somebody looked; `None` beyond the
    /// calendar. `whole` are the fields of a moment.
    pub(crate) fn set_field(
        &self,
        field: Field,
        to: i64,
        whole: impl FnOnce(i64) -> Option<Calendar>,
    ) -> Option<()> {
        let set = self.fields.take().or_else(|| whole(self.at.get()));
        let mut set = set?;
        set.set(field, to);
        set.clone().millis()?;
        self.fields.replace(Some(set));
        Some(())
    }
}

impl fmt::Debug for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Date").field(&self.get()).finish()
    }
}
