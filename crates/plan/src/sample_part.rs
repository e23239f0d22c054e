//! Which part of which sample an extractor or assertion looks at.

/// The samples that an element looks at.
///
/// JMX: `Sample.scope` of an extractor, `Assertion.scope` of an assertion, with the values below;
/// the name of a variable stands in `Scope.variable`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum SampleScope<T> {
    /// The sample itself. JMX: `parent`, also when the property is missing.
    #[default]
    Main,
    /// Its sub-samples and theirs, down to five levels. JMX: `children`.
    Children,
    /// The sample, then its sub-samples. JMX: `all`.
    All,
    /// No sample, but the value of the variable of this name. JMX: `variable`.
    Variable(T),
}

impl<T> SampleScope<T> {
    /// Replaces the text of the scope.
    pub fn map<'a, U>(&'a self, mut f: impl FnMut(&'a T) -> U) -> SampleScope<U> {
        match self {
            Self::Main => SampleScope::Main,
            Self::Children => SampleScope::Children,
            Self::All => SampleScope::All,
            Self::Variable(name) => SampleScope::Variable(f(name)),
        }
    }
}

/// What of a sample is looked at, as text.
///
/// Deliberately absent: JMeter's "body as a document" (text of office files through Tika).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SampleField {
    /// The response's body, decoded.
    #[default]
    Body,
    /// The response's body, decoded, HTML character references replaced.
    BodyUnescaped,
    /// Status line and header lines of the response.
    ResponseHeaders,
    /// Header lines of the request.
    RequestHeaders,
    /// The URL, or nothing when the sample has none.
    Url,
    /// The response code.
    ResponseCode,
    /// The response message.
    ResponseMessage,
    /// What was sent: for HTTP, method, URL and body.
    RequestData,
}

impl SampleField {
    /// The value of `RegexExtractor.useHeaders` or `BoundaryExtractor.useHeaders`; `None` when it
    /// asks for the body as a document. Case does not matter; anything else means the body.
    pub fn of_extractor(property: &str) -> Option<Self> {
        let is = |name: &str| property.eq_ignore_ascii_case(name);
        if is("as_document") {
            return None;
        }
        let named = [
            ("URL", Self::Url),
            ("true", Self::ResponseHeaders),
            ("request_headers", Self::RequestHeaders),
            ("code", Self::ResponseCode),
            ("message", Self::ResponseMessage),
            ("unescaped", Self::BodyUnescaped),
        ];
        let found = named.into_iter().find(|(name, _)| is(name));
        Some(found.map_or(Self::Body, |(_, field)| field))
    }

    /// The value of a Response Assertion's `Assertion.test_field`; `None` when it asks for the
    /// body as a document. Anything unknown, also nothing at all, means the URL.
    pub fn of_assertion(property: &str) -> Option<Self> {
        Some(match property {
            "Assertion.response_data_as_document" => return None,
            "Assertion.response_data" => Self::Body,
            "Assertion.response_code" => Self::ResponseCode,
            "Assertion.response_message" => Self::ResponseMessage,
            "Assertion.response_headers" => Self::ResponseHeaders,
            "Assertion.request_headers" => Self::RequestHeaders,
            "Assertion.request_data" => Self::RequestData,
            _ => Self::Url,
        })
    }
}

/// How a body becomes an XML tree for the XPath 1 elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct XmlReading {
    /// Read the body as HTML that may be broken. JMX: `….tolerant`.
    pub tolerant: bool,
    /// Know about XML namespaces. JMX: `….namespace`.
    pub namespaces: bool,
    /// A body that had to be mended fails the sample; only with `tolerant`. JMX:
    /// `….report_errors`.
    pub report_errors: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_fields_are_read_as_jmeter_reads_them() {
        assert_eq!(SampleField::of_extractor(""), Some(SampleField::Body));
        assert_eq!(SampleField::of_extractor("false"), Some(SampleField::Body));
        assert_eq!(
            SampleField::of_extractor("TRUE"),
            Some(SampleField::ResponseHeaders)
        );
        assert_eq!(SampleField::of_extractor("url"), Some(SampleField::Url));
        assert_eq!(SampleField::of_extractor("as_document"), None);
        assert_eq!(SampleField::of_assertion(""), Some(SampleField::Url));
        assert_eq!(
            SampleField::of_assertion("Assertion.request_data"),
            Some(SampleField::RequestData)
        );
    }

    #[test]
    fn only_a_variable_has_text() {
        let scope = SampleScope::Variable("x");
        assert_eq!(scope.map(|name| name.len()), SampleScope::Variable(1));
        assert_eq!(
            SampleScope::<&str>::All.map(|name| name.len()),
            SampleScope::All
        );
    }
}
