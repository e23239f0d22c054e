//! Requests and samples as scripts see them, and what becomes of what they change.

use std::sync::Arc;

use weir_plan::{Argument, HttpRequest};
use weir_record::{DataType, SampleRow};
use weir_response::AssertionOutcome;
use weir_script::{ArgumentView, Judgement, SamplerView, ScriptSample, Text};

use crate::user::seen::{Seen, part_view};

/// Which parts of a sampler a script may look at: only those are made for it, because functions in
/// the others would count once more.
#[derive(Debug, Clone, Copy)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each says something else of the script"
)]
pub(crate) struct Looks {
    pub(crate) name: bool,
    pub(crate) host: bool,
    pub(crate) port: bool,
    pub(crate) protocol: bool,
    pub(crate) path: bool,
    pub(crate) method: bool,
    pub(crate) arguments: bool,
    pub(crate) argument_values: bool,
    pub(crate) headers: bool,
}

impl Looks {
    /// At everything.
    pub(crate) const ALL: Self = Self {
        name: true,
        host: true,
        port: true,
        protocol: true,
        path: true,
        method: true,
        arguments: true,
        argument_values: true,
        headers: true,
    };

    /// What the words of a script tell: getters, Groovy's short form of them, names of properties
    /// (`HTTPSampler.path`). `says` tells whether the script has one of these words in it.
    pub(crate) fn of(says: impl Fn(&[&str]) -> bool) -> Self {
        if says(&["toString", "ropertyIterator", "clone(", "traverse("]) {
            return Self::ALL;
        }
        // The URL is made of everything but the header fields.
        let url = says(&["etUrl", "etURL", ".url", ".URL"]);
        // Who only adds an argument looks at none, who removes one by its name at no value.
        let arguments = url || says(&["rguments", "etArgument(", "moveArgument", "ueryString"]);
        let values = !says(&["moveArgument"]) || says(&["alue", "AsMap", "ueryString"]);
        Self {
            name: says(&["etName", ".name"]),
            host: url || says(&["etDomain", ".domain"]),
            port: url || says(&["etPort", ".port"]),
            protocol: url || says(&["etProtocol", ".protocol"]),
            path: url || says(&["etPath", ".path"]),
            // Whether a path has arguments behind it depends on the method.
            method: url || says(&["etMethod", ".method", "setPath", ".path"]),
            arguments,
            argument_values: url || (arguments && values),
            headers: says(&["eaderManager"]),
        }
    }
}

/// The request with what a script made of it; nothing when that is nothing. JMeter makes a text
/// anew whenever somebody looks at it: what the script only looked at is made again when it is
/// sent.
pub(crate) fn changed(
    request: &HttpRequest<Text>,
    shown: &SamplerView,
    view: &SamplerView,
) -> Option<HttpRequest<Text>> {
    let mut made = request.clone();
    let parts = [
        (&mut made.host, &shown.domain, &view.domain),
        (&mut made.port, &shown.port, &view.port),
        (&mut made.protocol, &shown.protocol, &view.protocol),
        (&mut made.path, &shown.path, &view.path),
        (&mut made.method, &shown.method, &view.method),
    ];
    for (part, shown, now) in parts {
        if shown != now {
            *part = Text::literal(now);
        }
    }
    if shown.arguments != view.arguments {
        made.arguments = arguments(request, shown, view);
    }
    if shown.headers != view.headers {
        let headers = view.headers.iter();
        made.headers = headers
            .map(|(name, value)| (Text::literal(name), Text::literal(value)))
            .collect();
    }
    made.raw_body = view.raw_body;
    made.follow_redirects = view.follow_redirects;
    made.auto_redirects = view.auto_redirects;
    (made != *request).then_some(made)
}

/// The arguments; those that the script has left as they were stay to be filled in.
fn arguments(
    request: &HttpRequest<Text>,
    shown: &SamplerView,
    view: &SamplerView,
) -> Vec<Argument<Text>> {
    let arguments = view.arguments.iter();
    let arguments = arguments.map(|argument| {
        let known = argument.known.and_then(|at| request.arguments.get(at));
        let was = argument.known.and_then(|at| shown.arguments.get(at));
        if let Some(known) = known
            && was == Some(argument)
        {
            return known.clone();
        }
        let made = literal(argument);
        let content_type = known.map(|known| known.content_type.clone());
        Argument {
            content_type: content_type.unwrap_or(made.content_type),
            ..made
        }
    });
    arguments.collect()
}

