//! Where an Apache httpd lies: installed, or Debian packages unpacked into a directory of their
//! own.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::TargetError;

/// The names of the server's program, as distributions give them.
const PROGRAMS: [&str; 2] = ["apache2", "httpd"];
/// Where the program lies below the root of unpacked packages or of an own build.
const PROGRAM_FOLDERS: [&str; 4] = ["usr/sbin", "sbin", "usr/bin", "bin"];
/// Where modules lie below the same root.
const MODULE_FOLDERS: [&str; 5] = [
    "usr/lib/apache2/modules",
    "usr/lib64/httpd/modules",
    "usr/lib/httpd/modules",
    "usr/libexec/apache2",
    "modules",
];

const PREFORK: &str = "mpm_prefork";

/// An Apache httpd that can be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpdInstallation {
    /// The server's program.
    pub program: PathBuf,
    /// The folder of its modules.
    pub modules: PathBuf,
    /// Folders of libraries that the system does not have.
    pub libraries: Vec<PathBuf>,
    /// A prefork module that is used instead of the installation's.
    pub prefork: Option<PathBuf>,
}

/// What of a configuration is in the program itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BuiltIn {
    /// The directory that names in a configuration are relative to when it has no `ServerRoot`.
    pub(super) root: PathBuf,
    /// Modules, by their source files: `mod_so.c`.
    pub(super) modules: Vec<String>,
    /// Its version, such as `2.4.62`.
    pub(super) version: Option<String>,
}

impl HttpdInstallation {
    /// The one below a directory: unpacked Debian packages (`apache2-bin`, `libapr1`,
    /// `libaprutil1`), or the prefix of an own build.
    pub fn below(root: &Path) -> Option<Self> {
        let folders = PROGRAM_FOLDERS.iter().map(|folder| root.join(folder));
        let program = folders
            .flat_map(|folder| PROGRAMS.map(|name| folder.join(name)))
            .find(|path| path.is_file())?;
        let modules = module_folder(root)?;
        let libraries = std::fs::read_dir(root.join("usr/lib"))
            .into_iter()
            .flatten()
            .filter_map(Result::ok)
            .filter(|entry| entry.file_name().to_string_lossy().contains("-linux-"))
            .map(|entry| entry.path())
            .collect();
        Some(Self {
            program,
            modules,
            libraries,
            prefork: None,
        })
    }

    /// The one that is installed: `search_path` is where programs are looked for (`PATH`), to which
    /// the folders of system programs are added.
    pub fn installed(search_path: &[PathBuf]) -> Option<Self> {
        let system = ["/usr/sbin", "/usr/local/sbin", "/usr/local/apache2/bin"].map(PathBuf::from);
        let program = search_path
            .iter()
            // The working directory may be anybody's.
            .filter(|folder| folder.is_absolute())
            .chain(&system)
            .flat_map(|folder| PROGRAMS.map(|name| folder.join(name)))
            .find(|path| path.is_file())?;
        let prefix = program.parent()?.parent()?;
        let modules = module_folder(prefix).or_else(|| module_folder(Path::new("/")))?;
        Some(Self {
            program,
            modules,
            libraries: Vec::new(),
            prefork: None,
        })
    }

    /// A command that runs the program.
    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        if let Ok(folders) = std::env::join_paths(&self.libraries)
            && !self.libraries.is_empty()
        {
            command.env("LD_LIBRARY_PATH", folders);
        }
        command
    }

    /// Its version, such as `2.4.58`.
    pub(super) fn version(&self) -> Result<String, TargetError> {
        self.told("-v", version_in)
    }

    /// What of a configuration is in the program itself.
    pub(super) fn built_in(&self) -> Result<BuiltIn, TargetError> {
        let root = self.told("-V", root_in)?;
        let names = self.told("-l", |text| Some(text).filter(|text| text.contains(".c")))?;
        Ok(BuiltIn {
            root: PathBuf::from(root),
            version: self.version().ok(),
            modules: modules_in(&names),
        })
    }

    /// What the program says of itself.
    fn told(&self, about: &str, read: fn(&str) -> Option<&str>) -> Result<String, TargetError> {
        let output = self
            .command()
            .arg(about)
            .output()
            .map_err(|source| TargetError::Spawn {
                program: self.program.clone(),
                source,
            })?;
        let text = String::from_utf8_lossy(&output.stdout);
        read(&text)
            .map(str::to_owned)
            .ok_or_else(|| TargetError::EndedAtStart {
                status: output.status.to_string(),
                last_words: format!("{text}{}", String::from_utf8_lossy(&output.stderr)),
            })
    }

    /// A module's file, if it is one: builds may have it in the program itself.
    pub(super) fn module(&self, name: &str) -> Option<PathBuf> {
        if let Some(own) = self.prefork.as_ref().filter(|_| name == PREFORK) {
            return Some(own.clone());
        }
        let file = self.modules.join(format!("mod_{name}.so"));
        file.is_file().then_some(file)
    }
}

