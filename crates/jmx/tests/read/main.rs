//! Whole plans through the reader: what they mean, and what is said about them.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "tests")]

mod corpus;
mod elements;
mod fuzz;
mod groups;
mod hostile;
mod replaced;
mod scope;

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use weir_jmx::{JmxError, Reading, Severity, read, read_text};
use weir_plan::{
    HttpRequest, Iterations, Node, OnSampleError, Sampler, SamplerKind, ThreadGroup, Timer,
    TimerKind,
};

fn studies(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../studies/plans")
        .join(name)
}

fn text(reading: Result<Reading, JmxError>) -> Reading {
    reading.unwrap()
}

/// A plan around these elements: `plan` stands below the test plan.
fn plan(plan: &str) -> String {
    format!(
        "<jmeterTestPlan><hashTree>\n<TestPlan testname=\"P\"/>\n<hashTree>{plan}</hashTree>\
         </hashTree></jmeterTestPlan>"
    )
}

/// A group around these elements.
fn group(below: &str) -> String {
    plan(&format!(
        "<ThreadGroup testname=\"G\"><elementProp name=\"ThreadGroup.main_controller\" \
         elementType=\"LoopController\"/></ThreadGroup><hashTree>{below}</hashTree>"
    ))
}

fn sampler(properties: &str, below: &str) -> String {
    format!(
        "<HTTPSamplerProxy testname=\"S\">{properties}</HTTPSamplerProxy>\
         <hashTree>{below}</hashTree>"
    )
}

/// The samplers of a group whose steps are all samplers.
fn samplers(group: &ThreadGroup) -> Vec<&Sampler> {
    let nodes = group.nodes.iter();
    nodes
        .map(|node| match node {
            Node::Sampler(sampler) => &**sampler,
            Node::Controller(controller) => panic!("a controller: {controller:?}"),
        })
        .collect()
}

fn request(sampler: &Sampler) -> &HttpRequest {
    match &sampler.kind {
        SamplerKind::Http(request) => request,
        other => panic!("another sampler: {other:?}"),
    }
}

fn read_ok(xml: &str) -> Reading {
    text(read_text(xml, Path::new("some/plan.jmx")))
}

/// What is said about the plan, apart from what is ignored.
fn said(xml: &str) -> Vec<String> {
    let findings = read_ok(xml).findings.into_iter();
    findings
        .filter(|finding| finding.severity > Severity::Ignored)
        .map(|finding| {
            format!(
                "{} {:?}: {}",
                finding.element, finding.severity, finding.says
            )
        })
        .collect()
}

#[test]
fn the_study_of_long_transactions() {
    let Reading { plan, findings } = text(read(&studies("stress.jmx")));
    assert_eq!(findings, []);
    assert_eq!(plan.groups.len(), 2);
    let names: Vec<&str> = plan.groups.iter().map(|group| &*group.name.text).collect();
    assert_eq!(names, ["DB-heavy users", "CPU-heavy users"]);
    for (group, hold) in plan.groups.iter().zip(["10000", "20"]) {
        assert_eq!(group.users.text, "${__P(THREAD_NUMBER,1)}");
        assert_eq!(group.ramp_up_s.text, "1");
        assert!(matches!(&group.iterations, Iterations::Count(count) if count.text == "-1"));
        assert_eq!(
            group.schedule.as_ref().unwrap().duration_s.text,
            "${__P(SUSTAIN,60)}"
        );
        assert_eq!(group.on_error, OnSampleError::Continue);
        let [step] = &*samplers(group) else {
            panic!("one step, not {}", group.nodes.len());
        };
        let request = request(step);
        assert_eq!(
            (&*request.method.text, &*request.path.text),
            ("POST", "/stress")
        );
        assert!(!request.keep_alive && !request.raw_body);
        let arguments: Vec<_> = request
            .arguments
            .iter()
            .map(|a| (&*a.name.text, &*a.value.text))
            .collect();
        assert_eq!(arguments[0], ("searchTime", hold));
        assert_eq!(arguments[1], ("updateTime", hold));
        assert_eq!(arguments[4], ("form", "${__P(FORM,as-intended)}"));
        assert_eq!(arguments[5], ("bit", "${__P(BIT,1024)}"));
        let [
            Timer {
                kind:
                    TimerKind::Gaussian {
                        delay_ms,
                        deviation_ms,
                    },
                ..
            },
        ] = &*step.timers
        else {
            panic!("one Gaussian timer, not {:?}", step.timers);
        };
        assert_eq!((&*delay_ms.text, &*deviation_ms.text), ("500", "500"));
    }
    let users = &plan.groups[0].users.at;
    assert_eq!((users.line, users.column), (14, 9));
}

