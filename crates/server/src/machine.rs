//! The machine on which a server runs: its files and processes, only read.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::os::fd::AsRawFd as _;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::rc::Rc;
use std::time::SystemTime;

use rustix::fs::{Mode, OFlags, ResolveFlags, openat2, readlinkat};

use weir_jvm::Vm;
use weir_ssh::{Connection, Output, quoted};
use zip::ZipArchive;

use crate::process::ProcessFacts;
use crate::trust::{Runner, Step};

/// Why a program is not run that lies elsewhere than its name says.
const OTHER_ROOT: &str = "the process sees other files than Weir, as in a container";

/// Most that is read of a file or an entry of a jar.
const LARGEST_BYTES: u64 = 16 * 1024 * 1024;

/// Most that is fetched of a jar of another machine.
const LARGEST_FAR_JAR: usize = 96 * 1024 * 1024;

/// The machine that a server runs on: this one, or one that is reached over ssh.
#[derive(Debug)]
pub struct Machine {
    place: Place,
    /// The files whose content was asked for.
    read: RefCell<BTreeSet<PathBuf>>,
}

#[derive(Debug)]
enum Place {
    /// This machine, with what stands in front of all paths.
    Here(PathBuf),
    /// This machine, with the files that a process sees below its own root.
    Inside(PathBuf),
    /// Another one.
    Far {
        connection: Connection,
        /// The jar that was fetched last: it is looked into several times.
        jar: RefCell<Option<(PathBuf, Rc<[u8]>)>>,
    },
}

/// A jar that is open.
trait Archive: Read + Seek {}
impl<T: Read + Seek> Archive for T {}

impl Machine {
    /// This machine.
    pub fn here() -> Self {
        Self::at(Place::Here(PathBuf::from("/")))
    }

    fn at(place: Place) -> Self {
        Self {
            place,
            read: RefCell::default(),
        }
    }

    /// Another machine.
    pub fn far(connection: Connection) -> Self {
        Self::at(Place::Far {
            connection,
            jar: RefCell::new(None),
        })
    }

    /// A tree of files as if it were a machine's.
    #[cfg(test)]
    pub(crate) fn of_tree(root: &Path) -> Self {
        Self::at(Place::Here(root.to_owned()))
    }

    /// The machine with the files that a process sees, where those are others than Weir sees under
    /// the same names, as in a container.
    ///
    /// # Errors
    /// They are others, and cannot be read from here.
    pub(crate) fn seen_by(&self, facts: &ProcessFacts) -> Result<Option<Self>, String> {
        match &self.place {
            Place::Here(root) if root == Path::new("/") && !has_our_files(facts.pid) => {
                let root = PathBuf::from(format!("/proc/{}/root", facts.pid));
                Ok(Some(Self::at(Place::Inside(root))))
            }
            Place::Far { connection, .. } => {
                let same = connection.run(&has_files_of_shell(facts.pid));
                if same.is_ok_and(|output| output.succeeded()) {
                    Ok(None)
                } else {
                    Err(OTHER_ROOT.to_owned())
                }
            }
            Place::Here(_) | Place::Inside(_) => Ok(None),
        }
    }

    /// The files that were read and have changed since a moment; of another machine, none.
    pub(crate) fn changed_since(&self, moment: SystemTime) -> Vec<PathBuf> {
        let changed = |path: &PathBuf| {
            let file = self.enter(path, OFlags::PATH).and_then(Result::ok);
            let facts = file.and_then(|file| file.metadata().ok());
            let modified = facts.and_then(|facts| facts.modified().ok());
            modified.is_some_and(|modified| modified > moment)
        };
        self.read
            .borrow()
            .iter()
            .filter(|path| changed(path))
            .cloned()
            .collect()
    }

    /// Whether it is this one, whose loopback addresses can be asked.
    pub(crate) fn is_here(&self) -> bool {
        !matches!(self.place, Place::Far { .. })
    }

