//! A Liberty's configuration: `server.xml` of a server that Weir makes, and the file with the limits
//! that is laid over any `server.xml`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::TargetError;
use crate::funnel::check_limit;
use crate::journal::Journal;
use crate::xml_attributes::escaped;

use super::LibertyPool;

/// Limits by stage.
pub(super) type Limits = BTreeMap<String, f64>;

/// The file with the limits, in `configDropins/overrides`.
const OVERRIDES: &str = "weir-limits.xml";
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
    /// The ids of the server's data sources, by the stages that their pools are.
    data_sources: BTreeMap<String, String>,
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
        let data_sources = data_sources(&text).map_err(|says| TargetError::Configuration {
            path: xml.clone(),
            says,
        })?;
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
            data_sources,
            current: Limits::new(),
            journal,
        })
    }

    /// The pools that the server has, as stages.
    pub(super) fn pools(&self) -> impl Iterator<Item = String> {
        self.data_sources.keys().cloned()
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
        let of = |stage: &str| limits.get(stage).copied();
        let mut text = format!(
            "<!-- Written by Weir for a run, and removed after it. -->\n<server>\n  \
             <featureManager><feature>monitor-1.0</feature></featureManager>\n  \
             <httpEndpoint id=\"defaultHttpEndpoint\" host=\"127.0.0.1\" httpPort=\"{}\" httpsPort=\"-1\">",
            self.port
        );
        if let Some(limit) = of("connections") {
            let _ = write!(text, "<tcpOptions maxOpenConnections=\"{limit}\"/>");
        }
        text.push_str("</httpEndpoint>\n");
        if let Some(limit) = of("threads") {
            let _ = writeln!(
                text,
                "  <executor coreThreads=\"{limit}\" maxThreads=\"{limit}\"/>"
            );
        }
        for (stage, id) in &self.data_sources {
            if let Some(limit) = of(stage) {
                let _ = writeln!(
                    text,
                    "  <dataSource id=\"{}\"><connectionManager maxPoolSize=\"{limit}\"/></dataSource>",
                    escaped(id)
                );
            }
        }
        text.push_str("</server>\n");
        text
    }
}

/// The data sources of a `server.xml` that have an id, by the last part of their JNDI name.
fn data_sources(text: &str) -> Result<BTreeMap<String, String>, String> {
    let options = roxmltree::ParsingOptions {
        allow_dtd: true,
        ..roxmltree::ParsingOptions::default()
    };
    let document = roxmltree::Document::parse_with_options(text, options)
        .map_err(|error| error.to_string())?;
    let elements = document.root_element().children();
    Ok(elements
        .filter(|element| element.has_tag_name("dataSource"))
        .filter_map(|element| {
            let jndi = element.attribute("jndiName")?;
            let name = jndi.rsplit('/').next()?;
            Some((format!("pool.{name}"), element.attribute("id")?.to_owned()))
        })
        .collect())
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
    fn servers_are_well_formed() {
        let text = server_xml(Some(Path::new("/a & b/x.war")), None);
        let document = roxmltree::Document::parse(&text).unwrap();
        let app = document
            .descendants()
            .find(|element| element.has_tag_name("webApplication"));
        assert_eq!(app.unwrap().attribute("location"), Some("/a & b/x.war"));
    }
}
