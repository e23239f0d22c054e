//! Post-processors that take values out of a response into variables, as settings.
//!
//! Each is generic over its texts: a plan holds `Extractor<Template>`, a compiled plan the same
//! with compiled texts, and what is worked with for one sample is `Extractor<String>`; `map` leads
//! from one to the next. `weir-response` does the work.
//!
//! The names of JMX properties stand with each field. A property that is missing reads as empty
//! text or `false`, if nothing else is said.
//!
//! Match numbers are texts, because variables may stand in them: 0 takes any match at random, n
//! the n-th, and a negative number all of them, as `NAME_1`, `NAME_2`, … with `NAME_matchNr`.

use crate::{Position, SampleField, SampleScope, XmlReading};

/// Any extractor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Extractor<T> {
    /// JMX: `RegexExtractor`.
    Regex(RegexExtractor<T>),
    /// JMX: `BoundaryExtractor`.
    Boundary(BoundaryExtractor<T>),
    /// JMX: `JSONPostProcessor`.
    Json(JsonExtractor<T>),
    /// JMX: `com.atlantbh…JSONPathExtractor`.
    JsonPath(JsonPathExtractor<T>),
    /// JMX: `JMESPathExtractor`.
    JmesPath(JmesPathExtractor<T>),
    /// JMX: `HtmlExtractor`.
    Css(CssExtractor<T>),
    /// JMX: `XPathExtractor`.
    XPath(XPathExtractor<T>),
    /// JMX: `XPath2Extractor`.
    XPath2(XPath2Extractor<T>),
}

impl<T> Extractor<T> {
    /// Replaces every text of the extractor.
    pub fn map<'a, U>(&'a self, f: impl FnMut(&'a T) -> U) -> Extractor<U> {
        match self {
            Self::Regex(element) => Extractor::Regex(element.map(f)),
            Self::Boundary(element) => Extractor::Boundary(element.map(f)),
            Self::Json(element) => Extractor::Json(element.map(f)),
            Self::JsonPath(element) => Extractor::JsonPath(element.map(f)),
            Self::JmesPath(element) => Extractor::JmesPath(element.map(f)),
            Self::Css(element) => Extractor::Css(element.map(f)),
            Self::XPath(element) => Extractor::XPath(element.map(f)),
            Self::XPath2(element) => Extractor::XPath2(element.map(f)),
        }
    }

    /// The element's name.
    pub fn name(&self) -> &T {
        match self {
            Self::Regex(element) => &element.name,
            Self::Boundary(element) => &element.name,
            Self::Json(element) => &element.name,
            Self::JsonPath(element) => &element.name,
            Self::JmesPath(element) => &element.name,
            Self::Css(element) => &element.name,
            Self::XPath(element) => &element.name,
            Self::XPath2(element) => &element.name,
        }
    }

    /// Where the element stands.
    pub fn at(&self) -> Position {
        match self {
            Self::Regex(element) => element.at,
            Self::Boundary(element) => element.at,
            Self::Json(element) => element.at,
            Self::JsonPath(element) => element.at,
            Self::JmesPath(element) => element.at,
            Self::Css(element) => element.at,
            Self::XPath(element) => element.at,
            Self::XPath2(element) => element.at,
        }
    }
}

/// Takes what a regular expression matches. JMX: `RegexExtractor`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegexExtractor<T> {
    /// JMX: `testname`.
    pub name: T,
    /// Where it looks. JMX: `Sample.scope`, `Scope.variable`.
    pub scope: SampleScope<T>,
    /// What it looks at. JMX: `RegexExtractor.useHeaders`, see [`SampleField::of_extractor`].
    pub field: SampleField,
    /// The variable. JMX: `RegexExtractor.refname`.
    pub variable: T,
    /// A Perl 5 expression. JMX: `RegexExtractor.regex`.
    pub regex: T,
    /// The value: text with `$n$` for group n. JMX: `RegexExtractor.template`.
    ///
    /// JMeter compiles it once per thread: variables in it keep the value of the first sample.
    pub template: T,
    /// Which match. JMX: `RegexExtractor.match_number`.
    pub match_number: T,
    /// The value when nothing matches; empty: the variable keeps its value. JMX:
    /// `RegexExtractor.default`.
    pub default: T,
    /// An empty default is a default too. JMX: `RegexExtractor.default_empty_value`.
    pub default_empty: bool,
    /// Where the element stands.
    pub at: Position,
}

