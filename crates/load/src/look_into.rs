//! What the plan takes out of responses and demands of them.

use std::borrow::Cow;
use std::sync::Arc;

use weir_plan::{Assertion, Extractor, PostProcessor};
use weir_record::{AssertionResult, SampleDetails, SampleRow};
use weir_response::{AssertionOutcome, SampleLost, SampleView, Verdict, check, extract};
use weir_script::{SentRequest, Text, Variables};

use crate::response::Kept;
use crate::scripts::{apply_to_row, sample_of};
use crate::user::User;
use crate::work::Step;

/// What can be seen of a sample beside its row.
#[derive(Debug, Default)]
pub(crate) struct Seen<'a> {
    pub(crate) response_headers: String,
    pub(crate) request_headers: String,
    pub(crate) request_data: String,
    pub(crate) body: Cow<'a, [u8]>,
    content_type: String,
    charset: Option<String>,
    header_bytes: u64,
}

impl<'a> Seen<'a> {
    /// A sample that is not HTTP.
    pub(crate) fn text(request_data: String, body: &'a [u8]) -> Self {
        Self {
            request_data,
            body: Cow::Borrowed(body),
            ..Self::default()
        }
    }

    /// An HTTP request and its response.
    pub(crate) fn http(sent: &SentRequest, kept: &'a Kept) -> Self {
        let head = kept.head_text();
        let lines = head.lines().filter(|line| !line.is_empty());
        let response_headers: String = lines.flat_map(|line| [line, "\n"]).collect();
        let content_type = field(&response_headers, "content-type").unwrap_or_default();
        let content_type = content_type.to_owned();
        let (request_headers, request_data) = request_texts(sent);
        Self {
            header_bytes: kept.head.len() as u64,
            response_headers,
            request_headers,
            request_data,
            body: Cow::Borrowed(&kept.body),
            charset: charset(&content_type).map(str::to_owned),
            content_type: media_type(&content_type).to_owned(),
        }
    }

    pub(crate) fn view<'s>(&'s self, row: &'s SampleRow) -> SampleView<'s> {
        SampleView {
            url: (!row.url.is_empty()).then_some(&*row.url),
            response_code: &row.response_code,
            response_message: &row.response_message,
            response_headers: &self.response_headers,
            request_headers: &self.request_headers,
            request_data: &self.request_data,
            body: &self.body,
            encoding: self.charset.as_deref(),
            content_type: &self.content_type,
            successful: row.success,
            elapsed_ms: row.elapsed_ms,
            received_bytes: row.received_bytes,
            header_bytes: self.header_bytes,
            body_bytes: row.received_bytes.saturating_sub(self.header_bytes),
            children: row.children.iter().map(part_view).collect(),
            ..SampleView::default()
        }
    }
}

/// The value of a header field.
pub(crate) fn field<'h>(head: &'h str, name: &str) -> Option<&'h str> {
    head.lines().find_map(|line| {
        let (found, value) = line.split_once(':')?;
        let found = found.trim().eq_ignore_ascii_case(name);
        found.then(|| value.trim())
    })
}

/// The media type in a content type, without its parameters.
pub(crate) fn media_type(content_type: &str) -> &str {
    content_type.split(';').next().unwrap_or_default().trim()
}

/// The character set that a content type names.
pub(crate) fn charset(content_type: &str) -> Option<&str> {
    content_type.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let found = name.trim().eq_ignore_ascii_case("charset");
        found.then(|| value.trim().trim_matches('"'))
    })
}

/// What can be seen of a part of a sample, kept with its row until the sample has been judged.
pub(crate) fn part_details(sent: &SentRequest, kept: Option<&Kept>) -> SampleDetails {
    let empty = Kept::default();
    let seen = Seen::http(sent, kept.unwrap_or(&empty));
    SampleDetails {
        response_data: Some(seen.body.to_vec()),
        response_headers: seen.response_headers,
        request_headers: seen.request_headers,
        sampler_data: Some(seen.request_data),
        encoding: seen.charset.unwrap_or_default(),
        ..SampleDetails::default()
    }
}

/// A part of a sample as extractors and assertions see it.
fn part_view(row: &SampleRow) -> SampleView<'_> {
    let mut view = SampleView {
        url: (!row.url.is_empty()).then_some(&*row.url),
        response_code: &row.response_code,
        response_message: &row.response_message,
        successful: row.success,
        elapsed_ms: row.elapsed_ms,
        received_bytes: row.received_bytes,
        children: row.children.iter().map(part_view).collect(),
        ..SampleView::default()
    };
    if let Some(details) = &row.details {
        let headers = &details.response_headers;
        // On the wire each line had one byte more, and an empty line followed.
        view.header_bytes = (headers.len() + headers.lines().count() + 2) as u64;
        view.body_bytes = row.received_bytes.saturating_sub(view.header_bytes);
        view.response_headers = headers;
        view.request_headers = &details.request_headers;
        view.request_data = details.sampler_data.as_deref().unwrap_or_default();
        view.body = details.response_data.as_deref().unwrap_or_default();
        view.encoding = Some(&details.encoding);
        view.content_type = media_type(field(headers, "content-type").unwrap_or_default());
    }
    view
}

