//! What a file of Spring Boot's sets, to be looked at.
//!
//! Only the first document of a file counts: those behind `---` hold under conditions. What cannot
//! be read, and all behind it, is passed over.

use super::{properties, yaml};

/// A setting with the line on which it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Setting {
    /// Its whole name; of a file, as Spring Boot compares names.
    pub(crate) name: String,
    pub(crate) value: String,
    pub(crate) line: usize,
}

impl Setting {
    /// One whose value stands here in a text.
    pub(super) fn at(text: &str, at: usize, name: &str, value: &str) -> Self {
        Self {
            name: name.to_owned(),
            value: value.to_owned(),
            line: text[..at].matches('\n').count() + 1,
        }
    }
}

/// The settings of a properties file; a later one of the same name counts.
pub(crate) fn of_properties(text: &str) -> Vec<Setting> {
    properties::settings(text)
}

/// The settings of a YAML file that are one value each.
pub(crate) fn of_yaml(text: &str) -> Vec<Setting> {
    yaml::settings(text)
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
        let properties = "# a comment\nserver.port=8081\n server.tomcat.threads.max : 5\\\n  0\na\\:b c\\=d\n\n#---\nserver.port=1\n";
        assert_eq!(
            told(&of_properties(properties)),
            [
                ("server.port", "8081", 2),
                ("server.tomcat.threads.max", "50", 3),
                ("a\\:b", "c=d", 5),
            ]
        );
        let yaml = "# top\nserver:\n  port: 8081 # here\n  tomcat:\n    threads:\n      max: \"50\"\n    accept-count: 7\n\
                    spring.datasource.hikari.pool-name: 'db'\nlist:\n  - a\n  - b: 1\nafter: x\n---\nserver.port: 1\n";
        let settings = of_yaml(yaml);
        let listed = |name: &str| name.starts_with("list[");
        assert_eq!(
            told(&settings)
                .into_iter()
                .filter(|(name, ..)| !listed(name))
                .collect::<Vec<_>>(),
            [
                ("server.port", "8081", 3),
                ("server.tomcat.threads.max", "50", 6),
                ("server.tomcat.acceptcount", "7", 7),
                ("spring.datasource.hikari.poolname", "db", 8),
                ("after", "x", 12),
            ]
        );
    }

    #[test]
    fn what_is_no_setting_is_passed_over() {
        assert_eq!(of_yaml("---\n:\n  : \n\t\n- x\ntext"), []);
        assert_eq!(told(&of_yaml("a: 1\nb: @name@\nc: 2\n")), [("a", "1", 1)]);
        assert_eq!(of_properties("\n#\n"), []);
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_taken(text: String) {
            let _ = (of_properties(&text), of_yaml(&text));
        }
    }
}
