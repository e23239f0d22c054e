//! The bytes of a request: JMeter's rules for query, form, raw body and header fields.
//!
//! The rules were measured byte by byte against JMeter 5.6.3 with its default HTTP library; the
//! cases are in `tests/script/requests.rs`. The one header that differs on purpose is `User-Agent`.

mod edit;
mod head;

use std::borrow::Cow;
use std::ops::Range;

use weir_charset::{Charset, NoCharset};
use weir_plan::{Argument, HttpRequest, Proxy};

use self::head::{host_field, push_field, write_head};
use crate::encode::{decode_form, push_form, push_text};
use crate::resolved::ResolvedPlan;
use crate::upload::{self, NamedFile, Upload};
use crate::url::{self, Parts};
use crate::{GlobalVariables, ProxyServer, Scheme, Scope, Target, Text, Unsendable, Variables};

/// A request as it goes out. Reuse one value for many requests: its buffers are kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SentRequest {
    /// Head and body, up to the first file.
    pub bytes: Vec<u8>,
    /// The files that follow, in order.
    pub uploads: Vec<Upload>,
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
    /// Which of the plan's tables of hosts the host is looked up in first.
    pub table: Option<usize>,
    /// The method of the plan, once there was a URL.
    method: String,
    plan: PlanFields,
    /// The body as text, unless it has files or parts.
    body: String,
    /// How the body's text becomes bytes.
    charset: Charset,
    /// The body up to the first file, when it has files or parts.
    start: Vec<u8>,
    /// What the head says of the body.
    content: Content,
    /// A page's resources are asked for with this body too.
    repeats_body: bool,
    /// Where in `bytes` the plan's own header fields end, and where the head does.
    fields_end: usize,
    head_end: usize,
    scratch: String,
    fields: Vec<(String, String)>,
}

/// Where further header fields go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldsAt {
    /// After those of the plan, before those of the body.
    AfterPlan,
    /// At the end of the head.
    End,
}

impl SentRequest {
    /// The request's method; empty if it did not come to that, because it has no URL.
    pub fn method(&self) -> &str {
        if self.bytes.is_empty() {
            return &self.method;
        }
        let end = self.bytes.iter().position(|byte| *byte == b' ');
        let method = &self.bytes[..end.unwrap_or(0)];
        str::from_utf8(method).expect("a method is ASCII")
    }

    /// The URL as the request line has it: without name and fragment, its path written anew.
    fn asked_url(&self) -> String {
        let parts = Parts::of(&self.url).expect("the URL has been checked");
        let authority = parts.authority.rsplit('@').next().unwrap_or_default();
        let origin = format!("{}://{authority}", parts.scheme.name());
        let uri = self.uri();
        format!("{origin}{}", uri.strip_prefix(&origin).unwrap_or(uri))
    }

    /// How many bytes go out, files included.
    pub fn length(&self) -> u64 {
        let uploads = self.uploads.iter();
        let files: u64 = uploads.map(|u| u.length + u.after.len() as u64).sum();
        self.bytes.len() as u64 + files
    }

    /// Adds header fields; each ends with a line end.
    pub fn insert_fields(&mut self, at: FieldsAt, fields: &[u8]) {
        let place = match at {
            FieldsAt::AfterPlan => self.fields_end,
            FieldsAt::End => self.head_end,
        };
        self.bytes.splice(place..place, fields.iter().copied());
        if at == FieldsAt::AfterPlan {
            self.fields_end += fields.len();
        }
        self.head_end += fields.len();
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.uploads.clear();
        self.url.clear();
        self.method.clear();
        self.body.clear();
        self.start.clear();
        self.content = Content::None;
        self.repeats_body = false;
        self.charset = Charset::UTF_8;
    }

    /// The body as results show it: text in place of files' content.
    pub fn shown_body(&self) -> Cow<'_, str> {
        const FILE: &str = "<actual file content, not shown here>";
        let mut shown = self.start.clone();
        for upload in &self.uploads {
            shown.extend_from_slice(FILE.as_bytes());
            shown.extend_from_slice(&upload.after);
        }
        match &self.content {
            Content::Parts(_) => Cow::Owned(self.charset.decode(&shown).into_owned()),
            _ if self.uploads.is_empty() => Cow::Borrowed(&self.body),
            _ => Cow::Borrowed(FILE),
        }
    }
}

