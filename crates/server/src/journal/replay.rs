//! Putting everything back: by the Weir that changed it, or by a later one.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use weir_files::{Distrust, Folder, check_facts, check_own, real_path};

use super::entry::{self, Entry};
use super::files::{self, PutBack};
use super::lock::Locked;
use super::{ENTRIES, JOURNAL, JournalError, LiveSetting, MARK};

/// What was put back, and what was not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Restored {
    /// What was done, a line each.
    pub done: Vec<String>,
    /// What could not be put back, and why; it stays in the journal.
    pub failed: Vec<String>,
}

impl Restored {
    /// Whether there was nothing to do.
    pub fn is_empty(&self) -> bool {
        self.done.is_empty() && self.failed.is_empty()
    }

    fn add(&mut self, of: Self) {
        self.done.extend(of.done);
        self.failed.extend(of.failed);
    }
}

/// What is done with a journal of which something could not be put back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leftover {
    /// It stays, and the next time everything is tried again.
    Keep,
    /// It goes.
    Forget,
}

/// Puts back what Weirs have changed that ended without doing so. Journals of a Weir that runs are
/// left alone.
///
/// # Errors
/// The state directory cannot be read; or somebody else may write it or one of its journals, and
/// then none is obeyed.
pub fn restore_abandoned(state: &Path, leftover: Leftover) -> Result<Restored, JournalError> {
    if let Err(error) = state.symlink_metadata()
        && error.kind() == io::ErrorKind::NotFound
    {
        return Ok(Restored::default());
    }
    let state = open_state(state)?;
    let names = state.names();
    let mut names: Vec<OsString> = names
        .map_err(JournalError::new("list", state.path()))?
        .into_iter()
        .filter(|name| name.as_bytes().starts_with(JOURNAL.as_bytes()))
        .collect();
    names.sort();
    let mut journals = Vec::new();
    for name in names {
        journals.extend(open_journal(&state, &name)?);
    }
    let mut restored = Restored::default();
    for (journal, entries) in journals {
        restored.add(restore(&journal, entries, leftover));
    }
    Ok(restored)
}

/// The state directory: this user's own, or root's, and no link, so that what stands in it is what
/// a Weir of theirs has written.
pub(super) fn open_state(state: &Path) -> Result<Folder, JournalError> {
    check_own(state).map_err(JournalError::Foreign)?;
    let state = real_path(state).map_err(JournalError::new("find", state))?;
    let folder = Folder::open(&state).map_err(JournalError::new("open", &state))?;
    checked(&state, folder.facts())?;
    Ok(folder)
}

/// A journal that may be obeyed, with its open entries; `None` when it has just gone.
fn open_journal(state: &Folder, name: &OsStr) -> Result<Option<(Folder, File)>, JournalError> {
    let path = state.path().join(name);
    match check_own(&path) {
        Err(error) if error.is_missing() => return Ok(None),
        checked => checked.map_err(JournalError::Foreign)?,
    }
    let journal = match state.folder(name) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        journal => journal.map_err(JournalError::new("open", &path))?,
    };
    checked(&path, journal.facts())?;
    let mut entries = None;
    for name in journal.names().map_err(JournalError::new("list", &path))? {
        let path = path.join(&name);
        let file = journal.file(&name);
        let Some(file) = file.map_err(JournalError::new("open", &path))? else {
            continue;
        };
        checked(&path, file.metadata())?;
        if name == ENTRIES {
            entries = Some(file);
        }
    }
    // Without entries somebody else has just put it back.
    Ok(entries.map(|entries| (journal, entries)))
}

fn checked(path: &Path, facts: io::Result<std::fs::Metadata>) -> Result<(), JournalError> {
    facts
        .map_err(Distrust::look(path))
        .and_then(|facts| check_facts(path, &facts))
        .map_err(JournalError::Foreign)
}

fn restore(journal: &Folder, entries: File, leftover: Leftover) -> Restored {
    let mut restored = Restored::default();
    let failed = |why: String| format!("{}: {why}", journal.path().display());
    let read = entries.try_clone();
    let locked = match Locked::new(entries) {
        Ok(locked) => locked,
        // Its Weir runs, or another one is restoring it.
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => return restored,
        Err(error) => {
            restored.failed.push(failed(error.to_string()));
            return restored;
        }
    };
    // Another one may have put it back before the lock was had.
    if !matches!(journal.file(OsStr::new(ENTRIES)), Ok(Some(_))) {
        return restored;
    }
    let mut text = String::new();
    let read = read.and_then(|mut file| file.read_to_string(&mut text));
    let read = read.map_err(|error| error.to_string());
    match read.and_then(|_| entry::read(&text)) {
        Ok((_, entries)) => restored = put_back(journal, &entries, leftover),
        Err(why) => restored.failed.push(failed(why)),
    }
    drop(locked);
    restored
}

