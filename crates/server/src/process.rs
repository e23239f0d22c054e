//! What a process was started with.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::machine::Machine;

/// Longest command line that is shown.
const SHORT: usize = 80;

/// What a process was started with.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProcessFacts {
    /// Its id.
    pub pid: u32,
    /// The program that it runs.
    pub program: PathBuf,
    /// Its command line.
    pub words: Vec<String>,
    /// Its working directory.
    pub directory: PathBuf,
    /// Its environment.
    pub environment: BTreeMap<String, String>,
    /// Its user.
    pub user: u32,
    /// The group of its user.
    pub group: u32,
    /// When it was started, to the second; `None`: not known.
    pub started: Option<SystemTime>,
}

impl ProcessFacts {
    /// Reads them; the directory and the environment of other users' processes only root may read.
    ///
    /// # Errors
    /// There is no such process, or it may not be looked at.
    pub fn of(pid: u32, machine: &Machine) -> io::Result<Self> {
        let place = PathBuf::from(format!("/proc/{pid}"));
        let link = |name: &str| machine.link(&place.join(name));
        let words = split_at_zero(&machine.bytes(&place.join("cmdline"))?);
        let environment = machine.bytes(&place.join("environ"))?;
        let environment = split_at_zero(&environment).into_iter().filter_map(|entry| {
            let (name, value) = entry.split_once('=')?;
            Some((name.to_owned(), value.to_owned()))
        });
        let status = machine.bytes(&place.join("status"))?;
        Ok(Self {
            pid,
            program: link("exe").unwrap_or_default(),
            words,
            directory: link("cwd").unwrap_or_default(),
            environment: environment.collect(),
            user: real_id(&status, "Uid:")?,
            group: real_id(&status, "Gid:")?,
            started: started(&place, machine),
        })
    }

    /// The name of its program.
    pub(crate) fn program_name(&self) -> &str {
        let name = self.program.file_name().and_then(|name| name.to_str());
        name.unwrap_or_default().trim_end_matches(" (deleted)")
    }

    /// A path as the process means it.
    pub(crate) fn absolute(&self, path: impl AsRef<Path>) -> PathBuf {
        self.directory.join(path)
    }

    /// Its command line, cut where it gets long.
    pub fn in_short(&self) -> String {
        let line = self.words.join(" ");
        if line.chars().count() <= SHORT {
            return line;
        }
        let cut: String = line.chars().take(SHORT).collect();
        format!("{cut}…")
    }
}

/// What `/proc/PID/stat` says, as `proc_pid_stat(5)` has it.
pub(crate) struct Stat {
    pub(crate) is_zombie: bool,
    pub(crate) group: u32,
    /// When it was started, in ticks since the machine was.
    pub(crate) start: u64,
}

impl Stat {
    /// That of a process of this machine; `None` when there is none.
    pub(crate) fn of(pid: u32) -> Option<Self> {
        Self::parse(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
    }

    /// The name in brackets may hold anything, brackets and blanks too; the numbers come after it.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (_, rest) = text.rsplit_once(')')?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        // The state is field 3, the group 5, the start 22.
        Some(Self {
            is_zombie: matches!(*fields.first()?, "Z" | "X"),
            group: fields.get(2)?.parse().ok()?,
            start: fields.get(19)?.parse().ok()?,
        })
    }
}

/// When a process was started, as `proc_pid_stat(5)` and `proc_stat(5)` have it.
fn started(place: &Path, machine: &Machine) -> Option<SystemTime> {
    let ticks = Stat::parse(&machine.text(&place.join("stat"))?)?.start;
    let all = machine.text(Path::new("/proc/stat"))?;
    let boot = all.lines().find_map(|line| line.strip_prefix("btime "))?;
    let since_boot = ticks / rustix::param::clock_ticks_per_second().max(1);
    let seconds = boot.trim().parse::<u64>().ok()? + since_boot;
    Some(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds))
}

/// The real user or group in `/proc/PID/status`, as `proc_pid_status(5)` has it.
fn real_id(status: &[u8], name: &str) -> io::Result<u32> {
    let status = String::from_utf8_lossy(status);
    let ids = status.lines().find_map(|line| line.strip_prefix(name));
    let real = ids.and_then(|ids| ids.split_whitespace().next()?.parse().ok());
    real.ok_or_else(|| io::Error::other("its status names no user and group"))
}

fn split_at_zero(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes);
    let ended = text.strip_suffix('\0').unwrap_or(&text);
    ended.split('\0').map(str::to_owned).collect()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_read() {
        let facts = ProcessFacts::of(std::process::id(), &Machine::here()).unwrap();
        let words: Vec<String> = std::env::args().collect();
        assert_eq!(facts.words, words);
        assert_eq!(facts.directory, std::env::current_dir().unwrap());
        assert_eq!(facts.program, std::env::current_exe().unwrap());
        assert_eq!(facts.user, rustix::process::geteuid().as_raw());
        assert!(facts.environment.contains_key("PATH"));
        let age = facts.started.unwrap().elapsed().unwrap_or_default();
        assert!(age < Duration::from_secs(600), "{age:?}");
        assert!(!facts.in_short().is_empty());
    }
}
