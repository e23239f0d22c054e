//! Attributes of a configuration file in XML, with the lines on which they stand.

use std::path::Path;

use roxmltree::{Attribute, Node};

/// An attribute with the place where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Placed {
    pub(super) value: String,
    /// `FILE:LINE`.
    pub(super) origin: String,
}

/// What is known of a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Lookup {
    Nowhere,
    At(Placed),
    /// It cannot be told, with the reason.
    Unsure(String),
}

/// The attribute of an element.
pub(super) fn attribute(element: &Node<'_, '_>, name: &str, file: &Path) -> Option<Placed> {
    Some(placed(element.attribute_node(name)?, element, file))
}

/// The value and place of an attribute of an element.
pub(super) fn placed(attribute: Attribute<'_, '_>, element: &Node<'_, '_>, file: &Path) -> Placed {
    let line = element.document().text_pos_at(attribute.range().start).row;
    Placed {
        value: attribute.value().to_owned(),
        origin: format!("{}:{line}", file.display()),
    }
}

/// Whether a file is one, by its name.
pub(super) fn is_xml(name: &str) -> bool {
    Path::new(name).extension() == Some("xml".as_ref())
}

/// The place of an element.
pub(super) fn place(element: &Node<'_, '_>, file: &Path) -> String {
    let line = element.document().text_pos_at(element.range().start).row;
    format!("{}:{line}", file.display())
}
