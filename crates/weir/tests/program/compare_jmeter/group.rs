//! Thread groups made by chance: controllers, samplers and what belongs to them, one in the other.

use super::node::{Node, escaped, flag, number, text, texts, variable};
use super::words::{Chance, VARIABLES};

/// How deep controllers stand in controllers.
const DEPTH: u32 = 3;

/// A thread group of one or two users with all that stands in it.
pub(super) fn group(chance: &mut Chance) -> Node {
    let on_error = if chance.percent(70) {
        "continue"
    } else {
        chance.one(&["startnextloop", "stopthread", "continue"])
    };
    let loops = chance.between(1, 3).to_string();
    // One after the other, so that what they share is shared in one order.
    let (users, ramp_up) = if chance.percent(93) {
        ("1", "0")
    } else {
        ("2", "1")
    };
    let main = format!(
        "<elementProp name=\"ThreadGroup.main_controller\" elementType=\"LoopController\" \
         guiclass=\"LoopControlPanel\" testclass=\"LoopController\" testname=\"main\" enabled=\"true\">{}{}</elementProp>",
        flag("LoopController.continue_forever", false),
        text("LoopController.loops", &loops)
    );
    let name = format!("g{}", chance.group);
    let properties = [
        text("ThreadGroup.on_sample_error", on_error),
        main,
        text("ThreadGroup.num_threads", users),
        text("ThreadGroup.ramp_time", ramp_up),
        flag("ThreadGroup.scheduler", false),
        flag(
            "ThreadGroup.same_user_on_next_iteration",
            chance.percent(80),
        ),
    ];
    let mut children = around(chance, 3);
    children.extend(steps(chance, DEPTH));
    children.push(sampler(chance));
    Node::new("ThreadGroup", "ThreadGroupGui", &name, &properties).with(children)
}

fn steps(chance: &mut Chance, depth: u32) -> Vec<Node> {
    let count = chance.between(1, 3);
    let step = |_| {
        if depth > 0 && chance.percent(45) {
            controller(chance, depth - 1)
        } else {
            sampler(chance)
        }
    };
    (0..count).map(step).collect()
}

/// Elements that act on the samplers in their scope, up to so many.
fn around(chance: &mut Chance, most: u32) -> Vec<Node> {
    let count = chance.between(0, most);
    (0..count).map(|_| helper(chance)).collect()
}

