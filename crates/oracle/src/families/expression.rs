//! Arithmetic in one variable `i`, as a case writes the trend of a series: `-40*exp(-i/30)`.

use crate::OracleError;

/// Deepest nesting of parentheses.
const DEPTH_MAX: u32 = 50;

/// The value of an expression at `i`: numbers, `i`, `pi`, `+ - * / ^ **`, parentheses, `exp`,
/// `log`, `sqrt`, `sin`, `cos`, `abs`.
pub(super) fn evaluate(text: &str, i: f64) -> Result<f64, OracleError> {
    let mut reader = Reader { rest: text, i };
    let value = reader.sum(0);
    reader.skip_space();
    match value {
        Some(value) if reader.rest.is_empty() => Ok(value),
        _ => Err(OracleError::Other(format!(
            "the expression `{text}` is not understood from `{}` on",
            reader.rest
        ))),
    }
}

struct Reader<'a> {
    rest: &'a str,
    i: f64,
}

impl Reader<'_> {
    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn takes(&mut self, word: &str) -> bool {
        self.skip_space();
        let Some(rest) = self.rest.strip_prefix(word) else {
            return false;
        };
        self.rest = rest;
        true
    }

    fn sum(&mut self, depth: u32) -> Option<f64> {
        let mut value = self.product(depth)?;
        loop {
            if self.takes("+") {
                value += self.product(depth)?;
            } else if self.takes("-") {
                value -= self.product(depth)?;
            } else {
                return Some(value);
            }
        }
    }

    fn product(&mut self, depth: u32) -> Option<f64> {
        let mut value = self.signed(depth)?;
        loop {
            if self.takes("*") {
                value *= self.signed(depth)?;
            } else if self.takes("/") {
                value /= self.signed(depth)?;
            } else {
                return Some(value);
            }
        }
    }

    fn signed(&mut self, depth: u32) -> Option<f64> {
        if depth > DEPTH_MAX {
            return None;
        }
        if self.takes("-") {
            return self.signed(depth + 1).map(|value| -value);
        }
        if self.takes("+") {
            return self.signed(depth + 1);
        }
        let base = self.operand(depth)?;
        if self.takes("**") || self.takes("^") {
            return Some(base.powf(self.signed(depth + 1)?));
        }
        Some(base)
    }

    fn operand(&mut self, depth: u32) -> Option<f64> {
        if self.takes("(") {
            let value = self.sum(depth + 1)?;
            return self.takes(")").then_some(value);
        }
        self.skip_space();
        let letters = self
            .rest
            .find(|letter: char| !letter.is_ascii_alphabetic())
            .unwrap_or(self.rest.len());
        if letters == 0 {
            return self.literal();
        }
        let (word, rest) = self.rest.split_at(letters);
        self.rest = rest;
        let function: fn(f64) -> f64 = match word {
            "i" | "t" => return Some(self.i),
            "pi" => return Some(std::f64::consts::PI),
            "exp" => f64::exp,
            "log" | "ln" => f64::ln,
            "sqrt" => f64::sqrt,
            "sin" => f64::sin,
            "cos" => f64::cos,
            "abs" => f64::abs,
            _ => return None,
        };
        if !self.takes("(") {
            return None;
        }
        let value = self.sum(depth + 1)?;
        self.takes(")").then(|| function(value))
    }

    fn literal(&mut self) -> Option<f64> {
        let bytes = self.rest.as_bytes();
        let mut end = 0;
        while end < bytes.len() {
            let sign = matches!(bytes[end], b'+' | b'-')
                && end > 0
                && matches!(bytes[end - 1], b'e' | b'E');
            if sign || matches!(bytes[end], b'0'..=b'9' | b'.' | b'e' | b'E') {
                end += 1;
            } else {
                break;
            }
        }
        let (digits, rest) = self.rest.split_at(end);
        self.rest = rest;
        digits.parse().ok()
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::evaluate;

    #[test]
    fn expressions_have_the_usual_meaning() {
        let at_3 = |text: &str| evaluate(text, 3.0).unwrap();
        assert!((at_3("-40*exp(-i/30)") + 40.0 * (-0.1_f64).exp()).abs() < 1e-12);
        assert!((at_3("2 - 3 - 4*i^2/2") + 19.0).abs() < 1e-12);
        assert!((at_3("-i**2 + 1.5e1") - 6.0).abs() < 1e-12);
        assert!((at_3("sqrt(abs(-16)) + cos(0)") - 5.0).abs() < 1e-12);
        for wrong in ["", "1 +", "foo(i)", "exp i", "(1", "1 2", "x"] {
            assert!(evaluate(wrong, 0.0).is_err(), "{wrong}");
        }
        assert!(evaluate(&"(".repeat(10_000), 0.0).is_err());
        assert!(evaluate(&"-".repeat(10_000), 0.0).is_err());
    }
}
