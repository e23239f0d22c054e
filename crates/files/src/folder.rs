//! An open folder, and its files by name.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Permissions};
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, mkdirat, openat, renameat, statat};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::owner::{LOOSE, STICKY, user};

/// What only its owner may read and write.
const CLOSED: Mode = Mode::from_raw_mode(0o600);
/// Permissions without those that give a program the rights of its file's owner or group.
const PLAIN: u32 = 0o777;

/// A folder that was reached without following a link.
#[derive(Debug)]
pub struct Folder {
    descriptor: OwnedFd,
    path: PathBuf,
    /// Folders on the way in which anybody may rename anything, with their owners.
    loose: Vec<(PathBuf, u32)>,
}

/// Whose a file is and who may do what with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rights {
    /// Its owner.
    pub uid: u32,
    /// Its group.
    pub gid: u32,
    /// Permission bits.
    pub mode: u32,
}

impl Rights {
    /// Without the bits that lend a program its owner's rights: for a file of another content.
    #[must_use]
    pub fn plain(self) -> Self {
        Self {
            mode: self.mode & PLAIN,
            ..self
        }
    }
}

/// A regular file as it was read.
#[derive(Debug)]
pub struct Content {
    /// What is in it.
    pub bytes: Vec<u8>,
    /// Of the file that was read, whatever has its name by now.
    pub rights: Rights,
    file: File,
}

impl Content {
    /// Changes the permissions of the file that was read.
    ///
    /// # Errors
    /// As of the system.
    pub fn set_mode(&self, mode: u32) -> io::Result<()> {
        self.file.set_permissions(Permissions::from_mode(mode))
    }
}

impl Folder {
    /// Opens a folder. No part of its path may be a link: see [`real_path`](crate::real_path).
    ///
    /// # Errors
    /// As of the system; or a part of the path is a link.
    pub fn open(path: &Path) -> io::Result<Self> {
        let path = std::path::absolute(path)?;
        let way = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut at = openat(CWD, "/", way, Mode::empty())?;
        let mut reached = PathBuf::from("/");
        let mut loose = Vec::new();
        for part in path.components() {
            match part {
                Component::Normal(name) => {
                    reached.push(name);
                    at = openat(&at, name, way, Mode::empty())
                        .map_err(|error| linked(error, &reached))?;
                    let facts = rustix::fs::fstat(&at)?;
                    if facts.st_mode & (LOOSE | STICKY) == LOOSE {
                        loose.push((reached.clone(), facts.st_uid));
                    }
                }
                Component::RootDir | Component::CurDir => {}
                Component::ParentDir | Component::Prefix(_) => {
                    return Err(io::Error::new(
                        io::ErrorKind::InvalidInput,
                        "the path has a `..`",
                    ));
                }
            }
        }
        Ok(Self {
            descriptor: at,
            path,
            loose,
        })
    }

