//! Debian packages, unpacked where they do no harm.
//!
//! `apt-get download` needs no rights and checks what the distribution signed; `dpkg-deb` unpacks
//! without running anything. What a package needs and this machine has not is what apt says it
//! would install beside it; of that the libraries are taken.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;

use crate::checksum::sha256;
use crate::error::ShelfError;
use crate::package::{DebianName, Package};
use crate::program::{self, End, Heard};
use crate::receipt::{Receipt, ReceivedFile};
use crate::shelf::Progress;

/// Makes a package's directory `home` with `work` beside it as the place for what comes.
pub(crate) fn from_debian(
    package: &Package,
    names: &[DebianName],
    (work, home): (&Path, &Path),
    interrupted: &AtomicBool,
    progress: &mut dyn FnMut(Progress),
) -> Result<Receipt, ShelfError> {
    let came = work.join("came");
    fs::create_dir_all(&came).map_err(ShelfError::file("make", &came))?;
    let mut apt = Apt::new(package.name, interrupted, progress);
    let first = match apt.download(names, &came) {
        Err(ShelfError::Debian { .. }) => {
            // The machine's lists of packages may be missing or old, and changing them needs
            // rights.
            apt.make_own_lists(work)?;
            apt.download(names, &came)
        }
        done => done,
    }?;
    let mut files = Vec::new();
    let archives = deb_files(&came)?;
    for (index, path) in archives.iter().enumerate() {
        (apt.progress)(Progress::Unpacked {
            files: index + 1,
            of: archives.len(),
        });
        files.push(apt.unpack(path, home)?);
    }
    let version = version_of(&first, &files).unwrap_or_else(|| "unknown".to_owned());
    Ok(Receipt::new(package.name, version, files))
}

/// What `LD_LIBRARY_PATH` has to be for programs of an unpacked Debian package.
pub fn library_path(home: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for base in ["usr/lib", "lib"] {
        let entries = fs::read_dir(home.join(base))
            .into_iter()
            .flatten()
            .flatten();
        found.extend(
            entries
                .map(|entry| entry.path())
                .filter(|path| path.is_dir() && name_of(path).contains("-linux-")),
        );
    }
    found
}

pub(crate) struct Apt<'a> {
    pub(crate) package: &'static str,
    /// Where lists of packages of our own are, when the machine's will not do.
    own_lists: Option<PathBuf>,
    /// Where archives other than the machine's are listed.
    archives: Option<PathBuf>,
    interrupted: &'a AtomicBool,
    progress: &'a mut dyn FnMut(Progress),
    fetched: usize,
}

impl<'a> Apt<'a> {
    /// With the machine's own lists.
    pub(crate) fn new(
        package: &'static str,
        interrupted: &'a AtomicBool,
        progress: &'a mut dyn FnMut(Progress),
    ) -> Self {
        Self {
            package,
            own_lists: None,
            archives: None,
            interrupted,
            progress,
            fetched: 0,
        }
    }
}

impl Apt<'_> {
    /// From now on asks the archives that are listed in a directory.
    pub(crate) fn use_archives(&mut self, listed_in: PathBuf) {
        self.archives = Some(listed_in);
    }

    /// Fetches the packages and the libraries that are missing; the name of the first.
    fn download(&mut self, names: &[DebianName], came: &Path) -> Result<String, ShelfError> {
        let mut wanted = Vec::new();
        for name in names {
            wanted.push(match name {
                DebianName::Exact(name) => (*name).to_owned(),
                DebianName::Behind(name) => self.behind(name)?,
            });
        }
        let mut simulate = self.apt("apt-get");
        simulate
            .args(["--simulate", "--no-install-recommends", "install"])
            .args(&wanted);
        let first = wanted[0].clone();
        let mut all: BTreeSet<String> = wanted.into_iter().collect();
        all.extend(missing_libraries(&self.run(simulate)?));
        let mut download = self.apt("apt-get");
        download.current_dir(came).arg("download").args(all);
        self.run(download)?;
        Ok(first)
    }

    /// The package that another one stands for.
    fn behind(&mut self, name: &str) -> Result<String, ShelfError> {
        let mut command = self.apt("apt-cache");
        command.args(["depends", "--important", name]);
        let lines = self.run(command)?;
        stands_for(name, &lines).ok_or_else(|| ShelfError::Debian {
            package: self.package,
            program: format!("apt-cache depends {name}"),
            says: "it names no version of it".to_owned(),
        })
    }

    /// Unpacks a package that came; runs nothing of it.
    pub(crate) fn unpack(&mut self, path: &Path, home: &Path) -> Result<ReceivedFile, ShelfError> {
        let mut command = Command::new("dpkg-deb");
        command.arg("-x").arg(path).arg(home);
        self.run(command)?;
        received(path)
    }

    pub(crate) fn make_own_lists(&mut self, work: &Path) -> Result<(), ShelfError> {
        let own = work.join("apt");
        for directory in ["lists/partial", "cache/archives/partial"] {
            let path = own.join(directory);
            fs::create_dir_all(&path).map_err(ShelfError::file("make", &path))?;
        }
        self.own_lists = Some(own);
        let mut command = self.apt("apt-get");
        command.arg("update");
        self.run(command).map(|_| ())
    }

    pub(crate) fn apt(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        // What it says is read.
        command.env("LC_ALL", "C.UTF-8");
        // As root it would otherwise change to a user who may not write here, and complain.
        command.args(["-o", "APT::Sandbox::User=root"]);
        if let Some(own) = &self.own_lists {
            let own = own.display();
            command.args(["-o", &format!("Dir::State::Lists={own}/lists")]);
            command.args(["-o", &format!("Dir::Cache={own}/cache")]);
        }
        if let Some(listed_in) = &self.archives {
            let listed_in = listed_in.display();
            command.args(["-o", "Dir::Etc::SourceList=/dev/null"]);
            command.args(["-o", &format!("Dir::Etc::SourceParts={listed_in}")]);
        }
        command
    }

    /// Runs a program to its end; the lines that it wrote.
    pub(crate) fn run(&mut self, command: Command) -> Result<Vec<String>, ShelfError> {
        let program = command.get_program().to_string_lossy().into_owned();
        let failed = |says: String| ShelfError::Debian {
            package: self.package,
            program: program.clone(),
            says,
        };
        let mut lines = Vec::new();
        let (fetched, progress) = (&mut self.fetched, &mut self.progress);
        let end = program::run(command, self.interrupted, &mut |heard| {
            if let Heard::Line(line) = heard {
                *fetched += usize::from(line.starts_with("Get:"));
                lines.push(line);
            }
            progress(Progress::Fetched { files: *fetched });
        });
        match end.map_err(|error| failed(error.to_string()))? {
            End::Interrupted => Err(ShelfError::Interrupted),
            End::Ended(status) if status.success() => Ok(lines),
            End::Ended(status) => {
                let error = lines.iter().find(|line| line.starts_with("E: "));
                Err(failed(error.map_or_else(
                    || status.to_string(),
                    |line| line["E: ".len()..].to_owned(),
                )))
            }
        }
    }
}

