//! A Liberty's configuration: `server.xml` of a server that Weir makes, and the file with the
//! limits that is laid over any `server.xml`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::TargetError;
use crate::funnel::check_limit;
use crate::journal::Journal;
use crate::xml_attributes::{escaped, parse};
use crate::xml_elements::empty_element;

use super::LibertyPool;
use super::elements::{ENDPOINT, Elements, Manager};

/// Limits by stage.
pub(super) type Limits = BTreeMap<String, f64>;

/// The file with the limits, in `configDropins/overrides`.
pub(super) const OVERRIDES: &str = "weir-limits.xml";
/// How long a request waits for a connection at most. Longer than any published experiment holds
/// one; an error instead of a wait would hide the queue.
const WAIT_S_MAX: u32 = 180;

/// Makes a server with one endpoint and, where there are an application and a pool, those.
pub(super) fn make_server(
    user: &Path,
    name: &str,
    app: Option<&Path>,
    pool: Option<&LibertyPool>,
) -> Result<(), TargetError> {
    let server = user.join("servers").join(name);
    fs::create_dir_all(&server).map_err(TargetError::file(&server))?;
    let app = app.map(std::path::absolute).transpose();
    let app = app.map_err(TargetError::file(&server))?;
    let path = server.join("server.xml");
    fs::write(&path, server_xml(app.as_deref(), pool)).map_err(TargetError::file(&path))
}

fn server_xml(app: Option<&Path>, pool: Option<&LibertyPool>) -> String {
    let mut text = "<server>\n  \
        <featureManager>\n    \
          <feature>servlet-6.0</feature>\n    \
          <feature>jdbc-4.3</feature>\n    \
          <feature>jndi-1.0</feature>\n  \
        </featureManager>\n  \
        <config updateTrigger=\"polled\" monitorInterval=\"250ms\"/>\n  \
        <applicationMonitor updateTrigger=\"disabled\" dropinsEnabled=\"false\"/>\n"
        .to_owned();
    if let Some(pool) = pool {
        text.push_str(&data_source(pool));
    }
    if let Some(app) = app {
        let location = escaped(&app.to_string_lossy());
        let _ = writeln!(
            text,
            "  <webApplication location=\"{location}\" contextRoot=\"/\"/>"
        );
    }
    text.push_str("</server>\n");
    text
}

fn data_source(pool: &LibertyPool) -> String {
    let driver = escaped(&pool.driver.to_string_lossy());
    let database = &pool.database;
    let address = database.address();
    format!(
        "  <library id=\"driver\"><file name=\"{driver}\"/></library>\n  \
         <dataSource id=\"db\" jndiName=\"jdbc/db\" type=\"javax.sql.DataSource\">\n    \
           <jdbcDriver libraryRef=\"driver\" javax.sql.DataSource=\"org.postgresql.ds.PGSimpleDataSource\"/>\n    \
           <properties serverName=\"{}\" portNumber=\"{}\" databaseName=\"{}\" user=\"{}\"/>\n    \
           <connectionManager minPoolSize=\"0\" connectionTimeout=\"{WAIT_S_MAX}s\"/>\n  \
         </dataSource>\n",
        address.ip(),
        address.port(),
        database.database(),
        database.user(),
    )
}

/// The file with the limits of one server.
#[derive(Debug)]
pub(super) struct Overrides {
    path: PathBuf,
    port: u16,
    elements: Elements,
    current: Limits,
    /// For a server of the user's; what belongs to a run stays with the run.
    journal: Option<Journal>,
}

impl Overrides {
    /// For a server in this directory, whose default endpoint is to listen on this port.
    pub(super) fn of(
        server: &Path,
        port: u16,
        journal: Option<Journal>,
    ) -> Result<Self, TargetError> {
        let xml = server.join("server.xml");
        let text = fs::read_to_string(&xml).map_err(TargetError::file(&xml))?;
        let document = parse(&text).map_err(|says| TargetError::Configuration {
            path: xml.clone(),
            says,
        })?;
        let elements = Elements::of(&document);
        let mut directory = server.to_owned();
        for folder in ["configDropins", "overrides"] {
            directory.push(folder);
            match &journal {
                _ if directory.is_dir() => {}
                Some(journal) => journal.directory(&directory)?,
                None => fs::create_dir(&directory).map_err(TargetError::file(&directory))?,
            }
        }
        Ok(Self {
            path: directory.join(OVERRIDES),
            port,
            elements,
            current: Limits::new(),
            journal,
        })
    }