impl<T> RegexExtractor<T> {
    /// Replaces every text of the extractor.
    pub fn map<'a, U>(&'a self, mut f: impl FnMut(&'a T) -> U) -> RegexExtractor<U> {
        RegexExtractor {
            name: f(&self.name),
            scope: self.scope.map(&mut f),
            field: self.field,
            variable: f(&self.variable),
            regex: f(&self.regex),
            template: f(&self.template),
            match_number: f(&self.match_number),
            default: f(&self.default),
            default_empty: self.default_empty,
            at: self.at,
        }
    }
}

/// Takes what stands between two texts. JMX: `BoundaryExtractor`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoundaryExtractor<T> {
    /// JMX: `testname`.
    pub name: T,
    /// Where it looks. JMX: `Sample.scope`, `Scope.variable`.
    pub scope: SampleScope<T>,
    /// What it looks at. JMX: `BoundaryExtractor.useHeaders`, see [`SampleField::of_extractor`].
    pub field: SampleField,
    /// The variable. JMX: `BoundaryExtractor.refname`.
    pub variable: T,
    /// The text before; empty: from the start. JMX: `BoundaryExtractor.lboundary`.
    pub left: T,
    /// The text after; empty: to the end. JMX: `BoundaryExtractor.rboundary`.
    pub right: T,
    /// Which match. JMX: `BoundaryExtractor.match_number`.
    pub match_number: T,
    /// The value when nothing matches; blank: the variable keeps its value. JMX:
    /// `BoundaryExtractor.default`.
    pub default: T,
    /// A blank default is a default too. JMX: `BoundaryExtractor.default_empty_value`.
    pub default_empty: bool,
    /// Where the element stands.
    pub at: Position,
}

impl<T> BoundaryExtractor<T> {
    /// Replaces every text of the extractor.
    pub fn map<'a, U>(&'a self, mut f: impl FnMut(&'a T) -> U) -> BoundaryExtractor<U> {
        BoundaryExtractor {
            name: f(&self.name),
            scope: self.scope.map(&mut f),
            field: self.field,
            variable: f(&self.variable),
            left: f(&self.left),
            right: f(&self.right),
            match_number: f(&self.match_number),
            default: f(&self.default),
            default_empty: self.default_empty,
            at: self.at,
        }
    }
}

/// Takes what JSONPath expressions find. JMX: `JSONPostProcessor`.
///
/// Four lists of the same length, each one text with `;` between its members.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonExtractor<T> {
    /// JMX: `testname`.
    pub name: T,
    /// Where it looks. JMX: `Sample.scope`, `Scope.variable`.
    pub scope: SampleScope<T>,
    /// The variables. JMX: `JSONPostProcessor.referenceNames`.
    pub variables: T,
    /// The expressions, in Jayway's dialect. JMX: `JSONPostProcessor.jsonPathExprs`.
    pub paths: T,
    /// Which matches; blank: 0 for all. JMX: `JSONPostProcessor.match_numbers`.
    pub match_numbers: T,
    /// The values when nothing matches. JMX: `JSONPostProcessor.defaultValues`.
    pub defaults: T,
    /// With all matches, also all of them in `NAME_ALL`, commas between. JMX:
    /// `JSONPostProcessor.compute_concat`.
    pub concatenate: bool,
    /// Where the element stands.
    pub at: Position,
}

impl<T> JsonExtractor<T> {
    /// Replaces every text of the extractor.
    pub fn map<'a, U>(&'a self, mut f: impl FnMut(&'a T) -> U) -> JsonExtractor<U> {
        JsonExtractor {
            name: f(&self.name),
            scope: self.scope.map(&mut f),
            variables: f(&self.variables),
            paths: f(&self.paths),
            match_numbers: f(&self.match_numbers),
            defaults: f(&self.defaults),
            concatenate: self.concatenate,
            at: self.at,
        }
    }
}

