//! A Spring Boot application: its jar or class path, and the settings that bound its Tomcat and its
//! pool.
//!
//! Defaults are those of Spring Boot's reference ("Common Application Properties") and of
//! `HikariCP`.

mod environment;
mod files;
mod profiles;

use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use super::found::{
    AgentWay, Found, FoundKind, FoundLimit, FoundValue, MIN_SPARE, OccupancyWay, SetWay,
    keep_spare_within_threads,
};
use super::java_command::JavaCommand;
use super::running;
use super::xml_place::Lookup;
use crate::machine::Machine;
use crate::process::ProcessFacts;
use crate::tomcat::stage_of;
use environment::SpringEnvironment;

/// How long the application may take to say whether it has the actuator.
const ANSWER: Duration = Duration::from_secs(3);

/// As studies name it (with the name that Tomcat's attribute has), the property, the default.
const LIMITS: [(&str, &str, u64); 6] = [
    ("backlog", "server.tomcat.accept-count", 100),
    ("connections", "server.tomcat.max-connections", 8192),
    ("threads", "server.tomcat.threads.max", 200),
    (MIN_SPARE, "server.tomcat.threads.min-spare", 10),
    (
        "native.connectionTimeout",
        "server.tomcat.connection-timeout",
        60_000,
    ),
    (
        "native.maxKeepAliveRequests",
        "server.tomcat.max-keep-alive-requests",
        100,
    ),
];
const POOL: &str = "spring.datasource.hikari.maximum-pool-size";
const POOL_DEFAULT: u64 = 10;
const TOMCAT_BEANS: &str = "server.tomcat.mbeanregistry.enabled";
const VIRTUAL_THREADS: &str = "spring.threads.virtual.enabled";
/// The first Java that has virtual threads.
const FIRST_JAVA: u64 = 21;
const POOL_BEANS: &str = "spring.datasource.hikari.register-mbeans";

pub(super) fn recognise(
    facts: &ProcessFacts,
    java: &JavaCommand,
    port: u16,
    machine: &Machine,
) -> Option<Found> {
    let application = Application::of(facts, java, machine)?;
    let since = |wanted| application.is_since(wanted);
    let settings = SpringEnvironment::of(facts, java, since([2, 4]).unwrap_or(true), machine);
    let mut found = Found {
        pid: facts.pid,
        kind: FoundKind::SpringBoot,
        name: application.name(),
        limits: Vec::new(),
        metrics: None,
        occupancy: OccupancyWay::Told,
        agent: AgentWay::Loads,
        notes: Vec::new(),
    };
    if application.has("tomcat-embed-core") {
        found.limits = tomcat_limits(&settings);
        found.occupancy = OccupancyWay::Serving;
        let java_version = java_version(facts, machine);
        if let Some(virtual_threads) = virtual_threads(&settings, since([3, 2]), java_version) {
            without_thread_limit(virtual_threads, &mut found);
        }
    } else {
        found.notes.push(
            "the application has no Tomcat inside (Jetty, Undertow or Netty?): Weir does not know its limits".to_owned(),
        );
    }
    if application.has("HikariCP") {
        found.limits.push(pool(&settings));
    }
    if application.has("spring-boot-actuator-autoconfigure")
        || application.has("spring-boot-actuator")
    {
        match machine.is_here().then(|| metrics(&settings, port)) {
            Some(Some((page, url))) => {
                found.metrics = Some(page);
                if let Some(text) = get(&url) {
                    let running = running::on_page(&text, port);
                    let who = "the running server, on its page of metrics";
                    running::take_over(&mut found, &running, who, false);
                }
            }
            None => found.notes.push(
                "the application has the actuator, which is not asked over ssh: name its page, if it shows one \
                 (metrics = \"/actuator/prometheus\")"
                    .to_owned(),
            ),
            Some(None) => found.notes.push(
                "the application has the actuator, but not the page of metrics: add micrometer-registry-prometheus and \
                 --management.endpoints.web.exposure.include=health,prometheus"
                    .to_owned(),
            ),
        }
    }
    Some(found)
}

struct Application {
    version: Option<String>,
    /// File names of its libraries.
    libraries: Vec<String>,
    /// What it is called.
    file: String,
}

