//! A document as a tree: all nodes in one list, each with the numbers of its children.
//!
//! A flat list is dropped without going down into it, however deep a document is, and needs no
//! `unsafe`. Names are kept once each: a document of a million elements has few of them.

use std::collections::HashMap;
use std::rc::Rc;

/// The prefix that every element knows (Namespaces in XML 1.0, section 3), and its namespace.
const XML: (&str, &str) = ("xml", "http://www.w3.org/XML/1998/namespace");

/// An element, or the document itself, while a tree is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Id(u32);

/// A name as it is compared: its namespace, and the name within.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct QName<'t> {
    pub(crate) uri: Option<&'t str>,
    pub(crate) local: &'t str,
}

/// A document.
#[derive(Debug)]
pub(crate) struct Tree {
    /// The first is the document itself.
    nodes: Vec<Data>,
    names: HashMap<Box<str>, Rc<str>>,
}

#[derive(Debug)]
struct Data {
    kind: Kind,
    parent: Option<Id>,
    children: Vec<Id>,
}

#[derive(Debug)]
enum Kind {
    Root,
    Element(Box<ElementData>),
    Text(Box<str>),
    Comment(Box<str>),
    Instruction(Box<str>, Option<Box<str>>),
}

#[derive(Debug)]
struct ElementData {
    name: Name,
    attributes: Vec<AttributeData>,
    /// Prefixes that it declares, and what they stand for.
    declared: Vec<(Rc<str>, Rc<str>)>,
}

#[derive(Debug)]
struct AttributeData {
    name: Name,
    value: Box<str>,
}

#[derive(Debug)]
struct Name {
    uri: Option<Rc<str>>,
    local: Rc<str>,
    /// The prefix that was written.
    prefix: Option<Rc<str>>,
}

impl Name {
    fn as_compared(&self) -> QName<'_> {
        QName {
            uri: self.uri.as_deref(),
            local: &self.local,
        }
    }
}

impl Tree {
    /// The document itself, to put something into it.
    pub(crate) const TOP: Id = Id(0);

    /// A document with nothing in it.
    pub(crate) fn new() -> Self {
        let root = Data {
            kind: Kind::Root,
            parent: None,
            children: Vec::new(),
        };
        Self {
            nodes: vec![root],
            names: HashMap::new(),
        }
    }

    /// An element behind what its parent has; `prefix` is how its namespace was written.
    pub(crate) fn add_element(&mut self, parent: Id, name: QName<'_>, prefix: Option<&str>) -> Id {
        let element = ElementData {
            name: self.name(name, prefix),
            attributes: Vec::new(),
            declared: Vec::new(),
        };
        self.add(parent, Kind::Element(Box::new(element)))
    }

    pub(crate) fn add_text(&mut self, parent: Id, text: &str) {
        self.add(parent, Kind::Text(text.into()));
    }

    pub(crate) fn add_comment(&mut self, parent: Id, text: &str) {
        self.add(parent, Kind::Comment(text.into()));
    }

    pub(crate) fn add_instruction(&mut self, parent: Id, target: &str, value: Option<&str>) {
        let kind = Kind::Instruction(target.into(), value.map(Into::into));
        self.add(parent, kind);
    }

    /// An attribute of an element, in place of one of the same name.
    pub(crate) fn set_attribute(
        &mut self,
        element: Id,
        name: QName<'_>,
        prefix: Option<&str>,
        value: &str,
    ) {
        let made = AttributeData {
            name: self.name(name, prefix),
            value: value.into(),
        };
        if let Some(element) = self.element_mut(element) {
            let attributes = &mut element.attributes;
            attributes.retain(|known| known.name.as_compared() != name);
            attributes.push(made);
        }
    }

    /// A prefix that an element declares, in place of what it stood for there.
    pub(crate) fn declare(&mut self, element: Id, prefix: &str, uri: &str) {
        let (prefix, uri) = (self.kept(prefix), self.kept(uri));
        if let Some(element) = self.element_mut(element) {
            element.declared.retain(|(known, _)| *known != prefix);
            element.declared.push((prefix, uri));
        }
    }

