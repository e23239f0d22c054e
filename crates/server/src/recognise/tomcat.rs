//! An Apache Tomcat: its connector in `conf/server.xml`, its pools where they are declared.
//!
//! Defaults are those of the server's own reference ("The HTTP Connector", "The Executor").

mod properties;

use std::path::{Path, PathBuf};

use roxmltree::{Document, Node};

use super::found::{
    AgentWay, Found, FoundKind, FoundLimit, FoundValue, MIN_SPARE, OccupancyWay, SetWay,
    keep_spare_within_threads,
};
use super::java_command::JavaCommand;
use super::resources;
use super::xml_place::{Placed, place, placed};
use crate::machine::Machine;
use crate::process::ProcessFacts;
use crate::tomcat::{executor_of, is_http_connector};
use crate::xml_attributes::{parse, spelled};
pub(super) use properties::TomcatProperties;

const MAIN: &str = "org.apache.catalina.startup.Bootstrap";
/// What Java's class of an executor with virtual threads is called.
const VIRTUAL: &str = "VirtualThread";
/// The connector's attribute that gives every request a virtual thread of its own.
const USE_VIRTUAL: &str = "useVirtualThreads";
/// Attributes for which −1 means that there is no limit.
const MAY_BE_WITHOUT: [&str; 3] = [
    "maxConnections",
    "connectionTimeout",
    "maxKeepAliveRequests",
];

/// What stands before the place where a limit would be written that is written nowhere.
pub(super) const DEFAULT_AT: &str = "default; ";

/// A limit of the connector: as studies name it, the attribute, the default.
const LIMITS: [(&str, &str, u64); 6] = [
    ("backlog", "acceptCount", 100),
    ("connections", "maxConnections", 8192),
    ("threads", "maxThreads", 200),
    (MIN_SPARE, "minSpareThreads", 10),
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
        occupancy: OccupancyWay::Serving,
        agent: AgentWay::Loads,
        notes: Vec::new(),
    };
    let properties = TomcatProperties::of(&base, java, facts, machine);
    let file = base.join("conf/server.xml");
    let read = machine
        .text(&file)
        .ok_or_else(|| format!("{} cannot be read", file.display()))
        .and_then(|text| {
            let document = parse(&text).map_err(|says| format!("{}: {says}", file.display()))?;
            let server = ServerXml {
                document: &document,
                file: &file,
                properties: &properties,
            };
            server.limits(port, &mut found)
        });
    if let Err(note) = read {
        found.notes.push(note);
    }
    found
        .limits
        .extend(resources::pools(&base, &properties, machine));
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
    properties: &'a TomcatProperties,
}

impl<'a> ServerXml<'a> {
    fn limits(&self, port: u16, found: &mut Found) -> Result<(), String> {
        let connector = self.connector(port)?;
        let value = |element: &Node<'_, '_>, name: &str| {
            self.attribute(element, name).map(|placed| placed.value)
        };
        let named = value(&connector, "executor");
        let executor = executor_of(&connector, value);
        let virtual_threads = match executor {
            Some(executor) => is_virtual(executor),
            None => self.uses_virtual_threads(&connector, &found.name),
        };
        for (stage, attribute, default) in LIMITS {
            let of_executor = executor.filter(|_| is_of_threads(stage));
            let element = of_executor.unwrap_or(connector);
            let placed = self.limit(&element, attribute);
            let is_unused = virtual_threads && is_of_threads(stage);
            let origin = placed.as_ref().map_or_else(
                || format!("{DEFAULT_AT}{}", place(&element, self.file)),
                |placed| placed.origin.clone(),
            );
            let value = match &placed {
                _ if is_unused => FoundValue::Unlimited,
                Some(placed) if placed.value == "-1" && MAY_BE_WITHOUT.contains(&attribute) => {
                    FoundValue::Unlimited
                }
                // It passes over such a queue.
                Some(placed) if stage == "backlog" && matches!(&*placed.value, "0" | "-1") => {
                    FoundValue::Number(default)
                }
                Some(placed) => number(&placed.value),
                // An executor keeps more threads ready than a connector does.
                None if of_executor.is_some() && attribute == "minSpareThreads" => {
                    FoundValue::Number(25)
                }
                None => FoundValue::Number(default),
            };
            let set = if is_unused {
                SetWay::Not(format!("{attribute} has no effect on virtual threads"))
            } else {
                set_way(stage, &origin)
            };
            found.limits.push(FoundLimit {
                stage: stage.to_owned(),
                native: attribute.to_owned(),
                set,
                value,
                origin,
            });
        }
        if executor.is_none() && !virtual_threads {
            keep_spare_within_threads(&mut found.limits);
        }
        let name = named.unwrap_or_default();
        if virtual_threads {
            let by = match executor {
                Some(_) => format!("executor `{name}`"),
                None => format!("{USE_VIRTUAL}=\"true\""),
            };
            found.notes.push(format!(
                "the connector works with virtual threads ({by}): there is no limit of threads; maxConnections and the \
                 pools bound the work"
            ));
        } else if executor.is_some() {
            found.notes.push(format!(
                "the connector's threads are those of the executor `{name}`"
            ));
        } else if !name.is_empty() {
            found.notes.push(format!(
                "the connector names the executor `{name}`, which its service does not have before it: Tomcat takes \
                 threads of the connector's own"
            ));
        }
        Ok(())
    }

