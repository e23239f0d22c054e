//! Assertions: what must hold of a response, as settings.
//!
//! Generic over their texts like the [extractors](crate::Extractor); `weir-response` does the
//! work. The names of JMX properties stand with each field. A property that is missing reads as
//! empty text or `false`, if nothing else is said.
//!
//! Deliberately absent: JMeter's Compare, HTML, XML Schema and S/MIME assertions.

use crate::{Position, SampleField, SampleScope, Script, XmlReading};

/// Any assertion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Assertion<T> {
    /// JMX: `ResponseAssertion`.
    Response(ResponseAssertion<T>),
    /// JMX: `DurationAssertion`.
    Duration(DurationAssertion<T>),
    /// JMX: `SizeAssertion`.
    Size(SizeAssertion<T>),
    /// JMX: `JSONPathAssertion`.
    JsonPath(JsonAssertion<T>),
    /// JMX: `JMESPathAssertion`.
    JmesPath(JsonAssertion<T>),
    /// JMX: `XPathAssertion`.
    XPath(XPathAssertion<T>),
    /// JMX: `XPath2Assertion`.
    XPath2(XPath2Assertion<T>),
    /// JMX: `XMLAssertion`.
    Xml(XmlAssertion<T>),
    /// JMX: `MD5HexAssertion`.
    Md5Hex(Md5HexAssertion<T>),
    /// A script that judges: JSR223, `BeanShell` and BSF assertions.
    Script(Box<Script<T>>),
}

impl<T> Assertion<T> {
    /// Replaces every text of the assertion.
    pub fn map<'a, U>(&'a self, mut f: impl FnMut(&'a T) -> U) -> Assertion<U> {
        match self {
            Self::Response(element) => Assertion::Response(element.map(f)),
            Self::Duration(element) => Assertion::Duration(element.map(f)),
            Self::Size(element) => Assertion::Size(element.map(f)),
            Self::JsonPath(element) => Assertion::JsonPath(element.map(f)),
            Self::JmesPath(element) => Assertion::JmesPath(element.map(f)),
            Self::XPath(element) => Assertion::XPath(element.map(f)),
            Self::XPath2(element) => Assertion::XPath2(element.map(f)),
            Self::Xml(element) => Assertion::Xml(element.map(f)),
            Self::Md5Hex(element) => Assertion::Md5Hex(element.map(f)),
            Self::Script(script) => Assertion::Script(Box::new(Script {
                name: f(&script.name),
                language: script.language.clone(),
                text: f(&script.text),
                parameters: f(&script.parameters),
                file: f(&script.file),
                first_text_stays: script.first_text_stays,
                filled_in_at_start: script.filled_in_at_start,
                resets: script.resets,
                id: script.id,
                at: script.at,
            })),
        }
    }

    /// Which samples it looks at. Those without a choice look at the sample itself.
    pub fn scope(&self) -> &SampleScope<T> {
        match self {
            Self::Response(element) => &element.scope,
            Self::Duration(element) => &element.scope,
            Self::Size(element) => &element.scope,
            Self::XPath(element) => &element.scope,
            Self::XPath2(element) => &element.scope,
            Self::JsonPath(_)
            | Self::JmesPath(_)
            | Self::Xml(_)
            | Self::Md5Hex(_)
            | Self::Script(_) => &SampleScope::Main,
        }
    }

    /// The element's name.
    pub fn name(&self) -> &T {
        match self {
            Self::Response(element) => &element.name,
            Self::Duration(element) => &element.name,
            Self::Size(element) => &element.name,
            Self::JsonPath(element) | Self::JmesPath(element) => &element.name,
            Self::XPath(element) => &element.name,
            Self::XPath2(element) => &element.name,
            Self::Xml(element) => &element.name,
            Self::Md5Hex(element) => &element.name,
            Self::Script(script) => &script.name,
        }
    }

