//! Samples read back from a result file, one at a time.

use std::cell::Cell;
use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read};
use std::rc::Rc;

use ::csv::{ByteRecord, ReaderBuilder};
use jiff::tz::TimeZone;

use super::JtlError;
use super::configuration::{Field, SaveConfiguration};
use super::csv::COLUMNS;
use super::timestamp::TimestampFormat;
use super::xml_reader::XmlSamples;
use crate::sample::{DataType, SampleDetails, SampleRow, TRANSACTION_MESSAGE};

/// Bytes that one sample may take in a file: what is longer is no sample.
const SAMPLE_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Bytes that are looked at to tell what kind of file it is.
const LOOK_BYTES: usize = 64 * 1024;

/// Reads samples that JMeter or Weir wrote, as CSV or as XML, whatever the order of columns.
///
/// An iterator that holds one sample at a time, so files may be of any size. A row that cannot be
/// read is an error of its own ([`JtlError::is_one_row`]); the rows after it still come. A CSV file
/// without a header is taken for one with the default columns.
pub struct JtlReader<'a> {
    samples: Samples<'a>,
    left: Rc<Cell<u64>>,
    over: bool,
}

enum Samples<'a> {
    Csv(Box<CsvRows<'a>>),
    Xml(Box<XmlSamples<Bounded<'a>>>),
}

impl<'a> JtlReader<'a> {
    /// Reads the beginning of a file.
    pub fn new(input: impl Read + 'a) -> Result<Self, JtlError> {
        Self::with(input, &SaveConfiguration::default(), &TimeZone::UTC)
    }

    /// Reads the beginning of a file that may have been written with this configuration: its
    /// columns and dates count where the file does not say.
    pub fn with(
        input: impl Read + 'a,
        configuration: &SaveConfiguration,
        zone: &TimeZone,
    ) -> Result<Self, JtlError> {
        Self::of(Box::new(input), configuration, zone)
    }

    fn of(
        input: Box<dyn Read + 'a>,
        configuration: &SaveConfiguration,
        zone: &TimeZone,
    ) -> Result<Self, JtlError> {
        let left = Rc::new(Cell::new(SAMPLE_BYTES_MAX));
        let mut input = Bounded {
            inner: BufReader::with_capacity(LOOK_BYTES, input),
            left: Rc::clone(&left),
        };
        skip_mark(&mut input).map_err(JtlError::Read)?;
        let start = input.fill_buf().map_err(JtlError::Read)?;
        let first = start.iter().find(|byte| !byte.is_ascii_whitespace());
        let samples = if first == Some(&b'<') {
            let variables = configuration.variables.clone();
            Samples::Xml(Box::new(XmlSamples::new(input, variables)))
        } else {
            let line = start.split(|byte| *byte == b'\n').next().unwrap_or(start);
            let delimiter = delimiter(line);
            let formats = configuration.timestamp.candidates(zone);
            Samples::Csv(Box::new(CsvRows::new(
                input,
                delimiter,
                configuration,
                formats,
            )?))
        };
        Ok(Self {
            samples,
            left,
            over: false,
        })
    }

    /// Reads all samples; the first that cannot be read is the end.
    pub fn samples(self) -> Result<Vec<SampleRow>, JtlError> {
        self.collect()
    }
}

impl Iterator for JtlReader<'_> {
    type Item = Result<SampleRow, JtlError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.over {
            return None;
        }
        self.left.set(SAMPLE_BYTES_MAX);
        let next = match &mut self.samples {
            Samples::Csv(rows) => rows.next_row(),
            Samples::Xml(samples) => samples.next_sample(),
        };
        let next = next.transpose();
        let goes_on = |next: &Result<_, JtlError>| match next {
            Ok(_) => true,
            Err(error) => error.is_one_row(),
        };
        self.over = !next.as_ref().is_some_and(goes_on);
        next
    }
}

/// Input that gives up when one sample takes too many bytes.
pub(super) struct Bounded<'a> {
    inner: BufReader<Box<dyn Read + 'a>>,
    left: Rc<Cell<u64>>,
}

impl Read for Bounded<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let ready = self.fill_buf()?;
        let count = ready.len().min(buffer.len());
        buffer[..count].copy_from_slice(&ready[..count]);
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for Bounded<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.left.get() == 0 {
            let says = format!("one sample takes more than {SAMPLE_BYTES_MAX} bytes");
            return Err(io::Error::new(io::ErrorKind::InvalidData, says));
        }
        self.inner.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        self.left.set(self.left.get().saturating_sub(count as u64));
        self.inner.consume(count);
    }
}

