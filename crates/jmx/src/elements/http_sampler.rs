//! `HTTPSamplerProxy`: one HTTP request.

use weir_plan::{Argument, EmbeddedResources, FileUpload, HttpRequest, Proxy, Template};

use crate::element::Element;
use crate::elements::header_manager;
use crate::finding::{Findings, Refusal};
use crate::native::{self, Feature};
use crate::scope::Scope;

/// `Accept` of Java's own client.
const JAVA_ACCEPTS: &str = "text/html, image/gif, image/jpeg, */*; q=0.2";
/// The type that it gives to all that it posts.
const JAVA_FORM: &str = "application/x-www-form-urlencoded";

/// The request with what it inherits, apart from its managers.
pub(crate) fn read(
    element: &Element<'_>,
    scope: &Scope<'_, '_>,
    findings: &mut Findings,
) -> HttpRequest {
    let sampler = Merged::new(*element, &scope.nearest_first(|level| &level.defaults));
    check(&sampler, findings);
    HttpRequest {
        protocol: sampler.text("HTTPSampler.protocol"),
        host: sampler.text("HTTPSampler.domain"),
        port: sampler.text("HTTPSampler.port"),
        path: sampler.text("HTTPSampler.path"),
        method: sampler.method(),
        arguments: sampler.arguments(findings),
        raw_body: sampler.flag("HTTPSampler.postBodyRaw"),
        multipart: sampler.flag("HTTPSampler.DO_MULTIPART_POST"),
        browser_multipart: sampler.flag("HTTPSampler.BROWSER_COMPATIBLE_MULTIPART"),
        files: sampler.files(),
        encoding: sampler.text("HTTPSampler.contentEncoding"),
        headers: sampler.headers(scope),
        keep_alive: sampler.flag("HTTPSampler.use_keepalive"),
        follow_redirects: sampler.flag("HTTPSampler.follow_redirects"),
        auto_redirects: sampler.flag("HTTPSampler.auto_redirects"),
        embedded: sampler.embedded(),
        connect_timeout_ms: sampler.text("HTTPSampler.connect_timeout"),
        response_timeout_ms: sampler.text("HTTPSampler.response_timeout"),
        proxy: sampler.proxy(),
        response_as_md5: sampler.flag("HTTPSampler.md5"),
        cookies: None,
        cache: None,
        auth: None,
        dns: None,
        at: element.at(),
    }
}

/// A sampler with the defaults in scope: JMeter takes a property from the nearest element in
/// which it is there and not empty, and appends all arguments and files, the sampler's own first.
struct Merged<'a> {
    own: Element<'a>,
    elements: Vec<Element<'a>>,
}

