//! One value in a YAML file of Spring Boot's, set so that everything else stays as it is: comments,
//! order, indentation, line ends.
//!
//! Where values stand is told by a YAML parser, and what was edited is read again by it: every
//! value that was there has to be there still, and the one that was set has to be new. What does
//! not come out so is refused.

mod nodes;

use std::collections::BTreeMap;
use std::ops::Range;

use crate::configuration::with_lines_at;

use super::property::Property;
use super::settings::Setting;
use nodes::{Kind, Node, column_of, read, read_as_far};

/// How far children stand behind their parents when the file does not show it.
const INDENT: usize = 2;
/// What says of a document for which profiles it counts.
const PROFILE: &str = "spring.config.activate";

/// The text with the property set; why not, when it cannot be.
pub(super) fn with(text: &str, property: &Property, value: &str) -> Result<String, String> {
    let nodes = read(text)?;
    let edited = edit(text, &nodes, property, value)?;
    check(&nodes, &read(&edited)?, property, value)?;
    Ok(edited)
}

/// What the documents set, one behind the other, and why what stands behind them cannot be read.
pub(super) fn documents(text: &str) -> (Vec<Vec<Setting>>, Option<String>) {
    let (nodes, stopped) = read_as_far(text);
    let mut documents = Vec::new();
    for node in nodes {
        let value = match &node.kind {
            // A reference to something else in the file, or a merge of it.
            Kind::Other { value, .. } if value.starts_with('*') => None,
            Kind::Scalar { value, .. } => Some(value),
            Kind::Other { value, .. } if !value.is_empty() => Some(value),
            _ => continue,
        };
        let key = &text[node.key.clone()];
        let value_here = value.map_or("", String::as_str);
        let setting = Setting::at(text, node.key.start, [&node.name, key, value_here]);
        documents.resize_with(documents.len().max(node.document + 1), Vec::new);
        documents[node.document].push(Setting {
            is_reference: value.is_none(),
            ..setting
        });
    }
    (documents, stopped)
}

fn edit(text: &str, nodes: &[Node], property: &Property, value: &str) -> Result<String, String> {
    let line = |at: usize| text[..at].matches('\n').count() + 1;
    let of_profile = nodes.iter().find(|node| {
        let is_set = node.document > 0 && node.name == property.canonical();
        is_set || (node.document == 0 && node.name.starts_with(PROFILE))
    });
    if let Some(node) = of_profile {
        return Err(format!(
            "line {}: this document of the file is one of several or for a profile: set {} there by hand",
            line(node.key.start),
            property.name()
        ));
    }
    let first = || nodes.iter().filter(|node| node.document == 0);
    let found: Vec<&Node> = first()
        .filter(|node| node.name == property.canonical())
        .collect();
    match found.as_slice() {
        [] => {}
        [node] => {
            return match &node.kind {
                Kind::Scalar { span, .. } => Ok(replaced(text, span.clone(), value)),
                Kind::Empty => with_first_value(text, node, value),
                Kind::Mapping { .. } | Kind::Other { .. } => Err(format!(
                    "line {}: {} is no single value",
                    line(node.key.start),
                    property.name()
                )),
            };
        }
        [_, second, ..] => {
            return Err(format!(
                "line {}: {} stands in it twice",
                line(second.key.start),
                property.name()
            ));
        }
    }
    let above = |node: &&Node| {
        let rest = property.canonical().strip_prefix(node.name.as_str());
        rest.is_some_and(|rest| rest.starts_with('.'))
    };
    let parent = first().filter(above).max_by_key(|node| node.name.len());
    let unit = unit(nodes);
    let Some(parent) = parent else {
        let end = first().map(Node::end).max();
        let at = end.map_or(text.len(), |end| end_of_line(text, end));
        return Ok(with_lines_at(text, at, &lines(property, 0, 0, unit, value)));
    };
    let depth = parent.name.split('.').count();
    let column = match parent.kind {
        Kind::Mapping { column, .. } => column,
        Kind::Empty => column_of(text, parent.key.start) + unit,
        Kind::Scalar { .. } | Kind::Other { .. } => {
            return Err(format!(
                "line {}: {} cannot be put below what stands there: set it by hand",
                line(parent.key.start),
                property.name()
            ));
        }
    };
    let at = end_of_line(text, parent.end());
    let lines = lines(property, depth, column, unit, value);
    Ok(with_lines_at(text, at, &lines))
}