    /// The document itself, to look into it.
    pub(crate) fn root(&self) -> Node<'_> {
        Node::Root(self)
    }

    fn add(&mut self, parent: Id, kind: Kind) -> Id {
        // Documents are bounded far below.
        let id = Id(self.nodes.len() as u32);
        self.nodes.push(Data {
            kind,
            parent: Some(parent),
            children: Vec::new(),
        });
        self.nodes[parent.0 as usize].children.push(id);
        id
    }

    fn name(&mut self, name: QName<'_>, prefix: Option<&str>) -> Name {
        Name {
            uri: name.uri.map(|uri| self.kept(uri)),
            local: self.kept(name.local),
            prefix: prefix.map(|prefix| self.kept(prefix)),
        }
    }

    fn kept(&mut self, name: &str) -> Rc<str> {
        if let Some(known) = self.names.get(name) {
            return Rc::clone(known);
        }
        let kept: Rc<str> = name.into();
        self.names.insert(name.into(), Rc::clone(&kept));
        kept
    }

    fn element_mut(&mut self, element: Id) -> Option<&mut ElementData> {
        match &mut self.nodes[element.0 as usize].kind {
            Kind::Element(element) => Some(element),
            _ => None,
        }
    }

    fn data(&self, id: Id) -> &Data {
        &self.nodes[id.0 as usize]
    }

    fn node(&self, id: Id) -> Node<'_> {
        match &self.data(id).kind {
            Kind::Root => Node::Root(self),
            Kind::Element(data) => Node::Element(Element {
                tree: self,
                id,
                data,
            }),
            Kind::Text(text) => Node::Text(text),
            Kind::Comment(text) => Node::Comment(text),
            Kind::Instruction(target, value) => Node::Instruction(Instruction {
                target,
                value: value.as_deref(),
            }),
        }
    }

    fn children(&self, id: Id) -> Children<'_> {
        Children {
            tree: Some(self),
            ids: self.data(id).children.iter(),
        }
    }
}

/// A node of a document, as XPath has them.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Node<'t> {
    Root(&'t Tree),
    Element(Element<'t>),
    Attribute(Attribute<'t>),
    Text(&'t str),
    Comment(&'t str),
    Instruction(Instruction<'t>),
    Namespace(Namespace<'t>),
}

impl<'t> Node<'t> {
    /// What it holds; attributes and namespaces are not among it.
    pub(crate) fn children(self) -> Children<'t> {
        match self {
            Self::Root(tree) => tree.children(Tree::TOP),
            Self::Element(element) => element.children(),
            _ => Children::default(),
        }
    }

    /// Its name as it is compared, if it has one.
    pub(crate) fn name(self) -> Option<QName<'t>> {
        let plain = |local| QName { uri: None, local };
        match self {
            Self::Element(element) => Some(element.name()),
            Self::Attribute(attribute) => Some(attribute.name()),
            Self::Instruction(instruction) => Some(plain(instruction.target)),
            Self::Namespace(namespace) => Some(plain(namespace.prefix)),
            Self::Root(_) | Self::Text(_) | Self::Comment(_) => None,
        }
    }

    /// Its name with the prefix that stands for its namespace there.
    pub(crate) fn prefixed_name(self) -> Option<String> {
        let name = self.name()?;
        let prefix = match self {
            Self::Element(element) => element.prefix_of(&element.data.name),
            Self::Attribute(attribute) => attribute.of.prefix_of(&attribute.data.name),
            _ => None,
        };
        Some(match prefix {
            Some(prefix) => format!("{prefix}:{}", name.local),
            None => name.local.to_owned(),
        })
    }

    /// Its text (XPath 1.0, section 5).
    pub(crate) fn text(self) -> String {
        match self {
            Self::Root(_) | Self::Element(_) => {
                let mut text = String::new();
                // What is still to come, the next one last.
                let mut coming: Vec<Node<'t>> = self.children().rev().collect();
                while let Some(node) = coming.pop() {
                    match node {
                        Self::Text(part) => text.push_str(part),
                        Self::Element(element) => coming.extend(element.children().rev()),
                        _ => {}
                    }
                }
                text
            }
            Self::Attribute(attribute) => attribute.value().to_owned(),
            Self::Text(text) | Self::Comment(text) => text.to_owned(),
            Self::Instruction(instruction) => instruction.value.unwrap_or_default().to_owned(),
            Self::Namespace(namespace) => namespace.uri.to_owned(),
        }
    }
}

/// Nodes beside each other.
#[derive(Debug, Clone, Default)]
pub(crate) struct Children<'t> {
    tree: Option<&'t Tree>,
    ids: std::slice::Iter<'t, Id>,
}

impl<'t> Iterator for Children<'t> {
    type Item = Node<'t>;

    fn next(&mut self) -> Option<Node<'t>> {
        Some(self.tree?.node(*self.ids.next()?))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.ids.size_hint()
    }
}

impl DoubleEndedIterator for Children<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        Some(self.tree?.node(*self.ids.next_back()?))
    }
}

