//! What the virtual threads that serve requests do.
//!
//! `jcmd PID Thread.print` does not have them. `jcmd PID Thread.dump_to_file -format=json` does,
//! and since JDK 25 it tells the state of each (JDK-8356870); before, nobody knows what one waits
//! for. The virtual machine writes a file as its own user, so that the file lies in a folder that
//! only this user can open.

use std::io::Read as _;

use serde_json::Value;

use crate::attach::Attach;
use crate::error::JvmError;
use crate::private_folder::PrivateFolder;
use crate::thread_dump::{RequestThreads, State};

const FILE: &str = "threads.json";
/// Most that is read of a dump.
const LARGEST_BYTES: u64 = 256 * 1024 * 1024;
/// A thread of the virtual machine that wakes virtual ones (`-unparker`, later `-unblocker`): it is
/// there once there was one.
const WAKES_THEM: &str = "\n\"VirtualThread-un";
/// A frame of a virtual thread that sleeps.
const SLEEPS: &str = "java.lang.VirtualThread.sleep";

/// Whether a virtual machine has had virtual threads, by its `Thread.print`.
pub fn has_virtual_threads(dump: &str) -> bool {
    dump.contains(WAKES_THEM)
}

impl Attach {
    /// All threads as the virtual machine writes them into a file, as JSON.
    pub fn threads_as_json(&self) -> Result<String, JvmError> {
        let failed = JvmError::file("have a thread dump written to", FILE);
        let read = || {
            let folder = PrivateFolder::make(self.vm(), &[FILE])?;
            folder.hand_over()?;
            let command = format!("Thread.dump_to_file -format=json {}", folder.seen_as(FILE));
            let said = self.jcmd(&command).map_err(std::io::Error::other)?;
            let mut text = String::new();
            match folder.folder().open_regular(FILE) {
                Ok(file) => file.take(LARGEST_BYTES).read_to_string(&mut text)?,
                Err(_) => return Err(std::io::Error::other(said.trim().to_owned())),
            };
            Ok(text)
        };
        read().map_err(failed)
    }
}

impl RequestThreads {
    /// Adds the virtual threads of a dump as JSON. `false` when it does not tell their states.
    pub fn add_virtual(&mut self, dump: &str) -> bool {
        let Ok(dump) = serde_json::from_str::<Value>(dump) else {
            return false;
        };
        let containers = dump["threadDump"]["threadContainers"].as_array();
        let threads = containers
            .into_iter()
            .flatten()
            .filter_map(|container| container["threads"].as_array())
            .flatten();
        let mut told = false;
        for thread in threads {
            told |= thread["state"].is_string();
            if is_virtual(thread) {
                self.add_written(thread);
            }
        }
        told
    }

    fn add_written(&mut self, thread: &Value) {
        let frames = thread["stack"].as_array().into_iter().flatten();
        let frames: Vec<&str> = frames.filter_map(Value::as_str).collect();
        let sleeps = frames.iter().any(|frame| frame.contains(SLEEPS));
        let state = match thread["state"].as_str() {
            Some("RUNNABLE") => State::Runnable,
            Some("BLOCKED") => State::Blocked,
            Some("TIMED_WAITING") if sleeps => State::Asleep,
            Some("WAITING" | "TIMED_WAITING") => State::Waiting,
            _ => return,
        };
        self.add(state, &frames);
    }
}

fn is_virtual(thread: &Value) -> bool {
    thread["virtual"] == Value::Bool(true) || thread["virtual"] == "true"
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A dump of one virtual thread that serves a request, with what else it tells.
    fn added(told: &str) -> (RequestThreads, bool) {
        let dump = format!(
            r#"{{"threadDump": {{"threadContainers": [{{"threads": [{{"virtual": true, {told} "stack": [
                "java.base/java.lang.VirtualThread.sleepNanos(VirtualThread.java:1)",
                "a.B/jakarta.servlet.http.HttpServlet.service(HttpServlet.java:1)"]}}]}}]}}}}"#
        );
        let mut seen = RequestThreads::default();
        let told = seen.add_virtual(&dump);
        (seen, told)
    }

    #[test]
    fn a_thread_counts_when_its_state_is_told() {
        let (seen, told) = added(r#""state": "TIMED_WAITING","#);
        assert_eq!((seen.seen, seen.asleep, told), (1, 1, true));
        // As before JDK 25.
        assert_eq!(added(""), (RequestThreads::default(), false));
        assert!(!RequestThreads::default().add_virtual("no JSON"));
    }
}
