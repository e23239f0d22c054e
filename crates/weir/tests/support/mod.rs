//! What the tests of the program share: a fresh directory for each, the program itself with an end
//! to every wait, a sample server, schemas, and what `/proc` says of processes.

#![allow(dead_code, reason = "each test program uses its own part of this")]

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;
use weir_explain::{Evidence, contradicted, diagnose};
use weir_record::{StudyResult, TrialRecord};

/// How often something that is waited for is looked at.
const LOOK: Duration = Duration::from_millis(20);
/// How long anything that takes no load may take on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Whether the system profile runs; says so when it does not.
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
pub(crate) fn skipped(test: &str) -> bool {
    let runs = std::env::var_os("WEIR_SYSTEM_TESTS").is_some_and(|value| value == "1");
    if !runs {
        eprintln!("skipped: {test} runs with WEIR_SYSTEM_TESTS=1 only");
    }
    !runs
}

/// Waits until something is there.
#[track_caller]
pub(crate) fn wait_for<T>(
    what: &str,
    patience: Duration,
    mut look: impl FnMut() -> Option<T>,
) -> T {
    let until = Instant::now() + patience;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < until, "{what} within {patience:?}");
        thread::sleep(LOOK);
    }
}

/// A fresh directory in which the program runs, and a home without a configuration.
pub(crate) struct Place {
    directory: TempDir,
    outside: TempDir,
}

/// Whatever a test was about: what its studies found and what explains their trials must agree.
impl Drop for Place {
    fn drop(&mut self) {
        if thread::panicking() {
            return;
        }
        let runs = fs::read_dir(self.path("weir-runs"));
        for run in runs.into_iter().flatten().flatten() {
            let result = fs::read(run.path().join("result.json")).unwrap_or_default();
            // Files that a test has broken, and runs of other kinds.
            let Ok(result) = serde_json::from_slice::<StudyResult>(&result) else {
                continue;
            };
            let diagnosis = |trial: &TrialRecord| {
                let target = Some(&result.target);
                diagnose(&Evidence::of_trial(&result.run, trial, target, None))
            };
            for trial in &result.trials {
                let (findings, trials) = (&result.findings, &result.trials);
                let against = contradicted(findings, trials, trial.id, diagnosis);
                assert!(against.is_empty(), "trial {}: {against:#?}", trial.id);
            }
        }
    }
}

impl Place {
    /// An empty place.
    pub(crate) fn new() -> Self {
        Self {
            directory: tempfile::tempdir().unwrap(),
            outside: tempfile::tempdir().unwrap(),
        }
    }

    /// A place with the plan of the built-in study in `plans/short.jmx`.
    pub(crate) fn with_plan() -> Self {
        let place = Self::new();
        place.write(
            "plans/short.jmx",
            &repository_file("studies/plans/short.jmx"),
        );
        place
    }

    /// A place with a run `recorded` that holds the trials of a server that was measured once.
    pub(crate) fn with_recorded_run(name: &str) -> Self {
        let place = Self::new();
        let text = repository_file(&format!("crates/model/tests/recorded/{name}.json"));
        let recorded: Value = serde_json::from_str(&text).unwrap();
        let result = json!({
            "schema": "weir/result/1", "weir": "0", "run": "recorded", "exit_code": 0, "status": "answered",
            "question": "?", "target": recorded["target"], "summary": "", "answer": null, "settings": {},
            "settings_detail": [], "held": null, "table": null, "findings": [], "trials": recorded["trials"],
        });
        place.write("weir-runs/recorded/result.json", &result.to_string());
        place.write("weir-runs/recorded/run.toml", "");
        place
    }

    /// Where the program's journals lie.
    pub(crate) fn state(&self) -> PathBuf {
        self.outside.path().join(".local/state/weir")
    }

    /// A path in it.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Writes a file.
    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Writes the configuration of the user who runs the program.
    pub(crate) fn configure(&self, text: &str) {
        let folder = self.outside.path().join(".config/weir");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("config.toml"), text).unwrap();
    }

    /// Reads a file.
    #[track_caller]
    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Names of everything in it.
    pub(crate) fn names(&self) -> Vec<String> {
        names_in(self.directory.path())
    }

    /// Starts the program.
    pub(crate) fn start(&self, words: &[&str]) -> Running {
        let output = tempfile::tempdir_in(self.outside.path()).unwrap().keep();
        let (stdout, stderr) = (output.join("stdout"), output.join("stderr"));
        let child = Command::new(env!("CARGO_BIN_EXE_weir"))
            .args(words)
            .current_dir(self.directory.path())
            .env("HOME", self.outside.path())
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("XDG_STATE_HOME")
            .env_remove("WEIR_STATE")
            // A JMeter that a test has assembled serves those after it too.
            .env(
                "WEIR_CACHE",
                concat!(env!("CARGO_TARGET_TMPDIR"), "/weir-cache"),
            )
            .stdin(Stdio::null())
            .stdout(File::create(&stdout).unwrap())
            .stderr(File::create(&stderr).unwrap())
            .spawn()
            .unwrap();
        Running {
            words: words.join(" "),
            child,
            stdout,
            stderr,
        }
    }

    /// Runs the program to its end.
    #[track_caller]
    pub(crate) fn weir(&self, words: &[&str]) -> Done {
        self.start(words).done(PATIENCE)
    }
}

