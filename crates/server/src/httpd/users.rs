//! A configuration of the user's, read as the server reads it: included files where they are
//! included, sections by what they ask for.
//!
//! Only read; what a study runs is a copy ([`super::copy`]), and the answer a change of the files
//! ([`super::configuration`]). A limit that stands in a section of which it is not known whether it
//! counts (`<IfDefine>` and the like) is refused, with its line.

mod reader;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::TargetError;

use super::directives::{Mpm, Values, defaults, directive_named};
use super::installation::BuiltIn;
use super::syntax::Line;
use reader::{Reader, VARIABLES, environment};

/// Where a line stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Scope {
    /// It counts for the whole server.
    Whole,
    /// In a section that may count or not.
    Perhaps,
    /// It counts for a part: a host, a directory.
    Part,
    /// It does not count.
    Nothing,
}

/// A file of a configuration.
#[derive(Debug, Clone)]
pub(super) struct ConfigurationFile {
    pub(super) path: PathBuf,
    pub(super) text: String,
}

/// A line with where it stands.
#[derive(Debug, Clone)]
pub(super) struct Statement {
    /// Which of the files.
    pub(super) file: usize,
    pub(super) line: Line,
    pub(super) scope: Scope,
    /// An `Include` whose files follow.
    pub(super) is_followed: bool,
    /// Whether it opens a section that asks for the MPM that is used.
    pub(super) asks_for_mpm: bool,
}

/// A configuration of the user's.
#[derive(Debug, Clone)]
pub(super) struct UsersConfiguration {
    /// The files; the first is the one that was named.
    pub(super) files: Vec<ConfigurationFile>,
    /// All lines in the order in which the server reads them.
    pub(super) statements: Vec<Statement>,
    pub(super) mpm: Mpm,
    /// The limits that it has.
    pub(super) values: Values,
    /// The environment that the server has to have.
    pub(super) environment: BTreeMap<String, String>,
}

impl UsersConfiguration {
    /// Reads a configuration as a server with this built in does.
    pub(super) fn read(path: &Path, built_in: BuiltIn) -> Result<Self, TargetError> {
        let path = fs::canonicalize(path).map_err(TargetError::file(path))?;
        let environment = environment(&path.with_file_name(VARIABLES))?;
        let mut reader = Reader {
            root: built_in.root,
            variables: environment.clone(),
            modules: built_in.modules.into_iter().collect(),
            files: Vec::new(),
            statements: Vec::new(),
            open: Vec::new(),
        };
        reader.file(&path, 0)?;
        let mpm = reader.mpm(&path)?;
        let mut read = Self {
            files: reader.files,
            statements: reader.statements,
            mpm,
            values: Values::new(),
            environment,
        };
        read.values = read.limits()?;
        Ok(read)
    }

    /// The port that its first `Listen` names, those of encrypted ones apart.
    pub(super) fn port(&self) -> Option<u16> {
        let listens = self.statements.iter().filter(|statement| {
            let is_encrypted = statement
                .line
                .words
                .get(1)
                .is_some_and(|word| word.text == "https");
            statement.line.name == "listen" && statement.scope == Scope::Whole && !is_encrypted
        });
        let mut ports = listens.filter_map(|statement| port_of(statement.line.first()));
        ports.find(|port| *port != 443)
    }

    /// What a line says of itself in an error.
    pub(super) fn at(&self, statement: &Statement, says: &str) -> TargetError {
        TargetError::Configuration {
            path: self.files[statement.file].path.clone(),
            says: format!("line {}: {says}", statement.line.number),
        }
    }