    /// Where the element stands.
    pub fn at(&self) -> Position {
        match self {
            Self::Response(element) => element.at,
            Self::Duration(element) => element.at,
            Self::Size(element) => element.at,
            Self::JsonPath(element) | Self::JmesPath(element) => element.at,
            Self::XPath(element) => element.at,
            Self::XPath2(element) => element.at,
            Self::Xml(element) => element.at,
            Self::Md5Hex(element) => element.at,
            Self::Script(script) => script.at,
        }
    }
}

/// How a Response Assertion compares, as the number in a JMX file.
///
/// Kept as it is, because the words of a failure depend on the whole number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResponseTest(pub i32);

impl ResponseTest {
    /// The whole text matches the expression.
    pub const MATCHES: i32 = 1;
    /// The expression matches somewhere in the text.
    pub const CONTAINS: i32 = 2;
    /// It must not be so.
    pub const NOT: i32 = 4;
    /// The text is the same.
    pub const EQUALS: i32 = 8;
    /// The text holds this text.
    pub const SUBSTRING: i32 = 16;
    /// One of the patterns is enough.
    pub const OR: i32 = 32;

    /// Whether the number has this bit.
    pub fn has(self, bit: i32) -> bool {
        self.0 & bit != 0
    }
}

impl Default for ResponseTest {
    fn default() -> Self {
        Self(Self::CONTAINS)
    }
}

/// Compares a text of the response with patterns. JMX: `ResponseAssertion`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResponseAssertion<T> {
    /// JMX: `testname`.
    pub name: T,
    /// Where it looks. JMX: `Assertion.scope`, `Scope.variable`.
    pub scope: SampleScope<T>,
    /// What it looks at. JMX: `Assertion.test_field`, see [`SampleField::of_assertion`].
    pub field: SampleField,
    /// How it compares; the default when the property is missing. JMX: `Assertion.test_type`.
    pub test: ResponseTest,
    /// What it compares with. JMX: the collection `Asserion.test_strings` (spelled so), also seen
    /// as `Assertion.test_strings` in old files.
    pub patterns: Vec<T>,
    /// The sample succeeds before anything is compared. JMX: `Assertion.assume_success`.
    pub assume_success: bool,
    /// What a failure says instead of JMeter's words. JMX: `Assertion.custom_message`.
    pub custom_message: T,
    /// Where the element stands.
    pub at: Position,
}

impl<T> ResponseAssertion<T> {
    /// Replaces every text of the assertion.
    pub fn map<'a, U>(&'a self, mut f: impl FnMut(&'a T) -> U) -> ResponseAssertion<U> {
        ResponseAssertion {
            name: f(&self.name),
            scope: self.scope.map(&mut f),
            field: self.field,
            test: self.test,
            patterns: self.patterns.iter().map(&mut f).collect(),
            assume_success: self.assume_success,
            custom_message: f(&self.custom_message),
            at: self.at,
        }
    }
}

/// Limits the elapsed time of a sample. JMX: `DurationAssertion`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DurationAssertion<T> {
    /// JMX: `testname`.
    pub name: T,
    /// Where it looks. JMX: `Assertion.scope`, `Scope.variable`.
    pub scope: SampleScope<T>,
    /// Milliseconds; 0: no limit. JMX: `DurationAssertion.duration`.
    pub duration_ms: T,
    /// Where the element stands.
    pub at: Position,
}

impl<T> DurationAssertion<T> {
    /// Replaces every text of the assertion.
    pub fn map<'a, U>(&'a self, mut f: impl FnMut(&'a T) -> U) -> DurationAssertion<U> {
        DurationAssertion {
            name: f(&self.name),
            scope: self.scope.map(&mut f),
            duration_ms: f(&self.duration_ms),
            at: self.at,
        }
    }
}