/// Every file and directory below one, with its bytes.
pub(crate) fn tree(directory: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.push((path.clone(), Vec::new()));
            found.extend(tree(&path));
        } else {
            found.push((path.clone(), fs::read(&path).unwrap()));
        }
    }
    found.sort();
    found
}

/// The program while it runs; killed when a test ends before it does.
pub(crate) struct Running {
    words: String,
    child: Child,
    stdout: PathBuf,
    stderr: PathBuf,
}

impl Running {
    /// Its process id.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The data that it has printed so far.
    pub(crate) fn printed(&self) -> String {
        fs::read_to_string(&self.stdout).unwrap()
    }

    /// What it has said so far.
    pub(crate) fn talk(&self) -> String {
        fs::read_to_string(&self.stderr).unwrap()
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        signal_to(self.pid(), signal);
    }

    /// Waits until something is there; a program that ends before is a failure.
    #[track_caller]
    pub(crate) fn wait_for<T>(
        &mut self,
        what: &str,
        patience: Duration,
        mut look: impl FnMut(&Self) -> Option<T>,
    ) -> T {
        wait_for(what, patience, || {
            let ended = self.child.try_wait().unwrap();
            let found = look(self);
            assert!(
                found.is_some() || ended.is_none(),
                "weir {} ended ({ended:?}) before there was {what}:\n{}",
                self.words,
                self.talk()
            );
            found
        })
    }

    /// Waits until the first trial of the one run in a place sends its load, and kills the program
    /// there; what it had started by then.
    #[track_caller]
    pub(crate) fn killed_in_trial(mut self, place: &Place, patience: Duration) -> Vec<u32> {
        self.wait_for("a running trial", patience, |_| {
            let runs = place.path("weir-runs");
            let name = names_in(&runs).pop()?;
            let samples = runs.join(name).join("trials/001/samples.jtl");
            samples.is_file().then_some(())
        });
        let mut started = Vec::new();
        let mut next = children(self.pid());
        while let Some(pid) = next.pop() {
            next.extend(children(pid));
            started.push(pid);
        }
        self.signal(rustix::process::Signal::KILL);
        self.child.wait().unwrap();
        started
    }

