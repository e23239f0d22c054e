//! Plans in a real JMeter: `weir run --engine jmeter` and a study with `engine = "jmeter"`.
//!
//! These run in the *system* profile only (`WEIR_SYSTEM_TESTS=1`). They need a Java runtime, and
//! Maven to assemble a JMeter once, unless `JMETER_HOME` names one; without them they fail with a
//! word about what to install.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::support::{
    Place, Running, SampleServer, assert_valid, children, json_file, names_in, repository_file,
    runs, wait_for,
};
use rustix::process::Signal;

/// How long fetching a JMeter, starting it on a busy machine and a short test may take.
const JMETER: Duration = Duration::from_secs(400);
/// How long a JMeter may take to end.
const LEAVE: Duration = Duration::from_secs(30);

/// Whether the system profile does not run; with it there have to be a Java and a JMeter.
fn skipped(test: &str) -> bool {
    if crate::support::skipped(test) {
        return true;
    }
    let there = |program: &str| Command::new(program).arg("-version").output().is_ok();
    assert!(
        there("java"),
        "{test} needs a Java runtime (Debian: default-jdk-headless)"
    );
    assert!(
        std::env::var_os("JMETER_HOME").is_some() || there("mvn"),
        "{test} needs Maven (Debian: maven) or JMETER_HOME"
    );
    false
}

/// The plan of the built-in study with 5 rounds for each user instead of a duration.
fn counted_plan() -> String {
    repository_file("studies/plans/short.jmx")
        .replace(
            "<boolProp name=\"ThreadGroup.scheduler\">true</boolProp>",
            "<boolProp name=\"ThreadGroup.scheduler\">false</boolProp>",
        )
        .replace(
            "<stringProp name=\"LoopController.loops\">-1</stringProp>",
            "<stringProp name=\"LoopController.loops\">5</stringProp>",
        )
}

/// The columns of a result file that do not depend on time, as a set of rows without their number.
fn lasting(jtl: &str) -> (usize, BTreeSet<String>) {
    let rows: Vec<String> = jtl
        .lines()
        .skip(1)
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            // Label, code, message, thread, type, success, failure, bytes, URL; sent bytes differ
            // by the length of the User-Agent, in which each names itself.
            [2, 3, 4, 5, 6, 7, 8, 9, 13].map(|at| cells[at]).join(",")
        })
        .collect();
    (rows.len(), rows.into_iter().collect())
}

#[test]
fn jmeter_and_weir_send_the_same_and_count_the_same() {
    if skipped("jmeter_and_weir_send_the_same_and_count_the_same") {
        return;
    }
    let place = Place::new();
    place.write("counted.jmx", &counted_plan());
    let server = SampleServer::start();
    let port = format!("-JPORT={}", server.port());
    let words = ["run", "counted.jmx", "-JTHREAD_NUMBER=3", "-JBIT=32", &port];
    let mut native = words.to_vec();
    native.extend(["-l", "native.jtl", "--json", "native.json"]);
    // Whether so short a run may be used is not asked here.
    place.weir(&native).ends_one_of(&[0, 4]);
    let asked = server.requests();
    let mut jmeter = words.to_vec();
    jmeter.extend([
        "--engine",
        "jmeter",
        "-l",
        "jmeter.jtl",
        "--json",
        "jmeter.json",
    ]);
    place
        .start(&jmeter)
        .done(JMETER)
        .ends_one_of(&[0, 4])
        .says(&["load goes to 127.0.0.1", "CPU-heavy transaction 15"]);
    assert_eq!((asked, server.requests()), (15, 30));
    assert_eq!(
        lasting(&place.read("jmeter.jtl")),
        lasting(&place.read("native.jtl"))
    );
    let native = json_file(&place.path("native.json"));
    let result = json_file(&place.path("jmeter.json"));
    assert_valid("docs/schemas/run.schema.json", &result);
    let names = |result: &serde_json::Value| -> Vec<String> {
        result["trial"]["classes"]
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect()
    };
    assert_eq!(names(&result), names(&native));
    assert_eq!(result["trial"]["population"], 3);
    assert_eq!(result["trial"]["errors"]["count"], 0);
    let run = place.path(&format!("weir-runs/{}", result["run"].as_str().unwrap()));
    let files = names_in(&run.join("trials/001"));
    for file in ["jmeter.log", "responses.hlog", "timeline.csv", "trial.json"] {
        assert!(files.iter().any(|name| name == file), "{file} in {files:?}");
    }
    assert_eq!(json_file(&run.join("run.json")), result);
    let page = place.weir(&["report", "last"]).ends(0).stdout;
    let page = place.read(page.trim());
    for part in ["Load of counted.jmx", "requests/s, p99", "Distribution"] {
        assert!(page.contains(part), "{part}");
    }
    place
        .weir(&["tune", "--resume"])
        .ends(2)
        .says(&["nothing to continue"]);
    let timeline = fs::read_to_string(run.join("trials/001/timeline.csv")).unwrap();
    let header: Vec<&str> = timeline.lines().next().unwrap().split(',').collect();
    for signal in ["load.cpu", "load.gc.pause", "throughput", "users"] {
        assert!(header.contains(&signal), "{signal} in {header:?}");
    }
}

