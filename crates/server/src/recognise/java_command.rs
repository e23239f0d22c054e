//! The command line of a Java virtual machine, taken apart.

use std::collections::BTreeMap;

use crate::process::ProcessFacts;

/// Options whose value is the next word.
const WITH_VALUE: [&str; 13] = [
    "-cp",
    "-classpath",
    "--class-path",
    "-p",
    "--module-path",
    "--add-modules",
    "--add-opens",
    "--add-exports",
    "--add-reads",
    "--limit-modules",
    "--patch-module",
    "--upgrade-module-path",
    "--source",
];
/// Variables with more options; the virtual machine reads them itself.
const VARIABLES: [&str; 3] = ["JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS"];

/// What a virtual machine was started with.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct JavaCommand {
    /// Everything before the main class.
    pub(super) options: Vec<String>,
    /// `-Dname=value`.
    pub(super) properties: BTreeMap<String, String>,
    pub(super) class_path: Vec<String>,
    /// The jar behind `-jar`, or the main class.
    pub(super) main: String,
    pub(super) is_jar: bool,
    /// Everything behind it.
    pub(super) arguments: Vec<String>,
}

impl JavaCommand {
    /// The command of a process that is one.
    pub(super) fn of(facts: &ProcessFacts) -> Option<Self> {
        let name = facts.program_name();
        if name != "java" && !name.starts_with("jsvc") {
            return None;
        }
        let mut java = Self::default();
        for variable in VARIABLES {
            let options = facts.environment.get(variable);
            let options = options.iter().flat_map(|text| text.split_whitespace());
            options.for_each(|option| java.option(option));
        }
        let mut words = facts.words.iter().skip(1);
        while let Some(word) = words.next() {
            if word == "-jar" {
                java.is_jar = true;
            } else if WITH_VALUE.contains(&word.as_str()) {
                let value = words.next().map(String::as_str).unwrap_or_default();
                if matches!(word.as_str(), "-cp" | "-classpath" | "--class-path") {
                    java.class_path = split_path(value);
                }
            } else if word.starts_with(['-', '@']) {
                java.option(word);
            } else {
                java.main.clone_from(word);
                java.arguments = words.cloned().collect();
                break;
            }
        }
        Some(java)
    }

    fn option(&mut self, option: &str) {
        if let Some((name, value)) = option.strip_prefix("-D").map(named) {
            self.properties.insert(name.to_owned(), value.to_owned());
        }
        if let Some(path) = option.strip_prefix("--class-path=") {
            self.class_path = split_path(path);
        }
        self.options.push(option.to_owned());
    }

    /// Whether a class is the main one; `jsvc` has options of its own before it.
    pub(super) fn runs(&self, class: &str) -> bool {
        self.main == class || self.arguments.iter().any(|word| word == class)
    }

    /// A property.
    pub(super) fn property(&self, name: &str) -> Option<&str> {
        self.properties.get(name).map(String::as_str)
    }

    /// The option with which nobody can speak to the virtual machine.
    pub(super) fn forbids_attaching(&self) -> Option<&str> {
        self.given("-XX:+DisableAttachMechanism")
    }

    /// The option with which no agent can be loaded.
    pub(super) fn forbids_agents(&self) -> Option<&str> {
        self.given("-XX:-EnableDynamicAgentLoading")
    }

    fn given(&self, wanted: &str) -> Option<&str> {
        let mut options = self.options.iter().map(String::as_str);
        options.find(|option| *option == wanted)
    }
}

fn named(option: &str) -> (&str, &str) {
    option.split_once('=').unwrap_or((option, ""))
}

fn split_path(text: &str) -> Vec<String> {
    text.split(':').map(str::to_owned).collect()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
pub(super) mod tests {
    use std::path::PathBuf;

    use super::*;

    /// The facts of a process with this command line.
    pub(in super::super) fn process(line: &str) -> ProcessFacts {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        ProcessFacts {
            pid: 4711,
            program: PathBuf::from(&words[0]),
            words,
            directory: PathBuf::from("/srv"),
            ..ProcessFacts::default()
        }
    }

    #[test]
    fn options_class_and_arguments_are_told_apart() {
        let mut facts = process(
            "/usr/bin/java -Xmx1g -Da=1 -Db --add-opens java.base/java.lang=ALL-UNNAMED -cp x.jar:y.jar \
             -XX:+DisableAttachMechanism com.example.Main --server.port=1 -Dnot=mine",
        );
        facts
            .environment
            .insert("JAVA_TOOL_OPTIONS".to_owned(), "-Dc=3 -Da=0".to_owned());
        let java = JavaCommand::of(&facts).unwrap();
        assert_eq!(java.main, "com.example.Main");
        assert_eq!(java.arguments, ["--server.port=1", "-Dnot=mine"]);
        assert_eq!(java.class_path, ["x.jar", "y.jar"]);
        assert_eq!(java.property("a"), Some("1"), "the command line goes last");
        assert_eq!(
            (java.property("b"), java.property("c")),
            (Some(""), Some("3"))
        );
        assert_eq!(java.property("not"), None);
        assert_eq!(
            java.forbids_attaching(),
            Some("-XX:+DisableAttachMechanism")
        );
        assert_eq!(java.forbids_agents(), None);
        let jar = JavaCommand::of(&process("/opt/jdk/bin/java @args -jar app.jar x")).unwrap();
        assert!(jar.is_jar && jar.main == "app.jar" && jar.arguments == ["x"]);
        assert_eq!(JavaCommand::of(&process("/usr/bin/node server.js")), None);
    }
}
