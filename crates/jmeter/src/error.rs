//! Why JMeter cannot be had, started or followed.

use std::io;
use std::path::PathBuf;

/// Why JMeter cannot be had, started or followed.
#[derive(Debug, thiserror::Error)]
pub enum JmeterError {
    /// `JMETER_HOME` does not hold a JMeter.
    #[error(
        "find JMeter in {}: there is no bin/ApacheJMeter.jar; let JMETER_HOME name the directory that has bin and lib, or unset it",
        home.display()
    )]
    NotAHome {
        /// What it names.
        home: PathBuf,
    },
    /// There is no Java.
    #[error(
        "start Java (`{}`): it is not there; JMeter needs a Java runtime of version 8 or later: install one (Debian: default-jre-headless) or let JAVA_HOME name it",
        program.display()
    )]
    NoJava {
        /// What was tried.
        program: PathBuf,
    },
    /// There is no Maven.
    #[error(
        "assemble JMeter {version}: there is no Maven (`mvn`); install it (Debian: maven), or let JMETER_HOME name an unpacked JMeter"
    )]
    NoMaven {
        /// The version that is wanted.
        version: &'static str,
    },
    /// Maven could not fetch something.
    #[error("assemble JMeter {version} with Maven")]
    Maven {
        /// The version that is wanted.
        version: &'static str,
        /// What Maven said.
        #[source]
        source: weir_shelf::MavenError,
    },
    /// A jar is not the one that was published.
    #[error(
        "trust {jar}: its SHA-256 is {found}, not {expected}; remove it from the local Maven repository and try again"
    )]
    Checksum {
        /// Its name.
        jar: &'static str,
        /// What it has to be.
        expected: &'static str,
        /// What it is.
        found: String,
    },
    /// A file or directory.
    #[error("{doing} {}", path.display())]
    File {
        /// What was done.
        doing: &'static str,
        /// With what.
        path: PathBuf,
        /// Why it failed.
        #[source]
        source: io::Error,
    },
    /// The process or one of its threads could not be started.
    #[error("start `{}`", program.display())]
    Spawn {
        /// The program.
        program: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// JMeter ended before the test began.
    #[error("run {} in JMeter: {says}", plan.display())]
    Refused {
        /// The plan.
        plan: PathBuf,
        /// Why, in JMeter's words.
        says: String,
    },
    /// JMeter did not come so far as to begin the test.
    #[error(
        "start JMeter: the test did not begin within {seconds} s; see {}",
        log.display()
    )]
    NotReady {
        /// How long it had.
        seconds: u64,
        /// JMeter's log.
        log: PathBuf,
    },
    /// The plan is no plan.
    #[error("read {}: {says}", path.display())]
    Plan {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        says: String,
    },
    /// It was stopped from outside before there was anything to tell.
    #[error("start JMeter: interrupted")]
    Interrupted,
}

impl JmeterError {
    pub(crate) fn file(
        doing: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File {
            doing,
            path,
            source,
        }
    }
}
