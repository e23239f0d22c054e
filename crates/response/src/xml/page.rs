//! Pages as trees, for the "tolerant" elements.
//!
//! JMeter uses `JTidy`; here pages are read as browsers do, by `scraper`. Blanks are made one, as
//! `JTidy` does, and a `tbody` that is not written is left out. What `JTidy` makes of pages that are
//! badly broken is not followed.

use scraper::{ElementRef, Node};
use sxd_document::dom::{Document, Element};

use super::read::push_text;
use crate::html;

/// How deep elements may be nested; what is deeper is left out.
const DEPTH: usize = 400;

/// Reads a page into the document.
pub(crate) fn read_page(text: &str, document: Document<'_>) {
    let page = html::read(text);
    let written = text.to_ascii_lowercase().contains("<tbody");
    let copy = Copy { document, written };
    let root = copy.element(page.root_element());
    document.root().append_child(root);
    copy.children(page.root_element(), root, DEPTH);
}

struct Copy<'d> {
    document: Document<'d>,
    /// Whether the page itself has a `tbody`.
    written: bool,
}

impl<'d> Copy<'d> {
    fn element(&self, from: ElementRef<'_>) -> Element<'d> {
        let made = self.document.create_element(from.value().name());
        for (name, value) in from.value().attrs() {
            made.set_attribute_value(name, value);
        }
        made
    }

    fn children(&self, from: ElementRef<'_>, to: Element<'d>, depth: usize) {
        for child in from.children() {
            match child.value() {
                Node::Text(text) => {
                    let keep =
                        matches!(from.value().name(), "pre" | "textarea" | "script" | "style");
                    let text = if keep {
                        text.to_string()
                    } else {
                        one_blank(text)
                    };
                    if !text.trim().is_empty() {
                        push_text(self.document, to, &text);
                    }
                }
                Node::Comment(comment) => to.append_child(self.document.create_comment(comment)),
                Node::Element(element) if depth > 0 => {
                    let Some(child) = ElementRef::wrap(child) else {
                        continue;
                    };
                    if element.name() == "tbody" && !self.written {
                        self.children(child, to, depth - 1);
                    } else {
                        let made = self.element(child);
                        to.append_child(made);
                        self.children(child, made, depth - 1);
                    }
                }
                _ => {}
            }
        }
    }
}

/// The text with every run of blanks made one.
fn one_blank(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if !c.is_ascii_whitespace() {
            out.push(c);
        } else if !out.ends_with(' ') {
            out.push(' ');
        }
    }
    out
}
