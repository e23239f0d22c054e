//! Attributes of one element of a configuration file, set so that everything else stays as it is:
//! comments, order, indentation.

use std::ops::Range;

use roxmltree::{Attribute, Document, Node};

/// The text with these attributes set in the first element that `is_meant` says yes to. An
/// attribute that is there gets a new value in its place, others are added behind the element's
/// name.
pub(crate) fn with_attributes(
    text: &str,
    is_meant: impl Fn(&Node<'_, '_>) -> bool,
    attributes: &[(&str, String)],
) -> Result<String, String> {
    let document = parse(text)?;
    let mut elements = document.descendants().filter(Node::is_element);
    let element = elements
        .find(is_meant)
        .ok_or_else(|| "the element that has these settings is not in it".to_owned())?;
    let mut edits: Vec<(Range<usize>, String)> = attributes
        .iter()
        .map(|(name, value)| edit(text, &element, name, value))
        .collect();
    // From the back, so that places before an edit stay where they are; those added at one place
    // keep their order.
    edits.reverse();
    edits.sort_by_key(|(place, _)| std::cmp::Reverse(place.start));
    let mut edited = text.to_owned();
    for (place, with) in edits {
        edited.replace_range(place, &with);
    }
    Ok(edited)
}

/// A text as the value of an attribute, in either kind of quotes.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('"', "&quot;")
        .replace('\'', "&apos;")
}

/// Whether there is an element that `is_meant` says yes to.
pub(crate) fn has_element(
    text: &str,
    is_meant: impl Fn(&Node<'_, '_>) -> bool,
) -> Result<bool, String> {
    Ok(parse(text)?.descendants().any(|element| is_meant(&element)))
}

pub(crate) fn parse(text: &str) -> Result<Document<'_>, String> {
    let options = roxmltree::ParsingOptions {
        allow_dtd: true,
        ..roxmltree::ParsingOptions::default()
    };
    Document::parse_with_options(text, options).map_err(|error| error.to_string())
}

/// The attribute of an element that counts for a setting. Tomcat calls the setter of the name, and
/// so takes its first letter large or small; the last one counts.
pub(crate) fn spelled<'e, 'i>(element: &Node<'e, 'i>, name: &str) -> Option<Attribute<'e, 'i>> {
    let (first, rest) = name.split_at_checked(1)?;
    let is_it = |attribute: &Attribute<'_, '_>| {
        let own = attribute.name().split_at_checked(1);
        own.is_some_and(|(own, after)| own.eq_ignore_ascii_case(first) && after == rest)
    };
    element.attributes().rfind(is_it)
}

fn edit(text: &str, element: &Node<'_, '_>, name: &str, value: &str) -> (Range<usize>, String) {
    let value = escaped(value);
    if let Some(attribute) = spelled(element, name) {
        return (attribute.range_value(), value);
    }
    let start = element.range().start + 1;
    let named = text[start..]
        .find(|c: char| c.is_whitespace() || c == '/' || c == '>')
        .map_or(text.len(), |length| start + length);
    (named..named, format!(" {name}=\"{value}\""))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    const FILE: &str = "<?xml version='1.0'?>\n<Server port=\"8005\">\n  <!-- <Connector port=\"1\"/> -->\n  \
                        <Connector port='8080'\n             maxThreads=\"150\"/>\n  <Connector port=\"8009\"/>\n</Server>\n";

    fn connector(element: &Node<'_, '_>) -> bool {
        element.has_tag_name("Connector")
    }

    #[test]
    fn values_change_in_place_and_new_ones_stand_behind_the_name() {
        let attributes = [
            ("maxThreads", "40".to_owned()),
            ("acceptCount", "7".to_owned()),
            ("note", "a \"b\" & 'c'".to_owned()),
        ];
        let edited = with_attributes(FILE, connector, &attributes).unwrap();
        let expected = FILE.replace(
            "<Connector port='8080'\n             maxThreads=\"150\"/>",
            "<Connector acceptCount=\"7\" note=\"a &quot;b&quot; &amp; &apos;c&apos;\" port='8080'\n             \
             maxThreads=\"40\"/>",
        );
        assert_eq!(edited, expected);
        let document = Document::parse(&edited).unwrap();
        let first = document.descendants().find(connector).unwrap();
        assert_eq!(first.attribute("note"), Some("a \"b\" & 'c'"));
    }

    #[test]
    fn the_spelling_that_counts_is_the_one_that_changes() {
        let file = FILE.replace(
            "maxThreads=\"150\"",
            "maxThreads=\"150\" MaxThreads=\"9\" maxthreads=\"8\"",
        );
        let edited = with_attributes(&file, connector, &[("maxThreads", "40".to_owned())]);
        assert_eq!(edited.unwrap(), file.replace("\"9\"", "\"40\""));
    }

    #[test]
    fn what_is_not_there_or_no_xml_is_said() {
        assert!(with_attributes(FILE, |e| e.has_tag_name("Executor"), &[]).is_err());
        let error = with_attributes("<a><b></a>", connector, &[]).unwrap_err();
        assert!(error.contains("1:"), "{error}");
    }

    #[test]
    fn nothing_to_set_changes_nothing() {
        assert_eq!(with_attributes(FILE, connector, &[]).unwrap(), FILE);
    }
}