/// A byte order mark says nothing that matters here.
fn skip_mark(input: &mut impl BufRead) -> io::Result<()> {
    const MARK: &[u8] = b"\xef\xbb\xbf";
    if input.fill_buf()?.starts_with(MARK) {
        input.consume(MARK.len());
    }
    Ok(())
}

/// What stands between cells: after the first column's name, or what is most frequent of the usual
/// ones.
fn delimiter(line: &[u8]) -> u8 {
    let name_length = line
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric())
        .count();
    if let (Some(after), true) = (line.get(name_length), is_column(&line[..name_length]))
        && !matches!(after, b'"' | b'\r')
    {
        return *after;
    }
    let text = String::from_utf8_lossy(line);
    let mut best = (0, b',');
    for candidate in *b",\t;|" {
        let count = text.matches(char::from(candidate)).count();
        if count > best.0 {
            best = (count, candidate);
        }
    }
    best.1
}

fn columns() -> impl Iterator<Item = &'static str> {
    COLUMNS.iter().flat_map(|(_, names)| names.iter().copied())
}

fn is_column(name: &[u8]) -> bool {
    columns().any(|column| column.as_bytes() == name)
}

/// Columns without which a row says nothing.
const REQUIRED: [&str; 4] = ["timeStamp", "elapsed", "label", "success"];

struct CsvRows<'a> {
    csv: ::csv::Reader<Bounded<'a>>,
    record: ByteRecord,
    /// The first row, when it is not a header.
    waiting: VecDeque<ByteRecord>,
    header: Vec<&'static str>,
    places: Vec<Option<usize>>,
    /// Places of the variables' values.
    variables: Vec<Option<usize>>,
    cells: usize,
    formats: Vec<TimestampFormat>,
}

impl<'a> CsvRows<'a> {
    fn new(
        input: Bounded<'a>,
        delimiter: u8,
        configuration: &SaveConfiguration,
        formats: Vec<TimestampFormat>,
    ) -> Result<Self, JtlError> {
        let mut csv = ReaderBuilder::new()
            .flexible(true)
            .has_headers(false)
            .delimiter(delimiter)
            .from_reader(input);
        let mut first = ByteRecord::new();
        csv.read_byte_record(&mut first).map_err(csv_error)?;
        let mut waiting = VecDeque::new();
        let names: Vec<Vec<u8>> = if first.iter().any(is_column) {
            first.iter().map(<[u8]>::to_vec).collect()
        } else {
            // The first line may be half of one: of the end of a longer file.
            let mut second = ByteRecord::new();
            csv.read_byte_record(&mut second).map_err(csv_error)?;
            waiting.extend([first, second].into_iter().filter(|row| !row.is_empty()));
            written_columns(configuration)
        };
        let header: Vec<&'static str> = columns().collect();
        let places: Vec<Option<usize>> = header
            .iter()
            .map(|column| names.iter().position(|name| name == column.as_bytes()))
            .collect();
        for required in REQUIRED {
            if !names.iter().any(|name| name == required.as_bytes()) {
                return Err(JtlError::Column(required));
            }
        }
        let rows = Self {
            csv,
            record: ByteRecord::new(),
            waiting,
            header,
            places,
            variables: (configuration.variables.iter())
                .map(|variable| names.iter().position(|name| name == variable.as_bytes()))
                .collect(),
            cells: names.len(),
            formats,
        };
        match rows.waiting.front() {
            Some(first) if !rows.waiting.iter().any(|row| rows.row(row).is_ok()) => {
                let begin: Vec<_> = first.iter().map(String::from_utf8_lossy).collect();
                Err(JtlError::NoHeader {
                    cells: rows.cells,
                    begin: shown(&begin.join(&char::from(delimiter).to_string())),
                })
            }
            _ => Ok(rows),
        }
    }

    fn next_row(&mut self) -> Result<Option<SampleRow>, JtlError> {
        if let Some(first) = self.waiting.pop_front() {
            return self.row(&first).map(Some);
        }
        let mut record = std::mem::take(&mut self.record);
        let more = self.csv.read_byte_record(&mut record).map_err(csv_error)?;
        let row = more.then(|| self.row(&record)).transpose();
        self.record = record;
        row
    }

