//! What of each sample is written.

use jiff::tz::TimeZone;

use super::JtlError;
use super::timestamp::TimestampFormat;

/// Something of a sample that is written or left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// Elapsed time.
    Time,
    /// Latency.
    Latency,
    /// Time to connect.
    ConnectTime,
    /// Start of the sample.
    Timestamp,
    /// Whether it succeeded.
    Success,
    /// Label.
    Label,
    /// Response code.
    ResponseCode,
    /// Response message.
    ResponseMessage,
    /// Name of the user.
    ThreadName,
    /// Text or binary.
    DataType,
    /// Character set of the response.
    Encoding,
    /// Assertion results, in XML.
    Assertions,
    /// Sub-samples.
    SubResults,
    /// Body of the response, in XML.
    ResponseData,
    /// Body of the response of samples that failed, in XML.
    ResponseDataOnError,
    /// What was sent, in XML.
    SamplerData,
    /// Header of the response, in XML.
    ResponseHeaders,
    /// Header of the request, in XML.
    RequestHeaders,
    /// The first failed assertion's message, in CSV.
    FailureMessage,
    /// Bytes received.
    Bytes,
    /// Bytes sent.
    SentBytes,
    /// URL.
    Url,
    /// File that the response was saved to.
    FileName,
    /// Name of the machine.
    HostName,
    /// Users running.
    ThreadCounts,
    /// How many samples this one stands for, and how many of them failed.
    SampleCount,
    /// Time that does not count.
    IdleTime,
    /// The header of a CSV file.
    FieldNames,
}

/// Each field's property (after `jmeter.save.saveservice.`), its tag in a plan's `saveConfig`, and
/// whether JMeter 5.6.3 writes it by default.
const FIELDS: [(Field, &str, &str, bool); 28] = [
    (Field::Time, "time", "time", true),
    (Field::Latency, "latency", "latency", true),
    (Field::ConnectTime, "connect_time", "connectTime", true),
    // Not a property of its own: `timestamp_format=none` switches it off.
    (Field::Timestamp, "", "timestamp", true),
    (Field::Success, "successful", "success", true),
    (Field::Label, "label", "label", true),
    (Field::ResponseCode, "response_code", "code", true),
    (Field::ResponseMessage, "response_message", "message", true),
    (Field::ThreadName, "thread_name", "threadName", true),
    (Field::DataType, "data_type", "dataType", true),
    (Field::Encoding, "encoding", "encoding", false),
    (Field::Assertions, "assertions", "assertions", true),
    (Field::SubResults, "subresults", "subresults", true),
    (Field::ResponseData, "response_data", "responseData", false),
    (
        Field::ResponseDataOnError,
        "response_data.on_error",
        "responseDataOnError",
        false,
    ),
    (Field::SamplerData, "samplerData", "samplerData", false),
    (
        Field::ResponseHeaders,
        "responseHeaders",
        "responseHeaders",
        false,
    ),
    (
        Field::RequestHeaders,
        "requestHeaders",
        "requestHeaders",
        false,
    ),
    (
        Field::FailureMessage,
        "assertion_results_failure_message",
        "saveAssertionResultsFailureMessage",
        true,
    ),
    (Field::Bytes, "bytes", "bytes", true),
    (Field::SentBytes, "sent_bytes", "sentBytes", true),
    (Field::Url, "url", "url", true),
    (Field::FileName, "filename", "fileName", false),
    (Field::HostName, "hostname", "hostname", false),
    (Field::ThreadCounts, "thread_counts", "threadCounts", true),
    (Field::SampleCount, "sample_count", "sampleCount", false),
    (Field::IdleTime, "idle_time", "idleTime", true),
    (Field::FieldNames, "print_field_names", "fieldNames", true),
];

const PREFIX: &str = "jmeter.save.saveservice.";

/// How a result file is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum JtlFormat {
    /// One row a sample.
    #[default]
    Csv,
    /// One element a sample.
    Xml,
}

/// What of each sample is written, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct SaveConfiguration {
    /// CSV or XML.
    pub format: JtlFormat,
    /// One bit for each [`Field`].
    fields: u32,
    /// How the start of a sample is written in CSV.
    pub timestamp: TimestampFormat,
    /// Stands between two cells; never a quote or a line end.
    pub delimiter: char,
    /// Names of the variables whose values are written with each sample, last.
    pub variables: Vec<String>,
    /// A processing instruction for the second line of an XML file; empty: none.
    pub xml_instruction: String,
    /// Name of this machine.
    pub host_name: String,
    /// Everything goes to the file after each sample, not only when the writer has nothing to do.
    pub flush_each: bool,
}

impl Default for SaveConfiguration {
    /// What JMeter 5.6.3 writes when nobody says anything.
    fn default() -> Self {
        let mut made = Self::nothing();
        for (field, _, _, by_default) in FIELDS {
            made.set(field, by_default);
        }
        made
    }
}

