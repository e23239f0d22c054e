//! What counts as a secret, and texts without them.
//!
//! A run keeps its study and its plan as they are, or it could not be continued. What is written
//! for reading (reports, the command line in them, the first line of a study that `weir init`
//! writes) has `***` in place of a value whose name says that it is secret: in assignments and
//! header fields, in the query of a URL, and of a URL's user.

use fancy_regex::{Captures, Regex};

use crate::error::ExpectedError;
use crate::user_configuration::UserConfiguration;

/// Names that have one of these in them, in upper or lower case, are names of secrets.
const NAMES: [&str; 14] = [
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "secret",
    "token",
    "authorization",
    "cookie",
    "credential",
    "api-key",
    "api_key",
    "apikey",
    "access-key",
    "private-key",
];
/// Words of a command line after which a secret stands, of Weir and of the tools whose words it
/// takes.
const BEFORE_SECRETS: [&str; 5] = ["-a", "-A", "--password", "--proxy-password", "--token"];
/// Words after which a user stands, with a password behind a colon.
const BEFORE_USERS: [&str; 3] = ["-u", "--user", "--proxy-user"];
/// What stands in place of a secret.
const MASK: &str = "***";

/// Finds secrets in texts.
#[derive(Debug)]
pub(crate) struct Secrets {
    /// A value with the name before it.
    named: Regex,
    /// The user of a URL.
    user: Regex,
}

impl Secrets {
    /// Those that Weir knows, and those of the user's configuration (`secret-names`).
    pub(crate) fn known() -> Result<Self, ExpectedError> {
        Self::with(&UserConfiguration::read()?.secret_names)
    }

    fn with(more: &[String]) -> Result<Self, ExpectedError> {
        let names = NAMES.iter().map(|name| (*name).to_owned());
        let names: Vec<String> = names
            .chain(more.iter().filter(|name| !name.is_empty()).cloned())
            .map(|name| fancy_regex::escape(&name).into_owned())
            .collect();
        let names = names.join("|");
        let in_quotes = r#""""[\s\S]*?"""|'''[\s\S]*?'''|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'"#;
        let named = format!(
            r#"(?i)(?<name>[\w.$\-]*(?:{names})[\w.\-]*["']?)(?:(?<is>\s*[=:]\s*)(?<quoted>{in_quotes})|(?<field>:\s*)[^'"\r\n]+|(?<equals>\s*=\s*)[^\s&'",;}}\]]+)"#
        );
        let user = r#"(?i)\b(?<scheme>[a-z][a-z0-9+.\-]*://)[^\s/@'"<>]+@"#;
        let of = |text: &str| {
            Regex::new(text).map_err(|error| {
                ExpectedError::Input(format!("secret-names in config.toml: {error}"))
            })
        };
        Ok(Self {
            named: of(&named)?,
            user: of(user)?,
        })
    }

    /// A text without them. A study stays one that reads.
    pub(crate) fn masked(&self, text: &str) -> String {
        let part = |found: &Captures<'_, str>, name: &str| {
            found
                .name(name)
                .map_or_else(String::new, |part| part.as_str().to_owned())
        };
        let without = self.named.replace_all(text, |found: &Captures<'_, str>| {
            let name = part(found, "name");
            if found.name("quoted").is_some() {
                return format!("{name}{}\"{MASK}\"", part(found, "is"));
            }
            match found.name("equals") {
                // With spaces around it is a key of a study.
                Some(equals) if equals.as_str() != "=" => {
                    format!("{name}{}\"{MASK}\"", equals.as_str())
                }
                Some(_) => format!("{name}={MASK}"),
                None => format!("{name}{}{MASK}", part(found, "field")),
            }
        });
        self.user
            .replace_all(&without, |found: &Captures<'_, str>| {
                format!("{}{MASK}@", part(found, "scheme"))
            })
            .into_owned()
    }

    /// A command line without them.
    pub(crate) fn masked_words(&self, words: &[String]) -> Vec<String> {
        let before = std::iter::once("").chain(words.iter().map(String::as_str));
        let masked = before.zip(words).map(|(before, word)| {
            if BEFORE_SECRETS.contains(&before) {
                return MASK.to_owned();
            }
            match word.split_once(':') {
                Some((user, _)) if BEFORE_USERS.contains(&before) => format!("{user}:{MASK}"),
                _ => self.masked(word),
            }
        });
        masked.collect()
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    fn secrets() -> Secrets {
        Secrets::with(&["iban".to_owned()]).unwrap()
    }

    #[test]
    fn values_are_masked_wherever_a_name_says_so() {
        for (text, masked) in [
            ("password = \"a b\"", "password = \"***\""),
            ("DB_PASSWORD = 'x'", "DB_PASSWORD = \"***\""),
            (
                "{ USER = \"u\", PASSWD = \"x\", N = 3 }",
                "{ USER = \"u\", PASSWD = \"***\", N = 3 }",
            ),
            (
                "access-token = 17\nrate = 5",
                "access-token = \"***\"\nrate = 5",
            ),
            (
                "\"jdbc.password\" = \"a\\\"b\"",
                "\"jdbc.password\" = \"***\"",
            ),
            (
                "secret = \"\"\"\na\nb\"\"\"\nx = 1",
                "secret = \"***\"\nx = 1",
            ),
            (
                "set = { n = \"curl -H 'Authorization: Bearer abc' http://h/?n={value}\" }",
                "set = { n = \"curl -H 'Authorization: ***' http://h/?n={value}\" }",
            ),
            (
                "url = \"http://h:80/a?token=abc&page=2\"",
                "url = \"http://h:80/a?token=***&page=2\"",
            ),
            ("postgres://u:p@db/shop", "postgres://***@db/shop"),
            ("cookie: a=b; c=d", "cookie: ***"),
            ("iban=DE12", "iban=***"),
        ] {
            assert_eq!(secrets().masked(text), masked, "{text}");
        }
        for text in [
            "users = [2, 4]",
            "http://127.0.0.1:8080/a@b",
            "subject-to = [\"cpu <= 80 %\"]",
            "a plain word",
        ] {
            assert_eq!(secrets().masked(text), text);
        }
    }

    #[test]
    fn a_study_without_its_secrets_still_reads() {
        let study = "[load.properties]\nPASSWORD = \"x\"\ntoken=5\napi-key = true\n[find]\nvary = \"users\"\n";
        let masked = secrets().masked(study);
        assert!(
            !masked.contains("\"x\"") && !masked.contains("true"),
            "{masked}"
        );
        assert!(masked.contains("vary = \"users\""));
        let spaced = masked.replace("token=***", "");
        assert!(spaced.parse::<toml::Table>().is_ok(), "{masked}");
    }

    #[test]
    fn a_command_line_is_told_without_them() {
        let words = [
            "weir",
            "run",
            "http://u:p@127.0.0.1/",
            "-H",
            "Authorization: Basic abc",
            "-Jpassword=x",
            "-JUSERS=3",
            "-a",
            "proxy's",
            "--user",
            "me:pass",
            "--header",
            "X-Api-Key: k",
        ];
        let words = words.map(str::to_owned);
        let masked = [
            "weir",
            "run",
            "http://***@127.0.0.1/",
            "-H",
            "Authorization: ***",
            "-Jpassword=***",
            "-JUSERS=3",
            "-a",
            "***",
            "--user",
            "me:***",
            "--header",
            "X-Api-Key: ***",
        ];
        assert_eq!(secrets().masked_words(&words), masked);
    }
}
