//! HotSpot's attach protocol: one command per connection to a socket of the virtual machine.
//!
//! After OpenJDK's `AttachListener` (`services/attachListener.cpp`,
//! `os/posix/attachListener_posix.cpp`): a virtual machine opens `/tmp/.java_pidPID` when it gets
//! SIGQUIT while a file `.attach_pidPID` lies in its working directory or in `/tmp`. A command is
//! the protocol's version, its name and always three arguments, each ended by a zero byte; the
//! answer is a status line and text until the connection ends. Works for the same user, and for
//! root.
//!
//! Anybody can put a socket of that name there first. It is spoken to only when it belongs to the
//! user of the virtual machine, and when the kernel says that the virtual machine is who listens.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, FileType, unlinkat};
use rustix::net::sockopt::socket_peercred;

use crate::error::JvmError;
use crate::folder::{Folder, not_of};
use crate::process::Vm;

/// How long the virtual machine may take to open its socket.
const OPENS_WITHIN: Duration = Duration::from_secs(10);
/// How often the socket is looked for meanwhile.
const LOOK: Duration = Duration::from_millis(20);
/// How long an answer may take: a virtual machine that collects garbage answers afterwards.
const ANSWERS_WITHIN: Duration = Duration::from_secs(30);
/// Most that is read of an answer.
const LARGEST_ANSWER_BYTES: u64 = 64 * 1024 * 1024;

/// A virtual machine that listens to commands.
#[derive(Debug, Clone)]
pub struct Attach {
    vm: Vm,
    folder: Arc<Folder>,
    /// The name of the socket in the folder.
    socket: String,
}

impl Attach {
    /// Makes a virtual machine listen, unless it does already.
    pub fn to(vm: &Vm) -> Result<Self, JvmError> {
        let folder = Folder::temporary(vm).map_err(|source| JvmError::Process {
            pid: vm.pid(),
            source,
        })?;
        let attach = Self {
            vm: vm.clone(),
            folder: Arc::new(folder),
            socket: format!(".java_pid{}", vm.own_pid()),
        };
        match attach.connect() {
            Ok(_) => {}
            Err(error) if attach.is_in_the_way(&error) => {
                return Err(JvmError::file("speak through", attach.path())(error));
            }
            Err(_) => {
                vm.listens()?;
                attach.open()?;
            }
        }
        Ok(attach)
    }

    /// The virtual machine.
    pub fn vm(&self) -> &Vm {
        &self.vm
    }

    /// Runs a diagnostic command as `jcmd` does: `Thread.print`, `VM.flags`,
    /// `VM.system_properties`.
    pub fn jcmd(&self, command: &str) -> Result<String, JvmError> {
        self.run("jcmd", [command, "", ""])
    }

    /// Loads a Java agent from a jar with its options. The virtual machine must see the jar under
    /// the same path.
    pub fn load_agent(&self, jar: &Path, options: &str) -> Result<(), JvmError> {
        let failed = |why: String| JvmError::Agent {
            pid: self.vm.pid(),
            jar: jar.to_owned(),
            why,
        };
        // The virtual machine would tell its own standard error, which is somebody's log.
        let seen = PathBuf::from(format!("/proc/{}/root{}", self.vm.pid(), jar.display()));
        if !jar.is_absolute() || !seen.is_file() {
            return Err(failed(
                "the process sees no file at this absolute path".to_owned(),
            ));
        }
        let agent = format!("{}={options}", jar.display());
        let answer = self.run("load", ["instrument", "false", &agent])?;
        // Before JDK 9 there was the number alone.
        let answer = answer.trim();
        let code = answer.strip_prefix("return code:").unwrap_or(answer).trim();
        if code == "0" {
            Ok(())
        } else {
            Err(failed(format!("its start ended with `{answer}`")))
        }
    }

