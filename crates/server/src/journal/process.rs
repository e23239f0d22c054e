//! Which process it was, and ending it with what it started.

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde::{Deserialize, Serialize};

use crate::process::Stat;

/// How long a process may take to end after SIGTERM.
const END_PATIENCE: Duration = Duration::from_secs(10);
/// How often it is looked at.
const LOOK: Duration = Duration::from_millis(20);

/// A process, told from a later one that has its id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ProcessIdentity {
    pub(super) pid: u32,
    /// When it started, in clock ticks since the machine did: field 22 of `/proc/PID/stat`, see
    /// proc(5).
    pub(super) start: u64,
    /// Which start of the machine that was.
    boot: String,
    /// Its program.
    program: PathBuf,
    /// What [`MARK`] is in its environment and in that of all that it starts, if it was started
    /// so.
    mark: String,
}

/// The variable in the environment of what Weir starts.
pub(super) const MARK: &str = "WEIR_JOURNAL";

impl ProcessIdentity {
    /// The process that has this id now.
    pub(super) fn of(pid: u32, mark: &str) -> Option<Self> {
        Some(Self {
            mark: mark.to_owned(),
            pid,
            start: Stat::of(pid)?.start,
            boot: boot()?,
            program: program(pid).unwrap_or_default(),
        })
    }

    /// Ends it and its process group, if anything of that is still there; whether there was.
    ///
    /// # Errors
    /// Something of it is still there.
    pub(super) fn end(&self) -> Result<bool, String> {
        if self.members().is_empty() {
            return Ok(false);
        }
        for signal in [Signal::TERM, Signal::KILL] {
            self.signal(&self.members(), signal);
            if self.is_gone() {
                return Ok(true);
            }
        }
        Err(format!("process {} does not end", self.pid))
    }

    /// Waits until nothing of it is there, in two looks in a row: while a process starts another
    /// program, its environment cannot be read for a moment.
    fn is_gone(&self) -> bool {
        let until = Instant::now() + END_PATIENCE;
        let mut was_empty = false;
        loop {
            let is_empty = self.members().is_empty();
            if is_empty && was_empty {
                return true;
            }
            if Instant::now() >= until {
                return false;
            }
            was_empty = is_empty;
            thread::sleep(LOOK);
        }
    }

    fn signal(&self, members: &[u32], signal: Signal) {
        let id = |pid: u32| Pid::from_raw(pid.cast_signed());
        // The whole group at once, while its first process proves that the group is ours.
        if members.contains(&self.pid)
            && Stat::of(self.pid).is_some_and(|stat| stat.group == self.pid)
            && let Some(group) = id(self.pid)
        {
            let _ = kill_process_group(group, signal);
            return;
        }
        for member in members.iter().filter_map(|pid| id(*pid)) {
            let _ = kill_process(member, signal);
        }
    }

    /// The process, those of its group, and those that carry its mark. When the first process is
    /// gone, a group of this number could be a later one; its processes count then only if they run
    /// the same program.
    fn members(&self) -> Vec<u32> {
        if boot().as_deref() != Some(&self.boot) {
            return Vec::new();
        }
        let first = Stat::of(self.pid);
        let first_runs = first.as_ref().is_some_and(|stat| stat.start == self.start);
        // The kernel gives away no id that is the number of a group: with the id the group is gone.
        let group_is_gone = first.is_some() && !first_runs;
        let is_member = |pid: u32| {
            let Some(stat) =
                Stat::of(pid).filter(|stat| !stat.is_zombie && stat.start >= self.start)
            else {
                return false;
            };
            let is_of_group = !group_is_gone
                && stat.group == self.pid
                && (first_runs || program(pid).as_ref() == Some(&self.program));
            (pid == self.pid && first_runs) || is_of_group || self.has_marked(pid)
        };
        let own = std::process::id();
        processes()
            .filter(|pid| *pid != own && is_member(*pid))
            .collect()
    }

    fn has_marked(&self, pid: u32) -> bool {
        let wanted = format!("{MARK}={}", self.mark);
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment
            .split(|byte| *byte == 0)
            .any(|variable| variable == wanted.as_bytes())
    }
}

fn processes() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

fn program(pid: u32) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/exe")).ok()
}

fn boot() -> Option<String> {
    let text = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(text.trim().to_owned())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use std::io::{BufRead as _, BufReader};
    use std::os::unix::process::CommandExt as _;
    use std::process::{Child, Command, Stdio};

    use super::*;

    fn sleeper() -> Child {
        Command::new("sleep")
            .arg("600")
            .process_group(0)
            .spawn()
            .unwrap()
    }

    #[test]
    fn names_with_brackets_do_not_hide_the_numbers() {
        let text = "7 (a) b) S 1 7 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 98765 1 2";
        let stat = Stat::parse(text).unwrap();
        assert_eq!((stat.group, stat.start, stat.is_zombie), (7, 98765, false));
        assert!(Stat::parse("7 (a").is_none());
    }

    #[test]
    fn the_process_is_ended() {
        let mut child = sleeper();
        let identity = ProcessIdentity::of(child.id(), "journal-x").unwrap();
        assert_eq!(identity.end(), Ok(true));
        assert!(!child.wait().unwrap().success());
        assert_eq!(identity.end(), Ok(false));
    }

    #[test]
    fn another_process_of_that_id_is_left_alone() {
        let mut child = sleeper();
        let mut identity = ProcessIdentity::of(child.id(), "journal-x").unwrap();
        identity.start += 1;
        assert_eq!(identity.end(), Ok(false));
        identity.start -= 1;
        identity.boot = "another".to_owned();
        assert_eq!(identity.end(), Ok(false));
        assert!(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn what_it_started_ends_too_when_it_has_ended_itself() {
        // One child in the group, and one that has left it.
        let script = "sleep 600 >/dev/null & echo $!; setsid sleep 600 >/dev/null & echo $!; exec 1>&-; wait";
        let mut child = Command::new("sh")
            .args(["-c", script])
            .stdout(Stdio::piped())
            .env(MARK, "journal-y")
            .process_group(0)
            .spawn()
            .unwrap();
        let identity = ProcessIdentity::of(child.id(), "journal-y").unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let started: Vec<u32> = lines.map(|line| line.unwrap().parse().unwrap()).collect();
        child.kill().unwrap();
        child.wait().unwrap();
        let run = |pid: &u32| Stat::of(*pid).is_some_and(|stat| !stat.is_zombie);
        assert_eq!(started.iter().filter(|pid| run(pid)).count(), 2);
        assert_eq!(identity.end(), Ok(true));
        assert_eq!(started.iter().filter(|pid| run(pid)).count(), 0);
    }
}
