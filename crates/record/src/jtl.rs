//! JMeter's result file: one CSV row a sample.
//!
//! Columns and quoting are those that JMeter 5.6.3 writes by default.

use std::io;
use std::sync::Arc;

/// The 17 columns, in JMeter's order.
pub(crate) const COLUMNS: [&str; 17] = [
    "timeStamp",
    "elapsed",
    "label",
    "responseCode",
    "responseMessage",
    "threadName",
    "dataType",
    "success",
    "failureMessage",
    "bytes",
    "sentBytes",
    "grpThreads",
    "allThreads",
    "URL",
    "Latency",
    "IdleTime",
    "Connect",
];

/// What a response's content type says of its body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DataType {
    /// Nothing was received, or nothing is known.
    #[default]
    Empty,
    /// Text.
    Text,
    /// Anything else.
    Binary,
}

impl DataType {
    fn spelling(self) -> &'static str {
        match self {
            Self::Empty => "",
            Self::Text => "text",
            Self::Binary => "bin",
        }
    }
}

/// One finished sample.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SampleRow {
    /// Start of the sample, milliseconds since 1970.
    pub timestamp_ms: u64,
    /// From the start of the request, connecting included, to the last byte, in milliseconds.
    pub elapsed_ms: u64,
    /// The sample's label.
    pub label: Arc<str>,
    /// Status code, or JMeter's name of what went wrong.
    pub response_code: Arc<str>,
    /// Reason phrase, or JMeter's text of what went wrong.
    pub response_message: Arc<str>,
    /// `<group> <group number>-<user number>`.
    pub thread_name: Arc<str>,
    /// What the body was.
    pub data_type: DataType,
    /// Whether the sample succeeded.
    pub success: bool,
    /// The message of the first assertion that failed.
    pub failure_message: Arc<str>,
    /// Bytes received: head and body as they were on the wire.
    pub received_bytes: u64,
    /// Bytes sent: head and body.
    pub sent_bytes: u64,
    /// Users running in the group at the end of the sample.
    pub group_threads: u32,
    /// Users running in the test at the end of the sample.
    pub all_threads: u32,
    /// The URL that was requested.
    pub url: Arc<str>,
    /// From the start to the first byte of the body, in milliseconds; 0 without a body.
    pub latency_ms: u64,
    /// Time within the sample that does not count, in milliseconds.
    pub idle_ms: u64,
    /// Time to connect, in milliseconds.
    pub connect_ms: u64,
}

/// Writes samples as JMeter does.
pub struct JtlWriter<W: io::Write> {
    csv: csv::Writer<W>,
}

impl<W: io::Write> JtlWriter<W> {
    /// Starts a file with its header.
    pub fn new(out: W) -> Result<Self, JtlError> {
        let mut csv = csv::WriterBuilder::new().from_writer(out);
        csv.write_record(COLUMNS)?;
        Ok(Self { csv })
    }

    /// Continues a file that has a header.
    pub fn without_header(out: W) -> Self {
        Self {
            csv: csv::WriterBuilder::new().from_writer(out),
        }
    }

    /// Writes one sample.
    pub fn write(&mut self, row: &SampleRow) -> Result<(), JtlError> {
        let csv = &mut self.csv;
        csv.write_field(row.timestamp_ms.to_string())?;
        csv.write_field(row.elapsed_ms.to_string())?;
        csv.write_field(&*row.label)?;
        csv.write_field(&*row.response_code)?;
        csv.write_field(&*row.response_message)?;
        csv.write_field(&*row.thread_name)?;
        csv.write_field(row.data_type.spelling())?;
        csv.write_field(if row.success { "true" } else { "false" })?;
        csv.write_field(&*row.failure_message)?;
        csv.write_field(row.received_bytes.to_string())?;
        csv.write_field(row.sent_bytes.to_string())?;
        csv.write_field(row.group_threads.to_string())?;
        csv.write_field(row.all_threads.to_string())?;
        csv.write_field(if row.url.is_empty() {
            "null"
        } else {
            &*row.url
        })?;
        csv.write_field(row.latency_ms.to_string())?;
        csv.write_field(row.idle_ms.to_string())?;
        csv.write_field(row.connect_ms.to_string())?;
        csv.write_record(None::<&[u8]>)?;
        Ok(())
    }

    /// Hands everything to the operating system.
    pub fn flush(&mut self) -> Result<(), JtlError> {
        Ok(self.csv.flush()?)
    }
}

/// Reads samples that JMeter or Weir wrote as CSV with a header, whatever the order of columns.
pub struct JtlReader<R: io::Read> {
    csv: csv::Reader<R>,
    places: [Option<usize>; COLUMNS.len()],
}

