//! A number with a unit, as text.

use std::fmt;
use std::time::Duration;

/// The units that Weir reads and writes, each with a factor to its base unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// `%`: a hundredth; base unit is the share of one.
    Percent,
    /// `us`: microseconds; base unit is the second.
    Microseconds,
    /// `ms`: milliseconds; base unit is the second.
    Milliseconds,
    /// `s`: seconds.
    Seconds,
    /// `min`: minutes; base unit is the second.
    Minutes,
    /// `h`: hours; base unit is the second.
    Hours,
    /// `/s`: per second.
    PerSecond,
    /// `/min`: per minute; base unit is per second.
    PerMinute,
    /// `kB`: 1,000 bytes.
    Kilobytes,
    /// `MB`: 1,000,000 bytes.
    Megabytes,
    /// `GB`: 1,000,000,000 bytes.
    Gigabytes,
    /// `KiB`: 1,024 bytes.
    Kibibytes,
    /// `MiB`: 1,048,576 bytes.
    Mebibytes,
    /// `GiB`: 1,073,741,824 bytes.
    Gibibytes,
    /// No unit: a plain number.
    None,
}

/// What a unit measures: two units of one dimension can stand for each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dimension {
    Share,
    Time,
    Frequency,
    Information,
    Count,
}

const SPELLINGS: &[(&str, Unit)] = &[
    ("%", Unit::Percent),
    ("us", Unit::Microseconds),
    ("ms", Unit::Milliseconds),
    ("s", Unit::Seconds),
    ("min", Unit::Minutes),
    ("h", Unit::Hours),
    ("/s", Unit::PerSecond),
    ("/min", Unit::PerMinute),
    ("kB", Unit::Kilobytes),
    ("MB", Unit::Megabytes),
    ("GB", Unit::Gigabytes),
    ("KiB", Unit::Kibibytes),
    ("MiB", Unit::Mebibytes),
    ("GiB", Unit::Gibibytes),
    ("", Unit::None),
];

impl Unit {
    /// The factor from this unit to its base unit.
    pub fn factor(self) -> f64 {
        match self {
            Self::Percent => 1e-2,
            Self::Microseconds => 1e-6,
            Self::Milliseconds => 1e-3,
            Self::Seconds | Self::PerSecond | Self::None => 1.0,
            Self::Minutes => 60.0,
            Self::Hours => 3600.0,
            Self::PerMinute => 1.0 / 60.0,
            Self::Kilobytes => 1e3,
            Self::Megabytes => 1e6,
            Self::Gigabytes => 1e9,
            Self::Kibibytes => 1024.0,
            Self::Mebibytes => 1024.0 * 1024.0,
            Self::Gibibytes => 1024.0 * 1024.0 * 1024.0,
        }
    }

    /// Whether a value in this unit can be read where `other` is expected.
    pub fn agrees_with(self, other: Self) -> bool {
        self.dimension() == other.dimension()
    }

    fn dimension(self) -> Dimension {
        match self {
            Self::Percent => Dimension::Share,
            Self::Microseconds
            | Self::Milliseconds
            | Self::Seconds
            | Self::Minutes
            | Self::Hours => Dimension::Time,
            Self::PerSecond | Self::PerMinute => Dimension::Frequency,
            Self::Kilobytes
            | Self::Megabytes
            | Self::Gigabytes
            | Self::Kibibytes
            | Self::Mebibytes
            | Self::Gibibytes => Dimension::Information,
            Self::None => Dimension::Count,
        }
    }

    /// The unit as it is typed; empty for a plain number.
    pub fn spelling(self) -> &'static str {
        SPELLINGS
            .iter()
            .find(|(_, unit)| *unit == self)
            .map_or("", |(spelling, _)| spelling)
    }
}

/// A number and its unit, as typed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantity {
    /// The number in front of the unit.
    pub number: f64,
    /// The unit behind it.
    pub unit: Unit,
}

impl Quantity {
    /// The value in the unit's base unit.
    pub fn base(self) -> f64 {
        self.number * self.unit.factor()
    }

