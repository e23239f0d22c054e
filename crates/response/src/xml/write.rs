//! Nodes as XML: as Java's transformer writes them, or laid out as Saxon does.
//!
//! What both have in common: an element that is written alone declares every prefix that is in
//! scope where it stood.

use std::fmt::Write as _;

use super::tree::{Element, Node};

/// Columns of an element inside another (Saxon).
const INDENT: usize = 3;

/// How white space and attributes stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// White space as it was read, attributes by their names (Java's transformer on a DOM).
    AsRead,
    /// A line for each element where no text is in the way, attributes as they were read (Saxon).
    Indented,
}

/// A node as XML.
pub(crate) fn fragment(node: Node<'_>, layout: Layout) -> String {
    let mut writer = Writer::new(layout);
    match node {
        Node::Root(_) => {
            for child in node.children() {
                match child {
                    Node::Element(element) => writer.element(element, &[]),
                    Node::Comment(comment) => writer.comment(comment),
                    _ => {}
                }
            }
        }
        Node::Element(element) => writer.element(element, &[]),
        // Of a text alone, Saxon escapes what it must.
        Node::Text(text) if layout == Layout::Indented => writer.escape(text, &TEXT[..2]),
        Node::Text(text) => writer.text(text),
        Node::Comment(comment) => writer.comment(comment),
        Node::Instruction(instruction) if layout == Layout::Indented => {
            writer.instruction(instruction.target, instruction.value);
        }
        node => writer.out.push_str(&node.text()),
    }
    writer.out
}

/// An attribute alone (Saxon).
pub(crate) fn attribute(name: &str, value: &str) -> String {
    let mut writer = Writer::new(Layout::Indented);
    let _ = write!(writer.out, "{name}=\"");
    let mut escapes = TEXT.to_vec();
    escapes.push(('"', "&quot;"));
    writer.escape(value, &escapes);
    writer.out.push('"');
    writer.out
}

const TEXT: [(char, &str); 3] = [('&', "&amp;"), ('<', "&lt;"), ('>', "&gt;")];

/// What stands before the place that is written next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    Nothing,
    Start,
    End,
    Text,
}

#[derive(Debug)]
struct Writer {
    layout: Layout,
    out: String,
    depth: usize,
    before: Before,
    /// White space that goes when a line is begun.
    pending: String,
}

impl Writer {
    fn new(layout: Layout) -> Self {
        Self {
            layout,
            out: String::new(),
            depth: 0,
            before: Before::Nothing,
            pending: String::new(),
        }
    }

    fn element(&mut self, element: Element<'_>, above: &[(String, String)]) {
        self.begin_line(&[Before::Start, Before::End]);
        let name = element.name();
        let tag = match (name.uri, element.prefix()) {
            (Some(_), Some(prefix)) => format!("{prefix}:{}", name.local),
            _ => name.local.to_owned(),
        };
        let _ = write!(self.out, "<{tag}");
        let declared = self.declare(element, above);
        self.attributes(element);
        let children = element.children();
        if children.len() == 0 {
            self.out.push_str("/>");
            self.before = Before::End;
            return;
        }
        self.out.push('>');
        self.before = Before::Start;
        self.depth += 1;
        for child in children {
            match child {
                Node::Element(element) => self.element(element, &declared),
                Node::Text(text) => self.text(text),
                Node::Comment(comment) => self.comment(comment),
                Node::Instruction(instruction) => {
                    self.instruction(instruction.target, instruction.value);
                }
                // Neither is a child of anything.
                Node::Root(_) | Node::Attribute(_) | Node::Namespace(_) => {}
            }
        }
        self.depth -= 1;
        self.begin_line(&[Before::End]);
        let _ = write!(self.out, "</{tag}>");
        self.before = Before::End;
    }

    /// Declares what is in scope and was not declared above; the namespace without prefix first.
    fn declare(
        &mut self,
        element: Element<'_>,
        above: &[(String, String)],
    ) -> Vec<(String, String)> {
        let in_scope = element.namespaces_in_scope().into_iter();
        let mut wanted: Vec<(String, String)> = in_scope
            .map(|namespace| (namespace.prefix.to_owned(), namespace.uri.to_owned()))
            .filter(|(prefix, _)| prefix != "xml")
            .collect();
        if let Some(uri) = element.name().uri {
            let prefix = element.prefix().unwrap_or_default();
            wanted.push((prefix.to_owned(), uri.to_owned()));
        }
        wanted.sort();
        wanted.dedup();
        let mut declared = above.to_vec();
        for (prefix, uri) in wanted {
            let entry = (prefix, uri);
            if declared.contains(&entry) {
                continue;
            }
            let colon = if entry.0.is_empty() { "" } else { ":" };
            let _ = write!(self.out, " xmlns{colon}{}=\"{}\"", entry.0, entry.1);
            declared.retain(|(prefix, _)| *prefix != entry.0);
            declared.push(entry);
        }
        declared
    }