    /// The folder of a file, and the file's name in it.
    ///
    /// # Errors
    /// As of [`open`](Self::open); or the path ends without a name.
    pub fn of(file: &Path) -> io::Result<(Self, OsString)> {
        let file = std::path::absolute(file)?;
        let (Some(parent), Some(name)) = (file.parent(), file.file_name()) else {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "the path names no file",
            ));
        };
        Ok((Self::open(parent)?, name.to_owned()))
    }

    /// A folder in this one that is there.
    ///
    /// # Errors
    /// As of the system; or it is a link.
    pub fn folder(&self, name: &OsStr) -> io::Result<Self> {
        let path = self.path.join(name);
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let descriptor = openat(&self.descriptor, name, flags, Mode::empty())
            .map_err(|error| linked(error, &path))?;
        Ok(Self {
            descriptor,
            path,
            loose: self.loose.clone(),
        })
    }

    /// Makes a folder in this one, with these permissions less what the umask takes.
    ///
    /// # Errors
    /// There is something of that name; or somebody has put another one in its place.
    pub fn make_folder(&self, name: &OsStr, mode: u32) -> io::Result<Self> {
        mkdirat(&self.descriptor, name, Mode::from_raw_mode(mode))?;
        let made = self.folder(name)?;
        let owner = rustix::fs::fstat(&made.descriptor)?.st_uid;
        if owner == geteuid().as_raw() {
            return Ok(made);
        }
        Err(denied(format!(
            "it was made, and now it is one of {}",
            user(owner)
        )))
    }

    /// The folder's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the system says of the folder itself.
    ///
    /// # Errors
    /// As of the system.
    pub fn facts(&self) -> io::Result<std::fs::Metadata> {
        File::from(self.descriptor.try_clone()?).metadata()
    }

    /// The names of what is in it.
    ///
    /// # Errors
    /// As of the system.
    pub fn names(&self) -> io::Result<Vec<OsString>> {
        use std::os::unix::ffi::OsStrExt as _;
        let mut names = Vec::new();
        for entry in rustix::fs::Dir::new(self.readable()?)? {
            let name = OsStr::from_bytes(entry?.file_name().to_bytes()).to_owned();
            if name != "." && name != ".." {
                names.push(name);
            }
        }
        Ok(names)
    }

    /// Opens a regular file to read it, `None` where there is nothing of that name. A pipe in its
    /// place does not hold anybody up.
    ///
    /// # Errors
    /// As of the system; or it is a link, or no regular file.
    pub fn file(&self, name: &OsStr) -> io::Result<Option<File>> {
        let path = self.path.join(name);
        let refused = |what| Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        let facts = match statat(&self.descriptor, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => return Ok(None),
            facts => facts?,
        };
        match FileType::from_raw_mode(facts.st_mode) {
            // Opening a device may do something.
            FileType::RegularFile => {}
            FileType::Symlink => return Err(linked(Errno::LOOP, &path)),
            _ => return refused("it is no regular file"),
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match openat(&self.descriptor, name, flags, Mode::empty()) {
            Err(Errno::NOENT) => return Ok(None),
            file => File::from(file.map_err(|error| linked(error, &path))?),
        };
        if file.metadata()?.is_file() {
            Ok(Some(file))
        } else {
            refused("it is no regular file")
        }
    }

    /// Reads a regular file; `None` where there is nothing of that name.
    ///
    /// # Errors
    /// As of [`file`](Self::file); or anybody may put another file there.
    pub fn read(&self, name: &OsStr) -> io::Result<Option<Content>> {
        let Some(mut file) = self.file(name)? else {
            return Ok(None);
        };
        let facts = file.metadata()?;
        self.check_loose(facts.uid())?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(Some(Content {
            bytes,
            rights: Rights {
                uid: facts.uid(),
                gid: facts.gid(),
                mode: facts.mode() & 0o7777,
            },
            file,
        }))
    }

    /// Replaces what is in a file, or makes it: a reader sees the old bytes or the new ones. With
    /// no rights it is as a new file of this process is, readable to all that the umask lets.
    ///
    /// # Errors
    /// As of the system; or it is to be another user's where anybody may put another file.
    pub fn replace(&self, name: &OsStr, bytes: &[u8], rights: Option<Rights>) -> io::Result<()> {
        self.replace_through(name, &new_name(), bytes, rights)
    }

    /// As [`replace`](Self::replace), with the name that the new bytes have until they are whole:
    /// one of [`new_name`] that was written down before, so that it can be removed after a crash.
    ///
    /// # Errors
    /// As of [`replace`](Self::replace); or something has this name that cannot be removed.
    pub fn replace_through(
        &self,
        name: &OsStr,
        beside: &OsStr,
        bytes: &[u8],
        rights: Option<Rights>,
    ) -> io::Result<()> {
        if let Some(rights) = rights {
            self.check_loose(rights.uid)?;
        }
        self.forget(beside);
        let mode = match rights {
            Some(_) => CLOSED,
            // The umask takes away what it takes.
            None => Mode::from_raw_mode(0o666),
        };
        let file = self.create_with(beside, mode)?;
        let done = write(file, bytes, rights)
            .and_then(|()| Ok(renameat(&self.descriptor, beside, &self.descriptor, name)?));
        if done.is_err() {
            self.forget(beside);
        }
        done?;
        self.sync()
    }

    /// Makes a file, closed to others unless it gets rights.
    ///
    /// # Errors
    /// [`AlreadyExists`](io::ErrorKind::AlreadyExists) when there is anything of that name, be it a
    /// link that leads nowhere; or as of the system.
    pub fn create(&self, name: &OsStr, bytes: &[u8], rights: Option<Rights>) -> io::Result<()> {
        let file = self.create_open(name)?;
        let written = write(file, bytes, rights);
        if written.is_err() {
            self.forget(name);
        }
        written?;
        self.sync()
    }

    /// As `create`, without a content yet.
    ///
    /// # Errors
    /// As of [`create`](Self::create).
    pub fn create_open(&self, name: &OsStr) -> io::Result<File> {
        self.create_with(name, CLOSED)
    }

    /// Removes a file, or a link, of that name.
    ///
    /// # Errors
    /// As of the system.
    pub fn remove(&self, name: &OsStr) -> io::Result<()> {
        rustix::fs::unlinkat(&self.descriptor, name, AtFlags::empty())?;
        self.sync()
    }

    /// Removes a folder with everything in it.
    ///
    /// # Errors
    /// As of the system.
    pub fn remove_tree(&self, name: &OsStr) -> io::Result<()> {
        // The descriptor by its name: whatever lies on the way by now, it is this folder.
        let itself = format!("/proc/self/fd/{}", self.descriptor.as_raw_fd());
        std::fs::remove_dir_all(Path::new(&itself).join(name))
    }

    /// Removes a folder in which nothing is.
    ///
    /// # Errors
    /// There is something in it; or as of the system.
    pub fn remove_empty(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(
            &self.descriptor,
            name,
            AtFlags::REMOVEDIR,
        )?)
    }

    /// Gives what lies here another name in the same folder.
    ///
    /// # Errors
    /// As of the system.
    pub fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        renameat(&self.descriptor, from, &self.descriptor, to)?;
        self.sync()
    }

    /// Moves what lies here into another folder of the same file system.
    ///
    /// # Errors
    /// As of the system.
    pub fn rename_into(&self, from: &OsStr, folder: &Self, to: &OsStr) -> io::Result<()> {
        Ok(renameat(&self.descriptor, from, &folder.descriptor, to)?)
    }

    /// Whether what lies here is a folder, and no link to one.
    ///
    /// # Errors
    /// As of the system.
    pub fn is_folder(&self, name: &OsStr) -> io::Result<bool> {
        let facts = statat(&self.descriptor, name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(FileType::from_raw_mode(facts.st_mode) == FileType::Directory)
    }

    /// Makes the names in it last, where the folder may be listed and its file system can.
    ///
    /// # Errors
    /// As of the system.
    pub fn sync(&self) -> io::Result<()> {
        let synced = self.readable().map(rustix::fs::fsync);
        match synced {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
            Ok(Err(Errno::INVAL)) => Ok(()),
            synced => Ok(synced??),
        }
    }

    /// To enter a folder takes less than to list it.
    fn readable(&self) -> io::Result<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(openat(&self.descriptor, ".", flags, Mode::empty())?)
    }

    fn create_with(&self, name: &OsStr, mode: Mode) -> io::Result<File> {
        let flags =
            OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(File::from(openat(&self.descriptor, name, flags, mode)?))
    }

    /// Removes a file that may be there; whether it could be is not told.
    pub fn forget(&self, name: &OsStr) {
        // The first error is the one to tell.
        let _ = rustix::fs::unlinkat(&self.descriptor, name, AtFlags::empty());
    }

    /// In a folder in which anybody may rename anything, a file is anybody's: as root it is read
    /// and replaced only if its owner is who leaves the folder open.
    fn check_loose(&self, owner: u32) -> io::Result<()> {
        if !geteuid().is_root() {
            return Ok(());
        }
        match self.loose.iter().find(|(_, uid)| *uid != owner) {
            None => Ok(()),
            Some((path, _)) => Err(denied(format!(
                "everybody may rename what is in {}: take that right away first (`chmod o-w`), or \
                 run Weir as {}",
                path.display(),
                user(owner)
            ))),
        }
    }
}

