//! The gateways beside each other: how each is had, and how each is told to hold the same.

mod files;

use std::fs::{self, File};
use std::io;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::bench::gate::GATE_CPU;
use crate::bench::gate::backend::Given;
use crate::bench::load::cost::pinned;
use crate::error::TaskError;
use crate::process::run;

/// Debian's packages of the peers, with the libraries that a plain system has not.
const PACKAGES: [&str; 5] = [
    "haproxy",
    "nginx",
    "liblua5.3-0",
    "libopentracing-c-wrapper0",
    "libopentracing1",
];
/// How long a gateway may take to listen.
const START_MAX: Duration = Duration::from_secs(10);

/// A program that stands in front of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Peer {
    Weir,
    Nginx,
    Haproxy,
}

/// What it holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Hold {
    /// So many requests a second. nginx has a queue, haproxy counts what it lets through.
    Rate(u32),
    /// Nothing: it only passes on.
    Nothing,
    /// So many requests in flight; the others wait for so long.
    Concurrency(u32, Duration),
    /// What it finds itself.
    Adaptive,
    /// What it finds itself, with so many percent of the server's CPU as its goal.
    Cpu(u32),
    /// What it finds itself, and a promise to requests for [`LIGHT`](super::backend::LIGHT).
    Classes,
}

/// A gateway with what it holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Subject {
    pub(crate) peer: Peer,
    pub(crate) hold: Hold,
}

impl Subject {
    /// With what it is told.
    pub(crate) fn name(self) -> String {
        let program = match self.peer {
            Peer::Weir => "weir gate",
            Peer::Nginx => "nginx",
            Peer::Haproxy => "HAProxy",
        };
        let told = match (self.peer, self.hold) {
            (_, Hold::Nothing) => String::new(),
            (Peer::Weir, Hold::Rate(_)) => format!(", max-wait = \"{}\"", files::MAX_WAIT),
            (Peer::Nginx, Hold::Rate(_)) => format!(", limit_req burst={}", files::NGINX_BURST),
            (Peer::Haproxy, Hold::Rate(_)) => ", gpc0_rate(1s), deny".to_owned(),
            (Peer::Weir, Hold::Concurrency(limit, _)) => format!(", concurrency = {limit}"),
            (Peer::Haproxy, Hold::Concurrency(limit, _)) => format!(", maxconn {limit}"),
            (Peer::Nginx, Hold::Concurrency(limit, _)) => format!(", limit_conn {limit}"),
            (_, Hold::Adaptive) => ", adaptive".to_owned(),
            (_, Hold::Cpu(goal)) => format!(", cpu <= {goal} %"),
            (_, Hold::Classes) => ", adaptive, light promised".to_owned(),
        };
        format!("{program}{told}")
    }
}

/// Where the programs are.
#[derive(Debug)]
pub(crate) struct Peers {
    pub(crate) directory: PathBuf,
    pub(crate) weir: PathBuf,
    /// The server behind them, where it is not the sample server.
    pub(crate) server: Option<Given>,
    root: PathBuf,
}

/// A program that runs; it ends with this value.
#[derive(Debug)]
pub(crate) struct Running {
    child: Child,
    port: u16,
}