    fn attributes(&mut self, element: Element<'_>) {
        let mut attributes: Vec<_> = element.attributes().collect();
        if self.layout == Layout::AsRead {
            attributes.sort_by_key(|attribute| attribute.name().local);
        }
        for attribute in attributes {
            let prefix = attribute.prefix().unwrap_or_default();
            let colon = if prefix.is_empty() { "" } else { ":" };
            let local = attribute.name().local;
            let _ = write!(self.out, " {prefix}{colon}{local}=\"");
            let mut escapes = TEXT.to_vec();
            escapes.push(('"', "&#34;"));
            self.escape(attribute.value(), &escapes);
            self.out.push('"');
        }
    }

    fn text(&mut self, text: &str) {
        let is_white = text.chars().all(|c| " \t\r\n".contains(c));
        if self.layout == Layout::Indented && is_white && self.before != Before::Text {
            self.pending.push_str(text);
            return;
        }
        self.flush();
        self.escape(text, &TEXT);
        self.before = Before::Text;
    }

    fn comment(&mut self, text: &str) {
        self.begin_line(&[Before::Start, Before::End]);
        let _ = write!(self.out, "<!--{text}-->");
    }

    fn instruction(&mut self, target: &str, value: Option<&str>) {
        self.begin_line(&[Before::Start, Before::End]);
        let value = value.map_or(String::new(), |value| format!(" {value}"));
        let _ = write!(self.out, "<?{target}{value}?>");
    }

    /// Begins a line if one of these stands before.
    fn begin_line(&mut self, after: &[Before]) {
        if self.layout == Layout::Indented && after.contains(&self.before) {
            self.pending.clear();
            self.out.push('\n');
            let columns = INDENT * self.depth;
            self.out.extend(std::iter::repeat_n(' ', columns));
        }
        self.flush();
    }

    fn flush(&mut self) {
        self.out.push_str(&std::mem::take(&mut self.pending));
    }

    fn escape(&mut self, text: &str, escapes: &[(char, &str)]) {
        for c in text.chars() {
            match escapes.iter().find(|(escaped, _)| *escaped == c) {
                Some((_, written)) => self.out.push_str(written),
                None => self.out.push(c),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::read::{Doctype, Names, read};
    use super::super::search::{Dialect, Searched, search};
    use super::super::tree::Tree;
    use super::*;

    #[track_caller]
    fn check(text: &str, query: &str, layout: Layout, expect: &str) {
        let mut tree = Tree::new();
        read(text, Doctype::Allowed, Names::Namespaces, &mut tree).expect("the document is good");
        let found = search(query, &tree, &[], Dialect::One);
        let Ok(Searched::Nodes(nodes)) = found else {
            panic!("{found:?}")
        };
        assert_eq!(fragment(nodes[0], layout), expect);
    }

    const MIXED: &str = "<r xmlns:n=\"urn:n\"><a id=\"2\" b=\"1\"><k/></a><a>t</a><n:b>z</n:b>\
        <c>mixed<d>1</d>tail</c><w> <x>1</x> </w><!--k--><?p i?></r>";

    /// What the second XPath Extractor of JMeter 5.6.3 gives.
    #[test]
    fn laid_out_as_saxon_does() {
        let whole = "<r xmlns:n=\"urn:n\">\n   <a id=\"2\" b=\"1\">\n      <k/>\n   </a>\n   \
            <a>t</a>\n   <n:b>z</n:b>\n   <c>mixed<d>1</d>tail</c>\n   <w>\n      <x>1</x>\n   \
            </w>\n   <!--k-->\n   <?p i?>\n</r>";
        check(MIXED, "/", Layout::Indented, whole);
        let c = "<c xmlns:n=\"urn:n\">mixed<d>1</d>tail</c>";
        check(MIXED, "//c", Layout::Indented, c);
        check(
            MIXED,
            "//processing-instruction()",
            Layout::Indented,
            "<?p i?>",
        );
        let ends_in_element = "<c>m<d>1</d>\n</c>";
        check("<c>m<d>1</d></c>", "/c", Layout::Indented, ends_in_element);
        let escaped = "<a at=\"&lt;&#34;&amp;'x\">1 &lt; 2 &gt; 1 &amp;</a>";
        let text = "<a at=\"&lt;&quot;&amp;'x\">1 &lt; 2 &gt; 1 &amp;</a>";
        check(text, "/a", Layout::Indented, escaped);
        check(text, "/a/text()", Layout::Indented, "1 &lt; 2 > 1 &amp;");
        assert_eq!(attribute("at", "<\"&'x"), "at=\"&lt;&quot;&amp;'x\"");
    }

    /// What the first one gives.
    #[test]
    fn as_read() {
        let a = "<a xmlns:n=\"urn:n\" b=\"1\" id=\"2\"><k/></a>";
        check(MIXED, "//a[1]", Layout::AsRead, a);
        let w = "<w xmlns:n=\"urn:n\"> <x>1</x> </w>";
        check(MIXED, "//w", Layout::AsRead, w);
    }
}
