//! Transactions: the sample that stands for all samples of a controller.
//!
//! JMeter counts in whole milliseconds of the wall clock, so these do too.

use std::sync::Arc;

use weir_record::{DataType, SampleRow};

use crate::clock::Clock;
use crate::next::Next;

/// A transaction that becomes one more sample after its children.
#[derive(Debug)]
pub(crate) struct Added {
    label: String,
    started_ms: u64,
    last_end_ms: u64,
    pause_ms: i64,
    calls: u64,
    /// It was asked what comes next, which a lock has to be taken for before it can tell.
    will_be_asked_again: bool,
    failed: u64,
    success: bool,
    sum: SampleRow,
}

fn message(calls: u64, failed: u64) -> Arc<str> {
    format!("Number of samples in transaction : {calls}, number of failing samples : {failed}")
        .into()
}

fn now_ms(clock: Clock) -> u64 {
    clock.epoch_ms(clock.now())
}

impl Added {
    /// Begins now.
    pub(crate) fn begin(label: String, clock: Clock) -> Self {
        let now = now_ms(clock);
        Self {
            label,
            started_ms: now,
            last_end_ms: now,
            pause_ms: 0,
            calls: 0,
            will_be_asked_again: false,
            failed: 0,
            success: true,
            sum: SampleRow::default(),
        }
    }

    /// Its controller is asked what comes next. JMeter counts the answers as samples, also those of
    /// a controller that asks itself again because a child had nothing.
    pub(crate) fn is_asked(&mut self) {
        if std::mem::take(&mut self.will_be_asked_again) {
            self.calls -= 1;
        }
    }

    /// Its controller answers.
    pub(crate) fn answers(&mut self) {
        self.calls += 1;
    }

    /// Its controller answers that a lock is needed first: no other answer than the one that
    /// follows.
    pub(crate) fn will_be_asked_again(&mut self) {
        self.calls += 1;
        self.will_be_asked_again = true;
    }

    /// A sample below the controller has ended.
    pub(crate) fn add(&mut self, sample: &SampleRow, include_timers: bool) {
        let sum = &mut self.sum;
        sum.thread_name = Arc::clone(&sample.thread_name);
        sum.received_bytes += sample.received_bytes;
        sum.sent_bytes += sample.sent_bytes;
        sum.latency_ms += sample.latency_ms;
        sum.connect_ms += sample.connect_ms;
        sum.group_threads = sample.group_threads;
        sum.all_threads = sample.all_threads;
        if !include_timers {
            let end = sample.timestamp_ms + sample.elapsed_ms + sample.idle_ms;
            let began = end.cast_signed() - sample.elapsed_ms.cast_signed();
            self.pause_ms += began - self.last_end_ms.cast_signed();
            self.last_end_ms = end;
        }
        if !sample.success {
            self.success = false;
            self.failed += 1;
        }
    }

    /// Ends after its last child.
    pub(crate) fn end(mut self, clock: Clock, include_timers: bool) -> SampleRow {
        let now = now_ms(clock);
        if !include_timers {
            self.pause_ms += now.cast_signed() - self.last_end_ms.cast_signed();
        }
        let code = if self.success { "200" } else { "" };
        let success = self.success;
        self.close(now, code, success)
    }

    /// Ends because its controller is left.
    pub(crate) fn cut_short(self, clock: Clock, last_ok: bool) -> SampleRow {
        self.close(now_ms(clock), "", last_ok)
    }

    fn close(self, now: u64, code: &str, success: bool) -> SampleRow {
        let idle_ms = u64::try_from(self.pause_ms).unwrap_or(0);
        SampleRow {
            timestamp_ms: self.started_ms,
            elapsed_ms: now.saturating_sub(self.started_ms).saturating_sub(idle_ms),
            label: self.label.into(),
            response_code: code.into(),
            response_message: message(self.calls, self.failed),
            data_type: DataType::Empty,
            success,
            idle_ms,
            is_transaction: true,
            ..self.sum
        }
    }
}

