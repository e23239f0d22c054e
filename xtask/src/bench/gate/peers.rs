//! The gateways beside each other: how each is had, and how each is told to hold the same rate.

use std::fs;
use std::io;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

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
/// Longest wait that Weir is told; also its default.
const MAX_WAIT: &str = "200ms";
/// Requests that nginx lets wait.
const NGINX_BURST: u32 = 100;

/// A gateway that holds the rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Peer {
    Weir,
    /// With a queue.
    Nginx,
    /// Counting what it lets through.
    Haproxy,
}

impl Peer {
    /// In the order of the table.
    pub(crate) const ALL: [Self; 3] = [Self::Weir, Self::Nginx, Self::Haproxy];

    /// With what it is told.
    pub(crate) fn name(self) -> String {
        match self {
            Self::Weir => format!("weir gate, max-wait = \"{MAX_WAIT}\""),
            Self::Nginx => format!("nginx, limit_req burst={NGINX_BURST}"),
            Self::Haproxy => "HAProxy, gpc0_rate(1s), deny".to_owned(),
        }
    }
}

/// Where the programs are.
#[derive(Debug)]
pub(crate) struct Peers {
    directory: PathBuf,
    weir: PathBuf,
    root: PathBuf,
}

/// A gateway that runs; it ends with this value.
#[derive(Debug)]
pub(crate) struct Gateway {
    child: Child,
    port: u16,
}

impl Gateway {
    /// Where it listens.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Peers {
    /// Unpacks the peers below a directory, once.
    pub(crate) fn provide(directory: &Path, weir: PathBuf) -> Result<Self, TaskError> {
        let root = directory.join("root");
        if !root.join("usr/sbin/haproxy").is_file() {
            run(Command::new("apt-get")
                .arg("download")
                .args(PACKAGES)
                .current_dir(directory))?;
            let files =
                fs::read_dir(directory).map_err(|source| file("read", directory, source))?;
            for package in files.flatten().map(|entry| entry.path()) {
                if package.extension().is_some_and(|end| end == "deb") {
                    run(Command::new("dpkg-deb").arg("-x").arg(&package).arg(&root))?;
                }
            }
        }
        Ok(Self {
            directory: directory.to_owned(),
            weir,
            root,
        })
    }

    /// Starts a gateway in front of a server on this machine.
    pub(crate) fn start(&self, peer: Peer, backend: u16, rate: u32) -> Result<Gateway, TaskError> {
        let port = free_port()?;
        let mut command = match peer {
            Peer::Weir => {
                let file = self.write("gate.toml", &weir_file(port, backend, rate))?;
                let mut command = Command::new(&self.weir);
                command.arg("gate").arg(file);
                command
            }
            Peer::Nginx => {
                let text = nginx_file(&self.directory, port, backend, rate);
                let file = self.write("nginx.conf", &text)?;
                let mut command = Command::new(self.root.join("usr/sbin/nginx"));
                command.arg("-p").arg(&self.directory).arg("-c").arg(file);
                command
            }
            Peer::Haproxy => {
                let file = self.write("haproxy.cfg", &haproxy_file(port, backend, rate))?;
                let mut command = Command::new(self.root.join("usr/sbin/haproxy"));
                command.arg("-db").arg("-f").arg(file);
                command
            }
        };
        let child = command
            .env(
                "LD_LIBRARY_PATH",
                self.root.join("usr/lib/x86_64-linux-gnu"),
            )
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|source| start(peer, source))?;
        let gateway = Gateway { child, port };
        let until = Instant::now() + START_MAX;
        while let Err(source) = TcpStream::connect((Ipv4Addr::LOCALHOST, port)) {
            if Instant::now() > until {
                return Err(start(peer, source));
            }
            thread::sleep(Duration::from_millis(5));
        }
        Ok(gateway)
    }

    fn write(&self, name: &str, text: &str) -> Result<PathBuf, TaskError> {
        let path = self.directory.join(name);
        fs::write(&path, text).map_err(|source| file("write", &path, source))?;
        Ok(path)
    }
}

fn file(doing: &'static str, path: &Path, source: io::Error) -> TaskError {
    TaskError::File {
        doing,
        path: path.to_owned(),
        source,
    }
}

fn start(peer: Peer, source: io::Error) -> TaskError {
    TaskError::Start {
        command: peer.name(),
        source,
    }
}

/// A port that nobody listens on now.
fn free_port() -> Result<u16, TaskError> {
    let found = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|socket| socket.local_addr());
    found
        .map(|address| address.port())
        .map_err(|source| start(Peer::Weir, source))
}

fn weir_file(port: u16, backend: u16, rate: u32) -> String {
    format!(
        "listen = \"127.0.0.1:{port}\"\nbackends = [\"http://127.0.0.1:{backend}\"]\nadmin = false\nthreads = 1\n\
         [limit]\nrate = \"{rate}/s\"\nmax-wait = \"{MAX_WAIT}\"\n"
    )
}

/// What is counted has a name: requests without one would not be counted at all.
fn nginx_file(directory: &Path, port: u16, backend: u16, rate: u32) -> String {
    let directory = directory.display();
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|name| format!("  {name}_temp_path {directory}/{name};\n"))
        .concat();
    format!(
        "daemon off;\nworker_processes 1;\npid {directory}/nginx.pid;\nerror_log {directory}/error.log;\n\
         events {{ worker_connections 4096; }}\nhttp {{\n{temporary}  access_log off;\n\
         \x20 limit_req_zone $server_name zone=all:1m rate={rate}r/s;\n\
         \x20 upstream server {{ server 127.0.0.1:{backend}; keepalive 64; }}\n\
         \x20 server {{\n    listen 127.0.0.1:{port};\n    server_name bench;\n    location / {{\n      limit_req zone=all burst={NGINX_BURST};\n\
         \x20     proxy_pass http://server;\n      proxy_http_version 1.1;\n      proxy_set_header Connection \"\";\n    }}\n  }}\n}}\n"
    )
}

fn haproxy_file(port: u16, backend: u16, rate: u32) -> String {
    format!(
        "global\n  nbthread 1\n  maxconn 4096\ndefaults\n  mode http\n  timeout connect 2s\n  timeout client 60s\n  timeout server 60s\n\
         frontend front\n  bind 127.0.0.1:{port}\n\
         \x20 stick-table type integer size 10 expire 1m store gpc0,gpc0_rate(1s)\n\
         \x20 http-request track-sc0 int(1)\n\
         \x20 http-request deny deny_status 429 if {{ sc0_gpc0_rate ge {rate} }}\n\
         \x20 http-request sc-inc-gpc0(0)\n  default_backend server\n\
         backend server\n  server one 127.0.0.1:{backend}\n"
    )
}
