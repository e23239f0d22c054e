//! Numbers as people read them: three significant digits, a unit, an interval.
//!
//! Three digits are what a trial of half a minute can tell; more would claim a precision that the
//! interval beside the number denies. Shares are the exception: one decimal of a percent, because
//! goals such as `cpu <= 80 %` are met or missed by tenths.

use weir_plan::Requirement;
use weir_stats::Estimate;
use weir_units::{Quantity, Unit};

/// Shares below this are written with two decimals of a percent: error bounds lie there.
const SMALL_SHARE: f64 = 0.01;

/// What kind of quantity a figure is, and so how it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A share of one, written in percent.
    Share,
    /// Milliseconds, written in seconds from 1,000 on.
    Milliseconds,
    /// Seconds, written in milliseconds below one.
    Seconds,
    /// Per second.
    PerSecond,
    /// Bytes, written in MB.
    Bytes,
    /// A plain number.
    Count,
}

/// A factor and a unit that are fixed before several values are written with it.
#[derive(Debug, Clone, Copy)]
struct Scale {
    factor: f64,
    unit: &'static str,
    decimals: Option<usize>,
}

impl Kind {
    /// The kind of a figure by its name in a record: `cpu`, `response_time_ms.p99` …
    pub(crate) fn of_name(name: &str) -> Self {
        let last = name.rsplit('.').next().unwrap_or(name);
        match name {
            "cpu" | "load.late-share" | "gc.time" | "safepoints.time" => Self::Share,
            "throughput" | "errors" => Self::PerSecond,
            _ if name.starts_with("errors.share") => Self::Share,
            _ if name.contains("_ms") => Self::Milliseconds,
            _ if name.contains("_per_s") => Self::PerSecond,
            _ if matches!(last, "entries" | "refused" | "ceiling" | "context-switches") => {
                Self::PerSecond
            }
            _ if matches!(last, "wait" | "pause" | "mean") || name.starts_with("response.") => {
                Self::Seconds
            }
            _ if name.starts_with("load.lateness") => Self::Seconds,
            _ if name.starts_with("load.start-delay") || name.starts_with("service.") => {
                Self::Seconds
            }
            _ if name.starts_with("cpu.") || name.starts_with("machine.cpu.") => Self::Share,
            _ if name.starts_with("pressure.") => Self::Share,
            _ if last == "rss" => Self::Bytes,
            _ => Self::Count,
        }
    }

    /// The kind of a value that a requirement's text bounds.
    ///
    /// A check may say more than one requirement can ("cpu between 75 % and 81 %"); then the first
    /// unit behind a number decides.
    pub(crate) fn of_requirement(says: &str) -> Self {
        if let Ok(requirement) = says.parse::<Requirement>() {
            return Self::of_unit(requirement.bound.unit);
        }
        let words: Vec<&str> = says
            .split([' ', ',', ';', '(', ')'])
            .filter(|word| !word.is_empty())
            .collect();
        words
            .windows(2)
            .find_map(|pair| Quantity::parse(&pair.join(" ")).ok())
            .map_or(Self::Count, |quantity| Self::of_unit(quantity.unit))
    }

    fn of_unit(unit: Unit) -> Self {
        match unit {
            Unit::Percent => Self::Share,
            Unit::Microseconds
            | Unit::Milliseconds
            | Unit::Seconds
            | Unit::Minutes
            | Unit::Hours => Self::Seconds,
            Unit::PerSecond | Unit::PerMinute => Self::PerSecond,
            Unit::Kilobytes
            | Unit::Megabytes
            | Unit::Gigabytes
            | Unit::Kibibytes
            | Unit::Mebibytes
            | Unit::Gibibytes => Self::Bytes,
            Unit::None => Self::Count,
        }
    }