    fn limits(&self) -> Result<Values, TargetError> {
        let mut values = defaults(self.mpm);
        for statement in &self.statements {
            let Some(directive) = directive_named(self.mpm, &statement.line.name) else {
                continue;
            };
            match statement.scope {
                Scope::Whole => match statement.line.first().parse() {
                    Ok(value) => {
                        values.insert(directive.name, value);
                    }
                    Err(_) if directive.is_of_mpm() => {
                        let says = format!(
                            "{} is `{}`: only whole numbers are understood here",
                            directive.name,
                            statement.line.first()
                        );
                        return Err(self.at(statement, &says));
                    }
                    // It is something else, such as a time with a unit, and stays.
                    Err(_) => {
                        values.remove(directive.name);
                    }
                },
                Scope::Perhaps if directive.is_of_mpm() => {
                    let says = format!(
                        "whether {} counts here depends on a condition that is not understood: move it out of that section",
                        directive.name
                    );
                    return Err(self.at(statement, &says));
                }
                Scope::Perhaps | Scope::Part | Scope::Nothing => {}
            }
        }
        Ok(values)
    }
}

/// The port of `80`, `127.0.0.1:80` or `[::1]:80`.
pub(super) fn port_of(address: &str) -> Option<u16> {
    let port = address.rsplit_once(':').map_or(address, |(_, port)| port);
    port.parse().ok()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
pub(super) mod tests {
    use std::os::unix::fs::{PermissionsExt as _, chown};

    use super::*;
    use crate::httpd::directives::{LIFETIME, LISTEN_BACKLOG, MAX_REQUEST_WORKERS};

    /// A configuration as Debian divides it: modules, ports and sites in files of their own.
    pub(in crate::httpd) const MAIN: &str = "ServerRoot \"ROOT\"\r\nPidFile ${RUN_DIR}/httpd.pid\r\nTimeout 300\r\n\
        ErrorLog logs/error.log\r\nIncludeOptional mods/*.load\r\nIncludeOptional mods/*.conf\r\nInclude ports.conf\r\n\
        <IfModule mpm_event_module>\r\n  MaxRequestWorkers 400\r\n</IfModule>\r\nIncludeOptional sites/*.conf";
    pub(in crate::httpd) const MPM_CONF: &str = "# prefork MPM\n<IfModule mpm_prefork_module>\n\tStartServers\t\t 5\n\
        \tMaxClients\t  150\n\tMaxConnectionsPerChild   0\n</IfModule>\n";

    /// Writes it; the built-in part of a server for it.
    pub(in crate::httpd) fn write(place: &Path) -> (PathBuf, BuiltIn) {
        let site = "<VirtualHost *:80>\n  KeepAliveTimeout 2\n  CustomLog ${RUN_DIR}/access.log combined\n</VirtualHost>\n\
                    <VirtualHost 10.0.0.1:443>\n</VirtualHost>\n";
        for (name, text) in [
            (
                "httpd.conf",
                MAIN.replace("ROOT", &place.display().to_string()).as_str(),
            ),
            ("envvars", "export RUN_DIR=/var/run/web$SUFFIX\n"),
            (
                "mods/mpm_prefork.load",
                "LoadModule mpm_prefork_module modules/mod_mpm_prefork.so\n",
            ),
            ("mods/mpm_prefork.conf", MPM_CONF),
            ("mods/.hidden.conf", "MaxClients 1\n"),
            (
                "ports.conf",
                "Listen 80\n<IfModule ssl_module>\n\tListen 443\n</IfModule>\n<IfModule !mod_so.c>\nListen 1\n</IfModule>\n",
            ),
            ("sites/a.conf", site),
        ] {
            let path = place.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let built_in = BuiltIn {
            root: PathBuf::from("/none"),
            modules: vec!["core.c".to_owned(), "mod_so.c".to_owned()],
        };
        (place.join("httpd.conf"), built_in)
    }

    pub(in crate::httpd) fn read(place: &Path) -> UsersConfiguration {
        let (main, built_in) = write(place);
        UsersConfiguration::read(&main, built_in).unwrap()
    }

    #[test]
    fn what_counts_is_read_from_all_files() {
        let place = tempfile::tempdir().unwrap();
        let read = read(place.path());
        assert_eq!(read.mpm, Mpm::Prefork);
        let names: Vec<String> = read
            .files
            .iter()
            .map(|file| {
                file.path
                    .file_name()
                    .unwrap()
                    .to_string_lossy()
                    .into_owned()
            })
            .collect();
        assert_eq!(
            names,
            [
                "httpd.conf",
                "mpm_prefork.load",
                "mpm_prefork.conf",
                "ports.conf",
                "a.conf"
            ]
        );
        for (name, value) in [
            (MAX_REQUEST_WORKERS, 150),
            (LIFETIME, 0),
            (LISTEN_BACKLOG, 511),
            ("Timeout", 300),
            ("KeepAliveTimeout", 5),
        ] {
            assert_eq!(read.values[name], value, "{name}");
        }
        assert_eq!(read.port(), Some(80));
        assert_eq!(read.environment["RUN_DIR"], "/var/run/web");
    }

    #[test]
    fn what_is_not_understood_is_refused_with_its_line() {
        let place = tempfile::tempdir().unwrap();
        let (main, built_in) = write(place.path());
        let load = "LoadModule mpm_event_module x.so\n";
        for (text, says) in [
            ("Listen 80\n", "loads none of the modules"),
            ("LoadModule mpm_worker_module x.so\n", "MPM worker"),
            (
                &format!("{load}<IfDefine BIG>\nMaxRequestWorkers 900\n</IfDefine>\n"),
                "line 3: whether MaxRequestWorkers counts",
            ),
            (
                &format!("{load}MaxRequestWorkers ${{N}}\n"),
                "line 2: MaxRequestWorkers is `${N}`",
            ),
            (
                "Include ${NOBODY}/x.conf\n",
                "line 1: the variable NOBODY is not known",
            ),
            ("<IfModule x>\n", "opened or closed once too often"),
            ("</IfModule>\n", "line 1: nothing is open here"),
            (
                &format!("Include {}\n", main.display()),
                "more than 32 deep",
            ),
        ] {
            fs::write(&main, text).unwrap();
            let error = UsersConfiguration::read(&main, built_in.clone())
                .unwrap_err()
                .to_string();
            assert!(
                error.contains(says) && error.contains("httpd.conf"),
                "{text}: {error}"
            );
        }
        fs::write(
            &main,
            format!("{load}KeepAliveTimeout 500ms\n<IfDefine X>\nTimeout 3\n</IfDefine>\n"),
        )
        .unwrap();
        let read = UsersConfiguration::read(&main, built_in).unwrap();
        assert!(
            !read.values.contains_key("KeepAliveTimeout"),
            "it is as it is"
        );
    }

    /// Beside the configuration lies a script of somebody else, or root's where somebody else can
    /// exchange it.
    #[test]
    fn variables_that_somebody_else_can_write_are_not_run() {
        let place = tempfile::tempdir().unwrap();
        let (main, built_in) = write(place.path());
        let ran = place.path().join("ran");
        let script = place.path().join("envvars");
        fs::write(
            &script,
            format!("touch {}\nexport RUN_DIR=/x\n", ran.display()),
        )
        .unwrap();
        let refused = || {
            let error = UsersConfiguration::read(&main, built_in.clone()).unwrap_err();
            assert!(!ran.exists(), "it was run");
            error.to_string()
        };
        fs::set_permissions(&script, fs::Permissions::from_mode(0o666)).unwrap();
        assert!(refused().contains("others can write to"));
        fs::set_permissions(&script, fs::Permissions::from_mode(0o644)).unwrap();
        fs::set_permissions(place.path(), fs::Permissions::from_mode(0o777)).unwrap();
        assert!(refused().contains("others can write to"));
        fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).unwrap();
        if rustix::process::geteuid().is_root() {
            chown(&script, Some(65_534), None).unwrap();
            assert!(refused().contains("belongs to user 65534"));
            chown(&script, Some(0), None).unwrap();
        }
        UsersConfiguration::read(&main, built_in.clone()).unwrap();
        assert!(ran.exists());
    }

    #[test]
    fn ports_are_at_the_end_of_addresses() {
        for (address, port) in [
            ("80", Some(80)),
            ("127.0.0.1:8080", Some(8080)),
            ("[::1]:81", Some(81)),
            ("*", None),
            ("[::1]", None),
        ] {
            assert_eq!(port_of(address), port, "{address}");
        }
    }
}
