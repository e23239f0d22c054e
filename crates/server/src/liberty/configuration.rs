//! Limits as changes of `server.xml`.
//!
//! Liberty merges elements of one name (and id), and of an attribute that stands twice the later
//! one counts; what an `<include>` brings stands where the include stands. So an element is changed
//! in its place only when no include comes behind it, and is added at the end otherwise. Files in
//! `configDropins/overrides` come after all of `server.xml`: when one of the user's has the
//! element, that is said.

use std::fs;
use std::path::Path;

use roxmltree::Node;

use crate::configuration::ConfigurationChange;
use crate::error::TargetError;
use crate::xml_attributes::{parse, with_attributes};
use crate::xml_elements::{empty_element, with_child};

use super::config::{Limits, OVERRIDES, overrides_of};
use super::elements::{DataSource, ENDPOINT, Elements, Manager, named, tcp_options_of};

/// The `tcpOptions` that endpoints refer to when they say nothing.
const DEFAULT_TCP_OPTIONS: &str = "defaultTCPOptions";

type Attributes<'a> = [(&'a str, String)];

/// The change of the `server.xml` in a server's directory.
pub(super) fn changes(
    server: &Path,
    of_user: bool,
    limits: &Limits,
) -> Result<Vec<ConfigurationChange>, TargetError> {
    refuse_overrides(server, limits)?;
    let edit = |text: &str| {
        let text = text.to_owned();
        limits
            .iter()
            .try_fold(text, |text, (stage, limit)| with_limit(text, stage, *limit))
    };
    let change = ConfigurationChange::edited(&server.join("server.xml"), of_user, edit)?;
    Ok(change.into_iter().collect())
}

fn with_limit(text: String, stage: &str, limit: f64) -> Result<String, String> {
    match stage {
        "threads" => {
            let both = ["coreThreads", "maxThreads"].map(|name| (name, limit.to_string()));
            with_top_level(&text, "executor", None, &both)
        }
        "connections" => with_connections(&text, limit),
        _ => match Elements::of(&parse(&text)?).data_sources.get(stage) {
            Some(source) => with_pool(&text, source, limit),
            None => Ok(text),
        },
    }
}

/// Sets attributes of an element right below the root.
fn with_top_level(
    text: &str,
    name: &str,
    id: Option<&str>,
    attributes: &Attributes<'_>,
) -> Result<String, String> {
    let document = parse(text)?;
    let root = document.root_element();
    let includes = named(root, "include");
    let replaces = |include: &Node<'_, '_>| {
        let word = include.attribute("onConflict");
        word.is_some_and(|word| word.eq_ignore_ascii_case("replace"))
    };
    if let Some(include) = includes.iter().find(|include| replaces(include)) {
        let at = document.text_pos_at(include.range().start);
        return Err(format!(
            "line {}: this include replaces what else the file says of an element, so that <{name}> has to be set by \
             hand where it counts",
            at.row
        ));
    }
    let last = named(root, name)
        .into_iter()
        .rfind(|element| id.is_none_or(|id| element.attribute("id") == Some(id)));
    let behind = includes.last().map_or(0, |include| include.range().start);
    match last {
        Some(last) if last.range().start >= behind => set_in(text, last.range().start, attributes),
        _ => {
            let id = id.map(|id| ("id", id.to_owned()));
            let all: Vec<_> = id.into_iter().chain(attributes.iter().cloned()).collect();
            with_child(text, root.range().start, &empty_element(name, &all))
        }
    }
}