/// Owner first: giving a file away takes bits away, which its permissions then bring back.
fn write(mut file: File, bytes: &[u8], rights: Option<Rights>) -> io::Result<()> {
    file.write_all(bytes)?;
    if let Some(rights) = rights {
        let made = file.metadata()?;
        if (made.uid(), made.gid()) != (rights.uid, rights.gid) {
            std::os::unix::fs::fchown(&file, Some(rights.uid), Some(rights.gid))?;
        }
        file.set_permissions(Permissions::from_mode(rights.mode))?;
    }
    file.sync_all()
}

/// What opening without following a link says of a link, in words.
fn linked(error: Errno, path: &Path) -> io::Error {
    let is_link = std::fs::symlink_metadata(path).is_ok_and(|facts| facts.is_symlink());
    if is_link && matches!(error, Errno::LOOP | Errno::NOTDIR | Errno::MLINK) {
        return denied(format!(
            "{} is a link, which is not followed here: put the file or folder back in its place, \
             or name where it really is",
            path.display()
        ));
    }
    error.into()
}

pub(crate) fn denied(says: String) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, says)
}

/// A name for a file that is going to take the place of another; nobody can foretell it.
pub fn new_name() -> OsString {
    OsString::from(format!(".weir-new-{:016x}", random()))
}

