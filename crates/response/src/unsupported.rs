//! Elements that mean something to JMeter and nothing here.

use weir_plan::{Assertion, Extractor};

use crate::html::CssSelector;
use crate::json::{JsonPath, JsonPathError};
use crate::xml;

/// What of an extractor cannot be evaluated, in a few words; to be asked before anything runs.
///
/// `known` says what a text will be; of one that is known only when it is rendered, nothing is
/// said.
pub fn unsupported_extractor<T>(
    extractor: &Extractor<T>,
    known: impl FnOnce(&T) -> Option<String>,
) -> Option<String> {
    match extractor {
        Extractor::XPath2(element) => xpath2(&known(&element.query)?),
        Extractor::Css(element) => {
            let selector = known(&element.selector)?;
            let error = CssSelector::compile(&selector).err()?;
            Some(format!("selector {selector:?}: {error}"))
        }
        _ => None,
    }
}

/// What of an assertion cannot be evaluated, in a few words; to be asked before anything runs.
///
/// `known` says what a text will be; of one that is known only when it is rendered, nothing is
/// said.
pub fn unsupported_assertion<T>(
    assertion: &Assertion<T>,
    known: impl FnOnce(&T) -> Option<String>,
) -> Option<String> {
    match assertion {
        Assertion::XPath2(element) => xpath2(&known(&element.query)?),
        Assertion::JsonPath(element) => {
            let path = known(&element.path)?;
            match JsonPath::compile(&path) {
                Err(JsonPathError::Unsupported(says)) => Some(format!("path {path:?}: {says}")),
                _ => None,
            }
        }
        _ => None,
    }
}

fn xpath2(query: &str) -> Option<String> {
    (!xml::is_understood(query)).then(|| {
        format!("{query:?} is not XPath 1.0, of which XPath 2 elements understand little more")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_more_than_xpath_1_is_told() {
        for query in [
            "",
            "//b",
            "count(//p:b)=2",
            "upper-case(//b[1])",
            "string-join(//@id,',')",
        ] {
            assert_eq!(xpath2(query), None, "{query}");
        }
        for query in [
            "for $x in //b return $x",
            "1 to 3",
            "tokenize('a b',' ')",
            "//b/name()",
        ] {
            assert!(xpath2(query).is_some(), "{query}");
        }
    }
}
