//! Which rows of a result file are parts of the sample before them.

use std::sync::Arc;

use crate::sample::{SampleRow, TRANSACTION_MESSAGE};

/// Tells the parts of a sample (a redirect's hop, an embedded resource, a sample of a transaction
/// that is a sample itself) from other samples: a CSV file writes them right behind it and does not
/// say so.
#[derive(Debug, Default)]
pub struct Parts {
    previous: Option<Whole>,
}

#[derive(Debug)]
struct Whole {
    thread: Arc<str>,
    label: Arc<str>,
    start_ms: u64,
    end_ms: u64,
    is_transaction: bool,
}

impl Parts {
    /// Whether this row is a part of the sample before it; it is to be asked of every row, in the
    /// file's order.
    pub fn is_part(&mut self, row: &SampleRow) -> bool {
        let this = Whole::of(row);
        let is_part = (self.previous.as_ref()).is_some_and(|whole| whole.has_part(&this));
        if !is_part {
            self.previous = Some(this);
        }
        is_part
    }
}

impl Whole {
    fn of(row: &SampleRow) -> Self {
        Self {
            thread: Arc::clone(&row.thread_name),
            label: Arc::clone(&row.label),
            start_ms: row.timestamp_ms,
            end_ms: row.end_ms(),
            is_transaction: row.response_message.starts_with(TRANSACTION_MESSAGE),
        }
    }

    /// Parts lie within the time of the whole, which for samples of one thread nothing else does.
    fn has_part(&self, row: &Self) -> bool {
        let within =
            row.thread == self.thread && row.start_ms >= self.start_ms && row.end_ms <= self.end_ms;
        // The row of a transaction that is one more sample comes behind its last child.
        let sums_up = row.is_transaction && !self.is_transaction;
        let is_numbered = || {
            row.label
                .strip_prefix(&*self.label)
                .and_then(|rest| rest.strip_prefix('-'))
                .is_some_and(|number| number.starts_with(|c: char| c.is_ascii_digit()))
        };
        within && !sums_up && (row.start_ms < self.end_ms || is_numbered())
    }
}
