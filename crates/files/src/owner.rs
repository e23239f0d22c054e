//! Whose files are obeyed.

use std::fs::{self, Metadata};
use std::io::{self, Read as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::process::{getegid, geteuid};

use crate::resolve::real_path;

/// Everybody may write it.
pub(crate) const LOOSE: u32 = 0o002;
/// In such a folder a name is its owner's.
pub(crate) const STICKY: u32 = 0o1000;
/// Every right of whoever is not the owner.
const OTHERS: u32 = 0o077;
/// Its group may write it.
const GROUP: u32 = 0o020;

/// Why something is not run or obeyed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Distrust {
    /// It is somebody else's.
    #[error("trust {}: it belongs to {}, and Weir runs as {}", path.display(), user(*owner), user(geteuid().as_raw()))]
    Owner {
        /// What it is.
        path: PathBuf,
        /// Whose it is.
        owner: u32,
    },
    /// Others may write it.
    #[error("trust {}, which belongs to {}: others may write it (its mode is {mode:04o})", path.display(), user(*owner))]
    Writable {
        /// What it is.
        path: PathBuf,
        /// Whose it is.
        owner: u32,
        /// Its permission bits.
        mode: u32,
    },
    /// It leads elsewhere.
    #[error("trust {}: it is a link of {}", path.display(), user(*owner))]
    Link {
        /// What it is.
        path: PathBuf,
        /// Whose it is.
        owner: u32,
    },
    /// It cannot be looked at.
    #[error("look at {}: {source}", path.display())]
    Look {
        /// What it is.
        path: PathBuf,
        /// The cause.
        source: Arc<io::Error>,
    },
}

impl Distrust {
    /// What the system says when it is looked at.
    pub fn look(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Look {
            path,
            source: Arc::new(source),
        }
    }

    /// Whether it is not there at all.
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Look { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }
}

/// A user for people: by number, and by name where this machine has one.
pub fn user(uid: u32) -> String {
    let accounts = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let name = accounts.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)?.parse() == Ok(uid)).then_some(name)
    });
    name.map_or_else(
        || format!("user {uid}"),
        |name| format!("user {uid} ({name})"),
    )
}

/// Whether what has these facts is this user's own or root's, and nobody else may write it.
///
/// # Errors
/// It is not.
pub fn check_facts(path: &Path, facts: &Metadata) -> Result<(), Distrust> {
    let (path, owner) = (|| path.to_owned(), facts.uid());
    if !is_ours(owner) {
        return Err(Distrust::Owner {
            path: path(),
            owner,
        });
    }
    // A link's own permissions mean nothing.
    if !facts.is_symlink() && others_may_write(facts) {
        return Err(Distrust::Writable {
            path: path(),
            owner,
            mode: facts.mode() & 0o7777,
        });
    }
    Ok(())
}

/// As `check_facts`, of a file or folder by its path, which may be no link.
///
/// # Errors
/// It is not; or it cannot be looked at.
pub fn check_own(path: &Path) -> Result<(), Distrust> {
    let facts = fs::symlink_metadata(path).map_err(Distrust::look(path))?;
    if facts.is_symlink() {
        return Err(Distrust::Link {
            path: path.to_owned(),
            owner: facts.uid(),
        });
    }
    check_facts(path, &facts)
}

/// As `check_own`, of everything in a folder, or of a file. Links in it have to be one's own; where
/// they lead is not looked at.
///
/// # Errors
/// As of [`check_own`].
pub fn check_tree(path: &Path) -> Result<(), Distrust> {
    check_own(path)?;
    if path.is_dir() {
        check_inside(path)?;
    }
    Ok(())
}

fn check_inside(folder: &Path) -> Result<(), Distrust> {
    let entries = match fs::read_dir(folder) {
        // Another Weir has just removed what it worked in.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(Distrust::look(folder))?,
    };
    for entry in entries {
        let path = entry.map_err(Distrust::look(folder))?.path();
        let facts = match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            facts => facts.map_err(Distrust::look(&path))?,
        };
        check_facts(&path, &facts)?;
        if facts.is_dir() {
            check_inside(&path)?;
        }
    }
    Ok(())
}

/// Takes the right to write away from everybody else, in a folder with everything in it that this
/// user has just made: archives and an open umask give more than is obeyed later.
///
/// # Errors
/// As of the system.
pub fn close_tree(path: &Path) -> io::Result<()> {
    for_tree(path, &|path, _| close_folder(path).map(|()| true))
}

