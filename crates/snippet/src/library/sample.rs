//! `prev` and `SampleResult`.

use std::sync::Arc;

use super::{bytes_of, integer, jmeter, text_of};
use crate::Value;
use crate::class::{Answer, Class, Routine, between, routine};
use crate::host::{Ends, Judgement, Sample};
use crate::machine::{Machine, Stop};
use crate::value::Thing;

pub(super) static RESULT: Class = Class {
    methods: &[READ, WRITE],
    ..Class::named("org.apache.jmeter.samplers.SampleResult")
};

fn sample<'m>(machine: &'m mut Machine<'_>, of: &Value) -> Result<&'m mut Sample, Stop> {
    let bindings = &mut *machine.bindings;
    let sample = match of.as_thing() {
        Some(Thing::Own) => bindings.own.as_mut(),
        _ => bindings.previous.as_mut(),
    };
    sample.ok_or_else(|| Stop::null_pointer("there is no sample"))
}

fn text(machine: &mut Machine<'_>, of: &Value, read: fn(&Sample) -> &Arc<str>) -> Answer {
    Ok(Value::Text(Arc::clone(read(sample(machine, of)?))))
}

fn number(machine: &mut Machine<'_>, of: &Value, read: fn(&Sample) -> u64) -> Answer {
    let number = read(sample(machine, of)?);
    Ok(Value::Long(i64::try_from(number).unwrap_or(i64::MAX)))
}

const READ: &[Routine] = &[
    routine("getResponseCode", 0, |machine, of, _| {
        text(machine, of, |of| &of.code)
    }),
    routine("getResponseMessage", 0, |machine, of, _| {
        text(machine, of, |of| &of.message)
    }),
    routine("getResponseDataAsString", 0, |machine, of, _| {
        text(machine, of, |of| &of.body)
    }),
    routine("getResponseData", 0, |machine, of, _| {
        let body = Arc::clone(&sample(machine, of)?.body);
        machine.takes_bytes(body.len() * size_of::<Value>())?;
        Ok(Value::bytes(body.as_bytes()))
    }),
    routine("getResponseHeaders", 0, |machine, of, _| {
        text(machine, of, |of| &of.response_headers)
    }),
    routine("getRequestHeaders", 0, |machine, of, _| {
        text(machine, of, |of| &of.request_headers)
    }),
    routine("getSamplerData", 0, |machine, of, _| {
        text(machine, of, |of| &of.request_data)
    }),
    routine("getSampleLabel", 0, |machine, of, _| {
        text(machine, of, |of| &of.label)
    }),
    routine("getThreadName", 0, |machine, of, _| {
        text(machine, of, |of| &of.thread_name)
    }),
    routine("getContentType", 0, |machine, of, _| {
        text(machine, of, |of| &of.content_type)
    }),
    routine("getMediaType", 0, |machine, of, _| {
        text(machine, of, |of| &of.content_type)
    }),
    routine("getDataType", 0, |machine, of, _| {
        text(machine, of, |of| &of.data_type)
    }),
    routine("getUrlAsString", 0, |machine, of, _| {
        text(machine, of, |of| &of.url)
    }),
    routine("getURL", 0, |machine, of, _| {
        let url = Arc::clone(&sample(machine, of)?.url);
        Ok(if url.is_empty() {
            Value::Null
        } else {
            Value::Text(url)
        })
    }),
    routine("isSuccessful", 0, |machine, of, _| {
        Ok(Value::Bool(sample(machine, of)?.success))
    }),
    routine("isResponseCodeOK", 0, |machine, of, _| {
        let code = sample(machine, of)?.code.parse::<u32>();
        Ok(Value::Bool(
            code.is_ok_and(|code| (200..400).contains(&code)),
        ))
    }),
    routine("getTime", 0, |machine, of, _| {
        number(machine, of, |of| of.elapsed_ms)
    }),
    routine("getLatency", 0, |machine, of, _| {
        number(machine, of, |of| of.latency_ms)
    }),
    routine("getConnectTime", 0, |machine, of, _| {
        number(machine, of, |of| of.connect_ms)
    }),
    routine("getIdleTime", 0, |machine, of, _| {
        number(machine, of, |of| of.idle_ms)
    }),
    routine("getStartTime", 0, |machine, of, _| {
        number(machine, of, |of| of.start_ms)
    }),
    routine("getTimeStamp", 0, |machine, of, _| {
        number(machine, of, |of| of.start_ms)
    }),
    routine("getEndTime", 0, |machine, of, _| {
        number(machine, of, |of| of.start_ms + of.elapsed_ms)
    }),
    routine("getBytesAsLong", 0, |machine, of, _| {
        number(machine, of, |of| of.received_bytes)
    }),
    routine("getBytes", 0, |machine, of, _| {
        number(machine, of, |of| of.received_bytes)
    }),
    routine("getSentBytes", 0, |machine, of, _| {
        number(machine, of, |of| of.sent_bytes)
    }),
    routine("getGroupThreads", 0, |machine, of, _| {
        number(machine, of, |of| u64::from(of.group_threads))
    }),
    routine("getAllThreads", 0, |machine, of, _| {
        number(machine, of, |of| u64::from(of.all_threads))
    }),
    routine("getErrorCount", 0, |machine, of, _| {
        number(machine, of, |of| u64::from(!of.success))
    }),
    routine("getSampleCount", 0, |_, _, _| Ok(Value::Int(1))),
    routine("getFirstAssertionFailureMessage", 0, |machine, of, _| {
        let failures = &sample(machine, of)?.failures;
        let first = failures.iter().find_map(|failure| failure.message.clone());
        Ok(first.map_or(Value::Null, Value::text))
    }),
];

