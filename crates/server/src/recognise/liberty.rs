//! An Open Liberty or WebSphere Liberty: `server.xml` and what is laid over it.
//!
//! Defaults are those of Open Liberty's reference (`tcpOptions`, `executor`, `connectionManager`).
//! Liberty watches its files, so its limits are set through a small file of its own in
//! `configDropins/overrides`.

mod files;
mod variables;

use std::path::Path;

use roxmltree::{Document, Node};

use super::found::{AgentWay, Found, FoundKind, FoundLimit, FoundValue, OccupancyWay, SetWay};
use super::java_command::JavaCommand;
use super::xml_place::{Lookup, Placed, attribute};
use crate::machine::Machine;
use crate::process::ProcessFacts;
use crate::tomcat::stage_of;
use crate::xml_attributes::parse;
use files::{Files, Item};
use variables::Variables;

const LAUNCHER: &str = "ws-server.jar";
const DEFAULT_SERVER: &str = "defaultServer";
const OVERRIDES: &str = "configDropins/overrides";
const CONNECTIONS: u64 = 128_000;
const POOL: u64 = 50;
/// How the names of features begin with which threads and pools have MBeans of their own.
const WITH_FIGURES: [&str; 3] = ["monitor-", "mpmetrics-", "microprofile-"];
/// And of those with which the virtual machine has MBeans at all.
const WITH_MBEANS: [&str; 2] = ["localconnector-", "restconnector-"];

pub(super) fn recognise(
    facts: &ProcessFacts,
    java: &JavaCommand,
    port: u16,
    machine: &Machine,
) -> Option<Found> {
    if !java.is_jar || !java.main.ends_with(LAUNCHER) {
        return None;
    }
    // HOME/bin/tools/ws-server.jar
    let jar = facts.absolute(&java.main);
    let home = jar.ancestors().nth(3)?.to_owned();
    let mut words = java.arguments.iter();
    let name = words.find(|word| !word.starts_with('-'));
    let name = name.map_or(DEFAULT_SERVER, String::as_str);
    let user = facts.environment.get("WLP_USER_DIR");
    let user = user.map_or_else(|| home.join("usr"), |user| facts.absolute(user));
    let server = user.join("servers").join(name);
    let mut found = Found {
        pid: facts.pid,
        kind: FoundKind::Liberty,
        name: version(&home, machine).map_or_else(
            || format!("Liberty ({name})"),
            |version| format!("{version} ({name})"),
        ),
        limits: Vec::new(),
        metrics: None,
        occupancy: OccupancyWay::Serving,
        agent: AgentWay::Loads,
        notes: Vec::new(),
    };
    let places = Places {
        home: &home,
        user: &user,
        server: &server,
    };
    let mut variables = Variables::of(&places, java, facts, machine);
    let files = Files::read(&server, &variables, machine);
    let parsed: Vec<Document<'_>> = files.texts().filter_map(|text| parse(text).ok()).collect();
    found.notes.extend(files.problems());
    if parsed.is_empty() {
        found.notes.push(format!(
            "{} cannot be read",
            server.join("server.xml").display()
        ));
        return Some(found);
    }
    let has = |features: &[&str]| parsed.iter().any(|file| has_feature(file, features));
    if !has(&WITH_FIGURES) {
        found.notes.push(
            "figures of its threads and pools need the feature monitor-1.0 in server.xml; the number of requests that \
             wait for a thread is derived from the connections"
                .to_owned(),
        );
    }
    if !has(&WITH_FIGURES) && !has(&WITH_MBEANS) {
        found.agent = AgentWay::Useless(
            "its MBeans are there only with the feature monitor-1.0 (or localConnector-1.0) in server.xml; without one of \
             them no agent finds them"
                .to_owned(),
        );
    }
    let items = files.items(&parsed);
    variables.declare(&items);
    let configuration = Configuration {
        items: &items,
        variables: &variables,
        server: &server,
    };
    configuration.tell(port, &mut found);
    for limit in &mut found.limits {
        if let SetWay::Command { set, .. } = &mut limit.set {
            *set = machine.as_user_of(facts, set);
        }
    }
    Some(found)
}

