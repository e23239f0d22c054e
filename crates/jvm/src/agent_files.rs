//! The files from which an agent reads its options and its policy while it starts.
//!
//! Options in the command that loads it would show up in the virtual machine, which tells its
//! agents' options to whoever looks into it. The files lie in a folder of their own, which only the
//! user of the virtual machine can open, and are gone when the agent has started.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::AsFd;

use rustix::fs::{AtFlags, Gid, Mode, Uid, fchown, mkdirat, unlinkat};
use rustix::io::Errno;
use rustix::rand::{GetRandomFlags, getrandom};
use weir_exchange::Credentials;

use crate::folder::Folder;
use crate::process::{Owner, Vm};

const OPTIONS: &str = "options";
const POLICY: &str = "policy.xml";
const USER: &str = "weir";

/// The files; they are removed when this is dropped.
#[derive(Debug)]
pub(crate) struct AgentFiles {
    temporary: Folder,
    folder: Folder,
    name: String,
}

impl AgentFiles {
    /// Writes them where the virtual machine can read them. `options` are lines `name=value`.
    pub(crate) fn write(
        vm: &Vm,
        options: &str,
        credentials: &Credentials,
        policy: &str,
    ) -> io::Result<Self> {
        let temporary = Folder::temporary(vm)?;
        let name = format!(".weir-{}", random()?);
        mkdirat(temporary.fd(), &name, Mode::RWXU)?;
        let folder = temporary.folder(name.as_ref())?;
        let files = Self {
            temporary,
            folder,
            name,
        };
        let options = format!(
            "{options}authMode=basic\nuser={}\npassword={}\npolicyLocation=file://{}\n",
            credentials.user(),
            credentials.password(),
            files.seen_as(POLICY)
        );
        let (owner, folder) = (vm.owner(), &files.folder);
        for (name, text) in [(OPTIONS, options.as_str()), (POLICY, policy)] {
            let mut file: File = folder.create_file(name)?;
            file.write_all(text.as_bytes())?;
            give(&file, owner)?;
        }
        // At last: from here on the folder is theirs.
        give(folder.fd(), owner)?;
        Ok(files)
    }

    /// Where the virtual machine finds its options.
    pub(crate) fn options(&self) -> String {
        self.seen_as(OPTIONS)
    }

    fn seen_as(&self, file: &str) -> String {
        format!("/tmp/{}/{file}", self.name)
    }
}

impl Drop for AgentFiles {
    fn drop(&mut self) {
        for file in [OPTIONS, POLICY] {
            let _ = unlinkat(self.folder.fd(), file, AtFlags::empty());
        }
        let _ = unlinkat(self.temporary.fd(), &self.name, AtFlags::REMOVEDIR);
    }
}

/// Makes something belong to the user of the virtual machine; whoever is not root runs as that user
/// already.
fn give(what: impl AsFd, owner: Owner) -> io::Result<()> {
    if !rustix::process::geteuid().is_root() {
        return Ok(());
    }
    let (user, group) = (Uid::from_raw(owner.user), Gid::from_raw(owner.group));
    Ok(fchown(what, Some(user), Some(group))?)
}

/// Credentials that nobody else knows.
pub(crate) fn new_credentials() -> io::Result<Credentials> {
    Ok(Credentials::new(USER, random()?))
}

/// 128 bits from the kernel, in hexadecimal digits.
fn random() -> io::Result<String> {
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

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn no_two_passwords_are_the_same() {
        let password = || new_credentials().unwrap().password().to_owned();
        let (one, other) = (password(), password());
        assert_ne!(one, other);
        assert_eq!(one.len(), 32);
    }
}
