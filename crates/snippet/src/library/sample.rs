//! `prev` and `SampleResult`.

use std::rc::Rc;
use std::sync::Arc;

use weir_charset::Charset;

use super::{bytes_of, integer, jmeter, made_bytes, text_of, url};
use crate::Value;
use crate::class::{Answer, Class, Routine, between, routine};
use crate::host::{Ends, Sample};
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
        Some(Thing::Part { of_own, places }) => {
            let whole = if *of_own {
                bindings.own.as_mut()
            } else {
                bindings.previous.as_mut()
            };
            places
                .iter()
                .fold(whole, |whole, at| whole?.parts.get_mut(*at))
        }
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
        let bytes = sample(machine, of)?.bytes().to_vec();
        made_bytes(machine, &bytes)
    }),
    routine("getResponseHeaders", 0, |machine, of, _| {
        text(machine, of, |of| &of.response_headers)
    }),
    routine("getRequestHeaders", 0, |machine, of, _| {
        text(machine, of, |of| &of.request_headers)
    }),
    routine("getSamplerData", 0, |machine, of, _| {
        let data = Arc::clone(&sample(machine, of)?.request_data);
        Ok(some_text(data))
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
    routine("getDataEncodingNoDefault", 0, |machine, of, _| {
        let encoding = Arc::clone(&sample(machine, of)?.encoding);
        Ok(some_text(encoding))
    }),
    routine("getDataEncodingWithDefault", 0, |machine, of, _| {
        let encoding = Arc::clone(&sample(machine, of)?.encoding);
        Ok(if encoding.is_empty() {
            Value::text("UTF-8")
        } else {
            Value::Text(encoding)
        })
    }),
    routine("getHTTPMethod", 0, |machine, of, _| {
        text(machine, of, |of| &of.method)
    }),
    routine("getQueryString", 0, |machine, of, _| {
        text(machine, of, |of| &of.query)
    }),
    routine("getCookies", 0, |machine, of, _| {
        text(machine, of, |of| &of.cookies)
    }),
    routine("toString", 0, |machine, of, _| {
        text(machine, of, |of| &of.label)
    }),
    routine("getDataType", 0, |machine, of, _| {
        text(machine, of, |of| &of.data_type)
    }),
    routine("getUrlAsString", 0, |machine, of, _| {
        text(machine, of, |of| &of.url)
    }),
    routine("getURL", 0, |machine, of, _| {
        let text = Arc::clone(&sample(machine, of)?.url);
        if text.is_empty() {
            return Ok(Value::Null);
        }
        url::read(machine, &text)
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
    routine("getBodySizeAsLong", 0, |machine, of, _| {
        number(machine, of, |of| {
            of.received_bytes.saturating_sub(of.header_bytes)
        })
    }),
    routine("getBodySize", 0, |machine, of, _| {
        number(machine, of, |of| {
            of.received_bytes.saturating_sub(of.header_bytes)
        })
    }),
    routine("getHeadersSize", 0, |machine, of, _| {
        number(machine, of, |of| of.header_bytes)
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
        let judgements = &sample(machine, of)?.judgements;
        let first = judgements.iter().find(|judgement| judgement.failure);
        let message = first.and_then(|first| first.message.clone());
        Ok(message.map_or(Value::Null, Value::text))
    }),
    routine("getAssertionResults", 0, |machine, of, _| {
        let judgements = sample(machine, of)?.judgements.clone();
        machine.takes_bytes(judgements.len() * size_of::<Value>())?;
        let results = judgements
            .into_iter()
            .map(|judgement| Value::thing(Thing::Judgement(Rc::new(judgement))));
        Ok(Value::array("AssertionResult", results.collect()))
    }),
    routine("getSubResults", 0, |machine, of, _| {
        let count = sample(machine, of)?.parts.len();
        machine.takes_bytes(count * size_of::<Value>())?;
        let (of_own, above): (bool, &[usize]) = match of.as_thing() {
            Some(Thing::Part { of_own, places }) => (*of_own, places),
            other => (matches!(other, Some(Thing::Own)), &[]),
        };
        let parts = (0..count).map(|at| {
            let places = above.iter().copied().chain([at]).collect();
            Value::thing(Thing::Part { of_own, places })
        });
        Ok(Value::array("SampleResult", parts.collect()))
    }),
];

/// A text, or nothing where there is none.
fn some_text(text: Arc<str>) -> Value {
    if text.is_empty() {
        Value::Null
    } else {
        Value::Text(text)
    }
}

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

/// Bytes, or a text in the sample's character set or in one that is named, which is the sample's
/// then. A name that nobody knows is that of UTF-8, as in JMeter.
fn set_body(machine: &mut Machine<'_>, of: &Value, arguments: &[Value]) -> Answer {
    const DEFAULT: &str = "UTF-8";
    let known = |name: &str| Charset::named(name).ok();
    let named = match (&arguments[0], arguments.get(1)) {
        (Value::Text(_), Some(named)) if !named.is_null() => {
            let name = text_of(named)?;
            let is_known = known(&name).is_some();
            Some(if is_known { name } else { DEFAULT.into() })
        }
        (Value::Text(_), Some(_)) => Some(DEFAULT.into()),
        _ => None,
    };
    let sample = sample(machine, of)?;
    if let Some(named) = named {
        sample.encoding = named;
    }
    let charset = known(&sample.encoding).unwrap_or_default();
    let bytes = match &arguments[0] {
        Value::Text(text) => charset.encode(text).into_owned(),
        bytes => bytes_of(bytes)?,
    };
    sample.body = charset.decode(&bytes).into();
    sample.data = (sample.body.as_bytes() != bytes).then(|| bytes.into());
    sample.changed = true;
    Ok(Value::Void)
}

/// Ends what a sample asks for: one that is over has nothing to ask.
fn ends(machine: &mut Machine<'_>, of: &Value, wish: Ends) {
    let is_own = matches!(of.as_thing(), Some(Thing::Own));
    if is_own || machine.place().is_in_sample() {
        jmeter::ends(machine, wish);
    }
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
    routine("setDataEncoding", 1, |machine, of, to| {
        set(machine, of, &to[0], |of| &mut of.encoding)
    }),
    routine("setSentBytes", 1, |machine, of, to| {
        let bytes = u64::try_from(integer(&to[0])?).unwrap_or(0);
        let sample = sample(machine, of)?;
        sample.sent_bytes = bytes;
        sample.changed = true;
        Ok(Value::Void)
    }),
    // JMeter counts what head and body have, and what is set only where they have nothing.
    routine("setBytes", 1, |_, _, to| match integer(&to[0])? {
        0 => Ok(Value::Void),
        _ => Err(Stop::unknown("setting the bytes that were received")),
    }),
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
    routine("setStopThread", 1, |machine, of, to| {
        if is_set(&to[0]) {
            ends(machine, of, Ends::User);
        }
        Ok(Value::Void)
    }),
    routine("setStopTest", 1, |machine, of, to| {
        if is_set(&to[0]) {
            ends(machine, of, Ends::Test);
        }
        Ok(Value::Void)
    }),
    routine("setStopTestNow", 1, |machine, of, to| {
        if is_set(&to[0]) {
            ends(machine, of, Ends::TestNow);
        }
        Ok(Value::Void)
    }),
    routine("setStartNextThreadLoop", 1, |machine, of, to| {
        if is_set(&to[0]) {
            ends(machine, of, Ends::GroupIteration);
        }
        Ok(Value::Void)
    }),
    routine("setTestLogicalAction", 1, |machine, of, to| {
        if let Some(wish) = jmeter::logical_action(&to[0])? {
            ends(machine, of, wish);
        }
        Ok(Value::Void)
    }),
];
