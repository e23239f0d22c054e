//! XML documents: read as Xerces reads them, searched by XPath 1.0.
//!
//! The reader is ours because an XML Assertion shows what Xerces says about a broken document, and
//! because JMeter reads documents without regard to namespaces unless it is told otherwise; no kept
//! crate does either.
//!
//! A document may declare entities of plain text for itself. Nothing is ever fetched.

mod page;
mod read;
mod search;
mod tree;
mod write;
mod xpath;

pub(crate) use page::read_page;
pub(crate) use read::{Doctype, Malformed, Names, read};
pub(crate) use search::{Dialect, Searched, is_understood, search};
pub(crate) use tree::{Node, Tree};
pub(crate) use write::{Layout, attribute, fragment};
pub(crate) use xpath::Trouble;
