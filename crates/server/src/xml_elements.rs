//! An element put into another one of a configuration file, so that everything else stays as it is.

use roxmltree::Node;

use crate::configuration::line_end;
use crate::xml_attributes::{escaped, parse};

/// How far children stand behind their parent when the file does not show it.
const INDENT: &str = "    ";

/// An element that is empty, with these attributes.
pub(crate) fn empty_element(name: &str, attributes: &[(&str, String)]) -> String {
    let attributes = attributes
        .iter()
        .map(|(name, value)| format!("{name}=\"{}\"", escaped(value)));
    let words: Vec<String> = std::iter::once(name.to_owned()).chain(attributes).collect();
    format!("<{}/>", words.join(" "))
}

/// The text with a child, one line, behind all that is in the element that begins at `parent`.
pub(crate) fn with_child(text: &str, parent: usize, child: &str) -> Result<String, String> {
    let document = parse(text)?;
    let mut elements = document.descendants().filter(Node::is_element);
    let parent = elements
        .find(|element| element.range().start == parent)
        .ok_or_else(|| "the element that it belongs into is not in it".to_owned())?;
    let range = parent.range();
    let end = line_end(text);
    let outer = indent_at(text, range.start).unwrap_or_default();
    let first = parent.first_element_child();
    let inner = first
        .and_then(|first| indent_at(text, first.range().start))
        .map_or_else(|| format!("{outer}{}", unit(&document)), str::to_owned);
    if text[range.clone()].ends_with("/>") {
        let tag = text[..range.end - 2].trim_end();
        let name = parent.tag_name().name();
        let rest = &text[range.end..];
        return Ok(format!(
            "{tag}>{end}{inner}{child}{end}{outer}</{name}>{rest}"
        ));
    }
    let closing = range.start + text[range.clone()].rfind("</").unwrap_or(range.len());
    let content = text[..closing].trim_end_matches([' ', '\t']);
    Ok(if content.ends_with('\n') {
        format!("{content}{inner}{child}{end}{}", &text[content.len()..])
    } else {
        // All of it stands in one line.
        format!("{}{child}{}", &text[..closing], &text[closing..])
    })
}

/// The blanks before something that is the first in its line.
fn indent_at(text: &str, at: usize) -> Option<&str> {
    let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let before = &text[line..at];
    before
        .chars()
        .all(|c| c == ' ' || c == '\t')
        .then_some(before)
}

/// How far children of the root stand behind it.
fn unit(document: &roxmltree::Document<'_>) -> String {
    let first = document.root_element().first_element_child();
    first
        .and_then(|first| indent_at(document.input_text(), first.range().start))
        .filter(|indent| !indent.is_empty())
        .unwrap_or(INDENT)
        .to_owned()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    #[test]
    fn a_child_stands_where_the_file_would_have_it() {
        let child = empty_element("b", &[("n", "<1".to_owned())]);
        assert_eq!(child, "<b n=\"&lt;1\"/>");
        for (text, parent, wanted) in [
            (
                "<a>\n  <c/>\n  <!-- end -->\n</a>\n",
                "<a",
                "<a>\n  <c/>\n  <!-- end -->\n  <x/>\n</a>\n",
            ),
            (
                "<a>\r\n\t<c d='1' />\r\n</a>",
                "<c",
                "<a>\r\n\t<c d='1'>\r\n\t\t<x/>\r\n\t</c>\r\n</a>",
            ),
            ("<a/>\r\n", "<a", "<a>\r\n    <x/>\r\n</a>\r\n"),
            ("<a></a>", "<a", "<a><x/></a>"),
            (
                "<a>\n   <c>\n      <d/>\n   </c>\n</a>",
                "<c",
                "<a>\n   <c>\n      <d/>\n      <x/>\n   </c>\n</a>",
            ),
        ] {
            let edited = with_child(text, text.find(parent).unwrap(), "<x/>").unwrap();
            assert_eq!(edited, wanted);
        }
        assert!(with_child("<a/>", 3, "<x/>").is_err());
    }
}