/// What a Size Assertion counts. JMX: `Assertion.test_field`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SizeField {
    /// Header and body as received; also anything unknown. JMX:
    /// `SizeAssertion.response_network_size`.
    #[default]
    Received,
    /// The header. JMX: `SizeAssertion.response_headers`.
    Headers,
    /// The body as received. JMX: `SizeAssertion.response_data`.
    Body,
    /// The characters of the response code. JMX: `SizeAssertion.response_code`.
    ResponseCode,
    /// The characters of the response message. JMX: `SizeAssertion.response_message`.
    ResponseMessage,
}

impl SizeField {
    /// The field of this name in a JMX file.
    pub fn of_property(property: &str) -> Self {
        match property {
            "SizeAssertion.response_headers" => Self::Headers,
            "SizeAssertion.response_data" => Self::Body,
            "SizeAssertion.response_code" => Self::ResponseCode,
            "SizeAssertion.response_message" => Self::ResponseMessage,
            _ => Self::Received,
        }
    }
}

/// Compares a size with a number. JMX: `SizeAssertion`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SizeAssertion<T> {
    /// JMX: `testname`.
    pub name: T,
    /// Where it looks; a variable holds the size itself. JMX: `Assertion.scope`, `Scope.variable`.
    pub scope: SampleScope<T>,
    /// What is counted. JMX: `Assertion.test_field`, see [`SizeField::of_property`].
    pub field: SizeField,
    /// 1 `=`, 2 `≠`, 3 `>`, 4 `<`, 5 `≥`, 6 `≤`; anything else always fails. JMX:
    /// `SizeAssertion.operator`.
    pub operator: i32,
    /// Bytes, or characters. JMX: `SizeAssertion.size`.
    pub size: T,
    /// Where the element stands.
    pub at: Position,
}

impl<T> SizeAssertion<T> {
    /// Replaces every text of the assertion.
    pub fn map<'a, U>(&'a self, mut f: impl FnMut(&'a T) -> U) -> SizeAssertion<U> {
        SizeAssertion {
            name: f(&self.name),
            scope: self.scope.map(&mut f),
            field: self.field,
            operator: self.operator,
            size: f(&self.size),
            at: self.at,
        }
    }
}

/// Looks for a path in a JSON body, and perhaps at its value. JMX: `JSONPathAssertion`,
/// `JMESPathAssertion`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "they are the independent check boxes of the element"
)]
pub struct JsonAssertion<T> {
    /// JMX: `testname`.
    pub name: T,
    /// The path. JMX: `JSON_PATH` or `JMES_PATH`.
    pub path: T,
    /// Compare the value; otherwise the path must exist. JMX: `JSONVALIDATION`.
    pub compare: bool,
    /// What the value must be. JMX: `EXPECTED_VALUE`.
    pub expected: T,
    /// `expected` is a regular expression; `true` when the property is missing. JMX: `ISREGEX`.
    pub regex: bool,
    /// The value must be null instead. JMX: `EXPECT_NULL`.
    pub expect_null: bool,
    /// It must not be so. JMX: `INVERT`.
    pub invert: bool,
    /// Where the element stands.
    pub at: Position,
}

impl<T> JsonAssertion<T> {
    /// Replaces every text of the assertion.
    pub fn map<'a, U>(&'a self, mut f: impl FnMut(&'a T) -> U) -> JsonAssertion<U> {
        JsonAssertion {
            name: f(&self.name),
            path: f(&self.path),
            compare: self.compare,
            expected: f(&self.expected),
            regex: self.regex,
            expect_null: self.expect_null,
            invert: self.invert,
            at: self.at,
        }
    }
}

/// Evaluates an XPath 1.0 expression on the body. JMX: `XPathAssertion`.
///
/// `XPath.quiet` and `.show_warnings` only change JMeter's log; refuse `.validate` and
/// `.download_dtds`, which need a DTD; `.whitespace` does nothing without one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct XPathAssertion<T> {
    /// JMX: `testname`.
    pub name: T,
    /// Where it looks. JMX: `Assertion.scope`, `Scope.variable`.
    pub scope: SampleScope<T>,
    /// The expression; the text `/` when the property is missing. JMX: `XPath.xpath`.
    pub query: T,
    /// It must not be so. JMX: `XPath.negate`.
    pub negate: bool,
    /// How the body is read. JMX: `XPath.tolerant`, `.namespace`, `.report_errors`.
    pub reading: XmlReading,
    /// Where the element stands.
    pub at: Position,
}

