//! The small part of JavaScript that conditions are written in.
//!
//! Nearly all conditions of real plans compare texts and numbers: `"${x}" == "yes" && ${n} < 3`.
//! This evaluates exactly that: texts, numbers, `true`, `false`, comparisons, `!`, `&&`, `||` and
//! parentheses, with JavaScript's conversions (ECMA-262, 7.2.13 to 7.2.15). Anything else is not
//! understood.

/// Deepest nesting of parentheses and signs.
const DEPTH_MAX: u32 = 64;

/// What a condition is: `None` when it is not of the part that is understood, or neither true nor
/// false.
pub fn javascript_condition(text: &str) -> Option<bool> {
    let mut reader = Reader {
        rest: text.trim(),
        depth: 0,
    };
    let value = reader.or()?;
    let rest = reader.rest.trim_start();
    match value {
        Value::Boolean(holds) if rest.is_empty() || rest == ";" => Some(holds),
        _ => None,
    }
}

#[derive(Debug, Clone, PartialEq)]
enum Value {
    Text(String),
    Number(f64),
    Boolean(bool),
}

impl Value {
    fn is_true(&self) -> bool {
        match self {
            Self::Text(text) => !text.is_empty(),
            Self::Number(number) => *number != 0.0 && !number.is_nan(),
            Self::Boolean(boolean) => *boolean,
        }
    }

    fn number(&self) -> f64 {
        match self {
            Self::Text(text) if text.trim().is_empty() => 0.0,
            Self::Text(text) => text.trim().parse().unwrap_or(f64::NAN),
            Self::Number(number) => *number,
            Self::Boolean(boolean) => f64::from(u8::from(*boolean)),
        }
    }

    fn equals(&self, other: &Self, strictly: bool) -> bool {
        match (self, other) {
            (Self::Text(a), Self::Text(b)) => a == b,
            (Self::Boolean(a), Self::Boolean(b)) => a == b,
            (Self::Number(a), Self::Number(b)) => (a - b).abs() == 0.0,
            _ if strictly => false,
            (a, b) => (a.number() - b.number()).abs() == 0.0,
        }
    }

    fn is_less(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Text(a), Self::Text(b)) => a.encode_utf16().lt(b.encode_utf16()),
            (a, b) => a.number() < b.number(),
        }
    }

    fn is_at_most(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Text(a), Self::Text(b)) => a.encode_utf16().le(b.encode_utf16()),
            (a, b) => a.number() <= b.number(),
        }
    }
}

struct Reader<'a> {
    rest: &'a str,
    depth: u32,
}

impl Reader<'_> {
    fn takes(&mut self, sign: &str) -> bool {
        let rest = self.rest.trim_start();
        match rest.strip_prefix(sign) {
            Some(after) => {
                self.rest = after;
                true
            }
            None => false,
        }
    }

    fn or(&mut self) -> Option<Value> {
        let mut left = self.and()?;
        while self.takes("||") {
            let right = self.and()?;
            left = if left.is_true() { left } else { right };
        }
        Some(left)
    }

    fn and(&mut self) -> Option<Value> {
        let mut left = self.equality()?;
        while self.takes("&&") {
            let right = self.equality()?;
            left = if left.is_true() { right } else { left };
        }
        Some(left)
    }

    fn equality(&mut self) -> Option<Value> {
        let mut left = self.relation()?;
        loop {
            let (negated, strictly) = if self.takes("===") {
                (false, true)
            } else if self.takes("!==") {
                (true, true)
            } else if self.takes("==") {
                (false, false)
            } else if self.takes("!=") {
                (true, false)
            } else {
                return Some(left);
            };
            let right = self.relation()?;
            left = Value::Boolean(left.equals(&right, strictly) != negated);
        }
    }

    fn relation(&mut self) -> Option<Value> {
        let mut left = self.unary()?;
        loop {
            let holds = if self.takes("<=") {
                left.is_at_most(&self.unary()?)
            } else if self.takes(">=") {
                self.unary()?.is_at_most(&left)
            } else if self.takes("<") {
                left.is_less(&self.unary()?)
            } else if self.takes(">") {
                self.unary()?.is_less(&left)
            } else {
                return Some(left);
            };
            left = Value::Boolean(holds);
        }
    }

    fn unary(&mut self) -> Option<Value> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return None;
        }
        let value = if self.takes("!") {
            Some(Value::Boolean(!self.unary()?.is_true()))
        } else if self.takes("-") {
            Some(Value::Number(-self.unary()?.number()))
        } else if self.takes("(") {
            let inside = self.or()?;
            self.takes(")").then_some(inside)
        } else {
            self.literal()
        };
        self.depth -= 1;
        value
    }

    fn literal(&mut self) -> Option<Value> {
        let rest = self.rest.trim_start();
        let first = rest.chars().next()?;
        if first == '"' || first == '\'' {
            return self.text(first);
        }
        let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '$');
        let end = rest.find(|c| !word(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        self.rest = after;
        match word {
            "true" => Some(Value::Boolean(true)),
            "false" => Some(Value::Boolean(false)),
            _ if first.is_ascii_digit() || first == '.' => word.parse().ok().map(Value::Number),
            _ => None,
        }
    }

    fn text(&mut self, quote: char) -> Option<Value> {
        let mut text = String::new();
        let mut rest = self.rest.trim_start().chars();
        rest.next();
        loop {
            match rest.next()? {
                c if c == quote => {
                    self.rest = rest.as_str();
                    return Some(Value::Text(text));
                }
                '\\' => text.push(match rest.next()? {
                    'n' => '\n',
                    't' => '\t',
                    'r' => '\r',
                    c @ ('\\' | '"' | '\'' | '/') => c,
                    _ => return None,
                }),
                '\n' | '\r' => return None,
                c => text.push(c),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions() {
        for (text, expect) in [
            ("\"a\" == \"a\"", Some(true)),
            ("'a' != \"a\"", Some(false)),
            ("1 == \"1\"", Some(true)),
            ("1 === \"1\"", Some(false)),
            ("\"10\" < \"9\"", Some(true)),
            ("10 < 9 || !(3 >= 4) && true", Some(true)),
            ("-1 < 0", Some(true)),
            ("true", Some(true)),
            ("\"true\"", None),
            ("\"${x}\" == \"\"", Some(false)),
            ("vars.get(\"x\") == 1", None),
            ("1 ==", None),
            ("", None),
        ] {
            assert_eq!(javascript_condition(text), expect, "{text}");
        }
        assert_eq!(javascript_condition(&"(".repeat(1_000_000)), None);
    }
}
