//! What there is.
//!
//! Each digest is the one that the published file had when it was put into this list.

use crate::package::{Artifact, DebianName, DebianSource, Package, Place, Source};

/// Apache Tomcat of the line before the newest: Servlet 6.0.
pub const TOMCAT_10: Package = Package {
    name: "tomcat-10.1",
    what: "Apache Tomcat 10.1",
    stem: "tomcat",
    source: Source::Maven(&[Artifact {
        group: "org.apache.tomcat",
        artifact: "tomcat",
        version: "10.1.48",
        kind: "zip",
        classifier: None,
        sha256: "98287c7781bd699600f2f4fbeedf8663272e353cb855d5d6a7dac9ac2c7a608f",
        place: Place::Unpacked,
    }]),
};

/// Apache Tomcat: Servlet 6.1.
pub const TOMCAT_11: Package = Package {
    name: "tomcat-11",
    what: "Apache Tomcat 11",
    stem: "tomcat",
    source: Source::Maven(&[Artifact {
        group: "org.apache.tomcat",
        artifact: "tomcat",
        version: "11.0.24",
        kind: "zip",
        classifier: None,
        sha256: "80c8c85424f2d860ac6ae1b49551307a0b472c3497d8f5a97da1e9a92af5da4c",
        place: Place::Unpacked,
    }]),
};

/// HikariCP with the logging that it needs.
pub const HIKARICP: Package = Package {
    name: "hikaricp",
    what: "the connection pool HikariCP, with slf4j over java.util.logging",
    stem: "hikaricp",
    source: Source::Maven(&[
        jar(
            "com.zaxxer",
            "HikariCP",
            "6.3.0",
            "07c6344059af30a135144209c7c8bd666b8823124422ec859864d209d4ab7ca1",
        ),
        jar(
            "org.slf4j",
            "slf4j-api",
            "2.0.17",
            "7b751d952061954d5abfed7181c1f645d336091b679891591d63329c622eb832",
        ),
        jar(
            "org.slf4j",
            "slf4j-jdk14",
            "2.0.17",
            "ead25c1b15f59db1fb5552b76fe63de4164f0df40024d19287b75dece47ad3be",
        ),
    ]),
};

/// What Java programs speak to PostgreSQL with.
pub const POSTGRESQL_JDBC: Package = Package {
    name: "postgresql-jdbc",
    what: "the JDBC driver of PostgreSQL",
    stem: "postgresql-jdbc",
    source: Source::Maven(&[jar(
        "org.postgresql",
        "postgresql",
        "42.7.7",
        "157963d60ae66d607e09466e8c0cdf8087e9cb20d0159899ffca96bca2528460",
    )]),
};

/// Open Liberty with every feature.
pub const LIBERTY: Package = Package {
    name: "liberty",
    what: "Open Liberty with every feature",
    stem: "liberty",
    source: Source::Maven(&[Artifact {
        group: "io.openliberty",
        artifact: "openliberty-runtime",
        version: "25.0.0.12",
        kind: "zip",
        classifier: None,
        sha256: "62b6addb32c3813b7aff9a2f3d193639edc05e79de929e016263c78dc3615557",
        place: Place::Unpacked,
    }]),
};

/// JMX over HTTP, as an agent of a running JVM.
pub const JOLOKIA: Package = Package {
    name: "jolokia",
    what: "the Jolokia agent: JMX over HTTP",
    stem: "jolokia",
    source: Source::Maven(&[Artifact {
        group: "org.jolokia",
        artifact: "jolokia-agent-jvm",
        version: "2.5.1",
        kind: "jar",
        classifier: Some("javaagent"),
        sha256: "575ced60f54788cb70f214f8a0a1bbad50826998db4950d50eb84d6fea39ffff",
        place: Place::Kept,
    }]),
};

/// Apache httpd with its modules, and `ab`.
pub const HTTPD: Package = Package {
    name: "httpd",
    what: "Apache httpd with its modules, and ab",
    stem: "httpd",
    source: Source::Debian(&[
        DebianName::Exact("apache2-bin"),
        DebianName::Exact("apache2-utils"),
        DebianName::Exact("libapr1"),
        DebianName::Exact("libaprutil1"),
    ]),
};

/// The source of Apache httpd, for a module that is built with another limit.
pub const HTTPD_SOURCE: Package = Package {
    name: "httpd-source",
    what: "the source of Apache httpd and the headers to build a module",
    stem: "httpd-source",
    source: Source::DebianSource(DebianSource {
        source: "apache2",
        headers: &["apache2-dev", "libapr1-dev", "libaprutil1-dev"],
    }),
};

/// PostgreSQL, for machines that have none installed.
pub const POSTGRESQL: Package = Package {
    name: "postgresql",
    what: "PostgreSQL; one that is installed is used instead",
    stem: "postgresql",
    source: Source::Debian(&[
        DebianName::Behind("postgresql"),
        DebianName::Behind("postgresql-client"),
        DebianName::Exact("libpq5"),
    ]),
};

/// Everything that the cache can hold.
pub const CATALOGUE: [Package; 9] = [
    TOMCAT_10,
    TOMCAT_11,
    LIBERTY,
    HTTPD,
    HTTPD_SOURCE,
    POSTGRESQL,
    POSTGRESQL_JDBC,
    HIKARICP,
    JOLOKIA,
];

/// The package of this name.
pub fn package_named(name: &str) -> Option<&'static Package> {
    CATALOGUE.iter().find(|package| package.name == name)
}

const fn jar(
    group: &'static str,
    artifact: &'static str,
    version: &'static str,
    sha256: &'static str,
) -> Artifact {
    Artifact {
        group,
        artifact,
        version,
        kind: "jar",
        classifier: None,
        sha256,
        place: Place::Kept,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_and_directories_are_told_apart() {
        let names: BTreeSet<&str> = CATALOGUE.iter().map(|package| package.name).collect();
        let places: BTreeSet<(&str, Option<&str>)> = CATALOGUE
            .iter()
            .map(|package| (package.stem, package.version()))
            .collect();
        assert_eq!(
            (names.len(), places.len()),
            (CATALOGUE.len(), CATALOGUE.len())
        );
        assert_eq!(package_named("tomcat-11"), Some(&TOMCAT_11));
        assert_eq!(package_named("tomcat"), None);
    }

    #[test]
    fn coordinates_and_file_names_are_written_as_maven_does() {
        let Source::Maven([agent]) = JOLOKIA.source else {
            unreachable!("it is one artifact");
        };
        assert_eq!(agent.file_name(), "jolokia-agent-jvm-2.5.1-javaagent.jar");
        assert_eq!(
            agent.coordinates(),
            "org.jolokia:jolokia-agent-jvm:2.5.1:jar:javaagent"
        );
    }
}
