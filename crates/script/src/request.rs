//! The bytes of a request: JMeter's rules for query, form, raw body and header fields.
//!
//! The rules were measured byte by byte against JMeter 5.6.3 with its default HTTP library; the
//! cases are in `tests/requests.rs`. The one header that differs on purpose is `User-Agent`.

use std::io::Write as _;

use crate::encode::{decode_form, push_ascii, push_form, push_header_text, push_path};
use weir_plan::{Argument, HttpRequest};

use crate::resolved::ResolvedPlan;
use crate::url::{self, Parts};
use crate::{GlobalVariables, ProxyServer, Scheme, Scope, Target, Text, Variables};

const USER_AGENT: &str = concat!("weir/", env!("CARGO_PKG_VERSION"));

/// A request as it goes out. Reuse one value for many requests: its buffers are kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SentRequest {
    /// Head and body.
    pub bytes: Vec<u8>,
    /// The URL as results show it; empty if there is none, which results show as `null`.
    pub url: String,
    /// How to speak to the server.
    pub scheme: Scheme,
    /// Host name or address to connect to; an IPv6 address without brackets.
    pub host: String,
    /// Port to connect to.
    pub port: u16,
    /// The proxy to send it to; a request for `http` is written for it.
    pub proxy: Option<ProxyServer>,
    /// The answer has no body, whatever its head says.
    pub is_head: bool,
    body: String,
    scratch: String,
    fields: Vec<(String, String)>,
}

/// A request that JMeter does not send either: the sample fails with this outcome.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("send the request: {message}")]
pub struct Unsendable {
    class: &'static str,
    message: String,
}

impl Unsendable {
    /// The response code in results.
    pub fn response_code(&self) -> String {
        format!("Non HTTP response code: {}", self.class)
    }

    /// The response message in results.
    pub fn response_message(&self) -> String {
        format!("Non HTTP response message: {}", self.message)
    }

    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    pub(crate) fn malformed_url(message: String) -> Self {
        Self {
            class: "java.net.MalformedURLException",
            message,
        }
    }

    pub(crate) fn uri_syntax(message: String) -> Self {
        Self {
            class: "java.net.URISyntaxException",
            message,
        }
    }

    pub(crate) fn client_protocol(message: String) -> Self {
        Self {
            class: "org.apache.http.client.ClientProtocolException",
            message,
        }
    }

    pub(crate) fn illegal_argument(message: String) -> Self {
        Self {
            class: "java.lang.IllegalArgumentException",
            message,
        }
    }
}

/// Builds the request of one sample; each text of it is rendered exactly once.
///
/// A target replaces protocol, host and port. After an error, `sent` holds no more than the URL.
///
/// # Errors
/// What JMeter would not send either; it is the outcome of the sample.
pub fn write_request(
    request: &HttpRequest<Text>,
    target: Option<&Target>,
    scope: &mut Scope,
    sent: &mut SentRequest,
) -> Result<(), Unsendable> {
    sent.bytes.clear();
    sent.url.clear();
    sent.body.clear();
    let method = request.method.as_rendered(scope);
    let fields = std::mem::take(&mut sent.fields);
    let fields = render_arguments(&request.arguments, scope, fields);
    let written = write_with(request, target, scope, sent, &method, &fields);
    sent.fields = fields;
    written
}

fn write_with(
    request: &HttpRequest<Text>,
    target: Option<&Target>,
    scope: &mut Scope,
    sent: &mut SentRequest,
    method: &str,
    fields: &[(String, String)],
) -> Result<(), Unsendable> {
    let fields: Fields<'_> = (&request.arguments, fields);
    write_url(request, target, scope, method, fields, &mut sent.url)?;
    if !is_token(method) {
        let says = format!("Unexpected method: '{method}'");
        return Err(Unsendable::illegal_argument(says));
    }
    url::check(&sent.url)?;
    let raw = is_raw(request, fields);
    let has_body = match method {
        "GET" => raw,
        "HEAD" | "OPTIONS" | "TRACE" => false,
        _ => true,
    };
    if has_body && raw {
        write_raw_body(fields, &mut sent.body);
    } else if has_body {
        write_form_body(fields, &mut sent.body)?;
    }
    sent.is_head = method == "HEAD";
    let body = has_body.then_some(if raw { "text/plain" } else { FORM });
    write_head(request, scope, sent, method, body)?;
    sent.bytes.extend_from_slice(sent.body.as_bytes());
    Ok(())
}

const FORM: &str = "application/x-www-form-urlencoded";

/// The arguments with their rendered names and values.
type Fields<'a> = (&'a [Argument<Text>], &'a [(String, String)]);

