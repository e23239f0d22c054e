//! A JMeter put together from the artifacts that its project publishes for Maven.
//!
//! Maven does the fetching, with the user's own settings: mirrors, proxies and credentials are its
//! business. The seven jars of JMeter itself are compared with the SHA-256 they had when this list
//! was made; what they depend on is checked by Maven against the checksums of its repository
//! (`--strict-checksums`). Everything happens in a directory beside the place; renaming it is the
//! last step, so that the place either holds a whole JMeter or nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use weir_shelf::{MavenError, maven, sha256};

use crate::error::JmeterError;
use crate::home::Home;

/// The version that is assembled: the one whose behaviour Weir reproduces.
pub(crate) const VERSION: &str = "5.6.3";

/// A jar of JMeter itself.
struct Jar {
    artifact: &'static str,
    file: &'static str,
    sha256: &'static str,
    /// Where it goes.
    place: Place,
}

enum Place {
    Launcher,
    Extensions,
    /// Its contents become `bin`.
    Unpacked,
}

const JARS: [Jar; 7] = [
    Jar {
        artifact: "ApacheJMeter",
        file: "ApacheJMeter-5.6.3.jar",
        sha256: "9c18010142b88cba2659a8471be414b34dd993e181bb10d6218fbab3e7b8712b",
        place: Place::Launcher,
    },
    Jar {
        artifact: "ApacheJMeter_core",
        file: "ApacheJMeter_core-5.6.3.jar",
        sha256: "7d3bbe4844f299e53c58aa336578e39721c87cc4eb7e475d8173f408edc8dd4d",
        place: Place::Extensions,
    },
    Jar {
        artifact: "ApacheJMeter_http",
        file: "ApacheJMeter_http-5.6.3.jar",
        sha256: "d683037ecc7b7c12d657727eef104f6f760f540a1c0056b23419b684b6112005",
        place: Place::Extensions,
    },
    Jar {
        artifact: "ApacheJMeter_java",
        file: "ApacheJMeter_java-5.6.3.jar",
        sha256: "db08dca730452d63bdc1c11e071713db87c0ee490804a022bb2cb702ac81fc08",
        place: Place::Extensions,
    },
    Jar {
        artifact: "ApacheJMeter_components",
        file: "ApacheJMeter_components-5.6.3.jar",
        sha256: "8995a26ad6949f52632736efc4e10edc56561ed643af5841b45d1b6496ee6eed",
        place: Place::Extensions,
    },
    Jar {
        artifact: "ApacheJMeter_functions",
        file: "ApacheJMeter_functions-5.6.3.jar",
        sha256: "7ff29aff9b97b57cf3d788c6d2b43ef6ad42c69dc41997b647862b3a70b39c6a",
        place: Place::Extensions,
    },
    Jar {
        artifact: "ApacheJMeter_config",
        file: "ApacheJMeter_config-5.6.3.jar",
        sha256: "63ed98e99f5bb013501fa7884bc4ac96b40ed46a9aa4c89f6202dd0d13ca7c6c",
        place: Place::Unpacked,
    },
];

/// Where the assembled JMeter lies.
pub(crate) fn place(cache: &Path) -> PathBuf {
    cache.join(format!("jmeter-{VERSION}"))
}

/// Assembles JMeter in the cache. `progress` hears now and then how many files have come.
///
/// # Errors
/// Maven is missing or fails, a jar is not the published one, the cache cannot be written.
pub fn assemble(
    cache: &Path,
    interrupted: &AtomicBool,
    progress: &mut dyn FnMut(usize),
) -> Result<Home, JmeterError> {
    fs::create_dir_all(cache).map_err(JmeterError::file("make", cache))?;
    let work = tempfile::Builder::new()
        .prefix(&format!(".jmeter-{VERSION}-"))
        .tempdir_in(cache)
        .map_err(JmeterError::file("make a directory in", cache))?;
    let pom = work.path().join("pom.xml");
    fs::write(&pom, pom_text()).map_err(JmeterError::file("write", &pom))?;
    let (jars, config) = (work.path().join("jars"), work.path().join("config"));
    let copy = ["dependency:copy-dependencies", "-DincludeScope=runtime"];
    let mut fetched = 0;
    fetch(work.path(), &copy, &jars, interrupted, &mut |files| {
        fetched = files;
        progress(files);
    })?;
    let unpack = [
        "dependency:unpack-dependencies",
        "-DincludeArtifactIds=ApacheJMeter_config",
    ];
    fetch(work.path(), &unpack, &config, interrupted, &mut |files| {
        progress(fetched + files);
    })?;
    let home = work.path().join("home");
    arrange(&jars, &config, &home)?;
    let place = place(cache);
    // Somebody else may have been faster; theirs is as good.
    match fs::rename(&home, &place) {
        Ok(()) => {}
        Err(_) if Home::at(&place).is_some() => {}
        Err(source) => return Err(JmeterError::file("write", &place)(source)),
    }
    Home::at(&place).ok_or(JmeterError::NotAHome { home: place })
}

