//! The source of a Debian package, and the headers to build a part of it.
//!
//! Lists of source packages are rarely there and changing them needs rights, so lists of our own
//! are made from the machine's list of archives. apt checks what the distribution signed; `tar`
//! unpacks, and nothing of it is run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;

use crate::debian::{Apt, deb_files, name_of, received};
use crate::error::ShelfError;
use crate::package::{DebianSource, Package};
use crate::receipt::Receipt;
use crate::shelf::Progress;

/// Where the machine's archives are listed.
const LISTS: &str = "/etc/apt";

/// Makes a package's directory `home`, with the headers in `usr/include` and the source in
/// `source`, with `work` beside it as the place for what comes.
pub(crate) fn from_debian_source(
    package: &Package,
    wanted: &DebianSource,
    (work, home): (&Path, &Path),
    interrupted: &AtomicBool,
    progress: &mut dyn FnMut(Progress),
) -> Result<Receipt, ShelfError> {
    let came = work.join("came");
    fs::create_dir_all(&came).map_err(ShelfError::file("make", &came))?;
    let mut apt = Apt::new(package.name, interrupted, progress);
    if let Err(ShelfError::Debian { .. }) = headers(&mut apt, wanted, &came) {
        apt.make_own_lists(work)?;
        headers(&mut apt, wanted, &came)?;
    }
    let mut files = Vec::new();
    for path in deb_files(&came)? {
        files.push(apt.unpack(&path, home)?);
    }
    let archives = work.join("archives");
    write_source_archives(Path::new(LISTS), &archives)?;
    apt.use_archives(archives);
    apt.make_own_lists(work)?;
    let version = download(&mut apt, wanted.source, &came)?;
    let source = home.join("source");
    fs::create_dir_all(&source).map_err(ShelfError::file("make", &source))?;
    let archive = original(&came)?.ok_or_else(|| ShelfError::Debian {
        package: package.name,
        program: "apt-get source".to_owned(),
        says: "no archive of the original source came".to_owned(),
    })?;
    let mut unpack = Command::new("tar");
    unpack.arg("--extract").arg("--file").arg(&archive);
    unpack
        .args(["--strip-components=1", "--directory"])
        .arg(&source);
    apt.run(unpack)?;
    files.push(received(&archive)?);
    Ok(Receipt::new(package.name, version, files))
}

fn headers(apt: &mut Apt<'_>, wanted: &DebianSource, came: &Path) -> Result<(), ShelfError> {
    let mut download = apt.apt("apt-get");
    download
        .current_dir(came)
        .arg("download")
        .args(wanted.headers);
    apt.run(download).map(drop)
}

/// Fetches the newest version that can be had; an archive may list one that it no longer holds.
fn download(apt: &mut Apt<'_>, source: &str, came: &Path) -> Result<String, ShelfError> {
    let mut list = apt.apt("apt-cache");
    list.args(["showsrc", "--only-source", source]);
    let mut versions = versions(&apt.run(list)?);
    versions.reverse();
    let mut last = None;
    for version in versions {
        let mut fetch = apt.apt("apt-get");
        fetch.current_dir(came);
        fetch.args(["--download-only", "source", &format!("{source}={version}")]);
        match apt.run(fetch) {
            Ok(_) => return Ok(without_epoch(&version)),
            Err(error @ ShelfError::Debian { .. }) => last = Some(error),
            Err(error) => return Err(error),
        }
    }
    Err(last.unwrap_or_else(|| ShelfError::Debian {
        package: apt.package,
        program: format!("apt-cache showsrc {source}"),
        says: "no archive of this machine has the source".to_owned(),
    }))
}

/// Versions in what apt says of a source package, in its order: ascending.
fn versions(lines: &[String]) -> Vec<String> {
    let named = lines
        .iter()
        .filter_map(|line| line.strip_prefix("Version: "));
    named.map(|version| version.trim().to_owned()).collect()
}

