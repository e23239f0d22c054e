//! The nodes of a document by their place in its order.

use super::super::tree::{Node, Tree};
use crate::bounds::{Budget, TooMuch};

/// A node's place in document order.
pub(super) type Place = u32;

/// A node and where its relatives stand.
#[derive(Debug)]
pub(super) struct Entry<'d> {
    pub(super) node: Node<'d>,
    pub(super) parent: Option<Place>,
    /// Where its children begin: behind its namespaces and attributes.
    pub(super) inner: Place,
    /// Behind all that is in it.
    pub(super) end: Place,
}

impl Entry<'_> {
    /// Whether it stands at an element without being its child.
    pub(super) fn is_beside(&self) -> bool {
        matches!(self.node, Node::Attribute(_) | Node::Namespace(_))
    }
}

/// All nodes in document order.
#[derive(Debug)]
pub(super) struct Index<'d> {
    pub(super) entries: Vec<Entry<'d>>,
}

impl<'d> Index<'d> {
    /// Numbers the nodes of a document; the namespaces only for those who ask for them.
    pub(super) fn of(
        document: &'d Tree,
        with_namespaces: bool,
        budget: &Budget,
    ) -> Result<Self, TooMuch> {
        let mut entries: Vec<Entry<'d>> = Vec::new();
        // What is still to come, the next one last; without a node: the end of the parent.
        let mut coming = vec![Coming::Begin(document.root(), None)];
        while let Some(next) = coming.pop() {
            budget.step(1)?;
            let (node, parent) = match next {
                Coming::Begin(node, parent) => (node, parent),
                Coming::End(place) => {
                    entries[place as usize].end = entries.len() as Place;
                    continue;
                }
            };
            let place = entries.len() as Place;
            let entry = |node, parent, place| Entry {
                node,
                parent,
                inner: place + 1,
                end: place + 1,
            };
            entries.push(entry(node, parent, place));
            if let Node::Element(element) = node {
                if with_namespaces {
                    for namespace in element.namespaces_in_scope() {
                        budget.step(1)?;
                        let at = entries.len() as Place;
                        entries.push(entry(Node::Namespace(namespace), Some(place), at));
                    }
                }
                for attribute in element.attributes() {
                    budget.step(1)?;
                    let at = entries.len() as Place;
                    entries.push(entry(Node::Attribute(attribute), Some(place), at));
                }
                entries[place as usize].inner = entries.len() as Place;
                entries[place as usize].end = entries.len() as Place;
            }
            let children = node.children();
            if children.len() > 0 {
                coming.push(Coming::End(place));
                let children = children.rev();
                coming.extend(children.map(|child| Coming::Begin(child, Some(place))));
            }
        }
        Ok(Self { entries })
    }

    pub(super) fn entry(&self, place: Place) -> &Entry<'d> {
        &self.entries[place as usize]
    }

    /// The text of a node (XPath 1.0, section 5), paid for.
    pub(super) fn text(&self, place: Place, budget: &Budget) -> Result<String, TooMuch> {
        let entry = self.entry(place);
        let mut text = String::new();
        match entry.node {
            Node::Root(_) | Node::Element(_) => {
                for inner in &self.entries[entry.inner as usize..entry.end as usize] {
                    budget.step(1)?;
                    if let Node::Text(part) = inner.node {
                        text.push_str(part);
                    }
                }
            }
            node => text = node.text(),
        }
        pay_for(text.len(), budget)?;
        Ok(text)
    }
}

enum Coming<'d> {
    Begin(Node<'d>, Option<Place>),
    End(Place),
}

/// Pays for a text of so many bytes.
pub(super) fn pay_for(bytes: usize, budget: &Budget) -> Result<(), TooMuch> {
    /// Bytes that are copied and looked through in the time of a step.
    const BYTES_PER_STEP: usize = 16;
    budget.step(1 + bytes / BYTES_PER_STEP)
}