impl<R: io::Read> JtlReader<R> {
    /// Reads the header.
    pub fn new(input: R) -> Result<Self, JtlError> {
        let mut csv = csv::ReaderBuilder::new().flexible(true).from_reader(input);
        let header = csv.headers()?.clone();
        let places = COLUMNS.map(|column| header.iter().position(|name| name == column));
        for required in ["timeStamp", "elapsed", "label", "success"] {
            if !header.iter().any(|name| name == required) {
                return Err(JtlError::Column(required));
            }
        }
        Ok(Self { csv, places })
    }

    /// Reads all samples.
    pub fn samples(mut self) -> Result<Vec<SampleRow>, JtlError> {
        let mut rows = Vec::new();
        for record in self.csv.records() {
            rows.push(read_row(&record?, &self.places)?);
        }
        Ok(rows)
    }
}

fn read_row(
    record: &csv::StringRecord,
    places: &[Option<usize>; COLUMNS.len()],
) -> Result<SampleRow, JtlError> {
    let text = |column: usize| places[column].and_then(|at| record.get(at)).unwrap_or("");
    let number = |column: usize| match text(column) {
        "" => Ok(0),
        cell => cell.parse::<u64>().map_err(|_| JtlError::Cell {
            line: record.position().map_or(0, csv::Position::line),
            column: COLUMNS[column],
            cell: cell.to_owned(),
        }),
    };
    Ok(SampleRow {
        timestamp_ms: number(0)?,
        elapsed_ms: number(1)?,
        label: text(2).into(),
        response_code: text(3).into(),
        response_message: text(4).into(),
        thread_name: text(5).into(),
        data_type: match text(6) {
            "text" => DataType::Text,
            "bin" => DataType::Binary,
            _ => DataType::Empty,
        },
        success: text(7).eq_ignore_ascii_case("true"),
        failure_message: text(8).into(),
        received_bytes: number(9)?,
        sent_bytes: number(10)?,
        group_threads: number(11)? as u32,
        all_threads: number(12)? as u32,
        url: if text(13) == "null" { "" } else { text(13) }.into(),
        latency_ms: number(14)?,
        idle_ms: number(15)?,
        connect_ms: number(16)?,
    })
}

/// Why a result file cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum JtlError {
    /// The CSV layer failed.
    #[error("read or write a result file")]
    Csv(#[from] csv::Error),
    /// Writing failed.
    #[error("write a result file")]
    Io(#[from] io::Error),
    /// A column that must be there is not.
    #[error("find the column `{0}` in the header of a result file")]
    Column(&'static str),
    /// A cell is not a number.
    #[error("read the number `{cell}` in line {line}, column `{column}`, of a result file")]
    Cell {
        /// The line of the file.
        line: u64,
        /// The column.
        column: &'static str,
        /// What stands there.
        cell: String,
    },
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    #[test]
    fn writes_rows_as_jmeter_does() {
        let mut text = Vec::new();
        let mut jtl = JtlWriter::new(&mut text).unwrap();
        let row = SampleRow {
            timestamp_ms: 1_700_000_000_123,
            elapsed_ms: 42,
            label: "a, \"b\"".into(),
            response_code: "200".into(),
            response_message: "OK".into(),
            thread_name: "Users 1-2".into(),
            data_type: DataType::Text,
            success: true,
            received_bytes: 321,
            sent_bytes: 123,
            group_threads: 2,
            all_threads: 4,
            latency_ms: 41,
            connect_ms: 1,
            ..SampleRow::default()
        };
        jtl.write(&row).unwrap();
        jtl.flush().unwrap();
        drop(jtl);
        let text = String::from_utf8(text).unwrap();
        assert_eq!(
            text,
            "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,\
             failureMessage,bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect\n\
             1700000000123,42,\"a, \"\"b\"\"\",200,OK,Users 1-2,text,true,,321,123,2,4,null,41,0,1\n"
        );
        let read = JtlReader::new(text.as_bytes()).unwrap().samples().unwrap();
        assert_eq!(read, vec![row]);
    }

    #[test]
    fn says_what_is_wrong_with_a_file() {
        let missing = JtlReader::new("a,b\n1,2\n".as_bytes()).err().unwrap();
        assert!(missing.to_string().contains("timeStamp"));
        let wrong = JtlReader::new("timeStamp,elapsed,label,success\n1,x,l,true\n".as_bytes())
            .unwrap()
            .samples()
            .unwrap_err();
        assert!(
            wrong
                .to_string()
                .contains("`x` in line 2, column `elapsed`")
        );
    }
}