fn with_connections(text: &str, limit: f64) -> Result<String, String> {
    let attribute = [("maxOpenConnections", limit.to_string())];
    let document = parse(text)?;
    let root = document.root_element();
    let endpoint = endpoint(root)?;
    if let Some(endpoint) = endpoint {
        if let Some(inside) = named(endpoint, "tcpOptions").pop() {
            return set_in(text, inside.range().start, &attribute);
        }
        if let Some(id) = tcp_options_of(endpoint) {
            return with_top_level(text, "tcpOptions", Some(&id), &attribute);
        }
    }
    let default = named(root, "tcpOptions");
    if default
        .iter()
        .any(|element| element.attribute("id") == Some(DEFAULT_TCP_OPTIONS))
    {
        return with_top_level(text, "tcpOptions", Some(DEFAULT_TCP_OPTIONS), &attribute);
    }
    let options = empty_element("tcpOptions", &attribute);
    match endpoint {
        Some(endpoint) => with_child(text, endpoint.range().start, &options),
        None => with_child(
            text,
            root.range().start,
            &format!("<httpEndpoint id=\"{ENDPOINT}\">{options}</httpEndpoint>"),
        ),
    }
}

/// The endpoint whose connections are meant: the default one, or the only one.
fn endpoint<'a, 'input>(root: Node<'a, 'input>) -> Result<Option<Node<'a, 'input>>, String> {
    let all = named(root, "httpEndpoint");
    let default = all
        .iter()
        .rfind(|element| element.attribute("id") == Some(ENDPOINT));
    match (default, all.as_slice()) {
        (Some(endpoint), _) | (None, [endpoint]) => Ok(Some(*endpoint)),
        (None, []) => Ok(None),
        (None, several) => Err(format!(
            "it has {} endpoints and none is {ENDPOINT}: set maxOpenConnections by hand in the one that is meant",
            several.len()
        )),
    }
}

fn with_pool(text: &str, source: &DataSource, limit: f64) -> Result<String, String> {
    if let Manager::Referred(id) = &source.manager {
        let document = parse(text)?;
        let manager = named(document.root_element(), "connectionManager")
            .into_iter()
            .rfind(|element| element.attribute("id") == Some(id));
        let attributes = of_manager(manager, limit);
        return with_top_level(text, "connectionManager", Some(id), &attributes);
    }
    let document = parse(text)?;
    let sources = named(document.root_element(), "dataSource");
    let element = sources
        .into_iter()
        .rfind(|element| element.attribute("id") == Some(&source.id))
        .ok_or_else(|| format!("the data source {} is not in it", source.id))?;
    match named(element, "connectionManager").pop() {
        Some(manager) => set_in(
            text,
            manager.range().start,
            &of_manager(Some(manager), limit),
        ),
        None => with_child(
            text,
            element.range().start,
            &empty_element("connectionManager", &of_manager(None, limit)),
        ),
    }
}

/// The attributes that limit a pool: one that has to keep more connections than it may have is not
/// taken by the server.
fn of_manager(manager: Option<Node<'_, '_>>, limit: f64) -> Vec<(&'static str, String)> {
    let kept = manager.and_then(|manager| manager.attribute("minPoolSize"));
    let too_many = kept
        .and_then(|kept| kept.parse::<f64>().ok())
        .is_some_and(|kept| kept > limit);
    std::iter::once("maxPoolSize")
        .chain(too_many.then_some("minPoolSize"))
        .map(|name| (name, limit.to_string()))
        .collect()
}

fn set_in(text: &str, start: usize, attributes: &Attributes<'_>) -> Result<String, String> {
    with_attributes(text, |element| element.range().start == start, attributes)
}

