//! Bodies that servers send, changed at random, before everything that looks into them: no panic,
//! and no search without an end.

use std::collections::BTreeMap;

use weir_fuzz::Target;
use weir_plan::{
    CssExtractor, Extractor, JmesPathExtractor, JsonExtractor, Position, RegexExtractor,
    SampleField, SampleScope, XPath2Extractor, XPathExtractor, XmlReading,
};

use crate::{Patterns, SampleView, extract, page_links, style_sheet_links, xpath_values};

const HTML: &[u8] = b"<!doctype html><html><head><title>a &amp; b</title><base href='/x/'>\
    <link rel=stylesheet href=s.css><style>@import url('t.css');</style></head><body><form action=f>\
    <input name=token value=\"a7\"><select><option selected>1</select></form><table><tr><td>1<td>2\
    </table><img src='i.png'><script src=s.js></script><p>x<b>y</p>z</b></body></html>";
const XML: &[u8] = b"<?xml version='1.0' encoding='UTF-8'?><!DOCTYPE r [<!ENTITY e \"v\">]>\
    <r xmlns:n='urn:n'><n:a id='1'>&e;<![CDATA[<x>]]></n:a><a id=\"2\"/><!-- c --><?p i?></r>";
const JSON: &[u8] =
    br#"{"a":[{"b":1,"c":"x\u00e9"},{"b":2.5e-3,"c":null}],"d":{"e":[true,false,[]]}}"#;

fn text(text: &str) -> String {
    text.to_owned()
}

/// One of each kind, with the ways to read that each has.
fn extractors() -> Vec<Extractor<String>> {
    let (at, scope, first) = (Position::default(), SampleScope::Main, text("0"));
    let default = text("none");
    let mut all = vec![
        Extractor::Regex(RegexExtractor {
            name: String::new(),
            scope: scope.clone(),
            field: SampleField::BodyUnescaped,
            variable: text("v"),
            regex: text("(\\w+)=\"(.*?)\"(?=>)"),
            template: text("$1$-$2$"),
            match_number: text("-1"),
            default: default.clone(),
            default_empty: false,
            at,
        }),
        Extractor::Json(JsonExtractor {
            name: String::new(),
            scope: scope.clone(),
            variables: text("v;w"),
            paths: text("$..b;$.a[?(@.b > 1)].c"),
            match_numbers: text("-1;0"),
            defaults: text("x;y"),
            concatenate: true,
            at,
        }),
        Extractor::JmesPath(JmesPathExtractor {
            name: String::new(),
            scope: scope.clone(),
            variable: text("v"),
            path: text("a[?b > `1`].c | sort(@)"),
            match_number: first.clone(),
            default: default.clone(),
            at,
        }),
        Extractor::Css(CssExtractor {
            name: String::new(),
            scope: scope.clone(),
            variable: text("v"),
            selector: text("p b, td:nth-child(2), :has(a) > [name^=t]"),
            attribute: String::new(),
            match_number: text("-1"),
            default: default.clone(),
            default_empty: false,
            at,
        }),
        Extractor::XPath2(XPath2Extractor {
            name: String::new(),
            scope: scope.clone(),
            variable: text("v"),
            query: text("//n:a[@id='1'] | //a"),
            match_number: text("-1"),
            default: default.clone(),
            fragment: true,
            namespaces: text("n=urn:n"),
            at,
        }),
    ];
    for (tolerant, namespaces) in [(false, false), (false, true), (true, false)] {
        all.push(Extractor::XPath(XPathExtractor {
            name: String::new(),
            scope: scope.clone(),
            variable: text("v"),
            query: text("//a[count(preceding::*) >= 0]/@id | //td"),
            match_number: text("-1"),
            default: default.clone(),
            reading: XmlReading {
                tolerant,
                namespaces,
                report_errors: false,
            },
            fragment: true,
            at,
        }));
    }
    all
}

#[test]
fn fuzz_bodies() {
    let target = Target {
        name: "bodies",
        seeds: &[HTML, XML, JSON],
        words: &[
            b"<a>",
            b"</a>",
            b"<table>",
            b"<b><p>",
            b"<![CDATA[",
            b"<!--",
            b"&#x10ffff;",
            b"&e;",
            b"<!ENTITY f '&e;&e;'>",
            b" xmlns='u'",
            b"[[[[",
            b"{\"a\":",
            b"\\ud800",
            b"1e999",
            b"\xff\xfe",
            b"\x00",
        ],
        length_max: 16 * 1024,
    };
    let extractors = extractors();
    target.run(|body| {
        let sample = SampleView {
            body,
            ..SampleView::default()
        };
        let mut patterns = Patterns::default();
        for extractor in &extractors {
            let mut variables = BTreeMap::new();
            let mut first = |count: usize| count.saturating_sub(1);
            // A sample that is lost says why.
            if let Err(lost) = extract(
                extractor,
                &sample,
                &mut variables,
                &mut patterns,
                &mut first,
            ) {
                assert!(!lost.says.is_empty());
            }
        }
        let page = String::from_utf8_lossy(body);
        drop(page_links(&page));
        drop(style_sheet_links(&page));
        drop(xpath_values(&page, "//a"));
    });
}