#[expect(clippy::too_many_lines, reason = "an arm for each element")]
fn controller(chance: &mut Chance, depth: u32) -> Node {
    let mut children = if chance.percent(40) {
        around(chance, 2)
    } else {
        Vec::new()
    };
    children.extend(steps(chance, depth));
    let name = chance.name("c");
    let (tag, gui, properties) = match chance.between(0, 11) {
        0 | 1 => {
            let loops = if chance.percent(80) {
                chance.between(0, 3).to_string()
            } else {
                // Below zero is for ever.
                chance.one(&["${v2}", "${__V(v2)}", "x", ""]).to_owned()
            };
            let properties = vec![
                flag("LoopController.continue_forever", chance.percent(50)),
                text("LoopController.loops", &loops),
            ];
            ("LoopController", "LoopControlPanel", properties)
        }
        2 => {
            let (v, value) = (chance.variable(), chance.value());
            let condition = match chance.between(0, 4) {
                0 => "${JMeterThread.last_sample_ok}".to_owned(),
                1 => format!("${{__groovy(vars.get(\"{v}\") == \"1\",)}}"),
                2 => format!("${{__jexl3(\"${{{v}}}\" == \"a\",)}}"),
                3 => value,
                _ => format!("${{__isVarDefined({v})}}"),
            };
            let properties = vec![
                text("IfController.condition", &condition),
                flag("IfController.evaluateAll", chance.percent(40)),
                flag("IfController.useExpression", true),
            ];
            ("IfController", "IfControllerPanel", properties)
        }
        3 => {
            // The condition itself comes to an end: samplers may all fail before they are run.
            let condition = format!(
                "${{__groovy((vars.put(\"{name}\"\\, (vars.get(\"{name}\") ?: \"\") + \"i\") ?: \
                 vars.get(\"{name}\").length()) % 4 < {},)}}",
                chance.between(1, 3)
            );
            let properties = vec![text("WhileController.condition", &condition)];
            ("WhileController", "WhileControllerGui", properties)
        }
        4 => {
            let (input, output) = (chance.variable(), chance.variable());
            let properties = vec![
                text("ForeachController.inputVal", input),
                text("ForeachController.returnVal", output),
                flag("ForeachController.useSeparator", chance.percent(70)),
                text("ForeachController.startIndex", chance.one(&["", "0", "1"])),
                text("ForeachController.endIndex", chance.one(&["", "2", "9"])),
            ];
            ("ForeachController", "ForeachControlPanel", properties)
        }
        5 => {
            let properties = vec![
                number("InterleaveControl.style", chance.between(0, 1)),
                flag("InterleaveControl.accrossThreads", false),
            ];
            ("InterleaveControl", "InterleaveControlGui", properties)
        }
        6 => ("OnceOnlyController", "OnceOnlyControllerGui", Vec::new()),
        7 => {
            let value = if chance.percent(60) {
                chance
                    .one(&["0", "1", "2", "", "default", "nosuch"])
                    .to_owned()
            } else {
                chance.value()
            };
            let properties = vec![text("SwitchController.value", &value)];
            ("SwitchController", "SwitchControllerGui", properties)
        }
        8 | 9 => {
            let properties = vec![
                flag("TransactionController.includeTimers", chance.percent(50)),
                flag("TransactionController.parent", chance.percent(50)),
            ];
            (
                "TransactionController",
                "TransactionControllerGui",
                properties,
            )
        }
        10 => {
            let style = chance.between(0, 1);
            let properties = vec![
                number("ThroughputController.style", style),
                flag("ThroughputController.perThread", chance.percent(50)),
                number("ThroughputController.maxThroughput", chance.between(0, 3)),
                format!(
                    "<FloatProperty><name>ThroughputController.percentThroughput</name>\
                     <value>{}.0</value><savedValue>0.0</savedValue></FloatProperty>",
                    chance.between(0, 4) * 25
                ),
            ];
            (
                "ThroughputController",
                "ThroughputControllerGui",
                properties,
            )
        }
        _ => ("GenericController", "LogicControllerGui", Vec::new()),
    };
    let name = if chance.percent(15) {
        chance.value()
    } else {
        name
    };
    Node::new(tag, gui, &name, &properties).with(children)
}

fn sampler(chance: &mut Chance) -> Node {
    let node = match chance.between(0, 11) {
        0..=8 => http(chance),
        9 => {
            let statement = chance.statement();
            let ending =
                chance.one(&["", "return \"ab cd\"", "SampleResult.setSuccessful(false);"]);
            let (name, parameters) = (chance.name("j"), chance.parameters());
            script(
                "JSR223Sampler",
                &name,
                "groovy",
                &parameters,
                &format!("{statement}\n{ending}"),
            )
        }
        10 => {
            let statement = chance.statement();
            let ending = chance.one(&["", "return \"ab cd\";", "IsSuccess = false;"]);
            let (name, parameters) = (chance.name("b"), chance.parameters());
            bean_shell(
                "BeanShellSampler",
                &name,
                &parameters,
                &format!("{statement}\n{ending}"),
            )
        }
        _ => {
            let properties = [
                number("ActionProcessor.action", chance.between(4, 5)),
                number("ActionProcessor.target", 0),
                text("ActionProcessor.duration", "0"),
            ];
            let action = Node::new(
                "TestAction",
                "TestActionGui",
                &chance.name("act"),
                &properties,
            );
            // Most would end the iteration at once.
            if chance.percent(80) {
                http(chance)
            } else {
                action
            }
        }
    };
    node.with(around(chance, 4))
}

