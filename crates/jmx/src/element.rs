//! One element of a plan: its type, its name, its properties.
//!
//! JMeter has saved the same property in different ways over its versions (`stringProp`,
//! `intProp`, `boolProp`), so properties are read by name, and converted leniently.

use std::path::Path;

use roxmltree::Node;
use weir_plan::{ElementId, Position, Template};

use crate::document::Document;

/// Elements that JMeter knows under more than one name.
const ALIASES: [(&str, &str); 5] = [
    ("HTTPSampler", "HTTPSamplerProxy"),
    ("HTTPSampler2", "HTTPSamplerProxy"),
    ("HTTPSamplerFull", "HTTPSamplerProxy"),
    ("Assertion", "ResponseAssertion"),
    ("RecordController", "RecordingController"),
];

/// JMeter's own classes may be written with their package.
const PACKAGE: &str = "org.apache.jmeter.";

const PROPERTY_TAGS: [&str; 6] = [
    "stringProp",
    "boolProp",
    "intProp",
    "longProp",
    "doubleProp",
    "FloatProperty",
];

/// An element of the test plan, or an `elementProp` inside one.
#[derive(Clone, Copy)]
pub(crate) struct Element<'a> {
    node: Node<'a, 'a>,
    document: &'a Document<'a>,
}

impl<'a> Element<'a> {
    pub(crate) fn new(node: Node<'a, 'a>, document: &'a Document<'a>) -> Self {
        Self { node, document }
    }

    /// The element's type. JMeter 5.6.3, measured: the tag says it, whatever `testclass` says.
    pub(crate) fn class(&self) -> &'a str {
        let class = match self.attribute("class") {
            "" => self.node.tag_name().name(),
            class => class,
        };
        let short = match class.strip_prefix(PACKAGE) {
            Some(path) => path.rsplit('.').next().unwrap_or(path),
            None => class,
        };
        let alias = ALIASES.iter().find(|(alias, _)| *alias == short);
        alias.map_or(short, |(_, class)| class)
    }

    /// The class of the window in which JMeter shows it, without its package.
    pub(crate) fn gui_class(&self) -> &'a str {
        let class = self.attribute("guiclass");
        class.rsplit('.').next().unwrap_or(class)
    }

    /// The name that the user gave it.
    pub(crate) fn name(&self) -> &'a str {
        self.attribute("testname")
    }

    /// The name as a text that may hold variables.
    pub(crate) fn name_template(&self) -> Template {
        Template {
            text: self.name().to_owned(),
            at: self.at(),
        }
    }

    /// An XML attribute; empty if there is none.
    pub(crate) fn attribute(&self, name: &str) -> &'a str {
        self.node.attribute(name).unwrap_or_default()
    }

    /// Disabled elements are as good as deleted, with all that is below them.
    pub(crate) fn is_enabled(&self) -> bool {
        !self.attribute("enabled").eq_ignore_ascii_case("false")
    }

    /// An identity that is the same wherever the element is in scope.
    pub(crate) fn id(&self) -> ElementId {
        self.document.id(self.node)
    }

    /// How many bytes of the file it takes.
    pub(crate) fn bytes(&self) -> usize {
        self.node.range().len()
    }

    /// The file, if it is not the plan's own.
    pub(crate) fn included(&self) -> Option<&'a Path> {
        self.document.included()
    }

    pub(crate) fn at(&self) -> Position {
        self.document.position(self.node)
    }

    /// A property as it was written; `None` if it is not there.
    pub(crate) fn text(&self, property: &str) -> Option<Template> {
        // The last one counts.
        let node = self.children().rfind(|node| {
            property_name(*node) == property && PROPERTY_TAGS.contains(&node.tag_name().name())
        })?;
        Some(Template {
            text: property_text(node),
            at: self.document.position(node),
        })
    }

    /// A property as it was written; without one, an empty text where the element stands.
    pub(crate) fn text_or_empty(&self, property: &str) -> Template {
        self.text(property).unwrap_or_else(|| Template {
            text: String::new(),
            at: self.at(),
        })
    }

    /// A property as it was written; without one, this text.
    pub(crate) fn text_or(&self, property: &str, default: &str) -> Template {
        self.text(property).unwrap_or_else(|| Template {
            text: default.to_owned(),
            at: self.at(),
        })
    }

    /// A whole number without variables; one that cannot be read counts as 0, as in JMeter.
    pub(crate) fn number(&self, property: &str) -> Option<i32> {
        let text = self.text(property)?.text;
        Some(text.trim().parse().unwrap_or(0))
    }

    /// Whether a property is there and true.
    pub(crate) fn is(&self, property: &str) -> bool {
        self.flag(property) == Some(true)
    }

    /// A property that is true or false; `None` if it is not there. Only `true` in any case is
    /// true.
    pub(crate) fn flag(&self, property: &str) -> Option<bool> {
        let text = self.text(property)?.text;
        Some(text.eq_ignore_ascii_case("true"))
    }

    /// An `elementProp`.
    pub(crate) fn element(&self, property: &str) -> Option<Self> {
        let node = self
            .children()
            .filter(|node| node.has_tag_name("elementProp"))
            .rfind(|node| node.attribute("name") == Some(property))?;
        Some(Self::new(node, self.document))
    }

    /// The `elementProp`s of a `collectionProp`.
    pub(crate) fn collection(&self, property: &str) -> Vec<Self> {
        self.members(property)
            .filter(|node| node.has_tag_name("elementProp"))
            .map(|node| Self::new(node, self.document))
            .collect()
    }

    /// The texts of a `collectionProp`.
    pub(crate) fn texts(&self, property: &str) -> Vec<Template> {
        self.texts_of(self.members(property))
    }

    /// The texts of the `collectionProp`s in a `collectionProp`.
    pub(crate) fn rows(&self, property: &str) -> Vec<Vec<Template>> {
        self.members(property)
            .filter(|node| node.has_tag_name("collectionProp"))
            .map(|row| self.texts_of(row.children()))
            .collect()
    }

    /// The properties that name a file, as their own names say it, in elements of any kind.
    pub(crate) fn file_names(&self) -> Vec<Template> {
        let names_file = |node: &Node<'_, '_>| {
            let name = property_name(*node).to_ascii_lowercase();
            let ends = ["filename", "file_name", "filepath", "file.path"];
            ends.iter().any(|end| name.ends_with(end))
        };
        let properties = self.children();
        let named = properties
            .filter(|node| PROPERTY_TAGS.contains(&node.tag_name().name()) && names_file(node));
        let texts = named.map(|node| Template {
            text: property_text(node),
            at: self.document.position(node),
        });
        texts.filter(|file| !file.text.trim().is_empty()).collect()
    }

    /// Names and texts in the value of an `objProp`.
    pub(crate) fn object(&self, property: &str) -> Vec<(String, String)> {
        self.children()
            .filter(|node| node.has_tag_name("objProp") && property_name(*node) == property)
            .filter_map(|node| child_named(node, "value"))
            .flat_map(|value| value.children().filter(Node::is_element))
            .map(|node| (node.tag_name().name().to_owned(), own_text(node)))
            .collect()
    }

    fn members(&self, property: &str) -> impl Iterator<Item = Node<'a, 'a>> {
        self.children()
            .filter(|node| node.has_tag_name("collectionProp"))
            .filter(move |node| node.attribute("name") == Some(property))
            .flat_map(|node| node.children())
    }

    fn texts_of(&self, nodes: impl Iterator<Item = Node<'a, 'a>>) -> Vec<Template> {
        nodes
            .filter(|node| PROPERTY_TAGS.contains(&node.tag_name().name()))
            .map(|node| Template {
                text: property_text(node),
                at: self.document.position(node),
            })
            .collect()
    }

    fn children(&self) -> impl DoubleEndedIterator<Item = Node<'a, 'a>> + use<'a> {
        self.node.children().filter(Node::is_element)
    }
}

