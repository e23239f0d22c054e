//! Who of this machine changes a setting: one Weir at a time, whoever has started it.
//!
//! A second one would take what the first has set for what was found, and put that back. A claim is
//! a listening socket in the abstract name space (see unix(7)): it needs no file that others could
//! plant or delete, the kernel takes it away with its process however that ends, and tells a second
//! Weir the process and the user of the first. It holds within a network namespace of one machine.

use std::collections::BTreeSet;
use std::io;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::sockopt::socket_peercred;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};

use super::files::digest;

/// A setting that nobody else changes until this is dropped.
#[derive(Debug)]
pub(super) struct Claim {
    what: String,
    _socket: UnixListener,
}

/// Who has claimed a setting before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Holder {
    pub(super) pid: i32,
    pub(super) uid: u32,
}

impl Holder {
    fn is_own(self) -> bool {
        u32::try_from(self.pid) == Ok(std::process::id())
    }
}

/// What this process has claimed.
fn held() -> MutexGuard<'static, BTreeSet<String>> {
    static HELD: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Claim {
    fn drop(&mut self) {
        held().remove(&self.what);
    }
}

impl Claim {
    /// Claims what has this name; who has it, where somebody has.
    pub(super) fn new(what: &str) -> io::Result<Result<Self, Holder>> {
        let name = format!("weir-claim-{}", digest(what.as_bytes()));
        let address = SocketAddr::from_abstract_name(&name)?;
        loop {
            match UnixListener::bind_addr(&address) {
                Ok(socket) => {
                    held().insert(what.to_owned());
                    return Ok(Ok(Self {
                        what: what.to_owned(),
                        _socket: socket,
                    }));
                }
                Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
                Err(error) => return Err(error),
            }
            // It has ended in between where nobody is there: the name is free.
            let Some(holder) = holder(&name)? else {
                continue;
            };
            if holder.is_own() && !held().contains(what) {
                // A program that this process starts has the socket of a claim that has ended, too,
                // until it has begun.
                std::thread::sleep(Duration::from_millis(1));
                continue;
            }
            return Ok(Err(holder));
        }
    }

    pub(super) fn is_of(&self, what: &str) -> bool {
        self.what == what
    }
}

/// Who listens at this name, in the kernel's word; nobody where it refuses the connection. Never
/// waits: nobody accepts, and a queue that is full is an error.
fn holder(name: &str) -> io::Result<Option<Holder>> {
    let address = SocketAddrUnix::new_abstract_name(name.as_bytes())?;
    let stream = socket_with(
        AddressFamily::UNIX,
        SocketType::STREAM,
        SocketFlags::CLOEXEC | SocketFlags::NONBLOCK,
        None,
    )?;
    match connect(&stream, &address) {
        Ok(()) => {}
        Err(Errno::CONNREFUSED) => return Ok(None),
        Err(error) => return Err(error.into()),
    }
    let credentials = socket_peercred(&stream)?;
    Ok(Some(Holder {
        pid: credentials.pid.as_raw_pid(),
        uid: credentials.uid.as_raw(),
    }))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    #[test]
    fn one_has_a_setting_until_it_is_dropped_and_is_named_to_others() {
        let what = format!("threads of the test {}", std::process::id());
        let claim = Claim::new(&what).unwrap().unwrap();
        assert!(claim.is_of(&what));
        let holder = Claim::new(&what).unwrap().unwrap_err();
        for _ in 0..300 {
            assert!(
                !matches!(Claim::new(&what), Ok(Ok(_))),
                "{what} is claimed twice"
            );
        }
        assert_eq!(holder.pid, i32::try_from(std::process::id()).unwrap());
        assert_eq!(holder.uid, rustix::process::getuid().as_raw());
        Claim::new(&format!("{what}, pool")).unwrap().unwrap();
        drop(claim);
        Claim::new(&what).unwrap().unwrap();
    }
}
