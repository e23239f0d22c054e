//! Numbers as Java holds and writes them.

use std::cmp::Ordering;

/// A number.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Number {
    /// A whole number of at most 64 bits.
    Int(i64),
    /// A larger one, as its digits.
    BigInt(String),
    /// A number with a fraction or an exponent.
    Double(f64),
    /// One whose digits a double may not hold, as it was written.
    Decimal(String),
}

impl Number {
    /// The number that this text is, if it is one; leading zeros and a bare `-` count, as for
    /// json-smart.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix('-').unwrap_or(text);
        let whole = digits.len()
            - digits
                .trim_start_matches(|c: char| c.is_ascii_digit())
                .len();
        if whole == digits.len() {
            return Some(Self::whole(text, digits));
        }
        let mut rest = &digits[whole..];
        if whole == 0 {
            return None;
        }
        if let Some(fraction) = rest.strip_prefix('.') {
            rest = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
        }
        if let Some(exponent) = rest.strip_prefix(['e', 'E']) {
            let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
            if exponent.is_empty() {
                return None;
            }
            rest = exponent.trim_start_matches(|c: char| c.is_ascii_digit());
        }
        if !rest.is_empty() {
            return None;
        }
        if text.len() > 18 {
            return Some(Self::Decimal(text.to_owned()));
        }
        text.parse().ok().map(Self::Double)
    }

    fn whole(text: &str, digits: &str) -> Self {
        if digits.is_empty() {
            return Self::Int(0);
        }
        if let Ok(number) = text.parse() {
            return Self::Int(number);
        }
        let sign = &text[..text.len() - digits.len()];
        Self::BigInt(format!("{sign}{}", digits.trim_start_matches('0')))
    }

    pub(crate) fn as_f64(&self) -> f64 {
        match self {
            Self::Int(number) => *number as f64,
            Self::Double(number) => *number,
            Self::BigInt(text) | Self::Decimal(text) => text.parse().unwrap_or(f64::NAN),
        }
    }

    /// Compares by value.
    pub(crate) fn compare(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Int(left), Self::Int(right)) => Some(left.cmp(right)),
            _ => self.as_f64().partial_cmp(&other.as_f64()),
        }
    }

    /// Java's class of such a number.
    pub(crate) fn class(&self) -> &'static str {
        match self {
            Self::Int(number) if i32::try_from(*number).is_ok() => "java.lang.Integer",
            Self::Int(_) => "java.lang.Long",
            Self::BigInt(_) => "java.math.BigInteger",
            Self::Double(_) => "java.lang.Double",
            Self::Decimal(_) => "java.math.BigDecimal",
        }
    }
}

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Int(number) => number.fmt(f),
            Self::BigInt(text) | Self::Decimal(text) => f.write_str(text),
            Self::Double(number) => f.write_str(&double(*number)),
        }
    }
}

/// As `Double.toString` writes it: plain from 0.001 to below ten million, else with an exponent.
fn double(number: f64) -> String {
    if !number.is_finite() {
        return number.to_string();
    }
    let size = number.abs();
    if size == 0.0 || (1e-3..1e7).contains(&size) {
        let text = number.to_string();
        return if text.contains('.') {
            text
        } else {
            text + ".0"
        };
    }
    let text = format!("{number:E}");
    match text.split_once('E') {
        Some((digits, exponent)) if !digits.contains('.') => format!("{digits}.0E{exponent}"),
        _ => text,
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    /// What JMeter's JSON library made of these.
    #[test]
    fn numbers_are_written_as_java_writes_them() {
        let cases = [
            ("1.0", "1.0"),
            ("1e10", "1.0E10"),
            ("0.0001", "1.0E-4"),
            ("123456789012345678901", "123456789012345678901"),
            ("9223372036854775807", "9223372036854775807"),
            ("1.23456789012345678901", "1.23456789012345678901"),
            ("-0", "0"),
            ("1E2", "100.0"),
            ("100000000.5", "1.000000005E8"),
            ("0.001", "0.001"),
            ("12345678.9", "1.23456789E7"),
            ("-1.5e-7", "-1.5E-7"),
            ("01", "1"),
            ("1.", "1.0"),
            ("-", "0"),
        ];
        for (written, shown) in cases {
            let number = Number::parse(written).unwrap();
            assert_eq!(number.to_string(), shown, "{written}");
        }
        for text in [".5", "+1", "0x1F", "1e", "1-2", "--1", "1.2.3"] {
            assert_eq!(Number::parse(text), None, "{text}");
        }
    }
}
