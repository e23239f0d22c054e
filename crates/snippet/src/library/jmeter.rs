//! What JMeter binds: `vars`, `props`, `ctx`, `log`, `sampler` and what hangs on them.

use super::variables::{PROPERTIES, VARIABLES, optional, set_property, text_property};
use super::{codec, int_value, integer, sample, text_of, thing};
use crate::Value;
use crate::class::{Answer, Class, Routine, between, routine};
use crate::host::{ArgumentView, Ends, Judgement, SamplerView};
use crate::machine::{Machine, Stop};
use crate::set_path::path_and_arguments;
use crate::value::Thing;

pub(super) const CLASSES: &[&Class] = &[
    &VARIABLES,
    &PROPERTIES,
    &CONTEXT,
    &LOGICAL_ACTION,
    &LOG,
    &STREAM,
    &SAMPLER,
    &JUDGEMENT,
    &EVENT,
    &BSH,
    &THREAD,
    &THREAD_GROUP,
    &ENGINE,
    &ARGUMENTS,
    &ARGUMENT,
    &HEADERS,
    &FILE_SERVER,
    &UTILITIES,
    &HEADER,
    &sample::RESULT,
];

pub(super) static LOG: Class = Class {
    methods: &[&[
        between("info", 1, 3, |machine, _, arguments| {
            log(machine, "INFO", arguments)
        }),
        between("warn", 1, 3, |machine, _, arguments| {
            log(machine, "WARN", arguments)
        }),
        between("error", 1, 3, |machine, _, arguments| {
            log(machine, "ERROR", arguments)
        }),
        between("debug", 1, 3, |machine, _, arguments| {
            log(machine, "DEBUG", arguments)
        }),
        between("trace", 1, 3, |machine, _, arguments| {
            log(machine, "TRACE", arguments)
        }),
        routine("isDebugEnabled", 0, |_, _, _| Ok(Value::Bool(false))),
        routine("isInfoEnabled", 0, |_, _, _| Ok(Value::Bool(true))),
    ]],
    ..Class::named("org.slf4j.Logger")
};

/// A text with `{}` where arguments go; an exception that is left over follows it.
fn log(machine: &mut Machine<'_>, level: &str, arguments: &[Value]) -> Answer {
    let mut text = arguments[0].to_text();
    for argument in &arguments[1..] {
        let argument = argument.to_text();
        if text.contains("{}") {
            text = text.replacen("{}", &argument, 1);
        } else {
            text.push(' ');
            text.push_str(&argument);
        }
    }
    machine.takes_bytes(text.len())?;
    machine.host.log(level, &text);
    Ok(Value::Null)
}

pub(super) static STREAM: Class = Class {
    methods: &[&[
        between("println", 0, 1, |machine, _, arguments| {
            let text = arguments.first().map(Value::to_text).unwrap_or_default();
            print(machine, &text);
            Ok(Value::Void)
        }),
        routine("print", 1, |machine, _, arguments| {
            print(machine, &arguments[0].to_text());
            Ok(Value::Void)
        }),
        between("printf", 1, crate::class::MANY, |machine, _, arguments| {
            let text = super::format::formatted(&text_of(&arguments[0])?, &arguments[1..])?;
            print(machine, &text);
            Ok(Value::Void)
        }),
        routine("flush", 0, |_, _, _| Ok(Value::Void)),
    ]],
    ..Class::named("java.io.PrintStream")
};

/// The output belongs to Weir's own view: what is printed goes to the log.
pub(super) fn print(machine: &mut Machine<'_>, text: &str) {
    machine.host.log("OUT", text);
}

pub(super) static BSH: Class = Class {
    constants: &[("args", |machine| super::names::arguments(machine))],
    ..Class::named("bsh.This")
};