/// Whether a file names a feature that begins like one of these. Where none makes the MBeans of the
/// virtual machine, an agent that comes later cannot make them, because it has another class
/// loader.
fn has_feature(document: &Document<'_>, begins: &[&str]) -> bool {
    let mut features = document
        .descendants()
        .filter(|element| element.has_tag_name("feature"));
    features.any(|feature| {
        let name = feature.text().unwrap_or_default().trim().to_lowercase();
        begins.iter().any(|begin| name.starts_with(begin))
    })
}

/// What its `lib/versions` says.
fn version(home: &Path, machine: &Machine) -> Option<String> {
    let folder = home.join("lib/versions");
    [
        "openliberty.properties",
        "WebSphereApplicationServer.properties",
    ]
    .iter()
    .find_map(|name| {
        let text = machine.text(&folder.join(name))?;
        let field = |field: &str| {
            let mut lines = text.lines();
            lines.find_map(|line| line.strip_prefix(field)?.strip_prefix('='))
        };
        let product = field("com.ibm.websphere.productName")?;
        Some(format!(
            "{} {}",
            product.trim(),
            field("com.ibm.websphere.productVersion")?.trim()
        ))
    })
}

/// The folders of a server.
struct Places<'a> {
    home: &'a Path,
    user: &'a Path,
    server: &'a Path,
}

struct Configuration<'a> {
    /// All elements in the order in which they count, the last one most.
    items: &'a [Item<'a>],
    variables: &'a Variables,
    server: &'a Path,
}

impl<'a> Configuration<'a> {
    fn tell(&self, port: u16, found: &mut Found) {
        let endpoint = self.endpoint(port);
        let connections = self.open_connections(&endpoint);
        found.limits.push(self.limit(
            ("connections", "tcpOptions maxOpenConnections"),
            connections,
            Some(CONNECTIONS),
            SetWay::Not(
                "a new value takes the endpoint off its port for a moment: change it in server.xml by hand".to_owned(),
            ),
        ));
        found.limits.push(self.limit(
            ("threads", "executor maxThreads"),
            self.attribute(&|element| element.has_tag_name("executor"), "maxThreads"),
            None,
            self.overrides(
                "threads",
                "<executor coreThreads=\"{value}\" maxThreads=\"{value}\"/>",
            ),
        ));
        for (id, jndi) in self.data_sources() {
            found.limits.push(self.pool(id.as_deref(), &jndi));
        }
    }

    fn elements(&self) -> impl Iterator<Item = Node<'a, 'a>> + use<'a, '_> {
        self.items.iter().filter_map(|item| match item {
            Item::Element(_, element) => Some(*element),
            Item::Unread(_) => None,
        })
    }

    /// The last one that is written, with what stands for its variables.
    fn attribute(&self, is_meant: &dyn Fn(&Node<'_, '_>) -> bool, name: &str) -> Lookup {
        for item in self.items.iter().rev() {
            match item {
                Item::Unread(why) => return Lookup::Unsure(why.clone()),
                Item::Element(file, element) if is_meant(element) => {
                    if let Some(placed) = attribute(element, name, file) {
                        return match self.variables.filled(&placed.value) {
                            Ok(value) => Lookup::At(Placed { value, ..placed }),
                            Err(variable) => Lookup::Unsure(format!(
                                "{}: what ${{{variable}}} stands for",
                                placed.origin
                            )),
                        };
                    }
                }
                Item::Element(..) => {}
            }
        }
        Lookup::Nowhere
    }

    /// An attribute of one element as it is used.
    fn filled(&self, element: &Node<'_, '_>, name: &str) -> Option<String> {
        let value = element.attribute(name)?;
        Some(
            self.variables
                .filled(value)
                .unwrap_or_else(|_| value.to_owned()),
        )
    }

    /// The id of the endpoint of a port; of several that are not understood, the default one.
    fn endpoint(&self, port: u16) -> String {
        let mut endpoints = self
            .elements()
            .filter(|element| element.has_tag_name("httpEndpoint"));
        let port = port.to_string();
        let on_port = endpoints.find(|element| {
            ["httpPort", "httpsPort"]
                .iter()
                .any(|name| self.filled(element, name).as_ref() == Some(&port))
        });
        let id = on_port.and_then(|element| self.filled(&element, "id"));
        id.unwrap_or_else(|| "defaultHttpEndpoint".to_owned())
    }

