//! `--engine auto`: which engine runs a plan is said with what decided it.
//!
//! That JMeter then runs it is a test of the system profile.

use crate::support::{Place, SampleServer};

/// A plan that sends two requests, with more behind them.
fn plan(server: &SampleServer, more: &str) -> String {
    let port = server.port();
    format!(
        "<jmeterTestPlan><hashTree><TestPlan testname=\"P\"/><hashTree>\n\
         <ThreadGroup testname=\"g\"><stringProp name=\"ThreadGroup.num_threads\">1</stringProp>\
         <elementProp name=\"ThreadGroup.main_controller\" elementType=\"LoopController\">\
         <boolProp name=\"LoopController.continue_forever\">false</boolProp>\
         <stringProp name=\"LoopController.loops\">2</stringProp></elementProp></ThreadGroup><hashTree>\n\
         <HTTPSamplerProxy testname=\"h\"><stringProp name=\"HTTPSampler.domain\">127.0.0.1</stringProp>\
         <stringProp name=\"HTTPSampler.port\">{port}</stringProp>\
         <stringProp name=\"HTTPSampler.path\">/light</stringProp></HTTPSamplerProxy><hashTree/>\n\
         {more}</hashTree></hashTree></hashTree></jmeterTestPlan>"
    )
}

#[test]
fn weir_runs_what_it_runs_in_full() {
    let (place, server) = (Place::new(), SampleServer::start());
    place.write("p.jmx", &plan(&server, ""));
    place
        .weir(&["run", "p.jmx", "--engine", "auto"])
        .ends_one_of(&[0, 4])
        .says(&["engine: Weir itself, which runs all of the plan"]);
    assert_eq!(server.requests(), 2);
}

#[test]
fn a_jmeter_is_asked_for_with_the_reason() {
    let (place, server) = (Place::new(), SampleServer::start());
    let plugin = "<kg.apc.Nothing testname=\"p\"/><hashTree/>";
    let script = "<JSR223Sampler testname=\"s\"><stringProp name=\"scriptLanguage\">groovy</stringProp>\
         <stringProp name=\"script\">Runtime.getRuntime().exec('ls')</stringProp></JSR223Sampler><hashTree/>";
    let function = "<ConstantTimer testname=\"t\">\
         <stringProp name=\"ConstantTimer.delay\">${__chooseRandom(1,2,x)}</stringProp></ConstantTimer><hashTree/>";
    // What only the start of a run looks at.
    let proxy = "<HTTPSamplerProxy testname=\"p\"><stringProp name=\"HTTPSampler.domain\">127.0.0.1</stringProp>\
         <stringProp name=\"HTTPSampler.proxyHost\">${__Random(1,9)}</stringProp>\
         <stringProp name=\"HTTPSampler.proxyPort\">3128</stringProp></HTTPSamplerProxy><hashTree/>";
    for (more, because) in [
        (plugin, "kg.apc.Nothing"),
        (proxy, "proxy"),
        (script, "Runtime"),
        (function, "__chooseRandom"),
    ] {
        place.write("p.jmx", &plan(&server, more));
        // There is no JMeter in that home, and the file is none of a plan that anybody runs.
        let words = ["run", "p.jmx", "--engine", "auto", "-d", "no-such-home"];
        place.weir(&words).ends_one_of(&[1, 2, 3]).says(&[
            "engine: JMeter, because of what Weir does not run itself: line 4",
            because,
        ]);
    }
    assert_eq!(server.requests(), 0);
}

#[test]
fn what_no_engine_can_do_is_said_before() {
    let (place, server) = (Place::new(), SampleServer::start());
    place.write("p.jmx", &plan(&server, ""));
    place
        .weir(&["run", "p.jmx", "--engine", "auto", "--http2"])
        .ends(2)
        .says(&["--http2: JMeter speaks HTTP/1.1; leave out --engine or --http2"]);
    place
        .weir(&["run", "gone.jmx", "--engine", "auto"])
        .ends(2)
        .says(&["gone.jmx"]);
}
