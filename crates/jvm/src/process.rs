//! Whether a process is a virtual machine, and under which number and in which place it knows itself.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::PathBuf;

use crate::error::JvmError;

/// A process that runs a Java virtual machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vm {
    pid: u32,
    /// Its id in its own namespace: the one in the names of its files.
    own_pid: u32,
    kind: Kind,
    /// Whether it takes SIGQUIT; another process would die of it.
    takes_quit: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    HotSpot,
    OpenJ9,
}

impl Vm {
    /// The virtual machine in a process; `None` when the process runs something else.
    pub fn of(pid: u32) -> Result<Option<Self>, JvmError> {
        let unseen = |source| JvmError::Process { pid, source };
        let maps = File::open(format!("/proc/{pid}/maps")).map_err(unseen)?;
        let Some(kind) = kind(BufReader::new(maps)).map_err(unseen)? else {
            return Ok(None);
        };
        let status = fs::read_to_string(format!("/proc/{pid}/status")).map_err(unseen)?;
        Ok(Some(Self {
            pid,
            own_pid: own_pid(&status).unwrap_or(pid),
            kind,
            takes_quit: takes_quit(&status),
        }))
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    pub(crate) fn own_pid(&self) -> u32 {
        self.own_pid
    }

    /// The folder in which it keeps what others may find, as seen from here.
    pub(crate) fn temporary_folder(&self) -> PathBuf {
        PathBuf::from(format!("/proc/{}/root/tmp", self.pid))
    }

    /// Whether it can be asked to listen, with the reason why not.
    pub fn listens(&self) -> Result<(), JvmError> {
        let not = |why| Err(JvmError::NotSpokenTo { pid: self.pid, why });
        match self.kind {
            Kind::OpenJ9 => not(
                "it is an OpenJ9 virtual machine, which has an attach protocol of its own; start it with a Jolokia agent",
            ),
            // While it starts, it does not take the signal yet, and with -Xrs never.
            Kind::HotSpot if !self.takes_quit => {
                not("the virtual machine is still starting, or was started with -Xrs")
            }
            Kind::HotSpot => Ok(()),
        }
    }
}

/// The virtual machine among the mapped files.
fn kind(maps: impl BufRead) -> std::io::Result<Option<Kind>> {
    let mut kind = None;
    for line in maps.lines() {
        let line = line?;
        let file = line.rsplit('/').next().unwrap_or_default();
        if file.starts_with("libj9vm") {
            return Ok(Some(Kind::OpenJ9));
        }
        if file == "libjvm.so" {
            kind = Some(Kind::HotSpot);
        }
    }
    Ok(kind)
}

fn field<'s>(status: &'s str, name: &str) -> Option<&'s str> {
    let mut lines = status.lines();
    lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
}

/// The last of the ids, one for each namespace from the outermost.
fn own_pid(status: &str) -> Option<u32> {
    field(status, "NSpid")?
        .split_whitespace()
        .last()?
        .parse()
        .ok()
}

/// Whether the mask of caught signals has SIGQUIT, which is number 3, in bit 2.
fn takes_quit(status: &str) -> bool {
    field(status, "SigCgt")
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask & 0b100 != 0)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn virtual_machines_are_known_by_their_libraries() {
        let line = |file: &str| format!("7f00-7f01 r-xp 00000000 fe:00 17 {file}\n");
        let heap = "c0000000-d0000000 rw-p 00000000 00:00 0 \n";
        let hotspot = line("/usr/lib/jvm/java-17/lib/server/libjvm.so");
        let j9 = line("/opt/java/lib/default/libj9vm29.so");
        for (maps, expected) in [
            (format!("{heap}{hotspot}"), Some(Kind::HotSpot)),
            (format!("{hotspot}{heap}{j9}"), Some(Kind::OpenJ9)),
            (format!("{heap}{}", line("/usr/bin/python3")), None),
            (line("/tmp/notlibjvm.so"), None),
            (String::new(), None),
        ] {
            assert_eq!(kind(maps.as_bytes()).unwrap(), expected, "{maps}");
        }
    }

    #[test]
    fn the_own_id_is_that_of_the_innermost_namespace() {
        assert_eq!(own_pid("Name:\tjava\nNSpid:\t4711\t17\t1\n"), Some(1));
        assert_eq!(own_pid("NSpid:\t4711\n"), Some(4711));
        assert_eq!(own_pid("Name:\tjava\n"), None, "a kernel before 4.1");
    }

    #[test]
    fn whoever_does_not_take_the_signal_would_die_of_it() {
        assert!(takes_quit("SigIgn:\t0\nSigCgt:\t2000000181005ccf\n"));
        assert!(!takes_quit("SigCgt:\t0000000000014002\n"));
        assert!(!takes_quit("SigCgt:\tx\n"));
        assert!(!takes_quit(""));
    }

    #[test]
    fn this_process_is_no_virtual_machine() {
        assert_eq!(Vm::of(std::process::id()).unwrap(), None);
        let error = Vm::of(u32::MAX).unwrap_err();
        assert_eq!(error.to_string(), "look at process 4294967295");
    }
}
