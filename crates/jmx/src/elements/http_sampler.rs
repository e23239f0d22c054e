//! `HTTPSamplerProxy`: one HTTP request.

use weir_plan::{Argument, HttpRequest, Step, Template};

use crate::element::Element;
use crate::elements::header_manager;
use crate::finding::Findings;
use crate::scope::Scope;

/// The sampler as a step, with what it inherits.
pub(crate) fn read(element: &Element<'_>, scope: &Scope<'_>, findings: &mut Findings) -> Step {
    let sampler = Merged::new(*element, &scope.defaults);
    check(&sampler, findings);
    Step {
        label: element.name_template(),
        request: HttpRequest {
            protocol: sampler.text("HTTPSampler.protocol"),
            host: sampler.text("HTTPSampler.domain"),
            port: sampler.text("HTTPSampler.port"),
            path: sampler.text("HTTPSampler.path"),
            method: sampler.method(),
            arguments: sampler.arguments(findings),
            raw_body: sampler.flag("HTTPSampler.postBodyRaw"),
            encoding: sampler.text("HTTPSampler.contentEncoding"),
            headers: header_manager::merge(&scope.headers),
            keep_alive: sampler.flag("HTTPSampler.use_keepalive"),
            connect_timeout_ms: sampler.text("HTTPSampler.connect_timeout"),
            response_timeout_ms: sampler.text("HTTPSampler.response_timeout"),
        },
        timers: scope.timers.clone(),
        at: element.at(),
    }
}

/// A sampler with the defaults in scope: JMeter takes a property from the nearest element in
/// which it is there and not empty, and appends all arguments, the sampler's own first.
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
            let says = format!(
                "the parameter \"{}\" has \"{}\" instead of \"=\"",
                name.text, separator.text
            );
            findings.unsupported_at(&self.own, separator.at, says, "write \"=\"");
        }
        Argument {
            name,
            value: entry.text_or_empty("Argument.value"),
            always_encode: entry.flag("HTTPArgument.always_encode") == Some(true),
            use_equals: separator.text == "=",
        }
    }
}

/// Switches that change what is sent, each with what it asks for and what to do.
const SWITCHES: [(&str, &str, &str); 5] = [
    (
        "HTTPSampler.follow_redirects",
        "following redirects is not supported",
        "untick \"Follow Redirects\", and add a sampler for the page that it leads to",
    ),
    (
        "HTTPSampler.auto_redirects",
        "following redirects is not supported",
        "untick \"Redirect Automatically\", and add a sampler for the page that it leads to",
    ),
    (
        "HTTPSampler.image_parser",
        "loading embedded resources is not supported",
        "untick \"Retrieve All Embedded Resources\", and add samplers for those that matter",
    ),
    (
        "HTTPSampler.DO_MULTIPART_POST",
        "multipart/form-data is not supported",
        "untick \"Use multipart/form-data\"",
    ),
    (
        "HTTPSampler.md5",
        "saving the MD5 hash instead of the response is not supported",
        "untick \"Save response as MD5 hash\"",
    ),
];

/// Texts that change what is sent unless they are empty.
const TEXTS: [(&str, &str, &str); 3] = [
    (
        "HTTPSampler.proxyHost",
        "a proxy is not supported",
        "empty the proxy's name",
    ),
    (
        "HTTPSampler.ipSource",
        "a source address is not supported",
        "empty the source address",
    ),
    (
        "HTTPSampler.FILE_NAME",
        "sending files is not supported",
        "remove the file",
    ),
];

fn check(sampler: &Merged<'_>, findings: &mut Findings) {
    for (property, says, instead) in SWITCHES {
        if let Some((element, text)) = sampler.find(property)
            && text.text.eq_ignore_ascii_case("true")
        {
            findings.unsupported_at(&element, text.at, says, instead);
        }
    }
    for (property, says, instead) in TEXTS {
        if let Some((element, text)) = sampler.find(property) {
            findings.unsupported_at(&element, text.at, says, instead);
        }
    }
    if let Some((element, text)) = sampler.find("HTTPSampler.implementation")
        && text.text == "Java"
    {
        let says = "Java's own HTTP client, which sends other header fields, is not supported";
        findings.unsupported_at(&element, text.at, says, "choose HttpClient4 or nothing");
    }
    for element in &sampler.elements {
        let files = element.element("HTTPsampler.Files");
        let files = files.map(|files| files.collection("HTTPFileArgs.files"));
        if let Some(file) = files.unwrap_or_default().first() {
            let says = "sending files is not supported";
            findings.unsupported_at(element, file.at(), says, "remove the files");
        }
    }
}