/// Writes what was said of a sample and its parts into their rows.
fn settle(row: &mut SampleRow, verdict: Verdict) {
    row.success = verdict.successful;
    if let Some(message) = verdict.failure_message() {
        row.failure_message = Arc::from(message);
    }
    for (part, verdict) in row.children.iter_mut().zip(verdict.children) {
        settle(part, verdict);
    }
    if verdict.outcomes.is_empty() {
        return;
    }
    let results = verdict.outcomes.into_iter().map(|outcome| AssertionResult {
        name: outcome.name,
        failure: outcome.failure,
        error: outcome.error,
        message: outcome.message,
    });
    row.details.get_or_insert_default().assertions = results.collect();
}

/// Lets go of what was kept of parts for extractors and assertions.
fn forget(parts: &mut [SampleRow]) {
    for part in parts {
        let said = part.details.take().map(|details| details.assertions);
        part.details = said.filter(|said| !said.is_empty()).map(|assertions| {
            Box::new(SampleDetails {
                assertions,
                ..SampleDetails::default()
            })
        });
        forget(&mut part.children);
    }
}

/// Header fields, and method, URL and body, as JMeter shows them: without the content of files.
fn request_texts(sent: &SentRequest) -> (String, String) {
    let characters = |bytes: &[u8]| -> String { bytes.iter().copied().map(char::from).collect() };
    let mut text = characters(&sent.bytes);
    for upload in &sent.uploads {
        text.push_str("<actual file content, not shown here>");
        text.push_str(&characters(&upload.after));
    }
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let (first, fields) = head.split_once("\r\n").unwrap_or((head, ""));
    let method = first.split(' ').next().unwrap_or_default();
    // JMeter shows cookies elsewhere.
    let is_cookie = |line: &&str| {
        let name = line.split(':').next().unwrap_or_default();
        name.eq_ignore_ascii_case("cookie")
    };
    let fields = fields.lines().filter(|line| !is_cookie(line));
    let headers = fields.flat_map(|line| [line, "\n"]).collect();
    let data = format!("{method} {}\n\n{method} data:\n{body}\n\n", sent.url);
    (headers, data)
}

/// The user's variables as extractors see them.
struct OfUser<'a>(&'a mut Variables);

impl weir_response::Variables for OfUser<'_> {
    fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name)
    }

    fn set(&mut self, name: &str, value: &str) {
        self.0.set(name, value);
    }

    fn remove(&mut self, name: &str) {
        self.0.remove(name);
    }
}

impl User {
    /// Runs what stands after a sampler; changes the row as its listeners will see it.
    pub(crate) fn look_into(&mut self, step: &Step, row: &mut SampleRow, seen: &mut Seen<'_>) {
        let mut outcomes = Vec::new();
        for processor in &step.source.after {
            match processor {
                PostProcessor::Extractor(extractor) => {
                    if self.extract(extractor, row, seen, &mut outcomes).is_err() {
                        self.sample_is_lost = true;
                        return;
                    }
                }
                PostProcessor::Debug(debug) => self.show_debug(step, debug, row),
                PostProcessor::Script(script) => self.run_after(script, row, seen, &mut outcomes),
            }
        }
        self.judge(&step.source.assertions, row, seen, outcomes);
        if step.is_remembered {
            self.remember(sample_of(row, seen));
        }
        if !step.wanted.details {
            forget(&mut row.children);
        }
    }

    /// Judges a transaction.
    pub(crate) fn judge_transaction(
        &mut self,
        assertions: &[Assertion<Text>],
        row: &mut SampleRow,
    ) {
        self.judge(assertions, row, &Seen::default(), Vec::new());
    }

    fn extract(
        &mut self,
        extractor: &Extractor<Text>,
        row: &mut SampleRow,
        seen: &Seen<'_>,
        outcomes: &mut Vec<AssertionOutcome>,
    ) -> Result<(), SampleLost> {
        let rendered = extractor.map(|text| text.rendered(&mut self.scope));
        let core = std::rc::Rc::clone(&self.core);
        let mut patterns = core.patterns.borrow_mut();
        let scope = &mut self.scope;
        let mut pick = |count: usize| {
            use rand_xoshiro::rand_core::Rng as _;
            (scope.random.next_u64() % count.max(1) as u64) as usize
        };
        let mut variables = OfUser(&mut scope.variables);
        let extraction = extract(
            &rendered,
            &seen.view(row),
            &mut variables,
            &mut patterns,
            &mut pick,
        )?;
        outcomes.extend(extraction.outcome);
        row.success &= !extraction.fails_sample;
        Ok(())
    }

    fn judge(
        &mut self,
        assertions: &[Assertion<Text>],
        row: &mut SampleRow,
        seen: &Seen<'_>,
        outcomes: Vec<AssertionOutcome>,
    ) {
        if assertions.is_empty() && outcomes.is_empty() {
            return;
        }
        let core = std::rc::Rc::clone(&self.core);
        let view = seen.view(row);
        let mut verdict = Verdict::before(&view);
        verdict.outcomes = outcomes;
        let mut changed = None;
        for assertion in assertions {
            if let Assertion::Script(script) = assertion {
                let mut sample = changed.take().unwrap_or_else(|| sample_of(row, seen));
                sample.success = verdict.successful;
                let (outcome, left) = self.judge_by_script(script, sample);
                if let Some(left) = &left {
                    verdict.successful = left.success;
                }
                changed = left;
                verdict.add(outcome);
                continue;
            }
            let rendered = assertion.map(|text| text.rendered(&mut self.scope));
            let variables = OfUser(&mut self.scope.variables);
            let mut patterns = core.patterns.borrow_mut();
            check(&rendered, &view, &mut verdict, &variables, &mut patterns);
        }
        drop(view);
        if let Some(sample) = &changed {
            apply_to_row(sample, row);
        }
        settle(row, verdict);
    }
}
