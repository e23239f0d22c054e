//! An Apache httpd: the directives that bound it, found in its configuration files.

mod limits;
mod options;

use std::path::{Path, PathBuf};

use super::found::{AgentWay, Found, FoundKind, OccupancyWay};
use super::liberty::quoted;
use crate::httpd::Mpm;
use crate::httpd::directives::directives;
use crate::httpd::installation::{modules_in, version_in};
use crate::httpd::reader::{Host, Part, Reading};
use crate::machine::Machine;
use crate::process::ProcessFacts;

use limits::Limits;
use options::{option, options};

const PROGRAMS: [&str; 3] = ["apache2", "httpd", "httpd2"];
/// Most problems of a configuration that are told.
const PROBLEMS_SHOWN: usize = 5;

pub(super) fn recognise(facts: &ProcessFacts, _port: u16, machine: &Machine) -> Option<Found> {
    let program = facts.program_name();
    if !PROGRAMS.contains(&program) && !program.starts_with("httpd.") {
        return None;
    }
    let (built, unasked) = match machine.ask_program("-V", facts) {
        Ok(says) => (Built::of(&says), None),
        Err(why) => (Built::usual(facts, machine), Some(why)),
    };
    // What is typed counts from where the process was started, not from where Weir is.
    let root = option(facts, 'd').map_or_else(|| built.root.clone(), |root| facts.absolute(root));
    let file = option(facts, 'f').map_or_else(|| built.file.clone(), PathBuf::from);
    let host = Host {
        machine,
        root: root.clone(),
        version: built
            .version
            .as_deref()
            .and_then(version_in)
            .map(str::to_owned),
        modules: machine
            .ask_program("-l", facts)
            .ok()
            .map(|says| modules_in(&says)),
        environment: facts.environment.clone(),
        defines: Some(options(facts, 'D')),
    };
    let (first, last) = (
        options(facts, 'C').join("\n"),
        options(facts, 'c').join("\n"),
    );
    let reading = Reading::of(
        &[
            Part::Typed("option -C", &first),
            Part::File(&root.join(file)),
            Part::Typed("option -c", &last),
        ],
        host,
    );
    let mut found = Found {
        pid: facts.pid,
        kind: FoundKind::Httpd,
        name: built.version.unwrap_or_else(|| "Apache httpd".to_owned()),
        limits: Vec::new(),
        metrics: None,
        occupancy: OccupancyWay::Told,
        agent: AgentWay::NoJvm,
        notes: Vec::new(),
    };
    if let Some(why) = unasked {
        found.notes.push(format!(
            "its version and what is built into it are not known, as Weir does not run its program: {why}. As user {}, \
             type `{} -V`",
            facts.user,
            quoted(&facts.program)
        ));
    }
    if !reading
        .statements
        .iter()
        .any(|statement| is_known(&statement.line.name))
    {
        found.notes.push(format!(
            "its configuration below {} cannot be read: its limits are not known",
            root.display()
        ));
        return Some(found);
    }
    for problem in reading.problems.iter().take(PROBLEMS_SHOWN) {
        let file = problem.file.display();
        let place = match problem.line {
            0 => file.to_string(),
            line => format!("{file}:{line}"),
        };
        // Not its words: as root Weir reads any file that a process names.
        found.notes.push(format!(
            "{place} cannot be followed to its end: limits that may be set there are not known"
        ));
    }
    match mpm(&reading, &built.mpm) {
        Ok(mpm) => {
            found.name = format!("{}, {}", found.name, mpm.name());
            found.occupancy = match mpm {
                Mpm::Prefork => OccupancyWay::Workers,
                Mpm::Event => OccupancyWay::Connections,
            };
            let server = Limits {
                reading: &reading,
                mpm,
                facts,
                machine,
            };
            server.tell(&mut found);
        }
        Err(says) => found.notes.push(says),
    }
    Some(found)
}

/// What `-V` says.
#[derive(Debug, Default)]
struct Built {
    version: Option<String>,
    root: PathBuf,
    file: PathBuf,
    mpm: String,
}

impl Built {
    /// Where builds of distributions and Apache's own have their configuration, for a program that
    /// is not asked.
    fn usual(facts: &ProcessFacts, machine: &Machine) -> Self {
        let prefix = facts.program.parent().and_then(Path::parent);
        let places = [
            (Some(Path::new("/etc/apache2")), "apache2.conf"),
            (Some(Path::new("/etc/httpd")), "conf/httpd.conf"),
            (prefix, "conf/httpd.conf"),
        ];
        let found = places.into_iter().find_map(|(root, file)| {
            let root = root?;
            machine
                .is_file(&root.join(file))
                .then(|| (root.to_owned(), PathBuf::from(file)))
        });
        let usual = Self::of("");
        let (root, file) = found.unwrap_or((usual.root.clone(), usual.file.clone()));
        Self {
            root,
            file,
            ..usual
        }
    }

