//! What is told of a running Tomcat's limits by its files, compared with what the server itself
//! says over JMX of the same connectors: services, executors, placeholders, offsets, entities, odd
//! values, several versions of Tomcat and Java.

#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "tests state what must hold, or say that they did not run"
)]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use serde_json::Value;
use weir_jvm::{Agent, Permission, Vm};
use weir_server::{Found, FoundValue, Machine, ProcessFacts, recognise};
use weir_shelf::{JOLOKIA, Shelf, TOMCAT_10, TOMCAT_11};

use crate::choices::{Choices, compositions};

static GO_ON: AtomicBool = AtomicBool::new(false);

/// Connectors of one server.
const CONNECTORS: usize = 10;
/// Connectors that are compared in each test run.
const FEW: usize = 40;
/// Only a failing test waits that long.
const PATIENCE: Duration = Duration::from_secs(60);

/// A limit: the stage, and the attribute in the file and over JMX.
const LIMITS: [(&str, &str); 6] = [
    ("backlog", "acceptCount"),
    ("connections", "maxConnections"),
    ("threads", "maxThreads"),
    ("native.minSpareThreads", "minSpareThreads"),
    ("native.connectionTimeout", "connectionTimeout"),
    ("native.maxKeepAliveRequests", "maxKeepAliveRequests"),
];

/// A process that ends with the test.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// An attribute that a connector may have: other spellings and names of the limits among them.
const ATTRIBUTES: [&str; 16] = [
    "acceptCount",
    "maxConnections",
    "maxThreads",
    "minSpareThreads",
    "connectionTimeout",
    "maxKeepAliveRequests",
    "MaxThreads",
    "maxthreads",
    "backlog",
    "soTimeout",
    "keepAliveTimeout",
    "threadPriority",
    "socket.soTimeout",
    "useVirtualThreads",
    "maxPostSize",
    "executor",
];

const VALUES: [&str; 22] = [
    "1",
    "5",
    "20",
    "64",
    "77",
    "100",
    "150",
    "300",
    "-1",
    "0",
    "0150",
    " 90 ",
    "12x",
    "",
    "${p1}",
    "${p2}",
    "${p3:-55}",
    "${none}",
    "${none:-66}",
    "1${p1}",
    "${E1:-9}",
    "+7",
];

fn connector(choices: &mut Choices, java: u32, port: u16, text: &mut String) {
    let protocol = choices.of(&[
        "",
        " protocol=\"HTTP/1.1\"",
        " protocol=\"org.apache.coyote.http11.Http11NioProtocol\"",
        " protocol=\"org.apache.coyote.http11.Http11Nio2Protocol\"",
    ]);
    let mut attributes = BTreeMap::new();
    for _ in 0..choices.below(5) {
        let name = choices.of(&ATTRIBUTES);
        let value = match name {
            "executor" => choices.of(&["a", "b", "${exec}", "nosuch"]),
            // An older Java does not start with it.
            "useVirtualThreads" if java < 21 => "false",
            "useVirtualThreads" => choices.of(&["true", "false"]),
            _ => choices.of(&VALUES),
        };
        attributes.insert(name, value);
    }
    if choices.once_in(4) {
        text.push_str("<!-- <Connector port=\"1\" maxThreads=\"3\"/> -->\n");
    }
    write!(text, "<Connector{protocol} address=\"127.0.0.1\"").unwrap();
    let port = match choices.below(4) {
        0 => format!("${{unset:-{port}}}"),
        _ => port.to_string(),
    };
    for (name, value) in attributes {
        write!(text, "\n  {name}=\"{value}\"").unwrap();
    }
    writeln!(text, " port=\"{port}\"/>").unwrap();
}

fn executor(choices: &mut Choices, java: u32, name: &str, text: &mut String) {
    let class = if java >= 21 && choices.once_in(4) {
        " className=\"org.apache.catalina.core.StandardVirtualThreadExecutor\""
    } else {
        ""
    };
    write!(text, "<Executor name=\"{name}\"{class}").unwrap();
    // With fewer threads than are kept ready, the server does not start.
    let own: [(_, &[_]); 2] = [
        ("maxThreads", &["77", "${p1}", "${none:-66}", "150"]),
        ("minSpareThreads", &["3", "30", "${none:-4}"]),
    ];
    for (attribute, values) in own {
        if class.is_empty() && !choices.once_in(3) {
            write!(text, " {attribute}=\"{}\"", choices.of(values)).unwrap();
        }
    }
    text.push_str("/>\n");
}