/// Does something to a folder or file, and to all that is in it where that says so. Links are left
/// alone.
fn for_tree(path: &Path, each: &impl Fn(&Path, &Metadata) -> io::Result<bool>) -> io::Result<()> {
    let facts = fs::symlink_metadata(path)?;
    if facts.is_symlink() || !each(path, &facts)? || !facts.is_dir() {
        return Ok(());
    }
    for entry in fs::read_dir(path)? {
        match for_tree(&entry?.path(), each) {
            // Another Weir, or a server, has just removed what it worked in.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            done => done?,
        }
    }
    Ok(())
}

/// As `close_tree`, of a folder or file alone, if it is this user's.
///
/// # Errors
/// As of the system.
pub fn close_folder(path: &Path) -> io::Result<()> {
    let facts = fs::metadata(path)?;
    if facts.uid() == geteuid().as_raw() && others_may_write(&facts) {
        let mode = facts.mode() & 0o7777 & !(LOOSE | GROUP);
        fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
    }
    Ok(())
}

/// Takes every right of everybody else away, in a folder with everything in it that is this user's:
/// what is kept there is for nobody else to read. Links stay as they are, and so does what a server
/// that runs as another user has made.
///
/// # Errors
/// As of the system.
pub fn hide_tree(path: &Path) -> io::Result<()> {
    for_tree(path, &|path, facts| {
        let is_own = facts.uid() == geteuid().as_raw();
        if is_own && facts.mode() & OTHERS != 0 {
            let mode = facts.mode() & 0o7777 & !OTHERS;
            fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
        }
        Ok(is_own)
    })
}

/// Whether nobody but its owner has a right to it.
///
/// # Errors
/// As of the system.
pub fn is_hidden(path: &Path) -> io::Result<bool> {
    Ok(fs::metadata(path)?.mode() & OTHERS == 0)
}

/// Whether a folder is one from which programs may be run: it is one's own, and nobody else can put
/// another in its place, at none of the folders on the way.
///
/// # Errors
/// As of [`check_own`].
pub fn check_program_tree(folder: &Path) -> Result<(), Distrust> {
    let looked = std::path::absolute(folder).map_err(Distrust::look(folder))?;
    let mut way = looked.as_path();
    // What is not there yet is made by Weir, below what is there.
    while let Err(error) = fs::symlink_metadata(way) {
        match (error.kind(), way.parent()) {
            (io::ErrorKind::NotFound, Some(parent)) => way = parent,
            _ => return Err(Distrust::look(way)(error)),
        }
    }
    if way == looked {
        check_link(way)?;
    }
    let real = real_path(way).map_err(Distrust::look(way))?;
    for part in real.ancestors() {
        let facts = fs::symlink_metadata(part).map_err(Distrust::look(part))?;
        if part == real && way == looked {
            check_facts(part, &facts)?;
        }
        let owner = facts.uid();
        if !is_ours(owner) {
            let path = part.to_owned();
            return Err(Distrust::Owner { path, owner });
        }
        if facts.mode() & (LOOSE | STICKY) == LOOSE {
            return Err(Distrust::Writable {
                path: part.to_owned(),
                owner,
                mode: facts.mode() & 0o7777,
            });
        }
    }
    Ok(())
}

/// Reads a text whose words are obeyed, and whether they are this user's or root's alone: the file
/// is theirs, nobody else may write it, and nobody can put another one in its place in a folder
/// that everybody may write.
///
/// # Errors
/// As of the system; or it is no text.
pub fn read_obeyed(file: &Path) -> io::Result<(String, Result<(), Distrust>)> {
    let mut open = fs::File::open(file)?;
    // Of what is read, whatever lies there a moment later.
    let facts = open.metadata()?;
    let mut text = String::new();
    open.read_to_string(&mut text)?;
    Ok((text, check_said(file, &facts)))
}

/// As `read_obeyed`, of a file that is read otherwise.
///
/// # Errors
/// Somebody else may have written it.
pub fn check_obeyed(file: &Path) -> Result<(), Distrust> {
    let facts = fs::metadata(file).map_err(Distrust::look(file))?;
    check_said(file, &facts)
}

fn check_said(file: &Path, facts: &Metadata) -> Result<(), Distrust> {
    // By the name that people know.
    check_facts(file, facts)?;
    if !facts.is_file() {
        // A pipe has no folder.
        return Ok(());
    }
    let real = fs::canonicalize(file).map_err(Distrust::look(file))?;
    for folder in real.ancestors().skip(1) {
        let facts = fs::metadata(folder).map_err(Distrust::look(folder))?;
        if facts.mode() & (LOOSE | STICKY) == LOOSE {
            return Err(Distrust::Writable {
                path: folder.to_owned(),
                owner: facts.uid(),
                mode: facts.mode() & 0o7777,
            });
        }
    }
    Ok(())
}