    /// Of the options inside the endpoint, or of those that it refers to.
    fn open_connections(&self, id: &str) -> Lookup {
        let is_endpoint = |element: &Node<'_, '_>| {
            element.has_tag_name("httpEndpoint") && element.attribute("id") == Some(id)
        };
        let inside = |element: &Node<'_, '_>| {
            element.has_tag_name("tcpOptions")
                && element.parent().is_some_and(|above| is_endpoint(&above))
        };
        self.inside_or_referred(
            &inside,
            (&is_endpoint, "tcpOptionsRef"),
            ("tcpOptions", "maxOpenConnections"),
        )
    }

    /// An attribute of an element inside another one, or of one that the other refers to.
    fn inside_or_referred(
        &self,
        inside: &dyn Fn(&Node<'_, '_>) -> bool,
        (is_owner, reference): (&dyn Fn(&Node<'_, '_>) -> bool, &str),
        (tag, name): (&str, &str),
    ) -> Lookup {
        match (
            self.attribute(inside, name),
            self.attribute(is_owner, reference),
        ) {
            (Lookup::Nowhere, Lookup::At(reference)) => {
                let referred = |element: &Node<'_, '_>| {
                    element.has_tag_name(tag)
                        && element.attribute("id") == Some(reference.value.as_str())
                };
                self.attribute(&referred, name)
            }
            (Lookup::Nowhere, Lookup::Unsure(why)) => Lookup::Unsure(why),
            (found, _) => found,
        }
    }

    /// Ids and JNDI names of the data sources.
    fn data_sources(&self) -> Vec<(Option<String>, String)> {
        let sources = self.elements().filter_map(|element| {
            if !element.has_tag_name("dataSource") {
                return None;
            }
            let jndi = self.filled(&element, "jndiName")?;
            Some((self.filled(&element, "id"), jndi))
        });
        let mut known: Vec<(Option<String>, String)> = Vec::new();
        for source in sources {
            if !known.contains(&source) {
                known.push(source);
            }
        }
        known
    }

    fn pool(&self, id: Option<&str>, jndi: &str) -> FoundLimit {
        let is_source = |element: &Node<'_, '_>| {
            let same_id = id.is_some() && element.attribute("id") == id;
            element.has_tag_name("dataSource")
                && (same_id || self.filled(element, "jndiName").as_deref() == Some(jndi))
        };
        let inside = |element: &Node<'_, '_>| {
            element.has_tag_name("connectionManager")
                && element.parent().is_some_and(|above| is_source(&above))
        };
        let size = self.inside_or_referred(
            &inside,
            (&is_source, "connectionManagerRef"),
            ("connectionManager", "maxPoolSize"),
        );
        let has_reference = self.attribute(&is_source, "connectionManagerRef") != Lookup::Nowhere;
        let stage = stage_of(jndi);
        let set = match id {
            Some(id) if !has_reference => self.overrides(
                &stage,
                &format!("<dataSource id=\"{id}\"><connectionManager maxPoolSize=\"{{value}}\"/></dataSource>"),
            ),
            _ => SetWay::Not(
                "the data source has no id, or shares its connectionManager: change maxPoolSize in server.xml; \
                 Liberty takes it while it runs"
                    .to_owned(),
            ),
        };
        self.limit(
            (&stage, "connectionManager maxPoolSize"),
            size,
            Some(POOL),
            set,
        )
    }

