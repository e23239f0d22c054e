//! Limits as a change of the file that Spring Boot reads them from.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::configuration::ConfigurationChange;
use crate::error::TargetError;

use super::property::Property;
use super::{names, properties, yaml};

/// The files in the order in which they count, the strongest first, relative to the directory in
/// which the application runs ("External Application Properties" in Spring Boot's reference).
const FILES: [&str; 6] = [
    "config/application.properties",
    "config/application.yml",
    "config/application.yaml",
    "application.properties",
    "application.yml",
    "application.yaml",
];
/// The one that is made when there is none.
const NEW: &str = "application.yml";

/// The file that settings belong into: the one that is named, else the strongest that there is,
/// else a new one.
pub(super) fn file(named: Option<&Path>, directory: &Path) -> PathBuf {
    if let Some(named) = named {
        return named.to_owned();
    }
    let files = FILES.iter().map(|name| directory.join(name));
    let there = files.into_iter().find(|file| file.is_file());
    there.unwrap_or_else(|| directory.join(NEW))
}

/// The change of that file.
pub(super) fn changes(
    file: &Path,
    of_user: bool,
    limits: &BTreeMap<String, f64>,
) -> Result<Vec<ConfigurationChange>, TargetError> {
    let unreadable = |says| TargetError::Configuration {
        path: file.to_owned(),
        says,
    };
    let with = match file.extension().and_then(|kind| kind.to_str()) {
        Some("properties") => properties::with,
        Some("yml" | "yaml") => yaml::with,
        _ => {
            return Err(unreadable(
                "its name ends neither in .yml or .yaml nor in .properties".to_owned(),
            ));
        }
    };
    let before = match fs::read_to_string(file) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(TargetError::file(file)(error)),
    };
    let text = before.clone().unwrap_or_default();
    let after = limits.iter().try_fold(text, |text, (name, limit)| {
        let Some(property) = names::property(name) else {
            return Ok(text);
        };
        with(&text, &Property::new(property), &limit.to_string())
    });
    let after = after.map_err(unreadable)?;
    if after == before.as_deref().unwrap_or_default() {
        return Ok(Vec::new());
    }
    Ok(vec![ConfigurationChange {
        file: file.to_owned(),
        of_user,
        before,
        after,
    }])
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    fn limits() -> BTreeMap<String, f64> {
        [
            ("threads", 40.0),
            ("pool.db", 12.0),
            ("native.connection-timeout", 5_000.0),
        ]
        .map(|(name, limit)| (name.to_owned(), limit))
        .into()
    }

    #[test]
    fn the_strongest_file_changes_byte_for_byte() {
        let place = tempfile::tempdir().unwrap();
        let place = place.path();
        assert_eq!(file(None, place), place.join("application.yml"));
        fs::write(place.join("application.yaml"), "a: 1\n").unwrap();
        assert_eq!(file(None, place), place.join("application.yaml"));
        fs::create_dir(place.join("config")).unwrap();
        let strongest = place.join("config/application.properties");
        let before = "# ours\r\nserver.tomcat.threads.max=200\r\nspring.datasource.url=jdbc:x";
        fs::write(&strongest, before).unwrap();
        assert_eq!(file(None, place), strongest);
        assert_eq!(
            file(Some(Path::new("/etc/shop.yml")), place),
            Path::new("/etc/shop.yml")
        );
        let change = changes(&strongest, true, &limits()).unwrap().remove(0);
        let after = "# ours\r\nserver.tomcat.threads.max=40\r\nserver.tomcat.connection-timeout=5000\r\n\
            spring.datasource.url=jdbc:x\r\nspring.datasource.hikari.maximum-pool-size=12";
        let backup = change.write().unwrap().unwrap();
        assert_eq!(fs::read_to_string(&strongest).unwrap(), after);
        assert_eq!(fs::read_to_string(backup).unwrap(), before);
        assert_eq!(changes(&strongest, true, &limits()).unwrap(), []);
    }

    #[test]
    fn a_file_that_is_not_there_is_made() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("application.yml");
        let change = changes(&file, true, &limits()).unwrap().remove(0);
        assert!(change.diff().starts_with("--- /dev/null\n"));
        assert_eq!(change.write().unwrap(), None);
        assert_eq!(
            fs::read_to_string(&file).unwrap(),
            "server:\n  tomcat:\n    connection-timeout: 5000\n    threads:\n      max: 40\n\
             spring:\n  datasource:\n    hikari:\n      maximum-pool-size: 12\n"
        );
    }

    #[test]
    fn a_yaml_file_keeps_its_bytes() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("application.yml");
        let before = "server:\r\n  tomcat:   # ours\r\n    threads: {max: 3}";
        fs::write(&file, before).unwrap();
        let change = changes(&file, true, &limits()).unwrap().remove(0);
        let backup = change.write().unwrap().unwrap();
        assert_eq!(
            fs::read_to_string(&file).unwrap(),
            "server:\r\n  tomcat:   # ours\r\n    threads: {max: 40}\r\n    connection-timeout: 5000\r\n\
             spring:\r\n  datasource:\r\n    hikari:\r\n      maximum-pool-size: 12"
        );
        assert_eq!(fs::read_to_string(backup).unwrap(), before);
    }

    #[test]
    fn other_files_are_refused_by_name() {
        let error = changes(Path::new("shop.toml"), true, &limits()).unwrap_err();
        assert!(error.to_string().contains("shop.toml"), "{error}");
    }
}
