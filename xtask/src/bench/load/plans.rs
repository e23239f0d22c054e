//! The plans of the bench, in JMeter's format, so that JMeter runs the same file.

use std::time::Duration;

/// Samplers of the large plan; together with their header managers about a megabyte.
const LARGE_SAMPLERS: u32 = 400;

/// Users who ask as fast as they can.
pub(crate) fn hurried(port: u16, users: u32, length: Duration) -> String {
    plan(users, 0, length, &sampler(port, "/", ""))
}

/// Users who think for two seconds, more or less, before each request.
pub(crate) fn thinking(port: u16, users: u32, length: Duration) -> String {
    let timer = "        <GaussianRandomTimer testname=\"Think\" enabled=\"true\">
          <stringProp name=\"ConstantTimer.delay\">2000</stringProp>
          <stringProp name=\"RandomTimer.range\">500</stringProp>
        </GaussianRandomTimer>
        <hashTree/>
";
    plan(users, 1, length, &sampler(port, "/", timer))
}

/// One user of a plan of about a megabyte.
pub(crate) fn large(port: u16) -> String {
    let field = |number: u32| {
        format!(
            "              <elementProp name=\"\" elementType=\"Header\">
                <stringProp name=\"Header.name\">X-Field-{number}</stringProp>
                <stringProp name=\"Header.value\">what a recorded request carries along: {number:040}</stringProp>
              </elementProp>
"
        )
    };
    let fields: String = (0..8).map(field).collect();
    let headers = format!(
        "        <HeaderManager testname=\"Fields\" enabled=\"true\">
          <collectionProp name=\"HeaderManager.headers\">
{fields}          </collectionProp>
        </HeaderManager>
        <hashTree/>
"
    );
    let samplers: String = (0..LARGE_SAMPLERS)
        .map(|number| sampler(port, &format!("/page/{number}"), &headers))
        .collect();
    plan(1, 0, Duration::from_secs(60), &samplers)
}

fn plan(users: u32, ramp_up_s: u32, length: Duration, samplers: &str) -> String {
    let length_s = length.as_secs();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<jmeterTestPlan version=\"1.2\" properties=\"5.0\" jmeter=\"5.6.3\">
  <hashTree>
    <TestPlan guiclass=\"TestPlanGui\" testclass=\"TestPlan\" testname=\"Bench\" enabled=\"true\"/>
    <hashTree>
      <ThreadGroup guiclass=\"ThreadGroupGui\" testclass=\"ThreadGroup\" testname=\"Users\" enabled=\"true\">
        <stringProp name=\"ThreadGroup.on_sample_error\">continue</stringProp>
        <elementProp name=\"ThreadGroup.main_controller\" elementType=\"LoopController\" guiclass=\"LoopControlPanel\" testclass=\"LoopController\" testname=\"Loop\" enabled=\"true\">
          <boolProp name=\"LoopController.continue_forever\">false</boolProp>
          <intProp name=\"LoopController.loops\">-1</intProp>
        </elementProp>
        <stringProp name=\"ThreadGroup.num_threads\">{users}</stringProp>
        <stringProp name=\"ThreadGroup.ramp_time\">{ramp_up_s}</stringProp>
        <boolProp name=\"ThreadGroup.scheduler\">true</boolProp>
        <stringProp name=\"ThreadGroup.duration\">{length_s}</stringProp>
        <stringProp name=\"ThreadGroup.delay\"></stringProp>
      </ThreadGroup>
      <hashTree>
{samplers}      </hashTree>
    </hashTree>
  </hashTree>
</jmeterTestPlan>
"
    )
}

fn sampler(port: u16, path: &str, children: &str) -> String {
    format!(
        "        <HTTPSamplerProxy guiclass=\"HttpTestSampleGui\" testclass=\"HTTPSamplerProxy\" testname=\"{path}\" enabled=\"true\">
          <elementProp name=\"HTTPsampler.Arguments\" elementType=\"Arguments\" guiclass=\"HTTPArgumentsPanel\" testclass=\"Arguments\" enabled=\"true\">
            <collectionProp name=\"Arguments.arguments\"/>
          </elementProp>
          <stringProp name=\"HTTPSampler.domain\">127.0.0.1</stringProp>
          <stringProp name=\"HTTPSampler.port\">{port}</stringProp>
          <stringProp name=\"HTTPSampler.protocol\">http</stringProp>
          <stringProp name=\"HTTPSampler.path\">{path}</stringProp>
          <stringProp name=\"HTTPSampler.method\">GET</stringProp>
          <boolProp name=\"HTTPSampler.follow_redirects\">false</boolProp>
          <boolProp name=\"HTTPSampler.auto_redirects\">false</boolProp>
          <boolProp name=\"HTTPSampler.use_keepalive\">true</boolProp>
        </HTTPSamplerProxy>
        <hashTree>
{children}        </hashTree>
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_large_plan_is_large() {
        let bytes = large(80).len();
        assert!((1_000_000..3_000_000).contains(&bytes), "{bytes}");
    }
}
