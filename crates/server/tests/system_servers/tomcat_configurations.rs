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
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;

use weir_server::{Found, Machine, ProcessFacts, recognise};
use weir_shelf::{Shelf, TOMCAT_10, TOMCAT_11};

use crate::choices::{Choices, compositions};
use crate::running::{Process, Tally, agent_jar, ask, compare, free_ports, javas};

static GO_ON: AtomicBool = AtomicBool::new(false);

/// Connectors of one server.
const CONNECTORS: usize = 10;
/// Connectors that are compared in each test run.
const FEW: usize = 40;
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

/// Starts a server of this composition and compares its connectors.
fn one_server(seed: u64, home: &Path, java: (&Path, u32), jar: &Path, tally: &mut Tally) {
    let mut choices = Choices::of_seed(seed);
    let place = tempfile::tempdir().unwrap();
    let base = place.path().canonicalize().unwrap();
    let ports = free_ports(CONNECTORS);
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
    if !server.has_printed("Server startup in", &base.join("out")) {
        tally.invalid += 1;
        return;
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

#[test]
fn limits_are_those_that_the_running_tomcat_says_or_not_known() {
    if std::env::var_os("WEIR_SYSTEM_TESTS").is_none() {
        eprintln!("skipped: it needs Java; WEIR_SYSTEM_TESTS=1 runs it");
        return;
    }
    let shelf = Shelf::new(concat!(env!("CARGO_TARGET_TMPDIR"), "/weir-cache"));
    let homes =
        [&TOMCAT_11, &TOMCAT_10].map(|line| shelf.provide(line, &GO_ON, &mut |_| {}).unwrap());
    let jar = agent_jar(&shelf);
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
    tally.conclude();
}
