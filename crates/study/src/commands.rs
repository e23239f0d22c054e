//! What a study runs: commands, programs and options of programs, with their lines.
//!
//! A study may come from elsewhere. Whoever runs it sees what it will run before anything of it
//! does, and as root nothing of somebody else's study runs unasked.

use std::fmt::Write as _;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Something that a study runs, or that decides what is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StudyCommand {
    /// The line of the study, from 1.
    pub line: usize,
    /// Its key, such as `target.command.run`.
    pub key: String,
    /// What is written there.
    pub text: String,
    /// The ssh host on which it runs; `None`: this machine.
    pub over: Option<String>,
}

/// Keys below a kind of target whose texts are run, are programs, or say what programs do.
const RUN: [(&str, &[&str]); 6] = [
    (
        "command",
        &["run", "behind", "environment", "template", "directory"],
    ),
    ("external", &["set", "get", "ssh-config"]),
    (
        "spring-boot",
        &["app", "arguments", "java-options", "config", "directory"],
    ),
    ("tomcat", &["home", "app", "java-options"]),
    ("liberty", &["home", "server", "app", "java-options"]),
    ("httpd", &["home", "config"]),
];
/// Words that name something of Weir's own, or somebody who does it by hand.
const OWN: [&str; 5] = ["stress", "posts", "idle-threads", "ask", "jmx"];
/// It is asked, and runs nothing.
const READY: &str = "behind.ready";

/// Everything that the study of this text runs, in the order of its lines.
pub fn study_commands(text: &str) -> Vec<StudyCommand> {
    let (root, _) = DeTable::parse_recoverable(text);
    let root = root.get_ref();
    let mut found = Found {
        text,
        over: None,
        commands: Vec::new(),
    };
    if let Some(target) = table(root, "target") {
        for (kind, keys) in RUN {
            if let Some(section) = table(target, kind) {
                let ssh = section.get("ssh").and_then(|ssh| ssh.get_ref().as_str());
                for key in keys {
                    let is_far = kind == "external" && matches!(*key, "set" | "get");
                    found.over = ssh.filter(|_| is_far).map(str::to_owned);
                    if let Some(value) = section.get(*key) {
                        found.add(&format!("target.{kind}"), key, value);
                    }
                }
            }
        }
    }
    found.over = None;
    if let Some(load) = table(root, "load")
        && let Some(engine) = load.get("engine")
        && engine.get_ref().as_str() == Some("jmeter")
        && let Some(plan) = load.get("plan")
    {
        // JMeter runs whatever scripts and programs its plan has.
        found.add("load", "plan", plan);
    }
    let mut commands = found.commands;
    commands.sort_by_key(|command| command.line);
    commands
}

fn table<'a>(of: &'a DeTable<'_>, name: &str) -> Option<&'a DeTable<'a>> {
    match of.get(name)?.get_ref() {
        DeValue::Table(table) => Some(table),
        _ => None,
    }
}

struct Found<'a> {
    text: &'a str,
    over: Option<String>,
    commands: Vec<StudyCommand>,
}

impl Found<'_> {
    /// A text, each of a list, or each of a table.
    fn add(&mut self, section: &str, key: &str, value: &Spanned<DeValue<'_>>) {
        match value.get_ref() {
            DeValue::String(text) if !OWN.contains(&&**text) && key != READY => {
                let before = self.text.get(..value.span().start).unwrap_or(self.text);
                self.commands.push(StudyCommand {
                    line: before.matches('\n').count() + 1,
                    key: format!("{section}.{key}"),
                    text: text.to_string(),
                    over: self.over.clone(),
                });
            }
            DeValue::Array(values) => {
                for value in values {
                    self.add(section, key, value);
                }
            }
            DeValue::Table(values) => {
                for (name, value) in values {
                    self.add(section, &format!("{key}.{}", name.get_ref()), value);
                }
            }
            _ => {}
        }
    }
}