#[test]
fn the_plan_of_short_transactions() {
    let Reading { plan, findings } = text(read(&studies("short.jmx")));
    assert_eq!(findings, []);
    assert_eq!(plan.name, "Short transactions");
    assert_eq!(plan.groups.len(), 1);
    assert_eq!(request(samplers(&plan.groups[0])[0]).arguments.len(), 5);
}

/// A plan saved by JMeter 3.3, with Japanese names, long properties and graphical listeners.
#[test]
fn an_old_plan() {
    let Reading { plan, findings } = text(read(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/old.jmx"),
    ));
    assert_eq!(plan.name, "古い計画");
    assert_eq!(plan.groups[0].users.text, "${__P(THREAD_NUMBER)}");
    let step = samplers(&plan.groups[0])[0];
    let request = request(step);
    assert_eq!(
        (&*request.host.text, request.arguments.len()),
        ("127.0.0.1", 1)
    );
    assert!(
        matches!(&step.timers[0].kind, TimerKind::Gaussian { deviation_ms, .. }
        if deviation_ms.text == "500.5")
    );
    let ignored: Vec<&str> = findings.iter().map(|finding| &*finding.element).collect();
    assert_eq!(ignored, ["ResultCollector", "WorkBench"]);
    assert!(
        findings
            .iter()
            .all(|finding| finding.severity == Severity::Ignored)
    );
}

#[test]
fn every_element_is_named() {
    let xml = group(&format!(
        "<JDBCPreProcessor testname=\"C\"/><hashTree/>\n{}\n\
         <com.example.Switch testname=\"I\"/><hashTree>{}</hashTree>\
         <com.example.ThreadGroup testname=\"X\" testclass=\"ThreadGroup\"/>",
        sampler("", "<HTMLAssertion testname=\"A\"/><hashTree/>"),
        "<com.example.Case/><hashTree><CompareAssertion testname=\"R\"/></hashTree>",
    ));
    assert_eq!(
        said(&xml),
        [
            "JDBCPreProcessor Unsupported: JDBCPreProcessor is not supported",
            "HTMLAssertion Unsupported: HTMLAssertion is not supported",
            "com.example.Switch Unsupported: com.example.Switch is not supported",
            "com.example.Case Unsupported: com.example.Case is not supported",
            "CompareAssertion Unsupported: CompareAssertion is not supported",
            "com.example.ThreadGroup Unsupported: com.example.ThreadGroup is not supported",
        ]
    );
    let reading = read_ok(&xml);
    assert_eq!(reading.unsupported().count(), 6);
    let first = &reading.findings[0];
    assert_eq!((first.at.line, first.at.column), (3, 139));
    assert_eq!(
        first.to_string(),
        "line 3, column 139: JDBCPreProcessor \"C\" (unsupported): JDBCPreProcessor is not \
         supported; what it prepares for the requests in its scope would be missing; Weir sends \
         HTTP only: run the plan with --engine jmeter, or disable it"
    );
    for (xml, says) in [
        (
            plan(&sampler("", "")),
            "HTTPSamplerProxy Unsupported: it is not supported at this place",
        ),
        (
            plan("<ConstantTimer/><hashTree><Nested/></hashTree>"),
            "Nested Unsupported: Nested is not supported",
        ),
        (
            group("<ThreadGroup/>"),
            "ThreadGroup Unsupported: it is not supported at this place",
        ),
        (
            plan("<KeystoreConfig guiclass=\"TestBeanGUI\"/>"),
            "KeystoreConfig Unsupported: KeystoreConfig is not supported",
        ),
    ] {
        let said = said(&xml);
        assert!(
            said.len() == 1 && said[0].starts_with(says),
            "{xml}: {said:?}"
        );
    }
}

