//! Opening a file: first it is held, then it is known, then it is used.
//!
//! `O_PATH` holds what a name leads to without touching it. What is held cannot be exchanged for
//! something else, the kernel says where it lies, and it is opened by its number, not by its name.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, fstat, ftruncate, open, openat, unlinkat};
use rustix::io::Errno;

use crate::place;
use crate::rule::{Access, Reach};

/// How often a name is tried that another process makes and deletes meanwhile.
const TRIES: usize = 3;

/// What becomes of what a file held before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteMode {
    /// It stays, and what is written comes after it.
    Append,
    /// It goes.
    Replace,
    /// It stays, can be read, and is written over.
    Update,
}

/// Something that is held and within reach.
struct Held {
    fd: OwnedFd,
    stat: Stat,
}

impl Reach {
    /// Opens a file to read it.
    ///
    /// # Errors
    /// It is out of reach (see [`is_refusal`](crate::is_refusal)), missing, a folder, a pipe or a
    /// device.
    pub fn read(&self, path: &Path) -> io::Result<File> {
        let held = self.hold(path, Access::Read)?;
        reopen(&held, OFlags::RDONLY)
    }

    /// Reads a whole file of at most so many bytes.
    ///
    /// # Errors
    /// As for [`Self::read`]; or it is larger.
    pub fn read_whole(&self, path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let file = self.read(path)?;
        file.take(bytes_max + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > bytes_max {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok(bytes)
    }

    /// How many bytes a file has that could be read.
    ///
    /// # Errors
    /// As for [`Self::read`].
    pub fn length(&self, path: &Path) -> io::Result<u64> {
        let held = self.hold(path, Access::Read)?;
        Ok(held.stat.st_size.try_into().unwrap_or(0))
    }

    /// Opens a file to write it, and makes it if it is missing.
    ///
    /// # Errors
    /// As for [`Self::read`]; or it cannot be made.
    pub fn write(&self, path: &Path, mode: WriteMode) -> io::Result<File> {
        let flags = match mode {
            WriteMode::Append => OFlags::WRONLY | OFlags::APPEND,
            WriteMode::Replace => OFlags::WRONLY,
            WriteMode::Update => OFlags::RDWR,
        };
        for _ in 0..TRIES {
            match self.hold(path, Access::Write) {
                Ok(held) => {
                    let file = reopen(&held, flags)?;
                    let is_file = FileType::from_raw_mode(held.stat.st_mode).is_file();
                    if mode == WriteMode::Replace && is_file {
                        ftruncate(&file, 0)?;
                    }
                    return Ok(file);
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
            match self.make(path, flags) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => return made,
            }
        }
        // Whoever else is at work there is quicker.
        Err(io::ErrorKind::NotFound.into())
    }

    /// Makes the folder of a file that is going to be written, as JMeter does for results.
    ///
    /// # Errors
    /// It is out of reach, or cannot be made.
    pub fn make_folder_of(&self, path: &Path) -> io::Result<()> {
        let (parent, _) = divided(path)?;
        self.make_folders(&parent)
    }

    /// Makes a folder, and those above it.
    ///
    /// # Errors
    /// As for [`Self::make_folder_of`].
    pub fn make_folders(&self, path: &Path) -> io::Result<()> {
        let place = place::of_name(path);
        self.permit(&place, Access::Write)?;
        fs::create_dir_all(place)
    }

    /// Removes a file, a link as such, or an empty folder.
    ///
    /// # Errors
    /// It is out of reach or missing, or a folder that holds something.
    pub fn remove(&self, path: &Path) -> io::Result<()> {
        let (folder, name) = self.hold_folder_of(path)?;
        match unlinkat(&folder, name, AtFlags::empty()) {
            Err(Errno::ISDIR) => Ok(unlinkat(&folder, name, AtFlags::REMOVEDIR)?),
            removed => Ok(removed?),
        }
    }

    /// Whether a folder is there.
    pub fn is_folder(&self, path: &Path) -> bool {
        let held = self.known(path, Access::Read);
        held.is_ok_and(|held| FileType::from_raw_mode(held.stat.st_mode).is_dir())
    }

    /// Whether a file or folder is there; what is out of reach is not.
    pub fn exists(&self, path: &Path) -> bool {
        let held = self.known(path, Access::Read);
        held.is_ok()
    }

    /// Holds a file.
    fn hold(&self, path: &Path, access: Access) -> io::Result<Held> {
        let held = self.known(path, access)?;
        let identity = (held.stat.st_dev, held.stat.st_ino);
        match FileType::from_raw_mode(held.stat.st_mode) {
            FileType::RegularFile => Ok(held),
            FileType::Directory => Err(io::ErrorKind::IsADirectory.into()),
            _ if self.is_special(identity) || is_null(&held.stat) => Ok(held),
            _ => Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "a pipe or device is no file",
            )),
        }
    }

    /// Holds whatever a name leads to, if that is within reach.
    fn known(&self, path: &Path, access: Access) -> io::Result<Held> {
        let fd = match open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) {
            Ok(fd) => fd,
            Err(errno) => {
                // What is out of reach does not tell whether it is there.
                self.permit(&place::of_name(path), access)?;
                return Err(errno.into());
            }
        };
        let stat = fstat(&fd)?;
        if self.is_special((stat.st_dev, stat.st_ino)) {
            return Ok(Held { fd, stat });
        }
        let place = place::of_held(&fd)?;
        if stat.st_nlink == 0 {
            return Err(io::ErrorKind::NotFound.into());
        }
        self.permit(&place, access)?;
        Ok(Held { fd, stat })
    }