    /// The connector of a port; the only one there is, when its port is written in a way that is
    /// not understood.
    fn connector(&self, port: u16) -> Result<Node<'a, 'a>, String> {
        let elements = self.document.descendants().filter(Node::is_element);
        let connectors: Vec<_> = elements.filter(is_http_connector).collect();
        let offset = self.attribute(&self.document.root_element(), "portOffset");
        let offset = offset.map_or(Some(0), |placed| placed.value.trim().parse::<u16>().ok());
        let port_of = |connector: &Node<'_, '_>| {
            let placed = self.attribute(connector, "port")?;
            let port = placed.value.trim().parse::<u16>().ok()?;
            // 0 stands for any free one.
            if port == 0 {
                Some(0)
            } else {
                port.checked_add(offset?)
            }
        };
        let on_port = connectors
            .iter()
            .filter(|connector| port_of(connector) == Some(port));
        let file = self.file.display();
        match (&on_port.collect::<Vec<_>>()[..], &connectors[..]) {
            ([found], _) => Ok(**found),
            ([_, _, ..], _) => Err(format!(
                "{file} has several connectors for port {port}, by their addresses: its limits are not known"
            )),
            ([], [only]) if port_of(only).is_none_or(|port| port == 0) => Ok(*only),
            ([], _) => Err(format!(
                "{file} has no connector for port {port}: its limits are not known"
            )),
        }
    }

    fn uses_virtual_threads(&self, connector: &Node<'_, '_>, version: &str) -> bool {
        let wanted = self.attribute(connector, USE_VIRTUAL);
        wanted.is_some_and(|placed| placed.value.trim() == "true")
            && numbers(version).is_none_or(has_virtual_threads)
    }

    /// An attribute with what stands for its `${…}`.
    fn attribute(&self, element: &Node<'_, '_>, name: &str) -> Option<Placed> {
        let placed = placed(spelled(element, name)?, element, self.file);
        Some(self.filled(placed))
    }

    /// The attribute that a limit is written in.
    fn limit(&self, element: &Node<'_, '_>, name: &str) -> Option<Placed> {
        let names: &[&str] = match name {
            "connectionTimeout" => &["connectionTimeout", "socket.soTimeout"],
            _ => &[name],
        };
        let attributes = names.iter().filter_map(|name| spelled(element, name));
        let last = attributes.max_by_key(|attribute| attribute.range().start)?;
        Some(self.filled(placed(last, element, self.file)))
    }

    fn filled(&self, placed: Placed) -> Placed {
        Placed {
            value: self.properties.filled(&placed.value),
            ..placed
        }
    }
}

/// A number as Java reads it, without spaces around it; what is none is not set.
fn number(text: &str) -> FoundValue {
    match text.parse() {
        Ok(number) => FoundValue::Number(number),
        Err(_) => FoundValue::Written(text.to_owned()),
    }
}

/// Whether a version has connectors with virtual threads ("The HTTP Connector" of each line); older
/// ones pass over the attribute.
fn has_virtual_threads(version: [u64; 3]) -> bool {
    match version {
        [9, 0, patch] => patch >= 76,
        [10, 1, patch] => patch >= 10,
        [major, ..] => major >= 11,
    }
}

/// The numbers of `Apache Tomcat/9.0.76`.
fn numbers(name: &str) -> Option<[u64; 3]> {
    let (_, version) = name.split_once('/')?;
    let mut parts = version.split(|c: char| !c.is_ascii_digit()).map(str::parse);
    let mut next = || parts.next()?.ok();
    Some([next()?, next()?, next()?])
}

