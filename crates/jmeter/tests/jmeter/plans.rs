//! What is known of plans, and changed copies of them.

#![expect(clippy::unwrap_used, reason = "tests state what must hold")]

use std::fs;
use std::path::Path;

use weir_jmeter::{Changes, PlanFacts, PlanFile};
use weir_script::{Properties, Target};

/// A plan with these elements below the test plan.
fn plan(elements: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<jmeterTestPlan version=\"1.2\"><hashTree>\n\
         <TestPlan testclass=\"TestPlan\" testname=\"plan\">\
         <elementProp name=\"TestPlan.user_defined_variables\" elementType=\"Arguments\"><collectionProp name=\"Arguments.arguments\">\
         <elementProp name=\"server\" elementType=\"Argument\"><stringProp name=\"Argument.name\">server</stringProp>\
         <stringProp name=\"Argument.value\">${{__P(SERVER,10.0.0.1)}}</stringProp></elementProp>\
         <elementProp name=\"row\" elementType=\"Argument\"><stringProp name=\"Argument.name\">row</stringProp>\
         <stringProp name=\"Argument.value\">10.0.0.2</stringProp></elementProp>\
         </collectionProp></elementProp></TestPlan>\n<hashTree>\n{elements}\n</hashTree></hashTree></jmeterTestPlan>\n"
    )
}

fn sampler(domain: &str, port: &str, path: &str) -> String {
    format!(
        "<HTTPSamplerProxy testclass=\"HTTPSamplerProxy\" testname=\"s\">\
         <stringProp name=\"HTTPSampler.domain\">{domain}</stringProp>\
         <stringProp name=\"HTTPSampler.port\">{port}</stringProp>\
         <stringProp name=\"HTTPSampler.path\">{path}</stringProp>\
         <elementProp name=\"HTTPsampler.Arguments\" elementType=\"Arguments\"><collectionProp name=\"Arguments.arguments\"/></elementProp>\
         </HTTPSamplerProxy><hashTree/>"
    )
}

fn facts_with(elements: &str, properties: &Properties) -> PlanFacts {
    PlanFile::of_text(Path::new("p.jmx"), plan(elements), properties)
        .unwrap()
        .facts(properties)
        .unwrap()
}

/// The servers, and how many samplers have one that is not known.
#[track_caller]
fn check(elements: &str, servers: &[&str], unknown: usize) {
    let facts = facts_with(elements, &Properties::new());
    let found: Vec<String> = facts
        .servers
        .iter()
        .map(|planned| planned.server.to_string())
        .collect();
    assert_eq!(found, servers, "{elements}");
    assert_eq!(facts.unknown.len(), unknown, "{:?}", facts.unknown);
}

const DEFAULTS: &str = "<ConfigTestElement guiclass=\"HttpDefaultsGui\" testclass=\"ConfigTestElement\">\
<stringProp name=\"HTTPSampler.domain\">inner.example</stringProp><stringProp name=\"HTTPSampler.port\">81</stringProp></ConfigTestElement><hashTree/>";

#[test]
fn names_may_be_other_hosts_than_they_seem() {
    let table = |address: &str, more: &str| {
        format!(
            "<DNSCacheManager testclass=\"DNSCacheManager\" testname=\"d\">\
             <collectionProp name=\"DNSCacheManager.servers\">{more}</collectionProp>\
             <collectionProp name=\"DNSCacheManager.hosts\"><elementProp name=\"h\" elementType=\"StaticHost\">\
             <stringProp name=\"StaticHost.Name\">shop.test</stringProp>\
             <stringProp name=\"StaticHost.Address\">{address}</stringProp></elementProp></collectionProp>\
             <boolProp name=\"DNSCacheManager.isCustomResolver\">true</boolProp></DNSCacheManager><hashTree/>"
        )
    };
    check(&table("127.0.0.1, ::1", ""), &[], 0);
    check(&table("${server}", ""), &[], 0);
    // A documentation address (RFC 5737).
    check(&table("127.0.0.1,203.0.113.7", ""), &[], 1);
    check(&table("elsewhere.example", ""), &[], 1);
    check(&table("${nobody}", ""), &[], 1);
    let asks = "<stringProp name=\"1\">127.0.0.53</stringProp>";
    check(&table("127.0.0.1", asks), &[], 1);
}