    fn row(&self, record: &ByteRecord) -> Result<SampleRow, JtlError> {
        if record.len() < self.cells {
            // The last row of a file whose writer was killed.
            return Err(JtlError::Short {
                line: line_of(record),
                cells: record.len(),
                of: self.cells,
                begin: shown(&String::from_utf8_lossy(
                    record.iter().next().unwrap_or_default(),
                )),
            });
        }
        let cells = Cells { rows: self, record };
        let message = cells.text("responseMessage");
        let url = cells.text("URL");
        let url = if url == "null" { "".into() } else { url };
        Ok(SampleRow {
            timestamp_ms: cells.moment()?,
            elapsed_ms: cells.number("elapsed")?,
            label: cells.text("label").into(),
            response_code: cells.text("responseCode").into(),
            // Words of JMeter.
            is_transaction: message.starts_with(TRANSACTION_MESSAGE),
            response_message: message.into(),
            thread_name: cells.text("threadName").into(),
            data_type: DataType::of(&cells.text("dataType")),
            success: cells.success()?,
            failure_message: cells.text("failureMessage").into(),
            received_bytes: cells.number("bytes")?,
            sent_bytes: cells.number("sentBytes")?,
            group_threads: cells.number("grpThreads")? as u32,
            all_threads: cells.number("allThreads")? as u32,
            is_http: !url.is_empty(),
            url: url.into(),
            latency_ms: cells.number("Latency")?,
            idle_ms: cells.number("IdleTime")?,
            connect_ms: cells.number("Connect")?,
            children: Vec::new(),
            details: self.details(&cells),
        })
    }

    /// What few files say.
    fn details(&self, cells: &Cells<'_, '_>) -> Option<Box<SampleDetails>> {
        let (encoding, file_name) = (cells.text("Encoding"), cells.text("Filename"));
        if encoding.is_empty() && file_name.is_empty() && self.variables.is_empty() {
            return None;
        }
        Some(Box::new(SampleDetails {
            encoding: encoding.into(),
            file_name: file_name.into(),
            variables: (self.variables.iter())
                .map(|place| Some(cells.at(*place).into_owned()))
                .collect(),
            ..SampleDetails::default()
        }))
    }
}

/// The columns of a file without a header.
fn written_columns(configuration: &SaveConfiguration) -> Vec<Vec<u8>> {
    let written = |(field, names): &(Field, &'static [&'static str])| {
        let names = if configuration.has(*field) {
            *names
        } else {
            &[]
        };
        names.iter().map(|name| name.as_bytes().to_vec())
    };
    let variables = configuration.variables.iter();
    COLUMNS
        .iter()
        .flat_map(written)
        .chain(variables.map(|name| name.as_bytes().to_vec()))
        .collect()
}

fn line_of(record: &ByteRecord) -> u64 {
    record.position().map_or(0, ::csv::Position::line)
}

fn csv_error(error: ::csv::Error) -> JtlError {
    let says = error.to_string();
    match error.into_kind() {
        ::csv::ErrorKind::Io(source) => JtlError::Read(source),
        _ => JtlError::Read(io::Error::new(io::ErrorKind::InvalidData, says)),
    }
}

struct Cells<'r, 'a> {
    rows: &'r CsvRows<'a>,
    record: &'r ByteRecord,
}

impl<'r> Cells<'r, '_> {
    fn text(&self, column: &str) -> std::borrow::Cow<'r, str> {
        let at = self.rows.header.iter().position(|name| *name == column);
        self.at(at.and_then(|at| self.rows.places[at]))
    }

    fn at(&self, place: Option<usize>) -> std::borrow::Cow<'r, str> {
        let cell = place.and_then(|place| self.record.get(place));
        String::from_utf8_lossy(cell.unwrap_or_default())
    }

    fn number(&self, column: &'static str) -> Result<u64, JtlError> {
        let text = self.text(column);
        match &*text {
            "" => Ok(0),
            text => text.parse().map_err(|_| self.wrong(column, text)),
        }
    }

    fn success(&self) -> Result<bool, JtlError> {
        match &*self.text("success") {
            "" => Ok(false),
            text if text.eq_ignore_ascii_case("true") => Ok(true),
            text if text.eq_ignore_ascii_case("false") => Ok(false),
            text => Err(self.wrong("success", text)),
        }
    }

    /// The start of the sample, however the file writes it.
    fn moment(&self) -> Result<u64, JtlError> {
        let text = self.text("timeStamp");
        if let Ok(epoch_ms) = text.parse() {
            return Ok(epoch_ms);
        }
        let mut formats = self.rows.formats.iter();
        formats
            .find_map(|format| format.read(&text))
            .ok_or_else(|| self.wrong("timeStamp", &text))
    }

    fn wrong(&self, column: &'static str, cell: &str) -> JtlError {
        JtlError::Cell {
            line: line_of(self.record),
            column,
            cell: shown(cell),
        }
    }
}

/// As much of a text as an error shows.
fn shown(text: &str) -> String {
    const SHOWN: usize = 80;
    text.chars().take(SHOWN).collect()
}
