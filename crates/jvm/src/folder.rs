//! The folder in which a virtual machine keeps what others may find, and what may be trusted in it.
//!
//! Everybody can write into `/tmp`, and a process in a namespace of its own has any `/tmp` it
//! likes. So the folder is opened once and everything in it reached from there, links are followed
//! nowhere, and what is found counts only when it belongs to the user of the virtual machine.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, open, openat, statat};

use crate::process::{Owner, Vm};

/// A folder that is held open.
#[derive(Debug)]
pub(crate) struct Folder {
    fd: OwnedFd,
    /// As it is called in messages.
    path: PathBuf,
}

const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::CLOEXEC);

impl Folder {
    /// `/tmp`, as the virtual machine sees it.
    pub(crate) fn temporary(vm: &Vm) -> io::Result<Self> {
        let root = PathBuf::from(format!("/proc/{}/root/", vm.pid()));
        let path = root.join("tmp");
        // Our own may be a link that root has made; in another root it would lead out of there.
        let is_ours = {
            let (theirs, ours) = (fs::metadata(&root)?, fs::metadata("/")?);
            (theirs.dev(), theirs.ino()) == (ours.dev(), ours.ino())
        };
        let follow = if is_ours {
            OFlags::empty()
        } else {
            OFlags::NOFOLLOW
        };
        let root = open(&root, FOLDER, Mode::empty())?;
        let fd = openat(&root, "tmp", FOLDER | follow, Mode::empty())?;
        let stat = rustix::fs::fstat(&fd)?;
        // A virtual machine writes into it; a system's folder in its place is somebody's trick.
        if stat.st_mode & 0o002 == 0 && stat.st_uid != vm.owner().user {
            return Err(io::Error::other(
                "the user of the process cannot write into its /tmp",
            ));
        }
        Ok(Self { fd, path })
    }

    /// The working directory of the virtual machine.
    pub(crate) fn working(vm: &Vm) -> io::Result<Self> {
        let path = PathBuf::from(format!("/proc/{}/cwd", vm.pid()));
        let fd = open(&path, FOLDER, Mode::empty())?;
        Ok(Self { fd, path })
    }

    /// A folder in it that is none but this, no link to one.
    pub(crate) fn folder(&self, name: &OsStr) -> io::Result<Self> {
        let flags = FOLDER | OFlags::NOFOLLOW;
        Ok(Self {
            fd: openat(&self.fd, name, flags, Mode::empty())?,
            path: self.path.join(name),
        })
    }

    /// What it is called in messages.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// A path to something in it for calls that take nothing else.
    pub(crate) fn way_to(&self, name: &str) -> PathBuf {
        PathBuf::from(format!(
            "/proc/self/fd/{}/{name}",
            self.fd.as_fd().as_raw_fd()
        ))
    }

    pub(crate) fn fd(&self) -> &OwnedFd {
        &self.fd
    }

    /// Of itself.
    pub(crate) fn stat(&self) -> io::Result<Stat> {
        Ok(rustix::fs::fstat(&self.fd)?)
    }

    /// Of something in it; of a link, of the link.
    pub(crate) fn stat_of(&self, name: &str) -> io::Result<Stat> {
        Ok(statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW)?)
    }

    /// Opens a regular file that belongs to this user alone, without waiting for anybody.
    pub(crate) fn open_file(&self, name: &str, owner: Owner) -> io::Result<File> {
        let file = self.open_regular(name)?;
        let stat = rustix::fs::fstat(&file)?;
        if stat.st_uid != owner.user {
            return Err(not_of(owner));
        }
        // Another name of a file may stand where others can reach it.
        if stat.st_nlink != 1 || stat.st_mode & 0o022 != 0 {
            return Err(io::Error::other("others than its user can change it"));
        }
        Ok(file)
    }

    /// Opens a regular file, whosever it is, without waiting for anybody.
    pub(crate) fn open_regular(&self, name: &str) -> io::Result<File> {
        let flags =
            OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let fd = openat(&self.fd, name, flags, Mode::empty())?;
        let stat = rustix::fs::fstat(&fd)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(io::Error::other("it is no regular file"));
        }
        Ok(File::from(fd))
    }

    /// Makes a file that was not there, for this user alone.
    pub(crate) fn create_file(&self, name: &str) -> io::Result<File> {
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR;
        Ok(File::from(openat(&self.fd, name, flags, mode)?))
    }
}

/// That something belongs to somebody else than the user of the virtual machine.
pub(crate) fn not_of(owner: Owner) -> io::Error {
    let user = owner.user;
    io::Error::other(format!(
        "it does not belong to user {user}, whom the process runs as: remove it"
    ))
}
