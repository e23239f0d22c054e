//! What scripts answered in JMeter 5.6.3, each in a sampler of its own, and in the Groovy 3.0.20
//! that it brings along.
//!
//! `tests/answers.jsonl` holds JMeter's results as they were saved: response code, message and
//! body. `tests/groovy.jsonl` holds what Groovy's shell gave, in the same form.
//! Where a script throws, the class of the exception has to be the same; its words are those of
//! Groovy's or `BeanShell`'s insides, and are not compared.

use serde::Deserialize;
use weir_snippet::{
    Bindings, Failure, Language, Place, Program, Sample, SamplerView, State, Value,
};

use crate::host::World;

#[derive(Debug, Deserialize)]
struct Fact {
    language: String,
    script: String,
    code: String,
    message: String,
    body: String,
    #[serde(default)]
    differs: Option<String>,
}

struct Done {
    code: String,
    message: String,
    body: String,
}

fn run(fact: &Fact, label: &str) -> Done {
    let language = Language::named(&fact.language).unwrap();
    let failed = |message: String| Done {
        code: "500".to_owned(),
        message,
        body: String::new(),
    };
    let program = match Program::parse(&fact.script, language) {
        Ok(program) => program,
        Err(error) => return failed(error.to_string()),
    };
    let mut world = World::default();
    for (name, value) in [("va", "x"), ("num", "7"), ("bb", "q"), ("v1", "one")] {
        world.variables.insert(name.to_owned(), value.to_owned());
    }
    let mut bindings = Bindings {
        place: Place::Sampler,
        label: label.to_owned(),
        parameters: "p q".to_owned(),
        own: Some(Sample {
            code: "200".into(),
            message: "OK".into(),
            success: true,
            start_ms: 1_790_000_000_000,
            ..Sample::default()
        }),
        previous: Some(Sample::default()),
        sampler: Some(SamplerView {
            name: label.to_owned(),
            ..SamplerView::default()
        }),
        ..Bindings::default()
    };
    let mut state = State::default();
    if language == Language::BeanShell {
        state.set("ResponseCode", Value::text("200"));
        state.set("ResponseMessage", Value::text("OK"));
    }
    let done = program.run(&mut world, &mut bindings, &mut state);
    let own = bindings.own.unwrap();
    let name = |name: &str, otherwise: &str| match state.get(name) {
        Some(value) => value.to_text(),
        None => otherwise.to_owned(),
    };
    match done {
        Ok(value) => Done {
            code: name("ResponseCode", &own.code),
            message: name("ResponseMessage", &own.message),
            body: if value.is_null() {
                String::new()
            } else {
                value.to_text()
            },
        },
        Err(failure @ Failure::Thrown(_)) => failed(failure.to_string()),
        Err(other) => failed(format!("{other}")),
    }
}

/// The class of an exception in a message of JMeter.
fn exception(message: &str) -> Option<&str> {
    let words = message.split([' ', ':', '\t', '\n', '(']);
    words
        .filter(|word| word.contains('.'))
        .filter(|word| word.ends_with("Exception") || word.ends_with("Error"))
        .find(|word| !word.starts_with("javax.script.") && !word.starts_with("org.apache.jorphan."))
}

#[test]
fn scripts_answer_as_in_jmeter() {
    let facts = [
        include_str!("../answers.jsonl"),
        include_str!("../groovy.jsonl"),
    ];
    let facts = facts.concat();
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in facts.lines() {
        let fact: Fact = serde_json::from_str(line).unwrap();
        let done = run(&fact, &format!("G{count}"));
        count += 1;
        let same = if fact.code == "500" && done.code == "500" {
            exception(&fact.message).is_none()
                || done.message.contains("Weir does not know")
                || exception(&fact.message) == exception(&done.message)
        } else {
            (&fact.code, &fact.message, &fact.body) == (&done.code, &done.message, &done.body)
        };
        if same == fact.differs.is_some() {
            wrong.push(format!(
                "{}: {}\n  JMeter {} {} {}\n  here   {} {} {}\n  {:?}",
                fact.language,
                fact.script,
                fact.code,
                fact.message.chars().take(200).collect::<String>(),
                fact.body,
                done.code,
                done.message,
                done.body,
                fact.differs
            ));
        }
    }
    assert!(count > 200);
    assert!(
        wrong.is_empty(),
        "{} wrong\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