fn http(chance: &mut Chance) -> Node {
    let method = chance.one(&[
        "GET", "GET", "GET", "POST", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS",
    ]);
    let path = chance.one(&[
        "/echo", "/echo", "/echo", "/json", "/xml", "/page", "/ok", "/r1", "/404", "/500",
        "/cookie", "/204",
    ]);
    let path = match chance.between(0, 5) {
        0 | 1 => format!("{path}?q=${{__urlencode(${{{}}})}}", chance.variable()),
        2 => format!(
            "{path}?{}",
            chance.one(&["e=${__V(v1)}", "e=${__urlencode(${v2})}&f=x"])
        ),
        _ => path.to_owned(),
    };
    let raw = method != "GET" && chance.percent(30);
    // Mostly what a URL may have in it.
    let in_url = matches!(method, "GET" | "DELETE" | "OPTIONS") && chance.percent(95);
    let arguments: String = if raw {
        let values = [chance.value(), chance.value()].join(" ");
        argument(chance, "", &format!("body {values} end"), in_url)
    } else {
        let count = chance.between(0, 3);
        let one = |_| {
            let name = if chance.percent(90) {
                chance.name("n")
            } else {
                format!("m${{{}}}", chance.variable())
            };
            let value = chance.value();
            argument(chance, &name, &value, in_url)
        };
        (0..count).map(one).collect()
    };
    let arguments = format!(
        "<elementProp name=\"HTTPsampler.Arguments\" elementType=\"Arguments\">\
         <collectionProp name=\"Arguments.arguments\">{arguments}</collectionProp></elementProp>"
    );
    let redirects = match chance.between(0, 2) {
        // Results show another method than the one that was asked with.
        1 if method != "GET" => 0,
        redirects => redirects,
    };
    let name = if chance.percent(5) {
        chance.value()
    } else {
        chance.name("h")
    };
    let properties = [
        flag("HTTPSampler.postBodyRaw", raw),
        arguments,
        text("HTTPSampler.path", &path),
        text("HTTPSampler.method", method),
        flag("HTTPSampler.follow_redirects", redirects == 0),
        flag("HTTPSampler.auto_redirects", redirects == 1),
        flag("HTTPSampler.use_keepalive", chance.percent(85)),
        flag(
            "HTTPSampler.DO_MULTIPART_POST",
            !raw && method == "POST" && !path.starts_with("/echo") && chance.percent(15),
        ),
        flag("HTTPSampler.image_parser", chance.percent(15)),
        text(
            "HTTPSampler.contentEncoding",
            chance.one(&["", "", "UTF-8", "ISO-8859-1"]),
        ),
    ];
    Node::new("HTTPSamplerProxy", "HttpTestSampleGui", &name, &properties)
}

fn argument(chance: &mut Chance, name: &str, value: &str, encoded: bool) -> String {
    format!(
        "<elementProp name=\"{}\" elementType=\"HTTPArgument\">{}{}{}{}{}</elementProp>",
        escaped(name),
        flag("HTTPArgument.always_encode", encoded || chance.percent(50)),
        text("Argument.value", value),
        text("Argument.metadata", "="),
        flag("HTTPArgument.use_equals", chance.percent(80)),
        text("Argument.name", name)
    )
}

/// An element that acts on the samplers in its scope.
fn helper(chance: &mut Chance) -> Node {
    match chance.between(0, 5) {
        0 | 1 => configuration(chance),
        2 => before(chance),
        3 => extractor(chance),
        4 => after(chance),
        _ => assertion(chance),
    }
}

