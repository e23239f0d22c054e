//! Scripts before a sampler, and when what they set is filled in: as JMeter 5.6.3 does it, the
//! script's text first, then what the script looks at, the rest of the request when it is sent.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use crate::support::Place;

/// A server of this machine that tells the targets that it was asked for.
fn listener() -> (u16, Receiver<String>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let (heard, told) = channel();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let lines = BufReader::new(stream.try_clone().unwrap()).lines();
            let head: Vec<String> = lines
                .map_while(Result::ok)
                .take_while(|line| !line.is_empty())
                .collect();
            let target = head[0].split(' ').nth(1).unwrap().to_owned();
            let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";
            stream.write_all(answer.as_bytes()).unwrap();
            let _ = heard.send(target);
        }
    });
    (port, told)
}

fn element(class: &str, name: &str, properties: &[(&str, &str)]) -> String {
    let properties = properties
        .iter()
        .flat_map(|(name, value)| ["<stringProp name=\"", name, "\">", value, "</stringProp>\n"]);
    let properties: String = properties.collect();
    format!("<{class} testname=\"{name}\">{properties}</{class}><hashTree/>")
}

/// What two rounds of one user ask for, with these elements before the sampler of this path;
/// `${i}` counts the rounds, `${p}` is `n`.
fn asked(before: &str, path: &str) -> Vec<String> {
    let (port, told) = listener();
    let place = Place::new();
    let counter = [
        ("CounterConfig.start", "1"),
        ("CounterConfig.incr", "1"),
        ("CounterConfig.name", "i"),
    ];
    let port = port.to_string();
    let sampler = [
        ("HTTPSampler.domain", "127.0.0.1"),
        ("HTTPSampler.port", &port),
        ("HTTPSampler.path", path),
    ];
    let plan = format!(
        "<jmeterTestPlan><hashTree><TestPlan testname=\"P\"/><hashTree>\
         <Arguments testname=\"u\"><collectionProp name=\"Arguments.arguments\">\
         <elementProp name=\"p\" elementType=\"Argument\"><stringProp name=\"Argument.name\">p</stringProp>\
         <stringProp name=\"Argument.value\">n</stringProp></elementProp></collectionProp></Arguments><hashTree/>\
         <ThreadGroup testname=\"G\"><stringProp name=\"ThreadGroup.num_threads\">1</stringProp>\
         <elementProp name=\"ThreadGroup.main_controller\" elementType=\"LoopController\">\
         <boolProp name=\"LoopController.continue_forever\">false</boolProp>\
         <stringProp name=\"LoopController.loops\">2</stringProp></elementProp></ThreadGroup><hashTree>\
         {}{before}{}</hashTree></hashTree></hashTree></jmeterTestPlan>",
        element("CounterConfig", "c", &counter),
        element("HTTPSamplerProxy", "h", &sampler),
    );
    place.write("p.jmx", &plan);
    place.weir(&["run", "p.jmx"]).ends(0);
    told.try_iter().collect()
}

fn groovy(text: &str, cache: &str) -> String {
    element(
        "JSR223PreProcessor",
        "s",
        &[
            ("scriptLanguage", "groovy"),
            ("cacheKey", cache),
            ("script", text),
        ],
    )
}

#[test]
fn what_a_script_sets_is_in_the_request_behind_it() {
    let beanshell = |text: &str| element("BeanShellPreProcessor", "s", &[("script", text)]);
    let path = "/x?v=${v}";
    for (before, asked_for) in [
        (
            beanshell("String s = \"${p}${i}\"; vars.put(\"v\", new String(s));"),
            ["/x?v=n1", "/x?v=n2"],
        ),
        (
            beanshell("vars.put(\"v\", vars.get(\"p\") + vars.get(\"i\"));"),
            ["/x?v=n1", "/x?v=n2"],
        ),
        (
            beanshell("vars.put(\"v\", \"${__counter(TRUE,)}${i}\");"),
            ["/x?v=11", "/x?v=22"],
        ),
        (
            groovy("vars.put('v', '${p}${i}')", "false"),
            ["/x?v=n1", "/x?v=n2"],
        ),
        // What is compiled once keeps the text that it was compiled from.
        (
            groovy("vars.put('v', '${p}${i}')", "true"),
            ["/x?v=n1", "/x?v=n1"],
        ),
        // The sampler's name was looked at.
        (
            groovy("vars.put('v', sampler.getName() + vars.get('i'))", "true"),
            ["/x?v=h1", "/x?v=h2"],
        ),
        (
            beanshell("vars.put(\"v\", ctx.getCurrentSampler().getName() + \"${i}\");"),
            ["/x?v=h1", "/x?v=h2"],
        ),
        // A method that was set leaves the path to be filled in.
        (
            groovy(
                "sampler.setMethod('GET'); vars.put('v', 'm' + vars.get('i'))",
                "true",
            ),
            ["/x?v=m1", "/x?v=m2"],
        ),
        // Two, one behind the other.
        (
            groovy("vars.put('a', sampler.getName())", "true")
                + &groovy("vars.put('v', vars.get('a') + sampler.getName())", "true"),
            ["/x?v=hh", "/x?v=hh"],
        ),
    ] {
        assert_eq!(asked(&before, path), asked_for, "{before}");
    }
    // A script of functions that only do something is empty when they are done.
    let sets = beanshell("${__setProperty(P1,a)}\n${__setProperty(P2,b)}");
    assert_eq!(
        asked(&sets, "/x?v=${__P(P1)}${__P(P2)}"),
        ["/x?v=ab", "/x?v=ab"]
    );
    // JMeter 5.6.3, measured: what is only looked at is filled in once more when it is sent.
    let looks = "def before = sampler.getPath(); vars.put('v', 'p' + vars.get('i'))";
    assert_eq!(asked(&groovy(looks, "true"), path), ["/x?v=p1", "/x?v=p2"]);
}
