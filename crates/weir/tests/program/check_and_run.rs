//! What `weir check` accepts, `weir run` runs: both look at a plan in the same way.

use crate::support::Place;

fn plan(group: &str, sampler: &str) -> String {
    format!(
        "<jmeterTestPlan><hashTree><TestPlan testname=\"P\"/><hashTree>{group}<hashTree>\n\
         <HTTPSamplerProxy testname=\"h\">{sampler}</HTTPSamplerProxy><hashTree/>\
         </hashTree></hashTree></hashTree></jmeterTestPlan>"
    )
}

fn property(name: &str, value: &str) -> String {
    format!("<stringProp name=\"{name}\">{value}</stringProp>")
}

/// A group of a class with this in it, which goes round once.
fn group(class: &str, inside: &str) -> String {
    let loops = property("LoopController.loops", "1");
    format!(
        "<{class} testname=\"G\">{inside}<elementProp name=\"ThreadGroup.main_controller\" \
         elementType=\"LoopController\">{loops}</elementProp></{class}>"
    )
}

fn threads(users: &str) -> String {
    group("ThreadGroup", &property("ThreadGroup.num_threads", users))
}

/// Checks and runs a plan; both end as they should, and say this.
fn both(plan: &str, says: &str, codes: [i32; 2]) {
    let place = Place::new();
    place.write("p.jmx", plan);
    let check = place.weir(&["check", "p.jmx"]).ends(codes[0]);
    let run = place.weir(&["run", "p.jmx"]).ends(codes[1]);
    for (what, done) in [("check", check), ("run", run)] {
        let told = format!("{}{}", done.stdout, done.stderr);
        assert!(told.contains(says), "{what}: {told}");
    }
}

#[test]
fn a_sampler_that_reads_a_file_is_refused_by_both() {
    let sampler =
        property("HTTPSampler.protocol", "file") + &property("HTTPSampler.path", "up.txt");
    both(
        &plan(&threads("1"), &sampler),
        "unknown protocol: file",
        [2, 2],
    );
}

#[test]
fn a_proxy_that_changes_is_refused_by_both() {
    let sampler = property("HTTPSampler.domain", "127.0.0.1")
        + &property("HTTPSampler.proxyHost", "${__Random(1,9)}")
        + &property("HTTPSampler.proxyPort", "8080");
    both(
        &plan(&threads("1"), &sampler),
        "changes while the test runs",
        [2, 2],
    );
}

#[test]
fn a_plan_without_users_is_named_by_both() {
    let sampler = property("HTTPSampler.domain", "127.0.0.1");
    let no_rows = "<collectionProp name=\"ultimatethreadgroupdata\"/>";
    let no_rows = group("kg.apc.jmeter.threads.UltimateThreadGroup", no_rows);
    for group in [threads("0"), threads("${__P(users,0)}"), no_rows] {
        both(&plan(&group, &sampler), "users that send anything", [0, 2]);
    }
}
