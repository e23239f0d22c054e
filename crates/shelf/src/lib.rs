//! Servers, and what they need beside a Java, in Weir's cache.
//!
//! A [`Package`] is something of the [`catalogue`](CATALOGUE): artifacts in a Maven repository by
//! their coordinates, or Debian packages by their names. [`Shelf::provide`] hands out its directory
//! and fetches it first when it is not there. The fetching is done by `mvn` and `apt-get`, with the
//! user's own settings: mirrors, proxies and credentials are their business.
//!
//! Why not a package manager's own installation: nothing here needs rights, touches a system folder
//! or starts a service, and two versions of a server stand beside each other.
//!
//! Invariants:
//!
//! * A package's directory is whole or is not there: it is made beside its place, and renaming it
//!   is the last step.
//! * An artifact from Maven is used only if its SHA-256 is the one that stands in the catalogue. Of
//!   a Debian package apt checks what the distribution signed; its digest is written down.
//! * Whatever takes longer than a moment says how far it is and stops when it is told to.

mod catalogue;
mod checksum;
mod debian;
mod debian_source;
mod error;
mod install;
mod lock;
mod maven;
mod package;
mod postgresql;
mod program;
mod receipt;
mod shelf;
mod unpack;

pub use catalogue::{
    CATALOGUE, HIKARICP, HTTPD, HTTPD_SOURCE, JOLOKIA, LIBERTY, POSTGRESQL, POSTGRESQL_JDBC,
    TOMCAT_10, TOMCAT_11, package_named,
};
pub use checksum::sha256;
pub use debian::library_path;
pub use error::ShelfError;
pub use maven::{MavenError, maven};
pub use package::{Artifact, DebianName, DebianSource, Package, Place, Source};
pub use postgresql::{PostgresqlPrograms, installed_postgresql};
pub use receipt::{Receipt, ReceivedFile};
pub use shelf::{OnShelf, Progress, Shelf};
