//! A configuration of the user's, read as the server reads it: included files where they are
//! included, sections by what they ask for.
//!
//! Only read; what a study runs is a copy ([`super::copy`]), and the answer a change of the files
//! ([`super::configuration`]). A limit that stands in a section of which it is not known whether it
//! counts (`<IfDefine>` and the like) is refused, with its line.

mod variables;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::error::TargetError;
use crate::machine::Machine;

use super::directives::{Mpm, Values, defaults, directives};
use super::installation::BuiltIn;
use super::reader::{ConfigurationFile, Host, Part, Problem, Reading, Scope, Statement, Written};
use variables::{VARIABLES, environment};

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
        let machine = Machine::here();
        let host = Host {
            machine: &machine,
            root: built_in.root,
            version: built_in.version,
            modules: Some(built_in.modules),
            environment: environment.clone(),
            // How the user starts it is not known.
            defines: None,
        };
        let reading = Reading::of(&[Part::File(&path)], host);
        if let Some(problem) = reading.problems.first() {
            return Err(refused(problem));
        }
        let mpm = mpm(&reading, &path)?;
        let values = limits(&reading, mpm)?;
        Ok(Self {
            files: reading.files,
            statements: reading.statements,
            mpm,
            values,
            environment,
        })
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
}

fn refused(problem: &Problem) -> TargetError {
    let says = &problem.says;
    TargetError::Configuration {
        path: problem.file.clone(),
        says: match problem.line {
            0 => says.clone(),
            line => format!("line {line}: {says}"),
        },
    }
}

fn mpm(reading: &Reading, path: &Path) -> Result<Mpm, TargetError> {
    let says = match reading.mpms()[..] {
        ["prefork"] => return Ok(Mpm::Prefork),
        ["event"] => return Ok(Mpm::Event),
        [other] => &format!("it uses the MPM {other}; Weir sets prefork and event"),
        [] => "it loads none of the modules mpm_prefork and mpm_event",
        _ => "it loads more than one MPM",
    };
    Err(TargetError::Configuration {
        path: path.to_owned(),
        says: says.to_owned(),
    })
}

fn limits(reading: &Reading, mpm: Mpm) -> Result<Values, TargetError> {
    let mut values = defaults(mpm);
    for directive in directives(mpm) {
        let name = directive.name;
        let refused = |statement: &Statement, says: String| {
            refused(&Problem {
                file: reading.files[statement.file].path.clone(),
                line: statement.line.number,
                says,
            })
        };
        match reading.written(mpm, directive) {
            Written::Nowhere => {}
            Written::At(statement) => match statement.first().parse() {
                Ok(value) => {
                    values.insert(name, value);
                }
                Err(_) if directive.is_of_mpm() => {
                    let says = format!(
                        "{name} is `{}`: only whole numbers are understood here",
                        statement.first()
                    );
                    return Err(refused(statement, says));
                }
                // It is something else, such as a time with a unit, and stays.
                Err(_) => {
                    values.remove(name);
                }
            },
            Written::Unsure(statement) if directive.is_of_mpm() => {
                let says = match &statement.unread {
                    Some(why) => format!("whether {name} is set here is not known: {why}"),
                    None => format!(
                        "whether {name} counts here depends on a condition that is not understood: move it out of that \
                         section"
                    ),
                };
                return Err(refused(statement, says));
            }
            // It is as it is.
            Written::Unsure(_) => {
                values.remove(name);
            }
        }
    }
    Ok(values)
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
    use std::path::PathBuf;

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
            version: Some("2.4.62".to_owned()),
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
