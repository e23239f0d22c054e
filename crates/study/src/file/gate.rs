//! `[gate]`: a gateway between the load and the server, which holds the flow while the server stays
//! as it is.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use weir_metric::{Quantity, Unit, parse_duration};
use weir_userfile::{Section, cannot, number};

use super::factor::{GATE_LIMIT_MAX, OF_THE_GATE, class_of_gate};
use super::{Ask, Varied, factors};

/// How long a request waits for its turn when the study does not say: longer than any request of a
/// load takes, so that who finds the gateway full waits, and nobody is rejected.
const MAX_WAIT: Duration = Duration::from_secs(600);
/// How many wait when the study does not say.
const MAX_QUEUE: u32 = 10_000;
/// The most that may wait.
const MAX_QUEUE_MAX: u32 = 1_000_000;

/// A gateway in front of the server.
#[derive(Debug, Clone, PartialEq)]
pub struct GateSpec {
    /// Requests in flight where no factor says otherwise; fractions are averages over time.
    pub concurrency: Option<f64>,
    /// Requests admitted per second where no factor says otherwise.
    pub rate_per_s: Option<f64>,
    /// Longest wait of a request for its turn.
    pub max_wait: Duration,
    /// Most requests that wait.
    pub max_queue: u32,
    /// Kinds of requests with limits of their own; the first that matches counts.
    pub classes: Vec<GateClassSpec>,
}

/// A kind of requests, as in the gateway's own file.
#[derive(Debug, Clone, PartialEq)]
pub struct GateClassSpec {
    /// What it is called.
    pub name: String,
    /// All of what a request of it has: `path`, `method`, `header`, `cookie`, `cost`.
    pub matches: BTreeMap<String, String>,
    /// Requests of it in flight, where no factor says otherwise.
    pub concurrency: Option<f64>,
    /// Requests of it admitted per second, where no factor says otherwise.
    pub rate_per_s: Option<f64>,
}

impl Default for GateSpec {
    fn default() -> Self {
        Self {
            concurrency: None,
            rate_per_s: None,
            max_wait: MAX_WAIT,
            max_queue: MAX_QUEUE,
            classes: Vec::new(),
        }
    }
}

/// By what a request can be told, as the gateway's file has it.
const MATCHES: [&str; 5] = ["path", "method", "header", "cookie", "cost"];

/// Reads `[gate]`, if there is one.
pub(super) fn read(root: &Section<'_>) -> Option<(GateSpec, Range<usize>)> {
    let section = root.section("gate", "[gate]")?;
    let concurrency = read_concurrency(&section);
    let rate_per_s = read_rate(&section);
    let max_wait = read_max_wait(&section);
    let max_queue = section.whole("max-queue", 0..=MAX_QUEUE_MAX);
    let classes = read_classes(&section);
    section.finish();
    let spec = GateSpec {
        concurrency,
        rate_per_s,
        max_wait: max_wait.unwrap_or(MAX_WAIT),
        max_queue: max_queue.map_or(MAX_QUEUE, toml::Spanned::into_inner),
        classes,
    };
    Some((spec, section.span()))
}

fn read_concurrency(section: &Section<'_>) -> Option<f64> {
    let value = section.value("concurrency")?;
    let limit = number(value.get_ref());
    let fits = |limit: &f64| *limit > 0.0 && *limit <= GATE_LIMIT_MAX;
    let wanted = "a number above 0, up to 1,000,000";
    limit
        .filter(fits)
        .or_else(|| section.wrong_type("concurrency", value, wanted))
}

fn read_classes(section: &Section<'_>) -> Vec<GateClassSpec> {
    let Some((_, list)) = section.list("class") else {
        return Vec::new();
    };
    let classes = list.iter().filter_map(|one| {
        let class = section.section_of("[[gate.class]]", one)?;
        let name = class.text("name");
        if class.value("name").is_none() {
            class.missing("name", "name = \"heavy\"");
        }
        let read = GateClassSpec {
            name: name?.into_inner(),
            matches: read_matches(&class),
            concurrency: read_concurrency(&class),
            rate_per_s: read_rate(&class),
        };
        class.finish();
        Some(read)
    });
    classes.collect()
}

