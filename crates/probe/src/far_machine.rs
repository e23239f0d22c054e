//! Another machine over ssh: what it is, which process listens on a port of it, and whether that
//! runs.
//!
//! Everything is read as the user that ssh logs in as. `/proc/PID/stat` and the tables of sockets
//! are there for everybody; whose socket is whose (`/proc/PID/fd`) only the process's own user and
//! root see.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use weir_metric::CpuSet;
use weir_ssh::{Batch, Connection, Pending, SshError};

use crate::kernel_text::lines;
use crate::listeners::{listener, socket};
use crate::machine::{self, MachineFacts, facts_of};
use crate::target::process::ProcessUnits;

/// Tells one start of one kernel from all others.
const BOOT: &str = "/proc/sys/kernel/random/boot_id";
/// How often it is looked whether a process runs.
const LOOK: Duration = Duration::from_secs(2);

/// A machine that can be read over ssh.
#[derive(Debug, Clone)]
pub struct FarMachine {
    connection: Connection,
    units: ProcessUnits,
    cpus: CpuSet,
    is_this_one: bool,
}

impl FarMachine {
    /// Looks at what is at the other end.
    ///
    /// # Errors
    /// The connection has ended; or the machine has no `/proc` as Linux has it.
    pub fn reach(connection: Connection) -> Result<Self, SshError> {
        let unfit = |says: &str| SshError::Unfit {
            host: connection.host().name().to_owned(),
            says: says.to_owned(),
        };
        let units = connection.run("getconf CLK_TCK && getconf PAGESIZE")?;
        let text = units.text().into_owned();
        let mut numbers = text.lines().map(|line| line.trim().parse::<u32>().ok());
        let (Some(Some(ticks_per_s)), Some(Some(page_bytes))) = (numbers.next(), numbers.next())
        else {
            return Err(unfit(
                "`getconf CLK_TCK` and `getconf PAGESIZE` tell no numbers there",
            ));
        };
        let mut batch = Batch::new();
        batch.file(BOOT);
        batch.file(machine::ONLINE);
        batch.file("/proc/stat");
        let read = connection.read(&batch)?;
        let text = |path: &str| read.file(path).map(|text| String::from_utf8_lossy(text));
        let cpus = text(machine::ONLINE).and_then(|list| machine::cpus_in(&list).ok());
        let (Some(cpus), Some(_)) = (cpus, text("/proc/stat")) else {
            return Err(unfit("there is no /proc or /sys as Linux has them"));
        };
        let here = std::fs::read(BOOT).ok();
        let is_this_one = here.is_some() && here.as_deref() == read.file(BOOT);
        Ok(Self {
            units: ProcessUnits {
                ticks_per_s: f64::from(ticks_per_s),
                page_bytes: u64::from(page_bytes),
            },
            cpus,
            is_this_one,
            connection,
        })
    }

    /// The connection to it.
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Whether it is this machine after all (a container, a network namespace, `localhost`): then
    /// its CPUs are those of the load generator.
    pub fn is_this_one(&self) -> bool {
        self.is_this_one
    }

    /// Its CPUs that are online.
    pub fn cpus(&self) -> &CpuSet {
        &self.cpus
    }

    /// The CPUs that a process may use; `None` when there is no such process.
    ///
    /// # Errors
    /// The connection has ended.
    pub fn cpus_of(&self, pid: u32) -> Result<Option<CpuSet>, SshError> {
        let path = format!("/proc/{pid}/status");
        let status = self.connection.file(&path)?.unwrap_or_default();
        let allowed = lines(&status).find_map(|line| line.strip_prefix(b"Cpus_allowed_list:"));
        let allowed = allowed.and_then(|list| std::str::from_utf8(list).ok());
        let allowed: Option<CpuSet> = allowed.and_then(|list| list.trim().parse().ok());
        // The mask also has CPUs that are not there.
        Ok(allowed
            .and_then(|allowed| CpuSet::new(allowed.iter().filter(|&cpu| self.cpus.contains(cpu)))))
    }

    /// The processes that listen on a port, lowest id first: of a server with children, its parent.
    /// Empty also when it is another user's.
    ///
    /// # Errors
    /// The connection has ended.
    pub fn processes_listening(&self, port: u16) -> Result<Vec<u32>, SshError> {
        let inodes = self.sockets_listening(port)?;
        if inodes.is_empty() {
            return Ok(Vec::new());
        }
        let wanted: Vec<String> = inodes.iter().map(u64::to_string).collect();
        let links = format!("/socket:\\[({})\\]$/ || /^\\/proc\\//", wanted.join("|"));
        let script = format!(
            "ls -l /proc/[0-9]*/fd | if command -v awk >/dev/null; then awk '{links}'; else cat; fi"
        );
        let listing = self.connection.run(&script)?;
        Ok(holders(&listing.text(), &inodes))
    }

    /// Whether anybody listens on a port, also when it is not shown who.
    ///
    /// # Errors
    /// The connection has ended.
    pub fn is_listening(&self, port: u16) -> Result<bool, SshError> {
        Ok(!self.sockets_listening(port)?.is_empty())
    }

