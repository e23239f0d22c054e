//! Samples as elements of an XML file.
//!
//! Layout and escapes are those of the library that JMeter writes with: two blanks a level, an
//! element without parts closed at once, texts escaped so that they also fit into attributes.

use std::fmt::Write as _;

use weir_charset::Charset;

use super::configuration::{Field, SaveConfiguration};
use crate::sample::{AssertionResult, DataType, SampleDetails, SampleRow};

/// What a file begins with.
pub(super) fn beginning(configuration: &SaveConfiguration) -> String {
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    if !configuration.xml_instruction.is_empty() {
        text.push_str(&configuration.xml_instruction);
        text.push('\n');
    }
    text.push_str("<testResults version=\"1.2\">\n");
    text
}

/// What a file ends with.
pub(super) const END: &str = "\n</testResults>\n";

/// The element of a sample.
pub(super) fn element(configuration: &SaveConfiguration, sample: &SampleRow, out: &mut String) {
    let mut writer = Elements {
        configuration,
        out,
        depth: 0,
    };
    writer.sample(sample);
}

struct Elements<'a> {
    configuration: &'a SaveConfiguration,
    out: &'a mut String,
    depth: usize,
}

impl Elements<'_> {
    fn sample(&mut self, sample: &SampleRow) {
        let name = if sample.is_http {
            "httpSample"
        } else {
            "sample"
        };
        self.indent();
        let _ = write!(self.out, "<{name}");
        self.attributes(sample);
        let open = self.out.len();
        self.out.push_str(">\n");
        let inside = self.out.len();
        self.depth += 1;
        self.parts(sample);
        self.depth -= 1;
        if self.out.len() == inside {
            self.out.truncate(open);
            self.out.push_str("/>\n");
        } else {
            self.indent();
            let _ = writeln!(self.out, "</{name}>");
        }
    }

    fn attributes(&mut self, sample: &SampleRow) {
        let details = sample.details.as_deref();
        let numbers = [
            (Field::Time, "t", sample.elapsed_ms),
            (Field::IdleTime, "it", sample.idle_ms),
            (Field::Latency, "lt", sample.latency_ms),
            (Field::ConnectTime, "ct", sample.connect_ms),
            (Field::Timestamp, "ts", sample.timestamp_ms),
        ];
        for (field, name, value) in numbers {
            self.number(field, name, value);
        }
        let success = if sample.success { "true" } else { "false" };
        let encoding = details.map_or("", |details| &details.encoding);
        let texts = [
            (Field::Success, "s", success),
            (Field::Label, "lb", &*sample.label),
            (Field::ResponseCode, "rc", &*sample.response_code),
            (Field::ResponseMessage, "rm", &*sample.response_message),
            (Field::ThreadName, "tn", &*sample.thread_name),
            (Field::DataType, "dt", sample.data_type.spelling()),
            (Field::Encoding, "de", encoding),
        ];
        for (field, name, value) in texts {
            if self.configuration.has(field) {
                self.attribute(name, value);
            }
        }
        self.number(Field::Bytes, "by", sample.received_bytes);
        self.number(Field::SentBytes, "sby", sample.sent_bytes);
        self.number(Field::SampleCount, "sc", 1);
        self.number(Field::SampleCount, "ec", u64::from(!sample.success));
        self.number(Field::ThreadCounts, "ng", sample.group_threads.into());
        self.number(Field::ThreadCounts, "na", sample.all_threads.into());
        let configuration = self.configuration;
        if configuration.has(Field::HostName) {
            self.attribute("hn", &configuration.host_name);
        }
        let values = details.map_or(&[][..], |details| &details.variables);
        for (at, name) in configuration.variables.iter().enumerate() {
            let value = values.get(at).and_then(Option::as_deref);
            // JMeter's writer of XML doubles what it uses to spell dollar signs in names.
            let name = name.replace('_', "__").replace('$', "_-");
            self.attribute(&name, value.unwrap_or_default());
        }
    }

    fn parts(&mut self, sample: &SampleRow) {
        let empty = SampleDetails::default();
        let details = sample.details.as_deref().unwrap_or(&empty);
        let configuration = self.configuration;
        if configuration.has(Field::Assertions) {
            for assertion in &details.assertions {
                self.assertion(assertion);
            }
        }
        if configuration.has(Field::SubResults) {
            for part in &sample.children {
                self.sample(part);
            }
        }
        if configuration.has(Field::ResponseHeaders) {
            self.string("responseHeader", &details.response_headers);
        }
        if configuration.has(Field::RequestHeaders) {
            self.string("requestHeader", &details.request_headers);
        }
        if configuration.wants_body(sample.success) {
            self.body(sample, details);
        }
        if configuration.has(Field::FileName) {
            self.string("responseFile", &details.file_name);
        }
        if configuration.wants_request(sample.success) {
            self.sent(sample, details);
        }
        if sample.is_http && configuration.has(Field::Url) {
            self.url(&sample.url);
        }
    }

    fn body(&mut self, sample: &SampleRow, details: &SampleDetails) {
        if sample.data_type == DataType::Text {
            if let Some(body) = &details.response_data {
                let text = decoded(body, &details.encoding);
                self.string("responseData", &text);
            }
        } else {
            let kind = sample.data_type.spelling();
            let text = format!("Non-TEXT response data, cannot record: ({kind})");
            self.string("responseData", &text);
        }
    }

    fn url(&mut self, url: &str) {
        if url.is_empty() {
            self.indent();
            self.out.push_str("<null/>\n");
        } else {
            self.plain("java.net.URL", url);
        }
    }

    fn sent(&mut self, sample: &SampleRow, details: &SampleDetails) {
        if sample.is_http {
            self.string("cookies", &details.cookies);
            // A request that has no URL has none either.
            if !details.method.is_empty() {
                self.string("method", &details.method);
            }
            self.string("queryString", &details.query);
            if !details.redirect_location.is_empty() {
                self.string("redirectLocation", &details.redirect_location);
            }
        } else if let Some(sent) = &details.sampler_data {
            self.string("samplerData", sent);
        }
    }

    fn assertion(&mut self, assertion: &AssertionResult) {
        self.indent();
        self.out.push_str("<assertionResult>\n");
        self.depth += 1;
        let word = |on| if on { "true" } else { "false" };
        self.plain("name", &assertion.name);
        self.plain("failure", word(assertion.failure));
        self.plain("error", word(assertion.error));
        if let Some(message) = &assertion.message {
            self.plain("failureMessage", message);
        }
        self.depth -= 1;
        self.indent();
        self.out.push_str("</assertionResult>\n");
    }

    fn string(&mut self, name: &str, text: &str) {
        self.indent();
        let _ = write!(self.out, "<{name} class=\"java.lang.String\">");
        escape(text, false, self.out);
        let _ = writeln!(self.out, "</{name}>");
    }

    fn plain(&mut self, name: &str, text: &str) {
        self.indent();
        let _ = write!(self.out, "<{name}>");
        escape(text, false, self.out);
        let _ = writeln!(self.out, "</{name}>");
    }

    fn number(&mut self, field: Field, name: &str, value: u64) {
        if self.configuration.has(field) {
            let _ = write!(self.out, " {name}=\"{value}\"");
        }
    }

    fn attribute(&mut self, name: &str, value: &str) {
        let _ = write!(self.out, " {name}=\"");
        escape(value, true, self.out);
        self.out.push('"');
    }

    fn indent(&mut self) {
        for _ in 0..self.depth {
            self.out.push_str("  ");
        }
    }
}

/// A body as text, with a replacement character for what is none; in UTF-8 unless the response says
/// otherwise.
fn decoded<'a>(body: &'a [u8], encoding: &str) -> std::borrow::Cow<'a, str> {
    Charset::named(encoding).unwrap_or_default().decode(body)
}

/// Whether Unicode will never give a meaning to it; XML has no place for some of them.
fn is_no_character(letter: char) -> bool {
    let code = u32::from(letter);
    code & 0xfffe == 0xfffe || (0xfdd0..=0xfdef).contains(&code)
}

fn escape(text: &str, in_attribute: bool, out: &mut String) {
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            '\t' | '\n' if !in_attribute => out.push(letter),
            letter if letter.is_control() || is_no_character(letter) => {
                let _ = write!(out, "&#x{:x};", u32::from(letter));
            }
            letter => out.push(letter),
        }
    }
}