/// Takes what one JSONPath expression finds: the plugin that was there before JMeter had its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonPathExtractor<T> {
    /// JMX: `testname`.
    pub name: T,
    /// The variable that it looks at; `None`: the body. JMX: `SUBJECT` is `VAR`, `VARIABLE`.
    pub subject: Option<T>,
    /// The variable that it sets. JMX: `VAR`.
    pub variable: T,
    /// The expression, in Jayway's dialect. JMX: `JSONPATH`.
    pub path: T,
    /// The value when nothing is found. JMX: `DEFAULT`.
    pub default: T,
    /// Where the element stands.
    pub at: Position,
}

impl<T> JsonPathExtractor<T> {
    /// Replaces every text of the extractor.
    pub fn map<'a, U>(&'a self, mut f: impl FnMut(&'a T) -> U) -> JsonPathExtractor<U> {
        JsonPathExtractor {
            name: f(&self.name),
            subject: self.subject.as_ref().map(&mut f),
            variable: f(&self.variable),
            path: f(&self.path),
            default: f(&self.default),
            at: self.at,
        }
    }
}

/// Takes what a JMESPath expression finds. JMX: `JMESPathExtractor`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JmesPathExtractor<T> {
    /// JMX: `testname`.
    pub name: T,
    /// Where it looks. JMX: `Sample.scope`, `Scope.variable`.
    pub scope: SampleScope<T>,
    /// The variable. JMX: `JMESExtractor.referenceName`.
    pub variable: T,
    /// The expression. JMX: `JMESExtractor.jmesPathExpr`.
    pub path: T,
    /// Which match; blank: 0. JMX: `JMESExtractor.matchNumber`.
    pub match_number: T,
    /// The value when nothing matches. JMX: `JMESExtractor.defaultValue`.
    pub default: T,
    /// Where the element stands.
    pub at: Position,
}

impl<T> JmesPathExtractor<T> {
    /// Replaces every text of the extractor.
    pub fn map<'a, U>(&'a self, mut f: impl FnMut(&'a T) -> U) -> JmesPathExtractor<U> {
        JmesPathExtractor {
            name: f(&self.name),
            scope: self.scope.map(&mut f),
            variable: f(&self.variable),
            path: f(&self.path),
            match_number: f(&self.match_number),
            default: f(&self.default),
            at: self.at,
        }
    }
}

/// Takes text or an attribute of HTML elements. JMX: `HtmlExtractor`.
///
/// `HtmlExtractor.extractor_impl` empty or `JSOUP` is this; `JODD` is another dialect of selectors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CssExtractor<T> {
    /// JMX: `testname`.
    pub name: T,
    /// Where it looks. JMX: `Sample.scope`, `Scope.variable`.
    pub scope: SampleScope<T>,
    /// The variable. JMX: `HtmlExtractor.refname`.
    pub variable: T,
    /// A CSS selector, in jsoup's dialect. JMX: `HtmlExtractor.expr`.
    pub selector: T,
    /// The attribute; blank: the element's text. JMX: `HtmlExtractor.attribute`.
    pub attribute: T,
    /// Which match. JMX: `HtmlExtractor.match_number`.
    pub match_number: T,
    /// The value when nothing matches; empty: the variable keeps its value. JMX:
    /// `HtmlExtractor.default`.
    pub default: T,
    /// An empty default is a default too. JMX: `HtmlExtractor.default_empty_value`.
    pub default_empty: bool,
    /// Where the element stands.
    pub at: Position,
}

impl<T> CssExtractor<T> {
    /// Replaces every text of the extractor.
    pub fn map<'a, U>(&'a self, mut f: impl FnMut(&'a T) -> U) -> CssExtractor<U> {
        CssExtractor {
            name: f(&self.name),
            scope: self.scope.map(&mut f),
            variable: f(&self.variable),
            selector: f(&self.selector),
            attribute: f(&self.attribute),
            match_number: f(&self.match_number),
            default: f(&self.default),
            default_empty: self.default_empty,
            at: self.at,
        }
    }
}

