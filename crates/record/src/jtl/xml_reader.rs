//! Samples read from an XML file.

use std::io::BufRead;

use quick_xml::Reader;
use quick_xml::errors::SyntaxError;
use quick_xml::events::{BytesStart, Event};

use super::JtlError;
use crate::sample::{AssertionResult, DataType, SampleDetails, SampleRow, TRANSACTION_MESSAGE};

/// How deep samples may lie in samples: JMeter's own redirects end after 20.
const DEPTH_MAX: usize = 64;

/// Samples of a file, each when its element has ended. Elements that are not known are passed over;
/// nothing outside the file is ever read, entities of its own are not expanded.
pub(super) struct XmlSamples<R> {
    xml: Reader<R>,
    buffer: Vec<u8>,
    /// The samples that are open, outermost first.
    open: Vec<SampleRow>,
    assertion: Option<AssertionResult>,
    /// Text of the element that is open, when it is not a sample.
    text: String,
    /// Attributes that are values of variables.
    variables: Vec<String>,
}

impl<R: BufRead> XmlSamples<R> {
    pub(super) fn new(input: R, variables: Vec<String>) -> Self {
        Self {
            xml: Reader::from_reader(input),
            buffer: Vec::new(),
            open: Vec::new(),
            assertion: None,
            text: String::new(),
            variables,
        }
    }

    pub(super) fn next_sample(&mut self) -> Result<Option<SampleRow>, JtlError> {
        loop {
            let mut buffer = std::mem::take(&mut self.buffer);
            buffer.clear();
            let event = self.xml.read_event_into(&mut buffer);
            let done = match event {
                Ok(Event::Eof) => return self.at_end(),
                Ok(event) => self.event(&event),
                Err(quick_xml::Error::Io(error)) => {
                    let again = std::io::Error::new(error.kind(), error.to_string());
                    return Err(JtlError::Read(again));
                }
                // What is not closed when the file ends: the writer was killed inside a tag.
                Err(quick_xml::Error::Syntax(unclosed))
                    if unclosed != SyntaxError::InvalidBangMarkup =>
                {
                    return Err(self.cut_off());
                }
                Err(error) => Err(error.to_string()),
            };
            let at = self.xml.buffer_position();
            self.buffer = buffer;
            match done {
                Ok(None) => {}
                Ok(Some(sample)) => return Ok(Some(sample)),
                Err(says) => return Err(JtlError::Xml { at, says }),
            }
        }
    }

    /// A file whose writer was killed ends inside an element: what was whole has been read.
    fn at_end(&self) -> Result<Option<SampleRow>, JtlError> {
        match self.open.first() {
            None => Ok(None),
            Some(_) => Err(self.cut_off()),
        }
    }

    fn cut_off(&self) -> JtlError {
        let open = self.open.first();
        JtlError::CutOff {
            at: self.xml.buffer_position(),
            inside: open.map_or("a sample".to_owned(), |open| {
                format!("the sample `{}`", open.label)
            }),
        }
    }

    fn event(&mut self, event: &Event<'_>) -> Result<Option<SampleRow>, String> {
        match event {
            Event::Start(start) => {
                self.start(start)?;
                Ok(None)
            }
            Event::Empty(start) => {
                self.start(start)?;
                Ok(self.end(start.name().as_ref()))
            }
            Event::End(end) => Ok(self.end(end.name().as_ref())),
            Event::Text(text) => {
                self.text.push_str(&text.xml10_content());
                Ok(None)
            }
            Event::CData(text) => {
                self.text.push_str(&text.xml10_content());
                Ok(None)
            }
            Event::GeneralRef(reference) => {
                let name = reference.xml10_content();
                if let Ok(Some(letter)) = reference.resolve_char_ref() {
                    self.text.push(letter);
                } else if let Some(known) = quick_xml::escape::resolve_xml_entity(&name) {
                    self.text.push_str(known);
                }
                Ok(None)
            }
            _ => Ok(None),
        }
    }

