//! Settings of running servers, and how another process gives them their old values.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use weir_exchange::MetricsUrl;
use weir_jvm::{Agent, Jolokia, ObjectName, Vm};

/// A setting of a running server as it was, and the way back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LiveSetting {
    /// An attribute of an MBean.
    Attribute {
        /// The Jolokia agent, such as `http://127.0.0.1:8778/jolokia`.
        url: String,
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
                mbean,
                attribute,
                before,
            } => put_attribute_back(url, mbean, attribute, before),
            Self::Agent { pid, jar } => stop_agent(*pid, jar),
            Self::Command { argv, .. } => run(argv),
        }
    }
}

fn put_attribute_back(
    url: &str,
    mbean: &str,
    attribute: &str,
    before: &Value,
) -> Result<(), String> {
    let url: MetricsUrl = url.parse().map_err(|error| format!("{error}"))?;
    let name: ObjectName = mbean.parse().map_err(|error| format!("{error}"))?;
    Jolokia::new(url)
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
