//! The Response Assertion.

use std::borrow::Cow;

use weir_plan::{ResponseAssertion, ResponseTest, SampleField, SampleScope};

use crate::{AssertionOutcome, PatternError, Patterns, SampleView, Variables};

/// How much of equal or different text a message shows, in UTF-16 units.
const SHOWN: usize = 100;

pub(super) fn check(
    element: &ResponseAssertion<String>,
    sample: &SampleView<'_>,
    variables: &dyn Variables,
    patterns: &mut Patterns,
) -> AssertionOutcome {
    let name = &element.name;
    let text = match &element.scope {
        SampleScope::Variable(name) => Cow::Borrowed(variables.get(name).unwrap_or_default()),
        _ => sample.field(element.field),
    };
    if text.is_empty() {
        return if element.test.has(ResponseTest::NOT) {
            AssertionOutcome::passed(name)
        } else {
            AssertionOutcome::nothing_there(name)
        };
    }
    let any = element.test.has(ResponseTest::OR);
    let mut failures = Vec::new();
    for pattern in &element.patterns {
        match is_found(element.test, pattern, &text, patterns) {
            Ok(found) if found != element.test.has(ResponseTest::NOT) => {
                if any {
                    return AssertionOutcome::passed(name);
                }
            }
            Ok(_) => failures.push(fail_text(element, pattern, &text)),
            Err(error) => return AssertionOutcome::error(name, bad(&error)),
        }
        if !any && !failures.is_empty() {
            break;
        }
    }
    if !any && failures.is_empty() {
        return AssertionOutcome::passed(name);
    }
    let message = match (element.custom_message.as_str(), any) {
        ("", false) => failures.concat(),
        ("", true) => failures
            .iter()
            .fold(String::new(), |all, one| all + one + "\t"),
        (custom, _) => custom.to_owned(),
    };
    // With no pattern at all JMeter joins nothing to one tab.
    let message = if message.is_empty() {
        "\t".to_owned()
    } else {
        message
    };
    AssertionOutcome::failed(name, message)
}

/// What JMeter says about an expression that it cannot read.
fn bad(error: &PatternError) -> String {
    match error {
        PatternError::Malformed { pattern, says } => format!(
            "Bad test configuration org.apache.oro.text.MalformedCachePatternException: Invalid \
             expression: {pattern}\n{says}"
        ),
        PatternError::TooSlow { .. } => format!("Bad test configuration {error}"),
    }
}

fn is_found(
    test: ResponseTest,
    pattern: &str,
    text: &str,
    patterns: &mut Patterns,
) -> Result<bool, PatternError> {
    if test.has(ResponseTest::CONTAINS) {
        patterns.regex(pattern).map_err(Clone::clone)?.is_in(text)
    } else if test.has(ResponseTest::EQUALS) {
        Ok(pattern == text)
    } else if test.has(ResponseTest::SUBSTRING) {
        Ok(text.contains(pattern))
    } else {
        patterns.regex(pattern).map_err(Clone::clone)?.matches(text)
    }
}

fn fail_text(element: &ResponseAssertion<String>, pattern: &str, text: &str) -> String {
    const NOT: i32 = ResponseTest::NOT;
    const CONTAINS_NOT: i32 = ResponseTest::CONTAINS | NOT;
    const SUBSTRING_NOT: i32 = ResponseTest::SUBSTRING | NOT;
    const MATCHES_NOT: i32 = ResponseTest::MATCHES | NOT;
    const EQUALS_NOT: i32 = ResponseTest::EQUALS | NOT;
    let what = match (&element.scope, element.field) {
        (SampleScope::Variable(name), _) => format!("variable({name})"),
        (_, field) => field_name(field).to_owned(),
    };
    // JMeter looks at the whole number: with OR it finds no word.
    let expected = match element.test.0 {
        ResponseTest::CONTAINS | ResponseTest::SUBSTRING => "to contain",
        CONTAINS_NOT | SUBSTRING_NOT => "not to contain",
        ResponseTest::MATCHES => "to match",
        MATCHES_NOT => "not to match",
        ResponseTest::EQUALS => "to equal",
        EQUALS_NOT => "not to equal",
        _ => "something using",
    };
    let with = if element.test.has(ResponseTest::EQUALS) {
        difference(text, pattern)
    } else {
        pattern.to_owned()
    };
    format!("Test failed: {what} expected {expected} /{with}/")
}

fn field_name(field: SampleField) -> &'static str {
    match field {
        SampleField::Body | SampleField::BodyUnescaped => "text",
        SampleField::ResponseCode => "code",
        SampleField::ResponseMessage => "message",
        SampleField::RequestHeaders => "request headers",
        SampleField::RequestData => "request data",
        SampleField::ResponseHeaders => "headers",
        SampleField::Url => "URL",
    }
}

/// Where two texts differ: what both begin with, the two middles in brackets, what both end with.
fn difference(received: &str, expected: &str) -> String {
    let received: Vec<u16> = received.encode_utf16().collect();
    let expected: Vec<u16> = expected.encode_utf16().collect();
    let first = received
        .iter()
        .zip(&expected)
        .take_while(|(a, b)| a == b)
        .count();
    // Behind the first difference one unit of each is never counted as equal.
    let room = received.len().min(expected.len()).saturating_sub(first + 1);
    let last = received.iter().rev().zip(expected.iter().rev());
    let last = last.take(room).take_while(|(a, b)| a == b).count();

    let start = end_of(&received[..first]);
    let tail = start_of(&received[received.len() - last..]);
    let mut middles = [&received, &expected].map(|text| {
        let end = (text.len() - last).max(first);
        start_of(&text[first..end])
    });
    let width = middles.iter().map(Vec::len).max().unwrap_or_default();
    for middle in &mut middles {
        middle.resize(width, u16::from(b' '));
    }
    let shown = |middle: &[u16]| {
        let units = [&start, &utf16("[[["), middle, &utf16("]]]"), &tail].concat();
        String::from_utf16_lossy(&units)
    };
    format!(
        "\n\n****** received  : {}\n\n****** comparison: {}\n\n",
        shown(&middles[0]),
        shown(&middles[1])
    )
}

fn utf16(text: &str) -> Vec<u16> {
    text.encode_utf16().collect()
}

fn start_of(text: &[u16]) -> Vec<u16> {
    match text.get(..SHOWN) {
        Some(start) if text.len() > SHOWN => [start, &utf16("...")].concat(),
        _ => text.to_vec(),
    }
}

fn end_of(text: &[u16]) -> Vec<u16> {
    if text.len() > SHOWN {
        [&utf16("..."), &text[text.len() - SHOWN..]].concat()
    } else {
        text.to_vec()
    }
}
