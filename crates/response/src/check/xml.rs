//! The XML Assertion and the XPath Assertions.

use std::borrow::Cow;

use weir_plan::{SampleScope, XPath2Assertion, XPathAssertion, XmlAssertion};

use crate::extract::xpath::{NotSearched, declared, read_for, search2};
use crate::xml::{Dialect, Doctype, Names, Searched, Tree, Trouble, read, search};
use crate::{AssertionOutcome, SampleView, Variables};

pub(super) fn well_formed(
    element: &XmlAssertion<String>,
    sample: &SampleView<'_>,
) -> AssertionOutcome {
    let name = &element.name;
    if sample.text().is_empty() {
        return AssertionOutcome::nothing_there(name);
    }
    let mut tree = Tree::new();
    match read(sample.text(), Doctype::Refused, Names::Plain, &mut tree) {
        Ok(()) => AssertionOutcome::passed(name),
        Err(error) => AssertionOutcome {
            failure: true,
            ..AssertionOutcome::error(name, error.says)
        },
    }
}

pub(super) fn xpath(
    element: &XPathAssertion<String>,
    sample: &SampleView<'_>,
    variables: &dyn Variables,
) -> AssertionOutcome {
    let (name, query) = (&element.name, &element.query);
    let text = text(&element.scope, sample, variables);
    if text.is_empty() {
        return AssertionOutcome::nothing_there(name);
    }
    let mut tree = Tree::new();
    if let Err(says) = read_for(&text, element.reading, &mut tree) {
        return AssertionOutcome::error(name, format!("SAXException: {says}"));
    }
    let searched = search(
        query,
        &tree,
        &declared(&tree, element.reading),
        Dialect::One,
    );
    let (failure, message) = match searched {
        Err(says) => {
            let message = format!("TransformerException: {says} for: {query}");
            return AssertionOutcome::error(name, message);
        }
        Ok(Searched::Nodes(nodes)) if nodes.is_empty() => {
            (!element.negate, format!("No Nodes Matched {query}"))
        }
        Ok(Searched::Nodes(_)) if element.negate => (
            true,
            "Specified XPath was found... Turn off negate if this is not desired".to_owned(),
        ),
        Ok(Searched::Nodes(_)) => (false, String::new()),
        Ok(Searched::Boolean(value)) => (value == element.negate, matched(query, element.negate)),
        Ok(Searched::Text(_)) => (true, format!("Cannot understand: {query}")),
    };
    AssertionOutcome {
        failure,
        ..AssertionOutcome::failed(name, message)
    }
}

pub(super) fn xpath2(
    element: &XPath2Assertion<String>,
    sample: &SampleView<'_>,
    variables: &dyn Variables,
) -> AssertionOutcome {
    let (name, query) = (&element.name, &element.query);
    let text = text(&element.scope, sample, variables);
    if text.is_empty() && matches!(element.scope, SampleScope::Variable(_)) {
        return AssertionOutcome::nothing_there(name);
    }
    let with_message = |failure: bool, message: String| AssertionOutcome {
        failure,
        ..AssertionOutcome::failed(name, message)
    };
    if query.is_empty() {
        return with_message(false, String::new());
    }
    let mut tree = Tree::new();
    let holds = match search2(query, &element.namespaces, &text, &mut tree, Dialect::One) {
        Ok(Searched::Nodes(nodes)) => !nodes.is_empty(),
        Ok(Searched::Boolean(value)) => value,
        Ok(Searched::Text(_)) => true,
        Err(why) => {
            // JMeter also asks Xalan, which knows the functions of XPath 1.0 only.
            let message = match &why {
                NotSearched::Expression(trouble @ Trouble::Function(_)) => {
                    format!("Exception: {trouble} for:{query}")
                }
                _ => format!(
                    "Exception occurred computing assertion with XPath:{query}, error:{why}"
                ),
            };
            return AssertionOutcome::error(name, message);
        }
    };
    with_message(holds == element.negate, matched(query, element.negate))
}

fn matched(query: &str, negate: bool) -> String {
    let no = if negate { "" } else { "No " };
    format!("{no}Nodes Matched for {query}")
}

fn text<'t>(
    scope: &SampleScope<String>,
    sample: &'t SampleView<'_>,
    variables: &'t dyn Variables,
) -> Cow<'t, str> {
    Cow::Borrowed(match scope {
        SampleScope::Variable(name) => variables.get(name).unwrap_or_default(),
        _ => sample.text(),
    })
}
