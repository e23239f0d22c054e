//! Where a `server.xml` has its limits: in elements inside of others, or in elements of their own
//! that others refer to by id.

use std::collections::BTreeMap;

use roxmltree::{Document, Node};

/// The endpoint that Liberty has when nobody names one, and that Weir's file moves.
pub(super) const ENDPOINT: &str = "defaultHttpEndpoint";

/// What of a `server.xml` has to be known to lay limits over it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Elements {
    /// The id of the `tcpOptions` that the default endpoint refers to.
    pub(super) tcp_options: Option<String>,
    /// The data sources that have an id, by the stages that their pools are: `pool.` and the last
    /// part of the JNDI name.
    pub(super) data_sources: BTreeMap<String, DataSource>,
}

/// A data source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DataSource {
    pub(super) id: String,
    pub(super) manager: Manager,
}

/// The manager of a pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Manager {
    /// It stands in the data source, or nowhere yet.
    Inside {
        /// Where it has one.
        id: Option<String>,
    },
    /// It stands by itself, and this is its id.
    Referred(String),
}

impl Elements {
    pub(super) fn of(document: &Document<'_>) -> Self {
        let root = document.root_element();
        let endpoints = named(root, "httpEndpoint");
        let default = endpoints
            .into_iter()
            .rfind(|element| element.attribute("id") == Some(ENDPOINT));
        Self {
            tcp_options: default.and_then(tcp_options_of),
            data_sources: named(root, "dataSource")
                .into_iter()
                .filter_map(|element| {
                    let jndi = element.attribute("jndiName")?;
                    let name = jndi.rsplit('/').next()?;
                    let id = element.attribute("id")?.to_owned();
                    let manager = manager_of(element);
                    Some((format!("pool.{name}"), DataSource { id, manager }))
                })
                .collect(),
        }
    }
}

/// The children of this name.
pub(super) fn named<'a, 'input>(parent: Node<'a, 'input>, name: &str) -> Vec<Node<'a, 'input>> {
    parent
        .children()
        .filter(|element| element.has_tag_name(name))
        .collect()
}

/// The `tcpOptions` that an endpoint refers to, when it has none inside.
pub(super) fn tcp_options_of(endpoint: Node<'_, '_>) -> Option<String> {
    if !named(endpoint, "tcpOptions").is_empty() {
        return None;
    }
    endpoint.attribute("tcpOptionsRef").map(str::to_owned)
}

fn manager_of(data_source: Node<'_, '_>) -> Manager {
    let inside = named(data_source, "connectionManager").pop();
    match (inside, data_source.attribute("connectionManagerRef")) {
        (None, Some(id)) => Manager::Referred(id.to_owned()),
        (inside, _) => Manager::Inside {
            id: inside
                .and_then(|element| element.attribute("id"))
                .map(str::to_owned),
        },
    }
}