/// Writes the files of a server with connectors on these ports, and tells more words for its
/// command line.
fn compose(choices: &mut Choices, java: u32, base: &Path, ports: &[u16]) -> Vec<String> {
    for folder in ["conf", "webapps", "temp", "work", "logs"] {
        fs::create_dir_all(base.join(folder)).unwrap();
    }
    let offset = if choices.once_in(3) { 7 } else { 0 };
    let mut services = String::new();
    let mut included = String::new();
    let mut left = ports;
    let mut number = 0;
    while !left.is_empty() {
        number += 1;
        let size = (1 + choices.below(5)).min(left.len());
        let (own, after) = left.split_at(size);
        left = after;
        writeln!(services, "<Service name=\"S{number}\">").unwrap();
        let mut names = vec!["b", choices.of(&["a", "${exec}"])];
        for port in own {
            // Of two with one name, JMX shows the wrong one.
            if choices.once_in(3)
                && let Some(name) = names.pop()
            {
                executor(choices, java, name, &mut services);
            }
            let into = if included.is_empty() && choices.once_in(60) {
                services.push_str("&more;\n");
                &mut included
            } else {
                &mut services
            };
            connector(choices, java, port - offset, into);
        }
        writeln!(
            services,
            "<Engine name=\"E{number}\" defaultHost=\"h\"><Host name=\"h\" appBase=\"webapps\"/></Engine>\n</Service>"
        )
        .unwrap();
    }
    let entities = if included.is_empty() {
        String::new()
    } else {
        fs::write(base.join("conf/more.xml"), included).unwrap();
        "<!DOCTYPE Server [<!ENTITY more SYSTEM \"more.xml\">]>\n".to_owned()
    };
    let offset = match offset {
        0 => String::new(),
        offset => format!(" portOffset=\"{offset}\""),
    };
    let text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{entities}<Server port=\"-1\"{offset}>\n{services}</Server>\n"
    );
    fs::write(base.join("conf/server.xml"), text).unwrap();
    let mut properties =
        "common.loader=\"${catalina.home}/lib\",\"${catalina.home}/lib/*.jar\"\nexec=a\n"
            .to_owned();
    if choices.once_in(2) {
        properties.push_str("p1=41\n");
    }
    if choices.once_in(3) {
        properties.push_str(
            "org.apache.tomcat.util.digester.PROPERTY_SOURCE=org.apache.tomcat.util.digester.EnvironmentPropertySource\n",
        );
    }
    fs::write(base.join("conf/catalina.properties"), properties).unwrap();
    fs::write(base.join("conf/web.xml"), "<web-app/>").unwrap();
    ["-Dp1=42", "-Dp2=43"].map(str::to_owned).to_vec()
}

/// So many ports that nobody listens on.
fn free_ports() -> Vec<u16> {
    let held: Vec<_> = (0..CONNECTORS)
        .map(|_| TcpListener::bind(("127.0.0.1", 0)).unwrap())
        .collect();
    held.iter()
        .map(|listener| listener.local_addr().unwrap().port())
        .collect()
}

/// What the server says of each of its connectors, and of each executor's threads.
struct Said {
    connectors: BTreeMap<u64, BTreeMap<String, Value>>,
    executors: BTreeMap<String, Vec<BTreeMap<String, Value>>>,
    has_virtual_threads: bool,
}

