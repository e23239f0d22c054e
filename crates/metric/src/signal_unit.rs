//! The unit of a signal, and so how its values are written for people.
//!
//! Three significant digits are what a trial of half a minute can tell; more would claim a
//! precision that the interval beside the number denies. Shares are the exception: one decimal of a
//! percent, because goals such as `cpu <= 80 %` are met or missed by tenths.

use crate::quantity::Unit;
use crate::written::{Scale, decimals_apart, fixed, trimmed};

/// Shares below this are written with two decimals of a percent: error bounds lie there.
const SMALL_SHARE: f64 = 0.01;

/// The most decimals with which a value is told from a bound.
pub const DECIMALS_MAX: usize = 6;

/// The unit that a figure is kept in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignalUnit {
    /// A share of one, written in percent.
    Share,
    /// Seconds, written in milliseconds below one.
    Seconds,
    /// Milliseconds, written in seconds from 1,000 on.
    Milliseconds,
    /// Per second.
    PerSecond,
    /// Bytes, written in MB.
    Bytes,
    /// Bytes per second, written in MB/s.
    BytesPerSecond,
    /// How many there are of something, which this word names.
    Each(&'static str),
    /// A plain number: its unit is not known, or it has none.
    Number,
}

/// The spelling of every unit that has one, as it stands in `result.json`.
const SYMBOLS: [(SignalUnit, &str); 6] = [
    (SignalUnit::Share, "%"),
    (SignalUnit::Seconds, "s"),
    (SignalUnit::Milliseconds, "ms"),
    (SignalUnit::PerSecond, "/s"),
    (SignalUnit::Bytes, "B"),
    (SignalUnit::BytesPerSecond, "B/s"),
];

impl SignalUnit {
    /// The unit as it stands in `result.json`; empty for plain numbers. A share is kept as a share
    /// of one there, too, and read in percent.
    pub fn symbol(self) -> &'static str {
        let found = SYMBOLS.iter().find(|(unit, _)| *unit == self);
        found.map_or("", |(_, symbol)| symbol)
    }

    /// The unit of a symbol; `None` for a text that is none.
    pub fn of_symbol(symbol: &str) -> Option<Self> {
        if symbol.is_empty() {
            return Some(Self::Number);
        }
        let found = SYMBOLS.iter().find(|(_, known)| *known == symbol);
        found.map(|(unit, _)| *unit)
    }

    /// The unit as UCUM writes it: `1` is a share of one, `{thread}` counts threads.
    pub fn ucum(self) -> String {
        match self {
            Self::Share | Self::Number => "1".to_owned(),
            Self::Bytes => "By".to_owned(),
            Self::BytesPerSecond => "By/s".to_owned(),
            Self::Each(of) => format!("{{{of}}}"),
            Self::Seconds | Self::Milliseconds | Self::PerSecond => self.symbol().to_owned(),
        }
    }

    /// The unit in which a quantity that was typed with `unit` is kept.
    pub fn of_quantity(unit: Unit) -> Self {
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
            Unit::None => Self::Number,
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
            Self::BytesPerSecond => scale(1e-6, " MB/s", None),
            Self::Each(_) | Self::Number => scale(1.0, "", None),
        }
    }

    /// The factor and the unit with which a chart's axis is drawn: the same for all its values.
    pub fn axis(self) -> (f64, &'static str) {
        match self {
            Self::Share => (100.0, "%"),
            Self::Milliseconds => (1.0, "ms"),
            Self::Seconds => (1e3, "ms"),
            Self::PerSecond => (1.0, "/s"),
            Self::Bytes => (1e-6, "MB"),
            Self::BytesPerSecond => (1e-6, "MB/s"),
            Self::Each(_) | Self::Number => (1.0, ""),
        }
    }

    /// The value with its unit: `79.3 %`, `151 ms`, `120 /s`.
    pub fn text(self, value: f64) -> String {
        let scale = self.scale(value);
        format!("{}{}", scale.number(value), scale.unit)
    }

    /// The value as [`text`](Self::text) gives it, but for one that would then look like a bound
    /// that it is not at: that has as many decimals more as tell them apart. `80.02 %` beside
    /// `cpu <= 80 %`.
    pub fn text_apart(self, value: f64, bounds: &[f64]) -> String {
        let scale = self.scale(value);
        let text = scale.number(value);
        let is_alike =
            |bound: &f64| bound.total_cmp(&value).is_ne() && alike(&text, &scale.number(*bound));
        if !bounds.iter().any(is_alike) {
            return self.text(value);
        }
        let bounds: Vec<f64> = bounds.iter().map(|bound| bound * scale.factor).collect();
        let value = value * scale.factor;
        let text = decimals_apart(value, &bounds, 1..=DECIMALS_MAX)
            .map_or(text, |decimals| fixed(value, decimals));
        text + scale.unit
    }

    /// The value with its unit and the ends of its interval: `79.3 % (77.8–80.6)`; an interval
    /// without length says nothing and is left out.
    pub fn with_interval(self, value: f64, low: f64, high: f64) -> String {
        if low >= high {
            return self.text(value);
        }
        format!("{} ({})", self.text(value), self.range(value, low, high))
    }

    /// The value with half the length of its interval, when there is one: `79.3 ±1.4 %`.
    pub fn plus_minus(self, value: f64, half_width: Option<f64>) -> String {
        let scale = self.scale(value);
        let doubt = half_width.map_or_else(String::new, |half| format!(" ±{}", scale.doubt(half)));
        format!("{}{doubt}{}", scale.number(value), scale.unit)
    }

    /// The ends of an interval in the unit that `value` is written in: `77.8–80.6`.
    pub fn range(self, value: f64, low: f64, high: f64) -> String {
        let (low, high) = self.possible(low, high);
        self.scale(value).range(low, high)
    }

    /// An interval cut where the quantity ends: nothing here can be negative, and no share above
    /// one. The truth lies in the rest just as surely.
    pub fn possible(self, low: f64, high: f64) -> (f64, f64) {
        let most = if self == Self::Share { 1.0 } else { f64::MAX };
        (low.clamp(0.0, most), high.clamp(0.0, most))
    }

    /// How precisely it is written, in words.
    pub fn digits(self) -> &'static str {
        match self {
            Self::Share => "one decimal of a percent, two below 1 %",
            _ => "three significant",
        }
    }
}