/// An error when a file of the user's that comes after `server.xml` has an element of these limits.
fn refuse_overrides(server: &Path, limits: &Limits) -> Result<(), TargetError> {
    let names = limits.keys().flat_map(|stage| match stage.as_str() {
        "threads" => &["executor"][..],
        "connections" => &["httpEndpoint", "tcpOptions"],
        _ => &["dataSource", "connectionManager"],
    });
    let names: Vec<&str> = names.copied().collect();
    // A server without such files mostly has no directory for them.
    let files = fs::read_dir(overrides_of(server)).into_iter().flatten();
    for path in files.flatten().map(|entry| entry.path()) {
        let is_xml = path.extension().is_some_and(|kind| kind == "xml");
        if !is_xml || path.file_name().is_some_and(|name| name == OVERRIDES) {
            continue;
        }
        let text = fs::read_to_string(&path).map_err(TargetError::file(&path))?;
        let failed = |says| TargetError::Configuration {
            path: path.clone(),
            says,
        };
        let document = parse(&text).map_err(failed)?;
        let mut elements = document.root_element().children();
        if let Some(element) = elements.find(|element| names.contains(&element.tag_name().name())) {
            return Err(failed(format!(
                "line {}: its <{}> counts more than server.xml's: set the limit there by hand",
                document.text_pos_at(element.range().start).row,
                element.tag_name().name()
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    fn limits(of: &[(&str, f64)]) -> Limits {
        of.iter()
            .map(|(name, limit)| ((*name).to_owned(), *limit))
            .collect()
    }

    /// What becomes of a file, byte for byte.
    #[track_caller]
    fn check(before: &str, of: &[(&str, f64)], after: &str) {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("server.xml");
        fs::write(&file, before).unwrap();
        let change = changes(place.path(), true, &limits(of)).unwrap().pop();
        assert_eq!(fs::read_to_string(&file).unwrap(), before, "only shown");
        let Some(change) = change else {
            assert_eq!(before, after);
            return;
        };
        assert_eq!(change.after, after);
        let backup = change.write().unwrap().unwrap();
        assert_eq!(fs::read(&file).unwrap(), after.as_bytes());
        assert_eq!(fs::read(backup).unwrap(), before.as_bytes());
        let again = changes(place.path(), true, &limits(of)).unwrap();
        assert_eq!(again, [], "it is as wanted");
    }

    #[test]
    fn limits_change_where_they_stand() {
        check(
            "<?xml version=\"1.0\"?>\r\n<server description=\"shop\">\r\n\t<!-- <executor maxThreads=\"1\"/> -->\r\n\
             \t<executor maxThreads='20'/>\r\n\t<httpEndpoint id=\"defaultHttpEndpoint\" httpPort=\"9080\">\r\n\
             \t\t<tcpOptions soReuseAddr=\"true\" maxOpenConnections=\"100\"/>\r\n\t</httpEndpoint>\r\n\
             \t<dataSource id=\"db\" jndiName=\"jdbc/db\">\r\n\t\t<connectionManager maxPoolSize=\"50\" \
             minPoolSize=\"20\"/>\r\n\t</dataSource>\r\n</server>",
            &[("connections", 400.0), ("pool.db", 12.0), ("threads", 40.0)],
            "<?xml version=\"1.0\"?>\r\n<server description=\"shop\">\r\n\t<!-- <executor maxThreads=\"1\"/> -->\r\n\
             \t<executor coreThreads=\"40\" maxThreads='40'/>\r\n\t<httpEndpoint id=\"defaultHttpEndpoint\" httpPort=\"9080\">\r\n\
             \t\t<tcpOptions soReuseAddr=\"true\" maxOpenConnections=\"400\"/>\r\n\t</httpEndpoint>\r\n\
             \t<dataSource id=\"db\" jndiName=\"jdbc/db\">\r\n\t\t<connectionManager maxPoolSize=\"12\" \
             minPoolSize=\"12\"/>\r\n\t</dataSource>\r\n</server>",
        );
    }

    #[test]
    fn elements_that_are_absent_are_added() {
        check(
            "<server>\n  <dataSource id=\"db\" jndiName=\"jdbc/db\"/>\n</server>\n",
            &[("connections", 400.0), ("pool.db", 12.0), ("threads", 40.0)],
            "<server>\n  <dataSource id=\"db\" jndiName=\"jdbc/db\">\n    <connectionManager maxPoolSize=\"12\"/>\n  \
             </dataSource>\n  <httpEndpoint id=\"defaultHttpEndpoint\"><tcpOptions maxOpenConnections=\"400\"/></httpEndpoint>\n  \
             <executor coreThreads=\"40\" maxThreads=\"40\"/>\n</server>\n",
        );
        check(
            "<server description='the shop'/>\r\n",
            &[("threads", 4.0)],
            "<server description='the shop'>\r\n    <executor coreThreads=\"4\" maxThreads=\"4\"/>\r\n</server>\r\n",
        );
        check(
            "<server>\n    <httpEndpoint id=\"web\" httpPort=\"80\"/>\n</server>\n",
            &[("connections", 9.0), ("pool.none", 3.0)],
            "<server>\n    <httpEndpoint id=\"web\" httpPort=\"80\">\n        <tcpOptions maxOpenConnections=\"9\"/>\n    \
             </httpEndpoint>\n</server>\n",
        );
    }

    #[test]
    fn what_is_referred_to_is_found() {
        check(
            "<server>\n  <dataSource id=\"db\" jndiName=\"jdbc/db\" connectionManagerRef=\"few\"/>\n  \
             <connectionManager id=\"few\" maxPoolSize=\"3\"/>\n  <connectionManager id=\"other\" maxPoolSize=\"4\"/>\n  \
             <httpEndpoint id=\"defaultHttpEndpoint\" tcpOptionsRef=\"web\"/>\n</server>\n",
            &[("connections", 400.0), ("pool.db", 12.0)],
            "<server>\n  <dataSource id=\"db\" jndiName=\"jdbc/db\" connectionManagerRef=\"few\"/>\n  \
             <connectionManager id=\"few\" maxPoolSize=\"12\"/>\n  <connectionManager id=\"other\" maxPoolSize=\"4\"/>\n  \
             <httpEndpoint id=\"defaultHttpEndpoint\" tcpOptionsRef=\"web\"/>\n  <tcpOptions id=\"web\" maxOpenConnections=\"400\"/>\n\
             </server>\n",
        );
        check(
            "<server>\n  <tcpOptions id=\"defaultTCPOptions\" maxOpenConnections=\"7\"/>\n</server>\n",
            &[("connections", 400.0)],
            "<server>\n  <tcpOptions id=\"defaultTCPOptions\" maxOpenConnections=\"400\"/>\n</server>\n",
        );
    }

    #[test]
    fn behind_an_include_the_end_of_the_file_counts() {
        check(
            "<server>\n  <executor maxThreads=\"9\"/>\n  <include location=\"common.xml\"/>\n</server>\n",
            &[("threads", 40.0)],
            "<server>\n  <executor maxThreads=\"9\"/>\n  <include location=\"common.xml\"/>\n  \
             <executor coreThreads=\"40\" maxThreads=\"40\"/>\n</server>\n",
        );
    }

    #[test]
    fn what_cannot_be_changed_is_said_with_its_line() {
        let place = tempfile::tempdir().unwrap();
        let server = place.path();
        let says = |text: &str, of: &[(&str, f64)]| {
            fs::write(server.join("server.xml"), text).unwrap();
            changes(server, true, &limits(of)).unwrap_err().to_string()
        };
        let error = says(
            "<server>\n<include location=\"a.xml\" onConflict=\"REPLACE\"/></server>",
            &[("threads", 4.0)],
        );
        assert!(error.contains("server.xml`: line 2"), "{error}");
        let error = says(
            "<server><httpEndpoint id='a'/><httpEndpoint id='b'/></server>",
            &[("connections", 4.0)],
        );
        assert!(error.contains("2 endpoints"), "{error}");
        let error = says("<server>", &[("threads", 4.0)]);
        assert!(error.contains("server.xml"), "{error}");
        let overrides = overrides_of(server);
        fs::create_dir_all(&overrides).unwrap();
        fs::write(
            overrides.join("site.xml"),
            "<server>\n\n<executor/></server>",
        )
        .unwrap();
        let error = says("<server/>", &[("threads", 4.0)]);
        assert!(
            error.contains("site.xml`: line 3: its <executor>"),
            "{error}"
        );
        fs::write(
            server.join("server.xml"),
            "<server><tcpOptions id=\"defaultTCPOptions\"/></server>",
        )
        .unwrap();
        let other = changes(server, true, &limits(&[("connections", 4.0)])).unwrap();
        assert_eq!(other.len(), 1, "the executor is none of its elements");
    }
}
