//! A mix as a JMeter plan: `USERS` users, each request by its endpoint's share.
//!
//! Each endpoint is below a Throughput Controller with its share in percent over all users; the
//! shares add up to 100 %, so that a pass through all of them sends one request in the mean. What
//! varies is a random page, or one of the requests of the log, which stand in the plan as
//! variables.

use std::fmt::Write as _;

use crate::USERS;
use crate::mix::{Mix, MixedEndpoint, Varies};

/// The text of the plan. `about` says where it comes from.
pub fn plan(mix: &Mix, about: &str) -> String {
    let variables: String = mix
        .endpoints
        .iter()
        .enumerate()
        .map(|(index, endpoint)| variables(index, endpoint))
        .collect();
    let samplers: String = mix
        .endpoints
        .iter()
        .enumerate()
        .map(|(index, endpoint)| controller(index, endpoint))
        .collect();
    let about = escaped(&format!("{about} Properties: {USERS}, HOST, PORT."));
    format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3">
  <hashTree>
    <TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="Mix of an access log" enabled="true">
      <stringProp name="TestPlan.comments">{about}</stringProp>
      <boolProp name="TestPlan.functional_mode">false</boolProp>
      <boolProp name="TestPlan.serialize_threadgroups">false</boolProp>
      <elementProp name="TestPlan.user_defined_variables" elementType="Arguments" guiclass="ArgumentsPanel" testclass="Arguments" testname="User Defined Variables" enabled="true">
        <collectionProp name="Arguments.arguments">
{variables}        </collectionProp>
      </elementProp>
    </TestPlan>
    <hashTree>
      <ConfigTestElement guiclass="HttpDefaultsGui" testclass="ConfigTestElement" testname="the server" enabled="true">
        <stringProp name="HTTPSampler.protocol">http</stringProp>
        <stringProp name="HTTPSampler.domain">${{__P(HOST,127.0.0.1)}}</stringProp>
        <stringProp name="HTTPSampler.port">${{__P(PORT,8080)}}</stringProp>
        <elementProp name="HTTPsampler.Arguments" elementType="Arguments" guiclass="HTTPArgumentsPanel" testclass="Arguments" testname="Parameters" enabled="true">
          <collectionProp name="Arguments.arguments"/>
        </elementProp>
      </ConfigTestElement>
      <hashTree/>
      <ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="users" enabled="true">
        <stringProp name="ThreadGroup.num_threads">${{__P({USERS},1)}}</stringProp>
        <stringProp name="ThreadGroup.ramp_time">0</stringProp>
        <boolProp name="ThreadGroup.same_user_on_next_iteration">true</boolProp>
        <stringProp name="ThreadGroup.on_sample_error">continue</stringProp>
        <boolProp name="ThreadGroup.scheduler">false</boolProp>
        <elementProp name="ThreadGroup.main_controller" elementType="LoopController" guiclass="LoopControlPanel" testclass="LoopController" testname="Loop Controller" enabled="true">
          <stringProp name="LoopController.loops">-1</stringProp>
          <boolProp name="LoopController.continue_forever">false</boolProp>
        </elementProp>
      </ThreadGroup>
      <hashTree>
{samplers}      </hashTree>
    </hashTree>
  </hashTree>
</jmeterTestPlan>
"#
    )
}

/// The requests of the log among which an endpoint's are, as variables.
fn variables(index: usize, endpoint: &MixedEndpoint) -> String {
    let Varies::Among(samples) = &endpoint.varies else {
        return String::new();
    };
    let mut text = String::new();
    for (number, sample) in samples.iter().enumerate() {
        let name = variable(index, number + 1);
        let value = literal(without_slash(sample));
        let _ = write!(
            text,
            "          <elementProp name=\"{name}\" elementType=\"Argument\">\n            \
             <stringProp name=\"Argument.name\">{name}</stringProp>\n            \
             <stringProp name=\"Argument.value\">{value}</stringProp>\n            \
             <stringProp name=\"Argument.metadata\">=</stringProp>\n          </elementProp>\n"
        );
    }
    text
}

fn variable(index: usize, number: usize) -> String {
    format!("endpoint{}_{number}", index + 1)
}

