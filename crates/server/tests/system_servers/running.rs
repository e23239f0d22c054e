//! What a running Tomcat says over JMX of its connectors, beside what is told of them by its files.

#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "tests state what must hold, and say what they compared"
)]

use std::collections::BTreeMap;
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use serde_json::Value;
use weir_jvm::{Agent, Permission, Vm};
use weir_server::{Found, FoundValue};
use weir_shelf::{JOLOKIA, Shelf};

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
pub(crate) struct Process(pub(crate) Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Process {
    /// Waits until it has printed this; false where it ends before.
    #[track_caller]
    pub(crate) fn has_printed(&mut self, words: &str, into: &Path) -> bool {
        let out = || fs::read_to_string(into).unwrap();
        let until = Instant::now() + PATIENCE;
        while !out().contains(words) {
            if self.0.try_wait().unwrap().is_some() {
                return false;
            }
            assert!(Instant::now() < until, "{}", out());
            std::thread::sleep(Duration::from_millis(50));
        }
        true
    }
}

/// So many ports that nobody listens on.
pub(crate) fn free_ports(count: usize) -> Vec<u16> {
    let held: Vec<_> = (0..count)
        .map(|_| TcpListener::bind(("127.0.0.1", 0)).unwrap())
        .collect();
    held.iter()
        .map(|listener| listener.local_addr().unwrap().port())
        .collect()
}

/// What the server says of each of its connectors, and of each executor's threads.
pub(crate) struct Said {
    connectors: BTreeMap<u64, BTreeMap<String, Value>>,
    executors: BTreeMap<String, Vec<BTreeMap<String, Value>>>,
    has_virtual_threads: bool,
}

pub(crate) fn ask(pid: u32, jar: &Path, has_virtual_threads: bool) -> Said {
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
pub(crate) struct Tally {
    pub(crate) same: usize,
    pub(crate) unknown: usize,
    /// Why they are not known.
    pub(crate) whys: BTreeMap<String, usize>,
    /// Servers that did not start.
    pub(crate) invalid: usize,
    pub(crate) connectors: usize,
    pub(crate) wrong: Vec<String>,
}

impl Tally {
    /// Says what was compared, and fails if something was told wrongly.
    #[track_caller]
    pub(crate) fn conclude(&self) {
        eprintln!(
            "{} connectors: {} limits the same, {} not known; {} servers did not start",
            self.connectors, self.same, self.unknown, self.invalid
        );
        for (why, count) in &self.whys {
            eprintln!("not known {count} times: {why}");
        }
        assert!(self.wrong.is_empty(), "{}", self.wrong.join("\n"));
        assert!(self.same > 3 * self.unknown, "{self:?}");
    }
}

pub(crate) fn compare(found: &Found, port: u16, said: &Said, tally: &mut Tally) {
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

/// The agent's jar.
pub(crate) fn agent_jar(shelf: &Shelf) -> PathBuf {
    let home = shelf.provide(&JOLOKIA, &AtomicBool::new(false), &mut |_| {});
    let files = fs::read_dir(home.unwrap()).unwrap().flatten();
    let mut jars = files.map(|file| file.path());
    jars.find(|path| path.extension().is_some_and(|kind| kind == "jar"))
        .unwrap()
}

/// The Java programs that are here, with their releases.
pub(crate) fn javas() -> Vec<(PathBuf, u32)> {
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
