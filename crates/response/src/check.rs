//! Assertions: whether a sample is as it should be.

mod jmespath;
mod json;
mod md5;
mod response;
mod size;
mod xml;

use weir_plan::{Assertion, DurationAssertion, SampleScope};

use crate::{AssertionOutcome, Patterns, SampleView, Variables, Verdict};

/// How far below a sample an assertion goes that looks at its sub-samples.
const LEVELS_BELOW: usize = 4;

/// Evaluates an assertion on a sample and, if it says so, on its sub-samples.
///
/// `verdict` is [`Verdict::before`] the first assertion of the sample and holds what each one
/// said, in order.
pub fn check(
    assertion: &Assertion<String>,
    sample: &SampleView<'_>,
    verdict: &mut Verdict,
    variables: &dyn Variables,
    patterns: &mut Patterns,
) {
    let mut checking = Checking {
        assertion,
        variables,
        patterns,
    };
    let scope = assertion.scope();
    if !matches!(scope, SampleScope::Children) {
        checking.one(sample, verdict);
    }
    if matches!(scope, SampleScope::Children | SampleScope::All) {
        checking.children(sample, verdict, LEVELS_BELOW);
    }
}

struct Checking<'c> {
    assertion: &'c Assertion<String>,
    variables: &'c dyn Variables,
    patterns: &'c mut Patterns,
}

impl Checking<'_> {
    fn one(&mut self, sample: &SampleView<'_>, verdict: &mut Verdict) {
        let outcome = match self.assertion {
            Assertion::Response(element) => {
                verdict.successful |= element.assume_success;
                response::check(element, sample, self.variables, self.patterns)
            }
            Assertion::Duration(element) => duration(element, sample),
            Assertion::Size(element) => size::check(element, sample, self.variables),
            Assertion::JsonPath(element) => json::check(element, sample, self.patterns),
            Assertion::Md5Hex(element) => md5::check(element, sample),
            Assertion::JmesPath(element) => jmespath::check(element, sample, self.patterns),
            Assertion::XPath(element) => xml::xpath(element, sample, self.variables),
            Assertion::XPath2(element) => xml::xpath2(element, sample, self.variables),
            Assertion::Xml(element) => xml::well_formed(element, sample),
            // Who can run scripts does not ask here.
            Assertion::Script(script) => {
                AssertionOutcome::error(&script.name, "scripts are not run here")
            }
        };
        verdict.add(outcome);
    }

    fn children(&mut self, sample: &SampleView<'_>, verdict: &mut Verdict, levels: usize) {
        if levels == 0 {
            return;
        }
        let children = sample.children.iter().zip(&mut verdict.children);
        let mut failed = false;
        for (child, verdict) in children {
            self.one(child, verdict);
            self.children(child, verdict, levels - 1);
            failed |= !verdict.successful;
        }
        if failed && verdict.successful {
            let name = self.assertion.name();
            verdict.add(AssertionOutcome::failed(
                name,
                "One or more sub-samples failed",
            ));
        }
    }
}

fn duration(element: &DurationAssertion<String>, sample: &SampleView<'_>) -> AssertionOutcome {
    let limit: i64 = element.duration_ms.parse().unwrap_or(0);
    match u64::try_from(limit) {
        Ok(limit) if limit > 0 && sample.elapsed_ms > limit => AssertionOutcome::failed(
            &element.name,
            format!(
                "The operation lasted too long: It took {} milliseconds, but should not have \
                 lasted longer than {} milliseconds.",
                grouped(&sample.elapsed_ms.to_string()),
                grouped(&limit.to_string())
            ),
        ),
        _ => AssertionOutcome::passed(&element.name),
    }
}

/// A whole number with commas between thousands, as JMeter's messages write numbers.
fn grouped(digits: &str) -> String {
    let (sign, digits) = match digits.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", digits),
    };
    let mut out = sign.to_owned();
    for (n, digit) in digits.chars().enumerate() {
        if n > 0 && (digits.len() - n).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
