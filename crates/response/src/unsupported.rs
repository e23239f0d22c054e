//! Elements that mean something to JMeter and nothing here.

use weir_plan::{Assertion, Extractor};

use crate::html::CssSelector;
use crate::json::JsonPath;
use crate::xml;

/// What of an extractor cannot be evaluated, in a few words; to be asked before anything runs.
///
/// Texts that hold variables can only be judged once they are rendered: leave those elements out.
pub fn unsupported_extractor(extractor: &Extractor<String>) -> Option<String> {
    match extractor {
        Extractor::XPath2(element) => xpath2(&element.query),
        Extractor::Css(element) => CssSelector::compile(&element.selector)
            .err()
            .map(|says| format!("selector {:?}: {says}", element.selector)),
        _ => None,
    }
}

/// What of an assertion cannot be evaluated, in a few words; to be asked before anything runs.
///
/// Texts that hold variables can only be judged once they are rendered: leave those elements out.
pub fn unsupported_assertion(assertion: &Assertion<String>) -> Option<String> {
    match assertion {
        Assertion::XPath2(element) => xpath2(&element.query),
        Assertion::JsonPath(element) => match JsonPath::compile(&element.path) {
            Err(error) if error.says().contains("is not supported") => {
                Some(format!("path {:?}: {}", element.path, error.says()))
            }
            _ => None,
        },
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
