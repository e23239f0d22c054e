//! The JSON `JMESPath` Assertion.

use jmespath::Variable;
use weir_plan::JsonAssertion;

use super::json::malformed;
use crate::jmespath_json::{Searched, search};
use crate::{AssertionOutcome, Patterns, SampleView};

pub(super) fn check(
    element: &JsonAssertion<String>,
    sample: &SampleView<'_>,
    patterns: &mut Patterns,
) -> AssertionOutcome {
    let name = &element.name;
    if sample.text().is_empty() {
        return AssertionOutcome::nothing_there(name);
    }
    let mut passed = AssertionOutcome::passed(name);
    passed.message = Some(String::new());
    let found = search(&element.path, sample.text());
    match found.and_then(|found| holds(element, &found, patterns)) {
        Ok(holds) if holds != element.invert => passed,
        Ok(_) => AssertionOutcome::failed(name, failure(element)),
        Err(_) if element.invert => passed,
        Err(says) => AssertionOutcome::error(name, says),
    }
}

fn holds(
    element: &JsonAssertion<String>,
    found: &Searched,
    patterns: &mut Patterns,
) -> Result<bool, String> {
    if !element.compare {
        return Ok(!found.value.is_null());
    }
    if element.expect_null {
        return Ok(found.value.is_null());
    }
    let (text, expected) = (found.text(&found.value), &element.expected);
    if element.regex {
        let regex = patterns.regex(expected).map_err(malformed)?;
        return regex.matches(&text).map_err(|error| malformed(&error));
    }
    Ok(text == *expected || Variable::from_json(expected)? == *found.value)
}

fn failure(element: &JsonAssertion<String>) -> String {
    let not = if element.invert { " not" } else { "" };
    let expected = &element.expected;
    if !element.compare {
        format!("JMESPATH {} expected{not} to exist", element.path)
    } else if element.expect_null {
        format!("Value expected{not} to be null")
    } else if element.regex {
        format!("Value expected{not} to match {expected}")
    } else {
        format!("Value expected{not} to be equal to {expected}")
    }
}