#[expect(clippy::too_many_lines, reason = "an arm for each element")]
fn configuration(chance: &mut Chance) -> Node {
    match chance.between(0, 6) {
        0 => {
            let header = |chance: &mut Chance| {
                let (name, value) = (chance.name("X-H"), chance.value());
                let name = if chance.percent(20) {
                    "X-Same".to_owned()
                } else {
                    name
                };
                format!(
                    "<elementProp name=\"\" elementType=\"Header\">{}{}</elementProp>",
                    text("Header.name", &name),
                    text("Header.value", &value)
                )
            };
            let headers = [header(chance), header(chance)].concat();
            let headers = format!(
                "<collectionProp name=\"HeaderManager.headers\">{headers}</collectionProp>"
            );
            Node::new(
                "HeaderManager",
                "HeaderPanel",
                &chance.name("hm"),
                &[headers],
            )
        }
        1 => {
            // Global in the whole plan: a name that no other group has.
            let name = format!("u{}", chance.group);
            let value = chance.value();
            let variable = variable(&name, &value);
            let all =
                format!("<collectionProp name=\"Arguments.arguments\">{variable}</collectionProp>");
            Node::new("Arguments", "ArgumentsPanel", &chance.name("udv"), &[all])
        }
        2 => {
            let names = chance.one(&["v1,v2,v3", "v4", "", "v2,v5"]);
            let shared = format!("own{}", chance.group) + &chance.name("s");
            let properties = [
                text("filename", "FOLDER/rows.csv"),
                text("fileEncoding", "UTF-8"),
                text("variableNames", names),
                flag("ignoreFirstLine", chance.percent(30)),
                text("delimiter", chance.one(&[",", ",", ";"])),
                flag("quotedData", chance.percent(50)),
                flag("recycle", chance.percent(70)),
                flag("stopThread", chance.percent(20)),
                text("shareMode", &shared),
            ];
            Node::new(
                "CSVDataSet",
                "TestBeanGUI",
                &chance.name("csv"),
                &properties,
            )
        }
        3 => {
            let properties = [
                text("CounterConfig.start", chance.one(&["1", "0", "5", ""])),
                text("CounterConfig.end", chance.one(&["", "2", "6"])),
                text("CounterConfig.incr", chance.one(&["1", "2", ""])),
                text("CounterConfig.name", chance.variable()),
                text("CounterConfig.format", chance.one(&["", "000", "n#"])),
                flag("CounterConfig.per_user", chance.percent(50)),
                flag("CounterConfig.reset_on_tg_iteration", chance.percent(50)),
            ];
            Node::new(
                "CounterConfig",
                "CounterConfigGui",
                &chance.name("cnt"),
                &properties,
            )
        }
        4 => {
            let properties = [
                flag("CookieManager.clearEachIteration", chance.percent(50)),
                "<collectionProp name=\"CookieManager.cookies\"></collectionProp>".to_owned(),
            ];
            Node::new(
                "CookieManager",
                "CookiePanel",
                &chance.name("ck"),
                &properties,
            )
        }
        5 => {
            let properties = [
                text("maximumValue", "5"),
                text("minimumValue", "5"),
                text("outputFormat", chance.one(&["", "000", "x0"])),
                flag("perThread", chance.percent(50)),
                text("randomSeed", ""),
                text("variableName", chance.variable()),
            ];
            Node::new(
                "RandomVariableConfig",
                "TestBeanGUI",
                &chance.name("rnd"),
                &properties,
            )
        }
        _ => {
            let argument = argument(chance, "dflt", "d${v1}", true);
            let arguments = format!(
                "<elementProp name=\"HTTPsampler.Arguments\" elementType=\"Arguments\">\
                 <collectionProp name=\"Arguments.arguments\">{argument}</collectionProp></elementProp>"
            );
            Node::new(
                "ConfigTestElement",
                "HttpDefaultsGui",
                &chance.name("dd"),
                &[arguments],
            )
        }
    }
}