#[test]
fn switches_that_change_what_is_sent() {
    let with = |property: &str| said(&group(&sampler(property, "")));
    for (property, says) in [
        (
            "<stringProp name=\"HTTPSampler.ipSource\">i</stringProp>",
            "a source address",
        ),
        (
            "<elementProp name=\"HTTPsampler.Arguments\"><collectionProp \
             name=\"Arguments.arguments\"><elementProp name=\"a\"><stringProp \
             name=\"Argument.metadata\">:</stringProp></elementProp></collectionProp>\
             </elementProp>",
            "the parameter \"\" has \":\"",
        ),
    ] {
        let said = with(property);
        let expect = format!("HTTPSamplerProxy Unsupported: {says}");
        assert!(said.len() == 1 && said[0].starts_with(&expect), "{said:?}");
    }
    for property in [
        "<boolProp name=\"HTTPSampler.follow_redirects\">false</boolProp>",
        "<boolProp name=\"HTTPSampler.image_parser\">yes</boolProp>",
        "<stringProp name=\"HTTPSampler.implementation\">HttpClient4</stringProp>",
    ] {
        assert_eq!(with(property), [""; 0], "{property}");
    }
}

/// What Java's own client adds by itself, as JMeter 5.6.3 sent it.
#[test]
fn javas_own_client() {
    let java = "<stringProp name=\"HTTPSampler.implementation\">Java</stringProp>";
    let post = "<stringProp name=\"HTTPSampler.method\">POST</stringProp>";
    let xml = group(&[sampler(java, ""), sampler(&format!("{java}{post}"), "")].concat());
    let said = said(&xml);
    assert!(
        said.iter()
            .all(|says| says.starts_with("HTTPSamplerProxy Warning: it is set to Java's own HTTP")),
        "{said:?}"
    );
    let plan = read_ok(&xml).plan;
    let fields: Vec<Vec<&str>> = samplers(&plan.groups[0])
        .into_iter()
        .map(|sampler| request(sampler).headers.iter())
        .map(|headers| headers.map(|(name, _)| &*name.text).collect())
        .collect();
    assert_eq!(fields, [vec!["Accept"], vec!["Accept", "Content-Type"]]);
}

#[test]
fn what_the_plan_itself_asks_for() {
    let serial = "<TestPlan><boolProp name=\"TestPlan.serialize_threadgroups\">true</boolProp>\
                  <boolProp name=\"TestPlan.functional_mode\">true</boolProp>\
                  <stringProp name=\"TestPlan.user_define_classpath\">a.jar</stringProp></TestPlan>";
    let xml = group("").replace("<TestPlan testname=\"P\"/>", serial);
    assert_eq!(
        said(&xml),
        [
            "TestPlan Warning: functional test mode is on, but no response data is saved",
            "TestPlan Warning: the libraries it adds to the class path are not loaded",
        ]
    );
    let plan = read_ok(&xml).plan;
    // JMeter 5.6.3: a plan that does not say so does not tear down after a stop.
    assert!(plan.serialized && !plan.tear_down_on_shutdown);
    // A plan without a name is called like its file.
    assert_eq!(read_ok(&xml).plan.name, "plan");
}

#[test]
fn disabled_elements_are_as_good_as_deleted() {
    let xml = group(
        "<CookieManager enabled=\"False\"/><hashTree><X/></hashTree>\
         <ConstantTimer enabled=\"false\"/>",
    );
    assert_eq!(said(&xml), [""; 0]);
    assert_eq!(read_ok(&xml).findings.len(), 2);
    let xml = group("").replace("<ThreadGroup ", "<ThreadGroup enabled=\"false\" ");
    assert!(read_ok(&xml).plan.groups.is_empty());
}

