//! An Apache Tomcat: its connector in `conf/server.xml`, its pools where they are declared.
//!
//! Defaults are those of the server's own reference ("The HTTP Connector", "The Executor").

use std::path::{Path, PathBuf};

use roxmltree::{Document, Node};

use super::found::{AgentWay, Found, FoundKind, FoundLimit, FoundValue, SetWay};
use super::java_command::JavaCommand;
use super::resources;
use super::xml_place::{Placed, attribute, place};
use crate::machine::Machine;
use crate::process::ProcessFacts;
use crate::tomcat::is_http_connector;
use crate::xml_attributes::parse;

const MAIN: &str = "org.apache.catalina.startup.Bootstrap";
/// What Java's class of an executor with virtual threads is called.
const VIRTUAL: &str = "VirtualThread";

/// What stands before the place where a limit would be written that is written nowhere.
pub(super) const DEFAULT_AT: &str = "default; ";

/// A limit of the connector: as studies name it, the attribute, the default.
const LIMITS: [(&str, &str, u64); 6] = [
    ("backlog", "acceptCount", 100),
    ("connections", "maxConnections", 8192),
    ("threads", "maxThreads", 200),
    ("native.minSpareThreads", "minSpareThreads", 10),
    ("native.connectionTimeout", "connectionTimeout", 60_000),
    ("native.maxKeepAliveRequests", "maxKeepAliveRequests", 100),
];

pub(super) fn recognise(
    facts: &ProcessFacts,
    java: &JavaCommand,
    port: u16,
    machine: &Machine,
) -> Option<Found> {
    if !java.runs(MAIN) {
        return None;
    }
    let folder = |property: &str, variable: &str| {
        let named = java.property(property).map(str::to_owned);
        let named = named.or_else(|| facts.environment.get(variable).cloned());
        named.map(|path| facts.absolute(path))
    };
    let home = folder("catalina.home", "CATALINA_HOME").unwrap_or_else(|| facts.directory.clone());
    let base = folder("catalina.base", "CATALINA_BASE").unwrap_or_else(|| home.clone());
    let name = version(&home, machine).unwrap_or_else(|| "Apache Tomcat".to_owned());
    let mut found = Found {
        pid: facts.pid,
        kind: FoundKind::Tomcat,
        name,
        limits: Vec::new(),
        metrics: None,
        agent: AgentWay::Loads,
        notes: Vec::new(),
    };
    let file = base.join("conf/server.xml");
    let read = machine
        .text(&file)
        .ok_or_else(|| format!("{} cannot be read", file.display()))
        .and_then(|text| {
            let document = parse(&text).map_err(|says| format!("{}: {says}", file.display()))?;
            let server = ServerXml {
                document: &document,
                file: &file,
                java,
                facts,
            };
            server.limits(port, &mut found)
        });
    if let Err(note) = read {
        found.notes.push(note);
    }
    found.limits.extend(resources::pools(&base, machine));
    Some(found)
}

/// `Apache Tomcat/11.0.24`, as it calls itself.
fn version(home: &Path, machine: &Machine) -> Option<String> {
    let jar = home.join("lib/catalina.jar");
    let text = machine.jar_text(&jar, "org/apache/catalina/util/ServerInfo.properties")?;
    let mut lines = text.lines();
    let info = lines.find_map(|line| line.strip_prefix("server.info="))?;
    Some(info.trim().to_owned())
}

struct ServerXml<'a> {
    document: &'a Document<'a>,
    file: &'a PathBuf,
    java: &'a JavaCommand,
    facts: &'a ProcessFacts,
}

