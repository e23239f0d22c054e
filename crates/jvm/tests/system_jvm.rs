//! A real virtual machine, spoken with from outside. Needs Java and, for its agent, Maven: runs in
//! the system profile only.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::print_stderr, reason = "a skipped test says so")]

use std::io::{BufRead, BufReader};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use serde_json::json;
use tempfile::TempDir;
use weir_exchange::{Exchange, ExchangeError, MetricsUrl};
use weir_jvm::{
    Agent, Attach, Jolokia, JvmError, ObjectName, PerfFile, Permission, Request, RequestThreads,
    Vm, has_virtual_threads,
};
use weir_shelf::{JOLOKIA, Shelf};

/// Only a failing test waits that long.
const PATIENCE: Duration = Duration::from_secs(60);

fn is_skipped() -> bool {
    let skipped = std::env::var_os("WEIR_SYSTEM_TESTS").is_none();
    if skipped {
        eprintln!("skipped: needs Java; the system profile of `cargo xtask test` runs it");
    }
    skipped
}

/// `Watched.java` or another program, running; it ends with the test, however that goes.
struct Watched(
    Child,
    #[expect(dead_code, reason = "it is removed with it")] TempDir,
);

impl Watched {
    fn start() -> Self {
        Self::with(&mut Command::new(java()))
    }

    /// As another user, if that is possible.
    fn of_nobody() -> Self {
        Self::with(as_nobody(&mut Command::new(java())))
    }

    fn with(java: &mut Command) -> Self {
        Self::running("Watched.java", java)
    }

