//! `cargo xtask release`: everything that users install, from one commit.
//!
//! A static program for each kind of processor; with completions, man pages, the licences of all
//! dependencies and a software bill of materials as an archive and as a Debian package; an image
//! from scratch. At the end the package is unpacked into a place with nothing else in it, and the
//! main job runs there.

mod bare;
mod image;
mod licences;
mod linked;
mod package;
mod processor;
mod sbom;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use clap::Args;

use crate::error::TaskError;
use crate::lock_file;
use crate::needs::{DPKG_DEB, IP, UNSHARE, provide};
use crate::process::{cargo, output, run};
use crate::steps::spoken;
use crate::workspace::Workspace;
use linked::Linked;
use processor::Processor;

/// Where the repository is, until a release says it.
const PLACEHOLDER: &str = "https://example.invalid/weir";
/// The processors that a program is built for unless others are named.
const TARGETS: [&str; 2] = ["x86_64-unknown-linux-musl", "aarch64-unknown-linux-musl"];
const PROFILE: &str = "dist";
/// The licences of all dependencies.
pub(super) const LICENCES: &str = "THIRD-PARTY.txt";
/// The software bill of materials.
pub(super) const BILL: &str = "weir.cdx.json";

/// Build what users install: static programs, archives, Debian packages, an image
#[derive(Debug, Args)]
pub(crate) struct ReleaseOptions {
    /// Where the repository is: the home page in the package
    #[arg(long, value_name = "URL", default_value = PLACEHOLDER)]
    repository: String,
    /// A target of Rust to build for; may be given several times
    #[arg(long, value_name = "TARGET")]
    target: Vec<String>,
}

/// A program that was built.
pub(super) struct Built {
    processor: Processor,
    pub(super) program: PathBuf,
    pub(super) version: String,
    pub(super) repository: String,
    /// Licences and the bill of materials.
    pub(super) beside: PathBuf,
}

impl Built {
    /// The program, run on this machine.
    fn command(&self) -> Command {
        self.processor.command(&self.program)
    }
}

/// Builds everything into `target/release-files`, and checks it.
pub(crate) fn release(workspace: &Workspace, options: &ReleaseOptions) -> Result<(), TaskError> {
    provide(&[DPKG_DEB, UNSHARE, IP])?;
    let place = workspace.target_directory()?.join("release-files");
    fresh(&place)?;
    let targets: Vec<&str> = if options.target.is_empty() {
        TARGETS.to_vec()
    } else {
        options.target.iter().map(String::as_str).collect()
    };
    let mut made = Vec::new();
    for target in targets {
        let began = Instant::now();
        let built = build(workspace, target, &options.repository, &place)?;
        let size = fs::metadata(&built.program).map_err(TaskError::file("read", &built.program))?;
        println!(
            "{target}: {:.1} MB, built in {}",
            size.len() as f64 / 1e6,
            spoken(began.elapsed())
        );
        made.push(package::archive(workspace, &built, &place)?);
        let debian = package::debian(workspace, &built, &place)?;
        made.push(image::save(&built, &place)?);
        bare::try_out(&debian, &place.join("bare"), &built.processor)?;
        made.push(debian);
    }
    let names: Vec<&str> = made
        .iter()
        .filter_map(|path| path.file_name()?.to_str())
        .collect();
    let sums = output(Command::new("sha256sum").args(&names).current_dir(&place))?;
    let path = place.join("SHA256SUMS");
    fs::write(&path, &sums).map_err(TaskError::file("write", &path))?;
    println!("\n{sums}in {}", place.display());
    Ok(())
}

fn build(
    workspace: &Workspace,
    target: &str,
    repository: &str,
    place: &Path,
) -> Result<Built, TaskError> {
    let root = &workspace.root;
    let processor = Processor::of(target);
    provide(&processor.needs())?;
    provide_target(target)?;
    let mut command = cargo(root, &["build", "--locked", "--package", "weir"]);
    command.envs(processor.variables());
    run(command.args(["--profile", PROFILE, "--target", target]))?;
    let program = workspace.target_directory()?.join(target).join(PROFILE);
    let program = program.join("weir");
    let beside = place.join(format!("beside-{target}"));
    fs::create_dir_all(&beside).map_err(TaskError::file("write", &beside))?;
    // The workspace has one version.
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let linked = Linked::read(root, target)?;
    write(&beside.join(LICENCES), &licences::of_dependencies(&linked)?)?;
    let (locked, vendored) = (lock_file::read(root)?, sbom::vendored(root)?);
    let bill = sbom::of(&linked, &locked, &vendored, &version)?;
    write(&beside.join(BILL), &bill)?;
    Ok(Built {
        processor,
        program,
        version,
        repository: repository.to_owned(),
        beside,
    })
}

/// Gets the standard library of a target where it is not there.
fn provide_target(target: &str) -> Result<(), TaskError> {
    let root = output(Command::new("rustc").args(["--print", "sysroot"]))?;
    let library = Path::new(root.trim()).join("lib/rustlib").join(target);
    if library.is_dir() {
        return Ok(());
    }
    run(Command::new("rustup").args(["target", "add", target]))
}

/// An empty folder.
fn fresh(place: &Path) -> Result<(), TaskError> {
    if place.exists() {
        fs::remove_dir_all(place).map_err(TaskError::file("remove", place))?;
    }
    fs::create_dir_all(place).map_err(TaskError::file("write", place))
}

fn write(path: &Path, text: &str) -> Result<(), TaskError> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(TaskError::file("write", folder))?;
    }
    fs::write(path, text).map_err(TaskError::file("write", path))
}

fn copy(from: &Path, to: &Path) -> Result<(), TaskError> {
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder).map_err(TaskError::file("write", folder))?;
    }
    fs::copy(from, to)
        .map(drop)
        .map_err(TaskError::file("copy", from))
}
