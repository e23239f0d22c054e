//! A `CATALINA_BASE` for one run: what of a Tomcat's configuration is Weir's.
//!
//! Of the installation only what the JVM needs is read from its place. `conf` is a copy, in which
//! `server.xml`, `context.xml` and `logging.properties` are Weir's, or, for an installation that
//! brings its own configuration, the first HTTP connector is moved to Weir's port.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::TargetError;
use crate::start::{StartLevels, ThreadKind};
use crate::xml_attributes::{escaped, with_attributes};

use super::connector::{is_loaded, with_connector};
use super::live::SETTINGS;
use super::{Instance, TomcatOptions};

/// How the database calls the pool's connections.
const APPLICATION_NAME: &str = "tomcat";
/// Where the connectors stand, in a base.
const SERVER_XML: &str = "conf/server.xml";
/// The connector's attribute that gives every request a virtual thread of its own.
const VIRTUAL_THREADS: &str = "useVirtualThreads";
/// What goes to the console and with it to the log of the run.
const LOGGING: &str = "\
handlers = java.util.logging.ConsoleHandler
.level = INFO
java.util.logging.ConsoleHandler.formatter = org.apache.juli.OneLineFormatter
";

/// Makes the directory.
pub(super) fn make(options: &TomcatOptions) -> Result<(), TargetError> {
    let base = &options.base;
    if base.exists() {
        fs::remove_dir_all(base).map_err(TargetError::file(base))?;
    }
    for folder in ["lib", "logs", "temp", "webapps", "work"] {
        let path = base.join(folder);
        fs::create_dir_all(&path).map_err(TargetError::file(&path))?;
    }
    copy_tree(&options.home.join("conf"), &base.join("conf"))?;
    if options.own_configuration {
        move_connector(options)?;
    } else {
        write(&base.join(SERVER_XML), &server_xml(options))?;
        write(&base.join("conf/context.xml"), &context_xml(options))?;
        write(&base.join("conf/logging.properties"), LOGGING)?;
    }
    if let Some(pool) = &options.pool {
        for jar in &pool.libraries {
            copy_into(jar, &base.join("lib"))?;
        }
    }
    match &options.app {
        Some(app) => copy(app, &base.join("webapps/ROOT.war")),
        None if options.own_configuration => {
            copy_tree(&options.home.join("webapps"), &base.join("webapps"))
        }
        None => Ok(()),
    }
}

/// Makes the connector what these levels say, in a base that was made before.
pub(super) fn connect_on(options: &TomcatOptions, levels: &StartLevels) -> Result<(), TargetError> {
    let is_virtual = levels.threads == Some(ThreadKind::Virtual);
    let mut connectors = ServerXml::read(&options.base)?;
    if !is_virtual && !connectors.text.contains(VIRTUAL_THREADS) {
        return Ok(());
    }
    connectors.set(is_loaded, &[(VIRTUAL_THREADS, is_virtual.to_string())])?;
    connectors.write()
}

/// The file of a base that says where it listens.
struct ServerXml {
    path: PathBuf,
    text: String,
}

impl ServerXml {
    fn read(base: &Path) -> Result<Self, TargetError> {
        let path = base.join(SERVER_XML);
        let text = fs::read_to_string(&path).map_err(TargetError::file(&path))?;
        Ok(Self { path, text })
    }

    /// Sets attributes of the first element that is wanted.
    fn set(
        &mut self,
        is_wanted: impl Fn(&roxmltree::Node<'_, '_>) -> bool,
        attributes: &[(&str, String)],
    ) -> Result<(), TargetError> {
        self.edit(|text| with_attributes(text, is_wanted, attributes))
    }

    fn edit(
        &mut self,
        edit: impl FnOnce(&str) -> Result<String, String>,
    ) -> Result<(), TargetError> {
        self.text = edit(&self.text).map_err(|says| TargetError::Configuration {
            path: self.path.clone(),
            says,
        })?;
        Ok(())
    }

    fn write(&self) -> Result<(), TargetError> {
        write(&self.path, &self.text)
    }
}