fn before(chance: &mut Chance) -> Node {
    match chance.between(0, 5) {
        0 => {
            let names = [chance.variable().to_owned(), chance.variable().to_owned()];
            let row = |chance: &mut Chance, at: &str| {
                let values = [chance.value(), chance.value()];
                texts(at, &values)
            };
            let rows = [row(chance, "0"), row(chance, "1")].concat();
            let properties = [
                texts("UserParameters.names", &names),
                format!(
                    "<collectionProp name=\"UserParameters.thread_values\">{rows}</collectionProp>"
                ),
                flag("UserParameters.per_iteration", chance.percent(50)),
            ];
            Node::new(
                "UserParameters",
                "UserParametersGui",
                &chance.name("up"),
                &properties,
            )
        }
        1 | 2 => {
            let statements = [chance.statement_before(), chance.statement()].join("\n");
            let (name, parameters) = (chance.name("jpre"), chance.parameters());
            script(
                "JSR223PreProcessor",
                &name,
                "groovy",
                &parameters,
                &statements,
            )
        }
        3 => {
            let statements = [chance.statement_before(), chance.statement()].join("\n");
            let (name, parameters) = (chance.name("bpre"), chance.parameters());
            bean_shell("BeanShellPreProcessor", &name, &parameters, &statements)
        }
        5 => {
            let properties = [
                text("RegExUserParameters.regex_ref_name", chance.variable()),
                text(
                    "RegExUserParameters.param_names_gr_nr",
                    chance.one(&["1", "2", "0"]),
                ),
                text(
                    "RegExUserParameters.param_values_gr_nr",
                    chance.one(&["1", "2"]),
                ),
            ];
            let name = chance.name("rup");
            Node::new(
                "RegExUserParameters",
                "RegExUserParametersGui",
                &name,
                &properties,
            )
        }
        _ => {
            let delay = chance.one(&["return 0", "vars.put(\"v3\", \"timed${v3}\"); return 0"]);
            script("JSR223Timer", &chance.name("jt"), "groovy", "", delay)
        }
    }
}

