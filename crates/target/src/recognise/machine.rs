//! The machine on which a server runs: its files and processes, only read.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use weir_jvm::Vm;

use super::process::ProcessFacts;

/// Most that is read of a file or an entry of a jar.
const LARGEST_BYTES: u64 = 16 * 1024 * 1024;

/// The machine that Weir runs on.
#[derive(Debug, Clone)]
pub struct Machine {
    /// In front of all paths.
    root: PathBuf,
}

impl Default for Machine {
    fn default() -> Self {
        Self::here()
    }
}

impl Machine {
    /// This machine.
    pub fn here() -> Self {
        Self {
            root: PathBuf::from("/"),
        }
    }

    /// A tree of files as if it were a machine's.
    #[cfg(test)]
    pub(super) fn of_tree(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
        }
    }

    fn path(&self, path: &Path) -> PathBuf {
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// The content of a file.
    ///
    /// # Errors
    /// It cannot be read.
    pub(super) fn bytes(&self, path: &Path) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        File::open(self.path(path))?
            .take(LARGEST_BYTES)
            .read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// The text of a file, if it can be read.
    pub(super) fn text(&self, path: &Path) -> Option<String> {
        let bytes = self.bytes(path).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Where a symbolic link leads to.
    pub(super) fn link(&self, path: &Path) -> Option<PathBuf> {
        fs::read_link(self.path(path)).ok()
    }

    /// Whether there is a file.
    pub(super) fn is_file(&self, path: &Path) -> bool {
        self.path(path).is_file()
    }

    /// The names in a directory, in order; none when it cannot be read.
    pub(super) fn names(&self, path: &Path) -> Vec<String> {
        let entries = fs::read_dir(self.path(path)).into_iter().flatten();
        let mut names: Vec<String> = entries
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    /// The names of what is in a jar.
    pub(super) fn jar_names(&self, jar: &Path) -> Vec<String> {
        let archive = File::open(self.path(jar)).ok().map(zip::ZipArchive::new);
        match archive {
            Some(Ok(archive)) => {
                let names = archive.file_names().flatten();
                names.map(std::borrow::Cow::into_owned).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The text of an entry of a jar.
    pub(super) fn jar_text(&self, jar: &Path, entry: &str) -> Option<String> {
        let mut archive = zip::ZipArchive::new(File::open(self.path(jar)).ok()?).ok()?;
        let mut text = String::new();
        let entry = archive.by_name(entry).ok()?;
        entry.take(LARGEST_BYTES).read_to_string(&mut text).ok()?;
        Some(text)
    }

    /// What a program prints about itself, run with the libraries of a process.
    pub(super) fn ask_program(
        &self,
        program: &Path,
        word: &str,
        facts: &ProcessFacts,
    ) -> Option<String> {
        let library_path = facts.environment.get("LD_LIBRARY_PATH");
        let output = Command::new(self.path(program))
            .arg(word)
            .envs(library_path.map(|path| ("LD_LIBRARY_PATH", path)))
            .stdin(Stdio::null())
            .output()
            .ok()?;
        Some(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Why Jolokia's agent cannot be loaded into a virtual machine.
    pub(super) fn why_no_agent(facts: &ProcessFacts) -> Option<String> {
        let own = rustix::process::geteuid();
        if !own.is_root() && own.as_raw() != facts.user {
            return Some(format!(
                "the process belongs to user {}; only that user and root can load an agent",
                facts.user
            ));
        }
        match Vm::of(facts.pid) {
            Ok(Some(vm)) => vm.listens().err().map(|error| error.to_string()),
            // A launcher that is no virtual machine itself.
            Ok(None) => Some("the process is no Java virtual machine".to_owned()),
            Err(error) => Some(error.to_string()),
        }
    }
}