fn controller(index: usize, endpoint: &MixedEndpoint) -> String {
    let percent = endpoint.share * 100.0;
    let name = escaped(&endpoint.name);
    let method = escaped(&endpoint.method);
    let path = path(index, endpoint);
    format!(
        r#"        <ThroughputController guiclass="ThroughputControllerGui" testclass="ThroughputController" testname="{percent:.2} %" enabled="true">
          <intProp name="ThroughputController.style">1</intProp>
          <boolProp name="ThroughputController.perThread">false</boolProp>
          <intProp name="ThroughputController.maxThroughput">1</intProp>
          <stringProp name="ThroughputController.percentThroughput">{percent:.4}</stringProp>
        </ThroughputController>
        <hashTree>
          <HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="{name}" enabled="true">
            <stringProp name="HTTPSampler.path">{path}</stringProp>
            <stringProp name="HTTPSampler.method">{method}</stringProp>
            <boolProp name="HTTPSampler.follow_redirects">false</boolProp>
            <boolProp name="HTTPSampler.auto_redirects">false</boolProp>
            <boolProp name="HTTPSampler.use_keepalive">true</boolProp>
            <boolProp name="HTTPSampler.postBodyRaw">false</boolProp>
            <elementProp name="HTTPsampler.Arguments" elementType="Arguments" guiclass="HTTPArgumentsPanel" testclass="Arguments" testname="Parameters" enabled="true">
              <collectionProp name="Arguments.arguments"/>
            </elementProp>
          </HTTPSamplerProxy>
          <hashTree/>
        </hashTree>
"#
    )
}

fn path(index: usize, endpoint: &MixedEndpoint) -> String {
    match &endpoint.varies {
        Varies::Not(path) => literal(path),
        Varies::Paging(range) => format!(
            "{}${{__Random({},{},)}}{}",
            literal(&range.before),
            range.low,
            range.high,
            literal(&range.after)
        ),
        // The slash stands here, so that whatever the variable holds is a path of this server.
        Varies::Among(samples) => format!(
            "/${{__V(endpoint{}_${{__Random(1,{},)}})}}",
            index + 1,
            samples.len()
        ),
    }
}

fn without_slash(path: &str) -> &str {
    path.strip_prefix('/').unwrap_or(path)
}

/// A text that means itself in a plan, where `${` begins a variable and a backslash escapes.
fn literal(text: &str) -> String {
    escaped(&text.replace('\\', "\\\\").replace("${", "\\${"))
}

fn escaped(text: &str) -> String {
    let kept = text.chars().filter(|c| !c.is_control());
    let text: String = kept.collect();
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;
    use crate::mix::PagingRange;

    fn endpoint(share: f64, varies: Varies) -> MixedEndpoint {
        MixedEndpoint {
            name: "GET /a<b>&\"c\"".to_owned(),
            method: "GET".to_owned(),
            share,
            varies,
        }
    }

    #[test]
    fn a_plan_runs_natively_in_full_whatever_the_log_holds() {
        let range = PagingRange {
            before: "/posts?board=1&page=".to_owned(),
            after: "&x=1".to_owned(),
            low: 1,
            high: 500,
        };
        let nasty = vec![
            "/a?x=${__P(USER)}&y=\\".to_owned(),
            "/<b>\u{1}\"".to_owned(),
        ];
        let mix = Mix {
            endpoints: vec![
                endpoint(0.5, Varies::Not("/${x}".to_owned())),
                endpoint(0.3, Varies::Paging(range)),
                endpoint(0.2, Varies::Among(nasty)),
            ],
            covered: 1.0,
            left_out: Vec::new(),
        };
        let text = plan(&mix, "Of a log & more.");
        let read = weir_jmx::read_text(&text, std::path::Path::new("plan.jmx")).unwrap();
        assert!(read.findings.is_empty(), "{:?}", read.findings);
        assert_eq!(read.plan.groups.len(), 1);
        for part in [
            ">/\\${x}<",
            ">/posts?board=1&amp;page=${__Random(1,500,)}&amp;x=1<",
            ">/${__V(endpoint3_${__Random(1,2,)})}<",
            ">a?x=\\${__P(USER)}&amp;y=\\\\<",
            "<stringProp name=\"ThroughputController.percentThroughput\">30.0000<",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}