    fn running(program: &str, java: &mut Command) -> Self {
        let source = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests")
            .join(program);
        // Where other users can read it.
        let place = tempfile::tempdir().unwrap();
        let copy = place.path().join(program);
        std::fs::copy(source, &copy).unwrap();
        std::fs::set_permissions(place.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        let child = java
            .args(["-Xmx64m", "-XX:+UseG1GC"])
            .arg(&copy)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let mut watched = Self(child.unwrap(), place);
        let mut line = String::new();
        let told = watched.0.stdout.as_mut().unwrap();
        BufReader::new(told).read_line(&mut line).unwrap();
        assert_eq!(line, format!("ready {}\n", watched.0.id()));
        watched
    }

    fn vm(&self) -> Vm {
        Vm::of(self.0.id()).unwrap().unwrap()
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// As another user, if that is possible.
fn as_nobody(java: &mut Command) -> &mut Command {
    if rustix::process::geteuid().is_root() {
        java.uid(NOBODY).gid(NOBODY).current_dir("/");
    }
    java
}

fn java() -> PathBuf {
    std::env::var_os("JAVA_HOME").map_or_else(
        || PathBuf::from("java"),
        |home| Path::new(&home).join("bin/java"),
    )
}

/// A Java of at least this version, if Debian has installed one.
fn java_since(least: u32) -> Option<PathBuf> {
    let homes = std::fs::read_dir("/usr/lib/jvm").ok()?;
    homes.flatten().map(|home| home.path()).find_map(|home| {
        let release = std::fs::read_to_string(home.join("release")).ok()?;
        let version = release.split("JAVA_VERSION=\"").nth(1)?;
        let major: u32 = version.split(['.', '"', '-']).next()?.parse().ok()?;
        Some(home.join("bin/java")).filter(|java| major >= least && java.is_file())
    })
}

/// Jolokia's agent, fetched once.
fn jolokia() -> PathBuf {
    let shelf = Shelf::new(concat!(env!("CARGO_TARGET_TMPDIR"), "/weir-cache"));
    let go_on = AtomicBool::new(false);
    let home = shelf.provide(&JOLOKIA, &go_on, &mut |_| {}).unwrap();
    home.join("jolokia-agent-jvm-2.5.1-javaagent.jar")
}

fn name(text: &str) -> ObjectName {
    text.parse().unwrap()
}

/// What the tests do with the program's MBeans.
fn permissions() -> Vec<Permission> {
    let own = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    vec![
        Permission {
            name: name("Catalina:type=ThreadPool,*"),
            reads: own(&["CurrentThreadsBusy", "None"]),
            writes: own(&["MaxThreads"]),
            calls: Vec::new(),
        },
        Permission {
            name: name("no:type=Such,*"),
            reads: own(&["None"]),
            writes: Vec::new(),
            calls: Vec::new(),
        },
        Permission {
            name: name("WebSphere:type=Pool,*"),
            reads: Vec::new(),
            writes: Vec::new(),
            calls: own(&["showPoolContents", "add", "drain"]),
        },
    ]
}

/// The virtual machine as another user, when the tests run as root: what it is told must be its own
/// to read.
const NOBODY: u32 = 65_534;

/// Their states are told since JDK 25.
#[test]
fn virtual_threads_are_counted_by_what_they_wait_for() {
    if is_skipped() {
        return;
    }
    let Some(java) = java_since(25) else {
        eprintln!("skipped: there is no Java 25 below /usr/lib/jvm");
        return;
    };
    let watched = Watched::running("Virtual.java", as_nobody(&mut Command::new(java)));
    let attach = Attach::to(&watched.vm()).unwrap();
    let printed = attach.jcmd("Thread.print").unwrap();
    assert!(has_virtual_threads(&printed), "{printed}");
    let mut seen = RequestThreads::in_dump(&printed, 0);
    assert_eq!(seen, RequestThreads::default());
    assert!(seen.add_virtual(&attach.threads_as_json().unwrap()));
    let all = RequestThreads {
        seen: 15,
        monitor: 3,
        lock: 2,
        asleep: 4,
        answer: 5,
        parked: 1,
        ..RequestThreads::default()
    };
    assert_eq!(seen, all);
    let left = std::fs::read_dir("/tmp").unwrap().flatten();
    let left: Vec<_> = left
        .filter(|entry| entry.path().join("threads.json").exists())
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

/// A machine whose resolver never answers, made of namespaces.
#[test]
fn threads_that_look_up_a_host_do_not_run() {
    if is_skipped() || !rustix::process::geteuid().is_root() {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let resolvers = place.path().join("resolv.conf");
    std::fs::write(
        &resolvers,
        "nameserver 127.0.0.1\noptions timeout:30 attempts:1\n",
    )
    .unwrap();
    let script = "ip link set lo up && mount --bind \"$0\" /etc/resolv.conf && exec \"$@\"";
    let mut apart = Command::new("unshare");
    apart.args(["--mount", "--net", "sh", "-c", script]);
    apart.arg(&resolvers).arg(java());
    let watched = Watched::running("Lookup.java", &mut apart);
    let printed = Attach::to(&watched.vm())
        .unwrap()
        .jcmd("Thread.print")
        .unwrap();
    let seen = RequestThreads::in_dump(&printed, 0);
    let four = RequestThreads {
        seen: 4,
        lookup: 4,
        ..RequestThreads::default()
    };
    assert_eq!(seen, four, "{printed}");
}

#[test]
fn a_virtual_machine_without_virtual_threads_has_none() {
    if is_skipped() {
        return;
    }
    let watched = Watched::start();
    let attach = Attach::to(&watched.vm()).unwrap();
    assert!(!has_virtual_threads(&attach.jcmd("Thread.print").unwrap()));
}

/// As in a container: commands reach it, an agent's address on its loopback does not.
#[test]
fn no_agent_is_loaded_into_another_network() {
    if is_skipped() || !rustix::process::geteuid().is_root() {
        return;
    }
    let mut apart = Command::new("unshare");
    apart.arg("--net").arg(java());
    let watched = Watched::with(&mut apart);
    let vm = watched.vm();
    let refused = Agent::provide(&vm, Path::new("/no-such.jar"), &permissions(), PATIENCE);
    let error = refused.err().unwrap().to_string();
    assert!(error.contains("a network of its own"), "{error}");
    let version = Attach::to(&vm).unwrap().jcmd("VM.version").unwrap();
    assert!(version.contains("JDK"), "{version}");
}

#[test]
fn counters_are_read_while_it_runs() {
    if is_skipped() {
        return;
    }
    let watched = Watched::start();
    let mut file = PerfFile::of(&watched.vm()).unwrap();
    let before = file.read().unwrap();
    let full = |counters: &weir_jvm::PerfCounters| {
        let mut collectors = counters.collectors.iter();
        let full = collectors.find(|c| c.name == "G1 full collection pauses");
        full.unwrap().count
    };
    assert_eq!(full(&before), 3, "the program asks for three");
    assert!(before.threads.unwrap() >= before.daemon_threads.unwrap());
    let attach = Attach::to(&watched.vm()).unwrap();
    attach.jcmd("GC.run").unwrap();
    let after = file.read().unwrap();
    assert_eq!(full(&after), 4);
    assert!(after.safepoint_s > before.safepoint_s);
}

#[test]
fn commands_run_and_refusals_are_told() {
    if is_skipped() {
        return;
    }
    let watched = Watched::start();
    let attach = Attach::to(&watched.vm()).unwrap();
    let threads = attach.jcmd("Thread.print").unwrap();
    assert!(threads.contains("\"main\""), "{threads}");
    let again = Attach::to(&watched.vm()).unwrap();
    let error = again.jcmd("No.such").unwrap_err();
    assert!(matches!(error, JvmError::Command { .. }));
    assert!(error.to_string().contains("Unknown diagnostic command"));
    let error = attach
        .load_agent(Path::new("/nowhere.jar"), "")
        .unwrap_err();
    assert!(error.to_string().contains("sees no file"), "{error}");
}

#[test]
fn an_agent_is_loaded_found_again_asked_and_stopped() {
    if is_skipped() {
        return;
    }
    let jar = jolokia();
    let watched = Watched::start();
    let agent = Agent::provide(&watched.vm(), &jar, &permissions(), PATIENCE).unwrap();
    assert!(agent.is_loaded());
    let found = Agent::provide(&watched.vm(), &jar, &permissions(), PATIENCE).unwrap();
    assert!(!found.is_loaded());
    assert_eq!(found.url(), agent.url());
    found.stop().unwrap();

    let mut jolokia = agent.client();
    reads_and_writes(&mut jolokia);
    calls_and_searches(&mut jolokia);

    let vm = watched.vm();
    let url = agent.url().clone();
    agent.stop().unwrap();
    let mut stopped = Jolokia::new(url);
    assert!(
        stopped
            .read(&name("java.lang:type=Runtime"), &["Name"])
            .is_err()
    );
    let anew = Agent::provide(&vm, &jar, &permissions(), PATIENCE).unwrap();
    assert!(anew.is_loaded(), "it can be loaded again");
}

/// Every user of the machine can reach the port of an agent. What was possible before without a
/// password: commands of the virtual machine itself, which load files and write them as its user.
#[test]
fn a_loaded_agent_serves_nobody_else_and_nothing_else() {
    if is_skipped() {
        return;
    }
    let jar = jolokia();
    let watched = Watched::of_nobody();
    let agent = Agent::provide(&watched.vm(), &jar, &permissions(), PATIENCE).unwrap();
    let plain: MetricsUrl = agent.url().to_string().parse().unwrap();
    let status = |request: Vec<u8>| {
        let deadline = Instant::now() + PATIENCE;
        let mut exchange = Exchange::new(plain.address());
        exchange.ask_once(request, deadline);
        exchange
            .answer(deadline)
            .map(|body| String::from_utf8(body).unwrap())
    };
    let read = "{\"type\":\"read\",\"mbean\":\"java.lang:type=Runtime\",\"attribute\":\"Name\"}";
    for request in [plain.post_json(read), plain.get()] {
        let refused = status(request);
        assert!(
            matches!(refused, Err(ExchangeError::Status { code: 401, .. })),
            "{refused:?}"
        );
    }
    // With the password: as Weir asks, as a page in a browser would ask, and as a link would.
    let url = agent.url().clone().as_folder();
    let own = String::from_utf8(url.post_json(read)).unwrap();
    let own_link: MetricsUrl = format!("{url}read/java.lang:type=Runtime/Name")
        .parse()
        .unwrap();
    let own_link = own_link.with_credentials(url.credentials().unwrap().clone());
    let own_link = String::from_utf8(own_link.get()).unwrap();
    let refused = "\"status\":403";
    for (request, is_refused) in [
        (own.clone(), false),
        (
            own.replace("http://weir.invalid", "http://evil.example"),
            true,
        ),
        (own.replace("Origin: http://weir.invalid\r\n", ""), true),
        (own_link, true),
    ] {
        let answer = status(request.clone().into_bytes()).unwrap();
        assert_eq!(answer.contains(refused), is_refused, "{request}: {answer}");
    }

    assert!(Jolokia::new(plain.clone()).wants_password().unwrap());
    let mut jolokia = agent.client();
    assert!(!jolokia.wants_password().unwrap());
    reads_and_writes(&mut jolokia);
    calls_and_searches(&mut jolokia);
    let connector = name("Catalina:name=\"http-nio-127.0.0.1-8080\",type=ThreadPool");
    let diagnostics = name("com.sun.management:type=DiagnosticCommand");
    let compiler = json!(["/tmp/x"]);
    let forbidden = [
        jolokia.exec(&diagnostics, "compilerDirectivesAdd", vec![compiler]),
        jolokia.exec(&name("java.lang:type=Memory"), "gc", Vec::new()),
        jolokia.write(&name("java.lang:type=Memory"), "Verbose", json!(true)),
        jolokia.write(&connector, "CurrentThreadsBusy", json!(1)),
    ];
    for answer in forbidden {
        let refused = answer.unwrap_err();
        assert!(
            matches!(refused, JvmError::Refused { status: 403, .. }),
            "{refused}"
        );
    }
    assert!(
        jolokia
            .read(&name("java.lang:type=Runtime"), &["SystemProperties"])
            .is_err()
    );
    the_password_is_nowhere_else(&watched, &agent);
    agent.stop().unwrap();
}

/// Neither in what the virtual machine tells of itself, nor in a file, nor in what Weir shows.
fn the_password_is_nowhere_else(watched: &Watched, agent: &Agent) {
    let password = agent.url().credentials().unwrap().password();
    let attach = Attach::to(&watched.vm()).unwrap();
    for command in ["VM.system_properties", "VM.command_line", "VM.info"] {
        let told = attach.jcmd(command).unwrap();
        assert!(!told.contains(password), "{command}");
    }
    assert!(!format!("{agent:?} {}", agent.url()).contains(password));
    // Other tests have agents of their own user.
    let left = std::fs::read_dir("/tmp")
        .unwrap()
        .flatten()
        .filter(|entry| {
            let is_ours = entry.metadata().is_ok_and(|facts| facts.uid() == NOBODY);
            is_ours && entry.file_name().to_string_lossy().starts_with(".weir-")
        });
    assert_eq!(left.count(), 0, "the files are gone");
}

fn reads_and_writes(jolokia: &mut Jolokia) {
    let connector = name("Catalina:name=\"http-nio-127.0.0.1-8080\",type=ThreadPool");
    let read = |jolokia: &mut Jolokia| jolokia.read(&connector, &["MaxThreads"]).unwrap();
    assert_eq!(read(jolokia)["MaxThreads"], 50);
    assert_eq!(
        jolokia.write(&connector, "MaxThreads", json!(20)).unwrap(),
        50
    );
    assert_eq!(read(jolokia)["MaxThreads"], 20);
    let error = jolokia
        .read(&connector, &["MaxThreads", "None"])
        .unwrap_err();
    assert!(
        error.to_string().contains("No such attribute: None"),
        "{error}"
    );
    let error = jolokia.write(&connector, "MaxThreads", json!("many"));
    let mut error: &dyn std::error::Error = &error.unwrap_err();
    while let Some(cause) = error.source() {
        error = cause;
    }
    assert!(error.to_string().contains("For input string"), "{error}");

    let both = [
        Request::Read {
            name: name("Catalina:type=ThreadPool,*"),
            attributes: vec!["CurrentThreadsBusy".to_owned()],
        },
        Request::Read {
            name: name("no:type=Such,*"),
            attributes: vec!["None".to_owned()],
        },
    ];
    let deadline = Instant::now() + PATIENCE;
    jolokia.ask(&both, deadline);
    let answers = jolokia.answers(deadline).unwrap();
    let found = both[0].values(answers[0].as_ref().unwrap());
    assert_eq!(found.len(), 2);
    assert!(found.iter().any(|(name, _)| *name == connector));
    assert_eq!(answers[1].as_ref().unwrap_err().status, 404);
}

fn calls_and_searches(jolokia: &mut Jolokia) {
    let pools = jolokia.search(&name("WebSphere:type=Pool,*")).unwrap();
    let pool = name("WebSphere:type=Pool,name=dataSource[db]/connectionManager[default-0]");
    assert_eq!(pools, std::slice::from_ref(&pool));
    let contents = jolokia.exec(&pool, "showPoolContents", Vec::new()).unwrap();
    assert!(contents.as_str().unwrap().contains("waiting=15"));
    let sum = jolokia
        .exec(&pool, "add", vec![json!(2), json!(3)])
        .unwrap();
    assert_eq!(sum, 5);
    let error = jolokia.exec(&pool, "drain", Vec::new()).unwrap_err();
    assert!(matches!(error, JvmError::Refused { .. }), "{error}");
    assert!(error.to_string().contains("drain"), "{error}");
}
