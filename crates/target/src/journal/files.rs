//! Files: kept as they are, and put back byte for byte.

use std::fs::{self, File, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::JournalError;

/// A file as it was before the first change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct KeptFile {
    pub(super) path: PathBuf,
    /// `None`: it was not there.
    kept: Option<Kept>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Kept {
    /// The copy's name in the journal's directory.
    copy: String,
    /// Permission bits.
    mode: u32,
}

/// What became of a file that is put back.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum PutBack {
    /// It was as it had been.
    Unchanged,
    /// It is as it was.
    Done,
    /// The same, and what somebody else had written into it is here.
    KeptTheirs(PathBuf),
}

/// Copies a file into the journal's directory, as number `number` of what is there.
pub(super) fn keep(path: &Path, journal: &Path, number: usize) -> Result<KeptFile, JournalError> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(KeptFile {
                path: path.to_owned(),
                kept: None,
            });
        }
        Err(error) => return Err(JournalError::new("read", path)(error)),
    };
    let facts = fs::metadata(path).map_err(JournalError::new("look at", path))?;
    let copy = format!("{number}.before");
    let to = journal.join(&copy);
    write_synced(&to, &bytes)
        .and_then(|()| sync_directory(journal))
        .map_err(JournalError::new("write", &to))?;
    Ok(KeptFile {
        path: path.to_owned(),
        kept: Some(Kept {
            copy,
            mode: facts.permissions().mode() & 0o7777,
        }),
    })
}

impl KeptFile {
    /// Puts it back. `wrote` has the digests of what Weir itself has written into it.
    pub(super) fn put_back(&self, journal: &Path, wrote: &[&str]) -> io::Result<PutBack> {
        let now = match fs::read(&self.path) {
            Ok(bytes) => Some(bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let before = match &self.kept {
            Some(kept) => Some((fs::read(journal.join(&kept.copy))?, kept.mode)),
            None => None,
        };
        if now.as_ref() == before.as_ref().map(|(bytes, _)| bytes) {
            return self.put_mode_back(before.map(|(_, mode)| mode));
        }
        let theirs = now.filter(|bytes| !wrote.is_empty() && !wrote.contains(&&*digest(bytes)));
        let kept_theirs = theirs.map(|bytes| self.keep_theirs(&bytes, journal));
        match before {
            Some((bytes, mode)) => replace(&self.path, &bytes, Some(mode))?,
            None => fs::remove_file(&self.path)?,
        }
        kept_theirs.map_or(Ok(PutBack::Done), |path| path.map(PutBack::KeptTheirs))
    }

    fn put_mode_back(&self, mode: Option<u32>) -> io::Result<PutBack> {
        let Some(mode) = mode else {
            return Ok(PutBack::Unchanged);
        };
        let now = fs::metadata(&self.path)?.permissions().mode() & 0o7777;
        if now == mode {
            return Ok(PutBack::Unchanged);
        }
        fs::set_permissions(&self.path, Permissions::from_mode(mode))?;
        Ok(PutBack::Done)
    }

    /// Beside the journal, because the journal goes.
    fn keep_theirs(&self, bytes: &[u8], journal: &Path) -> io::Result<PathBuf> {
        let name = format!("{}-{}", name_of(journal), name_of(&self.path));
        let directory = journal.parent().unwrap_or(journal).join("kept");
        fs::create_dir_all(&directory)?;
        let path = directory.join(name);
        write_synced(&path, bytes)?;
        Ok(path)
    }
}

/// Replaces what is in a file: a reader sees the old bytes or the new ones. It keeps its owner, and
/// its permissions unless others are given.
pub(crate) fn replace(path: &Path, bytes: &[u8], mode: Option<u32>) -> io::Result<()> {
    let old = fs::metadata(path).ok();
    let directory = path.parent().unwrap_or(Path::new("."));
    let beside = directory.join(format!(".{}.weir-new", name_of(path)));
    let mut file = File::create(&beside)?;
    file.write_all(bytes)?;
    let mode = mode.or_else(|| old.as_ref().map(|old| old.permissions().mode() & 0o7777));
    if let Some(old) = &old
        && let new = file.metadata()?
        && (old.uid(), old.gid()) != (new.uid(), new.gid())
    {
        chown(&beside, Some(old.uid()), Some(old.gid()))?;
    }
    if let Some(mode) = mode {
        file.set_permissions(Permissions::from_mode(mode))?;
    }
    file.sync_all()?;
    fs::rename(&beside, path)?;
    sync_directory(directory)
}

fn write_synced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Makes the names in a directory last.
pub(super) fn sync_directory(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}

/// Where a path leads, from the root; the file itself need not be there.
pub(crate) fn real_path(path: &Path) -> io::Result<PathBuf> {
    match fs::canonicalize(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let directory = path
                .parent()
                .filter(|parent| !parent.as_os_str().is_empty());
            let directory = fs::canonicalize(directory.unwrap_or(Path::new(".")))?;
            Ok(directory.join(name_of(path)))
        }
        found => found,
    }
}

pub(super) fn digest(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    let digits: Vec<String> = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    digits.concat()
}

pub(super) fn name_of(path: &Path) -> String {
    path.file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
}
