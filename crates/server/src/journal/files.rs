//! Files: kept as they are, and put back byte for byte.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use weir_files::{Folder, Rights, new_name};

use super::JournalError;

/// A file as it was before the first change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct KeptFile {
    /// Where it really is: no part of it was a link.
    pub(super) path: PathBuf,
    /// `None`: it was not there.
    kept: Option<Kept>,
    /// The name that new bytes have until they are whole: what a crash leaves is found by it.
    /// Earlier journals do not say it.
    #[serde(default)]
    beside: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Kept {
    /// The copy's name in the journal's directory.
    copy: String,
    /// Permission bits.
    mode: u32,
    /// Its user and its group: whoever owns what lies there when it is put back may have put it
    /// there. Earlier journals do not say it.
    #[serde(default)]
    owner: Option<(u32, u32)>,
}

/// What became of a file that is put back.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum PutBack {
    /// It was as it had been.
    Unchanged,
    /// It is as it was.
    Done,
    /// It is as it was, and what somebody else had written into it is here.
    KeptTheirs(PathBuf),
}

/// Copies a file into the journal's directory, as number `number` of what is there. Its path leads
/// over no link.
pub(super) fn keep(path: &Path, journal: &Folder, number: usize) -> Result<KeptFile, JournalError> {
    let read = Folder::of(path).and_then(|(folder, name)| folder.read(&name));
    let Some(content) = read.map_err(JournalError::new("read", path))? else {
        return Ok(KeptFile {
            path: path.to_owned(),
            kept: None,
            beside: beside(),
        });
    };
    let copy = format!("{number}.before");
    journal
        .create(OsStr::new(&copy), &content.bytes, None)
        .map_err(JournalError::new("write", &journal.path().join(&copy)))?;
    Ok(KeptFile {
        path: path.to_owned(),
        kept: Some(Kept {
            copy,
            mode: content.rights.mode,
            owner: Some((content.rights.uid, content.rights.gid)),
        }),
        beside: beside(),
    })
}

fn beside() -> Option<String> {
    new_name().into_string().ok()
}

impl KeptFile {
    /// Whose it was, and who might do what with it.
    pub(super) fn rights(&self) -> Option<Rights> {
        let kept = self.kept.as_ref()?;
        let (uid, gid) = kept.owner?;
        Some(Rights {
            uid,
            gid,
            mode: kept.mode,
        })
    }

    /// Writes new bytes into it, whole or not at all.
    pub(super) fn replace(&self, bytes: &[u8], rights: Option<Rights>) -> io::Result<()> {
        let (folder, name) = Folder::of(&self.path)?;
        self.replace_in(&folder, &name, bytes, rights)
    }

    fn replace_in(
        &self,
        folder: &Folder,
        name: &OsStr,
        bytes: &[u8],
        rights: Option<Rights>,
    ) -> io::Result<()> {
        match &self.beside {
            Some(beside) => folder.replace_through(name, OsStr::new(beside), bytes, rights),
            None => folder.replace(name, bytes, rights),
        }
    }

    /// Puts it back. `wrote` has the digests of what Weir itself has written into it.
    pub(super) fn put_back(&self, journal: &Folder, wrote: &[&str]) -> io::Result<PutBack> {
        let (folder, name) = match Folder::of(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && self.kept.is_none() => {
                return Ok(PutBack::Unchanged);
            }
            opened => opened?,
        };
        // What was being written when its Weir was killed.
        if let Some(beside) = &self.beside {
            folder.forget(OsStr::new(beside));
        }
        let now = folder.read(&name)?;
        let Some(kept) = &self.kept else {
            let Some(now) = now else {
                return Ok(PutBack::Unchanged);
            };
            let kept = keep_theirs(&self.path, &now.bytes, wrote, journal)?;
            folder.remove(&name)?;
            return Ok(kept.map_or(PutBack::Done, PutBack::KeptTheirs));
        };
        let before = journal
            .read(OsStr::new(&kept.copy))?
            .ok_or_else(|| io::Error::other(format!("its copy `{}` has gone", kept.copy)))?;
        let rights = self.rights().or_else(|| {
            // A journal that does not say whose it was: nobody gets the rights of its program.
            let now = now.as_ref()?.rights;
            let mode = kept.mode;
            Some(Rights { mode, ..now }.plain())
        });
        if let Some(now) = &now
            && now.bytes == before.bytes
            && rights
                .is_none_or(|rights| (rights.uid, rights.gid) == (now.rights.uid, now.rights.gid))
        {
            if now.rights.mode == kept.mode {
                return Ok(PutBack::Unchanged);
            }
            now.set_mode(kept.mode)?;
            return Ok(PutBack::Done);
        }
        let theirs = match now {
            Some(now) => keep_theirs(&self.path, &now.bytes, wrote, journal)?,
            None => None,
        };
        self.replace_in(&folder, &name, &before.bytes, rights)?;
        Ok(theirs.map_or(PutBack::Done, PutBack::KeptTheirs))
    }
}

/// What somebody else has written is kept beside the journal, because the journal goes.
fn keep_theirs(
    path: &Path,
    bytes: &[u8],
    wrote: &[&str],
    journal: &Folder,
) -> io::Result<Option<PathBuf>> {
    if wrote.is_empty() || wrote.contains(&&*digest(bytes)) {
        return Ok(None);
    }
    let (state, _) = Folder::of(journal.path())?;
    let directory = match state.make_folder(OsStr::new("kept"), 0o700) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            state.folder(OsStr::new("kept"))
        }
        made => made,
    }?;
    weir_files::check_facts(directory.path(), &directory.facts()?).map_err(io::Error::other)?;
    let name = format!("{}-{}", name_of(journal.path()), name_of(path));
    let free = create_free(&directory, &OsString::from(name), bytes, None)?;
    Ok(Some(directory.path().join(free)))
}

/// Makes a file under a name that nothing has, be it a link that leads nowhere: this one, or with a
/// number behind it; gives the name.
pub(crate) fn create_free(
    folder: &Folder,
    name: &OsStr,
    bytes: &[u8],
    rights: Option<Rights>,
) -> io::Result<OsString> {
    let numbered = (2_u32..).map(|number| {
        let mut numbered = name.to_owned();
        numbered.push(format!(".{number}"));
        numbered
    });
    for name in std::iter::once(name.to_owned()).chain(numbered) {
        match folder.create(&name, bytes, rights) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made.map(|()| name),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
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