fn ask(pid: u32, jar: &Path, has_virtual_threads: bool) -> Said {
    let vm = Vm::of(pid).unwrap().unwrap();
    let mut attributes = LIMITS.map(|(_, attribute)| attribute).to_vec();
    attributes.push("localPort");
    let permission = |name: &str| Permission {
        name: name.parse().unwrap(),
        reads: attributes.iter().map(|&name| name.to_owned()).collect(),
        writes: Vec::new(),
        calls: Vec::new(),
    };
    let beans = ["*:type=ThreadPool,*", "*:type=Executor,*"];
    let permissions = beans.map(permission);
    let agent = Agent::provide(&vm, jar, &permissions, PATIENCE).unwrap();
    let mut client = agent.client();
    let mut said = Said {
        connectors: BTreeMap::new(),
        executors: BTreeMap::new(),
        has_virtual_threads,
    };
    for name in client.search(&beans[0].parse().unwrap()).unwrap() {
        if name.property("subType").is_some() {
            continue;
        }
        let values = client.read(&name, &attributes).unwrap();
        said.connectors
            .insert(values["localPort"].as_u64().unwrap(), values);
    }
    for name in client.search(&beans[1].parse().unwrap()).unwrap() {
        let values = client.read(&name, &["maxThreads", "minSpareThreads"]);
        let own = name.plain("name").unwrap();
        said.executors.entry(own).or_default().extend(values.ok());
    }
    said
}

#[derive(Debug, Default)]
struct Tally {
    same: usize,
    unknown: usize,
    /// Why they are not known.
    whys: BTreeMap<String, usize>,
    /// Servers that did not start.
    invalid: usize,
    connectors: usize,
    wrong: Vec<String>,
}

fn compare(found: &Found, port: u16, said: &Said, tally: &mut Tally) {
    let Some(connector) = said.connectors.get(&u64::from(port)) else {
        // It did not start: nothing to compare with.
        return;
    };
    tally.connectors += 1;
    for (stage, attribute) in LIMITS {
        let limit = found.limits.iter().find(|limit| limit.stage == stage);
        let running = connector[attribute].as_i64().unwrap();
        let is_of_threads = matches!(stage, "threads" | "native.minSpareThreads");
        let is_same = match limit.map(|limit| &limit.value) {
            // What the server says of threads that a virtual one takes the place of says nothing.
            Some(FoundValue::Unlimited) if is_of_threads => {
                let notes = found.notes.join("\n");
                notes.contains("virtual threads") && said.has_virtual_threads
            }
            None | Some(FoundValue::NotKnown | FoundValue::Written(_)) => {
                tally.unknown += 1;
                let why = match limit {
                    None => found.notes.join("; "),
                    Some(limit) => format!("{} {stage}", limit.value),
                };
                *tally.whys.entry(why).or_default() += 1;
                continue;
            }
            Some(FoundValue::Unlimited) => running == -1,
            // Of a connector with an executor, the server says -1.
            Some(FoundValue::Number(number)) if is_of_threads && running == -1 => {
                let mut executors = said.executors.values().flatten();
                executors.any(|own| own[attribute].as_u64() == Some(*number))
            }
            Some(FoundValue::Number(number)) => i64::try_from(*number) == Ok(running),
        };
        if is_same {
            tally.same += 1;
        } else {
            tally.wrong.push(format!(
                "port {port}, {stage}: the server says {running}, found is {limit:?}; {:?}",
                found.notes
            ));
        }
    }
}