fn module_folder(root: &Path) -> Option<PathBuf> {
    let folders = MODULE_FOLDERS.iter().map(|folder| root.join(folder));
    // Seen from /usr the folders lie one level higher.
    let folders = folders.chain(
        MODULE_FOLDERS
            .iter()
            .filter_map(|folder| Some(root.join(folder.strip_prefix("usr/")?))),
    );
    folders
        .into_iter()
        .find(|folder| folder.join("mod_authz_core.so").is_file())
}

/// The source files of modules in what `-l` prints below its heading.
pub(crate) fn modules_in(text: &str) -> Vec<String> {
    let names = text.lines().map(str::trim);
    let is_source = |name: &&str| name.rsplit_once('.').is_some_and(|(_, kind)| kind == "c");
    let names = names.filter(|name| is_source(name) && !name.contains(' '));
    names.map(str::to_owned).collect()
}

/// The version in what `-v` prints: `Server version: Apache/2.4.58 (Debian)`.
pub(crate) fn version_in(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("Apache/")?;
    rest.split_whitespace().next()
}

/// The directory in what `-V` prints: `-D HTTPD_ROOT="/etc/apache2"`.
fn root_in(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("HTTPD_ROOT=\"")?;
    rest.split('"').next()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;
    use std::fs;

    fn touch(root: &Path, file: &str) {
        let path = root.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }

    #[test]
    fn the_version_stands_behind_the_name() {
        let text = "Server version: Apache/2.4.71 (Debian)\nServer built:   2026-11-12T08:58:41\n";
        assert_eq!(version_in(text), Some("2.4.71"));
        assert_eq!(version_in("Server version: nginx/1.2"), None);
        let built = " -D SUEXEC_BIN=\"/usr/lib/apache2/suexec\"\n -D HTTPD_ROOT=\"/etc/apache2\"\n";
        assert_eq!(root_in(built), Some("/etc/apache2"));
    }

    #[test]
    fn unpacked_packages_and_own_builds_are_found() {
        for (program, modules) in [
            ("usr/sbin/apache2", "usr/lib/apache2/modules"),
            ("usr/sbin/httpd", "usr/lib64/httpd/modules"),
            ("bin/httpd", "modules"),
        ] {
            let root = tempfile::tempdir().unwrap();
            let root = root.path();
            assert_eq!(HttpdInstallation::below(root), None);
            touch(root, program);
            assert_eq!(HttpdInstallation::below(root), None, "no modules");
            touch(root, &format!("{modules}/mod_authz_core.so"));
            fs::create_dir_all(root.join("usr/lib/x86_64-linux-gnu")).unwrap();
            let found = HttpdInstallation::below(root).unwrap();
            assert_eq!(found.program, root.join(program));
            assert_eq!(found.modules, root.join(modules));
            assert_eq!(found.libraries, [root.join("usr/lib/x86_64-linux-gnu")]);
        }
    }

    #[test]
    fn an_installed_one_has_its_modules_beside_it() {
        let root = tempfile::tempdir().unwrap();
        touch(root.path(), "usr/sbin/apache2");
        touch(root.path(), "usr/lib/apache2/modules/mod_authz_core.so");
        let found = HttpdInstallation::installed(&[root.path().join("usr/sbin")]).unwrap();
        assert_eq!(found.modules, root.path().join("usr/lib/apache2/modules"));
        assert!(found.libraries.is_empty());
    }
}
