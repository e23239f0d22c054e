//! What is known of a plan without running it.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::time::Duration;

use roxmltree::{Document, Node};
use weir_exchange::is_near;
use weir_script::{Properties, Scheme, Target};

use super::element::{self, Element};
use super::{INCLUDED, PlanText};
use crate::constant::Constants;

/// What is known of a plan without running it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PlanFacts {
    /// The servers that its HTTP requests load, each once.
    pub servers: Vec<PlannedServer>,
    /// The proxies that its HTTP requests go through, each once.
    pub proxies: Vec<PlannedServer>,
    /// What may load servers that cannot be known.
    pub unknown: Vec<UnknownServer>,
    /// Users of all thread groups; `None` when one of them does not say so in time.
    pub population: Option<u32>,
    /// When the last of its users ends, from the beginning, if the schedules of all groups say so;
    /// samples that run then still finish.
    pub planned_end: Option<Duration>,
    /// Thread groups whose length cannot be overridden: name and line.
    pub own_length: Vec<(String, u32)>,
}

/// A server that a plan loads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedServer {
    /// The server.
    pub server: Target,
    /// The plan's file and the line of the first sampler that loads it.
    pub named_in: String,
}

/// A sampler whose server cannot be known before the test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownServer {
    /// The sampler's class and name.
    pub sampler: String,
    /// The plan's file and line.
    pub named_in: String,
    /// Whether a target that overrides the plan's servers overrides this one too.
    pub is_overridden: bool,
}

/// Samplers that send nothing to anybody.
const SILENT: [&str; 3] = ["DebugSampler", "DummySampler", "TestAction"];
/// Samplers that run the user's own code. A target tells that the user knows whom the plan loads.
const SCRIPTS: [&str; 3] = ["JSR223Sampler", "BeanShellSampler", "BSFSampler"];
/// Java samplers that only sleep.
const SLEEPERS: [&str; 2] = [
    "org.apache.jmeter.protocol.java.test.JavaTest",
    "org.apache.jmeter.protocol.java.test.SleepTest",
];

