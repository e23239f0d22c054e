//! Elements of a plan and their properties.

use roxmltree::{Document, Node};

/// An element that is enabled, as are all that it stands in.
#[derive(Clone, Copy)]
pub(super) struct Element<'a> {
    pub(super) node: Node<'a, 'a>,
}

/// Every enabled element in the order of the file.
pub(super) fn all<'a>(document: &'a Document<'a>) -> impl Iterator<Item = Element<'a>> {
    let mut found = Vec::new();
    let mut trees: Vec<Node<'a, 'a>> = document
        .root_element()
        .children()
        .filter(|node| node.has_tag_name("hashTree"))
        .collect();
    while let Some(tree) = trees.pop() {
        for (element, below) in of_tree(tree) {
            found.push(element);
            trees.extend(below);
        }
    }
    found.sort_by_key(|element| element.node.range().start);
    found.into_iter()
}

/// The enabled elements of a `hashTree`, each with the tree of what stands below it.
pub(super) fn of_tree<'a>(
    tree: Node<'a, 'a>,
) -> impl Iterator<Item = (Element<'a>, Option<Node<'a, 'a>>)> {
    tree.children()
        .filter(|node| node.is_element() && !node.has_tag_name("hashTree"))
        .map(|node| Element { node })
        .filter(|element| element.is_enabled() && element.class() != "WorkBench")
        .map(|element| {
            let next = element.node.next_sibling_element();
            let below = next.filter(|next| next.has_tag_name("hashTree"));
            (element, below)
        })
}

impl<'a> Element<'a> {
    fn is_enabled(&self) -> bool {
        self.node.attribute("enabled") != Some("false")
    }

    /// Its class without the package.
    pub(super) fn class(&self) -> &'a str {
        let class = self
            .node
            .attribute("testclass")
            .unwrap_or_else(|| self.node.tag_name().name());
        class.rsplit('.').next().unwrap_or(class)
    }

    /// Its name, for people.
    pub(super) fn name(&self) -> &'a str {
        self.node.attribute("testname").unwrap_or_default()
    }

    /// One of its properties.
    pub(super) fn property(&self, name: &str) -> Option<Node<'a, 'a>> {
        property(self.node, name)
    }

    /// The text of a property, empty when it is not there.
    pub(super) fn text(&self, name: &str) -> &'a str {
        self.property(name)
            .and_then(|node| node.text())
            .unwrap_or_default()
    }

    /// Whether it sends HTTP requests.
    pub(super) fn is_http_sampler(&self) -> bool {
        matches!(
            self.class(),
            "HTTPSamplerProxy" | "HTTPSampler" | "HTTPSampler2"
        )
    }

    /// Whether it holds what HTTP samplers leave empty.
    pub(super) fn is_http_defaults(&self) -> bool {
        let gui = self.node.attribute("guiclass").unwrap_or_default();
        self.class() == "ConfigTestElement" && gui.ends_with("HttpDefaultsGui")
    }
}

/// A property of an element, or of an element inside of a property.
pub(super) fn property<'a>(node: Node<'a, 'a>, name: &str) -> Option<Node<'a, 'a>> {
    node.children()
        .find(|child| child.attribute("name") == Some(name))
}
