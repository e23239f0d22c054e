//! A private copy of a user's configuration: the same directives, on Weir's port, with nothing that
//! it would share with the user's own server.
//!
//! Files that are included stand in it where they are included. Replaced are the ports, the files
//! that a running server writes (process id, run-time directory, locks, error log, access logs),
//! and behind everything else the limits that differ.

use std::fmt::Write as _;
use std::path::Path;

use super::directives::Values;
use super::place::quoted;
use super::reader::{ConfigurationFile, Scope};
use super::syntax::{Line, Word};
use super::users::{UsersConfiguration, port_of};
use crate::account::Account;

/// What a copy has of its own.
pub(super) struct Private<'a> {
    /// Its folder.
    pub(super) folder: &'a Path,
    /// Where its workers find sockets and locks: the folder, or one that their user can reach.
    pub(super) shared: &'a Path,
    pub(super) pid_file: &'a Path,
    pub(super) error_log: &'a Path,
    pub(super) port: u16,
    /// As whom it serves when the configuration names no user and root starts it.
    pub(super) account: Option<&'a Account>,
}

/// The copy with these limits.
pub(super) fn text(
    configuration: &UsersConfiguration,
    values: &Values,
    private: &Private<'_>,
) -> String {
    let mut text = String::new();
    let port = configuration.port();
    for statement in &configuration.statements {
        if statement.is_followed {
            continue;
        }
        let file = &configuration.files[statement.file];
        if statement.scope == Scope::Nothing {
            text.push_str(as_it_is(file, &statement.line).trim_end());
        } else if let Some(line) = line(file, &statement.line, port, private) {
            text.push_str(line.trim_end());
        } else {
            continue;
        }
        text.push('\n');
    }
    let names_user = configuration
        .statements
        .iter()
        .any(|statement| statement.line.name == "user" && statement.scope == Scope::Whole);
    let mut own = vec![
        "# What is Weir's.".to_owned(),
        format!("Listen 127.0.0.1:{}", private.port),
        format!("PidFile {}", quoted(private.pid_file)),
        format!("DefaultRuntimeDir {}", quoted(private.shared)),
        format!("ErrorLog {}", quoted(private.error_log)),
        // At this level prefork tells each time it starts many processes at once.
        format!("LogLevel mpm_{}:info", configuration.mpm.name()),
    ];
    if let Some(account) = private.account.filter(|_| !names_user) {
        own.push(format!("User {}", account.name));
        own.push(format!("Group #{}", account.gid));
    }
    let differs =
        |(name, value): &(&&'static str, &u64)| configuration.values.get(**name) != Some(*value);
    own.extend(
        values
            .iter()
            .filter(differs)
            .map(|(name, value)| format!("{name} {value}")),
    );
    for line in own {
        // Writing to a text cannot fail.
        let _ = writeln!(text, "{line}");
    }
    text
}

/// A line of the copy; `None`: it is left out.
fn line(
    file: &ConfigurationFile,
    line: &Line,
    port: Option<u16>,
    private: &Private<'_>,
) -> Option<String> {
    match line.name.as_str() {
        "listen" | "pidfile" | "scoreboardfile" | "defaultruntimedir" => None,
        "errorlog" => Some(format!("ErrorLog {}", quoted(private.error_log))),
        "customlog" | "transferlog" | "globallog" => {
            let log = quoted(&private.folder.join("access.log"));
            Some(with_word(file, line, line.words.first(), &log))
        }
        "mutex" => {
            let word = line.words.first();
            let kind = word.and_then(|word| word.text.split_once(':'));
            Some(match kind {
                Some((kind, _)) => {
                    let place = format!("{kind}:{}", private.shared.display());
                    with_word(file, line, word, &format!("\"{place}\""))
                }
                None => as_it_is(file, line).to_owned(),
            })
        }
        "<virtualhost" => {
            let addresses = line.words.iter();
            let addresses: Vec<String> = addresses
                .map(|word| address(&word.text, port, private.port))
                .collect();
            Some(format!("<VirtualHost {}>", addresses.join(" ")))
        }
        _ => Some(as_it_is(file, line).to_owned()),
    }
}

/// Where a host of the copy is: on the port that replaces the main one, whatever the address was.
fn address(address: &str, port: Option<u16>, own: u16) -> String {
    match port_of(address) {
        Some(of_host) if Some(of_host) == port => format!("*:{own}"),
        None if address.ends_with(":*") || !address.contains(':') => "*".to_owned(),
        _ => address.to_owned(),
    }
}

fn as_it_is<'a>(file: &'a ConfigurationFile, line: &Line) -> &'a str {
    &file.text[line.range.clone()]
}