/// Of what apt says it would install, the libraries.
fn missing_libraries(lines: &[String]) -> Vec<String> {
    let names = lines
        .iter()
        .filter_map(|line| line.strip_prefix("Inst ")?.split(' ').next());
    names
        .filter(|name| name.starts_with("lib") && !name.ends_with("-perl"))
        .map(str::to_owned)
        .collect()
}

/// Of what a package depends on, the one that has its name and a version.
fn stands_for(name: &str, lines: &[String]) -> Option<String> {
    let begins = format!("{name}-");
    lines
        .iter()
        .filter_map(|line| line.trim().strip_prefix("Depends: "))
        .find(|depends| {
            let rest = depends.strip_prefix(&begins);
            rest.is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
        })
        .map(str::to_owned)
}

pub(crate) fn deb_files(directory: &Path) -> Result<Vec<PathBuf>, ShelfError> {
    let entries = fs::read_dir(directory).map_err(ShelfError::file("list", directory))?;
    let mut files: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|word| word == "deb"))
        .collect();
    files.sort();
    Ok(files)
}

/// What is noted of a file that came.
pub(crate) fn received(path: &Path) -> Result<ReceivedFile, ShelfError> {
    Ok(ReceivedFile {
        name: name_of(path),
        sha256: sha256(path).map_err(ShelfError::file("read", path))?,
    })
}

pub(crate) fn name_of(path: &Path) -> String {
    path.file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
}

/// The version in the file name of a package, in letters that a directory's name may have.
fn version_of(package: &str, files: &[ReceivedFile]) -> Option<String> {
    let version = files.iter().find_map(|file| {
        let mut parts = file.name.split('_');
        (parts.next()? == package).then(|| parts.next())?
    })?;
    // An epoch is written `1%3a`; it says nothing about what the program is.
    let version = version.split_once("%3a").map_or(version, |(_, rest)| rest);
    Some(version.to_owned())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    // What apt wrote on Debian 12.
    #[test]
    fn what_apt_says_is_understood() {
        let simulated = lines(
            "NOTE: This is only a simulation!\n\
             Inst libapr1 (1.7.2-3+deb12u1 Debian:12.11/oldstable [amd64])\n\
             Inst libjson-perl (4.10000-1 Debian:12.11/oldstable [all])\n\
             Inst apache2-bin (2.4.71-1~deb12u1 Debian-Security:12/oldstable-security [amd64])\n\
             Conf libapr1 (1.7.2-3+deb12u1 Debian:12.11/oldstable [amd64])",
        );
        assert_eq!(missing_libraries(&simulated), ["libapr1"]);
        let depends = lines("postgresql\n  Depends: postgresql-common\n  Depends: postgresql-15");
        assert_eq!(stands_for("postgresql", &depends).unwrap(), "postgresql-15");
        assert_eq!(stands_for("postgresql", &depends[..2]), None);
    }

    #[test]
    fn versions_are_read_from_file_names() {
        let files = [
            "apache2-utils_2_amd64.deb",
            "apache2-bin_1%3a2.4.71-1~deb12u1_amd64.deb",
        ];
        let files: Vec<ReceivedFile> = files
            .iter()
            .map(|name| ReceivedFile {
                name: (*name).to_owned(),
                sha256: String::new(),
            })
            .collect();
        let version = version_of("apache2-bin", &files);
        assert_eq!(version.as_deref(), Some("2.4.71-1~deb12u1"));
        assert_eq!(version_of("apache2", &files), None);
    }

    #[test]
    fn libraries_are_found_for_any_machine() {
        let place = tempfile::tempdir().unwrap();
        for directory in [
            "usr/lib/aarch64-linux-gnu",
            "lib/aarch64-linux-gnu",
            "usr/lib/apache2",
        ] {
            fs::create_dir_all(place.path().join(directory)).unwrap();
        }
        let found = library_path(place.path());
        assert_eq!(found.len(), 2, "{found:?}");
    }
}