/// Whether a folder lies where another user has put it for all to use: in one that everybody may
/// write, and it is neither this user's nor root's. What is made in it is then at that user's
/// mercy.
///
/// # Errors
/// It is so.
pub fn check_not_planted(folder: &Path) -> Result<(), Distrust> {
    let path = std::path::absolute(folder).map_err(Distrust::look(folder))?;
    for part in path.ancestors() {
        let (Some(parent), Ok(facts)) = (part.parent(), fs::symlink_metadata(part)) else {
            continue;
        };
        let open = fs::metadata(parent).is_ok_and(|parent| parent.mode() & LOOSE != 0);
        if open && !is_ours(facts.uid()) {
            let (path, owner) = (part.to_owned(), facts.uid());
            return Err(Distrust::Owner { path, owner });
        }
    }
    Ok(())
}

/// A link is one's own, or is not followed.
fn check_link(path: &Path) -> Result<(), Distrust> {
    let facts = fs::symlink_metadata(path).map_err(Distrust::look(path))?;
    if facts.is_symlink() && !is_ours(facts.uid()) {
        return Err(Distrust::Link {
            path: path.to_owned(),
            owner: facts.uid(),
        });
    }
    Ok(())
}

fn is_ours(owner: u32) -> bool {
    owner == 0 || owner == geteuid().as_raw()
}

/// A group that has the number of its user is that user's own, which is how most systems make it,
/// with an umask that lets it write (`useradd(8)`, `USERGROUPS_ENAB`).
fn others_may_write(facts: &Metadata) -> bool {
    let own = geteuid().as_raw();
    let private = own != 0 && facts.gid() == own && getegid().as_raw() == own;
    facts.mode() & LOOSE != 0 || (facts.mode() & GROUP != 0 && !private)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::{chown, symlink};

    use super::*;

    fn mode(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn what_is_hidden_is_for_its_owner_alone() {
        let place = tempfile::tempdir().unwrap();
        let outside = place.path().join("outside");
        fs::write(&outside, "").unwrap();
        let folder = place.path().join("run");
        fs::create_dir_all(folder.join("trials/001")).unwrap();
        let (record, program) = (
            folder.join("trials/001/trial.json"),
            folder.join("start.sh"),
        );
        for (file, bits) in [(&outside, 0o644), (&record, 0o644), (&program, 0o755)] {
            fs::write(file, "").unwrap();
            mode(file, bits);
        }
        symlink(&outside, folder.join("link")).unwrap();
        hide_tree(&folder).unwrap();
        let bits = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
        assert!(is_hidden(&folder).unwrap() && !is_hidden(&outside).unwrap());
        assert_eq!(bits(&folder.join("trials/001")), 0o700);
        assert_eq!((bits(&record), bits(&program)), (0o600, 0o700));
        assert_eq!(bits(&outside), 0o644, "a link's aim is not in the folder");
    }

    #[test]
    fn ones_own_is_trusted_until_others_may_write_it() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("in/file");
        fs::create_dir(place.path().join("in")).unwrap();
        fs::write(&file, "").unwrap();
        symlink("file", place.path().join("in/link")).unwrap();
        mode(&file, 0o644);
        mode(&place.path().join("in"), 0o755);
        check_tree(place.path()).unwrap();
        check_program_tree(place.path()).unwrap();
        check_program_tree(&place.path().join("not/there/yet")).unwrap();
        assert!(matches!(
            check_own(&place.path().join("in/link")),
            Err(Distrust::Link { .. })
        ));
        mode(&file, 0o666);
        let error = check_tree(place.path()).unwrap_err().to_string();
        assert!(error.contains("file") && error.contains("0666"), "{error}");
        close_tree(place.path()).unwrap();
        check_tree(place.path()).unwrap();
    }

    #[test]
    fn what_is_another_users_is_not_trusted() {
        if !geteuid().is_root() {
            return;
        }
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("home/.cache");
        fs::create_dir_all(&folder).unwrap();
        chown(place.path().join("home"), Some(1234), None).unwrap();
        check_own(&folder).unwrap();
        for path in [&folder, &folder.join("weir")] {
            let error = check_program_tree(path).unwrap_err().to_string();
            assert!(error.contains("belongs to user 1234"), "{error}");
        }
        fs::write(folder.join("a.jar"), "").unwrap();
        chown(folder.join("a.jar"), Some(65534), None).unwrap();
        let error = check_tree(&folder).unwrap_err().to_string();
        assert!(error.contains("a.jar: it belongs to user 65534"), "{error}");
        mode(&folder, 0o775);
        assert!(matches!(check_own(&folder), Err(Distrust::Writable { .. })));
    }
}