impl<'a> ServerXml<'a> {
    fn limits(&self, port: u16, found: &mut Found) -> Result<(), String> {
        let connector = self.connector(port).ok_or_else(|| {
            format!(
                "{} has no connector for port {port}: its limits are not known",
                self.file.display()
            )
        })?;
        let executor = connector.attribute("executor");
        let executor = executor.and_then(|name| self.executor(name));
        let where_default = format!("{DEFAULT_AT}{}", place(&connector, self.file));
        for (stage, attribute, default) in LIMITS {
            let of_executor = executor.filter(|_| is_of_threads(stage));
            let placed = self.attribute(&of_executor.unwrap_or(connector), attribute);
            let origin = match (&placed, of_executor) {
                (Some(placed), _) => placed.origin.clone(),
                (None, Some(executor)) => format!("{DEFAULT_AT}{}", place(&executor, self.file)),
                (None, None) => where_default.clone(),
            };
            let value = match (&placed, of_executor) {
                _ if of_executor.is_some_and(is_virtual) => FoundValue::Unlimited,
                (Some(placed), _) => FoundValue::of(&placed.value),
                // An executor keeps more threads ready than a connector does.
                (None, Some(_)) if attribute == "minSpareThreads" => FoundValue::Number(25),
                (None, _) => FoundValue::Number(default),
            };
            found.limits.push(FoundLimit {
                stage: stage.to_owned(),
                native: attribute.to_owned(),
                set: set_way(stage, of_executor.is_some(), &origin),
                value,
                origin,
            });
        }
        if let Some(executor) = executor {
            let name = executor.attribute("name").unwrap_or_default();
            found.notes.push(if is_virtual(executor) {
                format!(
                    "the connector works with virtual threads (executor `{name}`): there is no limit of threads; \
                     maxConnections and the pools bound the work"
                )
            } else {
                format!("the connector's threads are those of the executor `{name}`")
            });
        }
        Ok(())
    }

    /// The connector of a port; the only one there is, when its port is written in a way that is
    /// not understood.
    fn connector(&self, port: u16) -> Option<Node<'a, 'a>> {
        let elements = self.document.descendants().filter(Node::is_element);
        let connectors: Vec<_> = elements.filter(is_http_connector).collect();
        let port_of = |connector: &Node<'_, '_>| {
            let placed = self.attribute(connector, "port")?;
            placed.value.trim().parse::<u16>().ok()
        };
        let on_port = connectors
            .iter()
            .find(|connector| port_of(connector) == Some(port));
        match (on_port, &connectors[..]) {
            (Some(found), _) => Some(*found),
            (None, [only]) if port_of(only).is_none_or(|port| port == 0) => Some(*only),
            _ => None,
        }
    }

    fn executor(&self, name: &str) -> Option<Node<'a, 'a>> {
        let mut elements = self.document.descendants();
        elements.find(|element| {
            element.has_tag_name("Executor") && element.attribute("name") == Some(name)
        })
    }

    /// An attribute with what stands for its `${…}`.
    fn attribute(&self, element: &Node<'_, '_>, name: &str) -> Option<Placed> {
        let placed = attribute(element, name, self.file)?;
        Some(Placed {
            value: self.filled(&placed.value),
            ..placed
        })
    }

    /// Tomcat fills in system properties, and with a property source of its own the environment.
    fn filled(&self, text: &str) -> String {
        let Some((before, rest)) = text.split_once("${") else {
            return text.to_owned();
        };
        let Some((inner, after)) = rest.split_once('}') else {
            return text.to_owned();
        };
        let (name, default) = match inner.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inner, None),
        };
        let value = self.java.property(name);
        let value = value.or_else(|| self.facts.environment.get(name).map(String::as_str));
        let value = value.or(default);
        // What nobody knows stays as it is written.
        let value = value.map_or_else(|| format!("${{{inner}}}"), str::to_owned);
        format!("{before}{value}{}", self.filled(after))
    }
}

fn is_of_threads(stage: &str) -> bool {
    matches!(stage, "threads" | "native.minSpareThreads")
}

fn is_virtual(executor: Node<'_, '_>) -> bool {
    executor
        .attribute("className")
        .is_some_and(|class| class.contains(VIRTUAL))
}

/// Where a limit is to be written: of a default, where it would stand.
pub(super) fn at(origin: &str) -> &str {
    origin.strip_prefix(DEFAULT_AT).unwrap_or(origin)
}