/// The plan's own header fields, rendered once for a sample and all that follows from it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct PlanFields {
    keep_alive: bool,
    /// As they go out, except `Host`.
    bytes: Vec<u8>,
    /// Where among the bytes `Host` goes, and its value.
    host: Option<(usize, String)>,
    /// Where the type of the body stands, which parts of a form do not have.
    content_type: Option<Range<usize>>,
    user_agent: bool,
    /// Where it goes through, unless that does not stand in between for its host.
    proxy: Option<Proxy<String>>,
}

impl PlanFields {
    fn render(&mut self, request: &HttpRequest<Text>, scope: &mut Scope) {
        self.keep_alive = request.keep_alive;
        self.bytes.clear();
        self.host = None;
        self.content_type = None;
        self.user_agent = false;
        let proxy = request.proxy.as_ref();
        self.proxy = proxy.map(|proxy| proxy.map(&mut |text| text.rendered(scope)));
        for (name, value) in &request.headers {
            let name = name.as_rendered(scope);
            let value = value.as_rendered(scope);
            if name.eq_ignore_ascii_case("Content-Length") {
                continue;
            }
            let start = self.bytes.len();
            if name.eq_ignore_ascii_case("Host") {
                self.host = Some((start, value.into_owned()));
                continue;
            }
            push_field(&mut self.bytes, &name, &value);
            if name.eq_ignore_ascii_case("Content-Type") {
                self.content_type = Some(start..self.bytes.len());
            }
            self.user_agent |= name.eq_ignore_ascii_case("User-Agent");
        }
    }

    /// Writes them; the port is that of the URL, if it names one that is not usual.
    fn push(&self, head: &mut Vec<u8>, port: Option<u16>, with_content_type: bool) {
        let left_out = match &self.content_type {
            Some(range) if !with_content_type => range.clone(),
            _ => 0..0,
        };
        let push = |head: &mut Vec<u8>, range: Range<usize>| {
            if range.start <= left_out.start && left_out.end <= range.end {
                head.extend_from_slice(&self.bytes[range.start..left_out.start]);
                head.extend_from_slice(&self.bytes[left_out.end..range.end]);
            } else {
                head.extend_from_slice(&self.bytes[range]);
            }
        };
        let Some((at, host)) = &self.host else {
            push(head, 0..self.bytes.len());
            return;
        };
        push(head, 0..*at);
        push_field(head, "Host", &host_field(host, port));
        push(head, *at..self.bytes.len());
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
    sent.clear();
    sent.table = request.dns.filter(|_| target.is_none());
    let method = request.method.as_rendered(scope);
    let fields = std::mem::take(&mut sent.fields);
    let texts = render_arguments(&request.arguments, scope, fields);
    let files = upload::render_files(&request.files, scope);
    let encoding = request.encoding.as_rendered(scope);
    let fields = Fields {
        arguments: &request.arguments,
        texts: &texts,
        encoding: &encoding,
    };
    let written = write_with(request, target, scope, sent, &method, fields, &files);
    sent.fields = texts;
    written
}

fn write_with(
    request: &HttpRequest<Text>,
    target: Option<&Target>,
    scope: &mut Scope,
    sent: &mut SentRequest,
    method: &str,
    fields: Fields<'_>,
    files: &[NamedFile],
) -> Result<(), Unsendable> {
    write_url(request, target, scope, method, fields, &mut sent.url)?;
    sent.method.push_str(method);
    if !is_token(method) {
        let says = format!("Unexpected method: '{method}'");
        return Err(Unsendable::illegal_argument(says));
    }
    url::check_scheme(&sent.url)?;
    url::check(&sent.url)?;
    sent.plan.render(request, scope);
    sent.is_head = method == "HEAD";
    let body = Body::of(request, method, fields, files);
    sent.repeats_body = matches!(body, Body::Raw | Body::File(_));
    sent.content = body.write(request, fields, files, scope, sent)?;
    write_head(sent, method).inspect_err(|_| sent.uploads.clear())?;
    if request.auto_redirects {
        // Results show what the library has asked for.
        sent.url = sent.asked_url();
    }
    Ok(())
}

/// Writes a request that follows from another of the same sample: a redirect, a page's resource.
///
/// The plan's header fields are those of the first request.
///
/// # Errors
/// What JMeter would not send either; it is the outcome of this request.
pub fn write_follow_up(
    first: &SentRequest,
    method: &str,
    url: &str,
    carries: Carries,
    sent: &mut SentRequest,
) -> Result<(), Unsendable> {
    sent.clear();
    sent.url.push_str(url);
    url::check(&sent.url)?;
    sent.is_head = method == "HEAD";
    sent.table = first.table;
    sent.plan.clone_from(&first.plan);
    let with_body = match carries {
        Carries::Nothing => false,
        Carries::RawBody => first.repeats_body,
        Carries::Body => true,
    };
    if with_body {
        sent.body.push_str(&first.body);
        sent.start.extend_from_slice(&first.start);
        sent.uploads.clone_from(&first.uploads);
        sent.content.clone_from(&first.content);
        sent.charset = first.charset;
    }
    write_head(sent, method)
}

/// What a request has of the first one's body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Carries {
    /// Nothing: the target of a redirect.
    Nothing,
    /// A body that is no form: a page's resource, as in JMeter 5.6.3.
    RawBody,
    /// The whole body: the target of an automatic redirect with status 307 or 308.
    Body,
}

