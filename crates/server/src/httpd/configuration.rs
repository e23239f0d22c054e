//! Limits as changes of a user's configuration, in whichever of its files they stand.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::configuration::{ConfigurationChange, added_lines};
use crate::error::TargetError;

use super::directives::{Directive, Values, directive_named};
use super::reader::{ConfigurationFile, Scope, Statement};
use super::users::UsersConfiguration;

/// How far a directive stands in its section when no other shows it.
const INDENT: &str = "    ";

/// Edits by file.
type Edits = BTreeMap<usize, Vec<(Range<usize>, String)>>;

/// What has to be changed so that the configuration has these values.
pub(super) fn changes(
    configuration: &UsersConfiguration,
    values: &Values,
) -> Result<Vec<ConfigurationChange>, TargetError> {
    let mut edits = Edits::new();
    let mut absent: Vec<(&'static str, u64)> = Vec::new();
    for (name, value) in values {
        if configuration.values.get(name) == Some(value) {
            continue;
        }
        match last_of(configuration, name)? {
            Some(statement) => {
                let place = value_of(statement, configuration)?;
                let edit = (place, value.to_string());
                edits.entry(statement.file).or_default().push(edit);
            }
            None => absent.push((name, *value)),
        }
    }
    add(configuration, &absent, &mut edits);
    Ok(edits
        .into_iter()
        .map(|(file, edits)| change(&configuration.files[file], edits))
        .collect())
}

/// The line whose value counts: the last one.
fn last_of<'a>(
    configuration: &'a UsersConfiguration,
    name: &str,
) -> Result<Option<&'a Statement>, TargetError> {
    let mut last = None;
    for statement in &configuration.statements {
        let directive = directive_named(configuration.mpm, &statement.line.name);
        if directive.is_none_or(|directive| directive.name != name) {
            continue;
        }
        match statement.scope {
            Scope::Whole => last = Some(statement),
            Scope::Nothing => {}
            Scope::Perhaps | Scope::Part => {
                let says =
                    format!("{name} is set for a part of the server: change it there by hand");
                return Err(configuration.at(statement, &says));
            }
        }
    }
    Ok(last)
}

/// Where the value of a line stands.
fn value_of(
    statement: &Statement,
    configuration: &UsersConfiguration,
) -> Result<Range<usize>, TargetError> {
    let word = statement.line.words.first();
    word.map(|word| word.range.clone())
        .ok_or_else(|| configuration.at(statement, "it has no value"))
}

