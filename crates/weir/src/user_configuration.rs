//! What a user has set for all that Weir does: `$XDG_CONFIG_HOME/weir/config.toml`, else
//! `~/.config/weir/config.toml`.

use std::path::PathBuf;

use serde::Deserialize;

use crate::error::ExpectedError;

/// The file's keys; each may be left out, and so may the file.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(crate) struct UserConfiguration {
    /// Hosts with a public address that may be loaded.
    pub(crate) allow_hosts: Vec<String>,
    /// Whether others may read runs, as far as the umask lets them.
    pub(crate) readable_runs: bool,
    /// More names of secrets, which no report shows.
    pub(crate) secret_names: Vec<String>,
}

impl UserConfiguration {
    /// Reads the file of whoever runs Weir.
    pub(crate) fn read() -> Result<Self, ExpectedError> {
        let base = std::env::var_os("XDG_CONFIG_HOME")
            .map(PathBuf::from)
            .or_else(|| std::env::home_dir().map(|home| home.join(".config")));
        let Some(path) = base.map(|base| base.join("weir").join("config.toml")) else {
            return Ok(Self::default());
        };
        let Ok(text) = std::fs::read_to_string(&path) else {
            return Ok(Self::default());
        };
        toml::from_str(&text)
            .map_err(|error| ExpectedError::Input(format!("{}: {error}", path.display())))
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    #[test]
    fn each_key_may_be_left_out_and_no_other_is_taken() {
        let read = |text: &str| toml::from_str::<UserConfiguration>(text);
        assert_eq!(read("").unwrap(), UserConfiguration::default());
        let both = read("allow-hosts = [\"shop.test\"]\nreadable-runs = true\n").unwrap();
        assert!(both.readable_runs && both.allow_hosts == ["shop.test"]);
        assert!(read("readable-run = true").is_err());
    }
}
