//! What is not known is named before the run.

use weir_snippet::{Language, Script};

fn check(text: &str, language: Language, expect: &[&str]) {
    let script = Script::read(text, language).unwrap();
    let unknown: Vec<String> = script.unknown().iter().map(ToString::to_string).collect();
    assert_eq!(unknown, expect, "{text}");
}

#[test]
fn what_is_known_is_not_named() {
    for text in [
        "vars.put(\"a\", vars.get(\"b\") + 1)",
        "def list = [1, 2]; list.each { log.info(it.toString()) }",
        "prev.setSuccessful(false); prev.setResponseMessage(\"x\")",
        "import groovy.json.JsonSlurper\ndef j = new JsonSlurper().parseText(prev.responseDataAsString)",
        "def f(a) { a * 2 }\nf(3)",
        "def c = { x -> x }\nc(1)",
        "SampleResult.setSampleLabel(Label)",
        "def t = java.util.UUID.randomUUID().toString()",
        "import com.example.NotUsed\nlog.info(\"x\")",
        "props.put('n', 5); props.put('m', props.get('n') + 1); props.put('t', \"a$n\")",
        "try { Integer.parseInt(\"x\") } catch (NumberFormatException e) { log.error(\"bad\", e) }",
    ] {
        check(text, Language::Groovy, &[]);
    }
}

#[test]
fn what_depends_on_the_language_of_the_machine_is_named() {
    let weeks = |what: &str| format!("where weeks begin, for {what} in line 1 of the script");
    for (text, what) in [
        (
            "cal.set(Calendar.DAY_OF_WEEK, Calendar.MONDAY)",
            "set of Calendar.DAY_OF_WEEK",
        ),
        (
            "Calendar.getInstance().get(Calendar.WEEK_OF_YEAR)",
            "get of Calendar.WEEK_OF_YEAR",
        ),
        (
            "c.set(java.util.Calendar.WEEK_OF_MONTH, 1)",
            "set of Calendar.WEEK_OF_MONTH",
        ),
    ] {
        check(text, Language::Groovy, &[&weeks(what)]);
    }
    let known = "def c = Calendar.getInstance(); c.add(Calendar.WEEK_OF_YEAR, 1); \
                 c.get(Calendar.DAY_OF_WEEK)";
    check(known, Language::Groovy, &[]);
}

#[test]
fn what_is_unknown_is_named_with_its_line() {
    let groovy = Language::Groovy;
    check(
        "def m = sampler.getCookieManager(); m.getCookieHeaderForURL(prev.getURL())",
        groovy,
        &[
            "the method getCookieHeaderForURL with 1 argument(s) of any class in line 1 of the script",
        ],
    );
    check(
        "import com.example.Thing\ndef t = new Thing()\nt.run()",
        groovy,
        &[
            "new Thing() with 0 argument(s) in line 2 of the script",
            "the method run with 0 argument(s) of any class in line 3 of the script",
        ],
    );
    check(
        "vars.nosuch(1)",
        groovy,
        &["the method nosuch with 1 argument(s) of JMeterVariables in line 1 of the script"],
    );
    let shared = "a property that holds an object, which users share in line 1 of the script";
    for text in [
        "props.put('f', { it * 2 })",
        "def f = { it * 2 }; props.put('f', f)",
        "props.put('l', [1, 2])",
        "props.put('m', [a: 1])",
        "props.put('l', new ArrayList())",
        "props.put('d', new Date())",
    ] {
        check(text, groovy, &[shared]);
    }
    check(
        "\"cmd\".execute()",
        groovy,
        &["the method execute with 0 argument(s) of String in line 1 of the script"],
    );
    check(
        "Runtime.getRuntime().exec(\"ls\")",
        groovy,
        &[
            "the class or name Runtime in line 1 of the script",
            "the method exec with 1 argument(s) of any class in line 1 of the script",
            "the method getRuntime with 0 argument(s) of any class in line 1 of the script",
        ],
    );
    check(
        "byte[] b = org.example.Marshal.data(\"x\");",
        Language::BeanShell,
        &[
            "the class org.example.Marshal in line 1 of the script",
            "the method data with 1 argument(s) of any class in line 1 of the script",
        ],
    );
    check(
        "var F = Java.type('java.io.File');",
        Language::JavaScript,
        &["Java.type in JavaScript in line 1 of the script"],
    );
}
