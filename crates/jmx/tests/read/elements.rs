//! What the properties of elements become.

use weir_plan::{
    ControllerKind, Extractor, FlowAction, Logged, Node, PostProcessor, Sampler, SamplerKind,
    Share, ThroughputShare, TimerKind,
};

use super::scope::{element, flag, text};
use super::{group, read_ok, request, sampler, samplers};

fn controller(class: &str, properties: &str) -> ControllerKind {
    let reading = read_ok(&group(&element(class, "C", properties, "")));
    match &reading.plan.groups[0].nodes[..] {
        [Node::Controller(controller)] => controller.kind.clone(),
        other => panic!("{class}: {other:?}"),
    }
}

fn one_sampler(xml: &str) -> Sampler {
    let plan = read_ok(&group(xml)).plan;
    samplers(&plan.groups[0])[0].clone()
}

/// A nested loop that does not "continue forever" runs in the first pass of its parent only.
#[test]
fn loops() {
    for (property, expect) in [
        (flag("LoopController.continue_forever", false), true),
        (flag("LoopController.continue_forever", true), false),
        (String::new(), false),
    ] {
        let properties = property + &text("LoopController.loops", "${N}");
        assert!(
            matches!(controller("LoopController", &properties), ControllerKind::Loop { count, only_once }
                if count.text == "${N}" && only_once == expect)
        );
    }
}

#[test]
fn what_is_missing_has_jmeters_default() {
    let throughput = controller("ThroughputController", "");
    assert!(
        matches!(throughput, ControllerKind::Throughput { share: Share::Total(n), per_user: false } if n.text == "1")
    );
    let percent = "<intProp name=\"ThroughputController.style\">1</intProp><FloatProperty>\
                   <name>ThroughputController.percentThroughput</name><value>12.5</value>\
                   <savedValue>0.0</savedValue></FloatProperty>";
    let throughput = controller("ThroughputController", percent);
    assert!(
        matches!(throughput, ControllerKind::Throughput { share: Share::Percent(n), .. } if n.text == "12.5")
    );
    assert!(matches!(
        controller("ForeachController", ""),
        ControllerKind::ForEach {
            separator: true,
            ..
        }
    ));
    assert!(matches!(
        controller("IfController", ""),
        ControllerKind::If {
            is_text: false,
            each_child: false,
            ..
        }
    ));
    let csv = read_ok(&group(&element(
        "CSVDataSet",
        "D",
        &text("filename", "f.csv"),
        "",
    )));
    let [weir_plan::IterationElement::CsvDataSet(csv)] = &csv.plan.groups[0].on_iteration[..]
    else {
        panic!("{csv:?}");
    };
    // Measured: without the property the file is not started again.
    assert_eq!(
        (&*csv.recycle.text, &*csv.share.text),
        ("false", "shareMode.all")
    );
}

#[test]
fn modes_of_a_constant_throughput_timer() {
    for (property, expect) in [
        (
            "<intProp name=\"calcMode\">2</intProp>".to_owned(),
            ThroughputShare::GroupUsers,
        ),
        (
            text("calcMode", "all active threads (shared)"),
            ThroughputShare::AllShared,
        ),
        (
            text(
                "calcMode",
                "all active threads in current thread group (shared)",
            ),
            ThroughputShare::GroupShared,
        ),
        (text("calcMode", "?"), ThroughputShare::ThisUser),
        (String::new(), ThroughputShare::ThisUser),
    ] {
        let timer = element(
            "ConstantThroughputTimer",
            "T",
            &(property + &text("throughput", "60")),
            "",
        );
        let timers = one_sampler(&(timer + &sampler("", ""))).timers;
        assert!(
            matches!(&timers[0].kind, TimerKind::ConstantThroughput { per_minute, shared }
            if per_minute.text == "60" && *shared == expect)
        );
    }
}

/// A timer in scope of two samplers is one timer.
#[test]
fn elements_keep_their_identity() {
    let timer = element("SyncTimer", "T", &text("groupSize", "2"), "");
    let plan = read_ok(&group(
        &(timer.clone() + &sampler("", "") + &sampler("", &timer)),
    ))
    .plan;
    let ids = |index: usize| -> Vec<u32> {
        samplers(&plan.groups[0])[index]
            .timers
            .iter()
            .map(|timer| timer.id.0)
            .collect()
    };
    let (first, second) = (ids(0), ids(1));
    assert_eq!((first.len(), second.len()), (1, 2));
    assert!(first[0] == second[1] && second[0] != second[1]);
}

