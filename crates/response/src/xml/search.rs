//! Evaluating expressions, with errors in the words of JMeter's libraries.

use sxd_document::dom::Document;
use sxd_xpath::nodeset::Node;
use sxd_xpath::{Context, ExecutionError, Factory, Value};

use super::functions;

/// How deep brackets may stand in each other in an expression.
const DEPTH: usize = 50;

/// How long an expression may be, in bytes.
const LENGTH: usize = 10_000;

/// What an expression is.
#[derive(Debug)]
pub(crate) enum Searched<'d> {
    Nodes(Vec<Node<'d>>),
    Boolean(bool),
    /// A number or a text, as text.
    Text(String),
}

/// Which functions an expression may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// Those of XPath 1.0.
    One,
    /// Some of XPath 2.0 too.
    Two,
}

/// Whether an expression of an XPath 2 element can be evaluated.
pub(crate) fn is_understood(query: &str) -> bool {
    if query.is_empty() {
        return true;
    }
    if query.len() > LENGTH || is_too_deep(query) {
        return false;
    }
    matches!(Factory::new().build(query), Ok(Some(_))) && calls(query).into_iter().all(is_function)
}

/// Whether this can stand before a parenthesis.
fn is_function(name: &str) -> bool {
    const CORE: &str = " last position count local-name namespace-uri name string concat \
         starts-with contains substring-before substring-after substring string-length \
         normalize-space translate boolean not true false lang number sum floor ceiling round \
         node text comment processing-instruction and or div mod ";
    CORE.split_ascii_whitespace().any(|core| core == name) || functions::is_known(name)
}

/// The names before parentheses, outside of texts.
fn calls(query: &str) -> Vec<&str> {
    let names = names(query);
    let calls = names.into_iter().filter(|(_, rest)| rest.starts_with('('));
    calls.map(|(name, _)| name).collect()
}

/// The prefixes that an expression uses.
fn prefixes(query: &str) -> Vec<&str> {
    let names = names(query);
    let prefixes = names
        .into_iter()
        .filter(|(_, rest)| rest.starts_with(':') && !rest.starts_with("::"));
    prefixes.map(|(name, _)| name).collect()
}

/// The names outside of texts, each with what follows it.
fn names(query: &str) -> Vec<(&str, &str)> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c) || !c.is_ascii();
    let mut found = Vec::new();
    let mut rest = query;
    while let Some(c) = rest.chars().next() {
        if matches!(c, '"' | '\'') {
            rest = rest[1..].split_once(c).map_or("", |(_, after)| after);
            continue;
        }
        let length = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
        let (name, after) = rest.split_at(length);
        if name.is_empty() {
            rest = &rest[c.len_utf8()..];
        } else {
            found.push((name, after));
            rest = after;
        }
    }
    found
}

/// Evaluates an expression on a document; the error is Xalan's.
pub(crate) fn search<'d>(
    query: &str,
    document: Document<'d>,
    namespaces: &[(String, String)],
    dialect: Dialect,
) -> Result<Searched<'d>, String> {
    let expected =
        "A location path was expected, but the end of the XPath expression was found instead.";
    if query.len() > LENGTH || is_too_deep(query) {
        return Err("The XPath expression is too long or too deep.".into());
    }
    if query.is_empty() {
        return Err("Empty expression!".into());
    }
    let built = Factory::new().build(query);
    let built = built.map_err(|_| expected.to_owned())?;
    let built = built.ok_or(expected)?;
    // The crate asserts that prefixes are known.
    let known = |prefix: &&str| namespaces.iter().any(|(known, _)| known == prefix);
    if let Some(prefix) = prefixes(query).iter().find(|prefix| !known(prefix)) {
        return Err(format!("Prefix must resolve to a namespace: {prefix}"));
    }
    let mut context = Context::new();
    if dialect == Dialect::Two {
        functions::add(&mut context);
    }
    for (prefix, uri) in namespaces {
        context.set_namespace(prefix, uri);
    }
    let value = built.evaluate(&context, document.root());
    Ok(match value.map_err(|error| says(&error))? {
        Value::Nodeset(nodes) => Searched::Nodes(nodes.document_order()),
        Value::Boolean(value) => Searched::Boolean(value),
        Value::Number(number) if number.is_infinite() => Searched::Text(
            if number > 0.0 {
                "Infinity"
            } else {
                "-Infinity"
            }
            .to_owned(),
        ),
        Value::Number(number) => Searched::Text(number.to_string()),
        Value::String(text) => Searched::Text(text),
    })
}

/// Xalan's words for an error, which the crate only gives as text.
fn says(error: &ExecutionError) -> String {
    let text = error.to_string();
    let name = text.split("local_part: \"").nth(1);
    let name = name
        .and_then(|rest| rest.split('"').next())
        .unwrap_or_default();
    if text.contains("unknown function") {
        format!("Could not find function: {name}")
    } else if text.contains("unknown variable") {
        format!("Variable not resolvable: {name}")
    } else if let Some((_, prefix)) = text.split_once("unknown namespace prefix ") {
        format!("Prefix must resolve to a namespace: {prefix}")
    } else {
        text
    }
}

fn is_too_deep(query: &str) -> bool {
    let mut depth = 0_usize;
    query.chars().any(|c| {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > DEPTH
    })
}

#[cfg(test)]
mod tests {
    use sxd_document::Package;

    use super::super::read::{Doctype, Names, read};
    use super::super::write::{Layout, fragment};
    use super::*;

    fn evaluate(query: &str, text: &str) {
        let package = Package::new();
        if read(text, Doctype::Allowed, Names::Plain, package.as_document()).is_ok()
            && let Ok(Searched::Nodes(nodes)) =
                search(query, package.as_document(), &[], Dialect::Two)
        {
            for node in nodes {
                drop(fragment(&node, Layout::AsRead));
                drop(fragment(&node, Layout::Indented));
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn any_expression_and_document_do_no_harm(
            query in "\\PC{0,12}",
            text in "\\PC{0,20}",
        ) {
            evaluate(&query, "<r a='1'><b>x</b><!--c--></r>");
            evaluate("//b", &text);
        }

        #[test]
        fn markup_and_expressions_of_special_characters_do_no_harm(
            query in "(/|//|@|\\*|\\[|\\]|\\(|\\)|b|r|1|=|'|,|\\.|\\.\\.|::|:|-|\\$|count|last|not|text|node| or | and | div |self|child|ancestor){0,10}",
            text in "(<|>|/|a|b|<a>|</a>|<b/>|&|;|#|\"|'|=| |<!--|-->|<!\\[CDATA\\[|\\]\\]>|<\\?|\\?>|<!DOCTYPE|\\[|<!ENTITY|é){0,14}",
        ) {
            evaluate(&query, "<r a='1'><b>x</b><!--c--></r>");
            evaluate("//b", &text);
        }
    }

    #[test]
    fn a_document_that_is_too_deep_is_refused() {
        let package = Package::new();
        let text = "<a>".repeat(10_000);
        let error = read(&text, Doctype::Allowed, Names::Plain, package.as_document());
        assert!(error.is_err_and(|error| error.says.contains("400 deep")));
    }
}
