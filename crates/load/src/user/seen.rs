//! What can be seen of a sample beside its row: by extractors, assertions and scripts.

use std::borrow::Cow;

use weir_record::{SampleDetails, SampleRow};
use weir_response::SampleView;
use weir_script::{ScriptSample, SentRequest};

use crate::audience::Wanted;
use crate::details::{self, of_part};
use crate::http::response::Kept;

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
    changed: Changed,
}

/// What of a sample scripts have changed beside its row.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each says something else of the sample"
)]
struct Changed {
    body: bool,
    response_headers: bool,
    request_headers: bool,
    request_data: bool,
    charset: bool,
}

/// A sample with what it is now, for result files.
#[derive(Debug)]
pub(crate) struct Rewritten {
    changed: Changed,
    body: Vec<u8>,
    response_headers: String,
    request_headers: String,
    request_data: String,
    charset: String,
}

impl Rewritten {
    /// The body, if it is another one.
    pub(crate) fn body(&self) -> Option<&[u8]> {
        self.changed.body.then_some(&self.body)
    }

    /// Writes it over what was noted of the sample.
    pub(crate) fn note(self, row: &mut SampleRow, wanted: Wanted) {
        let shows_body = wanted.body_of(row.success);
        let is_http = row.is_http;
        let details = row.details.get_or_insert_default();
        if self.changed.body && shows_body {
            details.response_data = Some(self.body);
        }
        if self.changed.response_headers {
            details.response_headers = self.response_headers;
        }
        if self.changed.request_headers {
            details.request_headers = self.request_headers;
        }
        // Of a request, files show where it went and its body instead.
        if self.changed.request_data && !is_http {
            details.sampler_data = Some(self.request_data);
        }
        if self.changed.charset {
            details.encoding = self.charset;
        }
    }
}

/// What is kept of a sample for those who look at the transaction around it.
#[derive(Debug)]
pub(crate) struct Part(Box<SampleDetails>);

impl Part {
    /// Adds it to what is noted of the sample for files.
    pub(crate) fn note(self, row: &mut SampleRow) {
        let Some(details) = &mut row.details else {
            row.details = Some(self.0);
            return;
        };
        let part = *self.0;
        details.response_data = part.response_data;
        details.sampler_data = part.sampler_data.or(details.sampler_data.take());
        let texts = [
            (&mut details.response_headers, part.response_headers),
            (&mut details.request_headers, part.request_headers),
            (&mut details.encoding, part.encoding),
        ];
        for (noted, own) in texts {
            if noted.is_empty() {
                *noted = own;
            }
        }
    }
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
            changed: Changed::default(),
        }
    }

    /// Takes over what a script changed.
    pub(crate) fn change(&mut self, sample: &ScriptSample) {
        if *self.body != *sample.bytes() {
            self.body = Cow::Owned(sample.bytes().to_vec());
            self.changed.body = true;
        }
        let texts = [
            (
                &mut self.response_headers,
                &sample.response_headers,
                &mut self.changed.response_headers,
            ),
            (
                &mut self.request_headers,
                &sample.request_headers,
                &mut self.changed.request_headers,
            ),
            (
                &mut self.request_data,
                &sample.request_data,
                &mut self.changed.request_data,
            ),
        ];
        for (text, new, changed) in texts {
            if **text != **new {
                (**new).clone_into(text);
                *changed = true;
            }
        }
        if self.charset.as_deref().unwrap_or_default() != &*sample.encoding {
            self.charset = Some(sample.encoding.to_string());
            self.changed.charset = true;
        }
    }

    /// What scripts have made of the sample, if they changed it.
    pub(crate) fn rewritten(self) -> Option<Box<Rewritten>> {
        if self.changed == Changed::default() {
            return None;
        }
        Some(Box::new(Rewritten {
            changed: self.changed,
            body: self.body.into_owned(),
            response_headers: self.response_headers,
            request_headers: self.request_headers,
            request_data: self.request_data,
            charset: self.charset.unwrap_or_default(),
        }))
    }

    /// What those who look at the transaction around the sample see of it.
    pub(crate) fn part(&self) -> Part {
        Part(Box::new(SampleDetails {
            response_data: Some(self.body.to_vec()),
            sampler_data: (!self.request_data.is_empty()).then(|| self.request_data.clone()),
            response_headers: self.response_headers.clone(),
            request_headers: self.request_headers.clone(),
            encoding: self.charset.clone().unwrap_or_default(),
            ..SampleDetails::default()
        }))
    }

    pub(crate) fn view<'s>(&'s self, row: &'s SampleRow) -> SampleView<'s> {
        let children: Vec<_> = row.children.iter().map(part_view).collect();
        let header_bytes = header_bytes(&children).unwrap_or(self.header_bytes);
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
            header_bytes,
            body_bytes: row.received_bytes.saturating_sub(header_bytes),
            children,
            ..SampleView::default()
        }
    }
}

/// The value of a header field.
pub(crate) fn field<'h>(head: &'h str, name: &str) -> Option<&'h str> {
    head.lines().find_map(|line| details::field(line, name))
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
        sampler_data: Some(seen.request_data),
        ..of_part(sent, kept)
    }
}

/// A sample that has parts has the sizes of all of them (JMeter).
fn header_bytes(parts: &[SampleView<'_>]) -> Option<u64> {
    let sum = || parts.iter().map(|part| part.header_bytes).sum();
    (!parts.is_empty()).then(sum)
}

/// A part of a sample as extractors and assertions see it.
pub(crate) fn part_view(row: &SampleRow) -> SampleView<'_> {
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
        let own = (headers.len() + headers.lines().count() + 2) as u64;
        view.header_bytes = header_bytes(&view.children).unwrap_or(own);
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

/// Header fields, and method, URL and body, as JMeter shows them: without the content of files.
fn request_texts(sent: &SentRequest) -> (String, String) {
    let head: String = sent.head().iter().copied().map(char::from).collect();
    let body = sent.shown_body();
    let (first, fields) = head.split_once("\r\n").unwrap_or((&head, ""));
    let method = first.split(' ').next().unwrap_or_default();
    // JMeter shows cookies after the data.
    let is_cookie = |line: &&str| {
        let name = line.split(':').next().unwrap_or_default();
        name.eq_ignore_ascii_case("cookie")
    };
    let others = fields.lines().filter(|line| !is_cookie(line));
    let headers = others.flat_map(|line| [line, "\n"]).collect();
    let cookies = match fields.lines().find(is_cookie) {
        Some(line) => format!("Cookie Data:\n{}", value_of(line)),
        None => "[no cookies]".to_owned(),
    };
    let data = match method {
        // They have no body to show.
        "HEAD" | "OPTIONS" | "TRACE" => String::new(),
        _ => format!("{method} data:\n{body}\n\n"),
    };
    let data = format!("{method} {}\n\n{data}{cookies}\n", sent.url);
    (headers, data)
}

/// What stands after a header field's name.
fn value_of(line: &str) -> &str {
    line.split_once(':').map_or("", |(_, value)| value.trim())
}