/// Puts directives that stand nowhere into the section of the MPM, else at the end of the main
/// file.
fn add(configuration: &UsersConfiguration, absent: &[(&'static str, u64)], edits: &mut Edits) {
    let section = section_of_mpm(configuration);
    let mut by_place: BTreeMap<(usize, usize), Vec<String>> = BTreeMap::new();
    for (name, value) in absent {
        let is_of_mpm = directive_named(configuration.mpm, &name.to_ascii_lowercase())
            .is_some_and(Directive::is_of_mpm);
        let (place, indent) = match &section {
            Some((place, indent)) if is_of_mpm => (*place, indent.as_str()),
            _ => ((0, configuration.files[0].text.len()), ""),
        };
        by_place
            .entry(place)
            .or_default()
            .push(format!("{indent}{name} {value}"));
    }
    for ((file, at), lines) in by_place {
        let added = added_lines(&configuration.files[file].text, at, &lines);
        edits.entry(file).or_default().push((at..at, added));
    }
}

/// Where the last section that asks for the MPM ends, and how far lines stand in it.
fn section_of_mpm(configuration: &UsersConfiguration) -> Option<((usize, usize), String)> {
    let statements = &configuration.statements;
    let opening = statements
        .iter()
        .rposition(|statement| statement.asks_for_mpm)?;
    let file = statements[opening].file;
    let mut depth = 0;
    let mut in_file = statements[opening..]
        .iter()
        .filter(|statement| statement.file == file);
    let closing = in_file.find(|statement| {
        let name = &statement.line.name;
        if name.starts_with("</") {
            depth -= 1;
        } else if name.starts_with('<') {
            depth += 1;
        }
        depth == 0
    })?;
    let text = &configuration.files[file].text;
    let first = &statements[opening + 1].line;
    let indent = if first.name.starts_with('<') || statements[opening + 1].file != file {
        INDENT
    } else {
        let line = &text[first.range.clone()];
        &line[..line.len() - line.trim_start().len()]
    };
    Some(((file, closing.line.range.start), indent.to_owned()))
}

fn change(file: &ConfigurationFile, mut edits: Vec<(Range<usize>, String)>) -> ConfigurationChange {
    // From the back, so that places before an edit stay where they are.
    edits.sort_by_key(|(place, _)| std::cmp::Reverse(place.start));
    let mut after = file.text.clone();
    for (place, with) in edits {
        after.replace_range(place, &with);
    }
    ConfigurationChange {
        file: file.path.clone(),
        of_user: true,
        before: Some(file.text.clone()),
        after,
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use std::fs;

    use super::*;
    use crate::httpd::users::tests::{MAIN, MPM_CONF, read};

    fn with(configuration: &UsersConfiguration, of: &[(&'static str, u64)]) -> Values {
        let mut values = configuration.values.clone();
        values.extend(of.iter().copied());
        values
    }

    #[test]
    fn every_file_keeps_its_bytes_but_for_the_values() {
        let place = tempfile::tempdir().unwrap();
        let configuration = read(place.path());
        let wanted = with(
            &configuration,
            &[
                ("MaxRequestWorkers", 40),
                ("StartServers", 8),
                ("ListenBacklog", 64),
                ("Timeout", 30),
                ("MaxKeepAliveRequests", 7),
            ],
        );
        let changes = changes(&configuration, &wanted).unwrap();
        assert_eq!(changes.len(), 2);
        let main = MAIN.replace("ROOT", &place.path().display().to_string());
        let after = [
            main.replace("Timeout 300", "Timeout 30") + "\r\nMaxKeepAliveRequests 7",
            MPM_CONF
                .replace("StartServers\t\t 5", "StartServers\t\t 8")
                .replace("MaxClients\t  150", "MaxClients\t  40")
                .replace("</IfModule>", "\tListenBacklog 64\n</IfModule>"),
        ];
        for ((change, before), after) in changes.iter().zip([main.as_str(), MPM_CONF]).zip(after) {
            assert_eq!(
                fs::read_to_string(&change.file).unwrap(),
                before,
                "only shown"
            );
            let backup = change.write().unwrap().unwrap();
            assert_eq!(fs::read_to_string(&change.file).unwrap(), after);
            assert_eq!(fs::read_to_string(backup).unwrap(), before);
        }
        assert_eq!(
            super::changes(&configuration, &configuration.values).unwrap(),
            []
        );
    }

    #[test]
    fn what_a_host_sets_for_itself_is_said() {
        let place = tempfile::tempdir().unwrap();
        let configuration = read(place.path());
        let wanted = with(&configuration, &[("KeepAliveTimeout", 1)]);
        let error = changes(&configuration, &wanted).unwrap_err().to_string();
        assert!(
            error.contains("a.conf`: line 2: KeepAliveTimeout is set for a part"),
            "{error}"
        );
    }

    #[test]
    fn without_a_section_values_stand_at_the_end() {
        let place = tempfile::tempdir().unwrap();
        let (main, built_in) = crate::httpd::users::tests::write(place.path());
        fs::write(&main, "LoadModule mpm_event_module x.so\n").unwrap();
        let configuration = UsersConfiguration::read(&main, built_in).unwrap();
        let wanted = with(
            &configuration,
            &[("MaxRequestWorkers", 75), ("ThreadsPerChild", 75)],
        );
        let change = changes(&configuration, &wanted).unwrap().remove(0);
        assert_eq!(
            change.after,
            "LoadModule mpm_event_module x.so\nMaxRequestWorkers 75\nThreadsPerChild 75\n"
        );
    }
}