impl<T> XPathAssertion<T> {
    /// Replaces every text of the assertion.
    pub fn map<'a, U>(&'a self, mut f: impl FnMut(&'a T) -> U) -> XPathAssertion<U> {
        XPathAssertion {
            name: f(&self.name),
            scope: self.scope.map(&mut f),
            query: f(&self.query),
            negate: self.negate,
            reading: self.reading,
            at: self.at,
        }
    }
}

/// Evaluates an XPath 2.0 or 3.1 expression on the body. JMX: `XPath2Assertion`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct XPath2Assertion<T> {
    /// JMX: `testname`.
    pub name: T,
    /// Where it looks. JMX: `Assertion.scope`, `Scope.variable`.
    pub scope: SampleScope<T>,
    /// The expression; the text `/` when the property is missing. JMX: `XPath.xpath`.
    pub query: T,
    /// It must not be so. JMX: `XPath.negate`.
    pub negate: bool,
    /// Lines of `prefix=namespace`. JMX: `XPath.namespaces`.
    pub namespaces: T,
    /// Where the element stands.
    pub at: Position,
}

impl<T> XPath2Assertion<T> {
    /// Replaces every text of the assertion.
    pub fn map<'a, U>(&'a self, mut f: impl FnMut(&'a T) -> U) -> XPath2Assertion<U> {
        XPath2Assertion {
            name: f(&self.name),
            scope: self.scope.map(&mut f),
            query: f(&self.query),
            negate: self.negate,
            namespaces: f(&self.namespaces),
            at: self.at,
        }
    }
}

/// The body must be well-formed XML. JMX: `XMLAssertion`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct XmlAssertion<T> {
    /// JMX: `testname`.
    pub name: T,
    /// Where the element stands.
    pub at: Position,
}

impl<T> XmlAssertion<T> {
    /// Replaces every text of the assertion.
    pub fn map<'a, U>(&'a self, mut f: impl FnMut(&'a T) -> U) -> XmlAssertion<U> {
        XmlAssertion {
            name: f(&self.name),
            at: self.at,
        }
    }
}

/// The body must have this MD5 sum. JMX: `MD5HexAssertion`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Md5HexAssertion<T> {
    /// JMX: `testname`.
    pub name: T,
    /// Hexadecimal digits, any case. JMX: `MD5HexAssertion.size` (named so).
    pub digest: T,
    /// Where the element stands.
    pub at: Position,
}

impl<T> Md5HexAssertion<T> {
    /// Replaces every text of the assertion.
    pub fn map<'a, U>(&'a self, mut f: impl FnMut(&'a T) -> U) -> Md5HexAssertion<U> {
        Md5HexAssertion {
            name: f(&self.name),
            digest: f(&self.digest),
            at: self.at,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mapping_replaces_the_patterns_too() {
        let assertion = Assertion::Response(ResponseAssertion {
            name: "name",
            scope: SampleScope::All,
            field: SampleField::ResponseCode,
            test: ResponseTest(ResponseTest::EQUALS | ResponseTest::NOT),
            patterns: vec!["200", "302"],
            assume_success: true,
            custom_message: "",
            at: Position { line: 2, column: 5 },
        });
        let mut texts = Vec::new();
        let same = assertion.map(|text| {
            texts.push(*text);
            *text
        });
        assert_eq!(same, assertion);
        assert_eq!(texts, ["name", "200", "302", ""]);
        assert_eq!(same.at().line, 2);
    }

    #[test]
    fn an_unknown_size_is_what_was_received() {
        assert_eq!(SizeField::of_property(""), SizeField::Received);
        assert_eq!(
            SizeField::of_property("SizeAssertion.response_data"),
            SizeField::Body
        );
    }
}
