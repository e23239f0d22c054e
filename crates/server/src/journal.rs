//! What Weir is about to change, written down before it changes it.
//!
//! A [`Journal`] belongs to one running Weir. Before anything of a server is changed, what it was
//! is written there and synced to the disk: a file's bytes, a setting's value, a directory that was
//! not there, a process that is about to exist. [`Journal::put_back`] undoes all of it, last change
//! first, and removes the journal. When Weir is killed before that, [`restore_abandoned`] does the
//! same from another process: the next start of Weir calls it, and `weir target restore`.
//!
//! Who is gone? A journal is locked by its Weir, and the kernel takes the lock away with the
//! process, however it ends. So a second Weir that runs beside it is never disturbed, and of two
//! that restore one waits for nobody and leaves it to the other.
//!
//! Invariants:
//!
//! * Of two Weirs of one machine one changes a setting or a file; the other is told so.
//! * The entry is on the disk before the change is made.
//! * Files come back byte for byte, with their permissions. What somebody else has written into one
//!   since is kept beside the journal, and said.
//! * A process is ended only if it is the one that was started: same id, same start, same boot.
//! * A directory is removed only if it was made by the journal, which left a mark in it.
//! * What could not be put back stays in the journal.

mod claim;
mod entry;
mod files;
mod live;
mod lock;
mod process;
mod replay;

use std::ffi::OsStr;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use claim::{Claim, Holder};
use entry::{Entry, Header, Owner, still_live};
use files::KeptFile;
pub(crate) use files::create_free;
pub use live::LiveSetting;
use lock::Locked;
use process::ProcessIdentity;
use weir_files::{Distrust, Folder, Rights, real_path};

pub use replay::{Leftover, Restored, left_changed, restore_abandoned};

/// Why the journal cannot be written, or one is not obeyed; nothing may be changed then.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// A file or folder cannot be read, written or made.
    #[error("{doing} {} before the target is changed", path.display())]
    File {
        /// What was done.
        doing: &'static str,
        /// With what.
        path: PathBuf,
        /// Why it failed.
        #[source]
        source: io::Error,
    },
    /// Another Weir is changing it.
    #[error(
        "change {what}: the Weir with process id {pid} (user {uid}) is changing it, and what it has set would be taken \
         for what was found; wait until it has ended, or end it (`kill -INT {pid}`)"
    )]
    Claimed {
        /// The setting, or the file.
        what: String,
        /// The other Weir.
        pid: i32,
        /// Its user.
        uid: u32,
    },
    /// It cannot be told whether another Weir is changing it.
    #[error("claim {what}, so that no other Weir changes it")]
    Claim {
        /// The setting, or the file.
        what: String,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// Somebody else may have written what a journal says.
    #[error(
        "{0}: the commands of a journal of changes would run as you; let its owner run `weir target \
         restore`, or look into it and make it yours (`chown -R`, `chmod -R go-w`), or let WEIR_STATE \
         name a folder of your own"
    )]
    Foreign(Distrust),
}

