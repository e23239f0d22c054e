//! Assertions: what must hold of a response.

use weir_plan::{
    Assertion, DurationAssertion, JsonAssertion, Md5HexAssertion, ResponseAssertion, ResponseTest,
    SampleField, SampleScope, SizeAssertion, SizeField, Template, XPath2Assertion, XPathAssertion,
    XmlAssertion, XmlReading,
};

use crate::element::Element;
use crate::elements::extractor;

/// The plugin's JSON Path Assertion.
pub(crate) const OF_PLUGIN: &str =
    "com.atlantbh.jmeter.plugins.jsonutils.jsonpathassertion.JSONPathAssertion";

/// An assertion of this class.
///
/// # Errors
/// What the engine cannot do of what it asks for; an empty text if it is no assertion.
pub(crate) fn read(element: &Element<'_>) -> Result<Assertion<Template>, &'static str> {
    match element.class() {
        "ResponseAssertion" => response(element),
        "DurationAssertion" => Ok(Assertion::Duration(DurationAssertion {
            name: element.name_template(),
            scope: scope(element),
            duration_ms: element.text_or_empty("DurationAssertion.duration"),
            at: element.at(),
        })),
        "SizeAssertion" => Ok(Assertion::Size(size(element))),
        // JMeter's own is made from the plugin's, and has its properties.
        "JSONPathAssertion" | OF_PLUGIN => Ok(Assertion::JsonPath(json(element, "JSON_PATH"))),
        "JMESPathAssertion" => Ok(Assertion::JmesPath(json(element, "JMES_PATH"))),
        "XPathAssertion" => xpath(element),
        "XPath2Assertion" => Ok(Assertion::XPath2(XPath2Assertion {
            name: element.name_template(),
            scope: scope(element),
            query: element.text_or("XPath.xpath", "/"),
            negate: element.is("XPath.negate"),
            namespaces: element.text_or_empty("XPath.namespaces"),
            at: element.at(),
        })),
        "XMLAssertion" => Ok(Assertion::Xml(XmlAssertion {
            name: element.name_template(),
            at: element.at(),
        })),
        "MD5HexAssertion" => Ok(Assertion::Md5Hex(Md5HexAssertion {
            name: element.name_template(),
            digest: element.text_or_empty("MD5HexAssertion.size"),
            at: element.at(),
        })),
        _ => Err(""),
    }
}

fn scope(element: &Element<'_>) -> SampleScope<Template> {
    extractor::scope(element, "Assertion.scope")
}

fn response(element: &Element<'_>) -> Result<Assertion<Template>, &'static str> {
    let field = element.text_or_empty("Assertion.test_field").text;
    // JMeter itself writes the first name; the second stands in old files.
    let mut patterns = element.texts("Asserion.test_strings");
    patterns.extend(element.texts("Assertion.test_strings"));
    Ok(Assertion::Response(ResponseAssertion {
        name: element.name_template(),
        scope: scope(element),
        field: SampleField::of_assertion(&field).ok_or(extractor::DOCUMENT)?,
        test: element
            .number("Assertion.test_type")
            .map_or_else(ResponseTest::default, ResponseTest),
        patterns,
        assume_success: element.is("Assertion.assume_success"),
        custom_message: element.text_or_empty("Assertion.custom_message"),
        at: element.at(),
    }))
}

fn size(element: &Element<'_>) -> SizeAssertion<Template> {
    let field = element.text_or_empty("Assertion.test_field").text;
    SizeAssertion {
        name: element.name_template(),
        scope: scope(element),
        field: SizeField::of_property(&field),
        operator: element.number("SizeAssertion.operator").unwrap_or(0),
        size: element.text_or_empty("SizeAssertion.size"),
        at: element.at(),
    }
}

fn json(element: &Element<'_>, path: &str) -> JsonAssertion<Template> {
    JsonAssertion {
        name: element.name_template(),
        path: element.text_or_empty(path),
        compare: element.is("JSONVALIDATION"),
        expected: element.text_or_empty("EXPECTED_VALUE"),
        regex: element.flag("ISREGEX").unwrap_or(true),
        expect_null: element.is("EXPECT_NULL"),
        invert: element.is("INVERT"),
        at: element.at(),
    }
}

fn xpath(element: &Element<'_>) -> Result<Assertion<Template>, &'static str> {
    if element.is("XPath.validate") || element.is("XPath.download_dtds") {
        return Err("it asks for a document type definition, which is not supported");
    }
    Ok(Assertion::XPath(XPathAssertion {
        name: element.name_template(),
        scope: scope(element),
        query: element.text_or("XPath.xpath", "/"),
        negate: element.is("XPath.negate"),
        reading: XmlReading {
            tolerant: element.is("XPath.tolerant"),
            namespaces: element.is("XPath.namespace"),
            report_errors: element.is("XPath.report_errors"),
        },
        at: element.at(),
    }))
}
