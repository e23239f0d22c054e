//! The prefork module built anew, with another number of processes that it starts at most in one
//! cycle.
//!
//! `MAX_SPAWN_RATE` is no directive: it stands in the source (`server/mpm/prefork/prefork.c`) for
//! those who build it. The one file is compiled against the headers of the server that runs; the
//! module's own check of versions refuses another one when it is loaded.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::TargetError;

/// The module's source below that of the server.
const FOLDER: &str = "source/server/mpm/prefork";
/// Folders of headers beside it.
const HEADERS: [&str; 3] = ["usr/include/apache2", "usr/include/apr-1.0", "usr/include"];
const COMPILER: &str = "cc";

/// Builds the module into a folder from source and headers that lie below `home`.
pub fn build_prefork(
    home: &Path,
    max_spawn_rate: u32,
    folder: &Path,
) -> Result<PathBuf, TargetError> {
    let module = folder.join(format!("mod_mpm_prefork-{max_spawn_rate}.so"));
    std::fs::create_dir_all(folder).map_err(|source| TargetError::File {
        path: folder.to_owned(),
        source,
    })?;
    let own = home.join(FOLDER);
    let mut command = Command::new(COMPILER);
    command.args(["-O2", "-fPIC", "-shared", "-D_GNU_SOURCE"]);
    command.arg(format!("-DMAX_SPAWN_RATE={max_spawn_rate}"));
    for headers in HEADERS.map(|headers| home.join(headers)) {
        command.arg("-I").arg(headers);
    }
    command.arg("-I").arg(&own);
    command.arg(own.join("prefork.c")).arg("-o").arg(&module);
    let output = command.output().map_err(|source| TargetError::Spawn {
        program: COMPILER.into(),
        source,
    })?;
    if output.status.success() {
        return Ok(module);
    }
    let says = String::from_utf8_lossy(&output.stderr);
    Err(TargetError::NotBuilt {
        what: "the prefork module".to_owned(),
        says: says.lines().take(5).collect::<Vec<_>>().join("; "),
    })
}

/// Connections a second that prefork can take at most when every process ends after `lifetime` of
/// them: it starts processes once in a cycle of a second and what the work takes, no more than
/// there are free places.
pub fn most_connections_per_s(max_spawn_rate: u32, processes: f64, lifetime: f64) -> f64 {
    f64::from(max_spawn_rate).min(processes) * lifetime
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    /// The published experiment (32 and 64 with 50 processes), and what it wished for.
    #[test]
    fn the_rate_is_bounded_by_the_spawn_rate_or_by_the_places() {
        let most = |rate, lifetime| most_connections_per_s(rate, 50.0, lifetime);
        assert!((most(32, 1.0) - 32.0).abs() < 1e-9 && (most(32, 2.0) - 64.0).abs() < 1e-9);
        assert!(
            (most(64, 1.0) - 50.0).abs() < 1e-9,
            "no more than there are places"
        );
    }

    #[test]
    fn what_cannot_be_compiled_is_told_in_the_compilers_words() {
        let home = tempfile::tempdir().unwrap();
        let own = home.path().join(FOLDER);
        std::fs::create_dir_all(&own).unwrap();
        let source = "int rate(void) { return MAX_SPAWN_RATE; }\n#ifdef BROKEN\n#endif\n";
        std::fs::write(own.join("prefork.c"), source).unwrap();
        let module = build_prefork(home.path(), 64, &home.path().join("built")).unwrap();
        assert!(module.ends_with("mod_mpm_prefork-64.so") && module.is_file());
        std::fs::write(own.join("prefork.c"), "#include \"httpd.h\"\n").unwrap();
        let error = build_prefork(home.path(), 64, &home.path().join("built")).unwrap_err();
        assert!(error.to_string().contains("httpd.h"), "{error}");
    }
}