fn render_arguments(
    arguments: &[Argument<Text>],
    scope: &mut Scope,
    mut fields: Vec<(String, String)>,
) -> Vec<(String, String)> {
    fields.resize_with(arguments.len(), Default::default);
    for (argument, (name, value)) in arguments.iter().zip(&mut fields) {
        name.clear();
        value.clear();
        argument.name.render(scope, name);
        argument.value.render(scope, value);
    }
    fields
}

/// The values are the body as they are: on demand, or when no argument has a name.
fn is_raw(request: &HttpRequest<Text>, (_, fields): Fields<'_>) -> bool {
    let nameless = fields.iter().all(|(name, _)| name.is_empty());
    request.raw_body || (!fields.is_empty() && nameless)
}

fn is_token(method: &str) -> bool {
    let legal = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    !method.is_empty() && method.bytes().all(legal)
}

fn write_url(
    request: &HttpRequest<Text>,
    target: Option<&Target>,
    scope: &mut Scope,
    method: &str,
    fields: Fields<'_>,
    out: &mut String,
) -> Result<(), Unsendable> {
    let path = request.path.as_rendered(scope).replace(' ', "%20");
    if url::is_whole(&path) {
        // JMeter 5.6.3 sends no query arguments with a whole URL.
        return write_whole_url(&path, target, out);
    }
    let mut host = Ok(());
    if let Some(target) = target {
        write_target(target, out);
    } else {
        let name = request.host.as_rendered(scope);
        let protocol = request.protocol.as_rendered(scope);
        let port = request.port.as_rendered(scope);
        url::push_origin(out, &protocol, &name, &port).inspect_err(|_| out.clear())?;
        host = url::check_host(&name, out);
    }
    if !path.starts_with('/') {
        out.push('/');
    }
    out.push_str(&path);
    if matches!(method, "GET" | "DELETE" | "OPTIONS") {
        push_query(fields, path.contains('?'), out);
    }
    // Last, because results show the whole URL beside a host that is refused.
    host
}

fn write_whole_url(
    path: &str,
    target: Option<&Target>,
    out: &mut String,
) -> Result<(), Unsendable> {
    let parts = Parts::of(path);
    match (target, parts) {
        (Some(target), Some(parts)) => {
            write_target(target, out);
            out.push_str(parts.tail);
        }
        (None, Some(parts)) => {
            url::host_and_port(&parts)?;
            out.push_str(path);
        }
        (_, None) => out.push_str(path),
    }
    Ok(())
}

fn write_target(target: &Target, out: &mut String) {
    let port = target.port.to_string();
    url::push_origin(out, target.scheme.name(), &target.host, &port)
        .expect("a target has a known protocol and a checked host");
}

fn push_query((arguments, fields): Fields<'_>, mut after_first: bool, out: &mut String) {
    for (argument, (name, value)) in arguments.iter().zip(fields) {
        if name.is_empty() {
            continue;
        }
        out.push(if after_first { '&' } else { '?' });
        after_first = true;
        push_encoded(argument, name, out);
        if argument.use_equals {
            out.push('=');
        }
        push_encoded(argument, value, out);
    }
}

fn push_encoded(argument: &Argument<Text>, text: &str, out: &mut String) {
    if argument.always_encode {
        push_form(out, text);
    } else {
        out.push_str(text);
    }
}

fn write_raw_body((arguments, fields): Fields<'_>, body: &mut String) {
    for (argument, (_, value)) in arguments.iter().zip(fields) {
        push_encoded(argument, value, body);
    }
}

fn write_form_body((arguments, fields): Fields<'_>, body: &mut String) -> Result<(), Unsendable> {
    for (argument, (name, value)) in arguments.iter().zip(fields) {
        if is_skipped(name) {
            continue;
        }
        if !body.is_empty() {
            body.push('&');
        }
        for (text, separator) in [(name, "="), (value, "")] {
            if argument.always_encode {
                push_form(body, text);
            } else {
                let decoded = decode_form(text)
                    .map_err(|error| Unsendable::illegal_argument(error.to_string()))?;
                push_form(body, &decoded);
            }
            body.push_str(separator);
        }
    }
    Ok(())
}

/// A form leaves out fields with a blank name, and those whose name is a variable without value.
fn is_skipped(name: &str) -> bool {
    let name = name.trim();
    name.is_empty() || (name.starts_with("${") && name.ends_with('}'))
}

