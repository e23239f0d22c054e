//! Settings of running servers, and how another process gives them their old values.

use std::fmt;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use weir_exchange::{Credentials, MetricsUrl};
use weir_jvm::{Agent, Jolokia, ObjectName, Vm};

use crate::patience;

/// How long is waited for what a command complained about, once it has ended.
const COMPLAINTS: Duration = Duration::from_secs(1);
/// The most of its complaint that is told, in bytes.
const COMPLAINT_MAX: u64 = 4_096;

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
    pub(super) fn put_back(&self) -> Result<(), NotBack> {
        let done = match self {
            Self::Attribute {
                url,
                credentials,
                mbean,
                attribute,
                before,
            } => client(url, credentials.as_ref())
                .and_then(|client| put_attribute_back(client, mbean, attribute, before)),
            Self::Agent { pid, jar } => stop_agent(*pid, jar),
            Self::Command { argv, .. } => return run(argv, patience::COMMAND),
        };
        done.map_err(NotBack::Refused)
    }
}

/// Why something is not put back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NotBack {
    /// It was refused; another try may be worth it when the rest is put back.
    Refused(String),
    /// It took too long; another try would take as long.
    TookTooLong(String),
}

impl NotBack {
    /// Says it with other words.
    pub(super) fn map(self, say: impl FnOnce(String) -> String) -> Self {
        match self {
            Self::Refused(why) => Self::Refused(say(why)),
            Self::TookTooLong(why) => Self::TookTooLong(say(why)),
        }
    }

    pub(super) fn says(self) -> String {
        match self {
            Self::Refused(why) | Self::TookTooLong(why) => why,
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

/// Runs a command in a process group of its own, so that Ctrl-C, typed while it puts something
/// back, does not end it. One that takes too long is ended with what it has started.
fn run(argv: &[String], longest: Duration) -> Result<(), NotBack> {
    let Some((program, arguments)) = argv.split_first() else {
        return Err(NotBack::Refused("there is no command".to_owned()));
    };
    let failed = |error: io::Error| NotBack::Refused(format!("`{program}`: {error}"));
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .map_err(failed)?;
    let (send, complaint) = mpsc::channel();
    let stderr = child.stderr.take();
    // What it leaves running may hold its output open for ever.
    std::thread::spawn(move || {
        let lines = stderr.map(|stderr| BufReader::new(stderr.take(COMPLAINT_MAX)).lines());
        for line in lines.into_iter().flatten().map_while(Result::ok) {
            if send.send(line).is_err() {
                break;
            }
        }
    });
    let Some(status) = patience::wait(&mut child, longest).map_err(failed)? else {
        if let Some(group) = Pid::from_raw(child.id().cast_signed()) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = child.wait();
        let says = patience::says(longest);
        return Err(NotBack::TookTooLong(format!("`{program}`: {says}")));
    };
    if status.success() {
        return Ok(());
    }
    let mut says = Vec::new();
    while let Ok(line) = complaint.recv_timeout(COMPLAINTS) {
        says.push(line);
    }
    let says = says.join("\n");
    Err(NotBack::Refused(format!(
        "`{program}` ({status}): {}",
        says.trim()
    )))
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
        let error = setting.put_back().unwrap_err().says();
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

    fn shell(script: &str) -> Vec<String> {
        ["sh", "-c", script].map(str::to_owned).to_vec()
    }

    #[test]
    fn a_command_that_hangs_is_ended_with_what_it_started() {
        let place = tempfile::tempdir().unwrap();
        let pid = place.path().join("pid");
        let script = format!("sleep 600 & echo $! > {}; wait", pid.display());
        let longest = Duration::from_millis(300);
        let began = std::time::Instant::now();
        let NotBack::TookTooLong(says) = run(&shell(&script), longest).unwrap_err() else {
            panic!("it was refused");
        };
        assert!(says.contains("did not end within"), "{says}");
        assert!(began.elapsed() < Duration::from_secs(30));
        let stat = format!(
            "/proc/{}/stat",
            std::fs::read_to_string(pid).unwrap().trim()
        );
        let gone = (0..500).any(|_| {
            std::thread::sleep(Duration::from_millis(10));
            let text = std::fs::read_to_string(&stat).unwrap_or_default();
            text.is_empty() || text.contains(") Z ")
        });
        assert!(gone, "{stat} is still there");
    }

    #[test]
    fn what_a_command_complains_about_is_told_and_what_it_leaves_running_is_not_waited_for() {
        let refused = run(&shell("echo no >&2; exit 3"), patience::COMMAND).unwrap_err();
        assert!(refused.says().ends_with("(exit status: 3): no"));
        let began = std::time::Instant::now();
        run(&shell("sleep 20 &"), patience::COMMAND).unwrap();
        assert!(began.elapsed() < Duration::from_secs(15));
    }

    #[test]
    fn it_is_in_a_process_group_of_its_own() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("stat");
        let script = format!("cat /proc/$$/stat > {}", file.display());
        run(&shell(&script), patience::COMMAND).unwrap();
        let stat = std::fs::read_to_string(file).unwrap();
        // proc(5): pid, name, state, parent, process group.
        let words: Vec<&str> = stat.split(' ').collect();
        assert_eq!(words[0], words[4], "{stat}");
    }
}
