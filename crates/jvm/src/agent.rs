//! Jolokia's agent in a running virtual machine: the one that is there, or one that is loaded and
//! stopped again.
//!
//! Everybody on the machine can reach the port of an agent, and who can use it can do to the
//! virtual machine whatever its user can. So one that is loaded asks for a password that is new
//! with every load and answers only what it was loaded for.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use weir_exchange::MetricsUrl;

use crate::agent_files::{AgentFiles, new_credentials};
use crate::attach::Attach;
use crate::error::JvmError;
use crate::jolokia::{self, Jolokia};
use crate::policy::{Permission, policy};
use crate::process::Vm;

/// In which an agent says where it listens.
const PROPERTY: &str = "jolokia.agent";
/// Its own port, on this machine only, and two threads: with one, a second reader would wait for
/// the first.
const OPTIONS: &str =
    "host=127.0.0.1\nport=0\nexecutor=fixed\nthreadNr=2\ndiscoveryEnabled=false\n";
/// How often the address is looked for.
const LOOK: Duration = Duration::from_millis(50);

/// Agents that this Weir has loaded, by their process and its start: who finds one again needs its
/// password.
static LOADED: Mutex<BTreeMap<(u32, u64), MetricsUrl>> = Mutex::new(BTreeMap::new());

/// A Jolokia agent in a virtual machine.
#[derive(Debug)]
pub struct Agent {
    attach: Attach,
    url: MetricsUrl,
    /// The jar from which it was loaded by us; `None` when it was there before.
    loaded: Option<PathBuf>,
}

impl Agent {
    /// The agent that a virtual machine has.
    pub fn find(vm: &Vm) -> Result<Option<Self>, JvmError> {
        let attach = Attach::to(vm)?;
        let Some(url) = address(&attach)? else {
            return Ok(None);
        };
        let known = loaded().get(&vm.identity()).cloned();
        let known = known.filter(|known| known.to_string() == url.to_string());
        Ok(Some(Self {
            attach,
            url: known.unwrap_or(url),
            loaded: None,
        }))
    }

    /// Finds the agent of a virtual machine, or loads it from the jar, `jolokia-agent-jvm` with
    /// classifier `javaagent`. One that is loaded permits this and nothing else; one that was
    /// there before is used as it is.
    pub fn provide(
        vm: &Vm,
        jar: &Path,
        permissions: &[Permission],
        patience: Duration,
    ) -> Result<Self, JvmError> {
        if let Some(agent) = Self::find(vm)? {
            return Ok(agent);
        }
        vm.is_reached()?;
        let attach = Attach::to(vm)?;
        let until = Instant::now() + patience;
        let failed = |why: String| JvmError::Agent {
            pid: vm.pid(),
            jar: jar.to_owned(),
            why,
        };
        let credentials = new_credentials().map_err(|error| failed(error.to_string()))?;
        let policy = policy(&[permissions, &[jolokia::ready_permission()?]].concat());
        let files = AgentFiles::write(vm, OPTIONS, &credentials, &policy)
            .map_err(|error| failed(format!("its options cannot be written: {error}")))?;
        attach.load_agent(jar, &format!("config={}", files.options()))?;
        let url = loop {
            match address(&attach)? {
                Some(url) => break url.with_credentials(credentials),
                None if Instant::now() >= until => {
                    return Err(failed(format!(
                        "it did not say where it listens within {patience:?}"
                    )));
                }
                None => std::thread::sleep(LOOK),
            }
        };
        let left = until.saturating_duration_since(Instant::now());
        Jolokia::new(url.clone()).wait_until_ready(left)?;
        loaded().insert(vm.identity(), url.clone());
        Ok(Self {
            attach,
            url,
            loaded: Some(jar.to_owned()),
        })
    }

    /// Where it listens.
    pub fn url(&self) -> &MetricsUrl {
        &self.url
    }

    /// Whether it was loaded by [`provide`](Self::provide), and not there before.
    pub fn is_loaded(&self) -> bool {
        self.loaded.is_some()
    }

    /// A client of it.
    pub fn client(&self) -> Jolokia {
        Jolokia::new(self.url.clone())
    }

    /// Takes it as one that was loaded by us from this jar, in another process.
    #[must_use]
    pub fn loaded_from(self, jar: &Path) -> Self {
        Self {
            loaded: Some(jar.to_owned()),
            ..self
        }
    }

    /// Stops the agent if it was loaded by us. Its classes stay in the virtual machine until that
    /// ends.
    pub fn stop(self) -> Result<(), JvmError> {
        match &self.loaded {
            Some(jar) => {
                loaded().remove(&self.attach.vm().identity());
                self.attach.load_agent(jar, "mode=stop")
            }
            None => Ok(()),
        }
    }
}

fn loaded() -> MutexGuard<'static, BTreeMap<(u32, u64), MetricsUrl>> {
    // Whoever panicked had put a whole entry there or none.
    LOADED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where an agent in the virtual machine listens, if there is one.
fn address(attach: &Attach) -> Result<Option<MetricsUrl>, JvmError> {
    let properties = attach.jcmd("VM.system_properties")?;
    Ok(property(&properties, PROPERTY).and_then(|url| url.parse().ok()))
}

/// The value of a property in a text of `java.util.Properties`, in which a backslash stands before
/// `:`, `=` and itself.
fn property(text: &str, name: &str) -> Option<String> {
    let mut lines = text.lines();
    let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix('='))?;
    let mut escaped = false;
    let kept = value.chars().filter(|&c| {
        escaped = c == '\\' && !escaped;
        !escaped
    });
    Some(kept.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_read_from_the_properties_as_java_writes_them() {
        let text = "#Sat Nov 21 17:55:05 UTC 2026\njava.specification.version=17\n\
            jolokia.agentId=x\njolokia.agent=http\\://127.0.0.1\\:18790/jolokia\n";
        let address = property(text, PROPERTY);
        assert_eq!(address.as_deref(), Some("http://127.0.0.1:18790/jolokia"));
        assert_eq!(property(text, "jolokia"), None);
        assert_eq!(property("a=b\\\\c\\=d", "a").as_deref(), Some("b\\c=d"));
    }
}