#[test]
fn samplers_without_http() {
    let pause = text("ActionProcessor.duration", "${D}")
        + "<intProp name=\"ActionProcessor.action\">1</intProp>";
    let SamplerKind::FlowControl(pause) = one_sampler(&element("TestAction", "T", &pause, "")).kind
    else {
        panic!("no flow control");
    };
    assert_eq!(
        (pause.action, pause.whole_test, &*pause.pause_ms.text),
        (FlowAction::Pause, false, "${D}")
    );
    let argument = |name: &str, value: &str| {
        format!(
            "<elementProp name=\"{name}\">{}{}</elementProp>",
            text("Argument.name", name),
            text("Argument.value", value)
        )
    };
    let java = format!(
        "{}<elementProp name=\"arguments\"><collectionProp name=\"Arguments.arguments\">{}</collectionProp></elementProp>",
        text("classname", "org.apache.jmeter.protocol.java.test.JavaTest"),
        argument("Label", "L")
    );
    let SamplerKind::JavaTest(java) = one_sampler(&element("JavaSampler", "J", &java, "")).kind
    else {
        panic!("no Java test");
    };
    assert_eq!(
        (&*java.label.text, &*java.sleep_ms.text, java.is_sleep_test),
        ("L", "100", false)
    );
    let script = text("scriptLanguage", "groovy") + &text("script", "1");
    let SamplerKind::Script(script) = one_sampler(&element("JSR223Sampler", "S", &script, "")).kind
    else {
        panic!("no script");
    };
    assert_eq!((&*script.language, &*script.text.text), ("groovy", "1"));
    let bean_shell =
        text("BeanShellSampler.query", "2") + &text("BeanShellSampler.parameters", "p");
    let SamplerKind::Script(script) =
        one_sampler(&element("BeanShellSampler", "S", &bean_shell, "")).kind
    else {
        panic!("no script");
    };
    assert_eq!(
        (
            &*script.language,
            &*script.text.text,
            &*script.parameters.text
        ),
        ("beanshell", "2", "p")
    );
}

#[test]
fn requests_in_full() {
    let properties = [
        flag("HTTPSampler.follow_redirects", true),
        flag("HTTPSampler.image_parser", true),
        flag("HTTPSampler.concurrentDwn", true),
        text("HTTPSampler.embedded_url_re", "a.*"),
        flag("HTTPSampler.DO_MULTIPART_POST", true),
        text("HTTPSampler.proxyHost", "p"),
        text("HTTPSampler.proxyPort", "3128"),
        "<elementProp name=\"HTTPsampler.Files\"><collectionProp name=\"HTTPFileArgs.files\">\
         <elementProp name=\"f\"><stringProp name=\"File.path\">a.txt</stringProp>\
         <stringProp name=\"File.paramname\">f</stringProp>\
         <stringProp name=\"File.mimetype\">text/plain</stringProp></elementProp>\
         </collectionProp></elementProp>"
            .to_owned(),
    ];
    let step = one_sampler(&sampler(&properties.concat(), ""));
    let request = request(&step);
    assert!(request.follow_redirects && !request.auto_redirects && request.multipart);
    let embedded = request.embedded.as_ref().unwrap();
    assert_eq!(embedded.matching.text, "a.*");
    assert_eq!(embedded.parallel.as_ref().unwrap().text, "6");
    let proxy = request.proxy.as_ref().unwrap();
    assert_eq!((&*proxy.host.text, &*proxy.port.text), ("p", "3128"));
    let file = &request.files[0];
    assert_eq!(
        [&file.path, &file.parameter, &file.media_type].map(|t| &*t.text),
        ["a.txt", "f", "text/plain"]
    );
}

/// A file below a version before 2.4.
#[test]
fn one_file_in_old_properties() {
    let old = text("HTTPSampler.FILE_NAME", "a")
        + &text("HTTPSampler.FILE_FIELD", "b")
        + &text("HTTPSampler.MIMETYPE", "c");
    let step = one_sampler(&sampler(&old, ""));
    let file = &request(&step).files[0];
    assert_eq!(
        [&file.path, &file.parameter, &file.media_type].map(|t| &*t.text),
        ["a", "b", "c"]
    );
}