/// Undoes the entries, last first, and removes the journal if nothing is left to do.
///
/// What fails is tried once more after the others: a server may refuse one limit until another is
/// as it was.
pub(super) fn put_back(journal: &Folder, entries: &[Entry], leftover: Leftover) -> Restored {
    let mut restored = Restored::default();
    let mut refused = Vec::new();
    // What is put back may go through an agent: those are stopped at the end.
    let (agents, others): (Vec<&Entry>, Vec<&Entry>) =
        entries.iter().rev().partition(|entry| is_agent(entry));
    for entry in others {
        match undo(entry, journal, entries) {
            Ok(done) => restored.done.extend(done),
            Err(_) => refused.push(entry),
        }
    }
    for entry in refused.into_iter().chain(agents) {
        match undo(entry, journal, entries) {
            Ok(done) => restored.done.extend(done),
            Err(why) => restored.failed.push(why),
        }
    }
    if (restored.failed.is_empty() || leftover == Leftover::Forget)
        && let Err(error) = remove(journal.path())
    {
        let path = journal.path().display();
        restored.failed.push(format!("remove {path}: {error}"));
    }
    restored
}

/// Removes a directory, if it is there.
fn remove(path: &Path) -> io::Result<()> {
    let removed = Folder::of(path).and_then(|(folder, name)| folder.remove_tree(&name));
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

fn is_agent(entry: &Entry) -> bool {
    matches!(entry, Entry::Live(LiveSetting::Agent { .. }))
}

/// What was done; `None` when there was nothing to do.
fn undo(entry: &Entry, journal: &Folder, entries: &[Entry]) -> Result<Option<String>, String> {
    match entry {
        Entry::Wrote { .. } => Ok(None),
        Entry::File(kept) => {
            let wrote: Vec<&str> = entries
                .iter()
                .filter_map(|entry| match entry {
                    Entry::Wrote { path, sha256 } if *path == kept.path => Some(sha256.as_str()),
                    _ => None,
                })
                .collect();
            let path = kept.path.display();
            match kept.put_back(journal, &wrote) {
                Ok(PutBack::Unchanged) => Ok(None),
                Ok(PutBack::Done) => Ok(Some(format!("put {path} back"))),
                Ok(PutBack::KeptTheirs(theirs)) => Ok(Some(format!(
                    "put {path} back; what somebody else had written into it since is {}",
                    theirs.display()
                ))),
                Err(error) => Err(format!("put {path} back: {error}")),
            }
        }
        Entry::Directory { path } => remove_made(path, &files::name_of(journal.path())),
        Entry::Process(process) => {
            let ended = process.end()?;
            Ok(ended.then(|| format!("ended process {} with what it had started", process.pid)))
        }
        Entry::Live(setting) => {
            let says = setting.says();
            match setting.put_back() {
                Ok(()) => Ok(Some(says)),
                Err(why) => Err(format!("{says}: {why}")),
            }
        }
    }
}

/// Removes a directory that bears the journal's mark.
fn remove_made(path: &Path, journal: &str) -> Result<Option<String>, String> {
    let looked = |error: io::Error| format!("look into {}: {error}", path.display());
    let opened = Folder::of(path).and_then(|(parent, name)| {
        let folder = parent.folder(&name)?;
        Ok((parent, name, folder))
    });
    let (parent, name, folder) = match opened {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(looked)?,
    };
    let Some(mark) = folder.read(OsStr::new(MARK)).map_err(looked)? else {
        // Cut off between making and marking: nothing has been put into it yet.
        let _ = parent.remove_empty(&name);
        return Ok(None);
    };
    if mark.bytes != journal.as_bytes() {
        return Ok(None);
    }
    match parent.remove_tree(&name) {
        Ok(()) => Ok(Some(format!("removed {}", path.display()))),
        Err(error) => Err(format!("remove {}: {error}", path.display())),
    }
}