impl JournalError {
    fn new(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File {
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
    /// What no other Weir may change until it is put back.
    claims: Vec<Claim>,
}

#[derive(Debug)]
struct Open {
    /// The journal's directory: entries and copies of files.
    directory: Folder,
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
                claims: Vec::new(),
            })),
        }
    }

    /// Something is about to be looked at that will be changed and put back: until then no other
    /// Weir of this machine changes it. `what` names it, alike in every Weir: `threads of port
    /// 8080`.
    ///
    /// # Errors
    /// Another Weir has claimed it.
    pub fn claim(&self, what: &str) -> Result<(), JournalError> {
        self.lock().claim(what)
    }

    /// A file is about to be changed, made or removed: keeps its bytes. Of a link, where it leads
    /// to.
    ///
    /// # Errors
    /// The file cannot be read or the journal not be written.
    pub fn file(&self, path: &Path) -> Result<(), JournalError> {
        self.kept(path).map(|_| ())
    }

    /// Keeps a file, and says how it was kept.
    fn kept(&self, path: &Path) -> Result<KeptFile, JournalError> {
        let mut inner = self.lock();
        let path = real_path(path).map_err(JournalError::new("find", path))?;
        inner.claim(&path.display().to_string())?;
        let open = inner.open()?;
        let known = open.entries.iter().find_map(|entry| match entry {
            Entry::File(kept) if kept.path == path => Some(kept.clone()),
            _ => None,
        });
        if let Some(kept) = known {
            return Ok(kept);
        }
        let kept = files::keep(&path, &open.directory, open.entries.len())?;
        open.add(Entry::File(kept.clone()))?;
        Ok(kept)
    }

    /// Writes a file, kept before by [`file`](Self::file) or here. Its old bytes or the new ones
    /// are there, never a part, and it is known afterwards that these bytes are Weir's.
    ///
    /// # Errors
    /// As [`file`](Self::file); or the file cannot be written.
    pub fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), JournalError> {
        let kept = self.kept(path)?;
        let wrote = Entry::Wrote {
            path: kept.path.clone(),
            sha256: files::digest(bytes),
        };
        self.lock().open()?.add(wrote)?;
        let rights = kept.rights().map(Rights::plain);
        kept.replace(bytes, rights)
            .map_err(JournalError::new("write", &kept.path))
    }

    /// Makes a directory that is removed, with all that is in it, when everything is put back.
    ///
    /// # Errors
    /// It is there already, or cannot be made.
    pub fn directory(&self, path: &Path) -> Result<(), JournalError> {
        let mut inner = self.lock();
        let open = inner.open()?;
        let path = real_path(path).map_err(JournalError::new("find", path))?;
        open.add(Entry::Directory { path: path.clone() })?;
        let made = Folder::of(&path).and_then(|(folder, name)| folder.make_folder(&name, 0o777));
        let made = made.map_err(JournalError::new("make", &path))?;
        made.create(OsStr::new(MARK), open.name().as_bytes(), None)
            .map_err(JournalError::new("write", &path.join(MARK)))
    }

    /// Marks what a command is going to start, in its environment, so that it and all that it
    /// starts is found again even when the first process of it is gone.
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
        if still_live(&open.entries).any(|known| known.is_same_setting(&setting)) {
            return Ok(());
        }
        open.add(Entry::Live(setting))
    }

    /// Takes the settings of running servers out that need no putting back any more: they are as
    /// they were, or the process has ended that had them.
    pub fn undone(&self, is_undone: impl Fn(&LiveSetting) -> bool) -> Result<(), JournalError> {
        let mut inner = self.lock();
        let Some(open) = inner.open.as_mut() else {
            return Ok(());
        };
        let undone: Vec<LiveSetting> = still_live(&open.entries)
            .filter(|setting| is_undone(setting))
            .cloned()
            .collect();
        undone
            .into_iter()
            .try_for_each(|setting| open.add(Entry::Undone(setting)))
    }

    /// Puts everything back, last change first, and removes the journal. What could not be put back
    /// stays in it.
    pub fn put_back(&self) -> Restored {
        let mut inner = self.lock();
        let claims = std::mem::take(&mut inner.claims);
        let Some(open) = inner.open.take() else {
            return Restored::default();
        };
        drop(inner);
        let restored = replay::put_back(&open.directory, &open.entries, Leftover::Keep);
        drop(claims);
        restored
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
    fn claim(&mut self, what: &str) -> Result<(), JournalError> {
        if self.claims.iter().any(|claim| claim.is_of(what)) {
            return Ok(());
        }
        let claim = Claim::new(what).map_err(|source| JournalError::Claim {
            what: what.to_owned(),
            source,
        })?;
        let claim = claim.map_err(|Holder { pid, uid }| JournalError::Claimed {
            what: what.to_owned(),
            pid,
            uid,
        })?;
        self.claims.push(claim);
        Ok(())
    }

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
        // What is not there yet is closed to others.
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(state)
            .map_err(JournalError::new("make", state))?;
        let state = replay::open_state(state)?;
        let owner = Owner::of_this_process();
        let (unready, name) = new_directory(&state, &owner)?;
        let path = unready.path().join(ENTRIES);
        let file = unready
            .create_open(OsStr::new(ENTRIES))
            .map_err(JournalError::new("write", &path))?;
        let mut file = Locked::new(file).map_err(JournalError::new("lock", &path))?;
        file.append(&entry::line(&Header::of(owner)))
            .map_err(JournalError::new("write", &path))?;
        let directory = state.path().join(&name);
        let failed = || JournalError::new("write", &directory);
        state
            .rename(OsStr::new(&format!(".{name}")), OsStr::new(&name))
            .map_err(failed())?;
        let directory = state.folder(OsStr::new(&name)).map_err(failed())?;
        directory
            .sync()
            .map_err(JournalError::new("write", directory.path()))?;
        Ok(Self {
            directory,
            file,
            entries: Vec::new(),
        })
    }

    fn add(&mut self, entry: Entry) -> Result<(), JournalError> {
        self.write_line(&entry::line(&entry))?;
        self.entries.push(entry);
        Ok(())
    }

    fn write_line(&mut self, line: &str) -> Result<(), JournalError> {
        self.file.append(line).map_err(JournalError::new(
            "write",
            &self.directory.path().join(ENTRIES),
        ))
    }

    /// Tells this journal from all others.
    fn name(&self) -> String {
        files::name_of(self.directory.path())
    }

    /// Tells what is started for it from what is started for another one, wherever that lies.
    fn mark(&self) -> String {
        self.directory.path().display().to_string()
    }
}

/// Makes the directory of a new journal, which has a dot before its name until it is ready; and its
/// name then.
fn new_directory(state: &Folder, owner: &Owner) -> Result<(Folder, String), JournalError> {
    let mut number = 0;
    loop {
        let name = format!("{JOURNAL}{}-{}-{number}", owner.pid, owner.start);
        let unready = format!(".{name}");
        let path = state.path().join(&unready);
        let is_there = state.path().join(&name).symlink_metadata().is_ok();
        match state.make_folder(OsStr::new(&unready), 0o700) {
            Ok(made) if !is_there => return Ok((made, name)),
            Ok(_) => {
                let removed = state.remove_tree(OsStr::new(&unready));
                removed.map_err(JournalError::new("remove", &path))?;
                number += 1;
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(JournalError::new("make", &path)(error)),
        }
    }
}
