//! `__XPath`: one node of an XML file after the other.

use std::collections::HashMap;

use weir_response::xpath_values;

use super::files::BYTES_MAX;
use super::{Answer, Call, Function};
use crate::Scope;

/// Most files and expressions that are remembered; more of them are made of variables, and start
/// from their first node again.
const KEPT_MAX: usize = 1_000;

pub(super) const FUNCTIONS: &[Function] =
    &[Function::new("__XPath", (2, 2), Answer::Changes, next_node)];

/// What was found, by file and expression, and which of it comes next: for all users together.
#[derive(Debug, Default)]
pub(crate) struct XmlNodes(HashMap<(String, String), Found>);

#[derive(Debug)]
struct Found {
    values: Vec<Option<String>>,
    next: usize,
}

/// JMeter 5.6.3: a relative name starts where the program was started; after the last node comes
/// the first again; a node without a value is `null`; what cannot be read or finds nothing is an
/// empty text, and a line in the log. What cannot be read is tried again by the next call.
fn next_node(call: &Call, scope: &mut Scope, out: &mut String) {
    let file = call.argument(0, scope).into_owned();
    let expression = call.argument(1, scope).into_owned();
    let mut nodes = scope.live().xml_nodes();
    let key = (file, expression);
    if !nodes.0.contains_key(&key) {
        match found(&key.0, &key.1, scope) {
            Ok(values) => {
                if nodes.0.len() >= KEPT_MAX {
                    nodes.0.clear();
                }
                nodes.0.insert(key.clone(), Found { values, next: 0 });
            }
            Err(says) => {
                drop(nodes);
                scope
                    .live()
                    .log("WARN", &format!("__XPath: {}: {says}", key.0));
                return;
            }
        }
    }
    if let Some(found) = nodes.0.get_mut(&key)
        && let Some(value) = found.values.get(found.next)
    {
        out.push_str(value.as_deref().unwrap_or("null"));
        found.next = (found.next + 1) % found.values.len();
    }
}

fn found(file: &str, expression: &str, scope: &Scope) -> Result<Vec<Option<String>>, String> {
    // That it was refused is said with the rest.
    let reach = scope.live().reach();
    let text = reach
        .read_whole(&reach.find(file), BYTES_MAX)
        .map_err(|error| error.to_string())?;
    xpath_values(&String::from_utf8_lossy(&text), expression)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use weir_reach::Reach;

    use super::*;
    use crate::{GlobalVariables, Properties, Variables};

    const DOCUMENT: &str = "<?xml version=\"1.0\"?><r xmlns:n=\"urn:n\"><a id=\"1\">x</a>\
        <a id=\"2\">y<b>z</b></a><a/><a id=\"4\"> <b>w</b></a><n:c>q</n:c><!-- k -->\
        <d><![CDATA[cd]]></d></r>";

    /// What JMeter 5.6.3 gave one call after the other.
    #[test]
    fn nodes_as_jmeter_gives_them() {
        let folder = std::env::temp_dir().join(format!("weir-xpath-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("x.xml");
        std::fs::write(&file, DOCUMENT).unwrap();
        let name = file.to_str().unwrap();
        let reach = Reach::default().allow(&folder);
        let globals = GlobalVariables::within(reach, &Properties::new(), None);
        let scope = Scope::nobody(Variables::new(globals));
        let found = |file: &str, expression: &str| found(file, expression, &scope);
        for (expression, expect) in [
            ("//a", &["x", "y", "null", " "][..]),
            ("//a/@id", &["1", "2", "4"]),
            ("//a/text()", &["x", "y", " "]),
            ("//b", &["z", "w"]),
            ("/r", &["null"]),
            ("//d", &["cd"]),
            ("//*[local-name()=\"c\"]", &["q"]),
            ("//comment()", &[" k "]),
            ("/r/a[2]", &["y"]),
            ("/", &["null"]),
        ] {
            let values: Vec<String> = found(name, expression)
                .unwrap()
                .into_iter()
                .map(|value| value.unwrap_or_else(|| "null".to_owned()))
                .collect();
            assert_eq!(values, expect, "{expression}");
        }
        for nothing in ["//nope", "//c"] {
            assert_eq!(found(name, nothing).unwrap(), [], "{nothing}");
        }
        for failing in [
            "count(//a)",
            "string(//a)",
            "boolean(//a)",
            "//a[",
            "",
            "//n:c",
        ] {
            assert!(found(name, failing).is_err(), "{failing}");
        }
        assert!(found("/nosuch.xml", "//a").is_err());
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