/// Takes what an XPath 1.0 expression finds. JMX: `XPathExtractor`.
///
/// `XPathExtractor.validate` and `.whitespace` have no effect in JMeter; `.quiet` and
/// `.show_warnings` only change its log; `.download_dtds` would read files elsewhere: refuse it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct XPathExtractor<T> {
    /// JMX: `testname`.
    pub name: T,
    /// Where it looks. JMX: `Sample.scope`, `Scope.variable`.
    pub scope: SampleScope<T>,
    /// The variable. JMX: `XPathExtractor.refname`.
    pub variable: T,
    /// The expression. JMX: `XPathExtractor.xpathQuery`.
    pub query: T,
    /// Which match; the text `-1` when the property is missing. JMX: `XPathExtractor.matchNumber`.
    pub match_number: T,
    /// The value when nothing matches, also when empty. JMX: `XPathExtractor.default`.
    pub default: T,
    /// How the body is read. JMX: `XPathExtractor.tolerant`, `.namespace`, `.report_errors`.
    pub reading: XmlReading,
    /// Take the XML of what was found rather than its text. JMX: `XPathExtractor.fragment`.
    pub fragment: bool,
    /// Where the element stands.
    pub at: Position,
}

impl<T> XPathExtractor<T> {
    /// Replaces every text of the extractor.
    pub fn map<'a, U>(&'a self, mut f: impl FnMut(&'a T) -> U) -> XPathExtractor<U> {
        XPathExtractor {
            name: f(&self.name),
            scope: self.scope.map(&mut f),
            variable: f(&self.variable),
            query: f(&self.query),
            match_number: f(&self.match_number),
            default: f(&self.default),
            reading: self.reading,
            fragment: self.fragment,
            at: self.at,
        }
    }
}

/// Takes what an XPath 2.0 or 3.1 expression finds. JMX: `XPath2Extractor`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct XPath2Extractor<T> {
    /// JMX: `testname`.
    pub name: T,
    /// Where it looks. JMX: `Sample.scope`, `Scope.variable`.
    pub scope: SampleScope<T>,
    /// The variable. JMX: `XPathExtractor2.refname`.
    pub variable: T,
    /// The expression. JMX: `XPathExtractor2.xpathQuery`.
    pub query: T,
    /// Which match. JMX: `XPathExtractor2.matchNumber`.
    pub match_number: T,
    /// The value when nothing matches, also when empty. JMX: `XPathExtractor2.default`.
    pub default: T,
    /// Take the XML of what was found rather than its text. JMX: `XPathExtractor2.fragment`.
    pub fragment: bool,
    /// Lines of `prefix=namespace`. JMX: `XPathExtractor2.namespaces`.
    pub namespaces: T,
    /// Where the element stands.
    pub at: Position,
}

impl<T> XPath2Extractor<T> {
    /// Replaces every text of the extractor.
    pub fn map<'a, U>(&'a self, mut f: impl FnMut(&'a T) -> U) -> XPath2Extractor<U> {
        XPath2Extractor {
            name: f(&self.name),
            scope: self.scope.map(&mut f),
            variable: f(&self.variable),
            query: f(&self.query),
            match_number: f(&self.match_number),
            default: f(&self.default),
            fragment: self.fragment,
            namespaces: f(&self.namespaces),
            at: self.at,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn regex() -> RegexExtractor<&'static str> {
        RegexExtractor {
            name: "name",
            scope: SampleScope::Variable("in"),
            field: SampleField::Url,
            variable: "out",
            regex: "(.)",
            template: "$1$",
            match_number: "1",
            default: "none",
            default_empty: true,
            at: Position { line: 7, column: 3 },
        }
    }

    #[test]
    fn mapping_keeps_all_that_is_not_text() {
        let before = Extractor::Regex(regex());
        let after = before.map(|text| (*text).to_owned());
        let Extractor::Regex(owned) = &after else {
            panic!("another kind: {after:?}");
        };
        assert_eq!(owned.map(String::as_str), regex());
        assert_eq!((before.name(), before.at()), (&"name", regex().at));
    }

    #[test]
    fn mapping_can_collect_references_to_all_texts() {
        let element = regex();
        let mut texts = Vec::new();
        element.map(|text| texts.push(*text));
        assert_eq!(texts, ["name", "in", "out", "(.)", "$1$", "1", "none"]);
    }
}
