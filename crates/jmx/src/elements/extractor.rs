//! Extractors: values out of responses into variables.

use weir_plan::{
    BoundaryExtractor, CssExtractor, Extractor, JmesPathExtractor, JsonExtractor,
    JsonPathExtractor, RegexExtractor, SampleField, SampleScope, Template, XPath2Extractor,
    XPathExtractor, XmlReading,
};

use crate::element::Element;

/// An extractor of this class.
///
/// # Errors
/// What the engine cannot do of what it asks for; an empty text if it is no extractor.
pub(crate) fn read(element: &Element<'_>) -> Result<Extractor<Template>, &'static str> {
    match element.class() {
        "RegexExtractor" => regex(element),
        "BoundaryExtractor" => boundary(element),
        "JSONPostProcessor" => Ok(Extractor::Json(json(element))),
        "com.atlantbh.jmeter.plugins.jsonutils.jsonpathextractor.JSONPathExtractor" => {
            Ok(Extractor::JsonPath(json_path(element)))
        }
        "JMESPathExtractor" => Ok(Extractor::JmesPath(jmes_path(element))),
        "HtmlExtractor" => css(element),
        "XPathExtractor" => xpath(element),
        "XPath2Extractor" => Ok(Extractor::XPath2(xpath2(element))),
        _ => Err(""),
    }
}

/// Where an extractor or an assertion looks; the two write it under names of their own.
pub(crate) fn scope(element: &Element<'_>, property: &str) -> SampleScope<Template> {
    match &*element.text_or_empty(property).text {
        "children" => SampleScope::Children,
        "all" => SampleScope::All,
        "variable" => SampleScope::Variable(element.text_or_empty("Scope.variable")),
        _ => SampleScope::Main,
    }
}

/// Said of elements that look at a body as a document.
pub(crate) const DOCUMENT: &str =
    "it reads the body as a document (text of office files), which is not supported";

fn sample_scope(element: &Element<'_>) -> SampleScope<Template> {
    scope(element, "Sample.scope")
}

fn field(element: &Element<'_>, property: &str) -> Result<SampleField, &'static str> {
    SampleField::of_extractor(&element.text_or_empty(property).text).ok_or(DOCUMENT)
}

fn json_path(element: &Element<'_>) -> JsonPathExtractor<Template> {
    let looks_at_variable = element.text_or_empty("SUBJECT").text == "VAR";
    JsonPathExtractor {
        name: element.name_template(),
        subject: looks_at_variable.then(|| element.text_or_empty("VARIABLE")),
        variable: element.text_or_empty("VAR"),
        path: element.text_or_empty("JSONPATH"),
        default: element.text_or_empty("DEFAULT"),
        at: element.at(),
    }
}

fn regex(element: &Element<'_>) -> Result<Extractor<Template>, &'static str> {
    Ok(Extractor::Regex(RegexExtractor {
        name: element.name_template(),
        scope: sample_scope(element),
        field: field(element, "RegexExtractor.useHeaders")?,
        variable: element.text_or_empty("RegexExtractor.refname"),
        regex: element.text_or_empty("RegexExtractor.regex"),
        template: element.text_or_empty("RegexExtractor.template"),
        match_number: element.text_or_empty("RegexExtractor.match_number"),
        default: element.text_or_empty("RegexExtractor.default"),
        default_empty: element.is("RegexExtractor.default_empty_value"),
        at: element.at(),
    }))
}

fn boundary(element: &Element<'_>) -> Result<Extractor<Template>, &'static str> {
    Ok(Extractor::Boundary(BoundaryExtractor {
        name: element.name_template(),
        scope: sample_scope(element),
        field: field(element, "BoundaryExtractor.useHeaders")?,
        variable: element.text_or_empty("BoundaryExtractor.refname"),
        left: element.text_or_empty("BoundaryExtractor.lboundary"),
        right: element.text_or_empty("BoundaryExtractor.rboundary"),
        match_number: element.text_or_empty("BoundaryExtractor.match_number"),
        default: element.text_or_empty("BoundaryExtractor.default"),
        default_empty: element.is("BoundaryExtractor.default_empty_value"),
        at: element.at(),
    }))
}

fn json(element: &Element<'_>) -> JsonExtractor<Template> {
    JsonExtractor {
        name: element.name_template(),
        scope: sample_scope(element),
        variables: element.text_or_empty("JSONPostProcessor.referenceNames"),
        paths: element.text_or_empty("JSONPostProcessor.jsonPathExprs"),
        match_numbers: element.text_or_empty("JSONPostProcessor.match_numbers"),
        defaults: element.text_or_empty("JSONPostProcessor.defaultValues"),
        concatenate: element.is("JSONPostProcessor.compute_concat"),
        at: element.at(),
    }
}

fn jmes_path(element: &Element<'_>) -> JmesPathExtractor<Template> {
    JmesPathExtractor {
        name: element.name_template(),
        scope: sample_scope(element),
        variable: element.text_or_empty("JMESExtractor.referenceName"),
        path: element.text_or_empty("JMESExtractor.jmesPathExpr"),
        match_number: element.text_or_empty("JMESExtractor.matchNumber"),
        default: element.text_or_empty("JMESExtractor.defaultValue"),
        at: element.at(),
    }
}

fn css(element: &Element<'_>) -> Result<Extractor<Template>, &'static str> {
    if element.text_or_empty("HtmlExtractor.extractor_impl").text == "JODD" {
        return Err("it uses the selectors of Jodd, not of jsoup");
    }
    Ok(Extractor::Css(CssExtractor {
        name: element.name_template(),
        scope: sample_scope(element),
        variable: element.text_or_empty("HtmlExtractor.refname"),
        selector: element.text_or_empty("HtmlExtractor.expr"),
        attribute: element.text_or_empty("HtmlExtractor.attribute"),
        match_number: element.text_or_empty("HtmlExtractor.match_number"),
        default: element.text_or_empty("HtmlExtractor.default"),
        default_empty: element.is("HtmlExtractor.default_empty_value"),
        at: element.at(),
    }))
}

fn xpath(element: &Element<'_>) -> Result<Extractor<Template>, &'static str> {
    if element.is("XPathExtractor.download_dtds") {
        return Err("it fetches document type definitions, which is not supported");
    }
    Ok(Extractor::XPath(XPathExtractor {
        name: element.name_template(),
        scope: sample_scope(element),
        variable: element.text_or_empty("XPathExtractor.refname"),
        query: element.text_or_empty("XPathExtractor.xpathQuery"),
        match_number: element.text_or("XPathExtractor.matchNumber", "-1"),
        default: element.text_or_empty("XPathExtractor.default"),
        reading: XmlReading {
            tolerant: element.is("XPathExtractor.tolerant"),
            namespaces: element.is("XPathExtractor.namespace"),
            report_errors: element.is("XPathExtractor.report_errors"),
        },
        fragment: element.is("XPathExtractor.fragment"),
        at: element.at(),
    }))
}

fn xpath2(element: &Element<'_>) -> XPath2Extractor<Template> {
    XPath2Extractor {
        name: element.name_template(),
        scope: sample_scope(element),
        variable: element.text_or_empty("XPathExtractor2.refname"),
        query: element.text_or_empty("XPathExtractor2.xpathQuery"),
        match_number: element.text_or_empty("XPathExtractor2.matchNumber"),
        default: element.text_or_empty("XPathExtractor2.default"),
        fragment: element.is("XPathExtractor2.fragment"),
        namespaces: element.text_or_empty("XPathExtractor2.namespaces"),
        at: element.at(),
    }
}
