//! How the process of a server in a Java virtual machine is started: the levels of the factors
//! `start.NAME`.
//!
//! None of it can be changed while the server runs, so a new level is a new start.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use weir_metric::CpuSet;

use crate::error::TargetError;

/// Sets the scheduling policy of a program that it becomes.
const CHRT: &str = "chrt";

/// How a server is started; what is `None` is as the study's target says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StartLevels {
    /// CPUs that it may use.
    pub cpus: Option<CpuSet>,
    /// The kernel's scheduling policy for all of its threads.
    pub scheduling: Option<Scheduling>,
    /// The release of Java that runs it, such as 25.
    pub java: Option<u32>,
    /// The garbage collector.
    pub collector: Option<Collector>,
    /// The size of the heap as `-Xms` and `-Xmx` take it.
    pub heap: Option<String>,
    /// The kind of thread on which requests run.
    pub threads: Option<ThreadKind>,
    /// The policy of a second server's threads, in which heavy requests of the stress application
    /// run; `None`: there is no second.
    pub heavy: Option<Scheduling>,
    /// Whether every trial has a start of its own.
    pub each_trial: bool,
}

/// A scheduling policy of the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheduling {
    /// `SCHED_OTHER`, the usual one.
    Other,
    /// `SCHED_BATCH`: a thread that wakes does not push another off the CPU.
    Batch,
    /// `SCHED_IDLE`: behind everything that is not idle.
    Idle,
}

/// A garbage collector of `HotSpot`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Collector {
    /// One thread, everything stands still.
    Serial,
    /// Several threads, everything stands still.
    Parallel,
    /// Garbage first.
    G1,
    /// ZGC, concurrent.
    Z,
    /// None at all: the heap is used once.
    Epsilon,
}

/// What a request runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThreadKind {
    /// A thread of the operating system, from a pool.
    Platform,
    /// A virtual thread of its own (Java 21 and later).
    Virtual,
}

const SCHEDULING: [(&str, Scheduling); 3] = [
    ("other", Scheduling::Other),
    ("batch", Scheduling::Batch),
    ("idle", Scheduling::Idle),
];
const COLLECTORS: [(&str, Collector); 5] = [
    ("serial", Collector::Serial),
    ("parallel", Collector::Parallel),
    ("g1", Collector::G1),
    ("z", Collector::Z),
    ("epsilon", Collector::Epsilon),
];
const THREADS: [(&str, ThreadKind); 2] = [
    ("platform", ThreadKind::Platform),
    ("virtual", ThreadKind::Virtual),
];
const EACH: [(&str, bool); 2] = [("environment", false), ("trial", true)];

/// The factors' names behind `start.`.
const NAMES: &str = "start.cpus, start.scheduling, start.java, start.collector, start.heap, start.threads, start.heavy, start.each";

impl StartLevels {
    /// Reads levels by the factors' whole names (`start.collector`).
    ///
    /// # Errors
    /// A name that is none of these, or a level that its factor does not have; says what there is.
    pub fn parse(levels: &BTreeMap<String, String>) -> Result<Self, TargetError> {
        let mut read = Self::default();
        for (name, level) in levels {
            match name.as_str() {
                "start.cpus" => {
                    let cpus: CpuSet = level
                        .parse()
                        .map_err(|_| wrong(name, level, "a list of CPUs such as 0-1"))?;
                    read.cpus = Some(cpus);
                }
                "start.scheduling" => read.scheduling = Some(word(name, level, &SCHEDULING)?),
                "start.java" => {
                    let release = level.parse().ok().filter(|release| *release >= 11);
                    let release = release
                        .ok_or_else(|| wrong(name, level, "a release of Java from 11 on"))?;
                    read.java = Some(release);
                }
                "start.collector" => read.collector = Some(word(name, level, &COLLECTORS)?),
                "start.heap" => {
                    if !is_size(level) {
                        return Err(wrong(name, level, "a size such as 512m or 4g"));
                    }
                    read.heap = Some(level.clone());
                }
                "start.threads" => read.threads = Some(word(name, level, &THREADS)?),
                "start.heavy" => read.heavy = Some(word(name, level, &SCHEDULING)?),
                "start.each" => read.each_trial = word(name, level, &EACH)?,
                _ => {
                    return Err(TargetError::Setting {
                        name: name.clone(),
                        says: format!("how a server is started is {NAMES}"),
                    });
                }
            }
        }
        Ok(read)
    }

