//! Samplers that send no HTTP.

use weir_plan::{Dummy, FlowAction, FlowControl, JavaTest, SamplerKind, Template};

use crate::element::Element;
use crate::elements::{arguments, script};

const JAVA_TEST: &str = "org.apache.jmeter.protocol.java.test.JavaTest";
const SLEEP_TEST: &str = "org.apache.jmeter.protocol.java.test.SleepTest";

/// What a sampler of this class does.
///
/// # Errors
/// What is not supported of it; an empty text if it is none of these samplers.
pub(crate) fn read(element: &Element<'_>) -> Result<SamplerKind, String> {
    match element.class() {
        "TestAction" => flow_control(element).map(SamplerKind::FlowControl),
        "kg.apc.jmeter.control.sampler.SetVariablesAction" => {
            let list = element.element("SetVariablesAction");
            let variables = list.as_ref().map(arguments::variables);
            Ok(SamplerKind::SetVariables(variables.unwrap_or_default()))
        }
        "DebugSampler" => Ok(SamplerKind::Debug {
            variables: element.is("displayJMeterVariables"),
            properties: element.is("displayJMeterProperties"),
        }),
        "JavaSampler" => java_test(element).map(|test| SamplerKind::JavaTest(Box::new(test))),
        "kg.apc.jmeter.samplers.DummySampler" => Ok(SamplerKind::Dummy(Box::new(dummy(element)))),
        class if script::is_script(class) => {
            Ok(SamplerKind::Script(Box::new(script::read(element))))
        }
        _ => Err(String::new()),
    }
}

fn flow_control(element: &Element<'_>) -> Result<FlowControl, String> {
    let action = match element.number("ActionProcessor.action").unwrap_or(0) {
        0 => FlowAction::Stop,
        1 => FlowAction::Pause,
        2 => FlowAction::StopNow,
        3 => FlowAction::StartNextGroupLoop,
        4 => FlowAction::StartNextLoop,
        5 => FlowAction::BreakLoop,
        other => return Err(format!("its action is {other}, which JMeter does not know")),
    };
    Ok(FlowControl {
        action,
        whole_test: element.number("ActionProcessor.target") == Some(2),
        pause_ms: element.text_or_empty("ActionProcessor.duration"),
    })
}

/// Arguments of the element, or the test's own where one is missing.
fn java_test(element: &Element<'_>) -> Result<JavaTest, String> {
    let class = element.text_or_empty("classname").text;
    let is_sleep_test = match &*class {
        JAVA_TEST => false,
        SLEEP_TEST => true,
        _ => return Err(format!("it runs the Java class {class}")),
    };
    let arguments = element.element("arguments");
    let entries = arguments.map(|list| list.collection("Arguments.arguments"));
    let entries = entries.unwrap_or_default();
    let argument = |name: &str, default: &str| -> Template {
        let named = entries
            .iter()
            .find(|entry| entry.text_or_empty("Argument.name").text == name);
        named.map_or_else(
            || Template {
                text: default.to_owned(),
                at: element.at(),
            },
            |entry| entry.text_or_empty("Argument.value"),
        )
    };
    let (sleep, mask) = if is_sleep_test {
        (
            argument("SleepTime", "1000"),
            argument("SleepMask", "0x3FF"),
        )
    } else {
        (
            argument("Sleep_Time", "100"),
            argument("Sleep_Mask", "0xFF"),
        )
    };
    Ok(JavaTest {
        sleep_ms: sleep,
        sleep_mask: mask,
        label: argument("Label", ""),
        response_code: argument("ResponseCode", ""),
        response_message: argument("ResponseMessage", ""),
        status: argument("Status", "OK"),
        sampler_data: argument("SamplerData", ""),
        result_data: argument("ResultData", ""),
        is_sleep_test,
    })
}

/// The plugin's own spelling is "SUCCESFULL".
fn dummy(element: &Element<'_>) -> Dummy {
    Dummy {
        waiting: element.is("WAITING"),
        successful: element.text_or("SUCCESFULL", "false"),
        response_code: element.text_or_empty("RESPONSE_CODE"),
        response_message: element.text_or_empty("RESPONSE_MESSAGE"),
        request_data: element.text_or_empty("REQUEST_DATA"),
        response_data: element.text_or_empty("RESPONSE_DATA"),
        response_time_ms: element.text_or_empty("RESPONSE_TIME"),
        latency_ms: element.text_or_empty("LATENCY"),
        connect_ms: element.text_or_empty("CONNECT"),
        url: element.text_or_empty("URL"),
    }
}