pub(super) static CONTEXT: Class = Class {
    constants: &[("TestLogicalAction", |_| {
        Value::thing(Thing::Class(&LOGICAL_ACTION))
    })],
    statics: &[routine("getContext", 0, |_, _, _| {
        Ok(super::names::single(&CONTEXT))
    })],
    methods: &[&[
        routine("getThreadNum", 0, |machine, _, _| {
            Ok(int_value(machine.host.user().saturating_sub(1) as usize))
        }),
        routine("getVariables", 0, |_, _, _| {
            Ok(super::names::single(&VARIABLES))
        }),
        routine("getProperties", 0, |_, _, _| {
            Ok(super::names::single(&PROPERTIES))
        }),
        routine("getPreviousResult", 0, |machine, _, _| {
            Ok(match machine.bindings.previous {
                Some(_) => Value::thing(Thing::Previous),
                None => Value::Null,
            })
        }),
        routine("getCurrentSampler", 0, |machine, _, _| {
            Ok(match machine.bindings.sampler {
                Some(_) => super::names::single(&SAMPLER),
                None => Value::Null,
            })
        }),
        routine("getThread", 0, |_, _, _| Ok(super::names::single(&THREAD))),
        routine("getThreadGroup", 0, |_, _, _| {
            Ok(super::names::single(&THREAD_GROUP))
        }),
        routine("getEngine", 0, |_, _, _| Ok(super::names::single(&ENGINE))),
        routine("setStartNextThreadLoop", 1, |machine, _, arguments| {
            if arguments[0].to_text() == "true" {
                ends(machine, Ends::GroupIteration);
            }
            Ok(Value::Void)
        }),
        routine("setTestLogicalAction", 1, |machine, _, arguments| {
            if let Some(wish) = logical_action(&arguments[0])? {
                ends(machine, wish);
            }
            Ok(Value::Void)
        }),
    ]],
    ..Class::named("org.apache.jmeter.threads.JMeterContext")
};

/// What JMeter calls the way on, as the name of its enumeration's value.
static LOGICAL_ACTION: Class = Class {
    constants: &[
        ("CONTINUE", |_| Value::text("CONTINUE")),
        ("START_NEXT_ITERATION_OF_THREAD", |_| {
            Value::text("START_NEXT_ITERATION_OF_THREAD")
        }),
        ("START_NEXT_ITERATION_OF_CURRENT_LOOP", |_| {
            Value::text("START_NEXT_ITERATION_OF_CURRENT_LOOP")
        }),
        ("BREAK_CURRENT_LOOP", |_| Value::text("BREAK_CURRENT_LOOP")),
    ],
    ..Class::named("org.apache.jmeter.threads.JMeterContext.TestLogicalAction")
};

/// Where a value of that enumeration leads; `CONTINUE` leads on.
pub(super) fn logical_action(action: &Value) -> Result<Option<Ends>, Stop> {
    Ok(match &*text_of(action)? {
        "START_NEXT_ITERATION_OF_THREAD" => Some(Ends::GroupIteration),
        "START_NEXT_ITERATION_OF_CURRENT_LOOP" => Some(Ends::LoopIteration),
        "BREAK_CURRENT_LOOP" => Some(Ends::Loop),
        _ => None,
    })
}

/// Of several wishes the one that ends most counts.
pub(super) fn ends(machine: &mut Machine<'_>, wish: Ends) {
    let ends = &mut machine.bindings.ends;
    *ends = (*ends).max(Some(wish));
}

pub(super) static THREAD: Class = Class {
    methods: &[&[
        routine("getThreadName", 0, |machine, _, _| {
            Ok(Value::text(machine.bindings.thread_name.as_str()))
        }),
        routine("getName", 0, |machine, _, _| {
            Ok(Value::text(machine.bindings.thread_name.as_str()))
        }),
        routine("getThreadNum", 0, |machine, _, _| {
            Ok(int_value(machine.host.user().saturating_sub(1) as usize))
        }),
        routine("stop", 0, |machine, _, _| {
            ends(machine, Ends::User);
            Ok(Value::Void)
        }),
        routine("getThreadGroup", 0, |_, _, _| {
            Ok(super::names::single(&THREAD_GROUP))
        }),
    ]],
    ..Class::named("org.apache.jmeter.threads.JMeterThread")
};

static THREAD_GROUP: Class = Class {
    methods: &[&[routine("getName", 0, |machine, _, _| {
        Ok(Value::Text(machine.host.group()))
    })]],
    ..Class::named("org.apache.jmeter.threads.AbstractThreadGroup")
};

static ENGINE: Class = Class {
    methods: &[&[
        between("stopTest", 0, 1, |machine, _, arguments| {
            let is_now = matches!(arguments, [Value::Bool(true)]) || arguments.is_empty();
            ends(machine, if is_now { Ends::TestNow } else { Ends::Test });
            Ok(Value::Void)
        }),
        routine("askThreadsToStop", 0, |machine, _, _| {
            ends(machine, Ends::Test);
            Ok(Value::Void)
        }),
    ]],
    ..Class::named("org.apache.jmeter.engine.StandardJMeterEngine")
};

