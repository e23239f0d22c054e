//! The two XPath Extractors.

use std::fmt;

use weir_plan::{SampleScope, XPath2Extractor, XPathExtractor, XmlReading};

use super::{Extraction, number};
use crate::scope::samples;
use crate::xml::{
    Dialect, Doctype, Layout, Malformed, Names, Node, Searched, Tree, Trouble, attribute, fragment,
    read, read_page, search,
};
use crate::{AssertionOutcome, SampleView, Variables};

/// The values that were found; nothing for a node without one.
type Values = Vec<Option<String>>;

pub(super) fn extract(
    element: &XPathExtractor<String>,
    sample: &SampleView<'_>,
    variables: &mut dyn Variables,
    random: &mut dyn FnMut(usize) -> usize,
) -> Extraction {
    let before = prepare(variables, &element.variable, &element.default);
    let mut found = Values::new();
    let mut wanted = number(&element.match_number);
    let mut one = |text: &str| -> Result<(), String> {
        let mut tree = Tree::new();
        read_for(text, element.reading, &mut tree)?;
        let namespaces = declared(&tree, element.reading);
        let searched = search(&element.query, &tree, &namespaces, Dialect::One)?;
        if !matches!(searched, Searched::Nodes(_)) {
            // A value that is no node is taken whatever number is wanted (JMeter).
            found.extend(values(searched, element.fragment));
            return Ok(());
        }
        let values = values(searched, element.fragment);
        if wanted == 0 && !values.is_empty() {
            wanted = i32::try_from(random(values.len())).unwrap_or(0) + 1;
        }
        let values = values.into_iter().zip(1_i32..);
        found.extend(
            values
                .filter(|(_, n)| wanted < 0 || *n == wanted)
                .map(|(value, _)| value),
        );
        Ok(())
    };
    let done = match &element.scope {
        SampleScope::Variable(name) => match variables.get(name) {
            None | Some("") => Ok(()),
            Some(text) => one(text),
        },
        scope => samples(scope, sample)
            .iter()
            .try_for_each(|sample| one(sample.text())),
    };
    concluded(done, &element.name, || {
        save(variables, &element.variable, &found, before);
    })
}

pub(super) fn extract2(
    element: &XPath2Extractor<String>,
    sample: &SampleView<'_>,
    variables: &mut dyn Variables,
    random: &mut dyn FnMut(usize) -> usize,
) -> Extraction {
    let before = prepare(variables, &element.variable, &element.default);
    let mut found = Values::new();
    let wanted = number(&element.match_number);
    let mut one = |text: &str| -> Result<(), String> {
        if element.query.is_empty() {
            return Ok(());
        }
        let mut tree = Tree::new();
        let searched = search2(
            &element.query,
            &element.namespaces,
            text,
            &mut tree,
            Dialect::Two,
        )
        .map_err(|why| why.to_string())?;
        let mut values = values2(searched, element.fragment);
        match usize::try_from(wanted) {
            Err(_) => found.append(&mut values),
            Ok(0) if values.is_empty() => return Err("-1".into()),
            Ok(0) => found.push(values.swap_remove(random(values.len()))),
            Ok(n) if n <= values.len() => found.push(values.swap_remove(n - 1)),
            Ok(_) => {}
        }
        Ok(())
    };
    let done = match &element.scope {
        SampleScope::Variable(name) => match variables.get(name) {
            None | Some("") => Ok(()),
            Some(text) => one(text),
        },
        // JMeter counts the samples in scope, but looks at the sample itself for each.
        scope => samples(scope, sample)
            .iter()
            .try_for_each(|_| one(sample.text())),
    };
    concluded(done, &element.name, || {
        save(variables, &element.variable, &found, before);
    })
}

/// Saves what was found, or notes why nothing could be looked for.
fn concluded(done: Result<(), String>, name: &str, save: impl FnOnce()) -> Extraction {
    match done {
        Ok(()) => {
            save();
            Extraction::default()
        }
        Err(says) => noted(name, &says),
    }
}

/// Why an XPath 2 element finds nothing.
pub(crate) enum NotSearched {
    /// What is to be searched is no document, in Java's words.
    Document(String),
    /// The expression cannot be evaluated.
    Expression(Trouble),
}

/// Saxon's words, behind the name of the exception.
impl fmt::Display for NotSearched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SAXON: &str = "net.sf.saxon.s9api.SaxonApiException";
        match self {
            Self::Document(says) => f.write_str(says),
            Self::Expression(Trouble::NoPath) => write!(
                f,
                "{SAXON}: Expected an expression, but reached the end of the input"
            ),
            Self::Expression(Trouble::Prefix(prefix)) => {
                write!(
                    f,
                    "{SAXON}: Namespace prefix '{prefix}' has not been declared"
                )
            }
            Self::Expression(trouble) => write!(f, "{SAXON}: {trouble}"),
        }
    }
}

