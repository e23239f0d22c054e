//! The JSON Assertion.

use weir_plan::JsonAssertion;

use crate::json::{Found, Json, Number, Value};
use crate::{AssertionOutcome, PatternError, Patterns, SampleView};

pub(super) fn check(
    element: &JsonAssertion<String>,
    sample: &SampleView<'_>,
    patterns: &mut Patterns,
) -> AssertionOutcome {
    if sample.text().is_empty() {
        return AssertionOutcome::nothing_there(&element.name);
    }
    let says = match (against(element, sample, patterns), element.invert) {
        (Err(says), false) => says,
        (Ok(()), true) => inverted(element),
        (Ok(()), false) | (Err(_), true) => {
            let mut outcome = AssertionOutcome::passed(&element.name);
            outcome.message = Some(String::new());
            return outcome;
        }
    };
    AssertionOutcome::failed(&element.name, says)
}

fn inverted(element: &JsonAssertion<String>) -> String {
    let path = &element.path;
    match (element.compare, element.expect_null) {
        (true, true) => format!("Failed that JSONPath {path} not matches null"),
        (true, false) => format!(
            "Failed that JSONPath {path} not matches {}",
            element.expected
        ),
        (false, _) => format!("Failed that JSONPath not exists: {path}"),
    }
}

/// What speaks against the body.
fn against(
    element: &JsonAssertion<String>,
    sample: &SampleView<'_>,
    patterns: &mut Patterns,
) -> Result<(), String> {
    let document = sample.json();
    let document =
        document.map_err(|says| format!("net.minidev.json.parser.ParseException: {says}"))?;
    if *document == Json::Null {
        return Err("json can not be null".into());
    }
    let path = patterns.json_path(&element.path);
    let path = path.map_err(|error| error.says().to_owned())?;
    let found = path.read_in(document);
    let value = match found.map_err(|error| error.says().to_owned())? {
        Found::One(value) => value.into_json(),
        Found::Many(found) if found.is_empty() && !element.compare => {
            return Err(format!(
                "JSONPath '{}' is indefinite and the extracted Value is an empty Array. Please use \
                 an assertion value, to be sure to get a correct result. Expected value was '{}'",
                element.path, element.expected
            ));
        }
        Found::Many(found) => Json::Array(found.into_iter().map(Value::into_json).collect()),
    };
    if !element.compare || is_expected(element, &value, patterns)? {
        return Ok(());
    }
    let start = format!("Value in json path '{}' expected to", element.path);
    if element.expect_null {
        let found = value.to_java();
        return Err(format!("{start} be null, but found '{found}'"));
    }
    let (expected, found) = (&element.expected, shown(&value));
    Err(if element.regex {
        format!("{start} match regexp '{expected}', but it did not match: '{found}'")
    } else {
        format!("{start} be '{expected}', but found '{found}'")
    })
}

/// Whether the value, or one item of an array, is what is expected.
fn is_expected(
    element: &JsonAssertion<String>,
    value: &Json,
    patterns: &mut Patterns,
) -> Result<bool, String> {
    let none = element.expect_null;
    match value {
        Json::Array(items) => {
            if items.is_empty() && element.expected == "[]" {
                return Ok(true);
            }
            for item in items {
                if none && *item == Json::Null || equals(element, item, patterns)? {
                    return Ok(true);
                }
            }
            equals(element, value, patterns)
        }
        Json::Null if none => Ok(true),
        _ => equals(element, value, patterns),
    }
}

fn equals(
    element: &JsonAssertion<String>,
    value: &Json,
    patterns: &mut Patterns,
) -> Result<bool, String> {
    if !element.regex {
        return Ok(Json::parse(&element.expected).is_ok_and(|expected| expected == *value));
    }
    let regex = patterns.regex(&element.expected);
    let regex = regex.map_err(malformed)?;
    regex
        .matches(&shown(value))
        .map_err(|error| malformed(&error))
}

/// What JMeter says about an expression that it cannot read.
pub(super) fn malformed(error: &PatternError) -> String {
    match error {
        PatternError::Malformed { pattern, says } => {
            format!("Invalid expression: {pattern}\n{says}")
        }
        PatternError::TooSlow { .. } => error.to_string(),
    }
}

/// The value as text: numbers with a fraction without exponent.
fn shown(value: &Json) -> String {
    match value {
        Json::Number(Number::Double(number)) if number.is_finite() => {
            let text = number.to_string();
            if text.contains('.') {
                text
            } else {
                text + ".0"
            }
        }
        _ => value.to_variable().unwrap_or_else(|| "null".to_owned()),
    }
}
