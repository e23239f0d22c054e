//! What JMeter 5.6.3 answered to 1,000 texts, text by text.
//!
//! `functions.jsonl` was recorded with JMeter's own classes on Java 17 with the time zone UTC:
//! for each case the variables, properties and response body before it, its texts, what each gave
//! in order (in rounds, for a case with `repeat`), and the variables afterwards. What differed
//! between two runs is not in it. `refused`: JMeter did not start; `fails`: it threw, which ends
//! the user.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::Value;
use weir_plan::{Position, Template};
use weir_script::{
    Changes, GlobalVariables, PreviousResponse, Problem, Properties, SamplerName, Scope, Text,
    Variables,
};

/// Where we give another answer on purpose: what the text has in it, and why.
const DIFFERENT: [(&str, &str); 20] = [
    (
        "${__jm__",
        "a variable of controllers that nothing sets is a problem",
    ),
    ("MD2", "nobody should use it; a problem"),
    ("SHA3-", "rare; a problem"),
    ("RandomString(2,😀)", "whole characters, not halves"),
    ("fr_FR", "no names in other languages; a problem"),
    ("zzzz", "no long names of time zones; a problem"),
    (
        "__dateTimeConvert(1583020799123,,B",
        "no words for times of day; a problem",
    ),
    (
        "__dateTimeConvert(1577880000007,,B",
        "no words for times of day; a problem",
    ),
    ("ppd", "no padding; a problem"),
    ("+12020", "the calendar ends in 9999"),
    (
        "CEST",
        "short names of time zones cannot be read: they are ambiguous",
    ),
    ("(?<=x)", "an expression that ORO cannot read is a problem"),
    (r"\p{L}", "an expression that ORO cannot read is a problem"),
    (
        "true,nosuch",
        "an encoding that we do not have is a problem",
    ),
    // What Java refuses and JMeter takes for nothing is a problem.
    // What JMeter itself sends as it stands, and a plugin makes something else of.
    (
        "__nosuch(",
        "a function that JMeter does not have is a problem",
    ),
    (",unknown,", "a problem"),
    (",b,)", "a problem"),
    ("(bbb,", "a problem"),
    ("{}", "a problem"),
    ("#,)", "a problem"),
];

/// A whole text without a call is taken as it stands: JMeter compiles it, but uses it raw.
fn is_raw(text: &str) -> bool {
    ["${", "${a"].contains(&text)
}

fn write_files(directory: &Path) {
    let files = [
        ("lines.txt", "l1\nl2\n"),
        ("blank.txt", "one\n\nthree"),
        ("empty.txt", ""),
        ("seq1.txt", "f1-a\nf1-b\n"),
        ("seq2.txt", "f2-a\nf2-b\n"),
        ("seq3.txt", "f3-a\nf3-b\n"),
        ("sq001.txt", "s001\n"),
        ("sq002.txt", "s002\n"),
        ("data.csv", "a,b\nc,d\n"),
        ("four.csv", "c0,c1,\"c 2\",c3\nd0,\"d\"\"q\",d2,d3\n"),
        ("odd.csv", "# comment,1\n\na,,c\n,4\nlast,\n"),
        (
            "odd2.csv",
            "# comment,1\na,,c\n,4\nlast,\n x , y \n\t,z\n\nafter,1\n",
        ),
        ("empty.csv", ""),
    ];
    let plan = directory.join("plan");
    std::fs::create_dir_all(&plan).unwrap();
    for (name, text) in files {
        let csv = Path::new(name).extension().is_some_and(|e| e == "csv");
        let place = if csv { &plan } else { directory };
        std::fs::write(place.join(name), text).unwrap();
    }
}

fn pairs(value: &Value) -> Vec<(String, String)> {
    let pairs = value.as_object().into_iter().flatten();
    let pair =
        |(name, value): (&String, &Value)| (name.clone(), value.as_str().unwrap().to_owned());
    pairs.map(pair).collect()
}

/// Whether everything may change, or as little as the texts say.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Compiled {
    Late,
    Early,
}

