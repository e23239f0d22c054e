//! Which server a running process is, and what bounds it.
//!
//! Everything is read from `/proc`, from the command line and from files. Files say what is
//! *configured*; the running server says what is in force, and counts more. It is asked on this
//! machine only, and only where nothing has to be loaded into it: over an agent of Jolokia that it
//! has already, and over the page of metrics of Spring Boot's actuator.
//!
//! A process in a container sees other files under the same names: its own are read, below its
//! root, and nothing there is run or changed.
//!
//! A file per kind of server; each takes the facts of the process and gives what it found, or
//! nothing when the process is something else.

mod found;
mod httpd;
mod java_command;
mod liberty;
mod nginx;
mod resources;
mod running;
mod spring_boot;
mod tomcat;
mod xml_place;

pub use found::{AgentWay, Found, FoundKind, FoundLimit, FoundValue, OccupancyWay, SetWay};

use std::time::Duration;

use crate::machine::Machine;
use crate::process::ProcessFacts;
use crate::trust::Runner;
use java_command::JavaCommand;

/// How far the start of a process may be off: the kernel tells it in whole seconds.
const CLOCK: Duration = Duration::from_secs(2);

/// What is known of the server that listens on a port.
pub fn recognise(facts: &ProcessFacts, port: u16, machine: &Machine) -> Found {
    let mut found = match machine.seen_by(facts) {
        Ok(None) => of_files(facts, port, machine),
        Ok(Some(inside)) => {
            let mut found = of_files(facts, port, &inside);
            keep_out(&mut found);
            found
        }
        Err(why) => {
            let note =
                format!("{why}: its limits are not known. Run `weir init` on its own machine");
            let notes = vec![note];
            Found {
                notes,
                ..unknown(facts)
            }
        }
    };
    if found.agent.attaches()
        && let Some(why) = machine.why_no_agent(facts)
    {
        found.agent = AgentWay::Not(why);
    }
    let is_own = facts.user == Runner::own().user();
    if found.agent == AgentWay::Loads && !is_own {
        found.notes.push(format!(
            "the virtual machine belongs to user {}: a study with `jolokia = \"attach\"` loads an agent into it",
            facts.user
        ));
    }
    if found.agent == AgentWay::Loads && is_own {
        running::ask_agent(facts.pid, port, &mut found);
    }
    found
}

/// What the files of the server say, and which of them say something else than when it started.
fn of_files(facts: &ProcessFacts, port: u16, machine: &Machine) -> Found {
    let mut found = kind_of(facts, port, machine).unwrap_or_else(|| unknown(facts));
    // Liberty looks at its files again by itself.
    if let Some(started) = facts.started
        && found.kind != FoundKind::Liberty
    {
        for file in machine.changed_since(started + CLOCK) {
            found.note_changed(&file.display().to_string());
        }
    }
    found
}

/// Of a server in a container: nothing of it is changed from outside.
fn keep_out(found: &mut Found) {
    for limit in &mut found.limits {
        if matches!(limit.set, SetWay::Command { .. }) {
            let why = "its files are those of a container: change them there";
            limit.set = SetWay::Not(why.to_owned());
        }
    }
    found.notes.push(format!(
        "the server sees other files than Weir, as in a container: the files that are named here are below \
         /proc/{}/root",
        found.pid
    ));
}

fn kind_of(facts: &ProcessFacts, port: u16, machine: &Machine) -> Option<Found> {
    let Some(java) = JavaCommand::of(facts) else {
        return httpd::recognise(facts, port, machine)
            .or_else(|| nginx::recognise(facts, port, machine));
    };
    let mut found = tomcat::recognise(facts, &java, port, machine)
        .or_else(|| spring_boot::recognise(facts, &java, port, machine))
        .or_else(|| liberty::recognise(facts, &java, port, machine))
        .unwrap_or_else(|| Found {
            agent: AgentWay::Useless("Weir does not know the MBeans of such a server".to_owned()),
            ..unknown(facts)
        });
    if let Some(option) = java.forbids_attaching() {
        let why = format!("the virtual machine was started with {option}");
        found.agent = AgentWay::Not(why);
    } else if found.agent == AgentWay::Loads
        && let Some(option) = java.forbids_agents()
    {
        let why = format!("the virtual machine was started with {option}");
        found.agent = AgentWay::Useless(why);
    }
    Some(found)
}

