//! `METRIC[(CLASS)] OP NUMBER [UNIT]`: what has to hold, in one type.

mod relative;

use std::fmt;
use std::str::FromStr;

use crate::quantity::{Quantity, QuantityError, Unit};
use serde::{Deserialize, Serialize};

pub use relative::RelativeRequirement;

/// What is measured.
#[derive(Debug, Clone, PartialEq)]
pub enum Metric {
    /// Busy share of the CPUs that the target may use.
    Cpu,
    /// Requests answered per second.
    Throughput,
    /// Share of the requests that failed.
    Errors,
    /// Share of the arrivals that were due and not answered: how far an open workload is from its
    /// rate.
    Missed,
    /// Mean response time.
    Mean,
    /// A percentile of the response time, in percent: `99.9`.
    Percentile(f64),
    /// Longest response time.
    Max,
    /// Time-averaged number of requests that wait to get into a stage.
    Waiting(String),
    /// Mean time to get into a stage.
    Wait(String),
    /// Resident memory of the target.
    Memory,
}

impl Metric {
    /// The unit in which a bound on this metric is shown when the user gave none.
    fn unit(&self) -> Unit {
        match self {
            Self::Cpu | Self::Errors | Self::Missed => Unit::Percent,
            Self::Throughput => Unit::PerSecond,
            Self::Mean | Self::Percentile(_) | Self::Max | Self::Wait(_) => Unit::Milliseconds,
            Self::Waiting(_) => Unit::None,
            Self::Memory => Unit::Megabytes,
        }
    }

    fn parse(name: &str, argument: Option<&str>) -> Option<(Self, Option<String>)> {
        let stage = |make: fn(String) -> Self| Some((make(argument?.to_owned()), None));
        let metric = match name {
            "waiting" => return stage(Self::Waiting),
            "wait" => return stage(Self::Wait),
            "cpu" => Self::Cpu,
            "throughput" => Self::Throughput,
            "errors" => Self::Errors,
            "missed" => Self::Missed,
            "mean" => Self::Mean,
            "max" => Self::Max,
            "memory" => Self::Memory,
            _ => {
                let percent: f64 = name.strip_prefix('p')?.parse().ok()?;
                if !(percent > 0.0 && percent < 100.0) {
                    return None;
                }
                Self::Percentile(percent)
            }
        };
        let per_class = !matches!(metric, Self::Cpu | Self::Memory | Self::Missed);
        match argument {
            Some(_) if !per_class => None,
            class => Some((metric, class.map(str::to_owned))),
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu => f.write_str("cpu"),
            Self::Throughput => f.write_str("throughput"),
            Self::Errors => f.write_str("errors"),
            Self::Missed => f.write_str("missed"),
            Self::Mean => f.write_str("mean"),
            Self::Percentile(percent) => write!(f, "p{percent}"),
            Self::Max => f.write_str("max"),
            Self::Waiting(stage) => write!(f, "waiting({stage})"),
            Self::Wait(stage) => write!(f, "wait({stage})"),
            Self::Memory => f.write_str("memory"),
        }
    }
}

/// How the measured value has to stand to the bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// `<=`
    AtMost,
    /// `>=`
    AtLeast,
    /// `==`
    Equal,
    /// `<`
    Below,
    /// `>`
    Above,
}

const COMPARISONS: &[(&str, Comparison)] = &[
    ("<=", Comparison::AtMost),
    (">=", Comparison::AtLeast),
    ("==", Comparison::Equal),
    ("<", Comparison::Below),
    (">", Comparison::Above),
];

impl Comparison {
    /// Whether `value` stands so to `bound`; equality within one part in 10⁹.
    pub fn holds(self, value: f64, bound: f64) -> bool {
        match self {
            Self::AtMost => value <= bound,
            Self::AtLeast => value >= bound,
            Self::Equal => (value - bound).abs() <= 1e-9 * bound.abs().max(1.0),
            Self::Below => value < bound,
            Self::Above => value > bound,
        }
    }

