//! Launching JMeter: from the settings to the moment at which its test begins.

use std::net::{Ipv4Addr, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant, SystemTime};

use weir_metric::CpuSet;

use crate::console::{Said, first_error, refusal};
use crate::error::JmeterError;
use crate::gc_log;
use crate::home::{Home, Java};
use crate::process::Process;
use crate::result_tail::{FORCED, ResultTail};
use crate::running::{RunningJmeter, follow};

/// How long JMeter may take to begin: loading a plan of megabytes on a slow machine.
const START_PATIENCE: Duration = Duration::from_secs(180);
/// How often an interrupt is looked at.
const LOOK: Duration = Duration::from_millis(50);
/// How long the last lines of a JMeter that has ended may take.
const LAST_LINES: Duration = Duration::from_secs(2);
/// Ports above the first that JMeter may try.
const PORTS: u16 = 10;

/// What JMeter is started with.
#[derive(Debug, Clone)]
pub struct Launch {
    /// The JMeter.
    pub home: Home,
    /// The Java that runs it.
    pub java: Java,
    /// The plan that JMeter reads.
    pub plan: PathBuf,
    /// The plan's properties, as `-J` gives them.
    pub properties: Vec<(String, String)>,
    /// Properties of the virtual machine, as `-D` gives them, with their values.
    pub system_properties: Vec<(String, String)>,
    /// More words of JMeter's command line, handed on as they are, where everybody may read them:
    /// a proxy, log levels.
    pub words: Vec<String>,
    /// Files of more properties, as `-q` gives them.
    pub property_files: Vec<PathBuf>,
    /// The result file; one that has rows is continued.
    pub samples: PathBuf,
    /// JMeter's own log; without, one in `directory`.
    pub log: Option<PathBuf>,
    /// Gets what JMeter prints, once its test has begun.
    pub heard: Option<Sender<String>>,
    /// Directory for JMeter's log, what it prints, and Java's garbage collection log.
    pub directory: PathBuf,
    /// CPUs that it may use; `None`: all.
    pub cpus: Option<CpuSet>,
    /// When the plan says that it ends, for those who watch.
    pub planned_end: Option<Duration>,
}

impl Launch {
    /// JMeter's own log.
    pub fn log(&self) -> PathBuf {
        let named = self.log.clone();
        named.unwrap_or_else(|| self.directory.join("jmeter.log"))
    }

    /// Hands on a line that JMeter printed. What its logging library says of itself is no line of
    /// JMeter's.
    pub(crate) fn hear(&self, line: &str) {
        if let Some(heard) = &self.heard
            && !line.starts_with("WARN StatusConsoleListener")
        {
            // Whoever does not listen any more misses nothing.
            drop(heard.send(line.to_owned()));
        }
    }

    fn printed(&self) -> PathBuf {
        self.directory.join("jmeter.out")
    }

    pub(crate) fn gc_log(&self) -> PathBuf {
        self.directory.join("jmeter-gc.log")
    }

    /// JMeter's command line. `stop_port` is where it is to listen for requests to stop.
    fn command(&self, stop_port: u16) -> Command {
        let mut command = Command::new(&self.java.program);
        command
            .args(&self.java.options)
            .args(gc_log::java_options(&self.gc_log()))
            .args(OPENED)
            .arg("-Djava.awt.headless=true")
            .arg("-jar")
            .arg(self.home.launcher())
            .arg("-n")
            .arg("-t")
            .arg(&self.plan)
            .arg("-l")
            .arg(&self.samples)
            .arg("-j")
            .arg(self.log())
            .args(&self.words);
        for file in &self.property_files {
            command.arg("-q").arg(file);
        }
        // Whoever lists processes reads their command lines: passwords stand in files.
        command.arg("-q").arg(self.plan_properties());
        if !self.system_properties.is_empty() {
            command.arg("-S").arg(self.java_properties());
        }
        let own = [
            ("jmeterengine.nongui.port", stop_port),
            (
                "jmeterengine.nongui.maxport",
                stop_port.saturating_add(PORTS),
            ),
        ]
        .map(|(name, port)| (name.to_owned(), port.to_string()));
        let forced = FORCED
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        // The last one of a name counts, and one without a value takes the property away.
        let properties = self.properties.iter().cloned();
        let removed = properties.filter(|(_, value)| value.is_empty());
        for (name, value) in removed.chain(own).chain(forced) {
            command.arg(format!("-J{name}={value}"));
        }
        command
    }

    /// The file with the plan's properties.
    fn plan_properties(&self) -> PathBuf {
        self.directory.join("plan.properties")
    }

    /// The file with the virtual machine's properties.
    fn java_properties(&self) -> PathBuf {
        self.directory.join("system.properties")
    }