    /// Holds the folder of what is going to be made or removed there, and its name in it.
    fn hold_folder_of<'p>(&self, path: &'p Path) -> io::Result<(OwnedFd, &'p OsStr)> {
        let (parent, name) = divided(path)?;
        let folder = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = match open(&parent, folder, Mode::empty()) {
            Ok(folder) => folder,
            Err(errno) => {
                // What is out of reach does not tell whether it is there.
                self.permit(&place::of_name(path), Access::Write)?;
                return Err(errno.into());
            }
        };
        self.permit(&place::of_held(&folder)?.join(name), Access::Write)?;
        Ok((folder, name))
    }

    /// Makes a file that is not there, also not as a link.
    fn make(&self, path: &Path, flags: OFlags) -> io::Result<File> {
        let path = place::of_name(path);
        let (folder, name) = self.hold_folder_of(&path)?;
        let flags = flags | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        // Who else may read it is for the user's umask.
        match openat(&folder, name, flags, Mode::from_raw_mode(0o666)) {
            Ok(file) => Ok(File::from(file)),
            Err(Errno::LOOP) => Err(io::ErrorKind::AlreadyExists.into()),
            Err(errno) => Err(errno.into()),
        }
    }
}

fn reopen(held: &Held, flags: OFlags) -> io::Result<File> {
    let flags = flags | OFlags::CLOEXEC | OFlags::NOCTTY;
    let opened = open(place::by_number(&held.fd), flags, Mode::empty())?;
    Ok(File::from(opened))
}

fn is_null(stat: &Stat) -> bool {
    const NULL: (u32, u32) = (1, 3);
    let device = (
        rustix::fs::major(stat.st_rdev),
        rustix::fs::minor(stat.st_rdev),
    );
    FileType::from_raw_mode(stat.st_mode).is_char_device() && device == NULL
}

