//! Samples as rows of a CSV file.

use std::io::Write as _;

use super::configuration::{Field, SaveConfiguration};
use crate::sample::SampleRow;

/// Names of the columns, in JMeter's order.
pub(super) const TIMESTAMP: &str = "timeStamp";
pub(super) const COLUMNS: [(Field, &[&str]); 20] = [
    (Field::Timestamp, &[TIMESTAMP]),
    (Field::Time, &["elapsed"]),
    (Field::Label, &["label"]),
    (Field::ResponseCode, &["responseCode"]),
    (Field::ResponseMessage, &["responseMessage"]),
    (Field::ThreadName, &["threadName"]),
    (Field::DataType, &["dataType"]),
    (Field::Success, &["success"]),
    (Field::FailureMessage, &["failureMessage"]),
    (Field::Bytes, &["bytes"]),
    (Field::SentBytes, &["sentBytes"]),
    (Field::ThreadCounts, &["grpThreads", "allThreads"]),
    (Field::Url, &["URL"]),
    (Field::FileName, &["Filename"]),
    (Field::Latency, &["Latency"]),
    (Field::Encoding, &["Encoding"]),
    (Field::SampleCount, &["SampleCount", "ErrorCount"]),
    (Field::HostName, &["Hostname"]),
    (Field::IdleTime, &["IdleTime"]),
    (Field::ConnectTime, &["Connect"]),
];

/// What CSV files say of a response that does not name its character set (JMeter's
/// `sampleresult.default.encoding`); XML files say nothing.
const ENCODING: &str = "UTF-8";

/// The header of a file.
pub(super) fn header(configuration: &SaveConfiguration, line: &mut Vec<u8>) {
    let mut row = Row::new(configuration.delimiter, line);
    for (field, names) in COLUMNS {
        if configuration.has(field) {
            for name in names {
                row.plain(name);
            }
        }
    }
    // The names of variables always stand in quotes (JMeter).
    for name in &configuration.variables {
        row.quoted(name);
    }
    row.end();
}

/// A sample and, when they are wanted, the samples inside it.
pub(super) fn rows(configuration: &SaveConfiguration, sample: &SampleRow, line: &mut Vec<u8>) {
    if !configuration.has(Field::SubResults) || sample.children.is_empty() {
        return one_row(configuration, sample, line);
    }
    for sample in sample.depth_first() {
        one_row(configuration, sample, line);
    }
}

fn one_row(configuration: &SaveConfiguration, sample: &SampleRow, line: &mut Vec<u8>) {
    let mut row = Row::new(configuration.delimiter, line);
    for (field, _) in COLUMNS {
        if configuration.has(field) {
            cell(configuration, field, sample, &mut row);
        }
    }
    let values = sample.details.as_ref().map(|details| &details.variables);
    for at in 0..configuration.variables.len() {
        row.text(
            values
                .and_then(|values| values.get(at)?.as_deref())
                .unwrap_or("null"),
        );
    }
    row.end();
}

fn cell(configuration: &SaveConfiguration, field: Field, sample: &SampleRow, row: &mut Row<'_>) {
    let details = sample.details.as_deref();
    match field {
        Field::Timestamp => {
            row.begin();
            configuration.timestamp.write(sample.timestamp_ms, row.line);
        }
        Field::Time => row.number(sample.elapsed_ms),
        Field::Label => row.text(&sample.label),
        Field::ResponseCode => row.text(&sample.response_code),
        Field::ResponseMessage => row.text(&sample.response_message),
        Field::ThreadName => row.text(&sample.thread_name),
        Field::DataType => row.plain(sample.data_type.spelling()),
        Field::Success => row.plain(if sample.success { "true" } else { "false" }),
        Field::FailureMessage => row.text(&sample.failure_message),
        Field::Bytes => row.number(sample.received_bytes),
        Field::SentBytes => row.number(sample.sent_bytes),
        Field::ThreadCounts => {
            row.number(sample.group_threads.into());
            row.number(sample.all_threads.into());
        }
        Field::Url if sample.url.is_empty() => row.plain("null"),
        Field::Url => row.text(&sample.url),
        Field::FileName => row.text(details.map_or("", |details| &details.file_name)),
        Field::Latency => row.number(sample.latency_ms),
        Field::Encoding => {
            let named = details.map_or("", |details| &details.encoding);
            row.text(if named.is_empty() { ENCODING } else { named });
        }
        Field::SampleCount => {
            row.plain("1");
            row.plain(if sample.success { "0" } else { "1" });
        }
        Field::HostName => row.text(&configuration.host_name),
        Field::IdleTime => row.number(sample.idle_ms),
        Field::ConnectTime => row.number(sample.connect_ms),
        Field::Assertions
        | Field::SubResults
        | Field::ResponseData
        | Field::ResponseDataOnError
        | Field::SamplerData
        | Field::ResponseHeaders
        | Field::RequestHeaders
        | Field::FieldNames => {}
    }
}

/// A row in the making.
struct Row<'a> {
    delimiter: char,
    line: &'a mut Vec<u8>,
    has_cells: bool,
}

impl<'a> Row<'a> {
    fn new(delimiter: char, line: &'a mut Vec<u8>) -> Self {
        Self {
            delimiter,
            line,
            has_cells: false,
        }
    }

    /// Begins the next cell.
    fn begin(&mut self) {
        if std::mem::replace(&mut self.has_cells, true) {
            let mut bytes = [0; 4];
            let delimiter = self.delimiter.encode_utf8(&mut bytes);
            self.line.extend_from_slice(delimiter.as_bytes());
        }
    }

    fn plain(&mut self, text: &str) {
        self.begin();
        self.line.extend_from_slice(text.as_bytes());
    }

    fn number(&mut self, number: u64) {
        self.begin();
        write!(self.line, "{number}").expect("memory takes any text");
    }

    /// Text in quotes where JMeter puts them: when it holds the delimiter, a quote, CR or LF.
    fn text(&mut self, text: &str) {
        let special =
            |letter: char| letter == self.delimiter || matches!(letter, '"' | '\r' | '\n');
        if text.contains(special) {
            self.quoted(text);
        } else {
            self.plain(text);
        }
    }

    fn quoted(&mut self, text: &str) {
        self.begin();
        self.line.push(b'"');
        for byte in text.bytes() {
            if byte == b'"' {
                self.line.push(b'"');
            }
            self.line.push(byte);
        }
        self.line.push(b'"');
    }

    fn end(self) {
        self.line.push(b'\n');
    }
}
