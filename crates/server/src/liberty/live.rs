//! What a running Liberty says of its limits: messages in its log, and its pools over JMX.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use weir_jvm::{Jolokia, ObjectName};

use crate::error::TargetError;

use super::config::Limits;

/// How long a change may take until the server says that it is made.
const UPDATE_PATIENCE: Duration = Duration::from_secs(60);
/// How often the log and the pools are looked at.
const LOOK: Duration = Duration::from_millis(50);

/// The server's configuration was updated; or it was read again and had not changed.
const UPDATED: [&str; 2] = ["CWWKG0017I", "CWWKG0018I"];
/// The endpoint listens.
const LISTENS: [&str; 1] = ["CWWKO0219I"];
/// The managers of connection pools.
const MANAGERS: &str = "WebSphere:type=com.ibm.ws.jca.cm.mbean.ConnectionManagerMBean,*";

/// A running server.
#[derive(Debug)]
pub(super) struct Live {
    jolokia: Jolokia,
    log: PathBuf,
}

impl Live {
    pub(super) fn new(jolokia: Jolokia, log: PathBuf) -> Self {
        Self { jolokia, log }
    }

    /// Name and version, as its log begins.
    pub(super) fn version(&self) -> Result<String, TargetError> {
        Ok(version(&self.log_from(0)?).unwrap_or_else(|| "Open Liberty".to_owned()))
    }

    /// The limits of the pools that have been used, by stage.
    pub(super) fn pools(&mut self) -> Result<Limits, TargetError> {
        let mut limits = Limits::new();
        for manager in self.jolokia.search(&name(MANAGERS))? {
            let Some(jndi) = manager.plain("jndiName") else {
                continue;
            };
            let contents = self
                .jolokia
                .exec(&manager, "showPoolContents", Vec::new())?;
            if let Some(limit) = number(&contents, "maxPoolSize=") {
                let short = jndi.rsplit('/').next().unwrap_or(&jndi);
                limits.insert(format!("pool.{short}"), limit);
            }
        }
        Ok(limits)
    }

    /// Waits until the server says that it has taken what was written after its log was so long.
    pub(super) fn wait_for_update(&self, log_from: u64) -> Result<(), TargetError> {
        self.wait_for_message(&UPDATED, log_from, "take the new limits")
    }

    /// Waits until the endpoint listens again.
    pub(super) fn wait_for_endpoint(&self, log_from: u64) -> Result<(), TargetError> {
        self.wait_for_message(&LISTENS, log_from, "open its endpoint again")
    }

    /// Waits until the pools that have been used have these limits.
    pub(super) fn wait_for_pools(&mut self, wanted: &Limits) -> Result<(), TargetError> {
        let until = Instant::now() + UPDATE_PATIENCE;
        loop {
            let now = self.pools()?;
            let mut set = now.iter().filter(|(stage, _)| wanted.contains_key(*stage));
            let wrong = set.find(|(stage, limit)| wanted.get(*stage) != Some(limit));
            let Some((stage, limit)) = wrong else {
                return Ok(());
            };
            if Instant::now() >= until {
                return Err(TargetError::Jmx {
                    says: format!("{stage} stays at {limit}, though {} was set", wanted[stage]),
                });
            }
            thread::sleep(LOOK);
        }
    }

    fn wait_for_message(
        &self,
        any_of: &[&str],
        log_from: u64,
        what: &str,
    ) -> Result<(), TargetError> {
        let until = Instant::now() + UPDATE_PATIENCE;
        loop {
            let text = self.log_from(log_from)?;
            if any_of.iter().any(|message| text.contains(message)) {
                return Ok(());
            }
            if Instant::now() >= until {
                return Err(TargetError::Configuration {
                    path: self.log.clone(),
                    says: format!(
                        "the server did not {what} within {} s: it has not written {}",
                        UPDATE_PATIENCE.as_secs(),
                        any_of.join(" or ")
                    ),
                });
            }
            thread::sleep(LOOK);
        }
    }

    fn log_from(&self, from: u64) -> Result<String, TargetError> {
        let read = File::open(&self.log).and_then(|mut log| {
            log.seek(SeekFrom::Start(from))?;
            let mut bytes = Vec::new();
            log.read_to_end(&mut bytes)?;
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        });
        read.map_err(TargetError::file(&self.log))
    }
}

fn name(text: &str) -> ObjectName {
    text.parse().expect("it is written as names of MBeans are")
}

/// The number behind a mark, at the beginning of a line.
fn number(contents: &Value, mark: &str) -> Option<f64> {
    let mut lines = contents.as_str()?.lines();
    lines.find_map(|line| line.trim().strip_prefix(mark)?.trim().parse().ok())
}

/// `Open Liberty 25.0.0.12` in `Launching weir (Open Liberty 25.0.0.12/wlp-1.0.108…) on …`.
fn version(log: &str) -> Option<String> {
    let (_, named) = log.split_once("Launching ")?.1.split_once('(')?;
    let (version, _) = named.split_once('/')?;
    Some(version.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    // What Open Liberty 25.0.0.12 wrote.
    #[test]
    fn what_the_server_says_is_understood() {
        let log = "Launching weir (Open Liberty 25.0.0.12/wlp-1.0.108.cl251220251117-0302) on OpenJDK 64-Bit";
        assert_eq!(version(log).as_deref(), Some("Open Liberty 25.0.0.12"));
        assert_eq!(version("[AUDIT   ] CWWKE0001I"), None);
        let contents = "PoolManager@1\njndiName=jdbc/db\nmaxPoolSize=10\nsize=2\nwaiting=0\n";
        let contents = Value::String(contents.to_owned());
        assert_eq!(number(&contents, "maxPoolSize="), Some(10.0));
        assert_eq!(number(&contents, "shared="), None);
    }
}
