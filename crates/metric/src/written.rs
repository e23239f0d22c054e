//! Numbers as people read them: three significant digits, thousands grouped, a true minus sign.

use std::ops::RangeInclusive;

/// A factor and a unit that are fixed before several values are written with it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scale {
    pub(crate) factor: f64,
    pub(crate) unit: &'static str,
    pub(crate) decimals: Option<usize>,
}

impl Scale {
    pub(crate) fn number(self, value: f64) -> String {
        let scaled = value * self.factor;
        match self.decimals {
            _ if scaled == 0.0 => "0".to_owned(),
            Some(decimals) => fixed(scaled, decimals),
            None => number(scaled),
        }
    }

    pub(crate) fn range(self, low: f64, high: f64) -> String {
        format!("{}–{}", self.number(low), self.number(high))
    }

    /// A half-width: two significant digits say all that it knows.
    pub(crate) fn doubt(self, half_width: f64) -> String {
        let scaled = half_width * self.factor;
        let decimals = match scaled {
            _ if scaled >= 10.0 => 0,
            _ if scaled >= 0.1 => 1,
            _ => 2,
        };
        fixed(scaled, decimals)
    }
}

/// The least decimals in this range with which a value is told from bounds that it is not at;
/// `None` where these do not do.
pub fn decimals_apart(
    value: f64,
    bounds: &[f64],
    mut decimals: RangeInclusive<usize>,
) -> Option<usize> {
    decimals.find(|decimals| {
        bounds.iter().all(|bound| {
            bound.total_cmp(&value).is_eq() || fixed(*bound, *decimals) != fixed(value, *decimals)
        })
    })
}

/// A plain number with three significant digits, whole numbers whole: `0.42`, `38.2`, `20,000`.
pub fn number(value: f64) -> String {
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

/// Without zeros at the end of its decimals.
pub(crate) fn trimmed(text: String) -> String {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// A number with so many decimals, a true minus sign and no negative zero.
pub(crate) fn fixed(value: f64, decimals: usize) -> String {
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