    fn run(&self, command: &str, arguments: [&str; 3]) -> Result<String, JvmError> {
        let failed = || JvmError::file("speak through", self.path());
        let mut request = b"1\0".to_vec();
        for word in [command].iter().chain(&arguments) {
            request.extend(word.bytes());
            request.push(0);
        }
        let mut connection = self.connect().map_err(failed())?;
        connection.write_all(&request).map_err(failed())?;
        let mut answer = Vec::new();
        Read::by_ref(&mut connection)
            .take(LARGEST_ANSWER_BYTES)
            .read_to_end(&mut answer)
            .map_err(failed())?;
        let answer = String::from_utf8_lossy(&answer);
        let (status, text) = answer.split_once('\n').unwrap_or((&answer, ""));
        if status == "0" {
            return Ok(text.to_owned());
        }
        Err(JvmError::Command {
            pid: self.vm.pid(),
            command: format!("{command} {}", arguments.join(" "))
                .trim_end()
                .to_owned(),
            says: text.trim().to_owned(),
        })
    }

    /// Where the socket is, for messages.
    fn path(&self) -> PathBuf {
        self.folder.path().join(&self.socket)
    }

    /// Whether what is there instead of the socket keeps the virtual machine from making its own,
    /// too: only root can put what belongs to others out of the way.
    fn is_in_the_way(&self, error: &io::Error) -> bool {
        error.kind() == io::ErrorKind::Other && self.vm.owner().user != 0
    }

    /// A connection to the virtual machine; an error of kind `Other` when somebody else listens
    /// there.
    fn connect(&self) -> io::Result<UnixStream> {
        let owner = self.vm.owner();
        let stat = self.folder.stat_of(&self.socket)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::Socket {
            return Err(io::Error::other("it is no socket: remove it"));
        }
        if stat.st_uid != owner.user {
            return Err(not_of(owner));
        }
        let connection = UnixStream::connect(self.folder.way_to(&self.socket))?;
        // It may have been exchanged meanwhile; whoever listened is known for certain.
        let peer = socket_peercred(&connection)?;
        // A process that cannot be seen from here has no id.
        let pid = peer.pid.as_raw_nonzero().get();
        if peer.uid.as_raw() != owner.user || pid.cast_unsigned() != self.vm.pid() {
            return Err(io::Error::other(format!(
                "process {pid} listens there instead: remove it"
            )));
        }
        connection.set_read_timeout(Some(ANSWERS_WITHIN))?;
        connection.set_write_timeout(Some(ANSWERS_WITHIN))?;
        Ok(connection)
    }

    /// Asks for the socket, once: a second signal would print all threads into the server's log.
    fn open(&self) -> Result<(), JvmError> {
        let asked = Asking::begin(&self.vm, &self.folder)?;
        self.vm.quit()?;
        let until = Instant::now() + OPENS_WITHIN;
        while let Err(error) = self.connect() {
            if self.is_in_the_way(&error) {
                return Err(JvmError::file("speak through", self.path())(error));
            }
            if Instant::now() >= until {
                return Err(JvmError::NotSpokenTo {
                    pid: self.vm.pid(),
                    why: "it opened no socket within 10 s (-XX:+DisableAttachMechanism, or it hangs)",
                });
            }
            std::thread::sleep(LOOK);
        }
        drop(asked);
        Ok(())
    }
}

/// The file that asks for the socket; removed when it is dropped.
struct Asking {
    folder: Arc<Folder>,
    name: String,
    file: File,
}

