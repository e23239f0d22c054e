//! Whether a file may be run, or its content be trusted, as the user who runs Weir.
//!
//! A program is found through a process, a configuration or a folder that may be somebody else's.
//! Who can change the file, or put another one in its place, would have Weir run whatever he likes,
//! as root if that is who runs Weir. So the file and every folder above it, links resolved, have to
//! belong to root or to the user who runs it, and nobody else may be able to write into them.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Whoever runs a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Runner {
    user: u32,
}

/// A file, or a folder on the way to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) path: PathBuf,
    pub(crate) user: u32,
    pub(crate) group: u32,
    pub(crate) mode: u32,
}

const OTHERS_WRITE: u32 = 0o002;
const GROUP_WRITES: u32 = 0o020;
/// Of what is in such a folder, only its owner renames or removes it.
const STICKY: u32 = 0o1000;

impl Runner {
    /// Who runs Weir.
    pub(crate) fn own() -> Self {
        Self::new(rustix::process::geteuid().as_raw())
    }

    /// A user.
    pub(crate) fn new(user: u32) -> Self {
        Self { user }
    }

    pub(crate) fn user(self) -> u32 {
        self.user
    }

    pub(crate) fn is_root(self) -> bool {
        self.user == 0
    }

    /// Whether what belongs to a user is as good as what belongs to the runner.
    pub(crate) fn trusts(self, user: u32) -> bool {
        user == 0 || user == self.user
    }

    /// The path behind all links, if nobody else can change what is there; else why not.
    pub(crate) fn trusted(self, path: &Path) -> Result<PathBuf, String> {
        let unseen =
            |error: io::Error| format!("`{}` cannot be looked at: {error}", path.display());
        let path = fs::canonicalize(path).map_err(unseen)?;
        let mut steps = Vec::new();
        for step in path.ancestors() {
            let facts = fs::symlink_metadata(step).map_err(unseen)?;
            steps.push(Step {
                path: step.to_owned(),
                user: facts.uid(),
                group: facts.gid(),
                mode: facts.mode(),
            });
        }
        self.judge(&steps)?;
        Ok(path)
    }

    /// Judges a file and the folders above it, from the file upwards, of which no one is a
    /// link.
    pub(crate) fn judge(self, steps: &[Step]) -> Result<(), String> {
        for (above, step) in steps.iter().enumerate() {
            let path = step.path.display();
            if !self.trusts(step.user) {
                return Err(format!("`{path}` belongs to user {}", step.user));
            }
            // Higher up than the folder of the file, such as in /tmp, what is root's or one's own
            // stays there.
            let is_kept = above > 1 && step.mode & STICKY != 0;
            let is_shared = step.mode & OTHERS_WRITE != 0
                || (step.mode & GROUP_WRITES != 0 && !self.is_alone_in(step.group));
            if is_shared && !is_kept {
                return Err(format!("others can write to `{path}`"));
            }
        }
        Ok(())
    }

    /// Users other than root have a group of their own on many systems, and share files with nobody
    /// through it.
    fn is_alone_in(self, group: u32) -> bool {
        !self.is_root() && group == self.user
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    const ROOT: Runner = Runner { user: 0 };
    const ALICE: Runner = Runner { user: 1000 };

    fn steps(of: &[(u32, u32, u32)]) -> Vec<Step> {
        let steps = of.iter().map(|&(user, group, mode)| Step {
            path: PathBuf::from("/x"),
            user,
            group,
            mode,
        });
        steps.collect()
    }

    #[test]
    fn what_others_can_change_is_not_trusted() {
        let (file, folder) = ((0, 0, 0o100_755), (0, 0, 0o40_755));
        for (runner, of, why) in [
            (ROOT, vec![file, folder, folder], None),
            (ROOT, vec![(1000, 0, 0o755), folder], Some("user 1000")),
            (
                ROOT,
                vec![file, (1000, 0, 0o755), folder],
                Some("user 1000"),
            ),
            (
                ROOT,
                vec![file, (0, 50, 0o775), folder],
                Some("others can write"),
            ),
            (ROOT, vec![(0, 0, 0o757), folder], Some("others can write")),
            (
                ROOT,
                vec![file, (0, 0, 0o1777), folder],
                Some("others can write"),
            ),
            (ROOT, vec![file, folder, (0, 0, 0o1777), folder], None),
            (
                ROOT,
                vec![file, folder, (0, 0, 0o777)],
                Some("others can write"),
            ),
            (
                ALICE,
                vec![(1000, 1000, 0o775), (1000, 1000, 0o775), folder],
                None,
            ),
            (
                ALICE,
                vec![(1000, 100, 0o775), folder],
                Some("others can write"),
            ),
            (ALICE, vec![(1001, 1001, 0o755), folder], Some("user 1001")),
        ] {
            let judged = runner.judge(&steps(&of));
            match why {
                None => assert_eq!(judged, Ok(()), "{of:?}"),
                Some(why) => assert!(judged.unwrap_err().contains(why), "{of:?}"),
            }
        }
    }

    #[test]
    fn links_count_by_where_they_lead() {
        let place = tempfile::tempdir().unwrap();
        let link = place.path().join("sh");
        std::os::unix::fs::symlink("/bin/sh", &link).unwrap();
        let trusted = Runner::own().trusted(&link).unwrap();
        assert_eq!(trusted, fs::canonicalize("/bin/sh").unwrap());
        let missing = Runner::own().trusted(&place.path().join("no")).unwrap_err();
        assert!(missing.contains("cannot be looked at"), "{missing}");
    }
}
