//! HotSpot's attach protocol: one command per connection to a socket of the virtual machine.
//!
//! After OpenJDK's `AttachListener` (`services/attachListener.cpp`, `os/posix/attachListener_posix.cpp`): a virtual
//! machine opens `/tmp/.java_pidPID` when it gets SIGQUIT while a file `.attach_pidPID` lies in its working directory or
//! in `/tmp`. A command is the protocol's version, its name and always three arguments, each ended by a zero byte; the
//! answer is a status line and text until the connection ends. Works for the same user, and for root.

use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::error::JvmError;
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
    socket: PathBuf,
}

impl Attach {
    /// Makes a virtual machine listen, unless it does already.
    pub fn to(vm: &Vm) -> Result<Self, JvmError> {
        let socket = vm
            .temporary_folder()
            .join(format!(".java_pid{}", vm.own_pid()));
        let attach = Self {
            vm: vm.clone(),
            socket,
        };
        if attach.connect().is_err() {
            vm.listens()?;
            attach.open()?;
        }
        Ok(attach)
    }

    /// The virtual machine.
    pub fn vm(&self) -> &Vm {
        &self.vm
    }

    /// Runs a diagnostic command as `jcmd` does: `Thread.print`, `VM.flags`, `VM.system_properties`.
    pub fn jcmd(&self, command: &str) -> Result<String, JvmError> {
        self.run("jcmd", [command, "", ""])
    }

    /// Loads a Java agent from a jar with its options. The virtual machine must see the jar under the same path.
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
        let failed = || JvmError::file("speak through", &self.socket);
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

    fn connect(&self) -> io::Result<UnixStream> {
        let connection = UnixStream::connect(&self.socket)?;
        connection.set_read_timeout(Some(ANSWERS_WITHIN))?;
        connection.set_write_timeout(Some(ANSWERS_WITHIN))?;
        Ok(connection)
    }

    /// Asks for the socket, once: a second signal would print all threads into the server's log.
    fn open(&self) -> Result<(), JvmError> {
        let pid = self.vm.pid();
        let asked = Asking::begin(&self.vm)?;
        i32::try_from(pid)
            .ok()
            .and_then(Pid::from_raw)
            .ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))
            .and_then(|pid| kill_process(pid, Signal::QUIT).map_err(io::Error::from))
            .map_err(|source| JvmError::Process { pid, source })?;
        let until = Instant::now() + OPENS_WITHIN;
        let is_there = || {
            let found = fs::symlink_metadata(&self.socket);
            found.is_ok_and(|found| found.file_type().is_socket()) && self.connect().is_ok()
        };
        while !is_there() {
            if Instant::now() >= until {
                return Err(JvmError::NotSpokenTo {
                    pid,
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
struct Asking(PathBuf);

impl Asking {
    fn begin(vm: &Vm) -> Result<Self, JvmError> {
        let name = format!(".attach_pid{}", vm.own_pid());
        let in_working_directory = PathBuf::from(format!("/proc/{}/cwd", vm.pid())).join(&name);
        let create = |path: &Path| {
            OpenOptions::new()
                .write(true)
                .create(true)
                .truncate(false)
                .open(path)
        };
        if create(&in_working_directory).is_ok() {
            return Ok(Self(in_working_directory));
        }
        let path = vm.temporary_folder().join(name);
        create(&path).map_err(JvmError::file("create", &path))?;
        Ok(Self(path))
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        // Whoever removed it before has done what is wanted.
        let _ = fs::remove_file(&self.0);
    }
}