/// Makes the directory of a second instance: the first one's configuration, libraries and
/// application, on another port.
pub(super) fn copy_for(second: &Instance, options: &TomcatOptions) -> Result<(), TargetError> {
    let (from, to) = (&options.base, &second.base);
    if to.exists() {
        fs::remove_dir_all(to).map_err(TargetError::file(to))?;
    }
    for folder in ["logs", "temp", "work"] {
        let path = to.join(folder);
        fs::create_dir_all(&path).map_err(TargetError::file(&path))?;
    }
    for folder in ["conf", "lib", "webapps"] {
        copy_tree(&from.join(folder), &to.join(folder))?;
    }
    let mut connectors = ServerXml::read(to)?;
    connectors.set(is_loaded, &[("port", second.port.to_string())])?;
    connectors.write()
}

/// One connector, one host, no access log, no shutdown port.
fn server_xml(options: &TomcatOptions) -> String {
    let settings: Vec<String> = connector_attributes(options)
        .into_iter()
        .map(|(name, value)| format!("{name}=\"{}\"", escaped(&value)))
        .collect();
    let settings = settings.join(" ");
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <Server port=\"-1\">\n  \
           <Service name=\"Catalina\">\n    \
             <Connector protocol=\"HTTP/1.1\" {settings}/>\n    \
             <Engine name=\"Catalina\" defaultHost=\"localhost\">\n      \
               <Host name=\"localhost\" appBase=\"webapps\" autoDeploy=\"false\"/>\n    \
             </Engine>\n  \
           </Service>\n\
         </Server>\n"
    )
}

fn context_xml(options: &TomcatOptions) -> String {
    let pool = options.pool.as_ref().map_or_else(String::new, |pool| {
        let limit = options.settings.get("pool.db").copied();
        let url = pool.database.jdbc_url(APPLICATION_NAME);
        pool.kind.resource(&url, pool.database.user(), limit)
    });
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Context>\n  \
         <WatchedResource>WEB-INF/web.xml</WatchedResource>\n  {pool}\n</Context>\n"
    )
}

/// Address, port and the settings that the connector has.
fn connector_attributes(options: &TomcatOptions) -> Vec<(&'static str, String)> {
    let place = [
        ("address", "127.0.0.1".to_owned()),
        ("port", options.port.to_string()),
    ];
    let settings = SETTINGS.iter().filter_map(|setting| {
        let value = options.settings.get(setting.name)?;
        Some((setting.attribute, value.to_string()))
    });
    place.into_iter().chain(settings).collect()
}

/// Puts the first HTTP connector of the user's `server.xml` (a copy) on Weir's port, and takes the
/// shutdown port away, which the user's own server may hold.
fn move_connector(options: &TomcatOptions) -> Result<(), TargetError> {
    let mut connectors = ServerXml::read(&options.base)?;
    connectors.edit(|text| with_connector(text, &connector_attributes(options)))?;
    connectors.set(
        |element| element.has_tag_name("Server"),
        &[("port", "-1".to_owned())],
    )?;
    connectors.write()
}

fn copy_tree(from: &Path, to: &Path) -> Result<(), TargetError> {
    fs::create_dir_all(to).map_err(TargetError::file(to))?;
    for entry in fs::read_dir(from).map_err(TargetError::file(from))? {
        let entry = entry.map_err(TargetError::file(from))?;
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy_tree(&path, &target)?;
        } else {
            copy(&path, &target)?;
        }
    }
    Ok(())
}

fn copy_into(path: &Path, folder: &Path) -> Result<(), TargetError> {
    match path.file_name() {
        Some(name) => copy(path, &folder.join(name)),
        None => Ok(()),
    }
}

fn copy(from: &Path, to: &Path) -> Result<(), TargetError> {
    fs::copy(from, to)
        .map(|_| ())
        .map_err(TargetError::file(from))
}

fn write(path: &Path, text: &str) -> Result<(), TargetError> {
    fs::write(path, text).map_err(TargetError::file(path))
}