    /// The pools that the server has, as stages.
    pub(super) fn pools(&self) -> impl Iterator<Item = String> {
        self.elements.data_sources.keys().cloned()
    }

    /// What it sets now.
    pub(super) fn current(&self) -> &Limits {
        &self.current
    }

    /// An error when one of these cannot be set.
    pub(super) fn check(&self, limits: &Limits) -> Result<(), TargetError> {
        let known: Vec<String> = ["connections", "threads"]
            .map(str::to_owned)
            .into_iter()
            .chain(self.pools())
            .collect();
        for (stage, limit) in limits {
            if !known.contains(stage) {
                return Err(TargetError::NoSuchStage {
                    stage: stage.clone(),
                    known: known.join(", "),
                });
            }
            check_limit(stage, *limit)?;
        }
        Ok(())
    }

    /// Writes the limits, for the server to read at its start or when it looks next.
    pub(super) fn write(&mut self, limits: &Limits) -> Result<(), TargetError> {
        let text = self.text(limits);
        match &self.journal {
            Some(journal) => journal.write(&self.path, text.as_bytes())?,
            None => fs::write(&self.path, text).map_err(TargetError::file(&self.path))?,
        }
        self.current.clone_from(limits);
        Ok(())
    }

    fn text(&self, limits: &Limits) -> String {
        let of = |name: &'static str, stage: &str| Some((name, limits.get(stage)?.to_string()));
        let mut lines =
            vec!["<featureManager><feature>monitor-1.0</feature></featureManager>".to_owned()];
        let connections = of("maxOpenConnections", "connections");
        let options = |id: Option<&String>| {
            let id = id.map(|id| ("id", id.clone()));
            let attributes: Vec<_> = id.into_iter().chain(connections.clone()).collect();
            empty_element("tcpOptions", &attributes)
        };
        let referred = self.elements.tcp_options.as_ref();
        let inside = (connections.is_some() && referred.is_none()).then(|| options(None));
        lines.push(format!(
            "<httpEndpoint id=\"{ENDPOINT}\" host=\"127.0.0.1\" httpPort=\"{}\" httpsPort=\"-1\">{}</httpEndpoint>",
            self.port,
            inside.unwrap_or_default()
        ));
        if connections.is_some() && referred.is_some() {
            lines.push(options(referred));
        }
        let executor = ["coreThreads", "maxThreads"].map(|name| of(name, "threads"));
        let executor: Vec<_> = executor.into_iter().flatten().collect();
        if !executor.is_empty() {
            lines.push(empty_element("executor", &executor));
        }
        for (stage, source) in &self.elements.data_sources {
            let Some(limit) = of("maxPoolSize", stage) else {
                continue;
            };
            let (id, is_inside) = match &source.manager {
                Manager::Inside { id } => (id.as_ref(), true),
                Manager::Referred(id) => (Some(id), false),
            };
            let id = id.map(|id| ("id", id.clone()));
            let attributes: Vec<_> = id.into_iter().chain([limit]).collect();
            let manager = empty_element("connectionManager", &attributes);
            lines.push(if is_inside {
                let source = escaped(&source.id);
                format!("<dataSource id=\"{source}\">{manager}</dataSource>")
            } else {
                manager
            });
        }
        let lines = lines.join("\n  ");
        format!(
            "<!-- Written by Weir for a run, and removed after it. -->\n<server>\n  {lines}\n</server>\n"
        )
    }
}