/// Timers of all levels apply; a sampler's own only to it.
#[test]
fn timers_in_scope() {
    let timer = |delay: &str| {
        format!(
            "<ConstantTimer><stringProp name=\"ConstantTimer.delay\">{delay}</stringProp>\
             </ConstantTimer><hashTree/>"
        )
    };
    let inner = format!(
        "{}{}{}",
        sampler("", &timer("1")),
        sampler("", ""),
        timer("10")
    );
    let xml = group(&inner).replace("<ThreadGroup ", &format!("{}<ThreadGroup ", timer("100")));
    let plan = read_ok(&xml).plan;
    let steps = samplers(&plan.groups[0]);
    let delays = |index: usize| -> Vec<&str> {
        let timers = steps[index].timers.iter();
        timers
            .map(|timer| match &timer.kind {
                TimerKind::Constant { delay_ms } => &*delay_ms.text,
                other => panic!("only constant timers here: {other:?}"),
            })
            .collect()
    };
    assert_eq!(delays(0), ["1", "10", "100"]);
    assert_eq!(delays(1), ["10", "100"]);
}

fn headers(fields: &[(&str, &str)]) -> String {
    let field = |(name, value): &(&str, &str)| {
        format!(
            "<elementProp name=\"\" elementType=\"Header\"><stringProp \
             name=\"Header.name\">{name}</stringProp><stringProp name=\"Header.value\">\
             {value}</stringProp></elementProp>"
        )
    };
    let fields = fields.iter().map(field).collect::<Vec<_>>().concat();
    format!(
        "<HeaderManager guiclass=\"HeaderPanel\"><collectionProp name=\"HeaderManager.headers\">{fields}</collectionProp>\
         </HeaderManager><hashTree/>"
    )
}

/// The fields that JMeter 5.6.3 sent for the same managers.
#[test]
fn headers_are_merged() {
    let outer = [
        ("A", "plan"),
        ("B", "plan"),
        ("E", "plan"),
        ("Z", "plan"),
        ("Z", "plan2"),
    ];
    let group_1 = [("b", "group"), ("C", "group"), ("C", "group2"), ("E", "")];
    let group_2 = [("b", "group-second"), ("D", "group-second"), ("F", "")];
    let own_1 = [("c", "own"), ("Y", "own"), ("Y", "own2"), ("Z", "own")];
    let own_2 = [("Y", "own-second"), ("X", "own-second")];
    let inner = [
        headers(&group_1),
        headers(&group_2),
        sampler("", &(headers(&own_1) + &headers(&own_2))),
        sampler("", ""),
        sampler("", &headers(&[("Z", "own"), ("A", "")])),
    ];
    let xml = group(&inner.concat());
    let xml = xml.replace("<ThreadGroup ", &(headers(&outer) + "<ThreadGroup "));
    let shown: Vec<String> = samplers(&read_ok(&xml).plan.groups[0])
        .iter()
        .map(|step| {
            let fields = request(step).headers.iter();
            let fields = fields.map(|(name, value)| format!("{}: {}", name.text, value.text));
            fields.collect::<Vec<_>>().join(", ")
        })
        .collect();
    assert_eq!(
        shown,
        [
            "c: own, Y: own, Y: own2, Z: own, X: own-second, b: group, E: , D: group-second, \
             F: , A: plan",
            "b: group, C: group, C: group2, E: , D: group-second, F: , A: plan, Z: plan",
            "Z: own, A: , b: group, C: group, E: , D: group-second, F: ",
        ]
    );
}