    /// The program and its first words, up to where the server's own options begin: the policy, the
    /// Java, the options of the virtual machine. `java` and `options` are the target's; later
    /// options win, and a level of the collector takes the place of theirs. `javas` are those
    /// that are installed, by release.
    pub(crate) fn command(
        &self,
        java: &Path,
        javas: &BTreeMap<u32, PathBuf>,
        options: &[String],
    ) -> Result<Command, TargetError> {
        let java = match self.java {
            Some(release) => java_of_release(release, javas)?,
            None => java,
        };
        let policy = match self.scheduling {
            None | Some(Scheduling::Other) => None,
            Some(Scheduling::Batch) => Some("--batch"),
            Some(Scheduling::Idle) => Some("--idle"),
        };
        let mut command = match policy {
            // It becomes Java and keeps the process's id.
            Some(policy) => {
                let mut command = Command::new(CHRT);
                command.args([policy, "0"]).arg(java);
                command
            }
            None => Command::new(java),
        };
        // A virtual machine that is told two collectors does not start.
        let kept = options
            .iter()
            .filter(|option| self.collector.is_none() || !chooses_collector(option));
        command.args(kept).args(self.options());
        Ok(command)
    }

    fn options(&self) -> Vec<String> {
        let mut options: Vec<String> = match self.collector {
            None => Vec::new(),
            Some(Collector::Serial) => vec!["-XX:+UseSerialGC".to_owned()],
            Some(Collector::Parallel) => vec!["-XX:+UseParallelGC".to_owned()],
            Some(Collector::G1) => vec!["-XX:+UseG1GC".to_owned()],
            Some(Collector::Z) => vec!["-XX:+UseZGC".to_owned()],
            // Each page of its heap is used once: the kernel would give all of them out while
            // requests wait.
            Some(Collector::Epsilon) => vec![
                "-XX:+UnlockExperimentalVMOptions".to_owned(),
                "-XX:+UseEpsilonGC".to_owned(),
                "-XX:+AlwaysPreTouch".to_owned(),
            ],
        };
        if let Some(heap) = &self.heap {
            options.extend([format!("-Xms{heap}"), format!("-Xmx{heap}")]);
        }
        options
    }
}

/// Whether an option of a virtual machine chooses its collector, or unchooses one.
fn chooses_collector(option: &str) -> bool {
    const CHOICES: [&str; 6] = ["Serial", "Parallel", "G1", "Z", "Shenandoah", "Epsilon"];
    let named = option
        .strip_prefix("-XX:")
        .and_then(|rest| rest.strip_prefix(['+', '-']))
        .and_then(|rest| rest.strip_prefix("Use")?.strip_suffix("GC"));
    named.is_some_and(|name| CHOICES.contains(&name))
}

fn wrong(name: &str, level: &str, wanted: &str) -> TargetError {
    TargetError::Setting {
        name: name.to_owned(),
        says: format!("`{level}` is not {wanted}"),
    }
}

fn word<T: Copy>(name: &str, level: &str, words: &[(&str, T)]) -> Result<T, TargetError> {
    let known = words.iter().find(|(word, _)| *word == level);
    known.map(|(_, value)| *value).ok_or_else(|| {
        let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        wrong(name, level, &format!("one of {}", words.join(", ")))
    })
}

fn is_size(text: &str) -> bool {
    let number = text.strip_suffix(['k', 'm', 'g', 'K', 'M', 'G']);
    number.is_some_and(|number| number.parse::<u32>().is_ok_and(|number| number > 0))
}