#[test]
fn extractors_and_listeners() {
    let regex = text("RegexExtractor.refname", "v")
        + &text("RegexExtractor.useHeaders", "URL")
        + &text("Sample.scope", "all");
    let file = text("filename", "out.csv")
        + &flag("ResultCollector.error_logging", true)
        + "<objProp><name>saveConfig</name><value class=\"SampleSaveConfiguration\"><time>true</time>\
           <xml>false</xml></value></objProp>";
    let below =
        element("RegexExtractor", "R", &regex, "") + &element("ResultCollector", "L", &file, "");
    let reading = read_ok(&group(
        &(element("ResultCollector", "window", "", "") + &sampler("", &below)),
    ));
    let step = samplers(&reading.plan.groups[0])[0];
    let [PostProcessor::Extractor(extractor)] = &step.after[..] else {
        panic!("{step:?}");
    };
    let Extractor::Regex(regex) = &**extractor else {
        panic!("{extractor:?}");
    };
    assert_eq!(
        (&*regex.variable.text, regex.field, &regex.scope),
        (
            "v",
            weir_plan::SampleField::Url,
            &weir_plan::SampleScope::All
        )
    );
    assert_eq!(step.listeners, [0]);
    let listener = &reading.plan.listeners[0];
    assert_eq!(
        (&*listener.file.text, listener.only),
        ("out.csv", Some(Logged::Failed))
    );
    let save = [("time", "true"), ("xml", "false")].map(|(n, v)| (n.to_owned(), v.to_owned()));
    assert_eq!(listener.save, save);
}

/// Measured on JMeter 5.6.3: a `GenericController` whose `testclass` is `LoopController` runs its
/// steps once, whatever else it holds.
#[test]
fn the_tag_says_what_an_element_is() {
    let xml = group(&format!(
        "<GenericController testclass=\"LoopController\">{}</GenericController>\
         <hashTree>{}</hashTree>",
        text("LoopController.loops", "3"),
        sampler("", "").replace("testname", "testclass=\"Nonsense\" testname"),
    ));
    let reading = read_ok(&xml);
    assert_eq!(reading.findings, []);
    let [Node::Controller(controller)] = &reading.plan.groups[0].nodes[..] else {
        panic!("{:?}", reading.plan.groups[0].nodes);
    };
    assert_eq!(controller.kind, ControllerKind::Simple);
    assert_eq!(controller.children.len(), 1);
}

/// As in the recorded plan `found`, where JMeter 5.6.3 shows the values.
#[test]
fn what_stands_below_an_element_without_steps() {
    let below = element("ConstantTimer", "T", "", "")
        + &element("HeaderManager", "H", "", "")
        + &element(
            "LoopController",
            "L",
            "",
            &element("CounterConfig", "no", "", ""),
        )
        + &element(
            "CounterConfig",
            "inner",
            &text("CounterConfig.name", "i"),
            "",
        );
    let outer = text("CounterConfig.name", "o");
    let xml = group(&(element("CounterConfig", "outer", &outer, &below) + &sampler("", "")));
    let reading = read_ok(&xml);
    let ignored: Vec<_> = reading.findings.iter().map(|f| &*f.element).collect();
    assert_eq!(
        ignored,
        ["ConstantTimer", "HeaderManager", "LoopController"]
    );
    let group = &reading.plan.groups[0];
    let names = group.on_iteration.iter().map(|element| match element {
        weir_plan::IterationElement::Counter(counter) => &*counter.variable.text,
        other => panic!("{other:?}"),
    });
    // They advance in the order of the list, the last of the file first.
    assert_eq!(names.collect::<Vec<_>>(), ["o", "i"]);
    assert_eq!(samplers(group)[0].timers, []);
}

/// JMeter 5.6.3 loads samplers that it no longer has, and does nothing at their place.
#[test]
fn elements_that_jmeter_has_dropped() {
    let old = element(
        "SoapSampler",
        "old",
        "",
        &element("ConstantTimer", "T", "", ""),
    );
    let reading = read_ok(&group(&(old + &sampler("", ""))));
    assert_eq!(reading.unsupported().count(), 0);
    let said: Vec<_> = reading.findings.iter().map(|f| &*f.element).collect();
    assert_eq!(said, ["SoapSampler", "ConstantTimer"]);
    assert_eq!(samplers(&reading.plan.groups[0])[0].timers, []);
}
