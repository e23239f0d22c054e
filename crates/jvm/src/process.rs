//! Whether a process is a virtual machine, and under which number and in which place it knows
//! itself.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};

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
    /// When it was started, in the kernel's ticks: another process may get its id.
    start: u64,
    owner: Owner,
}

/// The effective user and group of a process: whom its files belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Owner {
    pub(crate) user: u32,
    pub(crate) group: u32,
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
        match kind(BufReader::new(maps)).map_err(unseen)? {
            Some(kind) => Self::of_kind(pid, kind).map(Some),
            None => Ok(None),
        }
    }

    /// A process taken for a virtual machine.
    #[cfg(test)]
    pub(crate) fn hotspot(pid: u32) -> Result<Self, JvmError> {
        Self::of_kind(pid, Kind::HotSpot)
    }

    fn of_kind(pid: u32, kind: Kind) -> Result<Self, JvmError> {
        let unseen = |source| JvmError::Process { pid, source };
        let start = start_of(pid).map_err(unseen)?;
        let status = fs::read_to_string(format!("/proc/{pid}/status")).map_err(unseen)?;
        let owner =
            owner(&status).ok_or_else(|| unseen(io::Error::other("its status names no user")))?;
        Ok(Self {
            pid,
            own_pid: own_pid(&status).unwrap_or(pid),
            kind,
            takes_quit: takes_quit(&status),
            start,
            owner,
        })
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    pub(crate) fn own_pid(&self) -> u32 {
        self.own_pid
    }

    /// Whom it runs as.
    pub(crate) fn owner(&self) -> Owner {
        self.owner
    }

    /// Its process and when that was started: no other one has both.
    pub(crate) fn identity(&self) -> (u32, u64) {
        (self.pid, self.start)
    }

    /// Sends it SIGQUIT, and nobody else: a process that has got its id since, or that runs another
    /// program by now, would die of it.
    pub(crate) fn quit(&self) -> Result<(), JvmError> {
        let failed = |source: io::Error| JvmError::Process {
            pid: self.pid,
            source,
        };
        let id = i32::try_from(self.pid).ok().and_then(Pid::from_raw);
        let id = id.ok_or_else(|| failed(io::ErrorKind::InvalidInput.into()))?;
        // Held from here on, whatever becomes of the id. Kernels before 5.3 have no such thing.
        let held = match pidfd_open(id, PidfdFlags::empty()) {
            Ok(held) => Some(held),
            Err(Errno::NOSYS) => None,
            Err(error) => return Err(failed(error.into())),
        };
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid)).map_err(failed)?;
        if start_of(self.pid).map_err(failed)? != self.start || !takes_quit(&status) {
            return Err(JvmError::NotSpokenTo {
                pid: self.pid,
                why: "it is no longer the virtual machine that was found",
            });
        }
        let sent = match held {
            Some(held) => pidfd_send_signal(held, Signal::QUIT),
            None => kill_process(id, Signal::QUIT),
        };
        sent.map_err(|error| failed(error.into()))
    }

    /// Whether an agent inside can be asked from here, with the reason why not: one that Weir loads
    /// listens on the loopback of the virtual machine's own network.
    pub fn is_reached(&self) -> Result<(), JvmError> {
        let network = |of: &str| fs::read_link(format!("/proc/{of}/ns/net")).ok();
        let theirs = network(&self.pid.to_string());
        if theirs.is_none() || theirs == network("self") {
            return Ok(());
        }
        Err(JvmError::NotSpokenTo {
            pid: self.pid,
            why: "it has a network of its own, as in a container, and an agent that Weir loads listens on the loopback there; \
                  run Weir in that network (`nsenter --net --target PID`), or name a page of metrics of the server",
        })
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

/// When a process was started: the 22nd field of its `stat`, of which the second may hold anything.
fn start_of(pid: u32) -> io::Result<u64> {
    let stat = fs::read(format!("/proc/{pid}/stat"))?;
    let stat = String::from_utf8_lossy(&stat);
    let start = stat
        .rsplit_once(')')
        .and_then(|(_, rest)| rest.split_whitespace().nth(19)?.parse().ok());
    start.ok_or_else(|| io::Error::other("its stat has no start"))
}

/// The second of the ids of users and groups, the effective ones.
fn owner(status: &str) -> Option<Owner> {
    let effective = |name| field(status, name)?.split_whitespace().nth(1)?.parse().ok();
    Some(Owner {
        user: effective("Uid")?,
        group: effective("Gid")?,
    })
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
    fn files_belong_to_the_effective_user() {
        let status = "Uid:\t0\t48\t0\t48\nGid:\t0\t49\t0\t49\n";
        let expected = Owner {
            user: 48,
            group: 49,
        };
        assert_eq!(owner(status), Some(expected));
        assert_eq!(owner("Uid:\t0\n"), None);
    }

    /// A child that takes SIGQUIT by ending, as found when something else had its id.
    #[test]
    fn a_process_that_has_got_the_id_since_is_sent_no_signal() {
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .unwrap();
        let pid = child.id();
        let vm = Vm {
            takes_quit: true,
            ..Vm::hotspot(pid).unwrap()
        };
        let earlier = Vm {
            start: vm.start - 1,
            ..vm.clone()
        };
        // One with its id that was started earlier; and itself, which took the signal when it was
        // found.
        for vm in [&earlier, &vm] {
            let error = vm.quit().unwrap_err().to_string();
            assert!(error.contains("no longer the virtual machine"), "{error}");
        }
        assert!(child.try_wait().unwrap().is_none(), "it lives");
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(vm.quit().is_err(), "it is gone");
    }

    #[test]
    fn this_process_is_no_virtual_machine() {
        assert_eq!(Vm::of(std::process::id()).unwrap(), None);
        let error = Vm::of(u32::MAX).unwrap_err();
        assert_eq!(error.to_string(), "look at process 4294967295");
    }
}