fn pom_text() -> String {
    let dependencies = JARS
        .map(|jar| {
            format!(
                "<dependency><groupId>org.apache.jmeter</groupId><artifactId>{}</artifactId>\
                 <version>{VERSION}</version></dependency>",
                jar.artifact
            )
        })
        .join("\n");
    format!(
        "<project xmlns=\"http://maven.apache.org/POM/4.0.0\"><modelVersion>4.0.0</modelVersion>\n\
         <groupId>weir</groupId><artifactId>jmeter</artifactId><version>1</version>\n\
         <dependencies>\n{dependencies}\n</dependencies></project>\n"
    )
}

fn fetch(
    directory: &Path,
    goal: &[&str; 2],
    output: &Path,
    interrupted: &AtomicBool,
    fetched: &mut dyn FnMut(usize),
) -> Result<(), JmeterError> {
    let output = format!("-DoutputDirectory={}", output.display());
    maven(
        directory,
        &[goal[0], goal[1], &output],
        interrupted,
        fetched,
    )
    .map_err(|error| match error {
        MavenError::Interrupted => JmeterError::Interrupted,
        MavenError::Missing(_) => JmeterError::NoMaven { version: VERSION },
        source @ MavenError::Failed { .. } => JmeterError::Maven {
            version: VERSION,
            source,
        },
    })
}

/// Makes a home of the jars: launcher and settings in `bin`, JMeter's own in `lib/ext`, the others
/// in `lib`.
fn arrange(jars: &Path, config: &Path, home: &Path) -> Result<(), JmeterError> {
    let lib = home.join("lib");
    for directory in ["lib/ext", "lib/junit"] {
        let path = home.join(directory);
        fs::create_dir_all(&path).map_err(JmeterError::file("make", &path))?;
    }
    let bin = home.join("bin");
    rename(&config.join("bin"), &bin)?;
    for jar in &JARS {
        let from = jars.join(jar.file);
        check(jar, &from)?;
        match jar.place {
            Place::Launcher => rename(&from, &bin.join("ApacheJMeter.jar"))?,
            Place::Extensions => rename(&from, &lib.join("ext").join(jar.file))?,
            Place::Unpacked => {
                fs::remove_file(&from).map_err(JmeterError::file("remove", &from))?;
            }
        }
    }
    let others = fs::read_dir(jars).map_err(JmeterError::file("list", jars))?;
    for other in others {
        let other = other.map_err(JmeterError::file("list", jars))?;
        rename(&other.path(), &lib.join(other.file_name()))?;
    }
    Ok(())
}

fn rename(from: &Path, to: &Path) -> Result<(), JmeterError> {
    fs::rename(from, to).map_err(JmeterError::file("find", from))
}

fn check(jar: &Jar, path: &Path) -> Result<(), JmeterError> {
    let found = sha256(path).map_err(JmeterError::file("read", path))?;
    if found == jar.sha256 {
        return Ok(());
    }
    Err(JmeterError::Checksum {
        jar: jar.file,
        expected: jar.sha256,
        found,
    })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    #[test]
    fn a_jar_that_is_not_the_published_one_is_refused() {
        let place = tempfile::tempdir().unwrap();
        let (jars, config) = (place.path().join("jars"), place.path().join("config"));
        fs::create_dir_all(config.join("bin")).unwrap();
        fs::create_dir_all(&jars).unwrap();
        fs::write(jars.join(JARS[0].file), "abc").unwrap();
        let home = place.path().join("home");
        let says = arrange(&jars, &config, &home).unwrap_err().to_string();
        // The digest of "abc" in FIPS 180-4's examples.
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert!(says.contains(abc), "{says}");
        assert!(Home::at(&home).is_none());
    }

    #[test]
    fn every_artifact_is_asked_for_once() {
        let pom = pom_text();
        assert_eq!(pom.matches("<artifactId>ApacheJMeter").count(), JARS.len());
        assert!(pom.contains("<artifactId>ApacheJMeter_http</artifactId><version>5.6.3</version>"));
    }
}