/// The directory of the files that Liberty lays over a server's `server.xml`.
pub(super) fn overrides_of(server: &Path) -> PathBuf {
    server.join("configDropins").join("overrides")
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    const SERVER: &str = "<server><!-- <dataSource id='no' jndiName='jdbc/no'/> -->\
        <dataSource id=\"orders\" jndiName=\"jdbc/shop/orders\"/><dataSource jndiName=\"jdbc/anonymous\"/></server>";

    fn place() -> (tempfile::TempDir, Journal) {
        let place = tempfile::tempdir().unwrap();
        fs::create_dir(place.path().join("server")).unwrap();
        fs::write(place.path().join("server/server.xml"), SERVER).unwrap();
        let journal = Journal::new(place.path().join("state"));
        (place, journal)
    }

    #[test]
    fn limits_are_laid_over_and_nothing_stays() {
        let (place, journal) = place();
        let server = place.path().join("server");
        let mut overrides = Overrides::of(&server, 9081, Some(journal.clone())).unwrap();
        let limits = [
            ("threads", 40.0),
            ("connections", 20_000.0),
            ("pool.orders", 10.0),
        ];
        let limits: Limits = limits.map(|(name, limit)| (name.to_owned(), limit)).into();
        overrides.check(&limits).unwrap();
        overrides.write(&limits).unwrap();
        let text = fs::read_to_string(server.join("configDropins/overrides/weir-limits.xml"));
        let text = text.unwrap();
        for part in [
            "<executor coreThreads=\"40\" maxThreads=\"40\"/>",
            "httpPort=\"9081\" httpsPort=\"-1\"><tcpOptions maxOpenConnections=\"20000\"/></httpEndpoint>",
            "<dataSource id=\"orders\"><connectionManager maxPoolSize=\"10\"/></dataSource>",
        ] {
            assert!(text.contains(part), "{text}");
        }
        roxmltree::Document::parse(&text).unwrap();
        assert_eq!(journal.put_back().failed, Vec::<String>::new());
        let left: Vec<_> = fs::read_dir(&server).unwrap().flatten().collect();
        assert_eq!(left.len(), 1, "{left:?}");
        assert_eq!(
            fs::read_to_string(server.join("server.xml")).unwrap(),
            SERVER
        );
    }

    #[test]
    fn what_is_not_set_is_left_to_the_server() {
        let (place, journal) = place();
        let overrides = Overrides::of(&place.path().join("server"), 9081, Some(journal)).unwrap();
        let text = overrides.text(&Limits::new());
        assert!(
            !text.contains("executor") && !text.contains("tcpOptions"),
            "{text}"
        );
        let says = overrides
            .check(&[("pool.anonymous".to_owned(), 5.0)].into())
            .unwrap_err()
            .to_string();
        assert!(says.contains("connections, threads, pool.orders"), "{says}");
        assert!(
            overrides
                .check(&[("threads".to_owned(), 0.5)].into())
                .is_err()
        );
    }

    #[test]
    fn what_a_server_refers_to_is_laid_over_by_its_id() {
        let (place, journal) = place();
        let server = place.path().join("server");
        let text = "<server><httpEndpoint id='defaultHttpEndpoint' tcpOptionsRef='web'/>\
            <dataSource id='a' jndiName='jdbc/a' connectionManagerRef='few'/>\
            <dataSource id='b' jndiName='jdbc/b'><connectionManager id='own'/></dataSource></server>";
        fs::write(server.join("server.xml"), text).unwrap();
        let overrides = Overrides::of(&server, 9081, Some(journal)).unwrap();
        let limits = [("connections", 9.0), ("pool.a", 3.0), ("pool.b", 4.0)];
        let limits: Limits = limits.map(|(name, limit)| (name.to_owned(), limit)).into();
        let text = overrides.text(&limits);
        for part in [
            "httpsPort=\"-1\"></httpEndpoint>\n  <tcpOptions id=\"web\" maxOpenConnections=\"9\"/>\n",
            "\n  <connectionManager id=\"few\" maxPoolSize=\"3\"/>\n",
            "<dataSource id=\"b\"><connectionManager id=\"own\" maxPoolSize=\"4\"/></dataSource>",
        ] {
            assert!(text.contains(part), "{text}");
        }
    }

    #[test]
    fn servers_are_well_formed() {
        let text = server_xml(Some(Path::new("/a & b/x.war")), None);
        let document = roxmltree::Document::parse(&text).unwrap();
        let app = document
            .descendants()
            .find(|element| element.has_tag_name("webApplication"));
        assert_eq!(app.unwrap().attribute("location"), Some("/a & b/x.war"));
    }
}