/// A plan that Weir cannot run itself, for a server in a network for documentation (RFC 5737), with
/// paths from a file beside it.
const FOREIGN: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree>
<TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="foreign"/><hashTree>
<ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="users">
<stringProp name="ThreadGroup.num_threads">1</stringProp><stringProp name="ThreadGroup.ramp_time">0</stringProp>
<elementProp name="ThreadGroup.main_controller" elementType="LoopController" guiclass="LoopControlPanel" testclass="LoopController">
<stringProp name="LoopController.loops">2</stringProp><boolProp name="LoopController.continue_forever">false</boolProp></elementProp>
</ThreadGroup><hashTree>
<CSVDataSet guiclass="TestBeanGUI" testclass="CSVDataSet" testname="rows"><stringProp name="filename">rows.csv</stringProp>
<stringProp name="variableNames">word</stringProp><stringProp name="delimiter">,</stringProp><boolProp name="recycle">true</boolProp>
<stringProp name="shareMode">shareMode.all</stringProp></CSVDataSet><hashTree/>
<JSR223PreProcessor guiclass="TestBeanGUI" testclass="JSR223PreProcessor" testname="count"><stringProp name="scriptLanguage">groovy</stringProp>
<stringProp name="script">vars.put("twice", vars.get("word") * 2)</stringProp></JSR223PreProcessor><hashTree/>
<HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="light">
<stringProp name="HTTPSampler.domain">203.0.113.7</stringProp><stringProp name="HTTPSampler.port"></stringProp>
<stringProp name="HTTPSampler.path">/light?w=${twice}</stringProp><stringProp name="HTTPSampler.method">GET</stringProp>
<elementProp name="HTTPsampler.Arguments" elementType="Arguments"><collectionProp name="Arguments.arguments"/></elementProp>
</HTTPSamplerProxy><hashTree/>
</hashTree></hashTree></hashTree></jmeterTestPlan>
"#;

#[test]
fn any_plan_runs_and_a_target_sends_it_elsewhere() {
    if skipped("any_plan_runs_and_a_target_sends_it_elsewhere") {
        return;
    }
    let place = Place::new();
    place.write("plans/foreign.jmx", FOREIGN);
    place.write("plans/rows.csv", "ab\ncd\n");
    place
        .start(&["run", "plans/foreign.jmx", "--engine", "jmeter"])
        .done(JMETER)
        .ends(2)
        .says(&["public address 203.0.113.7", "plans/foreign.jmx:"]);
    let server = SampleServer::start();
    let target = format!("--target=http://{}", server.listen);
    place
        .start(&[
            "run",
            "plans/foreign.jmx",
            "--engine=jmeter",
            &target,
            "-l",
            "out.jtl",
        ])
        .done(JMETER)
        // In a second of load, a JVM that warms up may be the limit, which makes the run invalid.
        .ends_one_of(&[0, 4]);
    let rows = place.read("out.jtl");
    for part in ["/light?w=abab", "/light?w=cdcd"] {
        assert!(rows.contains(part), "{part} in {rows}");
    }
    assert_eq!(server.requests(), 2);
    assert_eq!(place.read("plans/foreign.jmx"), FOREIGN);
    assert_eq!(names_in(&place.path("plans")), ["foreign.jmx", "rows.csv"]);
}

#[test]
fn what_weir_does_not_run_itself_a_jmeter_runs() {
    if skipped("what_weir_does_not_run_itself_a_jmeter_runs") {
        return;
    }
    let place = Place::new();
    // Java's streams are not known to Weir's scripts.
    let word = "vars.get(\"word\") * 2";
    let streamed =
        "java.util.stream.Stream.of(vars.get(\"word\"), vars.get(\"word\")).toArray().join(\"\")";
    place.write("foreign.jmx", &FOREIGN.replace(word, streamed));
    place.write("rows.csv", "ab\ncd\n");
    let server = SampleServer::start();
    let target = format!("--target=http://{}", server.listen);
    let words = [
        "run",
        "foreign.jmx",
        "--engine=auto",
        &target,
        "-l",
        "out.jtl",
    ];
    let done = place.start(&words).done(JMETER).ends_one_of(&[0, 4]);
    done.says(&[
        "engine: JMeter, because of what Weir does not run itself: line ",
        "java.util.stream.Stream",
    ]);
    let rows = place.read("out.jtl");
    for part in ["/light?w=abab", "/light?w=cdcd"] {
        assert!(rows.contains(part), "{part} in {rows}");
    }
    assert_eq!(server.requests(), 2);
}