/// Changes a field that is a text.
fn set(
    machine: &mut Machine<'_>,
    of: &Value,
    to: &Value,
    field: fn(&mut Sample) -> &mut Arc<str>,
) -> Answer {
    let to = match to {
        Value::Null | Value::Void => "".into(),
        other => other.to_shared_text(),
    };
    machine.takes_bytes(to.len())?;
    let sample = sample(machine, of)?;
    *field(sample) = to;
    sample.changed = true;
    Ok(Value::Void)
}

fn set_body(machine: &mut Machine<'_>, of: &Value, arguments: &[Value]) -> Answer {
    let body = match &arguments[0] {
        Value::Text(text) => Arc::clone(text),
        bytes => String::from_utf8_lossy(&bytes_of(bytes)?).into(),
    };
    let sample = sample(machine, of)?;
    sample.body = body;
    sample.changed = true;
    Ok(Value::Void)
}

fn is_set(value: &Value) -> bool {
    matches!(value, Value::Bool(true)) || value.to_text() == "true"
}

const WRITE: &[Routine] = &[
    routine("setResponseCode", 1, |machine, of, to| {
        set(machine, of, &to[0], |of| &mut of.code)
    }),
    routine("setResponseCodeOK", 0, |machine, of, _| {
        set(machine, of, &Value::text("200"), |of| &mut of.code)
    }),
    routine("setResponseMessage", 1, |machine, of, to| {
        set(machine, of, &to[0], |of| &mut of.message)
    }),
    routine("setResponseMessageOK", 0, |machine, of, _| {
        set(machine, of, &Value::text("OK"), |of| &mut of.message)
    }),
    routine("setResponseOK", 0, |machine, of, _| {
        set(machine, of, &Value::text("200"), |of| &mut of.code)?;
        set(machine, of, &Value::text("OK"), |of| &mut of.message)?;
        sample(machine, of)?.success = true;
        Ok(Value::Void)
    }),
    between("setResponseData", 1, 2, set_body),
    routine("setResponseHeaders", 1, |machine, of, to| {
        set(machine, of, &to[0], |of| &mut of.response_headers)
    }),
    routine("setRequestHeaders", 1, |machine, of, to| {
        set(machine, of, &to[0], |of| &mut of.request_headers)
    }),
    routine("setSamplerData", 1, |machine, of, to| {
        set(machine, of, &to[0], |of| &mut of.request_data)
    }),
    routine("setSampleLabel", 1, |machine, of, to| {
        set(machine, of, &to[0], |of| &mut of.label)
    }),
    routine("setThreadName", 1, |machine, of, to| {
        set(machine, of, &to[0], |of| &mut of.thread_name)
    }),
    routine("setContentType", 1, |machine, of, to| {
        set(machine, of, &to[0], |of| &mut of.content_type)
    }),
    routine("setDataType", 1, |machine, of, to| {
        set(machine, of, &to[0], |of| &mut of.data_type)
    }),
    routine("setDataEncoding", 1, |_, _, _| Ok(Value::Void)),
    routine("setSuccessful", 1, |machine, of, to| {
        let success = is_set(&to[0]);
        let sample = sample(machine, of)?;
        sample.success = success;
        sample.changed = true;
        Ok(Value::Void)
    }),
    routine("setIgnore", 0, |machine, of, _| {
        let sample = sample(machine, of)?;
        sample.ignored = true;
        sample.changed = true;
        Ok(Value::Void)
    }),
    routine("setLatency", 1, |machine, of, to| {
        let ms = u64::try_from(integer(&to[0])?).unwrap_or(0);
        let sample = sample(machine, of)?;
        sample.latency_ms = ms;
        sample.changed = true;
        Ok(Value::Void)
    }),
    routine("setStopThread", 1, |machine, _, to| {
        if is_set(&to[0]) {
            jmeter::ends(machine, Ends::User);
        }
        Ok(Value::Void)
    }),
    routine("setStopTest", 1, |machine, _, to| {
        if is_set(&to[0]) {
            jmeter::ends(machine, Ends::Test);
        }
        Ok(Value::Void)
    }),
    routine("setStopTestNow", 1, |machine, _, to| {
        if is_set(&to[0]) {
            jmeter::ends(machine, Ends::TestNow);
        }
        Ok(Value::Void)
    }),
    routine("setFailureMessage", 1, |machine, of, to| {
        // BeanShell assertions and old scripts say it of the sample.
        let message = text_of(&to[0])?.to_string();
        let sample = sample(machine, of)?;
        sample.failures.push(Judgement {
            failure: true,
            error: false,
            message: Some(message),
        });
        sample.changed = true;
        Ok(Value::Void)
    }),
];