fn with_word(
    file: &ConfigurationFile,
    line: &Line,
    word: Option<&Word>,
    replacement: &str,
) -> String {
    let Some(word) = word else {
        return as_it_is(file, line).to_owned();
    };
    let before = &file.text[line.range.start..word.range.start];
    let behind = &file.text[word.range.end..line.range.end];
    format!("{before}{replacement}{behind}")
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;
    use crate::httpd::users::tests::read;

    #[test]
    fn a_copy_shares_nothing_with_the_users_server() {
        let place = tempfile::tempdir().unwrap();
        let configuration = read(place.path());
        let mut values = configuration.values.clone();
        values.insert("MaxRequestWorkers", 40);
        let account = Account {
            name: "www-data".to_owned(),
            uid: 33,
            gid: 34,
        };
        let text = text(
            &configuration,
            &values,
            &Private {
                folder: Path::new("/run/w"),
                shared: Path::new("/tmp/w"),
                pid_file: Path::new("/run/w/pid"),
                error_log: Path::new("/run/log"),
                port: 8123,
                account: Some(&account),
            },
        );
        let root = place.path().display();
        let wanted = format!(
            "ServerRoot \"{root}\"\nTimeout 300\nErrorLog \"/run/log\"\n\
             LoadModule mpm_prefork_module modules/mod_mpm_prefork.so\n<IfModule mpm_prefork_module>\n\
             \tStartServers\t\t 5\n\tMaxClients\t  150\n\tMaxConnectionsPerChild   0\n</IfModule>\n\
             <IfModule ssl_module>\n\tListen 443\n</IfModule>\n<IfModule !mod_so.c>\nListen 1\n</IfModule>\n\
             <IfModule mpm_event_module>\n  MaxRequestWorkers 400\n</IfModule>\n\
             <VirtualHost *:8123>\n  KeepAliveTimeout 2\n  CustomLog \"/run/w/access.log\" combined\n</VirtualHost>\n\
             <VirtualHost 10.0.0.1:443>\n</VirtualHost>\n# What is Weir's.\nListen 127.0.0.1:8123\nPidFile \"/run/w/pid\"\n\
             DefaultRuntimeDir \"/tmp/w\"\nErrorLog \"/run/log\"\nLogLevel mpm_prefork:info\nUser www-data\nGroup #34\n\
             MaxRequestWorkers 40\n"
        );
        assert_eq!(text, wanted);
    }

    #[test]
    fn hosts_move_with_the_main_port() {
        for (of_user, copied) in [
            ("*:80", "*:9"),
            ("10.0.0.1:80", "*:9"),
            ("_default_:80", "*:9"),
            ("*", "*"),
            ("10.0.0.1", "*"),
            ("*:443", "*:443"),
            ("[::1]", "[::1]"),
        ] {
            assert_eq!(address(of_user, Some(80), 9), copied);
        }
    }

    #[test]
    fn locks_go_to_the_private_folder() {
        let place = tempfile::tempdir().unwrap();
        let mut configuration = read(place.path());
        let text = "Mutex file:/var/lock default\n".to_owned();
        let line_of = crate::httpd::syntax::lines(&text).pop().unwrap();
        configuration.files[0].text = text;
        let private = Private {
            folder: Path::new("/run/w"),
            shared: Path::new("/tmp/w"),
            pid_file: Path::new("/run/w/pid"),
            error_log: Path::new("/run/log"),
            port: 1,
            account: None,
        };
        let copied = line(&configuration.files[0], &line_of, None, &private);
        assert_eq!(copied.unwrap(), "Mutex \"file:/tmp/w\" default\n");
    }
}
