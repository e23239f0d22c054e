//! Connection pools that a Tomcat declares: `<Resource>` in `server.xml`, `context.xml` and the
//! contexts of applications.

use std::path::{Path, PathBuf};

use roxmltree::Node;

use super::found::{FoundLimit, FoundValue, SetWay};
use super::tomcat::{DEFAULT_AT, TomcatProperties, at};
use super::xml_place::{attribute, is_xml, place};
use crate::machine::Machine;
use crate::tomcat::stage_of;
use crate::xml_attributes::parse;

const TOMCAT_JDBC: &str = "org.apache.tomcat.jdbc.pool.DataSourceFactory";
const HIKARI: &str = "com.zaxxer.hikari.HikariJNDIFactory";

/// All pools, each once.
pub(super) fn pools(
    base: &Path,
    properties: &TomcatProperties,
    machine: &Machine,
) -> Vec<FoundLimit> {
    let mut pools: Vec<FoundLimit> = Vec::new();
    for file in files(base, machine) {
        let Some(text) = machine.text(&file) else {
            continue;
        };
        // A context that is no XML is Tomcat's to complain about.
        let Ok(document) = parse(&text) else {
            continue;
        };
        let elements = document.descendants();
        let found = elements.filter_map(|element| pool(&element, properties, &file));
        for pool in found {
            if pools.iter().all(|known| known.stage != pool.stage) {
                pools.push(pool);
            }
        }
    }
    pools
}

/// Where pools may be declared.
fn files(base: &Path, machine: &Machine) -> Vec<PathBuf> {
    let conf = base.join("conf");
    let mut files = vec![conf.join("server.xml"), conf.join("context.xml")];
    let hosts = conf.join("Catalina");
    for host in machine.names(&hosts) {
        let host = hosts.join(host);
        let contexts = machine.names(&host).into_iter();
        files.extend(
            contexts
                .filter(|name| is_xml(name))
                .map(|name| host.join(name)),
        );
    }
    let apps = base.join("webapps");
    let names = machine.names(&apps).into_iter();
    files.extend(names.map(|app| apps.join(app).join("META-INF/context.xml")));
    files
}

fn pool(element: &Node<'_, '_>, properties: &TomcatProperties, file: &Path) -> Option<FoundLimit> {
    let is_data_source = element.attribute("type") == Some("javax.sql.DataSource");
    let factory = element.attribute("factory");
    if !element.has_tag_name("Resource") || !(is_data_source || factory == Some(HIKARI)) {
        return None;
    }
    let name = element.attribute("name")?;
    let (native, default) = match factory {
        Some(HIKARI) => ("maximumPoolSize", 10),
        Some(TOMCAT_JDBC) => ("maxActive", 100),
        // Commons DBCP 2.
        _ => ("maxTotal", 8),
    };
    let placed = attribute(element, native, file);
    let (value, origin) = match placed {
        Some(placed) => (
            FoundValue::of(&properties.filled(&placed.value)),
            placed.origin,
        ),
        None => (
            FoundValue::Number(default),
            format!("{DEFAULT_AT}{}", place(element, file)),
        ),
    };
    let restart = |why: &str| {
        SetWay::Not(format!(
            "{why}: change it at {} and restart Tomcat",
            at(&origin)
        ))
    };
    let (stage, set) = match factory {
        Some(TOMCAT_JDBC) if element.attribute("jmxEnabled") != Some("false") => {
            (stage_of(name), SetWay::Jmx)
        }
        Some(TOMCAT_JDBC) => (stage_of(name), restart("the pool has jmxEnabled=\"false\"")),
        Some(HIKARI) => match (
            element.attribute("poolName"),
            element.attribute("registerMbeans"),
        ) {
            (Some(pool), Some("true")) => (stage_of(pool), SetWay::Jmx),
            (None, Some("true")) => (
                stage_of(name),
                restart("without poolName its MBean cannot be told from others"),
            ),
            _ => (
                stage_of(name),
                restart("the pool has no MBean without registerMbeans=\"true\""),
            ),
        },
        _ => (
            stage_of(name),
            restart("Weir does not set pools of Commons DBCP while they run"),
        ),
    };
    Some(FoundLimit {
        stage,
        native: native.to_owned(),
        value,
        origin,
        set,
    })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn pools_are_found_where_they_may_be_declared() {
        let tree = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = tree.path().join("b").join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write(
            "conf/context.xml",
            "<Context>\n <Resource name='jdbc/db' type='javax.sql.DataSource' maxActive='20'\n  \
             factory='org.apache.tomcat.jdbc.pool.DataSourceFactory'/>\n <Resource name='mail' type='javax.mail.Session'/></Context>",
        );
        write(
            "conf/Catalina/localhost/shop.xml",
            "<Context><Resource name='jdbc/shop' type='javax.sql.DataSource' maxTotal='5'/></Context>",
        );
        write(
            "webapps/board/META-INF/context.xml",
            "<Context><Resource name='jdbc/h' factory='com.zaxxer.hikari.HikariJNDIFactory' registerMbeans='true' \
             poolName='posts'/></Context>",
        );
        write("webapps/broken/META-INF/context.xml", "<Context>");
        let pools = pools(
            Path::new("/b"),
            &TomcatProperties::default(),
            &Machine::of_tree(tree.path()),
        );
        let told: Vec<_> = pools
            .iter()
            .map(|pool| {
                let set = pool.set == SetWay::Jmx;
                (
                    pool.stage.as_str(),
                    pool.value.to_string(),
                    pool.origin.as_str(),
                    set,
                )
            })
            .collect();
        assert_eq!(
            told,
            [
                ("pool.db", "20".to_owned(), "/b/conf/context.xml:2", true),
                (
                    "pool.shop",
                    "5".to_owned(),
                    "/b/conf/Catalina/localhost/shop.xml:1",
                    false
                ),
                (
                    "pool.posts",
                    "10".to_owned(),
                    "default; /b/webapps/board/META-INF/context.xml:1",
                    true
                ),
            ]
        );
    }
}
