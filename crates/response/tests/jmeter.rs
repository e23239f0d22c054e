//! Extractors and assertions against what JMeter 5.6.3 did with the same samples.
//!
//! `data/jmeter.jsonl` was recorded from a plan with one element per sampler. Its first line holds
//! the bodies; each other line has an element with its JMX properties, the sample it saw, and the
//! variables and outcomes after it. A line without a verdict is a sample that JMeter gave up.

#![expect(clippy::unwrap_used, reason = "tests state what must hold")]

use std::collections::BTreeMap;

use serde_json::Value;
use weir_plan::{
    Assertion, BoundaryExtractor, CssExtractor, DurationAssertion, Extractor, JmesPathExtractor,
    JsonAssertion, JsonExtractor, Md5HexAssertion, Position, RegexExtractor, ResponseAssertion,
    ResponseTest, SampleField, SampleScope, SizeAssertion, SizeField, XPath2Assertion,
    XPath2Extractor, XPathAssertion, XPathExtractor, XmlAssertion, XmlReading,
};
use weir_response::{Patterns, SampleView, Verdict, check, extract};

const RECORDED: &str = include_str!("data/jmeter.jsonl");

/// Where we differ, and why: the class, a text in the recorded line, the reason.
const DIFFERENT: &[(&str, &str, &str)] = &[
    ("JMESPathExtractor", r#""keys(o)""#, "keys come sorted"),
    (
        "JMESPathExtractor",
        r#""to_string(o)""#,
        "members come sorted",
    ),
    (
        "JMESPathExtractor",
        r#""body": 28,"#,
        "a number beyond a double is refused",
    ),
    (
        "HtmlExtractor",
        r#""HtmlExtractor.expr": "*""#,
        "jsoup counts the document",
    ),
    ("XPathExtractor", r#""1e3""#, "another message"),
    (
        "XPathExtractor",
        r#""id(\"x\")""#,
        "there is no id() without a document type",
    ),
    (
        "XPathExtractor",
        r#""body": 46,"#,
        "a declared encoding is not looked at",
    ),
    ("XPath2Extractor", r#""foo()""#, "another message"),
    (
        "XPath2Extractor",
        r#""XPathExtractor2.xpathQuery": "//c""#,
        "no indentation",
    ),
    // XPath 2.0 beyond a few functions; `unsupported_extractor` tells.
    ("XPath2Extractor", "for $x in", "XPath 2.0"),
    ("XPath2Extractor", "matches(", "XPath 2.0"),
    ("XPath2Extractor", "//*:q", "XPath 2.0"),
    ("XPath2Extractor", "tokenize(", "XPath 2.0"),
    ("XPath2Extractor", "1 to 3", "XPath 2.0"),
    ("XPath2Extractor", "if (//b)", "XPath 2.0"),
    ("XPath2Extractor", "/string()", "XPath 2.0"),
    ("XPath2Extractor", "distinct-values(", "XPath 2.0"),
    ("XPath2Extractor", r#""1e3""#, "XPath 2.0"),
    ("XPath2Extractor", "xs:integer(", "XPath 2.0"),
    ("XPath2Extractor", "max((", "XPath 2.0"),
    ("XPath2Extractor", "replace(", "XPath 2.0"),
    ("XPath2Extractor", "/name()", "XPath 2.0"),
];

struct Element<'v>(&'v Value);

impl Element<'_> {
    fn text(&self, name: &str) -> String {
        self.text_or(name, "")
    }

    fn text_or(&self, name: &str, default: &str) -> String {
        let value = &self.0[name];
        value.as_str().unwrap_or(default).to_owned()
    }

    fn flag(&self, name: &str) -> bool {
        self.0[name].as_bool().unwrap_or(false)
    }

    fn scope(&self, property: &str) -> SampleScope<String> {
        match self.text(property).as_str() {
            "" | "parent" => SampleScope::Main,
            "children" => SampleScope::Children,
            "all" => SampleScope::All,
            "variable" => SampleScope::Variable(self.text("Scope.variable")),
            other => panic!("scope {other}"),
        }
    }

    fn reading(&self, prefix: &str) -> XmlReading {
        XmlReading {
            tolerant: self.flag(&format!("{prefix}.tolerant")),
            namespaces: self.flag(&format!("{prefix}.namespace")),
            report_errors: self.flag(&format!("{prefix}.report_errors")),
        }
    }

    fn extractor(&self, class: &str) -> Option<Extractor<String>> {
        let (name, at) = ("E".to_owned(), Position::default());
        let scope = self.scope("Sample.scope");
        let field = |property: &str| SampleField::of_extractor(&self.text(property)).unwrap();
        Some(match class {
            "RegexExtractor" => Extractor::Regex(RegexExtractor {
                name,
                at,
                scope,
                field: field("RegexExtractor.useHeaders"),
                variable: self.text("RegexExtractor.refname"),
                regex: self.text("RegexExtractor.regex"),
                template: self.text("RegexExtractor.template"),
                match_number: self.text("RegexExtractor.match_number"),
                default: self.text("RegexExtractor.default"),
                default_empty: self.flag("RegexExtractor.default_empty_value"),
            }),
            "BoundaryExtractor" => Extractor::Boundary(BoundaryExtractor {
                name,
                at,
                scope,
                field: field("BoundaryExtractor.useHeaders"),
                variable: self.text("BoundaryExtractor.refname"),
                left: self.text("BoundaryExtractor.lboundary"),
                right: self.text("BoundaryExtractor.rboundary"),
                match_number: self.text("BoundaryExtractor.match_number"),
                default: self.text("BoundaryExtractor.default"),
                default_empty: self.flag("BoundaryExtractor.default_empty_value"),
            }),
            "JSONPostProcessor" => Extractor::Json(JsonExtractor {
                name,
                at,
                scope,
                variables: self.text("JSONPostProcessor.referenceNames"),
                paths: self.text("JSONPostProcessor.jsonPathExprs"),
                match_numbers: self.text("JSONPostProcessor.match_numbers"),
                defaults: self.text("JSONPostProcessor.defaultValues"),
                concatenate: self.flag("JSONPostProcessor.compute_concat"),
            }),
            "JMESPathExtractor" => Extractor::JmesPath(JmesPathExtractor {
                name,
                at,
                scope,
                variable: self.text("JMESExtractor.referenceName"),
                path: self.text("JMESExtractor.jmesPathExpr"),
                match_number: self.text("JMESExtractor.matchNumber"),
                default: self.text("JMESExtractor.defaultValue"),
            }),
            "HtmlExtractor" => Extractor::Css(CssExtractor {
                name,
                at,
                scope,
                variable: self.text("HtmlExtractor.refname"),
                selector: self.text("HtmlExtractor.expr"),
                attribute: self.text("HtmlExtractor.attribute"),
                match_number: self.text("HtmlExtractor.match_number"),
                default: self.text("HtmlExtractor.default"),
                default_empty: self.flag("HtmlExtractor.default_empty_value"),
            }),
            "XPathExtractor" => Extractor::XPath(XPathExtractor {
                name,
                at,
                scope,
                variable: self.text("XPathExtractor.refname"),
                query: self.text("XPathExtractor.xpathQuery"),
                match_number: self.text_or("XPathExtractor.matchNumber", "-1"),
                default: self.text("XPathExtractor.default"),
                reading: self.reading("XPathExtractor"),
                fragment: self.flag("XPathExtractor.fragment"),
            }),
            "XPath2Extractor" => Extractor::XPath2(XPath2Extractor {
                name,
                at,
                scope,
                variable: self.text("XPathExtractor2.refname"),
                query: self.text("XPathExtractor2.xpathQuery"),
                match_number: self.text("XPathExtractor2.matchNumber"),
                default: self.text("XPathExtractor2.default"),
                fragment: self.flag("XPathExtractor2.fragment"),
                namespaces: self.text("XPathExtractor2.namespaces"),
            }),
            _ => return None,
        })
    }

    fn assertion(&self, class: &str) -> Assertion<String> {
        let (name, at) = ("E".to_owned(), Position::default());
        match class {
            "ResponseAssertion" => self.response_assertion(),
            "DurationAssertion" => Assertion::Duration(DurationAssertion {
                name,
                at,
                scope: self.scope("Assertion.scope"),
                duration_ms: self.text("DurationAssertion.duration"),
            }),
            "SizeAssertion" => Assertion::Size(SizeAssertion {
                name,
                at,
                scope: self.scope("Assertion.scope"),
                field: SizeField::of_property(&self.text("Assertion.test_field")),
                operator: self.0["SizeAssertion.operator"].as_i64().unwrap() as i32,
                size: self.text("SizeAssertion.size"),
            }),
            "JSONPathAssertion" => Assertion::JsonPath(self.json_assertion("JSON_PATH")),
            "JMESPathAssertion" => Assertion::JmesPath(self.json_assertion("JMES_PATH")),
            "XPathAssertion" => Assertion::XPath(XPathAssertion {
                name,
                at,
                scope: self.scope("Assertion.scope"),
                query: self.text("XPath.xpath"),
                negate: self.flag("XPath.negate"),
                reading: self.reading("XPath"),
            }),
            "XPath2Assertion" => Assertion::XPath2(XPath2Assertion {
                name,
                at,
                scope: self.scope("Assertion.scope"),
                query: self.text("XPath.xpath"),
                negate: self.flag("XPath.negate"),
                namespaces: self.text("XPath.namespaces"),
            }),
            "XMLAssertion" => Assertion::Xml(XmlAssertion { name, at }),
            "MD5HexAssertion" => Assertion::Md5Hex(Md5HexAssertion {
                name,
                at,
                digest: self.text("MD5HexAssertion.size"),
            }),
            other => panic!("class {other}"),
        }
    }

    fn response_assertion(&self) -> Assertion<String> {
        let patterns = self.0["Asserion.test_strings"].as_array().unwrap();
        let scope = self.scope("Assertion.scope");
        Assertion::Response(ResponseAssertion {
            name: "E".to_owned(),
            at: Position::default(),
            scope,
            field: SampleField::of_assertion(&self.text("Assertion.test_field")).unwrap(),
            test: ResponseTest(self.0["Assertion.test_type"].as_i64().unwrap() as i32),
            patterns: patterns
                .iter()
                .map(|text| text.as_str().unwrap().to_owned())
                .collect(),
            assume_success: self.flag("Assertion.assume_success"),
            custom_message: self.text("Assertion.custom_message"),
        })
    }

    fn json_assertion(&self, path: &str) -> JsonAssertion<String> {
        JsonAssertion {
            name: "E".to_owned(),
            at: Position::default(),
            path: self.text(path),
            compare: self.flag("JSONVALIDATION"),
            expected: self.text("EXPECTED_VALUE"),
            regex: self.flag("ISREGEX"),
            expect_null: self.flag("EXPECT_NULL"),
            invert: self.flag("INVERT"),
        }
    }
}

fn view<'v>(sample: &'v Value, bodies: &'v [String]) -> SampleView<'v> {
    let text = |name: &str| sample[name].as_str().unwrap_or_default();
    let number = |name: &str| sample[name].as_u64().unwrap_or(0);
    let body = bodies[sample["body"].as_u64().unwrap() as usize].as_bytes();
    let children = sample["children"].as_array();
    SampleView {
        url: sample["url"].as_str(),
        response_code: text("code"),
        response_message: text("message"),
        response_headers: text("rh"),
        request_headers: text("qh"),
        request_data: text("data"),
        body,
        // The bodies were recorded as text.
        encoding: Some("UTF-8"),
        content_type: text("type"),
        successful: sample["failed"].is_null(),
        elapsed_ms: number("t"),
        received_bytes: number("by"),
        header_bytes: number("hb"),
        body_bytes: number("bb"),
        children: children
            .map(|children| children.iter().map(|child| view(child, bodies)).collect())
            .unwrap_or_default(),
        ..SampleView::default()
    }
}

/// A verdict in the form of the record.
fn shown(verdict: &Verdict) -> Value {
    let mut value = serde_json::json!({ "ok": verdict.successful });
    if !verdict.outcomes.is_empty() {
        value["outcomes"] = verdict
            .outcomes
            .iter()
            .map(|o| serde_json::json!([o.name, o.failure, o.error, o.message]))
            .collect();
    }
    if !verdict.children.is_empty() {
        value["children"] = verdict.children.iter().map(shown).collect();
    }
    value
}

/// Runs one line; what was not as recorded.
fn differs(line: &Value, bodies: &[String], patterns: &mut Patterns) -> Option<String> {
    let class = line["class"].as_str().unwrap();
    let element = Element(&line["props"]);
    let sample = view(&line["sample"], bodies);
    let mut variables = BTreeMap::new();
    for (name, value) in line["before"].as_object().into_iter().flatten() {
        variables.insert(name.clone(), value.as_str().unwrap().to_owned());
    }
    let mut verdict = Verdict::before(&sample);
    if let Some(extractor) = element.extractor(class) {
        let mut only = |count: usize| {
            assert_eq!(count, 1, "no random choice was recorded");
            0
        };
        match extract(&extractor, &sample, &mut variables, patterns, &mut only) {
            Err(_) if line["verdict"].is_null() => return None,
            Err(lost) => return Some(format!("lost: {lost}")),
            Ok(_) if line["verdict"].is_null() => return Some("not lost".into()),
            Ok(extraction) => verdict.add_extraction(extraction),
        }
        let after = serde_json::to_value(&variables).unwrap();
        if after != line["after"] {
            return Some(format!("variables {after}"));
        }
    } else {
        let assertion = element.assertion(class);
        check(&assertion, &sample, &mut verdict, &variables, patterns);
    }
    let mut verdict = shown(&verdict);
    let mut expected = line["verdict"].clone();
    if class.starts_with("JMESPath") {
        // What Jackson and the JMESPath compiler say in errors is theirs.
        for verdict in [&mut verdict, &mut expected] {
            for outcome in verdict["outcomes"].as_array_mut().into_iter().flatten() {
                if outcome[2] == true {
                    outcome[3] = Value::Null;
                }
            }
        }
    }
    (verdict != expected).then(|| format!("verdict {verdict}"))
}

#[test]
fn elements_do_what_they_did_in_jmeter() {
    let (bodies, lines) = RECORDED.split_once('\n').unwrap();
    let bodies: Vec<String> = serde_json::from_str(bodies).unwrap();
    let mut patterns = Patterns::default();
    let mut wrong = Vec::new();
    for text in lines.lines() {
        let line: Value = serde_json::from_str(text).unwrap();
        let class = line["class"].as_str().unwrap();
        // JMeter does not know this scope, and checks nothing.
        if text.contains(r#""Assertion.scope": "main""#) {
            continue;
        }
        let known = |(of, part, _): &&(&str, &str, &str)| *of == class && text.contains(part);
        if DIFFERENT.iter().any(|different| known(&different)) {
            continue;
        }
        if let Some(differs) = differs(&line, &bodies, &mut patterns) {
            let body = &bodies[line["sample"]["body"].as_u64().unwrap() as usize];
            wrong.push(format!("{text}\n    body {body:?}\n    {differs}"));
        }
    }
    let count = wrong.len();
    assert!(wrong.is_empty(), "{count} differ\n{}", wrong.join("\n"));
}