    fn scale(self, value: f64) -> Scale {
        let scale = |factor, unit, decimals| Scale {
            factor,
            unit,
            decimals,
        };
        match self {
            Self::Share if value.abs() < SMALL_SHARE => scale(100.0, " %", Some(2)),
            Self::Share => scale(100.0, " %", Some(1)),
            Self::Milliseconds if value.abs() >= 1e3 => scale(1e-3, " s", None),
            Self::Milliseconds => scale(1.0, " ms", None),
            Self::Seconds if value.abs() >= 1.0 => scale(1.0, " s", None),
            Self::Seconds => scale(1e3, " ms", None),
            Self::PerSecond => scale(1.0, " /s", None),
            Self::Bytes => scale(1e-6, " MB", None),
            Self::Count => scale(1.0, "", None),
        }
    }

    /// The value with its unit: `79.3 %`, `151 ms`, `120 /s`.
    pub(crate) fn text(self, value: f64) -> String {
        let scale = self.scale(value);
        format!("{}{}", scale.number(value), scale.unit)
    }

    /// The value with its unit and the ends of its interval: `79.3 % (77.8–80.6)`; an interval
    /// without length says nothing and is left out.
    pub(crate) fn with_interval(self, value: f64, low: f64, high: f64) -> String {
        if low >= high {
            return self.text(value);
        }
        format!("{} ({})", self.text(value), self.range(value, low, high))
    }

    /// The value with the interval of an estimate, when there is one.
    pub(crate) fn with_estimate(self, value: f64, estimate: Option<&Estimate>) -> String {
        estimate.map_or_else(
            || self.text(value),
            |estimate| self.with_interval(value, estimate.low, estimate.high),
        )
    }

    /// The value with half the length of its interval, when there is one: `79.3 ±1.4 %`.
    pub(crate) fn plus_minus(self, value: f64, estimate: Option<&Estimate>) -> String {
        let scale = self.scale(value);
        let doubt = estimate.map_or_else(String::new, |estimate| {
            format!(" ±{}", scale.doubt(estimate.half_width()))
        });
        format!("{}{doubt}{}", scale.number(value), scale.unit)
    }

    /// The ends of an interval in the unit that `value` is written in: `77.8–80.6`.
    pub(crate) fn range(self, value: f64, low: f64, high: f64) -> String {
        let (low, high) = self.possible(low, high);
        self.scale(value).range(low, high)
    }

    /// An interval cut where the quantity ends: nothing here can be negative, and no share above
    /// one. The truth lies in the rest just as surely.
    pub(crate) fn possible(self, low: f64, high: f64) -> (f64, f64) {
        let most = if self == Self::Share { 1.0 } else { f64::MAX };
        (low.clamp(0.0, most), high.clamp(0.0, most))
    }
}

impl Scale {
    fn number(self, value: f64) -> String {
        let scaled = value * self.factor;
        match self.decimals {
            _ if scaled == 0.0 => "0".to_owned(),
            Some(decimals) => fixed(scaled, decimals),
            None => number(scaled),
        }
    }

    fn range(self, low: f64, high: f64) -> String {
        format!("{}–{}", self.number(low), self.number(high))
    }

    /// A half-width: two significant digits say all that it knows.
    fn doubt(self, half_width: f64) -> String {
        let scaled = half_width * self.factor;
        let decimals = match scaled {
            _ if scaled >= 10.0 => 0,
            _ if scaled >= 0.1 => 1,
            _ => 2,
        };
        fixed(scaled, decimals)
    }
}

/// A plain number with three significant digits, whole numbers whole: `0.42`, `38.2`, `20,000`.
pub(crate) fn number(value: f64) -> String {
    let magnitude = value.abs();
    // A whole number in a float has no fraction at all: limits and counts are exact.
    if magnitude.fract() == 0.0 || magnitude >= 99.95 {
        return grouped(value);
    }
    let decimals = match magnitude {
        _ if magnitude >= 9.995 => 1,
        _ if magnitude >= 0.995 => 2,
        _ => 3,
    };
    let smallest = 0.0005;
    if magnitude < smallest {
        return if value < 0.0 { "−<0.001" } else { "<0.001" }.to_owned();
    }
    trimmed(fixed(value, decimals))
}