    fn of(says: &str) -> Self {
        let after = |mark: &str| {
            let mut lines = says.lines();
            lines.find_map(|line| line.trim().strip_prefix(mark).map(str::trim))
        };
        let defined = |name: &str| {
            let value = after(&format!("-D {name}="))?;
            Some(PathBuf::from(value.trim_matches('"')))
        };
        Self {
            version: after("Server version:").map(str::to_owned),
            root: defined("HTTPD_ROOT").unwrap_or_else(|| PathBuf::from("/etc/apache2")),
            file: defined("SERVER_CONFIG_FILE").unwrap_or_else(|| PathBuf::from("apache2.conf")),
            mpm: after("Server MPM:").unwrap_or_default().to_lowercase(),
        }
    }
}

/// Whether a word is a directive that Weir knows: what is written in a file that is no
/// configuration is not passed on.
fn is_known(name: &str) -> bool {
    let of_reader = [
        "loadmodule",
        "include",
        "includeoptional",
        "serverroot",
        "listen",
    ];
    let is_limit =
        |mpm: Mpm| directives(mpm).any(|directive| directive.name.eq_ignore_ascii_case(name));
    of_reader.contains(&name) || is_limit(Mpm::Prefork) || is_limit(Mpm::Event)
}

/// Which module makes processes: the one that is loaded, else the one that is built in.
fn mpm(reading: &Reading, built_in: &str) -> Result<Mpm, String> {
    match (&reading.mpms()[..], built_in) {
        (["prefork"], _) | ([], "prefork") => Ok(Mpm::Prefork),
        (["event"], _) | ([], "event") => Ok(Mpm::Event),
        (["worker"], _) | ([], "worker") => {
            Err("Weir knows the limits of prefork and event, not those of worker".to_owned())
        }
        ([], _) => Err(
            "which MPM it runs with (prefork, event) is not known, and so its limits are not: `-V` of its program says \
             it, or a LoadModule that was not read"
                .to_owned(),
        ),
        (several, _) => Err(format!(
            "its configuration loads more than one MPM ({}): its limits are not known",
            several.join(", ")
        )),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, chown};
    use std::os::unix::process::CommandExt as _;
    use std::process::{Command, Stdio};

    use super::*;
    use crate::recognise::found::{FoundValue, SetWay};
    use crate::recognise::java_command::tests::process;

    fn found(files: &[(&str, &str)]) -> Found {
        let tree = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = tree.path().join("etc/apache2").join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let program = tree.path().join("usr/sbin/apache2");
        fs::create_dir_all(program.parent().unwrap()).unwrap();
        fs::write(program, "").unwrap();
        let facts = process("/usr/sbin/apache2 -d /etc/apache2 -k start");
        recognise(&facts, 80, &Machine::of_tree(tree.path())).unwrap()
    }

    /// A program of these lines. Written by another process: one that is started meanwhile would
    /// keep it open for writing.
    fn script(path: &Path, lines: &str) {
        let write = "printf '#!/bin/sh\\n%s\\n' \"$1\" > \"$0\" && chmod 755 \"$0\"";
        let mut shell = Command::new("/bin/sh");
        let status = shell.args(["-c", write]).arg(path).arg(lines).status();
        assert!(status.unwrap().success());
    }

    /// This machine as if it were reached over ssh.
    fn far(place: &Path) -> Machine {
        let program = place.join("ssh");
        script(
            &program,
            "for line; do case $line in -G) exit;; esac; done; exec /bin/sh -c \"$line\"",
        );
        let host = weir_ssh::SshHost::new("far").unwrap();
        let connection = weir_ssh::Connection::open(host.with_program(&program));
        Machine::far(connection.unwrap())
    }

    #[test]
    fn directives_of_the_module_that_is_loaded_are_found() {
        let found = found(&[
            (
                "apache2.conf",
                "Timeout 300\nIncludeOptional mods-enabled/*.load\nIncludeOptional mods-enabled/*.conf\n",
            ),
            (
                "mods-enabled/mpm_prefork.load",
                "LoadModule mpm_prefork_module /usr/lib/mod.so\n",
            ),
            (
                "mods-enabled/mpm_prefork.conf",
                "<IfModule mpm_prefork_module>\n  StartServers 5\n  MaxRequestWorkers 150\n</IfModule>\n\
                 <IfModule mpm_event_module>\n  MaxRequestWorkers 999\n</IfModule>\n",
            ),
        ]);
        assert!(found.name.ends_with(", prefork"), "{}", found.name);
        let limit = |stage: &str| {
            found
                .limits
                .iter()
                .find(|limit| limit.stage == stage)
                .unwrap()
        };
        let threads = limit("threads");
        assert_eq!(threads.value, FoundValue::Number(150));
        assert_eq!(
            threads.origin,
            "/etc/apache2/mods-enabled/mpm_prefork.conf:3"
        );
        let SetWay::Command { set, get, .. } = &threads.set else {
            panic!("{:?}", threads.set);
        };
        assert_eq!(
            set,
            "sed -i --follow-symlinks '3s/[0-9][0-9]*/{value}/' /etc/apache2/mods-enabled/mpm_prefork.conf && \
             /usr/sbin/apache2 -d /etc/apache2 -k graceful"
        );
        assert_eq!(
            get.as_deref(),
            Some("sed -n 3p /etc/apache2/mods-enabled/mpm_prefork.conf")
        );
        let backlog = limit("backlog");
        assert_eq!(
            (backlog.value.clone(), backlog.origin.as_str()),
            (FoundValue::Number(511), "default")
        );
        assert_eq!(limit("native.Timeout").value, FoundValue::Number(300));
    }

    /// The value, or "not known", of a limit of prefork in this main file.
    fn told(main: &str, stage: &str) -> (String, String) {
        let load = "LoadModule mpm_prefork_module m.so\n";
        let found = found(&[
            ("apache2.conf", &format!("{load}{main}")),
            ("conf.d/20.conf", "MaxRequestWorkers 92\n"),
            ("other/conf.d/20.conf", "MaxRequestWorkers 93\n"),
        ]);
        let limit = found
            .limits
            .iter()
            .find(|limit| limit.stage == stage)
            .unwrap();
        (limit.value.to_string(), limit.origin.clone())
    }

    #[test]
    fn what_httpd_makes_of_its_limits_is_told() {
        for (main, threads, origin) in [
            ("MaxClients 77", "77", "/etc/apache2/apache2.conf:2"),
            (
                "MaxRequestWorkers 500",
                "256",
                "/etc/apache2/apache2.conf:2, which says 500",
            ),
            (
                "MaxRequestWorkers 500\nServerLimit 400",
                "400",
                "/etc/apache2/apache2.conf:2, which says 500",
            ),
            ("ServerLimit 100", "100", "default, which says 256"),
            (
                "Include conf.d/*.conf",
                "92",
                "/etc/apache2/conf.d/20.conf:1",
            ),
            (
                "ServerRoot /etc/apache2/other\nInclude conf.d/*.conf",
                "93",
                "/etc/apache2/other/conf.d/20.conf:1",
            ),
            (
                "Define N 60\nMaxRequestWorkers ${N}",
                "60",
                "/etc/apache2/apache2.conf:3",
            ),
            (
                "MaxRequestWorkers ${N}",
                "${N}",
                "/etc/apache2/apache2.conf:2",
            ),
            ("<IfDefine X>\nMaxClients 9\n</IfDefine>", "256", "default"),
            (
                "Define X\n<IfDefine X>\nMaxClients 9\n</IfDefine>",
                "9",
                "/etc/apache2/apache2.conf:4",
            ),
            (
                "<IfModule mpm_event_module>\nMaxClients 9\n</IfModule>",
                "256",
                "default",
            ),
            (
                "<IfModule prefork.c>\nMaxClients 9\n</IfModule>",
                "9",
                "/etc/apache2/apache2.conf:3",
            ),
            (
                "<VirtualHost *>\nDefine X\n</VirtualHost>\n<IfDefine !X>\nMaxClients 9\n</IfDefine>",
                "256",
                "default",
            ),
            (
                "<IfFile conf.d/20.conf>\nMaxClients 9\n</IfFile>",
                "9",
                "/etc/apache2/apache2.conf:3",
            ),
            (
                "<IfFile conf.d/21.conf>\nMaxClients 9\n</IfFile>",
                "256",
                "default",
            ),
            (
                "<Macro M $n>\nMaxClients $n\n</Macro>\nMaxClients 8",
                "8",
                "/etc/apache2/apache2.conf:5",
            ),
            (
                "<Macro V $n>\n<VirtualHost *:$n>\nTimeout 5\n</VirtualHost>\n</Macro>\nUse V 80",
                "256",
                "default",
            ),
            (
                "<Macro M $n>\nMaxClients $n\n</Macro>\nUse M 9",
                "not known",
                "what a macro puts there is not read (/etc/apache2/apache2.conf:5)",
            ),
            (
                "MaxClients 7\n<IfDirective X>\nMaxClients 9\n</IfDirective>",
                "not known",
                "whether the section <ifdirective> at /etc/apache2/apache2.conf:3 counts is not known",
            ),
            (
                "Include gone.conf",
                "not known",
                "files that are included there cannot be read (/etc/apache2/apache2.conf:2)",
            ),
            (
                "Include gone.conf\nMaxClients 8\nServerLimit 9",
                "8",
                "/etc/apache2/apache2.conf:3",
            ),
            (
                "<IfDirective X>\nServerLimit 9\n</IfDirective>\nMaxClients 8",
                "not known",
                "/etc/apache2/apache2.conf:5; ServerLimit is not known, which bounds it",
            ),
            ("IncludeOptional gone/*.conf", "256", "default"),
        ] {
            assert_eq!(
                told(main, "threads"),
                (threads.to_owned(), origin.to_owned()),
                "{main}"
            );
        }
        assert_eq!(
            told("Include gone.conf\nTimeout 9", "native.Timeout").0,
            "9"
        );
    }

    #[test]
    fn what_the_program_says_of_itself_is_understood() {
        // What Debian's 2.4 prints with -V.
        let built = Built::of(
            "Server version: Apache/2.4.62 (Debian)\nServer MPM:     event\n -D HTTPD_ROOT=\"/etc/apache2\"\n \
             -D SERVER_CONFIG_FILE=\"apache2.conf\"\n",
        );
        assert_eq!(built.version.as_deref(), Some("Apache/2.4.62 (Debian)"));
        assert_eq!(
            (built.root.to_str(), built.file.to_str()),
            (Some("/etc/apache2"), Some("apache2.conf"))
        );
        assert_eq!(built.mpm, "event");
    }

    /// A program of another user, named as a server's, that has been taken away once it ran: what
    /// lies at the name that the kernel tells then, whoever looks at the process would run.
    #[test]
    #[expect(clippy::print_stderr, reason = "a skipped test says so")]
    fn a_program_that_somebody_else_could_have_put_there_is_not_run() {
        const NOBODY: u32 = 65_534;
        if !rustix::process::geteuid().is_root() {
            eprintln!("skipped: only root can start a process of another user");
            return;
        }
        let place = tempfile::tempdir().unwrap();
        let own = |path: &Path, mode| {
            chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        };
        own(place.path(), 0o777);
        let (program, configuration) = (place.path().join("httpd"), place.path().join("conf"));
        let ran = place.path().join("ran");
        let load = "LoadModule mpm_event_module m.so\n";
        fs::write(&configuration, format!("{load}MaxRequestWorkers 125\n")).unwrap();
        // By another process: one that is started meanwhile would keep it open for writing.
        let mut copy = Command::new("cp");
        copy.arg("/usr/bin/tail").arg(&program).status().unwrap();
        own(&program, 0o755);
        let mut process = Command::new(&program)
            .arg("-f")
            .arg(&configuration)
            .env("LD_LIBRARY_PATH", place.path())
            .uid(NOBODY)
            .gid(NOBODY)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        fs::remove_file(&program).unwrap();
        let planted = place.path().join("httpd (deleted)");
        script(&planted, &format!("touch {}", ran.display()));
        own(&planted, 0o755);
        let (here, ssh) = (Machine::here(), tempfile::tempdir().unwrap());
        let there = far(ssh.path());
        let facts = ProcessFacts::of(process.id(), &here).unwrap();
        assert_eq!(facts.program, planted);
        let over_ssh = recognise(&facts, 80, &there).unwrap();
        let found = recognise(&facts, 80, &here).unwrap();
        assert!(!ran.exists(), "it was run");
        assert_eq!(over_ssh, found, "over ssh it is the same");
        assert!(
            found.notes[0].contains("belongs to user 65534"),
            "{found:?}"
        );
        assert!(
            found.notes[0].contains("As user 65534, type `"),
            "{found:?}"
        );
        let threads = &found
            .limits
            .iter()
            .find(|limit| limit.stage == "threads")
            .unwrap();
        assert_eq!(threads.value, FoundValue::Number(125), "files are read");
        assert!(matches!(threads.set, SetWay::Not(_)), "{:?}", threads.set);

        // The same program where its user can exchange what root has put there.
        chown(&planted, Some(0), Some(0)).unwrap();
        for machine in [&here, &there] {
            let found = recognise(&facts, 80, machine).unwrap();
            assert!(!ran.exists() && !found.notes.is_empty(), "{found:?}");
        }
        // What root has is run, whoever has started it.
        let own_place = tempfile::tempdir().unwrap();
        let facts = ProcessFacts {
            program: own_place.path().join("httpd"),
            ..facts
        };
        script(&facts.program, "echo Server version: Apache/2.4");
        for machine in [&here, &there] {
            let found = recognise(&facts, 80, machine).unwrap();
            assert_eq!(found.name, "Apache/2.4, event");
        }
        process.kill().unwrap();
        process.wait().unwrap();
    }

    #[test]
    fn libraries_are_those_of_nobody_else() {
        let tree = tempfile::tempdir().unwrap();
        let program = tree.path().join("usr/sbin/httpd");
        fs::create_dir_all(program.parent().unwrap()).unwrap();
        for (folder, mode) in [("usr/lib", 0o755), ("srv", 0o777)] {
            let folder = tree.path().join(folder);
            fs::create_dir(&folder).unwrap();
            fs::set_permissions(folder, fs::Permissions::from_mode(mode)).unwrap();
        }
        script(&program, "echo \"Server version: [$LD_LIBRARY_PATH]\"");
        let own = rustix::process::geteuid().as_raw();
        let told = |user: u32, path: &str| {
            let mut facts = process("/usr/sbin/httpd");
            facts.user = user;
            facts
                .environment
                .insert("LD_LIBRARY_PATH".to_owned(), path.to_owned());
            recognise(&facts, 80, &Machine::of_tree(tree.path()))
                .unwrap()
                .name
        };
        assert_eq!(told(own, "/usr/lib"), "[/usr/lib]", "as it was started");
        for (user, path) in [
            (65_533, "/usr/lib"),
            (own, "/srv"),
            (own, "usr/lib::."),
            (own, "/usr/$LIB"),
            (own, "/none"),
        ] {
            // What Weir was started with itself is left as it is.
            let inherited = std::env::var("LD_LIBRARY_PATH").unwrap_or_default();
            assert_eq!(told(user, path), format!("[{inherited}]"), "{user} {path}");
        }
        assert_eq!(told(own, "/srv:/usr/lib:"), "[/usr/lib]");
    }

    /// As root Weir reads any file that a process names: what is no directive stays there.
    #[test]
    fn of_a_file_that_is_no_configuration_nothing_is_said() {
        let secrets = "root:$6$s3cret$hash:19000:0:99999:7:::\nInclude s3cret\nLoadModule s3cret_module s3cret\n";
        let found = found(&[("apache2.conf", secrets)]);
        assert!(!format!("{found:?}").contains("s3cret"), "{found:?}");
    }

    #[test]
    fn a_folder_counts_from_where_the_process_was_started() {
        let tree = tempfile::tempdir().unwrap();
        // Which `sed` would take for what it is to do.
        let folder = tree.path().join("srv/-e1e id");
        fs::create_dir_all(&folder).unwrap();
        fs::create_dir_all(tree.path().join("bin")).unwrap();
        fs::write(tree.path().join("bin/httpd"), "").unwrap();
        let load = "LoadModule mpm_event_module m.so\nMaxRequestWorkers 1\n";
        fs::write(folder.join("c"), load).unwrap();
        let mut facts = process("/bin/httpd -d DIRECTORY -f c");
        facts.words[2] = "-e1e id".to_owned();
        let found = recognise(&facts, 80, &Machine::of_tree(tree.path())).unwrap();
        let SetWay::Command { set, get, .. } = &found
            .limits
            .iter()
            .find(|limit| limit.stage == "threads")
            .unwrap()
            .set
        else {
            panic!("{found:?}");
        };
        assert!(set.contains(" '/srv/-e1e id/c' "), "{set}");
        assert_eq!(get.as_deref(), Some("sed -n 2p '/srv/-e1e id/c'"));
    }

    #[test]
    fn what_cannot_be_read_or_is_not_known_is_said() {
        assert!(
            found(&[])
                .notes
                .iter()
                .any(|note| note.contains("cannot be read"))
        );
        let worker = found(&[("apache2.conf", "LoadModule mpm_worker_module x.so\n")]);
        assert!(
            worker
                .notes
                .iter()
                .any(|note| note.contains("not those of worker")),
            "{:?}",
            worker.notes
        );
        assert_eq!(
            recognise(&process("/usr/sbin/nginx"), 80, &Machine::here()),
            None
        );
    }
}
