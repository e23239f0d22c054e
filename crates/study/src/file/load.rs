//! `[load]`: what is sent, and how long a trial measures.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use toml::Spanned;
use weir_metric::parse_duration;
use weir_record::Window;
use weir_userfile::Section;

use super::factor::flat;
use super::level::level;

/// Never counted at the start of a trial, unless the study says otherwise: connections are opened
/// and caches filled in this time. The window drops more when the series say so.
const WARM_UP_MIN: Duration = Duration::from_secs(5);
/// Share of a fixed window that its warm-up lasts, if that is longer.
const WARM_UP_SHARE: f64 = 0.2;
/// The shortest and the longest automatic window: long enough for the interval of a trial to be
/// worth having, short enough for about ten trials in six minutes.
const AUTO_MIN: Duration = Duration::from_secs(15);
const AUTO_MAX: Duration = Duration::from_secs(30);
/// An automatic window ends early when throughput and CPU are known this well.
const AUTO_PRECISION: f64 = 0.02;
/// A window outside of these lengths is a slip of the finger.
const FIXED_MIN: Duration = Duration::from_secs(5);
const FIXED_MAX: Duration = Duration::from_secs(24 * 3600);

/// Most requests of one trial that can be typed.
const REQUESTS_MAX: u32 = 100_000_000;

/// The load of a study.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadSpec {
    /// What is sent.
    pub source: LoadSource,
    /// How long a trial measures.
    pub window: Window,
    /// Warm-up of a trial before which the server was started, if it is longer than that of
    /// others.
    pub first_warm_up: Option<Duration>,
    /// Whether the length of the window follows from the trial (`window = "auto"`).
    pub window_is_auto: bool,
    /// Time without load before every trial but the first.
    pub pause: Duration,
    /// Properties of the plan beside the users, as `-J` gives them.
    pub properties: BTreeMap<String, String>,
    /// Hosts with a public address that may be loaded.
    pub allow_hosts: Vec<Spanned<String>>,
    /// Files and folders beside those of plan, study and run that the plan may read and write,
    /// relative to the study file.
    pub allow_files: Vec<Spanned<String>>,
    /// What sends it.
    pub engine: EngineKind,
    /// How the arrivals of one URL lie, where the study varies their rate.
    pub arrivals: Arrivals,
}

/// How arrivals lie in their rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Arrivals {
    /// At random moments, independent of each other: a Poisson process.
    #[default]
    Poisson,
    /// Evenly.
    Constant,
}

/// What sends the load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EngineKind {
    /// Weir's own engine.
    #[default]
    Native,
    /// A real JMeter.
    Jmeter,
}

/// What is sent.
#[derive(Debug, Clone, PartialEq)]
pub enum LoadSource {
    /// A JMeter plan.
    Plan {
        /// Its path, relative to the study file.
        path: Spanned<PathBuf>,
        /// The property of the plan that the level of `users` sets.
        users: Option<Spanned<String>>,
        /// The property of the plan that the level of `rate` sets.
        rate: Option<Spanned<String>>,
    },
    /// One GET request from every user, without thinking.
    Url(Spanned<String>),
}

impl LoadSpec {
    /// Whether a level of `users` says how many there are, and nothing else does.
    pub(crate) fn takes_users(&self) -> bool {
        match &self.source {
            LoadSource::Plan { users, .. } => users
                .as_ref()
                .is_some_and(|name| !self.properties.contains_key(name.get_ref())),
            LoadSource::Url(_) => true,
        }
    }
}

/// The window of `window = "auto"`.
pub fn auto_window() -> Window {
    Window {
        warm_up_min: WARM_UP_MIN,
        min: AUTO_MIN,
        max: AUTO_MAX,
        requests: None,
        precision: AUTO_PRECISION,
    }
}

/// Reads `[load]`.
pub(crate) fn read(section: &Section<'_>) -> Option<LoadSpec> {
    let source = read_source(section);
    let warm_up = section.parsed("warm-up", parse_duration);
    let first_warm_up = section.parsed("first-warm-up", parse_duration);
    let (mut window, mut window_is_auto) = read_window(section, warm_up.map(Spanned::into_inner));
    let pause = section.parsed("pause", parse_duration);
    let properties = section
        .section("properties", "[load.properties]")
        .map(|properties| read_properties(&properties))
        .unwrap_or_default();
    let allow_hosts = section.texts("allow-hosts").unwrap_or_default();
    let allow_files = section.texts("allow-files").unwrap_or_default();
    let engine = read_engine(section);
    let arrivals = read_arrivals(section);
    if let Some(requests) = read_requests(section, engine) {
        (window, window_is_auto) = (Window::of_requests(requests), false);
    }
    section.finish();
    Some(LoadSpec {
        source: source?,
        window,
        first_warm_up: first_warm_up.map(Spanned::into_inner),
        window_is_auto,
        pause: pause.map_or(Duration::ZERO, Spanned::into_inner),
        properties,
        allow_hosts,
        allow_files,
        engine,
        arrivals,
    })
}