impl Running {
    /// Where it listens.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Its process.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Running {
    /// Waits until it has ended by itself; whether it has, and well.
    pub(crate) fn has_ended(&mut self, patience: Duration) -> bool {
        let until = Instant::now() + patience;
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return status.success(),
                Ok(None) if Instant::now() < until => thread::sleep(Duration::from_millis(20)),
                Ok(None) | Err(_) => return false,
            }
        }
    }

    /// Ends it at once.
    pub(crate) fn kill(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Peers {
    /// Weir, and what is written below a directory.
    pub(crate) fn new(directory: PathBuf, weir: PathBuf) -> Self {
        Self {
            root: directory.join("root"),
            directory,
            weir,
            server: None,
        }
    }

    /// Unpacks the others below the directory, once.
    pub(crate) fn unpack(&self) -> Result<(), TaskError> {
        if self.root.join("usr/sbin/haproxy").is_file() {
            return Ok(());
        }
        run(Command::new("apt-get")
            .arg("download")
            .args(PACKAGES)
            .current_dir(&self.directory))?;
        let files = fs::read_dir(&self.directory)
            .map_err(|source| file("read", &self.directory, source))?;
        for package in files.flatten().map(|entry| entry.path()) {
            if package.extension().is_some_and(|end| end == "deb") {
                run(Command::new("dpkg-deb")
                    .arg("-x")
                    .arg(&package)
                    .arg(&self.root))?;
            }
        }
        Ok(())
    }

    /// Starts a gateway in front of a server on this machine.
    pub(crate) fn start(&self, subject: Subject, backend: u16) -> Result<Running, TaskError> {
        let port = free_port()?;
        let words = match subject.peer {
            Peer::Weir => {
                let text = files::weir(port, backend, subject.hold);
                let file = self.write("gate.toml", &text)?;
                vec![text_of(&self.weir), "gate".to_owned(), file]
            }
            Peer::Nginx => {
                let text = files::nginx(&self.directory, port, backend, subject.hold);
                self.nginx_words(&text)?
            }
            Peer::Haproxy => {
                let text = files::haproxy(port, backend, subject.hold);
                let file = self.write("haproxy.cfg", &text)?;
                let program = text_of(&self.root.join("usr/sbin/haproxy"));
                vec![program, "-db".to_owned(), "-f".to_owned(), file]
            }
        };
        self.run(&words, GATE_CPU, port)
    }

    /// Starts nginx as a server that answers everything with a few bytes, and counts.
    pub(crate) fn answering(&self, cpu: u32) -> Result<Running, TaskError> {
        let port = free_port()?;
        let directory = self.directory.join("server");
        fs::create_dir_all(&directory).map_err(|source| file("write", &directory, source))?;
        let text = files::nginx_server(&directory, port);
        let words = self.nginx_words_in(&directory, &text)?;
        self.run(&words, cpu, port)
    }

    fn nginx_words(&self, text: &str) -> Result<Vec<String>, TaskError> {
        self.nginx_words_in(&self.directory, text)
    }

    fn nginx_words_in(&self, directory: &Path, text: &str) -> Result<Vec<String>, TaskError> {
        let path = directory.join("nginx.conf");
        fs::write(&path, text).map_err(|source| file("write", &path, source))?;
        let program = text_of(&self.root.join("usr/sbin/nginx"));
        let [prefix, path] = [directory, &path].map(text_of);
        Ok([&program, "-p", &prefix, "-c", &path]
            .map(str::to_owned)
            .into())
    }

    /// Runs a program on a CPU, and waits until it listens.
    pub(crate) fn run(&self, words: &[String], cpu: u32, port: u16) -> Result<Running, TaskError> {
        self.run_printing(words, cpu, port, None)
    }

    /// As [`run`](Self::run); what it prints goes to a file.
    pub(crate) fn run_printing(
        &self,
        words: &[String],
        cpu: u32,
        port: u16,
        to: Option<&Path>,
    ) -> Result<Running, TaskError> {
        let to = match to.map(|to| (to, File::create(to))) {
            None => Stdio::null(),
            Some((_, Ok(made))) => made.into(),
            Some((to, Err(source))) => return Err(file("write", to, source)),
        };
        let words = pinned(words, cpu, false);
        let failed = |source| TaskError::Start {
            command: words.join(" "),
            source,
        };
        let child = Command::new(&words[0])
            .args(&words[1..])
            .env(
                "LD_LIBRARY_PATH",
                self.root.join("usr/lib/x86_64-linux-gnu"),
            )
            .stdin(Stdio::null())
            .current_dir(&self.directory)
            .stdout(to)
            .stderr(Stdio::null())
            .spawn()
            .map_err(failed)?;
        let running = Running { child, port };
        let until = Instant::now() + START_MAX;
        while let Err(source) = TcpStream::connect((Ipv4Addr::LOCALHOST, port)) {
            if Instant::now() > until {
                return Err(failed(source));
            }
            thread::sleep(Duration::from_millis(5));
        }
        Ok(running)
    }

    /// Writes a file below the bench's directory, and gives back its path.
    pub(crate) fn write(&self, name: &str, text: &str) -> Result<String, TaskError> {
        let path = self.directory.join(name);
        fs::write(&path, text).map_err(|source| file("write", &path, source))?;
        Ok(text_of(&path))
    }
}

/// Sends a signal to a process of the bench; one that has ended hears nothing.
pub(crate) fn signal(pid: u32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid.cast_signed()) {
        let _ = kill_process(pid, signal);
    }
}

/// A path as an argument.
pub(crate) fn text_of(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn file(doing: &'static str, path: &Path, source: io::Error) -> TaskError {
    TaskError::File {
        doing,
        path: path.to_owned(),
        source,
    }
}

/// A port that nobody listens on now.
pub(crate) fn free_port() -> Result<u16, TaskError> {
    let found = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|socket| socket.local_addr());
    found
        .map(|address| address.port())
        .map_err(|source| TaskError::Start {
            command: "a server of the bench".to_owned(),
            source,
        })
}