#[test]
fn a_plan_that_jmeter_refuses_is_told_with_its_cause() {
    if skipped("a_plan_that_jmeter_refuses_is_told_with_its_cause") {
        return;
    }
    let place = Place::new();
    let plugin = "<kg.apc.Nothing guiclass=\"x\" testclass=\"kg.apc.Nothing\" testname=\"p\"/><hashTree/>\n<HTTPSamplerProxy";
    let foreign = FOREIGN.replace("203.0.113.7", "127.0.0.1");
    place.write(
        "plugin.jmx",
        &foreign.replacen("<HTTPSamplerProxy", plugin, 1),
    );
    place
        .start(&["run", "plugin.jmx", "--engine", "jmeter"])
        .done(JMETER)
        .ends(2)
        .says(&["plugin.jmx", "kg.apc.Nothing", "JMETER_HOME"]);
    // JMeter says so in its log only, and ends with 0.
    place.write(
        "wrong.jmx",
        &foreign.replace("${twice}", "${__P(a,b,c,d,e)}"),
    );
    place
        .start(&["run", "wrong.jmx", "--engine", "jmeter"])
        .done(JMETER)
        .ends(2)
        .says(&["wrong.jmx", "compiling the tree"]);
}

fn long_run(place: &Place, server: &SampleServer) -> (Running, u32) {
    let port = format!("-JPORT={}", server.port());
    let words = [
        "run",
        "plans/short.jmx",
        "--engine",
        "jmeter",
        "-l",
        "out.jtl",
    ];
    let mut all = words.to_vec();
    all.extend(["-JSUSTAIN=600", "-JBIT=32", &port]);
    let mut running = place.start(&all);
    running.wait_for("samples", JMETER, |_| {
        fs::read_to_string(place.path("out.jtl"))
            .ok()
            .filter(|rows| rows.lines().count() > 3)
    });
    let java = children(running.pid());
    assert_eq!(java.len(), 1, "one JMeter");
    (running, java[0])
}

#[test]
fn an_interrupt_ends_jmeter_and_keeps_what_was_measured() {
    if skipped("an_interrupt_ends_jmeter_and_keeps_what_was_measured") {
        return;
    }
    let place = Place::with_plan();
    let server = SampleServer::start();
    let (mut running, java) = long_run(&place, &server);
    running.wait_for("a second", LEAVE, |_| (server.requests() > 8).then_some(()));
    running.signal(Signal::INT);
    running
        .done(JMETER)
        .ends(130)
        .says(&["CPU-heavy transaction"]);
    assert!(!runs(java));
    let run = &names_in(&place.path("weir-runs"))[0];
    let record = place.path(&format!("weir-runs/{run}/trials/001/trial.json"));
    assert!(json_file(&record)["throughput_per_s"].as_f64().unwrap() > 0.0);
}

#[test]
fn jmeter_ends_when_weir_is_killed() {
    if skipped("jmeter_ends_when_weir_is_killed") {
        return;
    }
    let place = Place::with_plan();
    let server = SampleServer::start();
    let (running, java) = long_run(&place, &server);
    running.signal(Signal::KILL);
    wait_for("end of JMeter", LEAVE, || (!runs(java)).then_some(()));
}

const STUDY: &str = r#"
schema = "weir/study/1"
question = "What do two users get?"
[target.builtin]
[load]
plan = "plans/short.jmx"
users = "THREAD_NUMBER"
engine = "jmeter"
window = "5 s"
warm-up = "2 s"
[sweep]
design = "cases"
[[sweep.case]]
name = "two"
set = { users = 2, "param.bit" = 32 }
[[sweep.column]]
title = "Throughput"
signal = "throughput"
"#;

#[test]
fn a_study_can_use_jmeter() {
    if skipped("a_study_can_use_jmeter") {
        return;
    }
    let place = Place::with_plan();
    place.write("study.toml", STUDY);
    place
        .start(&["sweep", "study.toml", "--json", "result.json"])
        .done(JMETER)
        // A JMeter on one busy CPU may be the limit, which makes the trial invalid.
        .ends_one_of(&[0, 4]);
    let result = json_file(&place.path("result.json"));
    assert_valid("docs/schemas/result.schema.json", &result);
    let trial = &result["trials"][0];
    assert_eq!(trial["population"], 2);
    assert!(trial["throughput_per_s"].as_f64().unwrap() > 0.0);
    let run = place.path(&format!("weir-runs/{}", result["run"].as_str().unwrap()));
    let rows = fs::read_to_string(run.join("trials/001/samples.jtl")).unwrap();
    assert!(rows.lines().count() > 5);
    let plan = fs::read_to_string(run.join("trials/001/jmeter-plan.jmx")).unwrap();
    assert!(plan.contains("<stringProp name=\"Argument.value\">32</stringProp>"));
    assert!(Path::new(&run.join("trials/001/jmeter.log")).is_file());
}