/// Evaluates an XPath 2 element's expression, as far as it is XPath 1.0.
pub(crate) fn search2<'d>(
    query: &str,
    namespaces: &str,
    text: &str,
    tree: &'d mut Tree,
    dialect: Dialect,
) -> Result<Searched<'d>, NotSearched> {
    let pairs = namespaces.lines().filter_map(|line| line.split_once('='));
    let pairs: Vec<(String, String)> = pairs
        .map(|(prefix, uri)| (prefix.to_owned(), uri.to_owned()))
        .collect();
    read(text, Doctype::Allowed, Names::Namespaces, tree).map_err(|error| {
        let Malformed { says, at } = error;
        let at = at.map_or(String::new(), |(line, column)| {
            format!("lineNumber: {line}; columnNumber: {column}; ")
        });
        NotSearched::Document(format!("org.xml.sax.SAXParseException; {at}{says}"))
    })?;
    search(query, tree, &pairs, dialect).map_err(NotSearched::Expression)
}

/// Reads a body as the element says.
pub(crate) fn read_for(text: &str, reading: XmlReading, tree: &mut Tree) -> Result<(), String> {
    if reading.tolerant && !text.starts_with("<?xml") {
        return read_page(text, tree).map_err(|refused| refused.to_string());
    }
    let names = if reading.namespaces {
        Names::Namespaces
    } else {
        Names::Plain
    };
    read(text, Doctype::Allowed, names, tree).map_err(|error| error.says)
}

/// The prefixes that the root element declares. Where a document is read without regard to
/// namespaces they are known, but nothing is in their namespaces (JMeter).
pub(crate) fn declared(tree: &Tree, reading: XmlReading) -> Vec<(String, String)> {
    const NOWHERE: &str = "\0";
    let root = tree.root().children().find_map(|child| match child {
        Node::Element(element) => Some(element),
        _ => None,
    });
    let Some(root) = root else { return Vec::new() };
    let uri = |uri: &str| if reading.namespaces { uri } else { NOWHERE }.to_owned();
    root.namespaces_in_scope()
        .into_iter()
        .map(|namespace| (namespace.prefix.to_owned(), uri(namespace.uri)))
        .filter(|(prefix, _)| prefix != "xml")
        .collect()
}

fn values(searched: Searched<'_>, as_xml: bool) -> Values {
    match searched {
        Searched::Boolean(value) => vec![Some(value.to_string())],
        Searched::Text(text) => vec![Some(text)],
        Searched::Nodes(nodes) => {
            let values = nodes.into_iter().map(|node| value(node, as_xml));
            values.collect()
        }
    }
}

/// What JMeter takes of a node: of an element only the text that it begins with.
pub(crate) fn value(node: Node<'_>, as_xml: bool) -> Option<String> {
    match node {
        Node::Element(_) if as_xml => Some(fragment(node, Layout::AsRead)),
        Node::Element(_) => match node.children().next()? {
            Node::Element(_) => None,
            first => value(first, false),
        },
        Node::Root(_) => None,
        node => Some(node.text()),
    }
}

fn values2(searched: Searched<'_>, as_xml: bool) -> Values {
    let show = |node: Node<'_>| match node {
        Node::Attribute(found) if as_xml => attribute(found.name().local, found.value()),
        node if as_xml => fragment(node, Layout::Indented),
        node => node.text(),
    };
    match searched {
        Searched::Nodes(nodes) => nodes.into_iter().map(|node| Some(show(node))).collect(),
        other => values(other, as_xml),
    }
}

/// Sets the default and forgets the count, which is returned.
fn prepare(variables: &mut dyn Variables, name: &str, default: &str) -> usize {
    variables.set(name, default);
    let count_name = format!("{name}_matchNr");
    let count = variables
        .get(&count_name)
        .and_then(|count| count.parse().ok());
    variables.set(&count_name, "0");
    variables.remove(&format!("{name}_1"));
    count.unwrap_or(0)
}

fn save(variables: &mut dyn Variables, name: &str, found: &Values, before: usize) {
    let count = found.len();
    variables.set(&format!("{name}_matchNr"), &count.to_string());
    if let Some(Some(first)) = found.first() {
        variables.set(name, first);
    }
    for (n, value) in found.iter().enumerate() {
        if let Some(value) = value {
            variables.set(&format!("{name}_{}", n + 1), value);
        }
    }
    variables.remove(&format!("{name}_{}", count + 1));
    for n in count + 2..=before {
        variables.remove(&format!("{name}_{n}"));
    }
}

/// A failure that is shown but does not fail the sample.
fn noted(name: &str, says: &str) -> Extraction {
    let message = format!("{says}\nSee log file for further details.");
    Extraction {
        outcome: Some(AssertionOutcome::failed(name, message)),
        fails_sample: false,
    }
}
