//! Rows of exchanges, without whose they are.

use std::sync::Arc;

use weir_record::{DataType, SampleRow};
use weir_script::CachedSample;

use crate::clock::{Clock, Moment};
use crate::http::outcome::{Failure, Place};
use crate::http::request::Exchange;

/// What stands before the exception's class and its words where there was no answer.
const NO_CODE: &str = "Non HTTP response code: ";
const NO_MESSAGE: &str = "Non HTTP response message: ";

/// A sample's outcome in the words of its row.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(super) success: bool,
    pub(super) code: Arc<str>,
    message: Arc<str>,
    data_type: DataType,
}

/// The row of one exchange, without whose it is.
pub(crate) fn row_of(
    clock: &Clock,
    exchange: &Exchange,
    outcome: Outcome,
    label: &Arc<str>,
    url: &Arc<str>,
) -> SampleRow {
    let since_start = |moment: Option<Moment>| {
        moment.map_or(0, |moment| clock.elapsed_ms(exchange.started, moment))
    };
    SampleRow {
        timestamp_ms: clock.epoch_ms(exchange.started),
        elapsed_ms: since_start(Some(exchange.ended)),
        label: Arc::clone(label),
        response_code: outcome.code,
        response_message: outcome.message,
        data_type: outcome.data_type,
        success: outcome.success,
        received_bytes: exchange.received,
        sent_bytes: exchange.sent,
        url: Arc::clone(url),
        latency_ms: since_start(exchange.first_body),
        connect_ms: since_start(exchange.connected),
        is_http: true,
        ..SampleRow::default()
    }
}

impl Outcome {
    /// What became of an exchange.
    pub(crate) fn of(exchange: &Exchange, place: Place<'_>) -> Self {
        let head = match &exchange.outcome {
            Ok(head) => head,
            Err(failure) => return Self::failed(failure, place),
        };
        Self {
            success: (200..400).contains(&head.status.number),
            code: Arc::clone(&head.status.code),
            message: Arc::clone(&head.status.reason),
            data_type: head.data_type,
        }
    }

    /// What became of a request that has no response.
    pub(crate) fn failed(failure: &Failure, place: Place<'_>) -> Self {
        Self {
            success: false,
            code: format!("{NO_CODE}{}", failure.class()).into(),
            message: format!("{NO_MESSAGE}{}", failure.message(place)).into(),
            data_type: DataType::Text,
        }
    }
}

/// What JMeter has as the body of a sample that got no answer: the exception, as Java prints it.
/// The lines of its stack trace are left out, since they say where JMeter's code failed.
pub(crate) fn body_of_failure(row: &SampleRow) -> Vec<u8> {
    let class = row.response_code.strip_prefix(NO_CODE);
    let says = row.response_message.strip_prefix(NO_MESSAGE);
    let body = class
        .zip(says)
        .map(|(class, says)| format!("{class}: {says}\n"));
    body.unwrap_or_default().into_bytes()
}

/// The row of a request that was not sent, because its answer is known and fresh.
pub(crate) fn row_of_known(
    clock: &Clock,
    now: Moment,
    says: &CachedSample,
    label: &Arc<str>,
    url: &Arc<str>,
) -> SampleRow {
    SampleRow {
        timestamp_ms: clock.epoch_ms(now),
        label: Arc::clone(label),
        response_code: says.code.as_str().into(),
        response_message: says.message.as_str().into(),
        success: true,
        url: Arc::clone(url),
        is_http: true,
        ..SampleRow::default()
    }
}

/// Gives a row and its parts the name of their user.
pub(crate) fn name_all(row: &mut SampleRow, name: &Arc<str>) {
    row.thread_name = Arc::clone(name);
    for part in &mut row.children {
        name_all(part, name);
    }
}

/// Puts parts into a whole, which ends with the last of them and has their bytes; all of them
/// are the user's own.
pub(crate) fn take_parts(whole: &mut SampleRow, parts: Vec<SampleRow>) {
    let end = |row: &SampleRow| row.timestamp_ms + row.elapsed_ms + row.idle_ms;
    if let Some(last) = parts.iter().map(end).max() {
        whole.elapsed_ms = last.saturating_sub(whole.timestamp_ms);
    }
    whole.received_bytes = parts.iter().map(|part| part.received_bytes).sum();
    whole.sent_bytes = parts.iter().map(|part| part.sent_bytes).sum();
    whole.children = parts;
    for part in &mut whole.children {
        name_all(part, &whole.thread_name);
        count_all(part, (whole.group_threads, whole.all_threads));
    }
}

fn count_all(row: &mut SampleRow, alive: (u32, u32)) {
    (row.group_threads, row.all_threads) = alive;
    for part in &mut row.children {
        count_all(part, alive);
    }
}