impl Application {
    fn of(facts: &ProcessFacts, java: &JavaCommand, machine: &Machine) -> Option<Self> {
        if java.is_jar {
            return Self::of_jar(facts, java, machine);
        }
        let names = java
            .class_path
            .iter()
            .filter_map(|entry| entry.rsplit('/').next());
        let libraries: Vec<String> = names.map(str::to_owned).collect();
        let core = libraries
            .iter()
            .find_map(|name| version_of(name, "spring-boot-"))?;
        Some(Self {
            version: Some(core),
            libraries,
            file: java.main.clone(),
        })
    }

    fn of_jar(facts: &ProcessFacts, java: &JavaCommand, machine: &Machine) -> Option<Self> {
        let jar: PathBuf = facts.absolute(&java.main);
        let manifest = machine.jar_text(&jar, "META-INF/MANIFEST.MF")?;
        let field = |name: &str| {
            let mut lines = manifest.lines();
            let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))?;
            Some(value.trim().to_owned())
        };
        let version = field("Spring-Boot-Version");
        let is_loader =
            field("Main-Class").is_some_and(|class| class.contains("springframework.boot.loader"));
        if version.is_none() && !is_loader {
            return None;
        }
        let names = machine.jar_names(&jar).into_iter();
        let libraries = names.filter_map(|name| {
            let name = name.strip_prefix("BOOT-INF/lib/")?;
            Some(name.to_owned())
        });
        Some(Self {
            version,
            libraries: libraries.collect(),
            file: java.main.clone(),
        })
    }

    /// Whether its version is this one or later, as far as that is known.
    fn is_since(&self, wanted: [u64; 2]) -> Option<bool> {
        let mut parts = self.version.as_deref()?.split('.').map(str::parse);
        let mut next = || parts.next()?.ok();
        Some([next()?, next()?] >= wanted)
    }

    fn name(&self) -> String {
        let version = self.version.as_deref().unwrap_or_default();
        let file = self.file.rsplit('/').next().unwrap_or_default();
        let name = format!("Spring Boot {version}");
        format!("{} ({file})", name.trim_end())
    }

    fn has(&self, library: &str) -> bool {
        let begins = |name: &String| version_of(name, &format!("{library}-")).is_some();
        self.libraries.iter().any(begins)
    }
}

/// `3.5.8` of `spring-boot-3.5.8.jar`.
fn version_of(file: &str, prefix: &str) -> Option<String> {
    let rest = file.strip_prefix(prefix)?.strip_suffix(".jar")?;
    rest.starts_with(|c: char| c.is_ascii_digit())
        .then(|| rest.to_owned())
}

fn tomcat_limits(settings: &SpringEnvironment) -> Vec<FoundLimit> {
    let has_beans = settings.is_on(TOMCAT_BEANS);
    let limit = |(stage, property, default): (&str, &str, u64)| {
        let set = match stage {
            "backlog" => SetWay::Not(format!(
                "it is used when the port is opened: restart the application with --{property}=N"
            )),
            _ if has_beans => SetWay::Jmx,
            _ => SetWay::Not(format!(
                "the application's Tomcat has no MBeans: restart it with --{TOMCAT_BEANS}=true, then this can be set \
                 while it runs"
            )),
        };
        limit(settings, stage, property, default, set)
    };
    let mut limits: Vec<_> = LIMITS.into_iter().map(limit).collect();
    keep_spare_within_threads(&mut limits);
    limits
}

/// The major version of a process's Java, as the file beside it has it.
fn java_version(facts: &ProcessFacts, machine: &Machine) -> Option<u64> {
    let home = facts.program.parent()?.parent()?;
    let text = machine.text(&home.join("release"))?;
    let mut lines = text.lines();
    let version = lines.find_map(|line| line.strip_prefix("JAVA_VERSION="))?;
    let version = version.trim().trim_matches('"');
    version.split('.').next()?.parse().ok()
}

/// Whether requests get a virtual thread each, with where that is said: since Spring Boot 3.2, on
/// Java 21 and later ("Virtual Threads" in its reference). Nothing when they do not.
fn virtual_threads(
    settings: &SpringEnvironment,
    has_them: Option<bool>,
    java: Option<u64>,
) -> Option<Result<String, String>> {
    let placed = match settings.look_up(VIRTUAL_THREADS) {
        Lookup::At(placed) if placed.value.eq_ignore_ascii_case("true") => placed,
        Lookup::Unsure(why) if has_them != Some(false) => {
            return Some(Err(format!(
                "whether {VIRTUAL_THREADS} is set is not known: {why}"
            )));
        }
        _ => return None,
    };
    match (has_them, java.map(|version| version >= FIRST_JAVA)) {
        (Some(false), _) | (_, Some(false)) => None,
        (Some(true), Some(true)) => Some(Ok(placed.origin)),
        _ => Some(Err(format!(
            "{}: {VIRTUAL_THREADS} is set, and the version of Spring Boot or Java, on which it depends, is not known",
            placed.origin
        ))),
    }
}