/// The program of a Java of this release.
fn java_of_release(release: u32, javas: &BTreeMap<u32, PathBuf>) -> Result<&Path, TargetError> {
    let program = javas.get(&release).map(PathBuf::as_path);
    program.ok_or_else(|| {
        let known: Vec<String> = javas.keys().map(u32::to_string).collect();
        TargetError::Setting {
            name: "start.java".to_owned(),
            says: format!(
                "no Java {release} was found, only {}; install it below /usr/lib/jvm, put it in PATH or let JAVA_HOME name it",
                known.join(", ")
            ),
        }
    })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    fn parse(levels: &[(&str, &str)]) -> Result<StartLevels, TargetError> {
        let levels = levels
            .iter()
            .map(|(name, level)| ((*name).to_owned(), (*level).to_owned()));
        StartLevels::parse(&levels.collect())
    }

    fn javas() -> BTreeMap<u32, PathBuf> {
        BTreeMap::from([(25, PathBuf::from("/jdk-25/bin/java"))])
    }

    fn words(levels: &[(&str, &str)]) -> Vec<String> {
        let command = parse(levels)
            .unwrap()
            .command(Path::new("java"), &javas(), &["-Xmx1g".to_owned()])
            .unwrap();
        std::iter::once(command.get_program())
            .chain(command.get_args())
            .map(|word| word.to_string_lossy().into_owned())
            .collect()
    }

    #[test]
    fn levels_become_a_command() {
        assert_eq!(words(&[]), ["java", "-Xmx1g"]);
        assert_eq!(words(&[("start.scheduling", "other")]), ["java", "-Xmx1g"]);
        assert_eq!(
            words(&[
                ("start.scheduling", "batch"),
                ("start.collector", "epsilon"),
                ("start.heap", "12g")
            ]),
            [
                "chrt",
                "--batch",
                "0",
                "java",
                "-Xmx1g",
                "-XX:+UnlockExperimentalVMOptions",
                "-XX:+UseEpsilonGC",
                "-XX:+AlwaysPreTouch",
                "-Xms12g",
                "-Xmx12g"
            ]
        );
    }

    #[test]
    fn the_collector_of_a_level_takes_the_place_of_that_of_the_options() {
        let options = ["-XX:+UseG1GC", "-XX:MaxGCPauseMillis=50"].map(str::to_owned);
        let words = |levels: &[(&str, &str)]| {
            let levels = parse(levels).unwrap();
            let command = levels.command(Path::new("java"), &javas(), &options);
            let command = command.unwrap();
            let words = command.get_args();
            words
                .map(|word| word.to_string_lossy().into_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(words(&[]), options);
        let serial = words(&[("start.collector", "serial")]);
        assert_eq!(serial, ["-XX:MaxGCPauseMillis=50", "-XX:+UseSerialGC"]);
    }

    #[test]
    fn a_java_is_found_by_its_release_or_missed_by_name() {
        assert_eq!(words(&[("start.java", "25")])[0], "/jdk-25/bin/java");
        let newer = parse(&[("start.java", "26")]).unwrap();
        let missed = newer.command(Path::new("java"), &javas(), &[]).unwrap_err();
        assert!(missed.to_string().contains("only 25"), "{missed}");
    }

    #[test]
    fn what_is_no_level_is_refused_with_what_there_is() {
        for (name, level, says) in [
            ("start.colour", "red", "start.collector"),
            ("start.collector", "cms", "serial, parallel, g1, z, epsilon"),
            ("start.scheduling", "fifo", "other, batch, idle"),
            ("start.heavy", "own", "other, batch, idle"),
            ("start.cpus", "one", "0-1"),
            ("start.java", "8", "from 11 on"),
            ("start.heap", "much", "512m"),
            ("start.each", "day", "environment, trial"),
        ] {
            let says_so = parse(&[(name, level)]).unwrap_err().to_string();
            assert!(says_so.contains(says), "{says_so}");
        }
    }
}