fn unknown(facts: &ProcessFacts) -> Found {
    Found {
        pid: facts.pid,
        kind: FoundKind::Unknown,
        name: facts.in_short(),
        limits: Vec::new(),
        metrics: None,
        occupancy: OccupancyWay::Told,
        agent: AgentWay::NoJvm,
        notes: Vec::new(),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::Path;
    use std::process::{Child, Command, Stdio};
    use std::time::{Instant, SystemTime};

    use super::*;

    fn server_xml(threads: u32) -> String {
        format!(
            "<Server><Service name=\"Catalina\"><Connector port=\"8080\" maxThreads=\"{threads}\"/></Service></Server>"
        )
    }

    fn tomcat_at(base: &Path, pid: u32) -> ProcessFacts {
        let home = |name: &str| format!("-Dcatalina.{name}={}", base.display());
        ProcessFacts {
            pid,
            program: "/usr/bin/java".into(),
            words: vec![
                "java".to_owned(),
                home("base"),
                home("home"),
                "org.apache.catalina.startup.Bootstrap".to_owned(),
                "start".to_owned(),
            ],
            directory: "/".into(),
            user: Runner::own().user(),
            ..ProcessFacts::default()
        }
    }

    fn threads(found: &Found) -> &FoundLimit {
        let mut limits = found.limits.iter();
        limits.find(|limit| limit.stage == "threads").unwrap()
    }

    /// A process that sees one folder in the place of another; `None` where that needs rights that
    /// are not there.
    fn who_sees(other: &Path, base: &Path) -> Option<Child> {
        let script = format!(
            "mount --bind '{}' '{}' && exec sleep 60",
            other.display(),
            base.display()
        );
        let mut child = Command::new("unshare")
            .args(["--mount", "sh", "-c", &script])
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let until = Instant::now() + Duration::from_secs(20);
        let name = format!("/proc/{}/comm", child.id());
        while Instant::now() < until && child.try_wait().ok()?.is_none() {
            if fs::read_to_string(&name).is_ok_and(|name| name.trim() == "sleep") {
                return Some(child);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        drop(child.kill());
        drop(child.wait());
        None
    }

    #[test]
    #[expect(clippy::print_stdout, reason = "what was left out is said")]
    fn a_server_in_a_container_is_read_below_its_root() {
        let tree = tempfile::tempdir().unwrap();
        let folder = |name: &str| {
            let folder = tree.path().join(name);
            fs::create_dir_all(folder.join("conf")).unwrap();
            folder
        };
        let (base, other) = (folder("base"), folder("other"));
        fs::write(base.join("conf/server.xml"), server_xml(200)).unwrap();
        fs::write(base.join("conf/real.xml"), server_xml(201)).unwrap();
        fs::write(other.join("conf/real.xml"), server_xml(77)).unwrap();
        // As the server means it, this leads to its own file.
        symlink(base.join("conf/real.xml"), other.join("conf/server.xml")).unwrap();
        let Some(mut child) = who_sees(&other, &base) else {
            println!("left out: a mount namespace needs root");
            return;
        };
        let found = recognise(&tomcat_at(&base, child.id()), 8080, &Machine::here());
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(threads(&found).value, FoundValue::Number(77));
        let notes = found.notes.join("\n");
        assert!(notes.contains("as in a container"), "{notes}");
        let own = recognise(
            &tomcat_at(&base, std::process::id()),
            8080,
            &Machine::here(),
        );
        assert_eq!(threads(&own).value, FoundValue::Number(200));
        assert!(!own.notes.join("\n").contains("container"));
    }

    #[test]
    fn a_file_that_was_changed_after_the_start_is_said() {
        let tree = tempfile::tempdir().unwrap();
        fs::create_dir(tree.path().join("conf")).unwrap();
        fs::write(tree.path().join("conf/server.xml"), server_xml(50)).unwrap();
        let at = |started: SystemTime| {
            let facts = ProcessFacts {
                started: Some(started),
                ..tomcat_at(tree.path(), std::process::id())
            };
            let found = recognise(&facts, 8080, &Machine::here());
            (threads(&found).origin.clone(), found.notes.join("\n"))
        };
        let hour = Duration::from_secs(3600);
        let (origin, notes) = at(SystemTime::now() - hour);
        assert!(
            origin.ends_with("; changed since the server started"),
            "{origin}"
        );
        assert!(notes.contains("server.xml was changed after"), "{notes}");
        let (origin, notes) = at(SystemTime::now() + hour);
        assert!(!origin.contains("changed"), "{origin}");
        assert!(!notes.contains("changed"), "{notes}");
    }
}