    /// Waits for its end.
    #[track_caller]
    pub(crate) fn done(mut self, patience: Duration) -> Done {
        let status = wait_for(&format!("end of weir {}", self.words), patience, || {
            self.child.try_wait().unwrap()
        });
        let done = Done {
            words: std::mem::take(&mut self.words),
            code: status.code(),
            stdout: fs::read_to_string(&self.stdout).unwrap(),
            stderr: fs::read_to_string(&self.stderr).unwrap(),
        };
        done.holds_nothing_that_a_terminal_obeys();
        done
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            // The server that it started ends by itself when this process is gone.
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// The program after its end.
#[derive(Debug)]
pub(crate) struct Done {
    words: String,
    /// The exit code; `None` after a signal.
    pub(crate) code: Option<i32>,
    /// Data.
    pub(crate) stdout: String,
    /// Talk.
    pub(crate) stderr: String,
}

impl Done {
    /// Whatever a test was about: no control characters, nothing that turns the direction of
    /// writing.
    #[track_caller]
    fn holds_nothing_that_a_terminal_obeys(&self) {
        let is_obeyed = |letter: char| {
            (letter.is_control() && !matches!(letter, '\n' | '\t'))
                || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        };
        for printed in [&self.stdout, &self.stderr] {
            let obeyed = printed.lines().find(|line| line.contains(is_obeyed));
            assert_eq!(obeyed, None, "weir {}", self.words);
        }
    }

    /// Asserts the exit code.
    #[track_caller]
    pub(crate) fn ends(self, code: i32) -> Self {
        self.ends_one_of(&[code])
    }

    /// Asserts that the exit code is one of these.
    #[track_caller]
    pub(crate) fn ends_one_of(self, codes: &[i32]) -> Self {
        assert!(
            self.code.is_some_and(|code| codes.contains(&code)),
            "exit code {:?}, not one of {codes:?}\n{self}",
            self.code
        );
        self
    }

    /// Asserts that the talk has all of these parts.
    #[track_caller]
    pub(crate) fn says(self, parts: &[&str]) -> Self {
        // A message may be broken over lines.
        let talk = one_line(&self.stderr);
        for part in parts {
            assert!(talk.contains(part), "`{part}` was not said\n{self}");
        }
        self
    }

    /// Asserts that the data has all of these parts.
    #[track_caller]
    pub(crate) fn prints(self, parts: &[&str]) -> Self {
        let data = one_line(&self.stdout);
        for part in parts {
            assert!(data.contains(part), "`{part}` was not printed\n{self}");
        }
        self
    }

    /// Standard output as JSON, all of it.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}\n{self}"))
    }
}

impl std::fmt::Display for Done {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "weir {}\n--- stdout\n{}\n--- stderr\n{}",
            self.words, self.stdout, self.stderr
        )
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A sample server of its own, with a small table; stopped at the end of the test.
pub(crate) struct SampleServer {
    child: Child,
    /// `HOST:PORT` of the application.
    pub(crate) listen: String,
    /// `HOST:PORT` of its figures.
    pub(crate) admin: String,
}

impl SampleServer {
    /// Starts it on free ports.
    pub(crate) fn start() -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_weir"))
            .args(["sample-server", "--with-parent", "--rows=1000"])
            .args(["--listen=127.0.0.1:0", "--admin=127.0.0.1:0"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let stdout = child.stdout.take().unwrap();
        BufReader::new(stdout).read_line(&mut line).unwrap();
        let ready: Value = serde_json::from_str(&line).unwrap();
        let address = |name: &str| ready[name].as_str().unwrap().to_owned();
        Self {
            child,
            listen: address("listen"),
            admin: address("admin"),
        }
    }

    /// Its process id.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The URL of a path of the application.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.listen)
    }

    /// The URL of a path of the admin endpoint.
    pub(crate) fn admin_url(&self, path: &str) -> String {
        format!("http://{}{path}", self.admin)
    }

    /// The port of the application.
    pub(crate) fn port(&self) -> &str {
        self.listen.rsplit(':').next().unwrap()
    }

    /// Requests that it has answered, all statuses together.
    pub(crate) fn requests(&self) -> u64 {
        let page = get(&self.admin, "/metrics");
        page.lines()
            .filter(|line| line.starts_with("weir_requests_total{"))
            .map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap())
            .sum()
    }
}

impl Drop for SampleServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The text of a page.
fn get(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    answer
}

/// A file of the repository.
pub(crate) fn repository_file(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Asserts that a document is what its committed schema says.
#[track_caller]
pub(crate) fn assert_valid(schema: &str, document: &Value) {
    let schema = serde_json::from_str(&repository_file(schema)).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = validator
        .iter_errors(document)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

/// Reads a JSON file.
#[track_caller]
pub(crate) fn json_file(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Names in a directory, in order; none when it is not there.
pub(crate) fn names_in(directory: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(directory) else {
        return Vec::new();
    };
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Sends a signal to one process.
/// The stages of a study's target: their names, their limits, and whether they can be set.
pub(crate) fn funnel(result: &Value) -> Vec<(&str, Option<f64>, bool)> {
    let stages = result["target"]["stages"].as_array().unwrap();
    stages.iter().map(stage_of).collect()
}

fn stage_of(stage: &Value) -> (&str, Option<f64>, bool) {
    let name = stage["name"].as_str().unwrap();
    (name, stage["limit"].as_f64(), stage["settable"] == true)
}

pub(crate) fn signal_to(pid: u32, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_raw(pid.cast_signed()).unwrap();
    rustix::process::kill_process(pid, signal).unwrap();
}

/// State and parent of a process; `None` when there is none.
fn state_and_parent(pid: u32) -> Option<(char, u32)> {
    // `pid (name) state ppid …`; the name may hold anything.
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace();
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}

/// Whether a process runs; one that has ended and is not yet fetched by its parent does not.
pub(crate) fn runs(pid: u32) -> bool {
    state_and_parent(pid).is_some_and(|(state, _)| !matches!(state, 'Z' | 'X'))
}

/// The running children of a process.
pub(crate) fn children(parent: u32) -> Vec<u32> {
    names_in(Path::new("/proc"))
        .iter()
        .filter_map(|name| name.parse().ok())
        .filter(|pid| state_and_parent(*pid).is_some_and(|(_, of)| of == parent) && runs(*pid))
        .collect()
}
