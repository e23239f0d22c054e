//! Recording: what a real JMeter makes of a plan, as files beside the plan.
//!
//! With `WEIR_RECORD_WITH_JMETER=<JMeter's home>` the tests of our own plans write the recorded
//! files instead of comparing with them. Only JMeter 5.6.3 may be recorded.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::server::{CaseServer, Requests};

/// Where all tests have what they fetch.
const CACHE: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/weir-cache");
/// How long JMeter may take for a plan.
const PATIENCE: Duration = Duration::from_secs(180);

/// The home of the JMeter that is to be recorded, if one is.
pub(crate) fn home() -> Option<PathBuf> {
    std::env::var_os("WEIR_RECORD_WITH_JMETER").map(PathBuf::from)
}

/// The JMeter that plans are compared with: that of `JMETER_HOME`, or the one of the tests, which
/// is assembled if it is not there yet.
pub(crate) fn provided() -> PathBuf {
    let environment = weir_jmeter::Environment {
        jmeter_home: std::env::var_os("JMETER_HOME").map(PathBuf::from),
        cache: CACHE.into(),
        ..weir_jmeter::Environment::default()
    };
    let found = weir_jmeter::Home::find(&environment).unwrap();
    let home = found.unwrap_or_else(|| {
        let interrupted = std::sync::atomic::AtomicBool::new(false);
        weir_jmeter::assemble(&environment.cache, &interrupted, &mut |_| ()).unwrap()
    });
    home.root().to_owned()
}

/// Runs a plan in JMeter in a folder of its own.
fn run(
    home: &Path,
    plan: &Path,
    properties: &[(&str, &str)],
    server: &CaseServer,
) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut jmeter = Command::new("java");
    jmeter
        .args([
            "--add-opens=java.base/java.lang=ALL-UNNAMED",
            "-Xmx512m",
            "-Djava.awt.headless=true",
            "-Duser.timezone=UTC",
            "-jar",
        ])
        .arg(home.join("bin/ApacheJMeter.jar"))
        .args(["-n", "-t"])
        .arg(plan)
        .arg("-l")
        .arg(folder.path().join("results"))
        .arg("-j")
        .arg(folder.path().join("log"))
        .arg(format!("-Jport={}", server.port))
        .current_dir(folder.path());
    for (name, value) in properties {
        jmeter.arg(format!("-J{name}={value}"));
    }
    let mut jmeter = jmeter
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let until = Instant::now() + PATIENCE;
    let ended = loop {
        match jmeter.try_wait().unwrap() {
            Some(ended) => break ended,
            None if Instant::now() > until => {
                jmeter.kill().unwrap();
                break jmeter.wait().unwrap();
            }
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    assert!(ended.success(), "JMeter: {ended}: {}", plan.display());
    folder
}

/// What JMeter made of a plan.
pub(crate) struct Ran {
    /// Its result file.
    pub(crate) results: String,
    /// The users whose thread ended with an error of JMeter's own.
    pub(crate) crashed: Vec<String>,
}

/// Runs a plan in JMeter.
pub(crate) fn in_jmeter(
    home: &Path,
    plan: &Path,
    properties: &[(&str, &str)],
    server: &CaseServer,
) -> Ran {
    let folder = run(home, plan, properties, server);
    // JMeter makes no file where no sample was taken.
    let text = |name: &str| {
        let bytes = std::fs::read(folder.path().join(name)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let crashed = |line: &str| {
        let (_, thread) = line.split_once("Uncaught exception in thread Thread[")?;
        Some(thread.split(',').next()?.to_owned())
    };
    Ran {
        results: text("results"),
        crashed: text("log").lines().filter_map(crashed).collect(),
    }
}

/// Runs a plan in JMeter and keeps its result file and what it asked of the server.
pub(crate) fn record(home: &Path, plan: &Path, properties: &[(&str, &str)]) {
    let server = CaseServer::start();
    let folder = run(home, plan, properties, &server);
    let results = folder.path().join("results");
    let text = std::fs::read_to_string(&results).unwrap();
    let text = without_folder(&text).replace(&format!(":{}", server.port), ":0");
    std::fs::write(plan.with_extension("xml"), text).unwrap();
    let requests = server.requests();
    let file = plan.with_extension("requests");
    if requests.is_empty() {
        drop(std::fs::remove_file(file));
    } else {
        std::fs::write(file, listed(&requests)).unwrap();
    }
    let listeners = std::fs::read_dir(folder.path())
        .unwrap()
        .map(Result::unwrap);
    for entry in listeners {
        let name = entry.file_name().into_string().unwrap();
        if name != "results" && name != "log" {
            std::fs::copy(entry.path(), plan.with_file_name(name)).unwrap();
        }
    }
}

/// Results that name the folder of the plans by a word: it is another one in each checkout.
pub(crate) fn without_folder(results: &str) -> String {
    let folder = super::case("");
    let folder = folder.to_str().unwrap().trim_end_matches('/');
    results.replace(folder, "CASES")
}

/// Requests as a file has them: one a line, the user in front.
pub(crate) fn listed(requests: &Requests) -> String {
    let lines = requests.iter().flat_map(|(user, requests)| {
        let line = move |request: &String| format!("{user}\t{request}\n");
        requests.iter().map(line)
    });
    lines.collect()
}