static FILE_SERVER: Class = Class {
    statics: &[routine("getFileServer", 0, |_, _, _| {
        Ok(super::names::single(&FILE_SERVER))
    })],
    methods: &[&[routine("getBaseDir", 0, |machine, _, _| {
        Ok(Value::text(machine.host.directory()))
    })]],
    ..Class::named("org.apache.jmeter.services.FileServer")
};

static UTILITIES: Class = Class {
    statics: &[
        routine("getProperty", 1, text_property),
        routine("getPropDefault", 2, text_property),
        routine("setProperty", 2, set_property),
    ],
    ..Class::named("org.apache.jmeter.util.JMeterUtils")
};

pub(super) static JUDGEMENT: Class = Class {
    methods: &[&[
        routine("setFailure", 1, |machine, _, arguments| {
            machine.bindings.judgement.failure = arguments[0].to_text() == "true";
            Ok(Value::Void)
        }),
        routine("setError", 1, |machine, _, arguments| {
            machine.bindings.judgement.error = arguments[0].to_text() == "true";
            Ok(Value::Void)
        }),
        routine("setFailureMessage", 1, |machine, _, arguments| {
            machine.bindings.judgement.message = Some(arguments[0].to_text());
            Ok(Value::Void)
        }),
        routine("setResultForFailure", 1, |machine, _, arguments| {
            let judgement = &mut machine.bindings.judgement;
            judgement.failure = true;
            judgement.error = false;
            judgement.message = Some(arguments[0].to_text());
            Ok(Value::Void)
        }),
        routine("setResultForNull", 0, |machine, _, _| {
            let judgement = &mut machine.bindings.judgement;
            judgement.failure = true;
            judgement.error = false;
            judgement.message = Some("Response was null".to_owned());
            Ok(Value::Void)
        }),
        routine("getName", 0, |machine, of, _| {
            Ok(match of.as_thing() {
                Some(Thing::Judgement(judgement)) => Value::text(judgement.name.as_str()),
                _ => Value::text(machine.bindings.label.as_str()),
            })
        }),
        routine("isFailure", 0, |machine, of, _| {
            Ok(Value::Bool(judgement(machine, of).failure))
        }),
        routine("isError", 0, |machine, of, _| {
            Ok(Value::Bool(judgement(machine, of).error))
        }),
        routine("getFailureMessage", 0, |machine, of, _| {
            Ok(optional(judgement(machine, of).message.clone()))
        }),
    ]],
    ..Class::named("org.apache.jmeter.assertions.AssertionResult")
};

pub(super) static EVENT: Class = Class {
    methods: &[&[
        routine("getResult", 0, |machine, _, _| {
            let bound = super::names::bound(machine, "sampleResult");
            Ok(bound.unwrap_or(Value::Null))
        }),
        routine("getThreadGroup", 0, |machine, _, _| {
            Ok(Value::Text(machine.host.group()))
        }),
    ]],
    ..Class::named("org.apache.jmeter.samplers.SampleEvent")
};

/// The judgement of this script, or one of an assertion before.
fn judgement<'m>(machine: &'m Machine<'_>, of: &'m Value) -> &'m Judgement {
    match of.as_thing() {
        Some(Thing::Judgement(judgement)) => judgement,
        _ => &machine.bindings.judgement,
    }
}

fn view<'m>(machine: &'m mut Machine<'_>) -> Result<&'m mut SamplerView, Stop> {
    let view = machine.bindings.sampler.as_mut();
    view.ok_or_else(|| Stop::null_pointer("there is no sampler"))
}

/// The sampler, if it is an HTTP request: others have not what those have.
fn http<'m>(machine: &'m mut Machine<'_>) -> Result<&'m mut SamplerView, Stop> {
    let view = view(machine)?;
    if view.class.is_empty() || view.class.ends_with("HTTPSamplerProxy") {
        return Ok(view);
    }
    Err(Stop::thrown(
        "groovy.lang.MissingMethodException",
        format!("No such method of {}", view.class),
    ))
}

/// What a getter of an HTTP request gives.
fn read(machine: &mut Machine<'_>, of: fn(&SamplerView) -> String) -> Answer {
    let text = of(http(machine)?);
    machine.text(text)
}

fn change(
    machine: &mut Machine<'_>,
    to: &Value,
    of: fn(&mut SamplerView) -> &mut String,
) -> Answer {
    let text = to.to_text();
    machine.takes_bytes(text.len())?;
    *of(http(machine)?) = text;
    Ok(Value::Void)
}

