//! An Apache httpd: the directives that bound it, found in its configuration files.

use std::path::PathBuf;

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
    let says = machine
        .ask_program(&facts.program, "-V", facts)
        .unwrap_or_default();
    let built = Built::of(&says);
    let root = option(facts, "-d").map_or(built.root, PathBuf::from);
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
                    limit(&stage, directive, default, &directives, facts)
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
    facts: &ProcessFacts,
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
        set: set_way(stage, name, written, facts),
    }
}

fn set_way(stage: &str, name: &str, written: Option<&Directive>, facts: &ProcessFacts) -> SetWay {
    let place = written.map_or_else(|| "the configuration".to_owned(), Directive::place);
    if stage != "threads" {
        return SetWay::Not(format!("change it at {place}, then stop and start httpd"));
    }
    let Some(written) = written else {
        return SetWay::Not(format!(
            "{name} is written nowhere: write it into the configuration and run weir init again"
        ));
    };
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

    use super::*;
    use crate::recognise::java_command::tests::process;

    fn found(files: &[(&str, &str)]) -> Found {
        let tree = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = tree.path().join("etc/apache2").join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let facts = process("/usr/sbin/apache2 -d /etc/apache2 -k start");
        recognise(&facts, 80, &Machine::of_tree(tree.path())).unwrap()
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

    #[test]
    fn what_cannot_be_read_or_is_not_known_is_said() {
        assert!(found(&[]).notes[0].contains("cannot be read"));
        let worker = found(&[("apache2.conf", "LoadModule mpm_worker_module x.so\n")]);
        assert!(
            worker.notes[0].contains("not those of worker"),
            "{:?}",
            worker.notes
        );
        assert_eq!(
            recognise(&process("/usr/sbin/nginx"), 80, &Machine::here()),
            None
        );
    }
}
