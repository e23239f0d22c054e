//! Reading a document into a tree.

use std::collections::HashMap;
use std::rc::Rc;

use super::tree::{Id, QName, Tree};

/// How deep elements may be nested.
const DEPTH: usize = 400;

/// How many elements, texts, comments and instructions a document may have.
const NODES: usize = 1_000_000;

/// How many attributes an element may have: each is compared with all others.
const ATTRIBUTES: usize = 1_000;

/// How many prefixes may be declared at one place: each element may look through all of them.
const PREFIXES: usize = 200;

/// How many characters the entities of a document may become.
const EXPANSION: usize = 1_000_000;

/// Whether a document may have a document type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doctype {
    Allowed,
    Refused,
}

/// What names mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Names {
    /// A default namespace counts, and prefixes must be declared.
    Namespaces,
    /// A name without prefix has no namespace.
    Plain,
}

/// What Xerces says about a document that is not well-formed, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Malformed {
    pub(crate) says: String,
    /// The line and the column, from one; none where the document ends before it began.
    pub(crate) at: Option<(usize, usize)>,
}

const ENDS: &str = "XML document structures must start and end within the same entity.";

/// Reads the text into a tree with nothing in it.
pub(crate) fn read(
    text: &str,
    doctype: Doctype,
    names: Names,
    tree: &mut Tree,
) -> Result<(), Malformed> {
    let mut reader = Reader {
        text,
        at: 0,
        doctype,
        names,
        tree,
        entities: HashMap::new(),
        expansion: EXPANSION,
        nodes: NODES,
    };
    reader.document().map_err(|says| {
        let before = &text[..reader.at.min(text.len())];
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        Malformed {
            at: (says != "Premature end of file.").then_some((line, column)),
            says,
        }
    })
}

struct Reader<'t, 'd> {
    text: &'t str,
    at: usize,
    doctype: Doctype,
    names: Names,
    tree: &'d mut Tree,
    entities: HashMap<&'t str, &'t str>,
    expansion: usize,
    /// How many nodes there may still be.
    nodes: usize,
}

/// An element that is open: its name as written, and the prefixes that count inside.
struct Open<'t> {
    name: &'t str,
    element: Id,
    prefixes: Prefixes<'t>,
}

/// The innermost last; shared by all elements that declare none.
type Prefixes<'t> = Rc<Vec<(&'t str, String)>>;

type Read<T> = Result<T, String>;

