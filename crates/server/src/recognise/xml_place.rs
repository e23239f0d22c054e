//! Attributes of a configuration file in XML, with the lines on which they stand.

use std::path::Path;

use roxmltree::Node;

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
    let attribute = element.attribute_node(name)?;
    let line = element.document().text_pos_at(attribute.range().start).row;
    Some(Placed {
        value: attribute.value().to_owned(),
        origin: format!("{}:{line}", file.display()),
    })
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