#[expect(clippy::too_many_lines, reason = "an arm for each element")]
fn extractor(chance: &mut Chance) -> Node {
    let (refname, name) = (chance.variable(), chance.name("x"));
    // 0 and nothing are by chance, which is not to be compared.
    let number = chance.one(&["1", "1", "-1", "2", "9"]);
    let default = match chance.between(0, 2) {
        0 => String::new(),
        1 => "none".to_owned(),
        _ => chance.value(),
    };
    match chance.between(0, 5) {
        0 | 1 => {
            let properties = [
                text(
                    "RegexExtractor.useHeaders",
                    chance.one(&[
                        "false",
                        "false",
                        "true",
                        "URL",
                        "code",
                        "message",
                        "request_headers",
                    ]),
                ),
                text("RegexExtractor.refname", refname),
                text(
                    "RegexExtractor.regex",
                    chance.one(&[
                        "([a-z]+)=(\\w+)",
                        "\"id\":(\\d)",
                        "X-([^:]+): (.*)",
                        "(o)(.)",
                        "nosuch(.)",
                        "<a[^>]*>(.)",
                        "${v1}(.)",
                    ]),
                ),
                text(
                    "RegexExtractor.template",
                    chance.one(&["$1$", "$2$$1$", "$0$", "x$1$y", "fixed"]),
                ),
                text("RegexExtractor.default", &default),
                flag("RegexExtractor.default_empty_value", chance.percent(20)),
                text("RegexExtractor.match_number", number),
                scope(chance),
            ];
            Node::new("RegexExtractor", "RegexExtractorGui", &name, &properties)
        }
        2 => {
            let properties = [
                text("JSONPostProcessor.referenceNames", refname),
                text(
                    "JSONPostProcessor.jsonPathExprs",
                    chance.one(&["$.a[*].id", "$..n", "$.t", "$.f", "$.a", "$.nosuch", "$"]),
                ),
                text("JSONPostProcessor.match_numbers", number),
                text("JSONPostProcessor.defaultValues", &default.replace(';', "")),
                flag("JSONPostProcessor.compute_concat", chance.percent(30)),
                scope(chance),
            ];
            Node::new(
                "JSONPostProcessor",
                "JSONPostProcessorGui",
                &name,
                &properties,
            )
        }
        3 => {
            let properties = [
                text(
                    "BoundaryExtractor.useHeaders",
                    chance.one(&["false", "false", "true", "URL", "code"]),
                ),
                text("BoundaryExtractor.refname", refname),
                text(
                    "BoundaryExtractor.lboundary",
                    chance.one(&["\"", "<", "e", "X-", "nosuch", "${v2}"]),
                ),
                text(
                    "BoundaryExtractor.rboundary",
                    chance.one(&["\"", ">", " ", "o"]),
                ),
                text("BoundaryExtractor.default", &default),
                flag("BoundaryExtractor.default_empty_value", chance.percent(20)),
                text("BoundaryExtractor.match_number", number),
                scope(chance),
            ];
            Node::new(
                "BoundaryExtractor",
                "BoundaryExtractorGui",
                &name,
                &properties,
            )
        }
        4 => {
            let properties = [
                text("HtmlExtractor.refname", refname),
                text(
                    "HtmlExtractor.expr",
                    chance.one(&["img", "a", "script", "nosuch"]),
                ),
                text("HtmlExtractor.attribute", chance.one(&["", "src", "href"])),
                text("HtmlExtractor.default", &default),
                flag("HtmlExtractor.default_empty_value", chance.percent(20)),
                text("HtmlExtractor.match_number", number),
                text("HtmlExtractor.extractor_impl", chance.one(&["", "JSOUP"])),
            ];
            Node::new("HtmlExtractor", "HtmlExtractorGui", &name, &properties)
        }
        _ => {
            let properties = [
                text("XPathExtractor2.default", &default),
                text("XPathExtractor2.refname", refname),
                text("XPathExtractor2.matchNumber", number),
                text(
                    "XPathExtractor2.xpathQuery",
                    chance.one(&["//a", "//a/@id", "/r/a[2]", "count(//a)", "//nosuch"]),
                ),
                flag("XPathExtractor2.fragment", chance.percent(20)),
                text("XPathExtractor2.namespaces", ""),
            ];
            Node::new("XPath2Extractor", "XPath2ExtractorGui", &name, &properties)
        }
    }
}

/// Which part of a sample an element looks at.
fn scope(chance: &mut Chance) -> String {
    match chance.between(0, 9) {
        0 => text("Sample.scope", "all"),
        1 => text("Sample.scope", "children"),
        2 => [
            text("Sample.scope", "variable"),
            text("Scope.variable", chance.one(&VARIABLES)),
        ]
        .concat(),
        _ => String::new(),
    }
}

fn after(chance: &mut Chance) -> Node {
    let statements = [chance.statement_after(), chance.statement()].join("\n");
    let parameters = chance.parameters();
    match chance.between(0, 4) {
        0 | 1 => script(
            "JSR223PostProcessor",
            &chance.name("jpost"),
            "groovy",
            &parameters,
            &statements,
        ),
        2 => bean_shell(
            "BeanShellPostProcessor",
            &chance.name("bpost"),
            &parameters,
            &statements,
        ),
        3 => script(
            "JSR223Listener",
            &chance.name("jl"),
            "groovy",
            &parameters,
            &statements,
        ),
        _ => bean_shell(
            "BeanShellListener",
            &chance.name("bl"),
            &parameters,
            &statements,
        ),
    }
}

