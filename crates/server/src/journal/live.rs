//! Settings of running servers, and how another process gives them their old values.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use weir_exchange::{Credentials, MetricsUrl};
use weir_jvm::{Agent, Jolokia, ObjectName, Vm};

/// A setting of a running server as it was, and the way back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LiveSetting {
    /// An attribute of an MBean.
    Attribute {
        /// The Jolokia agent, such as `http://127.0.0.1:8778/jolokia`.
        url: String,
        /// What the agent is asked with, if Weir has loaded it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        credentials: Option<AgentCredentials>,
        /// The MBean.
        mbean: String,
        /// The attribute.
        attribute: String,
        /// What it was.
        before: Value,
    },
    /// Jolokia's agent in a process that had none.
    Agent {
        /// The process.
        pid: u32,
        /// The jar from which the agent is loaded.
        jar: PathBuf,
    },
    /// Whatever a command sets.
    Command {
        /// What it is, for people.
        what: String,
        /// The program that puts it back, and its arguments.
        argv: Vec<String>,
    },
}

/// The user and the password of an agent. Only the journal holds them, which nobody but its owner
/// can read, and only as long as there is something to put back.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentCredentials {
    user: String,
    password: String,
}

impl From<&Credentials> for AgentCredentials {
    fn from(credentials: &Credentials) -> Self {
        Self {
            user: credentials.user().to_owned(),
            password: credentials.password().to_owned(),
        }
    }
}

impl fmt::Debug for AgentCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentCredentials").finish_non_exhaustive()
    }
}

impl LiveSetting {
    /// Whether both are the same setting, whatever its value.
    pub(super) fn is_same_setting(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::Attribute {
                    url,
                    mbean,
                    attribute,
                    ..
                },
                Self::Attribute {
                    url: other_url,
                    mbean: other_mbean,
                    attribute: other_attribute,
                    ..
                },
            ) => (url, mbean, attribute) == (other_url, other_mbean, other_attribute),
            (Self::Agent { pid, .. }, Self::Agent { pid: other, .. }) => pid == other,
            (Self::Command { what, .. }, Self::Command { what: other, .. }) => what == other,
            _ => false,
        }
    }

    /// What putting it back does, for people.
    pub(super) fn says(&self) -> String {
        match self {
            Self::Attribute {
                mbean,
                attribute,
                before,
                ..
            } => format!("set {attribute} of {mbean} = {before}"),
            Self::Agent { pid, .. } => format!("stopped the agent in process {pid}"),
            Self::Command { what, .. } => format!("set {what}"),
        }
    }

    /// Gives it its old value.
    pub(super) fn put_back(&self) -> Result<(), String> {
        match self {
            Self::Attribute {
                url,
                credentials,
                mbean,
                attribute,
                before,
            } => client(url, credentials.as_ref())
                .and_then(|client| put_attribute_back(client, mbean, attribute, before)),
            Self::Agent { pid, jar } => stop_agent(*pid, jar),
            Self::Command { argv, .. } => run(argv),
        }
    }
}

fn client(url: &str, credentials: Option<&AgentCredentials>) -> Result<Jolokia, String> {
    let url: MetricsUrl = url.parse().map_err(|error| format!("{error}"))?;
    Ok(Jolokia::new(match credentials {
        Some(AgentCredentials { user, password }) => {
            url.with_credentials(Credentials::new(user, password))
        }
        None => url,
    }))
}

fn put_attribute_back(
    mut client: Jolokia,
    mbean: &str,
    attribute: &str,
    before: &Value,
) -> Result<(), String> {
    let name: ObjectName = mbean.parse().map_err(|error| format!("{error}"))?;
    client
        .write(&name, attribute, before.clone())
        .map(|_| ())
        .map_err(|error| error.to_string())
}

/// A process that is gone, or is no virtual machine with an agent, has none to stop.
fn stop_agent(pid: u32, jar: &Path) -> Result<(), String> {
    let Ok(Some(vm)) = Vm::of(pid) else {
        return Ok(());
    };
    match Agent::find(&vm) {
        Ok(Some(agent)) => agent
            .loaded_from(jar)
            .stop()
            .map_err(|error| error.to_string()),
        Ok(None) => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}

fn run(argv: &[String]) -> Result<(), String> {
    let Some((program, arguments)) = argv.split_first() else {
        return Err("there is no command".to_owned());
    };
    let output = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("`{program}`: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let says = String::from_utf8_lossy(&output.stderr);
    Err(format!("`{program}` ({}): {}", output.status, says.trim()))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_kept_in_the_journal_and_shown_nowhere() {
        let setting = LiveSetting::Attribute {
            url: "http://127.0.0.1:9/jolokia".to_owned(),
            credentials: Some((&Credentials::new("weir", "p455word")).into()),
            mbean: "a:b=c".to_owned(),
            attribute: "d".to_owned(),
            before: Value::from(1),
        };
        let line = serde_json::to_string(&setting).unwrap();
        assert!(line.contains("p455word"));
        assert_eq!(serde_json::from_str::<LiveSetting>(&line).unwrap(), setting);
        let error = setting.put_back().unwrap_err();
        for shown in [format!("{setting:?}"), setting.says(), error] {
            assert!(!shown.contains("p455word"), "{shown}");
        }
        // As journals were written before.
        let older =
            r#"{"attribute":{"url":"http://h/","mbean":"a:b=c","attribute":"d","before":1}}"#;
        let older: LiveSetting = serde_json::from_str(older).unwrap();
        assert!(matches!(
            older,
            LiveSetting::Attribute {
                credentials: None,
                ..
            }
        ));
    }
}