/// What a request has as its body.
#[derive(Debug, Clone, Copy)]
enum Body<'a> {
    None,
    Raw,
    Form,
    Multipart,
    File(&'a NamedFile),
}

impl<'a> Body<'a> {
    fn of(
        request: &HttpRequest<Text>,
        method: &str,
        fields: Fields<'_>,
        files: &'a [NamedFile],
    ) -> Self {
        let raw = is_raw(request, fields);
        let file = upload::whole_body(files);
        match (method, file) {
            ("GET", Some(file)) if fields.texts.is_empty() => Self::File(file),
            ("GET", _) if raw => Self::Raw,
            ("GET" | "HEAD" | "OPTIONS" | "TRACE", _) => Self::None,
            (_, None) if upload::are_parts(files) => Self::Multipart,
            _ if request.multipart => Self::Multipart,
            (_, Some(file)) if fields.texts.is_empty() => Self::File(file),
            _ if raw => Self::Raw,
            _ => Self::Form,
        }
    }

    /// Writes the body, and says what the head has to say of it.
    fn write(
        self,
        request: &HttpRequest<Text>,
        fields: Fields<'_>,
        files: &[NamedFile],
        scope: &mut Scope,
        sent: &mut SentRequest,
    ) -> Result<Content, Unsendable> {
        let media_type = files.first().map(|file| file.media_type.as_str());
        let media_type = media_type.filter(|text| !text.is_empty());
        if matches!(self, Self::None) {
            return Ok(Content::None);
        }
        let charset = fields.charset();
        sent.charset = charset.map_err(|why| Unsendable::no_charset(why, fields.encoding))?;
        match self {
            Self::None => Ok(Content::None),
            Self::Raw => {
                write_raw_body(fields, sent.charset, &mut sent.body);
                Ok(match media_type {
                    Some(media_type) => Content::Own(Some(media_type.to_owned())),
                    None => Content::Usual("text/plain"),
                })
            }
            Self::Form => {
                write_form_body(fields, sent.charset, &mut sent.body)?;
                Ok(Content::Usual(FORM))
            }
            Self::File(file) => {
                sent.uploads.push(upload::file(file, scope)?);
                Ok(Content::Own(media_type.map(str::to_owned)))
            }
            Self::Multipart => {
                let parts = fields.iter().filter(|(_, (name, _))| !is_skipped(name));
                let charset = sent.charset;
                let written = upload::multipart(request, parts, files, charset, scope)?;
                sent.start = written.start;
                sent.uploads = written.uploads;
                Ok(Content::Parts(written.content_type))
            }
        }
    }
}

