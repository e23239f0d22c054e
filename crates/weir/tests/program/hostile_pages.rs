//! Pages and documents that are made to hurt whoever reads them, from a real server to the whole
//! program: the load ends as planned, with every sample, and goes on to be good for other pages.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};

use crate::support::Place;

/// How often a bad thing is nested, and how many of it there are.
const MANY: usize = 200_000;
/// Users of the plan; each asks for each page once.
const USERS: usize = 2;

/// What is served under a name.
struct Page {
    name: &'static str,
    coding: &'static str,
    body: Vec<u8>,
}

impl Page {
    fn of(name: &'static str, body: impl Into<Vec<u8>>) -> Self {
        let coding = "";
        let body = body.into();
        Self { name, coding, body }
    }

    fn coded(name: &'static str, coding: &'static str, body: Vec<u8>) -> Self {
        Self { name, coding, body }
    }
}

fn nested(open: &str, inside: &str, close: &str) -> String {
    [&open.repeat(MANY), inside, &close.repeat(MANY)].concat()
}

fn pages() -> Vec<Page> {
    let zeros = vec![b'0'; 100_000_000];
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    gzip.write_all(&zeros).unwrap();
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::best());
    zlib.write_all(&zeros).unwrap();
    let mut with_dictionary = zlib.finish().unwrap();
    // RFC 1950, section 2.2: says that a dictionary is needed.
    with_dictionary[..2].copy_from_slice(&[0x78, 0xbb]);
    let mut attributes = String::from("<p");
    for number in 0..MANY {
        write!(attributes, " a{number}=1").unwrap();
    }
    let entities = "<!DOCTYPE a [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;\">\
                    <!ENTITY c \"&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;\"><!ENTITY d \"&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;\">\
                    <!ENTITY e \"&d;&d;&d;&d;&d;&d;&d;&d;&d;&d;\"><!ENTITY f \"&e;&e;&e;&e;&e;&e;&e;&e;&e;&e;\">\
                    <!ENTITY g \"&f;&f;&f;&f;&f;&f;&f;&f;&f;&f;\">]><a>&g;&g;&g;&g;</a>";
    vec![
        Page::of("divs", nested("<div>", "x", "</div>")),
        Page::of("formatting", format!("<p>{}", "<b><i><p>".repeat(MANY))),
        Page::of("tables", "<table><tr><td>".repeat(MANY)),
        Page::of("attributes", format!("{attributes}>x</p>")),
        Page::of("images", "<img src=x.png>".repeat(MANY)),
        Page::of("elements", nested("<a>", "x", "</a>")),
        Page::of("entities", entities),
        Page::of("arrays", nested("[", "1", "]")),
        Page::of("objects", nested("{\"a\":", "1", "}")),
        Page::of("letters", "a".repeat(MANY)),
        Page::coded("gzip", "gzip", gzip.finish().unwrap()),
        Page::coded("dictionary", "deflate", with_dictionary),
        Page::of("good", "<html><title>good</title><p>x</p></html>"),
    ]
}

/// A server with these pages; any other path is a tiny picture.
fn serve(pages: Vec<Page>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let pages = Arc::new(pages);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let pages = Arc::clone(&pages);
            thread::spawn(move || while answer(&stream, &pages).is_some() {});
        }
    });
    port
}

/// Answers the next request of a connection; nothing when it is over.
fn answer(stream: &TcpStream, pages: &[Page]) -> Option<()> {
    let mut lines = BufReader::new(stream).lines();
    let first = lines.next()?.ok()?;
    while !lines.next()?.ok()?.is_empty() {}
    let path = first.split(' ').nth(1)?.trim_start_matches('/');
    let page = pages.iter().find(|page| page.name == path);
    let (coding, body) = page.map_or(("", &b"GIF89a"[..]), |page| (page.coding, &page.body[..]));
    let coding = match coding {
        "" => String::new(),
        coding => format!("Content-Encoding: {coding}\r\n"),
    };
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n{coding}Content-Length: {}\r\n\r\n",
        body.len()
    );
    let mut stream = stream;
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(body).ok()
}