/// A transaction, with its children inside, that is told of.
#[derive(Debug)]
pub(crate) struct Told {
    /// Its controller.
    pub(crate) at: u32,
    pub(crate) row: SampleRow,
    /// It was told of before: only transactions around it hear of it again, no listener (JMeter).
    pub(crate) is_again: bool,
}

/// A transaction that is a sample with its children inside.
#[derive(Debug)]
pub(crate) struct Whole {
    /// What comes next in it.
    pub(crate) current: Option<Next>,
    /// It has ended.
    pub(crate) is_done: bool,
    /// It has been told of although it goes on.
    pub(crate) is_told: bool,
    row: SampleRow,
    calls: u64,
    failed: u64,
    end_ms: u64,
    children_ms: u64,
}

impl Whole {
    /// Begins now.
    pub(crate) fn begin(label: String, clock: Clock) -> Self {
        let now = now_ms(clock);
        Self {
            current: None,
            is_done: false,
            is_told: false,
            row: SampleRow {
                timestamp_ms: now,
                label: label.into(),
                success: true,
                is_transaction: true,
                ..SampleRow::default()
            },
            calls: 0,
            failed: 0,
            end_ms: now,
            children_ms: 0,
        }
    }

    /// Takes a sample as a part of it.
    pub(crate) fn add(&mut self, sample: SampleRow) {
        self.calls += 1;
        if self.failed == 0 {
            self.row.response_code = Arc::clone(&sample.response_code);
        }
        if !sample.success {
            self.row.success = false;
            self.failed += 1;
        }
        self.row.received_bytes += sample.received_bytes;
        self.row.sent_bytes += sample.sent_bytes;
        self.row.connect_ms += sample.connect_ms;
        let end = sample.timestamp_ms + sample.elapsed_ms + sample.idle_ms;
        self.end_ms = self.end_ms.max(end);
        self.children_ms += sample.elapsed_ms;
        self.row.children.push(sample);
    }

    /// Ends.
    pub(crate) fn end(&mut self, clock: Clock, include_timers: bool) {
        self.is_done = true;
        self.row.response_message = message(self.calls, self.failed);
        if self.row.success {
            self.row.response_code = "200".into();
        }
        let started = self.row.timestamp_ms;
        if !include_timers {
            self.end_ms = now_ms(clock);
            let whole = self.end_ms.saturating_sub(started);
            self.row.idle_ms = whole.saturating_sub(self.children_ms);
        }
        let whole = self.end_ms.saturating_sub(started);
        self.row.elapsed_ms = whole.saturating_sub(self.row.idle_ms);
    }

    /// Ends because its user does. JMeter gives such a sample no message, so that nothing takes it
    /// for a transaction.
    pub(crate) fn cut_short(&mut self) {
        self.is_done = true;
        self.row.is_transaction = false;
        self.row.elapsed_ms = self.end_ms.saturating_sub(self.row.timestamp_ms);
    }

    /// Its sample as it is, because a loop inside it was left: JMeter tells of it then. As for one
    /// that is cut short there is no message.
    pub(crate) fn tell_early(&mut self, at: u32) -> Option<Told> {
        if self.is_done {
            return None;
        }
        let mut row = self.row.clone();
        row.is_transaction = false;
        row.elapsed_ms = self.end_ms.saturating_sub(row.timestamp_ms);
        let is_again = std::mem::replace(&mut self.is_told, true);
        Some(Told { at, row, is_again })
    }

    /// The last sample in it so far.
    pub(crate) fn last_part(&mut self) -> Option<&mut SampleRow> {
        last_part(&mut self.row)
    }

    /// Its sample, once it has ended.
    pub(crate) fn take_row(&mut self) -> SampleRow {
        std::mem::take(&mut self.row)
    }
}

/// The last sample inside a transaction, and inside those in it.
pub(crate) fn last_part(whole: &mut SampleRow) -> Option<&mut SampleRow> {
    let mut parts = whole.children.iter_mut().rev();
    parts.find_map(|part| {
        if part.is_transaction {
            last_part(part)
        } else {
            Some(part)
        }
    })
}