fn trimmed(text: String) -> String {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// A number with so many decimals, a true minus sign and no negative zero.
fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let zero = text
        .bytes()
        .all(|byte| !byte.is_ascii_digit() || byte == b'0');
    if value < 0.0 && !zero {
        format!("−{text}")
    } else {
        text
    }
}

/// A whole number with a comma between thousands.
fn grouped(value: f64) -> String {
    let digits = format!("{:.0}", value.abs());
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if value < 0.0 && digits != "0" {
        text.insert(0, '−');
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use weir_stats::Method;

    use super::*;

    #[test]
    fn writes_numbers_as_people_do() {
        for (value, text) in [
            (0.0, "0"),
            (20_000.0, "20,000"),
            (1_234_567.8, "1,234,568"),
            (38.24, "38.2"),
            (4.0, "4"),
            (2.506, "2.51"),
            (0.42, "0.42"),
            (0.0004, "<0.001"),
            (99.97, "100"),
            (-3.5, "−3.5"),
        ] {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn each_kind_has_its_unit() {
        for (kind, value, text) in [
            (Kind::Share, 0.793, "79.3 %"),
            (Kind::Share, 0.8, "80.0 %"),
            (Kind::Share, 0.0005, "0.05 %"),
            (Kind::Share, 0.0, "0 %"),
            (Kind::Milliseconds, 151.3, "151 ms"),
            (Kind::Milliseconds, 2506.0, "2.51 s"),
            (Kind::Seconds, 0.1513, "151 ms"),
            (Kind::Seconds, 2.506, "2.51 s"),
            (Kind::PerSecond, 120.14, "120 /s"),
            (Kind::Bytes, 64e6, "64 MB"),
            (Kind::Count, 29.42, "29.4"),
        ] {
            assert_eq!(kind.text(value), text);
        }
    }

    #[test]
    fn an_interval_keeps_the_unit_of_its_value() {
        assert_eq!(
            Kind::Milliseconds.with_interval(1010.0, 990.0, 1030.0),
            "1.01 s (0.99–1.03)"
        );
        assert_eq!(
            Kind::Share.with_interval(0.95, 0.82, 1.08),
            "95.0 % (82.0–100.0)"
        );
        assert_eq!(
            Kind::Milliseconds.with_interval(197.0, -122.0, 945.0),
            "197 ms (0–945)"
        );
        let estimate = Estimate {
            value: 0.793,
            low: 0.779,
            high: 0.807,
            confidence: 0.95,
            count: 30,
            method: Method::BatchMeans,
        };
        assert_eq!(
            Kind::Share.plus_minus(0.793, Some(&estimate)),
            "79.3 ±1.4 %"
        );
        assert_eq!(Kind::Share.plus_minus(0.793, None), "79.3 %");
    }

    #[test]
    fn reads_the_unit_of_a_requirement() {
        for (says, kind) in [
            ("cpu <= 80 %", Kind::Share),
            ("p99 <= 300 ms", Kind::Seconds),
            ("throughput >= 97 /s", Kind::PerSecond),
            ("waiting(pool.db) == 0", Kind::Count),
            ("cpu between 75 % and 81 %", Kind::Share),
            ("somebody waits", Kind::Count),
        ] {
            assert_eq!(Kind::of_requirement(says), kind, "{says}");
        }
    }

    proptest! {
        #[test]
        fn a_written_number_is_close_to_its_value(value in -1e7_f64..1e7) {
            let text = number(value).replace(',', "").replace('−', "-");
            if !text.contains('<') {
                let read: f64 = text.parse().expect("a number is written");
                prop_assert!((read - value).abs() <= (0.006 * value.abs()).max(0.5e-3));
            }
        }
    }
}
