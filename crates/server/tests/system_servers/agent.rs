//! What a killed Weir leaves in a virtual machine: an agent with a password that only the journal
//! knows, and values that are put back through it.

#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "tests state what must hold, or say that they did not run"
)]

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde_json::json;
use weir_jvm::{Agent, Jolokia, ObjectName, Permission, Vm};
use weir_server::{Journal, Leftover, LiveSetting, restore_abandoned};
use weir_shelf::{JOLOKIA, Shelf};

/// Only a failing test waits that long.
const PATIENCE: Duration = Duration::from_secs(60);
const PLACE: &str = "WEIR_TEST_AGENT_PLACE";
const LIMIT: &str = "MaxThreads";

static GO_ON: AtomicBool = AtomicBool::new(false);

/// A process that ends with the test.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn connector() -> ObjectName {
    "Catalina:type=ThreadPool,name=\"http-nio-127.0.0.1-8080\""
        .parse()
        .unwrap()
}

/// An agent in the process, with what was there before of the limit.
fn agent(pid: u32, jar: &Path) -> (Agent, i64) {
    let permission = Permission {
        name: connector(),
        reads: Vec::new(),
        writes: vec![LIMIT.to_owned()],
        calls: Vec::new(),
    };
    let vm = Vm::of(pid).unwrap().unwrap();
    let agent = Agent::provide(&vm, jar, &[permission], PATIENCE).unwrap();
    assert!(agent.is_loaded());
    let limit = agent.client().read(&connector(), &[LIMIT]).unwrap();
    (agent, limit[LIMIT].as_i64().unwrap())
}

/// Not a test by itself: the body of the process that is killed.
#[test]
fn plays_weir_with_an_agent() {
    let Some(place) = std::env::var_os(PLACE) else {
        return;
    };
    let place = PathBuf::from(place);
    let told = std::fs::read_to_string(place.join("told")).unwrap();
    let (pid, jar) = told.split_once(' ').unwrap();
    let (pid, jar) = (pid.parse().unwrap(), PathBuf::from(jar));
    let journal = Journal::new(place.join("state"));
    let jar_of_agent = jar.clone();
    journal
        .live(LiveSetting::Agent {
            pid,
            jar: jar_of_agent,
        })
        .unwrap();
    let (agent, before) = agent(pid, &jar);
    journal
        .live(LiveSetting::Attribute {
            url: agent.url().to_string(),
            credentials: agent.url().credentials().map(Into::into),
            mbean: connector().to_string(),
            attribute: LIMIT.to_owned(),
            before: json!(before),
        })
        .unwrap();
    let mut client = agent.client();
    client.write(&connector(), LIMIT, json!(7)).unwrap();
    let mut out = std::io::stdout().lock();
    writeln!(out, "\nset at {}", agent.url()).unwrap();
    out.flush().unwrap();
    std::thread::park();
}

#[test]
fn a_killed_weir_leaves_neither_its_value_nor_its_agent() {
    if std::env::var_os("WEIR_SYSTEM_TESTS").is_none() {
        eprintln!("skipped: it needs Java and Maven; WEIR_SYSTEM_TESTS=1 runs it");
        return;
    }
    let shelf = Shelf::new(concat!(env!("CARGO_TARGET_TMPDIR"), "/weir-cache"));
    let home = shelf.provide(&JOLOKIA, &GO_ON, &mut |_| {}).unwrap();
    let files = std::fs::read_dir(home).unwrap().flatten();
    let mut jars = files.map(|file| file.path());
    let jar = jars.find(|path| path.extension().is_some_and(|kind| kind == "jar"));
    let jar = jar.unwrap();
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../jvm/tests/Watched.java");
    let java = Command::new("java")
        .arg("-Xmx64m")
        .arg(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let mut java = Process(java.unwrap());
    let lines = BufReader::new(java.0.stdout.take().unwrap()).lines();
    lines
        .map_while(Result::ok)
        .find(|line| line.starts_with("ready"))
        .unwrap();

    let place = tempfile::tempdir().unwrap();
    let pid = java.0.id();
    std::fs::write(
        place.path().join("told"),
        format!("{pid} {}", jar.display()),
    )
    .unwrap();
    let weir = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "agent::plays_weir_with_an_agent", "--nocapture"])
        .env(PLACE, place.path())
        .stdout(Stdio::piped())
        .spawn();
    let mut weir = Process(weir.unwrap());
    let lines = BufReader::new(weir.0.stdout.take().unwrap()).lines();
    let url = lines
        .map_while(Result::ok)
        .find_map(|line| Some(line.strip_prefix("set at ")?.to_owned()))
        .unwrap();
    weir.0.kill().unwrap();
    weir.0.wait().unwrap();

    let state = place.path().join("state");
    let journal = std::fs::read_dir(&state)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    for (path, mode) in [
        (journal.clone(), 0o700),
        (journal.join("entries.jsonl"), 0o600),
    ] {
        let found = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(found & 0o777, mode, "{}", path.display());
    }
    let restored = restore_abandoned(&state, Leftover::Keep).unwrap();
    assert_eq!(restored.failed, Vec::<String>::new());
    assert_eq!(restored.done.len(), 2, "{:?}", restored.done);
    let gone = Jolokia::new(url.parse().unwrap()).read(&connector(), &[LIMIT]);
    assert!(gone.is_err(), "its agent is stopped");
    let (agent, limit) = agent(pid, &jar);
    assert_eq!(limit, 50, "the value is as it was");
    agent.stop().unwrap();
}