/// Takes the limit of threads away, or the knowledge of it.
fn without_thread_limit(virtual_threads: Result<String, String>, found: &mut Found) {
    let of_threads =
        |limit: &&mut FoundLimit| matches!(limit.stage.as_str(), "threads" | MIN_SPARE);
    found.occupancy = OccupancyWay::Told;
    for limit in found.limits.iter_mut().filter(of_threads) {
        (limit.value, limit.origin) = match &virtual_threads {
            Ok(origin) => (FoundValue::Unlimited, origin.clone()),
            Err(why) => (FoundValue::NotKnown, why.clone()),
        };
        if virtual_threads.is_ok() {
            limit.set = SetWay::Not(format!("{} has no effect on virtual threads", limit.native));
        }
    }
    if let Ok(origin) = virtual_threads {
        found.notes.push(format!(
            "requests run on virtual threads ({VIRTUAL_THREADS}, {origin}): there is no limit of threads; \
             max-connections and the pools bound the work"
        ));
    }
}

fn pool(settings: &SpringEnvironment) -> FoundLimit {
    let name = settings.find("spring.datasource.hikari.pool-name");
    // What HikariCP calls the first pool that has no name.
    let name = name.map_or_else(|| "HikariPool-1".to_owned(), |placed| placed.value);
    let set = if settings.is_on(POOL_BEANS) {
        SetWay::Jmx
    } else {
        SetWay::Not(format!(
            "the pool has no MBean: restart the application with --{POOL_BEANS}=true, then this can be set while it runs"
        ))
    };
    limit(settings, &stage_of(&name), POOL, POOL_DEFAULT, set)
}

fn limit(
    settings: &SpringEnvironment,
    stage: &str,
    property: &str,
    default: u64,
    set: SetWay,
) -> FoundLimit {
    let (value, origin) = match settings.look_up(property) {
        Lookup::At(placed) => (value(&placed.value), placed.origin),
        Lookup::Nowhere => (FoundValue::Number(default), "default".to_owned()),
        Lookup::Unsure(why) => (FoundValue::NotKnown, why),
    };
    FoundLimit {
        stage: stage.to_owned(),
        native: property.to_owned(),
        value,
        origin,
        set,
    }
}

/// A number, or a time in Spring's short form as milliseconds.
fn value(text: &str) -> FoundValue {
    let text = text.trim();
    for (unit, ms) in [("ms", 1), ("s", 1000), ("m", 60_000)] {
        let number = text
            .strip_suffix(unit)
            .map(|number| number.trim().parse::<u64>());
        if let Some(Ok(number)) = number {
            return FoundValue::Number(number * ms);
        }
    }
    FoundValue::of(text)
}

/// The page of metrics as studies name it, and its URL, if the actuator shows it.
fn metrics(settings: &SpringEnvironment, port: u16) -> Option<(String, String)> {
    let text = |name: &str, default: &str| {
        let placed = settings.find(name);
        placed.map_or_else(|| default.to_owned(), |placed| placed.value)
    };
    let own_port = settings.find("management.server.port");
    let own_port = own_port.and_then(|placed| placed.value.parse::<u16>().ok());
    let base = text("management.endpoints.web.base-path", "/actuator");
    // Beside the application the actuator stands below the application's own path.
    let context = match own_port {
        Some(_) => String::new(),
        None => text("server.servlet.context-path", ""),
    };
    let path = format!("{}{base}", context.trim_end_matches('/'));
    let url = format!("http://127.0.0.1:{}{path}", own_port.unwrap_or(port));
    let links: Value = serde_json::from_str(&get(&url)?).ok()?;
    links.pointer("/_links/prometheus/href")?;
    let whole = format!("{url}/prometheus");
    let page = match own_port {
        Some(_) => whole.clone(),
        None => format!("{path}/prometheus"),
    };
    Some((page, whole))
}

fn get(url: &str) -> Option<String> {
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .timeout_global(Some(ANSWER))
        .build()
        .into();
    agent.get(url).call().ok()?.body_mut().read_to_string().ok()
}

#[cfg(test)]
mod tests;
