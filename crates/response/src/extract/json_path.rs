//! The plugin's JSON Path Extractor, measured with its version 1.4.0 in JMeter 5.6.3.

use weir_plan::JsonPathExtractor;

use super::saved::set_count;
use crate::json::{Found, Json, Value};
use crate::{Patterns, SampleView, Variables};

pub(super) fn extract(
    element: &JsonPathExtractor<String>,
    sample: &SampleView<'_>,
    variables: &mut dyn Variables,
    patterns: &mut Patterns,
) {
    let parsed;
    let document = match &element.subject {
        None => sample.json().ok(),
        Some(name) => {
            parsed = variables.get(name).and_then(|text| Json::parse(text).ok());
            parsed.as_ref()
        }
    };
    let found = document.and_then(|document| {
        let path = patterns.json_path(&element.path).ok()?;
        match path.read_in(document).ok()? {
            Found::One(value) => Some(value.into_json()),
            Found::Many(found) => {
                let found = found.into_iter().map(Value::into_json);
                Some(Json::Array(found.collect()))
            }
        }
    });
    // What earlier samples left in numbered variables stays, unless there is another list.
    let name = &element.variable;
    match found {
        Some(Json::Array(items)) if !items.is_empty() => save_list(name, items, variables),
        None | Some(Json::Array(_)) => variables.set(name, &element.default),
        Some(value) => variables.set(name, &value.to_java()),
    }
}

fn save_list(name: &str, items: Vec<Json>, variables: &mut dyn Variables) {
    for n in 1_usize.. {
        let numbered = format!("{name}_{n}");
        if variables.get(&numbered).is_none() {
            break;
        }
        variables.remove(&numbered);
    }
    set_count(variables, name, items.len());
    for (n, item) in items.iter().enumerate() {
        variables.set(&format!("{name}_{}", n + 1), &item.to_java());
    }
    variables.set(name, &Json::Array(items).to_java());
}
