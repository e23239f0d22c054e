//! What a private httpd needs on disk: a folder, a configuration, a document root.

use std::fmt::Write as _;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::copy::{self, Private};
use super::directives::{Mpm, Values};
use super::installation::HttpdInstallation;
use super::users::UsersConfiguration;
use crate::account::Account;
use crate::error::TargetError;
use crate::journal::Journal;

/// Sizes of the files that are made, in KiB: those of the published experiment.
const SIZES_KIB: [usize; 5] = [1, 2, 4, 8, 16];
/// Users that an httpd of this machine may serve as when root starts it.
const USERS: [&str; 4] = ["www-data", "apache", "httpd", "nobody"];
/// Modules that the configuration uses, beside the MPM; builds may have them built in.
const MODULES: [&str; 3] = ["unixd", "authz_core", "dir"];

/// The files of one private server.
#[derive(Debug)]
pub(super) struct Place {
    folder: PathBuf,
    contents: Contents,
    account: Option<Account>,
}

/// What the server serves, and how.
#[derive(Debug)]
enum Contents {
    /// These documents, with a configuration of Weir's.
    Documents(PathBuf),
    /// What a configuration of the user's says; and where its workers find sockets and locks.
    OfUser(Box<UsersConfiguration>, PathBuf),
}

impl Place {
    /// Makes the folder and, unless there are some, the documents: `/1k.html` … `/16k.html`.
    /// `spare` is a folder that every user can reach; what
    /// is made there is removed by the journal.
    pub(super) fn make(
        folder: &Path,
        documents: Option<&Path>,
        spare: &Path,
        journal: &Journal,
    ) -> Result<Self, TargetError> {
        let (folder, account) = make_folder(folder)?;
        let documents = if let Some(documents) = documents {
            documents
                .canonicalize()
                .map_err(TargetError::file(documents))?
        } else {
            let own = match within_reach(&folder, account.as_ref(), spare, journal)? {
                Some(spare) => spare,
                None => folder.join("documents"),
            };
            write_documents(&own).map_err(TargetError::file(&own))?;
            own
        };
        Ok(Self {
            folder,
            contents: Contents::Documents(documents),
            account,
        })
    }

    /// Makes the folder for a copy of a user's configuration, with `spare` as in `make`.
    pub(super) fn of_user(
        folder: &Path,
        configuration: UsersConfiguration,
        spare: &Path,
        journal: &Journal,
    ) -> Result<Self, TargetError> {
        let (folder, account) = make_folder(folder)?;
        let spare = within_reach(&folder, account.as_ref(), spare, journal)?;
        if let Some(spare) = &spare {
            open_up(spare).map_err(TargetError::file(spare))?;
        }
        let shared = spare.unwrap_or_else(|| folder.clone());
        Ok(Self {
            folder,
            contents: Contents::OfUser(Box::new(configuration), shared),
            account,
        })
    }

    /// The user's configuration, when it is one.
    pub(super) fn users_configuration(&self) -> Option<&UsersConfiguration> {
        match &self.contents {
            Contents::Documents(_) => None,
            Contents::OfUser(configuration, _) => Some(configuration),
        }
    }

    /// The configuration file.
    pub(super) fn configuration(&self) -> PathBuf {
        self.folder.join("httpd.conf")
    }

    /// Writes the configuration.
    pub(super) fn configure(
        &self,
        installation: &HttpdInstallation,
        mpm: Mpm,
        values: &Values,
        port: u16,
        log: &Path,
    ) -> Result<(), TargetError> {
        let path = self.configuration();
        let text = self.text(installation, mpm, values, port, log);
        fs::write(&path, text).map_err(|source| TargetError::File { path, source })
    }

    /// The configuration with these values.
    pub(super) fn text(
        &self,
        installation: &HttpdInstallation,
        mpm: Mpm,
        values: &Values,
        port: u16,
        log: &Path,
    ) -> String {
        let documents = match &self.contents {
            Contents::Documents(documents) => documents,
            Contents::OfUser(configuration, shared) => {
                let private = Private {
                    folder: &self.folder,
                    shared,
                    pid_file: &self.pid_file(),
                    error_log: log,
                    port,
                    account: self.account.as_ref(),
                };
                return copy::text(configuration, values, &private);
            }
        };
        let mut text = String::new();
        let mut line = |words: &str| {
            // Writing to a text cannot fail.
            let _ = writeln!(text, "{words}");
        };
        let folder = quoted(&self.folder);
        line(&format!("ServerRoot {folder}"));
        line(&format!("DefaultRuntimeDir {folder}"));
        line(&format!("PidFile {}", quoted(&self.pid_file())));
        line("ServerName localhost");
        line(&format!("Listen 127.0.0.1:{port}"));
        line(&format!("ErrorLog {}", quoted(log)));
        // At this level prefork tells each time it starts many processes at once.
        line("LogLevel info");
        let mpm = format!("mpm_{}", mpm.name());
        for name in std::iter::once(mpm.as_str()).chain(MODULES) {
            if let Some(file) = installation.module(name) {
                line(&format!("LoadModule {name}_module {}", quoted(&file)));
            }
        }
        if let Some(account) = &self.account {
            line(&format!("User {}", account.name));
            line(&format!("Group #{}", account.gid));
        }
        line(&format!("DocumentRoot {}", quoted(documents)));
        line(&format!("<Directory {}>", quoted(documents)));
        line("  Require all granted");
        line("</Directory>");
        line("KeepAlive On");
        for (name, value) in values {
            line(&format!("{name} {value}"));
        }
        text
    }