    /// Whether larger values make it fail: true for bounds from above.
    pub fn bounds_from_above(self) -> bool {
        matches!(self, Self::AtMost | Self::Below | Self::Equal)
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let spelling = COMPARISONS
            .iter()
            .find(|(_, comparison)| comparison == self)
            .map_or("", |(spelling, _)| spelling);
        f.write_str(spelling)
    }
}

/// A requirement such as `cpu <= 80 %` or `p99(light) <= 50 ms`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Requirement {
    /// What is measured.
    pub metric: Metric,
    /// Only the samples of this class.
    pub class: Option<String>,
    /// How it is compared.
    pub comparison: Comparison,
    /// With what, as typed.
    pub bound: Quantity,
}

impl Requirement {
    /// The bound in the base unit: share of one, seconds, per second, bytes.
    pub fn bound_base(&self) -> f64 {
        self.bound.base()
    }

    /// Whether a measured value, in the base unit, meets the requirement.
    pub fn met_by(&self, value: f64) -> bool {
        self.comparison.holds(value, self.bound_base())
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.metric)?;
        if let Some(class) = &self.class {
            write!(f, "({class})")?;
        }
        write!(f, " {} {}", self.comparison, self.bound)
    }
}

impl From<Requirement> for String {
    fn from(requirement: Requirement) -> Self {
        requirement.to_string()
    }
}

impl TryFrom<String> for Requirement {
    type Error = RequirementError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

/// Why a text is not a requirement.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequirementError {
    /// No comparison stands in it.
    #[error("find <=, >=, ==, < or > in `{0}`; a requirement reads like `cpu <= 80 %`")]
    Comparison(String),
    /// The metric is not known, or its class or stage is missing or too much.
    #[error(
        "find the metric `{0}` among cpu, memory, missed, throughput, errors, mean, p50 … p99.9, max \
         (each of the last five may name a class: `p99(light)`), waiting(STAGE), wait(STAGE)"
    )]
    Metric(String),
    /// The bound is no quantity.
    #[error("read the bound of `{text}`")]
    Bound {
        /// The whole requirement.
        text: String,
        /// What is wrong with the bound.
        #[source]
        source: QuantityError,
    },
    /// The bound's unit does not measure what the metric is.
    #[error("compare {metric} with `{bound}`; write a bound such as `{metric} {comparison} {}`", example(.unit))]
    Unit {
        /// The metric.
        metric: String,
        /// The bound as typed.
        bound: String,
        /// The comparison as typed.
        comparison: String,
        /// The unit that fits, as typed.
        unit: &'static str,
    },
    /// A share of another run that is none.
    #[error("read `{0}` as a share of another run; it reads like `throughput >= 95 % of A`")]
    Relative(String),
    /// The bound can never be met or never be missed.
    #[error("use `{0}` as a goal: a share lies between 0 % and 100 %, anything else is at least 0")]
    Range(String),
}

fn example(unit: &str) -> String {
    let number = match unit {
        "%" => 80,
        "ms" => 300,
        "/s" => 500,
        _ => 0,
    };
    format!("{number} {unit}").trim_end().to_owned()
}

impl FromStr for Requirement {
    type Err = RequirementError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (metric, class, comparison, bound) = parts(text)?;
        let bound = check_bound(text, &metric, comparison, bound)?;
        Ok(Self {
            metric,
            class,
            comparison,
            bound,
        })
    }
}

/// The parts of a requirement's text, the bound as it is typed.
fn parts(text: &str) -> Result<(Metric, Option<String>, Comparison, Quantity), RequirementError> {
    let (at, spelling, comparison) = COMPARISONS
        .iter()
        .filter_map(|(spelling, comparison)| Some((text.find(spelling)?, *spelling, *comparison)))
        .min_by_key(|(at, spelling, _)| (*at, 2 - spelling.len()))
        .ok_or_else(|| RequirementError::Comparison(text.to_owned()))?;
    let (metric, class) = parse_metric(text[..at].trim())?;
    let bound = Quantity::parse(&text[at + spelling.len()..]).map_err(|source| {
        RequirementError::Bound {
            text: text.to_owned(),
            source,
        }
    })?;
    Ok((metric, class, comparison, bound))
}