fn without_epoch(version: &str) -> String {
    version
        .split_once(':')
        .map_or(version, |(_, rest)| rest)
        .to_owned()
}

/// The archive as its authors published it.
fn original(came: &Path) -> Result<Option<PathBuf>, ShelfError> {
    let entries = fs::read_dir(came).map_err(ShelfError::file("list", came))?;
    let mut paths = entries.flatten().map(|entry| entry.path());
    Ok(paths.find(|path| {
        let is_signature = path.extension().is_some_and(|kind| kind == "asc");
        name_of(path).contains(".orig.tar.") && !is_signature
    }))
}

/// Writes the machine's archives down as archives of source packages.
fn write_source_archives(from: &Path, to: &Path) -> Result<(), ShelfError> {
    fs::create_dir_all(to).map_err(ShelfError::file("make", to))?;
    let parts = fs::read_dir(from.join("sources.list.d"))
        .into_iter()
        .flatten()
        .flatten();
    let files = parts
        .map(|entry| entry.path())
        .chain([from.join("sources.list")]);
    for path in files {
        let name = name_of(&path);
        let Ok(text) = fs::read_to_string(&path) else {
            continue;
        };
        let text = match path.extension().and_then(|word| word.to_str()) {
            Some("sources") => of_sources(&text),
            Some("list") => of_list(&text),
            _ => continue,
        };
        let path = to.join(name);
        fs::write(&path, text).map_err(ShelfError::file("write", &path))?;
    }
    Ok(())
}

/// Of a file in the deb822 form.
fn of_sources(text: &str) -> String {
    let line = |line: &str| match line.split_once(':') {
        Some((key, _)) if key.eq_ignore_ascii_case("types") => "Types: deb-src\n".to_owned(),
        _ => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

/// Of a file with a line for each archive.
fn of_list(text: &str) -> String {
    let archives = text
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix("deb "));
    archives.flat_map(|rest| ["deb-src ", rest, "\n"]).collect()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    #[test]
    fn archives_of_packages_become_archives_of_sources() {
        let deb822 = "Types: deb\n# as it was\nURIs: http://archive.test/debian\nSuites: bookworm\n\ntypes: deb deb-src\nURIs: x\n";
        assert_eq!(
            of_sources(deb822),
            "Types: deb-src\n# as it was\nURIs: http://archive.test/debian\nSuites: bookworm\n\nTypes: deb-src\nURIs: x\n"
        );
        let list = "# one\ndeb [arch=amd64] http://archive.test/debian bookworm main\ndeb-src http://archive.test/debian bookworm main\n";
        assert_eq!(
            of_list(list),
            "deb-src [arch=amd64] http://archive.test/debian bookworm main\n"
        );
    }

    #[test]
    fn the_archive_of_the_authors_is_found_beside_its_signature() {
        let place = tempfile::tempdir().unwrap();
        for name in [
            "apache2_2.4.68.orig.tar.gz.asc",
            "apache2_2.4.68-1.dsc",
            "apache2_2.4.68.orig.tar.gz",
            "apache2_2.4.68-1.debian.tar.xz",
        ] {
            fs::write(place.path().join(name), "").unwrap();
        }
        let found = original(place.path()).unwrap().unwrap();
        assert_eq!(name_of(&found), "apache2_2.4.68.orig.tar.gz");
    }

    // What apt wrote on Debian 12.
    #[test]
    fn versions_are_read_in_their_order() {
        let said = [
            "Package: apache2",
            "Version: 2.4.68-1~deb12u1",
            "Version: 1:2.4.71-1~deb12u1",
        ];
        let lines = said.map(str::to_owned);
        assert_eq!(versions(&lines), ["2.4.68-1~deb12u1", "1:2.4.71-1~deb12u1"]);
        assert_eq!(without_epoch("1:2.4.71-1~deb12u1"), "2.4.71-1~deb12u1");
    }
}
