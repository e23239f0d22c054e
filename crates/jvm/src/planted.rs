//! A process of another user, for tests of what that user or a third one can plant.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use crate::process::Vm;

/// Whom the process runs as.
pub(crate) const VICTIM: u32 = 65_534;
/// Somebody else.
pub(crate) const STRANGER: u32 = 65_533;

/// The process, in a working directory that is its own. It stands for a virtual machine that has
/// not said yet that it takes SIGQUIT.
pub(crate) struct Process {
    child: Child,
    pub(crate) directory: tempfile::TempDir,
    /// What was planted in `/tmp`.
    planted: Vec<PathBuf>,
}

impl Process {
    /// Starts it; `None` for whoever is not root, and cannot.
    #[expect(clippy::print_stderr, reason = "a skipped test says so")]
    pub(crate) fn start() -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            eprintln!("skipped: only root can start a process of another user");
            return None;
        }
        let directory = tempfile::tempdir().unwrap();
        own(directory.path(), VICTIM, 0o755);
        let mut sleep = Command::new("sleep");
        sleep.arg("60").uid(VICTIM).gid(VICTIM);
        let child = sleep.current_dir(directory.path()).spawn().unwrap();
        Some(Self {
            child,
            directory,
            planted: Vec::new(),
        })
    }

    pub(crate) fn vm(&self) -> Vm {
        Vm::hotspot(self.child.id()).unwrap()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn lives(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// A path in `/tmp` at which something is going to be planted; what was planted there before is
    /// removed.
    pub(crate) fn plant(&mut self, name: &str) -> PathBuf {
        let path = Path::new("/tmp").join(name);
        remove(&path);
        self.planted.push(path.clone());
        path
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.planted.iter().for_each(|path| remove(path));
    }
}

/// Gives something to a user.
pub(crate) fn own(path: &Path, user: u32, mode: u32) {
    chown(path, Some(user), Some(user)).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn remove(path: &Path) {
    let _ = fs::remove_file(path);
    let _ = fs::remove_dir_all(path);
}