impl Asking {
    fn begin(vm: &Vm, temporary: &Arc<Folder>) -> Result<Self, JvmError> {
        let name = format!(".attach_pid{}", vm.own_pid());
        let create = |folder: Arc<Folder>| -> io::Result<Self> {
            let file = folder.create_file(&name)?;
            Ok(Self {
                folder,
                name: name.clone(),
                file,
            })
        };
        let working = Folder::working(vm).and_then(|folder| create(Arc::new(folder)));
        working
            .or_else(|_| create(Arc::clone(temporary)))
            .map_err(JvmError::file("create", temporary.path().join(&name)))
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        // What lies there by now may be somebody else's. Whoever removed it has done what is
        // wanted.
        let is_ours = self.file.metadata().is_ok_and(|ours| {
            let there = self.folder.stat_of(&self.name);
            there.is_ok_and(|there| (there.st_dev, there.st_ino) == (ours.dev(), ours.ino()))
        });
        if is_ours {
            let _ = unlinkat(self.folder.fd(), &self.name, AtFlags::empty());
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::os::unix::net::UnixListener;

    use super::*;
    use crate::planted::{Process, STRANGER, VICTIM, own};

    #[test]
    fn a_socket_of_somebody_else_is_not_spoken_to() {
        let Some(mut process) = Process::start() else {
            return;
        };
        let name = format!(".java_pid{}", process.pid());
        let place = tempfile::tempdir().unwrap();
        let elsewhere = place.path().join("socket");
        let own_socket = UnixListener::bind(&elsewhere).unwrap();
        own_socket.set_nonblocking(true).unwrap();
        own(&elsewhere, VICTIM, 0o600);

        let is_refused = |process: &Process, why: &str| {
            let error = Attach::to(&process.vm()).unwrap_err();
            let says = format!("{error}: {:?}", std::error::Error::source(&error));
            assert!(says.contains(why), "{says}");
        };
        for (user, why) in [
            (STRANGER, "does not belong to user 65534"),
            // Made by a program of this user that has ended, or taken over: another process
            // listens.
            (VICTIM, "listens there instead"),
        ] {
            let path = process.plant(&name);
            let listener = UnixListener::bind(&path).unwrap();
            listener.set_nonblocking(true).unwrap();
            own(&path, user, 0o666);
            is_refused(&process, why);
            let heard = listener.accept().map(|(mut heard, _)| {
                let mut text = Vec::new();
                let _ = heard.read_to_end(&mut text);
                text
            });
            assert_eq!(heard.unwrap_or_default(), b"", "nothing is said to it");
        }
        let path = process.plant(&name);
        symlink(&elsewhere, &path).unwrap();
        is_refused(&process, "it is no socket");
        assert!(own_socket.accept().is_err(), "links are not followed");
        // Nothing in its way: this process would die of the signal, so it gets none.
        process.plant(&name);
        is_refused(&process, "still starting");
        assert!(process.lives());
    }

    #[test]
    fn links_in_place_of_the_file_that_asks_are_not_followed() {
        let Some(mut process) = Process::start() else {
            return;
        };
        let place = tempfile::tempdir().unwrap();
        let (made, kept) = (place.path().join("made"), place.path().join("kept"));
        fs::write(&kept, "kept").unwrap();
        let name = format!(".attach_pid{}", process.pid());
        let vm = process.vm();
        let temporary = Arc::new(Folder::temporary(&vm).unwrap());
        let in_working_directory = process.directory.path().join(&name);
        let in_temporary = process.plant(&name);
        symlink(&made, &in_working_directory).unwrap();
        symlink(&kept, &in_temporary).unwrap();
        assert!(Asking::begin(&vm, &temporary).is_err());
        assert!(!made.exists());
        for link in [&in_working_directory, &in_temporary] {
            assert!(fs::symlink_metadata(link).unwrap().is_symlink(), "it stays");
        }

        fs::remove_file(&in_temporary).unwrap();
        let asking = Asking::begin(&vm, &temporary).unwrap();
        let mode = fs::symlink_metadata(&in_temporary)
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
        // What somebody has put in its place is not Weir's to remove.
        fs::remove_file(&in_temporary).unwrap();
        fs::write(&in_temporary, "theirs").unwrap();
        drop(asking);
        assert_eq!(fs::read_to_string(&in_temporary).unwrap(), "theirs");
        fs::remove_file(&in_temporary).unwrap();
        drop(Asking::begin(&vm, &temporary).unwrap());
        assert!(!in_temporary.exists());
        assert_eq!(fs::read_to_string(&kept).unwrap(), "kept");
    }
}
