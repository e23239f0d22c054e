//! Why a package cannot be had.

use std::io;
use std::path::PathBuf;

use crate::maven::MavenError;

/// Why a package cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum ShelfError {
    /// Maven could not fetch it.
    #[error("fetch {package} with Maven")]
    Maven {
        /// What was wanted.
        package: &'static str,
        /// The cause.
        #[source]
        source: MavenError,
    },
    /// apt or dpkg could not fetch or unpack it.
    #[error("fetch {package} with `{program}`: {says}")]
    Debian {
        /// What was wanted.
        package: &'static str,
        /// What was run.
        program: String,
        /// What it said.
        says: String,
    },
    /// A file is not the one that was published.
    #[error(
        "trust {file}: its SHA-256 is {found}, not {expected}; remove it from the local Maven repository and try again"
    )]
    Checksum {
        /// Its coordinates.
        file: String,
        /// What it has to be.
        expected: &'static str,
        /// What it is.
        found: String,
    },
    /// An archive cannot be unpacked.
    #[error("unpack {}: {says}", path.display())]
    Archive {
        /// The archive.
        path: PathBuf,
        /// What is wrong.
        says: String,
    },
    /// A file or directory.
    #[error("{doing} {}", path.display())]
    File {
        /// What was done.
        doing: &'static str,
        /// With what.
        path: PathBuf,
        /// Why it failed.
        #[source]
        source: io::Error,
    },
    /// It was stopped from outside.
    #[error("fetch a package: interrupted")]
    Interrupted,
}

impl ShelfError {
    pub(crate) fn file(
        doing: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File {
            doing,
            path,
            source,
        }
    }
}
