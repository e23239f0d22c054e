//! Where a path leads, and whose links are followed.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

use rustix::process::geteuid;

use crate::folder::denied;
use crate::owner::user;

/// As many links as Linux follows (`path_resolution(7)`).
const LINKS_MAX: usize = 40;

/// Where a path leads, from the root; the file itself need not be there.
///
/// A link is followed if root or the user of this process owns it, or whoever owns the file that it
/// leads to; of a file that is not there, whoever owns its folder. So nobody makes Weir change a
/// file that is not theirs.
///
/// # Errors
/// As of the system; or a link is somebody else's.
pub fn real_path(path: &Path) -> io::Result<PathBuf> {
    let mut left = parts(&std::path::absolute(path)?);
    let mut reached = PathBuf::from("/");
    let mut links: Vec<(PathBuf, u32)> = Vec::new();
    while let Some(part) = left.pop_front() {
        if part == ".." {
            reached.pop();
            continue;
        }
        let next = reached.join(&part);
        let facts = match fs::symlink_metadata(&next) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && left.is_empty() => {
                check(&links, &reached, &next)?;
                return Ok(next);
            }
            facts => facts?,
        };
        if !facts.is_symlink() {
            reached = next;
            continue;
        }
        if links.len() == LINKS_MAX {
            return Err(rustix::io::Errno::LOOP.into());
        }
        let to = fs::read_link(&next)?;
        links.push((next, facts.uid()));
        if to.is_absolute() {
            reached = PathBuf::from("/");
        }
        for part in parts(&to).into_iter().rev() {
            left.push_front(part);
        }
    }
    check(&links, &reached, &reached)?;
    Ok(reached)
}

fn parts(path: &Path) -> VecDeque<OsString> {
    path.components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_owned()),
            Component::ParentDir => Some("..".into()),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
        })
        .collect()
}

/// `owned` stands for the owner of where they lead.
fn check(links: &[(PathBuf, u32)], owned: &Path, to: &Path) -> io::Result<()> {
    if links.is_empty() {
        return Ok(());
    }
    let owner = fs::symlink_metadata(owned)?.uid();
    let trusted = [0, geteuid().as_raw(), owner];
    match links.iter().find(|(_, uid)| !trusted.contains(uid)) {
        None => Ok(()),
        Some((link, uid)) => Err(denied(format!(
            "{} is a link of {} and leads to {} of {}: name that one, or take the link over \
             (`chown -h`)",
            link.display(),
            user(*uid),
            to.display(),
            user(owner)
        ))),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use std::os::unix::fs::{lchown, symlink};

    use super::*;

    #[test]
    fn own_links_are_followed_as_the_system_does() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::write(root.join("a/file"), "").unwrap();
        symlink("../a", root.join("a/self")).unwrap();
        symlink(root.join("a/self/file"), root.join("link")).unwrap();
        symlink("a/new", root.join("dangling")).unwrap();
        symlink("loop", root.join("loop")).unwrap();
        for (path, wanted) in [
            ("link", "a/file"),
            ("a/self/b/../file", "a/file"),
            ("dangling", "a/new"),
            ("new", "new"),
        ] {
            let found = real_path(&root.join(path)).unwrap();
            assert_eq!(found, root.join(wanted), "{path}");
        }
        assert!(real_path(&root.join("nothing/new")).is_err());
        assert!(real_path(&root.join("loop")).is_err());
    }

    #[test]
    fn a_link_of_another_user_is_followed_to_files_of_that_user_only() {
        if !geteuid().is_root() {
            return;
        }
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        let (link, file) = (root.join("link"), root.join("file"));
        fs::write(&file, "").unwrap();
        symlink(&file, &link).unwrap();
        lchown(&link, Some(1234), Some(1234)).unwrap();
        let error = real_path(&link).unwrap_err().to_string();
        assert!(
            error.contains("link of user 1234") && error.contains("chown -h"),
            "{error}"
        );
        lchown(&file, Some(1234), Some(1234)).unwrap();
        assert_eq!(real_path(&link).unwrap(), file);
        fs::remove_file(&file).unwrap();
        assert!(real_path(&link).is_err(), "the folder is root's");
    }
}
