//! The files from which an agent reads its options and its policy while it starts.
//!
//! Options in the command that loads it would show up in the virtual machine, which tells its
//! agents' options to whoever looks into it. The files lie in a folder of their own, which only the
//! user of the virtual machine can open, and are gone when the agent has started.

use std::fs::File;
use std::io::{self, Write as _};

use weir_exchange::Credentials;

use crate::private_folder::{PrivateFolder, random};
use crate::process::Vm;

const OPTIONS: &str = "options";
const POLICY: &str = "policy.xml";
const USER: &str = "weir";

/// The files; they are removed when this is dropped.
#[derive(Debug)]
pub(crate) struct AgentFiles(PrivateFolder);

impl AgentFiles {
    /// Writes them where the virtual machine can read them. `options` are lines `name=value`.
    pub(crate) fn write(
        vm: &Vm,
        options: &str,
        credentials: &Credentials,
        policy: &str,
    ) -> io::Result<Self> {
        let folder = PrivateFolder::make(vm, &[OPTIONS, POLICY])?;
        let options = format!(
            "{options}authMode=basic\nuser={}\npassword={}\npolicyLocation=file://{}\n",
            credentials.user(),
            credentials.password(),
            folder.seen_as(POLICY)
        );
        for (name, text) in [(OPTIONS, options.as_str()), (POLICY, policy)] {
            let mut file: File = folder.folder().create_file(name)?;
            file.write_all(text.as_bytes())?;
            folder.give(&file)?;
        }
        folder.hand_over()?;
        Ok(Self(folder))
    }

    /// Where the virtual machine finds its options.
    pub(crate) fn options(&self) -> String {
        self.0.seen_as(OPTIONS)
    }
}

/// Credentials that nobody else knows.
pub(crate) fn new_credentials() -> io::Result<Credentials> {
    Ok(Credentials::new(USER, random()?))
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
