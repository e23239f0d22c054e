//! What an expression finds in a document that is no response: for the function `__XPath`.

use crate::extract::xpath::value;
use crate::xml::{Dialect, Doctype, Names, Searched, Tree, read, search};

/// The values of the nodes that an XPath 1.0 expression finds, in the order of the document: of an
/// element the text that it begins with, and `None` where a node has no value, as in JMeter.
///
/// # Errors
/// Why nothing can be found: the text is no XML, or the expression gives no nodes.
pub fn xpath_values(text: &str, expression: &str) -> Result<Vec<Option<String>>, String> {
    let mut tree = Tree::new();
    read(text, Doctype::Allowed, Names::Namespaces, &mut tree).map_err(|error| error.says)?;
    match search(expression, &tree, &[], Dialect::One)? {
        Searched::Nodes(nodes) => Ok(nodes.into_iter().map(|node| value(node, false)).collect()),
        Searched::Boolean(_) | Searched::Text(_) => {
            Err("the expression gives a value instead of nodes".to_owned())
        }
    }
}