/// Looks at a plan and all that it includes.
pub(super) fn of(
    files: &[PlanText],
    documents: &[Document<'_>],
    properties: &Properties,
) -> PlanFacts {
    let all: Vec<&Document<'_>> = documents.iter().collect();
    let mut looking = Looking {
        constants: constants(&all, properties),
        facts: PlanFacts::default(),
    };
    for (file, document) in files.iter().zip(documents) {
        for tree in document.root_element().children() {
            if tree.has_tag_name("hashTree") {
                looking.tree(file, tree, &mut Vec::new());
            }
        }
    }
    looking.facts.population = looking.population(documents);
    looking.facts.planned_end = looking.planned_end(documents);
    looking.facts
}

/// Properties and user-defined variables of all files.
pub(super) fn constants(documents: &[&Document<'_>], properties: &Properties) -> Constants {
    let mut constants = Constants {
        properties: properties.clone(),
        ..Constants::default()
    };
    let mut defined = BTreeMap::new();
    for document in documents {
        for element in element::all(document) {
            let lists = match element.class() {
                "Arguments" => Some(element.node),
                "TestPlan" => element.property("TestPlan.user_defined_variables"),
                _ => {
                    constants.changing.extend(names_in(element.node));
                    None
                }
            };
            for (name, value) in lists.into_iter().flat_map(pairs) {
                // A variable does not see those that are defined beside it.
                defined.insert(name.to_owned(), constants.value(value));
            }
        }
    }
    for (name, value) in defined {
        match value {
            Some(value) => drop(constants.variables.insert(name, value)),
            None => drop(constants.changing.insert(name)),
        }
    }
    constants
}

/// Names and values of a list of arguments.
fn pairs<'a>(list: Node<'a, 'a>) -> impl Iterator<Item = (&'a str, &'a str)> {
    let collection = element::property(list, "Arguments.arguments");
    let arguments = collection
        .into_iter()
        .flat_map(|collection| collection.children());
    arguments
        .filter(roxmltree::Node::is_element)
        .map(|node| Element { node })
        .map(|argument| {
            (
                argument.text("Argument.name"),
                argument.text("Argument.value"),
            )
        })
}

/// Everything in an element's properties that could be the name of a variable or property that it
/// sets: lists of names at commas, semicolons and bars, arguments of functions, texts in scripts.
/// Arguments of requests are none, and reading a property does not set it.
fn names_in(element: Node<'_, '_>) -> Vec<String> {
    let texts = element
        .descendants()
        .filter(|node| {
            let property = node.attribute("name").unwrap_or_default();
            node.is_element() && !property.starts_with("Argument.")
        })
        .filter_map(|node| node.text());
    let mut names = Vec::new();
    for text in texts {
        let mut before = "";
        for name in text.split([',', ';', '|', '(', ')', '"', '\'']) {
            let is_read = before.ends_with("${__P") || before.ends_with("${__property");
            before = name;
            let name = name.trim();
            if !is_read && !name.is_empty() && name.len() < 100 {
                names.push(name.to_owned());
            }
        }
    }
    names
}

/// The names of the properties that a plan asks for.
pub(super) fn properties_used(files: &[PlanText]) -> Vec<String> {
    let mut names = BTreeSet::new();
    for file in files {
        for call in ["${__P(", "${__property("] {
            for (at, _) in file.text.match_indices(call) {
                let rest = &file.text[at + call.len()..];
                let name = rest.split([',', ')']).next().unwrap_or_default().trim();
                names.insert(name.to_owned());
            }
        }
    }
    names.into_iter().collect()
}

/// A proxy that is known only when the plan runs.
struct UnknownProxy;

struct Looking {
    constants: Constants,
    facts: PlanFacts,
}

impl Looking {
    /// Looks at what stands on a level and below; `defaults` are the HTTP defaults around it, the
    /// outermost first.
    fn tree<'a>(&mut self, file: &PlanText, tree: Node<'a, 'a>, defaults: &mut Vec<Element<'a>>) {
        let around = defaults.len();
        let here: Vec<_> = element::of_tree(tree).collect();
        defaults.extend(
            here.iter()
                .map(|(element, _)| *element)
                .filter(Element::is_http_defaults),
        );
        for (element, below) in here {
            let at = element.node.range().start;
            if element.is_http_sampler() {
                let own = defaults.len();
                let inside = below.into_iter().flat_map(element::of_tree);
                defaults.extend(
                    inside
                        .map(|(inner, _)| inner)
                        .filter(Element::is_http_defaults),
                );
                self.http_sampler(file, element, defaults);
                defaults.truncate(own);
            } else if element.class() == "DNSCacheManager" && self.leads_elsewhere(element) {
                self.unknown(file, element, true);
            } else if let Some(is_overridden) = unknown_server(&element) {
                self.unknown(file, element, is_overridden);
            } else if element.class() == "IncludeController" {
                let path = element.text(INCLUDED);
                if self.constants.value(path).is_none() {
                    self.unknown(file, element, false);
                }
            } else if is_group(&element) && element.class() != "ThreadGroup" {
                let name = format!("{} \"{}\"", element.class(), element.name());
                self.facts.own_length.push((name, file.line(at)));
            }
            if let Some(below) = below {
                self.tree(file, below, defaults);
            }
        }
        defaults.truncate(around);
    }

    /// Whether names may turn out to be other addresses than the system's and private ones.
    fn leads_elsewhere(&self, manager: Element<'_>) -> bool {
        let servers = manager.property("DNSCacheManager.servers");
        let mut servers = servers.into_iter().flat_map(|list| list.descendants());
        let asks_others = manager.text("DNSCacheManager.isCustomResolver") == "true"
            && servers.any(|node| node.has_tag_name("stringProp"));
        let is_elsewhere = |text: &str| {
            let addresses = self.constants.value(text);
            let is_near = |address: &str| address.trim().parse::<IpAddr>().is_ok_and(is_near);
            addresses.is_none_or(|text| !text.split(',').all(is_near))
        };
        let hosts = manager.property("DNSCacheManager.hosts");
        let mut addresses = hosts
            .into_iter()
            .flat_map(|list| list.descendants())
            .filter(|node| node.attribute("name") == Some("StaticHost.Address"));
        asks_others || addresses.any(|address| is_elsewhere(address.text().unwrap_or_default()))
    }

    fn http_sampler(&mut self, file: &PlanText, sampler: Element<'_>, defaults: &[Element<'_>]) {
        match self.proxy(sampler, defaults) {
            Ok(None) => {}
            Ok(Some(proxy)) => note(&mut self.facts.proxies, proxy, || place(file, sampler)),
            Err(UnknownProxy) => self.unknown(file, sampler, false),
        }
        match self.server(sampler, defaults) {
            Some(server) => note(&mut self.facts.servers, server, || place(file, sampler)),
            None => self.unknown(file, sampler, self.path(sampler).is_some()),
        }
    }

    /// The nearest value that is not empty, when it is known.
    fn value(&self, sampler: Element<'_>, defaults: &[Element<'_>], name: &str) -> Option<String> {
        let nearest = defaults.iter().rev().map(|defaults| defaults.text(name));
        let text = std::iter::once(sampler.text(name))
            .chain(nearest)
            .find(|text| !text.is_empty());
        self.constants.value(text.unwrap_or_default())
    }

    /// The sampler's own proxy: it has one when it names a host and a port.
    fn proxy(
        &self,
        sampler: Element<'_>,
        defaults: &[Element<'_>],
    ) -> Result<Option<Target>, UnknownProxy> {
        let value = |name: &str| self.value(sampler, defaults, name).ok_or(UnknownProxy);
        let host = value("HTTPSampler.proxyHost")?;
        let port = value("HTTPSampler.proxyPort")?;
        if host.trim().is_empty() || port.trim().is_empty() {
            return Ok(None);
        }
        Ok(format!("http://{}:{}", host.trim(), port.trim())
            .parse()
            .ok())
    }

    /// The path, when it is known whether it is a whole URL.
    fn path(&self, sampler: Element<'_>) -> Option<String> {
        let path = sampler.text("HTTPSampler.path");
        match path.split_once("${") {
            // The start tells that it is no URL, whatever follows.
            Some((start, _)) if start.starts_with('/') => Some(start.to_owned()),
            _ => self.constants.value(path),
        }
    }

    fn server(&self, sampler: Element<'_>, defaults: &[Element<'_>]) -> Option<Target> {
        let path = self.path(sampler)?;
        if is_url(&path) {
            let origin = origin_of(&path);
            return origin.parse().ok();
        }
        let value = |name: &str| self.value(sampler, defaults, name);
        let protocol = value("HTTPSampler.protocol")?;
        let host = value("HTTPSampler.domain")?;
        let port = value("HTTPSampler.port")?;
        let scheme = match protocol.trim() {
            "" => "http",
            scheme => scheme,
        };
        let port = match port.trim() {
            "" | "0" => String::new(),
            port => format!(":{port}"),
        };
        if host.trim().is_empty() {
            return None;
        }
        format!("{scheme}://{}{port}", host.trim()).parse().ok()
    }

    fn unknown(&mut self, file: &PlanText, sampler: Element<'_>, is_overridden: bool) {
        self.facts.unknown.push(UnknownServer {
            sampler: format!("{} \"{}\"", sampler.class(), sampler.name()),
            named_in: place(file, sampler),
            is_overridden,
        });
    }

    /// Groups run side by side; set-up, tear-down and one group after another take time that is not
    /// known.
    fn planned_end(&self, documents: &[Document<'_>]) -> Option<Duration> {
        let mut last = None;
        for element in documents.iter().flat_map(element::all) {
            let serial = element.text("TestPlan.serialize_threadgroups") == "true";
            if serial || is_group(&element) && element.class() != "ThreadGroup" {
                return None;
            }
            if element.class() == "ThreadGroup" {
                if element.text("ThreadGroup.scheduler") != "true" {
                    return None;
                }
                let seconds = |name: &str| {
                    let text = self.constants.value(element.text(name))?;
                    text.trim().parse().ok()
                };
                let delay_s: u64 = seconds("ThreadGroup.delay").unwrap_or(0);
                let duration_s: u64 = seconds("ThreadGroup.duration")?;
                last = last.max(delay_s.checked_add(duration_s));
            }
        }
        last.map(Duration::from_secs)
    }

    fn population(&self, documents: &[Document<'_>]) -> Option<u32> {
        let mut sum = 0_u32;
        for element in documents.iter().flat_map(element::all) {
            match element.class() {
                "ThreadGroup" => {
                    let users = self
                        .constants
                        .value(element.text("ThreadGroup.num_threads"))?;
                    // JMeter reads what is no number as 0.
                    sum = sum.saturating_add(users.trim().parse().unwrap_or(0));
                }
                "SetupThreadGroup" | "PostThreadGroup" => {}
                _ if is_group(&element) => return None,
                _ => {}
            }
        }
        Some(sum)
    }
}

/// Whether it starts users.
/// Adds a server that is not known yet.
fn note(known: &mut Vec<PlannedServer>, server: Target, named_in: impl FnOnce() -> String) {
    if !known.iter().any(|one| one.server == server) {
        let named_in = named_in();
        known.push(PlannedServer { server, named_in });
    }
}

fn is_group(element: &Element<'_>) -> bool {
    element.class().ends_with("ThreadGroup")
}

/// Whether an element loads a server that cannot be known, and if so, whether a target overrides
/// it.
fn unknown_server(element: &Element<'_>) -> Option<bool> {
    let class = element.class();
    if SCRIPTS.contains(&class) {
        return Some(true);
    }
    let sleeps = class == "JavaSampler" && SLEEPERS.contains(&element.text("classname"));
    let samples = class.ends_with("Sampler") || class.ends_with("Sample");
    (samples && !sleeps && !SILENT.contains(&class)).then_some(false)
}

fn place(file: &PlanText, element: Element<'_>) -> String {
    let line = file.line(element.node.range().start);
    format!("{}:{line}", file.path.display())
}

/// Whether a path is a whole URL, as JMeter decides.
pub(super) fn is_url(path: &str) -> bool {
    let start = path.get(..8).unwrap_or(path).to_ascii_lowercase();
    start.starts_with("http://") || start.starts_with("https://")
}

/// Scheme, host and port of a whole URL.
pub(super) fn origin_of(url: &str) -> &str {
    let scheme = url.find("://").map_or(0, |at| at + 3);
    let end = url[scheme..]
        .find(['/', '?', '#'])
        .map_or(url.len(), |at| scheme + at);
    &url[..end]
}

/// A target as the three properties of a sampler.
pub(super) fn properties_of(target: &Target) -> [(&'static str, String); 3] {
    let scheme: Scheme = target.scheme;
    [
        ("HTTPSampler.protocol", scheme.name().to_owned()),
        ("HTTPSampler.domain", target.host.clone()),
        ("HTTPSampler.port", target.port.to_string()),
    ]
}