/// What the head says of the body.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
enum Content {
    /// There is none.
    #[default]
    None,
    /// This type, unless the plan has one.
    Usual(&'static str),
    /// The type of a file, unless the plan has one; before the length.
    Own(Option<String>),
    /// This type, whatever the plan has.
    Parts(String),
}

const FORM: &str = "application/x-www-form-urlencoded";

/// The arguments, and the character set in which they go out.
#[derive(Debug, Clone, Copy)]
struct Fields<'a> {
    arguments: &'a [Argument<Text>],
    /// Their rendered names and values.
    texts: &'a [(String, String)],
    /// The name of the character set; empty for the usual one.
    encoding: &'a str,
}

impl<'a> Fields<'a> {
    fn iter(self) -> impl Iterator<Item = (&'a Argument<Text>, &'a (String, String))> {
        self.arguments.iter().zip(self.texts)
    }

    fn charset(self) -> Result<Charset, NoCharset> {
        match self.encoding {
            "" => Ok(Charset::UTF_8),
            name => Charset::named(name),
        }
    }

    /// That of a query: the usual one also where the name is blank.
    fn charset_of_query(self) -> Result<Charset, NoCharset> {
        match self.encoding.trim() {
            "" => Ok(Charset::UTF_8),
            _ => self.charset(),
        }
    }
}

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
fn is_raw(request: &HttpRequest<Text>, fields: Fields<'_>) -> bool {
    let texts = fields.texts;
    let nameless = texts.iter().all(|(name, _)| name.is_empty());
    request.raw_body || (!texts.is_empty() && nameless)
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
        url::push_target(target, out);
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
            url::push_target(target, out);
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

/// Names are UTF-8 whatever the character set, and what cannot be encoded is left out.
fn push_query(fields: Fields<'_>, mut after_first: bool, out: &mut String) {
    for (argument, (name, value)) in fields.iter() {
        if name.is_empty() {
            continue;
        }
        out.push(if after_first { '&' } else { '?' });
        after_first = true;
        push_encoded(argument, name, Charset::UTF_8, out);
        if argument.use_equals {
            out.push('=');
        }
        match fields.charset_of_query() {
            Ok(charset) => push_encoded(argument, value, charset, out),
            Err(_) if argument.always_encode => {}
            Err(_) => out.push_str(value),
        }
    }
}

fn push_encoded(argument: &Argument<Text>, text: &str, charset: Charset, out: &mut String) {
    if argument.always_encode {
        push_text(out, text, charset);
    } else {
        out.push_str(text);
    }
}

fn write_raw_body(fields: Fields<'_>, charset: Charset, body: &mut String) {
    for (argument, (_, value)) in fields.iter() {
        push_encoded(argument, value, charset, body);
    }
}

fn write_form_body(
    fields: Fields<'_>,
    charset: Charset,
    body: &mut String,
) -> Result<(), Unsendable> {
    for (argument, (name, value)) in fields.iter() {
        if is_skipped(name) {
            continue;
        }
        if !body.is_empty() {
            body.push('&');
        }
        for (text, separator) in [(name, "="), (value, "")] {
            if argument.always_encode {
                push_form(body, text, charset);
            } else {
                let decoded = decode_form(text, charset)
                    .map_err(|error| Unsendable::illegal_argument(error.to_string()))?;
                push_form(body, &decoded, charset);
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

/// The request, built once, when it is the same for all users and samples.
pub fn prepare_request(
    request: &HttpRequest<Text>,
    target: Option<&Target>,
) -> Option<Result<SentRequest, Unsendable>> {
    let mut constant = true;
    request.map(&mut |text| constant &= text.constant().is_some());
    // A file may be another one at each sample, and parts have another boundary.
    if !constant || request.multipart || !request.files.is_empty() {
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
