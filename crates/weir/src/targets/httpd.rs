//! `[target.httpd]`: an Apache httpd of one's own.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use weir_server::{
    Httpd, HttpdInstallation, HttpdOptions, Mpm, Server, build_prefork, most_connections_per_s,
};
use weir_shelf::{HTTPD, HTTPD_SOURCE};
use weir_study::{Ask, CaseSpec, Design, HttpdSpec, MpmKind, StudyFile, SweepSpec};

use super::{Place, failed};
use crate::error::ExpectedError;
use crate::{output, shelf};

/// How many connections a process serves before it ends.
const LIFETIME: &str = "native.MaxConnectionsPerChild";

/// Starts it on these CPUs, with its files in the run's directory.
pub(super) fn start(spec: &HttpdSpec, place: &Place<'_>) -> Result<Box<dyn Server>, ExpectedError> {
    let mut installation = installation(
        spec.home.as_ref().map(|home| place.job.base.join(home)),
        place.interrupted,
    )?;
    if let Some(rate) = spec.max_spawn_rate {
        installation.prefork = Some(rebuilt(rate, place)?);
    }
    let server = Httpd::start(HttpdOptions {
        installation,
        mpm: match spec.mpm {
            MpmKind::Prefork => Mpm::Prefork,
            MpmKind::Event => Mpm::Event,
        },
        configuration: spec
            .configuration
            .as_ref()
            .map(|file| place.job.base.join(file)),
        port: spec.port.unwrap_or(0),
        cpus: Some(place.cpus.clone()),
        settings: place.job.study.target.settings.clone(),
        documents: spec
            .documents
            .as_ref()
            .map(|folder| place.job.base.join(folder)),
        folder: place.directory.path().join("httpd"),
        spare: std::env::temp_dir(),
        interrupted: Arc::clone(place.interrupted),
        log: place.log(),
        journal: place.journal.clone(),
    });
    Ok(Box::new(server.map_err(|error| failed(place, error))?))
}

/// The prefork module with another spawn rate, and what is predicted of it.
fn rebuilt(rate: u32, place: &Place<'_>) -> Result<PathBuf, ExpectedError> {
    let source = shelf::provide(&HTTPD_SOURCE, place.interrupted)?;
    // Beside the source: the folder of a run may lie where the server's user cannot read.
    let module = build_prefork(&source, rate, &source.join("built"))
        .map_err(|error| failed(place, error))?;
    output::talk(&format!(
        "the prefork module is built anew with MAX_SPAWN_RATE {rate}: {}",
        module.display()
    ));
    for line in predicted(rate, &place.job.study) {
        output::talk(&line);
    }
    Ok(module)
}

/// What the spawn rate allows in every case of a sweep, before anything is measured.
fn predicted(rate: u32, study: &StudyFile) -> Vec<String> {
    let Ask::Sweep(SweepSpec {
        design: Design::Cases(cases),
        ..
    }) = &study.ask
    else {
        return Vec::new();
    };
    let of_case = |case: &CaseSpec| {
        let number = |name: &str| {
            let same = |known: &&String| known.eq_ignore_ascii_case(name);
            let in_case = case.set.iter().find(|(known, _)| same(known));
            let in_settings = || study.target.settings.iter().find(|(known, _)| same(known));
            in_case
                .and_then(|(_, level)| level.number())
                .or_else(|| in_settings().map(|(_, value)| *value))
        };
        let lifetime = number(LIFETIME).filter(|lifetime| *lifetime > 0.0)?;
        let most = most_connections_per_s(rate, number("threads")?, lifetime);
        Some(format!(
            "predicted for {}: at most {most} connections/s, less what prefork's cycle is longer than a second",
            case.name
        ))
    };
    cases.iter().filter_map(of_case).collect()
}

/// The server's files: where the study says, or else what is installed, or else Weir's own copy.
fn installation(
    home: Option<PathBuf>,
    interrupted: &AtomicBool,
) -> Result<HttpdInstallation, ExpectedError> {
    if let Some(home) = home {
        return HttpdInstallation::below(&home).ok_or_else(|| not_there(&home));
    }
    let folders: Vec<PathBuf> = std::env::var_os("PATH")
        .map(|path| std::env::split_paths(&path).collect())
        .unwrap_or_default();
    if let Some(installed) = HttpdInstallation::installed(&folders) {
        return Ok(installed);
    }
    let home = shelf::provide(&HTTPD, interrupted)?;
    HttpdInstallation::below(&home).ok_or_else(|| not_there(&home))
}

fn not_there(home: &Path) -> ExpectedError {
    ExpectedError::Input(format!(
        "{}: there is no Apache httpd below this directory (a program such as usr/sbin/apache2, and its modules)",
        home.display()
    ))
}