pub(super) static SAMPLER: Class = Class {
    methods: &[OF_SAMPLERS],
    ..Class::named("org.apache.jmeter.protocol.http.sampler.HTTPSamplerProxy")
};

const OF_SAMPLERS: &[Routine] = &[
    routine("getName", 0, |machine, _, _| {
        let name = view(machine)?.name.clone();
        machine.text(name)
    }),
    routine("setName", 1, |machine, _, to| {
        let name = to[0].to_text();
        machine.takes_bytes(name.len())?;
        view(machine)?.name = name;
        Ok(Value::Void)
    }),
    routine("getDomain", 0, |machine, _, _| {
        read(machine, |of| of.domain.clone())
    }),
    routine("setDomain", 1, |machine, _, to| {
        change(machine, &to[0], |of| &mut of.domain)
    }),
    routine("getPath", 0, |machine, _, _| {
        read(machine, |of| of.path.clone())
    }),
    routine("setPath", 1, |machine, _, to| {
        let path = to[0].to_text();
        machine.takes_bytes(path.len())?;
        let view = http(machine)?;
        let (path, arguments) =
            path_and_arguments(&view.method, &path).map_err(|error| codec::not_decoded(&error))?;
        view.path = path;
        view.arguments.extend(arguments);
        Ok(Value::Void)
    }),
    routine("getMethod", 0, |machine, _, _| {
        read(machine, |of| of.method.clone())
    }),
    routine("setMethod", 1, |machine, _, to| {
        change(machine, &to[0], |of| &mut of.method)
    }),
    routine("getProtocol", 0, |machine, _, _| {
        read(machine, |of| of.protocol.clone())
    }),
    routine("setProtocol", 1, |machine, _, to| {
        change(machine, &to[0], |of| &mut of.protocol)
    }),
    routine("getPort", 0, |machine, _, _| {
        let port = http(machine)?.port.trim().parse();
        Ok(Value::Int(port.unwrap_or(0)))
    }),
    routine("setPort", 1, |machine, _, to| {
        change(machine, &to[0], |of| &mut of.port)
    }),
    routine("getFollowRedirects", 0, |machine, _, _| {
        Ok(Value::Bool(http(machine)?.follow_redirects))
    }),
    routine("setFollowRedirects", 1, |machine, _, to| {
        let follows = to[0].to_text() == "true";
        let view = http(machine)?;
        view.follow_redirects = follows;
        Ok(Value::Void)
    }),
    routine("getAutoRedirects", 0, |machine, _, _| {
        Ok(Value::Bool(http(machine)?.auto_redirects))
    }),
    routine("setAutoRedirects", 1, |machine, _, to| {
        let follows = to[0].to_text() == "true";
        let view = http(machine)?;
        view.auto_redirects = follows;
        Ok(Value::Void)
    }),
    routine("getClass", 0, |machine, _, _| {
        let class = view(machine)?.class;
        Ok(Value::thing(Thing::ClassName(class.into())))
    }),
    routine("getArguments", 0, |machine, _, _| {
        http(machine)?;
        Ok(super::names::single(&ARGUMENTS))
    }),
    between("addArgument", 2, 3, |machine, _, arguments| {
        add_argument(machine, arguments, true)
    }),
    between("addEncodedArgument", 2, 3, |machine, _, arguments| {
        // JMeter keeps what came encoded as it is meant, and encodes it again.
        let name = codec::url_decoded(&arguments[0].to_text())?;
        let value = codec::url_decoded(&arguments[1].to_text())?;
        add_argument(machine, &[Value::text(name), Value::text(value)], true)
    }),
    between("addNonEncodedArgument", 2, 3, |machine, _, arguments| {
        let name = text_of(&arguments[0])?;
        let is_body = name.is_empty();
        add_argument(machine, arguments, false)?;
        http(machine)?.raw_body |= is_body;
        Ok(Value::Void)
    }),
    routine("setPostBodyRaw", 1, |machine, _, arguments| {
        let is_raw = arguments[0].to_text() == "true";
        let view = http(machine)?;
        view.raw_body = is_raw;
        Ok(Value::Void)
    }),
    routine("getHeaderManager", 0, |machine, _, _| {
        http(machine)?;
        Ok(super::names::single(&HEADERS))
    }),
    routine("getCookieManager", 0, |machine, _, _| {
        http(machine)?;
        Ok(super::cookies::manager(machine))
    }),
];

