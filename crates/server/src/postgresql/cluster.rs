//! The directory of a private server: made, copied, and gone with it.

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{PermissionsExt as _, lchown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::{Advice, fadvise};
use weir_files::{Folder, Rights};

use super::{Programs, psql};
use crate::account::Account;
use crate::error::TargetError;
use crate::journal::Journal;

/// Begins the name of the directory; the id of the Weir that made it follows.
pub(super) const PREFIX: &str = "weir-postgresql-";

/// Accounts that a root lends to the server, in this order: Debian's own, and one that owns
/// nothing.
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
        self.directory.join(DATA)
    }

    /// The directory of the socket, closed to everyone but the server's account.
    pub(super) fn sockets(&self) -> &Path {
        &self.directory
    }

    /// The directory's own name, which no other has.
    pub(super) fn name(&self) -> String {
        let name = self.directory.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    /// Has the kernel forget what it keeps of the data in memory.
    pub(super) fn leave_on_disk(&self) -> Result<(), TargetError> {
        let data = self.data();
        real(&data)
            .and_then(|data| leave_on_disk(&Folder::open(&data)?))
            .map_err(TargetError::file(&data))
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
        // Whoever the server runs as may change what is theirs at any moment: it is theirs when it
        // is whole, and until then it lies where nobody else gets in.
        let beside = self.directory.parent().unwrap_or(Path::new("/"));
        let work = tempfile::Builder::new()
            .prefix(&format!("{PREFIX}{}-", std::process::id()))
            .tempdir_in(beside)
            .map_err(TargetError::file(beside))?;
        copy(kept, work.path(), DATA)?;
        self.give_tree(&work.path().join(DATA))?;
        let moved = real(work.path()).and_then(|from| {
            let from = Folder::open(&from)?;
            let to = Folder::open(&real(&self.directory)?)?;
            from.rename_into(OsStr::new(DATA), &to, OsStr::new(DATA))
        });
        moved.map_err(TargetError::file(&self.data()))?;
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
        let whole = work.path().join(DATA);
        copy(&self.data(), work.path(), DATA)?;
        match fs::rename(&whole, kept) {
            // Somebody else may have been faster; theirs is as good.
            Err(_) if kept.is_dir() => Ok(()),
            done => done.map_err(TargetError::file(kept)),
        }
    }

    /// Writes who may connect, whatever the copied directory said.
    pub(super) fn write_access(&self) -> Result<(), TargetError> {
        let path = self.data().join("pg_hba.conf");
        let rights = self.account.as_ref().map(|account| Rights {
            uid: account.uid,
            gid: account.gid,
            mode: 0o600,
        });
        // The folder is the server's, which may not say where root writes.
        let written = real(&self.directory)
            .and_then(|directory| Folder::open(&directory.join(DATA)))
            .and_then(|data| data.replace(OsStr::new("pg_hba.conf"), ACCESS.as_bytes(), rights));
        written.map_err(TargetError::file(&path))
    }

    /// Whether the server says that it takes connections: the eighth line of its pid file, which is
    /// what `pg_ctl` waits for too.
    pub(super) fn is_ready(&self) -> bool {
        let text = weir_files::read_text(&self.data().join("postmaster.pid"));
        text.is_ok_and(|text| {
            text.lines()
                .nth(7)
                .is_some_and(|line| line.trim() == "ready")
        })
    }

    fn give(&self, path: &Path) -> Result<(), TargetError> {
        match &self.account {
            Some(account) => {
                lchown(path, Some(account.uid), Some(account.gid)).map_err(TargetError::file(path))
            }
            None => Ok(()),
        }
    }

    /// As `give`, of a folder with everything in it, the folder itself last.
    fn give_tree(&self, folder: &Path) -> Result<(), TargetError> {
        for entry in fs::read_dir(folder).map_err(TargetError::file(folder))? {
            let entry = entry.map_err(TargetError::file(folder))?;
            let path = entry.path();
            let kind = entry.file_type().map_err(TargetError::file(&path))?;
            if kind.is_dir() {
                self.give_tree(&path)?;
            } else {
                self.give(&path)?;
            }
        }
        self.give(folder)
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // What cannot be removed now stands in the journal.
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// The folder in which the data lie.
const DATA: &str = "data";

fn real(path: &Path) -> io::Result<PathBuf> {
    weir_files::real_path(path)
}

/// Copies a directory with everything in it, into one where nobody else writes. PostgreSQL wants
/// its directories closed to others. Links do not occur in a private server's directory: the
/// account that the server runs as may have put one there, and it is refused.
fn copy(from: &Path, to: &Path, name: &str) -> Result<(), TargetError> {
    let copied = Folder::open(&real(from).map_err(TargetError::file(from))?)
        .and_then(|from| Ok((from, Folder::open(&real(to)?)?)))
        .and_then(|(from, to)| copy_folder(&from, &to.make_folder(OsStr::new(name), 0o700)?));
    copied.map_err(TargetError::file(from))
}

fn copy_folder(from: &Folder, to: &Folder) -> io::Result<()> {
    for name in from.names()? {
        if from.is_folder(&name)? {
            copy_folder(&from.folder(&name)?, &to.make_folder(&name, 0o700)?)?;
        } else if let Some(mut file) = from.file(&name)? {
            io::copy(&mut file, &mut to.create_open(&name)?)?;
        }
    }
    Ok(())
}

/// What was not written yet cannot be forgotten.
fn leave_on_disk(folder: &Folder) -> io::Result<()> {
    for name in folder.names()? {
        if folder.is_folder(&name)? {
            leave_on_disk(&folder.folder(&name)?)?;
        } else if let Some(file) = folder.file(&name)? {
            file.sync_data()?;
            fadvise(&file, 0, None, Advice::DontNeed)?;
        }
    }
    Ok(())
}

/// Removes the directories of Weirs that were killed: nothing else would, and they are large.
fn remove_left_behind(place: &Path) {
    for left in left_behind(place).filter(|left| !has_server(left)) {
        // Of another user it stays.
        let _ = fs::remove_dir_all(left);
    }
}

/// What Weirs that are gone have made in a place.
pub(super) fn left_behind(place: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(place).into_iter().flatten().flatten();
    entries.filter_map(|entry| {
        let pid = entry.file_name().to_str().and_then(maker)?;
        // A process that may not be looked into is there all the same.
        let is_gone = fs::metadata(format!("/proc/{pid}"))
            .is_err_and(|error| error.kind() == ErrorKind::NotFound);
        is_gone.then(|| entry.path())
    })
}

/// The id of the Weir that made a directory of this name.
fn maker(name: &str) -> Option<u32> {
    name.strip_prefix(PREFIX)?.split('-').next()?.parse().ok()
}

/// Whether the server in a directory still runs: it may be on its way out.
fn has_server(directory: &Path) -> bool {
    let pid_file = weir_files::read_text(&directory.join("data/postmaster.pid"));
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
    fn a_link_in_a_servers_directory_is_not_copied() {
        let place = tempfile::tempdir().unwrap();
        let from = place.path().join("from");
        fs::create_dir_all(&from).unwrap();
        fs::write(place.path().join("closed"), "root's own").unwrap();
        std::os::unix::fs::symlink("../closed", from.join("2")).unwrap();
        assert!(copy(&from, place.path(), "to").is_err());
        assert!(!place.path().join("to/2").exists());
    }

    #[test]
    fn a_copy_is_closed_to_others() {
        let place = tempfile::tempdir().unwrap();
        let from = place.path().join("from");
        fs::create_dir_all(from.join("base/1")).unwrap();
        fs::write(from.join("base/1/2"), "rows").unwrap();
        let to = place.path().join("to");
        copy(&from, place.path(), "to").unwrap();
        assert_eq!(fs::read_to_string(to.join("base/1/2")).unwrap(), "rows");
        for (path, mode) in [("base/1", 0o700), ("base/1/2", 0o600)] {
            let permissions = fs::metadata(to.join(path)).unwrap().permissions();
            assert_eq!(permissions.mode() & 0o777, mode, "{path}");
        }
    }
}
