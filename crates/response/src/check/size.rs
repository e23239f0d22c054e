//! The Size Assertion.

use weir_plan::{SampleScope, SizeAssertion, SizeField};

use super::grouped;
use crate::{AssertionOutcome, SampleView, Variables};

pub(super) fn check(
    element: &SizeAssertion<String>,
    sample: &SampleView<'_>,
    variables: &dyn Variables,
) -> AssertionOutcome {
    let name = &element.name;
    let signed = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX);
    let units = |text: &str| signed(text.encode_utf16().count() as u64);
    let size = if let SampleScope::Variable(variable) = &element.scope {
        let value = variables.get(variable);
        let Some(size) = value.and_then(|value| value.parse().ok()) else {
            let value = value.unwrap_or("null");
            let message = format!("Error parsing variable name: {variable} value: {value}");
            return AssertionOutcome::failed(name, message);
        };
        size
    } else {
        match element.field {
            SizeField::Received => signed(sample.received_bytes),
            SizeField::Headers => signed(sample.header_bytes),
            SizeField::Body => signed(sample.body_bytes),
            SizeField::ResponseCode => units(sample.response_code),
            SizeField::ResponseMessage => units(sample.response_message),
        }
    };
    let Ok(wanted) = element.size.parse::<i64>() else {
        let says = format!(
            "java.lang.NumberFormatException: For input string: \"{}\"",
            element.size
        );
        return AssertionOutcome::error("Assertion failed! See log file.", says);
    };
    let (holds, words) = match element.operator {
        1 => (size == wanted, "been equal to"),
        2 => (size != wanted, "not been equal to"),
        3 => (size > wanted, "been greater than"),
        4 => (size < wanted, "been less than"),
        5 => (size >= wanted, "been greater or equal to"),
        6 => (size <= wanted, "been less than or equal to"),
        _ => (false, "ERROR - invalid condition"),
    };
    if holds {
        return AssertionOutcome::passed(name);
    }
    AssertionOutcome::failed(
        name,
        format!(
            "The result was the wrong size: It was {} bytes, but should have {words} {} bytes.",
            grouped(&size.to_string()),
            grouped(&wanted.to_string())
        ),
    )
}
