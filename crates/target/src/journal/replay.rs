//! Putting everything back: by the Weir that changed it, or by a later one.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

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
/// The state directory cannot be read.
pub fn restore_abandoned(state: &Path, leftover: Leftover) -> Result<Restored, JournalError> {
    let entries = match fs::read_dir(state) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Restored::default()),
        Err(error) => return Err(JournalError::new("list", state)(error)),
    };
    let mut journals: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| files::name_of(path).starts_with(JOURNAL))
        .collect();
    journals.sort();
    let mut restored = Restored::default();
    for journal in journals {
        restored.add(restore(&journal, leftover));
    }
    Ok(restored)
}

fn restore(journal: &Path, leftover: Leftover) -> Restored {
    let mut restored = Restored::default();
    let failed = |why: String| format!("{}: {why}", journal.display());
    let path = journal.join(ENTRIES);
    let locked = match File::open(&path).and_then(Locked::new) {
        Ok(locked) => locked,
        // Somebody else has just put it back; or its Weir runs, or another one is restoring it.
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::WouldBlock
            ) =>
        {
            return restored;
        }
        Err(error) => {
            restored.failed.push(failed(error.to_string()));
            return restored;
        }
    };
    let text = fs::read_to_string(&path).map_err(|error| error.to_string());
    match text.and_then(|text| entry::read(&text)) {
        Ok((_, entries)) => restored = put_back(journal, &entries, leftover),
        Err(why) => restored.failed.push(failed(why)),
    }
    drop(locked);
    restored
}

/// Undoes the entries, last first, and removes the journal if nothing is left to do.
///
/// What fails is tried once more after the others: a server may refuse one limit until another is as it was.
pub(super) fn put_back(journal: &Path, entries: &[Entry], leftover: Leftover) -> Restored {
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
        && let Err(error) = fs::remove_dir_all(journal)
        && error.kind() != io::ErrorKind::NotFound
    {
        let path = journal.display();
        restored.failed.push(format!("remove {path}: {error}"));
    }
    restored
}

fn is_agent(entry: &Entry) -> bool {
    matches!(entry, Entry::Live(LiveSetting::Agent { .. }))
}

/// What was done; `None` when there was nothing to do.
fn undo(entry: &Entry, journal: &Path, entries: &[Entry]) -> Result<Option<String>, String> {
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
        Entry::Directory { path } => remove_made(path, &files::name_of(journal)),
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
    let mark = match fs::read_to_string(path.join(MARK)) {
        Ok(mark) => mark,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            // Cut off between making and marking: nothing has been put into it yet.
            let _ = fs::remove_dir(path);
            return Ok(None);
        }
        Err(error) => return Err(format!("look into {}: {error}", path.display())),
    };
    if mark != journal {
        return Ok(None);
    }
    match fs::remove_dir_all(path) {
        Ok(()) => Ok(Some(format!("removed {}", path.display()))),
        Err(error) => Err(format!("remove {}: {error}", path.display())),
    }
}
