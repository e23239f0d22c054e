//! Networks of their own on this machine, and a sample server in one.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

/// Runs a command to its end; false when it fails.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    let output = command.stdin(Stdio::null()).output();
    output.is_ok_and(|output| output.status.success())
}

/// A network of its own, removed at the end.
pub(crate) struct Namespace {
    name: String,
    pub(crate) address: String,
}

impl Namespace {
    /// `None` when this user may not make one.
    pub(crate) fn make() -> Option<Self> {
        let number = std::process::id() % 60_000;
        let name = format!("weir-test-{number}");
        let ip = |words: &str| succeeds(Command::new("ip").args(words.split(' ')));
        if !rustix::process::geteuid().is_root() || !ip(&format!("netns add {name}")) {
            return None;
        }
        let network = format!("10.213.{}", number % 250);
        let namespace = Self {
            address: format!("{network}.2"),
            name,
        };
        let name = &namespace.name;
        let (outer, inner) = (format!("wo{number}"), format!("wi{number}"));
        let made = ip(&format!(
            "link add {outer} type veth peer name {inner} netns {name}"
        )) && ip(&format!("addr add {network}.1/30 dev {outer}"))
            && ip(&format!("link set {outer} up"))
            && ip(&format!("-n {name} addr add {network}.2/30 dev {inner}"))
            && ip(&format!("-n {name} link set {inner} up"))
            && ip(&format!("-n {name} link set lo up"));
        made.then_some(namespace)
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        // The interfaces go with it.
        succeeds(Command::new("ip").args(["netns", "delete", &self.name]));
    }
}

/// A sample server that listens at an address of the network, with its port.
pub(crate) fn start_server(address: &str, namespace: Option<&Namespace>) -> (Child, String) {
    let mut server = inside(namespace, Path::new(env!("CARGO_BIN_EXE_weir")))
        .args([
            "sample-server",
            "--with-parent",
            "--rows=1000",
            "--admin=127.0.0.1:0",
        ])
        .arg(format!("--listen={address}:0"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let ready: Value = serde_json::from_str(&line).unwrap();
    let listen = ready["listen"].as_str().unwrap();
    let port = listen.rsplit(':').next().unwrap().to_owned();
    (server, port)
}

/// A program in the network of the other machine.
pub(crate) fn inside(namespace: Option<&Namespace>, program: &Path) -> Command {
    match namespace {
        Some(namespace) => {
            let mut command = Command::new("ip");
            command
                .args(["netns", "exec", &namespace.name])
                .arg(program);
            command
        }
        None => Command::new(program),
    }
}