#[test]
fn servers_are_known_where_nothing_can_change_them() {
    check(
        &sampler("127.0.0.1", "9080", "/a"),
        &["http://127.0.0.1:9080"],
        0,
    );
    check(&sampler("${server}", "", "/a"), &["http://10.0.0.1:80"], 0);
    check(&sampler("${nobody}", "", "/a"), &[], 1);
    check(&sampler("", "", "/a"), &[], 1);
    check(
        &sampler("x", "", "https://shop.example/a?b=1"),
        &["https://shop.example:443"],
        0,
    );
    // The path may turn out to be a whole URL.
    check(&sampler("127.0.0.1", "", "${nobody}"), &[], 1);
    check(
        &sampler("127.0.0.1", "", "/x/${nobody}"),
        &["http://127.0.0.1:80"],
        0,
    );
}

#[test]
fn a_variable_that_something_sets_is_not_known() {
    let csv = "<CSVDataSet testclass=\"CSVDataSet\"><stringProp name=\"variableNames\">id,row</stringProp></CSVDataSet><hashTree/>";
    check(&sampler("${row}", "", "/a"), &["http://10.0.0.2:80"], 0);
    check(&(csv.to_owned() + &sampler("${row}", "", "/a")), &[], 1);
    let script = "<JSR223PreProcessor testclass=\"JSR223PreProcessor\"><stringProp name=\"script\">vars.put(\"row\", x)</stringProp></JSR223PreProcessor><hashTree/>";
    check(&(script.to_owned() + &sampler("${row}", "", "/a")), &[], 1);
}

#[test]
fn defaults_reach_what_stands_beside_and_below_them() {
    let inside = format!(
        "<GenericController testclass=\"GenericController\"/><hashTree>{DEFAULTS}{}</hashTree>",
        sampler("", "", "/a")
    );
    check(&inside, &["http://inner.example:81"], 0);
    let outside = inside + &sampler("", "", "/b");
    check(&outside, &["http://inner.example:81"], 1);
}

#[test]
fn disabled_elements_load_nobody() {
    let off = sampler("203.0.113.7", "", "/").replace("testname", "enabled=\"false\" testname");
    check(&off, &[], 0);
    let group = format!(
        "<ThreadGroup enabled=\"false\"/><hashTree>{}</hashTree>",
        sampler("x", "", "/")
    );
    check(&group, &[], 0);
}

#[test]
fn samplers_that_are_not_http_are_told_by_what_they_do() {
    let named = |class: &str| format!("<{class} testclass=\"{class}\" testname=\"n\"/><hashTree/>");
    for (class, unknown) in [
        ("DebugSampler", 0),
        ("TestAction", 0),
        ("kg.apc.jmeter.samplers.DummySampler", 0),
        ("JDBCSampler", 1),
        ("TCPSampler", 1),
        ("JSR223Sampler", 1),
        ("PublisherSampler", 1),
        ("ResultCollector", 0),
    ] {
        check(&named(class), &[], unknown);
    }
    let facts = facts_with(
        &(named("JDBCSampler") + &named("JSR223Sampler")),
        &Properties::new(),
    );
    let overridden: Vec<bool> = facts.unknown.iter().map(|u| u.is_overridden).collect();
    assert_eq!(overridden, [false, true]);
}

fn group(class: &str, users: &str) -> String {
    format!(
        "<{class} testclass=\"{class}\" testname=\"g\"><stringProp name=\"ThreadGroup.num_threads\">{users}</stringProp>\
         <boolProp name=\"ThreadGroup.scheduler\">true</boolProp>\
         <elementProp name=\"ThreadGroup.main_controller\" elementType=\"LoopController\"><stringProp name=\"LoopController.loops\">3</stringProp>\
         <boolProp name=\"LoopController.continue_forever\">false</boolProp></elementProp></{class}><hashTree/>"
    )
}

