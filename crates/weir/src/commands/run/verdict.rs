//! What was required of a run, what was found, and the file that says so to a build server.

use std::fmt::Write as _;
use std::path::Path;

use weir_metric::{DECIMALS_MAX, Metric, Requirement, Unit, decimals_apart};
use weir_record::{RequirementCheck, TrialRecord};
use weir_report::text::Codes;
use weir_study::{check_requirement, is_recorded};

use crate::error::ExpectedError;
use crate::output;

/// One requirement and what became of it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Verdict {
    says: String,
    /// The unit that it was typed in.
    unit: Unit,
    /// `None`: the figure was not read in this run.
    pub(crate) check: Option<RequirementCheck>,
}

impl Verdict {
    /// A figure that was not read meets nothing.
    pub(crate) fn is_met(&self) -> bool {
        self.check.as_ref().is_some_and(|check| check.met)
    }

    fn found(&self) -> String {
        match &self.check {
            None => "it was not read in this run".to_owned(),
            Some(check) => format!("found {}", figure(check, self.unit)),
        }
    }
}

/// A value of a base unit, in the unit that the requirement was typed in,
/// with more decimals where it would else look like a bound that it is not at.
fn figure(check: &RequirementCheck, unit: Unit) -> String {
    let value = check.value / unit.factor();
    let least = match unit {
        Unit::PerSecond | Unit::PerMinute => 1,
        _ => 3,
    };
    let bounds = check.bounds.iter().map(|bound| bound / unit.factor());
    let bounds: Vec<f64> = bounds.collect();
    let decimals = decimals_apart(value, &bounds, least..=DECIMALS_MAX).unwrap_or(least);
    let unit = unit.spelling();
    format!("{value:.decimals$} {unit}").trim_end().to_owned()
}

/// Requirements as typed.
pub(crate) fn parse(text: &str) -> Result<Requirement, String> {
    let requirement: Requirement = text
        .parse()
        .map_err(|error| weir_record::failed_to(&error))?;
    if is_recorded(&requirement) {
        Ok(requirement)
    } else {
        Err(not_recorded(&requirement.metric))
    }
}

/// Says that trials do not record a percentile.
pub(crate) fn not_recorded(metric: &Metric) -> String {
    format!("`{metric}` is not recorded; of the percentiles there are p50, p90, p95, p99 and p99.9")
}

/// Judges a run, and tells it.
pub(crate) fn judge(requirements: &[Requirement], record: &TrialRecord) -> Vec<Verdict> {
    let one = |requirement: &Requirement| Verdict {
        says: requirement.to_string(),
        unit: requirement.bound.unit,
        check: check_requirement(record, requirement),
    };
    let verdicts: Vec<Verdict> = requirements.iter().map(one).collect();
    for verdict in &verdicts {
        let word = if verdict.is_met() { "met" } else { "not met" };
        output::talk(&format!("{word}: {}; {}", verdict.says, verdict.found()));
    }
    verdicts
}

/// Writes `JUnit`'s XML: one test case for each requirement, and one that the run can be used,
/// unless something has spoilt it.
pub(crate) fn write_junit(
    path: &Path,
    name: &str,
    record: &TrialRecord,
    spoilt: Option<String>,
    verdicts: &[Verdict],
) -> Result<(), ExpectedError> {
    let mut cases = String::new();
    let mut case = |name: &str, failure: Option<String>| {
        let name = escaped(name);
        let open = format!("    <testcase classname=\"weir\" name=\"{name}\"");
        let _ = match failure {
            None => writeln!(cases, "{open}/>"),
            Some(says) => {
                let says = escaped(&says);
                writeln!(
                    cases,
                    "{open}>\n      <failure message=\"{says}\"/>\n    </testcase>"
                )
            }
        };
    };
    let is_spoilt = spoilt.is_some();
    case("the measurement is valid", spoilt);
    for verdict in verdicts {
        let failure = (!verdict.is_met()).then(|| verdict.found());
        case(&verdict.says, failure);
    }
    let failures =
        verdicts.iter().filter(|verdict| !verdict.is_met()).count() + usize::from(is_spoilt);
    let tests = verdicts.len() + 1;
    let table = escaped(&weir_report::text::run_table(record, Codes::OfJmeter));
    let (name, time) = (escaped(name), record.window_s);
    let counts =
        format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" time=\"{time:.3}\"");
    let text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {counts}>\n  <testsuite name=\"{name}\" {counts}>\n{cases}    <system-out>{table}</system-out>\n  </testsuite>\n</testsuites>\n"
    );
    std::fs::write(path, text)
        .map_err(|error| ExpectedError::Environment(format!("--junit {}: {error}", path.display())))
}

fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\n' | '\t' => safe.push(letter),
            // XML has no way to write the other control characters.
            letter if letter.is_control() => safe.push('\u{fffd}'),
            letter => safe.push(letter),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_below_its_bound_does_not_look_as_if_it_met_it() {
        let check = |value: f64| RequirementCheck {
            says: "throughput >= 100 /s".to_owned(),
            value,
            unit: "/s".to_owned(),
            low: value,
            high: value,
            met: value >= 100.0,
            bounds: vec![100.0],
        };
        for (value, text) in [(99.98, "99.98 /s"), (99.4, "99.4 /s"), (100.0, "100.0 /s")] {
            assert_eq!(figure(&check(value), Unit::PerSecond), text);
        }
    }
}
