//! A package's files, fetched with Maven, checked and put in place.

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use crate::checksum::sha256;
use crate::error::ShelfError;
use crate::maven::{MavenError, maven};
use crate::package::{Artifact, Package, Place};
use crate::receipt::{Receipt, ReceivedFile};
use crate::shelf::Progress;
use crate::unpack::unpack;

/// The Maven plugin that copies artifacts, in the version this was written with.
const COPIER: &str = "3.6.1";

/// Makes a package's directory `home` with `work` beside it as the place for what comes.
pub(crate) fn from_maven(
    package: &Package,
    artifacts: &'static [Artifact],
    (work, home): (&Path, &Path),
    interrupted: &AtomicBool,
    progress: &mut dyn FnMut(Progress),
) -> Result<Receipt, ShelfError> {
    let pom = work.join("pom.xml");
    fs::write(&pom, pom_text(artifacts)).map_err(ShelfError::file("write", &pom))?;
    let came = work.join("came");
    let arguments = [
        "dependency:copy".to_owned(),
        format!("-DoutputDirectory={}", came.display()),
    ];
    maven(work, &arguments, interrupted, &mut |files| {
        progress(Progress::Fetched { files });
    })
    .map_err(|source| match source {
        MavenError::Interrupted => ShelfError::Interrupted,
        source => ShelfError::Maven {
            package: package.name,
            source,
        },
    })?;
    fs::create_dir_all(home).map_err(ShelfError::file("make", home))?;
    let mut files = Vec::new();
    for artifact in artifacts {
        let file = came.join(artifact.file_name());
        files.push(check(artifact, &file)?);
        match artifact.place {
            Place::Kept => {
                let to = home.join(artifact.file_name());
                fs::rename(&file, &to).map_err(ShelfError::file("write", &to))?;
            }
            Place::Unpacked => unpack(&file, home, interrupted, &mut |files, of| {
                progress(Progress::Unpacked { files, of });
            })?,
        }
    }
    let version = package.version().unwrap_or_default().to_owned();
    Ok(Receipt::new(package.name, version, files))
}

fn pom_text(artifacts: &[Artifact]) -> String {
    let items: Vec<String> = artifacts.iter().map(item).collect();
    format!(
        "<project xmlns=\"http://maven.apache.org/POM/4.0.0\"><modelVersion>4.0.0</modelVersion>\n\
         <groupId>weir</groupId><artifactId>shelf</artifactId><version>1</version><packaging>pom</packaging>\n\
         <build><plugins><plugin><groupId>org.apache.maven.plugins</groupId>\
         <artifactId>maven-dependency-plugin</artifactId><version>{COPIER}</version>\n\
         <configuration><artifactItems>\n{}\n</artifactItems></configuration>\n\
         </plugin></plugins></build></project>\n",
        items.join("\n")
    )
}

fn item(artifact: &Artifact) -> String {
    let classifier = artifact
        .classifier
        .map(|word| format!("<classifier>{word}</classifier>"));
    format!(
        "<artifactItem><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version>\
         <type>{}</type>{}</artifactItem>",
        artifact.group,
        artifact.artifact,
        artifact.version,
        artifact.kind,
        classifier.unwrap_or_default()
    )
}

fn check(artifact: &Artifact, path: &Path) -> Result<ReceivedFile, ShelfError> {
    let found = sha256(path).map_err(ShelfError::file("read", path))?;
    if found == artifact.sha256 {
        return Ok(ReceivedFile {
            name: artifact.coordinates(),
            sha256: found,
        });
    }
    Err(ShelfError::Checksum {
        file: artifact.coordinates(),
        expected: artifact.sha256,
        found,
    })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;
    use crate::catalogue::JOLOKIA;
    use crate::package::Source;

    fn agent() -> &'static Artifact {
        match JOLOKIA.source {
            Source::Maven([agent]) => agent,
            _ => unreachable!("it is one artifact"),
        }
    }

    #[test]
    fn a_file_that_is_not_the_published_one_is_refused() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("x.jar");
        fs::write(&file, "abc").unwrap();
        let says = check(agent(), &file).unwrap_err().to_string();
        // The digest of "abc" in FIPS 180-4's examples.
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert!(
            says.contains(abc) && says.contains("2.5.1:jar:javaagent"),
            "{says}"
        );
    }

    #[test]
    fn maven_is_asked_for_type_and_classifier() {
        let pom = pom_text(&[*agent()]);
        assert!(
            pom.contains(
                "<version>2.5.1</version><type>jar</type><classifier>javaagent</classifier>"
            ),
            "{pom}"
        );
    }
}
