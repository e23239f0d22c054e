//! Settings in a text: Java's properties, and YAML as far as settings need it.
//!
//! Of YAML, nested keys with plain or quoted values are read; lists and what spans lines are passed
//! over. Only the first document of a file counts: those behind `---` hold under conditions.

/// A setting with the line on which it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Setting {
    pub(super) name: String,
    pub(super) value: String,
    pub(super) line: usize,
}

/// The settings of a properties file; a later one of the same name counts.
pub(super) fn of_properties(text: &str) -> Vec<Setting> {
    let mut settings = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim_start();
        if line == "#---" || line == "!---" {
            break;
        }
        if line.starts_with(['#', '!']) {
            continue;
        }
        if let Some((name, value)) = line.split_once(['=', ':']) {
            settings.push(Setting {
                name: name.trim().to_owned(),
                value: value.trim().to_owned(),
                line: index + 1,
            });
        }
    }
    settings
}

/// The settings of a YAML file.
pub(super) fn of_yaml(text: &str) -> Vec<Setting> {
    let mut settings = Vec::new();
    // The keys above the present line, with their indentation.
    let mut above: Vec<(usize, String)> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let content = without_comment(line);
        let trimmed = content.trim();
        if trimmed == "---" && !settings.is_empty() {
            break;
        }
        let Some((key, value)) = key_and_value(trimmed) else {
            continue;
        };
        let indentation = content.len() - content.trim_start().len();
        above.retain(|(of, _)| *of < indentation);
        let names = above.iter().map(|(_, name)| name.as_str());
        let name: Vec<&str> = names.chain([key]).collect();
        let name = name.join(".");
        if value.is_empty() {
            above.push((indentation, key.to_owned()));
        } else {
            settings.push(Setting {
                name,
                value: value.to_owned(),
                line: index + 1,
            });
        }
    }
    settings
}

fn key_and_value(line: &str) -> Option<(&str, &str)> {
    if line.starts_with('-') {
        return None;
    }
    let (key, value) = line.split_once(": ").or_else(|| {
        let key = line.strip_suffix(':')?;
        Some((key, ""))
    })?;
    Some((unquoted(key.trim()), unquoted(value.trim())))
}

fn unquoted(text: &str) -> &str {
    let inner = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    inner('"').or_else(|| inner('\'')).unwrap_or(text)
}

fn without_comment(line: &str) -> &str {
    if line.trim_start().starts_with('#') {
        return "";
    }
    line.split_once(" #").map_or(line, |(content, _)| content)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(settings: &[Setting]) -> Vec<(&str, &str, usize)> {
        settings
            .iter()
            .map(|setting| (setting.name.as_str(), setting.value.as_str(), setting.line))
            .collect()
    }

    // After the examples of "Externalized Configuration" in Spring Boot's reference.
    #[test]
    fn both_kinds_of_file_give_dotted_names() {
        let properties = "# a comment\nserver.port=8081\n server.tomcat.threads.max : 50\n\n#---\nserver.port=1\n";
        assert_eq!(
            told(&of_properties(properties)),
            [
                ("server.port", "8081", 2),
                ("server.tomcat.threads.max", "50", 3)
            ]
        );
        let yaml = "# top\nserver:\n  port: 8081 # here\n  tomcat:\n    threads:\n      max: \"50\"\n    accept-count: 7\n\
                    spring.datasource.hikari.pool-name: 'db'\nlist:\n  - a\n  - b: 1\nafter: x\n---\nserver.port: 1\n";
        assert_eq!(
            told(&of_yaml(yaml)),
            [
                ("server.port", "8081", 3),
                ("server.tomcat.threads.max", "50", 6),
                ("server.tomcat.accept-count", "7", 7),
                ("spring.datasource.hikari.pool-name", "db", 8),
                ("after", "x", 12),
            ]
        );
    }

    #[test]
    fn what_is_no_setting_is_passed_over() {
        assert_eq!(of_yaml("---\n:\n  : \n\t\n- x\ntext"), []);
        assert_eq!(of_properties("\n#\nword\n"), []);
    }
}