/// What is left of a name below so many parts of it, a line for each part.
fn lines(
    property: &Property,
    depth: usize,
    column: usize,
    unit: usize,
    value: &str,
) -> Vec<String> {
    let parts: Vec<&str> = property.name().split('.').skip(depth).collect();
    let last = parts.len() - 1;
    let line = |(index, part): (usize, &&str)| {
        let indent = " ".repeat(column + index * unit);
        let value = if index == last {
            format!(" {value}")
        } else {
            String::new()
        };
        format!("{indent}{part}:{value}")
    };
    parts.iter().enumerate().map(line).collect()
}

fn replaced(text: &str, span: Range<usize>, value: &str) -> String {
    format!("{}{value}{}", &text[..span.start], &text[span.end..])
}

/// Puts a value behind the colon of a key that has none.
fn with_first_value(text: &str, node: &Node, value: &str) -> Result<String, String> {
    let colon = text[node.key.end..].find(':');
    let at = node.key.end + colon.ok_or("a key without a colon")? + 1;
    Ok(replaced(text, at..at, &format!(" {value}")))
}

/// The smallest distance between a mapping and one inside of it.
fn unit(nodes: &[Node]) -> usize {
    let columns = |wanted: &Node| match wanted.kind {
        Kind::Mapping { column, .. } => Some(column),
        _ => None,
    };
    let distances = nodes.iter().filter_map(|node| {
        let outer = node.name.rsplit_once('.').map_or(Some(0), |(outer, _)| {
            let same = |other: &&Node| other.document == node.document && other.name == outer;
            nodes.iter().find(same).and_then(columns)
        });
        columns(node)?
            .checked_sub(outer?)
            .filter(|distance| *distance > 0)
    });
    distances.min().unwrap_or(INDENT)
}

/// The end of the line in which something ends, behind its line end.
fn end_of_line(text: &str, end: usize) -> usize {
    let end = text[..end].trim_end().len();
    text[end..]
        .find('\n')
        .map_or(text.len(), |length| end + length + 1)
}