/// An argument that stands as it is.
pub(crate) fn literal(argument: &ArgumentView) -> Argument<Text> {
    Argument {
        name: Text::literal(&argument.name),
        value: Text::literal(&argument.value),
        always_encode: argument.encode,
        use_equals: argument.equals,
        content_type: Text::literal("text/plain"),
    }
}

/// A row as scripts see it, with what was said of it so far.
pub(crate) fn sample_of(
    row: &SampleRow,
    seen: &Seen<'_>,
    outcomes: &[AssertionOutcome],
) -> ScriptSample {
    let view = seen.view(row);
    let (method, query) = if row.is_http {
        method_and_query(&seen.request_data)
    } else {
        ("", "")
    };
    let judgements = outcomes.iter().map(|outcome| Judgement {
        name: outcome.name.clone(),
        failure: outcome.failure,
        error: outcome.error,
        message: outcome.message.clone(),
    });
    let body = view.text();
    ScriptSample {
        body: body.into(),
        data: (*seen.body != *body.as_bytes()).then(|| Arc::from(&*seen.body)),
        response_headers: seen.response_headers.as_str().into(),
        request_headers: seen.request_headers.as_str().into(),
        request_data: seen.request_data.as_str().into(),
        content_type: view.content_type.into(),
        encoding: view.encoding.unwrap_or_default().into(),
        method: method.into(),
        query: query.into(),
        header_bytes: view.header_bytes,
        judgements: judgements.collect(),
        parts: row.children.iter().map(part_of).collect(),
        ..facts_of(row)
    }
}

/// The method and the body of a request, out of what JMeter shows of it.
fn method_and_query(request_data: &str) -> (&str, &str) {
    let (method, _) = request_data.split_once(' ').unwrap_or_default();
    let (_, query) = request_data.split_once(" data:\n").unwrap_or_default();
    let end = query.rfind("\n\n").unwrap_or(query.len());
    (method, &query[..end])
}

/// A part of a row as scripts see it.
fn part_of(row: &SampleRow) -> ScriptSample {
    let known = ScriptSample {
        parts: row.children.iter().map(part_of).collect(),
        ..facts_of(row)
    };
    let Some(details) = &row.details else {
        return known;
    };
    let view = part_view(row);
    let body = view.text();
    let bytes = details.response_data.as_deref().unwrap_or_default();
    ScriptSample {
        body: body.into(),
        data: (bytes != body.as_bytes()).then(|| bytes.into()),
        response_headers: details.response_headers.as_str().into(),
        request_headers: details.request_headers.as_str().into(),
        request_data: details.sampler_data.as_deref().unwrap_or_default().into(),
        ..known
    }
}

/// What a row itself says.
pub(crate) fn facts_of(row: &SampleRow) -> ScriptSample {
    ScriptSample {
        label: Arc::clone(&row.label),
        code: Arc::clone(&row.response_code),
        message: Arc::clone(&row.response_message),
        success: row.success,
        url: Arc::clone(&row.url),
        thread_name: Arc::clone(&row.thread_name),
        data_type: match row.data_type {
            DataType::Text => "text".into(),
            DataType::Binary => "bin".into(),
            DataType::Empty => "".into(),
        },
        start_ms: row.timestamp_ms,
        elapsed_ms: row.elapsed_ms,
        latency_ms: row.latency_ms,
        connect_ms: row.connect_ms,
        idle_ms: row.idle_ms,
        received_bytes: row.received_bytes,
        sent_bytes: row.sent_bytes,
        group_threads: row.group_threads,
        all_threads: row.all_threads,
        ..ScriptSample::default()
    }
}

/// Takes over what a script changed, as far as a row tells it.
pub(crate) fn apply_to_row(sample: &ScriptSample, row: &mut SampleRow) {
    row.label = Arc::clone(&sample.label);
    row.response_code = Arc::clone(&sample.code);
    row.response_message = Arc::clone(&sample.message);
    row.success = sample.success;
    row.thread_name = Arc::clone(&sample.thread_name);
    row.latency_ms = sample.latency_ms;
    row.sent_bytes = sample.sent_bytes;
    row.data_type = data_type(sample);
    for (part, row) in sample.parts.iter().zip(&mut row.children) {
        if part.is_changed() {
            apply_to_row(part, row);
        }
    }
}

/// What a script says that a body is.
pub(crate) fn data_type(sample: &ScriptSample) -> DataType {
    match &*sample.data_type {
        "text" => DataType::Text,
        "bin" => DataType::Binary,
        _ => DataType::Empty,
    }
}
