//! A real virtual machine as a source: its counters, its MBeans by Jolokia, its threads by name.
//! Needs Java and Maven: runs in the system profile only.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::print_stderr, reason = "a skipped test says so")]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use weir_jvm::{Agent, Attach, Vm};
use weir_probe::{MbeanRead, Reading, Rule, Source, WatchPlan, Watcher, permissions};
use weir_shelf::{JOLOKIA, Shelf};

/// Only a failing test waits that long.
const PATIENCE: Duration = Duration::from_secs(60);

/// The program that the tests of the crate `jvm` watch too; it ends with the test, however that
/// goes.
struct Watched(Child);

impl Watched {
    fn start() -> Self {
        let java = std::env::var_os("JAVA_HOME").map_or_else(
            || PathBuf::from("java"),
            |home| Path::new(&home).join("bin/java"),
        );
        let child = Command::new(java)
            .args(["-Xmx64m", "-XX:+UseG1GC"])
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../jvm/tests/Watched.java"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let mut watched = Self(child.unwrap());
        let mut line = String::new();
        let told = watched.0.stdout.as_mut().unwrap();
        BufReader::new(told).read_line(&mut line).unwrap();
        assert!(line.starts_with("ready"), "{line}");
        watched
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Jolokia's agent, fetched once.
fn jolokia() -> PathBuf {
    let shelf = Shelf::new(concat!(env!("CARGO_TARGET_TMPDIR"), "/weir-cache"));
    let go_on = AtomicBool::new(false);
    let home = shelf.provide(&JOLOKIA, &go_on, &mut |_| {}).unwrap();
    home.join("jolokia-agent-jvm-2.5.1-javaagent.jar")
}

fn reads() -> Vec<MbeanRead> {
    let connector = "Catalina:type=ThreadPool,*".parse().unwrap();
    let pool: weir_jvm::ObjectName = "WebSphere:type=Pool,*".parse().unwrap();
    let contents = |mark, signal: &str| {
        MbeanRead::text(pool.clone(), "showPoolContents", mark, Rule::level(signal))
    };
    let less_one = Rule {
        minus: 1.0,
        ..Rule::level("connections.occupancy")
    };
    vec![
        MbeanRead::attribute(connector, "ConnectionCount", less_one),
        contents("waiting=", "pool.db.waiting"),
        contents("maxPoolSize=", "pool.db.limit"),
    ]
}

#[test]
fn a_virtual_machine_tells_its_stages_and_its_collections() {
    if std::env::var_os("WEIR_SYSTEM_TESTS").is_none() {
        eprintln!("skipped: needs Java; the system profile of `cargo xtask test` runs it");
        return;
    }
    let watched = Watched::start();
    let pid = watched.0.id();
    let vm = Vm::of(pid).unwrap().unwrap();
    let agent = Agent::provide(&vm, &jolokia(), &permissions(&reads()), PATIENCE).unwrap();
    let attach = Attach::to(&vm).unwrap();
    let start = Instant::now();
    let mut watcher = Watcher::new(WatchPlan {
        target_pids: vec![pid],
        sources: vec![
            Source::Jolokia {
                url: agent.url().clone(),
                reads: reads(),
            },
            Source::PerfData { pid },
            Source::Census { pids: vec![pid] },
        ],
        ..WatchPlan::default()
    });
    let mut sample = |second: u32| watcher.sample(start + Duration::from_secs(1) * second);
    sample(0);
    let mut reading = Reading::new();
    for second in 1_u32.. {
        attach.jcmd("GC.run").unwrap();
        reading = sample(second);
        if reading.contains_key("pool.db.waiting") || start.elapsed() > PATIENCE {
            break;
        }
    }
    for (signal, figure) in [
        ("pool.db.waiting", 15.0),
        ("pool.db.limit", 10.0),
        ("connections.occupancy", 50.0),
    ] {
        let found = reading.get(signal).copied();
        assert_eq!(found, Some(figure), "{signal}: {reading:#?}");
    }
    assert!(reading["gc.count"] >= 1.0, "{reading:#?}");
    assert!(reading["gc.time"] > 0.0);
    assert!(reading["safepoints.count"] >= 1.0);
    assert!(reading["jvm.threads"] >= 5.0);
    assert!(
        reading
            .keys()
            .any(|name| name.as_str().starts_with("census.")),
        "{reading:#?}"
    );
    let origins = watcher.origins();
    assert!(origins["pool.db.waiting"].ends_with("showPoolContents() waiting="));
    assert!(origins["gc.time"].starts_with("perf data /proc/"));
    agent.stop().unwrap();
}
