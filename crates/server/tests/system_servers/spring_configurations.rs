//! What is told of a Spring Boot application's limits by its settings, compared with what its
//! Tomcat says over JMX: files in several places and forms, documents and files of profiles,
//! groups, imports, the environment, the command line, placeholders, spellings.

#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "tests state what must hold, or say that they did not run"
)]

use std::fmt::Write as _;
use std::fs;
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;

use weir_apps::App;
use weir_server::{Machine, ProcessFacts, recognise};
use weir_shelf::Shelf;

use crate::choices::{Choices, compositions};
use crate::running::{Process, Tally, agent_jar, ask, compare, free_ports};

static GO_ON: AtomicBool = AtomicBool::new(false);

/// Applications that are compared in each test run.
const FEW: usize = 4;

const NAMES: [&str; 13] = [
    "server.tomcat.threads.max",
    "server.tomcat.threads.MAX",
    "server.tomcat.threads.min-spare",
    "server.tomcat.threads.minSpare",
    "server.tomcat.accept-count",
    "server.tomcat.acceptCount",
    "server.tomcat.accept_count",
    "server.tomcat.max-connections",
    "server.tomcat.maxConnections",
    "server.tomcat.max-keep-alive-requests",
    "server.tomcat.connection-timeout",
    "server.tomcat.connectionTimeout",
    // It was called so before Spring Boot 2.3.
    "server.tomcat.max-threads",
];

const VALUES: [&str; 12] = [
    "21",
    "64",
    "77",
    "150",
    "300",
    "${N:33}",
    "${M}",
    "${E}",
    "${none:${M:44}}",
    "1${N:5}",
    "-1",
    "${server.tomcat.threads.max:12}",
];

const TIMES: [&str; 6] = ["20s", "1500", "PT5S", "2m", "900ms", "${T:7s}"];

/// A name and a value.
fn setting(choices: &mut Choices) -> (&'static str, &'static str) {
    let name = choices.of(&NAMES);
    let value = if name.contains("imeout") {
        choices.of(&TIMES)
    } else {
        choices.of(&VALUES)
    };
    (name, value)
}

const PROFILES: [&str; 7] = ["p", "q", "!p", "p & q", "p | q", "r", "(p & !q) | r"];

/// Documents of a file, as properties or YAML; `is_of_profile`: what activates profiles is not
/// allowed in it.
fn documents(choices: &mut Choices, is_yaml: bool, is_of_profile: bool) -> String {
    let mut text = String::new();
    for number in 0..=choices.below(2) {
        if number > 0 {
            text.push_str(if is_yaml { "---\n" } else { "#---\n" });
        }
        let separator = if is_yaml { ": " } else { "=" };
        let mut line = |name: &str, value: &str| {
            writeln!(text, "{name}{separator}{value}").unwrap();
        };
        let is_bound = number > 0 && choices.once_in(2);
        if is_bound {
            let profile = choices.of(&PROFILES);
            let quoted = format!("\"{profile}\"");
            let profile = if is_yaml { &*quoted } else { profile };
            line("spring.config.activate.on-profile", profile);
        } else if !is_of_profile && choices.once_in(4) {
            line("spring.profiles.active", choices.of(&["p", "q", "p,q"]));
        } else if !is_of_profile && choices.once_in(6) {
            line("spring.profiles.group.p", choices.of(&["r", "q,r"]));
        }
        if choices.once_in(6) {
            line("spring.config.import", "optional:file:./more.properties");
        }
        if choices.once_in(4) {
            line("N", choices.of(&["36", "52"]));
        }
        let mut used = Vec::new();
        for _ in 0..choices.below(4) {
            let (name, value) = setting(choices);
            // A key that stands twice is an error in YAML.
            if !used.contains(&name) {
                used.push(name);
                line(name, value);
            }
        }
        line("M", "41");
    }
    text
}

const FILES: [&str; 11] = [
    "application.properties",
    "application.yml",
    "application.yaml",
    "config/application.properties",
    "config/application.yml",
    "config/x/application.yml",
    "application-p.properties",
    "application-q.yml",
    "config/application-p.yml",
    "application-r.properties",
    "other/application.properties",
];