/// The texts of a case, what they give in one way of compiling them, and the user afterwards.
fn run(case: &Value, compiled: Compiled, plan: &Path) -> (Vec<String>, Scope) {
    let mut properties: Properties = pairs(&case["props"]).into_iter().collect();
    properties.set("user.timezone", "UTC");
    let mut globals = GlobalVariables::new(&properties, Some(plan));
    let mut changes = Changes::default();
    let texts: Vec<&str> = case["texts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|t| t.as_str().unwrap())
        .collect();
    if compiled == Compiled::Late {
        changes.variables.add_all();
        changes.properties.add_all();
    } else {
        globals.extend(pairs(&case["vars"]));
        for text in &texts {
            changes.add_text(text);
        }
        // What an evaluated text sets is not seen.
        for (_, text) in pairs(&case["vars"]) {
            changes.add_text(&text);
        }
    }
    let compiled_texts: Vec<Result<Text, _>> = texts
        .iter()
        .map(|text| {
            Text::compile(
                &Template {
                    text: (*text).to_owned(),
                    at: Position::default(),
                },
                &globals,
                changes.clone(),
            )
        })
        .collect();
    let random = Xoshiro256PlusPlus::seed_from_u64(7);
    let mut user = Scope::new(Variables::new(globals), 1, "G".into(), random);
    for (name, value) in pairs(&case["vars"]) {
        if compiled == Compiled::Late {
            user.variables.set(&name, &value);
        }
    }
    user.sampler = SamplerName::Known("S".into());
    // 2026-11-21T05:20:00Z, the day of the recording.
    user.epoch_ms = 1_795_238_400_000;
    user.previous = case["body"].as_str().map(|body| {
        Arc::new(PreviousResponse {
            body: body.to_owned(),
            ..PreviousResponse::default()
        })
    });
    let mut gives = Vec::new();
    for _ in 0..case["repeat"].as_u64().unwrap_or(1) {
        for text in &compiled_texts {
            gives.push(match text {
                Ok(text) => {
                    let rendered = text.rendered(&mut user);
                    match user.fault.take() {
                        None => format!("={rendered}"),
                        Some(fault) => format!("fails: {}", fault.says),
                    }
                }
                Err(problems) => format!("problem: {}", problems[0].says),
            });
        }
    }
    (gives, user)
}

fn agrees(given: &str, expect: &Value) -> bool {
    match expect.as_str() {
        Some(text) => given.strip_prefix('=') == Some(text),
        // What JMeter refuses is a problem; what always fails may be one, too.
        None if expect["refused"].is_string() => given.starts_with("problem: "),
        None => given.starts_with("problem: ") || given.starts_with("fails: "),
    }
}

/// Whether we know that we differ; letters that are too many are a problem as well.
fn is_different(text: &str, given: &str) -> bool {
    let too_many = given.contains("is not supported or no pattern");
    is_raw(text) || too_many || DIFFERENT.iter().any(|(part, _)| text.contains(part))
}

#[test]
fn as_in_jmeter() {
    let directory = tempfile::tempdir().unwrap();
    write_files(directory.path());
    // Some functions take relative names from the working directory; no other test here has one.
    std::env::set_current_dir(directory.path()).unwrap();
    let plan = directory.path().join("plan/x.jmx");
    let recorded = include_str!("../functions.jsonl");
    let mut wrong = Vec::new();
    let mut compared = 0;
    for line in recorded.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        for compiled in [Compiled::Late, Compiled::Early] {
            for written in ["o1.txt", "o2.txt"] {
                let _ = std::fs::remove_file(written);
            }
            let (gives, user) = run(&case, compiled, &plan);
            let texts = case["texts"].as_array().unwrap();
            for (index, (given, expect)) in gives
                .iter()
                .zip(case["gives"].as_array().unwrap())
                .enumerate()
            {
                let text = texts[index % texts.len()].as_str().unwrap();
                compared += 1;
                if !agrees(given, expect) && !is_different(text, given) {
                    wrong.push(format!(
                        "{compiled:?} {}: {text}\n    {given}\n    ={expect}",
                        case["case"]
                    ));
                }
            }
            check_variables(&case, &user, compiled, &mut wrong);
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {compared}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

fn check_variables(case: &Value, user: &Scope, compiled: Compiled, wrong: &mut Vec<String>) {
    let Some(sets) = case.get("sets") else {
        return;
    };
    let given: BTreeMap<String, String> = pairs(&case["vars"]).into_iter().collect();
    let own = user
        .variables
        .own()
        .map(|(n, v)| (n.to_owned(), v.to_owned()));
    let own: BTreeMap<String, String> = own.filter(|(n, v)| given.get(n) != Some(v)).collect();
    // JMeter also keeps a variable without a name.
    let expect: BTreeMap<String, String> = pairs(sets)
        .into_iter()
        .filter(|(n, _)| !n.is_empty())
        .collect();
    if own != expect {
        wrong.push(format!(
            "{compiled:?} {} sets\n    {own:?}\n    {expect:?}",
            case["case"]
        ));
    }
}

/// A user of a test with these properties, and its text.
fn one(text: &str, properties: &[(&str, &str)]) -> (Result<Text, Vec<Problem>>, Scope) {
    let mut all: Properties = properties.iter().copied().collect();
    all.set("user.timezone", "UTC");
    let globals = GlobalVariables::new(&all, None);
    let mut changes = Changes::default();
    changes.add_text(text);
    let template = Template {
        text: text.to_owned(),
        at: Position { line: 1, column: 1 },
    };
    let compiled = Text::compile(&template, &globals, changes);
    let random = Xoshiro256PlusPlus::seed_from_u64(1);
    let user = Scope::new(Variables::new(globals), 3, "G".into(), random);
    (compiled, user)
}

fn answer(text: &str, properties: &[(&str, &str)]) -> String {
    let (compiled, mut user) = one(text, properties);
    compiled.unwrap().rendered(&mut user)
}

/// Recorded like the others, but their answers depend on the time: 2026-11-21 05:20:00.430.
#[test]
fn the_time_as_in_jmeter() {
    for (format, expect) in [
        ("", "1795238400430"),
        ("/1000", "1795238400"),
        ("/60000", "29920640"),
        ("YMD", "20261121"),
        ("HMS", "052000"),
        ("YMDHMS", "20261121-052000"),
        ("USER1", ""),
        ("USER2", "11/2026"),
        ("yyyy-MM-dd'T'HH:mm:ss.SSSX", "2026-11-21T05:20:00.430Z"),
        ("ymd", "20262021"),
        (" YMD", " 202611325"),
        ("dd/MM/yyyy HH:mm:ss Z z", "21/11/2026 05:20:00 +0000 UTC"),
        ("EEE MMM d", "Sat Nov 21"),
        ("/ 1000", "/ 1000"),
        ("'YMD'", "YMD"),
    ] {
        let (text, mut user) = one(
            &format!("${{__time({format})}}"),
            &[("time.USER2", "MM/yyyy")],
        );
        user.epoch_ms = 1_795_238_400_430;
        assert_eq!(text.unwrap().rendered(&mut user), expect, "{format}");
    }
}

/// JMeter run with `-Duser.timezone=Europe/Paris`.
#[test]
fn another_time_zone_as_in_jmeter() {
    for (text, expect) in [
        (
            "${__dateTimeConvert(1593561600000,,yyyy-MM-dd'T'HH:mm:ssXXX z VV Z O OOOO,)}",
            "2020-07-01T02:00:00+02:00 CEST Europe/Paris +0200 GMT+2 GMT+02:00",
        ),
        (
            "${__dateTimeConvert(1583020799123,,yyyy-MM-dd'T'HH:mm:ssXXX z VV,)}",
            "2020-03-01T00:59:59+01:00 CET Europe/Paris",
        ),
        (
            "${__dateTimeConvert(2020-01-02T03:04:05 Europe/Paris,yyyy-MM-dd'T'HH:mm:ss VV,VV HH:mm,)}",
            "Europe/Paris 03:04",
        ),
        (
            "${__timeShift(yyyy-MM-dd'T'HH:mm:ss VV,2020-07-02T03:04:05 America/New_York,PT1S,,)}",
            "2020-07-01T22:04:06 America/New_York",
        ),
        (
            "${__timeShift(yyyy-MM-dd'T'HH:mm:ss,2020-07-02T03:04:05,PT1S,,)}",
            "2020-07-02T03:04:06",
        ),
        (
            "${__timeShift(yyyy-MM-dd'T'HH:mm,2020-03-28T12:00,PT24H,,)}",
            "2020-03-29T12:00",
        ),
    ] {
        let properties: Properties = [("user.timezone", "Europe/Paris")].into_iter().collect();
        let globals = GlobalVariables::new(&properties, None);
        let template = Template {
            text: text.to_owned(),
            at: Position::default(),
        };
        let text = Text::compile(&template, &globals, Changes::default()).unwrap();
        let random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut user = Scope::new(Variables::new(globals), 1, "G".into(), random);
        user.epoch_ms = 1_795_238_400_430;
        assert_eq!(text.rendered(&mut user), expect);
    }
}

#[test]
fn properties_are_for_all_users() {
    let (text, mut first) = one(
        "${__setProperty(p,new)}${__P(p)}${__P(q)}",
        &[("p", "old"), ("q", "q")],
    );
    let text = text.unwrap();
    let other = first.variables.globals().clone();
    assert_eq!(other.property("p").as_deref(), Some("old"));
    assert_eq!(text.rendered(&mut first), "newq");
    assert_eq!(other.property("p").as_deref(), Some("new"));
    assert_eq!(other.set_property("p", "newer").as_deref(), Some("new"));
    // What nothing sets is constant.
    let (text, _) = one(
        "${__P(p)} ${__property(x,,d)} ${__isPropDefined(p)}",
        &[("p", "old")],
    );
    assert_eq!(text.unwrap().constant(), Some("old d true"));
}

#[test]
fn a_property_may_hold_a_number() {
    let script = |text: &str| format!("${{__groovy({})}}", text.replace(',', "\\,"));
    let (text, mut user) = one(
        &[
            script("props.put('n', 5)"),
            "${__P(n,none)}".to_owned(),
            script("props.get('n') + 1"),
            script("props.getProperty('n', 'no text')"),
            script("props.containsKey('n')"),
            script("props.put('n', 'x')"),
            "${__P(n,none)}".to_owned(),
            script("props.remove('n')"),
            "${__P(n,none)}".to_owned(),
        ]
        .join("|"),
        &[("n", "first")],
    );
    let text = text.unwrap();
    let expect = "first|none|6|no text|true|5|x|x|none";
    assert_eq!(text.rendered(&mut user), expect);
}

#[test]
fn counters_of_users_and_of_all() {
    let (own, mut first) = one("${__counter(TRUE)}", &[]);
    let (all, _) = one("${__counter(FALSE)}", &[]);
    let (own, all) = (own.unwrap(), all.unwrap());
    let mut second = first.clone();
    let mut three = |text: &Text| {
        [
            text.rendered(&mut first),
            text.rendered(&mut first),
            text.rendered(&mut second),
        ]
    };
    assert_eq!(three(&own), ["1", "2", "1"]);
    assert_eq!(three(&all), ["1", "2", "3"]);
    // A clone of a text is the same place of the plan.
    assert_eq!(three(&all.clone()), ["4", "5", "6"]);
}

#[test]
fn names_of_the_machine() {
    let name = answer("${__machineName}", &[]);
    let kernel = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    assert_eq!(name, kernel.trim());
    let address = answer("${__machineIP}", &[]);
    assert!(address.parse::<std::net::IpAddr>().is_ok(), "{address}");
    assert_eq!(
        answer("${__threadNum} ${__threadGroupName} ${__TestPlanName}", &[]),
        "3 G null"
    );
}

#[test]
fn the_log_gets_level_and_text() {
    let (text, mut user) = one("${__log(a,warn,,c)}${__logn(b)}", &[]);
    let lines = Arc::new(std::sync::Mutex::new(Vec::new()));
    let sink = Arc::clone(&lines);
    user.variables
        .globals()
        .log_to(Box::new(move |level, text| {
            sink.lock().unwrap().push(format!("{level} {text}"));
        }));
    assert_eq!(text.unwrap().rendered(&mut user), "a");
    assert_eq!(*lines.lock().unwrap(), ["warn c a", "INFO b"]);
}

#[test]
fn random_answers_have_their_form() {
    let (text, mut user) = one(
        "${__RandomString(40,ab)} ${__RandomDate(,2020-02-27,2020-03-02,,)}",
        &[],
    );
    let text = text.unwrap();
    let mut days = std::collections::BTreeSet::new();
    for _ in 0..200 {
        let rendered = text.rendered(&mut user);
        let (letters, day) = rendered.split_once(' ').unwrap();
        assert_eq!(letters.len(), 40);
        assert!(letters.contains('a') && letters.contains('b') && !letters.contains('c'));
        days.insert(day.to_owned());
    }
    let days: Vec<&str> = days.iter().map(String::as_str).collect();
    assert_eq!(
        days,
        ["2020-02-27", "2020-02-28", "2020-02-29", "2020-03-01"]
    );
}

/// As Java 17 writes them in the time zone UTC, wherever a date becomes a text.
#[test]
fn dates_of_scripts_have_javas_text() {
    for script in [
        "new Date(0L)",
        "new Date(0L).toString()",
        "'' + new Date(0L)",
        "String.valueOf(new Date(0L))",
        "'' + (new Date(-86400000L) + 1)",
    ] {
        let text = answer(
            &format!("${{__groovy({script})}}"),
            &[("user.timezone", "UTC")],
        );
        let expect = "Thu Jan 01 00:00:00 UTC 1970";
        assert_eq!(text, expect, "{script}");
    }
}

#[test]
fn what_is_always_wrong_is_a_problem() {
    for (text, part) in [
        ("${__XPath(f)}", "the function __XPath has 1 arguments"),
        (
            "${__groovy(1 +)}",
            "a script in Groovy needs what Weir does not know",
        ),
        (
            "${__groovy(Runtime.exit())}",
            "the class or name Runtime in line 1",
        ),
        (
            "${__intSum(x,1)}",
            "__intSum fails: java.lang.NumberFormatException",
        ),
        (
            "${__urldecode(%zz)}",
            "__urldecode fails: java.lang.IllegalArgumentException",
        ),
        (
            "${__digest(SHA3-256,x)}",
            "the digest SHA3-256 is not supported",
        ),
        ("${__time(B)}", "the letter B is not supported"),
        (
            "${__FileToString(f,EBCDIC)}",
            "the encoding \"EBCDIC\" of a file is not supported",
        ),
        ("${__regexFunction([,x)}", "Unmatched [] in expression"),
        (
            "${__char()}",
            "the function __char has 0 arguments, but takes at least 1",
        ),
        (
            "${__eval(a,b)}",
            "the function __eval has 2 arguments, but takes 1",
        ),
    ] {
        let problems = one(text, &[]).0.unwrap_err();
        assert!(
            problems.len() == 1 && problems[0].says.contains(part),
            "{text}: {problems:?}"
        );
    }
}

/// Names of functions with arguments of all kinds, known and not.
fn any_text() -> impl Strategy<Value = String> {
    let names = prop::sample::select(vec![
        "CSVRead",
        "P",
        "Random",
        "RandomDate",
        "RandomFromMultipleVars",
        "StringFromFile",
        "UUID",
        "V",
        "changeCase",
        "char",
        "counter",
        "dateTimeConvert",
        "digest",
        "escapeHtml",
        "escapeOroRegexpChars",
        "escapeXml",
        "eval",
        "evalVar",
        "intSum",
        "longSum",
        "machineName",
        "property",
        "regexFunction",
        "setProperty",
        "split",
        "time",
        "timeShift",
        "unescape",
        "unescapeHtml",
        "urldecode",
        "urlencode",
        "isVarDefined",
        "nosuch",
        "groovy",
    ]);
    let leaf = prop_oneof![
        r"[$\\{}(),0-9a-zA-Z:;#&%'\[\]. /-]{0,12}",
        r"\PC{0,6}",
        "[0-9]{1,20}",
        prop::sample::select(vec![
            "${v}",
            "${w}",
            "yyyy-MM-dd",
            "2020-02-30",
            "P1DT2H",
            "TRUE",
            "ALL"
        ])
        .prop_map(str::to_owned),
    ];
    leaf.prop_recursive(3, 20, 5, move |inner| {
        (names.clone(), prop::collection::vec(inner, 0..6))
            .prop_map(|(name, arguments)| format!("${{__{name}({})}}", arguments.join(",")))
    })
}

proptest! {
    #[test]
    fn any_text_gives_an_answer(text in any_text(), value in any_text()) {
        let (compiled, mut user) = one(&text, &[]);
        user.variables.set("v", &value);
        user.variables.set("w", &text);
        user.previous = Some(Arc::new(PreviousResponse { body: value.clone(), ..PreviousResponse::default() }));
        if let Ok(text) = compiled {
            text.rendered(&mut user);
        }
        // The same text, evaluated while the test runs.
        let (evaluate, _) = one("${__evalVar(w)}${__evalVar(v)}", &[]);
        evaluate.unwrap().rendered(&mut user);
    }
}