    /// Reads `80 %`, `300ms`, `50/s`; blanks around and between are allowed.
    pub fn parse(text: &str) -> Result<Self, QuantityError> {
        let text = text.trim();
        let end = text
            .char_indices()
            .find(|&(at, c)| !(c.is_ascii_digit() || c == '.' || (c == '-' && at == 0)))
            .map_or(text.len(), |(at, _)| at);
        let (digits, rest) = text.split_at(end);
        let number: f64 = digits
            .parse()
            .map_err(|_| QuantityError::Number(text.to_owned()))?;
        let spelling = rest.trim();
        let unit = SPELLINGS
            .iter()
            .find(|(known, _)| *known == spelling)
            .map(|(_, unit)| *unit)
            .ok_or_else(|| QuantityError::Unit(spelling.to_owned()))?;
        let quantity = Self { number, unit };
        // Hundreds of digits are no number to calculate with.
        if !quantity.base().is_finite() {
            return Err(QuantityError::Number(text.to_owned()));
        }
        Ok(quantity)
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.unit {
            Unit::None => write!(f, "{}", self.number),
            unit => write!(f, "{} {}", self.number, unit.spelling()),
        }
    }
}

/// Why a text is not a quantity.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QuantityError {
    /// The text does not start with a number.
    #[error("read a number in `{0}`")]
    Number(String),
    /// The text behind the number is no unit that Weir knows.
    #[error("find the unit `{0}` among %, us, ms, s, min, h, /s, /min, kB, MB, GB, KiB, MiB, GiB")]
    Unit(String),
    /// The quantity is of another kind than what is expected here.
    #[error("take `{found}` for {expected}")]
    Kind {
        /// The text as typed.
        found: String,
        /// What is expected, with an example.
        expected: &'static str,
    },
}

/// Reads a length of time that is not negative: `300 s`, `200ms`, `5 min`.
pub fn parse_duration(text: &str) -> Result<Duration, QuantityError> {
    let wrong = || QuantityError::Kind {
        found: text.to_owned(),
        expected: "a length of time such as `30 s`",
    };
    let quantity = Quantity::parse(text)?;
    if !quantity.unit.agrees_with(Unit::Seconds) {
        return Err(wrong());
    }
    Duration::try_from_secs_f64(quantity.base()).map_err(|_| wrong())
}

/// Reads an amount of information, in whole bytes: `64 MiB`, `2 kB`.
pub fn parse_bytes(text: &str) -> Result<u64, QuantityError> {
    let quantity = Quantity::parse(text)?;
    let bytes = quantity.base();
    // Beyond it not every whole number is one of these.
    if !quantity.unit.agrees_with(Unit::Megabytes) || !(0.0..9e15).contains(&bytes) {
        return Err(QuantityError::Kind {
            found: text.to_owned(),
            expected: "an amount such as `64 MiB`",
        });
    }
    Ok(bytes as u64)
}

/// Reads a share of one, typed in percent: `5 %`.
pub fn parse_share(text: &str) -> Result<f64, QuantityError> {
    let quantity = Quantity::parse(text)?;
    if quantity.unit == Unit::Percent {
        Ok(quantity.base())
    } else {
        Err(QuantityError::Kind {
            found: text.to_owned(),
            expected: "a share such as `5 %`",
        })
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    #[test]
    fn reads_amounts_in_bytes() {
        assert_eq!(parse_bytes("64 MiB"), Ok(64 << 20));
        assert_eq!(parse_bytes("1.9kB"), Ok(1_900));
        for wrong in ["64", "64 s", "-1 MB", "1e300 GB", "100000000 GB"] {
            assert!(parse_bytes(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn reads_numbers_with_units() {
        for (text, base) in [
            ("80 %", 0.8),
            ("80%", 0.8),
            (" 300 ms ", 0.3),
            ("0.1 %", 0.001),
            ("50/s", 50.0),
            ("120 /min", 2.0),
            ("5 min", 300.0),
            ("2 KiB", 2048.0),
            ("0", 0.0),
            ("-3", -3.0),
        ] {
            let read = Quantity::parse(text).unwrap();
            assert!((read.base() - base).abs() < 1e-12, "{text}: {read:?}");
        }
    }

    #[test]
    fn refuses_what_is_no_quantity() {
        assert_eq!(
            Quantity::parse("fast"),
            Err(QuantityError::Number("fast".into()))
        );
        assert_eq!(
            Quantity::parse("3 parsecs"),
            Err(QuantityError::Unit("parsecs".into()))
        );
        assert!(Quantity::parse("1.2.3").is_err());
        let (long, largest) = ("9".repeat(400), "9".repeat(308));
        for endless in [format!("{long}/s"), long, format!("{largest} GiB")] {
            assert!(Quantity::parse(&endless).is_err());
        }
        assert!(parse_duration("5 %").is_err());
        assert!(parse_duration("-5 s").is_err());
        assert!(parse_share("5").is_err());
    }

    #[test]
    fn shows_what_it_read() {
        for text in ["80 %", "300 ms", "500 /s", "12", "1.5 MiB"] {
            assert_eq!(Quantity::parse(text).unwrap().to_string(), text);
        }
    }
}
