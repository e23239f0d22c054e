//! The program with all that belongs to it: an archive, and a package for Debian.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{BILL, Built, LICENCES, copy, fresh, write};
use crate::error::TaskError;
use crate::process::{output, run};
use crate::workspace::Workspace;

/// Shells, and where Debian keeps what completes their commands.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "usr/share/bash-completion/completions/weir"),
    ("zsh", "usr/share/zsh/vendor-completions/_weir"),
    ("fish", "usr/share/fish/vendor_completions.d/weir.fish"),
];
const SUMMARY: &str = "finds how much concurrency a web application server can take";
/// Nobody's address: the package names a project.
const MAINTAINER: &str = "Weir <weir@example.invalid>";

/// An archive that may be unpacked anywhere.
pub(super) fn archive(
    workspace: &Workspace,
    built: &Built,
    place: &Path,
) -> Result<PathBuf, TaskError> {
    let name = format!("weir-{}-{}", built.version, built.processor.target());
    let folder = place.join(&name);
    copy(&built.program, &folder.join("weir"))?;
    for text in ["LICENSE", "README.md", "CHANGELOG.md"] {
        copy(&workspace.root.join(text), &folder.join(text))?;
    }
    for text in [LICENCES, BILL] {
        copy(&built.beside.join(text), &folder.join(text))?;
    }
    for (shell, _) in COMPLETIONS {
        let words = output(built.command().args(["completions", shell]))?;
        write(&folder.join("completions").join(shell), &words)?;
    }
    let man = folder.join("man");
    run(built.command().arg("man").arg("--out").arg(&man))?;
    let archive = place.join(format!("{name}.tar.gz"));
    run(Command::new("tar")
        .args(["--owner=0", "--group=0", "--sort=name", "-czf"])
        .arg(&archive)
        .arg("-C")
        .arg(place)
        .arg(&name))?;
    Ok(archive)
}

/// A package for Debian, made of what is in the archive's folder.
pub(super) fn debian(
    workspace: &Workspace,
    built: &Built,
    place: &Path,
) -> Result<PathBuf, TaskError> {
    let from = place.join(format!(
        "weir-{}-{}",
        built.version,
        built.processor.target()
    ));
    let tree = place.join(format!("deb-{}", built.processor.target()));
    fresh(&tree)?;
    let program = tree.join("usr/bin/weir");
    copy(&built.program, &program)?;
    executable(&program)?;
    let doc = tree.join("usr/share/doc/weir");
    copy(&workspace.root.join("LICENSE"), &doc.join("copyright"))?;
    for text in ["README.md", "CHANGELOG.md", LICENCES, BILL] {
        copy(&from.join(text), &doc.join(text))?;
    }
    for (shell, to) in COMPLETIONS {
        copy(&from.join("completions").join(shell), &tree.join(to))?;
    }
    let pages = from.join("man");
    let entries = fs::read_dir(&pages).map_err(TaskError::file("read", &pages))?;
    for entry in entries.flatten() {
        let to = tree.join("usr/share/man/man1").join(entry.file_name());
        copy(&entry.path(), &to)?;
        run(Command::new("gzip").args(["-9n"]).arg(&to))?;
    }
    let size = output(Command::new("du").args(["-ks"]).arg(&tree))?;
    let size = size.split_whitespace().next().unwrap_or("0").to_owned();
    let architecture = built.processor.debian();
    write(
        &tree.join("DEBIAN/control"),
        &format!(
            "Package: weir\nVersion: {}\nArchitecture: {architecture}\nMaintainer: {MAINTAINER}\nInstalled-Size: {size}\n\
             Section: net\nPriority: optional\nHomepage: {}\nDescription: {SUMMARY}\n Weir loads the server, watches it, sets its \
             limits,\n answers with an interval, and says what holds it back.\n",
            built.version, built.repository
        ),
    )?;
    let package = place.join(format!("weir_{}_{architecture}.deb", built.version));
    run(Command::new("dpkg-deb")
        .args(["--root-owner-group", "--build"])
        .arg(&tree)
        .arg(&package))?;
    Ok(package)
}

fn executable(path: &Path) -> Result<(), TaskError> {
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(path, mode).map_err(TaskError::file("write", path))
}