    /// Removes what a server that was killed left behind: a new one would take the process id in it
    /// for one that runs.
    pub(super) fn forget_old_process(&self) {
        // Mostly there is none.
        let _ = fs::remove_file(self.pid_file());
    }

    fn pid_file(&self) -> PathBuf {
        self.folder.join("httpd.pid")
    }
}

/// A folder that the server's user can reach, and that user where it is not who runs Weir.
fn make_folder(folder: &Path) -> Result<(PathBuf, Option<Account>), TargetError> {
    fs::create_dir_all(folder).map_err(TargetError::file(folder))?;
    let folder = folder.canonicalize().map_err(TargetError::file(folder))?;
    open_up(&folder).map_err(TargetError::file(&folder))?;
    let is_root = rustix::process::geteuid().is_root();
    let account = is_root.then(serving_account).transpose()?;
    Ok((folder, account))
}

/// A path as the configuration takes it.
pub(super) fn quoted(path: &Path) -> String {
    let path = path.display().to_string();
    format!("\"{}\"", path.replace('\\', "\\\\").replace('"', "\\\""))
}

fn open_up(folder: &Path) -> io::Result<()> {
    fs::set_permissions(folder, Permissions::from_mode(0o755))
}

/// A folder that the user can reach as whom root's server answers, where its own is closed above:
/// made in `spare`, and removed by the journal.
fn within_reach(
    folder: &Path,
    account: Option<&Account>,
    spare: &Path,
    journal: &Journal,
) -> Result<Option<PathBuf>, TargetError> {
    if account.is_none() || reachable(folder) {
        return Ok(None);
    }
    let own = spare.join(format!("weir-httpd-{}", std::process::id()));
    journal.directory(&own)?;
    Ok(Some(own))
}

/// Whether users that own nothing can reach a folder: they may pass through all above it.
fn reachable(folder: &Path) -> bool {
    folder
        .ancestors()
        .all(|above| fs::metadata(above).is_ok_and(|facts| facts.permissions().mode() & 0o001 != 0))
}

/// A user that is not root, as which root's server answers: it does not run without.
fn serving_account() -> Result<Account, TargetError> {
    Account::first_of(&USERS)?.ok_or_else(|| TargetError::Setting {
        name: "User".to_owned(),
        says: format!(
            "root's httpd has to answer as somebody else, and this machine has none of the users {}; run \
             Weir as an ordinary user",
            USERS.join(", ")
        ),
    })
}

fn write_documents(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    open_up(folder)?;
    for size in SIZES_KIB {
        let path = folder.join(format!("{size}k.html"));
        fs::write(&path, page(size * 1024))?;
        fs::set_permissions(&path, Permissions::from_mode(0o644))?;
    }
    Ok(())
}

/// A page of exactly so many bytes.
fn page(bytes: usize) -> String {
    let (head, foot) = ("<!doctype html><title>weir</title><pre>\n", "</pre>\n");
    let line = "The same line, as often as it takes to fill the page.\n";
    let text: String = std::iter::repeat_n(line, bytes.div_ceil(line.len())).collect();
    format!("{head}{}{foot}", &text[..bytes - head.len() - foot.len()])
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;
    use crate::httpd::directives::defaults;

    #[test]
    fn documents_have_the_size_in_their_name() {
        let folder = tempfile::tempdir().unwrap();
        write_documents(folder.path()).unwrap();
        for (name, bytes) in [("1k.html", 1024), ("2k.html", 2048), ("16k.html", 16_384)] {
            let text = fs::read_to_string(folder.path().join(name)).unwrap();
            assert_eq!(text.len(), bytes, "{name}");
            assert!(text.ends_with("</pre>\n"));
        }
    }

    #[test]
    fn every_value_stands_in_the_configuration() {
        let folder = tempfile::tempdir().unwrap();
        let documents = folder.path().join("my \"own\" pages");
        fs::create_dir(&documents).unwrap();
        let place = Place::make(
            folder.path(),
            Some(&documents),
            folder.path(),
            &Journal::new(folder.path()),
        )
        .unwrap();
        let installation = HttpdInstallation {
            program: PathBuf::from("/none/httpd"),
            modules: folder.path().to_owned(),
            libraries: Vec::new(),
            prefork: None,
        };
        fs::write(folder.path().join("mod_mpm_event.so"), "").unwrap();
        let values = defaults(Mpm::Event);
        let text = place.text(
            &installation,
            Mpm::Event,
            &values,
            8123,
            Path::new("/tmp/log"),
        );
        for (name, value) in &values {
            assert!(
                text.lines().any(|line| line == format!("{name} {value}")),
                "{name}"
            );
        }
        assert!(text.contains("LoadModule mpm_event_module"));
        assert!(
            !text.contains("authz_core_module"),
            "not there, so built in"
        );
        assert!(text.contains("Listen 127.0.0.1:8123\n"));
        assert!(text.contains("my \\\"own\\\" pages\"\n"), "{text}");
    }

    #[test]
    fn a_folder_that_is_closed_above_is_out_of_reach() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("a/b");
        fs::create_dir_all(&inner).unwrap();
        let mode = |mode| fs::set_permissions(folder.path(), Permissions::from_mode(mode)).unwrap();
        mode(0o700);
        assert!(!reachable(&inner));
        mode(0o711);
        assert_eq!(
            reachable(&inner),
            reachable(folder.path().parent().unwrap())
        );
    }
}