/// `requests`: the trial is a load of so many requests, and all of it counts.
fn read_requests(section: &Section<'_>, engine: EngineKind) -> Option<u64> {
    let requests = section.whole("requests", 1..=REQUESTS_MAX)?;
    for key in ["window", "warm-up", "first-warm-up"] {
        if let Some(value) = section.value(key) {
            section.problems().add_with_help(
                value.span(),
                format!(
                    "a load of {} requests has no `{key}`: all of it counts",
                    requests.get_ref()
                ),
                format!("keep one of `requests`, `{key}`"),
            );
        }
    }
    if engine == EngineKind::Jmeter {
        section.problems().add_with_help(
            requests.span(),
            "only Weir's own engine counts requests",
            "leave out `engine`, or write `window` instead of `requests`",
        );
    }
    Some(u64::from(requests.into_inner()))
}

fn read_engine(section: &Section<'_>) -> EngineKind {
    let Some(word) = section.text("engine") else {
        return EngineKind::default();
    };
    match word.get_ref().as_str() {
        "native" => EngineKind::Native,
        "jmeter" => EngineKind::Jmeter,
        other => {
            section.problems().add_with_help(
                word.span(),
                format!("`{other}` is no engine"),
                "write \"native\" (Weir itself, also when nothing is written) or \"jmeter\"",
            );
            EngineKind::default()
        }
    }
}

/// `arrivals`: of a URL alone, as a plan says itself when its iterations start.
fn read_arrivals(section: &Section<'_>) -> Arrivals {
    let Some(word) = section.text("arrivals") else {
        return Arrivals::default();
    };
    if section.value("plan").is_some() {
        section.problems().add_with_help(
            word.span(),
            "a plan says itself when its iterations start",
            "leave `arrivals` out, or write `url` instead of `plan`",
        );
    }
    match word.get_ref().as_str() {
        "poisson" => Arrivals::Poisson,
        "constant" => Arrivals::Constant,
        other => {
            section.problems().add_with_help(
                word.span(),
                format!("`{other}` is no way to arrive"),
                "write \"poisson\" (at random moments, also when nothing is written) or \"constant\" (evenly)",
            );
            Arrivals::default()
        }
    }
}

fn read_source(section: &Section<'_>) -> Option<LoadSource> {
    let problems = section.problems();
    let plan = section.text("plan");
    let url = section.text("url");
    let users = section.text("users");
    let rate = section.text("rate");
    let steps = section.value("steps");
    if let Some(steps) = steps {
        problems.add_with_help(
            steps.span(),
            "`steps` are not built yet",
            "write the steps as a JMeter plan and name it: `plan = \"FILE.jmx\"`",
        );
    }
    match (plan, url) {
        (Some(_), Some(url)) => {
            problems.add_with_help(
                url.span(),
                "the load has a plan and a URL",
                "keep one of `plan`, `url`",
            );
            None
        }
        (Some(path), None) => Some(LoadSource::Plan {
            path: Spanned::new(path.span(), PathBuf::from(path.into_inner())),
            users,
            rate,
        }),
        (None, Some(url)) => {
            if let Some(users) = users {
                problems.add_with_help(
                    users.span(),
                    "`users` names a property of a plan, and this load has none",
                    "leave it out: with a URL the level is the number of users itself",
                );
            }
            if let Some(rate) = rate {
                problems.add_with_help(
                    rate.span(),
                    "`rate` names a property of a plan, and this load has none",
                    "leave it out: with a URL the level is the number of requests a second itself",
                );
            }
            Some(LoadSource::Url(url))
        }
        (None, None) => {
            if steps.is_none() {
                section.missing("plan", "plan = \"FILE.jmx\"` or `url = \"http://…\"");
            }
            None
        }
    }
}

fn read_window(section: &Section<'_>, warm_up: Option<Duration>) -> (Window, bool) {
    let mut auto = auto_window();
    auto.warm_up_min = warm_up.unwrap_or(WARM_UP_MIN);
    let Some(text) = section
        .text("window")
        .filter(|text| text.get_ref() != "auto")
    else {
        return (auto, true);
    };
    let Some(length) = fixed_length(section, &text, "\"auto\" or ") else {
        return (auto, true);
    };
    let share = length.mul_f64(WARM_UP_SHARE);
    let warm_up = warm_up.unwrap_or(share.max(WARM_UP_MIN));
    (Window::fixed(warm_up, length), false)
}

/// The length of a fixed window; `or_else` names what else may be written.
pub(super) fn fixed_length(
    section: &Section<'_>,
    text: &Spanned<String>,
    or_else: &str,
) -> Option<Duration> {
    let length = parse_duration(text.get_ref()).ok();
    let allowed = length.filter(|length| (FIXED_MIN..=FIXED_MAX).contains(length));
    if allowed.is_none() {
        section.problems().add_with_help(
            text.span(),
            format!("`{}` is no length of a window", text.get_ref()),
            format!("write {or_else}a time from 5 s to 24 h such as \"300 s\""),
        );
    }
    allowed
}

fn read_properties(section: &Section<'_>) -> BTreeMap<String, String> {
    let mut properties = BTreeMap::new();
    for (name, _, value) in flat(section.table()) {
        match level(value.get_ref()) {
            Some(level) => {
                properties.insert(name, level.to_string());
            }
            None => section.problems().add(
                value.span(),
                format!("the property `{name}` has to be a number or a text in quotes"),
            ),
        }
    }
    properties
}
