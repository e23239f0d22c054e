//! Plans that nobody means well with: an answer in seconds, with bounded memory.

use std::path::Path;

use weir_jmx::{JmxError, Reading, read_text};

use super::scope::element;
use super::{group, read_ok, sampler};

fn read_any(xml: &str) -> Result<Reading, JmxError> {
    read_text(xml, Path::new("hostile.jmx"))
}

#[test]
fn entities_are_refused() {
    let laughs = "<!DOCTYPE x [<!ENTITY a \"ha\"><!ENTITY b \"&a;&a;&a;&a;\">]>\
                  <jmeterTestPlan><hashTree>&b;</hashTree></jmeterTestPlan>";
    let file = "<!DOCTYPE x [<!ENTITY a SYSTEM \"file:///etc/passwd\">]>\
                <jmeterTestPlan><hashTree>&a;</hashTree></jmeterTestPlan>";
    for xml in [laughs, file] {
        let error = read_any(xml).unwrap_err().to_string();
        assert!(error.contains("(DTD) is not accepted"), "{error}");
    }
}

#[test]
fn controllers_nested_too_deep() {
    let open = "<GenericController/><hashTree>".repeat(400);
    let close = "</hashTree>".repeat(400);
    let reading = read_ok(&group(&format!("{open}{}{close}", sampler("", ""))));
    let said: Vec<String> = reading.unsupported().map(|f| f.says.clone()).collect();
    assert!(
        said.iter()
            .any(|says| says.contains("nested deeper than 150")),
        "{said:?}"
    );
}

/// 20,000 samplers that inherit 20,000 header fields each would be 10 GB.
#[test]
fn scope_that_multiplies() {
    let field =
        "<elementProp name=\"\"><stringProp name=\"Header.name\">A</stringProp></elementProp>";
    let headers = format!(
        "<HeaderManager guiclass=\"HeaderPanel\"><collectionProp name=\"HeaderManager.headers\">{}\
         </collectionProp></HeaderManager><hashTree/>",
        field.repeat(20_000)
    );
    let xml = group(&(headers + &sampler("", "").repeat(20_000)));
    let error = read_any(&xml).unwrap_err().to_string();
    assert!(error.contains("split the plan"), "{error}");
}

/// Properties of other types than JMeter writes.
#[test]
fn wrong_types() {
    let odd = "<collectionProp name=\"LoopController.loops\"><stringProp>1</stringProp></collectionProp>\
               <elementProp name=\"HTTPSampler.path\"/><stringProp name=\"HTTPsampler.Arguments\">x</stringProp>\
               <intProp name=\"ModuleController.node_path\">many</intProp>\
               <boolProp name=\"ActionProcessor.action\">true</boolProp><mapProp/>\
               <objProp name=\"saveConfig\"/><stringProp name=\"filename\">x</stringProp>\
               <stringProp name=\"load_profile\">x</stringProp>";
    for class in [
        "HTTPSamplerProxy",
        "TestAction",
        "JavaSampler",
        "LoopController",
        "ModuleController",
        "IncludeController",
        "IfController",
        "CSVDataSet",
        "UserParameters",
        "CookieManager",
        "AuthManager",
        "DNSCacheManager",
        "HeaderManager",
        "ResponseAssertion",
        "SizeAssertion",
        "RegexExtractor",
        "ResultCollector",
        "JSR223Sampler",
        "Arguments",
        "ThroughputController",
        "kg.apc.jmeter.timers.VariableThroughputTimer",
        "SyncTimer",
        "ResultAction",
        "ConstantThroughputTimer",
        "XPathExtractor",
        "TransactionController",
    ] {
        let below = element(class, "odd", odd, &sampler("", ""));
        let reading = read_ok(&group(&(below + &sampler("", ""))));
        assert_eq!(reading.plan.groups.len(), 1, "{class}");
    }
}
