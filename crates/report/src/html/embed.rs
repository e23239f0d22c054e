//! Data inside a page: JSON that no text in it can break out of.

use serde::Serialize;

/// The value as JSON that may stand in a `script` element: what could end the element, or a
/// comment, or a line in old script engines, is written as an escape.
pub(crate) fn json(value: &impl Serialize) -> Result<String, serde_json::Error> {
    let plain = serde_json::to_string(value)?;
    let mut safe = String::with_capacity(plain.len());
    for character in plain.chars() {
        match character {
            '<' => safe.push_str("\\u003c"),
            '>' => safe.push_str("\\u003e"),
            '&' => safe.push_str("\\u0026"),
            '\u{2028}' => safe.push_str("\\u2028"),
            '\u{2029}' => safe.push_str("\\u2029"),
            _ => safe.push(character),
        }
    }
    Ok(safe)
}

/// A number rounded to four significant digits, finer than any drawing: short files.
pub(crate) fn rounded(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let digits = 3 - value.abs().log10().floor() as i32;
    let scale = 10_f64.powi(digits.abs());
    if digits >= 0 {
        (value * scale).round() / scale
    } else {
        (value / scale).round() * scale
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn closes_no_script() {
        let text = "</script><!-- & \u{2028}";
        let safe = json(&text).unwrap();
        assert_eq!(safe, "\"\\u003c/script\\u003e\\u003c!-- \\u0026 \\u2028\"");
        assert_eq!(serde_json::from_str::<String>(&safe).unwrap(), text);
    }

    #[test]
    fn rounds_to_four_digits() {
        assert_eq!(json(&rounded(0.123_456)).unwrap(), "0.1235");
        assert_eq!(json(&rounded(1_234_567.0)).unwrap(), "1235000.0");
        assert_eq!(json(&rounded(-0.001_234_56)).unwrap(), "-0.001235");
    }

    proptest! {
        #[test]
        fn rounding_stays_close(value in -1e12_f64..1e12) {
            prop_assert!((rounded(value) - value).abs() <= value.abs() * 0.6e-3);
        }

        #[test]
        fn any_text_comes_back(text in any::<String>()) {
            let safe = json(&text).unwrap();
            prop_assert!(!safe.contains(['<', '>', '&']));
            prop_assert_eq!(serde_json::from_str::<String>(&safe).unwrap(), text);
        }
    }
}
