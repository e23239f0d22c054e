//! `[target.httpd]`: an Apache httpd of one's own.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use weir_shelf::HTTPD;
use weir_study::{HttpdSpec, MpmKind};
use weir_target::{Httpd, HttpdInstallation, HttpdOptions, Mpm, Server};

use super::{Place, failed};
use crate::error::ExpectedError;
use crate::shelf;

/// Starts it on these CPUs, with its files in the run's directory.
pub(super) fn start(spec: &HttpdSpec, place: &Place<'_>) -> Result<Box<dyn Server>, ExpectedError> {
    let server = Httpd::start(HttpdOptions {
        installation: installation(
            spec.home.as_ref().map(|home| place.job.base.join(home)),
            place.interrupted,
        )?,
        mpm: match spec.mpm {
            MpmKind::Prefork => Mpm::Prefork,
            MpmKind::Event => Mpm::Event,
        },
        port: spec.port.unwrap_or(0),
        cpus: Some(place.cpus.clone()),
        settings: place.job.study.target.settings.clone(),
        documents: spec
            .documents
            .as_ref()
            .map(|folder| place.job.base.join(folder)),
        folder: place.directory.path().join("httpd"),
        spare: std::env::temp_dir(),
        log: place.log(),
        journal: place.journal.clone(),
    });
    Ok(Box::new(server.map_err(|error| failed(place, error))?))
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