/// Writes the files, and gives the application more words and variables.
fn compose(choices: &mut Choices, place: &Path, command: &mut Command) {
    for folder in ["config/x", "other"] {
        fs::create_dir_all(place.join(folder)).unwrap();
    }
    for file in FILES {
        if !choices.once_in(3) {
            continue;
        }
        let is_yaml = !file.ends_with(".properties");
        let text = documents(choices, is_yaml, file.contains('-'));
        fs::write(place.join(file), text).unwrap();
    }
    let (name, value) = setting(choices);
    fs::write(place.join("more.properties"), format!("{name}={value}\n")).unwrap();
    if choices.once_in(3) {
        let (name, value) = setting(choices);
        let name = name.to_uppercase().replace('.', "_").replace('-', "");
        command.env(name, value);
    }
    if choices.once_in(4) {
        command.env(
            "SPRING_APPLICATION_JSON",
            "{\"server\":{\"tomcat\":{\"accept-count\":78,\"threads.max\":\"79\"}}}",
        );
    }
    if choices.once_in(3) {
        command.env("SPRING_PROFILES_ACTIVE", choices.of(&["p", "q", "q,r"]));
    }
    command.env("E", "61");
}

/// Words of Java's own, and of the application.
fn words(choices: &mut Choices) -> [Vec<String>; 2] {
    let (mut of_java, mut own) = (Vec::new(), Vec::new());
    if choices.once_in(4) {
        let (name, value) = setting(choices);
        of_java.push(format!("-D{name}={value}"));
    }
    if choices.once_in(5) {
        of_java.push("-Dspring.profiles.include=r".to_owned());
    }
    if choices.once_in(4) {
        let (name, value) = setting(choices);
        own.push(format!("--{name}={value}"));
    }
    if choices.once_in(4) {
        own.push(format!(
            "--spring.profiles.active={}",
            choices.of(&["p", "r,p"])
        ));
    }
    match choices.below(8) {
        0 => own.push("--spring.config.location=classpath:/,optional:file:./other/".to_owned()),
        1 => own.push("--spring.config.additional-location=optional:file:./other/".to_owned()),
        2 => own.push("--spring.config.name=application,more".to_owned()),
        _ => {}
    }
    [of_java, own]
}

/// Starts the application in this composition and compares what it says.
fn one_application(seed: u64, app: &Path, agent: &Path, tally: &mut Tally) {
    let mut choices = Choices::of_seed(seed);
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().canonicalize().unwrap();
    let port = free_ports(1)[0];
    let mut command = Command::new("java");
    compose(&mut choices, &folder, &mut command);
    let [of_java, own] = words(&mut choices);
    let log = fs::File::create(folder.join("out")).unwrap();
    command
        .args(["-Xmx128m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"])
        .args(&of_java)
        .arg("-jar")
        .arg(app)
        .arg(format!("--server.port={port}"))
        .arg("--server.tomcat.mbeanregistry.enabled=true")
        .arg("--spring.jmx.enabled=true")
        .arg("--spring.datasource.url=jdbc:postgresql://127.0.0.1:1/none")
        .arg("--management.endpoints.web.exposure.include=health")
        .args(&own)
        .current_dir(&folder)
        .stdin(Stdio::null())
        .stdout(log.try_clone().unwrap())
        .stderr(log);
    let mut server = Process(command.spawn().unwrap());
    if !server.has_printed("Started PostsApplication", &folder.join("out")) {
        tally.invalid += 1;
        return;
    }
    assert!(TcpStream::connect(("127.0.0.1", port)).is_ok());
    let pid = server.0.id();
    let machine = Machine::here();
    let facts = ProcessFacts::of(pid, &machine).unwrap();
    let found = recognise(&facts, port, &machine);
    let said = ask(pid, agent, false);
    let before = tally.wrong.len();
    compare(&found, port, &said, tally);
    if tally.wrong.len() > before {
        let mut texts = format!("composition {seed}: {of_java:?} {own:?}\n");
        for file in FILES.into_iter().chain(["more.properties"]) {
            if let Ok(text) = fs::read_to_string(folder.join(file)) {
                writeln!(texts, "== {file}\n{text}").unwrap();
            }
        }
        for (name, value) in &facts.environment {
            if name.starts_with(['S', 's']) {
                writeln!(texts, "{name}={value}").unwrap();
            }
        }
        tally.wrong.push(texts);
    }
}

#[test]
fn limits_are_those_that_the_application_runs_with_or_not_known() {
    if std::env::var_os("WEIR_SYSTEM_TESTS").is_none() {
        eprintln!("skipped: it needs Java and Maven; WEIR_SYSTEM_TESTS=1 runs it");
        return;
    }
    let shelf = Shelf::new(concat!(env!("CARGO_TARGET_TMPDIR"), "/weir-cache"));
    let app = weir_apps::build(App::Posts, shelf.cache(), &GO_ON, &mut |_| {}).unwrap();
    let agent = agent_jar(&shelf);
    let mut tally = Tally::default();
    let wanted = compositions(FEW);
    for seed in 1.. {
        if tally.connectors >= wanted {
            break;
        }
        assert!(tally.invalid < 4 * wanted + 20, "{tally:?}");
        one_application(seed, &app, &agent, &mut tally);
    }
    tally.conclude();
}