fn add_argument(machine: &mut Machine<'_>, arguments: &[Value], encode: bool) -> Answer {
    let name = arguments[0].to_text();
    let value = arguments[1].to_text();
    machine.takes_bytes(name.len() + value.len())?;
    let view = http(machine)?;
    let added = ArgumentView::added(name, value, encode);
    view.arguments.push(added);
    Ok(Value::Void)
}

static ARGUMENTS: Class = Class {
    methods: &[&[
        routine("getArgumentCount", 0, |machine, _, _| {
            Ok(int_value(view(machine)?.arguments.len()))
        }),
        routine("getArgument", 1, |machine, _, arguments| {
            let at = usize::try_from(integer(&arguments[0])?).unwrap_or(usize::MAX);
            Ok(if at < view(machine)?.arguments.len() {
                Value::thing(Thing::Argument(at))
            } else {
                Value::Null
            })
        }),
        between("addArgument", 2, 3, |machine, _, arguments| {
            add_argument(machine, arguments, false)
        }),
        routine("getArgumentsAsMap", 0, |machine, _, _| {
            let all = view(machine)?.arguments.clone();
            let map = Value::map(Vec::new());
            for argument in all {
                let (name, value) = (Value::text(argument.name), Value::text(argument.value));
                super::put(machine, &map, name, value)?;
            }
            Ok(map)
        }),
        routine("removeAllArguments", 0, clear_arguments),
        routine("clear", 0, clear_arguments),
        routine("removeArgument", 1, |machine, _, arguments| {
            let view = view(machine)?;
            match &arguments[0] {
                Value::Text(name) => view.arguments.retain(|known| *known.name != **name),
                at => {
                    let at = usize::try_from(integer(at)?).unwrap_or(usize::MAX);
                    if at < view.arguments.len() {
                        view.arguments.remove(at);
                    }
                }
            }
            Ok(Value::Void)
        }),
    ]],
    ..Class::named("org.apache.jmeter.config.Arguments")
};

fn clear_arguments(machine: &mut Machine<'_>, _: &Value, _: &[Value]) -> Answer {
    let view = view(machine)?;
    view.arguments.clear();
    Ok(Value::Void)
}

fn argument<'m>(machine: &'m mut Machine<'_>, of: &Value) -> Result<&'m mut ArgumentView, Stop> {
    let at = *thing!(of, Argument);
    let found = view(machine)?.arguments.get_mut(at);
    found.ok_or_else(|| Stop::null_pointer("the argument is gone"))
}

pub(super) static ARGUMENT: Class = Class {
    methods: &[&[
        routine("getName", 0, |machine, of, _| {
            let text = argument(machine, of)?.name.clone();
            machine.text(text)
        }),
        routine("getValue", 0, |machine, of, _| {
            let text = argument(machine, of)?.value.clone();
            machine.text(text)
        }),
        routine("setName", 1, |machine, of, to| {
            argument(machine, of)?.name = to[0].to_text();
            Ok(Value::Void)
        }),
        routine("setValue", 1, |machine, of, to| {
            let text = to[0].to_text();
            machine.takes_bytes(text.len())?;
            argument(machine, of)?.value = text;
            Ok(Value::Void)
        }),
    ]],
    ..Class::named("org.apache.jmeter.protocol.http.util.HTTPArgument")
};

static HEADER: Class = Class {
    make: Some(routine("Header", 2, |_, _, arguments| {
        let text = |value: &Value| Value::text(value.to_text());
        Ok(Value::entry(text(&arguments[0]), text(&arguments[1])))
    })),
    ..Class::named("org.apache.jmeter.protocol.http.control.Header")
};

static HEADERS: Class = Class {
    methods: &[&[
        routine("add", 1, |machine, _, arguments| {
            let header = thing!(arguments[0], Entry);
            let (name, value) = (header.0.to_text(), header.1.to_text());
            let view = view(machine)?;
            view.headers.push((name, value));
            Ok(Value::Void)
        }),
        routine("removeHeaderNamed", 1, |machine, _, arguments| {
            let name = text_of(&arguments[0])?;
            let view = view(machine)?;
            view.headers
                .retain(|(known, _)| !known.eq_ignore_ascii_case(&name));
            Ok(Value::Void)
        }),
        routine("getHeaders", 0, |machine, _, _| {
            let headers = view(machine)?.headers.clone().into_iter();
            let headers = headers.map(|(name, value)| (Value::text(name), Value::text(value)));
            let map = Value::map(headers.collect());
            let items = super::items(machine, &map)?;
            machine.list(items)
        }),
    ]],
    ..Class::named("org.apache.jmeter.protocol.http.control.HeaderManager")
};