fn is_of_threads(stage: &str) -> bool {
    matches!(stage, "threads" | MIN_SPARE)
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

fn set_way(stage: &str, origin: &str) -> SetWay {
    let origin = at(origin);
    match stage {
        "backlog" => SetWay::Not(format!(
            "acceptCount is used when the port is opened: change it at {origin} and restart Tomcat"
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
    <Connector port="8083" useVirtualThreads="true" maxThreads="200" maxConnections="-1"/>
    <Connector port="8084" executor="late" maxThreads="9"/>
    <Executor name="late" maxThreads="11"/>
    <Connector port="8091" maxThreads="9" MaxThreads="7" connectionTimeout="5"
               socket.soTimeout="6" acceptCount="0" maxKeepAliveRequests=" 90 "/>
    <Connector port="8092" maxThreads="lots" minSpareThreads="4" soTimeout="6"/>
    <Connector port="8085" address="127.0.0.1"/>
    <Connector port="8085" address="127.0.0.2"/>
  </Service>
  <Service name="Other">
    <Executor name="${own}" maxThreads="22"/>
    <Connector port="8086" executor="shared"/>
    <Connector port="8087" executor="late" maxThreads="12"/>
  </Service>
</Server>
"#;
    // A file that Tomcat makes system properties of.
    const PROPERTIES: &str = "own=shared\nthreads.of.file=44\n";

    fn found(line: &str, port: u16) -> Found {
        let tree = tempfile::tempdir().unwrap();
        let conf = tree.path().join("srv/tc/conf");
        fs::create_dir_all(&conf).unwrap();
        let server = if line.contains("offset") {
            SERVER.replace("<Server port", "<Server portOffset=\"${offset}\" port")
        } else {
            SERVER.to_owned()
        };
        fs::write(conf.join("server.xml"), server).unwrap();
        fs::write(conf.join("catalina.properties"), PROPERTIES).unwrap();
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

    /// Tomcat 10.1 and 11 said so over JMX.
    #[test]
    fn odd_spellings_and_values_are_read_as_tomcat_reads_them() {
        let values = |port| -> Vec<String> {
            let found = found(LINE, port);
            let limits = found.limits.iter();
            limits.map(|limit| limit.value.to_string()).collect()
        };
        assert_eq!(values(8091), ["100", "8192", "7", "7", "6", " 90 "]);
        let known = ["100", "8192", "lots", "not known", "60000", "100"];
        assert_eq!(values(8092), known);
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
        assert_eq!(threads.set, SetWay::Jmx);
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
    fn an_executor_is_its_services_and_stands_before_the_connector() {
        assert_eq!(
            limit(&found(LINE, 8086), "threads").value,
            FoundValue::Number(22)
        );
        for (port, threads) in [(8084, 9), (8087, 12)] {
            let found = found(LINE, port);
            assert_eq!(limit(&found, "threads").value, FoundValue::Number(threads));
            assert!(
                found.notes[0].contains("does not have before it"),
                "{:?}",
                found.notes
            );
        }
    }

    #[test]
    fn a_connector_with_virtual_threads_has_no_limit_of_them() {
        let found = found(LINE, 8083);
        let threads = limit(&found, "threads");
        assert_eq!(threads.value, FoundValue::Unlimited);
        assert!(matches!(&threads.set, SetWay::Not(why) if why.contains("no effect")));
        assert_eq!(
            limit(&found, "native.minSpareThreads").value,
            FoundValue::Unlimited
        );
        assert_eq!(
            limit(&found, "connections").value,
            FoundValue::Unlimited,
            "-1"
        );
        assert!(
            found.notes[0].contains("useVirtualThreads"),
            "{:?}",
            found.notes
        );
        let document = parse("<Connector useVirtualThreads=\"true\"/>").unwrap();
        let file = PathBuf::from("x");
        let server = ServerXml {
            document: &document,
            file: &file,
            properties: &TomcatProperties::default(),
        };
        for (version, has) in [
            ("Apache Tomcat/9.0.75", false),
            ("Apache Tomcat/9.0.76", true),
            ("Apache Tomcat/10.0.27", false),
            ("Apache Tomcat/10.1.9", false),
            ("Apache Tomcat/10.1.10", true),
            ("Apache Tomcat/8.5.99", false),
            ("Apache Tomcat/11.0.0-M7", true),
            ("Apache Tomcat", true),
        ] {
            let connector = document.root_element();
            assert_eq!(
                server.uses_virtual_threads(&connector, version),
                has,
                "{version}"
            );
        }
    }

    #[test]
    fn ports_are_moved_by_the_servers_offset() {
        let line = LINE.replace("-cp", "-Doffset=100 -cp");
        let found = found(&line, 8181);
        assert_eq!(limit(&found, "threads").value, FoundValue::Number(150));
        let several = self::found(LINE, 8085);
        assert!(
            several.notes[0].contains("several connectors"),
            "{:?}",
            several.notes
        );
    }
}