    /// Opens what stands at a path of this machine; nothing of another one.
    fn enter(&self, path: &Path, flags: OFlags) -> Option<io::Result<File>> {
        match &self.place {
            Place::Here(root) => Some(opened(&below(root, path), flags)),
            Place::Inside(root) => Some(entered(root, path, flags)),
            Place::Far { .. } => None,
        }
    }

    /// Opens a regular file of this machine; nothing of another one. Its name may come from another
    /// user's process: whoever opened a pipe would wait for ever, and a device may do anything when
    /// it is opened.
    fn open(&self, path: &Path) -> Option<io::Result<File>> {
        let is_regular = |file: &File| file.metadata().is_ok_and(|facts| facts.is_file());
        let refused = || io::Error::other(format!("`{}` is no regular file", path.display()));
        if !self
            .enter(path, OFlags::PATH)?
            .is_ok_and(|file| is_regular(&file))
        {
            return Some(Err(refused()));
        }
        let file = self.enter(path, OFlags::NONBLOCK | OFlags::NOCTTY)?;
        Some(file.and_then(|file| is_regular(&file).then_some(file).ok_or_else(refused)))
    }

    /// The content of a file.
    ///
    /// # Errors
    /// It cannot be read.
    pub(crate) fn bytes(&self, path: &Path) -> io::Result<Vec<u8>> {
        if let Place::Far { connection, .. } = &self.place {
            return fetch(connection, path, LARGEST_BYTES as usize);
        }
        let file = self.open(path).expect("the machine is this one")?;
        if !path.starts_with("/proc") {
            self.read.borrow_mut().insert(path.to_owned());
        }
        let mut bytes = Vec::new();
        file.take(LARGEST_BYTES).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// The text of a file, if it can be read.
    pub(crate) fn text(&self, path: &Path) -> Option<String> {
        let bytes = self.bytes(path).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Where a symbolic link leads to.
    pub(crate) fn link(&self, path: &Path) -> Option<PathBuf> {
        match &self.place {
            Place::Here(root) => fs::read_link(below(root, path)).ok(),
            Place::Inside(root) => {
                let folder = entered(root, path.parent()?, OFlags::PATH).ok()?;
                let target = readlinkat(&folder, path.file_name()?, Vec::new()).ok()?;
                Some(PathBuf::from(OsString::from_vec(target.into_bytes())))
            }
            Place::Far { connection, .. } => {
                let target = connection.link(path.to_str()?).ok()??;
                Some(PathBuf::from(target))
            }
        }
    }

    /// Whether there is a file.
    pub(crate) fn is_file(&self, path: &Path) -> bool {
        match &self.place {
            Place::Here(_) | Place::Inside(_) => {
                let file = self.enter(path, OFlags::PATH).and_then(Result::ok);
                let facts = file.and_then(|file| file.metadata().ok());
                facts.is_some_and(|facts| facts.is_file())
            }
            Place::Far { connection, .. } => {
                says(connection, &["test", "-f"], path).is_some_and(|output| output.succeeded())
            }
        }
    }

    /// The names in a directory, in order; none when it cannot be read.
    pub(crate) fn names(&self, path: &Path) -> Vec<String> {
        self.listing(path).unwrap_or_default()
    }

    /// The names in a directory, in order; none when there is no such directory.
    ///
    /// # Errors
    /// There is one, and it cannot be read.
    pub(crate) fn listing(&self, path: &Path) -> io::Result<Vec<String>> {
        let mut names: Vec<String> = match &self.place {
            Place::Here(root) => names_in(fs::read_dir(below(root, path)))?,
            Place::Inside(root) => {
                let folder = entered(root, path, OFlags::PATH | OFlags::DIRECTORY);
                names_in(folder.and_then(|folder| {
                    fs::read_dir(format!("/proc/self/fd/{}", folder.as_raw_fd()))
                }))?
            }
            Place::Far { connection, .. } => {
                let refused =
                    || io::Error::other(format!("`{}` cannot be read there", path.display()));
                let listed = says(connection, &["ls", "-1A", "--"], path).ok_or_else(refused)?;
                if !listed.succeeded() {
                    let is_there = says(connection, &["test", "-d"], path);
                    return if is_there.is_some_and(|output| output.succeeded()) {
                        Err(refused())
                    } else {
                        Ok(Vec::new())
                    };
                }
                listed.text().lines().map(str::to_owned).collect()
            }
        };
        names.sort();
        Ok(names)
    }

    /// The names of what is in a jar.
    pub(crate) fn jar_names(&self, jar: &Path) -> Vec<String> {
        let Some(archive) = self.jar(jar) else {
            return Vec::new();
        };
        let names = archive.file_names().flatten();
        names.map(std::borrow::Cow::into_owned).collect()
    }

    /// The text of an entry of a jar.
    pub(crate) fn jar_text(&self, jar: &Path, entry: &str) -> Option<String> {
        let mut archive = self.jar(jar)?;
        let mut text = String::new();
        let entry = archive.by_name(entry).ok()?;
        entry.take(LARGEST_BYTES).read_to_string(&mut text).ok()?;
        Some(text)
    }

    fn jar(&self, path: &Path) -> Option<ZipArchive<Box<dyn Archive>>> {
        let file: Box<dyn Archive> = match &self.place {
            Place::Here(_) | Place::Inside(_) => Box::new(self.open(path)?.ok()?),
            Place::Far { connection, jar } => {
                let kept = jar.borrow().clone().filter(|(kept, _)| kept == path);
                let bytes = match kept {
                    Some((_, bytes)) => bytes,
                    None => fetch(connection, path, LARGEST_FAR_JAR).ok()?.into(),
                };
                *jar.borrow_mut() = Some((path.to_owned(), Rc::clone(&bytes)));
                Box::new(io::Cursor::new(bytes))
            }
        };
        ZipArchive::new(file).ok()
    }

    /// What the program of a process prints about itself, or why it is not asked.
    ///
    /// Only a program that nobody else could have put there is run, see [`Runner`]: whoever starts
    /// a process chooses its program, its libraries and, in a container, all that is below its
    /// root.
    pub(crate) fn ask_program(&self, word: &str, facts: &ProcessFacts) -> Result<String, String> {
        let (program, runner) = self.own_program(facts)?;
        let libraries = self.libraries(facts, runner);
        match &self.place {
            Place::Here(_) | Place::Inside(_) => {
                let output = Command::new(&program)
                    .arg(word)
                    .envs(libraries.map(|path| ("LD_LIBRARY_PATH", path)))
                    .current_dir("/")
                    .stdin(Stdio::null())
                    .output()
                    .map_err(|error| format!("`{}`: {error}", program.display()))?;
                // Some say it on the other stream (nginx).
                let says = [output.stdout, output.stderr].concat();
                Ok(String::from_utf8_lossy(&says).into_owned())
            }
            Place::Far { connection, .. } => {
                let program = quoted(program.to_str().unwrap_or_default());
                let path = libraries.map_or(String::new(), |path| {
                    format!("LD_LIBRARY_PATH={} ", quoted(&path))
                });
                let output = connection
                    .run(&format!("{path}{program} {} </dev/null 2>&1", quoted(word)))
                    .map_err(|error| error.to_string())?;
                Ok(output.text().into_owned())
            }
        }
    }

    /// The program of a process, if it may be run here, and who would run it; else why not.
    pub(crate) fn own_program(&self, facts: &ProcessFacts) -> Result<(PathBuf, Runner), String> {
        match &self.place {
            Place::Here(root) => {
                if root == Path::new("/") && !has_our_files(facts.pid) {
                    return Err(OTHER_ROOT.to_owned());
                }
                let runner = Runner::own();
                Ok((runner.trusted(&below(root, &facts.program))?, runner))
            }
            Place::Inside(_) => Err(OTHER_ROOT.to_owned()),
            Place::Far { connection, .. } => far_program(connection, facts),
        }
    }

    /// Why a file would better not be changed by whoever runs Weir.
    pub(crate) fn why_not_change(&self, path: &Path) -> Option<String> {
        match &self.place {
            Place::Here(root) => Runner::own().trusted(&below(root, path)).err(),
            Place::Inside(_) => Some(OTHER_ROOT.to_owned()),
            Place::Far { connection, .. } => {
                let judged = far_steps(connection, path, "true")
                    .and_then(|(_, steps, runner)| runner.judge(&steps));
                judged.err()
            }
        }
    }

    /// The folders of libraries that a process was told, those that are as good as its program:
    /// another user's process has been told whatever that user likes.
    fn libraries(&self, facts: &ProcessFacts, runner: Runner) -> Option<String> {
        let path = facts.environment.get("LD_LIBRARY_PATH")?;
        if !runner.trusts(facts.user) {
            return None;
        }
        let is_trusted = |folder: &&str| {
            // An empty one is the working directory, and `$ORIGIN` and the like are filled in by
            // the loader.
            let is_plain = folder.starts_with('/') && !folder.contains('$');
            is_plain && self.why_not_change(Path::new(folder)).is_none()
        };
        let trusted: Vec<&str> = path.split([':', ';']).filter(is_trusted).collect();
        (!trusted.is_empty()).then(|| trusted.join(":"))
    }

    /// A command that changes what belongs to the user of a process, as a command of whoever runs
    /// it: of root, it goes on as that user, who may have put a link in place of a file.
    pub(crate) fn as_user_of(&self, facts: &ProcessFacts, command: &str) -> String {
        let runner = match &self.place {
            Place::Here(_) | Place::Inside(_) => Some(Runner::own()),
            Place::Far { connection, .. } => {
                let told = connection.run("id -u").ok();
                let user = told.and_then(|told| told.text().trim().parse().ok());
                user.map(Runner::new)
            }
        };
        if facts.user == 0 || !runner.is_some_and(Runner::is_root) {
            return command.to_owned();
        }
        format!(
            "setpriv --reuid {} --regid {} --clear-groups /bin/sh -c {}",
            facts.user,
            facts.group,
            quoted(command)
        )
    }

    /// Why Jolokia's agent cannot be loaded into a virtual machine.
    pub(crate) fn why_no_agent(&self, facts: &ProcessFacts) -> Option<String> {
        if !self.is_here() {
            return Some("it can only be loaded on the machine that Weir runs on".to_owned());
        }
        let own = rustix::process::geteuid();
        if !own.is_root() && own.as_raw() != facts.user {
            return Some(format!(
                "the process belongs to user {}; only that user and root can load an agent",
                facts.user
            ));
        }
        match Vm::of(facts.pid) {
            Ok(Some(vm)) => {
                let spoken_to = vm.listens().and_then(|()| vm.is_reached());
                spoken_to.err().map(|error| error.to_string())
            }
            // A launcher that is no virtual machine itself.
            Ok(None) => Some("the process is no Java virtual machine".to_owned()),
            Err(error) => Some(error.to_string()),
        }
    }
}

/// The names of the entries; none where there is no such directory.
fn names_in(entries: io::Result<fs::ReadDir>) -> io::Result<Vec<String>> {
    let absent = [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory];
    let entries = match entries {
        Ok(entries) => entries,
        Err(error) if absent.contains(&error.kind()) => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let names = entries.map(|entry| entry.map(|entry| entry.file_name()));
    let names = names.collect::<io::Result<Vec<_>>>()?.into_iter();
    Ok(names
        .map(|name| name.to_string_lossy().into_owned())
        .collect())
}

/// A path below another root, with all links as they lead there: none leads out of it.
fn entered(root: &Path, path: &Path, flags: OFlags) -> io::Result<File> {
    let root = File::open(root)?;
    let within = path.strip_prefix("/").unwrap_or(path);
    let within = if within.as_os_str().is_empty() {
        Path::new(".")
    } else {
        within
    };
    let links = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
    let flags = flags | OFlags::CLOEXEC;
    Ok(File::from(openat2(
        root,
        within,
        flags,
        Mode::empty(),
        links,
    )?))
}

/// Opens what stands at a path, to read it.
fn opened(path: &Path, flags: OFlags) -> io::Result<File> {
    let flags = flags.bits().cast_signed();
    File::options().read(true).custom_flags(flags).open(path)
}

/// Whether a process sees the files that Weir sees under the same names.
fn has_our_files(pid: u32) -> bool {
    let mounts = |process: &str| fs::read_link(format!("/proc/{process}/ns/mnt")).ok();
    let root = |process: &str| {
        let facts = fs::metadata(format!("/proc/{process}/root/")).ok()?;
        Some((facts.dev(), facts.ino()))
    };
    let theirs = pid.to_string();
    let same_mounts = mounts(&theirs).is_some() && mounts(&theirs) == mounts("self");
    same_mounts && root(&theirs).is_some() && root(&theirs) == root("self")
}

/// [`has_our_files`] as a command of a shell.
fn has_files_of_shell(pid: u32) -> String {
    format!(
        "test \"$(readlink /proc/{pid}/ns/mnt)\" = \"$(readlink /proc/self/ns/mnt)\" && \
         test \"$(stat -Lc %d:%i /proc/{pid}/root/)\" = \"$(stat -Lc %d:%i /)\""
    )
}

fn far_program(connection: &Connection, facts: &ProcessFacts) -> Result<(PathBuf, Runner), String> {
    let (path, steps, runner) =
        far_steps(connection, &facts.program, &has_files_of_shell(facts.pid))?;
    runner.judge(&steps)?;
    Ok((path, runner))
}

/// A path of another machine behind all links, with the folders above it, and who is logged in
/// there; if a condition holds.
fn far_steps(
    connection: &Connection,
    path: &Path,
    condition: &str,
) -> Result<(PathBuf, Vec<Step>, Runner), String> {
    let unseen = || format!("`{}` cannot be looked at there", path.display());
    let script = far_script(path, condition).ok_or_else(unseen)?;
    let output = connection.run(&script).map_err(|error| error.to_string())?;
    steps_in(&output.text()).ok_or_else(|| {
        if output.text().trim() == "elsewhere" {
            OTHER_ROOT.to_owned()
        } else {
            unseen()
        }
    })
}

fn far_script(path: &Path, condition: &str) -> Option<String> {
    let named = quoted(path.to_str()?);
    Some(format!(
        "if {condition}; then id -u && p=$(readlink -f -- {named}) && while :; do stat -c '%u %g %f %n' -- \"$p\" || break; \
         test \"$p\" = / && break; p=$(dirname -- \"$p\"); done; else echo elsewhere; fi"
    ))
}

/// What that script prints.
fn steps_in(text: &str) -> Option<(PathBuf, Vec<Step>, Runner)> {
    let mut lines = text.lines();
    let runner = Runner::new(lines.next()?.parse().ok()?);
    let mut steps = Vec::new();
    for line in lines {
        let mut words = line.splitn(4, ' ');
        let user = words.next()?.parse().ok()?;
        let group = words.next()?.parse().ok()?;
        let mode = u32::from_str_radix(words.next()?, 16).ok()?;
        let path = PathBuf::from(words.next()?);
        steps.push(Step {
            path,
            user,
            group,
            mode,
        });
    }
    // From the file up to the root, each the folder of the one before; a name with an end of line
    // is none.
    let paths: Vec<&Path> = steps.iter().map(|step| step.path.as_path()).collect();
    let path = steps.first()?.path.clone();
    path.ancestors().eq(paths).then_some((path, steps, runner))
}

fn below(root: &Path, path: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}

/// The content of a file of another machine, which has at most so many bytes.
fn fetch(connection: &Connection, path: &Path, most: usize) -> io::Result<Vec<u8>> {
    // Whoever opened a pipe would wait for ever.
    let file = quoted(path.to_str().unwrap_or_default());
    let script = format!("test -f {file} && head -c {} -- {file}", most + 1);
    let output = connection.run(&script).ok().filter(Output::succeeded);
    let bytes = output.map(|output| output.stdout);
    bytes
        .filter(|bytes| bytes.len() <= most)
        .ok_or_else(|| io::Error::other(format!("`{}` cannot be read there", path.display())))
}

/// What a command says of a path of another machine.
fn says(connection: &Connection, words: &[&str], path: &Path) -> Option<Output> {
    let path = quoted(path.to_str()?);
    connection.run(&format!("{} {path}", words.join(" "))).ok()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use std::os::unix::fs::symlink;

    use rustix::fs::{CWD, Mode, mkfifoat};

    use super::*;

    /// Whoever opens a pipe waits for its other end.
    #[test]
    fn pipes_and_devices_are_not_opened() {
        let tree = tempfile::tempdir().unwrap();
        let machine = Machine::of_tree(tree.path());
        mkfifoat(CWD, tree.path().join("pipe"), Mode::RUSR | Mode::WUSR).unwrap();
        symlink("pipe", tree.path().join("link")).unwrap();
        symlink("/dev/zero", tree.path().join("zero")).unwrap();
        for name in ["/pipe", "/link", "/zero", "/"] {
            assert!(machine.bytes(Path::new(name)).is_err(), "{name}");
            assert!(machine.jar_names(Path::new(name)).is_empty(), "{name}");
        }
        fs::write(tree.path().join("file"), "text").unwrap();
        assert_eq!(machine.bytes(Path::new("/file")).unwrap(), b"text");
    }

    #[test]
    fn the_way_to_a_far_program_is_read_to_the_root_or_not_at_all() {
        let (path, steps, runner) = steps_in(
            "0\n0 0 81ed /usr/sbin/httpd\n0 0 41ed /usr/sbin\n0 0 41ed /usr\n0 0 41ed /\n",
        )
        .unwrap();
        assert_eq!(path, Path::new("/usr/sbin/httpd"));
        assert_eq!(runner.judge(&steps), Ok(()));
        for text in [
            "",
            "elsewhere\n",
            "0\n",
            "0\n0 0 81ed /usr/httpd\n0 0 41ed /usr\n",
            "0\n0 0 81ed /a\n0 0 41ed /\n0 0 41ed /\n",
            "0\n1000 0 81ed /tmp/a\n/usr/httpd\n0 0 41ed /tmp\n0 0 41ed /\n",
        ] {
            assert_eq!(steps_in(text), None, "{text}");
        }
    }

    /// The script itself, run by the shell of this machine.
    #[test]
    fn the_script_for_far_programs_tells_the_way_to_them() {
        let tree = tempfile::tempdir().unwrap();
        let shell = fs::canonicalize("/bin/sh").unwrap();
        symlink(&shell, tree.path().join("a 'b'")).unwrap();
        let script = far_script(
            &tree.path().join("a 'b'"),
            &has_files_of_shell(std::process::id()),
        );
        let output = Command::new("/bin/sh")
            .args(["-c", &script.unwrap()])
            .output();
        let text = String::from_utf8(output.unwrap().stdout).unwrap();
        let (path, steps, runner) = steps_in(&text).unwrap();
        assert_eq!(path, shell);
        assert_eq!(runner, Runner::own());
        let facts = fs::symlink_metadata(&shell).unwrap();
        assert_eq!((steps[0].user, steps[0].mode), (facts.uid(), facts.mode()));
    }
}
