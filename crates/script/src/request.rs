//! The bytes of a request: JMeter's rules for query, form, raw body and header fields.
//!
//! The rules were measured byte by byte against JMeter 5.6.3 with its default HTTP library; the
//! cases are in `tests/script/requests.rs`. The one header that differs on purpose is `User-Agent`.

mod address;
mod body;
mod edit;
mod fields;
mod head;
mod plan_fields;

use std::borrow::Cow;

use weir_charset::Charset;
use weir_plan::HttpRequest;

use self::address::{Asked, write_url};
use self::body::{Body, Content, is_raw};
use self::fields::{Fields, render_arguments};
use self::head::write_head;
use self::plan_fields::PlanFields;
use crate::resolved::ResolvedPlan;
use crate::upload::{self, Upload};
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
    let mut fields = LateFields {
        request,
        texts: std::mem::take(&mut sent.fields),
        encoding: Cow::default(),
    };
    let written = write_with(target, scope, sent, &mut fields);
    sent.fields = fields.texts;
    written
}

/// The arguments of a request, rendered where they are needed.
struct LateFields<'a> {
    request: &'a HttpRequest<Text>,
    texts: Vec<(String, String)>,
    encoding: Cow<'a, str>,
}

impl LateFields<'_> {
    /// For a query, in which fields without a name are left out before anybody looks at their
    /// value.
    fn render_query(&mut self, scope: &mut Scope) -> Fields<'_> {
        self.render_if(scope, |name| !name.is_empty())
    }

    fn render(&mut self, scope: &mut Scope) -> Fields<'_> {
        self.render_if(scope, |_| true)
    }

    fn render_if(&mut self, scope: &mut Scope, has_value: impl Fn(&str) -> bool) -> Fields<'_> {
        self.encoding = self.request.encoding.as_rendered(scope);
        render_arguments(&self.request.arguments, scope, &mut self.texts, has_value);
        self.get()
    }

    /// As they were rendered last.
    fn get(&self) -> Fields<'_> {
        Fields {
            arguments: &self.request.arguments,
            texts: &self.texts,
            encoding: &self.encoding,
        }
    }
}

/// Texts are rendered in the order in which JMeter looks at them, and as often: the URL with the
/// arguments where they stand in it, the name, the header fields, the arguments for the body.
fn write_with(
    target: Option<&Target>,
    scope: &mut Scope,
    sent: &mut SentRequest,
    fields: &mut LateFields<'_>,
) -> Result<(), Unsendable> {
    let request = fields.request;
    let query = &mut sent.scratch;
    query.clear();
    let written = write_url(target, scope, fields, query, &mut sent.url);
    if !sent.url.is_empty() {
        scope.look_at_sampler_name();
    }
    let Asked { method, has_query } = written?;
    sent.method.push_str(&method);
    if !is_token(&method) {
        let says = format!("Unexpected method: '{method}'");
        return Err(Unsendable::illegal_argument(says));
    }
    url::check_scheme(&sent.url)?;
    url::check(&sent.url)?;
    sent.plan.render(request, scope);
    sent.is_head = method == "HEAD";
    let fields = match &*method {
        "HEAD" | "OPTIONS" | "TRACE" => fields.get(),
        // Without a body of its own, nobody looks again.
        "GET" if has_query && !is_raw(request, fields.get()) => fields.get(),
        _ => fields.render(scope),
    };
    let files = upload::render_files(&request.files, scope);
    let body = Body::of(request, &method, fields, &files);
    sent.repeats_body = matches!(body, Body::Raw | Body::File(_));
    sent.content = body.write(request, fields, &files, scope, sent)?;
    write_head(sent, &method).inspect_err(|_| sent.uploads.clear())?;
    if request.auto_redirects {
        // Results show what the library has asked for.
        sent.url = sent.asked_url();
    }
    Ok(())
}

/// Writes a request that follows from another of the same sample: a redirect, a page's resource.
///
/// The plan's header fields are made anew from `fields`, as JMeter does it, or are those of the
/// first request.
///
/// # Errors
/// What JMeter would not send either; it is the outcome of this request.
pub fn write_follow_up(
    first: &SentRequest,
    method: &str,
    url: &str,
    carries: Carries,
    fields: Option<(&HttpRequest<Text>, &mut Scope)>,
    sent: &mut SentRequest,
) -> Result<(), Unsendable> {
    sent.clear();
    sent.url.push_str(url);
    url::check(&sent.url)?;
    sent.is_head = method == "HEAD";
    sent.table = first.table;
    sent.plan.clone_from(&first.plan);
    if let Some((request, scope)) = fields {
        scope.look_at_sampler_name();
        sent.plan.render_fields(request, scope);
    }
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

fn is_token(method: &str) -> bool {
    let legal = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    !method.is_empty() && method.bytes().all(legal)
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