fn read_matches(class: &Section<'_>) -> BTreeMap<String, String> {
    let Some(section) = class.section("match", "`match`") else {
        return BTreeMap::new();
    };
    let told = MATCHES.into_iter().filter_map(|key| {
        let text = section.text(key)?;
        Some((key.to_owned(), text.into_inner()))
    });
    let matches = told.collect();
    section.finish();
    matches
}

fn read_rate(section: &Section<'_>) -> Option<f64> {
    let text = section.text("rate")?;
    let says = match Quantity::parse(text.get_ref()) {
        Ok(rate) if !rate.unit.agrees_with(Unit::PerSecond) => {
            format!("`{}` does not say per what time", text.get_ref())
        }
        Ok(rate) if rate.base() > 0.0 && rate.base() <= GATE_LIMIT_MAX => return Some(rate.base()),
        Ok(_) => format!("`{}` is no rate that can be held", text.get_ref()),
        Err(error) => cannot(&error),
    };
    let help = "write requests per second or minute, such as `rate = \"50/s\"`";
    section.problems().add_with_help(text.span(), says, help);
    None
}

fn read_max_wait(section: &Section<'_>) -> Option<Duration> {
    let wait = section.parsed("max-wait", parse_duration)?;
    if *wait.get_ref() > MAX_WAIT {
        section.problems().add_with_help(
            wait.span(),
            "nobody waits longer than 600 s in the gateway",
            "write a time up to \"600s\", or leave it out",
        );
    }
    Some(wait.into_inner())
}

/// The gateway of a study: the one of its table, or the default one where only a factor is named. A
/// table that holds nothing, in a study that varies nothing of it, is a slip.
pub(super) fn of_study(
    root: &Section<'_>,
    read: Option<(GateSpec, Range<usize>)>,
    ask: &Ask,
) -> Option<GateSpec> {
    let factors = factors(ask);
    let classes: Vec<&str> = factors
        .iter()
        .filter_map(|name| class_of_gate(name))
        .collect();
    let named = !classes.is_empty() || OF_THE_GATE.iter().any(|of_all| factors.contains(of_all));
    let Some((spec, span)) = read else {
        check_classes(root, &root.span(), &classes, &[]);
        return named.then(GateSpec::default);
    };
    check_classes(root, &span, &classes, &spec.classes);
    let has_limit = |class: &GateClassSpec| class.concurrency.or(class.rate_per_s).is_some();
    let holds =
        spec.concurrency.or(spec.rate_per_s).is_some() || spec.classes.iter().any(has_limit);
    if !named && !holds && !finds_caps(ask, &spec) {
        root.problems().add_with_help(
            span,
            "this gateway holds nothing back",
            "write `rate = \"50/s\"` or `concurrency = 40`, or vary `gate.concurrency`; in a search for users, two `[[gate.class]]` \
             or more get a cap each",
        );
    }
    Some(spec)
}

/// Whether the study is to find a cap for each class: a search for users does, of two classes or
/// more.
fn finds_caps(ask: &Ask, spec: &GateSpec) -> bool {
    matches!(ask, Ask::Find(find) if find.varied == Varied::Users) && spec.classes.len() > 1
}

/// A factor whose class is not there sets nothing.
fn check_classes(root: &Section<'_>, span: &Range<usize>, named: &[&str], has: &[GateClassSpec]) {
    let unknown = named
        .iter()
        .find(|name| has.iter().all(|class| class.name != **name));
    if let Some(name) = unknown {
        root.problems().add_with_help(
            span.clone(),
            format!("the gateway has no class `{name}`, whose limit a trial is to set"),
            format!("write it down: `[[gate.class]]` with `name = \"{name}\"` and what its requests have, `match = {{ header = \"X-Plan: gold\" }}`"),
        );
    }
}