impl<'t> Reader<'t, '_> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn eat(&mut self, text: &str) -> bool {
        let there = self.rest().starts_with(text);
        if there {
            self.at += text.len();
        }
        there
    }

    /// One more node.
    fn node(&mut self) -> Read<()> {
        let left = self.nodes.checked_sub(1);
        self.nodes = left.ok_or_else(|| format!("The document has more than {NODES} nodes."))?;
        Ok(())
    }

    fn skip_blanks(&mut self) -> bool {
        let rest = self.rest();
        let blanks = rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
        self.at += blanks;
        blanks > 0
    }

    /// The text up to `end`, which is passed.
    fn up_to(&mut self, end: &str) -> Read<&'t str> {
        let rest = self.rest();
        let Some(length) = rest.find(end) else {
            self.at = self.text.len();
            return Err(ENDS.into());
        };
        self.at += length + end.len();
        Ok(&rest[..length])
    }

    fn name(&mut self) -> Option<&'t str> {
        let rest = self.rest();
        if !rest.starts_with(is_name_start) {
            return None;
        }
        let end = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
        self.at += end;
        Some(&rest[..end])
    }

    fn document(&mut self) -> Read<()> {
        if self.rest().starts_with("<?xml") && self.rest()[5..].starts_with([' ', '\t', '\r', '\n'])
        {
            self.up_to("?>")?;
        }
        self.prolog()?;
        self.element()?;
        self.trailing()
    }

    fn prolog(&mut self) -> Read<()> {
        loop {
            self.skip_blanks();
            if self.rest().is_empty() {
                return Err("Premature end of file.".into());
            } else if self.eat("<!--") {
                let comment = self.comment()?;
                self.tree.add_comment(Tree::TOP, comment);
            } else if self.eat("<?") {
                self.instruction(Tree::TOP)?;
            } else if self.eat("<!DOCTYPE") {
                self.doctype()?;
            } else if !self.rest().starts_with('<') {
                return Err("Content is not allowed in prolog.".into());
            } else if self.rest()[1..].starts_with(is_name_start) {
                return Ok(());
            } else {
                return Err(
                    "The markup in the document preceding the root element must be well-formed."
                        .into(),
                );
            }
        }
    }

    fn trailing(&mut self) -> Read<()> {
        loop {
            self.skip_blanks();
            if self.rest().is_empty() {
                return Ok(());
            } else if self.eat("<!--") {
                let comment = self.comment()?;
                self.tree.add_comment(Tree::TOP, comment);
            } else if self.eat("<?") {
                self.instruction(Tree::TOP)?;
            } else if self.rest().starts_with('<') {
                return Err(
                    "The markup in the document following the root element must be well-formed."
                        .into(),
                );
            } else {
                return Err("Content is not allowed in trailing section.".into());
            }
        }
    }

    fn comment(&mut self) -> Read<&'t str> {
        self.node()?;
        let comment = self.up_to("--")?;
        if self.eat(">") {
            Ok(comment)
        } else {
            Err("The string \"--\" is not permitted within comments.".into())
        }
    }

    fn instruction(&mut self, parent: Id) -> Read<()> {
        self.node()?;
        let Some(target) = self.name() else {
            return Err(
                "The processing instruction must begin with the name of the target.".into(),
            );
        };
        if target.eq_ignore_ascii_case("xml") {
            return Err(
                "The processing instruction target matching \"[xX][mM][lL]\" is not allowed."
                    .into(),
            );
        }
        let value = self.up_to("?>")?.trim_start();
        let value = Some(value).filter(|value| !value.is_empty());
        self.tree.add_instruction(parent, target, value);
        Ok(())
    }

    fn doctype(&mut self) -> Read<()> {
        if self.doctype == Doctype::Refused {
            return Err(
                "DOCTYPE is disallowed when the feature \"http://apache.org/xml/features/\
                        disallow-doctype-decl\" set to true."
                    .into(),
            );
        }
        let rest = self.rest();
        let (subset, close) = (rest.find('['), rest.find('>'));
        match (subset, close) {
            (Some(open), Some(close)) if open < close => {
                self.at += open + 1;
                let subset = self.up_to("]")?;
                self.declarations(subset);
                self.up_to(">")?;
            }
            _ => {
                self.up_to(">")?;
            }
        }
        Ok(())
    }

    /// The entities of plain text; others stay unknown.
    fn declarations(&mut self, subset: &'t str) {
        for declaration in subset.split("<!ENTITY").skip(1) {
            let declaration = declaration.trim_start();
            let Some((name, rest)) = declaration.split_once([' ', '\t', '\r', '\n']) else {
                continue;
            };
            let rest = rest.trim_start();
            let Some(quote) = rest.chars().next().filter(|c| matches!(c, '"' | '\'')) else {
                continue;
            };
            if let Some((value, _)) = rest[1..].split_once(quote)
                && !value.contains(['&', '<', '%'])
            {
                self.entities.entry(name).or_insert(value);
            }
        }
    }

    /// The root element with all that it holds.
    fn element(&mut self) -> Read<()> {
        let mut open: Vec<Open<'t>> = Vec::new();
        self.start(&mut open)?;
        // Text after text is one text.
        let mut text = String::new();
        while !open.is_empty() {
            self.characters(&mut text)?;
            let parent = open[open.len() - 1].element;
            if self.eat("<![CDATA[") {
                text.push_str(self.up_to("]]>")?);
                continue;
            }
            if !text.is_empty() {
                self.node()?;
                self.tree.add_text(parent, &text);
                text.clear();
            }
            if self.eat("</") {
                self.end(&mut open)?;
            } else if self.eat("<!--") {
                let comment = self.comment()?;
                self.tree.add_comment(parent, comment);
            } else if self.eat("<?") {
                self.instruction(parent)?;
            } else if self.rest().is_empty() {
                return Err(ENDS.into());
            } else if self.rest()[1..].starts_with(is_name_start) {
                self.start(&mut open)?;
            } else {
                return Err(
                    "The content of elements must consist of well-formed character data \
                            or markup."
                        .into(),
                );
            }
        }
        Ok(())
    }

    fn end(&mut self, open: &mut Vec<Open<'t>>) -> Read<()> {
        let Some(Open { name, .. }) = open.last() else {
            return Ok(());
        };
        let begin = self.at;
        if self.name() != Some(name) {
            self.at = begin;
            return Err(format!(
                "The element type \"{name}\" must be terminated by the matching end-tag \
                 \"</{name}>\"."
            ));
        }
        self.skip_blanks();
        if !self.eat(">") {
            return Err(format!(
                "The end-tag for element type \"{name}\" must end with a '>' delimiter."
            ));
        }
        open.pop();
        Ok(())
    }

    /// A start tag, with the element put where it belongs.
    fn start(&mut self, open: &mut Vec<Open<'t>>) -> Read<()> {
        if open.len() >= DEPTH {
            return Err(format!("Elements are nested more than {DEPTH} deep."));
        }
        self.node()?;
        self.eat("<");
        let name = self.name().unwrap_or_default();
        let mut attributes: Vec<(&'t str, String)> = Vec::new();
        let empty = loop {
            let blanks = self.skip_blanks();
            if self.eat(">") {
                break false;
            } else if self.eat("/>") {
                break true;
            } else if self.rest().is_empty() {
                return Err(ENDS.into());
            }
            let attribute = if blanks { self.name() } else { None };
            let Some(attribute) = attribute else {
                return Err(format!(
                    "Element type \"{name}\" must be followed by either attribute \
                     specifications, \">\" or \"/>\"."
                ));
            };
            let value = self.attribute(name, attribute)?;
            if attributes.iter().any(|(known, _)| *known == attribute) {
                return Err(format!(
                    "Attribute \"{attribute}\" was already specified for element \"{name}\"."
                ));
            }
            if attributes.len() >= ATTRIBUTES {
                return Err(format!(
                    "Element \"{name}\" has more than {ATTRIBUTES} attributes."
                ));
            }
            attributes.push((attribute, value));
        };
        let made = self.made(name, attributes, open)?;
        if !empty {
            open.push(made);
        }
        Ok(())
    }

    fn attribute(&mut self, element: &str, name: &str) -> Read<String> {
        self.skip_blanks();
        if !self.eat("=") {
            return Err(format!(
                "Attribute name \"{name}\" associated with an element type \"{element}\" must be \
                 followed by the ' = ' character."
            ));
        }
        self.skip_blanks();
        let Some(quote) = self.peek().filter(|c| matches!(c, '"' | '\'')) else {
            return Err(format!(
                "Open quote is expected for attribute \"{name}\" associated with an  element type  \
                 \"{element}\"."
            ));
        };
        self.at += 1;
        let mut value = String::new();
        loop {
            let c = self.peek().ok_or(ENDS)?;
            self.at += c.len_utf8();
            match c {
                c if c == quote => return Ok(value),
                '<' => {
                    return Err(format!(
                        "The value of attribute \"{name}\" associated with an element type \
                         \"{element}\" must not contain the '<' character."
                    ));
                }
                '&' => self.reference(&mut value)?,
                '\t' | '\r' | '\n' => value.push(' '),
                c => value.push(c),
            }
        }
    }

    /// The element with its attributes, where it belongs; declarations of prefixes are none.
    fn made(
        &mut self,
        name: &'t str,
        attributes: Vec<(&'t str, String)>,
        open: &[Open<'t>],
    ) -> Read<Open<'t>> {
        let mut prefixes = open
            .last()
            .map_or_else(Prefixes::default, |open| Rc::clone(&open.prefixes));
        let before = prefixes.len();
        let mut plain = Vec::new();
        for (attribute, value) in attributes {
            match attribute.strip_prefix("xmlns") {
                Some("") => Rc::make_mut(&mut prefixes).push(("", value)),
                Some(prefix) if prefix.starts_with(':') => {
                    Rc::make_mut(&mut prefixes).push((&prefix[1..], value));
                }
                _ => plain.push((attribute, value)),
            }
        }
        if prefixes.len() > PREFIXES {
            return Err(format!(
                "Element \"{name}\" is in more than {PREFIXES} declarations of namespaces."
            ));
        }
        let namespace = |prefix: &str| {
            let mut known = prefixes.iter().rev();
            let found = known.find(|(known, _)| *known == prefix);
            found
                .map(|(_, uri)| uri.as_str())
                .filter(|uri| !uri.is_empty())
        };
        let (prefix, local) = name.split_once(':').unwrap_or(("", name));
        let uri = match prefix {
            "" if self.names == Names::Plain => None,
            prefix => namespace(prefix),
        };
        if uri.is_none() && !prefix.is_empty() && self.names == Names::Namespaces {
            return Err(format!(
                "The prefix \"{prefix}\" for element \"{name}\" is not bound."
            ));
        }
        let parent = open.last().map_or(Tree::TOP, |open| open.element);
        let written = Some(prefix).filter(|prefix| uri.is_some() && !prefix.is_empty());
        let local = if uri.is_some() { local } else { name };
        let element = self.tree.add_element(parent, QName { uri, local }, written);
        // Those of the elements around it are found there.
        for (prefix, uri) in &prefixes[before..] {
            if !prefix.is_empty() {
                self.tree.declare(element, prefix, uri);
            }
        }
        for (attribute, value) in &plain {
            let (prefix, local) = attribute.split_once(':').unwrap_or(("", attribute));
            let uri = if prefix.is_empty() {
                None
            } else {
                namespace(prefix)
            };
            let written = uri.is_some().then_some(prefix);
            let local = if uri.is_some() { local } else { *attribute };
            self.tree
                .set_attribute(element, QName { uri, local }, written, value);
        }
        Ok(Open {
            name,
            element,
            prefixes,
        })
    }

    /// Text up to the next markup.
    fn characters(&mut self, text: &mut String) -> Read<()> {
        while let Some(c) = self.peek().filter(|c| *c != '<') {
            if self.rest().starts_with("]]>") {
                return Err(
                    "The character sequence \"]]>\" must not appear in content unless used \
                            to mark the end of a CDATA section."
                        .into(),
                );
            }
            self.at += c.len_utf8();
            match c {
                '&' => self.reference(text)?,
                '\r' => {
                    self.eat("\n");
                    text.push('\n');
                }
                c if is_character(c) => text.push(c),
                c => {
                    return Err(format!(
                        "An invalid XML character (Unicode: 0x{:x}) was found in the element \
                         content of the document.",
                        u32::from(c)
                    ));
                }
            }
        }
        Ok(())
    }

    /// What an `&` refers to; it is behind us.
    fn reference(&mut self, out: &mut String) -> Read<()> {
        if self.eat("#") {
            let rest = self.rest();
            let (digits, radix) = match rest.strip_prefix('x') {
                Some(digits) => (digits, 16),
                None => (rest, 10),
            };
            let length = digits
                .find(|c: char| !c.is_digit(radix))
                .unwrap_or(digits.len());
            let written = &rest[..rest.len() - digits.len() + length];
            self.at += written.len();
            let code = u32::from_str_radix(&digits[..length], radix).ok();
            let c = code.and_then(char::from_u32).filter(|c| is_character(*c));
            let Some(c) = c else {
                return Err(format!(
                    "Character reference \"&#{written}\" is an invalid XML character."
                ));
            };
            if !self.eat(";") {
                return Err("The character reference must end with the ';' delimiter.".into());
            }
            out.push(c);
            return Ok(());
        }
        let Some(name) = self.name() else {
            return Err(
                "The entity name must immediately follow the '&' in the entity reference.".into(),
            );
        };
        if !self.eat(";") {
            return Err(format!(
                "The reference to entity \"{name}\" must end with the ';' delimiter."
            ));
        }
        let value = match name {
            "amp" => "&",
            "lt" => "<",
            "gt" => ">",
            "quot" => "\"",
            "apos" => "'",
            name => *self.entities.get(name).ok_or_else(|| {
                format!("The entity \"{name}\" was referenced, but not declared.")
            })?,
        };
        let left = self.expansion.checked_sub(value.len());
        self.expansion = left.ok_or("The document's entities become too long.")?;
        out.push_str(value);
        Ok(())
    }
}

fn is_name_start(c: char) -> bool {
    c.is_alphabetic() || c == '_' || c == ':'
}

fn is_name(c: char) -> bool {
    is_name_start(c) || c.is_numeric() || matches!(c, '-' | '.' | '\u{b7}')
}

fn is_character(c: char) -> bool {
    !matches!(c, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}')
}
