//! An HTTP request, as text that may hold variables.

use crate::{Position, Template};

/// An HTTP request.
#[derive(Debug, Clone, PartialEq, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "they are the independent check boxes of the element"
)]
pub struct HttpRequest<T = Template> {
    /// `http` when empty.
    pub protocol: T,
    /// Host name or address.
    pub host: T,
    /// The protocol's default port when empty.
    pub port: T,
    /// Path, or a whole URL that overrides protocol, host and port.
    pub path: T,
    /// `GET` when empty.
    pub method: T,
    /// Query or form fields, or the parts of a raw body when all names are empty.
    pub arguments: Vec<Argument<T>>,
    /// The arguments' values are the body, as they are.
    pub raw_body: bool,
    /// The body is multipart/form-data even without files.
    pub multipart: bool,
    /// Multipart headers as browsers write them: no `Content-Type` and no transfer encoding for
    /// text parts.
    pub browser_multipart: bool,
    /// Files that are sent.
    pub files: Vec<FileUpload<T>>,
    /// Character set of the arguments; UTF-8 when empty.
    pub encoding: T,
    /// Header fields, in order, beside those that the engine sends by itself.
    pub headers: Vec<(T, T)>,
    /// Whether the connection is kept for the user's next sample.
    pub keep_alive: bool,
    /// Redirects are followed, each hop a part of the sample.
    pub follow_redirects: bool,
    /// Redirects of GET and HEAD are followed out of sight.
    pub auto_redirects: bool,
    /// What the page embeds is fetched too.
    pub embedded: Option<EmbeddedResources<T>>,
    /// Milliseconds to connect; empty: no limit.
    pub connect_timeout_ms: T,
    /// Milliseconds without a byte while waiting for the response; empty: no limit.
    pub response_timeout_ms: T,
    /// HTTP proxy of this request.
    pub proxy: Option<Proxy<T>>,
    /// The response text is replaced by its MD5.
    pub response_as_md5: bool,
    /// Place in [`crate::LoadPlan::cookie_managers`].
    pub cookies: Option<usize>,
    /// Place in [`crate::LoadPlan::cache_managers`].
    pub cache: Option<usize>,
    /// Place in [`crate::LoadPlan::auth_managers`].
    pub auth: Option<usize>,
    /// Place in [`crate::LoadPlan::dns_caches`].
    pub dns: Option<usize>,
    /// Where the request stands.
    pub at: Position,
}

/// One query or form field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argument<T = Template> {
    /// Its name.
    pub name: T,
    /// Its value.
    pub value: T,
    /// Encode name and value; otherwise the text is taken as already encoded.
    pub always_encode: bool,
    /// Write `=` between name and value in a query; a form always has it.
    pub use_equals: bool,
    /// Type of the part in a multipart body.
    pub content_type: T,
}

/// A file that is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileUpload<T = Template> {
    /// Its path; relative to the plan's folder.
    pub path: T,
    /// The name of the part; empty: the file is the whole body.
    pub parameter: T,
    /// Its media type.
    pub media_type: T,
}

/// Which embedded resources are fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbeddedResources<T = Template> {
    /// Regular expression that the whole URL has to match; empty: all.
    pub matching: T,
    /// Regular expression that it must not match; empty: none.
    pub excluding: T,
    /// How many at once; `None`: one after another.
    pub parallel: Option<T>,
}

/// An HTTP proxy.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Proxy<T = Template> {
    /// `http` when empty.
    pub scheme: T,
    /// Host name or address; empty: no proxy.
    pub host: T,
    /// Its port.
    pub port: T,
    /// User name; empty: none.
    pub user: T,
    /// Password.
    pub password: T,
    /// Hosts that are reached without it, with `|` between them; one that begins with `*` stands
    /// for all names with that ending.
    pub not_for: T,
}

impl<T> Proxy<T> {
    /// Replaces every text.
    pub fn map<U>(&self, f: &mut impl FnMut(&T) -> U) -> Proxy<U> {
        Proxy {
            scheme: f(&self.scheme),
            host: f(&self.host),
            port: f(&self.port),
            user: f(&self.user),
            password: f(&self.password),
            not_for: f(&self.not_for),
        }
    }
}

impl<T> HttpRequest<T> {
    /// Replaces every text.
    pub fn map<U>(&self, f: &mut impl FnMut(&T) -> U) -> HttpRequest<U> {
        HttpRequest {
            protocol: f(&self.protocol),
            host: f(&self.host),
            port: f(&self.port),
            path: f(&self.path),
            method: f(&self.method),
            arguments: self.arguments.iter().map(|a| a.map(f)).collect(),
            raw_body: self.raw_body,
            multipart: self.multipart,
            browser_multipart: self.browser_multipart,
            files: self
                .files
                .iter()
                .map(|file| FileUpload {
                    path: f(&file.path),
                    parameter: f(&file.parameter),
                    media_type: f(&file.media_type),
                })
                .collect(),
            encoding: f(&self.encoding),
            headers: self.headers.iter().map(|(n, v)| (f(n), f(v))).collect(),
            keep_alive: self.keep_alive,
            follow_redirects: self.follow_redirects,
            auto_redirects: self.auto_redirects,
            embedded: self.embedded.as_ref().map(|embedded| EmbeddedResources {
                matching: f(&embedded.matching),
                excluding: f(&embedded.excluding),
                parallel: embedded.parallel.as_ref().map(&mut *f),
            }),
            connect_timeout_ms: f(&self.connect_timeout_ms),
            response_timeout_ms: f(&self.response_timeout_ms),
            proxy: self.proxy.as_ref().map(|proxy| proxy.map(f)),
            response_as_md5: self.response_as_md5,
            cookies: self.cookies,
            cache: self.cache,
            auth: self.auth,
            dns: self.dns,
            at: self.at,
        }
    }
}

impl<T> Argument<T> {
    /// Replaces every text.
    pub fn map<U>(&self, f: &mut impl FnMut(&T) -> U) -> Argument<U> {
        Argument {
            name: f(&self.name),
            value: f(&self.value),
            always_encode: self.always_encode,
            use_equals: self.use_equals,
            content_type: f(&self.content_type),
        }
    }
}
