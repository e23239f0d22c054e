//! What Weir is about to change, written down before it changes it.
//!
//! A [`Journal`] belongs to one running Weir. Before anything of a server is changed, what it was is
//! written there and synced to the disk: a file's bytes, a setting's value, a directory that was not
//! there, a process that is about to exist. [`Journal::put_back`] undoes all of it, last change
//! first, and removes the journal. When Weir is killed before that, [`restore_abandoned`] does the
//! same from another process: the next start of Weir calls it, and `weir target restore`.
//!
//! Who is gone? A journal is locked by its Weir, and the kernel takes the lock away with the
//! process, however it ends. So a second Weir that runs beside it is never disturbed, and of two
//! that restore one waits for nobody and leaves it to the other.
//!
//! Invariants:
//!
//! * The entry is on the disk before the change is made.
//! * Files come back byte for byte, with their permissions. What somebody else has written into one
//!   since is kept beside the journal, and said.
//! * A process is ended only if it is the one that was started: same id, same start, same boot.
//! * A directory is removed only if it was made by the journal, which left a mark in it.
//! * What could not be put back stays in the journal.
//! * Nobody but its user can read a journal: it may hold the password of an agent.

mod entry;
mod files;
mod live;
mod lock;
mod process;
mod replay;

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use entry::{Entry, Header, Owner};
pub(crate) use files::{real_path, replace};
pub use live::LiveSetting;
use lock::Locked;
use process::ProcessIdentity;
pub use replay::{Leftover, Restored, restore_abandoned};

/// Why the journal cannot be written; nothing may be changed then.
#[derive(Debug, thiserror::Error)]
#[error("{doing} {} before the target is changed", path.display())]
pub struct JournalError {
    doing: &'static str,
    path: PathBuf,
    #[source]
    source: io::Error,
}

impl JournalError {
    fn new(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self {
            doing,
            path,
            source,
        }
    }
}

/// What this Weir changes, so that it can be put back. Its copies are one journal.
#[derive(Debug, Clone)]
pub struct Journal {
    inner: Arc<Mutex<Inner>>,
}

#[derive(Debug)]
struct Inner {
    /// Where journals lie.
    state: PathBuf,
    /// Made with the first entry: a Weir that changes nothing leaves nothing.
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    /// The journal's directory: entries and copies of files.
    directory: PathBuf,
    /// The entries. Its lock says that this Weir runs.
    file: Locked,
    entries: Vec<Entry>,
}

/// The entries in a journal's directory.
const ENTRIES: &str = "entries.jsonl";
/// Begins the name of a journal's directory.
const JOURNAL: &str = "journal-";
/// The file that says of a directory which journal it was made for.
const MARK: &str = ".weir-made";

impl Journal {
    /// A journal below Weir's state directory.
    pub fn new(state: impl Into<PathBuf>) -> Self {
        Self {
            inner: Arc::new(Mutex::new(Inner {
                state: state.into(),
                open: None,
            })),
        }
    }

    /// A file is about to be changed, made or removed: keeps its bytes. Of a link, where it leads to.
    ///
    /// # Errors
    /// The file cannot be read or the journal not be written.
    pub fn file(&self, path: &Path) -> Result<(), JournalError> {
        let mut inner = self.lock();
        let open = inner.open()?;
        let path = files::real_path(path).map_err(JournalError::new("find", path))?;
        if open.has_file(&path) {
            return Ok(());
        }
        let entry = files::keep(&path, &open.directory, open.entries.len())?;
        open.add(Entry::File(entry))
    }

