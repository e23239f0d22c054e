//! The connector of a `server.xml` that the load goes to, and whose threads it takes.

use roxmltree::Node;

use crate::xml_attributes::{parse, spelled, with_attributes};

use super::live::OF_THREADS;

/// Whether an element of `server.xml` is a connector that Weir sends its load to: the first is
/// taken.
pub(super) fn is_loaded(element: &Node<'_, '_>) -> bool {
    let has_tls = spelled(element, "SSLEnabled").is_some_and(|of| of.value() == "true");
    is_http_connector(element) && !has_tls
}

/// Whether an element of `server.xml` is a connector that browsers speak to.
pub(crate) fn is_http_connector(element: &Node<'_, '_>) -> bool {
    let speaks_ajp = |protocol: &str| protocol.contains("AJP") || protocol.contains("Ajp");
    element.has_tag_name("Connector") && !element.attribute("protocol").is_some_and(speaks_ajp)
}

/// `server.xml` with these attributes of the connector that is loaded; those of its threads go to
/// the executor whose threads it takes.
pub(super) fn with_connector(text: &str, attributes: &[(&str, String)]) -> Result<String, String> {
    let attributes = attributes.iter().cloned();
    let (of_threads, of_connector): (Vec<_>, Vec<_>) =
        attributes.partition(|(name, _)| OF_THREADS.contains(name));
    let mut text = text.to_owned();
    if !of_connector.is_empty() {
        text = with_attributes(&text, is_loaded, &of_connector)?;
    }
    if of_threads.is_empty() {
        return Ok(text);
    }
    let document = parse(&text)?;
    let connector = document.descendants().find(is_loaded);
    let value = |element: &Node<'_, '_>, name: &str| {
        spelled(element, name).map(|attribute| attribute.value().to_owned())
    };
    let executor = connector.and_then(|connector| executor_of(&connector, value));
    let place = executor.or(connector).map(|element| element.range());
    let is_it = |element: &Node<'_, '_>| Some(element.range()) == place;
    with_attributes(&text, is_it, &of_threads)
}

/// The executor whose threads a connector takes: the first of the name that it gives, if its
/// service has that before it; one behind it counts for nothing. `value` gives an attribute as
/// Tomcat reads it.
pub(crate) fn executor_of<'a, 'i>(
    connector: &Node<'a, 'i>,
    value: impl Fn(&Node<'a, 'i>, &str) -> Option<String>,
) -> Option<Node<'a, 'i>> {
    let named = value(connector, "executor")?;
    let before = connector.prev_siblings();
    let executors = before.filter(|element| element.has_tag_name("Executor"));
    let of_name = executors.filter(|element| value(element, "name").as_ref() == Some(&named));
    // From the connector back.
    of_name.last()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    #[test]
    fn threads_change_where_the_connector_takes_them_from() {
        let written = |server: &str| {
            let attributes = [("maxThreads", "40"), ("acceptCount", "60")];
            with_connector(
                server,
                &attributes.map(|(name, value)| (name, value.to_owned())),
            )
            .unwrap()
        };
        let shared = "<S><Executor name=\"e\" maxThreads=\"9\"/><Executor name=\"other\"/>\
                      <Connector SSLEnabled=\"true\" maxThreads=\"5\"/><Connector executor=\"e\"/></S>";
        assert_eq!(
            written(shared),
            "<S><Executor name=\"e\" maxThreads=\"40\"/><Executor name=\"other\"/>\
             <Connector SSLEnabled=\"true\" maxThreads=\"5\"/>\
             <Connector acceptCount=\"60\" executor=\"e\"/></S>"
        );
        let after = "<S><Connector executor=\"e\"/><Executor name=\"e\"/></S>";
        assert_eq!(
            written(after),
            "<S><Connector maxThreads=\"40\" acceptCount=\"60\" executor=\"e\"/><Executor name=\"e\"/></S>"
        );
    }
}
