//! Limits as changes of `server.xml` and `context.xml`.

use std::collections::BTreeMap;
use std::path::Path;

use roxmltree::Node;

use crate::configuration::ConfigurationChange;
use crate::error::TargetError;
use crate::xml_attributes::{has_element, parse, with_attributes};

use super::connector::with_connector;
use super::live::{SETTINGS, stage_of};

/// The changes in `conf` of a base or home. A pool that is declared elsewhere (in an application's
/// own `context.xml`) is not among them.
pub(super) fn changes(
    place: &Path,
    of_user: bool,
    limits: &BTreeMap<String, f64>,
) -> Result<Vec<ConfigurationChange>, TargetError> {
    let attributes: Vec<_> = SETTINGS
        .iter()
        .filter_map(|setting| Some((setting.attribute, limits.get(setting.name)?.to_string())))
        .collect();
    let pools: Vec<_> = limits
        .iter()
        .filter(|(name, _)| name.starts_with("pool."))
        .collect();
    let mut changes = Vec::new();
    for name in ["conf/server.xml", "conf/context.xml"] {
        let edit = |text: &str| {
            let mut text = text.to_owned();
            if name == "conf/server.xml" {
                text = with_connector(&text, &attributes)?;
            }
            pools.iter().try_fold(text, |text, (stage, limit)| {
                let is_meant = |element: &Node<'_, '_>| is_pool(element, stage);
                if !has_element(&text, is_meant)? {
                    return Ok(text);
                }
                let attributes = pool_attributes(&text, stage)?
                    .iter()
                    .map(|attribute| (*attribute, limit.to_string()));
                with_attributes(&text, is_meant, &attributes.collect::<Vec<_>>())
            })
        };
        changes.extend(ConfigurationChange::edited(
            &place.join(name),
            of_user,
            edit,
        )?);
    }
    Ok(changes)
}

fn is_pool(element: &Node<'_, '_>, stage: &str) -> bool {
    element.has_tag_name("Resource")
        && element
            .attribute("name")
            .is_some_and(|name| stage_of(name) == stage)
}

/// The attributes that limit a pool, by the factory that makes it.
fn pool_attributes(text: &str, stage: &str) -> Result<&'static [&'static str], String> {
    let document = parse(text)?;
    let resource = document
        .descendants()
        .find(|element| is_pool(element, stage));
    let factory = resource.and_then(|resource| resource.attribute("factory"));
    Ok(match factory {
        Some("com.zaxxer.hikari.HikariJNDIFactory") => &["maximumPoolSize"],
        Some("org.apache.tomcat.jdbc.pool.DataSourceFactory") => &["maxActive", "maxIdle"],
        // Tomcat's default is Commons DBCP 2.
        _ => &["maxTotal"],
    })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn connector_and_pool_change_where_they_are_declared() {
        let place = tempfile::tempdir().unwrap();
        let conf = place.path().join("conf");
        fs::create_dir(&conf).unwrap();
        let server = "<Server port=\"8005\">\n  <Connector port=\"8009\" protocol=\"AJP/1.3\"/>\n  \
                      <Connector port=\"8080\" maxThreads=\"200\"/>\n</Server>\n";
        let context = "<Context>\n  <Resource name=\"jdbc/db\" maxActive=\"100\"\n    \
                       factory=\"org.apache.tomcat.jdbc.pool.DataSourceFactory\"/>\n</Context>\n";
        fs::write(conf.join("server.xml"), server).unwrap();
        fs::write(conf.join("context.xml"), context).unwrap();
        let limits = [
            ("threads", 40.0),
            ("backlog", 60.0),
            ("pool.db", 12.0),
            ("pool.other", 3.0),
        ];
        let limits = limits.map(|(name, limit)| (name.to_owned(), limit)).into();
        let changes = changes(place.path(), true, &limits).unwrap();
        let diffs: Vec<String> = changes.iter().map(ConfigurationChange::diff).collect();
        assert!(
            diffs[0].contains("\n-  <Connector port=\"8080\" maxThreads=\"200\"/>\n")
                && diffs[0].contains(
                    "\n+  <Connector acceptCount=\"60\" port=\"8080\" maxThreads=\"40\"/>\n"
                ),
            "{}",
            diffs[0]
        );
        assert!(
            diffs[1].contains("\n+  <Resource maxIdle=\"12\" name=\"jdbc/db\" maxActive=\"12\"\n"),
            "{}",
            diffs[1]
        );
        assert_eq!(diffs.len(), 2);
        let none = super::changes(place.path(), true, &BTreeMap::new()).unwrap();
        assert_eq!(none, []);
    }
}