/// The URLs that JMeter 5.6.3 tried for the same defaults.
#[test]
fn defaults_fill_what_is_empty() {
    let text = |name: &str, value: &str| {
        format!("<stringProp name=\"HTTPSampler.{name}\">{value}</stringProp>")
    };
    let argument = |value: &str| {
        format!(
            "<elementProp name=\"HTTPsampler.Arguments\"><collectionProp \
             name=\"Arguments.arguments\"><elementProp name=\"x\"><stringProp \
             name=\"Argument.name\">x</stringProp><stringProp name=\"Argument.value\">{value}\
             </stringProp></elementProp></collectionProp></elementProp>"
        )
    };
    let defaults = |properties: String| {
        format!(
            "<ConfigTestElement guiclass=\"HttpDefaultsGui\">{properties}</ConfigTestElement>\
             <hashTree/>"
        )
    };
    let outer = defaults(text("domain", "d") + &text("path", "/dp") + &argument("outer"));
    let first = defaults(
        text("path", "/inner") + &text("method", "PUT") + &text("domain", "") + &argument("inner"),
    );
    let second = defaults(text("path", "/second") + &text("port", "1") + &argument("second"));
    let own = sampler(
        &(text("path", "") + &text("method", "GET") + &argument("own")),
        "",
    );
    let child = sampler(&text("path", "/own"), &defaults(text("method", "PATCH")));
    let xml = group(&[first, second, sampler("", ""), own, child].concat());
    let xml = xml.replace("<ThreadGroup ", &(outer + "<ThreadGroup "));
    let reading = read_ok(&xml);
    let shown: Vec<String> = samplers(&reading.plan.groups[0])
        .iter()
        .map(|step| {
            let request = request(step);
            let [method, host, port, path] =
                [&request.method, &request.host, &request.port, &request.path].map(|t| &*t.text);
            let arguments: Vec<&str> = request.arguments.iter().map(|a| &*a.value.text).collect();
            format!("{method} {host}:{port}{path} {}", arguments.join(","))
        })
        .collect();
    assert_eq!(
        shown,
        [
            "PUT d:1/inner inner,second,outer",
            "GET d:1/inner own,inner,second,outer",
            "PATCH d:1/own inner,second,outer",
        ]
    );
    // What a default switches on is named once, where it stands.
    let source = defaults(text("ipSource", "127.0.0.2"));
    let said = said(&group(&(source + &sampler("", "") + &sampler("", ""))));
    assert_eq!(
        said,
        ["ConfigTestElement Unsupported: a source address is not supported"]
    );
}

#[test]
fn variables_anywhere_in_file_order() {
    let list = |name: &str| {
        format!(
            "<Arguments><collectionProp name=\"Arguments.arguments\"><elementProp name=\"x\">\
             <stringProp name=\"Argument.name\">{name}</stringProp></elementProp>\
             </collectionProp></Arguments><hashTree/>"
        )
    };
    let xml = group(&(sampler("", &list("b")) + &list("c")));
    let xml = xml.replace("<ThreadGroup ", &(list("a") + "<ThreadGroup "));
    let reading = read_ok(&xml);
    let names: Vec<&str> = reading
        .plan
        .variables
        .iter()
        .flatten()
        .map(|variable| &*variable.name.text)
        .collect();
    assert_eq!(
        (names, reading.plan.variables.len()),
        (vec!["a", "b", "c"], 3)
    );
}

#[test]
fn properties_are_read_leniently() {
    let xml = group(
        "<org.apache.jmeter.protocol.http.sampler.HTTPSampler2 testclass=\"HTTPSampler2\">\
         <intProp name=\"HTTPSampler.port\">80</intProp>\
         <stringProp name=\"HTTPSampler.path\">/a<!-- x -->b<![CDATA[<c>]]>&amp;</stringProp>\
         <stringProp name=\"HTTPSampler.use_keepalive\">True</stringProp>\
         <stringProp name=\"HTTPSampler.domain\">first</stringProp>\
         <stringProp name=\"HTTPSampler.domain\">last</stringProp>\
         </org.apache.jmeter.protocol.http.sampler.HTTPSampler2>\
         <org.apache.jmeter.protocol.http.sampler.HTTPSamplerProxy/>",
    );
    let plan = read_ok(&xml).plan;
    let steps = samplers(&plan.groups[0]);
    let first = request(steps[0]);
    let texts = [&first.port, &first.path, &first.host, &first.method].map(|t| &*t.text);
    assert_eq!(texts, ["80", "/ab<c>&", "last", "GET"]);
    assert!(first.keep_alive && !request(steps[1]).keep_alive);
}

