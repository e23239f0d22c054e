//! The directory of a private server: made, copied, and gone with it.

use std::fs::{self, DirBuilder, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use super::{Programs, psql};
use crate::account::Account;
use crate::error::TargetError;
use crate::journal::Journal;

/// Begins the name of the directory; the id of the Weir that made it follows.
const PREFIX: &str = "weir-postgresql-";

/// Accounts that a root lends to the server, in this order: Debian's own, and one that owns nothing.
const LENT: [&str; 2] = ["postgres", "nobody"];

/// How many this Weir has made.
static MADE: AtomicU32 = AtomicU32::new(0);

/// Weir gets in where only the server's account and root can reach; the application over TCP, as
/// itself only, without a password: it can do no more than use its own tables.
const ACCESS: &str = "local all weir trust\nhost app app 127.0.0.1/32 trust\n";

/// A directory with the data and the socket of one server. It goes with this, or with the journal.
#[derive(Debug)]
pub(super) struct Cluster {
    directory: PathBuf,
    account: Option<Account>,
    /// As long as the directory is there, so is what it is written down in.
    _journal: Journal,
}

impl Cluster {
    /// Makes an empty one, after removing those whose Weir is gone and whose journal is lost.
    pub(super) fn make(journal: &Journal) -> Result<Self, TargetError> {
        let place = std::env::temp_dir();
        remove_left_behind(&place);
        let account = to_lend()?;
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let directory = place.join(format!("{PREFIX}{}-{number}", std::process::id()));
        journal.directory(&directory)?;
        let cluster = Self {
            directory,
            account,
            _journal: journal.clone(),
        };
        let closed = Permissions::from_mode(0o700);
        fs::set_permissions(&cluster.directory, closed)
            .map_err(TargetError::file(&cluster.directory))?;
        cluster.give(&cluster.directory)?;
        Ok(cluster)
    }

    /// The data directory.
    pub(super) fn data(&self) -> PathBuf {
        self.directory.join("data")
    }

    /// The directory of the socket, closed to everyone but the server's account.
    pub(super) fn sockets(&self) -> &Path {
        &self.directory
    }

    /// Makes a process run as the server's account.
    pub(super) fn run_as_its_account(&self, command: &mut Command) {
        if let Some(account) = &self.account {
            command.uid(account.uid).gid(account.gid);
        }
    }

    /// Fills the data directory with an empty database.
    pub(super) fn initialise(&self, programs: &Programs) -> Result<(), TargetError> {
        let mut command = programs.command("initdb");
        self.run_as_its_account(&mut command);
        command.arg("-D").arg(self.data()).args([
            "-U",
            "weir",
            "--encoding=UTF8",
            "--locale=C",
            "--no-sync",
        ]);
        psql::output(command).map(|_| ())
    }

    /// Fills the data directory with what is kept; false when nothing is.
    pub(super) fn copy_from(&self, kept: &Path) -> Result<bool, TargetError> {
        if !kept.is_dir() {
            return Ok(false);
        }
        copy(kept, &self.data(), &|path| self.give(path))?;
        Ok(true)
    }

    /// Keeps a copy of the data directory, on which no server runs.
    pub(super) fn keep(&self, kept: &Path) -> Result<(), TargetError> {
        let parent = kept.parent().expect("it is inside of the cache");
        fs::create_dir_all(parent).map_err(TargetError::file(parent))?;
        // Renaming is the last step, so that what is kept is whole.
        let work = tempfile::Builder::new()
            .prefix(".posts-")
            .tempdir_in(parent)
            .map_err(TargetError::file(parent))?;
        let whole = work.path().join("data");
        copy(&self.data(), &whole, &|_| Ok(()))?;
        match fs::rename(&whole, kept) {
            // Somebody else may have been faster; theirs is as good.
            Err(_) if kept.is_dir() => Ok(()),
            done => done.map_err(TargetError::file(kept)),
        }
    }

    /// Writes who may connect, whatever the copied directory said.
    pub(super) fn write_access(&self) -> Result<(), TargetError> {
        let path = self.data().join("pg_hba.conf");
        fs::write(&path, ACCESS).map_err(TargetError::file(&path))
    }

    /// Whether the server says that it takes connections: the eighth line of its pid file, which is
    /// what `pg_ctl` waits for too.
    pub(super) fn is_ready(&self) -> bool {
        let text = fs::read_to_string(self.data().join("postmaster.pid"));
        text.is_ok_and(|text| {
            text.lines()
                .nth(7)
                .is_some_and(|line| line.trim() == "ready")
        })
    }

    fn give(&self, path: &Path) -> Result<(), TargetError> {
        match &self.account {
            Some(account) => {
                chown(path, Some(account.uid), Some(account.gid)).map_err(TargetError::file(path))
            }
            None => Ok(()),
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // What cannot be removed now stands in the journal.
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// Copies a directory with everything in it; `made` is called with whatever was made. PostgreSQL
/// wants its directories closed to others. Links do not occur in a private server's directory.
fn copy(
    from: &Path,
    to: &Path,
    made: &dyn Fn(&Path) -> Result<(), TargetError>,
) -> Result<(), TargetError> {
    DirBuilder::new()
        .mode(0o700)
        .create(to)
        .map_err(TargetError::file(to))?;
    made(to)?;
    for entry in fs::read_dir(from).map_err(TargetError::file(from))? {
        let entry = entry.map_err(TargetError::file(from))?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if entry
            .file_type()
            .map_err(TargetError::file(&source))?
            .is_dir()
        {
            copy(&source, &target, made)?;
        } else {
            fs::copy(&source, &target).map_err(TargetError::file(&source))?;
            fs::set_permissions(&target, Permissions::from_mode(0o600))
                .map_err(TargetError::file(&target))?;
            made(&target)?;
        }
    }
    Ok(())
}

/// Removes the directories of Weirs that were killed: nothing else would, and they are large.
fn remove_left_behind(place: &Path) {
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(pid) = name.to_str().and_then(maker) else {
            continue;
        };
        // A process that may not be looked into is there all the same.
        let is_gone = fs::metadata(format!("/proc/{pid}"))
            .is_err_and(|error| error.kind() == ErrorKind::NotFound);
        if is_gone && !has_server(&entry.path()) {
            // Of another user it stays.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// The id of the Weir that made a directory of this name.
fn maker(name: &str) -> Option<u32> {
    name.strip_prefix(PREFIX)?.split('-').next()?.parse().ok()
}

/// Whether the server in a directory still runs: it may be on its way out.
fn has_server(directory: &Path) -> bool {
    let pid_file = fs::read_to_string(directory.join("data/postmaster.pid"));
    let pid = pid_file
        .ok()
        .and_then(|text| text.lines().next()?.parse::<u32>().ok());
    pid.is_some_and(|pid| Path::new(&format!("/proc/{pid}")).exists())
}

/// The account to change to; `None` stays who one is. PostgreSQL does not run as root.
fn to_lend() -> Result<Option<Account>, TargetError> {
    if !rustix::process::geteuid().is_root() {
        return Ok(None);
    }
    let account = Account::first_of(&LENT)?;
    account.map(Some).ok_or_else(|| TargetError::Postgresql {
        doing: "find an account for it, as it does not run as root".to_owned(),
        says: format!("there is no user {}", LENT.join(" or ")),
    })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_weir_left_is_removed_and_nothing_else() {
        let place = tempfile::tempdir().unwrap();
        // Ids end below 2^22 (proc(5), pid_max).
        let gone = place.path().join(format!("{PREFIX}4194305-a"));
        let running = place
            .path()
            .join(format!("{PREFIX}{}-b", std::process::id()));
        let with_server = place.path().join(format!("{PREFIX}4194305-c"));
        let other = place.path().join("weir-postgresql");
        for directory in [&gone, &running, &with_server, &other] {
            fs::create_dir_all(directory.join("data")).unwrap();
        }
        let pid_file = with_server.join("data/postmaster.pid");
        fs::write(pid_file, format!("{}\n", std::process::id())).unwrap();
        remove_left_behind(place.path());
        assert!(!gone.exists());
        assert!(running.exists() && with_server.exists() && other.exists());
    }

    #[test]
    fn a_copy_is_closed_to_others() {
        let place = tempfile::tempdir().unwrap();
        let from = place.path().join("from");
        fs::create_dir_all(from.join("base/1")).unwrap();
        fs::write(from.join("base/1/2"), "rows").unwrap();
        let to = place.path().join("to");
        copy(&from, &to, &|_| Ok(())).unwrap();
        assert_eq!(fs::read_to_string(to.join("base/1/2")).unwrap(), "rows");
        for (path, mode) in [("base/1", 0o700), ("base/1/2", 0o600)] {
            let permissions = fs::metadata(to.join(path)).unwrap().permissions();
            assert_eq!(permissions.mode() & 0o777, mode, "{path}");
        }
    }
}