/// A number that nobody can foretell: a hash under keys that the system's randomness seeds.
fn random() -> u64 {
    RandomState::new().hash_one(std::process::id())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn name(text: &str) -> &OsStr {
        OsStr::new(text)
    }

    #[test]
    fn no_part_of_the_way_is_a_link() {
        let place = tempfile::tempdir().unwrap();
        let real = place.path().join("real/conf");
        fs::create_dir_all(&real).unwrap();
        symlink(place.path().join("real"), place.path().join("link")).unwrap();
        Folder::open(&real).unwrap();
        let error = Folder::open(&place.path().join("link/conf")).unwrap_err();
        assert!(error.to_string().contains("link is a link"), "{error}");
    }

    #[test]
    fn a_replaced_file_has_the_rights_that_are_given_and_leaves_nothing_beside() {
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::open(place.path()).unwrap();
        fs::write(place.path().join("a"), "1").unwrap();
        let own = folder.read(name("a")).unwrap().unwrap().rights;
        let rights = Rights { mode: 0o640, ..own };
        folder.replace(name("a"), b"2", Some(rights)).unwrap();
        let now = folder.read(name("a")).unwrap().unwrap();
        assert_eq!((now.bytes, now.rights), (b"2".to_vec(), rights));
        assert_eq!(folder.names().unwrap(), ["a"]);
        let lends = Rights {
            mode: 0o4755,
            ..own
        };
        assert_eq!(lends.plain().mode, 0o755);
    }

    #[test]
    fn a_link_at_a_files_name_is_replaced_and_not_written_through() {
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::open(place.path()).unwrap();
        let other = place.path().join("other");
        fs::write(&other, "theirs").unwrap();
        symlink(&other, place.path().join("a")).unwrap();
        assert!(folder.read(name("a")).is_err());
        let taken = folder.create(name("a"), b"x", None).unwrap_err();
        assert_eq!(taken.kind(), io::ErrorKind::AlreadyExists);
        folder.replace(name("a"), b"x", None).unwrap();
        assert_eq!(fs::read_to_string(other).unwrap(), "theirs");
        assert_eq!(folder.read(name("a")).unwrap().unwrap().bytes, b"x");
        symlink("nowhere", place.path().join("b")).unwrap();
        let taken = folder.create(name("b"), b"x", None).unwrap_err();
        assert_eq!(taken.kind(), io::ErrorKind::AlreadyExists);
        assert!(!place.path().join("nowhere").exists());
    }

    #[test]
    fn a_pipe_holds_nobody_up() {
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::open(place.path()).unwrap();
        rustix::fs::mknodat(
            &folder.descriptor,
            "pipe",
            FileType::Fifo,
            Mode::from_raw_mode(0o666),
            0,
        )
        .unwrap();
        let error = folder.read(name("pipe")).unwrap_err();
        assert!(error.to_string().contains("no regular file"), "{error}");
    }

    #[test]
    fn as_root_what_everybody_may_rename_is_refused() {
        if !geteuid().is_root() {
            return;
        }
        let place = tempfile::tempdir().unwrap();
        let open = place.path().join("open");
        fs::create_dir(&open).unwrap();
        fs::write(open.join("a"), "1").unwrap();
        fs::set_permissions(&open, Permissions::from_mode(0o777)).unwrap();
        std::os::unix::fs::chown(open.join("a"), Some(1234), Some(1234)).unwrap();
        let folder = Folder::open(&open).unwrap();
        let error = folder.read(name("a")).unwrap_err().to_string();
        assert!(error.contains("chmod o-w"), "{error}");
        // A sticky folder, as /tmp is, keeps names to their owners.
        fs::set_permissions(&open, Permissions::from_mode(0o1777)).unwrap();
        let folder = Folder::open(&open).unwrap();
        assert!(folder.read(name("a")).unwrap().is_some());
    }
}