    fn write_properties(&self) -> Result<(), JmeterError> {
        write_for_user(&self.plan_properties(), &self.properties)?;
        if self.system_properties.is_empty() {
            return Ok(());
        }
        write_for_user(&self.java_properties(), &self.system_properties)
    }
}

/// Writes the properties that have a value where only this user reads them.
fn write_for_user(path: &Path, properties: &[(String, String)]) -> Result<(), JmeterError> {
    let mut lines = String::new();
    for (name, value) in properties {
        if !value.is_empty() {
            let (name, value) = (in_properties(name), in_properties(value));
            lines.extend([&name, "=", &value, "\n"]);
        }
    }
    let written = weir_files::real_path(path).and_then(|path| {
        let (folder, name) = weir_files::Folder::of(&path)?;
        folder.forget(&name);
        folder.create(&name, lines.as_bytes(), None)
    });
    written.map_err(JmeterError::file("write", path))
}

/// A name or a value as a file of properties has it: ASCII, and every sign that would mean
/// something by its number (`java.util.Properties.load`).
fn in_properties(text: &str) -> String {
    let plain = |unit: u16| u8::try_from(unit).is_ok_and(|byte| byte.is_ascii_alphanumeric());
    let units = text
        .encode_utf16()
        .map(|unit| match char::from_u32(u32::from(unit)) {
            Some(sign) if plain(unit) || "._-/".contains(sign) => sign.to_string(),
            _ => format!("\\u{unit:04x}"),
        });
    units.collect()
}

/// What of Java plugins look into (the Parallel Controller into threads), as JMeter's own start
/// script opens it. A Java that is too old to know these words ignores them.
const OPENED: [&str; 5] = [
    "-XX:+IgnoreUnrecognizedVMOptions",
    "--add-opens=java.base/java.lang=ALL-UNNAMED",
    "--add-opens=java.base/java.lang.invoke=ALL-UNNAMED",
    "--add-opens=java.base/java.lang.reflect=ALL-UNNAMED",
    "--add-opens=java.base/java.util=ALL-UNNAMED",
];

/// A JMeter whose test has begun, not followed yet.
#[derive(Debug)]
pub struct Launched {
    launch: Launch,
    process: Process,
    lines: Receiver<String>,
    tail: ResultTail,
    stop_port: u16,
}

/// Starts JMeter and waits until its test begins.
///
/// # Errors
/// Java is missing, JMeter refuses the plan or does not begin in time, or `interrupted` was set;
/// nothing is left running then.
pub fn start(launch: Launch, interrupted: &AtomicBool) -> Result<Launched, JmeterError> {
    let tail = ResultTail::new(&launch.samples);
    let stop_port = free_port();
    launch.write_properties()?;
    let (process, lines) = Process::start(
        launch.command(stop_port),
        launch.cpus.as_ref(),
        &launch.printed(),
    )?;
    let mut launched = Launched {
        launch,
        process,
        lines,
        tail,
        stop_port,
    };
    launched.wait_for_begin(interrupted)?;
    Ok(launched)
}

impl Launched {
    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// Follows the test. Seconds count from `origin`, which the wall clock calls `started`.
    pub fn begin(self, origin: Instant, started: SystemTime) -> Result<RunningJmeter, JmeterError> {
        let Self {
            launch,
            process,
            lines,
            tail,
            stop_port,
        } = self;
        follow(launch, process, lines, tail, stop_port, (origin, started))
    }

