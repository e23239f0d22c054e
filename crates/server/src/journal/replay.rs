//! Putting everything back: by the Weir that changed it, or by a later one.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use weir_files::{Distrust, Folder, check_facts, check_own, real_path};

use super::entry::{self, Entry, still_live};
use super::files::{self, PutBack};
use super::live::NotBack;
use super::lock::Locked;
use super::process::ProcessIdentity;
use super::{ENTRIES, JOURNAL, JournalError, LiveSetting, MARK};

/// Begins the name of a journal that is being removed.
const GONE: &str = ".gone-";

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

    /// Adds what was put back later.
    pub fn add(&mut self, of: Self) {
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
    let Some(state) = state_if_any(state)? else {
        return Ok(Restored::default());
    };
    let mut restored = Restored::default();
    for (journal, entries) in journals(&state)? {
        restored.add(restore(&journal, entries, leftover));
    }
    sweep(&state);
    Ok(restored)
}

/// What Weirs that have ended have left changed, a line each: what putting it back would do.
///
/// # Errors
/// As of [`restore_abandoned`].
pub fn left_changed(state: &Path) -> Result<Vec<String>, JournalError> {
    let Some(state) = state_if_any(state)? else {
        return Ok(Vec::new());
    };
    let mut left = Vec::new();
    for (journal, file) in journals(&state)? {
        match abandoned(&journal, file) {
            Ok(None) => {}
            Ok(Some((_, entries))) => left.extend(entries.iter().rev().filter_map(Entry::undoing)),
            Err(why) => left.push(why),
        }
    }
    Ok(left)
}

/// The state directory; `None` where no Weir has changed anything yet.
fn state_if_any(state: &Path) -> Result<Option<Folder>, JournalError> {
    match state.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        _ => open_state(state).map(Some),
    }
}

/// The journals below the state directory, in the order of their names.
fn journals(state: &Folder) -> Result<Vec<(Folder, File)>, JournalError> {
    let names = state.names();
    let mut names: Vec<OsString> = names
        .map_err(JournalError::new("list", state.path()))?
        .into_iter()
        .filter(|name| name.as_bytes().starts_with(JOURNAL.as_bytes()))
        .collect();
    names.sort();
    let mut journals = Vec::new();
    for name in names {
        journals.extend(open_journal(state, &name)?);
    }
    Ok(journals)
}

/// Removes what is left of journals whose Weir was killed while it made or removed one: nothing
/// stands in them that is to be put back. What cannot be removed does no harm.
fn sweep(state: &Folder) {
    let names = state.names().unwrap_or_default();
    for name in names {
        let Some(text) = name.to_str() else { continue };
        let is_left = text.starts_with(GONE)
            || text
                .strip_prefix('.')
                .and_then(|text| text.strip_prefix(JOURNAL))
                .is_some_and(|of| !is_being_made(of));
        if is_left {
            let _ = state.remove_tree(&name);
        }
    }
}

/// Whether the Weir runs that makes a journal with this end of its name: its process id, when that
/// started, and a number.
fn is_being_made(of: &str) -> bool {
    let mut parts = of.split('-');
    let (pid, start) = (parts.next(), parts.next());
    let pid = pid.and_then(|pid| pid.parse().ok());
    let runs = pid.and_then(|pid| ProcessIdentity::of(pid, ""));
    runs.is_some_and(|process| start == Some(process.start.to_string().as_str()))
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

fn restore(journal: &Folder, file: File, leftover: Leftover) -> Restored {
    match abandoned(journal, file) {
        Ok(None) => Restored::default(),
        Ok(Some((_locked, entries))) => put_back(journal, &entries, leftover),
        Err(why) => Restored {
            failed: vec![why],
            ..Restored::default()
        },
    }
}

/// The entries of a journal whose Weir has ended, with its lock; `None` while that runs, or
/// another one restores it or has just done so.
fn abandoned(journal: &Folder, mut file: File) -> Result<Option<(Locked, Vec<Entry>)>, String> {
    let failed = |why: String| format!("{}: {why}", journal.path().display());
    let locked = match file.try_clone().and_then(Locked::new) {
        Ok(locked) => locked,
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
        Err(error) => return Err(failed(error.to_string())),
    };
    // Another one may have put it back before the lock was had.
    if !matches!(journal.file(OsStr::new(ENTRIES)), Ok(Some(_))) {
        return Ok(None);
    }
    let mut text = String::new();
    let read = file.read_to_string(&mut text);
    read.map_err(|error| failed(error.to_string()))?;
    let (_, entries) = entry::read(&text).map_err(failed)?;
    Ok(Some((locked, entries)))
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
            Err(NotBack::Refused(_)) => refused.push(entry),
            Err(NotBack::TookTooLong(why)) => restored.failed.push(why),
        }
    }
    for entry in refused.into_iter().chain(agents) {
        match undo(entry, journal, entries) {
            Ok(done) => restored.done.extend(done),
            Err(why) => restored.failed.push(why.says()),
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

/// Removes a journal, if it is there. From its first step on it is none: a part of one would be
/// taken for what is still to be put back.
fn remove(path: &Path) -> io::Result<()> {
    let removed = Folder::of(path).and_then(|(folder, name)| {
        let mut gone = OsString::from(GONE);
        gone.push(&name);
        folder.rename(&name, &gone)?;
        folder.remove_tree(&gone)
    });
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

fn is_agent(entry: &Entry) -> bool {
    matches!(entry, Entry::Live(LiveSetting::Agent { .. }))
}

/// What was done; `None` when there was nothing to do.
fn undo(entry: &Entry, journal: &Folder, entries: &[Entry]) -> Result<Option<String>, NotBack> {
    match entry {
        Entry::Wrote { .. } | Entry::Undone(_) => Ok(None),
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
                Err(error) => Err(NotBack::Refused(format!("put {path} back: {error}"))),
            }
        }
        Entry::Directory { path } => {
            remove_made(path, &files::name_of(journal.path())).map_err(NotBack::Refused)
        }
        Entry::Process(process) => {
            let ended = process.end().map_err(NotBack::Refused)?;
            Ok(ended.then(|| format!("ended process {} with what it had started", process.pid)))
        }
        Entry::Live(setting) if !still_live(entries).any(|live| live.is_same_setting(setting)) => {
            // What went with its process was not put back.
            let is_back = matches!(setting, LiveSetting::Command { .. });
            Ok(is_back.then(|| setting.says()))
        }
        Entry::Live(setting) => {
            let says = setting.says();
            match setting.put_back() {
                Ok(()) => Ok(Some(says)),
                Err(why) => Err(why.map(|why| format!("{says}: {why}"))),
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
        // Cut off while it was marked: there is nothing but a part of the mark.
        if journal.as_bytes().starts_with(&mark.bytes)
            && folder.names().map_err(looked)?.as_slice() == [OsString::from(MARK)]
        {
            folder.forget(OsStr::new(MARK));
            let _ = parent.remove_empty(&name);
        }
        return Ok(None);
    }
    match parent.remove_tree(&name) {
        Ok(()) => Ok(Some(format!("removed {}", path.display()))),
        Err(error) => Err(format!("remove {}: {error}", path.display())),
    }
}
