//! An Apache httpd: the directives that bound it, found in its configuration files.

use std::path::{Path, PathBuf};

use super::found::{AgentWay, Found, FoundKind, FoundLimit, FoundValue, SetWay};
use super::httpd_configuration::{Directive, read};
use super::liberty::quoted;
use super::machine::Machine;
use super::process::ProcessFacts;
use crate::httpd::{Mpm, bounds};

const PROGRAMS: [&str; 3] = ["apache2", "httpd", "httpd2"];

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
    let root = option(facts, "-d").map_or(built.root, |root| facts.absolute(root));
    let file = option(facts, "-f").map_or(built.file, PathBuf::from);
    let directives = read(&root.join(file), &root, facts, machine);
    let mut found = Found {
        pid: facts.pid,
        kind: FoundKind::Httpd,
        name: built.version.unwrap_or_else(|| "Apache httpd".to_owned()),
        limits: Vec::new(),
        metrics: None,
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
    if directives.is_empty() {
        found.notes.push(format!(
            "its configuration below {} cannot be read: its limits are not known",
            root.display()
        ));
        return Some(found);
    }
    match mpm(&directives, &built.mpm) {
        Ok(mpm) => {
            found.name = format!("{}, {}", found.name, mpm.name());
            found.limits = bounds(mpm)
                .into_iter()
                .map(|(stage, directive, default)| {
                    limit(&stage, directive, default, &directives, (facts, machine))
                })
                .collect();
        }
        Err(name) => found.notes.push(format!(
            "Weir knows the limits of prefork and event, not those of {name}"
        )),
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

/// The value of an option of the command line.
fn option(facts: &ProcessFacts, name: &str) -> Option<String> {
    let mut words = facts.words.iter();
    words.find(|word| *word == name)?;
    words.next().cloned()
}

/// Which module makes processes: the one that is loaded, else the one that is built in.
fn mpm(directives: &[Directive], built_in: &str) -> Result<Mpm, String> {
    let loaded = directives.iter().find_map(|directive| {
        if !directive.is("LoadModule") {
            return None;
        }
        directive
            .value
            .strip_prefix("mpm_")?
            .split("_module")
            .next()
    });
    match loaded.unwrap_or(built_in) {
        "prefork" => Ok(Mpm::Prefork),
        "event" => Ok(Mpm::Event),
        other => Err(other.to_owned()),
    }
}

fn limit(
    stage: &str,
    name: &str,
    default: u64,
    directives: &[Directive],
    of: (&ProcessFacts, &Machine),
) -> FoundLimit {
    // The last one counts; what is inside a virtual host or a directory was left out.
    let written = directives.iter().rfind(|directive| directive.is(name));
    let (value, origin) = match written {
        Some(directive) => (FoundValue::of(&directive.value), directive.place()),
        None => (FoundValue::Number(default), "default".to_owned()),
    };
    FoundLimit {
        stage: stage.to_owned(),
        native: name.to_owned(),
        value,
        origin,
        set: set_way(stage, name, written, of),
    }
}

fn set_way(
    stage: &str,
    name: &str,
    written: Option<&Directive>,
    (facts, machine): (&ProcessFacts, &Machine),
) -> SetWay {
    let place = written.map_or_else(|| "the configuration".to_owned(), Directive::place);
    if stage != "threads" {
        return SetWay::Not(format!("change it at {place}, then stop and start httpd"));
    }
    let Some(written) = written else {
        return SetWay::Not(format!(
            "{name} is written nowhere: write it into the configuration and run weir init again"
        ));
    };
    // A study may be run by root, and its commands with it.
    let program = machine.own_program(facts).map(|_| ());
    let file = machine.why_not_change(&written.file).map_or(Ok(()), Err);
    if let Err(why) = program.and(file) {
        return SetWay::Not(format!(
            "{why}, so no command is written that would run or change it for whoever runs Weir: change {name} at {place} \
             as user {}, then reload httpd, or let Weir ask you (\"ask\")",
            facts.user
        ));
    }
    let file = quoted(&written.file);
    let (line, program) = (written.line, quoted(&facts.program));
    let options: String = ["-d", "-f"]
        .iter()
        .filter_map(|name| {
            Some(format!(
                " {name} {}",
                quoted(&PathBuf::from(option(facts, name)?))
            ))
        })
        .collect();
    SetWay::Command {
        set: format!(
            "sed -i --follow-symlinks '{line}s/[0-9][0-9]*/{{value}}/' {file} && {program}{options} -k graceful"
        ),
        get: Some(format!("sed -n {line}p {file}")),
        does: format!(
            "changes the number on line {line} of {file} and reloads httpd gracefully; needs the rights to do so. On Debian \
             write `apachectl graceful` for the part behind &&. Above ServerLimit a stop and start is needed"
        ),
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
        fs::write(&configuration, format!("{load}MaxRequestWorkers 123\n")).unwrap();
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
        assert_eq!(threads.value, FoundValue::Number(123), "files are read");
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
