//! A server of another machine over ssh, with a real sshd: watched, set, put back.
//!
//! As root the other machine is a network namespace, joined to this one by a pair of virtual
//! interfaces with private addresses; for others sshd and the server run on loopback. Keys,
//! configuration and everything else of ssh lie in a temporary directory; nothing of the user's is
//! read or changed.
//!
//! They need `sshd`, `ssh` and `ip`.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::namespace::{Namespace, inside, start_server, succeeds};
use crate::support::{PATIENCE, Place, assert_valid, json_file, names_in, skipped, wait_for};
use rustix::process::Signal;

/// How long a short sweep may take on a busy machine.
const SWEEP: Duration = Duration::from_secs(180);

/// The other machine: an sshd and a sample server.
struct FarMachine {
    folder: tempfile::TempDir,
    sshd: Child,
    server: Child,
    address: String,
    port: String,
    namespace: Option<Namespace>,
}

impl FarMachine {
    fn start() -> Self {
        let namespace = Namespace::make();
        let address = match &namespace {
            Some(namespace) => namespace.address.clone(),
            None => "127.0.0.1".to_owned(),
        };
        let folder = tempfile::tempdir().unwrap();
        let ssh_port = match namespace {
            Some(_) => 2222,
            None => TcpListener::bind("127.0.0.1:0")
                .unwrap()
                .local_addr()
                .unwrap()
                .port(),
        };
        write_keys(folder.path(), &address, ssh_port);
        let sshd = start_sshd(folder.path(), namespace.as_ref());
        let (server, port) = start_server(&address, namespace.as_ref());
        let far = Self {
            folder,
            sshd,
            server,
            address,
            port,
            namespace,
        };
        wait_for("sshd", PATIENCE, || {
            let config = far.config();
            let words = ["-F", &config, "-o", "BatchMode=yes", "app01", "true"];
            succeeds(Command::new("ssh").args(words)).then_some(())
        });
        far
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn config(&self) -> String {
        self.path("ssh_config").display().to_string()
    }

    /// The "limit" there, and over which connection it was set.
    fn limit(&self) -> String {
        fs::read_to_string(self.path("limit")).unwrap()
    }

    /// A study of its server in a fresh place.
    fn study(&self) -> Place {
        self.study_with("ssh_config")
    }

    /// As `study`, with another configuration of ssh.
    fn study_with(&self, config: &str) -> Place {
        let limit = self.path("limit").display().to_string();
        fs::write(&limit, "200\n").unwrap();
        let place = Place::new();
        place.write(
            "study.toml",
            &format!(
                r#"
schema = "weir/study/1"
[target.external]
ssh = "app01"
ssh-config = "{config}"
url = "http://{address}:{port}"
set = {{ threads = "echo {{value}} of $SSH_CONNECTION > '{limit}'" }}
get = {{ threads = "cat '{limit}'" }}
[load]
url = "/light"
window = "5 s"
warm-up = "1 s"
[sweep]
design = "full"
[sweep.factors]
users = [3]
threads = [20, 30]
"#,
                config = self.path(config).display(),
                address = self.address,
                port = self.port,
            ),
        );
        place
    }
}

impl Drop for FarMachine {
    fn drop(&mut self) {
        for child in [&mut self.server, &mut self.sshd] {
            let _ = child.kill();
            let _ = child.wait();
        }
        drop(self.namespace.take());
    }
}

/// Keys of the host and of the user, who is whoever runs this; and what each side is configured
/// with.
fn write_keys(folder: &Path, address: &str, port: u16) {
    for key in ["host_key", "user_key"] {
        let mut generate = Command::new("ssh-keygen");
        generate.args(["-q", "-t", "ed25519", "-N", "", "-f"]);
        assert!(succeeds(generate.arg(folder.join(key))), "ssh-keygen {key}");
    }
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    let write = |name: &str, text: String| fs::write(folder.join(name), text).unwrap();
    let place = folder.display();
    write("authorized_keys", read("user_key.pub"));
    write(
        "known_hosts",
        format!("[{address}]:{port} {}", read("host_key.pub")),
    );
    write(
        "sshd_config",
        format!(
            "ListenAddress {address}\nPort {port}\nHostKey {place}/host_key\nAuthorizedKeysFile {place}/authorized_keys\n\
             PidFile none\nStrictModes no\nUsePAM no\nPermitRootLogin prohibit-password\n\
             PasswordAuthentication no\nKbdInteractiveAuthentication no\nLogLevel ERROR\n"
        ),
    );
    let user = Command::new("id").arg("-un").output().unwrap().stdout;
    let client = format!(
        "Host app01\n  HostName {address}\n  Port {port}\n  User {}  IdentityFile {place}/user_key\n  \
         IdentitiesOnly yes\n  IdentityAgent none\n  GlobalKnownHostsFile /dev/null\n  StrictHostKeyChecking yes\n",
        String::from_utf8(user).unwrap()
    );
    let known = |file: &str| format!("{client}  UserKnownHostsFile {place}/{file}\n");
    write("ssh_config", known("known_hosts"));
    write("ssh_config_without_hosts", known("no_hosts"));
    let other_key = known("known_hosts").replace("user_key", "host_key");
    write("ssh_config_with_another_key", other_key);
    let generous = format!("  IdentityAgent {place}/agent\n  ForwardAgent yes\n  Tunnel yes\n");
    let generous = known("known_hosts").replace("  IdentityAgent none\n", &generous);
    write("ssh_config_with_agent", generous);
}

fn start_sshd(folder: &Path, namespace: Option<&Namespace>) -> Child {
    let sshd = ["/usr/sbin/sshd", "/usr/local/sbin/sshd", "/sbin/sshd"];
    let sshd = sshd.iter().find(|path| Path::new(path).exists());
    let sshd = sshd.expect("sshd is installed");
    let config = folder.join("sshd_config");
    // Root's sshd wants this directory. In a namespace of its own the mount is not seen by anybody
    // else.
    let directory = match namespace {
        Some(_) => "mount -t tmpfs none /run && mkdir -m 755 /run/sshd",
        None => "[ $(id -u) != 0 ] || mkdir -p -m 755 /run/sshd",
    };
    let script = format!("{directory} && exec {sshd} -D -e -f '{}'", config.display());
    let log = fs::File::create(folder.join("sshd.log")).unwrap();
    inside(namespace, Path::new("/bin/sh"))
        .args(["-c", &script])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()
        .unwrap()
}

/// The only run of a place.
fn run_of(place: &Place) -> PathBuf {
    let runs = place.path("weir-runs");
    let names = names_in(&runs);
    assert_eq!(names.len(), 1, "{names:?}");
    runs.join(&names[0])
}

#[test]
fn a_server_over_ssh_is_watched_set_and_put_back() {
    if skipped("a sweep of a server over ssh") {
        return;
    }
    let far = FarMachine::start();
    let place = far.study();
    place
        .start(&["sweep", "study.toml"])
        .done(SWEEP)
        // A machine that is busy otherwise may answer too late, which makes a trial invalid.
        .ends_one_of(&[0, 4])
        .says(&["app01 is read over ssh: process"]);
    let run = run_of(&place);
    let result = json_file(&run.join("result.json"));
    assert_valid("docs/schemas/result.schema.json", &result);
    assert_eq!(result["target"]["kind"], "external");
    // A namespace has the CPUs of the machine that it is on.
    assert_eq!(result["target"]["cpu_scope"], "shared-cpus");
    assert_eq!(result["target"]["stages"][0]["limit"], 200.0);
    let trials = result["trials"].as_array().unwrap();
    assert_eq!(trials.len(), 2);
    for trial in trials {
        assert_eq!(trial["errors"]["count"], 0, "{trial:#}");
        if trial["valid"] == false {
            continue;
        }
        assert!(trial["cpu"]["total"].as_f64() > Some(0.0), "{trial:#}");
        let signals = &trial["signals"];
        let signal = |name: &str| signals[name].as_f64();
        let own = signal("target.cpu.user").zip(signal("target.cpu.system"));
        assert!(
            own.is_some_and(|(user, system)| user + system > 0.0),
            "{trial:#}"
        );
        assert!(signal("target.memory.rss") > Some(1e6), "{trial:#}");
        assert!(signal("target.run-queue-wait").is_some(), "{trial:#}");
        let established = signal(&format!("tcp.{}.established", far.port));
        assert!(
            established >= Some(3.0),
            "the users' connections: {trial:#}"
        );
        assert!(signal("tcp.listen-overflows").is_some(), "{trial:#}");
        let origins = &trial["signal_origins"];
        assert_eq!(origins["cpu"], "/proc/stat, over ssh", "{trial:#}");
    }
    let set = far.limit();
    assert!(set.starts_with("200 of "), "as it was found: {set}");
    assert!(set.contains(&far.address), "over ssh: {set}");
    let manifest = fs::read_to_string(run.join("run.toml")).unwrap();
    assert!(manifest.contains("target.kernel"), "{manifest}");
}

#[test]
fn what_a_killed_weir_has_set_over_ssh_is_put_back() {
    if skipped("SIGKILL of weir with a server over ssh") {
        return;
    }
    let far = FarMachine::start();
    let place = far.study();
    let mut weir = place.start(&["sweep", "study.toml"]);
    weir.wait_for("a changed limit", SWEEP, |_| {
        (far.limit() != "200\n").then_some(())
    });
    weir.signal(Signal::KILL);
    drop(weir);
    assert!(!far.limit().starts_with("200"), "{}", far.limit());
    place.weir(&["target", "restore"]).ends(0);
    assert!(far.limit().starts_with("200 of "), "{}", far.limit());
}

/// An agent with a key of the user's; it ends with the test.
struct Agent(Child);

impl Agent {
    fn start(far: &FarMachine) -> Self {
        let socket = far.path("agent");
        let mut command = Command::new("ssh-agent");
        command.arg("-D").arg("-a").arg(&socket);
        let agent = command.stdout(Stdio::null()).spawn().unwrap();
        wait_for("ssh-agent", PATIENCE, || socket.exists().then_some(()));
        let mut add = Command::new("ssh-add");
        add.env("SSH_AUTH_SOCK", &socket).arg(far.path("user_key"));
        assert!(succeeds(&mut add), "ssh-add");
        Self(agent)
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A machine that is tuned is often not trusted as the user's own: an agent that is forwarded there
/// logs whoever is root there in wherever the user may.
#[test]
fn the_users_agent_is_not_forwarded() {
    if skipped("an agent that the configuration of ssh forwards") {
        return;
    }
    let far = FarMachine::start();
    let _agent = Agent::start(&far);
    let config = far.path("ssh_config_with_agent").display().to_string();
    let seen = far.path("agent-there").display().to_string();
    let note = format!("echo \"agent:$SSH_AUTH_SOCK\" >> '{seen}'");
    // By hand the configuration does forward it.
    let words = ["-F", &config, "-o", "BatchMode=yes", "app01", &note];
    assert!(succeeds(Command::new("ssh").args(words)));
    let by_hand = fs::read_to_string(&seen).unwrap();
    assert_ne!(by_hand, "agent:\n");
    fs::remove_file(&seen).unwrap();

    let place = far.study_with("ssh_config_with_agent");
    let study = place.read("study.toml");
    let noted = format!("get = {{ threads = '''{note};");
    let study = study.replace("get = { threads = \"", &noted);
    let study = study.replace("limit'\" }\n[load]", "limit'''' }\n[load]");
    // One value will do.
    let study = study.replace("[20, 30]", "[20]");
    place.write("study.toml", &study);
    place
        .start(&["sweep", "study.toml"])
        .done(SWEEP)
        .ends_one_of(&[0, 4]);
    let by_weir = fs::read_to_string(&seen).unwrap();
    assert!(by_weir.lines().all(|line| line == "agent:"), "{by_weir}");
}

/// The words of a watch over ssh.
fn watch_of<'a>(config: &'a str, url: &'a str, length: &'a str) -> [&'a str; 8] {
    [
        "watch",
        "--ssh",
        "app01",
        "--ssh-config",
        config,
        url,
        "--for",
        length,
    ]
}

#[test]
fn what_is_behind_a_url_is_watched_over_ssh() {
    if skipped("a watch over ssh") {
        return;
    }
    let far = FarMachine::start();
    let place = Place::new();
    let url = format!("http://{}:{}/", far.address, far.port);
    let config = far.config();
    place
        .weir(&watch_of(&config, &url, "5s"))
        .ends(0)
        .says(&[&format!("(process {} on app01)", far.server.id())]);
    let seen = json_file(&run_of(&place).join("watch.json"));
    assert_valid("docs/schemas/watch.schema.json", &seen);
    assert!(seen["signals"]["target.memory.rss"]["min"].as_f64() > Some(1e6));
    assert_eq!(seen["signals"]["cpu"]["origin"], "/proc/stat, over ssh");

    // A study is written from what can be read there, and accepted.
    let init = ["init", "--ssh", "app01", "--ssh-config", &config, &url];
    place
        .weir(&init)
        .ends(0)
        .says(&["nothing of the server was changed"]);
    let study = place.read("study.toml");
    assert!(study.contains("ssh = \"app01\""), "{study}");
    assert!(
        study.contains(&format!("{} now", far.server.id())),
        "{study}"
    );
    place.weir(&["check", "study.toml"]).ends(0);

    // What ssh would ask about is told instead.
    for (config, says) in [
        ("ssh_config_without_hosts", "Host key verification failed"),
        ("ssh_config_with_another_key", "has to work without one"),
    ] {
        let config = far.path(config).display().to_string();
        let watch = watch_of(&config, &url, "3s");
        Place::new().weir(&watch).ends(3).says(&[says]);
    }
}