fn element(class: &str, properties: &[(&str, &str)]) -> String {
    let mut text = format!("<{class} testclass=\"{class}\" testname=\"{class}\">");
    for (name, value) in properties {
        let kind = if *value == "true" { "bool" } else { "string" };
        write!(text, "<{kind}Prop name=\"{name}\">{value}</{kind}Prop>").unwrap();
    }
    text + &format!("</{class}><hashTree/>\n")
}

/// Everything that looks into a body, below one group.
fn readers() -> String {
    let extractors = [
        (
            "HtmlExtractor",
            "HtmlExtractor.refname",
            "HtmlExtractor.expr",
            "div div > b ~ p, :has(a)",
        ),
        (
            "XPath2Extractor",
            "XPathExtractor2.refname",
            "XPathExtractor2.xpathQuery",
            "//a//a/a[1]",
        ),
        (
            "JSONPostProcessor",
            "JSONPostProcessor.referenceNames",
            "JSONPostProcessor.jsonPathExprs",
            "$..*",
        ),
        (
            "JMESPathExtractor",
            "JMESExtractor.referenceName",
            "JMESExtractor.jmesPathExpr",
            "a[].a",
        ),
        (
            "RegexExtractor",
            "RegexExtractor.refname",
            "RegexExtractor.regex",
            "(a|a)*(?=b)(a+)+$",
        ),
    ];
    let mut text = String::new();
    for (class, variable, path, value) in extractors {
        text += &element(class, &[(variable, "v"), (path, value)]);
    }
    let query = (
        "XPathExtractor.xpathQuery",
        "//div[.//b]//p[count(preceding::*) > 1]",
    );
    for reading in [
        ("XPathExtractor.tolerant", "true"),
        ("XPathExtractor.fragment", "true"),
    ] {
        text += &element(
            "XPathExtractor",
            &[("XPathExtractor.refname", "v"), query, reading],
        );
    }
    let assertions = [
        ("XMLAssertion", "", ""),
        ("XPathAssertion", "XPath.xpath", "//a//a"),
        ("XPath2Assertion", "XPath.xpath", "//a//a"),
        ("JSONPathAssertion", "JSON_PATH", "$..a..a"),
        ("JMESPathAssertion", "JMES_PATH", "a.a"),
    ];
    for (class, path, value) in assertions {
        text += &element(class, &[(path, value)]);
    }
    text
}

#[test]
fn pages_made_to_hurt_end_no_load() {
    let pages = pages();
    let names: Vec<&str> = pages.iter().map(|page| page.name).collect();
    let port = serve(pages);
    let mut samplers = String::new();
    for name in &names {
        samplers += &element(
            "HTTPSamplerProxy",
            &[
                ("HTTPSampler.domain", "127.0.0.1"),
                ("HTTPSampler.port", &port.to_string()),
                ("HTTPSampler.path", &format!("/{name}")),
                ("HTTPSampler.image_parser", "true"),
            ],
        )
        .replace(
            "testname=\"HTTPSamplerProxy\"",
            &format!("testname=\"{name}\""),
        );
    }
    let place = Place::new();
    let readers = readers();
    place.write(
        "plan.jmx",
        &format!(
            "<jmeterTestPlan version=\"1.2\"><hashTree><TestPlan testname=\"P\"/><hashTree>\n\
             <ThreadGroup testname=\"G\"><stringProp name=\"ThreadGroup.num_threads\">{USERS}</stringProp>\
             <elementProp name=\"ThreadGroup.main_controller\" elementType=\"LoopController\">\
             <boolProp name=\"LoopController.continue_forever\">false</boolProp>\
             <stringProp name=\"LoopController.loops\">1</stringProp></elementProp></ThreadGroup>\
             <hashTree>{readers}{samplers}</hashTree></hashTree></hashTree></jmeterTestPlan>"
        ),
    );
    // Reading these pages is all the run does: the load generator may well be its limit, and says
    // so.
    place
        .weir(&["run", "-n", "-t", "plan.jmx", "-l", "out.jtl"])
        .ends_one_of(&[0, 4]);
    let rows = place.read("out.jtl");
    for name in names {
        let column = format!(",{name},");
        let of_page = rows.lines().filter(|row| row.contains(&column)).count();
        assert_eq!(of_page, USERS, "{name}:\n{rows}");
    }
}