    /// Writes a file, kept before by [`file`](Self::file) or here. Its old bytes or the new ones are
    /// there, never a part, and it is known afterwards that these bytes are Weir's.
    ///
    /// # Errors
    /// As [`file`](Self::file); or the file cannot be written.
    pub fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), JournalError> {
        self.file(path)?;
        let path = files::real_path(path).map_err(JournalError::new("find", path))?;
        let wrote = Entry::Wrote {
            path: path.clone(),
            sha256: files::digest(bytes),
        };
        self.lock().open()?.add(wrote)?;
        files::replace(&path, bytes, None).map_err(JournalError::new("write", &path))
    }

    /// Makes a directory that is removed, with all that is in it, when everything is put back.
    ///
    /// # Errors
    /// It is there already, or cannot be made.
    pub fn directory(&self, path: &Path) -> Result<(), JournalError> {
        let mut inner = self.lock();
        let open = inner.open()?;
        let path = std::path::absolute(path).map_err(JournalError::new("find", path))?;
        open.add(Entry::Directory { path: path.clone() })?;
        fs::create_dir(&path).map_err(JournalError::new("make", &path))?;
        let mark = path.join(MARK);
        fs::write(&mark, open.name()).map_err(JournalError::new("write", &mark))
    }

    /// Marks what a command is going to start, in its environment, so that it and all that it starts
    /// is found again even when the first process of it is gone.
    ///
    /// # Errors
    /// The journal cannot be written.
    pub fn mark(&self, command: &mut Command) -> Result<(), JournalError> {
        command.env(process::MARK, self.lock().open()?.mark());
        Ok(())
    }

    /// A process was started, as the first of a process group of its own: it is ended, and so is
    /// what it started, when everything is put back. To be called right after the start; until then
    /// the kernel has to end it when Weir ends (see prctl(2), `PR_SET_PDEATHSIG`).
    ///
    /// # Errors
    /// The journal cannot be written. That the process has ended by now is no error.
    pub fn process(&self, pid: u32) -> Result<(), JournalError> {
        let mut inner = self.lock();
        let open = inner.open()?;
        match ProcessIdentity::of(pid, &open.mark()) {
            Some(process) => open.add(Entry::Process(process)),
            None => Ok(()),
        }
    }

    /// A setting of a running server is about to be changed; this is how it gets its value back.
    ///
    /// # Errors
    /// The journal cannot be written.
    pub fn live(&self, setting: LiveSetting) -> Result<(), JournalError> {
        let mut inner = self.lock();
        let open = inner.open()?;
        // What it was before the first change is what it has to be again.
        let known = open.entries.iter().any(|entry| match entry {
            Entry::Live(known) => known.is_same_setting(&setting),
            _ => false,
        });
        if known {
            return Ok(());
        }
        open.add(Entry::Live(setting))
    }

    /// Puts everything back, last change first, and removes the journal. What could not be put back
    /// stays in it.
    pub fn put_back(&self) -> Restored {
        let Some(open) = self.lock().open.take() else {
            return Restored::default();
        };
        replay::put_back(&open.directory, &open.entries, Leftover::Keep)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Whoever panicked had written its entry whole or not at all.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A Weir that gives up has no time for [`put_back`](Journal::put_back): what could not be put back
/// is tried again by the next one.
impl Drop for Inner {
    fn drop(&mut self) {
        if let Some(open) = self.open.take() {
            replay::put_back(&open.directory, &open.entries, Leftover::Keep);
        }
    }
}

impl Inner {
    fn open(&mut self) -> Result<&mut Open, JournalError> {
        let open = match self.open.take() {
            Some(open) => open,
            None => Open::make(&self.state)?,
        };
        Ok(self.open.insert(open))
    }
}

impl Open {
    /// Makes it under another name: whoever looks for journals finds it locked and with its first
    /// line, or does not find it.
    fn make(state: &Path) -> Result<Self, JournalError> {
        fs::create_dir_all(state).map_err(JournalError::new("make", state))?;
        let owner = Owner::of_this_process();
        let (unready, directory) = new_directory(state, &owner)?;
        let path = unready.join(ENTRIES);
        let file = File::options()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)
            .map_err(JournalError::new("write", &path))?;
        let file = Locked::new(file).map_err(JournalError::new("lock", &path))?;
        let mut open = Self {
            directory: directory.clone(),
            file,
            entries: Vec::new(),
        };
        open.write_line(&entry::line(&Header::of(owner)))?;
        fs::rename(&unready, &directory).map_err(JournalError::new("write", &directory))?;
        for directory in [directory.as_path(), state] {
            files::sync_directory(directory).map_err(JournalError::new("write", directory))?;
        }
        Ok(open)
    }

    fn add(&mut self, entry: Entry) -> Result<(), JournalError> {
        self.write_line(&entry::line(&entry))?;
        self.entries.push(entry);
        Ok(())
    }

    fn write_line(&mut self, line: &str) -> Result<(), JournalError> {
        self.file
            .append(line)
            .map_err(JournalError::new("write", &self.directory.join(ENTRIES)))
    }

    /// Tells this journal from all others.
    fn name(&self) -> String {
        files::name_of(&self.directory)
    }

    /// Tells what is started for it from what is started for another one, wherever that lies.
    fn mark(&self) -> String {
        self.directory.display().to_string()
    }

    fn has_file(&self, path: &Path) -> bool {
        self.entries
            .iter()
            .any(|entry| matches!(entry, Entry::File(kept) if kept.path == path))
    }
}

/// Makes the directory of a new journal: its name until it is ready, and its name then.
fn new_directory(state: &Path, owner: &Owner) -> Result<(PathBuf, PathBuf), JournalError> {
    let mut number = 0;
    loop {
        let name = format!("{JOURNAL}{}-{}-{number}", owner.pid, owner.start);
        let (unready, directory) = (state.join(format!(".{name}")), state.join(name));
        match fs::DirBuilder::new().mode(0o700).create(&unready) {
            Ok(()) if !directory.exists() => return Ok((unready, directory)),
            Ok(()) => {
                fs::remove_dir(&unready).map_err(JournalError::new("remove", &unready))?;
                number += 1;
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(JournalError::new("make", &unready)(error)),
        }
    }
}