#[test]
fn files_that_are_no_plan() {
    let malformed = |text: &str| match read_text(text, Path::new("some/plan.jmx")) {
        Err(error @ JmxError::Malformed { .. }) => error.to_string(),
        other => panic!("{text}: {other:?}"),
    };
    for (text, expect) in [
        ("", "some/plan.jmx:1:1: there is no XML element"),
        ("no xml", "some/plan.jmx:1:1: "),
        (
            "<testResults/>",
            "some/plan.jmx:1:1: the root element is <testResults>",
        ),
        (
            "\n<jmeterTestPlan/>",
            "some/plan.jmx:2:1: there is no <hashTree>",
        ),
        (
            "<jmeterTestPlan>\n<hashTree>",
            "some/plan.jmx:2:11: the file ends in the middle",
        ),
        ("<a>\n</b>", "some/plan.jmx:2:"),
        (
            "<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>",
            "some/plan.jmx:1:1: a document type",
        ),
        ("<a>&b;</a>", "some/plan.jmx:1:4: "),
    ] {
        let message = malformed(text);
        assert!(
            message.starts_with(&format!("read the test plan {expect}")),
            "{message}"
        );
    }
    let deep = "<a>".repeat(100_000) + &"</a>".repeat(100_000);
    assert!(malformed(&deep).contains("nested deeper than 500"));
    let missing = read(Path::new("no/such/plan.jmx")).unwrap_err();
    assert_eq!(missing.to_string(), "read the test plan no/such/plan.jmx");
}

#[test]
fn files_that_are_not_utf_8() {
    let path = std::env::temp_dir().join(format!("weir-jmx-{}.jmx", std::process::id()));
    std::fs::write(&path, b"<jmeterTestPlan>\n  \xe3\xff</jmeterTestPlan>").unwrap();
    let message = read(&path).unwrap_err().to_string();
    std::fs::remove_file(&path).unwrap();
    assert!(
        message.contains(":2:3: the byte 0xe3 is not UTF-8; "),
        "{message}"
    );
}

proptest! {
    #[test]
    fn any_text_gives_an_answer(text in "\\PC{0,200}") {
        let _ = read_text(&text, Path::new("any.jmx"));
    }

    /// A valid plan with a piece cut out and put back elsewhere.
    #[test]
    fn a_broken_plan_gives_an_answer(cut in 0_usize..8_000, length in 0_usize..400, to in 0_usize..8_000) {
        let whole: Vec<char> =
            std::fs::read_to_string(studies("stress.jmx")).unwrap().chars().collect();
        let cut = cut % whole.len();
        let end = (cut + length).min(whole.len());
        let mut rest = [&whole[..cut], &whole[end..]].concat();
        let to = to % (rest.len() + 1);
        rest.splice(to..to, whole[cut..end].iter().copied());
        let text: String = rest.into_iter().collect();
        let _ = read_text(&text, Path::new("any.jmx"));
    }

    /// Elements in any order and nesting.
    #[test]
    fn any_tree_gives_an_answer(tags in prop::collection::vec(0_usize..9, 0..40)) {
        const TAGS: [&str; 9] = [
            "<hashTree>", "</hashTree>", "<hashTree/>", "<ThreadGroup/>", "<HTTPSamplerProxy/>",
            "<ConstantTimer/>", "<Arguments/>", "<TestPlan enabled=\"true\"/>", "<HeaderManager/>",
        ];
        let inner: String = tags.into_iter().map(|tag| TAGS[tag]).collect();
        let _ = read_text(&plan(&inner), Path::new("any.jmx"));
    }
}