    /// The ports on which a process listens, in order; empty also when it is another user's.
    ///
    /// # Errors
    /// The connection has ended.
    pub fn listening_ports(&self, pid: u32) -> Result<Vec<u16>, SshError> {
        let mut batch = Batch::new();
        let tables = ["tcp", "tcp6"].map(|table| format!("/proc/{pid}/net/{table}"));
        for table in &tables {
            batch.file(table.as_str());
        }
        let read = self.connection.read(&batch)?;
        let listing = self.connection.run(&format!("ls -l /proc/{pid}/fd"))?;
        let listing = listing.text();
        let held: HashSet<u64> = listing.lines().filter_map(linked_socket).collect();
        let mut ports: Vec<u16> = tables
            .iter()
            .filter_map(|table| read.file(table))
            .flat_map(|table| lines(table).filter_map(listener).collect::<Vec<_>>())
            .filter(|(_, inode)| held.contains(inode))
            .map(|(port, _)| port)
            .collect();
        ports.sort_unstable();
        ports.dedup();
        Ok(ports)
    }

    /// What the machine is.
    ///
    /// # Errors
    /// The connection has ended.
    pub fn facts(&self) -> Result<MachineFacts, SshError> {
        let mut batch = Batch::new();
        for file in machine::FILES {
            batch.file(file);
        }
        let read = self.connection.read(&batch)?;
        Ok(facts_of(|path| read.file(path).map(<[u8]>::to_vec), None))
    }

    pub(crate) fn units(&self) -> ProcessUnits {
        self.units
    }

    fn sockets_listening(&self, port: u16) -> Result<HashSet<u64>, SshError> {
        let mut batch = Batch::new();
        let tables = ["/proc/net/tcp", "/proc/net/tcp6"];
        let column = format!(":{port:04X}$");
        for table in tables {
            batch.lines(table, column.as_str());
        }
        let read = self.connection.read(&batch)?;
        let listeners = tables.iter().filter_map(|table| read.file(table));
        let listeners =
            listeners.flat_map(|table| lines(table).filter_map(listener).collect::<Vec<_>>());
        Ok(listeners
            .filter(|(found, _)| *found == port)
            .map(|(_, inode)| inode)
            .collect())
    }
}

/// The processes of a listing of `/proc/*/fd` that have one of these sockets open.
fn holders(listing: &str, inodes: &HashSet<u64>) -> Vec<u32> {
    let mut current: Option<u32> = None;
    let mut pids = Vec::new();
    for line in listing.lines() {
        let folder = line
            .strip_prefix("/proc/")
            .and_then(|rest| rest.strip_suffix("/fd:"));
        if let Some(pid) = folder {
            current = pid.parse().ok();
        } else if linked_socket(line).is_some_and(|inode| inodes.contains(&inode)) {
            pids.extend(current);
        }
    }
    pids.sort_unstable();
    pids.dedup();
    pids
}

/// The socket that a line of `ls -l` leads to.
fn linked_socket(line: &str) -> Option<u64> {
    line.rsplit_once(" -> ")
        .and_then(|(_, target)| socket(target))
}

/// A process of another machine, asked now and then whether it still runs, without waiting.
#[derive(Debug)]
pub struct FarProcess {
    connection: Connection,
    pid: u32,
    asked: Option<(Pending, Instant)>,
    last: Option<Instant>,
    is_gone: bool,
}

impl FarProcess {
    /// A process that runs.
    pub fn new(machine: &FarMachine, pid: u32) -> Self {
        Self {
            connection: machine.connection.clone(),
            pid,
            asked: None,
            last: None,
            is_gone: false,
        }
    }

    /// Its id.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Whether it ran when it was last looked, which is every two seconds at most. A connection
    /// that has ended says nothing of the process.
    pub fn runs(&mut self) -> bool {
        let now = Instant::now();
        if let Some((pending, asked)) = self.asked.take() {
            match pending.answer(now) {
                Ok(output) => self.is_gone |= output.text().trim() == "gone",
                Err(SshError::Late { .. }) => self.asked = Some((pending, asked)),
                Err(_) => {}
            }
        }
        let is_due = self
            .last
            .is_none_or(|last| now.duration_since(last) >= LOOK);
        if self.asked.is_none() && is_due && !self.is_gone {
            self.last = Some(now);
            let script = format!("[ -d /proc/{} ] || echo gone", self.pid);
            let pending = self.connection.ask(&script).ok();
            self.asked = pending.map(|pending| (pending, now));
        }
        !self.is_gone
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_holds_a_socket_stands_above_it() {
        let listing = "/proc/1/fd:\nlrwx------ 1 root root 64 Nov 21 12:00 3 -> socket:[11]\n\n\
            /proc/20/fd:\ntotal 0\nlrwx------ 1 weir weir 64 Nov 21 12:00 4 -> socket:[12]\n\
            lrwx------ 1 weir weir 64 Nov 21 12:00 5 -> /tmp/a -> b\n\n\
            /proc/7/fd:\nlrwx------ 1 weir weir 64 Nov 21 12:00 9 -> socket:[12]\n";
        assert_eq!(holders(listing, &HashSet::from([12])), [7, 20]);
        assert_eq!(holders(listing, &HashSet::from([13])), [0; 0]);
        assert_eq!(holders("", &HashSet::from([12])), [0; 0]);
    }
}