/// An error unless exactly the property is new.
fn check(before: &[Node], after: &[Node], property: &Property, value: &str) -> Result<(), String> {
    fn contents(nodes: &[Node]) -> BTreeMap<(usize, &str), Vec<&str>> {
        let mut all: BTreeMap<(usize, &str), Vec<&str>> = BTreeMap::new();
        for (name, value) in nodes.iter().filter_map(Node::content) {
            all.entry(name).or_default().push(value);
        }
        all
    }
    let mut wanted = contents(before);
    wanted.insert((0, property.canonical()), vec![value]);
    if wanted == contents(after) {
        return Ok(());
    }
    Err(format!(
        "{} cannot be put into it so that everything else stays: set it by hand",
        property.name()
    ))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    const THREADS: &str = "server.tomcat.threads.max";
    const POOL: &str = "spring.datasource.hikari.maximum-pool-size";

    fn set(text: &str, name: &'static str, value: &str) -> Result<String, String> {
        with(text, &Property::new(name), value)
    }

    #[track_caller]
    fn check_set(text: &str, name: &'static str, wanted: &str) {
        assert_eq!(set(text, name, "40").unwrap(), wanted);
    }

    #[test]
    fn a_value_changes_where_it_stands() {
        check_set(
            "# the shop\nserver:\n  port: 80  # behind a proxy\n  tomcat:\n    threads:\n      max: 200 # default\n      min-spare: 5\n",
            THREADS,
            "# the shop\nserver:\n  port: 80  # behind a proxy\n  tomcat:\n    threads:\n      max: 40 # default\n      min-spare: 5\n",
        );
        check_set(
            "server.tomcat.threads.max: 200",
            THREADS,
            "server.tomcat.threads.max: 40",
        );
        check_set(
            "server:\r\n  tomcat.threads:\r\n    max: \"200\"\r\nx: 'ü'\r\n",
            THREADS,
            "server:\r\n  tomcat.threads:\r\n    max: 40\r\nx: 'ü'\r\n",
        );
        check_set(
            "ü: \"ä\"\nspring:\n datasource:\n  hikari: # pool\n   maximumPoolSize: ${POOL:10}\n",
            POOL,
            "ü: \"ä\"\nspring:\n datasource:\n  hikari: # pool\n   maximumPoolSize: 40\n",
        );
        check_set(
            "server:\n  tomcat:\n    threads:\n      max:\n    x: 1\n",
            THREADS,
            "server:\n  tomcat:\n    threads:\n      max: 40\n    x: 1\n",
        );
    }

    #[test]
    fn a_value_that_is_absent_is_added_where_it_belongs() {
        check_set(
            "server:\n    port: 80\n    tomcat:\n        accept-count: 7  # few\n\n# the rest\nspring:\n    application:\n        name: shop",
            THREADS,
            "server:\n    port: 80\n    tomcat:\n        accept-count: 7  # few\n        threads:\n            max: 40\n\n# the rest\nspring:\n    application:\n        name: shop",
        );
        check_set(
            "server:\r\n  port: 80\r\nspring:\r\n  config:\r\n    import:\r\n      - a.yml\r\n      - b.yml",
            POOL,
            "server:\r\n  port: 80\r\nspring:\r\n  config:\r\n    import:\r\n      - a.yml\r\n      - b.yml\r\n  datasource:\r\n    hikari:\r\n      maximum-pool-size: 40",
        );
        check_set(
            "",
            THREADS,
            "server:\n  tomcat:\n    threads:\n      max: 40\n",
        );
        check_set(
            "# nothing yet\n",
            THREADS,
            "# nothing yet\nserver:\n  tomcat:\n    threads:\n      max: 40\n",
        );
        check_set(
            "server:\n\nlogging:\n  pattern: |\n    a: b\n    c\n",
            THREADS,
            "server:\n  tomcat:\n    threads:\n      max: 40\n\nlogging:\n  pattern: |\n    a: b\n    c\n",
        );
        check_set(
            "logging:\n  pattern: |\n    a: b\n    c\n",
            THREADS,
            "logging:\n  pattern: |\n    a: b\n    c\nserver:\n  tomcat:\n    threads:\n      max: 40\n",
        );
        check_set(
            "a: 1\n---\nspring.config.activate.on-profile: load\nb: 2\n",
            THREADS,
            "a: 1\nserver:\n  tomcat:\n    threads:\n      max: 40\n---\nspring.config.activate.on-profile: load\nb: 2\n",
        );
    }

    #[test]
    fn what_is_not_understood_is_refused_with_its_line() {
        for (text, says) in [
            ("server: {tomcat: {threads: {port: 1}}}\n", "line 1"),
            ("a: 1\n---\nserver.tomcat.threads.max: 3\n", "line 3"),
            ("spring.config.activate.on-profile: x\n", "line 1"),
            ("server:\n  tomcat: &t\n    x: 1\n", "line 2"),
            ("server:\n  tomcat: *t\n", "anchor"),
            (
                "server:\n  tomcat:\n    threads:\n      max: [1]\n",
                "line 4: server.tomcat.threads.max is no single value",
            ),
            (
                "server.tomcat.threads.max: 1\nserver:\n  tomcat.threads.max: 2\n",
                "line 3",
            ),
            ("name: @project.name@\n", "line"),
            ("server: 3\n", "line 1"),
        ] {
            let error = set(text, THREADS, "40").unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_taken(text: String) {
            let _ = set(&text, THREADS, "40");
        }

        /// Whatever is taken has the value, and all else as it was: `check` says so, or it is an
        /// error.
        #[test]
        fn lines_of_a_file_are_taken(lines in proptest::collection::vec("( ){0,4}(server|tomcat|threads|a|- b)(:|: 1|: \"x|: \\||: &c|: #)( d)?\r?", 0..8)) {
            let text = lines.join("\n");
            if let Ok(edited) = set(&text, THREADS, "40") {
                proptest::prop_assert_eq!(set(&edited, THREADS, "40").unwrap(), edited);
            }
        }
    }
}