impl SaveConfiguration {
    fn nothing() -> Self {
        Self {
            format: JtlFormat::Csv,
            fields: 0,
            timestamp: TimestampFormat::Milliseconds,
            delimiter: ',',
            variables: Vec::new(),
            xml_instruction: String::new(),
            host_name: String::new(),
            flush_each: false,
        }
    }

    /// As JMeter's properties say. `property` looks one up; `zone` is where dates are told.
    pub fn from_properties(
        property: impl Fn(&str) -> Option<String>,
        zone: &TimeZone,
    ) -> Result<Self, JtlError> {
        let switch = |name: &str, otherwise: bool| {
            property(&format!("{PREFIX}{name}"))
                .map_or(otherwise, |value| value.trim().eq_ignore_ascii_case("true"))
        };
        let text = |name: &str| property(&format!("{PREFIX}{name}")).unwrap_or_default();
        let mut made = Self::nothing();
        for (field, name, _, by_default) in FIELDS {
            let on = name.is_empty() || switch(name, by_default);
            made.set(field, on);
        }
        if text("output_format").eq_ignore_ascii_case("xml") {
            made.format = JtlFormat::Xml;
        }
        made.timestamp = TimestampFormat::parse(&text("timestamp_format"), zone)?;
        if made.timestamp == TimestampFormat::None {
            made.set(Field::Timestamp, false);
        }
        made.delimiter = delimiter(&text("default_delimiter"))?;
        made.xml_instruction = text("xml_pi");
        made.flush_each = switch("autoflush", false);
        let variables = property("sample_variables").unwrap_or_default();
        made.variables = variables
            .split(',')
            .map(|name| name.trim().to_owned())
            .filter(|name| !name.is_empty())
            .collect();
        Ok(made)
    }

    /// As the `saveConfig` of a listener in a plan says: names and texts of its elements, such as
    /// `("threadName", "true")`. What it does not name is not written; what it cannot say (dates,
    /// delimiter, variables) is as for all files of the test.
    pub fn of_listener<'a>(
        saved: impl IntoIterator<Item = (&'a str, &'a str)>,
        all: &Self,
    ) -> Self {
        let mut made = Self {
            fields: 0,
            format: JtlFormat::Csv,
            ..all.clone()
        };
        for (name, value) in saved {
            let on = value.trim().eq_ignore_ascii_case("true");
            if name == "xml" {
                made.format = if on { JtlFormat::Xml } else { JtlFormat::Csv };
            }
            if let Some((field, ..)) = FIELDS.iter().find(|(_, _, tag, _)| *tag == name) {
                made.set(*field, on);
            }
        }
        made
    }

    /// Whether a field is written.
    pub fn has(&self, field: Field) -> bool {
        self.fields & (1 << field as u32) != 0
    }

    /// Writes a field, or does not.
    pub fn set(&mut self, field: Field, on: bool) {
        let bit = 1 << field as u32;
        if on {
            self.fields |= bit;
        } else {
            self.fields &= !bit;
        }
    }

    /// Whether the engine has to keep a sample's [`SampleDetails`](crate::SampleDetails) at all.
    pub fn wants_details(&self) -> bool {
        let of_both = [Field::Encoding, Field::FileName];
        let of_xml = [
            Field::Assertions,
            Field::ResponseData,
            Field::ResponseDataOnError,
            Field::SamplerData,
            Field::ResponseHeaders,
            Field::RequestHeaders,
        ];
        let any = |fields: &[Field]| fields.iter().any(|field| self.has(*field));
        !self.variables.is_empty()
            || any(&of_both)
            || (self.format == JtlFormat::Xml && any(&of_xml))
    }

    /// Whether the body of a sample's response is written.
    pub fn wants_body(&self, success: bool) -> bool {
        self.format == JtlFormat::Xml
            && (self.has(Field::ResponseData) || (!success && self.has(Field::ResponseDataOnError)))
    }

    /// Whether what was sent is written; with the response of a failed sample it always is
    /// (JMeter).
    pub fn wants_request(&self, success: bool) -> bool {
        self.has(Field::SamplerData) || !success && self.has(Field::ResponseDataOnError)
    }
}

fn delimiter(given: &str) -> Result<char, JtlError> {
    let given = if given == "\\t" { "\t" } else { given };
    let mut letters = given.chars();
    match (letters.next(), letters.next()) {
        (None, _) => Ok(','),
        (Some(one), None)
            if one == '\t' || (!one.is_control() && one != '"' && !one.is_alphanumeric()) =>
        {
            Ok(one)
        }
        _ => Err(JtlError::Setting {
            setting: "jmeter.save.saveservice.default_delimiter",
            value: given.to_owned(),
            must: "it is one printable character that is no letter, digit or quote, or \\t",
        }),
    }
}