    fn limit(
        &self,
        (stage, native): (&str, &str),
        written: Lookup,
        default: Option<u64>,
        set: SetWay,
    ) -> FoundLimit {
        let value = match (&written, default) {
            (Lookup::Unsure(_), _) => FoundValue::NotKnown,
            // −1 is Liberty's word for none.
            (Lookup::At(placed), _) if placed.value.trim() == "-1" => FoundValue::Unlimited,
            (Lookup::At(placed), _) => FoundValue::of(&placed.value),
            (Lookup::Nowhere, Some(default)) => FoundValue::Number(default),
            (Lookup::Nowhere, None) => FoundValue::Unlimited,
        };
        let set = match (&value, set) {
            (FoundValue::Unlimited, SetWay::Command { .. }) => SetWay::Not(format!(
                "there is no limit that could be put back (the executor tunes itself): write <executor coreThreads=\"50\" \
                 maxThreads=\"50\"/> into {} first, and run weir init again",
                self.server.join("server.xml").display()
            )),
            (_, set) => set,
        };
        FoundLimit {
            stage: stage.to_owned(),
            native: native.to_owned(),
            value,
            origin: match written {
                Lookup::Nowhere => "default".to_owned(),
                Lookup::At(placed) => placed.origin,
                Lookup::Unsure(why) => why,
            },
            set,
        }
    }

    /// A file that is laid over the others.
    fn overrides(&self, stage: &str, element: &str) -> SetWay {
        let folder = self.server.join(OVERRIDES);
        let file = folder.join(format!("weir-{stage}.xml"));
        let (folder, file) = (quoted(&folder), quoted(&file));
        SetWay::Command {
            set: format!("mkdir -p {folder} && echo '<server>{element}</server>' > {file}"),
            get: None,
            does: format!(
                "lays a small file over server.xml, which Liberty takes while it runs; remove {file} when the study is over"
            ),
        }
    }
}

