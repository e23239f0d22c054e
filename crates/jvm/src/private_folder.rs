//! A folder that only the user of a virtual machine can open, for files that one hands to the
//! other.

use std::io;
use std::os::fd::AsFd;

use rustix::fs::{AtFlags, Gid, Mode, Uid, fchown, mkdirat, unlinkat};
use rustix::io::Errno;
use rustix::rand::{GetRandomFlags, getrandom};

use crate::folder::Folder;
use crate::process::{Owner, Vm};

/// The folder; it is removed when this is dropped, with the files that it is for.
#[derive(Debug)]
pub(crate) struct PrivateFolder {
    temporary: Folder,
    folder: Folder,
    name: String,
    files: &'static [&'static str],
    owner: Owner,
}

impl PrivateFolder {
    /// Makes it where the virtual machine finds it. It belongs to whoever runs this until
    /// [`Self::hand_over`].
    pub(crate) fn make(vm: &Vm, files: &'static [&'static str]) -> io::Result<Self> {
        let temporary = Folder::temporary(vm)?;
        let name = format!(".weir-{}", random()?);
        mkdirat(temporary.fd(), &name, Mode::RWXU)?;
        let folder = temporary.folder(name.as_ref())?;
        Ok(Self {
            temporary,
            folder,
            name,
            files,
            owner: vm.owner(),
        })
    }

    /// What is in it.
    pub(crate) fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Gives it to the user of the virtual machine: from here on it is theirs.
    pub(crate) fn hand_over(&self) -> io::Result<()> {
        self.give(self.folder.fd())
    }

    /// Makes something belong to the user of the virtual machine; whoever is not root runs as that
    /// user already.
    pub(crate) fn give(&self, what: impl AsFd) -> io::Result<()> {
        if !rustix::process::geteuid().is_root() {
            return Ok(());
        }
        let (user, group) = (
            Uid::from_raw(self.owner.user),
            Gid::from_raw(self.owner.group),
        );
        Ok(fchown(what, Some(user), Some(group))?)
    }

    /// Where the virtual machine finds a file of it.
    pub(crate) fn seen_as(&self, file: &str) -> String {
        format!("/tmp/{}/{file}", self.name)
    }
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        for file in self.files {
            let _ = unlinkat(self.folder.fd(), *file, AtFlags::empty());
        }
        let _ = unlinkat(self.temporary.fd(), &self.name, AtFlags::REMOVEDIR);
    }
}

/// 128 bits from the kernel, in hexadecimal digits.
pub(crate) fn random() -> io::Result<String> {
    let mut bytes = [0_u8; 16];
    let mut filled = 0;
    while filled < bytes.len() {
        match getrandom(&mut bytes[filled..], GetRandomFlags::empty()) {
            Ok(more) => filled += more,
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(format!("{:032x}", u128::from_be_bytes(bytes)))
}