impl ExactSizeIterator for Children<'_> {}

/// An element.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Element<'t> {
    tree: &'t Tree,
    id: Id,
    data: &'t ElementData,
}

impl<'t> Element<'t> {
    pub(crate) fn name(self) -> QName<'t> {
        self.data.name.as_compared()
    }

    /// The prefix that was written.
    pub(crate) fn prefix(self) -> Option<&'t str> {
        self.data.name.prefix.as_deref()
    }

    pub(crate) fn children(self) -> Children<'t> {
        self.tree.children(self.id)
    }

    /// In the order in which they were written.
    pub(crate) fn attributes(self) -> impl Iterator<Item = Attribute<'t>> {
        let attributes = self.data.attributes.iter();
        attributes.map(move |data| Attribute { of: self, data })
    }

    /// The prefixes that count here, those that it declares itself first.
    pub(crate) fn namespaces_in_scope(self) -> Vec<Namespace<'t>> {
        let mut namespaces = vec![Namespace {
            prefix: XML.0,
            uri: XML.1,
        }];
        for element in self.with_ancestors() {
            for (prefix, uri) in &element.data.declared {
                if !namespaces.iter().any(|known| known.prefix == &**prefix) {
                    namespaces.push(Namespace { prefix, uri });
                }
            }
        }
        namespaces
    }

    fn with_ancestors(self) -> impl Iterator<Item = Self> {
        std::iter::successors(Some(self), |element| {
            let parent = element.tree.data(element.id).parent?;
            match element.tree.node(parent) {
                Node::Element(parent) => Some(parent),
                _ => None,
            }
        })
    }

    /// A prefix for the namespace of a name: the one that was written, if it stands for it.
    fn prefix_of(self, name: &Name) -> Option<&'t str> {
        let uri = name.uri.as_deref()?;
        self.with_ancestors().find_map(|element| {
            let declared = element.data.declared.iter();
            let mut fitting = declared.filter(|(_, known)| &**known == uri);
            let first = fitting.clone().next();
            let written = fitting.find(|(prefix, _)| Some(&**prefix) == name.prefix.as_deref());
            written.or(first).map(|(prefix, _)| &**prefix)
        })
    }
}

/// An attribute.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Attribute<'t> {
    of: Element<'t>,
    data: &'t AttributeData,
}

impl<'t> Attribute<'t> {
    pub(crate) fn name(self) -> QName<'t> {
        self.data.name.as_compared()
    }

    /// The prefix that was written.
    pub(crate) fn prefix(self) -> Option<&'t str> {
        self.data.name.prefix.as_deref()
    }

    pub(crate) fn value(self) -> &'t str {
        &self.data.value
    }
}

/// A processing instruction.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Instruction<'t> {
    pub(crate) target: &'t str,
    pub(crate) value: Option<&'t str>,
}

/// A prefix that counts at an element, and what it stands for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Namespace<'t> {
    pub(crate) prefix: &'t str,
    pub(crate) uri: &'t str,
}