    fn wait_for_begin(&mut self, interrupted: &AtomicBool) -> Result<(), JmeterError> {
        let until = Instant::now() + START_PATIENCE;
        let mut printed = Vec::new();
        loop {
            match self.lines.recv_timeout(LOOK) {
                Ok(line) => {
                    let begins = matches!(Said::of(&line), Some(Said::Begins(_)));
                    printed.push(line);
                    if begins {
                        for line in &printed {
                            self.launch.hear(line);
                        }
                        return Ok(());
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(self.refused(&printed)),
            }
            if interrupted.load(Ordering::Relaxed) {
                return Err(JmeterError::Interrupted);
            }
            if Instant::now() >= until {
                return Err(JmeterError::NotReady {
                    seconds: START_PATIENCE.as_secs(),
                    log: self.launch.log(),
                });
            }
        }
    }

    /// Why JMeter has ended before the test.
    fn refused(&mut self, printed: &[String]) -> JmeterError {
        let ended = self.process.wait(LAST_LINES);
        let says = refusal(printed)
            .or_else(|| log_error(&self.launch.log()))
            .or_else(|| last_printed(&self.launch.printed()))
            .unwrap_or_else(|| {
                ended.map_or_else(
                    || "it closed its output".to_owned(),
                    |status| status.to_string(),
                )
            });
        JmeterError::Refused {
            plan: self.launch.plan.clone(),
            says: format!("{says} (its log is {})", self.launch.log().display()),
        }
    }
}

/// The first error in JMeter's log.
pub(crate) fn log_error(log: &Path) -> Option<String> {
    let bytes = std::fs::read(log).ok()?;
    first_error(&String::from_utf8_lossy(&bytes))
}

/// What Java says when it cannot start at all.
fn last_printed(path: &Path) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    let mut lines = text.lines().map(str::trim);
    let last = lines.rfind(|line| !line.is_empty())?;
    Some(last.to_owned())
}

/// A port of the loopback interface that is free now; should somebody take it before JMeter does,
/// JMeter takes one of the next and says which.
fn free_port() -> u16 {
    const OWN: u16 = 4445;
    let bound = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0));
    let port = bound.and_then(|socket| Ok(socket.local_addr()?.port()));
    port.unwrap_or(OWN)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    fn launch(directory: &Path) -> Launch {
        std::fs::create_dir_all(directory.join("bin")).unwrap();
        std::fs::write(directory.join("bin/ApacheJMeter.jar"), "").unwrap();
        Launch {
            home: Home::at(directory).unwrap(),
            java: Java {
                program: "java".into(),
                options: vec!["-Xmx1g".to_owned()],
            },
            plan: "plan.jmx".into(),
            properties: vec![
                ("A".to_owned(), "b c=d".to_owned()),
                (
                    "jmeter.save.saveservice.output_format".to_owned(),
                    "xml".to_owned(),
                ),
            ],
            system_properties: vec![("store.password".to_owned(), "s3cret".to_owned())],
            words: vec!["-H".to_owned(), "proxy.example".to_owned()],
            log: None,
            heard: None,
            property_files: vec!["more.properties".into()],
            samples: directory.join("out.jtl"),
            directory: directory.to_owned(),
            cpus: None,
            planned_end: None,
        }
    }

    #[test]
    fn properties_are_passed_and_the_columns_are_ours() {
        let place = tempfile::tempdir().unwrap();
        let launch = launch(place.path());
        let command = launch.command(5_000);
        let words: Vec<&str> = command
            .get_args()
            .map(|word| word.to_str().unwrap())
            .collect();
        let at = |word: &str| words.iter().position(|found| *found == word).unwrap();
        assert!(at("-Xmx1g") < at("-jar"));
        assert_eq!(words[at("-t") + 1], "plan.jmx");
        assert_eq!(words[at("-q") + 1], "more.properties");
        assert_eq!(words[at("-H") + 1], "proxy.example");
        let own = at(launch.plan_properties().to_str().unwrap());
        assert_eq!(words[own - 1], "-q");
        assert!(
            at("more.properties") < own,
            "what is typed for one name wins"
        );
        let java = at(launch.java_properties().to_str().unwrap());
        assert_eq!(words[java - 1], "-S");
        for secret in ["b c=d", "s3cret"] {
            assert!(!words.iter().any(|word| word.contains(secret)), "{words:?}");
        }
        launch.write_properties().unwrap();
        let file = std::fs::read_to_string(launch.plan_properties()).unwrap();
        assert_eq!(
            file,
            "A=b\\u0020c\\u003dd\njmeter.save.saveservice.output_format=xml\n"
        );
        let file = std::fs::read_to_string(launch.java_properties()).unwrap();
        assert_eq!(file, "store.password=s3cret\n");
        assert!(words.contains(&"-Jjmeterengine.nongui.port=5000"));
        // Of two values JMeter takes the last.
        assert!(own < at("-Jjmeter.save.saveservice.output_format=csv"));
    }

    /// A stand-in that prints what JMeter prints; `java` itself need not be here.
    fn with_script(directory: &Path, script: &str) -> Launch {
        let program = directory.join("java");
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        let mut rights = std::fs::metadata(&program).unwrap().permissions();
        std::os::unix::fs::PermissionsExt::set_mode(&mut rights, 0o755);
        std::fs::set_permissions(&program, rights).unwrap();
        let mut launch = launch(directory);
        launch.java.program = program;
        launch
    }

    #[test]
    fn a_plan_that_jmeter_refuses_is_named_with_its_cause() {
        let place = tempfile::tempdir().unwrap();
        let launch = with_script(
            place.path(),
            "echo 'Error in NonGUIDriver'; echo 'Cause:'; echo 'CannotResolveClassException: kg.apc.Foo'; exit 1",
        );
        let error = start(launch, &AtomicBool::new(false)).unwrap_err();
        let says = error.to_string();
        assert!(
            says.starts_with("run plan.jmx in JMeter: it has an element of the class kg.apc.Foo"),
            "{says}"
        );
    }

    #[test]
    fn an_interrupt_ends_the_wait_and_jmeter() {
        let place = tempfile::tempdir().unwrap();
        let launch = with_script(place.path(), "exec sleep 600");
        let error = start(launch, &AtomicBool::new(true)).unwrap_err();
        assert!(matches!(error, JmeterError::Interrupted));
    }
}
