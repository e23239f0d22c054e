//! What Tomcat puts in place of `${…}` in its files ("Apache Tomcat Configuration", "Property
//! replacements").
//!
//! System properties: those of `conf/catalina.properties`, which it sets itself and so over those
//! of the command line. The environment only counts when a property source for it is named.

use std::collections::BTreeMap;
use std::path::Path;

use crate::machine::Machine;
use crate::process::ProcessFacts;
use crate::recognise::java_command::JavaCommand;
use crate::spring_boot::settings::pairs;

const SOURCES: &str = "org.apache.tomcat.util.digester.PROPERTY_SOURCE";
const OF_ENVIRONMENT: &str = "EnvironmentPropertySource";

/// What is known of them.
#[derive(Debug, Default)]
pub(in crate::recognise) struct TomcatProperties {
    properties: BTreeMap<String, String>,
    environment: BTreeMap<String, String>,
}

impl TomcatProperties {
    pub(super) fn of(
        base: &Path,
        java: &JavaCommand,
        facts: &ProcessFacts,
        machine: &Machine,
    ) -> Self {
        let mut properties = java.properties.clone();
        let text = machine.text(&base.join("conf/catalina.properties"));
        properties.extend(pairs(&text.unwrap_or_default()));
        let has_environment = properties
            .get(SOURCES)
            .is_some_and(|sources| sources.contains(OF_ENVIRONMENT));
        Self {
            properties,
            environment: if has_environment {
                facts.environment.clone()
            } else {
                BTreeMap::new()
            },
        }
    }

    /// A text with its `${name}` and `${name:-default}` filled in; what nobody knows stays as it is
    /// written.
    pub(in crate::recognise) fn filled(&self, text: &str) -> String {
        let Some((before, rest)) = text.split_once("${") else {
            return text.to_owned();
        };
        let Some((inner, after)) = rest.split_once('}') else {
            return text.to_owned();
        };
        let (name, default) = match inner.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inner, None),
        };
        let known = self
            .properties
            .get(name)
            .or_else(|| self.environment.get(name));
        let value = known.map(String::as_str).or(default);
        let value = value.map_or_else(|| format!("${{{inner}}}"), str::to_owned);
        format!("{before}{value}{}", self.filled(after))
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;
    use crate::recognise::java_command::tests::process;

    fn filled(text: &str, file: &str) -> String {
        let tree = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(tree.path().join("b/conf")).unwrap();
        std::fs::write(tree.path().join("b/conf/catalina.properties"), file).unwrap();
        let mut facts = process("/usr/bin/java -Da=1 -Db=2 X");
        facts.environment.insert("e".to_owned(), "9".to_owned());
        let java = JavaCommand::of(&facts).unwrap();
        let machine = Machine::of_tree(tree.path());
        TomcatProperties::of(Path::new("/b"), &java, &facts, &machine).filled(text)
    }

    #[test]
    fn properties_of_the_file_count_before_those_of_the_command_line() {
        assert_eq!(filled("${a}-${b}-${c}", "b=3\nc=4\n"), "1-3-4");
    }

    #[test]
    fn the_environment_counts_where_a_source_for_it_is_named() {
        assert_eq!(filled("${e}${e:-7}", ""), "${e}7");
        let source = "org.apache.tomcat.util.digester.EnvironmentPropertySource";
        assert_eq!(filled("${e}", &format!("{SOURCES}={source}\n")), "9");
    }

    #[test]
    fn unknown_placeholders_stay_as_written() {
        assert_eq!(filled("a${x}c${d:-e}${", ""), "a${x}ce${");
    }
}