    fn start(&mut self, start: &BytesStart<'_>) -> Result<(), String> {
        self.text.clear();
        if is_sample(start.name().as_ref()) {
            if self.open.len() == DEPTH_MAX {
                return Err(format!("samples lie more than {DEPTH_MAX} deep"));
            }
            self.open.push(sample(start, &self.variables)?);
        } else if start.name().as_ref() == "assertionResult" {
            self.assertion = Some(AssertionResult::default());
        }
        Ok(())
    }

    /// An element has ended; the sample, when it was an outermost one.
    fn end(&mut self, name: &str) -> Option<SampleRow> {
        let text = std::mem::take(&mut self.text);
        if is_sample(name) {
            let done = self.open.pop()?;
            return match self.open.last_mut() {
                Some(whole) => {
                    whole.children.push(done);
                    None
                }
                None => Some(done),
            };
        }
        let sample = self.open.last_mut()?;
        match (&mut self.assertion, name) {
            (Some(assertion), "name") => assertion.name = text,
            (Some(assertion), "failure") => assertion.failure = text == "true",
            (Some(assertion), "error") => assertion.error = text == "true",
            (Some(assertion), "failureMessage") => assertion.message = Some(text),
            (Some(_), "assertionResult") => {
                let assertion = self.assertion.take()?;
                if sample.failure_message.is_empty() {
                    let message = assertion.message.as_deref();
                    sample.failure_message = message.unwrap_or_default().into();
                }
                details(sample).assertions.push(assertion);
            }
            _ => part(sample, name, text),
        }
        None
    }
}

fn is_sample(name: &str) -> bool {
    name == "sample" || name == "httpSample"
}

fn details(sample: &mut SampleRow) -> &mut SampleDetails {
    sample.details.get_or_insert_default()
}

fn part(sample: &mut SampleRow, name: &str, text: String) {
    match name {
        "java.net.URL" => sample.url = text.into(),
        "responseHeader" => details(sample).response_headers = text,
        "requestHeader" => details(sample).request_headers = text,
        "responseData" => details(sample).response_data = Some(text.into_bytes()),
        "responseFile" => details(sample).file_name = text,
        "samplerData" => details(sample).sampler_data = Some(text),
        "cookies" => details(sample).cookies = text,
        "method" => details(sample).method = text,
        "queryString" => details(sample).query = text,
        "redirectLocation" => details(sample).redirect_location = text,
        _ => {}
    }
}

fn sample(start: &BytesStart<'_>, variables: &[String]) -> Result<SampleRow, String> {
    let mut row = SampleRow {
        is_http: start.name().as_ref() == "httpSample",
        ..SampleRow::default()
    };
    for attribute in start.attributes() {
        let attribute = attribute.map_err(|error| error.to_string())?;
        let value = attribute
            .normalized_value(quick_xml::XmlVersion::Implicit1_0)
            .map_err(|error| error.to_string())?;
        let name = attribute.key.as_ref();
        if let Some(at) = variables.iter().position(|variable| variable == name) {
            let values = &mut details(&mut row).variables;
            values.resize(variables.len(), None);
            values[at] = Some(value.clone().into_owned());
        }
        set(&mut row, name, &value).map_err(|()| format!("`{value}` is no number for a sample"))?;
    }
    row.is_transaction = !row.is_http && row.response_message.starts_with(TRANSACTION_MESSAGE);
    Ok(row)
}

fn set(row: &mut SampleRow, name: &str, value: &str) -> Result<(), ()> {
    let number = || value.parse::<u64>().map_err(|_| ());
    match name {
        "t" => row.elapsed_ms = number()?,
        "it" => row.idle_ms = number()?,
        "lt" => row.latency_ms = number()?,
        "ct" => row.connect_ms = number()?,
        "ts" => row.timestamp_ms = number()?,
        "s" => row.success = value.eq_ignore_ascii_case("true"),
        "lb" => row.label = value.into(),
        "rc" => row.response_code = value.into(),
        "rm" => row.response_message = value.into(),
        "tn" => row.thread_name = value.into(),
        "dt" => row.data_type = DataType::of(value),
        "de" => value.clone_into(&mut details(row).encoding),
        "by" => row.received_bytes = number()?,
        "sby" => row.sent_bytes = number()?,
        "ng" => row.group_threads = number()? as u32,
        "na" => row.all_threads = number()? as u32,
        _ => {}
    }
    Ok(())
}