fn parse_metric(text: &str) -> Result<(Metric, Option<String>), RequirementError> {
    let unknown = || RequirementError::Metric(text.to_owned());
    let (name, argument) = match text.split_once('(') {
        None => (text, None),
        Some((name, rest)) => {
            let argument = rest.strip_suffix(')').ok_or_else(unknown)?.trim();
            if argument.is_empty() {
                return Err(unknown());
            }
            (name.trim(), Some(argument))
        }
    };
    Metric::parse(name, argument).ok_or_else(unknown)
}

fn check_bound(
    text: &str,
    metric: &Metric,
    comparison: Comparison,
    bound: Quantity,
) -> Result<Quantity, RequirementError> {
    let expected = metric.unit();
    // A bare 0 needs no unit: `errors == 0`, `wait(pool.db) == 0`.
    let mut bound = bound;
    if bound.unit == Unit::None && bound.number == 0.0 {
        bound.unit = expected;
    }
    if !bound.unit.agrees_with(expected) {
        return Err(RequirementError::Unit {
            metric: metric.to_string(),
            bound: bound.to_string(),
            comparison: comparison.to_string(),
            unit: expected.spelling(),
        });
    }
    let share = expected == Unit::Percent;
    let base = bound.base();
    if base < 0.0 || (share && base > 1.0) {
        return Err(RequirementError::Range(text.to_owned()));
    }
    Ok(bound)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn reads_the_forms_of_the_reference() {
        for (text, metric, class, bound) in [
            ("cpu <= 80 %", Metric::Cpu, None, 0.8),
            ("p99 <= 300 ms", Metric::Percentile(99.0), None, 0.3),
            (
                "p99(light) <= 50 ms",
                Metric::Percentile(99.0),
                Some("light"),
                0.05,
            ),
            ("p99.9 < 1 s", Metric::Percentile(99.9), None, 1.0),
            ("errors <= 0.1 %", Metric::Errors, None, 0.001),
            ("missed <= 2 %", Metric::Missed, None, 0.02),
            ("throughput >= 500 /s", Metric::Throughput, None, 500.0),
            (
                "waiting(pool.db) == 0",
                Metric::Waiting("pool.db".into()),
                None,
                0.0,
            ),
            (
                "wait(pool.db) <= 10 ms",
                Metric::Wait("pool.db".into()),
                None,
                0.01,
            ),
            ("memory<=2GiB", Metric::Memory, None, 2_147_483_648.0),
        ] {
            let read: Requirement = text.parse().unwrap();
            assert_eq!(read.metric, metric, "{text}");
            assert_eq!(read.class.as_deref(), class, "{text}");
            assert!((read.bound_base() - bound).abs() < 1e-9, "{text}");
        }
    }

    #[test]
    fn says_what_is_wrong() {
        for (text, part) in [
            ("cpu 80 %", "find <=, >="),
            ("cpus <= 80 %", "`cpus`"),
            ("cpu(light) <= 80 %", "`cpu(light)`"),
            ("wait <= 10 ms", "`wait`"),
            ("cpu <= 80", "cpu <= 80 %"),
            ("p99 <= 80 %", "p99 <= 300 ms"),
            ("p100 <= 3 s", "`p100`"),
            ("cpu <= 180 %", "between 0 % and 100 %"),
            ("p99 <= -1 ms", "at least 0"),
            ("p99 <= soon", "read the bound"),
        ] {
            let error = text.parse::<Requirement>().unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn compares() {
        let at_most: Requirement = "cpu <= 80 %".parse().unwrap();
        assert!(at_most.met_by(0.8) && !at_most.met_by(0.8001));
        let none: Requirement = "waiting(pool.db) == 0".parse().unwrap();
        assert!(none.met_by(0.0) && !none.met_by(0.1));
    }

    proptest! {
        #[test]
        fn shows_what_it_reads(percent in 1_u32..100, op in 0_usize..5, number in 0_u32..10_000) {
            let text = format!("p{percent} {} {number} ms", COMPARISONS[op].0);
            prop_assert_eq!(text.parse::<Requirement>().unwrap().to_string(), text);
        }

        #[test]
        fn any_text_gives_an_answer(text in "\\PC{0,40}") {
            let _ = text.parse::<Requirement>();
        }
    }
}
