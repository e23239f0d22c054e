//! What Groovy 3.0.20, which JMeter 5.6.3 brings along, makes of `java.time` on Java 17 with the
//! time zone UTC and the language English.
//!
//! `java_time.jsonl` was written by Groovy's own shell; code 500 is an exception.

#![expect(clippy::unwrap_used, reason = "tests")]

use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::Value;
use weir_plan::{Position, Template};
use weir_script::{Changes, GlobalVariables, Properties, Scope, Text, Variables};

fn run(script: &str) -> Result<String, String> {
    let mut properties = Properties::new();
    properties.set("user.timezone", "UTC");
    let globals = GlobalVariables::new(&properties, None);
    let template = Template {
        text: "${__groovy(${script})}".to_owned(),
        at: Position::default(),
    };
    let mut changes = Changes::default();
    changes.variables.add_all();
    let text = Text::compile(&template, &globals, changes).unwrap();
    let mut variables = Variables::new(globals);
    variables.set("script", script);
    let random = Xoshiro256PlusPlus::seed_from_u64(7);
    let mut user = Scope::new(variables, 1, "G".into(), random);
    let answer = text.rendered(&mut user);
    match user.beyond {
        Some(says) => Err(*says),
        None => Ok(answer),
    }
}

#[test]
fn dates_and_times_are_those_of_java() {
    let mut wrong = Vec::new();
    for line in include_str!("../java_time.jsonl").lines() {
        let fact: Value = serde_json::from_str(line).unwrap();
        let script = fact["script"].as_str().unwrap();
        // Where Weir says that it does not know, on purpose: why.
        let differs = fact.get("differs").is_some();
        let done = run(script);
        let same = match &done {
            // A script that throws gives nothing.
            Ok(answer) => Some(&**answer) == fact["body"].as_str() && !differs,
            Err(_) => differs,
        };
        if !same {
            wrong.push(format!("{fact}\n    {done:?}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
