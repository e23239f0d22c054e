//! Pages as trees, for the "tolerant" elements.
//!
//! JMeter uses `JTidy`; here pages are read as browsers do, by `scraper`. Blanks are made one, as
//! `JTidy` does, and a `tbody` that is not written is left out. What `JTidy` makes of pages that
//! are badly broken is not followed.

use scraper::{ElementRef, Node};

use super::tree::{Id, QName, Tree};
use crate::bounds::TooMuch;
use crate::html;

/// Reads a page into a tree with nothing in it, or says why it is too much.
pub(crate) fn read_page(text: &str, tree: &mut Tree) -> Result<(), TooMuch> {
    let page = html::read(text)?;
    let written = text.to_ascii_lowercase().contains("<tbody");
    let mut copy = Copy { tree, written };
    let root = copy.element(page.root_element(), Tree::TOP);
    copy.all_children(page.root_element(), root);
    Ok(())
}

struct Copy<'d> {
    tree: &'d mut Tree,
    /// Whether the page itself has a `tbody`.
    written: bool,
}

impl Copy<'_> {
    /// An element without what it holds.
    fn element(&mut self, from: ElementRef<'_>, parent: Id) -> Id {
        let plain = |local| QName { uri: None, local };
        let made = self
            .tree
            .add_element(parent, plain(from.value().name()), None);
        for (name, value) in from.value().attrs() {
            self.tree.set_attribute(made, plain(name), None, value);
        }
        made
    }

    /// Copies what an element holds; no deeper in itself than a page is nested.
    fn all_children(&mut self, from: ElementRef<'_>, to: Id) {
        let mut text = String::new();
        self.children(from, to, &mut text);
        self.text(to, &mut text);
    }

    /// Copies them behind a text, which is the text behind them at the end: text after text is one.
    fn children(&mut self, from: ElementRef<'_>, to: Id, before: &mut String) {
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
                        before.push_str(&text);
                    }
                }
                Node::Comment(comment) => {
                    self.text(to, before);
                    self.tree.add_comment(to, comment);
                }
                Node::Element(element) => {
                    let Some(child) = ElementRef::wrap(child) else {
                        continue;
                    };
                    if element.name() == "tbody" && !self.written {
                        self.children(child, to, before);
                    } else {
                        self.text(to, before);
                        let made = self.element(child, to);
                        self.all_children(child, made);
                    }
                }
                _ => {}
            }
        }
    }

    fn text(&mut self, to: Id, text: &mut String) {
        if !text.is_empty() {
            self.tree.add_text(to, text);
            text.clear();
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
