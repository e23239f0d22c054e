//! What a file of Spring Boot's sets, to be looked at.
//!
//! A file may have several documents, of which some hold under conditions; what cannot be read, and
//! all behind it, is passed over, which is told.

use super::{properties, yaml};

/// A setting with the line on which it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Setting {
    /// Its whole name; of a file, as Spring Boot compares names.
    pub(crate) name: String,
    /// The key as it is written; in YAML, the last of those that make the name.
    pub(crate) key: String,
    pub(crate) value: String,
    pub(crate) line: usize,
    /// Whether it is a reference to something else in its file, which is not followed.
    pub(crate) is_reference: bool,
}

/// What a file sets.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Contents {
    /// Its documents, one behind the other.
    pub(crate) documents: Vec<Vec<Setting>>,
    /// Why what stands behind them cannot be read.
    pub(crate) stopped: Option<String>,
}

impl Setting {
    /// One whose value stands here in a text.
    pub(super) fn at(text: &str, at: usize, [name, key, value]: [&str; 3]) -> Self {
        Self {
            name: name.to_owned(),
            key: key.trim_matches(['"', '\'']).to_owned(),
            value: value.to_owned(),
            line: text[..at].matches('\n').count() + 1,
            is_reference: false,
        }
    }

    /// Whether it is written like the name that is asked for.
    pub(crate) fn is_written_like(&self, name: &str) -> bool {
        name.ends_with(&self.key)
    }
}

/// The settings of a properties file; a later one of the same name counts.
pub(crate) fn of_properties(text: &str) -> Contents {
    Contents {
        documents: properties::documents(text),
        stopped: None,
    }
}

/// The settings of a YAML file that are one value each, and its references.
pub(crate) fn of_yaml(text: &str) -> Contents {
    let (documents, stopped) = yaml::documents(text);
    Contents { documents, stopped }
}

/// Keys and values of any file in the form of `java.util.Properties`.
pub(crate) fn pairs(text: &str) -> Vec<(String, String)> {
    properties::pairs(text)
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
            told(&of_properties(properties).documents[0]),
            [
                ("server.port", "8081", 2),
                ("server.tomcat.threads.max", "50", 3),
                ("a\\:b", "c=d", 5),
            ]
        );
        let yaml = "# top\nserver:\n  port: 8081 # here\n  tomcat:\n    threads:\n      max: \"50\"\n    accept-count: 7\n\
                    spring.datasource.hikari.pool-name: 'db'\nlist:\n  - a\n  - b: 1\nafter: x\n---\nserver.port: 1\n";
        let contents = of_yaml(yaml);
        assert_eq!(told(&contents.documents[1]), [("server.port", "1", 14)]);
        assert_eq!(contents.stopped, None);
        let settings = &contents.documents[0];
        let listed = |name: &str| name.starts_with("list[");
        assert_eq!(
            told(settings)
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
        let broken = of_yaml("a: 1\nb: @name@\nc: 2\n");
        assert_eq!(told(&broken.documents[0]), [("a", "1", 1)]);
        assert!(broken.stopped.is_some());
        assert_eq!(of_properties("\n#\n"), Contents::default());
    }

    #[test]
    fn references_are_told_apart() {
        let contents = of_yaml("a: &x 5\nb: *x\nc:\n  <<: *x\n  d: '*y'\n");
        let told = contents.documents[0].iter();
        let told: Vec<_> = told
            .map(|setting| {
                (
                    setting.name.as_str(),
                    setting.value.as_str(),
                    setting.is_reference,
                )
            })
            .collect();
        assert_eq!(
            told,
            [
                ("a", "5", false),
                ("b", "", true),
                ("c.<<", "", true),
                ("c.d", "*y", false)
            ]
        );
    }

    #[test]
    fn keys_are_as_they_are_written() {
        assert_eq!(
            pairs("A_b\\=c: 1\nx\n"),
            [
                ("A_b=c".to_owned(), "1".to_owned()),
                ("x".to_owned(), String::new())
            ]
        );
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_taken(text: String) {
            let _ = (of_properties(&text), of_yaml(&text));
        }
    }
}
