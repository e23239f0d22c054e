//! What a package is: where it comes from and what is done with its files.

/// Something that the cache can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Package {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it is, for people.
    pub what: &'static str,
    /// Begins the name of its directory; the version follows.
    pub stem: &'static str,
    /// Where it comes from.
    pub source: Source,
}

/// Where a package comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// A Maven repository: always the same version, the first artifact's.
    Maven(&'static [Artifact]),
    /// The Debian packages of this machine's release, with the libraries that are not installed.
    Debian(&'static [DebianName]),
    /// The source of a Debian package, with headers.
    DebianSource(DebianSource),
}

/// The source of a Debian package, and packages of headers that are unpacked beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DebianSource {
    /// The source package.
    pub source: &'static str,
    /// Packages with headers; what they depend on is not fetched.
    pub headers: &'static [&'static str],
}

/// A file in a Maven repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Artifact {
    /// The group.
    pub group: &'static str,
    /// The artifact.
    pub artifact: &'static str,
    /// The version.
    pub version: &'static str,
    /// `zip` or `jar`.
    pub kind: &'static str,
    /// What tells it from others of the same name.
    pub classifier: Option<&'static str>,
    /// What it has to be.
    pub sha256: &'static str,
    /// What is done with it.
    pub place: Place,
}

/// What is done with an artifact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// It lies in the package's directory as it is.
    Kept,
    /// Its contents are the package's directory, without the one directory that holds them all.
    Unpacked,
}

/// How a Debian package is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DebianName {
    /// By its own name.
    Exact(&'static str),
    /// As the version that this release's package of that name stands for: `postgresql` stands for
    /// `postgresql-15` or a later one.
    Behind(&'static str),
}

impl Artifact {
    /// The file's name as Maven writes it.
    pub fn file_name(&self) -> String {
        let classifier = self.classifier.map(|word| format!("-{word}"));
        format!(
            "{}-{}{}.{}",
            self.artifact,
            self.version,
            classifier.unwrap_or_default(),
            self.kind
        )
    }

    /// `group:artifact:version:type[:classifier]`.
    pub fn coordinates(&self) -> String {
        let classifier = self.classifier.map(|word| format!(":{word}"));
        format!(
            "{}:{}:{}:{}{}",
            self.group,
            self.artifact,
            self.version,
            self.kind,
            classifier.unwrap_or_default()
        )
    }
}

impl Package {
    /// The version, where it is known before the package is fetched.
    pub fn version(&self) -> Option<&'static str> {
        match self.source {
            Source::Maven(artifacts) => artifacts.first().map(|artifact| artifact.version),
            Source::Debian(_) | Source::DebianSource(_) => None,
        }
    }
}