/// Starts a server of this composition and compares its connectors.
fn one_server(seed: u64, home: &Path, java: (&Path, u32), jar: &Path, tally: &mut Tally) {
    let mut choices = Choices::of_seed(seed);
    let place = tempfile::tempdir().unwrap();
    let base = place.path().canonicalize().unwrap();
    let ports = free_ports();
    let words = compose(&mut choices, java.1, &base, &ports);
    let classes = format!(
        "{0}/bin/bootstrap.jar:{0}/bin/tomcat-juli.jar",
        home.display()
    );
    let log = fs::File::create(base.join("out")).unwrap();
    let server = Command::new(java.0)
        .args(["-Xmx128m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"])
        .args(words)
        .arg(format!("-Dcatalina.home={}", home.display()))
        .arg(format!("-Dcatalina.base={}", base.display()))
        .args(["-cp", &classes, "org.apache.catalina.startup.Bootstrap"])
        .arg("start")
        .current_dir(&base)
        .env("E1", "31")
        .stdin(Stdio::null())
        .stdout(log.try_clone().unwrap())
        .stderr(log)
        .spawn()
        .unwrap();
    let mut server = Process(server);
    let until = Instant::now() + PATIENCE;
    let out = || fs::read_to_string(base.join("out")).unwrap();
    while !out().contains("Server startup in") {
        if server.0.try_wait().unwrap().is_some() {
            tally.invalid += 1;
            return;
        }
        assert!(Instant::now() < until, "composition {seed}: {}", out());
        std::thread::sleep(Duration::from_millis(50));
    }
    let pid = server.0.id();
    let facts = ProcessFacts::of(pid, &Machine::here()).unwrap();
    let listening: Vec<u16> = ports
        .iter()
        .copied()
        .filter(|port| TcpStream::connect(("127.0.0.1", *port)).is_ok())
        .collect();
    let found: Vec<(u16, Found)> = listening
        .iter()
        .map(|port| (*port, recognise(&facts, *port, &Machine::here())))
        .collect();
    let said = ask(pid, jar, java.1 >= 21);
    let before = tally.wrong.len();
    for (port, found) in &found {
        compare(found, *port, &said, tally);
    }
    if tally.wrong.len() > before {
        let text = fs::read_to_string(base.join("conf/server.xml")).unwrap();
        let more = fs::read_to_string(base.join("conf/more.xml")).unwrap_or_default();
        tally.wrong.push(format!(
            "composition {seed} ({}):\n{text}\n{more}",
            home.display()
        ));
    }
}

/// The Java programs that are here, with their releases.
fn javas() -> Vec<(PathBuf, u32)> {
    let installed = fs::read_dir("/usr/lib/jvm").into_iter().flatten().flatten();
    let mut found: Vec<(PathBuf, u32)> = installed
        .filter_map(|folder| {
            let release = fs::read_to_string(folder.path().join("release")).ok()?;
            let version = release.split_once("JAVA_VERSION=\"")?.1;
            let number = version.split(['.', '"']).next()?.parse().ok()?;
            Some((folder.path().canonicalize().ok()?.join("bin/java"), number))
        })
        .filter(|(program, number)| *number >= 17 && program.is_file())
        .collect();
    found.sort();
    found.dedup();
    found
}

#[test]
fn limits_are_those_that_the_running_tomcat_says_or_not_known() {
    if std::env::var_os("WEIR_SYSTEM_TESTS").is_none() {
        eprintln!("skipped: it needs Java; WEIR_SYSTEM_TESTS=1 runs it");
        return;
    }
    let shelf = Shelf::new(concat!(env!("CARGO_TARGET_TMPDIR"), "/weir-cache"));
    let homes =
        [&TOMCAT_11, &TOMCAT_10].map(|line| shelf.provide(line, &GO_ON, &mut |_| {}).unwrap());
    let agent = shelf.provide(&JOLOKIA, &GO_ON, &mut |_| {}).unwrap();
    let mut jars = fs::read_dir(agent)
        .unwrap()
        .flatten()
        .map(|file| file.path());
    let jar = jars
        .find(|path| path.extension().is_some_and(|kind| kind == "jar"))
        .unwrap();
    let javas = javas();
    assert!(!javas.is_empty(), "no Java in /usr/lib/jvm");
    let mut tally = Tally::default();
    let wanted = compositions(FEW);
    for seed in 1.. {
        if tally.connectors >= wanted {
            break;
        }
        assert!(tally.invalid < wanted, "{tally:?}");
        let home = &homes[seed % homes.len()];
        let (java, release) = &javas[(seed / homes.len()) % javas.len()];
        one_server(seed as u64, home, (java, *release), &jar, &mut tally);
    }
    eprintln!(
        "{} connectors: {} limits the same, {} not known; {} servers did not start",
        tally.connectors, tally.same, tally.unknown, tally.invalid
    );
    for (why, count) in &tally.whys {
        eprintln!("not known {count} times: {why}");
    }
    assert!(tally.wrong.is_empty(), "{}", tally.wrong.join("\n"));
    assert!(tally.same > 3 * tally.unknown, "{tally:?}");
}