#[test]
fn the_population_is_known_when_every_group_says_it() {
    let properties: Properties = [("N", "7")].into_iter().collect();
    let population = |elements: &str| facts_with(elements, &properties).population;
    let two = group("ThreadGroup", "${__P(N,1)}") + &group("ThreadGroup", "3");
    assert_eq!(population(&two), Some(10));
    assert_eq!(
        population(&(two.clone() + &group("SetupThreadGroup", "5"))),
        Some(10)
    );
    assert_eq!(
        population(&(two.clone() + &group("ThreadGroup", "${x}"))),
        None
    );
    let plugin = two
        + &group(
            "com.blazemeter.jmeter.threads.concurrency.ConcurrencyThreadGroup",
            "5",
        );
    assert_eq!(population(&plugin), None);
    let facts = facts_with(&plugin, &properties);
    assert_eq!(facts.own_length.len(), 1);
    assert!(facts.own_length[0].0.starts_with("ConcurrencyThreadGroup"));
}

#[test]
fn the_end_is_known_when_every_group_has_a_schedule() {
    let with = |duration: &str, delay: &str| {
        group("ThreadGroup", "1").replacen(
            "<elementProp",
            &format!(
                "<stringProp name=\"ThreadGroup.duration\">{duration}</stringProp>\
                 <stringProp name=\"ThreadGroup.delay\">{delay}</stringProp><elementProp"
            ),
            1,
        )
    };
    let end = |elements: &str| {
        let facts = facts_with(elements, &Properties::new());
        facts.planned_end.map(|end| end.as_secs())
    };
    let two = with("${__P(D,30)}", "") + &with("20", "15");
    assert_eq!(end(&two), Some(35));
    assert_eq!(end(&(two.clone() + &with("${x}", ""))), None);
    assert_eq!(end(&(two + &group("SetupThreadGroup", "1"))), None);
    let endless = with("5", "").replace(">true<", ">false<");
    assert_eq!(end(&endless), None);
}

/// Copies a plan with changes; gives the copy's text.
fn copied(elements: &str, changes: &Changes<'_>) -> String {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("user.jmx");
    fs::write(&path, plan(elements)).unwrap();
    let into = place.path().join("run/1");
    fs::create_dir_all(&into).unwrap();
    let file = PlanFile::read(&path, &Properties::new()).unwrap();
    let copy = file.copy(changes, &into).unwrap();
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        plan(elements),
        "the user's file"
    );
    let text = fs::read_to_string(copy).unwrap();
    // JMeter appends this to the directory of the copy.
    let start = text.find("<stringProp name=\"basedir\">").unwrap() + 27;
    let base = text[start..].split('<').next().unwrap();
    let leads_to = format!("{}{base}", into.canonicalize().unwrap().display());
    assert_eq!(
        Path::new(&leads_to).canonicalize().unwrap(),
        place.path().canonicalize().unwrap()
    );
    text
}

#[test]
fn a_target_replaces_the_server_of_every_sampler() {
    let target: Target = "https://127.0.0.1:8443".parse().unwrap();
    let changes = Changes {
        target: Some(&target),
        ..Changes::default()
    };
    let text = copied(
        &(sampler("a.example", "80", "/x?a=1&amp;b")
            + &sampler("", "", "http://b.example:81/y?q=1&amp;r")),
        &changes,
    );
    let again = PlanFile::of_text(Path::new("c.jmx"), text.clone(), &Properties::new()).unwrap();
    let servers = again.facts(&Properties::new()).unwrap().servers;
    assert_eq!(servers.len(), 1, "{text}");
    assert_eq!(servers[0].server, target);
    assert!(text.contains(">/x?a=1&amp;b<"), "{text}");
    assert!(text.contains(">/y?q=1&amp;r<"), "{text}");
}