impl StudyCommand {
    /// It for people, without anything that would steer their terminal.
    pub fn says(&self) -> String {
        let over = self.over.as_ref();
        let over = over.map_or_else(String::new, |host| format!(" on {host} over ssh"));
        visible(&format!("{}{over}: {}", self.key, self.text))
    }
}

/// A text on one line, in which what is not seen, or turns what is seen around, stands as its code.
fn visible(text: &str) -> String {
    let mut seen = String::new();
    for c in text.chars() {
        let turns = matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
        if c.is_control() || turns {
            // Writing to a text cannot fail.
            let _ = write!(seen, "{}", c.escape_default());
        } else {
            seen.push(c);
        }
    }
    seen
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, wanted: &[(usize, &str)]) {
        let found = study_commands(text);
        let said: Vec<(usize, String)> = found
            .iter()
            .map(|command| (command.line, command.says()))
            .collect();
        let said: Vec<(usize, &str)> = said.iter().map(|(line, says)| (*line, &**says)).collect();
        assert_eq!(said, wanted);
    }

    #[test]
    fn every_command_is_named_with_its_line() {
        check(
            "[target.command]\n\
             run = \"./server --port {port}\"\n\
             ready = \"/\"\n\
             environment = { LD_PRELOAD = \"./x.so\", N = \"1\" }\n\
             [target.command.behind]\n\
             run = \"\"\"\n./stub\n--all\"\"\"\n\
             ready = \"/\"\n",
            &[
                (2, "target.command.run: ./server --port {port}"),
                (4, "target.command.environment.LD_PRELOAD: ./x.so"),
                (4, "target.command.environment.N: 1"),
                (6, "target.command.behind.run: ./stub\\n--all"),
            ],
        );
    }

    #[test]
    fn commands_say_where_they_run() {
        check(
            "[target.external]\n\
             url = \"http://127.0.0.1:1\"\n\
             ssh = \"web\\u001b[2J1\"\n\
             ssh-config = \"config\"\n\
             set = { threads = \"limit {value}\", backlog = \"ask\" }\n\
             [target.external.get]\n\
             threads = \"show \\u001b[1A\\u202e\"\n\
             native.word = \"x\"\n",
            &[
                (4, "target.external.ssh-config: config"),
                (
                    5,
                    "target.external.set.threads on web\\u{1b}[2J1 over ssh: limit {value}",
                ),
                (
                    7,
                    "target.external.get.threads on web\\u{1b}[2J1 over ssh: show \\u{1b}[1A\\u{202e}",
                ),
                (
                    8,
                    "target.external.get.native.word on web\\u{1b}[2J1 over ssh: x",
                ),
            ],
        );
    }

    #[test]
    fn programs_and_their_options_are_named_and_what_is_weirs_own_is_not() {
        check("[target.builtin]\n[load]\nplan = \"a.jmx\"\n", &[]);
        check("[target.tomcat]\napp = \"stress\"\n", &[]);
        check(
            "[target.tomcat]\nhome = \"/opt/t\"\njava-options = [\"-javaagent:x\",\n\"-Xmx1g\"]\n\
             [load]\nplan = \"a.jmx\"\nengine = \"jmeter\"\n",
            &[
                (2, "target.tomcat.home: /opt/t"),
                (3, "target.tomcat.java-options: -javaagent:x"),
                (4, "target.tomcat.java-options: -Xmx1g"),
                (6, "load.plan: a.jmx"),
            ],
        );
        check(
            "[target.spring-boot]\napp = \"a.jar\"\narguments = [\"--a=b\"]\n",
            &[
                (2, "target.spring-boot.app: a.jar"),
                (3, "target.spring-boot.arguments: --a=b"),
            ],
        );
    }

    #[test]
    fn dotted_keys_hide_nothing() {
        check(
            "target.command.run = \"x\"\ntarget.command.behind.run = \"y\"\n",
            &[
                (1, "target.command.run: x"),
                (2, "target.command.behind.run: y"),
            ],
        );
        assert_eq!(study_commands("not = [toml").len(), 0);
        let first = study_commands("[target]\ncommand = { run = \"x\" }\n");
        assert_eq!(first.first().unwrap().line, 2);
    }
}