/// Whether two numbers read alike: `0.00` and `0` do.
fn alike(one: &str, other: &str) -> bool {
    trimmed(one.to_owned()) == trimmed(other.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_beyond_its_bound_does_not_look_as_if_it_met_it() {
        for (unit, value, bounds, text) in [
            (SignalUnit::Share, 0.8002, &[0.8][..], "80.02 %"),
            (SignalUnit::Share, 0.7998, &[0.8], "79.98 %"),
            (SignalUnit::Share, 0.806, &[0.8], "80.6 %"),
            (SignalUnit::Share, 0.8, &[0.8], "80.0 %"),
            (SignalUnit::Share, 0.800_04, &[0.8], "80.004 %"),
            (SignalUnit::Share, 0.800_000_04, &[0.8], "80.000004 %"),
            (SignalUnit::Share, 0.61, &[0.8], "61.0 %"),
            (SignalUnit::Share, 0.792, &[], "79.2 %"),
            (SignalUnit::Share, 0.000_01, &[0.0], "0.001 %"),
            (SignalUnit::Share, 0.810_04, &[0.75, 0.81], "81.004 %"),
            (SignalUnit::Milliseconds, 200.3, &[200.0], "200.3 ms"),
            (SignalUnit::PerSecond, 399.45, &[399.4], "399.45 /s"),
            (SignalUnit::PerSecond, 99.98, &[100.0], "99.98 /s"),
            (SignalUnit::Number, 0.100_2, &[0.1], "0.1002"),
            (SignalUnit::Number, 5.0, &[], "5"),
        ] {
            assert_eq!(unit.text_apart(value, bounds), text);
        }
        // Nobody reads so many decimals.
        assert_eq!(SignalUnit::Share.text_apart(0.8 + 1e-12, &[0.8]), "80.0 %");
    }

    #[test]
    fn each_unit_is_written_in_its_own_way() {
        for (unit, value, text) in [
            (SignalUnit::Share, 0.793, "79.3 %"),
            (SignalUnit::Share, 0.8, "80.0 %"),
            (SignalUnit::Share, 0.0005, "0.05 %"),
            (SignalUnit::Share, 0.0, "0 %"),
            (SignalUnit::Milliseconds, 151.3, "151 ms"),
            (SignalUnit::Milliseconds, 2506.0, "2.51 s"),
            (SignalUnit::Seconds, 0.1513, "151 ms"),
            (SignalUnit::Seconds, 2.506, "2.51 s"),
            (SignalUnit::PerSecond, 120.14, "120 /s"),
            (SignalUnit::Bytes, 64e6, "64 MB"),
            (SignalUnit::BytesPerSecond, 2.5e6, "2.5 MB/s"),
            (SignalUnit::Each("thread"), 29.42, "29.4"),
            (SignalUnit::Number, 29.42, "29.4"),
        ] {
            assert_eq!(unit.text(value), text);
        }
    }

    #[test]
    fn an_interval_keeps_the_unit_of_its_value() {
        assert_eq!(
            SignalUnit::Milliseconds.with_interval(1010.0, 990.0, 1030.0),
            "1.01 s (0.99–1.03)"
        );
        assert_eq!(
            SignalUnit::Share.with_interval(0.95, 0.82, 1.08),
            "95.0 % (82.0–100.0)"
        );
        assert_eq!(
            SignalUnit::Milliseconds.with_interval(197.0, -122.0, 945.0),
            "197 ms (0–945)"
        );
        assert_eq!(
            SignalUnit::Share.plus_minus(0.793, Some(0.014)),
            "79.3 ±1.4 %"
        );
        assert_eq!(SignalUnit::Share.plus_minus(0.793, None), "79.3 %");
    }

    #[test]
    fn symbols_are_read_back() {
        for (unit, symbol) in SYMBOLS {
            assert_eq!(SignalUnit::of_symbol(symbol), Some(unit));
        }
        assert_eq!(SignalUnit::of_symbol(""), Some(SignalUnit::Number));
        assert_eq!(SignalUnit::of_symbol("parsec"), None);
    }
}