/// Writes request line and header fields: JMeter's own first field, the plan's, the body's, then
/// what the HTTP library adds. A proxy that is to forward the request gets the whole URL.
fn write_head(
    request: &HttpRequest<Text>,
    scope: &mut Scope,
    sent: &mut SentRequest,
    method: &str,
    body: Option<&str>,
) -> Result<(), Unsendable> {
    let parts = Parts::of(&sent.url).expect("the URL has been checked");
    let (host, port) = url::host_and_port(&parts)?;
    sent.scheme = parts.scheme;
    sent.port = port.unwrap_or(parts.scheme.default_port());
    sent.host.clear();
    sent.host.push_str(host);
    let proxy = request.proxy.as_ref();
    let proxy = proxy.map(|proxy| proxy.map(&mut |text| text.rendered(scope)));
    sent.proxy = proxy.and_then(|proxy| ProxyServer::of(&proxy, &sent.host));
    let is_forwarded = sent.proxy.is_some() && parts.scheme == Scheme::Http;
    let authority = parts.authority.rsplit('@').next().unwrap_or_default();
    let line = &mut sent.scratch;
    line.clear();
    if is_forwarded {
        line.extend(["http://", authority]);
    }
    let (path, query) = parts.path_and_query();
    push_path(line, path);
    push_ascii(line, query);
    let head = &mut sent.bytes;
    head.extend_from_slice(method.as_bytes());
    head.push(b' ');
    head.extend_from_slice(line.as_bytes());
    head.extend_from_slice(b" HTTP/1.1\r\n");
    let connection = if request.keep_alive {
        "keep-alive"
    } else {
        "close"
    };
    push_field(head, "Connection", connection);
    let default_port = parts.scheme.default_port();
    let given = push_plan_fields(head, request, scope, port.filter(|p| *p != default_port));
    if let Some(content_type) = body {
        write!(head, "Content-Length: {}\r\n", sent.body.len()).expect("a Vec takes all bytes");
        if !given.content_type {
            write!(head, "Content-Type: {content_type}; charset=UTF-8\r\n")
                .expect("a Vec takes all bytes");
        }
    }
    if !given.host {
        push_field(head, "Host", authority);
    }
    if is_forwarded {
        push_field(head, "Proxy-Connection", "Keep-Alive");
    }
    if !given.user_agent {
        push_field(head, "User-Agent", USER_AGENT);
    }
    head.extend_from_slice(b"\r\n");
    Ok(())
}

/// Which of the fields that are sent anyway the plan gives itself.
#[derive(Default)]
struct Given {
    content_type: bool,
    host: bool,
    user_agent: bool,
}

fn push_plan_fields(
    head: &mut Vec<u8>,
    request: &HttpRequest<Text>,
    scope: &mut Scope,
    port: Option<u16>,
) -> Given {
    let mut given = Given::default();
    for (name, value) in &request.headers {
        let name = name.as_rendered(scope);
        let value = value.as_rendered(scope);
        if name.eq_ignore_ascii_case("Content-Length") {
            continue;
        }
        if name.eq_ignore_ascii_case("Host") {
            given.host = true;
            push_field(head, "Host", &host_field(&value, port));
            continue;
        }
        given.content_type |= name.eq_ignore_ascii_case("Content-Type");
        given.user_agent |= name.eq_ignore_ascii_case("User-Agent");
        push_field(head, &name, &value);
    }
    given
}

/// JMeter appends the URL's port to a `Host` of the plan that has none.
fn host_field(value: &str, port: Option<u16>) -> String {
    let own_port = value
        .rsplit_once(':')
        .is_some_and(|(_, port)| !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()));
    match port {
        Some(port) if !own_port => format!("{value}:{port}"),
        _ => value.to_owned(),
    }
}

fn push_field(head: &mut Vec<u8>, name: &str, value: &str) {
    push_header_text(head, name);
    head.extend_from_slice(b": ");
    push_header_text(head, value);
    head.extend_from_slice(b"\r\n");
}

/// The request, built once, when it is the same for all users and samples.
pub fn prepare_request(
    request: &HttpRequest<Text>,
    target: Option<&Target>,
) -> Option<Result<SentRequest, Unsendable>> {
    let mut constant = true;
    request.map(&mut |text| constant &= text.constant().is_some());
    if !constant {
        return None;
    }
    let mut sent = SentRequest::default();
    let mut nobody = Scope::nobody(Variables::new(GlobalVariables::default()));
    Some(write_request(request, target, &mut nobody, &mut sent).map(|()| sent))
}

impl ResolvedPlan {
    /// One user, at the start of the test.
    pub fn scope(&self, group: &str, user: u32, random: rand_xoshiro::Xoshiro256PlusPlus) -> Scope {
        let variables = Variables::new(self.variables.clone());
        Scope::new(variables, user, group.into(), random)
    }
}