/// A file's folder and its name in it.
fn divided(path: &Path) -> io::Result<(PathBuf, &OsStr)> {
    let name = path.file_name().ok_or(io::ErrorKind::IsADirectory)?;
    let parent = path.parent().unwrap_or(Path::new(""));
    let parent = if parent.as_os_str().is_empty() {
        Path::new(".")
    } else {
        parent
    };
    Ok((parent.to_owned(), name))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use std::io::Write as _;
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::is_refusal;

    /// A folder with a plan in `own/`, and a secret beside it.
    struct Ground {
        folder: tempfile::TempDir,
        reach: Reach,
    }

    impl Ground {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let own = folder.path().join("own");
            fs::create_dir(&own).unwrap();
            fs::create_dir(own.join(".ssh")).unwrap();
            fs::write(own.join("users.csv"), "u").unwrap();
            fs::write(own.join(".ssh/key"), "key").unwrap();
            fs::write(folder.path().join("secret"), "secret").unwrap();
            let reach = Reach::of_plan(Some(&own.join("plan.jmx")));
            Self { folder, reach }
        }

        fn at(&self, name: &str) -> PathBuf {
            self.folder.path().join(name)
        }

        #[track_caller]
        fn is_refused(&self, name: &str) {
            let path = self.at(name);
            for error in [
                self.reach.read(&path).map(drop).unwrap_err(),
                self.reach
                    .write(&path, WriteMode::Replace)
                    .map(drop)
                    .unwrap_err(),
            ] {
                assert!(is_refusal(&error), "{name}: {error}");
                let says = error.to_string();
                assert!(says.contains("--allow-files"), "{says}");
            }
            assert!(!self.reach.exists(&path), "{name}");
        }
    }

    #[test]
    fn a_plan_reaches_its_own_folder_only() {
        let ground = Ground::new();
        let own = ground.at("own/users.csv");
        assert_eq!(ground.reach.read_whole(&own, 9).unwrap(), b"u");
        assert_eq!(ground.reach.length(&own).unwrap(), 1);
        assert!(ground.reach.exists(&ground.at("own")));
        symlink(ground.at("secret"), ground.at("own/link")).unwrap();
        symlink(ground.folder.path(), ground.at("own/up")).unwrap();
        symlink(ground.at("new"), ground.at("own/dangling")).unwrap();
        for outside in [
            "secret",
            "own/../secret",
            "own/link",
            "own/up/secret",
            "own/up/made",
            "own/dangling",
            "own/.ssh/key",
            "own/.bashrc",
            "/etc/passwd",
            "/proc/self/environ",
            "/proc/self/cwd/../../../../../../../../etc/passwd",
        ] {
            ground.is_refused(outside);
        }
        assert_eq!(fs::read(ground.at("secret")).unwrap(), b"secret");
        assert!(!ground.at("made").exists() && !ground.at("new").exists());
        let refused = ground.reach.take_refused();
        assert_eq!(
            refused[0].place,
            ground.at("secret").canonicalize().unwrap()
        );
        // What leads to the same place is one refusal.
        let twice = refused.iter().filter(|of| of.place.ends_with("secret"));
        assert_eq!(twice.count(), 2);
    }

    #[test]
    fn what_is_within_reach_can_be_removed() {
        let ground = Ground::new();
        symlink(ground.at("secret"), ground.at("own/link")).unwrap();
        symlink(ground.folder.path(), ground.at("own/up")).unwrap();
        let remove = |name: &str| ground.reach.remove(&ground.at(name));
        for name in ["secret", "own/../secret", "own/up/secret", "own/.ssh/key"] {
            assert!(is_refusal(&remove(name).unwrap_err()), "{name}");
        }
        assert_eq!(fs::read(ground.at("secret")).unwrap(), b"secret");
        // A link is removed itself, not what it leads to.
        remove("own/link").unwrap();
        assert_eq!(fs::read(ground.at("secret")).unwrap(), b"secret");
        ground.reach.make_folders(&ground.at("own/a/b")).unwrap();
        assert!(ground.reach.is_folder(&ground.at("own/a")));
        assert!(!ground.reach.is_folder(&ground.at("own/users.csv")));
        assert!(remove("own/a").is_err());
        for name in ["own/a/b", "own/a", "own/users.csv"] {
            remove(name).unwrap();
            assert!(!ground.at(name).exists(), "{name}");
        }
        let missing = remove("own/users.csv").unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
        let looking = Reach::of_plan(Some(&ground.at("own/plan.jmx"))).read_only();
        fs::write(ground.at("own/kept"), "k").unwrap();
        assert!(looking.remove(&ground.at("own/kept")).is_err());
        assert!(ground.at("own/kept").exists());
    }

    #[test]
    fn links_that_stay_inside_are_links() {
        let ground = Ground::new();
        symlink("made", ground.at("own/dangling")).unwrap();
        let made = ground
            .reach
            .write(&ground.at("own/dangling"), WriteMode::Append);
        made.unwrap().write_all(b"m").unwrap();
        assert_eq!(fs::read(ground.at("own/made")).unwrap(), b"m");
        symlink("users.csv", ground.at("own/link")).unwrap();
        let read = ground.reach.read_whole(&ground.at("own/link"), 9);
        assert_eq!(read.unwrap(), b"u");
        let written = ground
            .reach
            .write(&ground.at("own/link"), WriteMode::Append);
        written.unwrap().write_all(b"v").unwrap();
        assert_eq!(fs::read(ground.at("own/users.csv")).unwrap(), b"uv");
        let made = ground
            .reach
            .write(&ground.at("own/new"), WriteMode::Replace);
        made.unwrap().write_all(b"n").unwrap();
        let again = ground
            .reach
            .write(&ground.at("own/new"), WriteMode::Replace);
        drop(again.unwrap());
        assert_eq!(fs::read(ground.at("own/new")).unwrap(), b"");
        ground
            .reach
            .make_folder_of(&ground.at("own/a/b/c"))
            .unwrap();
        assert!(ground.at("own/a/b").is_dir());
        ground.reach.make_folder_of(&ground.at("a/b")).unwrap_err();
        assert!(!ground.at("a").exists());
    }

    #[test]
    fn what_the_user_names_is_within_reach() {
        let ground = Ground::new();
        let file = ground.reach.clone().allow(&ground.at("secret"));
        assert_eq!(file.read_whole(&ground.at("secret"), 9).unwrap(), b"secret");
        let hidden = ground.reach.clone().allow(&ground.at("own/.ssh"));
        assert_eq!(
            hidden.read_whole(&ground.at("own/.ssh/key"), 9).unwrap(),
            b"key"
        );
        let folder = ground.reach.clone().allow(ground.folder.path());
        drop(folder.write(&ground.at("new"), WriteMode::Append).unwrap());
        // A value on the command line may be a path by chance: `/` is none that opens everything.
        let value = ground.reach.clone().allow_file(ground.folder.path());
        assert!(is_refusal(&value.read(&ground.at("secret")).unwrap_err()));
        let value = ground.reach.clone().allow_file(&ground.at("secret"));
        value.read(&ground.at("secret")).unwrap();
        let upwards = ground.reach.clone().allow_file(&ground.at("own/../secret"));
        upwards.read(&ground.at("secret")).unwrap();
    }

    #[test]
    fn links_that_came_with_the_plan_are_not_what_the_user_names() {
        let ground = Ground::new();
        symlink(ground.at("secret"), ground.at("own/users")).unwrap();
        symlink(ground.folder.path(), ground.at("own/data")).unwrap();
        symlink(ground.at("missing"), ground.at("own/later")).unwrap();
        for name in ["users", "data/secret", "later"] {
            let whole = ground.at("own").join(name);
            for name in [&*whole, Path::new(name)] {
                let reach = ground.reach.clone().allow_file(name);
                assert!(is_refusal(&reach.read(&whole).unwrap_err()), "{name:?}");
                let written = reach.write(&whole, WriteMode::Append);
                assert!(is_refusal(&written.unwrap_err()), "{name:?}");
            }
        }
        // A link of the user's elsewhere is followed.
        symlink(ground.at("secret"), ground.at("link")).unwrap();
        let reach = ground.reach.clone().allow_file(&ground.at("link"));
        reach.read(&ground.at("link")).unwrap();
    }

    #[test]
    fn pipes_devices_and_folders_are_no_files() {
        let ground = Ground::new();
        let pipe = ground.at("own/pipe");
        let mode = Mode::from_raw_mode(0o600);
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, mode).unwrap();
        symlink("/dev/zero", ground.at("own/zero")).unwrap();
        let reach = ground.reach.clone().allow(Path::new("/dev"));
        let kind = |path: &Path| reach.read(path).map(drop).unwrap_err().kind();
        assert_eq!(kind(&pipe), io::ErrorKind::InvalidInput);
        assert_eq!(kind(&ground.at("own/zero")), io::ErrorKind::InvalidInput);
        assert_eq!(kind(&ground.at("own")), io::ErrorKind::IsADirectory);
        let written = reach.write(&pipe, WriteMode::Append).map(drop);
        assert_eq!(written.unwrap_err().kind(), io::ErrorKind::InvalidInput);
        let nothing = ground
            .reach
            .write(Path::new("/dev/null"), WriteMode::Replace);
        nothing.unwrap().write_all(b"x").unwrap();
        let large = ground.reach.read_whole(&ground.at("own/users.csv"), 0);
        assert_eq!(large.unwrap_err().kind(), io::ErrorKind::FileTooLarge);
    }

    #[test]
    fn looking_at_a_plan_writes_nothing() {
        let ground = Ground::new();
        let reach = ground.reach.clone().read_only();
        reach.read(&ground.at("own/users.csv")).unwrap();
        reach
            .write(&ground.at("own/new"), WriteMode::Append)
            .unwrap_err();
        assert!(!ground.at("own/new").exists());
    }

    #[test]
    fn names_are_found_here_and_then_beside_the_plan() {
        let ground = Ground::new();
        let beside = ground.reach.find("users.csv");
        assert_eq!(beside, ground.at("own/users.csv"));
        // The tests of a crate run in its folder.
        assert_eq!(ground.reach.find("Cargo.toml"), Path::new("Cargo.toml"));
        assert_eq!(ground.reach.find("/etc/passwd"), Path::new("/etc/passwd"));
    }
}