/// A path as a word of a shell.
pub(super) fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '-' | '_' | '+' | '@' | ':');
    if text.chars().all(plain) {
        text
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use std::fs;
    use std::os::unix::fs::{MetadataExt as _, chown, symlink};

    use super::*;
    use crate::recognise::java_command::tests::process;

    const SERVER: &str = r#"<server>
  <httpEndpoint id="defaultHttpEndpoint" httpPort="9080"><tcpOptions maxOpenConnections="20000"/></httpEndpoint>
  <executor coreThreads="50" maxThreads="50"/>
  <dataSource id="db" jndiName="jdbc/db"><connectionManager maxPoolSize="10"/></dataSource>
  <dataSource id="orders" jndiName="jdbc/shop/orders" connectionManagerRef="shared"/>
  <connectionManager id="shared" maxPoolSize="7"/>
  <include location="more.xml" optional="true"/>
</server>
"#;

    fn found(files: &[(&str, &str)]) -> Found {
        let tree = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = tree.path().join("opt/wlp").join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let facts = process(
            "/usr/bin/java @/opt/wlp/lib/java9.options -javaagent:/opt/wlp/bin/tools/ws-javaagent.jar -jar \
             /opt/wlp/bin/tools/ws-server.jar shop",
        );
        let java = JavaCommand::of(&facts).unwrap();
        recognise(&facts, &java, 9080, &Machine::of_tree(tree.path())).unwrap()
    }

    fn told(found: &Found) -> Vec<(&str, String, &str)> {
        let limits = found.limits.iter();
        limits
            .map(|limit| {
                (
                    limit.stage.as_str(),
                    limit.value.to_string(),
                    limit.origin.as_str(),
                )
            })
            .collect()
    }

    #[test]
    fn the_funnel_of_server_xml_is_read() {
        let found = found(&[
            ("usr/servers/shop/server.xml", SERVER),
            (
                "lib/versions/openliberty.properties",
                "com.ibm.websphere.productName=Open Liberty\ncom.ibm.websphere.productVersion=25.0.0.12\n",
            ),
        ]);
        assert_eq!(found.name, "Open Liberty 25.0.0.12 (shop)");
        let file = "/opt/wlp/usr/servers/shop/server.xml";
        assert_eq!(
            told(&found),
            [
                (
                    "connections",
                    "20000".to_owned(),
                    format!("{file}:2").as_str()
                ),
                ("threads", "50".to_owned(), format!("{file}:3").as_str()),
                ("pool.db", "10".to_owned(), format!("{file}:4").as_str()),
                ("pool.orders", "7".to_owned(), format!("{file}:6").as_str()),
            ]
        );
        let SetWay::Command { set, .. } = &found.limits[1].set else {
            panic!("{:?}", found.limits[1].set);
        };
        assert!(set.ends_with(
            "echo '<server><executor coreThreads=\"{value}\" maxThreads=\"{value}\"/></server>' > \
             /opt/wlp/usr/servers/shop/configDropins/overrides/weir-threads.xml"
        ), "{set}");
        assert!(matches!(&found.limits[3].set, SetWay::Not(why) if why.contains("shares")));
        assert_eq!(found.notes.len(), 1, "{:?}", found.notes);
    }

    /// The threads and the pool's size, with where they stand, of these files.
    fn threads(files: &[(&str, &str)]) -> (String, String) {
        let files: Vec<_> = files
            .iter()
            .map(|(name, text)| (format!("usr/servers/shop/{name}"), *text))
            .collect();
        let files: Vec<_> = files
            .iter()
            .map(|(name, text)| (name.as_str(), *text))
            .collect();
        let found = found(&files);
        let limit = found
            .limits
            .iter()
            .find(|limit| limit.stage == "threads")
            .unwrap();
        (
            limit.value.to_string(),
            limit.origin.replace("/opt/wlp/usr/servers/shop/", ""),
        )
    }

    #[test]
    fn variables_are_filled_in() {
        let executor = "<executor maxThreads=\"${thr}\"/>";
        let server = |more: &str| format!("<server>\n{more}\n{executor}</server>");
        for (more, file, value) in [
            ("<variable name='thr' value='40'/>", ("x", ""), "40"),
            ("<variable name='thr' defaultValue='25'/>", ("x", ""), "25"),
            (
                "<variable name='thr' defaultValue='25'/>",
                ("bootstrap.properties", "thr=26\n"),
                "26",
            ),
            (
                "<variable name='thr' value='40'/>",
                ("bootstrap.properties", "thr=26\n"),
                "40",
            ),
            (
                "",
                ("bootstrap.properties", "bootstrap.include=b.properties\n"),
                "not known",
            ),
            ("", ("variables/thr", "27\n"), "27"),
            ("", ("variables/all.properties", "thr=28\n"), "28"),
            (
                "<variable name='thr' value='${a}'/><variable name='a' value='9'/>",
                ("x", ""),
                "9",
            ),
            (
                "<variable name='thr' value='${thr}'/>",
                ("x", ""),
                "not known",
            ),
            ("", ("x", ""), "not known"),
        ] {
            let (told, origin) = threads(&[("server.xml", &server(more)), file]);
            assert_eq!(told, value, "{more} {file:?}");
            assert!(origin.contains("server.xml:3"), "{origin}");
        }
        let (value, _) = threads(&[(
            "server.xml",
            "<server><executor maxThreads='${thr + 1}'/><variable name='thr' value='1'/></server>",
        )]);
        assert_eq!(value, "not known", "a sum");
        let other = "<server><variable name='p' value='9080'/><httpEndpoint id='other' httpPort='${p}'>\
                     <tcpOptions maxOpenConnections='5'/></httpEndpoint></server>";
        assert_eq!(
            told(&found(&[("usr/servers/shop/server.xml", other)]))[0].1,
            "5",
            "the endpoint of the port"
        );
    }

    #[test]
    fn includes_stand_where_they_are_included() {
        let ten = "<executor maxThreads='10'/>";
        let server = |inside: &str| format!("<server>{inside}</server>");
        let more = server("<executor maxThreads='20'/>");
        let threads =
            |main: &str, name: &str| threads(&[("server.xml", &server(main)), (name, &more)]);
        let include = "<include location='more.xml'/>";
        for (main, name, value) in [
            (format!("{ten}{include}"), "more.xml", "20"),
            (format!("{include}{ten}"), "more.xml", "10"),
            (
                format!("{ten}<include location='${{server.config.dir}}/m/more.xml'/>"),
                "m/more.xml",
                "20",
            ),
            (format!("{ten}<include location='m/'/>"), "m/a.xml", "20"),
            (format!("{ten}{include}"), "other.xml", "not known"),
            (format!("{include}{ten}"), "other.xml", "10"),
            (
                format!("{ten}<include optional='true' location='more.xml'/>"),
                "other.xml",
                "10",
            ),
            (
                format!("{ten}<include location='more.xml' onConflict='IGNORE'/>"),
                "more.xml",
                "not known",
            ),
            (
                format!("{ten}<include location='http://x/more.xml'/>"),
                "more.xml",
                "not known",
            ),
            (
                format!("{ten}<include location='server.xml'/>"),
                "x.xml",
                "10",
            ),
            (ten.to_owned(), "configDropins/defaults/a.xml", "10"),
            (ten.to_owned(), "configDropins/overrides/a.xml", "20"),
        ] {
            assert_eq!(threads(&main, name).0, value, "{main} {name}");
        }
        let (_, why) = threads(&format!("{ten}{include}"), "other.xml");
        assert!(why.contains("more.xml cannot be read"), "{why}");
    }

    /// The user of the server has put a link where root, who runs the study, will write.
    #[test]
    #[expect(clippy::print_stderr, reason = "a skipped test says so")]
    fn what_root_writes_for_another_user_does_not_follow_links_of_his() {
        const NOBODY: u32 = 65_534;
        if !rustix::process::geteuid().is_root() {
            eprintln!("skipped: only root can write what another user cannot");
            return;
        }
        let place = tempfile::tempdir().unwrap();
        let home = place.path().join("wlp");
        let overrides = home.join("usr/servers/shop/configDropins/overrides");
        fs::create_dir_all(&overrides).unwrap();
        fs::create_dir_all(home.join("bin/tools")).unwrap();
        fs::write(home.join("usr/servers/shop/server.xml"), SERVER).unwrap();
        chown(place.path(), Some(NOBODY), Some(NOBODY)).unwrap();
        chown(&overrides, Some(NOBODY), Some(NOBODY)).unwrap();
        let system = tempfile::tempdir().unwrap();
        let victim = system.path().join("file");
        fs::write(&victim, "root's").unwrap();
        symlink(&victim, overrides.join("weir-threads.xml")).unwrap();
        let run = || {
            let mut facts = process(&format!(
                "/usr/bin/java -jar {}/bin/tools/ws-server.jar shop",
                home.display()
            ));
            (facts.user, facts.group) = (NOBODY, NOBODY);
            let java = JavaCommand::of(&facts).unwrap();
            let found = recognise(&facts, &java, 9080, &Machine::here()).unwrap();
            let SetWay::Command { set, .. } = &found.limits[1].set else {
                panic!("{:?}", found.limits[1].set);
            };
            let line = set.replace("{value}", "70");
            let mut shell = std::process::Command::new("/bin/sh");
            shell.args(["-c", &line]).output().unwrap().status.success()
        };
        assert!(!run(), "it is refused");
        assert_eq!(fs::read_to_string(&victim).unwrap(), "root's");
        fs::remove_file(overrides.join("weir-threads.xml")).unwrap();
        assert!(run(), "where there is no link, it is written");
        let written = overrides.join("weir-threads.xml");
        let text = fs::read_to_string(&written).unwrap();
        assert!(text.contains("maxThreads=\"70\""), "{text}");
        assert_eq!(fs::metadata(&written).unwrap().uid(), NOBODY);
    }

    #[test]
    fn what_is_laid_over_counts_and_no_limit_is_said() {
        let over = "<server><executor maxThreads=\"-1\"/></server>";
        let found = found(&[
            ("usr/servers/shop/server.xml", "<server/>"),
            ("usr/servers/shop/configDropins/overrides/a.xml", over),
        ]);
        assert_eq!(
            told(&found)[0],
            ("connections", "128000".to_owned(), "default")
        );
        assert_eq!(found.limits[1].value, FoundValue::Unlimited);
        assert!(matches!(&found.limits[1].set, SetWay::Not(why) if why.contains("tunes itself")));
    }

    #[test]
    fn words_of_a_shell_are_quoted() {
        assert_eq!(quoted(Path::new("/a/b-c.xml")), "/a/b-c.xml");
        assert_eq!(quoted(Path::new("/a b/it's")), "'/a b/it'\\''s'");
    }
}