fn set_way(stage: &str, of_executor: bool, origin: &str) -> SetWay {
    let origin = at(origin);
    match stage {
        "backlog" => SetWay::Not(format!(
            "acceptCount is used when the port is opened: change it at {origin} and restart Tomcat"
        )),
        _ if of_executor => SetWay::Not(format!(
            "Weir sets the threads of a connector, not those of an executor: change it at {origin} and restart Tomcat"
        )),
        _ => SetWay::Jmx,
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use std::fs;

    use super::*;
    use crate::recognise::java_command::tests::process;

    // The structure of the server.xml that Tomcat 11 comes with, and what its manual shows for
    // executors.
    const SERVER: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<Server port="8005" shutdown="SHUTDOWN">
  <Service name="Catalina">
    <Executor name="shared" namePrefix="exec-" maxThreads="150" minSpareThreads="4"/>
    <Executor name="light" className="org.apache.catalina.core.StandardVirtualThreadExecutor"/>
    <!-- <Connector port="8080" maxThreads="1"/> -->
    <Connector port="8080" protocol="HTTP/1.1"
               connectionTimeout="20000"
               maxThreads="${threads:-75}" redirectPort="8443"/>
    <Connector port="${ajp}" protocol="AJP/1.3"/>
    <Connector port="8081" executor="shared" acceptCount="7"/>
    <Connector port="8082" executor="light"/>
  </Service>
</Server>
"#;

    fn found(line: &str, port: u16) -> Found {
        let tree = tempfile::tempdir().unwrap();
        let conf = tree.path().join("srv/tc/conf");
        fs::create_dir_all(&conf).unwrap();
        fs::write(conf.join("server.xml"), SERVER).unwrap();
        let facts = process(line);
        let java = JavaCommand::of(&facts).unwrap();
        recognise(&facts, &java, port, &Machine::of_tree(tree.path())).unwrap()
    }

    fn limit<'a>(found: &'a Found, stage: &str) -> &'a FoundLimit {
        let mut limits = found.limits.iter();
        limits.find(|limit| limit.stage == stage).unwrap()
    }

    const LINE: &str = "/usr/bin/java -Dcatalina.home=/opt/tomcat -Dcatalina.base=tc -cp bootstrap.jar \
                        org.apache.catalina.startup.Bootstrap start";

    #[test]
    fn the_connector_of_the_port_tells_its_limits_and_their_lines() {
        let found = found(LINE, 8080);
        assert_eq!(found.kind, FoundKind::Tomcat);
        let told: Vec<(&str, String, &str)> = found
            .limits
            .iter()
            .map(|limit| {
                let origin = limit.origin.as_str();
                (limit.stage.as_str(), limit.value.to_string(), origin)
            })
            .collect();
        let default = "default; /srv/tc/conf/server.xml:7";
        assert_eq!(
            told,
            [
                ("backlog", "100".to_owned(), default),
                ("connections", "8192".to_owned(), default),
                ("threads", "75".to_owned(), "/srv/tc/conf/server.xml:9"),
                ("native.minSpareThreads", "10".to_owned(), default),
                (
                    "native.connectionTimeout",
                    "20000".to_owned(),
                    "/srv/tc/conf/server.xml:8"
                ),
                ("native.maxKeepAliveRequests", "100".to_owned(), default),
            ]
        );
        assert_eq!(limit(&found, "threads").set, SetWay::Jmx);
        assert!(
            matches!(&limit(&found, "backlog").set, SetWay::Not(why) if why.contains("server.xml:7"))
        );
        assert_eq!(found.notes, Vec::<String>::new());
    }

    #[test]
    fn values_come_from_properties_where_the_file_says_so() {
        let line = LINE.replace("-cp", "-Dthreads=33 -cp");
        assert_eq!(
            limit(&found(&line, 8080), "threads").value,
            FoundValue::Number(33)
        );
    }

    #[test]
    fn threads_of_an_executor_are_the_executors() {
        let shared = found(LINE, 8081);
        let threads = limit(&shared, "threads");
        assert_eq!(threads.value, FoundValue::Number(150));
        assert!(matches!(&threads.set, SetWay::Not(why) if why.contains("server.xml:4")));
        assert_eq!(
            limit(&shared, "native.minSpareThreads").value,
            FoundValue::Number(4)
        );
        assert_eq!(limit(&shared, "backlog").value, FoundValue::Number(7));
        let virtual_threads = found(LINE, 8082);
        assert_eq!(
            limit(&virtual_threads, "threads").value,
            FoundValue::Unlimited
        );
        assert!(virtual_threads.notes[0].contains("virtual"));
    }

    #[test]
    fn what_cannot_be_read_is_said() {
        let nothing = found(LINE, 9999);
        assert_eq!(nothing.limits, []);
        assert!(nothing.notes[0].contains("no connector for port 9999"));
        let elsewhere = found(&LINE.replace("=tc", "=other"), 8080);
        assert!(elsewhere.notes[0].contains("/srv/other/conf/server.xml cannot be read"));
    }

    #[test]
    fn unknown_placeholders_stay_as_written() {
        let facts = process(LINE);
        let java = JavaCommand::of(&facts).unwrap();
        let document = parse("<a/>").unwrap();
        let file = PathBuf::from("x");
        let xml = ServerXml {
            document: &document,
            file: &file,
            java: &java,
            facts: &facts,
        };
        assert_eq!(xml.filled("a${b}c${d:-e}${"), "a${b}ce${");
    }
}