fn assertion(chance: &mut Chance) -> Node {
    match chance.between(0, 5) {
        0..=2 => {
            let kind = chance
                .one(&["1", "2", "8", "16"])
                .parse::<u32>()
                .unwrap_or(2);
            let kind = kind
                + if chance.percent(30) { 4 } else { 0 }
                + if chance.percent(20) { 32 } else { 0 };
            let mut wanted = vec![
                chance
                    .one(&["hello", "200", "OK", ".*o.*", "(?s).*", "nosuch", "${v1}"])
                    .to_owned(),
            ];
            if chance.percent(30) {
                wanted.push(format!("${{{}}}", chance.variable()));
            }
            let field = chance.one(&[
                "Assertion.response_data",
                "Assertion.response_data",
                "Assertion.response_code",
                "Assertion.response_message",
                "Assertion.response_headers",
                "Assertion.sample_label",
                "Assertion.request_data",
            ]);
            let properties = [
                texts("Asserion.test_strings", &wanted),
                text(
                    "Assertion.custom_message",
                    chance.one(&["", "", "it failed ${v2}"]),
                ),
                text("Assertion.test_field", field),
                flag("Assertion.assume_success", chance.percent(20)),
                number("Assertion.test_type", kind),
                scope(chance).replace("\"Sample.scope\"", "\"Assertion.scope\""),
            ];
            // Regular expressions that are none end differently.
            Node::new(
                "ResponseAssertion",
                "AssertionGui",
                &chance.name("ra"),
                &properties,
            )
        }
        3 => {
            let properties = [
                text("SizeAssertion.size", chance.one(&["11", "0", "100"])),
                number("SizeAssertion.operator", chance.between(1, 6)),
                text(
                    "Assertion.test_field",
                    chance.one(&["SizeAssertion.response_data", "SizeAssertion.response_code"]),
                ),
            ];
            Node::new(
                "SizeAssertion",
                "SizeAssertionGui",
                &chance.name("sa"),
                &properties,
            )
        }
        4 => {
            let properties = [
                text(
                    "JSON_PATH",
                    chance.one(&["$.t", "$.a[0].id", "$.nosuch", "$.a"]),
                ),
                text("EXPECTED_VALUE", chance.one(&["true", "1", "${v1}", ""])),
                flag("JSONVALIDATION", chance.percent(50)),
                flag("EXPECT_NULL", chance.percent(15)),
                flag("INVERT", chance.percent(30)),
                flag("ISREGEX", chance.percent(50)),
            ];
            Node::new(
                "JSONPathAssertion",
                "JSONPathAssertionGui",
                &chance.name("jpa"),
                &properties,
            )
        }
        _ => {
            let failing = chance.one(&[
                "AssertionResult.setFailure(true); AssertionResult.setFailureMessage(\"no ${v1}\");",
                "if (prev.getResponseCode().equals(\"404\")) { AssertionResult.setFailure(true); }",
                "vars.put(\"v6\", \"seen\" + vars.get(\"v6\"));",
            ]);
            let (name, parameters) = (chance.name("ja"), chance.parameters());
            script("JSR223Assertion", &name, "groovy", &parameters, failing)
        }
    }
}

fn script(tag: &str, name: &str, language: &str, parameters: &str, script: &str) -> Node {
    let properties = [
        text("scriptLanguage", language),
        text("parameters", parameters),
        text("filename", ""),
        text("cacheKey", "true"),
        text("script", script),
    ];
    Node::new(tag, "TestBeanGUI", name, &properties)
}

fn bean_shell(tag: &str, name: &str, parameters: &str, script: &str) -> Node {
    let properties = if tag == "BeanShellSampler" {
        [
            text("BeanShellSampler.query", script),
            text("BeanShellSampler.filename", ""),
            text("BeanShellSampler.parameters", parameters),
            flag("BeanShellSampler.resetInterpreter", false),
        ]
    } else {
        [
            flag("resetInterpreter", false),
            text("parameters", parameters),
            text("filename", ""),
            text("script", script),
        ]
    };
    let gui = if tag == "BeanShellSampler" {
        "BeanShellSamplerGui"
    } else {
        "TestBeanGUI"
    };
    Node::new(tag, gui, name, &properties)
}