#[test]
fn groups_go_on_until_they_are_stopped() {
    let changes = Changes {
        until_stopped: true,
        ..Changes::default()
    };
    let text = copied(
        &(group("ThreadGroup", "2") + &group("SetupThreadGroup", "1")),
        &changes,
    );
    for (part, count) in [
        ("<stringProp name=\"ThreadGroup.scheduler\">false<", 1),
        ("<boolProp name=\"ThreadGroup.scheduler\">true<", 1),
        ("<stringProp name=\"LoopController.loops\">-1<", 1),
        (
            "<stringProp name=\"LoopController.continue_forever\">true<",
            1,
        ),
        ("<stringProp name=\"LoopController.loops\">3<", 1),
    ] {
        assert_eq!(text.matches(part).count(), count, "{part} in {text}");
    }
}

#[test]
fn arguments_are_set_or_added_also_in_an_empty_list() {
    let changes = Changes {
        arguments: vec![
            ("form".to_owned(), "a<b".to_owned()),
            ("more".to_owned(), "1".to_owned()),
        ],
        ..Changes::default()
    };
    let with_one = sampler("a", "", "/").replace(
        "<collectionProp name=\"Arguments.arguments\"/>",
        "<collectionProp name=\"Arguments.arguments\"><elementProp name=\"form\" elementType=\"HTTPArgument\">\
         <stringProp name=\"Argument.name\">form</stringProp><stringProp name=\"Argument.value\">old</stringProp></elementProp></collectionProp>",
    );
    let text = copied(&(sampler("a", "", "/") + &with_one), &changes);
    assert_eq!(
        text.matches("Argument.value\">a&lt;b<").count(),
        2,
        "{text}"
    );
    assert_eq!(text.matches("Argument.value\">1<").count(), 2, "{text}");
    assert!(!text.contains(">old<"), "{text}");
    PlanFile::of_text(Path::new("c.jmx"), text, &Properties::new()).unwrap();
}

#[test]
fn included_plans_are_looked_at_and_copied_too() {
    let place = tempfile::tempdir().unwrap();
    let include = |path: &str| {
        format!(
            "<IncludeController testclass=\"IncludeController\"><stringProp name=\"IncludeController.includepath\">{path}</stringProp></IncludeController><hashTree/>"
        )
    };
    // Each includes the other: that ends.
    fs::write(place.path().join("a.jmx"), plan(&include("b.jmx"))).unwrap();
    let inner = sampler("b.example", "", "/") + &include("a.jmx");
    fs::write(place.path().join("b.jmx"), plan(&inner)).unwrap();
    let none = Properties::new();
    let file = PlanFile::read(&place.path().join("a.jmx"), &none).unwrap();
    let facts = file.facts(&none).unwrap();
    assert_eq!(facts.servers[0].server.host, "b.example");
    assert!(facts.servers[0].named_in.contains("b.jmx:"));
    let target: Target = "http://127.0.0.1:1".parse().unwrap();
    let changes = Changes {
        target: Some(&target),
        ..Changes::default()
    };
    let into = tempfile::tempdir().unwrap();
    let copy = file.copy(&changes, into.path()).unwrap();
    let again = PlanFile::read(&copy, &none).unwrap().facts(&none).unwrap();
    assert_eq!(again.servers.len(), 1);
    assert_eq!(again.servers[0].server, target);
    check(&include("${x}.jmx"), &[], 1);
}

#[test]
fn what_is_no_plan_is_refused() {
    for (text, part) in [
        ("<a/>", "jmeterTestPlan"),
        ("<jmeterTestPlan>", "root"),
        (
            "<!DOCTYPE a [<!ENTITY b SYSTEM \"file:///etc/passwd\">]><jmeterTestPlan>&b;</jmeterTestPlan>",
            "DTD",
        ),
        (
            &format!(
                "<jmeterTestPlan>{}{}</jmeterTestPlan>",
                "<a>".repeat(600),
                "</a>".repeat(600)
            ),
            "deep",
        ),
    ] {
        let error = PlanFile::of_text(Path::new("p.jmx"), text.to_owned(), &Properties::new());
        let says = error.unwrap_err().to_string();
        assert!(
            says.starts_with("read p.jmx: ") && says.contains(part),
            "{says}"
        );
    }
}