/// The name is an attribute, or, in numbers with a fraction, a child.
fn property_name<'a>(node: Node<'a, 'a>) -> &'a str {
    node.attribute("name")
        .or_else(|| child_named(node, "name")?.text())
        .unwrap_or_default()
}

fn property_text(node: Node<'_, '_>) -> String {
    let node = referred(node).unwrap_or(node);
    own_text(child_named(node, "value").unwrap_or(node))
}

/// The element that stands for this one: `reference="../../collectionProp/stringProp[2]"`. JMeter
/// writes an object in this way when the plan has held it before.
fn referred<'a>(node: Node<'a, 'a>) -> Option<Node<'a, 'a>> {
    let path = node.attribute("reference")?;
    path.split('/').try_fold(node, |at, part| {
        if part == ".." {
            return at.parent();
        }
        let (name, place) = match part.split_once('[') {
            Some((name, place)) => (name, place.trim_end_matches(']').parse::<usize>().ok()?),
            None => (part, 1),
        };
        let named = at.children().filter(|child| child.has_tag_name(name));
        named.into_iter().nth(place.checked_sub(1)?)
    })
}

fn own_text(node: Node<'_, '_>) -> String {
    let texts = node.children().filter(Node::is_text);
    texts.filter_map(|text| text.text()).collect()
}

fn child_named<'a>(node: Node<'a, 'a>, name: &str) -> Option<Node<'a, 'a>> {
    node.children().find(|child| child.has_tag_name(name))
}

/// An element and what stands in the `hashTree` that follows it.
pub(crate) struct Branch<'a> {
    pub(crate) element: Element<'a>,
    pub(crate) below: Vec<Branch<'a>>,
}

impl<'a> Branch<'a> {
    /// The branches of a `hashTree`: each element takes the `hashTree` that follows it, if one
    /// does.
    ///
    /// It calls itself once per level; the document bounds the levels.
    pub(crate) fn of_tree(tree: Node<'a, 'a>, document: &'a Document<'a>) -> Vec<Self> {
        let mut branches: Vec<Self> = Vec::new();
        let mut open = false;
        for node in tree.children().filter(Node::is_element) {
            if !node.has_tag_name("hashTree") {
                branches.push(Self {
                    element: Element::new(node, document),
                    below: Vec::new(),
                });
                open = true;
            } else if let Some(last) = branches.last_mut().filter(|_| open) {
                last.below = Self::of_tree(node, document);
                open = false;
            }
        }
        branches
    }
}