impl<'a> Merged<'a> {
    fn new(own: Element<'a>, defaults: &[Element<'a>]) -> Self {
        let mut elements = vec![own];
        elements.extend_from_slice(defaults);
        Self { own, elements }
    }

    /// The text and the element that has it.
    fn find(&self, property: &str) -> Option<(Element<'a>, Template)> {
        self.elements.iter().find_map(|element| {
            let text = element
                .text(property)
                .filter(|text| !text.text.is_empty())?;
            Some((*element, text))
        })
    }

    fn text(&self, property: &str) -> Template {
        match self.find(property) {
            Some((_, text)) => text,
            None => self.own.text_or_empty(property),
        }
    }

    fn flag(&self, property: &str) -> bool {
        self.text(property).text.eq_ignore_ascii_case("true")
    }

    /// A method that is there but empty is an error of the sample; one that is missing is GET.
    fn method(&self) -> Template {
        let mut method = self.text("HTTPSampler.method");
        if method.text.is_empty() && self.own.text("HTTPSampler.method").is_none() {
            method.text.push_str("GET");
        }
        method
    }

    fn arguments(&self, findings: &mut Findings) -> Vec<Argument> {
        let lists = self
            .elements
            .iter()
            .filter_map(|e| e.element("HTTPsampler.Arguments"));
        let entries = lists.flat_map(|list| list.collection("Arguments.arguments"));
        entries
            .map(|entry| self.argument(&entry, findings))
            .collect()
    }

    fn argument(&self, entry: &Element<'_>, findings: &mut Findings) -> Argument {
        let name = entry.text_or_empty("Argument.name");
        // JMeter 5.6.3, measured: this text itself stands between name and value.
        let separator = entry.text_or_empty("Argument.metadata");
        if !matches!(&*separator.text, "" | "=") {
            let refusal = Refusal {
                says: format!(
                    "the parameter \"{}\" has \"{}\" instead of \"=\"",
                    name.text, separator.text
                ),
                lost: "another query would be sent",
                instead: "write \"=\", or run the plan with --engine jmeter",
            };
            findings.unsupported_at(&self.own, separator.at, &refusal);
        }
        Argument {
            name,
            value: entry.text_or_empty("Argument.value"),
            always_encode: entry.is("HTTPArgument.always_encode"),
            use_equals: separator.text == "=",
            content_type: entry
                .text("HTTPArgument.content_type")
                .unwrap_or_else(|| Template::literal("text/plain")),
        }
    }

    /// Files of all elements; JMeter before 2.4 had one, in properties of the sampler itself.
    fn files(&self) -> Vec<FileUpload> {
        let lists = self
            .elements
            .iter()
            .filter_map(|e| e.element("HTTPsampler.Files"));
        let entries = lists.flat_map(|list| list.collection("HTTPFileArgs.files"));
        let mut files: Vec<FileUpload> = entries
            .map(|entry| FileUpload {
                path: entry.text_or_empty("File.path"),
                parameter: entry.text_or_empty("File.paramname"),
                media_type: entry.text_or_empty("File.mimetype"),
            })
            .collect();
        if let Some((element, path)) = self.find("HTTPSampler.FILE_NAME") {
            let parameter = element.text_or_empty("HTTPSampler.FILE_FIELD");
            let media_type = element.text_or_empty("HTTPSampler.MIMETYPE");
            files.push(FileUpload {
                path,
                parameter,
                media_type,
            });
        }
        files
    }

    fn embedded(&self) -> Option<EmbeddedResources> {
        self.flag("HTTPSampler.image_parser").then(|| {
            let parallel = self.flag("HTTPSampler.concurrentDwn").then(|| {
                let mut most = self.text("HTTPSampler.concurrentPool");
                if most.text.is_empty() {
                    most.text.push('6');
                }
                most
            });
            EmbeddedResources {
                matching: self.text("HTTPSampler.embedded_url_re"),
                excluding: self.text("HTTPSampler.embedded_url_exclude_re"),
                parallel,
            }
        })
    }

    /// Whether Java's own client is to send it.
    fn is_of_java(&self) -> bool {
        self.text("HTTPSampler.implementation").text == "Java"
    }

    /// The header fields of the managers in scope, and those that a server may answer by and that
    /// Java's client adds by itself (measured with JMeter 5.6.3 on Java 17).
    fn headers(&self, scope: &Scope<'_, '_>) -> Vec<(Template, Template)> {
        let mut headers = header_manager::merge(&scope.nearest_first(|level| &level.headers));
        if !self.is_of_java() {
            return headers;
        }
        let is_form = self.method().text == "POST"
            && !self.flag("HTTPSampler.DO_MULTIPART_POST")
            && self.files().is_empty();
        let form = is_form.then_some(("Content-Type", JAVA_FORM));
        for (name, value) in [("Accept", JAVA_ACCEPTS)].into_iter().chain(form) {
            let is_there = |(known, _): &(Template, _)| known.text.eq_ignore_ascii_case(name);
            if !headers.iter().any(is_there) {
                headers.push((Template::literal(name), Template::literal(value)));
            }
        }
        headers
    }

    fn proxy(&self) -> Option<Proxy> {
        let (_, host) = self.find("HTTPSampler.proxyHost")?;
        Some(Proxy {
            scheme: self.text("HTTPSampler.proxyScheme"),
            host,
            port: self.text("HTTPSampler.proxyPort"),
            user: self.text("HTTPSampler.proxyUser"),
            password: self.text("HTTPSampler.proxyPass"),
            not_for: Template::default(),
        })
    }
}

fn check(sampler: &Merged<'_>, findings: &mut Findings) {
    let mut refuse = |property: &str, says: &str, lost: &str, instead: &str| {
        if let Some((element, text)) = sampler.find(property) {
            let says = says.to_owned();
            let refusal = Refusal {
                says,
                lost,
                instead,
            };
            findings.unsupported_at(&element, text.at, &refusal);
        }
    };
    if sampler.flag("HTTPSampler.md5") && !native::does(Feature::Md5) {
        refuse(
            "HTTPSampler.md5",
            "saving the MD5 hash instead of the response is not supported",
            "extractors and assertions would see the response itself",
            "run the plan with --engine jmeter, or untick \"Save response as MD5 hash\"",
        );
    }
    if !native::does(Feature::Proxy) {
        refuse(
            "HTTPSampler.proxyHost",
            "a proxy is not supported",
            "the request would go to the server itself",
            "run the plan with --engine jmeter, or empty the proxy's name",
        );
    }
    refuse(
        "HTTPSampler.ipSource",
        "a source address is not supported",
        "the server would see the machine's usual address",
        "run the plan with --engine jmeter, or empty the source address",
    );
    if sampler.is_of_java() {
        let says = "it is set to Java's own HTTP client; Weir sends what JMeter's usual client sends, \
                    with Java's Accept and Content-Type: the order of the header fields and \
                    User-Agent differ; characters that a URL must not hold and \
                    the method PATCH are treated as by the usual client";
        findings.warning(&sampler.own, says);
    }
}
