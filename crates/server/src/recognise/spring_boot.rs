//! A Spring Boot application: its jar or class path, and the settings that bound its Tomcat and its
//! pool.
//!
//! Defaults are those of Spring Boot's reference ("Common Application Properties") and of
//! `HikariCP`.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use super::found::{AgentWay, Found, FoundKind, FoundLimit, FoundValue, SetWay};
use super::java_command::JavaCommand;
use super::spring_environment::SpringEnvironment;
use crate::machine::Machine;
use crate::process::ProcessFacts;
use crate::tomcat::stage_of;

/// How long the application may take to say whether it has the actuator.
const ANSWER: Duration = Duration::from_secs(3);

/// As studies name it (with the name that Tomcat's attribute has), the property, the default.
const LIMITS: [(&str, &str, u64); 6] = [
    ("backlog", "server.tomcat.accept-count", 100),
    ("connections", "server.tomcat.max-connections", 8192),
    ("threads", "server.tomcat.threads.max", 200),
    (
        "native.minSpareThreads",
        "server.tomcat.threads.min-spare",
        10,
    ),
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
const POOL_BEANS: &str = "spring.datasource.hikari.register-mbeans";

pub(super) fn recognise(
    facts: &ProcessFacts,
    java: &JavaCommand,
    port: u16,
    machine: &Machine,
) -> Option<Found> {
    let application = Application::of(facts, java, machine)?;
    let settings = SpringEnvironment::of(facts, java, machine);
    let mut found = Found {
        pid: facts.pid,
        kind: FoundKind::SpringBoot,
        name: application.name(),
        limits: Vec::new(),
        metrics: None,
        agent: AgentWay::Loads,
        notes: Vec::new(),
    };
    if application.has("tomcat-embed-core") {
        found.limits = tomcat_limits(&settings);
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
            Some(Some(page)) => found.metrics = Some(page),
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
    LIMITS.into_iter().map(limit).collect()
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
    let placed = settings.find(property);
    let (value, origin) = match placed {
        Some(placed) => (value(&placed.value), placed.origin),
        None => (FoundValue::Number(default), "default".to_owned()),
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

/// The page of metrics, if the actuator shows it.
fn metrics(settings: &SpringEnvironment, port: u16) -> Option<String> {
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
    let links = ask(&url)?;
    links.pointer("/_links/prometheus/href")?;
    Some(match own_port {
        Some(_) => format!("{url}/prometheus"),
        None => format!("{path}/prometheus"),
    })
}

fn ask(url: &str) -> Option<Value> {
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .timeout_global(Some(ANSWER))
        .build()
        .into();
    let text = agent
        .get(url)
        .call()
        .ok()?
        .body_mut()
        .read_to_string()
        .ok()?;
    serde_json::from_str(&text).ok()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use std::fs::{self, File};
    use std::io::Write as _;
    use std::path::Path;

    use super::*;
    use crate::recognise::java_command::tests::process;

    /// A jar with these entries, laid out as Spring Boot's Maven plugin does.
    fn jar(path: &Path, entries: &[(&str, &str)]) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut jar = zip::ZipWriter::new(File::create(path).unwrap());
        let stored = zip::write::SimpleFileOptions::default();
        for (name, text) in entries {
            jar.start_file(*name, stored).unwrap();
            jar.write_all(text.as_bytes()).unwrap();
        }
        jar.finish().unwrap();
    }

    const MANIFEST: &str = "Manifest-Version: 1.0\r\nMain-Class: org.springframework.boot.loader.launch.JarLauncher\r\n\
                            Start-Class: com.example.Posts\r\nSpring-Boot-Version: 3.5.8\r\n";
    const PROPERTIES: &str = "server.port=8080\nserver.tomcat.threads.max=${THREADS:20}\nserver.tomcat.maxConnections=100\n";

    fn found(line: &str, files: &[(&str, &str)], variables: &[(&str, &str)]) -> Found {
        let tree = tempfile::tempdir().unwrap();
        jar(
            &tree.path().join("srv/posts.jar"),
            &[
                ("META-INF/MANIFEST.MF", MANIFEST),
                ("BOOT-INF/classes/application.properties", PROPERTIES),
                ("BOOT-INF/lib/tomcat-embed-core-10.1.49.jar", ""),
                ("BOOT-INF/lib/HikariCP-6.3.3.jar", ""),
            ],
        );
        for (name, text) in files {
            let path = tree.path().join("srv").join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let mut facts = process(line);
        let variables = variables.iter();
        facts.environment = variables
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        let java = JavaCommand::of(&facts).unwrap();
        recognise(&facts, &java, 8080, &Machine::of_tree(tree.path())).unwrap()
    }

    fn told(found: &Found, stage: &str) -> (String, String, bool) {
        let limit = found
            .limits
            .iter()
            .find(|limit| limit.stage == stage)
            .unwrap();
        (
            limit.value.to_string(),
            limit.origin.clone(),
            limit.set == SetWay::Jmx,
        )
    }

    fn is(value: &str, origin: &str, live: bool) -> (String, String, bool) {
        (value.to_owned(), origin.to_owned(), live)
    }

    #[test]
    fn settings_inside_the_jar_count_when_nothing_stronger_says_more() {
        let found = found("/usr/bin/java -jar posts.jar", &[], &[]);
        assert_eq!(found.name, "Spring Boot 3.5.8 (posts.jar)");
        let inside = "/srv/posts.jar!BOOT-INF/classes/application.properties";
        assert_eq!(
            told(&found, "threads"),
            is("20", &format!("{inside}:2"), false)
        );
        assert_eq!(
            told(&found, "connections"),
            is("100", &format!("{inside}:3"), false)
        );
        assert_eq!(told(&found, "backlog"), is("100", "default", false));
        assert_eq!(
            told(&found, "pool.HikariPool-1"),
            is("10", "default", false)
        );
    }

    #[test]
    fn the_strongest_source_counts() {
        let files = [
            (
                "application.yml",
                "spring:\n  profiles:\n    active: prod\nserver:\n  tomcat:\n    threads:\n      max: 30\n",
            ),
            (
                "config/application-prod.properties",
                "server.tomcat.accept-count=5\nserver.tomcat.threads.max=40\n",
            ),
        ];
        let variables = [
            ("SERVER_TOMCAT_MAXCONNECTIONS", "300"),
            ("SPRING_DATASOURCE_HIKARI_POOL_NAME", "posts"),
        ];
        let line = "/usr/bin/java -Dserver.tomcat.mbeanregistry.enabled=true -jar posts.jar \
                    --spring.datasource.hikari.register-mbeans=true --server.tomcat.connection-timeout=20s";
        let found = found(line, &files, &variables);
        let prod = "/srv/config/application-prod.properties";
        assert_eq!(
            told(&found, "threads"),
            is("40", &format!("{prod}:2"), true)
        );
        assert_eq!(
            told(&found, "backlog"),
            is("5", &format!("{prod}:1"), false)
        );
        assert_eq!(told(&found, "connections"), is("300", "environment", true));
        assert_eq!(
            told(&found, "native.connectionTimeout"),
            is("20000", "command line", true)
        );
        assert_eq!(told(&found, "pool.posts"), is("10", "default", true));
    }

    #[test]
    fn an_application_on_a_class_path_is_one_too() {
        let facts = process(
            "/usr/bin/java -cp target/classes:/m2/spring-boot-3.4.0.jar:/m2/spring-boot-starter-web-3.4.0.jar:\
             /m2/jetty-server-12.0.1.jar com.example.Main",
        );
        let java = JavaCommand::of(&facts).unwrap();
        let nowhere = Machine::of_tree(Path::new("/nonexistent"));
        let found = recognise(&facts, &java, 8080, &nowhere).unwrap();
        assert_eq!(found.name, "Spring Boot 3.4.0 (com.example.Main)");
        assert!(found.notes[0].contains("no Tomcat inside"));
        let other = process("/usr/bin/java -cp a.jar com.example.Main");
        let java = JavaCommand::of(&other).unwrap();
        assert_eq!(recognise(&other, &java, 8080, &nowhere), None);
    }
}
